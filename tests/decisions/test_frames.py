"""Tables of contexts: one row is a context, several are decided on together, all or none."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hannan as hn
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from tests.decisions.worlds import ACTIONS, contexts, earned

ROWS = contexts(40, seed=8)
FRAME = pd.DataFrame(ROWS, index=[f"customer {i}" for i in range(40)])


def content(decider):
    return b"".join(bytes(part) for part in packed(decider, Encoder()))


def trained(n=200, **changes):
    given = {"actions": ACTIONS, "rewards": (0, 200), "baseline": "red", "seed": 3, **changes}
    d = hn.Decider(**given)
    for row in contexts(n):
        answer = d.decide(row)
        d.report(answer, reward=earned(row, answer.action))
    return d


# One decision -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        FRAME.head(5),
        pl.DataFrame(ROWS[:5]),
        pa.Table.from_pylist(ROWS[:5]),
        ROWS[:5],
        FRAME.head(0),
    ],
)
def test_decide_refuses_several_rows_and_names_decide_many(table):
    d = trained(20)
    before = content(d)
    with pytest.raises(hn.ContextError, match="decide_many"):
        d.decide(table)
    assert content(d) == before


def test_decide_refuses_a_table_of_numbers():
    d = hn.Decider(ACTIONS, rewards=(0, 1), seed=0)
    with pytest.raises(hn.ContextError, match=r"shape \(3, 2\).*decide_many"):
        d.decide(np.zeros((3, 2)))
    with pytest.raises(hn.ContextError, match="decide_many"):
        d.decide(np.zeros((3, 2)).tolist())
    assert d.decide(np.zeros((1, 2))).action in ACTIONS
    assert d.decide([0.0, 1.0]).action in ACTIONS


@pytest.mark.parametrize("first", ["row", "frame"])
def test_a_frame_of_one_row_reads_as_its_row(first):
    mixed = FRAME.assign(
        count=range(40), share=np.linspace(0, 1, 40), joined=pd.Timestamp("2024-02-29")
    )
    numbers = mixed[["basket", "count", "share"]]
    assert numbers.iloc[0].dtype == float  # as pandas makes of integers beside floats
    for frame in (mixed, numbers):
        d = hn.Decider(ACTIONS, rewards=(0, 200), seed=3)
        for i in range(30):
            row = frame.iloc[i] if first == "row" else frame.iloc[i : i + 1]
            d.report(d.decide(row), reward=100.0 * (i % 2))
        one, other = d.probabilities(frame.tail(1)), d.probabilities(frame.iloc[-1])
        assert one.iloc[0].to_dict() == other
        assert d.probabilities(pl.from_pandas(frame.tail(1))).row(0, named=True) == other
        assert d.decide(frame.tail(1)).distribution.tolist() == list(other.values())


def test_a_rule_gets_the_row_of_a_frame_of_one_row():
    asked = []
    d = hn.Decider(ACTIONS, rewards=(0, 1), baseline=lambda row: asked.append(row) or "red", seed=0)
    d.decide(FRAME.head(1))
    d.decide_many(FRAME.tail(2))
    assert list(map(repr, asked)) == [repr(FRAME.iloc[i].to_dict()) for i in (0, -2, -1)]


def test_learn_takes_the_row_of_a_frame_and_refuses_several():
    by_frame, by_row = trained(20), trained(20)
    by_frame.learn(FRAME.head(1), "red", 3.0, 0.5)
    by_row.learn(ROWS[0], "red", 3.0, 0.5)
    assert by_frame.probabilities(ROWS) == by_row.probabilities(ROWS)
    with pytest.raises(hn.ContextError, match=r"learn\(\) takes one context.*warm_start"):
        by_frame.learn(FRAME.head(2), "red", 3.0, 0.5)


# Several ----------------------------------------------------------------------------------------


def test_decide_many_decides_as_so_many_calls_would(tmp_path):
    together, apart = trained().journal(tmp_path / "d.journal"), trained()
    ids = [f"order-{i}" for i in range(40)]
    found = together.decide_many(FRAME, ids=ids)
    answers = [apart.decide(row, id=id) for row, id in zip(ROWS, ids, strict=True)]
    assert list(found.index) == list(FRAME.index)
    assert list(found.columns) == ["action", "propensity", "id"]
    assert found["id"].tolist() == ids == together.open_decisions
    assert found["action"].tolist() == [answer.action for answer in answers]
    assert found["propensity"].tolist() == [answer.propensity for answer in answers]
    for d in (together, apart):
        d.report("order-7", reward=11.0)
    for part in ("_learner", "_contexts"):
        assert content(getattr(together, part)) == content(getattr(apart, part))
    assert together.metrics() == apart.metrics()
    marks = [[each[4] for each in d._open.waiting.values()] for d in (together, apart)]
    assert marks[0] == marks[1]
    together.close()
    again = hn.Decider.open(tmp_path / "d.journal")
    assert again.open_decisions == together.open_decisions
    assert again.probabilities(ROWS) == apart.probabilities(ROWS)
    again.close()


def test_decide_many_returns_the_kind_that_was_given():
    d = trained(50)
    assert isinstance(d.decide_many(FRAME), pd.DataFrame)
    frame = d.decide_many(pl.DataFrame(ROWS))
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["action", "propensity", "id"]
    assert d.decide_many(pa.Table.from_pylist(ROWS)).num_rows == 40
    answers = d.decide_many(ROWS)
    assert {type(each) for each in answers} == {hn.decisions.NamedDecision}
    assert d.decide_many(FRAME.head(0)).shape == (0, 3)
    assert d.decide_many([]) == []
    assert d.summary().open == 160
    for bad in (ROWS[0], "red", None, pl.DataFrame(ROWS).lazy()):
        with pytest.raises(hn.HannanError):
            d.decide_many(bad)


def test_available_is_for_all_rows_or_for_each():
    d = trained(50, exploration=0.2)
    assert set(d.decide_many(FRAME, ["red", "blue"])["action"]) <= {"red", "blue"}
    each = [["red"] if i % 2 else None for i in range(40)]
    answers = d.decide_many(ROWS, each)
    assert all(answer.action == "red" for answer in answers[1::2])
    with pytest.raises(hn.ParameterError, match="each of the 40 rows; got 2"):
        d.decide_many(FRAME, [["red"], None])


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("journal", [True, False])
def test_one_refused_row_leaves_no_decision(tmp_path, fresh, journal):
    features = {"age": "number", "city": "category"}
    d = trained(0 if fresh else 30, features=features)
    if journal:
        d.journal(tmp_path / "d.journal")
    before = content(d)
    rows = [{"age": 31}] * 5
    for kind, bad, ids in [
        (hn.ContextError, [*rows, {"age": "old"}], None),
        (hn.ContextError, [*rows, [31, "Rome"]], None),
        (hn.InputTypeError, [*rows, {"age": object()}], None),
        (hn.DecisionError, rows, ["a", "b", "c", "d", "a"]),
        (hn.InputTypeError, rows, ["a", "b", "c", "d", 1.5]),
        (hn.ParameterError, rows, ["a"]),
        (hn.InputTypeError, rows, "abcde"),
    ]:
        with pytest.raises(kind):
            d.decide_many(bad, ids=ids)
        assert content(d) == before
    with pytest.raises(hn.ContextError, match="Row 5: Column 'age'"):
        d.decide_many([*rows, {"age": "old"}])
    assert [each.action in ACTIONS for each in d.decide_many(rows)] == [True] * 5
    d.close()


def test_decide_many_keeps_to_max_open():
    d = hn.Decider(ACTIONS, rewards=(0, 1), max_open=50, seed=0)
    d.decide_many(FRAME, ids=range(40))
    with pytest.raises(hn.DecisionError, match=r"open decisions is 40, .* 40 more .* max_open=50"):
        d.decide_many(FRAME)
    assert len(d.open_decisions) == 40
    again = d.decide_many(FRAME, ids=range(40))  # a request that is made again opens none
    assert again["id"].tolist() == list(range(40))


def test_items_are_offered_to_every_row():
    d = hn.Decider(rewards=(0, 1), seed=0)
    items = {"sku-1": {"price": 9.5}, "sku-2": {"price": 4.0}}
    found = d.decide_many(FRAME, actions=items)
    assert set(found["action"]) <= set(items)
    assert list(d.probabilities(FRAME, actions=items).columns) == list(items)


# Probabilities ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["contexts", "arms", "items"])
def test_probabilities_are_those_that_decide_draws_from(kind):
    options = {"items": {"actions": None}}.get(kind, {"actions": ACTIONS})
    d = hn.Decider(rewards=(0, 200), seed=1, **options)
    rng = np.random.default_rng(0)
    for t, row in enumerate(contexts(150, seed=5)):
        row = None if kind == "arms" else row
        asked = {}
        if kind == "items":
            asked["actions"] = {
                f"sku-{i}": {"price": float(rng.normal())} for i in range(2 + t % 3)
            }
        elif t % 5 == 0:
            asked["available"] = ["blue", "red"]
        before = content(d)
        distribution = d.probabilities(row, **asked)
        assert content(d) == before
        answer = d.decide(row, **asked)
        assert list(distribution.values()) == answer.distribution.tolist()
        assert distribution[answer.action] == answer.propensity
        if t % 3:
            d.report(answer, reward=float(rng.uniform(0, 200)))


def test_probabilities_of_a_table_are_those_of_its_rows():
    d = trained()
    each = [d.probabilities(row) for row in ROWS]
    assert d.probabilities(ROWS) == each
    found = d.probabilities(FRAME)
    assert list(found.index) == list(FRAME.index)
    assert found.to_dict("records") == each
    assert d.probabilities(pl.DataFrame(ROWS)).to_dicts() == each
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert d.probabilities(FRAME.head(0)).shape == (0, 3)
    assert d.probabilities(np.zeros((0, 3))) == []


def test_probabilities_need_no_room_and_no_decision():
    d = hn.Decider([9.99, 12.99], rewards=(0, 1), max_open=1, seed=0)
    assert set(d.probabilities(FRAME).columns) == {9.99, 12.99}
    d.decide(ROWS[0])
    assert sum(d.probabilities(ROWS[1]).values()) == pytest.approx(1.0)
    assert d.probabilities(pl.DataFrame(ROWS)).columns == ["9.99", "12.99"]


def test_a_table_is_scored_in_one_pass():
    """20,000 rows within seconds: no copy is made for a row."""
    d, many = trained(), contexts(20_000, seed=1)
    d.probabilities(ROWS)
    began = time.process_time()
    assert len(d.probabilities(many)) == 20_000
    assert time.process_time() - began < 15.0


def test_an_embedding_is_read_as_numbers():
    d = hn.Decider(["a", "b"], rewards=(0, 1), seed=0)
    rng = np.random.default_rng(0)
    right = 0
    for t in range(600):
        row = pd.Series({"emb": rng.normal(size=4), "plan": "pro"})
        answer = d.decide(row)
        best = "a" if row["emb"][2] > 0.0 else "b"
        right += t >= 300 and answer.action == best
        d.report(answer, reward=float(answer.action == best))
    assert right > 270
    frame = pd.DataFrame({"emb": [[0.0, 0.0, 2.0, 0.0], [0.0, 0.0, -2.0, 0.0]], "plan": "pro"})
    assert d.probabilities(frame).idxmax(axis=1).tolist() == ["a", "b"]


def test_decisions_without_a_context_are_refused_once_contexts_were_seen():
    d = trained(5)
    before = content(d)
    for call in (d.decide, d.probabilities, lambda: d.decide_many([ROWS[0], None])):
        with pytest.raises(hn.ContextError, match="needs a context"):
            call()
    assert content(d) == before
    assert d.decide({}).action in ACTIONS
    assert d.warm_up() > 0.0


AGES = FRAME["age"].reset_index(drop=True)


@pytest.mark.parametrize("column", [AGES, AGES.head(1), pl.Series([31, 40])])
def test_a_column_is_no_context_and_a_series_is_no_table(column):
    for d in (hn.Decider(ACTIONS, rewards=(0, 1), seed=0), trained(20)):
        before = content(d)
        with pytest.raises(hn.ContextError, match=r"without names.*frame\.iloc"):
            d.decide(column)
        with pytest.raises(hn.ContextError, match=r"learn\(\) takes one context"):
            d.learn(column, ACTIONS[0], 1.0, 0.5)
        for several in (column, FRAME.iloc[0], dict(FRAME.iloc[0])):
            with pytest.raises(hn.InputTypeError, match=r"takes a frame.*Call decide\(\)"):
                d.decide_many(several)
        assert content(d) == before
        assert d.decide(FRAME.iloc[0]).action in ACTIONS
