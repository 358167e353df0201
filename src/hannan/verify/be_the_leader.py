"""Be-the-leader: with known losses, only noise causes regret."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hannan.core.oracle import Draw
from hannan.core.validation import FloatArray
from hannan.oracles import FinitePolicies
from hannan.verify.claim import Check, Effort, claim


@claim("be-the-leader", "Lemma (appendix A.1)", "holds on every path")
def on_every_path(effort: Effort) -> Iterator[Check]:
    r"""Be-the-leader, which knows each loss before it plays, exceeds the loss of any policy by at
    most the noise on that policy less the noise on its own first choice.

    For every policy as the comparator, with one draw of noise z for the whole run and
    :math:`\pi_{t+1} = M(z, y_{1:t})`: :math:`\sum_t \ell_t(\pi_{t+1}) - \sum_t \ell_t(\pi^*) \le
    z(\pi^*) - z(\pi_1)`. Integer losses produce ties. The check allows only for rounding.
    """
    rng = effort.rng("be-the-leader")
    excess = []
    for _ in range(effort.pick(60, 2000)):
        N, d, K, T = (int(n) for n in rng.integers([2, 1, 2, 1], [12, 5, 5, 30]))
        table = rng.integers(K, size=(N, d))
        oracle = FinitePolicies(table, n_actions=K)
        scale = float(rng.choice([0.0, 0.3, 3.0, 30.0]))
        key = int(rng.integers(2**63))
        rounds = [
            (int(rng.integers(d)), rng.integers(-3, 4, size=K).astype(float), None)
            for _ in range(T)
        ]
        excess.append(foreseeing(oracle, key, scale, rounds))
    yield lemma(excess)


def foreseeing(
    oracle: FinitePolicies,
    key: int,
    scale: float,
    rounds: Iterable[tuple[int, FloatArray, FloatArray | None]],
) -> float:
    """Return the largest excess over the lemma's limit, over all policies as comparators.

    Rounds consist of contexts, losses and, with a predictor, predictions of the losses.
    """
    table, d = oracle.table, oracle.table.shape[1]
    noise = oracle.noise(range(d), np.uint64(key), 0, 2**20)
    fakes = scale * noise.unit(0)
    total = oracle.objective()
    first = total.leaders(Draw(noise, 0, scale), 1)[0]
    allowed = fakes[np.arange(d), table].sum(axis=1) - sum(fakes[x, first(x)] for x in range(d))
    lost, losses = 0.0, np.zeros(len(table))
    for x, loss, guess in rounds:
        surprise = loss
        if guess is not None:
            lost += float(guess[total.action(x, Draw(noise, 0, scale), guess)])
            surprise = loss - guess
        lost += float(surprise[total.settle(x, loss, Draw(noise, 0, scale))])
        losses += loss[table[:, x]]
    return float((lost - losses - allowed).max())


def lemma(excess: Sequence[float]) -> Check:
    """Check that no run exceeds the lemma by more than 0.001, for noise in single precision."""
    what = "largest excess over the lemma's limit, all runs and policies"
    return Check(what, max(excess), 1e-3)
