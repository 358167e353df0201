import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.checks import check_learner
from hannan.off_policy import Recorder, evaluate
from tests import naive_off_policy as naive
from tests.statistics import same_distribution

D, K = 3, 3
TABLE = np.random.default_rng(5).integers(K, size=(12, D))
MEANS = np.array([[0.2, 0.6, 0.8], [0.7, 0.3, 0.5], [0.5, 0.9, 0.1]])
TARGET = MEANS.argmin(axis=1)
FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def exact(**options):
    return hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, K), **{"seed": 0, **options})


def sampled(**options):
    oracle = hn.oracles.FinitePolicies(TABLE, n_actions=K)
    return hn.ContextSemiBanditFTPL(oracle, **{"seed": 0, **options})


def linear(**options):
    oracle = hn.oracles.LinearPolicies(n_actions=K)
    return hn.ContextSemiBanditFTPL(oracle, contexts=hn.Pool(FEATURES), **{"seed": 0, **options})


def full(**options):
    oracle = hn.oracles.FinitePolicies(TABLE, n_actions=K)
    return hn.ContextFTPL(oracle, **{"seed": 0, **options})


def world(n, seed=0, features=False):
    """Contexts and losses, drawn beforehand."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(D, size=n)
    losses = (rng.random((n, K)) < MEANS[kinds]).astype(float)
    return (list(FEATURES[kinds]) if features else kinds.tolist()), kinds, losses


def play(learner, contexts, losses, decide=True):
    """The actions of a learner on given rounds."""
    actions = []
    for x, row in zip(contexts, losses, strict=True):
        if decide:
            decision = learner.decide(x)
            action, answer = decision.action, {"decision": decision}
        else:
            action, answer = learner.act(x), {}
        full = learner.feedback is hn.Feedback.FULL
        learner.update(row if full else float(row[action]), **answer)
        actions.append(action)
    return actions


# The play is that of the learner ------------------------------------------------------------


@pytest.mark.parametrize("make", [exact, sampled, full])
@pytest.mark.parametrize("decide", [True, False])
def test_recording_does_not_change_the_play(make, decide):
    contexts, _, losses = world(60)
    options = {"epsilon": 0.1} if make is full else {}
    learner = make(**options)
    recorder = Recorder(make(**options), draws=50)
    assert play(recorder, contexts, losses, decide) == play(learner, contexts, losses, decide)
    log = recorder.log()
    assert log.contexts == contexts
    assert log.losses.tolist() == losses[np.arange(60), log.actions].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("make", [exact, sampled])
def test_a_recorder_keeps_the_contract_of_learners(make):
    world = hn.environments.PlantedPolicy(make().oracle)
    check_learner(Recorder(make(), draws=10), world, 60)


def test_hannan_play_takes_a_recorder():
    learner = exact()
    recorder = Recorder(learner)
    trace = hn.play(recorder, hn.environments.PlantedPolicy(hn.oracles.AllPolicies(D, K)), 50, 1)
    log = recorder.log()
    assert log.actions.tolist() == trace.actions.tolist()
    assert log.losses.tolist() == trace.losses.tolist()
    assert recorder.certificate().loss == pytest.approx(log.losses.sum())
    assert recorder.oracle_calls == learner.oracle_calls == trace.oracle_calls


def test_late_and_forgotten_decisions():
    recorder = Recorder(exact())
    first, second, third = recorder.decide_many([0, 1, 2])
    recorder.update(0.5, decision=third)
    recorder.update(0.25, decision=first.id)
    assert recorder.open_decisions == [second.id]
    assert recorder.log().contexts == [0, 2]
    assert recorder.log().losses.tolist() == [0.25, 0.5]
    recorder.forget(second)
    assert len(recorder.log()) == recorder.rounds == 2
    with pytest.raises(hn.DecisionError):
        recorder.update(0.5, decision=third)
    with pytest.raises(hn.OrderError):
        recorder.update(0.5)
    with pytest.raises(hn.LossError):
        recorder.update(7.0, decision=recorder.decide(0))
    assert len(recorder.log()) == 2


def test_recording_may_begin_in_the_middle_of_a_game():
    learner = exact()
    before = learner.decide(0)
    recorder = Recorder(learner)
    after = recorder.decide(1)
    learner.update(1.0, decision=before)
    assert recorder.open_decisions == [after.id]
    recorder.update(0.5, decision=after)
    assert recorder.log().contexts == [1]
    assert recorder.rounds == 2
    assert recorder.oracle_calls == learner.oracle_calls
    recorder.reset()
    assert (len(recorder.log()), learner.rounds) == (0, 0)


def test_the_log_is_in_the_order_of_decisions():
    recorder = Recorder(exact())
    recorder.act(0)
    decision = recorder.decide(1)
    recorder.update(0.5, decision=decision)
    recorder.update(0.25)
    assert recorder.log().contexts == [0, 1]
    assert recorder.log().losses.tolist() == [0.25, 0.5]


def test_a_round_that_was_dropped_is_not_logged():
    recorder, learner = Recorder(exact(epsilon=0.1)), exact(epsilon=0.1)
    for one in (recorder, learner):
        one.act(0)
    assert recorder.act(1) == learner.act(1)
    recorder.update(0.5)
    assert recorder.log().contexts == [1]


def test_decisions_are_those_of_the_learner():
    recorder, learner = Recorder(sampled(epsilon=0.1)), sampled(epsilon=0.1)
    for x in (0, 1, 2):
        mine, plain = recorder.decide(x), learner.decide(x)
        assert (mine.id, mine.action) == (plain.id, plain.action)
        assert mine.weights.size == plain.weights.size == 0  # drawn ones are not shown yet
        recorder.update(0.5, decision=mine)
        learner.update(0.5, decision=plain)
        assert mine.weights.tolist() == plain.weights.tolist()
        assert mine.propensity == plain.propensity
        assert mine.propensity_error == plain.propensity_error


def test_decisions_that_nobody_has_seen_do_not_stay_open():
    recorder = Recorder(exact())
    with pytest.raises(hn.ContextError):
        recorder.decide_many([0, 1, 99])
    choose = recorder.learner.choose
    recorder.learner.choose = lambda x, some, late: 1 / 0 if x == 2 else choose(x, some, late)
    with pytest.raises(ZeroDivisionError):
        recorder.decide_many([0, 1, 2])
    assert recorder.open_decisions == recorder.learner.open_decisions == []


# The distribution that is logged
# --------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.2])
@pytest.mark.parametrize("make", [exact, sampled])
@pytest.mark.parametrize("rounds", [0, 4])
def test_propensities_are_those_of_the_next_action(make, epsilon, rounds):
    learner = make(epsilon=epsilon)
    contexts, _, losses = world(rounds, seed=3)
    play(learner, contexts, losses, decide=False)
    found = learner.propensities(0, draws=20_000)
    played = np.bincount(learner.would_play(0, copies=20_000, seed=1), minlength=K)
    expected = found.probabilities * 20_000
    if found.draws:
        copies = np.repeat(range(K), np.rint(expected).astype(int))
        assert same_distribution(copies, np.repeat(range(K), played)) > 1e-3
    else:
        some = expected > 0
        assert not played[~some].any()
        if some.sum() > 1:
            assert stats.chisquare(played[some], expected[some]).pvalue > 1e-3


def test_asking_for_propensities_changes_nothing():
    for epsilon in ("adaptive", "anytime"):
        asked, plain = sampled(epsilon=epsilon), sampled(epsilon=epsilon)
        contexts, _, losses = world(30)
        for x, row in zip(contexts, losses, strict=True):
            asked.propensities(x, draws=5)
            assert play(asked, [x], [row]) == play(plain, [x], [row])
        assert asked.oracle_calls == plain.oracle_calls


@pytest.mark.stat
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (exact, {"epsilon": 0.1}),
        (exact, {"epsilon": "anytime"}),
        (sampled, {"epsilon": 0.1}),
        (full, {"epsilon": 0.1}),
        (exact, {"epsilon": 0.1, "predictor": hn.predictors.Mean()}),
        (sampled, {"epsilon": "adaptive"}),
    ],
)
def test_actions_follow_the_logged_law(make, options):
    contexts, _, losses = world(500, seed=1)
    recorder = Recorder(make(**options), draws=300)
    play(recorder, contexts, losses)
    entries = recorder._with_feedback  # the distribution before the action counts as a draw of it
    q = np.array([entry.known.probabilities for entry in entries])
    hits = np.eye(K)[[entry.action for entry in entries]]
    spread = (q * (1.0 - q)).sum(axis=0)
    if entries[-1].known.draws:
        spread = spread + (q * (1.0 - q)).sum(axis=0) / 300
    z = (hits - q).sum(axis=0) / np.sqrt(spread)
    assert abs(z).max() < stats.norm.isf(1e-3 / (2 * K))


def test_an_exact_law_is_logged_as_it_is_and_a_sampled_one_with_the_action():
    contexts, _, losses = world(40)
    recorder = Recorder(exact())
    learner = exact()
    for x, row in zip(contexts, losses, strict=True):
        q = learner.propensities(x).probabilities
        (action,) = play(recorder, [x], [row])
        play(learner, [x], [row])
        last = recorder.log()[-1]
        assert last.distribution.tolist() == q.tolist()
        assert last.propensity == q[action]
    assert recorder.log().draws is None

    recorder, learner = Recorder(sampled(epsilon=0.1), draws=9), sampled(epsilon=0.1)
    for x, row in zip(contexts, losses, strict=True):
        counts = np.rint(learner.propensities(x, draws=9).probabilities * 9)
        (action,) = play(recorder, [x], [row])
        play(learner, [x], [row])
        counts[action] += 1
        assert recorder.log()[-1].distribution == pytest.approx(counts / 10)
    assert recorder.log().draws == 10


@pytest.mark.parametrize("q", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("draws", [5, 40])
def test_counting_the_action_mends_the_bias_of_inverse_shares(q, draws):
    expected = (1 - (1 - q) ** (draws + 1)) / q
    assert naive.counted_inverse(q, draws) == pytest.approx(expected)
    # The plain share, where it is not zero, is too large an inverse by far more.
    hits = np.arange(1, draws + 1)
    chance = stats.binom.pmf(hits, draws, q)
    plain = (chance * draws / hits).sum() / chance.sum()
    if q * draws > 3:
        assert plain - 1 / q > 2 * abs(expected - 1 / q)


@pytest.mark.slow
@pytest.mark.stat
def test_inverse_shares_are_nearly_unbiased_in_play_and_weights_too():
    # Many rounds from one state: 1/q by counting, by resampling, and by plain shares.
    learner = sampled(epsilon=0.05, max_resamples=200, resampling="shared")
    contexts, _, losses = world(30)
    play(learner, contexts, losses)
    recorder = Recorder(learner, draws=20)
    truth = learner.propensities(0, draws=200_000).probabilities
    for _ in range(3000):
        recorder.decide(0)
    entries = list(recorder._ledger.waiting.values())
    actions = np.array([entry.action for entry in entries])
    counted = np.array([1.0 / entry.known.given(entry.action)[entry.action] for entry in entries])
    weights = np.array([entry.record.weights[0] for entry in entries])
    shares = np.array([entry.known.probabilities[entry.action] for entry in entries])
    for a in range(K):
        mine = actions == a
        assert mine.sum() > 300
        for found, cap in ((counted, 21), (weights, 200)):
            expected = (1 - (1 - truth[a]) ** cap) / truth[a]
            error = stats.sem(found[mine])
            assert abs(found[mine].mean() - expected) < 4 * error  # 6e-5 each
        assert counted[mine].std() < 0.7 * weights[mine].std()
        some = mine & (shares > 0)
        plain = (1.0 / shares[some]).mean()
        assert plain - 1 / truth[a] > 4 * stats.sem(1.0 / shares[some])


def test_logged_weights_do_not_depend_on_the_loss():
    logs = []
    for loss in (0.0, 1.0):
        recorder = Recorder(sampled(epsilon=0.1))
        recorder.update(loss, decision=recorder.decide(0))
        logs.append(recorder.log())
    assert logs[0].weights.tolist() == logs[1].weights.tolist()
    assert logs[0].weights[0] >= 1.0


def test_weights_are_logged_by_decide_only():
    contexts, _, losses = world(20)
    by_decide, by_act = Recorder(sampled()), Recorder(sampled())
    play(by_decide, contexts, losses)
    play(by_act, contexts, losses, decide=False)
    assert by_decide.log().weights.shape == (20,)
    assert by_act.log().weights is None


# Round trips: what the log says of a policy, and what it really costs ------------------------


def trips(make, seeds, estimators, n=250, features=False, **options):
    """In how many games the intervals hold a policy's mean loss in these rounds, and the errors."""
    hits = dict.fromkeys(estimators, 0)
    errors = {estimator: [] for estimator in estimators}
    for seed in range(seeds):
        contexts, kinds, losses = world(n, 100 + seed, features)
        recorder = Recorder(make(epsilon=0.02, seed=seed), draws=200)
        play(recorder, contexts, losses)
        log, target = recorder.log(), TARGET[kinds]
        truth = losses[np.arange(n), target].mean()
        for estimator in estimators:
            found = evaluate(log, target, estimator, level=0.9, **options)
            hits[estimator] += found.interval[0] <= truth <= found.interval[1]
            errors[estimator].append(found.value - truth)
    return hits, errors


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("make", [exact, sampled, linear])
def test_our_log_agrees_with_simulation(make):
    seeds = 40
    hits, errors = trips(make, seeds, ("ips", "snips", "dr"), features=make is linear)
    for estimator in hits:
        # The interval also allows for other rounds than these, so it may cover them more often.
        test = stats.binomtest(hits[estimator], seeds, 0.87, alternative="less")
        assert test.pvalue > 1e-3
        if estimator != "snips":
            found = errors[estimator]
            assert abs(np.mean(found)) < 3.5 * stats.sem(found)  # 5e-4 each


@pytest.mark.slow
@pytest.mark.stat
def test_bernstein_intervals_hold_for_a_learner_that_learns():
    options = {"interval": "bernstein", "loss_range": (0.0, 1.0), "max_ratio": 201.0}
    hits, _ = trips(exact, 20, ("ips", "dr"), **options)
    for found in hits.values():
        assert stats.binomtest(found, 20, 0.9, alternative="less").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.stat
def test_weights_are_low_by_what_their_cap_cuts_off():
    gaps, cuts, masses = [], [], []
    for seed in range(60):
        contexts, kinds, losses = world(150, 300 + seed)
        recorder = Recorder(exact(epsilon=0.1, max_resamples=2, seed=seed))
        play(recorder, contexts, losses)
        log, target = recorder.log(), TARGET[kinds]
        paid = losses[np.arange(150), target]
        missing = (1.0 - log.distribution[np.arange(150), target]) ** 2
        found = evaluate(log, target, "ips", inverse="weights")
        gaps.append(found.value - paid.mean())
        cuts.append((missing * paid).mean())
        masses.append(1.0 - found.mean_weight - missing.mean())
        assert evaluate(log, target, "ips").value >= found.value
    gaps, cuts = np.array(gaps), np.array(cuts)
    assert cuts.mean() > 0.05
    assert abs((gaps + cuts).mean()) < 4 * stats.sem(gaps + cuts)
    assert gaps.mean() < -4 * stats.sem(gaps)
    assert abs(np.mean(masses)) < 4 * stats.sem(masses)


# What cannot be recorded -------------------------------------------------------------------


def test_what_cannot_be_recorded_is_refused():
    with pytest.raises(hn.ParameterError, match="'learner'"):
        Recorder("learner")
    with pytest.raises(hn.ParameterError, match="'draws'"):
        Recorder(exact(), draws=1)
    with pytest.raises(hn.ParameterError, match="noise='fresh'"):
        Recorder(hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), noise="once"))
    with pytest.raises(hn.ParameterError, match="pass n_actions= to FunctionOracle"):
        Recorder(hn.ContextFTPL(hn.oracles.FunctionOracle(lambda *_: None), contexts=[0]))
    oracle = hn.oracles.AllPolicies(1, K)
    known = Recorder(hn.PlayoutFTPL(oracle, horizon=9, seed=0), draws=20)
    with pytest.raises(hn.ParameterError, match="does not support delayed feedback"):
        known.decide(0)


def test_baselines_without_a_formula_are_recorded_by_copies():
    contexts, _, losses = world(3)
    oracle = hn.oracles.FinitePolicies(TABLE, n_actions=K)
    recorder = Recorder(hn.baselines.KalaiVempala(oracle, seed=0), draws=400)
    play(recorder, contexts, losses, decide=False)
    assert recorder.log().draws == 401


def test_baselines_with_a_formula_are_recorded_by_it():
    contexts, _, losses = world(5)
    greedy = Recorder(hn.baselines.EpsilonGreedy(K, epsilon=0.3, seed=0))
    play(greedy, contexts, losses, decide=False)
    assert greedy.log().draws is None
    assert greedy.log().distribution.min(axis=1) == pytest.approx(np.full(5, 0.1))
    exp4 = Recorder(hn.baselines.Exp4(TABLE, seed=0))
    play(exp4, contexts, losses)
    assert 1.0 / exp4.log().weights == pytest.approx(exp4.log().propensities)
    uniform = Recorder(hn.baselines.UniformRandom(4, seed=0))
    play(uniform, [None] * 5, np.zeros((5, 4)))
    assert (uniform.log().propensities == 0.25).all()


def test_changing_action_sets_are_logged():
    recorder = Recorder(exact(epsilon=0.1))
    decision = recorder.decide(0, available=[0, 2])
    recorder.update(0.5, decision=decision)
    recorder.act(1)
    recorder.update(0.5)
    log = recorder.log()
    assert [row.tolist() for row in log.available] == [[0, 2], [0, 1, 2]]
    assert log.distribution[0, 1] == 0.0


@pytest.mark.parametrize("make", [exact, sampled])
def test_a_recorder_goes_on_from_a_file(make, tmp_path):
    contexts, _, losses = world(40)
    recorder = Recorder(make(), draws=20)
    play(recorder, contexts[:20], losses[:20])
    waiting = recorder.decide(0)
    recorder.save(tmp_path / "recorder.hannan")
    loaded = hn.load(tmp_path / "recorder.hannan")
    for one in (recorder, loaded):
        one.update(0.5, decision=waiting)
        play(one, contexts[20:], losses[20:])
    assert loaded.log() == recorder.log()
    assert len(loaded.log()) == 41
