r"""The three stability lemmas: the largest effect of one round on the perturbed leader.

All follow from one inequality, :math:`p_{t+1}(\pi) \ge e^{-\epsilon\kappa v} p_t(\pi)`, v the cost
of the round for π. The checks test the inequality for every policy, on random totals and on some
totals where it is an equality.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hannan import bounds
from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL
from hannan.oracles import FinitePolicies
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.laplace_error import draw_of

Counts = NDArray[np.int64]

_CONFIDENCE = "Clopper–Pearson, all policies: false alarm below 1e-5"
_EPSILON = 0.4
_LEVEL = 1e-9  # level of one interval; there are some thousand intervals
_SIGMAS = 6.0  # a normal variable exceeds this with probability 1e-9


class Turn(NamedTuple):
    """One round at some totals: how often each policy led before and after the round."""

    draws: int
    before: Counts
    after: Counts
    cost: FloatArray  # v of each policy
    least: FloatArray  # its loss less the smallest loss; often equal to v
    allowed: FloatArray  # the exponent εκv
    printed: float  # limit of the stability in the printed lemma

    @property
    def needed(self) -> float:
        """Largest exponent log p_t/p_{t+1} as a share of εκv, for policies with enough draws."""
        enough = (self.before >= 200) & (self.after >= 200) & (self.cost > 0)
        exponents = np.log(self.before[enough] / self.after[enough])
        return float((exponents / self.allowed[enough]).max())

    @property
    def surely(self) -> FloatArray:
        """Lower confidence limit of the exponent, from Clopper–Pearson limits."""
        n, before, after = self.draws, self.before, self.after
        low = stats.beta.ppf(_LEVEL, np.maximum(before, 0.5), n - before + 1)
        high = stats.beta.isf(_LEVEL, after + 1, np.maximum(n - after, 0.5))
        return np.asarray(np.log(np.where(before > 0, low, 1e-300)) - np.log(high))

    @property
    def chance(self) -> float:
        """Deviation of the stability allowed for chance."""
        distributions = (self.before / self.draws, self.after / self.draws)
        variance = sum(
            distribution @ self.cost**2 - (distribution @ self.cost) ** 2
            for distribution in distributions
        )
        return float(_SIGMAS * np.sqrt(variance / self.draws))

    @property
    def stability(self) -> float:
        """Lower confidence limit of the cost of deciding before the loss is known."""
        return float((self.before - self.after) @ self.cost) / self.draws - self.chance

    @property
    def limit(self) -> float:
        """Limit of the sharp lemma: E[v (1 - exp(-εκv))], which is at most εκ E[v²]."""
        return float(self.before @ (self.cost * -np.expm1(-self.allowed))) / self.draws


class Lemma(NamedTuple):
    """One of the three lemmas, which determines κ and v."""

    separator: bool = False
    nonnegative: bool = False

    def turn(
        self,
        table: Any,
        losses: Any,
        draws: int,
        seed: int,
        history: Iterable[tuple[int, Any]] = (),
        context: int | None = None,
    ) -> Turn:
        """Let a learner play the history; count leaders before and after one more round.

        The round is on the last context by default; in a separator's table, that context carries no
        noise. Losses are multiples of the size of the noise, 1/ε.
        """
        losses = np.asarray(losses, dtype=np.float64) / _EPSILON
        oracle = FinitePolicies(table, n_actions=len(losses))
        d = len(oracle.contexts) - self.separator
        context = len(oracle.contexts) - 1 if context is None else context
        known: dict[str, Any] = {"separator" if self.separator else "contexts": range(d)}
        learner = ContextFTPL(oracle, epsilon=_EPSILON, seed=seed, loss_range=None, **known)

        def counted(first: int) -> Counts:
            """Count how often each policy leads under the present total."""
            leaders: Any = learner.leader.total.leaders(draw_of(learner, first), draws)
            return np.bincount([leader.index for leader in leaders], minlength=oracle.n_policies)

        for x, earlier in history:
            learner.act(x)
            learner.update(np.asarray(earlier) / _EPSILON)
        before = counted(2**20)  # draws that no round used
        learner.act(context)
        learner.update(losses)
        after = counted(2**20 + draws)
        loss = oracle.losses_by_code(losses)[oracle.table[:, context]]
        m, setting = oracle.max_chosen, "separator" if self.separator else "transductive"
        case: dict[str, Any] = {"d": d, "n_actions": oracle.n_actions, "m": m, "setting": setting}
        case["nonnegative"] = self.nonnegative
        kappa = bounds.kappa(antichain=oracle.antichain, **case)
        least = loss - loss.min()
        cost = loss if self.nonnegative and (m > 1 or not oracle.antichain) else least
        if self.nonnegative:
            printed = _EPSILON * float(before @ loss**2) / draws
        else:
            case |= {"loss_bound": max(float(np.abs(loss).max()), 1e-9) / m, "log_size": 1.0}
            printed = bounds.stability_plus_error(_EPSILON, 1, **case).terms["stability"]
        return Turn(draws, before, after, cost, least, _EPSILON * kappa * cost, printed)

    def random(self, rng: np.random.Generator, draws: int) -> Turn:
        """Draw a class, a history and a round; single actions, sets of one size, or any sets."""
        columns, K = (int(n) for n in rng.integers([1 + self.separator, 2], [4, 5]))
        kind, size = int(rng.integers(3)), int(rng.integers(1, K))
        table: NDArray[Any] = rng.integers(K, size=(10, columns))
        if kind:
            table = rng.random((10, columns, K)).argsort(axis=2) < size
        if kind == 2:
            table ^= rng.random(table.shape) < 0.3
            table[0, 0] = True
        if self.separator:
            shown = table[:, :-1].reshape(len(table), -1)
            table = table[np.unique(shown, axis=0, return_index=True)[1]]
        low = 0.0 if self.nonnegative else -1.0
        history = [
            (int(rng.integers(columns)), rng.uniform(low, 1.0, size=K))
            for _ in range(int(rng.integers(6)))
        ]
        losses = rng.uniform(0.5 * low, 0.5, size=K)
        context = columns - 1 if self.separator else int(rng.integers(columns))
        return self.turn(table, losses, draws, int(rng.integers(2**31)), history, context)

    def tried(self, effort: Effort, tight: dict[str, Turn]) -> Iterator[Check]:
        """Check random totals, then totals where the inequality is an equality."""
        rng = effort.rng("stability", *(int(flag) for flag in self))
        draws = effort.pick(20_000, 50_000)
        turns = [self.random(rng, draws) for _ in range(effort.pick(40, 250))]
        every = [*turns, *tight.values()]
        beyond = max(float((turn.surely - turn.allowed).max()) for turn in every)
        yield Check("lower limit of the exponent log p/p' less εκv, worst policy", beyond, 0.0)
        share = max(turn.stability / turn.limit for turn in every if turn.limit)
        yield Check("lower limit of stability, as a share of E v(1 - exp(-εκv))", share, 1.0)
        loose = max(turn.stability / turn.printed for turn in every)
        yield Check("lower limit of stability, as a share of the printed limit", loose, 1.0)
        for name, turn in tight.items():
            yield Check(f"{name}: exponent, as a share of εκv", turn.needed, 0.9, False)


@claim("additive-stability", "Lemma (transductive stability)", _CONFIDENCE)
def additive(effort: Effort) -> Iterator[Check]:
    """Probabilities to lead fall by at most the factor exp(-εκv) if a round costs a policy v more
    than another, κ = m or K. For any losses, stability is therefore at most εκ E[v²].

    The inequality is tight for a set and all sets that differ from it by one element, and nearly
    tight for swaps. κ is m if no action contains another, else K; the printed lemma has 4K.
    """
    lemma, n = Lemma(), effort.pick(150_000, 600_000)
    near = np.array([[[1, 1, 0]], [[0, 1, 0]], [[1, 0, 0]], [[1, 1, 1]]], dtype=bool)
    flips = lemma.turn(near, [0.4, 0.4, -0.4], n, effort.seed)
    swap = np.array([0.5, 0.5, -0.5, -0.5])
    swaps = lemma.turn([[[0, 1]], [[1, 2]], [[0, 3]]], swap, n, effort.seed, [(0, swap)])
    yield from lemma.tried(effort, {"a set and its neighbours, κ = K = 3": flips})
    yield _refutes("κ = 1 for sets that contain one another", flips)
    yield _refutes("κ = 1 for pairs of elements", swaps)


@claim("multiplicative-stability", "Lemma (multiplicative stability)", _CONFIDENCE)
def multiplicative(effort: Effort) -> Iterator[Check]:
    """Probabilities to lead fall by at most the factor exp(-εv) if a round costs a policy v and
    losses are linear and never negative. Stability is therefore at most ε E[v²].

    The last display of the printed proof has its inequality reversed (erratum 4).
    """
    lemma, n = Lemma(nonnegative=True), effort.pick(150_000, 600_000)
    alone = lemma.turn(np.array([[[False]], [[True]]]), [1.0], n, effort.seed)
    all_but = np.concatenate([np.ones((1, 3)), 1 - np.eye(3)]).astype(bool)[:, None]
    whole = lemma.turn(all_but, [0.4] * 3, n, effort.seed)
    paid = float((whole.before - whole.after) @ whole.least) / whole.draws
    squares = _EPSILON * float(whole.before @ whole.least**2) / whole.draws
    what = "stability, against ε E(f - min f)²: too small a limit for sets"
    tight = {"one element or none": alone, "three elements or all but one": whole}
    yield from lemma.tried(effort, tight)
    yield _refutes("κ = 1 with the loss less the smallest loss", whole)
    yield Check(what, paid - whole.chance, squares, False)


@claim("separator-stability", "Lemma (stability for small separator)", _CONFIDENCE)
def separator(effort: Effort) -> Iterator[Check]:
    """Noise on only d separating contexts multiplies the exponent of the other two lemmas by d, and
    a smaller factor is not enough.

    Noise on d contexts, and on another context a loss that a single policy suffers: κ = d κ_A.
    """
    lemma, n, d = Lemma(separator=True), effort.pick(150_000, 600_000), 3
    cube = np.array(list(itertools.product([True, False], repeat=d)))
    maps = np.column_stack([cube, np.arange(2**d) == 0])
    exact = lemma.turn(maps[:, :, None], [0.4], n, effort.seed)
    behind = [(x, [0.0, 0.5]) for x in range(d)]
    near = lemma.turn(maps.astype(int), [0.0, 1.0], n, effort.seed, behind)
    yield from lemma.tried(effort, {"all maps from 3 contexts to an element or none": exact})
    yield _refutes("κ without the factor d", exact)
    yield _refutes("κ without the factor d, single actions", near)


def _refutes(what: str, turn: Turn) -> Check:
    """Check a counter-example: the lower limit of the exponent is larger than ε v."""
    paid = turn.least > 0
    worst = float((turn.surely[paid] / (_EPSILON * turn.least[paid])).max())
    return Check(f"{what} is refuted: lower limit of the exponent over εv", worst, 1.0, False)
