"""The switching corollary: regret against sequences of policies."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.bounds import (
    Bound,
    complete_information,
    laplace_complexity,
    self_tuned,
    switching,
    switching_log_size,
)
from hannan.core import Environment
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL, PlayoutFTPL
from hannan.oracles import FinitePolicies, Switching
from hannan.verify._games import Repeats, mean_check, regrets, seeds
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series


class Problem:
    """A class, contexts that are known in advance, and losses on them."""

    def __init__(
        self, name: str, base: FinitePolicies, contexts: list[int], world: Environment, k: int = 1
    ) -> None:
        self.name = name
        self.base = base
        self.world = world
        self.k = k
        self.T = len(contexts)
        self.oracle = Switching(base, k, sequence=contexts)
        assert self.oracle.contexts is not None
        self.base_size = base.log_size(sorted(set(contexts)))
        self.log_size = switching_log_size(self.T, k, self.base_size)
        self.sizes: dict[str, Any] = {
            "n_actions": base.n_actions,
            "complexity": laplace_complexity(self.oracle, self.oracle.contexts, seed=0),
        }

    def bound(self, form: str) -> Bound:
        """The corollary."""
        return switching(self.T, switches=self.k, log_size=self.base_size, form=form, **self.sizes)

    def sharp(self, epsilon: float) -> float:
        """Theorem 2 for the class of sequences, at some ε."""
        return complete_information(
            self.T, d=self.T, log_size=self.log_size, epsilon=epsilon, form="sharp", **self.sizes
        ).value

    @property
    def self_tuned(self) -> float:
        """What self-tuning may cost at most."""
        return self_tuned(self.T, d=self.T, log_size=self.log_size, **self.sizes).value

    def regrets(self, numbers: list[int], kind: Any = ContextFTPL, **how: Any) -> FloatArray:
        """Regret against the best sequence with k switches, for each seed."""
        options = {"oracle": self.oracle, "horizon": self.T, **how}
        return regrets(
            lambda seed: kind(seed=seed, **options),
            self.world,
            self.T,
            numbers,
            switches=self.k,
        )


def problems(T: int, rng: np.random.Generator) -> list[Problem]:
    """Worlds that change half-way, and one that reacts to what is played."""
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
        Problem("steady halves", two, nowhere, FromArrays(nowhere, steady)),
        Problem("tied, then steady", two, nowhere, FromArrays(nowhere, turns)),
        Problem("random losses", three, x.tolist(), FromArrays(x.tolist(), random)),
        Problem("adaptive adversary", two, nowhere, Repeats(two)),
    ]


def regret_to_sequences(effort: Effort) -> Finding:
    """The corollary as corrected, its sharp and its playout form, and a learner that sits still."""
    numbers = seeds(effort, "switching", 4, 16)
    checks: list[Check] = []
    measured, limits = [], []
    for problem in problems(effort.pick(300, 900), effort.rng("switching", "losses")):
        name = problem.name
        printed, sharp, playout = (problem.bound(f) for f in ("printed", "sharp", "playout"))
        theorem = problem.regrets(numbers, epsilon=printed.epsilon)
        same = problem.sharp(printed.epsilon)
        best = problem.regrets(numbers, epsilon=sharp.epsilon)
        own = problem.regrets(numbers)
        future = problem.regrets(numbers, PlayoutFTPL)
        found = [
            mean_check(f"{name}: regret, printed bound", theorem, printed.value),
            mean_check(f"{name}: regret, sharp bound at the same ε", theorem, same),
            mean_check(f"{name}: regret at the best sharp ε", best, sharp.value),
            mean_check(f"{name}: regret, self-tuned", own, problem.self_tuned),
            mean_check(f"{name}: regret, noise on the future only", future, playout.value),
        ]
        checks += [
            *found,
            Check(f"{name}: sharp bound below the printed one", sharp.value, printed.value),
            Check(f"{name}: playout bound below the sharp one", playout.value, sharp.value),
        ]
        if problem.world.oblivious:
            plain = problem.regrets(numbers, oracle=problem.base)
            times = float(plain.mean() / own.mean())
            what = f"{name}: regret without sequences, as a multiple of that with"
            checks.append(Check(what, times, 2.0, at_most=False))
        measured += [check.measured for check in found]
        limits += [check.limit for check in found]
    order = np.argsort(limits)
    number = np.arange(len(order))
    return Finding(
        checks,
        Plot(
            "problems and tunings, by the size of their bounds",
            "regret to the best sequence",
            [
                Series("measured", number, np.array(measured)[order], "points"),
                Series("bound", number, np.array(limits)[order], "dashed"),
            ],
            log_y=True,
        ),
        note="the printed bound exceeds the number of rounds, the sharp and the playout one do not",
    )


def sequences(T: int, N: int, k: int, grid: int = 1) -> NDArray[np.int64]:
    """All sequences of T policies that switch at most k times, on a grid; one in each row."""
    everything = np.array(list(product(range(N), repeat=T)), np.int64).reshape(-1, T)
    changes = np.diff(everything, axis=1) != 0
    forbidden = np.arange(1, T) % grid != 0
    few = (changes.sum(axis=1) <= k) & ~changes[:, forbidden].any(axis=1)
    return np.asarray(everything[few])


def counted(effort: Effort) -> Finding:
    """How many sequences there are, by listing them."""
    cases = list(product(range(1, effort.pick(7, 9)), (2, 3), range(1, 4)))
    formula, oracles = [], []
    for T, N, k in cases:
        oracle = Switching(FinitePolicies(np.arange(N)), k, sequence=T)
        assert oracle.contexts is not None
        size = oracle.log_size(oracle.contexts)
        assert size is not None
        formula.append(math.exp(switching_log_size(T, k, math.log(N))))
        oracles.append(math.exp(size))
    count = np.array([len(sequences(*case)) for case in cases], float)
    printed = np.array([float(T * N) ** k for T, N, k in cases])
    corrected = printed * [N for _, N, _ in cases]
    order = np.argsort(count)
    return Finding(
        [
            Check("largest relative error of the formula", _apart(formula, count), 1e-9),
            Check("largest relative error of the oracle's size", _apart(oracles, count), 1e-9),
            Check("largest share of T^k N^(k+1)", float((count / corrected).max()), 1.0),
            Check(
                "largest share of the printed T^k N^k", float((count / printed).max()), 1.1, False
            ),
        ],
        Plot(
            "sequences, listed",
            "count",
            [
                Series("formula", count[order], np.array(formula)[order], "points"),
                Series("T^k N^(k+1)", count, corrected, "points"),
                Series("T^k N^k, as printed", count, printed, "points"),
                Series("listed", count[order], count[order], "dashed"),
            ],
            log_x=True,
            log_y=True,
        ),
        note="k switches make k + 1 intervals: two rounds and three policies have 9 sequences with "
        "at most one switch, and the printed count is 6",
    )


def _apart(found: list[float], exact: FloatArray) -> float:
    return float(np.max(np.abs(np.array(found) - exact) / exact))


def found_by_the_oracle(effort: Effort) -> Finding:
    """The dynamic programmes against all sequences, with noise, and what a grid of times costs."""
    rng = effort.rng("switching", "oracle")
    found: dict[str, list[float]] = {"policies": [], "intervals": []}
    exact, lost, beyond, gaps, rooms = [], [0.0], [], [], []
    for i in range(effort.pick(40, 600)):
        N, d, T, k = (int(n) for n in rng.integers([2, 1, 1, 0], [4, 4, 7, 4]))
        base = FinitePolicies(rng.integers(2, size=(N, d)), n_actions=2)
        x = rng.integers(d, size=T).tolist()
        losses = rng.integers(-3, 4, size=(T, 2)).astype(float)
        scale = float(rng.choice([0.0, 1.0, 10.0]))
        best = _listed(base, x, losses, k, 1, scale, i)
        exact.append(best)
        for method, values in found.items():
            oracle = Switching(base, k, sequence=x, method=method)
            value, leader = _solved(oracle, losses, scale, i)
            values.append(value)
            lost.append(abs(leader - value))
        b = int(rng.integers(1, 5))
        value, _ = _solved(Switching(base, k, sequence=x, grid=b), losses, 0.0, i)
        whole = _listed(base, x, losses, k, 1, 0.0, i)
        beyond.append(abs(value - _listed(base, x, losses, k, b, 0.0, i)))
        gaps.append(value - whole)
        rooms.append(k * (b // 2) * float(np.ptp(losses, axis=1).max()))
    off = [float(np.max(np.abs(np.array(values) - exact))) for values in found.values()]
    over = float(max(np.array(gaps) - rooms))
    price, limit = _half_a_cell()
    order = np.argsort(exact)
    return Finding(
        [
            Check("largest error of a minimum, listed policies", off[0], 1e-3),
            Check("largest error of a minimum, intervals", off[1], 1e-3),
            Check("largest difference between a leader's loss and the minimum", max(lost), 1e-3),
            Check("largest error of a minimum on a grid", max(beyond), 1e-9),
            Check("largest price of a grid beyond k⌊b/2⌋R", over, 0.0),
            Check("price with every switch half a cell away: k⌊b/2⌋R", price, limit, False),
        ],
        Plot(
            "smallest loss, all sequences listed",
            "minimum found",
            [
                *(Series(method, exact, values, "points") for method, values in found.items()),
                Series("equal", np.array(exact)[order], np.array(exact)[order], "dashed"),
            ],
        ),
        note="noise is held in single precision, hence 0.001",
    )


def _solved(oracle: Switching, losses: FloatArray, scale: float, key: int) -> tuple[float, float]:
    """The oracle's minimum, and what its leader loses."""
    assert oracle.contexts is not None
    pairs = oracle.contexts
    noise = oracle.noise(pairs, np.uint64(key), 0, 2**20)
    total = oracle.objective()
    total.prepare(pairs)
    for pair, row in zip(pairs, losses, strict=True):
        total.add(pair, row)
    leader = total.leaders(noise, 0, 1, scale)[0]
    rows = losses + scale * noise.unit(0)
    lost = sum(loss_of(row, leader(pair)) for pair, row in zip(pairs, rows, strict=True))
    return float(total.minima(noise, 0, 1, scale)[0]), lost


def _listed(
    base: FinitePolicies,
    x: list[int],
    losses: FloatArray,
    k: int,
    grid: int,
    scale: float,
    key: int,
) -> float:
    """The smallest loss of all sequences, by the definition."""
    oracle = Switching(base, k, sequence=x)
    assert oracle.contexts is not None
    fakes = oracle.noise(oracle.contexts, np.uint64(key), 0, 2**20).unit(0)
    rows, T = losses + scale * fakes, len(x)
    costs = rows[np.arange(T), base.table[:, x]]
    return float(costs[sequences(T, len(costs), k, grid), np.arange(T)].sum(axis=1).min())


def _half_a_cell() -> tuple[float, float]:
    """What a grid costs if every switch is half a cell away, and its limit."""
    b, k = 4, 2
    best = np.repeat([0, 1, 0], [6, 8, 8])
    oracle = Switching(FinitePolicies([[0], [1]]), k, sequence=[0] * len(best), grid=b)
    price, _ = _solved(oracle, 1.0 - np.eye(2)[best], 0.0, 0)
    return price, float(k * (b // 2))


CLAIMS = (
    Claim(
        "switching-regret",
        "Corollary 4 (switching regret)",
        "On a known sequence of contexts regret to the best sequence of policies with k switches "
        "is at most that of Theorem 2 with d = T and N^(k+1) T^k policies (printed: N^k); noise "
        "on the future alone makes it √(2πT log Ñ).",
        "means many standard errors below their bounds",
        regret_to_sequences,
    ),
    Claim(
        "switching-sequences",
        "Corollary 4, the number of sequences",
        "There are Σ C(T-1, i) N (N-1)^i sequences of T policies with at most k switches, no more "
        "than T^k N^(k+1); the printed T^k N^k counts k intervals and is too small.",
        "exact",
        counted,
    ),
    Claim(
        "switching-oracle",
        "Lemma (oracle for sequences)",
        "A dynamic programme finds the best sequence; with switches on a grid of step b only, it "
        "is worse by k⌊b/2⌋ times the range of a round's losses at most.",
        "holds on every instance",
        found_by_the_oracle,
    ),
)
