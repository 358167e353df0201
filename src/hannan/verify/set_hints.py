"""Hints for sets: their measured cost, their weights, their budget, and the certificate."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple, Self

import numpy as np

from hannan.core import Oracle, Predictor
from hannan.core.validation import FloatArray, LossRange
from hannan.learners import ContextSemiBanditFTPL, Resampling, SelfTuned, Trust
from hannan.learners.importance_weights import past_of, weigh
from hannan.learners.offset import Offset
from hannan.learners.set_hint import limit_of
from hannan.oracles import FinitePolicies, Matchings, SpanningTrees, Subsets
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import SIGMAS, standard_error

ListedSets = tuple[tuple[int, ...], ...]
_RESULT = "Hints for sets (beyond the paper)"
_BASE = 40_000  # draws that estimate the base learner's distribution
_DRAWS = 64  # draws that estimate the instability cost of a round


class Adviser(Predictor):
    """A predictor that an experiment controls: it has bounds and estimates but learns nothing."""

    def __init__(self) -> None:
        self.bounds: Any = None
        self.values: Any = None

    def clone(self, **changes: Any) -> Self:
        """Return itself."""
        return self

    def predict(self, context: Any) -> Any:
        """Return the bounds, whose best set is the hint."""
        return self.bounds

    def estimate(self, context: Any) -> Any:
        """Return the estimates V."""
        return self.values

    def learn(self, context: Any, action: Any, loss: Any) -> None:
        """Learn nothing."""


@dataclass(frozen=True)
class Always(Trust):
    """A rule that wants the same share of hints in every round."""

    p: float = 0.5

    def wanted(self, record: Any, n: int) -> float:
        """Return the share."""
        return self.p


def listed(sets: ListedSets) -> FinitePolicies:
    """Return the class of these sets, of any sizes."""
    K = 1 + max(max(each) for each in sets)
    return FinitePolicies(np.array([[[j in each for j in range(K)]] for each in sets]))


class HintedCase(NamedTuple):
    """A learner before a round, and the hint, estimates and losses of the round."""

    oracle: Oracle
    share: float
    limit: int
    hint: tuple[int, ...]
    values: Any
    losses: Any
    loss_range: LossRange = (0.0, 1.0)
    start: Any = 0.0
    """Totals so far."""
    scale: float = 1.0
    missing: tuple[int, ...] = ()
    """Elements whose losses are missing also in rounds with feedback."""

    def learner(self, seed: int) -> ContextSemiBanditFTPL:
        """Return the learner, whose decisions only change the number of the next draw."""
        adviser, K = Adviser(), int(self.oracle.n_actions or 0)
        adviser.bounds = np.ones(K)
        adviser.bounds[list(self.hint)] = -1.0
        adviser.values = np.full(K, self.values, np.float64)
        learner = ContextSemiBanditFTPL(
            self.oracle,
            predictor=adviser,
            trust=Always(1e9, share=0.99, p=self.share),
            epsilon=1.0 / self.scale,
            max_resamples=self.limit,
            loss_range=self.loss_range,
            seed=seed,
        )
        learner.leader.get_ready()
        learner.leader.total.add(learner.leader.X.points[0], np.full(K, self.start, np.float64))
        learner.hint.with_feedback = 1  # else hints would wait for the first loss
        return learner

    @property
    def vector(self) -> FloatArray:
        """The losses of all elements."""
        return np.full(int(self.oracle.n_actions or 0), self.losses, np.float64)


class HintedSample(NamedTuple):
    """Many independent rounds of a case."""

    rounds: list[Any]
    at_once: FloatArray
    """Growth of S at the decision."""
    later: FloatArray
    """Growth of S by the loss."""
    estimates: FloatArray
    """Importance weights, zero for elements that were not chosen, [n, K]."""
    q0: FloatArray
    """Probability of each element by the base learner."""
    learner: ContextSemiBanditFTPL


def sample(case: HintedCase, n: int, seed: int, late: float = 1.0) -> HintedSample:
    """Decide n rounds in the same state, this share of them as decisions with late feedback."""
    learner = case.learner(seed)
    x, hint, leader, losses = learner.leader.X.points[0], learner.hint, learner.leader, case.vector
    rounds, at_once, later = [], np.zeros(n), np.zeros(n)
    estimates = np.zeros((n, len(losses)))
    for i in range(n):
        opened: Any = learner.choose(x, None, late=i < late * n)
        before = hint.S
        learner.commit(opened, recorded=False)
        decided = hint.S
        opened.charge = hint.unpaid + Offset(case.loss_range, case.oracle).without_feedback
        if opened.weights is None:
            opened.draws = 0
            opened.weights = weigh(leader, Resampling(2), opened)
            leader.advance(opened.draws)
        missing = np.isin(opened.action, case.missing)
        opened.unseen = hint.unseen(opened, missing)
        estimates[i, opened.action] = np.where(missing, 0.0, opened.weights)
        hint.charge(opened, losses[opened.action], opened.weights, missing)
        at_once[i], later[i] = decided - before, hint.S - decided
        rounds.append(opened)
    draws = past_of(leader, opened).chosen(x, leader.hidden_draw(0, case.scale), _BASE)
    return HintedSample(rounds, at_once, later, estimates, draws.mean(axis=0), learner)


TRIANGLES = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
PAIRED: ListedSets = ((0, 1), (2,))
SIZES: ListedSets = ((0,), (1, 2, 3))
CASES = {
    "matchings": HintedCase(Matchings(4, 4), 0.2, 30, (0, 5, 10, 15), 0.1, 0.9),
    "matchings, few draws": HintedCase(Matchings(3, 3), 0.3, 3, (0, 4, 8), 0.1, 0.9),
    "trees": HintedCase(SpanningTrees(TRIANGLES), 0.6, 30, (0, 1, 3), [1, 0, 0, 1, 0], 0.5),
    "subsets": HintedCase(
        Subsets(6, 3),
        0.6,
        30,
        (0, 1, 2),
        0.1,
        [0.9, 0.9, 0.9, 0.1, 0.1, 0.1],
        start=[2, 2, 2, 0, 0, 0],
    ),
    "sets of two sizes": HintedCase(
        listed(SIZES), 0.5, 6, (0,), -0.9, [-0.5, -1, -1, -1], (-1.0, -0.5), [-2, 1, 1, 0]
    ),
}


def _samples(effort: Effort) -> Iterator[tuple[str, HintedCase, HintedSample]]:
    for name, case in CASES.items():
        n = effort.pick(4000, 40_000)
        yield name, case, sample(case, n, effort.seed, late=0.5)


def _parts(case: HintedCase, drawn: HintedSample) -> tuple[FloatArray, FloatArray, float]:
    """Return hint and probability of each element, and the limit of draws for the hint's."""
    h = np.zeros(len(drawn.q0))
    h[list(case.hint)] = 1.0
    q = case.share * h + (1.0 - case.share) * drawn.q0
    computed = isinstance(case.oracle, Subsets)
    return h, q, math.inf if computed else limit_of(case.share, case.limit)


@claim(
    "set-hint-cost",
    _RESULT,
    f"false alarm below 1e-4: {SIGMAS} standard errors for each of {len(CASES)} means",
)
def cost(effort: Effort) -> Iterator[Check]:
    """The measured cost s of a hint has mean <q - q0, l>. Here q0 and q are the probabilities of
    elements in the base learner's set and in the action. Truncation adds q0 (1-q)^(L-1) (l - V)
    for each element of the hint.

    Half of the rounds are decisions, whose weights are drawn before the loss is known.
    """
    for name, case, drawn in _samples(effort):
        h, q, limit = _parts(case, drawn)
        V, losses = drawn.rounds[0].values, case.vector
        short = 0.0 if limit == math.inf else (1.0 - q) ** (limit - 1.0)
        mean = (q - drawn.q0) @ losses + (h * drawn.q0 * short) @ (losses - V)
        s = drawn.at_once + drawn.later
        slack = float(np.abs(losses).sum()) * case.share * 0.5 / math.sqrt(_BASE)  # of q0
        error = math.hypot(standard_error(s), slack)
        yield Check(
            f"{name}: mean cost less <q - q0, l>, in standard errors",
            abs(float(s.mean() - mean)) / error,
            SIGMAS,
        )


@claim(
    "set-hint-weights",
    _RESULT,
    f"false alarm below 1e-4: {SIGMAS} standard errors for each element",
)
def weights(effort: Effort) -> Iterator[Check]:
    """With hints for sets, importance weights estimate losses without bias. The mean estimate of
    a loss of 1 is 1 - (1-q)^L for elements of the hint and 1 - (1-q0)^L for others.

    Elements expected fewer than 100 times in a sample are left out.
    """
    for name, case, drawn in _samples(effort):
        h, q, limit = _parts(case, drawn)
        n, most = len(drawn.rounds), float(case.limit)
        missed = np.where(h > 0.0, (1.0 - q) ** min(limit, most), (1.0 - drawn.q0) ** most)
        off = np.abs(drawn.estimates.mean(axis=0) + missed - 1.0)
        error = np.hypot(
            drawn.estimates.std(axis=0) / math.sqrt(n), most * missed / math.sqrt(_BASE)
        )
        often = n * q >= 100.0
        what = f"{name}: mean estimate of a loss of 1, in standard errors from its limit"
        yield Check(what, float((off / error)[often].max()), SIGMAS)


# Budget --------------------------------------------------------------------------------------

MOST = 0.9
GAMES: dict[str, tuple[Oracle, LossRange, float]] = {
    "slates": (Subsets(6, 3), (0.0, 1.0), 0.7),
    "trees": (SpanningTrees(TRIANGLES), (0.0, 1.0), 0.7),
    "rewards": (Subsets(5, 2, exactly=False), (-1.0, 0.0), 1.0),
    "sets of two sizes": (listed(SIZES), (-1.0, -0.9), 9.0),
}


class HintedPath(NamedTuple):
    """One game of a learner whose hints are as harmful as its budget allows."""

    excess: float
    """Largest excess of S over the budget, in units of the largest loss."""
    spread: float
    """W as a share of its limit."""
    hinted: float
    """Share of the last rounds that had a hint."""


def malicious(name: str, delay: int, T: int, seed: int, good: bool = False) -> HintedPath:
    """Play a game in which every hint costs as much as an action can; with `good`, as little.

    Losses arrive `delay` rounds late, in random order, and a few never. In a third of the rounds,
    an element is unavailable.
    """
    oracle, (low, high), c = GAMES[name]
    adviser, rng, K = Adviser(), np.random.default_rng([seed, delay]), int(oracle.n_actions or 0)
    learner = ContextSemiBanditFTPL(
        oracle,
        predictor=adviser,
        trust=Always(c, share=MOST, p=1.0),
        loss_range=(low, high),
        seed=seed,
    )
    G, excess, waiting, before = learner.complexity.value, -math.inf, [], 0
    for t in range(T):
        adviser.bounds = rng.random(K) - (1.0 if good else 0.5)
        likely = (adviser.bounds < adviser.bounds.mean()) == (t % 4 < 2)
        adviser.values = np.where(likely, high, low) if t % 2 else rng.choice([low, high], K)
        masked = t % 3 == 2 and isinstance(oracle, Subsets)
        decision = learner.decide(None, np.sort(rng.permutation(K)[: K - 1]) if masked else None)
        opened = learner.open_round(decision.id)
        assert opened is not None
        losses = np.full(K, high if good else low)
        losses[vars(opened)["advice"]] = low if good else high
        loss = losses[decision.action]
        gone = (rng.random(len(loss)) < 0.5) & (t % 5 == 4)
        waiting.append((decision, np.where(gone, np.nan, loss)))
        allowed = c * (high - low) * math.sqrt(G * (t + 1))
        excess = max(excess, learner.hint.S - allowed)
        if len(waiting) > delay:
            decision, loss = waiting.pop(int(rng.integers(len(waiting))))
            if delay and t % 11 == 0:
                learner.forget(decision)
            else:
                learner.update(loss, decision=decision)
        excess = max(excess, learner.hint.S - allowed)
        before = learner.hint.hinted if t == T // 2 else before
    share = (learner.hint.hinted - before) / (T - T // 2)
    return HintedPath(excess / (high - low), learner.hint.W * (1.0 - MOST) / T, share)


@claim("set-hint-budget", _RESULT, "holds on every path")
def budget(effort: Effort) -> Iterator[Check]:
    """The measured cost S of hints for sets is at most c√(Gt) at every time on every path. Hints,
    estimates and delays are arbitrary, losses may be missing, and elements may be unavailable.
    """
    for name, delay in product(GAMES, (0, 6)):
        seeds = effort.seeds(f"set-hint-budget {name}", 4, 40)
        paths = [malicious(name, delay, 200, seed) for seed in seeds]
        what = f"{name}, {'late' if delay else 'at once'}: "
        yield Check(
            f"{what}largest S - c√(Gt)", max(path.excess for path in paths), 0.0, True, 1e-9
        )
        yield Check(f"{what}Σ 1/β, as a share of T/(1-s)", max(path.spread for path in paths), 1.0)
        used = malicious(name, delay, 200, seeds[0], good=True).hinted
        yield Check(f"{what}rounds with a hint if hints save, as a share", used, 0.3, False)


# Certificates --------------------------------------------------------------------------------


class HintedGame(NamedTuple):
    """A game with one hint in all rounds."""

    oracle: Oracle
    sets: ListedSets
    """All sets of the class."""
    trust: Trust
    hint: tuple[int, ...]
    losses: Callable[[ContextSemiBanditFTPL, int], FloatArray]
    T: int
    limit: int | None = None

    def play(self, seed: int) -> tuple[FloatArray, float, FloatArray]:
        """Return the regret against each set, the certificate, and the error of D by round."""
        adviser, K = Adviser(), int(self.oracle.n_actions or 0)
        adviser.bounds, adviser.values = np.ones(K), np.full(K, 0.5)
        adviser.bounds[list(self.hint)] = 0.0
        options: dict[str, Any] = {"max_resamples": self.limit, "seed": seed}
        learner = ContextSemiBanditFTPL(self.oracle, predictor=adviser, trust=self.trust, **options)
        leader, paid, sums, step = learner.leader, 0.0, np.zeros(K), learner.step
        assert isinstance(step, SelfTuned)
        errors = np.zeros(self.T)
        for t in range(self.T):
            losses = self.losses(learner, t)
            action, past, D = learner.act(), leader.total.copy(), step.D
            draw = leader.hidden_draw(_DRAWS * t, step.scale)
            learner.update(losses[action])
            paid += float(losses[action].sum())
            sums += losses
            total: Any = leader.total
            if isinstance(self.oracle, Subsets) and draw.noise is not None:
                estimate = total.totals - past.totals  # type: ignore[attr-defined]
                chosen = [each.chosen(None, draw, _DRAWS) @ estimate for each in (past, total)]
                errors[t] = step.D - D - float((chosen[0] - chosen[1]).mean())
        regrets = np.array([paid - sums[list(each)].sum() for each in self.sets])
        return regrets, float(learner.certificate().stability_estimate or 0.0), errors


def punish(learner: ContextSemiBanditFTPL, t: int) -> FloatArray:
    """Return losses of 1 for the set that copies of the learner choose most often."""
    losses = np.zeros(int(learner.oracle.n_actions or 0))
    answers: list[Any] = [tuple(each.tolist()) for each in learner.would_play(None, 8, t)]
    losses[list(max(answers, key=answers.count))] = 1.0
    return losses


def steady(learner: ContextSemiBanditFTPL, t: int) -> FloatArray:
    """Return losses of 1/2 for the first two elements, and of 1 for the others."""
    losses = np.ones(int(learner.oracle.n_actions or 0))
    losses[:2] = 0.5
    return losses


APART: ListedSets = ((0, 1), (2, 3), (4, 5), (6, 7))
PLAYED = {
    "likeliest set punished": HintedGame(
        Subsets(6, 2),
        tuple(combinations(range(6), 2)),
        Always(50.0, share=0.9, p=0.5),
        (0, 1),
        punish,
        400,
    ),
    "a bad hint, no second draw": HintedGame(
        listed(APART),
        APART,
        Always(50.0, share=0.9, p=0.1),
        (2, 3),
        steady,
        400,
        1,
    ),
    "a good hint, few draws": HintedGame(
        Subsets(4, 2),
        tuple(combinations(range(4), 2)),
        Always(50.0, share=0.96, p=0.95),
        (0, 1),
        steady,
        400,
        8,
    ),
}


@claim(
    "set-hint-certificate",
    _RESULT,
    f"false alarm below 1e-4: {SIGMAS} standard errors for each of {2 * len(PLAYED)} means",
)
def certificate(effort: Effort) -> Iterator[Check]:
    """With hints for sets, regret against each set is on average at most the certificate. Hints
    may err, an adversary may punish the likeliest set, and few draws may make weights too small.
    An independent noise draw measures the instability cost.
    """
    for name, game in PLAYED.items():
        seeds = effort.seeds(f"set-hint-certificate {name}", 12, 60)
        regrets, stated, errors = (np.array(x) for x in zip(*map(game.play, seeds), strict=True))
        excess = regrets - stated[:, None]
        worst = excess[:, int(excess.mean(axis=0).argmax())]
        slack = SIGMAS * standard_error(worst)
        what = f"{name}: mean regret less certificate"
        yield Check(what, float(worst.mean()), 0.0, allowance=slack)
        if errors.any():
            off = abs(float(errors.sum())) / math.sqrt(float((errors**2).sum()))
            yield Check(f"{name}: growth of D, in standard errors", off, SIGMAS)


# Missing feedback ----------------------------------------------------------------------------

TRIPLE: ListedSets = ((0, 1), (2, 3), (4,))
SELECTIVE = {
    "two sets": HintedCase(
        listed(PAIRED), 0.9, 4, (0, 1), [0, 0, 1], [1, 1, 0], start=[0.2, 0.2, 0.4]
    ),
    "two sets, losses missing": HintedCase(
        listed(PAIRED), 0.8, 4, (0, 1), [0, 0, 1], [1, 1, 0], missing=(0, 2)
    ),
    "a shared element": HintedCase(
        listed(((0, 1), (0, 2), (3,))), 0.7, 9, (0, 1), 0.0, [1, 1, 0, 0]
    ),
    "rewards": HintedCase(
        listed(TRIPLE),
        0.4,
        6,
        (0, 1),
        -1.0,
        [0, 0, -1, -1, 0],
        (-1.0, 0.0),
        [1, 1, 1, 1, -2],
    ),
}
RULES: dict[str, Callable[[HintedCase, Any], bool]] = {
    "all": lambda case, opened: True,
    "none": lambda case, opened: False,
    "only the hint": lambda case, opened: tuple(opened.action) == case.hint,
    "sets except the hint": lambda case, opened: tuple(opened.action) != case.hint,
    "sets without element 0": lambda case, opened: 0 not in opened.action,
    "if V is large at the hint": lambda case, opened: opened.gap > _middle(case),
    "if V is small at the hint": lambda case, opened: opened.gap <= _middle(case),
}


def _middle(case: HintedCase) -> float:
    h = np.zeros(len(case.vector))
    h[list(case.hint)] = 1.0
    return float(np.full(len(h), case.values, np.float64) @ (h - 0.5))


def _excess(case: HintedCase, drawn: HintedSample, sets: ListedSets, rule: str) -> FloatArray:
    """Return regret less account of each round, for the set with the largest mean.

    The account of a round with feedback is the growth of S, plus the estimated loss of the base
    learner's set, minus that of the fixed set. The account of a round without feedback is the
    growth of S at the decision, plus the charge.
    """
    learner, losses, low = drawn.learner, case.vector, min(case.loss_range[0], 0.0)
    n, K = len(drawn.rounds), len(losses)
    draw = learner.leader.hidden_draw(_BASE, case.scale)
    base = past_of(learner.leader, drawn.rounds[0]).chosen(learner.leader.X.points[0], draw, n)
    policies = np.array([[float(j in each) for j in range(K)] for each in sets])
    estimates = low + drawn.estimates * (losses - low)
    shown = np.array([RULES[rule](case, opened) for opened in drawn.rounds])
    paid = np.array([losses[opened.action].sum() for opened in drawn.rounds])
    charged = np.array([opened.charge for opened in drawn.rounds])
    later = drawn.later + np.array([opened.unseen for opened in drawn.rounds])
    h, q, limit = _parts(case, drawn)
    x, V = drawn.q0, drawn.rounds[0].values
    hidden = np.where(
        h > 0.0, (1.0 - q) ** (limit - 1.0) * (V - low), (1.0 - x) ** case.limit * (losses - low)
    )
    spent = drawn.at_once + np.where(shown, later, charged) + float(x @ hidden)
    against = (base[:, None, :] - policies) * estimates[:, None, :] * shown[:, None, None]
    excess = (paid - spent)[:, None] - policies @ losses - against.sum(axis=2)
    return np.asarray(excess[:, int(excess.mean(axis=0).argmax())])


@claim(
    "set-late",
    _RESULT,
    f"false alarm below 1e-4: {SIGMAS} standard errors for each of "
    f"{len(SELECTIVE) * len(RULES)} means",
)
def late(effort: Effort) -> Iterator[Check]:
    """With hints for sets, the account of a late round covers its mean regret for every rule that
    decides which rounds have feedback. A rule may depend on the set and on S. Also in rounds with
    feedback, losses of elements may be missing.

    The account includes the exact cost of truncation.
    """
    for name, case in SELECTIVE.items():
        drawn = sample(case, effort.pick(6000, 60_000), effort.seed)
        table: Any = case.oracle
        sets = tuple(tuple(np.flatnonzero(row).tolist()) for row in table.sets)
        for rule in RULES:
            excess = _excess(case, drawn, sets, rule)
            slack = SIGMAS * standard_error(excess)
            what = f"{name}, feedback for {rule}: regret less account"
            yield Check(what, float(excess.mean()), 0.0, allowance=slack)
