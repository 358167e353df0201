"""Hints that earn their share of the rounds: their budget, and what is measured of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from hannan.bounds import hinted
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, Trust, certificates
from hannan.learners import importance_weights as part_of_algorithm_3
from hannan.learners import importance_weights as weighing
from hannan.learners.hint import Hint
from hannan.learners.prediction import Prediction
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify import Effort
from hannan.verify.adversaries import turns
from hannan.verify.theorem_5 import Script, losses_of_actions, problem, self_tuned_limit
from hannan.verify.trial import pseudo_regret, sizes, totals_of
from tests.statistics.advised import Advised, Told, advised_game
from tests.statistics.means import below, fails, further, games, regrets

pytestmark = [pytest.mark.stat, pytest.mark.slow]
# So that only the budget keeps it from a bad hint.
GULLIBLE = Trust(budget=1.0, prior=10.0, share=0.5)
ROWS = Effort().rng("hints").integers(3, size=(10, 3))
CLASSES: dict[str, Any] = {
    # A class whose distribution is drawn and one whose distribution is known, each with a policy
    # to favour.
    "listed": (FinitePolicies(ROWS, n_actions=3), ROWS[0].tolist()),
    "table": (AllPolicies(2, 3), [2, 0]),
}


def make(what, trust, told, seed):
    return ContextSemiBanditFTPL(CLASSES[what][0], predictor=told, trust=trust, seed=seed)


def advised(what, trust, voice, T, seeds, world_seed=None, late=0):
    oracle, best = CLASSES[what]
    world = partial(Advised, oracle=oracle, best=best, voice=voice)
    return [
        advised_game(
            partial(make, what, trust),
            world,
            T,
            seed,
            seed if world_seed is None else world_seed,
            late,
        )
        for seed in seeds
    ]


@pytest.mark.parametrize("late", [0, 20])
@pytest.mark.parametrize("voice", Advised.VOICES)
@pytest.mark.parametrize("what", CLASSES)
def test_hints_stay_within_their_budget(what, voice, late):
    """S is at most c√(Gt) on every path, and regret within its bound however bad the hints are.

    Regrets are means over fixed seeds.
    """
    T, oracle = 900, CLASSES[what][0]
    played = advised(what, GULLIBLE, voice, T, (0, 1), 0, late)
    for game in played:
        allowed = np.sqrt(game.learner.complexity.value * np.arange(1, T + 1))
        assert (game.spent <= allowed + 1e-9).all()
    if late:
        return
    known = what == "table"
    how: dict[str, Any] = {"start": 1.0, "budget": 1.0, "share": 0.5, "known_distribution": known}
    limit = hinted(T, **how, **sizes(oracle, pairs=2000)).value
    assert pseudo_regret([game.trace for game in played], oracle) <= limit
    if known and voice == "good":
        assert np.mean([game.spent[-1] for game in played]) <= 0.0
    if known and voice == "malicious":
        assert min(game.learner.hint.refused for game in played) >= 10


# What is measured ----------------------------------------------------------------------------


class Whisper(Told):
    """One whose hint and estimates have nothing to do with each other."""

    hint = 0

    def advise(self, context: Any, available: Any = None) -> tuple[int, Any]:
        """Both of this round."""
        return self.hint, self.now


class Step(NamedTuple):
    """A round of a path."""

    q: float
    """Probability of its action, given the past."""
    cost: float
    """By how much S grew."""
    true_cost: float
    """By how much it should, on average."""
    estimate: FloatArray
    losses: FloatArray
    covered: bool


class Tree:
    """A game of few rounds, along all paths.

    Hints, estimates and losses are functions of the past actions. Weights are not truncated.
    """

    def __init__(self, K: int, T: int, trust: Trust, more: float, style: str, seed: int) -> None:
        self.K, self.T = K, T
        self.trust, self.more, self.style, self.seed = trust, more, style, seed
        self.oracle = AllPolicies(1, K)
        nodes: dict[tuple[int, ...], list[Step]] = defaultdict(list)
        regrets, bound, self.covered = np.zeros(K), 0.0, 0
        self.misstated = 0.0
        for path in itertools.product(range(K), repeat=T):
            steps, stated = self._play(path)
            chance = math.prod(step.q for step in steps)
            bound += chance * stated
            for t, step in enumerate(steps):
                regrets += chance * (step.losses[path[t]] - step.losses)
                if not any(path[t + 1 :]):  # each node once
                    nodes[path[:t]].append(step)
                    self.covered += step.covered
        self.gap = float(regrets.max()) - bound
        self.bias_of_cost = self.too_high = 0.0
        for siblings in nodes.values():
            cost = sum(step.q * (step.cost - step.true_cost) for step in siblings)
            self.bias_of_cost = max(self.bias_of_cost, abs(cost))
            over = sum(step.q * (step.estimate - step.losses) for step in siblings)
            self.too_high = max(self.too_high, float(np.max(over)))

    @classmethod
    def grown(cls, rng: np.random.Generator) -> Tree:
        """A random one."""
        K, T = [(2, 5), (2, 4), (3, 3)][rng.integers(3)]
        trust = Trust(
            budget=float(rng.choice([3.0, 50.0])),
            prior=float(rng.choice([0.0, 2.0, 6.0])),
            floor=float(rng.choice([0.5, 0.1, 0.01])),
            share=float(rng.choice([0.5, 0.95, 0.999])),
            baseline="covered" if rng.random() < 0.7 else None,
        )
        more = float(rng.choice([0.0, 0.0, 9.0]))  # with much noise baselines are covered
        style = str(rng.choice(["malicious", "punished", "random", "overrated"]))
        return cls(K, T, trust, more, style, int(rng.integers(2**31)))

    def _play(self, path: tuple[int, ...]) -> tuple[list[Step], float]:
        """The rounds of a path, and S + D_T + D_{T-1} - D₀ at its end."""
        told = Whisper()
        learner = ContextSemiBanditFTPL(
            self.oracle, predictor=told, trust=self.trust, max_resamples=10**9, seed=0
        )
        hint: Any = learner.hint
        step: Any = learner.step
        if self.more:
            step.after(learner.leader, self.more)
        start = last = step.D
        found = []
        for t, action in enumerate(path):
            losses = self._losses(path[:t], told, learner)
            opened: Any = learner.begin(learner.check_context(None))
            opened.action = action
            learner.commit(opened, recorded=False)
            before, cost, last = totals_of(learner), hint.S, step.D
            learner.close(opened, float(losses[action]), recorded=False)
            q = opened.mixed(opened.distribution)
            true_cost = float((q - opened.distribution) @ losses)
            covered = opened.share > 0.0 and opened.baseline is not None
            estimate = totals_of(learner) - before
            found.append(
                Step(float(q[action]), hint.S - cost, true_cost, estimate, losses, covered)
            )
        bound, said = hint.S + step.D + last - start, learner.certificate()
        assert said.stability_estimate is not None
        off = said.stability_estimate - said.truncation - self.more - bound
        self.misstated = max(self.misstated, abs(off))
        return found, bound

    def _losses(self, past: tuple[int, ...], told: Whisper, learner: Any) -> FloatArray:
        """What the round after these actions costs; the hint and the estimates know it."""
        rng, K = np.random.default_rng([self.seed, len(past), *past]), self.K
        losses = rng.random(K) if rng.random() < 0.5 else rng.integers(2, size=K).astype(float)
        told.hint, told.now = int(rng.integers(K)), rng.random(K)
        if self.style == "punished":
            losses = np.zeros(K)
            losses[int(np.argmax(learner.propensities().probabilities))] = 1.0
        if self.style in ("malicious", "punished"):
            told.hint, told.now = int(np.argmax(losses)), 1.0 - losses
        elif self.style == "overrated":
            told.now = np.ones(K)
        return losses


def test_expected_regret_is_at_most_what_is_certified_on_all_paths():
    """E[regret] ≤ E[S + D_T + D_{T-1}] - D₀ whatever the hints; S and the estimates are unbiased.

    Exact: small games against adaptive losses and perverse hints, along every path.
    """
    rng = Effort().rng("earned trust")
    trees = [Tree.grown(rng) for _ in range(40)]
    assert max(tree.gap for tree in trees) <= 0.0
    assert max(tree.bias_of_cost for tree in trees) <= 1e-7
    assert max(tree.too_high for tree in trees) <= 1e-7
    assert max(tree.misstated for tree in trees) <= 1e-9
    assert sum(tree.covered for tree in trees) >= 10


@pytest.mark.parametrize("voice", ["good", "malicious", "sleeper", "turncoat"])
@pytest.mark.parametrize("what", CLASSES)
def test_certificates_hold_whatever_the_hints(what, voice):
    """Paired means of certificates and regrets, with 3 standard errors."""
    played = advised(what, Trust(prior=2.0), voice, 150, range(16))
    stated = [float(game.learner.certificate()) for game in played]
    below([game.trace.regret() for game in played], np.array(stated), 3.0)


def test_a_baseline_above_the_loss_of_a_good_action_is_certified():
    """Paired means of certificates and regrets, with 3 standard errors."""
    T, turn = 700, 12
    losses = np.array([[0.0, 1.0]] * turn + [[0.5, 0.0]] * (T - turn))
    guesses = np.array([[0.0, 0.0]] * turn + [[0.0, 1.0]] * (T - turn))
    world = FromArrays([0] * T, losses)
    played = games(
        ContextSemiBanditFTPL, AllPolicies(1, 2), world, T, range(16), predictor=Script(guesses)
    )
    below(regrets(played), [float(learner.certificate()) for learner, _ in played], 3.0)


# Full information ----------------------------------------------------------------------------


def squared_ranges(f, Q):
    """Return the squared ranges that a learner with earned trust used, and two sums and a step."""
    learner = ContextFTPL(TWO, epsilon=1.0, predictor=Script(Q), trust="earned", seed=0)
    used = with_guess = without = step = 0.0
    for losses, guess in zip(f, Q, strict=True):
        opened: Any = learner.begin(learner.check_context(None))
        learner.commit(opened, recorded=False)
        used += np.ptp(losses - (0.0 if opened.guess is None else opened.guess)) ** 2
        learner.close(opened, losses, recorded=False)
        ranges = np.ptp(losses - guess) ** 2, np.ptp(losses) ** 2
        with_guess, without = with_guess + ranges[0], without + ranges[1]
        step = max(step, *ranges)
    return used, min(with_guess, without), step


TWO = FinitePolicies([[0], [1]])


def test_guesses_are_used_only_while_they_have_done_better_than_none():
    """They cost at most twice the smaller of the two sums of squared ranges, and one step.

    Holds on every path; the regret is a mean far below its bound.
    """
    rng = Effort().rng("earned trust")
    for i in range(40):
        T = int(rng.integers(1, 200))
        f, Q = rng.random((2, T, 2)) * rng.random((2, T, 1)) ** rng.choice([0.0, 1.0, 4.0])
        if i % 4 == 0:  # the guess is wrong whenever it is trusted and right when it is not
            f, Q = np.tile([[0.0, 0.0], [1.0, 0.0]], (T, 1))[:T], np.tile([1.0, 0.0], (T, 1))
        used, better, step = squared_ranges(f, Q)
        assert used <= 2.0 * better + step + 1e-9
    taken = turns(200, 25)
    losses = np.asarray(taken.losses)
    trial = problem("wrong guesses", TWO, taken, Script(1.0 - losses))
    allowed = 2.0 * float((np.ptp(losses_of_actions(TWO, losses), axis=1) ** 2).sum()) + 1.0
    below(trial.regrets(range(8), trust="earned"), self_tuned_limit(trial, allowed))


# What breaks it ------------------------------------------------------------------------------


def ignore_the_budget(patch):
    """Follow hints whatever they have cost."""
    advise = Hint.advise

    def endless(self, opened, G, *more):
        advise(self, opened, 1e9 * G, *more)

    patch.setattr(Hint, "advise", endless)


def reserve_nothing(patch):
    """Count hints only when their losses have come."""
    patch.setattr(Hint, "_largest_step", lambda hint, share: 0.0)


def believe_what_hints_are_said_to_cost(patch):
    """Take the predictor's word in place of the loss."""
    charge = Hint.charge

    def believing(hint, opened, loss, weight, missing=None):
        charge(hint, opened, float(opened.values[opened.action]), weight)

    patch.setattr(Hint, "charge", believing)


def forget_what_the_base_would_have_done(patch):
    """Charge a hint that was played with its whole loss, and no other one."""
    charge = Hint.charge

    def without_ratio(hint, opened, loss, weight, missing=None):
        before = hint.S
        charge(hint, opened, loss, weight)
        hint.S = before + (loss if opened.action == opened.advice else 0.0)

    patch.setattr(Hint, "charge", without_ratio)


def cover_nothing(patch):
    """Take every estimate as a baseline, however unlikely its action is."""
    patch.setattr(Hint, "may_cover", lambda hint, scale, kappa: scale > 0.0)
    patch.setattr(
        Hint,
        "cover",
        lambda hint, opened, distribution, scale, kappa, n: hint._take(opened, opened.values),
    )


def forget_the_share_of_hints(patch):
    """Weigh as if the leader had always been followed."""

    def alone(distribution, opened, limit):
        return weighing.mean_weight(float(distribution[opened.action]), limit)

    patch.setattr(part_of_algorithm_3, "mean_weights", alone)


def forget_what_hints_cost(patch):
    """Leave S out of certificates."""
    certify = certificates.semi_bandit_certificate

    def bold(game, hint, start, *given):
        return certify(game, hint, start + hint.S, *given)

    patch.setattr(certificates, "semi_bandit_certificate", bold)


@pytest.mark.parametrize(
    ("spoil", "what", "voice", "late"),
    [
        (ignore_the_budget, "table", "malicious", 0),
        pytest.param(ignore_the_budget, "table", "turncoat", 0, marks=further),
        pytest.param(ignore_the_budget, "listed", "malicious", 0, marks=further),
        pytest.param(ignore_the_budget, "listed", "turncoat", 0, marks=further),
        pytest.param(reserve_nothing, "table", "malicious", 20, marks=further),
        pytest.param(reserve_nothing, "listed", "malicious", 20, marks=further),
        pytest.param(forget_what_the_base_would_have_done, "table", "good", 0, marks=further),
    ],
)
def test_a_budget_that_is_not_kept_shows(monkeypatch, spoil, what, voice, late):
    spoil(monkeypatch)
    fails(test_hints_stay_within_their_budget, what, voice, late)


@pytest.mark.parametrize(
    "spoil",
    [
        forget_what_hints_cost,
        *(
            pytest.param(each, marks=further)
            for each in (
                believe_what_hints_are_said_to_cost,
                forget_what_the_base_would_have_done,
                forget_the_share_of_hints,
            )
        ),
    ],
)
def test_what_is_measured_wrongly_shows(monkeypatch, spoil):
    spoil(monkeypatch)
    fails(test_expected_regret_is_at_most_what_is_certified_on_all_paths)


def test_a_cost_of_hints_that_is_not_measured_shows(monkeypatch):
    believe_what_hints_are_said_to_cost(monkeypatch)
    fails(test_certificates_hold_whatever_the_hints, "table", "malicious")


def test_a_baseline_for_actions_that_are_never_seen_shows(monkeypatch):
    cover_nothing(monkeypatch)
    fails(test_a_baseline_above_the_loss_of_a_good_action_is_certified)


def test_trust_that_is_not_earned_shows(monkeypatch):
    init = Prediction.__init__

    def trusting(self, predictor, loss_range, oracle, trust):
        init(self, predictor, loss_range, oracle, "always")

    monkeypatch.setattr(Prediction, "__init__", trusting)
    fails(test_guesses_are_used_only_while_they_have_done_better_than_none)
