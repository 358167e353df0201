"""Self-tuning, ε = G/D with D the instability cost so far, and the schedule ε ~ 1/√t."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import anytime, complete_information, self_tuned
from hannan.environments import FromArrays, LeaderPunisher, PlantedPolicy
from hannan.learners.certificates import Evidence
from hannan.learners.step_size import Anytime
from hannan.oracles.all_policies import TableObjective
from hannan.verify import Effort, theorem_3
from hannan.verify.adversaries import Repeats, turns
from hannan.verify.theorem_5 import Recorded
from hannan.verify.trial import pseudo_regret, sizes
from tests.statistics.means import below, fails, further, games, regrets
from tests.verify.breaks import (
    foresee_with_other_noise,
    measure,
    reuse_the_noise_that_chose,
    scale_noise,
)

pytestmark = [pytest.mark.stat, pytest.mark.slow]
T = 400
PAIR = hn.oracles.FinitePolicies([[0], [1]])
PAIRS = hn.oracles.AllPolicies(2, 2)
TABLE = hn.oracles.FinitePolicies(np.random.default_rng(6).integers(3, size=(30, 6)), n_actions=3)
CASES = {
    # Nearly all that is measured is lost: the instability cost while actions take turns, and as
    # much for the noise at the end.
    "turns": (PAIRS, turns(T, T // 2, contexts=(0, 1)), 80),
    "a planted policy": (TABLE, PlantedPolicy(TABLE), 20),
    "the leader punished": (TABLE, LeaderPunisher(TABLE), 20),
    "an adaptive adversary": (PAIR, Repeats(PAIR), 20),
}


@pytest.mark.parametrize("case", CASES)
def test_regret_is_at_most_what_was_measured_and_that_its_worst_case(case):
    """E[regret] ≤ E[D + G/ε] and 2 E[D] ≤ 2√(2κGV) + 2R; no increment of D is negative.

    Means over fixed seeds, several standard errors below their limits.
    """
    oracle, environment, count = CASES[case]
    played = games(hn.ContextFTPL, oracle, environment, T, range(count), epsilon=Recorded())
    below(regrets(played), [learner.certificate().measured for learner, _ in played])
    costs = [learner.step.costs for learner, _ in played]
    below([2.0 * sum(each) for each in costs], self_tuned(T, **sizes(oracle)).value)
    assert min(min(each) for each in costs) >= -1e-9


@pytest.mark.parametrize("unit", [1e-3, 2.0**-10, 2.0**10, 1e3])
def test_the_unit_of_the_losses_does_not_matter(unit):
    """Powers of two leave every rounding as it was, hence the same actions on every path."""
    world = turns(T, T // 2, contexts=(0, 1))
    same = FromArrays(world.contexts, unit * np.asarray(world.losses))
    played = games(hn.ContextFTPL, PAIRS, same, T, range(40), loss_range=None)
    below(regrets(played), self_tuned(T, loss_bound=unit, **sizes(PAIRS)).value)
    if math.log2(unit) % 1.0 == 0.0:
        plain = games(hn.ContextFTPL, PAIRS, world, T, range(40))
        for (_, ours), (_, theirs) in zip(played, plain, strict=True):
            assert np.array_equal(ours.actions, theirs.actions)


@pytest.mark.parametrize("horizon", [100, 200, 400, 800])
def test_the_schedule_needs_no_horizon(horizon):
    """Regret is at most √2 times the bound for a known horizon; means over fixed seeds."""
    oracle, world = hn.oracles.AllPolicies(1, 2), turns(horizon, horizon // 4)
    limit = anytime(horizon, **sizes(oracle)).value
    assert limit <= 1.4143 * complete_information(horizon, form="sharp", **sizes(oracle)).value
    played = games(hn.ContextFTPL, oracle, world, horizon, range(24), epsilon="anytime")
    below(regrets(played), limit)


SETTINGS = {
    "one action": (theorem_3.experts(Effort()), [0, 1, 2], None),
    "sets of two": (theorem_3.SLATES, [0], None),
    "separator": (theorem_3.FORMULAS, range(8), hn.separators.disjunctions(3)),
}


def bandits(what, environments=3):
    """Check pseudo-regret ≤ 2 E[D] + Σ K/(eL) ≤ 2√((2κG+1)2mKT) + Σ K/(eL)."""
    oracle, contexts, separator = SETTINGS[what]
    known, tried = theorem_3.trials(what, oracle, contexts, 2000, separator)
    limit = self_tuned(2000, feedback="semi-bandit", **known).value
    for each in tried[:environments]:
        played = each.games([0, 1], epsilon=hn.SelfTuned(1.0), horizon=None)
        stated = np.mean([float(learner.certificate()) for learner, _ in played])
        assert pseudo_regret([trace for _, trace in played], oracle) <= stated <= limit


@pytest.mark.parametrize("what", SETTINGS)
def test_bandits_need_no_tuning(what):
    """Means over fixed seeds, far below their limits."""
    bandits(what)


# What breaks it ------------------------------------------------------------------------------


def turn_the_noise_round(patch):
    """Foresee under noise of the other sign than the noise of play."""
    settle = TableObjective.settle
    patch.setattr(
        TableObjective,
        "settle",
        lambda total, x, f, draw, *given: settle(
            total, x, f, draw._replace(scale=-draw.scale), *given
        ),
    )


def test_half_of_the_instability_cost_does_not_cover_regret(monkeypatch):
    measure(monkeypatch, 0.5)
    fails(test_regret_is_at_most_what_was_measured_and_that_its_worst_case, "turns")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda patch: foresee_with_other_noise(patch, TableObjective),
        turn_the_noise_round,
        lambda patch: patch.setattr(Evidence, "error", property(lambda game: 0.0)),
    ],
    ids=["other noise", "noise of the other sign", "noise without a cost"],
)
@pytest.mark.nightly
def test_what_is_measured_depends_on_the_noise(monkeypatch, spoil):
    spoil(monkeypatch)
    fails(test_regret_is_at_most_what_was_measured_and_that_its_worst_case, "turns")


@pytest.mark.nightly
def test_a_scale_set_once_does_not_matter_to_what_tunes_itself(monkeypatch):
    scale_noise(monkeypatch, 2.0)
    test_regret_is_at_most_what_was_measured_and_that_its_worst_case("a planted policy")


def test_a_size_of_its_own_makes_the_unit_matter(monkeypatch):
    tune = hn.SelfTuned.after

    def floored(step, leader, cost, *late):
        tune(step, leader, cost, *late)
        if step.scale > 0.0:
            step.scale = max(step.scale, 0.5)

    monkeypatch.setattr(hn.SelfTuned, "after", floored)
    fails(test_the_unit_of_the_losses_does_not_matter, 2.0**-10)


@pytest.mark.parametrize("share", [1e-3, pytest.param(16.0, marks=further)])
def test_a_schedule_that_is_too_slow_or_too_fast_shows(monkeypatch, share):
    before, played = Anytime.before, Anytime.played
    monkeypatch.setattr(
        Anytime, "before", lambda step, leader, variance: before(step, leader, share * variance)
    )
    monkeypatch.setattr(
        Anytime,
        "played",
        lambda step, leader, scale, variance: played(step, leader, scale, share * variance),
    )
    fails(test_the_schedule_needs_no_horizon, 800)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda patch: measure(patch, 0.1),
        pytest.param(reuse_the_noise_that_chose, marks=further),
    ],
    ids=["under-reported", "used again"],
)
def test_instability_of_bandits_must_be_measured(monkeypatch, spoil):
    spoil(monkeypatch)
    fails(bandits, "one action", environments=1)
