"""Ids of any kind, requests that are made again, errors by kind, and metrics as JSON."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import hannan as hn
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from tests.decisions.worlds import ACTIONS, contexts, earned

ROW, OTHER = contexts(2)


def content(decider):
    return b"".join(bytes(part) for part in packed(decider, Encoder()))


def new(**changes):
    options = {"actions": ACTIONS, "rewards": (0, 200), "baseline": "red", "seed": 3, **changes}
    return hn.Decider(**options)


def same(answer, other):
    pairs = [(each.action, each.propensity, each.id) for each in (answer, other)]
    return pairs[0] == pairs[1]


# Ids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "alias", "stored"),
    [
        (np.int64(7), 7, 7),
        (np.uint8(7), np.int16(7), 7),
        (pd.Series([7])[0], 7, 7),
        (UUID(int=7), str(UUID(int=7)), str(UUID(int=7))),
        (np.str_("order"), "order", "order"),
    ],
)
def test_ids_are_integers_of_any_kind_uuids_and_text(id, alias, stored):
    d = new()
    answer = d.decide(ROW, id=id)
    assert (answer.id, type(answer.id)) == (stored, type(stored))
    assert d.decision(alias).action == d.decision(id).action == answer.action
    assert d.report(alias, reward=np.float32(3.0)) is True
    assert d.report(id, reward=3.0) is False


@pytest.mark.parametrize("bad", ["", "x" * 201, 1.5, ["a"], True, np.bool_(True), 2**63, b"a"])
def test_other_ids_are_refused(bad):
    with pytest.raises(hn.InputTypeError, match="id of a decision"):
        new().decide(ROW, id=bad)


def test_ids_that_the_decider_makes_are_all_different():
    d = new()
    assert len({d.decide(ROW).id for _ in range(50)}) == 50


@pytest.mark.parametrize("closed", ["open", "reported", "expired"])
@pytest.mark.parametrize("loaded", ["as it is", "saved", "journal"])
def test_the_same_request_under_the_same_id_gets_the_same_decision(tmp_path, closed, loaded):
    d = new(max_open=2)
    if loaded == "journal":
        d.journal(tmp_path / "d.journal")
    first = d.decide(ROW, id="a")
    bound = d.decide(ROW, ["red", "blue"], id="b")
    if closed == "reported":
        d.report("a", reward=5.0)
        d.report("b", reward=5.0)
    elif closed == "expired":
        d.expire(older_than=0.0)
    if loaded == "saved":
        d.save(tmp_path / "d.hannan")
        d = hn.load(tmp_path / "d.hannan")
    elif loaded == "journal":
        d.close()
        d = hn.Decider.open(tmp_path / "d.journal")
    before = content(d)
    assert same(d.decide(ROW, id="a"), first)
    assert same(d.decide(dict(reversed(ROW.items())), id="a"), first)
    assert same(d.decide(pd.DataFrame([ROW]), id="a"), first)
    assert same(d.decide(ROW, ["blue", "red"], id="b"), bound)
    assert same(d.decide_many([ROW], ids=["a"])[0], first)
    kind = hn.OpenDecisionError if closed == "open" else hn.ClosedDecisionError
    for context, available, id in [
        (OTHER, None, "a"),
        ({**ROW, "basket": 1.5}, None, "a"),
        (ROW, ["red", "blue"], "a"),
        (ROW, ["red"], "b"),
        (ROW, None, "b"),
    ]:
        with pytest.raises(kind, match=f"decision '{id}'"):
            d.decide(context, available, id=id)
    assert content(d) == before
    d.close()


def test_a_request_is_the_same_after_actions_were_added_and_retired():
    d = new()
    first = d.decide(ROW, id="a")
    d.add_action("violet")
    d.retire("red" if first.action != "red" else "blue")
    assert same(d.decide(ROW, id="a"), first)


def test_a_request_with_items_is_the_same_if_the_offer_is():
    d = hn.Decider(rewards=(0, 1), seed=0)
    offer = {"sku-1": {"price": 9.5}, "sku-2": {"price": 4.0}}
    first = d.decide(ROW, id=1, actions=offer)
    assert same(d.decide(ROW, id=1, actions=offer), first)
    d.report(1, reward=1.0)
    assert same(d.decide(ROW, id=1, actions=offer), first)
    with pytest.raises(hn.ClosedDecisionError):
        d.decide(ROW, id=1, actions={**offer, "sku-3": {"price": 1.0}})


def test_a_rule_is_not_asked_again():
    asked = []
    d = new(baseline=lambda row: asked.append(row) or "red")
    d.decide(ROW, id=1)
    d.decide(ROW, id=1)
    assert len(asked) == 1


# Errors and outcomes ----------------------------------------------------------------------------


def test_each_mistake_with_a_decision_has_an_error_of_its_own():
    d = new()
    d.decide(ROW, id="a")
    d.decide(ROW, id="b")
    d.report("b", reward=5.0)
    for kind, call in [
        (hn.UnknownDecisionError, lambda: d.report("c", reward=1.0)),
        (hn.UnknownDecisionError, lambda: d.decision("c")),
        (hn.OpenDecisionError, lambda: d.decide(OTHER, id="a")),
        (hn.ClosedDecisionError, lambda: d.decide(OTHER, id="b")),
        (hn.ClosedDecisionError, lambda: d.decision("b")),
        (hn.ContradictoryOutcomeError, lambda: d.report("b", reward=6.0)),
    ]:
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind
        assert isinstance(caught.value, hn.DecisionError)


@pytest.mark.parametrize("reward", [Decimal("19.99"), Fraction(1999, 100), np.float64(19.99)])
def test_outcomes_are_numbers_of_any_kind(reward):
    d = new()
    d.report(d.decide(ROW, id=1), reward=reward)
    assert d.summary().mean == pytest.approx(19.99)
    assert d.report(1, reward=reward) is False
    d.learn(ROW, "red", reward, 0.5)


HUGE = [10**400, Fraction(-(10**400)), Decimal("1e999")]


@pytest.mark.parametrize(
    "reward", [Decimal("NaN"), Decimal("Infinity"), Decimal(201), "3", None, *HUGE]
)
def test_outcomes_that_are_no_numbers_are_refused(reward):
    d = new()
    with pytest.raises(hn.HannanError):
        d.report(d.decide(ROW), reward=reward)


def test_messages_end_their_sentences_and_name_both_ends():
    d = new()
    with pytest.raises(hn.ParameterError, match=r"Unknown action 'zzz'\. Actions: 'red', 'g"):
        d.decide(ROW, available=["zzz"])
    with pytest.raises(hn.ParameterError, match=r"'gren'; did you mean 'green'\? Actions:"):
        d.decide(ROW, available=["gren"])
    for max_open in (0, 10**9):
        with pytest.raises(hn.ParameterError, match=r"integer >= 1 and at most [\d,]+\. Got"):
            new(max_open=max_open)


# Metrics ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[None] * 30, contexts(30)], ids=["arms", "contexts"])
@pytest.mark.parametrize("actions", [ACTIONS, [9.99, 12, "none"], None], ids=str)
def test_metrics_are_json_at_all_times(rows, actions):
    d = new(actions=actions, baseline=None)
    offer = {} if actions else {"actions": {9.99: {"size": 3.0}, 12: {"size": 1.0}}}
    for number, row in enumerate(rows):
        text = json.dumps(d.metrics(), allow_nan=False)
        assert json.loads(text) == d.metrics()
        answer = d.decide(row, **offer)
        if number != 7:
            d.report(answer, reward=earned(contexts(1)[0], answer.action))
    d.expire(older_than=0.0)
    assert json.loads(json.dumps(d.metrics(), allow_nan=False)) == d.metrics()
    assert d.metrics()["decisions"] == 30


def test_what_is_not_known_is_none():
    numbers = new().metrics()
    assert math.isnan(new().summary().mean)
    assert numbers["mean_reward"] is None
    assert numbers["regret"] is None
