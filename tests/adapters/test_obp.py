import dataclasses

import numpy as np
import pandas as pd
import pytest

import hannan as hn
from hannan.adapters import log_from_obp, log_to_obp, policy_to_obp
from hannan.off_policy import Log, Recorder, evaluate
from tests import naive_off_policy as naive
from tests.off_policy.logs import K, draw


def feedback(n=40, seed=0, positions=1):
    """A dictionary as obp's synthetic datasets make it."""
    rng = np.random.default_rng(seed)
    pi_b = rng.dirichlet(np.ones(K), size=(n, positions)).transpose(0, 2, 1)
    position = rng.integers(positions, size=n)
    action = np.array([rng.choice(K, p=pi_b[t, :, position[t]]) for t in range(n)])
    return {
        "n_rounds": n,
        "n_actions": K,
        "context": rng.normal(size=(n, 2)),
        "action_context": np.eye(K),
        "action": action,
        "position": position if positions > 1 else None,
        "reward": rng.integers(2, size=n),
        "expected_reward": None,
        "pi_b": pi_b,
        "pscore": pi_b[np.arange(n), action, position],
    }


def test_there_and_back():
    given = feedback()
    found = log_to_obp(log_from_obp(given))
    assert list(found) == list(given)
    for name, value in given.items():
        assert np.array_equal(found[name], value), name


@pytest.mark.parametrize("reward_range", [(0.0, 1.0), (-1.0, 3.0)])
def test_rewards_become_losses_by_the_stated_range(reward_range):
    low, high = reward_range
    given = {**feedback(), "reward": np.linspace(low, high, 40)}
    log = log_from_obp(given, reward_range=reward_range)
    assert log.losses == pytest.approx(np.linspace(1.0, 0.0, 40))
    assert log_to_obp(log, reward_range=reward_range)["reward"] == pytest.approx(given["reward"])


def test_each_round_keeps_the_law_of_its_position():
    given = feedback(positions=3)
    log = log_from_obp(given)
    for t in range(40):
        assert log.distribution[t].tolist() == given["pi_b"][t, :, given["position"][t]].tolist()


def test_arrays_have_the_shapes_that_obp_checks():
    log = draw(30)
    found = log_to_obp(log)
    shapes = {name: np.shape(value) for name, value in found.items() if np.ndim(value)}
    assert shapes == {
        "context": (30, 1),
        "action_context": (K, K),
        "action": (30,),
        "reward": (30,),
        "pi_b": (30, K, 1),
        "pscore": (30,),
    }
    assert found["action"].dtype.kind == "i"
    assert found["context"][:, 0].tolist() == log.contexts
    assert policy_to_obp(lambda x: x, log).sum(axis=1).tolist() == [[1.0]] * 30
    nothing = log_to_obp(Log(None, [0, 1], [0.0, 1.0], [0.5, 0.5], 2))
    assert nothing["context"].tolist() == [[0.0], [0.0]]
    assert nothing["pi_b"] is None


def test_values_are_what_obp_makes_of_the_dictionary():
    # obp's own formulas, for rewards: value = high - (mean loss) (high - low).
    log = draw(200, seed=2)
    given = log_to_obp(log, reward_range=(-1.0, 1.0))
    dist = policy_to_obp(lambda x: [0.1, 0.7, 0.2] @ np.eye(K), log)[:, :, 0]
    rows = np.arange(200)
    ratios = dist[rows, given["action"]] / given["pscore"]
    by_obp = (ratios * given["reward"]).sum() / ratios.sum()
    assert 1.0 - 2.0 * evaluate(log, dist, "snips").value == pytest.approx(by_obp)
    model = np.random.default_rng(0).uniform(size=(200, K))
    rewards = 1.0 - 2.0 * model
    by_obp = (dist * rewards).sum(axis=1) + ratios * (given["reward"] - rewards[rows, log.actions])
    assert 1.0 - 2.0 * evaluate(log, dist, model=model).value == pytest.approx(by_obp.mean())
    assert naive.dr(log, dist, model) == pytest.approx((1.0 - by_obp.mean()) / 2.0)


def test_weights_stand_in_for_propensities():
    oracle = hn.oracles.FinitePolicies([[0, 1], [1, 2], [2, 0]], n_actions=K)
    recorder = Recorder(hn.ContextSemiBanditFTPL(oracle, epsilon=0.1, seed=0))
    for t in range(20):
        decision = recorder.decide(t % 2)
        recorder.update(0.5, decision=decision)
    log = recorder.log()
    found = log_to_obp(log, inverse="weights")
    assert 1.0 / found["pscore"] == pytest.approx(log.weights)
    assert found["pi_b"] is None
    assert log_to_obp(log)["pscore"].tolist() == log.propensities.tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": np.full(40, 2.0)}, "reward_range"),
        ({"reward": np.full(40, np.nan)}, "finite"),
        ({"reward": ["a"] * 40}, "numbers"),
        ({"pscore": None}, "pscore"),
        ({"pscore": np.zeros(40)}, "propensities"),
        ({"pi_b": np.full((40, K), 1 / K)}, "pi_b must have the shape"),
        ({"position": np.full(40, 5)}, "position must lie"),
        ({"position": np.full(40, 0.5)}, "position must hold"),
        ({"action": np.full(40, K)}, "actions"),
        ({"pi_b": np.full((40, K, 2), 1 / K)}, "distributions of 2 positions"),
    ],
)
def test_bad_feedback_is_refused(changes, message):
    with pytest.raises(hn.HannanError, match=message):
        log_from_obp({**feedback(), **changes})


@pytest.mark.parametrize("given", [3, None, "feedback", [1, 2]])
def test_what_is_no_dictionary_is_refused(given):
    with pytest.raises(hn.InputTypeError, match="needs a dictionary"):
        log_from_obp(given)


def test_sets_of_actions_have_to_be_left_out_by_hand():
    log = Log(None, [0, 1], [1.0, 0.0], [0.5, 0.5], 3, available=[[0, 1], None])
    with pytest.raises(hn.ParameterError, match="no field for the available actions"):
        log_to_obp(log)
    assert log_to_obp(dataclasses.replace(log, available=None))["n_rounds"] == 2
    assert log_to_obp(dataclasses.replace(log, available=[None, None]))["n_rounds"] == 2


def test_what_is_missing_is_named():
    given = feedback()
    del given["reward"]
    with pytest.raises(hn.ParameterError, match="'reward' is missing"):
        log_from_obp(given)
    for wrong in (None, (1.0, 0.0), "all"):
        with pytest.raises(hn.ParameterError, match="'reward_range'"):
            log_from_obp(feedback(), reward_range=wrong)


@pytest.mark.parametrize(
    ("log", "options", "message"),
    [
        (Log(None, [0], [2.0], [0.5], 2), {}, "losses in"),
        (
            Log(["a"], [0], [1.0], [0.5], 2),
            {},
            "convert the contexts of the log to feature vectors",
        ),
        (Log(None, [0], [1.0], [0.5], 2), {"inverse": "weights"}, "with weights="),
        (Log(None, [0], [1.0], [0.5], 2), {"inverse": "other"}, "'inverse'"),
        (Log(None, [0], [1.0], [0.5], 2), {"action_context": [[1.0]]}, "'action_context'"),
    ],
)
def test_logs_that_obp_cannot_hold_are_refused(log, options, message):
    with pytest.raises(hn.HannanError, match=message):
        log_to_obp(log, **options)


# Items with features ----------------------------------------------------------------------

ITEMS = [[0.5, 1.0], [-1.0, 0.0], [2.0, 3.0]]


def item_context(**changes):
    """A frame as the file item_context.csv of the Open Bandit Dataset makes it."""
    columns = {
        "Unnamed: 0": [0, 1, 2], "item_id": [2, 0, 1], "item_feature_0": [0.3, -0.5, 1.25],
        "item_feature_1": ["x9", "a1", "x9"], **changes,
    }  # fmt: skip
    return pd.DataFrame({name: values for name, values in columns.items() if values is not None})


def clicks(n=600, seed=0):
    """A uniform log in which items with a large first feature are clicked, by features alone."""
    rng = np.random.default_rng(seed)
    action = rng.integers(K, size=n)
    rate = np.array([0.5, 0.05, 0.9])[action]
    return {
        "n_rounds": n, "n_actions": K, "context": rng.normal(size=(n, 2)), "action": action,
        "reward": (rng.random(n) < rate).astype(int), "pscore": np.full(n, 1 / K),
        "pi_b": np.full((n, K, 1), 1 / K),
    }  # fmt: skip


def test_items_with_features_make_menus():
    given = feedback()
    plain, log = log_from_obp(given), log_from_obp(given, action_context=ITEMS)
    assert log.takes_items
    for t, menu in enumerate(log.contexts):
        assert menu == hn.Menu(given["context"][t], ITEMS, ids=[0, 1, 2])
    for name in ("actions", "losses", "propensities", "distribution"):
        assert np.array_equal(getattr(log, name), getattr(plain, name))
    bare = log_from_obp({**given, "context": None}, action_context=np.array(ITEMS))
    assert bare.contexts[3] == hn.Menu(None, ITEMS, ids=[0, 1, 2])
    assert log_from_obp(given, action_context=given["action_context"]).contexts[
        0
    ].rows.tolist() == (np.eye(K).tolist())


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_file_of_items_is_read_by_item(kind):
    frame = item_context()
    if kind != "pandas":
        package = pytest.importorskip(kind)
        columns = frame.to_dict("list")
        frame = package.DataFrame(columns) if kind == "polars" else package.table(columns)
    rows = log_from_obp(feedback(), action_context=frame).contexts[0].rows
    # item_feature_0, then whether item_feature_1 is a1, x9.
    assert rows.tolist() == [[-0.5, 1.0, 0.0], [1.25, 0.0, 1.0], [0.3, 0.0, 1.0]]


def test_items_in_order_need_no_ids():
    frame = item_context(item_id=None)
    rows = log_from_obp(feedback(), action_context=frame).contexts[0].rows
    assert rows[:, 0].tolist() == [0.3, -0.5, 1.25]


def test_estimates_on_items_equal_by_hand_and_those_of_numbers():
    given = clicks()
    plain, log = log_from_obp(given), log_from_obp(given, action_context=ITEMS)

    def best(menu):
        return int(menu.rows[:, 0].argmax())

    hits = log.actions == 2
    by_hand = (hits * log.losses * K).mean()
    assert evaluate(log, best, "ips").value == pytest.approx(by_hand)
    assert evaluate(plain, lambda x: 2, "ips").value == pytest.approx(by_hand)
    model = np.random.default_rng(0).uniform(size=(600, K))
    by_hand = (model[:, 2] + hits * K * (log.losses - model[:, 2])).mean()
    assert evaluate(log, best, "dr", model=model).value == pytest.approx(by_hand)
    assert policy_to_obp(best, log)[:, :, 0].tolist() == [[0.0, 0.0, 1.0]] * 600


def test_learners_of_described_actions_learn_from_logs_of_items():
    log = log_from_obp(clicks(), action_context=ITEMS)
    learner = hn.bandit(actions="items", seed=0)
    hn.play(learner, log.environment(), seed=0)
    assert evaluate(log, learner, "dr").value < log.losses.mean() - 0.15


def test_logs_of_items_go_there_and_back():
    given = feedback()
    log = log_from_obp(given, action_context=ITEMS)
    found = log_to_obp(log)
    assert found["action_context"].tolist() == ITEMS
    assert np.array_equal(found["context"], given["context"])
    assert log_from_obp(found, action_context=found["action_context"]) == log
    menus = [hn.Menu(None, [[1.0], [2.0]]), hn.Menu(None, [[1.0], [3.0]]), hn.Menu(None, [[1.0]])]
    for some in (menus[:2], menus[::2]):
        with pytest.raises(hn.ParameterError, match="round 1 of the log offers other items than"):
            log_to_obp(Log(some, [0, 0], [0.0, 1.0], [0.5, 0.5], 2))


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[1.0], [2.0]], r"shape \[3, q\], .* got \(2, "),
        ([1.0, 2.0, 3.0], r"one row of q features per item .* got \(3,\)"),
        ([[1.0], [2.0, 3.0], [4.0]], "needs numbers, one row per item"),
        ([["a"], ["b"], ["c"]], "needs numbers, one row per item"),
        ("item_context.csv", "needs numbers, one row per item"),
        ([[1.0], [np.nan], [2.0]], "feature 0 of action 1"),
        (np.empty((3, 0)), "at least one feature"),
        (item_context(item_id=[0, 1, 1]), "1 occurs twice"),
        (item_context(item_id=[0, 1, 3]), "3 is not one of them"),
        (item_context(item_id=["a", "b", "c"]), "'a' is not one of them"),
        (item_context()[:2], "1 is missing"),
        (item_context(item_id=None)[:2], r"shape \[3, q\], .* got \(2, "),
        (item_context(item_feature_1=["a", None, "b"]), "Row 1 of the column 'item_feature_1'"),
        (item_context(item_feature_0=[1.0, "b", 2.0]), "column 'item_feature_0'"),
        (item_context(item_feature_0=None, item_feature_1=None), "no column of features"),
    ],
)
def test_bad_tables_of_items_are_refused(items, message):
    with pytest.raises(hn.HannanError, match=message):
        log_from_obp(feedback(), action_context=items)
