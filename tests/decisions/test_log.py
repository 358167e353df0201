"""The decisions of a Decider as a log: names, units, propensities, and other rules' true values."""

import random
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest

import hannan as hn
from hannan.off_policy import Log, evaluate
from tests.decisions.prices import PRICES, buys, sell, shop, visitor


def test_a_log_has_names_units_contexts_and_propensities():
    d = shop(0, exploration=0.1)
    rows = [visitor(random.Random(i)) for i in range(60)]
    decisions = [d.decide(row) for row in rows]
    for i, decision in enumerate(decisions[::-1]):  # outcomes in another order
        d.report(decision, reward=float(i % 7))
    log = d.log()
    assert isinstance(log, Log)
    assert (len(log), log.names, log.unit, log.value_range) == (
        *(60, tuple(PRICES), "reward"),
        (0.0, 14.0),
    )
    assert list(log.contexts) == rows
    assert [each.name for each in log] == [decision.action for decision in decisions]
    assert log.propensities.tolist() == [decision.propensity for decision in decisions]
    assert log.rewards.tolist() == [float((59 - i) % 7) for i in range(60)]
    assert log.notes == ()
    assert np.ptp(log.times) < 60.0
    assert Log.from_frame(log.to_frame()) == log


def test_a_log_without_decisions_and_without_contexts():
    d = hn.Decider(["a", "b"], losses=(0, 5), seed=0)
    assert len(d.log()) == 0
    for _ in range(20):
        d.report(d.decide(), loss=Decimal("2.5"))
    log = d.log()
    assert (log.unit, log.losses.tolist(), log.contexts) == ("loss", [2.5] * 20, [None] * 20)
    assert evaluate(log, "a", check=False).value == pytest.approx(2.5)


def test_a_log_says_what_it_leaves_out():
    d = shop(1)
    for i in range(40):
        d.decide({"age": i}, id=i)
    for i in range(25):
        d.report(i, reward=3.0)
    assert (
        d.log()
        .notes[0]
        .startswith("The log has 25 of 40 decisions; left out: 15 open; estimates are right")
    )
    d.expire(0.0)
    d.decide({"age": 50}, id="late")
    log = d.log()
    assert log.notes[0].startswith(
        "The log has 25 of 41 decisions; left out: 1 open, 15 expired without"
    )
    assert "25 of 41" in repr(log)
    assert log.notes[0] in evaluate(log, log.names[log.actions[0]]).notes


def test_decisions_that_expire_with_an_outcome_are_in_the_log():
    """No answer means no sale: the decisions count, and an answer after that is late."""
    d = shop(1)
    for i in range(10):
        d.decide({"age": i}, id=i)
    d.report(3, reward=8.0)
    d.expire(0.0, reward=0.0)
    assert sorted(d.log().rewards.tolist()) == [0.0] * 9 + [8.0]
    assert d.log().notes == ()
    assert d.report(4, reward=11.0) is False
    assert d.summary().late == 1


def test_the_last_decisions_are_kept(monkeypatch):
    monkeypatch.setattr("hannan.decisions.decider._REMEMBERED", 30)
    d = shop(1)
    for i in range(70):
        d.report(d.decide({"age": i}), reward=1.0)
    log = d.log()
    assert [row["age"] for row in log.contexts] == [*range(40, 70)]
    assert log.notes == ("The log has 30 of 70 decisions; left out: 40 too old to be in memory",)


def test_files_and_journals_hold_the_log(tmp_path):
    day = datetime(2024, 5, 6, 7, tzinfo=UTC)
    plain = shop(0, holdout=0.3)
    journalled = shop(0, holdout=0.3).journal(tmp_path / "j", fsync=False, every=25)
    for d in (plain, journalled):
        for i in range(60):
            row = {"age": i, "day": day, "odd": (1, None), "size": Decimal("1.5"), 3: "x"}
            d.decide(row, id=i, available=PRICES[: 2 + i % 3])
            if i % 3:
                d.report(i, reward=1.0)
    journalled.close()
    plain.save(tmp_path / "f")
    first = plain.log()
    assert len(first) == 40
    assert first.contexts[0] == {
        "age": 1,
        "day": day,
        "odd": (1, None),
        "size": Decimal("1.5"),
        3: "x",
    }
    for again in (hn.load(tmp_path / "f"), hn.load(tmp_path / "j")):
        log = again.log()
        assert log.contexts == first.contexts
        assert [each.tolist() for each in log.available] == [
            each.tolist() for each in first.available
        ]
        assert (log.actions == first.actions).all()
        assert (log.propensities == first.propensities).all()
        assert log.notes == first.notes


def test_actions_that_come_and_go_are_available_when_they_were():
    d = hn.Decider(["a", "b"], rewards=(0, 1), exploration=0.1, seed=0)
    d.report(d.decide({"x": 1}), reward=1.0)
    d.add_action("c")
    d.report(d.decide({"x": 2}), reward=1.0)
    d.retire("a")
    d.report(d.decide({"x": 3}), reward=1.0)
    log = d.log()
    assert log.names == ("a", "b", "c")
    assert [each.tolist() for each in log.available] == [[0, 1], [0, 1, 2], [1, 2]]
    with pytest.raises(hn.ParameterError, match="were available"):
        evaluate(log, "c")


def test_a_log_is_of_actions_with_names():
    d = hn.Decider(rewards=(0, 1), seed=0)
    d.report(d.decide({"x": 1}, actions={"p": {"y": 1}, "q": {"y": 2}}), reward=1.0)
    with pytest.raises(hn.ParameterError, match=r"log\(\) needs a Decider with fixed actions"):
        d.log()


def test_a_log_teaches_another_decider_by_names_and_units():
    d = shop(0, exploration=0.1)
    sell(d, 50, 0)
    other = hn.Decider([14.0, 11.0, 8.0, 6.0, 5.0], rewards=(0, 20), seed=0)
    taught = []
    other.learn = lambda context, action, propensity, reward: taught.append((action, reward))
    assert other.warm_start(d.log()) == 50
    assert taught == [(each.name, each.reward) for each in d.log()]
    with pytest.raises(hn.ParameterError, match="holds rewards"):
        hn.Decider(PRICES, losses=(0, 14)).warm_start(d.log())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text.replace("4]", "5]"),
        lambda text: text.replace("4]", "0]"),
        lambda text: text.replace("4]", "[3,1]]"),
        lambda text: text.replace("4]", "[0,1,2,9]]"),
        lambda text: text.replace("4]", "[]]"),
        lambda text: "3",
        lambda text: None,
    ],
)
def test_forged_requests_are_refused(change, tmp_path):
    d = shop(0)
    d.report(d.decide({"age": 4}, id="x"), reward=1.0)
    *rest, text = d._open.closed["x"]
    d._open.closed["x"] = (*rest, change(text))
    d.save(tmp_path / "f")
    with pytest.raises(hn.DamagedFileError):
        hn.load(tmp_path / "f")


def truth(log, rule):
    """What a rule earns in the rows of a log."""
    return np.mean([(a := rule(row)) * buys(a, row) for row in log.contexts])


def rule(context):
    return 14.0 if context["segment"] == "pro" else 8.0


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("how", ["plain", "holdout", "available"])
def test_the_value_of_a_rule_on_the_log_of_a_decider_is_true(how):
    """24 shops: 95 % intervals hold in 20 at least (a chance of 0.006), and none is refused."""
    hits = []
    for seed in range(24):
        d = shop(seed, exploration=0.08, holdout=0.1 if how == "holdout" else 0.0)
        rng = random.Random(seed)
        for _ in range(500):
            row, some = visitor(rng), None
            if how == "available":
                some = [8.0, 14.0, *rng.sample([6.0, 11.0], rng.randint(0, 2))]
            decision = d.decide(row, available=some)
            price = decision.action
            d.report(decision, reward=price if rng.random() < buys(price, row) else 0.0)
        log = d.log()
        estimate = evaluate(log, rule)
        hits.append(estimate.low <= truth(log, rule) <= estimate.high)
    assert sum(hits) >= 20
