"""One mechanism broken at a time, each with the claim or the test that sees it.

More of them are beside the claims that they break, in the other files of this folder.
"""

import dataclasses
from functools import partial

import numpy as np
import pytest

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.learners import (
    ContextFTPL,
    ContextSemiBanditFTPL,
    Discounted,
    SelfTuned,
    StronglyAdaptive,
    certificates,
)
from hannan.learners import resampling as weighing
from hannan.learners import weighing as part_of_algorithm_3
from hannan.learners.certificates import Evidence
from hannan.learners.future import Future
from hannan.learners.master import Master
from hannan.learners.prediction import Prediction
from hannan.learners.resampling import Resampling
from hannan.learners.step_size import Anytime
from hannan.oracles.all_policies import TableObjective
from hannan.verify import earned_trust, round_by_round, self_tuning, ties
from tests.learners import (
    test_adaptive_discount,
    test_discounted,
    test_dropped_rounds,
    test_playout_bandit,
    test_regret_bound,
)
from tests.verify import bandit_breaks
from tests.verify.breaks import refuted, shrink_projected_noise
from tests.verify.test_ties import prefer_the_last

pytestmark = pytest.mark.slow


def reuse_noise_once(patch, learner):
    """Every second round takes the noise of the one before."""
    prepare = learner._prepare

    def tired(self, opened):
        prepare(self, opened)
        if self.rounds % 2:
            opened.draw = opened.draw._replace(number=self.last_number)
        self.last_number = opened.draw.number

    patch.setattr(learner, "_prepare", tired)


def shrink_self_tuned_noise(patch, factor=0.9):
    """Noise a little smaller than D/G."""
    tune = SelfTuned.after

    def smaller(step, leader, cost):
        tune(step, leader, cost)
        step.scale *= factor if cost > 0.0 else 1.0

    patch.setattr(SelfTuned, "after", smaller)


def move_the_cap(patch, by):
    """One draw more or less than L, wherever L comes from."""
    limit = ContextSemiBanditFTPL._limit
    patch.setattr(ContextSemiBanditFTPL, "_limit", lambda learner, *of: limit(learner, *of) + by)


def move_the_cap_of_draws(patch, by):
    """One draw more or less than L, where they are drawn."""
    resample = TableObjective.resample_one

    def moved(total, context, element, draw, limit, successes):
        return resample(total, context, element, draw, limit + by, successes)

    patch.setattr(TableObjective, "resample_one", moved)


def move_the_cap_of_exact_weights(patch, by):
    """One draw more or less than L, in the formula."""
    mean = weighing.mean_weight
    patch.setattr(weighing, "mean_weight", lambda q, limit: mean(q, limit + by))


def weigh_with_the_present_round(patch):
    """Draw weights from totals in which the loss of the round is already."""
    weigh = algorithm_3.weigh

    def late(leader, resampling, opened, needed=None):
        loss = np.zeros(2)
        loss[opened.action] = needed
        leader.total.add(opened.context, loss)
        try:
            return weigh(leader, resampling, opened, needed)
        finally:
            leader.total.add(opened.context, -loss)

    patch.setattr(algorithm_3, "weigh", late)
    # Else a loss is weighed where instability is measured.
    patch.setattr(algorithm_3, "weigh_and_measure", lambda *given: None)


def turn_the_noise_round(patch):
    """Foresee under noise of the other sign than the noise of play."""
    settle = TableObjective.settle
    patch.setattr(
        TableObjective,
        "settle",
        lambda total, x, f, draw: settle(total, x, f, draw._replace(scale=-draw.scale)),
    )


def play_with_more_noise(patch):
    """Laplace noise a quarter larger than announced, in play alone."""
    action = TableObjective.action
    patch.setattr(
        TableObjective,
        "action",
        lambda total, x, draw: action(total, x, draw._replace(scale=1.25 * draw.scale)),
    )


def keep_the_guess(patch):
    """Leave the guess in the totals when its round is over."""
    update = ContextFTPL._update

    def cluttered(learner, opened, loss):
        update(learner, opened, loss)
        if opened.guess is not None:
            learner.leader.total.add(opened.context, opened.guess)

    patch.setattr(ContextFTPL, "_update", cluttered)


def learn_twice(patch):
    """Give the oracle the last round twice."""
    update = ContextFTPL._update

    def eager(learner, opened, loss):
        update(learner, opened, loss)
        learner.leader.total.add(opened.context, loss)

    patch.setattr(ContextFTPL, "_update", eager)


def measure_with_the_draw_of_play(patch):
    """Compare leaders under the draw that chose the action."""
    measure = algorithm_3.measure

    def same(leader, resampling, opened, draw, *given, **options):
        return measure(leader, resampling, opened, opened.draw, *given, **options)

    patch.setattr(algorithm_3, "measure", same)


def count_a_success_too_many(patch):
    """Divide by one success more than there were."""
    weights = Resampling.weights

    def light(self, *given):
        found, used = weights(self, *given)
        return found * self.successes / (self.successes + 1), used

    patch.setattr(Resampling, "weights", light)


def forget_the_share_of_hints(patch):
    """Weigh as if the leader had always been followed."""

    def alone(law, opened, limit):
        return weighing.mean_weight(float(law[opened.action]), limit)

    patch.setattr(part_of_algorithm_3, "mean_weights", alone)


def forget_what_noise_costs(patch):
    """Leave G/ε out of certificates."""
    patch.setattr(Evidence, "error", property(lambda game: 0.0))


def forget_what_hints_cost(patch):
    """Leave S out of certificates."""
    certify = certificates.semi_bandit_certificate

    def bold(game, hint, start, *given):
        return certify(game, hint, start + hint.S, *given)

    patch.setattr(certificates, "semi_bandit_certificate", bold)


def measure_without_the_guess(patch):
    """Measure instability by the losses themselves."""
    patch.setattr(
        Prediction, "surprise", lambda self, opened, losses, action: float(losses[action])
    )


def shrink_playout_noise(patch):
    """Noise on the rounds to come a fifth smaller than the bound asks for."""
    put = Future.put_noise
    patch.setattr(
        Future, "put_noise", lambda self, size, rate, key: put(self, 0.8 * size, rate, key)
    )


def forget_truncation(patch):
    """Leave what the cap hides out of certificates."""
    certify = certificates.semi_bandit_certificate
    patch.setattr(
        certificates,
        "semi_bandit_certificate",
        lambda *given: dataclasses.replace(certify(*given), truncation=0.0),
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
    patch.setattr(Master, "scale", property(lambda master: 1.0))


def ignore_what_is_open(patch):
    """Let the schedule count each round as if no other waited."""
    schedule = ContextSemiBanditFTPL._schedule

    def blind(learner, opened):
        schedule(learner, opened)
        K, c = learner.oracle.n_actions, learner._resampling.second_moment
        opened.variance = learner.leader.kappa * c * K
        opened.allowance = opened.variance

    patch.setattr(ContextSemiBanditFTPL, "_schedule", blind)


def schedule_without_memory(patch):
    """Let the schedule count the present round alone."""
    patch.setattr(Anytime, "played", lambda step, leader, scale, variance: None)


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
    locate = Future.locate

    def forgetful(future, opened, rounds, ledger):
        locate(future, opened, rounds, ledger)
        opened.place = opened.place[0], 0

    patch.setattr(Future, "locate", forgetful)


def claim(module, name, *checks):
    """The claim of that name, and texts in the names of checks that must fail."""
    return partial(refuted, module, name, *checks)


def fails(test, *given):
    """A test that must fail."""

    def seen():
        with pytest.raises(AssertionError):
            test(*given)

    return seen


FULL, BANDIT = "round-by-round", "round-by-round-bandit"
BOTH_ACTIONS = "estimates of action 0", "estimates of action 1"
SAYS_NOTHING = test_dropped_rounds.test_the_draw_of_a_dropped_round_says_nothing_about_the_next_one
LISTED = test_adaptive_discount.hn.oracles.FinitePolicies
MUTATIONS = {
    "noise used in two rounds": (
        partial(reuse_noise_once, learner=ContextFTPL),
        claim(round_by_round, FULL, "actions played like 1 round before"),
    ),
    "noise used in two rounds, bandit": (
        partial(reuse_noise_once, learner=ContextSemiBanditFTPL),
        claim(round_by_round, BANDIT, "exact weights: actions played like 1 round before"),
    ),
    "self-tuned noise times 0.9": (
        shrink_self_tuned_noise,
        claim(round_by_round, FULL, "self-tuned: probabilities announced"),
    ),
    "self-tuned noise times 0.9, bandit": (
        shrink_self_tuned_noise,
        claim(round_by_round, BANDIT, "self-tuned, one success: probabilities announced"),
    ),
    **{
        f"{where} {by:+}": (
            partial(move, by=by),
            claim(round_by_round, BANDIT, f"{mode}, L ⌈√(Kt)⌉: weights of what is never seen"),
        )
        for by in (-1, 1)
        for where, move, mode in [
            ("cap of resampling", move_the_cap, "one success"),
            ("cap of draws", move_the_cap_of_draws, "two successes"),
            ("cap of exact weights", move_the_cap_of_exact_weights, "exact weights"),
        ]
    },
    "weights with the present round in the totals": (
        weigh_with_the_present_round,
        claim(round_by_round, BANDIT, *BOTH_ACTIONS),
    ),
    "weights not truncated": (
        partial(move_the_cap_of_draws, by=200),
        claim(round_by_round, BANDIT, "one success, L given: weights of what is never seen"),
    ),
    "weights by the draw of play": (
        bandit_breaks.reuse_the_noise_that_chose,
        claim(round_by_round, BANDIT, *BOTH_ACTIONS),
    ),
    "weights of one success too many": (
        count_a_success_too_many,
        claim(round_by_round, BANDIT, *BOTH_ACTIONS),
    ),
    "instability under the draw of play": (
        measure_with_the_draw_of_play,
        claim(round_by_round, BANDIT, "one success: what D grew by"),
    ),
    "truncation not certified": (
        forget_truncation,
        claim(round_by_round, BANDIT, "truncation certified"),
    ),
    "noise of the other sign": (
        turn_the_noise_round,
        claim(self_tuning, "self-tuning", "what instability cost in a round, at the least"),
    ),
    "more noise than announced": (
        play_with_more_noise,
        claim(round_by_round, FULL, "actions played against the leader"),
    ),
    "less noise than announced": (
        shrink_projected_noise,
        claim(round_by_round, FULL, "listed policies: actions played against the leader"),
    ),
    "a guess that stays": (
        keep_the_guess,
        claim(round_by_round, FULL, "guesses: probabilities announced"),
    ),
    "a guess that is not part of the surprise": (
        measure_without_the_guess,
        claim(round_by_round, FULL, "guesses: what D grew by"),
    ),
    "less playout noise": (
        shrink_playout_noise,
        claim(round_by_round, "round-by-round-playout", "actions played against the leader"),
    ),
    "less playout noise, bandit": (
        shrink_playout_noise,
        fails(test_playout_bandit.test_a_number_for_epsilon_is_the_size_of_the_noise),
    ),
    "the cost of hints not certified": (
        forget_what_hints_cost,
        claim(earned_trust, "earned-trust-bandit", "certificates off that bound"),
    ),
    "losses learned twice": (
        learn_twice,
        claim(round_by_round, FULL, "fixed ε, listed policies: probabilities announced"),
    ),
    "the cost of noise not certified": (
        forget_what_noise_costs,
        claim(self_tuning, "self-tuning", "turns: regret, as measured"),
    ),
    "ties to the last": (
        partial(prefer_the_last, under_noise=False),
        claim(ties, "ties", "FinitePolicies: games with another leader"),
    ),
    "hints without a share in weights": (
        forget_the_share_of_hints,
        claim(earned_trust, "earned-trust-bandit", "how far estimates are too high"),
    ),
    "a past that is discounted twice": (
        discount_twice,
        fails(
            test_discounted.test_play_equals_its_slow_twin_across_renewals,
            "FinitePolicies", 0.9, 300, 1,
        ),
    ),
    "a master that does not tune itself": (
        fix_the_rate_of_the_master,
        fails(test_adaptive_discount.test_play_equals_its_slow_twin, LISTED, (1.0, 0.9, 0.5)),
    ),
    "a schedule blind to open rounds": (
        ignore_what_is_open,
        fails(test_regret_bound.test_an_anytime_bandit_pays_for_what_was_open, 3),
    ),
    "a schedule without memory": (
        schedule_without_memory,
        claim(round_by_round, FULL, "schedule: probabilities announced"),
    ),
    **{
        f"noise of a dropped round, {name}": (
            partial(reuse_the_draw_of_a_dropped_round, learner=learner),
            fails(SAYS_NOTHING, name),
        )
        for learner, name in [
            (ContextFTPL, "self-tuned"),
            (ContextFTPL, "anytime"),
            (ContextFTPL, "theorem"),
            (ContextSemiBanditFTPL, "bandit"),
        ]
    },
    **{
        f"noise of a round without feedback, {name}": (
            partial(reuse_the_draw_of_a_dropped_round, learner=learner),
            fails(test_dropped_rounds.test_neither_does_a_round_in_which_nothing_is_told, name),
        )
        for learner, name in [(ContextFTPL, "self-tuned"), (ContextSemiBanditFTPL, "bandit")]
    },
    **{
        f"noise of a dropped round, {name}": (forget_dropped_rounds, fails(SAYS_NOTHING, name))
        for name in ("PlayoutFTPL", "PlayoutFTPL, pool", "PlayoutBandit")
    },
    "noise of a dropped round, copies": (
        count_rounds_in_place_of_draws,
        fails(SAYS_NOTHING, "StronglyAdaptive"),
    ),
    "coin of a dropped round": (
        toss_the_coin_of_a_dropped_round,
        fails(
            test_dropped_rounds.test_every_round_takes_a_fresh_draw_whether_or_not_it_is_answered,
            "StronglyAdaptive, deterministic copies",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_no_mutation_is_missed(monkeypatch, name):
    spoil, seen = MUTATIONS[name]
    spoil(monkeypatch)
    seen()
