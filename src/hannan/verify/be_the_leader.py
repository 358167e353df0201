"""Be the leader: a learner that knew the coming loss would have no regret but for the noise."""

from __future__ import annotations

import numpy as np

from hannan.oracles import FinitePolicies
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series


def on_every_path(effort: Effort) -> Finding:
    r"""The lemma for realised noise, signed losses and every policy as the comparator.

    With one draw of noise z for the whole game and :math:`\pi_{t+1} = M(z, y_{1:t})`:
    :math:`\sum_t \ell_t(\pi_{t+1}) - \sum_t \ell_t(\pi^*) \le z(\pi^*) - z(\pi_1)`. Integer losses
    make ties; rounding is all that is allowed for.
    """
    rng = effort.rng("be-the-leader")
    gaps, limits = [], []
    for _ in range(effort.pick(60, 2000)):
        N, d, K, T = (int(n) for n in rng.integers([2, 1, 2, 1], [12, 5, 5, 30]))
        table = rng.integers(K, size=(N, d))
        oracle = FinitePolicies(table, n_actions=K)
        scale = float(rng.choice([0.0, 0.3, 3.0, 30.0]))
        noise = oracle.noise(range(d), np.uint64(rng.integers(2**63)), 0, 2**20)
        fakes = scale * noise.unit(0)
        of_policy = fakes[np.arange(d), table].sum(axis=1)
        total = oracle.objective()
        first = total.leaders(noise, 0, 1, scale)[0]
        z_first = sum(fakes[x, first(x)] for x in range(d))
        foreseeing, losses = 0.0, np.zeros(N)
        for _ in range(T):
            x, loss = int(rng.integers(d)), rng.integers(-3, 4, size=K).astype(float)
            action = total.settle(x, loss, noise, 0, scale)
            foreseeing += float(loss[action])
            losses += loss[table[:, x]]
        excess = foreseeing - losses
        allowed = of_policy - z_first
        worst = int(np.argmax(excess - allowed))
        gaps.append(excess[worst])
        limits.append(allowed[worst])
    excess, allowed = np.array(gaps), np.array(limits)
    over = float((excess - allowed).max())
    return Finding(
        [Check("largest excess over what the lemma allows, all games and policies", over, 1e-3)],
        Plot(
            "allowed: z(π*) - z(π₁)",
            "foreseeing learner's loss less that of π*",
            [
                Series("games, hardest comparator", allowed, excess, "points"),
                Series("the lemma", np.sort(allowed), np.sort(allowed), "dashed"),
            ],
        ),
        note="noise is held in single precision, hence 0.001",
    )


CLAIMS = (
    Claim(
        "be-the-leader",
        "Lemma (appendix A.1)",
        "Knowing each loss before playing, the perturbed leader loses no more than any policy, "
        "but for the noise on that policy and on its own first choice.",
        "holds on every path",
        on_every_path,
    ),
)
