"""Logs are replayed without bias, and worth as many rounds as they are."""

import csv
import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.environments import FromLog, _files
from hannan.experiments.game import Game
from hannan.experiments.recorder import RunRecorder
from tests import problems

Z = 4.0  # a false alarm once in 16,000 checks; seeds are fixed
COSTS = np.array([[0.1, 0.5, 0.9], [0.8, 0.3, 0.6]])  # mean loss of each action in each context
CHANCES = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])  # of the logging policy
CONTRACT = {
    "FromLog": FromLog(
        problems.ADS, context=["hour"], action="ad", loss="cost", propensity="p", check=False
    ),
    "FromLog, importance": FromLog(
        problems.ADS,
        action="ad",
        reward="cost",
        propensity=1.0,
        method="importance",
        baseline=0.5,
        check=False,
    ),
}


def write(path, rows, header=("x", "did", "cost", "p")):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def simulate(n, seed=0):
    """A log of a policy that prefers some actions, and that does not choose the best ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for x in rng.integers(0, 2, n).tolist():
        b = int(rng.choice(3, p=CHANCES[x]))
        rows.append([x, "abc"[b], int(rng.random() < COSTS[x, b]), CHANCES[x, b]])
    return rows


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return write(tmp_path_factory.mktemp("log") / "log.csv", simulate(20_000))


def world(path, **options):
    given = {"context": "x", "action": "did", "loss": "cost", "propensity": "p"}
    return FromLog(path, **given | options)


class Fixed(hn.Learner):
    """Plays a policy and notes how often it was told something."""

    feedback = hn.Feedback.BANDIT

    def __init__(self, actions):
        super().__init__()
        self.actions = actions

    def _act(self, opened):
        opened.play(self.actions[opened.context])

    def _update(self, opened, loss):
        pass


def replayed(environment, policy, seed=1):
    learner = Fixed(policy)
    recorder = RunRecorder(learner, None, 10, environment.horizon)
    for this_round in Game(learner, environment, environment.horizon, np.random.default_rng(seed)):
        recorder.record(this_round, 0.0)
    return learner, recorder


def test_a_round_by_hand(tmp_path):
    rows = [[0, "b", 0.6, 0.25], [1, "a", 0.2, 0.5], [0, "c", 1.0, 0.5]]
    path = write(tmp_path / "log.csv", rows)
    textbook = world(path, method="importance", baseline=0.0)
    assert textbook.actions == ["a", "b", "c"]
    told = [r.reveal(0).tolist() for r in textbook.rounds(3, None)]
    assert told == [[0, 0.6 / 0.25, 0], [0.2 / 0.5, 0, 0], [0, 0, 2.0]]
    running = [r.reveal(0) for r in world(path, method="importance").rounds(3, None)]
    np.testing.assert_allclose(running[0], [0.5, 0.5 + 0.1 / 0.25, 0.5])
    np.testing.assert_allclose(running[1], [0.6 - 0.4 / 0.5, 0.6, 0.6])
    np.testing.assert_allclose(running[2], [0.4, 0.4, 0.4 + 0.6 / 0.5])
    played = list(textbook.rounds(3, None))
    for this_round, action in zip(played, (1, 1, 2), strict=True):
        assert this_round.weight == 0.0
        this_round.reveal(action)
    assert [r.weight for r in played] == [4.0, 0.0, 2.0]
    assert [r.loss for r in played] == [0.6, 0.2, 1.0]
    assert [r.current for r in played] == [1, 0, 2]
    assert played[0].reveal(1, hn.Feedback.BANDIT) == 0.6 / 0.25
    assert played[0].reveal(0, hn.Feedback.BANDIT) == 0.0


def test_rejection_tells_the_loss_of_the_logged_action_alone(tmp_path):
    path = write(tmp_path / "log.csv", [[0, "b", 0.6, 0.5], [1, "a", 0.2, 0.5]])
    first, second = world(path).rounds(2, np.random.default_rng(0))
    assert first.reveal(1, hn.Feedback.BANDIT) == 0.6
    assert first.weight == 1.0
    assert second.reveal(1, hn.Feedback.BANDIT) is None
    assert (second.weight, second.loss) == (0.0, 0.2)
    assert first.reveal(1) is None  # the losses of all actions are not known
    np.testing.assert_allclose(first.losses, [0.5, 0.7])


@pytest.mark.parametrize("name", ["loss", "losses"])
def test_losses_are_hidden_until_an_action_is_revealed(log, name):
    with pytest.raises(hn.OrderError):
        getattr(next(world(log).rounds(5, np.random.default_rng(0))), name)


@pytest.mark.parametrize("policy", [[0, 1], [2, 2], [1, 0], [2, 0]])
def test_both_methods_find_what_a_policy_costs(log, policy):
    truth = COSTS[[0, 1], policy].mean()
    _, kept = replayed(world(log), policy)
    n = kept.effective
    assert 0.08 * 20_000 < n < 0.12 * 20_000  # p_min = 0.1
    assert abs(kept.mean_loss - truth) < Z * math.sqrt(truth * (1 - truth) / n)
    _, weighed = replayed(world(log, method="importance"), policy)
    assert abs(weighed.mean_loss - truth) < Z * 0.5 / math.sqrt(weighed.effective)


@pytest.mark.parametrize("baseline", [0.0, 1.0, "running"])
def test_estimated_losses_are_right_on_average(log, baseline):
    environment = world(log, method="importance", baseline=baseline)
    found = [(r.context, r.reveal(0)) for r in environment.rounds(20_000, None)]
    for x in (0, 1):
        table = np.array([losses for context, losses in found if context == x])
        error = table.std(axis=0) / math.sqrt(len(table))
        assert (np.abs(table.mean(axis=0) - COSTS[x]) < Z * error).all()


def test_a_baseline_close_to_the_losses_makes_estimates_vary_less(log):
    spread = {}
    for baseline in (0.0, "running"):
        rounds = world(log, method="importance", baseline=baseline).rounds(20_000, None)
        spread[baseline] = np.var([r.reveal(0) for r in rounds], axis=0).sum()
    assert spread["running"] < 0.75 * spread[0.0]


def test_rows_that_are_kept_look_as_if_logging_had_been_uniform(log):
    kept = [r for r in world(log).rounds(20_000, np.random.default_rng(2)) if r._weight]
    counts = np.zeros((2, 3))
    for this_round in kept:
        counts[this_round.context, this_round.current] += 1
    assert stats.chisquare(counts.ravel()).pvalue > 1e-4
    assert all(r._weight == 1.0 for r in world(log, floor=1.0).rounds(1000, _rng()))


def test_without_thinning_a_policy_would_look_better_than_it_is(log):
    policy = [2, 2]  # logged with 0.1 and 0.7: its cheaper context comes too often
    truth = COSTS[[0, 1], policy].mean()
    naive = replayed(world(log, floor=1.0), policy)[1]
    assert abs(naive.mean_loss - truth) > 2 * Z * 0.5 / math.sqrt(naive.effective)


def test_the_effective_number_of_rounds_by_hand(tmp_path):
    rows = [[0, "b", 0.5, 0.25], [0, "a", 0.5, 0.5], [0, "b", 1.0, 0.5], [0, "b", 0.0, 1.0]]
    path = write(tmp_path / "log.csv", rows)
    _, recorder = replayed(world(path, method="importance"), [1])
    assert recorder.effective == (4 + 2 + 1) ** 2 / (4**2 + 2**2 + 1**2)
    assert recorder.mean_loss == pytest.approx((4 * 0.5 + 2 * 1.0) / 7)


def test_a_learner_is_told_only_of_the_rows_it_matches(log):
    learner, recorder = replayed(world(log), [0, 0])
    assert learner.rounds == recorder.effective == recorder.weight
    assert recorder.rounds == 20_000


@pytest.mark.slow
def test_learners_learn_from_logs(log):
    bandit = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    hn.play(bandit, world(log), seed=0)
    assert [bandit.best_policy()(x) for x in (0, 1)] == [0, 1]
    full = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), loss_range=None, seed=0)
    hn.play(full, world(log, method="importance"), seed=0)
    assert [full.best_policy()(x) for x in (0, 1)] == [0, 1]


def test_full_information_does_not_go_with_rejection(log):
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    with pytest.raises(hn.ParameterError, match="method='importance'"):
        hn.play(learner, world(log), seed=0)
    hn.play(hn.baselines.UniformRandom(3, seed=0), world(log), horizon=10, seed=0)


@pytest.mark.parametrize("baseline", ["running", 0.0, 0.25, 1.0])
def test_estimates_leave_the_range_of_losses(log, baseline):
    environment = world(log, method="importance", baseline=baseline)
    low, high = environment.estimates_range
    expected = (0.0, 1.0) if baseline == "running" else (baseline, baseline)
    assert low == pytest.approx(expected[1] * (1 - 1 / 0.1))
    assert high == pytest.approx(expected[0] + (1 - expected[0]) / 0.1)
    rounds = environment.rounds(20_000, None)
    seen = [extreme(r.reveal(0)) for r in rounds for extreme in (np.min, np.max)]
    assert low <= min(seen) < max(seen) <= high
    if baseline != "running":
        assert (min(seen), max(seen)) == pytest.approx((low, high))


def test_learners_that_do_not_expect_estimates_are_refused(log):
    environment = world(log, method="importance")
    oracle = hn.oracles.AllPolicies(2, 3)
    learner = hn.ContextFTPL(oracle, seed=0)
    for wrong in (learner, hn.Restarting(learner), hn.baselines.FollowTheLeader(oracle)):
        with pytest.raises(
            hn.ParameterError, match=r"from -9 to 10\. Pass loss_range=None"
        ) as told:
            hn.play(wrong, environment, seed=0)
        assert "escale" not in str(told.value)
        assert wrong.rounds == 0
    bandit = hn.ContextSemiBanditFTPL(oracle, seed=0)
    with pytest.raises(hn.ParameterError, match=r"Use method='rejection'"):
        hn.play(bandit, environment, seed=0)
    for fits in (None, environment.estimates_range):
        hn.play(learner.clone(loss_range=fits), environment, 50, seed=0)
    certain = world(log, method="importance", propensity=1.0, check=False)
    hn.play(learner, certain, 50, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rejection", "importance"])
def test_a_trace_holds_the_estimates_that_a_recorder_makes(log, method):
    environment = world(log, method=method)
    _, recorder = replayed(environment, [0, 1], seed=3)
    trace = hn.play(Fixed([0, 1]), environment, seed=3, oracle=hn.oracles.AllPolicies(2, 3))
    rounds = list(environment.rounds(20_000, np.random.default_rng(3)))
    for this_round in rounds:
        this_round.reveal([0, 1][this_round.context])
    assert trace.losses.tolist() == [r.loss for r in rounds]
    assert trace.weights.tolist() == [r.weight for r in rounds]
    assert trace.mean_loss == pytest.approx(recorder.mean_loss)
    assert trace.effective == pytest.approx(recorder.effective)
    assert trace.effective < 10_000
    assert trace.current_losses.tolist() == trace.losses.tolist()
    assert trace.current_mean_loss == pytest.approx(np.mean([float(r.loss) for r in rounds]))
    assert f"effective {trace.effective:.0f}>" in repr(trace)
    estimates = np.array([r.losses for r in rounds])
    contexts = np.array(trace.contexts)
    best = sum(estimates[contexts == x].sum(axis=0).min() for x in (0, 1))
    assert trace.regret() == pytest.approx(recorder.mean_loss * recorder.rounds - best)
    at, regrets = trace.regret_curve(5000)
    assert regrets[-1] == pytest.approx(trace.regret())
    half = at.tolist().index(10_000)
    w, loss = trace.weights[:10_000], trace.losses[:10_000]
    past = [estimates[:10_000][contexts[:10_000] == x].sum(axis=0).min() for x in (0, 1)]
    assert regrets[half] == pytest.approx(10_000 * (w @ loss) / w.sum() - sum(past))


def test_a_log_that_tells_nothing_gives_no_estimate(tmp_path):
    path = write(tmp_path / "log.csv", [[0, "a", 1.0, 0.5]] * 3)
    environment = world(path, actions=["a", "b"])
    trace = hn.play(Fixed([1]), environment, oracle=hn.oracles.AllPolicies(1, 2))
    assert math.isnan(trace.mean_loss)
    assert math.isnan(trace.regret())
    assert np.isnan(trace.regret_curve()[1]).all()
    assert trace.effective == 0.0
    assert trace.current_mean_loss == 1.0


def test_rewards_are_losses_upside_down(tmp_path):
    path = write(tmp_path / "log.csv", [[0, "a", 3.0, 0.5], [0, "b", -1.0, 0.5]])
    earned = world(path, loss=None, reward="cost", value_range=(-1.0, 4.0))
    assert [r.reveal(a, hn.Feedback.BANDIT) for a, r in enumerate(earned.rounds(2, _rng()))] == [
        0.2, 1.0
    ]  # fmt: skip
    paid = world(path, value_range=(-1.0, 4.0))
    assert [r.reveal(a, hn.Feedback.BANDIT) for a, r in enumerate(paid.rounds(2, _rng()))] == [
        0.8, 0.0
    ]  # fmt: skip


def test_one_probability_may_stand_for_all(tmp_path):
    path = write(tmp_path / "log.csv", [[0, "a", 1.0, 9], [0, "b", 0.0, 9]])
    environment = world(path, propensity=0.5, method="importance", baseline=0.0)
    assert next(environment.rounds(2, None)).reveal(0).tolist() == [2.0, 0.0]
    assert environment.smallest_propensity == 0.5


def test_how_rows_are_cut_into_batches_makes_no_difference(log, monkeypatch):
    found = []
    for batch in (4096, 37):
        monkeypatch.setattr(_files, "BATCH", batch)
        rounds = world(log).rounds(1000, np.random.default_rng(3))
        found.append([(r.reveal(0), r.losses.tobytes(), r._weight) for r in rounds])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("rows", "options", "told"),
    [
        ([], {"propensity": None}, "needs propensity=. Pass the column"),
        ([], {"propensity": 0.0}, "'propensity'"),
        ([], {"propensity": 1.5}, "'propensity'"),
        ([], {"reward": "cost"}, "either loss= or reward="),
        ([], {"loss": None}, "either loss= or reward="),
        ([], {"method": "guessing"}, "'method'"),
        ([], {"baseline": "mean"}, "'baseline'"),
        ([], {"floor": 0.0}, "'floor'"),
        ([], {"action": "dit"}, "Did you mean 'did'?"),
        ([], {"propensity": "q"}, "no column 'q'"),
        ([[0, "a", 1, 0.0]], {}, "Row 2 of .*'p': 0 is not a probability"),
        ([[0, "a", 1, 1.1]], {}, r"Row 2 of .*'p': 1.1 is not a probability"),
        ([[0, "a", 1, "x"]], {}, "Row 2 of .*'p': 'x' is not a finite number"),
        ([[0, "a", 2, 0.5]], {}, r"Row 2 of .*'cost': 2 is outside value_range=\(0.0, 1.0\)"),
        ([[0, "a", "", 0.5]], {}, "Row 2 of .*'cost': '' is missing"),
        ([[0, "d", 1, 0.5]], {"actions": ["a", "b"]}, "Row 2 of .*'did': 'd' is not one of"),
        ([["u", "a", 1, 0.5]], {}, "Row 2 of .*'x': 'u'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, rows, options, told):
    path = write(tmp_path / "log.csv", [[0, "a", 1, 0.5], *rows])
    with pytest.raises(hn.HannanError, match=told) as caught:
        list(world(path, **options).rounds(1 + len(rows), _rng()))
    assert "\n" not in str(caught.value)


def test_a_clone_reads_the_same_log(log):
    twin = world(log, method="importance").clone()
    assert twin.actions == ["a", "b", "c"]
    assert next(twin.rounds(1, None)).current == next(world(log).rounds(1, _rng())).current


def _rng():
    return np.random.default_rng(0)


def test_rows_are_named_as_in_the_file_where_others_are_dropped(tmp_path):
    rows = [[0, "a", 0.1, 0.5], [0, "b", "", 0.5], [0, "a", 0.2, ""], [0, "b", 0.3, 5]]
    bad = write(tmp_path / "bad.csv", rows)
    with pytest.raises(hn.LossError, match=r"Row 4 of .*'p': 5 is not a probability.*by 100"):
        world(bad, missing="drop", method="importance")
    log = world(bad, missing="drop", method="importance", check=False)
    with pytest.raises(hn.LossError, match=r"Row 4 of .*'p': 5 is not a probability"):
        list(log.rounds(2, np.random.default_rng(0)))
    with pytest.raises(hn.LossError, match=r"Row 4 of .*'p': 5 is not a probability"):
        _ = log.smallest_propensity
    options = {"propensity": 0.5, "value_range": (0.0, 0.2), "missing": "drop"}
    with pytest.raises(hn.LossError, match=r"Row 4 of .*'cost': 0.3 is outside"):
        world(bad, **options)
    narrow = world(bad, **options, check=False)
    with pytest.raises(hn.LossError, match=r"Row 4 of .*'cost': 0.3 is outside"):
        list(narrow.rounds(3, np.random.default_rng(0)))


OFFERS = ["none", "NA", "null", "-", "nan"]


def offers(path, n=3000, seed=0, reward=lambda action, rng: rng.random()):
    """A log of offers whose names look like missing values, with right propensities."""
    rng = np.random.default_rng(seed)
    q = np.array([0.35, 0.25, 0.2, 0.15, 0.05])
    rows = [
        [round(float(rng.normal()), 3), OFFERS[k], reward(OFFERS[k], rng), q[k]]
        for k in rng.choice(len(q), n, p=q).tolist()
    ]
    return write(path, rows)


def test_an_action_may_have_a_name_that_says_missing_elsewhere(tmp_path):
    log = world(offers(tmp_path / "offers.csv"), missing="drop")
    assert log.actions == sorted(OFFERS)
    assert (log.horizon, log.left_out.rows, log.left_out.of) == (3000, 0, 3000)
    assert str(log.left_out) == "0 of 3,000 rows left out"


def test_rows_left_out_are_counted_by_reason_and_by_action(tmp_path):
    rows = [["1", "none", "", 0.5], ["2", "none", "NA", 0.5], ["3", "5%", "-", 0.5]]
    rows += [["4", " ", 0.3, 0.5], ["5", "5%", 0.3, ""], ["6", "", "", ""], ["7", "5%", 1, 0.5]]
    log = world(write(tmp_path / "log.csv", rows), missing="drop")
    left_out = log.left_out
    assert (left_out.rows, left_out.of, left_out.share, log.horizon) == (6, 7, 6 / 7, 1)
    assert left_out.reasons == {
        "did": {"": 2}, "cost": {"": 2, "-": 1, "NA": 1}, "p": {"": 2},
    }  # fmt: skip
    assert left_out.counts == {"did": {"": 2, "5%": 2, "none": 2}}
    assert str(left_out) == (
        "6 of 7 rows left out because of did: (empty) 2; because of cost: (empty) 2, - 1, NA 1; "
        "because of p: (empty) 2 (by did: (empty) 2, 5% 2, none 2)"
    )


def test_wrong_propensities_are_refused_when_a_log_is_opened(tmp_path):
    path = offers(tmp_path / "offers.csv")
    told = r"'none' was logged in 3\d % of the rows, but its propensities say 20 %: the mean of 1"
    with pytest.raises(hn.core.PropensityError, match=told):
        world(path, propensity=0.2)
    assert world(path, propensity=0.2, check=False).horizon == 3000


def test_rows_that_were_dropped_because_of_their_action_are_noticed(tmp_path):
    """A log that lacks the rewards of one action loses its rows: that is selection."""
    path = offers(tmp_path / "log.csv", reward=lambda a, rng: "" if a == "none" else rng.random())
    with pytest.raises(hn.core.PropensityError, match=r"is 1\.\d+ and must be 1"):
        world(path, missing="drop")
    kept = world(path, missing="drop", check=False).left_out
    assert kept.counts == {"did": {"none": kept.rows}}
    assert kept.share > 0.3


def test_propensities_wrong_in_a_part_of_the_rows_are_refused_with_its_column(tmp_path):
    """Overall each action was taken as often as its propensities say, but not for each x."""
    rng = np.random.default_rng(0)
    rows = []
    for x in rng.integers(0, 2, 4000).tolist():
        rows.append([x, "ab"[int(rng.random() < (0.2, 0.8)[x])], 0, 0.5])
    path = write(tmp_path / "log.csv", rows)
    for context in ("x", ["x"], {"x": "number"}, {"x": "category"}):
        with pytest.raises(hn.core.PropensityError, match=r"in a part of [\d,]+ rows.* by x, but"):
            world(path, context=context)
    world(path, context=None)


def test_propensities_are_estimated_from_the_context(tmp_path):
    rows = simulate(6000, seed=3)
    path = write(tmp_path / "log.csv", rows)
    log = world(path, propensity="estimate", context={"x": "category"}, method="importance")
    right = np.array([row[3] for row in rows])
    assert np.abs(log.propensities - right).mean() < 0.02
    assert log.smallest_propensity == log.propensities.min()
    weights = []
    for this_round in log.rounds(6000, None):
        this_round.reveal(this_round.current)
        weights.append(this_round.weight)
    np.testing.assert_allclose(weights, 1.0 / log.propensities)
    shares = world(path, propensity="estimate", context=None).propensities
    counts = {a: sum(row[1] == a for row in rows) for a in "abc"}
    np.testing.assert_allclose(shares, [counts[row[1]] / 6000 for row in rows])


def test_a_column_called_estimate_is_a_column(tmp_path):
    rows = [[0, "a", 1, 0.25], [0, "b", 1, 0.75]]
    path = write(tmp_path / "log.csv", rows, header=("x", "did", "cost", "estimate"))
    assert world(path, propensity="estimate").propensities.tolist() == [0.25, 0.75]
