"""Separators: the constructions separate all policies, and the printed ones do not always."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan import bounds, separators
from hannan.core import Oracle, Policy
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import Pool
from hannan.oracles import Conjunctions, Disjunctions, InterceptClassifiers
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial

Table = NDArray[np.int64]


class SeparatorCase(NamedTuple):
    """All policies of a class: their actions on a separator and on many other contexts."""

    name: str
    oracle: Oracle
    policies: Sequence[Policy]
    separator: Sequence[Any]
    contexts: Sequence[Any]

    def plays(self, contexts: Iterable[Any]) -> Table:
        """Return the action of each policy on each context, [N, d]."""
        checked = [self.oracle.check_context(context) for context in contexts]
        return np.array([[policy(x) for x in checked] for policy in self.policies])

    def separates(self, points: Iterable[int]) -> bool:
        """Return whether the oracle reports that some points of the separator separate."""
        kept = [self.separator[i] for i in points]
        return bool(kept) and self.oracle.separates(self.oracle.check_contexts(kept)) is True


@claim("separators", "Example (separators)", "all policies compared")
def constructions(effort: Effort) -> Iterator[Check]:
    """Distinct monotone disjunctions differ on the n unit vectors, distinct conjunctions on their
    complements, and distinct linear classifiers on n/τ points. No point is superfluous.

    Compare all policies on the separator and elsewhere: on all bit vectors, or on a grid finer than
    the intercepts. Then leave out a point.
    """
    found: dict[str, NDArray[np.int64]] = {}
    for case in _cases(effort):
        plays = case.plays(case.separator)
        N = _distinct(np.column_stack([plays, case.plays(case.contexts)]))
        fewer = [np.delete(np.arange(len(plays.T)), x) for x in range(len(plays.T))]
        spare = sum(_distinct(plays[:, rest]) == N for rest in fewer)
        wrong = sum(map(case.separates, fewer)) + (not case.separates(range(len(plays.T))))
        counts = np.array([N - _distinct(plays), spare, wrong])
        found[case.name] = found.get(case.name, 0) + counts
    kinds = ("policies not separated", "superfluous points", "wrong results of the oracle")
    for name, counts in found.items():
        for what, count in zip(kinds, counts, strict=True):
            yield Check(f"{name}: {what}", float(count), 0.0)


def _cases(effort: Effort) -> Iterator[SeparatorCase]:
    for n in range(1, effort.pick(5, 9)):
        rows = np.arange(2**n)[:, None] >> np.arange(n) & 1
        for formulas in (Disjunctions(n), Conjunctions(n)):
            name = type(formulas).__name__.lower()
            listed = [formulas.policy(np.flatnonzero(row)) for row in rows]
            yield SeparatorCase(
                name, formulas, listed, list(getattr(separators, name)(n)), list(rows)
            )
    for n, steps in [(1, 3), (2, 3), *([(2, 6), (3, 3)] if effort.full else [])]:
        oracle = InterceptClassifiers(n, 1 / steps)
        values = [*(np.arange(1, steps + 1) / steps), np.inf]
        planes = [oracle.policy(a) for a in itertools.product(values, repeat=n)]
        axes = separators.intercept_classifiers(n, 1 / steps)
        yield SeparatorCase("intercept classifiers", oracle, planes, list(axes), _grid(n, steps))


def _grid(n: int, steps: int) -> list[FloatArray]:
    """Return points finer than the intercepts, from the origin to beyond the last intercept."""
    sides = np.arange(0, 2 * steps + 3) / (2 * steps)
    return [np.array(point) for point in itertools.product(sides, repeat=n)]


def _distinct(plays: Table) -> int:
    return len(np.unique(plays, axis=0)) if plays.shape[1] else 1


@claim(
    "separators-repaired",
    "Example (separators), erratum 18",
    "all policies compared; mean regret below its bound",
)
def repairs(effort: Effort) -> Iterator[Check]:
    """Printed separators fail for formulas with negations and for classifiers without intercept.
    Points beyond the last intercepts repair the separator of the classifiers, and their regret.

    Noise on a printed set leaves two policies tied. An adversary that charges for the first of them
    is right in every round.
    """
    T, steps = effort.pick(1500, 6000), 4
    oracle = InterceptClassifiers(1, 1 / steps)
    whole = separators.intercept_classifiers(1, 1 / steps)
    printed = whole[whole[:, 0] < 1.0]
    yield from _literals()
    yield from _turned(oracle, steps, printed)
    sizes = bounds.sizes_of(oracle, whole, setting="separator")
    bound = bounds.complete_information(T, form="sharp", **sizes)
    options = {"epsilon": bound.epsilon}
    trial = Trial("coin", oracle, _coin(oracle, T), T, lambda **_: bound, options=options)
    seeds = range(effort.pick(6, 30))
    # A pool may hold any points, so both sets can be tried.
    stuck, free = (trial.regret(seeds, contexts=Pool(list(points))) for points in (printed, whole))
    yield Check("noise on the printed points: mean regret", stuck, bound.value, False)
    yield Check("noise on one more point: mean regret, against Theorem 2", free, bound.value)


def _literals() -> Iterator[Check]:
    """Check that unit vectors do not separate formulas with negations."""
    for n in (2, 3, 4):
        rows = np.arange(2**n)[:, None] >> np.arange(n) & 1
        signs = np.array(list(itertools.product([-1, 0, 1], repeat=n)))
        # A literal of sign s is on if bit and sign agree.
        on = (signs[:, None] == 1) & (rows == 1) | (signs[:, None] == -1) & (rows == 0)
        unit = [int(np.flatnonzero((rows == e).all(axis=1))[0]) for e in separators.disjunctions(n)]
        plays = on.any(axis=2).astype(np.int64)
        N = _distinct(plays)
        what = f"disjunctions of {n} bits with negations: separated by unit vectors"
        yield Check(f"{what}, of {N}", _distinct(plays[:, unit]), N - 1)


def _turned(oracle: InterceptClassifiers, steps: int, printed: FloatArray) -> Iterator[Check]:
    """Count separated linear classifiers on a line, and those with their sides exchanged."""
    values = [*(np.arange(1, steps + 1) / steps), np.inf]
    policies = [oracle.policy([a]) for a in values]
    below, beyond = np.array([[0.5 / steps]]), np.array([[1.0 + 0.5 / steps]])

    def told(points: FloatArray, both: bool) -> int:
        plays = np.array([[policy(x) for x in points] for policy in policies])
        return _distinct(np.concatenate([plays, 1 - plays]) if both else plays)

    one, two = len(policies), told(np.array(_grid(1, steps)), True)
    ends = np.concatenate([below, printed, beyond])
    what = f"intercepts: separated by the printed points, of {one}"
    yield Check(what, told(printed, False), one - 1)
    yield Check("intercepts: with a point beyond", told(ends[1:], False), one, False)
    yield Check(f"either side: with a point beyond, of {two}", told(ends[1:], True), two - 1)
    yield Check("either side: with points at both ends", told(ends, True), two, False)


def _coin(oracle: InterceptClassifiers, T: int) -> FromArrays:
    """Exclude all except two classifiers; then, at x = 1, charge the better of the two."""
    contexts, losses = [], []
    total = oracle.objective()
    for t in range(T):
        x = oracle.check_context([1.0 - 0.25 / oracle.steps if t < T // 4 else 1.0])
        loss = np.array([0.0, 1.0])
        if t >= T // 4:
            loss = np.where(np.arange(2) == total.action(x, WITHOUT_NOISE), 1.0, 0.0)
        total.add(x, loss)
        contexts.append(x)
        losses.append(loss)
    return FromArrays(contexts, losses)
