"""Rounds of VW as logs and environments of ours, and back."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import hannan as hn

A = hn.adapters
COLUMNS = ["x^0", "x^1", "x^2"]


def adf(*actions, action=0, cost=0.0, probability=0.5, **rest):
    features = tuple({"ad": {"id": name}} for name in actions)
    return A.CbAdfRound(rest.pop("context", {}), features, action, cost, probability, **rest)


def through_text(rounds, format):
    target = io.StringIO()
    A.write_vw(rounds, target, format)
    return A.read_vw(target.getvalue().split("\n"), format)


def through_json(log):
    """As the services of VW record a log: all actions offered, with all their probabilities."""
    lines = []
    for row in log:
        offered = list(range(log.n_actions) if row.available is None else row.available.tolist())
        place = offered.index(row.action)
        context = {"x": {str(i): v for i, v in enumerate(row.context.tolist())}}
        context["_multi"] = [{"a": {str(k): 1}} for k in offered]
        distribution = row.distribution[offered].tolist()
        label = {"_label_cost": row.loss, "_label_probability": row.propensity}
        label |= {
            "_labelIndex": place,
            "a": [k + 1 for k in range(len(offered))],
            "p": distribution,
        }
        lines.append(json.dumps({**label, "c": context}))
    return A.read_dsjson(lines)


def some_log(available=False, distribution=False, seed=0, n=50, K=4):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(K), size=n)
    offers = None
    if available:
        offers = [np.sort(rng.choice(K, rng.integers(2, K + 1), replace=False)) for _ in range(n)]
        for row, offer in zip(table, offers, strict=True):
            row[np.setdiff1d(np.arange(K), offer)] = 0.0
            row /= row.sum()
        offers[0] = np.arange(K)
        table[0] = 1 / K
    actions = np.array([rng.choice(K, p=row) for row in table])
    p = table[np.arange(n), actions]
    contexts = rng.normal(size=(n, 3)) * [1e-7, 1.0, 1e9]
    return hn.off_policy.Log(
        contexts, actions, rng.random(n), p, K, offers, table if distribution else None
    )


@pytest.mark.parametrize("available", [False, True])
def test_a_log_goes_through_cb_and_back(available):
    log = some_log(available)
    rounds = through_text(A.log_to_vw(log, "cb"), "cb")
    assert A.log_from_vw(rounds, columns=COLUMNS, n_actions=4) == log


def test_a_log_goes_through_cb_adf_and_back():
    log = some_log()
    rounds = through_text(A.log_to_vw(log, "cb_adf", names=["b", "a", "c"]), "cb_adf")
    assert A.log_from_vw(rounds, columns=["x^b", "x^a", "x^c"]) == log


def test_a_log_is_read_from_dsjson_with_the_probabilities_of_all_actions():
    log = some_log(distribution=True)
    assert A.log_from_vw(through_json(log), columns=COLUMNS) == log


def test_actions_that_come_and_go_are_known_by_their_features():
    # The first round has all actions, so that they are numbered as they were.
    log = some_log(available=True)
    rounds = through_text(A.log_to_vw(log, "cb_adf"), "cb_adf")
    assert A.log_from_vw(rounds, columns=COLUMNS, actions="features") == log
    log = some_log(available=True, distribution=True)
    assert A.log_from_vw(through_json(log), columns=COLUMNS, actions="features") == log


def test_costs_become_losses_by_the_stated_range():
    rounds = [A.CbRound({}, 0, cost, 0.5) for cost in (-1.0, 0.0, 1.0)]
    log = A.log_from_vw(rounds, cost_range=(-1, 1))
    assert log.losses.tolist() == [0.0, 0.5, 1.0]
    assert A.log_from_vw(rounds, cost_range=None).losses.tolist() == [-1.0, 0.0, 1.0]
    back = list(A.log_to_vw(log, "cb", cost_range=(-1, 1)))
    assert back == rounds
    with pytest.raises(hn.LossError, match="cost_range"):
        A.log_from_vw(rounds)
    for convert in (A.log_from_vw, lambda _, **given: A.log_to_vw(log, "cb", **given)):
        with pytest.raises(hn.ParameterError, match="'cost_range' parameter"):
            convert(rounds, cost_range=(1, 0))


def test_actions_are_one_less_here_than_in_the_file():
    log = A.log_from_vw(A.read_vw(["1:0:0.5 |", "3:0:0.25 |"], "cb"))
    assert log.actions.tolist() == [0, 2]
    assert log.n_actions == 3
    (line,) = A.log_to_vw(log[:1], "cb")
    assert line.action == 0


def test_words_and_repeated_names_become_columns():
    rounds = [
        A.CbRound({"u": {"age": 31.0, "city": "york"}, "": {"sun": (1.0, 2.0)}}, 0, 0.0, 0.5),
        A.CbRound({"u": {"age": 18.0, "city": ("rome", "york")}}, 1, 0.0, 0.5),
    ]
    log = A.log_from_vw(rounds)
    # In order: sun, u^age, u^city^rome, u^city^york
    assert log.contexts.tolist() == [[3, 31, 0, 1], [0, 18, 1, 1]]
    named = A.log_from_vw(rounds, columns=["u^city^york", "u^age"])
    assert named.contexts.tolist() == [[1, 31], [1, 18]]
    with pytest.raises(hn.ParameterError, match=r"no column 'u\^ag' in the log.* mean 'u\^age'"):
        A.log_from_vw(rounds, columns=["u^age", "u^ag"])
    with pytest.raises(hn.ParameterError, match="Columns: none"):
        A.log_from_vw([A.CbRound({}, 0, 0.0, 0.5)], columns=["u^age"])
    hashed = A.log_from_vw(rounds, columns=8).contexts
    assert hashed.shape == (2, 8)
    assert sorted(abs(hashed[0][hashed[0] != 0])) == [1, 3, 31]
    assert A.log_from_vw([A.CbRound({}, 0, 0.0, 0.5)]).contexts == [None]


def test_rounds_that_tell_nothing_are_left_out():
    rounds = [
        adf("a", "b"),
        adf("a", "b", skip_learn=True),
        adf("a", "b", cost=None),
        A.CbAdfRound({}, ({}, {})),
    ]
    assert len(A.log_from_vw(rounds)) == 1
    with pytest.raises(hn.ParameterError, match="no round with a cost"):
        A.log_from_vw(rounds[1:])


def test_records_that_were_dropped_unevenly_are_refused():
    assert len(A.log_from_vw([adf("a", pdrop=0.5)] * 2)) == 2
    with pytest.raises(hn.ParameterError, match="pdrop"):
        A.log_from_vw([adf("a", pdrop=0.5), adf("a")])


def test_changing_sets_of_actions_by_position_features_and_tag():
    rounds = [
        adf("a", "b", action=1, tags=("x", "y")),
        adf("b", "c", "a", action=0, tags=("y", "z", "x")),
    ]
    place = A.log_from_vw(rounds)
    assert (place.actions.tolist(), place.n_actions) == ([1, 0], 3)
    assert [offer.tolist() for offer in place.available] == [[0, 1], [0, 1, 2]]
    for kind in ("features", "tag"):
        log = A.log_from_vw(rounds, actions=kind)
        assert (log.actions.tolist(), log.n_actions) == ([1, 1], 3)
        assert [offer.tolist() for offer in log.available] == [[0, 1], [0, 1, 2]]
    with pytest.raises(hn.ParameterError, match="more than once"):
        A.log_from_vw([adf("a", "a")], actions="features")
    with pytest.raises(hn.ParameterError, match="no tags"):
        A.log_from_vw([adf("a", "b")], actions="tag")
    with pytest.raises(hn.ParameterError, match="position"):
        A.log_from_vw([A.CbRound({}, 0, 0.0, 0.5)], actions="tag")


def test_the_numbers_of_actions_are_listed_and_can_be_given():
    rounds = [
        adf("a", "b", action=1, tags=("x", "y")),
        adf("b", "c", "a", action=0, tags=("y", "z", "x")),
        adf("d", cost=None, tags=("w",)),
    ]
    ads = A.actions_from_vw(rounds)
    assert ads == [{"ad": {"id": name}} for name in "abcd"]
    assert A.actions_from_vw(rounds, "tag") == ["x", "y", "z", "w"]
    log = A.log_from_vw(rounds, actions="features")
    assert log == A.log_from_vw(rounds, actions=ads) == A.log_from_vw(rounds, actions="tag")
    assert log.n_actions == 4
    again = list(A.log_to_vw(log, "cb_adf", actions=ads))
    assert [this.actions[this.action] for this in again] == [ads[1]] * 2
    other = A.log_from_vw(rounds[1:2], actions=["x", "y", "z", "w"])
    assert (other.actions.tolist(), other.n_actions) == ([1], 4)
    assert other.available[0].tolist() == [0, 1, 2]
    with pytest.raises(hn.ParameterError, match="'z', which is not in the list actions="):
        A.log_from_vw(rounds, actions=["x", "y"])
    for wrong in (["x", "x"], [], ["x", {}], 3, "place"):
        with pytest.raises(hn.ParameterError, match="'actions' parameter"):
            A.log_from_vw(rounds, actions=wrong)
    with pytest.raises(hn.InputTypeError, match="cb_adf"):
        A.actions_from_vw([A.CbRound({})])


def test_a_huge_action_does_not_take_memory():
    (this,) = A.read_vw(["1000000000:1:1 |a"], "cb")
    assert this.action == 10**9 - 1
    with pytest.raises(
        hn.ParameterError, match="action 999999999; more than 1000000 actions are usually an error"
    ):
        A.log_from_vw([this])
    assert A.log_from_vw([this], n_actions=10**9).n_actions == 10**9
    with pytest.raises(hn.ParameterError, match=r"n_actions=3 is too small: .* action 999999999"):
        A.log_from_vw([this], n_actions=3)


def test_an_array_that_is_too_large_is_refused_before_it_is_made():
    rounds = [A.CbRound({"u": {str(i): 1.0}}, 0, 0.0, 0.5) for i in range(20_000)]
    with pytest.raises(hn.ParameterError, match="columns=256"):
        A.log_from_vw(rounds)
    assert A.log_from_vw(rounds, columns=4).contexts.shape == (20_000, 4)


def test_contexts_of_all_kinds_are_written():
    given = [None, "sun", 3, {"age": 31.0}, {"u": {"age": 31.0}}]
    log = hn.off_policy.Log(given, [0] * 5, [0.0] * 5, [1.0] * 5, 1)
    assert [this.context for this in A.log_to_vw(log, "cb")] == [
        {}, {"x": {"context=sun": 1.0}}, {"x": {"context=3": 1.0}},
        {"x": {"age": 31.0}}, {"u": {"age": 31.0}},
    ]  # fmt: skip
    with pytest.raises(hn.ParameterError, match="context"):
        list(A.log_to_vw(hn.off_policy.Log([(1, 2)], [0], [0.0], [1.0], 1), "cb"))
    with pytest.raises(hn.InputTypeError):
        A.log_to_vw([], "cb")
    with pytest.raises(hn.ParameterError, match="names="):
        list(A.log_to_vw(some_log(), "cb", names=["a"]))
    with pytest.raises(hn.ParameterError, match="actions="):
        A.log_to_vw(some_log(), "cb_adf", actions=[{}])


def ads(n=600, seed=0):
    """The second ad is the better one for the young, and the first for the old."""
    rng = np.random.default_rng(seed)
    for age in rng.random(n):
        action = int(rng.random() < 0.25)
        cost = -float((age < 0.5) == (action == 1))
        yield A.CbRound({"u": {"age": age}}, action, cost, (0.75, 0.25)[action])


def dsjson(this):
    label = {"_label_cost": this.cost, "_label_probability": this.probability}
    context = {**this.context, "_multi": [{"a": {"0": 1}}, {"a": {"1": 1}}]}
    return json.dumps({**label, "_labelIndex": this.action, "c": context}) + "\n"


@pytest.mark.parametrize("name", ["log.vw", "log.vw.gz", "log.dsjson"])
def test_files_are_replayed(tmp_path, name):
    path, rounds = tmp_path / name, list(ads())
    log = A.log_from_vw(rounds, cost_range=(-1, 0))
    if "dsjson" in name:
        path.write_text("".join(map(dsjson, rounds)))
    else:
        A.write_vw(rounds, path, "cb")
    world = A.FromVW(path, value_range=(-1, 0), scale=None)
    assert (world.horizon, world.n_actions, len(world.features)) == (600, 2, 1)
    assert world.log.propensities.min() == 0.25
    learner = hn.ContextSemiBanditFTPL(hn.oracles.Stumps(2), contexts=log.contexts, seed=0)
    trace = hn.play(learner, world, seed=0)
    twin = hn.ContextSemiBanditFTPL(hn.oracles.Stumps(2), contexts=log.contexts, seed=0)
    other = hn.play(twin, log.environment(), seed=0)
    assert trace.losses.tolist() == log.losses.tolist() == other.losses.tolist()
    assert trace.actions.tolist() == other.actions.tolist()
    assert trace.mean_loss < 0.3 < trace.current_mean_loss
    assert world.clone().params == world.params


def test_the_format_shows_in_the_first_lines(tmp_path):
    path = tmp_path / "file.vw"
    looks = {
        "cb": "|a\n1:0:0.5 |a\n",
        "cb_adf": "shared |a\n",
        "dsjson": '{"c": 1}\n',
    }
    from hannan.adapters.vw.files import format_of, is_vw

    for format, text in looks.items():
        path.write_text(text)
        assert format_of(path) == format
    path.write_text("0:1:0.5 |a\n|b\n\n0:1:0.5 |a\n")
    assert format_of(path) == "cb_adf"
    path.write_text("|a\n|b\n")
    with pytest.raises(hn.ParameterError, match="format="):
        format_of(path)
    path.write_text("")
    with pytest.raises(hn.ParameterError, match=r"file\.vw' is empty"):
        format_of(path)
    assert format_of("log.json.gz") == "dsjson"
    assert [is_vw(name) for name in ("a.vw", "a.VW.gz", "a.dsjson", "a.csv", "a", "a.gz")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "format", "says"),
    [
        ("|a\n", "cb", "no round with a cost"),
        ("ccb action |\nccb slot 0:0:1 |\n\n", "ccb", "'ccb' cannot be used: .* not supported"),
        ("ccb action |\nccb slot 0:0:1 |\n\n", None, r"file\.vw' cannot be read: .* not supported"),
        ("ccb action |\nccb slot 0:0:1 |\n\n", "cb_adf", "Line 1 of .* slots .* not supported"),
        ("slates shared |\n\n", None, r"file\.vw' cannot be read: .* not supported"),
        ("1:0 2:1 |a\n", None, "format="),
        ("1:0:1 |a\n", "cats", "format"),
        ("10000000:0:1 |a\n", "cb", "more than"),
    ],
)
def test_what_cannot_be_replayed_is_refused(tmp_path, text, format, says):
    path = tmp_path / "file.vw"
    path.write_text(text)
    with pytest.raises(hn.ParameterError, match=says):
        A.FromVW(path, format)


@pytest.mark.parametrize(
    ("text", "format", "offers"),
    [
        ("1 2:0:1 |a\n1:0:1 |a\n3:0:1 |a\n", "cb", [[0, 1], None, None]),
        ("0:0:1 |a\n|b\n\n0:0:1 |a\n\n", "cb_adf", [None, [0]]),
    ],
)
def test_where_actions_are_missing_a_file_is_played_among_the_others(
    tmp_path, text, format, offers
):
    path = tmp_path / "file.vw"
    path.write_text(text)
    world = A.FromVW(path, format)
    rounds = world.rounds(len(offers), np.random.default_rng(0))
    available = [r.available if r.available is None else list(r.available) for r in rounds]
    assert available == offers
    assert not world.oblivious


def test_running_scale_uses_the_rows_so_far(tmp_path):
    path = tmp_path / "log.vw"
    path.write_text("1:0:1 |a x:3\n2:0:1 |a x:5\n")
    plain, scaled = (A.FromVW(path, scale=scale).log.features for scale in (None, "running"))
    assert (plain.tolist(), scaled.tolist()) == ([[3.0], [5.0]], [[0.0], [1.0]])
    with pytest.raises(hn.ParameterError, match="scale"):
        A.FromVW(path, scale="unit")


def test_hashed_and_named_columns_of_a_file(tmp_path):
    path, rounds = tmp_path / "log.vw", list(ads(n=20))
    A.write_vw(rounds, path, "cb")
    world = A.FromVW(path, columns=4, value_range=(-1, 0), scale=None)
    table = A.log_from_vw(rounds, columns=4, cost_range=(-1, 0)).contexts
    rng = np.random.default_rng(0)
    assert np.array_equal([r.context for r in world.rounds(20, rng)], table)
    world = A.FromVW(path, columns=["u^age"], value_range=(-1, 0), n_actions=5, scale=None)
    assert world.n_actions == 5
    contexts = [r.context.tolist() for r in world.rounds(20, rng)]
    assert contexts == [[r.context["u"]["age"]] for r in rounds]
    with pytest.raises(hn.ParameterError, match=r"'u\^ag' in the log.* mean 'u\^age'"):
        A.FromVW(path, columns=["u^ag"], value_range=(-1, 0))
    with pytest.raises(hn.ParameterError, match="columns"):
        A.FromVW(path, columns="u^age", value_range=(-1, 0))
    with pytest.raises(hn.ParameterError, match=r"n_actions=1 is too small: .* action 1"):
        A.FromVW(path, value_range=(-1, 0), n_actions=1)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1:0:1 |a\n\n|a\n1:7:1 |a\n", "Line 4 of"),
        ("0:0:1 |a\n|b\n\n|a\n0:7:1 |b\n\n", "The round that ends in line 6 of"),
    ],
)
def test_costs_outside_their_range_are_named_by_their_lines(tmp_path, text, where):
    path = tmp_path / "a.vw"
    path.write_text(text)
    kind = {"L": "cb", "T": "cb_adf"}[where[0]]
    with pytest.raises(hn.LossError, match=f"{where} .*the cost 7 is outside value_range"):
        A.FromVW(path, kind, value_range=(0, 1))
    with pytest.raises(hn.ParameterError, match="'value_range' parameter"):
        A.FromVW(path, kind, value_range=(1, 0))
