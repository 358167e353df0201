"""Mechanisms that no claim is about, broken one at a time, each with the test that sees it."""

from functools import partial

import pytest

from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, Discounted, StronglyAdaptive
from hannan.learners.future import Playout
from hannan.learners.meta_learner import MetaLearner
from tests.learners import (
    test_adaptive_discount,
    test_discounted,
    test_dropped_rounds,
    test_playout_bandit,
    test_regret_bound,
)
from tests.statistics.means import fails

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def shrink_playout_noise(patch):
    """Noise on the rounds to come a fifth smaller than the bound asks for."""
    put = Playout._put_noise
    patch.setattr(
        Playout, "_put_noise", lambda self, size, rate, key: put(self, 0.8 * size, rate, key)
    )


def discount_twice(patch):
    """Let the past shrink at twice the rate."""
    init = Discounted.__init__

    def twice(learner, inner, discount=0.999):
        init(learner, inner, discount**2)
        learner.discount = discount**2

    patch.setattr(Discounted, "__init__", twice)


def fix_the_rate_of_the_master(patch):
    """One noise for the master, whatever instability has cost."""
    patch.setattr(MetaLearner, "scale", property(lambda master: 1.0))


def ignore_what_is_open(patch):
    """Let the schedule count each round as if no other waited."""
    schedule = ContextSemiBanditFTPL._schedule

    def blind(learner, opened):
        schedule(learner, opened)
        K, c = learner.oracle.n_actions, learner._resampling.second_moment
        opened.variance = learner.leader.kappa * c * K
        opened.allowance = opened.variance

    patch.setattr(ContextSemiBanditFTPL, "_schedule", blind)


def reuse_the_draw_of_a_dropped_round(patch, learner):
    """A round in place of another takes its noise as well."""
    prepare = learner._prepare

    def tired(self, opened):
        prepare(self, opened)
        if self._ledger.supersedes_open_round(opened):
            opened.draw = opened.draw._replace(number=self.last_number)
        self.last_number = opened.draw.number

    patch.setattr(learner, "_prepare", tired)


def count_rounds_in_place_of_draws(patch):
    """A mixture and its copies draw by the number of rounds learned."""
    prepare = ContextFTPL._prepare

    def counted(self, opened):
        prepare(self, opened)
        opened.draw = opened.draw._replace(number=self.rounds)

    patch.setattr(ContextFTPL, "_prepare", counted)
    toss_the_coin_of_a_dropped_round(patch)


def toss_the_coin_of_a_dropped_round(patch):
    """A mixture follows the same copy again."""
    toss = StronglyAdaptive._uniform

    def same(self):
        decided = self._decided
        self._decided -= self._ledger.dropped + (self._ledger.current is not None)
        try:
            return toss(self)
        finally:
            self._decided = decided

    patch.setattr(StronglyAdaptive, "_uniform", same)


def forget_dropped_rounds(patch):
    """Playout noise depends on the number of the round alone."""
    prepare = Playout._prepare

    def forgetful(learner, opened):
        prepare(learner, opened)
        opened.place = opened.place[0], 0

    patch.setattr(Playout, "_prepare", forgetful)


SAYS_NOTHING = test_dropped_rounds.test_the_draw_of_a_dropped_round_says_nothing_about_the_next_one
NOTHING_TOLD = test_dropped_rounds.test_neither_does_a_round_in_which_nothing_is_told
LISTED = test_adaptive_discount.hn.oracles.FinitePolicies
SAME_DRAW = {
    kind: partial(reuse_the_draw_of_a_dropped_round, learner=kind)
    for kind in (ContextFTPL, ContextSemiBanditFTPL)
}
MUTANTS = {
    "less playout noise": (
        shrink_playout_noise,
        test_playout_bandit.test_a_number_for_epsilon_is_the_size_of_the_noise,
    ),
    "a past that is discounted twice": (
        discount_twice,
        test_discounted.test_play_equals_its_slow_twin_across_renewals,
        "FinitePolicies", 0.9, 300, 1,
    ),
    "a master that does not tune itself": (
        fix_the_rate_of_the_master,
        test_adaptive_discount.test_play_equals_its_slow_twin,
        LISTED, (1.0, 0.9, 0.5),
    ),
    "a schedule blind to open rounds": (
        ignore_what_is_open,
        test_regret_bound.test_an_anytime_bandit_pays_for_what_was_open, 3,
    ),
    **{
        f"noise of a dropped round, {name}": (SAME_DRAW[kind], SAYS_NOTHING, name)
        for kind, name in [
            (ContextFTPL, "self-tuned"),
            (ContextFTPL, "anytime"),
            (ContextFTPL, "theorem"),
            (ContextSemiBanditFTPL, "bandit"),
        ]
    },
    **{
        f"noise of a round without feedback, {name}": (SAME_DRAW[kind], NOTHING_TOLD, name)
        for kind, name in [(ContextFTPL, "self-tuned"), (ContextSemiBanditFTPL, "bandit")]
    },
    **{
        f"noise of a dropped round, {name}": (forget_dropped_rounds, SAYS_NOTHING, name)
        for name in ("PlayoutFTPL", "PlayoutFTPL, pool", "PlayoutBandit")
    },
    "noise of a dropped round, copies": (
        count_rounds_in_place_of_draws, SAYS_NOTHING, "StronglyAdaptive",
    ),
    "coin of a dropped round": (
        toss_the_coin_of_a_dropped_round,
        test_dropped_rounds.test_every_round_takes_a_fresh_draw_whether_or_not_it_is_answered,
        "StronglyAdaptive, deterministic copies",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_no_mutation_is_missed(monkeypatch, name):
    spoil, test, *given = MUTANTS[name]
    spoil(monkeypatch)
    fails(test, *given)
