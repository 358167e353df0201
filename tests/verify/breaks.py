"""How to see that a claim is refuted, and mechanisms broken on purpose."""

import numpy as np

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan import bounds
from hannan import separators as constructions
from hannan.kernels import finite
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, SelfTuned, certificates, set_hint
from hannan.learners import importance_weights as weighing
from hannan.learners.hint import AdvisedRound, Hint, Trust
from hannan.learners.importance_weights import Resampling
from hannan.learners.offset import Offset
from hannan.learners.perturbed_leader import Past, PerturbedLeader
from hannan.learners.set_hint import SetHint
from hannan.learners.step_size import Fixed
from hannan.oracles import Switching
from hannan.oracles.all_policies import TableObjective
from hannan.oracles.finite_policies import FiniteNoise, FiniteObjective
from hannan.verify import Effort, claims


def failures(name):
    """Yield the checks of a claim that fail, with little effort."""
    claim = next(claim for claim in claims() if claim.name == name)
    return (check.what for check in claim.experiment(Effort()) if not check.passed)


def refuted(name, *expected):
    """Require that checks fail whose names contain these texts, at least one without any.

    The experiment ends as soon as they have: the rest says nothing more about the mechanism.
    """
    missing = list(expected or [""])
    for what in failures(name):
        missing = [text for text in missing if text not in what]
        if not missing:
            return
    raise AssertionError(f"{name} stands where it should not: {missing}")


def few_games(patch, most):
    """Play fewer games, where what they show is far beyond chance."""
    seeds = Effort.seeds
    patch.setattr(
        Effort,
        "seeds",
        lambda effort, name, quick, full: seeds(effort, name, min(quick, most), full),
    )


# Noise ---------------------------------------------------------------------------------------


def scale_noise(patch, factor):
    """Let learners use their noise at another scale than ε says."""
    start = Fixed.start

    def scaled(step, leader):
        start(step, leader)
        step.scale *= factor

    patch.setattr(Fixed, "start", scaled)


def fix_epsilon(patch, value):
    """Use one ε whatever was asked for."""
    init = Fixed.__init__
    patch.setattr(Fixed, "__init__", lambda step, epsilon: init(step, value))


def halve_epsilon(patch):
    """Use noise of twice the size."""
    init = Fixed.__init__
    patch.setattr(Fixed, "__init__", lambda step, epsilon: init(step, epsilon / 2.0))


def shrink_projected_noise(patch):
    """Halve the noise of listed policies where it is drawn."""
    fill = FiniteNoise._fill

    def halved(noise, first, block, start, stop):
        fill(noise, first, block, start, stop)
        block[:, start:stop] *= 0.5

    patch.setattr(FiniteNoise, "_fill", halved)


def draw_once(patch):
    """Hold the number of the draw where it is: the same noise in every round."""
    patch.setattr(PerturbedLeader, "advance", lambda leader, used: None)


def reuse_noise_once(patch, learner):
    """Let every second round take the noise of the one before."""
    prepare = learner._prepare

    def tired(self, opened):
        prepare(self, opened)
        if self.rounds % 2:
            opened.draw = opened.draw._replace(number=self.last_number)
        self.last_number = opened.draw.number

    patch.setattr(learner, "_prepare", tired)


def act_with_little_noise(patch):
    """Choose the action with a fiftieth of the noise."""
    act = ContextFTPL._act

    def timid(learner, opened):
        honest = opened.draw
        opened.draw = honest._replace(scale=0.02 * honest.scale)
        act(learner, opened)
        opened.draw = honest

    patch.setattr(ContextFTPL, "_act", timid)


def play_with_more_noise(patch):
    """Play with Laplace noise a quarter larger than announced."""
    action = TableObjective.action
    patch.setattr(
        TableObjective,
        "action",
        lambda total, x, draw, *given: action(
            total, x, draw._replace(scale=1.25 * draw.scale), *given
        ),
    )


def foresee_with_other_noise(patch, objective):
    """Look for the foreseeing leader under another draw than the one that was played."""
    settle = objective.settle

    def other(total, context, losses, draw, *given):
        return settle(total, context, losses, draw._replace(number=draw.number + 1), *given)

    patch.setattr(objective, "settle", other)


# The oracle ----------------------------------------------------------------------------------


def last_minimiser(values):
    """Return the last of several minimisers."""
    return np.flatnonzero(values == values.min())[-1]


def prefer_the_last(patch, *, under_noise):
    """Let ties go to the last listed policy."""
    leaders = finite.leaders

    def wrong(scores, block, start, stop, scale, codes, minima):
        leaders(scores, block, start, stop, scale, codes, minima)
        for i in range(stop - start):
            if under_noise and scale != 0.0:
                codes[i, 0] = last_minimiser(scores + scale * block[start + i])
            if not under_noise and scale == 0.0:
                codes[i, 0] = last_minimiser(scores)

    patch.setattr(finite, "leaders", wrong)


def prefer_the_last_action(patch):
    """Let ties go to the last action of a table."""

    def last_actions(total, draw):
        actions = total.n_actions - 1 - total.totals[:, ::-1].argmin(axis=1)
        return actions, float(total.totals.min(axis=1).sum())

    patch.setattr(TableObjective, "_solve", last_actions)


def forget_the_past(patch):
    """Let totals depend on the order of the rounds."""
    add = FiniteObjective.add

    def forgetful(total, context, losses):
        total.scores[: total.oracle.n_policies] *= 0.75
        add(total, context, losses)

    patch.setattr(FiniteObjective, "add", forgetful)


def play_the_worst_policy(patch):
    """Let the oracle maximise."""

    def worst(total, context, draw, plus=None, available=None):
        policy = int(np.argmax(total.scores[: total.oracle.n_policies]))
        return total.oracle.policy(policy)(context)

    patch.setattr(FiniteObjective, "action", worst)


def never_switch(patch):
    """Let the sequences of learners never switch; the comparator has no sequence, and does."""
    init = Switching.__init__

    def still(self, *args, sequence=None, **options):
        init(self, *args, sequence=sequence, **options)
        self.levels = self.levels if sequence is None else 1

    patch.setattr(Switching, "__init__", still)


def shift_the_grid(patch):
    """Let cells of the grid begin a round early."""
    patch.setattr(Switching, "cell", lambda self, context: (context[0] + 1) // self.grid)
    patch.setattr(
        Switching,
        "cells",
        lambda self, contexts: (np.array([t for t, _ in contexts], np.int64) + 1) // self.grid,
    )


# Bounds and separators -----------------------------------------------------------------------


def mend_the_rate(patch):
    """State a rate that follows from the theorem."""
    rate = bounds.claimed_rate

    def mended(result, horizon, **sizes):
        return rate(result, horizon, **sizes) * sizes.get("n", 1) ** 0.25

    patch.setattr(bounds, "claimed_rate", mended)
    few_games(patch, 2)


def remove_a_point(patch, name):
    """Leave out the first point of a separator."""
    make = getattr(constructions, name)
    patch.setattr(constructions, name, lambda *sizes: make(*sizes)[1:])


def add_a_point(patch):
    """Add a point that separates nothing."""
    make = constructions.disjunctions

    def generous(n):
        return np.concatenate([make(n), np.zeros((1, n), dtype=np.int64)])

    patch.setattr(constructions, "disjunctions", generous)


def leave_out_the_repair(patch):
    """Take the points as printed."""
    make = constructions.intercept_classifiers

    def printed(n, tau):
        points = make(n, tau)
        return points[(points < 1.0).all(axis=1)]

    patch.setattr(constructions, "intercept_classifiers", printed)


# Resampling ----------------------------------------------------------------------------------


def change_resampling(patch, **changes):
    """Change arguments of the weights that Algorithm 3 draws."""
    check = algorithm_3.check_resampling
    names = "past", "context", "action", "draw", "limit", "needed"

    def changed(name, value):
        return changes[name](value) if name in changes else value

    def spoiled(owner, given):
        resampling = check(owner, given)
        drawn, in_pairs = resampling.weights, resampling.lesson

        def other(*given):
            call = dict(zip(names, given, strict=True))
            return drawn(**{name: changed(name, x) for name, x in call.items()})

        def other_pairs(past, context, action, loss, draw, trials):
            if loss == 0.0:  # else instability is measured
                draw = changed("draw", draw)
                trials = trials._replace(limit=changed("limit", trials.limit))
            return in_pairs(past, context, action, loss, draw, trials)

        resampling.weights, resampling.lesson = other, other_pairs
        return resampling

    patch.setattr(algorithm_3, "check_resampling", spoiled)
    weigh_apart(patch)


def weigh_apart(patch):
    """Weigh a loss by itself, not where instability is measured."""
    patch.setattr(algorithm_3, "weigh_and_measure", lambda *given: None)


def reuse_the_noise_that_chose(patch):
    """Start resampling with the draw the action came from, so that the first one is a success."""
    change_resampling(patch, draw=lambda draw: draw._replace(number=draw.number - 1))


def ignore_the_cap(patch):
    """Resample until success, however long it takes."""
    change_resampling(patch, limit=lambda limit: 10**6)


def weigh_what_costs_nothing(patch):
    """Draw for elements with loss zero too."""
    change_resampling(patch, needed=lambda needed: None)


def stop_at_the_first_success(patch):
    """Draw one success, whatever was asked for."""
    weights = TableObjective.weights

    def hasty(total, context, elements, draw, limit, successes, *given):
        return weights(total, context, elements, draw, limit, 1, *given)

    patch.setattr(TableObjective, "weights", hasty)


def move_the_cap(patch, by):
    """Draw one more or less than L, wherever L comes from."""
    limit = ContextSemiBanditFTPL._limit
    patch.setattr(ContextSemiBanditFTPL, "_limit", lambda learner, *of: limit(learner, *of) + by)


def move_the_cap_of_draws(patch, by):
    """Draw one more or less than L, where weights are drawn."""
    weights = TableObjective.weights

    def moved(total, context, elements, draw, limit, *given):
        return weights(total, context, elements, draw, limit + by, *given)

    patch.setattr(TableObjective, "weights", moved)


def move_the_cap_of_exact_weights(patch, by):
    """Count one draw more or less than L, in the formula."""
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
    weigh_apart(patch)


def weigh_double(patch):
    """Give weights twice their mean."""
    weigh = algorithm_3.weigh

    def heavy(leader, resampling, opened, needed=None):
        return 2.0 * weigh(leader, resampling, opened, needed)

    patch.setattr(algorithm_3, "weigh", heavy)
    weigh_apart(patch)


def count_a_success_too_many(patch):
    """Divide by one success more than there were."""
    weights = Resampling.weights

    def light(self, *given):
        drawn, used = weights(self, *given)
        return drawn * self.successes / (self.successes + 1), used

    patch.setattr(Resampling, "weights", light)


# Instability and certificates ----------------------------------------------------------------


def measure(patch, share):
    """Count only a share of the instability cost."""
    tune = SelfTuned.after
    patch.setattr(
        SelfTuned,
        "after",
        lambda step, leader, cost, *late: tune(step, leader, share * cost, *late),
    )


def shrink_self_tuned_noise(patch, factor=0.9):
    """Use noise a little smaller than D/G."""
    tune = SelfTuned.after

    def smaller(step, leader, cost, *late):
        tune(step, leader, cost, *late)
        step.scale *= factor if cost > 0.0 else 1.0

    patch.setattr(SelfTuned, "after", smaller)


def measure_with_the_draw_of_play(patch):
    """Compare leaders under the draw that chose the action."""
    measure = algorithm_3.measure

    def same(leader, resampling, opened, draw, *given, **options):
        return measure(leader, resampling, opened, opened.draw, *given, **options)

    patch.setattr(algorithm_3, "measure", same)


def forget_truncation(patch):
    """Leave the loss that the cap hides out of certificates."""
    certify = certificates.semi_bandit_certificate
    patch.setattr(
        certificates,
        "semi_bandit_certificate",
        lambda *given: certify(*given).changed(truncation=0.0),
    )


# Guesses -------------------------------------------------------------------------------------


def keep_the_guess(patch):
    """Leave the guess in the totals when its round is over."""
    update = ContextFTPL._update

    def cluttered(learner, opened, loss):
        if opened.guess is not None:
            learner.leader.total.add(opened.context, opened.guess)
        update(learner, opened, loss)

    patch.setattr(ContextFTPL, "_update", cluttered)


def learn_twice(patch):
    """Give the oracle the last round twice."""
    update = ContextFTPL._update

    def eager(learner, opened, loss):
        update(learner, opened, loss)
        learner.leader.total.add(opened.context, loss)

    patch.setattr(ContextFTPL, "_update", eager)


# Hints for sets ------------------------------------------------------------------------------


def change_ratios(patch, ratio):
    """Replace the ratio of elements of the hint, given the round, the past and the draw."""
    weigh = weighing.weigh_elements

    def other(past, opened, draw, *given):
        weights, used = weigh(past, opened, draw, *given)
        if opened.share > 0.0:
            changed = ratio(opened, past, draw.later(used - set_hint._TRIALS))
            opened.ratio = np.where(opened.hit, changed, opened.ratio)
        return weights, used

    patch.setattr(weighing, "weigh_elements", other)


def take_the_ratio_of_other_elements(patch):
    """Use 1/b for all elements, as if none were in the hint."""
    change_ratios(patch, lambda opened, past, draw: 1.0 / (1.0 - opened.share))


def count_a_draw_too_many(patch):
    """Use b^N instead of b^(N-1)."""
    change_ratios(patch, lambda opened, past, draw: (1.0 - opened.share) * opened.ratio)


def estimate_the_probability_first(patch):
    """Put the mean of a few draws into the formula of the ratio."""

    def plug_in(opened, past, draw):
        drawn = past.chosen(opened.context, draw, 4)[:, opened.action]
        x = drawn.mean(axis=0)
        return x / (opened.share + (1.0 - opened.share) * x)

    change_ratios(patch, plug_in)


def change_numbers(patch, weigh=None, more=0):
    """Change the weights from numbers of draws and the share, or the limit by `more`."""
    usual = set_hint.kernel.from_numbers

    def other(numbers, places, hit, explored, share, explores, limit, weights, ratio):
        rest = explores, limit + more, weights, ratio
        usual(numbers, places, hit, explored, share, *rest)
        if weigh is not None:
            weights[places] = weigh(numbers, share)

    patch.setattr(set_hint.kernel, "from_numbers", other)


def count_what_was_not_found(patch):
    """Use the ratio b^(L-1) for an element that no draw chose."""
    change_numbers(patch, more=1)


def weigh_the_hint_like_others(patch):
    """Use N/b for elements of the hint."""
    change_numbers(patch, lambda N, p: N / (1.0 - p))


def weigh_others_like_the_hint(patch):
    """Use (1 - b^N)/p for elements outside the hint."""
    change_numbers(patch, lambda N, p: (1.0 - (1.0 - p) ** N) / p)


def draw_weights_where_means_are_computed(patch):
    """Take mean weights for numbers of draws."""
    patch.setattr(Past, "inclusion", lambda past, *given: None)


def reuse_the_draw_of_the_base(patch):
    """Start the draws for weights with the one that the base learner played by."""
    numbers = set_hint._from_draws
    patch.setattr(
        set_hint,
        "_from_draws",
        lambda past, opened, draw, *given: numbers(past, opened, draw.later(-1), *given),
    )


def change_gap(patch, rows):
    """Estimate the base learner's V by these draws, given the first draw and their number."""
    weigh = weighing.weigh_elements

    def other(past, opened, draw, *given):
        weights, used = weigh(past, opened, draw, *given)
        first, count = rows(draw, max(1, used - set_hint._TRIALS))
        chosen = past.chosen(opened.context, first, count)
        opened.gap = set_hint.kernel.gap(opened.values, opened.advice, chosen)
        return weights, used

    patch.setattr(weighing, "weigh_elements", other)


def average_all_draws_read(patch):
    """Estimate the base learner's V by the draws behind the weights, however many they are."""
    change_gap(patch, lambda draw, used: (draw, used))


def share_draws_with_the_weights(patch):
    """Estimate the base learner's V by the first draws behind the weights."""
    change_gap(patch, lambda draw, used: (draw, 1))


def forget_the_sizes_of_sets(patch):
    """Compare the estimates of sets beyond the lowest loss of each element."""
    gap = set_hint.kernel.gap
    patch.setattr(set_hint.kernel, "gap", lambda values, *sets: gap(values - values.min(), *sets))


def reserve_for_few_elements(patch):
    """Reserve for a hint as if it were a single element."""
    probability = Trust.probability

    def hasty(trust, record, *given):
        m, record.most_elements = record.most_elements, 1
        try:
            return probability(trust, record, *given)
        finally:
            record.most_elements = m

    patch.setattr(Trust, "probability", hasty)


def reserve_nothing_for_sets(patch):
    """Let open rounds with a hint reserve nothing."""
    played = SetHint.played

    def careless(hint, opened):
        played(hint, opened)
        hint.reserve, opened.reserved = 0.0, 0.0

    patch.setattr(SetHint, "played", careless)


def ignore_the_spread_of_sets(patch):
    """Reserve as if no estimates of sets differed by more than m losses."""
    init = SetHint.__init__

    def narrow(hint, *given):
        init(hint, *given)
        hint.spread = 1.0

    patch.setattr(SetHint, "__init__", narrow)


def keep_reserves(patch):
    """Never release a reserve."""
    charge = SetHint.charge

    def stingy(hint, opened, *given):
        opened.reserved = 0.0
        charge(hint, opened, *given)

    patch.setattr(SetHint, "charge", stingy)


def leave_out_the_cost_of_hints(patch):
    """State certificates without S."""
    certify = certificates.semi_bandit_certificate

    def bold(game, hint, *given):
        said = certify(game, hint, *given)
        stated = said.stability_estimate
        return said if stated is None else said.changed(stability_estimate=stated - hint.S)

    patch.setattr(certificates, "semi_bandit_certificate", bold)


def leave_out_the_bias(patch):
    """State certificates without the cost of truncation."""
    patch.setattr(SetHint, "truncation", lambda hint, opened, K: 0.0)


def cap_the_whole_probability(patch):
    """Use (1 - (1-q)^L)/q with q = b q0 for elements outside the hint."""
    exact = set_hint._from_probabilities

    def capped(opened, x):
        weights, q = exact(opened, x), (1.0 - opened.share) * x
        found = np.array([weighing.mean_weight(each, opened.limit) for each in q.tolist()])
        return np.where(opened.hit, weights, found)

    patch.setattr(set_hint, "_from_probabilities", capped)


def charge_by_the_coin(patch):
    """Compare the whole losses of hint and base, by which of them was played."""
    coin, charge = weighing_coin(patch), SetHint.charge

    def tossed(hint, opened, loss, weight, missing=None):
        before = hint.S
        charge(hint, opened, loss, weight, missing)
        if opened.share > 0.0:
            surprise = float((loss - opened.values[opened.action]).sum())
            p = opened.share
            own = 0.0 if opened.split else p * opened.gap
            hint.S = before + own + (surprise if coin[id(opened)] else -p / (1.0 - p) * surprise)

    patch.setattr(SetHint, "charge", tossed)


def weighing_coin(patch):
    """Return a record of which rounds played their hint."""
    without, coins = AdvisedRound.without_base, {}

    def watched(opened, *given):
        action = without(opened, *given)
        coins[id(opened)] = action is not None
        return action

    patch.setattr(AdvisedRound, "without_base", watched)
    return coins


def charge_one_element(patch):
    """Charge a round without feedback like one element."""
    init = Offset.__init__

    def cheap(offset, loss_range, oracle):
        init(offset, loss_range, oracle)
        offset.without_feedback = offset.top

    patch.setattr(Offset, "__init__", cheap)


def charge_without_the_guess(patch):
    """Charge a round without feedback as if all sets had one size."""
    init = Offset.__init__

    def cheap(offset, loss_range, oracle):
        init(offset, loss_range, oracle)
        offset.without_feedback = oracle.max_chosen * offset.top

    patch.setattr(Offset, "__init__", cheap)


def charge_nothing_for_estimates(patch):
    """Charge rounds without feedback only for their loss."""
    played = SetHint.played

    def cheap(hint, opened):
        played(hint, opened)
        hint.unpaid, opened.unpaid = 0.0, 0.0

    patch.setattr(SetHint, "played", cheap)


def charge_missing_losses_alone(patch):
    """Charge missing losses of elements without their estimates."""
    patch.setattr(SetHint, "unseen", Hint.unseen)
