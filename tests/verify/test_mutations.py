"""One mechanism broken at a time, and the claim that sees it.

The first mutant of each claim is tried at merge, the others nightly. Mutants of results beyond the
paper are beside their tests, in `tests/statistics`.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from hannan import bounds, verify
from hannan.core.policy import loss_of
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.learners.context_set import ContextSet
from hannan.learners.prediction import Prediction
from hannan.learners.step_size import Anytime
from hannan.oracles import Thresholds
from hannan.oracles import switching as sequences
from hannan.oracles.finite_policies import FiniteObjective
from hannan.perturbation import FuturePlayout, LaplaceNoise
from tests.verify import breaks
from tests.verify.breaks import failures, few_games, refuted, scale_noise


class Mutant(NamedTuple):
    """A broken mechanism, and what shows that it is broken."""

    spoil: object
    expected: tuple = ()
    """Texts in the names of checks that must fail."""
    exactly: bool = False
    """Whether no other check may fail."""
    stands: tuple = ()
    """Claims that have nothing to do with the mechanism."""


def mutant(spoil, *expected, stands=(), **options):
    return Mutant(partial(spoil, **options), expected, False, stands)


def only(spoil, *expected, stands=(), **options):
    return Mutant(partial(spoil, **options), expected, True, stands)


def shaped_like_a_bell(patch):
    def gaussian(noise, draw):
        rng = np.random.default_rng([draw, 1])
        return np.sqrt(2.0) * rng.standard_normal((len(noise.contexts), noise.n_actions))

    patch.setattr(LaplaceNoise, "unit", gaussian)


def small_kappa(patch):
    patch.setattr(bounds, "kappa", lambda **sizes: 1.0)


def noise_that_misses_a_context(patch):
    init = ContextSet.__init__

    def fewer(X, owner, oracle, contexts, separator, key):
        init(X, owner, oracle, contexts, separator, key)
        if separator is not None and len(X.points) > 1:
            X.points.pop()

    patch.setattr(ContextSet, "__init__", fewer)


def certificate_for_unknown_contexts(patch):
    init = ContextSet.__init__

    def covered(X, *args):
        init(X, *args)
        X.has_theorem = True

    patch.setattr(ContextSet, "__init__", covered)


def dimension_one_too_small(patch):
    count = bounds.natarajan_dimension
    patch.setattr(bounds, "natarajan_dimension", lambda table: count(table) - 1)


def oracle_that_miscounts(patch):
    patch.setattr(Thresholds, "log_size", lambda oracle, contexts: 3.0)


def cap_that_is_forgotten(patch):
    patch.setattr(ContextSemiBanditFTPL, "_limit", lambda learner, *given: 10**6)


def printed_count(patch):
    patch.setattr(
        sequences,
        "log_sequences",
        lambda cells, switches, log_size: switches * (np.log(cells) + log_size),
    )


def playout_without_noise(patch):
    patch.setattr(
        FuturePlayout, "_to_come", lambda self, time, rng: np.zeros(len(self.contexts), np.intp)
    )


def guesses_that_are_ignored(patch):
    act = ContextFTPL._act

    def blind(learner, opened):
        guess, opened.guess = opened.guess, None
        act(learner, opened)
        opened.guess = guess

    patch.setattr(ContextFTPL, "_act", blind)
    patch.setattr(ContextFTPL, "_past", lambda learner, opened: learner.leader.past(opened))
    few_games(patch, 10)


def totals_that_ignore_guesses(patch):
    action = FiniteObjective.action
    patch.setattr(FiniteObjective, "action", lambda total, x, draw, *given: action(total, x, draw))


def guesses_that_stay(patch):
    breaks.keep_the_guess(patch)
    few_games(patch, 10)


def instability_of_whole_losses(patch):
    patch.setattr(
        Prediction, "surprise", lambda self, opened, losses, action: loss_of(losses, action)
    )


def fixed_epsilon(patch, value):
    breaks.fix_epsilon(patch, value)
    few_games(patch, 4)


def schedule_without_memory(patch):
    patch.setattr(Anytime, "played", lambda step, leader, scale, variance: None)


HALF = partial(scale_noise, factor=0.5)
NEEDED = "lower limit of the exponent log p/p' less εκv, worst policy"
SHARE = "lower limit of stability, as a share of E v(1 - exp(-εκv))"
TIGHT = ": exponent, as a share of εκv"
FAKES = "fake losses: distance from Laplace(1/ε)", "fake losses summed by the oracle"
PLAYS = "actions: standard errors from their probability"
SHARP = "regret at the sharp ε, sharp bound"
SURPRISE = "smallest cost of a prediction error, self-tuned learners"
SLOW = "slowly varying losses: "
BOTH = "estimates of action 0", "estimates of action 1"
NEVER_SEEN = "weights of an unobserved action"
WEIGHTS = ("set-hint-weights",)
RELATED = ("ties", "be-the-leader", "separators")
STABILITY = [
    mutant(HALF, NEEDED, SHARE, stands=RELATED),
    mutant(breaks.shrink_projected_noise, NEEDED, SHARE),
    mutant(scale_noise, TIGHT, factor=1.5),
]
REFUTED_KAPPA = mutant(small_kappa, NEEDED)
GROWTH = [mutant(fixed_epsilon, "upper end", value=value) for value in (1e-5, 30.0)]

MUTANTS = {
    "be-the-leader": [
        mutant(breaks.foresee_with_other_noise, "largest excess", objective=FiniteObjective)
    ],
    "ties": [
        mutant(
            breaks.prefer_the_last,
            "FinitePolicies: runs with a wrong leader",
            under_noise=False,
            stands=("be-the-leader",),
        ),
        only(
            breaks.prefer_the_last,
            "duplicates under noise: draws led by the later one",
            under_noise=True,
        ),
        only(breaks.prefer_the_last_action, "AllPolicies: runs with a wrong leader"),
        mutant(breaks.forget_the_past, "FinitePolicies: runs with a wrong leader"),
    ],
    "theorem-1": [
        mutant(
            breaks.act_with_little_noise, "mean regret of learners, fresh noise", stands=RELATED
        ),
        mutant(breaks.play_the_worst_policy, "mean regret of learners, fresh noise"),
    ],
    "one-sided-error": [
        only(
            scale_noise,
            "be-the-leader loss beyond the best, against G/ε",
            "regret, against stability + G/ε",
            factor=2.0,
        ),
        only(HALF, "be-the-leader loss beyond the best, at least 0.8 G/ε", stands=("ties",)),
    ],
    "noise-distribution": [
        mutant(scale_noise, *FAKES, factor=0.9, stands=RELATED),
        mutant(HALF, *FAKES),
        mutant(scale_noise, *FAKES, factor=2.0),
        only(breaks.shrink_projected_noise, FAKES[1], PLAYS),
        only(shaped_like_a_bell, FAKES[0]),
        only(breaks.draw_once, PLAYS),
    ],
    "laplace-error": [
        mutant(scale_noise, factor=0.9),
        mutant(HALF),
        mutant(scale_noise, factor=2.0),
        mutant(breaks.shrink_projected_noise, "all 256 maps: distance from its closed form"),
    ],
    "additive-stability": [*STABILITY, REFUTED_KAPPA],
    "multiplicative-stability": STABILITY,
    "separator-stability": [
        *STABILITY,
        REFUTED_KAPPA,
        mutant(noise_that_misses_a_context, stands=("multiplicative-stability",)),
    ],
    "theorem-2-any-losses": [mutant(scale_noise, SHARP, factor=4.0)],
    "theorem-2-linear-losses": [
        mutant(scale_noise, SHARP, factor=4.0),
        mutant(scale_noise, SHARP, factor=0.001, stands=("be-the-leader",)),
    ],
    "theorem-2-separator": [
        mutant(scale_noise, SHARP, factor=4.0),
        mutant(scale_noise, SHARP, factor=0.001),
    ],
    "theorem-2-adaptive": [
        mutant(
            breaks.draw_once,
            "linear losses: regret at the printed ε, printed bound",
            *(
                f"{where}: {what}"
                for where in ("linear losses", "losses ±1", "separator")
                for what in ("regret at the printed ε, sharp bound", SHARP)
            ),
            stands=("theorem-2-linear-losses", "theorem-2-separator"),
        )
    ],
    "separators": [
        *(
            mutant(breaks.remove_a_point, f"{family}: policies not separated", name=name)
            for name, family in [
                ("disjunctions", "disjunctions"),
                ("conjunctions", "conjunctions"),
                ("intercept_classifiers", "intercept classifiers"),
            ]
        ),
        mutant(breaks.add_a_point, "disjunctions: superfluous points"),
    ],
    "separators-repaired": [
        only(breaks.leave_out_the_repair, "noise on one more point: mean regret, against Theorem 2")
    ],
    "example-shortest-path": [mutant(scale_noise, f"full: {SHARP}", factor=30)],
    "example-submodular": [mutant(scale_noise, f"full: {SHARP}", factor=10)],
    "example-disjunctions": [
        mutant(scale_noise, f"full: {SHARP}", factor=4),
        only(
            breaks.mend_the_rate,
            "printed bound over the stated rate: power of n",
            stands=("example-submodular",),
        ),
    ],
    "example-linear-classifiers": [
        mutant(scale_noise, f"full: {SHARP}", factor=10),
        only(breaks.mend_the_rate, "printed bound over the stated rate: power of n"),
    ],
    "proxy-mean": [
        mutant(
            breaks.reuse_the_noise_that_chose,
            "separate: mean estimate",
            "shared: mean estimate",
            "r = 2: mean estimate",
            "r = 4: mean estimate",
            "Σ q (ℓ - Eℓ̂), below K/(eL)",
            stands=("proxy-second-moment",),
        ),
        mutant(
            breaks.ignore_the_cap,
            "shared: mean estimate",
            "largest weight, as a multiple of L",
            stands=("proxy-second-moment",),
        ),
        mutant(cap_that_is_forgotten, "shared: mean estimate", "exact: mean estimate"),
    ],
    "proxy-second-moment": [
        only(
            breaks.stop_at_the_first_success,
            "r = 2: q E[W²] / E[W]",
            "r = 4: q E[W²] / E[W]",
            stands=("proxy-mean",),  # the mean is the same
        )
    ],
    "oracle-calls": [
        only(
            breaks.weigh_what_costs_nothing,
            "an element in all sets, the only one that costs: most in a round",
        ),
        mutant(
            breaks.ignore_the_cap,
            "one action: most in a round / L-1",
            "sets of 3: mean / min{K, m(L-1)}",
            stands=("theorem-3-transductive",),  # it costs no regret
        ),
        only(
            breaks.reuse_the_noise_that_chose,
            "one action: mean less Σ 1-(1-q)^(L-1), in standard errors",
        ),
    ],
    "theorem-3-transductive": [
        mutant(
            breaks.reuse_the_noise_that_chose,
            f"one action, steady: {SHARP}",
            f"sets of two, steady: {SHARP}",
            stands=("be-the-leader",),
        ),
        mutant(breaks.fix_epsilon, f"one action, steady: {SHARP}", value=1e-6),
    ],
    "theorem-3-separator": [
        mutant(breaks.fix_epsilon, f"disjunctions, steady: {SHARP}", value=1e-6)
    ],
    "switching-regret": [
        only(playout_without_noise, "adaptive adversary: regret, noise on the future only"),
        mutant(
            breaks.never_switch,
            *(
                f"{name}: regret without sequences, over regret with sequences"
                for name in ("steady halves", "tied, then steady", "random losses")
            ),
            stands=("switching-sequences",),
        ),
    ],
    "switching-sequences": [
        only(
            printed_count,
            "largest relative error of the oracle's size",
            stands=("switching-oracle",),
        )
    ],
    "switching-oracle": [
        mutant(
            breaks.shift_the_grid,
            "largest error of a minimum on a grid",
            stands=("switching-sequences",),
        ),
        only(
            breaks.never_switch,
            "largest error of a minimum, listed policies",
            "largest error of a minimum, intervals",
            "largest error of a minimum on a grid",
            "largest price of a grid beyond k⌊b/2⌋R",
        ),
    ],
    "theorem-5": [
        only(
            guesses_that_are_ignored,
            f"{SLOW}regret at the printed ε, sharp bound",
            f"{SLOW}{SHARP}",
            f"{SLOW}regret, self-tuned",
            "exact predictions: largest regret, self-tuned",
        ),
        only(guesses_that_stay, "exact predictions: largest regret, self-tuned"),
        only(
            breaks.halve_epsilon,
            "exact predictions, ε = 1/20: regret at most G/ε",
            stands=("be-the-optimistic-leader",),
        ),
    ],
    "be-the-optimistic-leader": [
        only(guesses_that_are_ignored, SURPRISE),
        only(totals_that_ignore_guesses, "largest excess over the lemma's limit"),
        only(guesses_that_stay, SURPRISE),
        only(instability_of_whole_losses, SURPRISE),
    ],
    "natarajan-size": [
        mutant(dimension_one_too_small, "all: log N, as a share of Sauer's sum"),
        only(oracle_that_miscounts, "all: oracle's log N, distance from the count"),
    ],
    "natarajan": [
        mutant(
            scale_noise,
            "regret, against the sharp form with G",
            factor=30.0,
            stands=("natarajan-size", "ties"),
        )
    ],
    "hardness": [
        mutant(
            certificate_for_unknown_contexts, "bounds claimed by learners without known contexts"
        )
    ],
    "growth-full-information": GROWTH,
    "growth-separator": GROWTH,
    "growth-bandit": GROWTH,
    "growth-switching": GROWTH[:1],
    "round-by-round": [
        mutant(breaks.reuse_noise_once, "actions played like 1 round before", learner=ContextFTPL),
        mutant(breaks.shrink_self_tuned_noise, "self-tuned: stated probabilities"),
        mutant(breaks.play_with_more_noise, "actions played against the leader"),
        mutant(breaks.shrink_projected_noise, "listed policies: actions played against the leader"),
        mutant(breaks.keep_the_guess, "predictions: stated probabilities"),
        mutant(instability_of_whole_losses, "predictions: growth of D"),
        mutant(breaks.learn_twice, "fixed ε, listed policies: stated probabilities"),
        mutant(schedule_without_memory, "schedule: stated probabilities"),
    ],
    "round-by-round-bandit": [
        mutant(breaks.weigh_with_the_present_round, *BOTH),
        mutant(
            breaks.reuse_noise_once,
            "exact weights: actions played like 1 round before",
            learner=ContextSemiBanditFTPL,
        ),
        mutant(breaks.shrink_self_tuned_noise, "self-tuned, one success: stated probabilities"),
        *(
            mutant(move, f"{mode}, L ⌈√(Kt)⌉: {NEVER_SEEN}", by=by)
            for by in (-1, 1)
            for move, mode in [
                (breaks.move_the_cap, "one success"),
                (breaks.move_the_cap_of_draws, "two successes"),
                (breaks.move_the_cap_of_exact_weights, "exact weights"),
            ]
        ),
        mutant(breaks.move_the_cap_of_draws, f"one success, L given: {NEVER_SEEN}", by=200),
        mutant(breaks.reuse_the_noise_that_chose, *BOTH),
        mutant(breaks.count_a_success_too_many, *BOTH),
        mutant(breaks.measure_with_the_draw_of_play, "one success: growth of D"),
        mutant(breaks.forget_truncation, "truncation certified"),
    ],
    "set-hint-cost": [
        mutant(breaks.count_what_was_not_found, "matchings, few draws", stands=WEIGHTS),
        mutant(breaks.count_a_draw_too_many, "matchings: ", "trees: ", stands=WEIGHTS),
        mutant(breaks.take_the_ratio_of_other_elements, "matchings: ", "subsets: "),
        only(breaks.draw_weights_where_means_are_computed, "subsets: "),
        mutant(breaks.estimate_the_probability_first, "matchings: "),
        mutant(breaks.average_all_draws_read, "sets of two sizes: "),
        only(breaks.forget_the_sizes_of_sets, "sets of two sizes: ", stands=WEIGHTS),
    ],
    "set-hint-weights": [
        mutant(breaks.weigh_the_hint_like_others, "matchings: ", "trees: "),
        mutant(breaks.weigh_others_like_the_hint, "matchings: ", "trees: "),
        mutant(breaks.reuse_the_draw_of_the_base, "matchings: ", "trees: "),
    ],
    "set-hint-budget": [
        mutant(breaks.reserve_for_few_elements, "slates, at once: largest S", stands=WEIGHTS),
        mutant(breaks.reserve_nothing_for_sets, "rewards, late: largest S"),
        mutant(breaks.ignore_the_spread_of_sets, "sets of two sizes, at once: largest S"),
        mutant(breaks.keep_reserves, "slates, late: rounds with a hint", "trees, at once: rounds"),
    ],
    "set-hint-certificate": [
        only(breaks.leave_out_the_cost_of_hints, "likeliest set punished: mean regret"),
        only(breaks.leave_out_the_bias, "a bad hint, no second draw: mean regret"),
        mutant(breaks.cap_the_whole_probability, "a good hint, few draws: mean regret"),
        mutant(breaks.measure_with_the_draw_of_play, "likeliest set punished: growth of D"),
    ],
    "set-late": [
        only(breaks.charge_by_the_coin, "a shared element, feedback for sets except the hint"),
        mutant(breaks.charge_one_element, "two sets, feedback for none"),
        mutant(breaks.charge_without_the_guess, "rewards, feedback for sets except the hint"),
        only(breaks.share_draws_with_the_weights, "two sets, feedback for if V is large"),
        mutant(breaks.charge_nothing_for_estimates, "two sets, feedback for none"),
        mutant(breaks.charge_missing_losses_alone, "losses missing, feedback for all"),
    ],
}


def test_every_claim_has_a_mutant():
    assert list(MUTANTS) == [claim.name for claim in verify.claims()]


def tried():
    for claim, mutants in MUTANTS.items():
        for number, each in enumerate(mutants):
            spoil = each.spoil
            while isinstance(spoil, partial):
                spoil = spoil.func
            nightly = [pytest.mark.nightly] if number else []
            name = f"{claim}-{number}-{spoil.__name__}"
            yield pytest.param(claim, each, id=name, marks=[pytest.mark.slow, *nightly])


@pytest.mark.parametrize(("claim", "each"), list(tried()))
def test_a_broken_mechanism_is_seen(monkeypatch, claim, each):
    each.spoil(monkeypatch)
    if each.exactly:
        found = list(failures(claim))
        assert len(found) == len(each.expected)
        assert all(text in what for text, what in zip(each.expected, found, strict=True)), found
    else:
        refuted(claim, *each.expected)


def elsewhere():
    for claim, mutants in MUTANTS.items():
        for number, each in enumerate(mutants):
            if each.stands:
                yield pytest.param(each, id=f"{claim}-{number}")


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("each", list(elsewhere()))
def test_it_is_not_seen_elsewhere(monkeypatch, each):
    each.spoil(monkeypatch)
    for claim in each.stands:
        assert list(failures(claim)) == []
