"""The switching corollary: regret against sequences of policies."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.bounds import Bound, complete_information, self_tuned, switching, switching_log_size
from hannan.core import Environment
from hannan.core.oracle import Draw
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import PlayoutFTPL
from hannan.oracles import FinitePolicies, Switching
from hannan.verify.adversaries import Repeats
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial, sizes

_K = 1  # switches in the comparator sequences


def _problem(
    what: str, base: FinitePolicies, contexts: list[int], environment: Environment
) -> tuple[Trial, dict[str, Any]]:
    """Return the trial of a class on contexts known in advance, and its sizes."""
    T, oracle = len(contexts), Switching(base, _K, sequence=contexts)
    base_size = base.log_size(sorted(set(contexts)))
    known: dict[str, Any] = {**sizes(oracle, oracle.contexts)}
    own = {"log_size": base_size, "n_actions": base.n_actions, "complexity": known["complexity"]}

    def bound(form: str, epsilon: float | None = None) -> Bound:
        if epsilon is not None:
            return complete_information(T, form=form, epsilon=epsilon, **known)
        return switching(T, switches=_K, form=form, **own)

    return Trial(what, oracle, environment, T, bound, switches=_K), known


def problems(T: int, rng: np.random.Generator) -> list[tuple[Trial, dict[str, Any]]]:
    """Return trials in environments that change half-way, and in one that reacts."""
    two = FinitePolicies([[0], [1]])
    early = (np.arange(T) < T // 2)[:, None]
    steady = np.where(early, [0.0, 1.0], [1.0, 0.0])
    tied = (np.arange(T) % (T // 2) < T // 4)[:, None]
    turns = np.where(tied, np.eye(2)[np.arange(T) % 2], steady)
    three = FinitePolicies([[0, 1], [1, 0], [0, 0]])
    x = rng.integers(2, size=T)
    best = three.table[(np.arange(T) >= T // 2).astype(int), x]
    chance = np.where(np.arange(2) == best[:, None], 0.2, 0.7)
    random = (rng.random((T, 2)) < chance).astype(float)
    nowhere = [0] * T
    return [
        _problem("steady halves", two, nowhere, FromArrays(nowhere, steady)),
        _problem("tied, then steady", two, nowhere, FromArrays(nowhere, turns)),
        _problem("random losses", three, x.tolist(), FromArrays(x.tolist(), random)),
        _problem("adaptive adversary", two, nowhere, Repeats(two)),
    ]


@claim(
    "switching-regret",
    "Corollary 4 (switching regret)",
    "means many standard errors below their bounds",
)
def regret_to_sequences(effort: Effort) -> Iterator[Check]:
    """Regret to the best sequence of policies with k switches, on known contexts, is at most that
    of Theorem 2 with d = T and N^(k+1) T^k policies (printed: N^k). With noise on future rounds
    alone, it is at most √(2πT log Ñ).

    The corrected corollary, its sharp and its playout form, and a learner without sequences. The
    printed bound exceeds the number of rounds; the sharp and the playout bound do not.
    """
    seeds = effort.seeds("switching", 4, 16)
    for trial, known in problems(effort.pick(300, 900), effort.rng("switching", "losses")):
        what, T = trial.what, trial.horizon
        yield from trial.theorem(seeds)
        own = trial.regret(seeds)
        yield Check(f"{what}: regret, self-tuned", own, self_tuned(T, **known).value)
        sharp, playout = (trial.bound(form=form).value for form in ("sharp", "playout"))
        future = trial.regret(seeds, learner=PlayoutFTPL, horizon=T)
        yield Check(f"{what}: regret, noise on the future only", future, playout)
        yield Check(f"{what}: playout bound, against the sharp bound", playout, sharp)
        if isinstance(trial.oracle, Switching) and trial.environment.oblivious:
            times = trial.regret(seeds, oracle=trial.oracle.base) / own
            name = f"{what}: regret without sequences, over regret with sequences"
            yield Check(name, times, 2.0, at_most=False)


def sequences(T: int, N: int, k: int, grid: int = 1) -> NDArray[np.int64]:
    """List all sequences of T policies with at most k switches on a grid, one per row."""
    everything = np.array(list(product(range(N), repeat=T)), np.int64).reshape(-1, T)
    changes = np.diff(everything, axis=1) != 0
    forbidden = np.arange(1, T) % grid != 0
    few = (changes.sum(axis=1) <= k) & ~changes[:, forbidden].any(axis=1)
    return np.asarray(everything[few])


@claim("switching-sequences", "Corollary 4, the number of sequences", "exact")
def counted(effort: Effort) -> Iterator[Check]:
    """Sequences of T policies with at most k switches number Σ C(T-1, i) N (N-1)^i, which is at
    most T^k N^(k+1). The printed T^k N^k counts k intervals and is too small.

    Two rounds and three policies have 9 sequences with at most one switch; the printed count is 6.
    """
    cases = list(product(range(1, effort.pick(7, 9)), (2, 3), range(1, 4)))
    formula, oracles = [], []
    for T, N, k in cases:
        oracle: Any = Switching(FinitePolicies(np.arange(N)), k, sequence=T)
        formula.append(math.exp(switching_log_size(T, k, math.log(N))))
        oracles.append(math.exp(oracle.log_size(oracle.contexts)))
    count = np.array([len(sequences(*case)) for case in cases], float)
    printed = np.array([float(T * N) ** k for T, N, k in cases])
    corrected = printed * [N for _, N, _ in cases]
    for name, found in (("the formula", formula), ("the oracle's size", oracles)):
        error = float(np.max(np.abs(np.array(found) - count) / count))
        yield Check(f"largest relative error of {name}", error, 1e-9)
    yield Check("largest share of T^k N^(k+1)", float((count / corrected).max()), 1.0)
    share = float((count / printed).max())
    yield Check("largest share of the printed T^k N^k", share, 1.1, at_most=False)


@claim("switching-oracle", "Lemma (oracle for sequences)", "holds on every instance")
def found_by_the_oracle(effort: Effort) -> Iterator[Check]:
    """Dynamic programming finds the best sequence. With switches only on a grid of step b, the
    sequence is worse by at most k⌊b/2⌋ times the range of a round's losses.
    """
    rng = effort.rng("switching", "oracle")
    found: dict[str, list[float]] = {"policies": [], "intervals": []}
    exact, lost, beyond, gaps = [], [0.0], [], []
    for i in range(effort.pick(40, 600)):
        N, d, T, k = (int(n) for n in rng.integers([2, 1, 1, 0], [4, 4, 7, 4]))
        base = FinitePolicies(rng.integers(2, size=(N, d)), n_actions=2)
        x = rng.integers(d, size=T).tolist()
        losses = rng.integers(-3, 4, size=(T, 2)).astype(float)
        noisy = Instance(base, x, losses, k, float(rng.choice([0.0, 1.0, 10.0])), i)
        exact.append(noisy.listed())
        for method, values in found.items():
            value, leader = noisy.solved(method=method)
            values.append(value)
            lost.append(abs(leader - value))
        b = int(rng.integers(1, 5))
        plain = noisy._replace(scale=0.0)
        value, _ = plain.solved(grid=b)
        beyond.append(abs(value - plain.listed(b)))
        room = k * (b // 2) * float(np.ptp(losses, axis=1).max())
        gaps.append(value - plain.listed() - room)
    off = [float(np.max(np.abs(np.array(values) - exact))) for values in found.values()]
    # Every switch is half a cell away, which costs most.
    b, k, best = 4, 2, np.repeat([0, 1, 0], [6, 8, 8])
    pair = FinitePolicies([[0], [1]])
    price, _ = Instance(pair, [0] * len(best), 1.0 - np.eye(2)[best], k).solved(grid=b)
    what = "price with every switch half a cell away: k⌊b/2⌋R"
    # Noise is stored in single precision, so 0.001 is allowed.
    yield Check("largest error of a minimum, listed policies", off[0], 1e-3)
    yield Check("largest error of a minimum, intervals", off[1], 1e-3)
    yield Check("largest difference between a leader's loss and the minimum", max(lost), 1e-3)
    yield Check("largest error of a minimum on a grid", max(beyond), 1e-9)
    yield Check("largest price of a grid beyond k⌊b/2⌋R", max(gaps), 0.0)
    yield Check(what, price, float(k * (b // 2)), at_most=False)


class Instance(NamedTuple):
    """Losses on a known sequence of contexts, and noise on them."""

    base: FinitePolicies
    x: list[int]
    losses: FloatArray
    k: int
    scale: float = 0.0
    key: int = 0

    def solved(self, **options: Any) -> tuple[float, float]:
        """Return the oracle's minimum, and the loss of its leader."""
        oracle, noise = self._oracle(**options)
        total = oracle.objective()
        total.prepare(oracle.contexts)
        for pair, row in zip(oracle.contexts, self.losses, strict=True):
            total.add(pair, row)
        leader = total.leaders(Draw(noise, 0, self.scale), 1)[0]
        rows = zip(oracle.contexts, self.losses + self.scale * noise.unit(0), strict=True)
        lost = sum(loss_of(row, leader(pair)) for pair, row in rows)
        return float(total.minima(Draw(noise, 0, self.scale), 1)[0]), lost

    def listed(self, grid: int = 1) -> float:
        """Return the smallest loss of all sequences, by the definition."""
        t = np.arange(len(self.x))
        _, noise = self._oracle()
        rows = self.losses + self.scale * noise.unit(0)
        costs = rows[t, self.base.table[:, self.x]]
        return float(costs[sequences(len(t), len(costs), self.k, grid), t].sum(axis=1).min())

    def _oracle(self, **options: Any) -> Any:
        oracle = Switching(self.base, self.k, sequence=self.x, **options)
        assert oracle.contexts is not None
        return oracle, oracle.noise(oracle.contexts, np.uint64(self.key), 0, 2**20)
