"""The three rules that set ε round by round, and the words for them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import hannan as hn
from hannan.learners.step_size import Fixed, step_size
from tests import problems


class Leader:
    """All that a rule looks at, with a note of what it asked for."""

    def __init__(self, G=4.0, ready=True, takes_new_contexts=False):
        self.value = G
        self.ready = ready
        self.noise = None
        self.X = SimpleNamespace(takes_new_contexts=takes_new_contexts)
        self.asked = 0

    def get_ready(self):
        if self.G > 0.0:
            self.put_noise()

    def put_noise(self):
        self.noise = "noise" if self.ready else None
        return self.ready

    @property
    def G(self):
        self.asked += 1
        return self.value


# One number -------------------------------------------------------------------------------------


def test_one_epsilon_stays_from_the_moment_noise_can_be_made():
    step, leader = Fixed(0.25), Leader(ready=False)
    step.start(leader)
    assert step.scale == step.before(leader, 9.0) == 0.0
    leader.ready = True
    step.start(leader)
    step.played(leader, 4.0, 9.0)
    step.after(leader, 9.0)
    assert step.scale == step.before(leader, 9.0) == 4.0
    assert leader.asked == 0  # G is expensive and not needed


# The schedule -----------------------------------------------------------------------------------


def test_the_schedule_counts_a_round_before_it_is_played_and_keeps_it_after():
    step, leader = hn.Anytime(), Leader(G=8.0)
    step.start(leader)
    last = 0.0
    for n in range(1, 6):
        expected = math.sqrt(2.0 * 3.0 * n / 8.0)
        assert step.before(leader, 3.0) == step.before(leader, 3.0) == pytest.approx(expected)
        assert (step.W, step.scale) == (3.0 * (n - 1), last)
        step.played(leader, expected, 3.0)
        last = expected
    assert step.W == 15.0


def test_the_schedule_waits_for_noise():
    step, leader = hn.Anytime(), Leader(ready=False)
    assert step.before(leader, 3.0) == 0.0
    step.played(leader, 0.0, 3.0)
    assert step.W == 0.0
    assert leader.asked == 0


def test_one_policy_needs_no_noise():
    step, leader = hn.Anytime(), Leader(G=0.0)
    assert step.before(leader, 3.0) == 0.0
    step = hn.SelfTuned()
    step.after(leader, 1.0)
    assert step.scale == 0.0


# Self-tuning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("eagerness", [None, 1.0, 2.5])
def test_self_tuning_follows_what_instability_has_cost(eagerness):
    step, leader = hn.SelfTuned(eagerness), Leader(G=4.0)
    factor = 1.0 if eagerness is None else eagerness
    assert step.factor == factor
    step.start(leader)
    step.after(leader, 0.0)
    assert (step.D, step.scale, leader.asked, leader.noise) == (0.0, 0.0, 0, None)
    for n in range(1, 4):
        step.after(leader, 0.5)
        assert (step.D, step.scale) == (0.5 * n, 0.5 * n / (4.0 * factor))
    assert leader.noise == "noise"


def test_what_self_tuning_will_need_is_asked_for_while_nothing_has_changed():
    step, leader = hn.SelfTuned(), Leader()
    step.prepare(leader, 0.0)
    assert (leader.asked, leader.noise) == (0, None)
    step.prepare(leader, 0.5)
    assert (leader.asked, leader.noise) == (1, "noise")
    assert (step.D, step.scale) == (0.0, 0.0)


def test_in_an_open_world_self_tuning_follows_the_G_of_the_renewed_X():
    step = hn.SelfTuned()
    step.after(Leader(G=4.0), 2.0)
    step.start(Leader(G=8.0))  # X is known: its G does not change
    assert step.scale == 0.5
    step.start(Leader(G=8.0, takes_new_contexts=True))
    assert step.scale == 0.25


def test_another_unit_of_losses():
    tuned, anytime, leader = hn.SelfTuned(), hn.Anytime(), Leader()
    tuned.after(leader, 2.0)
    anytime.played(Leader(), 3.0, 1.0)
    for step in (tuned, anytime):
        step.rescale(0.5)
    assert (tuned.D, tuned.scale, anytime.scale) == (1.0, 0.25, 0.0)


def test_rules_after_loading_make_noise_only_where_they_had_some():
    for step, noise in ((hn.SelfTuned(), None), (Fixed(1.0), "noise"), (hn.Anytime(), "noise")):
        leader = Leader()
        step.restore(leader)
        assert leader.noise == noise
    step, leader = hn.SelfTuned(), Leader()
    step.after(Leader(), 1.0)
    step.restore(leader)
    assert leader.noise == "noise"


# Words ------------------------------------------------------------------------------------------


def rule(epsilon, horizon=None):
    return step_size("a test", epsilon, horizon, lambda: 0.125, 3.0)


def test_words_numbers_and_rules():
    assert type(rule("anytime")) is hn.Anytime
    assert (type(rule("adaptive")), rule("adaptive").factor) == (hn.SelfTuned, 3.0)
    assert (type(rule(0.5)), rule(0.5).epsilon) == (Fixed, 0.5)
    assert (type(rule("theorem", 10)), rule("theorem", 10).epsilon) == (Fixed, 0.125)
    assert rule(hn.SelfTuned(5.0)).factor == 5.0
    assert rule(hn.SelfTuned()).factor == 3.0


@pytest.mark.parametrize("epsilon", ["often", None, 0.0, -1.0, True, math.nan])
def test_other_values_are_refused(epsilon):
    with pytest.raises(hn.ParameterError, match="epsilon"):
        rule(epsilon)


@pytest.mark.parametrize("eagerness", [0.0, -1.0, "much", math.inf])
def test_eagerness_is_a_positive_number(eagerness):
    with pytest.raises(hn.ParameterError, match="eagerness"):
        hn.SelfTuned(eagerness)


def test_a_theorem_needs_a_horizon():
    with pytest.raises(hn.ParameterError, match="horizon="):
        rule("theorem")


@pytest.mark.parametrize("epsilon", [hn.SelfTuned(2.0), hn.Anytime()])
def test_learners_given_the_same_rule_do_not_share_it(epsilon):
    oracle = hn.oracles.AllPolicies(1, 3)
    one, other = (hn.ContextFTPL(oracle, epsilon=epsilon, seed=0) for _ in "ab")
    problems.play(one, [(0, np.eye(3)[t % 3]) for t in range(9)])
    assert one.step.scale > 0.0
    assert other.step.scale == epsilon.scale == 0.0


def test_the_word_and_the_rule_play_alike():
    oracle = hn.oracles.AllPolicies(1, 3)
    rounds = [(0, np.eye(3)[t % 3]) for t in range(60)]
    for word, same in (("adaptive", hn.SelfTuned()), ("anytime", hn.Anytime())):
        plays = [
            problems.play(hn.ContextFTPL(oracle, epsilon=each, seed=0), rounds)
            for each in (word, same)
        ]
        assert plays[0] == plays[1]


def test_the_anytime_schedule_of_full_information_is_that_of_its_formula():
    # W adds κ w² (1 + open rounds) for each round, w what an action can lose more than another.
    oracle, _ = problems.make("FinitePolicies")
    learner = hn.ContextFTPL(oracle, epsilon="anytime", loss_range=(0, 2), seed=0)
    G, W, waiting = learner.complexity.value, 0.0, []
    for t in range(20):
        W += 4.0 * (1 + len(waiting))
        waiting.append(learner.decide(t % 3))
        assert learner.step.scale == pytest.approx(math.sqrt(2 * W / G))
        if len(waiting) > 2:
            learner.update([0.0, 1.0, 2.0], decision=waiting.pop(0))
    for _ in range(5):  # rounds that replace one another count once
        learner.act(0)
    W += 4.0 * (1 + len(waiting))
    assert pytest.approx(W) == learner.step.W
