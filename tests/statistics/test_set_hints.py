"""Hints for sets of elements: all adversaries of tiny games, and nasty games of some length."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from hannan.core.oracle import Draw
from hannan.core.validation import FloatArray
from hannan.kernels import sets as kernel
from hannan.learners import ContextSemiBanditFTPL, Trust
from hannan.learners.hint import SETS
from hannan.learners.perturbed_leader import NoisyRound
from hannan.learners.set_hint import SetHint, limit_of
from hannan.oracles import PerContext, SpanningTrees, Subsets
from hannan.verify.set_hints import listed
from tests.statistics.advised import Told
from tests.statistics.late_world import DELAYS, ENDINGS, LOSSES, VOICES, LateGame
from tests.statistics.means import SIGMAS, below, fails, further
from tests.thinning import one_in
from tests.verify import breaks

pytestmark = [pytest.mark.stat, pytest.mark.slow]
PAIRS, TWO_SIZES = [(0, 1), (0, 2), (1, 2)], [(0, 1), (2,)]
K, L = 3, 2


class Move(NamedTuple):
    """An adversary's choice in a round, with the results for each action and draw."""

    losses: FloatArray
    share: float
    hint: int
    costs: FloatArray
    """Growth of S by V of the move, the action and the set that one draw chose, [V, A, A]."""
    truncation: FloatArray
    """Truncation by V and element, per probability of the element, [V, K]: see `_truncated`."""
    residuals: FloatArray
    """Loss estimates beyond the lowest loss, by action and drawn set, [A, A, K]."""


class Tiny:
    """Two rounds against every adaptive adversary, with noise that is one of a few draws.

    The adversary chooses losses, hint, share and V among extreme points, given all of the past.
    Weights, ratios and costs come from the compiled functions of the learner. The draws and their
    negatives are the exact distribution, for which G is computed.
    """

    def __init__(self, sets: list[tuple[int, ...]], low: float, seed: int, control: str) -> None:
        self.low, self.control = low, control
        self.A = np.array([[float(j in each) for j in range(K)] for each in sets])
        self.sets = [np.array(each) for each in sets]
        half = np.random.default_rng(seed).laplace(size=(2, K))
        self.noise = np.concatenate([half, -half])
        self.G = float((self.noise @ self.A.T).max(axis=1).mean())
        oracle = listed(tuple(sets))
        self.record = SetHint(Told(), SETS, K, (low, low + 1.0), 1.0, oracle)
        corners = [low + np.array(x) for x in itertools.product([0.0, 1.0], repeat=K)]
        shares = [(0.0, 0), *itertools.product([0.5, 0.95], range(len(sets)))]
        self.moves = [self._move(losses, *x, corners) for losses in corners for x in shares]

    def _move(self, losses: FloatArray, share: float, hint: int, corners: list[FloatArray]) -> Move:
        n, guesses = len(self.sets), corners if share else [np.full(K, self.low)]
        costs, truncation = np.zeros((len(guesses), n, n)), np.zeros((len(guesses), K))
        residuals = np.zeros((n, n, K))
        for a, y in itertools.product(range(n), repeat=2):
            opened, weights = self._round(share, hint, a, y)
            action = self.sets[a]
            residuals[a, y, action] = weights * (losses[action] - self.low)
            for cost, V in zip(costs, guesses, strict=True):
                if share:
                    gap = kernel.gap(V, opened.advice, self.A[[y]] > 0.0)
                    known = losses[action], V, action, opened.hit, weights, opened.ratio
                    cost[a, y] = share * gap + kernel.charge(*known, share, 100.0)[0]
        for row, V in zip(truncation, guesses, strict=True):
            row[:] = losses - self.low
            if share:
                row[self.sets[hint]] = (V - self.low)[self.sets[hint]]
        return Move(losses, share, hint, costs, truncation, residuals)

    def _round(self, share: float, hint: int, a: int, y: int) -> tuple[NoisyRound, FloatArray]:
        """Return a round and its weights if one draw chooses set y."""
        opened = NoisyRound(None)
        opened.draw, opened.action = Draw(), self.sets[a]
        opened.advice, opened.share = self.sets[hint], share
        weights, ratio = np.zeros(len(opened.action)), np.zeros(len(opened.action))
        numbers = np.where(self.A[y, opened.action] > 0.0, 1.0, float(L))
        assert limit_of(share, L) == L
        count_as_found = L + (self.control == "ratio of a draw that was not found")
        for limit, sums in ((L, (weights, np.empty_like(ratio))), (count_as_found, (None, ratio))):
            into = (np.empty_like(weights) if sums[0] is None else sums[0], sums[1])
            rule = opened.hit, opened.hit, share, 0.0, limit
            kernel.from_numbers(numbers, np.arange(len(numbers)), *rule, *into)
        opened.ratio = np.where(opened.hit, ratio, 1.0 / (1.0 - share))
        return opened, weights

    def leaders(self, totals: FloatArray, scale: FloatArray) -> Any:
        """Return the leader under each draw, [n, draws]."""
        costs = totals[:, None, :] + scale[:, None, None] * self.noise
        return (costs @ self.A.T).argmin(axis=2)

    def value(self, D0: float, eta: float) -> float:
        """Return the largest mean of regret minus certificate in two rounds."""
        D = np.array([D0])
        now, leaves, weights, whose = [], [], [], []
        pick, chances = self._state(np.zeros((1, K)), D / (eta * self.G))
        for number, move in enumerate(self.moves):
            now.append(float(self._known(move, pick, chances)[0]))
            for chance, residual in self._outcomes(move, chances):
                total = self.low + residual
                d = self._unrest(move, pick, total[None], residual, D / (eta * self.G))[0]
                for each in d if chance[0] > 0.0 else ():
                    leaves.append([*total, D0 + each])
                    weights.append(chance[0] / len(d))
                    now[number] -= each * chance[0] / len(d)
                    whose.append(number)
        rows, back = np.unique(np.array(leaves).round(12), axis=0, return_inverse=True)
        later = self._last(rows[:, :K], rows[:, K], eta)[back.ravel()]
        best = -np.inf
        for star in range(len(self.sets)):
            sums = np.bincount(whose, np.array(weights) * later[:, star], len(self.moves))
            regrets = [float(m.losses[self.sets[star]].sum()) for m in self.moves]
            best = max(best, float((np.array(now) - regrets + sums).max()))
        return best

    def _last(self, totals: FloatArray, D: FloatArray, eta: float) -> FloatArray:
        """Return the largest mean of the last round for each policy to compare with, [n, A]."""
        pick, chances = self._state(totals, D / (eta * self.G))
        best = np.full((len(D), len(self.sets)), -np.inf)
        for move in self.moves:
            mean = self._known(move, pick, chances)
            for chance, residual in self._outcomes(move, chances):
                after = totals + self.low + residual
                mean = mean - chance * self._unrest(
                    move, pick, after, residual, D / (eta * self.G)
                ).mean(axis=1)
            np.maximum(best, mean[:, None] - self.A @ move.losses, out=best)
        return best - D[:, None] / eta

    def _state(self, totals: FloatArray, scale: FloatArray) -> tuple[Any, FloatArray]:
        """Return leaders and the probability of each set, before a round."""
        pick = self.leaders(totals + self.low, scale)
        sets = np.arange(len(self.sets))
        return pick, (pick[:, :, None] == sets).mean(axis=1)

    def _played(self, move: Move, chances: FloatArray) -> FloatArray:
        mixed = (1.0 - move.share) * chances
        mixed[:, move.hint] += move.share
        return mixed

    def _outcomes(self, move: Move, chances: FloatArray) -> Any:
        played = self._played(move, chances)
        for a, y in itertools.product(range(len(self.sets)), repeat=2):
            yield played[:, a] * chances[:, y], move.residuals[a, y]

    def _unrest(
        self, move: Move, pick: Any, after: FloatArray, residual: FloatArray, scale: FloatArray
    ) -> FloatArray:
        """Return the instability cost under each draw, [n, draws]."""
        kept = self.A @ residual
        d = kept[pick] - kept[self.leaders(after, scale)]
        return d * (1.0 - move.share) if self.control == "d in the base's share" else d

    def _known(self, move: Move, pick: Any, chances: FloatArray) -> FloatArray:
        """Return loss minus S minus truncation, for the worst V."""
        played = self._played(move, chances)
        cost = np.einsum("na,ny,vay->vn", played, chances, move.costs)
        x, q = chances @ self.A, played @ self.A
        hidden = self._truncated(move, x, q)
        if self.control == "S left out":
            cost = np.zeros_like(cost)
        if self.control == "truncation left out":
            hidden = np.zeros_like(hidden)
        return q @ move.losses - (cost + hidden).min(axis=0)

    def _truncated(self, move: Move, x: FloatArray, q: FloatArray) -> FloatArray:
        """Return the exact cost of truncation, at most the one that the learner charges, [V, n]."""
        hinted = (self.A[move.hint] > 0.0) & (move.share > 0.0)
        u = move.losses - self.low
        rates = np.empty((len(move.truncation), *x.shape))
        for row, each in zip(rates, move.truncation, strict=True):
            short = x * (1.0 - q) ** (L - 1) * np.maximum(each - q * u, 0.0)
            row[:] = np.where(hinted, short, x * (1.0 - x) ** L * u)
        hidden = rates.sum(axis=2)
        opened = NoisyRound(None)
        opened.share, opened.limit, opened.advice = move.share, L, self.sets[move.hint]
        for each, row in zip(move.truncation, hidden, strict=True):
            opened.values = self.low + each
            assert (row <= self.record.truncation(opened, K) + 1e-12).all()
        return hidden


def largest(sets, low=0.0, control="", seeds=(0, 1)):
    return max(
        Tiny(sets, low, seed, control).value(D0, eta)
        for seed in seeds
        for D0, eta in ((0.1, 2.0), (1.0, 2.0))
    )


@pytest.mark.parametrize(
    ("sets", "low"), [(PAIRS, 0.0), (TWO_SIZES, 0.0), (TWO_SIZES, -1.0)], ids=str
)
def test_no_adversary_of_a_tiny_game_makes_regret_exceed_the_certificate(sets, low):
    assert -0.2 < largest(sets, low) <= 1e-9


CONTROLS = (
    "S left out",
    "d in the base's share",
    "ratio of a draw that was not found",
    "truncation left out",
)


@pytest.mark.parametrize("control", CONTROLS)
def test_an_adversary_of_a_tiny_game_profits_from_an_omission(control):
    assert largest(TWO_SIZES if "ratio" in control else PAIRS, control=control, seeds=(0,)) > 1e-3


# Games of some length ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Gullible(Trust):
    """A rule that follows hints at any cost."""

    def wanted(self, record, n):
        return 0.9 if record.with_feedback else 0.0


GULLIBLE = Gullible(budget=20.0, share=0.9)
ANY_SIZE = [each for n in range(3) for each in itertools.combinations(range(3), n)]
SQUARE = [(0, 1), (1, 2), (2, 0), (0, 1)]
TREES = [pair for pair in itertools.combinations(range(4), 2) if pair != (0, 3)]
SLATES = [[*pair] for pair in itertools.product(PAIRS, repeat=2)]


def model(oracle, trust="earned", low=0.0, contexts=None, **options):
    options |= {"predictor": Told(), "trust": trust, "loss_range": (low, low + 1.0)}
    learner = ContextSemiBanditFTPL(oracle, contexts, seed=0, **options)
    _ = learner.complexity
    return learner


def alone(sets):
    return [[each] for each in sets]


MODELS: dict[str, Any] = {
    "pairs": (model(Subsets(3, 2)), alone(PAIRS)),
    "pairs, gullible": (model(Subsets(3, 2), GULLIBLE), alone(PAIRS)),
    "pairs, small cap": (model(Subsets(3, 2), GULLIBLE, max_resamples=2), alone(PAIRS)),
    "two sizes": (model(listed(tuple(TWO_SIZES)), GULLIBLE), alone(TWO_SIZES)),
    "two sizes, rewards": (model(listed(tuple(TWO_SIZES)), GULLIBLE, -1.0), alone(TWO_SIZES)),
    "two sizes, large rewards": (model(listed(tuple(TWO_SIZES)), GULLIBLE, -2.0), alone(TWO_SIZES)),
    "any size, rewards": (model(Subsets(3, 2, exactly=False), GULLIBLE, -1.0), alone(ANY_SIZE)),
    "any size, both signs": (model(Subsets(3, 2, exactly=False), low=-0.5), alone(ANY_SIZE)),
    "trees, one stream": (model(SpanningTrees(SQUARE), GULLIBLE, resampling=1), alone(TREES)),
    "contexts": (model(PerContext(Subsets(3, 2)), GULLIBLE, contexts=[0, 1]), SLATES),
}


def nasty(count):
    """Different games for all models in turn."""
    rng, names, games = np.random.default_rng(0), list(MODELS), {}
    while len(games) < count:
        name = names[len(games) % len(names)]
        losses, delay = (str(rng.choice(list(table))) for table in (LOSSES, DELAYS))
        mode = str(rng.choice(["decide", "mixed"], p=[0.8, 0.2]))
        how = str(rng.choice(ENDINGS)), mode, str(rng.choice(VOICES)), int(rng.choice([20, 40, 80]))
        games.setdefault((name, LateGame(losses, delay, *how)))
    return list(games)


BATCHES = [nasty(200)[first::20] for first in range(20)]


def certified(name, game, seeds):
    """Play a game; return regrets against all policies, and certificates, where they hold."""
    learner, rows = MODELS[name]
    played = [game.play(learner, rows, seed) for seed in seeds]
    assert max(each.overdrawn for each in played) <= 1e-9
    played = [each for each in played if each.stated is not None]
    return np.array([each.regrets for each in played]), np.array([each.stated for each in played])


@pytest.mark.parametrize("batch", one_in(4, range(20)))
def test_regret_in_nasty_games_is_on_average_at_most_the_certificate(batch):
    """Paired means with 4.5 standard errors, and S at most c√(Gt) on every path."""
    stated = 0
    for name, game in BATCHES[batch]:
        regrets, certificates = certified(name, game, range(24))
        if len(certificates) > 3:
            stated += 1
            below(regrets[:, int(regrets.mean(axis=0).argmax())], certificates, SIGMAS)
    assert stated >= 7


BROKEN = {
    "cost": (
        breaks.leave_out_the_cost_of_hints,
        "pairs, gullible",
        LateGame("blocks of 10", "none", "answered", "decide", "perverse", 100),
    ),
    "charge": (
        breaks.charge_one_element,
        "two sizes",
        LateGame("hits all open actions", "action 1 late", "forgotten", "decide", "perverse", 40),
    ),
}


@pytest.mark.parametrize("what", ["cost", pytest.param("charge", marks=further)])
def test_a_nasty_game_shows_a_wrong_certificate(monkeypatch, what):
    spoil, name, game = BROKEN[what]
    spoil(monkeypatch)
    learner, rows = MODELS[name]
    monkeypatch.setitem(MODELS, name, (model(learner.oracle, GULLIBLE), rows))
    regrets, certificates = certified(name, game, range(120))
    fails(below, regrets[:, int(regrets.mean(axis=0).argmax())], certificates, SIGMAS)
