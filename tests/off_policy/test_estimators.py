import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge as SklearnRidge

import hannan as hn
from hannan.core import PropensityError
from hannan.off_policy import Log, evaluate, probabilities
from tests import naive_off_policy as naive
from tests.off_policy.logs import MEANS, POLICY, D, K, draw, truth

MIXED = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])


def follow(context):
    return int(POLICY[context])


# The estimates themselves ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("distribution", [np.eye(K)[POLICY], MIXED])
def test_estimates_are_those_of_the_definition(seed, distribution):
    log = draw(60, seed)
    target = distribution[log.contexts]
    assert evaluate(log, target, "ips").value == pytest.approx(naive.ips(log, target))
    assert evaluate(log, target, "snips").value == pytest.approx(naive.snips(log, target))
    for folds in (None, 2, 5):
        model = naive.guesses(log, folds)
        found = evaluate(log, target, "dr", folds=folds)
        assert found.value == pytest.approx(naive.dr(log, target, model))
        given = evaluate(log, target, "dr", model=model)
        assert given.value == pytest.approx(found.value)
        assert given.standard_error == pytest.approx(found.standard_error)


def test_a_log_worked_by_hand():
    log = Log([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 0.5, 0.0, 1.0], [0.5, 0.5, 0.25, 0.75], 2)
    target = [0, 0, 0, 1]
    # Ratios are 2, 0, 4, 4/3.
    ips = evaluate(log, target, "ips")
    assert ips.value == pytest.approx((2 + 0 + 0 + 4 / 3) / 4)
    assert ips.mean_weight == pytest.approx((22 / 3) / 4)
    assert ips.effective == pytest.approx((22 / 3) ** 2 / (4 + 16 + 16 / 9))
    assert ips.heaviest == 4.0
    assert evaluate(log, target, "snips").value == pytest.approx((10 / 3) / (22 / 3))
    # Forward means guess 0, then 1 for action 0 on context 0, then 0 and 0.
    dr = evaluate(log, target, "dr")
    assert dr.value == pytest.approx((2 + 1 + 0 + 4 / 3) / 4)


def test_standard_errors_are_those_of_means_and_ratios():
    log = draw(300, seed=3)
    target = MIXED[log.contexts]
    ratios = target[np.arange(300), log.actions] / log.propensities
    ips, snips = evaluate(log, target, "ips"), evaluate(log, target, "snips")
    assert ips.standard_error == pytest.approx(stats.sem(ratios * log.losses))
    residual = ratios * (log.losses - snips.value) / ratios.mean()
    assert snips.standard_error == pytest.approx(residual.std(ddof=1) / np.sqrt(300))


def test_a_policy_may_come_in_many_forms():
    log = draw(200)
    actions = POLICY[log.contexts]
    expected = evaluate(log, actions).value
    table = np.eye(K)[actions]
    policy = hn.oracles.AllPolicies(D, K).objective()
    for x in range(D):
        policy.add(x, MEANS[x])
    learner = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(D, K))
    for x in range(D):
        learner.act(x)
        learner.update(MEANS[x])
    forms = [follow, table, table.tolist(), lambda x: table[log.contexts.index(x)],
             policy.leader(), learner, list(actions)]  # fmt: skip
    for form in forms:
        assert evaluate(log, form).value == expected


def test_a_learner_stands_for_its_law():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, K), epsilon=0.5, seed=0)
    log = draw(30)
    expected = [learner.propensities(x).probabilities for x in log.contexts]
    assert np.array_equal(probabilities(learner, log), expected)
    table = hn.oracles.FinitePolicies([[0, 1, 2], [2, 1, 0]], n_actions=K)
    sampled = hn.ContextFTPL(table, epsilon=0.5, seed=0)
    found = probabilities(sampled, log, draws=50)
    assert (found * 50 == np.rint(found * 50)).all()
    assert (found[:, 1] == [float(x == 1) for x in log.contexts]).all()


@pytest.mark.parametrize("estimator", ["ips", "dr"])
def test_ips_and_dr_are_unbiased_even_where_the_logging_policy_learns(estimator):
    losses = np.array([[0.3, 0.4], [1.0, 0.2], [0.6, 0.1]])
    # Never 0: a log without any round of the policy is refused.
    target = np.array([[0.1, 0.9], [0.8, 0.2], [0.05, 0.95]])

    def distribution(past):  # leans to actions that cost little so far
        q = 0.5 if not past else 0.2 + 0.6 * float(past[-1][1] < 0.5)
        last = past[-1][0] if past else 0
        return [q, 1 - q] if last == 0 else [1 - q, q]

    mean = {None: 0.0, 2: 0.0}
    for actions in itertools.product(range(2), repeat=3):
        past, p = [], []
        for t, a in enumerate(actions):
            p.append(distribution(past)[a])
            past.append((a, losses[t, a]))
        log = Log(None, actions, [loss for _, loss in past], p, 2)
        for folds in mean:
            mean[folds] += np.prod(p) * evaluate(log, target, estimator, folds=folds).value
    truth = (losses * target).sum() / 3
    assert mean[None] == pytest.approx(truth)
    if estimator == "dr":  # future rounds know of the loss they are used for
        assert abs(mean[2] - truth) > 1e-3


def test_a_constant_added_to_all_losses_is_added_to_snips_and_dr():
    log = draw(100)
    moved = Log(log.contexts, log.actions, log.losses + 5.0, log.propensities, K)
    for estimator, model in (("snips", None), ("dr", np.full((100, K), 0.5))):
        shift = None if model is None else model + 5.0
        before = evaluate(log, follow, estimator, model=model).value
        assert evaluate(moved, follow, estimator, model=shift).value == pytest.approx(before + 5.0)
    ratio = evaluate(log, follow, "ips").mean_weight
    shifted = evaluate(moved, follow, "ips").value - evaluate(log, follow, "ips").value
    assert shifted == pytest.approx(5.0 * ratio)


def test_good_guesses_make_dr_sharper():
    log = draw(2000)
    worst = MEANS.argmax(axis=1)[log.contexts]
    exact = evaluate(log, worst, model=MEANS[log.contexts])
    plain = evaluate(log, worst, "ips")
    assert exact.standard_error < 0.6 * plain.standard_error
    assert evaluate(log, worst).standard_error == pytest.approx(exact.standard_error, rel=0.1)


def test_vectors_are_guessed_by_ridge_and_odd_contexts_by_means():
    log = draw(80)
    rows = np.eye(D)[log.contexts]
    vectors = Log(rows, log.actions, log.losses, log.propensities, K)
    target = POLICY[log.contexts]
    expected = evaluate(vectors, target, model=hn.predictors.Ridge()).value
    assert evaluate(vectors, target, "dr").value == expected
    odd = Log([[str(x)] for x in log.contexts], log.actions, log.losses, log.propensities, K)
    plain = evaluate(odd, target, model=hn.predictors.Mean(by_context=False)).value
    assert evaluate(odd, target, "dr").value == plain


# Intervals ---------------------------------------------------------------------------------


def coverage(games, **options):
    """In how many of some logs the interval holds the truth."""
    hits = 0
    for seed in range(games):
        low, high = evaluate(draw(300, 1000 + seed), follow, **options).interval
        hits += low <= truth() <= high
    return hits


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_asymptotic_intervals_cover_as_often_as_they_say(estimator, interval):
    games = 250 if interval == "normal" else 100
    hits = coverage(games, estimator=estimator, interval=interval, level=0.9, samples=150)
    # 300 rounds are not infinitely many: 3 % are granted on either side, chance of alarm 1e-3.
    assert stats.binomtest(hits, games, 0.87, alternative="less").pvalue > 1e-3
    assert stats.binomtest(hits, games, 0.93, alternative="greater").pvalue > 1e-3


@pytest.mark.stat
@pytest.mark.parametrize("estimator", ["ips", "dr"])
def test_bernstein_intervals_cover_at_least_as_often_as_they_say(estimator):
    options = {"interval": "bernstein", "loss_range": (0.0, 1.0), "max_ratio": 5.0}
    hits = coverage(200, estimator=estimator, level=0.8, **options)
    assert stats.binomtest(hits, 200, 0.8, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize("estimator", ["ips", "dr"])
@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-0.5, 2.0)])
def test_bernstein_intervals_are_those_of_the_definition(estimator, loss_range):
    log = draw(90, seed=4)
    target = np.eye(K)[POLICY[log.contexts]]
    model = naive.guesses(log) if estimator == "dr" else None
    values = naive.terms(log, target, model)
    low, high = loss_range
    span, middle = (min(0.0, 5 * low), 5 * high), (low, high)
    if estimator == "dr":
        span = (low - 5 * (high - low), high + 5 * (high - low))
    expected = naive.bernstein(values, span, middle, 0.9)
    found = evaluate(log, target, estimator, interval="bernstein", level=0.9,
                     loss_range=loss_range, max_ratio=5.0)  # fmt: skip
    assert found.interval == pytest.approx(expected)


def test_bernstein_holds_for_few_rounds_where_the_others_fail():
    # One round in a hundred tells of a loss: most short logs have seen none.
    rng = np.random.default_rng(0)
    missed = {"normal": 0, "bernstein": 0}
    target = np.full((30, 2), 0.5)
    for _ in range(100):
        actions = (rng.random(30) < 0.01).astype(int)
        log = Log(None, actions, actions.astype(float), np.where(actions, 0.01, 0.99), 2)
        for kind in missed:
            options = {} if kind == "normal" else {"loss_range": (0.0, 1.0), "max_ratio": 50.0}
            low, high = evaluate(log, target, "ips", interval=kind, **options).interval
            missed[kind] += not low <= 0.5 <= high
    assert missed["bernstein"] <= 5
    assert missed["normal"] > 50


def test_intervals_widen_with_the_level():
    log = draw(200)
    for kind in ("normal", "bootstrap", "bernstein"):
        options = {"interval": kind, "loss_range": (0.0, 1.0), "max_ratio": 5.0}
        few, many = (evaluate(log, follow, level=level, **options) for level in (0.5, 0.99))
        assert many.interval[0] < few.interval[0] < few.value < few.interval[1] < many.interval[1]
        assert (few.level, few.kind) == (0.5, kind)


# What is said about the estimate -----------------------------------------------------------


def test_nothing_is_noted_where_nothing_is_wrong():
    assert evaluate(draw(1000), follow).notes == ()
    on_policy = draw(300)
    assert evaluate(on_policy, on_policy.distribution).notes == ()


def test_wild_weights_are_noted():
    p = np.full(200, 0.5)
    p[7] = 1e-4
    log = Log(None, [0, 1] * 100, np.full(200, 0.5), p, 2)
    found = evaluate(log, np.ones(200, int), "ips")
    assert "one round has 98% of the total weight" in found.notes
    assert any(note.startswith("effective sample size 1:") for note in found.notes)
    assert found.effective < 1.1
    assert "one round has 98%" in str(found)


def test_actions_that_were_never_tried_are_noted():
    log = draw(1000, distribution=np.array([[0.5, 0.5, 0.0]] * 3))
    found = evaluate(log, follow, "ips")
    assert found.mean_weight == pytest.approx(2 / 3, abs=0.1)
    assert any(
        "some actions of the policy are never tried in the log" in note for note in found.notes
    )
    # What is missing of the mass bounds what is missing of the loss.
    assert truth() - found.value < (1.0 - found.mean_weight) + 3 * found.standard_error


@pytest.mark.parametrize(("factor", "what"), [(0.5, "too small"), (1.5, "too large")])
def test_wrong_propensities_are_noted(factor, what):
    log = draw(1000)
    wrong = Log(log.contexts, log.actions, log.losses, log.propensities * factor, K)
    (note,) = evaluate(wrong, MIXED[log.contexts], "ips", check=False).notes
    assert f"propensities are {what}" in note
    with pytest.raises(PropensityError, match="must be"):
        evaluate(wrong, MIXED[log.contexts], "ips")


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_a_policy_without_any_round_is_refused(estimator, interval):
    log = Log(None, [0] * 100, [10.5] * 100, [1.0] * 100, 2)
    with pytest.raises(hn.ParameterError, match=r"never chooses .* in the 100 rounds") as info:
        evaluate(log, lambda context: 1, estimator, interval=interval)
    assert "interval='bernstein' still gives a bound" in str(info.value)


@pytest.mark.parametrize("estimator", ["ips", "dr"])
def test_bernstein_bounds_even_a_policy_without_any_round(estimator):
    log = Log(None, [0] * 100, [0.5] * 100, [0.9] * 100, 2)
    options = {"interval": "bernstein", "loss_range": (0.0, 1.0), "max_ratio": 10.0}
    found = evaluate(log, np.ones(100, int), estimator, **options)
    assert found.interval[1] > 0.5
    assert found.effective == 0.0
    assert found.notes == ("the policy never chooses the logged action",)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_the_smallest_probabilities_are_no_trouble(estimator, interval):
    rare = Log(None, [0, 1] * 10, [0.5] * 20, [1e-100] * 20, 2)
    often = Log(None, [0] * 20, [0.5] * 20, [0.5] * 20, 2)
    for log, policy in ((rare, [0, 1] * 10), (often, np.full((20, 2), [1e-300, 1.0]))):
        found = evaluate(log, policy, estimator, interval=interval, check=False)
        assert np.isfinite([found.value, *found.interval]).all()
        assert found.effective == pytest.approx(len(log))


def test_clipping_cuts_ratios_and_says_so():
    log = draw(500)
    target = np.eye(K)[POLICY[log.contexts]]
    found = evaluate(log, target, "ips", clip=2.0)
    ratios = np.minimum(target[np.arange(500), log.actions] / log.propensities, 2.0)
    assert found.value == pytest.approx((ratios * log.losses).mean())
    assert found.heaviest == 2.0
    cut = int((target[np.arange(500), log.actions] / log.propensities > 2.0).sum())
    assert found.notes[0] == f"clip= cut {cut} of 500 weights: intervals do not include this bias"


def test_weights_take_the_place_of_propensities():
    log = draw(50)
    weights = np.random.default_rng(0).uniform(1, 4, size=50)
    weighed = Log(log.contexts, log.actions, log.losses, log.propensities, K, weights=weights)
    target = POLICY[log.contexts]
    expected = ((log.actions == target) * weights * log.losses).mean()
    assert evaluate(weighed, target, "ips", inverse="weights").value == pytest.approx(expected)
    assert evaluate(weighed, target, "ips").value == evaluate(log, target, "ips").value


# What is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "dm"}, "'estimator'"),
        ({"interval": "t"}, "'interval'"),
        ({"inverse": "guess"}, "'inverse'"),
        ({"inverse": "weights"}, "needs a log with weights="),
        ({"level": 1.0}, "'level'"),
        ({"level": 0.0}, "'level'"),
        ({"clip": 0.0}, "'clip'"),
        ({"folds": 1}, "'folds'"),
        ({"loss_range": (0.0, 0.5)}, "contain the losses .* from 0 to 1. Pass a wider"),
        ({"model": np.zeros((3, 3))}, "model="),
        (
            {"model": np.full((20, 3), 2.0), "loss_range": (0.0, 1.0)},
            r"numbers \[20, 3\] in \[0",
        ),
        ({"model": 3}, "^model= needs predict"),
        ({"model": SklearnRidge()}, "^model= needs predict"),
        ({"interval": "bootstrap", "samples": 1}, "'samples'"),
        ({"interval": "bernstein"}, "needs loss_range="),
        ({"interval": "bernstein", "loss_range": (0, 1)}, "max_ratio="),
        ({"interval": "bernstein", "loss_range": (0, 1), "max_ratio": 1.0}, "'max_ratio'"),
        ({"interval": "bernstein", "estimator": "snips"}, "not work .*'snips'. Use 'dr' or 'ips'"),
        (
            {"interval": "bernstein", "loss_range": (0, 1), "max_ratio": 9.0, "folds": 2},
            "'folds'",
        ),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(hn.HannanError, match=message):
        evaluate(draw(20), follow, **options)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0] * 19, "20 actions"),
        ([3] * 20, "from 0 to 2"),
        (np.full((20, 3), 0.5), "sum to 1; round 0"),
        (lambda x: 3, "from 0 to 2"),
        (lambda x: np.array([0, 1]), "returned array"),
        ("best", "an action, a function"),
    ],
)
def test_bad_policies_are_refused(policy, message):
    with pytest.raises(hn.HannanError, match=message):
        evaluate(draw(20), policy)


def test_a_policy_must_keep_to_what_was_available():
    log = Log([0, 1], [0, 1], [0.0, 1.0], [1.0, 0.5], 2, available=[[0], [0, 1]])
    assert evaluate(log, [0, 1], "ips").value == 1.0
    with pytest.raises(hn.ParameterError, match=r"chooses action 1 in round 0, where only \[0\]"):
        evaluate(log, [1, 1], "ips")


def test_a_log_needs_two_rounds():
    with pytest.raises(hn.ParameterError, match="two rounds or more"):
        evaluate(draw(1), follow)


def test_a_predictor_without_clones_cannot_be_fitted_in_folds():
    class Half:
        def predict(self, context):
            return np.full(K, 0.5)

        def learn(self, context, action, loss):
            pass

    log = draw(40)
    expected = evaluate(log, follow, model=np.full((40, K), 0.5)).value
    assert evaluate(log, follow, model=Half()).value == expected
    with pytest.raises(hn.InputTypeError, match="folds=None"):
        evaluate(log, follow, model=Half(), folds=2)


@pytest.mark.parametrize("policy", ["None", 7])
def test_an_action_that_the_log_does_not_have_is_refused_with_those_it_has(policy):
    named = Log(
        None, ["none", "half"], propensities=[0.5] * 2, rewards=[0, 1], names=["none", "half"]
    )
    message = rf"no action {policy!r}\. Its actions: 'none', 'half'\."
    with pytest.raises(hn.ParameterError, match=message):
        evaluate(named, policy)
