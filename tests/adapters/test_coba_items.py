"""coba's actions with features: played, logged, learned from; and our items for its learners."""

import copy
import pickle

import coba as cb
import numpy as np
import pytest
from coba.evaluators import SequentialCB
from examples.worlds import Items

import hannan as hn
from hannan.adapters import CobaLearner, FromCoba, ToCoba, log_from_coba, log_to_coba

TASTE = np.array([0.8, -0.5])


class Rows:
    """Interactions that can be read again."""

    params = {"source": "rows"}  # noqa: RUF012

    def __init__(self, rows):
        self.rows = rows

    def read(self):
        return iter(self.rows)


def earned(row):
    return float(1.0 / (1.0 + np.exp(-4.0 * (TASTE @ np.asarray(row)))))


def dense(count=150, seed=0):
    """Two to four items a round, none of which comes again."""
    rng = np.random.default_rng(seed)
    offers = [rng.normal(size=(int(rng.integers(2, 5)), 2)).tolist() for _ in range(count)]
    return cb.Environments.from_lambda(
        count, lambda i: (i % 3, 1.0), lambda i, x: offers[i], lambda i, x, a: earned(a)
    )


def sparse(count=100, seed=1):
    """Items by names: red ones are good."""
    rng = np.random.default_rng(seed)
    offers = [
        [
            {"price": p, "colour": c}
            for p, c in zip(rng.random(3), ("red", "blue", "green"), strict=True)
        ]
        for _ in range(count)
    ]
    return cb.Environments.from_lambda(
        count, lambda i: None, lambda i, x: offers[i], lambda i, x, a: float(a["colour"] == "red")
    )


NAMES = ["price", "colour=red", "colour=blue", "colour=green"]
CONTRACT = {"FromCoba, described": FromCoba(dense(60), actions="items")}


def bandit(seed=0, **options):
    return hn.bandit(actions="items", seed=seed, **options)


def column(result, name, **where):
    table = result.interactions
    for key, value in where.items():
        table = table.where(**{key: value})
    return list(table[name])


# Playing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "options"),
    [(dense, {}), (sparse, {"action_encoding": NAMES}), (sparse, {"action_encoding": 16})],
)
def test_an_experiment_gives_the_numbers_of_a_game_and_beats_random(world, options):
    ours = CobaLearner(bandit(), actions="items", **options)
    result = cb.Experiment(world(), [ours, cb.RandomLearner()]).run(quiet=True)
    game = hn.play(bandit(), FromCoba(world(), actions="items", **options))
    rewards = column(result, "reward", learner_id=0)
    assert rewards == pytest.approx(1.0 - game.losses, abs=1e-5)
    assert np.mean(rewards) > np.mean(column(result, "reward", learner_id=1)) + 0.1
    described = next(iter(result.learners.to_dicts()))
    assert described["actions"] == "items"


@pytest.mark.parametrize("size", [None, 1, 4])
def test_without_probabilities_the_same_is_played(size):
    for world, options in ((dense(24), {}), (sparse(24), {"action_encoding": NAMES})):
        world = world if size is None else world.batch(size)
        plays = [
            column(cb.Experiment(world, CobaLearner(
                bandit(), actions="items", draws=draws, **options
            )).run(quiet=True), "action")
            for draws in (None, 100)
        ]  # fmt: skip
        assert len(plays[0]) == 24
        assert plays[0] == plays[1]


def test_rows_are_the_features_and_rounds_are_menus():
    environment = FromCoba(dense(20), actions="items")
    assert (environment.n_actions, environment.labels, environment.oblivious) == (None, [], True)
    for interaction, this_round in zip(
        dense(20)[0].read(), environment.rounds(20, np.random.default_rng(0)), strict=True
    ):
        menu = this_round.context
        assert menu == hn.Menu(np.array(interaction["context"], float), interaction["actions"])
        losses = this_round.reveal(0)
        assert losses == pytest.approx([1.0 - earned(row) for row in interaction["actions"]])
    named = FromCoba(sparse(3), actions="items", action_encoding=NAMES)
    first = next(iter(sparse(3)[0].read()))["actions"]
    assert named.contexts[0].rows[:, 0].tolist() == [each["price"] for each in first]
    assert named.contexts[0].rows[:, 1:].tolist() == np.eye(3).tolist()


def test_probabilities_are_those_of_the_learner_and_asking_changes_nothing():
    learner, twin = CobaLearner(bandit(), actions="items"), bandit()
    rng = np.random.default_rng(3)
    for _ in range(40):
        offer = rng.normal(size=(3, 2)).tolist()
        q = twin.propensities([1.0], actions=offer).probabilities
        scores = [learner.score((1.0,), offer, each) for each in offer]
        assert scores == pytest.approx(q)
        assert learner.score((1.0,), offer, [9.0, 9.0]) == 0.0
        action, p, told = learner.predict((1.0,), offer)
        number = twin.act([1.0], actions=offer)
        assert (action, p) == (offer[number], pytest.approx(q[number]))
        learner.learn((1.0,), action, earned(action), p, **told)
        twin.update(1.0 - earned(action))
    assert learner.current_learner.rounds == twin.rounds == 40


def test_rewards_may_come_late_and_copies_play_on():
    learner = CobaLearner(bandit(), actions="items")
    rng = np.random.default_rng(4)
    offers = [rng.normal(size=(2 + i % 3, 2)).tolist() for i in range(9)]
    told = [learner.predict(None, offer) for offer in offers[:3]]
    twins = [learner, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    games = []
    for one in twins:
        for action, p, more in copy.deepcopy(told[::-1]):
            one.learn(None, action, earned(action), p, **more)
        assert one.current_learner.rounds == 3
        games.append([one.predict(None, offer)[:2] for offer in offers[3:]])
    assert games[0] == games[1] == games[2]


def test_rules_of_your_own_are_played_with_any_context():
    rules = hn.oracles.ListedRules([lambda x, rows: rows[:, 0], lambda x, rows: -rows[:, 0]])
    learner = CobaLearner(hn.ContextSemiBanditFTPL(rules, seed=0), actions="items")
    world = cb.Environments.from_lambda(
        200, lambda i: "rain", lambda i, x: [i / 8, i / 8 + 1], lambda i, x, a: float(a > i / 8)
    )
    assert len(cb.Experiment(world, learner).run(quiet=True).interactions) == 200
    assert learner.current_learner.best_policy()(hn.Menu("rain", [[1.0], [2.0]])) == 1


@pytest.mark.parametrize(
    ("context", "actions", "said"),
    [
        (None, [], r"needs a list of actions; coba offered \[\]"),
        (None, ["news", "sport"], "no features"),
        (None, [None, [1.0, 2.0]], "no features"),
        (None, [[1.0, 2.0], [1.0, 2.0]], "more than once"),
        (None, [[1.0, 2.0], [1.0]], "action 0 has 2, and action 1 has 1"),
        (None, [[1.0, 2.0], [1.0, np.nan]], "finite"),
        (None, [[1.0, "red"], [1.0, "blue"]], "action must be numbers.*action_encoding="),
        (None, [{"a": 1.0}, {"a": 2.0}], "named features of the action.*action_encoding="),
        (
            None,
            [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]],
            "actions with 2, as in the first round; got 0 and 3",
        ),
        ("rain", [[1.0, 2.0], [2.0, 1.0]], "got 'rain'"),
    ],
)
def test_refused_offers_change_nothing(context, actions, said):
    learner, twin = (CobaLearner(bandit(), actions="items") for _ in range(2))
    offers = np.random.default_rng(5).normal(size=(12, 3, 2)).tolist()
    for t, offer in enumerate(offers):
        answers = []
        for one in (learner, twin):
            if one is learner and t > 0:
                for ask in (one.predict, lambda *given: learner.score(*given, [1.0, 2.0])):
                    with pytest.raises(hn.HannanError, match=said):
                        ask(context, actions)
            action, p, told = one.predict(None, offer)
            answers.append((action, p))
            one.learn(None, action, earned(action), p, **told)
        assert answers[0] == answers[1]
    assert learner.current_learner.rounds == 12


def test_learners_and_options_that_do_not_go_together_are_refused():
    plain = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    for given, options, said in (
        (bandit(), {}, "pass actions='items'"),
        (plain, {"actions": "items"}, "needs a learner for actions with features"),
        (plain, {"action_encoding": 4}, "so it needs actions='items'"),
        (bandit(), {"actions": "items", "action_encoding": 0}, "'action_encoding'"),
        (bandit(), {"actions": "items", "action_encoding": ["a", "a"]}, "'action_encoding'"),
    ):
        with pytest.raises(hn.ParameterError, match=said):
            CobaLearner(given, **options)
    for make, options, said in (
        (lambda K: bandit(), {}, "pass actions='items'"),
        (lambda K: plain, {"actions": "items"}, "needs a learner for actions with features"),
    ):
        with pytest.raises(hn.ParameterError, match=said):
            CobaLearner(make, **options).predict(None, [[1.0], [2.0]])
    made = CobaLearner(lambda K: bandit(), actions="items")
    assert made.predict(None, [[1.0], [2.0]])[0] in ([1.0], [2.0])
    with pytest.raises(hn.ContextError, match=r"\['colour=red'\]; .* are \['price'\]"):
        FromCoba(sparse(), actions="items", action_encoding=["price"])
    with pytest.raises(hn.ParameterError, match="action_encoding"):
        FromCoba(dense(), action_encoding=4)


# Logs -------------------------------------------------------------------------------------


def test_logs_of_items_are_estimated_by_hand_and_learned_from():
    log = log_from_coba(dense(300).logged(cb.RandomLearner(seed=2)), actions="items")
    assert log.takes_items
    assert log.n_actions == 4
    assert [1 / len(menu) for menu in log.contexts] == pytest.approx(log.propensities.tolist())
    for row in log:
        assert row.loss == pytest.approx(1.0 - earned(row.context.rows[row.action]))

    def best(menu):
        return int((menu.rows @ TASTE).argmax())

    hits = np.array(
        [best(menu) == action for menu, action in zip(log.contexts, log.actions, strict=True)]
    )
    by_hand = hits * log.losses / log.propensities
    assert hn.off_policy.evaluate(log, best, "ips").value == pytest.approx(by_hand.mean())
    model = np.full((300, 4), 0.25)
    by_hand = 0.25 + hits * (log.losses - 0.25) / log.propensities
    found = hn.off_policy.evaluate(log, best, "dr", model=model)
    assert found.value == pytest.approx(by_hand.mean())
    learner = bandit()
    hn.play(learner, log.environment(), seed=0)
    ours = hn.off_policy.evaluate(log, learner, "dr")
    assert ours.value < log.losses.mean() - 0.1


def test_logs_of_items_come_back_as_they_were():
    log = log_from_coba(dense(30).logged(cb.RandomLearner(seed=2)), actions="items")
    there = log_to_coba(log, reward_range=(-1, 3))
    first = next(there.read())
    assert first["action"] in first["actions"]
    assert log_from_coba(there, reward_range=(-1, 3), actions="items") == log
    evaluator = SequentialCB(learn=None, eval="ips", record="reward")
    result = cb.Experiment([there], cb.RandomLearner(), evaluator).run(quiet=True)
    assert column(result, "reward") == pytest.approx((3 - 4 * log.losses).tolist(), abs=1e-4)


def test_logs_of_items_that_cannot_be_converted_are_refused():
    row = {"context": 1, "actions": [[1.0], [2.0]], "reward": 0.5, "probability": 0.5}
    for given, said in (
        ({**row, "action": [3.0]}, r"\[3.0\] is not one of the offered actions"),
        (
            {"context": 1, "action": [1.0], "reward": 0.5, "probability": 0.5},
            "is not one of the offered",
        ),
        ({**row, "action": [1.0], "actions": [[1.0], [1.0]]}, "more than once"),
    ):
        with pytest.raises(hn.ParameterError, match=said):
            log_from_coba(Rows([given]), actions="items")
    alike = hn.Menu(None, [[1.0], [1.0]], ids=["a", "b"])
    with pytest.raises(hn.ParameterError, match="Round 0 of the log offers two actions"):
        log_to_coba(hn.off_policy.Log([alike], [0], [0.5], [0.5], 2))


# Our environments -------------------------------------------------------------------------


def test_items_are_played_by_learners_of_coba_and_by_ours_as_in_a_game():
    items = Items(offered=4, pool=30, clicks=(0.1, 0.9))
    world = ToCoba(items, horizon=200, seed=7, reward_range=(-1, 1))
    assert list(world.read()) == list(world.read())
    ours = CobaLearner(bandit(), actions="items", reward_range=(-1, 1))
    result = cb.Experiment(world, [cb.LinUCBLearner(), cb.RandomLearner(), ours]).run(quiet=True)
    assert len(result.interactions) == 600
    assert set(column(result, "reward")) == {-1.0, 1.0}
    again = FromCoba(world, actions="items", reward_range=(-1, 1))
    for mine, this_round in zip(
        again.rounds(200, np.random.default_rng(0)),
        items.rounds(200, np.random.default_rng(7)),
        strict=True,
    ):
        menu = this_round.context
        assert mine.context == hn.Menu(menu.context, menu.rows)  # ids are lost
        assert mine.reveal(0).tolist() == this_round.reveal(0).tolist()
    losses = hn.play(bandit(), again).losses
    assert column(result, "reward", learner_id=2) == pytest.approx(1.0 - 2.0 * losses)


def test_environments_with_plain_actions_go_to_coba_too():
    contexts, losses = np.arange(6.0).reshape(3, 2), np.array([[0.0, 1.0], [0.5, 0.25], [1.0, 0.0]])
    world = ToCoba(hn.environments.FromArrays(contexts, losses))
    assert [each["context"] for each in world.read()] == [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    assert [each["actions"] for each in world.read()] == [[0, 1]] * 3
    assert [each["rewards"] for each in world.read()] == (1.0 - losses).tolist()
    assert FromCoba(world).contexts[2].tolist() == [4.0, 5.0]


class Alike(Items):
    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.core.Round(hn.Menu(None, [[1.0], [1.0]]), np.zeros(2))


class Late(Items):
    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.core.Round(hn.Menu(None, [[1.0], [2.0]]), np.zeros(2), delay=1)


def test_environments_that_coba_cannot_play_are_refused():
    log = hn.off_policy.Log([hn.Menu(None, [[1.0]])], [0], [0.5], [1.0], 1)
    arrays = hn.environments.FromArrays(None, [[0.0, 2.0]])
    for given, options, said in (
        (
            hn.environments.ItemPunisher(),
            {"horizon": 3},
            "ItemPunisher depend on the learner's actions",
        ),
        (log.environment(), {}, "log_to_coba"),
        (Items(), {}, "horizon="),
        (Items(), {"horizon": 0}, "'horizon'"),
        (Items(), {"horizon": 3, "seed": -1}, "'seed'"),
        (Items(), {"horizon": 3, "reward_range": (1, 0)}, "'reward_range'"),
        (Rows([]), {}, "an environment of hannan"),
    ):
        with pytest.raises(hn.HannanError, match=said):
            ToCoba(given, **options)
    for given, said in (
        (arrays, "losses in"), (Alike(), "same features"), (Late(), "cannot be an interaction")
    ):  # fmt: skip
        with pytest.raises(hn.HannanError, match=said):
            list(ToCoba(given, horizon=1).read())
