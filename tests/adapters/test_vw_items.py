"""Vowpal Wabbit's logs of described actions: read, replayed, estimated, written."""

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

import hannan as hn
from hannan.cli.replay import replay

ADF = """\
shared |u age:2
0:0.25:0.5 red|a size:1
 blue|a size:3

shared |u age:1
 green|a size:2
 red|a size:1
0:1.0:0.25 blue|a size:3

shared |u age:3
0:0.0:1.0 green|a size:2

"""


def records(count=60, seed=0):
    """A dsjson log of a uniform choice among two to four ads, of which small ones are good."""
    rng = np.random.default_rng(seed)
    for t in range(count):
        n = int(rng.integers(2, 5))
        sizes, action = rng.random(n), int(rng.integers(n))
        cost = -float(rng.random() > sizes[action])
        order = [action + 1, *(k + 1 for k in range(n) if k != action)]
        yield {
            "_label_cost": cost, "_label_probability": 1 / n, "_label_Action": action + 1,
            "_labelIndex": action, "a": order, "p": [1 / n] * n, "EventId": str(t),
            "c": {"u": {"age": float(t % 3)},
                  "_multi": [{"a": {"size": s}, "_tag": f"ad{k}"} for k, s in enumerate(sizes)]},
        }  # fmt: skip


def adf_log():
    rounds = hn.adapters.read_vw(ADF.splitlines(), "cb_adf")
    return hn.adapters.log_from_vw(rounds, actions="items")


def test_contexts_are_menus_with_tags_for_ids():
    log = adf_log()
    assert [menu.ids for menu in log.contexts] == [
        ("red", "blue"), ("green", "red", "blue"), ("green",)
    ]  # fmt: skip
    assert [menu.context.tolist() for menu in log.contexts] == [[2.0], [1.0], [3.0]]
    assert log.contexts[1].rows.tolist() == [[2.0], [1.0], [3.0]]
    assert log.actions.tolist() == [0, 2, 0]
    assert log.n_actions == 3


def test_ips_and_dr_equal_by_hand():
    log = adf_log()

    def largest(menu):
        return int(menu.rows[:, 0].argmax())

    # It takes blue, blue, green: the second and third as logged, with ratios 4 and 1.
    ips = hn.off_policy.evaluate(log, largest, "ips")
    assert ips.value == pytest.approx((4.0 * 1.0 + 1.0 * 0.0) / 3)
    m = np.array([[0.1, 0.2, 0.0], [0.3, 0.4, 0.5], [0.6, 0.0, 0.0]])
    dr = hn.off_policy.evaluate(log, largest, "dr", model=m)
    by_hand = (0.2 + (0.5 + 4.0 * (1.0 - 0.5)) + (0.6 + 1.0 * (0.0 - 0.6))) / 3
    assert dr.value == pytest.approx(by_hand)

    def half(menu):
        return np.full(len(menu), 1.0 / len(menu))

    ips = hn.off_policy.evaluate(log, half, "ips")
    assert ips.value == pytest.approx((0.5 / 0.5 * 0.25 + (1 / 3) / 0.25 * 1.0 + 0.0) / 3)


def test_dr_guesses_from_features_of_items():
    rounds = list(hn.adapters.read_dsjson([json.dumps(each) for each in records(400)]))
    log = hn.adapters.log_from_vw(rounds, actions="items", cost_range=(-1, 0))
    small = hn.off_policy.evaluate(log, lambda menu: int(menu.rows[:, 0].argmin()), "dr")
    large = hn.off_policy.evaluate(log, lambda menu: int(menu.rows[:, 0].argmax()), "dr")
    assert small.value + 0.2 < large.value
    learner = hn.bandit(actions="items", seed=0)
    hn.play(learner, log.environment(), seed=0)
    ours = hn.off_policy.evaluate(log, learner, "ips")
    assert np.isfinite(ours.value)


def test_what_is_read_is_written_again():
    log, out = adf_log(), io.StringIO()
    hn.adapters.write_vw(hn.adapters.log_to_vw(log, "cb_adf", names=["age"]), out, "cb_adf")
    again = hn.adapters.log_from_vw(
        hn.adapters.read_vw(out.getvalue().splitlines(), "cb_adf"), actions="items"
    )
    assert again == log
    with pytest.raises(hn.ParameterError, match="cb_adf"):
        hn.adapters.log_to_vw(log, "cb")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["0:1:0.5 x|a s:1", " x|a s:2", ""], "distinct"),
        (["shared |u x:1", "0:1:0.5 |a", " |a", ""], "without features"),
    ],
)
def test_bad_logs_are_refused_by_name(lines, said):
    with pytest.raises(hn.HannanError, match=said):
        hn.adapters.log_from_vw(hn.adapters.read_vw(lines, "cb_adf"), actions="items")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"actions": [1, 1, 0]}, None),
        ({"actions": [2, 1, 0]}, "Round 0 has the actions 0 to 1; its action is 2"),
        ({"n_actions": 2, "actions": [0, 1, 0]}, "n_actions=2 is too small: round 1 has 3 actions"),
        ({"available": [[0], [0], [0]]}, "leave out available"),
        (
            {"contexts": [hn.Menu(None, [[1.0], [2.0]]), 3, 4]},
            "All contexts .* must be menus; round 1 has 3",
        ),
    ],
)
def test_logs_check_their_menus(given, said):
    menus = [hn.Menu(None, [[1.0], [2.0]]), hn.Menu(None, [[1.0]] * 3), hn.Menu(None, [[1.0]])]
    whole = {
        "contexts": menus, "actions": [0, 2, 0], "losses": [0.1, 0.2, 0.3],
        "propensities": [0.5] * 3, "n_actions": 3, **given,
    }  # fmt: skip
    if said is None:
        assert hn.off_policy.Log(**whole)[1:].takes_items
        return
    with pytest.raises(hn.HannanError, match=said):
        hn.off_policy.Log(**whole)


@pytest.fixture
def dsjson(tmp_path):
    path = tmp_path / "log.dsjson"
    path.write_text("\n".join(json.dumps(each) for each in records(300)) + "\n")
    return path


def test_hannan_replay_plays_a_log_of_items(dsjson):
    result = CliRunner().invoke(replay, [str(dsjson), "--value-range=-1,0", "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert [row["learner"] for row in said["rows"]] == ["hn.bandit", "ItemLinUCB", "current"]
    assert said["policies"] == "SharedLinear"
    assert said["rounds"] == 300


def test_a_file_of_cb_with_missing_actions_is_not_replayed(tmp_path):
    path = tmp_path / "some.vw"
    path.write_text("1 2:0:1 |a\n1:0:1 |a\n3:0:1 |a\n")
    result = CliRunner().invoke(replay, [str(path), "--format", "cb"])
    assert "not available in every round" in str(result.exception)


def test_a_log_whose_offers_stay_is_replayed_by_position(tmp_path):
    path = tmp_path / "same.vw"
    path.write_text("shared |u x:1\n0:1:0.5 |a s:1\n |a s:2\n\n" * 20)
    result = CliRunner().invoke(replay, [str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["actions"] == ["0", "1"]


def test_other_policies_are_refused(dsjson):
    result = CliRunner().invoke(replay, [str(dsjson), "--value-range=-1,0", "--policies", "Stumps"])
    assert "Stumps needs the same actions in every round" in str(result.exception)
