"""Learners whose action sets change: what is played, what is learned, what still holds."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.availability import substitution
from hannan.core.oracle import WITHOUT_NOISE
from tests import naive_available as naive

TABLE = np.random.default_rng(0).integers(0, 4, size=(12, 3))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=4)
ALL = hn.oracles.AllPolicies(3, 4)
ROUNDS = naive.random_rounds(3, 4, 150)


def unit_noise(learner):
    """The noise of the next draw, at scale 1."""
    return np.asarray(learner.leader.noise.unit(learner.leader.number))


def fakes(rng):
    return [(x, rng.laplace(scale=3.0, size=4)) for x in range(3)]


def restricted_play(learner, rounds):
    """Actions, the losses of what was not available being hidden."""
    full = learner.feedback is hn.Feedback.FULL
    actions = []
    for context, losses, available in rounds:
        action = learner.act(context, available=available)
        assert action in available
        hidden = np.where(np.isin(np.arange(len(losses)), available), losses, np.nan)
        learner.update(hidden if full else float(losses[action]))
        actions.append(action)
    return actions


SUBSTITUTING = {
    "ContextFTPL": (hn.ContextFTPL(FINITE, seed=0), TABLE),
    "ContextFTPL, once": (hn.ContextFTPL(FINITE, epsilon=0.4, noise="once", seed=0), TABLE),
    "ContextFTPL, anytime": (hn.ContextFTPL(FINITE, epsilon="anytime", seed=0), TABLE),
    "FTPL": (hn.FTPL(FINITE, fakes, seed=0), TABLE),
    "FTPL, all": (
        hn.FTPL(hn.oracles.AllPolicies(1, 3), lambda rng: [(0, rng.laplace(size=3))], seed=0),
        np.arange(3)[:, None],
    ),
    "FollowTheLeader": (hn.baselines.FollowTheLeader(FINITE), TABLE),
    "KalaiVempala": (hn.baselines.KalaiVempala(FINITE, seed=0), TABLE),
    "StronglyAdaptive": (hn.StronglyAdaptive(hn.ContextFTPL(FINITE, seed=0), seed=0), TABLE),
    "Hedge": (hn.baselines.Hedge(FINITE, seed=0), None),
    "FixedShare": (hn.baselines.FixedShare(FINITE, seed=0), None),
    "AdaNormalHedge": (hn.baselines.AdaNormalHedge(FINITE, seed=0), None),
    "OptimisticHedge": (hn.baselines.OptimisticHedge(FINITE, seed=0), None),
    "Exp4": (hn.baselines.Exp4(FINITE, seed=0), None),
}


@pytest.mark.parametrize("name", SUBSTITUTING)
def test_the_game_is_the_plain_one_with_other_losses(name):
    learner, table = SUBSTITUTING[name]
    K, d = (3, 1) if name == "FTPL, all" else (4, 3)
    rounds = naive.random_rounds(d, K, 150)
    full = learner.feedback is hn.Feedback.FULL
    plain, restricted = learner.clone(), learner.clone()
    expected = naive.substituted_play(plain, rounds, full, table)
    assert restricted_play(restricted, rounds) == expected
    assert restricted.regret_bound() == plain.regret_bound()
    if hasattr(plain, "certificate"):
        mine, theirs = restricted.certificate(), plain.certificate()
        assert (mine.measured, mine.a_priori) == (theirs.measured, theirs.a_priori)
        assert mine.realised_regret == theirs.realised_regret
        assert "is charged the loss of its substitute" in mine.notes[-1]


def test_a_discounted_learner_substitutes_by_its_discounted_totals():
    base = hn.ContextFTPL(FINITE, seed=0)
    plain, restricted = hn.Discounted(base, 0.8), hn.Discounted(base, 0.8)
    expected = naive.substituted_play(plain, ROUNDS, True, TABLE, discount=0.8)
    assert restricted_play(restricted, ROUNDS) == expected
    assert restricted.certificate().measured == plain.certificate().measured


def test_restarting_before_any_restart_is_the_learner_itself():
    for base in (hn.ContextFTPL(FINITE, seed=0), hn.ContextFTPL(ALL, seed=0)):
        wrapped = hn.Restarting(base, max_restarts=0)
        assert restricted_play(wrapped, ROUNDS) == restricted_play(base.clone(), ROUNDS)


# Score order -----------------------------------------------------------------------------


def test_of_those_available_the_best_perturbed_score_is_played():
    learner = hn.ContextFTPL(ALL, seed=3)
    totals, began = np.zeros((3, 4)), False
    seen = [[[] for _ in range(4)] for _ in range(3)]
    for context, losses, available in ROUNDS:
        noise = 0.0
        if learner.step.scale:
            noise = learner.step.scale * unit_noise(learner)[context]
        scores = totals[context] + noise
        action = learner.act(context, available=available)
        assert action == available[np.argmin(scores[available])]
        learner.update(losses)
        substitute, _ = naive.mean_rule(seen[context], available)
        if not all(seen[context][b] for b in available):
            substitute = available[np.argmin(totals[context][available])]
        own = naive.own_means(seen[context])
        charged = [
            losses[b] if b in available else losses[substitute] if own[b] is None else own[b]
            for b in range(4)
        ]
        totals[context] += charged
        began |= len(available) < 4
        for b in available:
            seen[context][b] += [losses[b]] if began else []
        assert np.allclose(learner.leader.total.totals, totals, atol=1e-12)
    assert learner.step.D > 0.0


def test_instability_is_measured_on_what_is_available():
    learner, rng = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), np.random.default_rng(0)
    D = 0.0
    for _ in range(100):
        available = np.sort(rng.permutation(3)[:2])
        losses, scale = rng.random(3), learner.step.scale
        noise = scale * unit_noise(learner)[0] if scale else 0.0
        action = learner.act(available=available)
        learner.update(losses)
        after = available[np.argmin((learner.leader.total.totals[0] + noise)[available])]
        D += max(0.0, losses[action] - losses[after])
        assert learner.step.D == pytest.approx(D, abs=1e-9)  # noqa: SIM300


def test_a_class_with_one_set_for_each_context_is_a_smaller_class():
    """There the theorem stands: play is that of the policies that respect the sets."""
    sets = [np.array([0, 2]), np.array([1, 2, 3]), np.array([0, 1])]
    learner = hn.ContextFTPL(ALL, epsilon=0.5, seed=1)
    plain = hn.ContextFTPL(ALL, epsilon=0.5, seed=1, loss_range=None)
    rng = np.random.default_rng(2)
    for t in range(200):
        x, losses = int(rng.integers(3)), rng.random(4)
        if t < 3:  # those that are never available are made expensive for good
            wall = np.full(4, 1e9)
            wall[sets[t]] = 0.0
            plain.leader.total.add(t, wall)
        assert learner.act(x, available=sets[x]) == plain.act(x) or t < 3
        learner.update(losses)
        plain.update(losses)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0),
        hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), seed=0),
        hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), predictor=hn.predictors.Mean(), seed=0),
        hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(1, 3),
            predictor=hn.predictors.Mean(),
            seed=0,
        ),
        hn.TsallisINF(hn.oracles.AllPolicies(1, 3), seed=0),
        hn.TsallisINF(hn.oracles.AllPolicies(1, 3), predictor=hn.predictors.Mean(), seed=0),
        hn.ContextFTPL(hn.oracles.FinitePolicies([[0], [1], [2]]), seed=0),
        hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 3)),
        hn.Restarting(hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), seed=0)),
        hn.Discounted(hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), 0.999),
        hn.StronglyAdaptive(hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), seed=0),
        hn.baselines.EpsilonGreedy(3, seed=0),
        hn.baselines.LinUCB(3, alpha=1.0),
        hn.baselines.VowpalWabbit(3, seed=0),
    ],
    ids=repr,
)
def test_the_best_action_wins_however_rarely_it_is_available(learner):
    """It neither gains nor loses by being unavailable: mean losses are 0.5, 0.7 and 0.2."""
    rng, means = np.random.default_rng(0), np.array([0.5, 0.7, 0.2])
    learner = learner.clone()
    horizon = 600 if isinstance(learner, hn.StronglyAdaptive) else 3000
    rare, common = [], []
    for t in range(horizon):
        available = [0, 1, 2] if rng.random() < 0.1 else [0, 1]
        losses = np.clip(means + rng.uniform(-0.2, 0.2, 3), 0.0, 1.0)
        action = learner.act(None, available=available)
        learner.update(losses if learner.feedback is hn.Feedback.FULL else float(losses[action]))
        if t >= horizon // 2:
            (rare if 2 in available else common).append(action)
    assert np.mean(np.array(rare) == 2) > 0.6
    assert np.mean(np.array(common) == 0) > 0.85


@pytest.mark.parametrize(
    ("learner", "context"),
    [
        (hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), 0),
        (hn.ContextFTPL(hn.oracles.FinitePolicies([[0], [1], [2]]), seed=0), 0),
        (hn.ContextFTPL(hn.oracles.LinearPolicies(3), seed=0), np.array([1.0, 0.3])),
        (hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), seed=0), 0),
        (hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies([[0], [1], [2]]), seed=0), 0),
        (hn.ContextSemiBanditFTPL(hn.oracles.LinearPolicies(3), seed=0), np.array([1.0, 0.3])),
        (hn.Discounted(hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), 0.99), 0),
        (hn.StronglyAdaptive(hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0), seed=0), 0),
        (hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 3)), 0),
        (hn.baselines.Hedge([[0], [1], [2]], seed=0), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_actions_that_meet_only_each_other_are_compared_with_each_other(learner, context):
    """0 is available with 1, and 1 with 2; so 2, the worst, must not look good beside 1."""
    learner, rng, means = learner.clone(), np.random.default_rng(1), np.array([0.1, 0.4, 0.8])
    horizon = 600 if isinstance(learner, hn.StronglyAdaptive | hn.Discounted) else 2000
    worst = []
    for t in range(horizon):
        available = [0, 1] if rng.random() < 0.9 else [1, 2]
        action = learner.act(context, available=available)
        losses = (rng.random(3) < means).astype(float)
        learner.update(losses if learner.feedback is hn.Feedback.FULL else float(losses[action]))
        if available == [1, 2] and t > horizon // 2:
            worst.append(action == 2)
    assert np.mean(worst) < 0.2


def test_an_expensive_action_is_not_favoured_for_being_unavailable():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0)
    rng = np.random.default_rng(1)
    played = 0
    for t in range(2000):
        available = [0, 1, 2] if t % 20 == 0 else [0, 1]
        action = learner.act(available=available)
        learner.update(np.array([0.4, 0.6, 0.9]) + rng.uniform(-0.1, 0.1, 3))
        played += action == 2
    assert played < 20


ROWS = np.random.default_rng(5).normal(size=(60, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "scores"),
    [
        (Ridge(), None),
        (LogisticRegression(), lambda model, row: -model.predict_proba(row)[0]),
        (LinearSVC(), lambda model, row: -model.decision_function(row)[0]),
        (DecisionTreeClassifier(max_depth=2), lambda model, row: -model.predict_proba(row)[0]),
    ],
    ids=["Ridge", "LogisticRegression", "LinearSVC", "DecisionTreeClassifier"],
)
def test_sklearn_models_rank_the_actions_that_are_available(estimator, scores):
    oracle = hn.oracles.SklearnPolicies(estimator, n_actions=3)
    total = oracle.objective()
    for row in ROWS[:40]:
        x = row[0]
        total.add(row, np.array([0.8 * (x > -0.3), abs(x) > 0.3, 0.9 * (x < 0.3)]))
    leader = total.leader()
    assert leader.models
    differed = 0
    for row in ROWS:
        for available in ([0, 2], [1, 2], [0, 1]):
            plays = substitution(np.array(available), available[0], 3)
            found = total.action(row, WITHOUT_NOISE, None, plays)
            own = leader(row)
            if own in available:
                assert found == own
                continue
            differed += 1
            if scores is None:
                ranking = np.array([model.predict(row[None])[0] for model in leader.models])
            else:
                ranking = scores(leader.models[0], row[None])
            few = ranking[available]
            tied = np.array(available)[few <= few.min() + 1e-9]
            constants = total._rows.totals.sum(axis=0)
            assert found == tied[np.argmin(constants[tied])]
    assert differed > 20


def test_a_bandit_over_sklearn_models_plays_what_is_available():
    oracle = hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1), n_actions=3)
    learner = hn.ContextSemiBanditFTPL(oracle, contexts=ROWS[:4], max_resamples=4, seed=0)
    rng = np.random.default_rng(0)
    for t in range(12):
        available = np.sort(rng.permutation(3)[:2])
        action = learner.act(ROWS[t % 4], available=available)
        assert action in available
        learner.update(float(rng.random()))


def test_where_scores_decide_nothing_is_promised():
    learner = hn.ContextFTPL(ALL, seed=0)
    learner.act(0)
    learner.update([0.1, 0.2, 0.3, 0.4])
    assert learner.certificate().measured is not None
    restricted_play(learner, ROUNDS[:50])
    told = learner.certificate()
    assert learner.regret_bound() is None
    assert (told.measured, told.a_priori, told.high_probability) == (None, None, None)
    assert "no theorem applies" in told.notes[0]
    bandit = hn.ContextSemiBanditFTPL(ALL, seed=0)
    restricted_play(bandit, ROUNDS[:50])
    assert np.isnan(float(bandit.certificate()))
    assert bandit.regret_bound() is None


@pytest.mark.slow
def test_with_substitutes_regret_stays_below_the_bound():
    """Against an adversary that takes away the action the learner would most likely play."""
    regrets, bounds = [], []
    for seed in range(20):
        learner = hn.ContextFTPL(FINITE, seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(300):
            x = int(rng.integers(3))
            favourite = np.bincount(learner.would_play(x, 5, seed=1), minlength=4).argmax()
            available = np.setdiff1d(np.arange(4), favourite)
            losses = rng.random(4)
            learner.act(x, available=available)
            learner.update(losses)
        told = learner.certificate()
        regrets.append(told.realised_regret)
        bounds.append(learner.regret_bound())
        assert told.realised_regret <= told.high_probability
    assert np.mean(regrets) <= np.mean(bounds)
