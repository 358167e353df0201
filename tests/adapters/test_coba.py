"""coba's experiments with learners of ours, and coba's environments in games of ours."""

import copy
import functools
import pickle
import sys

import coba as cb
import numpy as np
import pytest
from coba.environments import LambdaSimulation
from coba.evaluators import RejectionCB, SequentialCB
from coba.safety import SafeLearner
from scipy.stats import binom, chisquare
from sklearn.datasets import load_iris

import hannan as hn
from hannan.adapters import CobaLearner, FromCoba, log_from_coba, log_to_coba

SIDES = ["left", "right"]
CONTRACT = {
    "FromCoba": FromCoba(
        cb.Environments.from_linear_synthetic(100, n_actions=3, n_action_features=0),
        reward_range=(-1, 2),
    ),
    "FromCoba, offers change": FromCoba(
        cb.Environments.from_lambda(
            60, lambda i: i % 4, lambda i, x: "abc"[i % 3 :] or "a", lambda i, x, a: float(a == "b")
        )
    ),
}


class Batch(list):
    """What coba calls a batch."""

    is_batch = True


def bandit(n_contexts=1, n_actions=2, **options):
    oracle = hn.oracles.AllPolicies(n_contexts, n_actions)
    return hn.ContextSemiBanditFTPL(oracle, **{"seed": 0, **options})


def sampled(n_actions, **options):
    """A bandit that can only draw its action: noise on a second context has a say in it."""
    oracle = hn.oracles.FinitePolicies([[a, a] for a in range(n_actions)])
    return hn.ContextSemiBanditFTPL(oracle, **{"seed": 0, **options})


class WithoutLaw(hn.baselines.EpsilonGreedy):
    """A learner whose distribution only copies can tell, as one from outside."""

    def _action_distribution(self, opened):
        return None


def linear(n_actions):
    oracle = hn.oracles.LinearPolicies(n_actions=n_actions)
    return hn.ContextSemiBanditFTPL(oracle, predictor=hn.predictors.Ridge(), seed=3)


def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    names = ["setosa", "versicolor", "virginica"]
    rows = [(tuple(X[i].tolist()), cb.Categorical(names[y[i]], names)) for i in order]
    return cb.Environments.from_supervised(Rows(rows))


class Rows:
    """A source of rows with labels that can be read again."""

    params = {"source": "iris"}  # noqa: RUF012

    def __init__(self, rows):
        self.rows = rows

    def read(self):
        return iter(self.rows)


def synthetic(seed=1):
    return cb.Environments.from_linear_synthetic(
        200, n_actions=4, n_context_features=3, n_action_features=0, seed=seed
    )


def changing(length=150):
    """Three actions, two of them on offer."""
    return cb.Environments.from_lambda(
        length,
        lambda i, rng: i % 2,
        lambda i, x, rng: [["a", "b"], ["b", "c"], ["c", "a"]][i % 3],
        lambda i, x, a, rng: float(a == "abc"[x]) if rng.random() < 0.8 else 0.5,
        5,
    )


def column(result, name, **where):
    """A column of coba's results, of one learner and environment if these are given."""
    table = result.interactions
    for key, value in where.items():
        table = table.where(**{key: value})
    return list(table[name])


def rounds(environment, horizon=None):
    return list(environment.rounds(horizon or environment.horizon, np.random.default_rng(0)))


# Experiments ------------------------------------------------------------------------------


def experiment():
    ours = CobaLearner(linear, reward_range=(-1, 2))
    greedy = CobaLearner(
        lambda K: hn.baselines.EpsilonGreedy(K, seed=1), reward_range=(-1, 2), draws=5
    )
    theirs = [cb.RandomLearner(), cb.BanditEpsilonLearner(), cb.LinUCBLearner()]
    return cb.Experiment(synthetic() + iris(), [ours, greedy, *theirs])


def test_an_experiment_gives_the_numbers_of_a_game_and_beats_random(tmp_path):
    file = str(tmp_path / "results.log")
    result = experiment().run(file, quiet=True)
    assert len(result.interactions) == 5 * (200 + 150)
    for e, world in enumerate((synthetic(), iris())):
        environment = FromCoba(world, reward_range=(-1, 2))
        for i, learner in enumerate(
            (
                linear(environment.n_actions),
                hn.baselines.EpsilonGreedy(environment.n_actions, seed=1),
            )
        ):
            losses = hn.play(learner, environment).losses
            # coba keeps five digits.
            assert column(result, "reward", learner_id=i, environment_id=e) == pytest.approx(
                2 - 3 * losses, abs=1e-5
            )
        means = [
            np.mean(column(result, "reward", learner_id=i, environment_id=e)) for i in range(5)
        ]
        assert means[0] > means[2] + 0.1
    size = (tmp_path / "results.log").stat().st_size
    again = experiment().run(file, quiet=True)
    assert (tmp_path / "results.log").stat().st_size == size
    for name in ("reward", "action", "probability"):
        assert column(again, name) == column(result, name)
    described = next(iter(again.learners.to_dicts()))
    assert (described["family"], described["draws"]) == ("linear()", 100)
    assert described["reward_range"] == "(-1, 2)"


def vw(n_actions):
    return hn.baselines.UniformRandom(n_actions, seed=0)


def test_no_name_of_a_function_spoils_the_results_and_lambdas_differ():
    """coba asks learners of the family "vw" for their args when all is over."""
    lambdas = [
        CobaLearner(lambda K: vw(K)),
        CobaLearner(lambda K: vw(K + 0)),
    ]
    result = cb.Experiment(synthetic().take(9), [CobaLearner(vw, reward_range=(-1, 2))]).run(
        quiet=True
    )
    assert len(result.interactions) == 9
    assert set(column(result, "probability")) == {0.25}
    assert [row["family"] for row in result.learners.to_dicts()] == ["vw()"]
    assert repr(CobaLearner(vw)) == "CobaLearner(vw, draws=100)"
    assert len({one.params["family"] for one in lambdas}) == len(set(map(repr, lambdas))) == 2
    assert "0x" not in repr(lambdas)
    assert lambdas[0].params == copy.deepcopy(lambdas[0]).params


def test_a_function_is_told_how_many_actions_are_listed():
    learner = CobaLearner(vw, actions=["a", "b", "c"])
    assert learner.predict(0, ["b", "c"])[0] in "bc"
    assert learner.current_learner.n_actions == 3
    with pytest.raises(hn.ParameterError, match=r"'d', which is not in the list actions="):
        learner.predict(0, ["b", "d"])
    with pytest.raises(hn.ParameterError, match="'c', but all 2 actions of the learner are taken"):
        CobaLearner(vw(2), actions=["a", "b", "c"]).predict(0, ["b", "c"])


@pytest.mark.slow
def test_processes_make_no_difference():
    world = cb.Environments.from_linear_synthetic(60, n_actions=3, n_action_features=0, seed=[1, 2])
    learners = [
        CobaLearner(hn.ContextSemiBanditFTPL(hn.oracles.LinearPolicies(3), seed=0), draws=5,
                    reward_range=(-1, 2)),
        CobaLearner(functools.partial(hn.baselines.VowpalWabbit, seed=0), draws=5,
                    reward_range=(-1, 2)),
    ]  # fmt: skip
    alone, together = (cb.Experiment(world, learners).run(quiet=True, processes=p) for p in (1, 2))
    assert len(alone.interactions) == 240
    for i in range(2):
        for e in range(2):
            for name in ("reward", "action", "probability"):
                where = {"learner_id": i, "environment_id": e}
                assert column(alone, name, **where) == column(together, name, **where)


def test_changing_actions_are_played_as_in_a_game():
    learner = CobaLearner(bandit(2, 3))
    result = cb.Experiment(changing(), learner).run(quiet=True)
    environment = FromCoba(changing())
    trace = hn.play(bandit(2, 3), environment)
    assert column(result, "reward") == pytest.approx(1.0 - trace.losses, abs=1e-5)
    for i, action in enumerate(column(result, "action")):
        assert action in [["a", "b"], ["b", "c"], ["c", "a"]][i % 3]
    assert learner.current_learner.rounds == 150
    random = cb.Experiment(changing(), cb.RandomLearner()).run(quiet=True)
    assert np.mean(column(result, "reward")) > np.mean(column(random, "reward"))


@pytest.mark.parametrize("size", [1, 3, 4])
def test_batches_are_decided_together_and_learned_one_by_one(size):
    world = cb.Environments.from_lambda(
        36, lambda i: i % 2, lambda i, x: SIDES, lambda i, x, a: float(a == SIDES[x])
    )
    result = cb.Experiment(world.batch(size), CobaLearner(bandit(2))).run(quiet=True)
    learner, earned = bandit(2), []
    for start in range(0, 36, size):
        first = learner.act(start % 2)
        rest = [learner.decide(i % 2) for i in range(start + 1, start + size)]
        actions = [first, *(decision.action for decision in rest)]
        rewards = [float(action == (start + i) % 2) for i, action in enumerate(actions)]
        learner.update(1.0 - rewards[0])
        for decision, reward in zip(rest, rewards[1:], strict=True):
            learner.update(1.0 - reward, decision=decision)
        earned += rewards
    assert column(result, "reward") == earned
    assert 18 < sum(earned) < 36


def test_a_learner_in_two_worlds_starts_anew_in_each():
    world = cb.Environments.from_lambda(
        40, lambda i: None, lambda i, x: SIDES, lambda i, x, a: float(a == "right")
    )
    learner = CobaLearner(bandit())
    result = cb.Experiment(world + world.take(30), learner).run(quiet=True)
    first = column(result, "reward", environment_id=0)
    assert column(result, "reward", environment_id=1) == first[:30]
    assert learner.current_learner is None
    assert sum(first) > 30


def test_rewards_of_a_log_are_weighed_by_scores():
    world = cb.Environments.from_lambda(
        300, lambda i: None, lambda i, x: SIDES, lambda i, x, a: float(a == "right")
    )
    log = world.logged(cb.RandomLearner(seed=4))
    learner = CobaLearner(sampled(2, epsilon=1.0), encoding=lambda x: 0, draws=400)
    evaluator = SequentialCB(record="reward", learn=None, eval="ips")
    estimates = column(cb.Experiment(log, learner, evaluator).run(quiet=True), "reward")
    # A reward of 1, seen half of the time, counts twice the score, which stays what it is.
    assert len(estimates) == 300
    (score,) = set(estimates) - {0}
    assert score / 2 == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(400))
    assert learner.current_learner.rounds == 0


def test_actions_of_another_policy_are_refused(capsys):
    log = cb.Environments.from_lambda(
        50, lambda i: None, lambda i, x: SIDES, lambda i, x, a: float(a == "right")
    ).logged(cb.RandomLearner())
    for evaluator in (SequentialCB(learn="off", eval=None), RejectionCB()):
        learner = CobaLearner(bandit())
        with pytest.raises(hn.OrderError, match="another policy"):
            list(evaluator.evaluate(log[0], learner))


# The learner by hand ----------------------------------------------------------------------


def test_probabilities_are_exact_where_the_law_is_known():
    learner, twin = CobaLearner(bandit(2, 3, epsilon=0.7)), bandit(2, 3, epsilon=0.7)
    rng = np.random.default_rng(1)
    for t in range(60):
        q = twin.propensities(t % 2).probabilities
        assert learner.score(t % 2, [5, 6, 7], 6) == (q[1] if t else pytest.approx(1 / 3))
        action, p, told = learner.predict(t % 2, [5, 6, 7])
        assert action == 5 + twin.act(t % 2)
        assert p == q[action - 5]
        reward = float(rng.random() < [0.2, 0.5, 0.9][action - 5])
        learner.learn(t % 2, action, reward, p, **told)
        twin.update(1.0 - reward)


@pytest.mark.slow
@pytest.mark.stat
def test_estimated_probabilities_follow_their_law():
    """Losses of 0 leave the state as it is, so each action keeps its probability 1/3."""
    K, m, T = 3, 7, 2000
    learner = CobaLearner(sampled(K, epsilon=1.0), draws=m)
    played, estimates = np.empty(T, dtype=int), np.empty(T)
    for t in range(T):
        action, estimates[t], told = learner.predict(0, range(K))
        learner.learn(0, action, 1.0, estimates[t], **told)
        played[t] = action
    assert chisquare(np.bincount(played)).pvalue > 1e-4
    for k in range(K):
        # Whichever action was chosen, H is Binomial(m, q): the draws know nothing of the choice.
        hits = np.rint(estimates[played == k] * (m + 1) - 1).astype(int)
        seen = np.bincount(np.minimum(hits, 5), minlength=6)
        distribution = binom.pmf(np.arange(5), m, 1 / K)
        assert (
            chisquare(seen, np.append(distribution, 1 - distribution.sum()) * seen.sum()).pvalue
            > 1e-4
        )
        weights = np.where(played == k, 1 / estimates, 0.0)
        error = weights.std() / np.sqrt(T)
        assert weights.mean() == pytest.approx(1 - (1 - 1 / K) ** (m + 1), abs=4 * error)
    scores = [learner.score(0, range(K), 0)]
    for _ in range(400):
        learner.predict(0, range(K))
        scores.append(learner.score(0, range(K), 0))
    assert np.mean(scores) == pytest.approx(1 / K, abs=4 * np.sqrt(2 / 9 / m / 400))


@pytest.mark.stat
@pytest.mark.parametrize(
    "make",
    [
        lambda: hn.baselines.EpsilonGreedy(3, epsilon=0.6, seed=0),
        lambda: hn.baselines.Exp4([[0], [1], [2], [2]], seed=0),
        lambda: hn.Restarting(sampled(3, epsilon=0.05)),
    ],
)
def test_estimates_agree_with_direct_simulation(make):
    learner = CobaLearner(make(), draws=600)
    for _ in range(40):
        action, p, told = learner.predict(0, "xyz")
        learner.learn(0, action, (0.1, 0.5, 0.6)["xyz".index(action)], p, **told)
    distribution = np.array([learner.score(0, "xyz", a) for a in "xyz"])
    plays = np.bincount(learner.current_learner.would_play(0, 600, seed=99), minlength=3) / 600
    error = np.sqrt(2 * distribution * (1 - distribution) / 600)
    assert distribution.sum() == pytest.approx(1.0)
    assert distribution.min() < 0.3
    assert (abs(distribution - plays) <= 4.5 * error).all()


def test_asking_changes_nothing():
    quiet, asked = (CobaLearner(sampled(3), draws=d) for d in (None, 3))
    for _ in range(30):
        action, told = quiet.predict(0, "abc")
        other, p, told_too = asked.predict(0, "abc")
        for a in "abc":
            asked.score(0, "abc", a)
        assert action == other
        assert 0 < p <= 1
        quiet.learn(0, action, 0.25 * "abc".index(action), None, **told)
        asked.learn(0, action, 0.25 * "abc".index(action), p, **told_too)


def test_each_round_has_draws_of_its_own():
    for player in (sampled(2, epsilon=1.0), WithoutLaw(2, seed=0)):
        learner = CobaLearner(player, draws=50)
        estimates = set()
        for _ in range(20):
            action, p, told = learner.predict(0, SIDES)
            learner.learn(0, action, 1.0, p, **told)
            estimates.add(p)
        assert len(estimates) > 3


def test_the_learner_given_stays_as_it_is():
    given = bandit()
    trained = bandit()
    for _ in range(30):
        trained.update(1.0 - trained.act())
    for one in (given, trained):
        learner = CobaLearner(one)
        action, p, told = learner.predict(None, SIDES)
        learner.learn(None, action, 0.5, p, **told)
        assert (one.rounds, learner.current_learner.rounds) == (
            (30, 31) if one is trained else (0, 1)
        )
    assert CobaLearner(trained).score(None, SIDES, "right") > 0.9


def test_coba_finds_out_whether_there_are_scores():
    assert SafeLearner(CobaLearner(bandit())).has_score
    assert not SafeLearner(CobaLearner(bandit(), draws=None)).has_score
    assert SafeLearner(CobaLearner(bandit(), draws=None)).predict(None, SIDES)[1] is None
    with pytest.raises(hn.ParameterError, match="draws="):
        CobaLearner(bandit(), draws=None).score(None, SIDES, "left")


def test_an_action_that_is_not_offered_has_no_probability():
    assert CobaLearner(bandit()).score(None, SIDES, "middle") == 0.0
    for make in (bandit, lambda **options: hn.baselines.EpsilonGreedy(3, epsilon=0.5, seed=0)):
        learner = CobaLearner(make(n_actions=3, epsilon=0.5))
        learner.predict(None, "abc")
        scores = [learner.score(None, "ca", action) for action in "abc"]
        assert scores[1] == 0.0
        assert min(scores[0], scores[2]) > 0.1
        assert sum(scores) == pytest.approx(1.0)


def test_rewards_may_come_late_and_in_any_order():
    learner, twin = CobaLearner(bandit(2)), bandit(2)
    told = [learner.predict(x, SIDES) for x in (0, 1, 1)]
    first, second, third = twin.act(0), twin.decide(1), twin.decide(1)
    assert [SIDES.index(t[0]) for t in told] == [first, second.action, third.action]
    for i, answer in ((2, third), (0, None), (1, second)):
        learner.learn(None, told[i][0], 0.25 * i, told[i][1], **told[i][2])
        twin.update(1 - 0.25 * i, decision=answer)
    assert learner.current_learner.certificate() == twin.certificate()
    for i in range(3):
        with pytest.raises(hn.OrderError):
            learner.learn(None, told[i][0], 0.5, told[i][1], **told[i][2])
    assert learner.current_learner.rounds == 3


def test_who_cannot_learn_late_drops_the_round_before():
    class Prompt(hn.baselines.EpochGreedy):
        late = "Prompt cannot learn late."

    learner = CobaLearner(Prompt(hn.oracles.AllPolicies(1, 2), seed=0), draws=2)
    early, now = learner.predict(None, SIDES), learner.predict(None, SIDES)
    with pytest.raises(hn.OrderError, match="Prompt cannot learn late"):
        learner.learn(None, early[0], 1.0, early[1], **early[2])
    learner.learn(None, now[0], 1.0, now[1], **now[2])
    assert learner.current_learner.rounds == 1


def test_rewards_become_losses_in_the_range_of_the_learner():
    told = []

    class Listening(hn.baselines.LinUCB):
        def _update(self, opened, loss):
            told.append(loss)

    learner = CobaLearner(Listening(2, loss_range=(1.0, 3.0)), reward_range=(-10, 10))
    for reward in (10, 5, -10.0, np.float32(0)):
        action, p, more = learner.predict(None, SIDES)
        learner.learn(None, action, reward, p, **more)
    assert told == [1.0, 1.5, 3.0, 2.0]
    for low, high in np.random.default_rng(0).uniform(0.0, 9.0, size=(200, 2)).cumsum(axis=1):
        inner = bandit(loss_range=(low, high))
        learner = CobaLearner(hn.Restarting(inner), draws=None)
        action, more = learner.predict(None, SIDES)
        learner.learn(None, action, 0.0, None, **more)
        assert learner.current_learner.certificate().loss == high


@pytest.mark.parametrize("reward", [1.01, -0.5, float("nan"), "much", None])
def test_a_refused_reward_changes_nothing(reward):
    learner = CobaLearner(bandit())
    action, p, told = learner.predict(None, SIDES)
    with pytest.raises(hn.LossError, match=r"reward_range=\(0, 1\)"):
        learner.learn(None, action, reward, p, **told)
    with pytest.raises(
        hn.OrderError, match="In round 0 CobaLearner chose 'left'; got the reward of 'up'"
    ):
        learner.learn(None, "up", 0.5, p, **told)
    learner.learn(None, action, 0.5, p, **told)
    assert learner.current_learner.rounds == 1


def test_refused_predictions_change_nothing():
    learner, twin = CobaLearner(bandit(2, 3), draws=2), CobaLearner(bandit(2, 3), draws=2)
    for wrong in ((9, "abc"), (0, []), (0, None), (0, "wxyz"), (Batch([0]), Batch(["abc"]))):
        for verb in (learner.predict, functools.partial(learner.score, action="w")):
            with pytest.raises(hn.HannanError):
                verb(*wrong)
    assert learner.current_learner is None
    assert learner.predict(0, "cab")[:2] == twin.predict(0, "cab")[:2]
    with pytest.raises(hn.ParameterError, match="'positions'"):
        learner.predict(0, "abd")
    with pytest.raises(hn.ParameterError, match="'a' more than once"):
        learner.predict(0, "aba")
    with pytest.raises(hn.ContextError):
        learner.predict(7, "abc")
    for t in range(10):
        answers = [one.predict(t % 2, "abc") for one in (learner, twin)]
        assert answers[0][:2] == answers[1][:2]
        for one, (action, p, told) in zip((learner, twin), answers, strict=True):
            one.learn(t % 2, action, float(action == "b"), p, **told)


def test_actions_are_numbered_as_they_appear_by_place_or_by_a_list():
    features = [{"x": 1, "y": [2, 3]}, [1, 0], (0, 1)]
    for actions, numbers in (("names", [0, 1, 2]), ("positions", [2, 1, 0]),
                             ([(0, 1), (1, 0), {"y": (2, 3), "x": 1}], [2, 1, 0])):  # fmt: skip
        leader = hn.baselines.LinUCB(3)
        learner = CobaLearner(leader, actions=actions, draws=None)
        if actions == "names":
            action, told = learner.predict(None, features)
            learner.learn(None, action, 1.0, None, **told)
        seen = []
        for _ in range(3):
            action, told = learner.predict(None, features[::-1])
            seen.append((features.index(action), told["decision"].action))
            learner.learn(None, action, 0.0, None, **told)
        assert sorted(seen) == [(i, numbers[i]) for i in range(3)]


def test_copies_and_pickles_play_on():
    learner = CobaLearner(sampled(3), draws=4)
    for _ in range(10):
        action, p, told = learner.predict(0, "abc")
        learner.learn(0, action, float(action == "c"), p, **told)
    open_round = learner.predict(0, "abc")
    twins = [learner, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    games = []
    for one in twins:
        action, p, told = copy.deepcopy(open_round)
        one.learn(0, action, 0.3, p, **told)
        games.append([one.predict(0, "abc")[:2] for _ in range(10)])
    assert games[0] == games[1] == games[2]


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (hn.ContextFTPL(hn.oracles.AllPolicies(1, 2)), "learns from the losses of all actions"),
        (hn.baselines.Hedge([[0], [1]]), "learns from the losses of all actions"),
        (hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2)), "Subsets chooses sets"),
        ("LinUCB", "a learner, or a function"),
    ],
)
def test_learners_that_coba_cannot_feed_are_refused(learner, match):
    with pytest.raises(hn.ParameterError, match=match):
        CobaLearner(learner)
    if not isinstance(learner, str):
        with pytest.raises(hn.ParameterError, match=match):
            CobaLearner(lambda K: learner).predict(None, SIDES)
    with pytest.raises(hn.ParameterError, match="'learner' parameter of CobaLearner"):
        CobaLearner(lambda K: None).predict(None, SIDES)


@pytest.mark.parametrize(
    "options",
    [
        {"draws": 1},
        {"draws": 2.5},
        {"reward_range": (1, 0)},
        {"reward_range": (0, np.inf)},
        {"reward_range": 1},
        {"encoding": 0},
        {"encoding": "hour"},
        {"encoding": ["a", "a"]},
        {"encoding": []},
        {"actions": "places"},
        {"actions": ["a", "a"]},
        {"actions": []},
    ],
)
def test_bad_parameters_are_named(options):
    (name,) = options
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of CobaLearner"):
        CobaLearner(bandit(), **options)
    if name != "draws":
        with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of FromCoba"):
            FromCoba(synthetic(), **options)


# Contexts ---------------------------------------------------------------------------------


def encoded(context, encoding=None):
    seen = []

    class Listening(hn.baselines.LinUCB):
        def check_context(self, context, ahead=0):
            seen.append(context)
            return super().check_context(context, ahead)

    CobaLearner(Listening(2), encoding=encoding, draws=None).predict(context, SIDES)
    return seen[0]


def test_contexts_are_encoded_as_documented():
    level = cb.Categorical("b", ["a", "b", "c"])
    assert encoded(None) is None
    assert encoded([]) is None
    assert encoded("rain") == "rain"
    assert encoded(3) == 3
    for context, row in (
        ((1, 2.5), [1, 2.5]),
        ([True, 2], [1, 2]),
        ([7, level, 8], [7, 0, 1, 0, 8]),
        (level, [0, 1, 0]),
        ((7, (0, 1)), [7, 0, 1]),
        (np.array([1, 2]), [1, 2]),
    ):
        found = encoded(context)
        assert found.dtype == np.float64
        assert found.tolist() == row
    names = ["hour", "sky=red", "sky=b", 4]
    assert encoded({"hour": 9, "sky": "red"}, names).tolist() == [9, 1, 0, 0]
    assert encoded({4: 2.0, "sky": level}, names).tolist() == [0, 0, 1, 2]
    assert encoded({}, names).tolist() == [0, 0, 0, 0]
    assert encoded((3, 4), lambda x: sum(x)) == 7


def test_hashed_names_are_spread_with_signs_and_always_the_same():
    rows = np.array([encoded({f"name {i}": 2.0}, 16) for i in range(400)])
    assert (abs(rows).sum(axis=1) == 2).all()
    assert chisquare(abs(rows).sum(axis=0)).pvalue > 1e-4
    assert abs(rows.sum()) < 4 * 2 * np.sqrt(400)
    both = encoded({"a": 1.0, "b": "c"}, 16)
    assert both.tolist() == (encoded({"a": 1.0}, 16) + encoded({"b=c": 1.0}, 16)).tolist()
    assert encoded({"a": 1.0}, 8).tolist() == [0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("context", "encoding", "match"),
    [
        ({"hour": 9}, None, "encoding="),
        ({"hour": 9}, ["minute"], "'hour'"),
        ({"hour": [1, 2]}, 5, "'hour'"),
        ((1, "rain"), None, "Categorical"),
        (("1", "2"), None, "Categorical"),
        (([1, [2]], 3), None, "Categorical"),
    ],
)
def test_contexts_that_cannot_be_encoded_are_refused(context, encoding, match):
    with pytest.raises(hn.ContextError, match=match):
        encoded(context, encoding)


# Environments -----------------------------------------------------------------------------


def test_rounds_are_the_interactions():
    world = cb.Environments.from_lambda(
        9, lambda i: (i, i / 2), lambda i, x: ["a", "b"], lambda i, x, a: i if a == "a" else -i
    )
    environment = FromCoba(world, reward_range=(-8, 8))
    assert (environment.horizon, environment.n_actions, environment.labels) == (9, 2, ["a", "b"])
    for i, (this_round, context) in enumerate(
        zip(rounds(environment), environment.contexts, strict=True)
    ):
        assert this_round.context.tolist() == context.tolist() == [i, i / 2]
        assert this_round.reveal(0).tolist() == [(8 - i) / 16, (8 + i) / 16]
    with pytest.raises(hn.ParameterError, match="has 9 rounds, less than the horizon 10"):
        rounds(environment, 10)
    assert FromCoba(world, reward_range=(-8, 8), take=4).horizon == 4
    assert len(rounds(FromCoba(world.batch(2), reward_range=(-8, 8)))) == 9


def test_offers_that_change_are_told():
    environment = FromCoba(changing(30))
    assert environment.labels == ["a", "b", "c"]
    for i, this_round in enumerate(rounds(environment)):
        offered = [[0, 1], [1, 2], [0, 2]][i % 3]
        assert this_round.available.tolist() == offered
        losses = this_round.reveal(offered[0])
        assert np.isnan(np.delete(losses, offered)).all()
        assert set(losses[offered]) <= {0.0, 0.5, 1.0}
    assert FromCoba(changing(30), actions=list("cab")).labels == ["c", "a", "b"]
    places = FromCoba(changing(30), actions="positions")
    assert (places.n_actions, rounds(places)[0].available) == (2, None)


def test_an_environment_without_end_is_read_in_part():
    endless = LambdaSimulation(
        None, lambda i: i, lambda i, x: [1, 2], lambda i, x, a: float(a == 1)
    )
    assert [r.context for r in rounds(FromCoba(endless, take=3))] == [0, 1, 2]


def test_full_information_learners_play_in_coba_s_environments():
    environment = FromCoba(iris())
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(n_actions=3), environment.contexts, seed=0)
    assert hn.play(learner, environment).mean_loss < 0.4


def test_what_is_no_environment_to_play_in_is_refused():
    simulation = cb.Environments.from_lambda(5, lambda i: i, lambda i, x: [0, 1],
                                             lambda i, x, a: float(a))  # fmt: skip
    log = [{"context": 1, "action": 0, "reward": 0.5, "probability": 0.5}]
    for given, match in (
        (simulation + simulation, "takes one environment; got 2"),
        (Rows(log), "log_from_coba"),
        (
            cb.Environments.from_supervised([[1], [2]], [0.5, 0.7]),
            r"needs a list of actions; got \[\]\. Discretise",
        ),
        (Rows([]), "no interactions"),
        ([1, 2], "with read"),
    ):
        with pytest.raises(hn.ParameterError, match=match):
            FromCoba(given)
    with pytest.raises(hn.LossError, match="reward_range"):
        FromCoba(simulation, reward_range=(0, 0.5))
    with pytest.raises(hn.ParameterError, match=r"'c', which is not in the list actions="):
        FromCoba(changing(), actions=["a", "b"])
    twice = [{"context": 1, "actions": ["a", "a", "b"], "rewards": [1, 0, 0.5]}]
    with pytest.raises(hn.ParameterError, match="'a' more than once"):
        FromCoba(Rows(twice))


def test_without_coba_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "coba.environments", None)
    for needy in (FromCoba, log_from_coba):
        with pytest.raises(hn.MissingPackageError, match=r"pip install 'hannan\[adapters\]'"):
            needy(Rows([]))


# Logs -------------------------------------------------------------------------------------


def test_logged_interactions_become_a_log():
    world = changing(60)
    log = log_from_coba(world.logged(cb.RandomLearner(seed=2)))
    environment = FromCoba(world)
    assert (log.n_actions, len(log)) == (3, 60)
    assert (log.propensities == 0.5).all()
    for row, this_round in zip(log, rounds(environment), strict=True):
        assert row.context == this_round.context
        assert row.available.tolist() == this_round.available.tolist()
        assert row.loss == this_round.reveal(row.action)[row.action]
    bare = Rows([{"context": (1, 2), "action": a, "reward": 3, "probability": 0.5} for a in "yx"])
    log = log_from_coba(bare, reward_range=(2, 4))
    assert (log.actions.tolist(), log.losses.tolist(), log.available) == ([0, 1], [0.5, 0.5], None)
    assert log_from_coba(bare, reward_range=(2, 4), take=1).n_actions == 1


def test_logs_come_back_from_coba_as_they_were():
    rng = np.random.default_rng(0)
    log = hn.off_policy.Log(
        contexts=rng.normal(size=(20, 3)),
        actions=[2, *([1, 0] * 9), 2],
        losses=rng.integers(0, 9, size=20) / 8,
        propensities=rng.uniform(0.1, 0.9, size=20),
        n_actions=3,
        available=[[0, 2], *([[0, 1]] * 18), [0, 1, 2]],
    )
    there = log_to_coba(log, reward_range=(-1, 3))
    assert [i["reward"] for i in there.read()] == (3 - 4 * log.losses).tolist()
    assert log_from_coba(there, reward_range=(-1, 3), actions=range(3)) == log
    evaluator = SequentialCB(learn=None, eval="ips", record="reward")
    result = cb.Experiment([there], cb.RandomLearner(), evaluator).run(quiet=True)
    share = [1 / len(row.available) for row in log]
    ips = (3 - 4 * log.losses) * share / log.propensities
    assert column(result, "reward") == pytest.approx(ips, abs=1e-4)


@pytest.mark.stat
def test_our_learners_write_logs_of_coba():
    """Inverse propensities of a learner that only draws tell what single actions cost."""
    world = cb.Environments.from_lambda(
        1000, lambda i: 0, lambda i, x: [0, 1, 2], lambda i, x, a: [0.50, 0.60, 0.44][int(a)]
    )
    learner = CobaLearner(sampled(3, epsilon=0.02), draws=60)
    log = log_from_coba(world.logged(learner), actions=range(3))
    assert log.propensities.min() < 0.15 < 0.6 < log.propensities.max()
    for action, loss in enumerate((0.50, 0.40, 0.56)):
        terms = np.where(log.actions == action, log.losses / log.propensities, 0.0)
        # Four standard errors; the truncation (1 - q)^61 is below 0.01.
        assert terms.mean() == pytest.approx(loss, abs=4 * terms.std() / np.sqrt(1000) + 0.01)


def test_logs_that_cannot_be_converted_are_refused():
    row = {"context": 1, "action": 0, "reward": 0.5}
    with pytest.raises(hn.ParameterError, match="without probability"):
        log_from_coba(Rows([row]))
    with pytest.raises(hn.ParameterError, match="without action and reward"):
        log_from_coba(Rows([{"context": 1, "probability": 1.0}]))
    with pytest.raises(hn.ParameterError, match="positions"):
        log_from_coba(Rows([{**row, "probability": 1.0}]), actions="positions")
    with pytest.raises(hn.LossError, match=r"losses in \[0, 1\]; got values from 1.5 to 1.5"):
        log_to_coba(hn.off_policy.Log([0], [0], [1.5], [0.5], 2))
