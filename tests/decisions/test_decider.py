"""Names, units, ids, late and repeated reports, expiry, and refused calls that change nothing."""

import copy
import datetime as dt
import math
import pickle
import threading
from decimal import Decimal

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from tests.decisions.worlds import ACTIONS, contexts, earned


def content(decider):
    """Everything that is known, as bytes."""
    return b"".join(bytes(part) for part in packed(decider, Encoder()))


def played(decider, n, seed=0):
    found = []
    for row in contexts(n, seed):
        answer = decider.decide(row)
        decider.report(answer, reward=earned(row, answer.action))
        found.append(answer)
    return found


def made(**changes):
    given = {"actions": ACTIONS, "rewards": (0, 200), "baseline": "red", "seed": 3, **changes}
    return hn.Decider(**given)


def test_one_decision_is_not_called_decisions():
    decider = made()
    decider.decide()
    assert str(decider.summary()).startswith("1 decision, 0 with feedback")
    decider.decide()
    assert str(decider.summary()).startswith("2 decisions, 0 with feedback")


# What is decided ------------------------------------------------------------------------------


def test_it_learns_which_action_is_best_where():
    d = made()
    played(d, 1500)
    last = [earned(row, d.decide(row).action) for row in contexts(300, seed=9)]
    assert np.mean(last) > 150.0  # 170 at best, 90 by chance
    assert d.summary().mean > 130.0


def test_plain_arms_need_no_context():
    d = hn.Decider([9.99, 12.99], losses=(0, 5), seed=0)
    for _ in range(300):
        answer = d.decide()
        d.report(answer, loss=1.0 if answer.action == 12.99 else 4.0)
    assert d.decide().action == 12.99
    with pytest.raises(hn.ContextError, match="first decision had no context"):
        d.decide({"age": 3})


def test_the_propensity_is_a_number_and_at_least_the_floor():
    d = made(exploration=0.05)
    answers = played(d, 300)
    assert all(type(answer.propensity) is float for answer in answers)
    assert min(answer.propensity for answer in answers) >= 0.05 - 1e-12
    assert all(sum(answer.distribution) == pytest.approx(1.0) for answer in answers)
    assert all(
        answer.distribution[ACTIONS.index(answer.action)] == answer.propensity for answer in answers
    )


def test_by_default_two_decisions_in_a_thousand_are_random():
    d = made()
    assert all(answer.distribution.min() >= 0.002 / 3 - 1e-12 for answer in played(d, 400))
    assert d.summary().min_propensity < 0.1


@pytest.mark.stat
def test_actions_are_drawn_with_the_propensities_stated():
    """The mean of 1/q over decisions that took an action is how many could have."""
    d = made(exploration=0.1)
    total = np.zeros(3)
    answers = played(d, 2000)
    for answer in answers:
        total[ACTIONS.index(answer.action)] += 1.0 / answer.propensity
    spread = math.sqrt(9.0 * 2000)  # a weight has variance 1/q - 1, at most 9
    assert np.all(np.abs(total - 2000) < 4.0 * spread)


def test_only_available_actions_are_played():
    d = made(exploration=0.2)
    for row in contexts(200):
        answer = d.decide(row, available=["blue", "red"])
        assert answer.action in ("red", "blue")
        assert answer.distribution[1] == 0.0
        d.report(answer, reward=earned(row, answer.action))


def test_rewards_and_losses_are_the_same_game():
    rows = contexts(200)
    win, lose = made(rewards=(0, 200)), made(rewards=None, losses=(-200, 0))
    for row in rows:
        a, b = win.decide(row), lose.decide(row)
        assert (a.action, a.propensity) == (b.action, b.propensity)
        win.report(a, reward=earned(row, a.action))
        lose.report(b, loss=-earned(row, b.action))
    one, other = win.summary(), lose.summary()
    assert one.mean == pytest.approx(-other.mean)
    assert one.baseline.interval == pytest.approx([-x for x in other.baseline.interval[::-1]])
    assert one.baseline.gain == pytest.approx(other.baseline.gain)


# Reports --------------------------------------------------------------------------------------


def test_reports_come_late_in_any_order_and_again():
    d = made()
    rows = contexts(60)
    answers = [d.decide(row, id=f"order-{i}") for i, row in enumerate(rows)]
    order = np.random.default_rng(0).permutation(60)
    for i in order[:50]:
        assert d.report(f"order-{i}", reward=earned(rows[i], answers[i].action)) is True
    before = content(d)
    for i in order[:50]:
        assert d.report(answers[i], reward=earned(rows[i], answers[i].action)) is False
    assert content(d) == before
    assert sorted(d.open_decisions) == sorted(f"order-{i}" for i in order[50:])
    with pytest.raises(hn.DecisionError, match="already has the outcome"):
        d.report(answers[order[0]], reward=0.123)
    with pytest.raises(hn.DecisionError, match="Unknown decision id 'order-77'"):
        d.report("order-77", reward=1.0)
    assert content(d) == before
    assert d.decision(f"order-{order[-1]}").action == answers[order[-1]].action


def test_old_decisions_expire_with_what_no_answer_means(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("hannan.decisions.decider.time.time", lambda: now[0])
    d = made()
    rows = contexts(30)
    for i, row in enumerate(rows):
        now[0] += 1.0
        d.decide(row, id=i)
    assert d.expire(older_than=dt.timedelta(seconds=20), reward=0.0) == 9
    assert d.expire(older_than=20.0) == 0
    assert d.open_decisions == list(range(9, 30))
    assert d.expire(older_than=10) == 10
    found = d.summary()
    assert (found.with_feedback, found.expired, found.open, found.late) == (9, 10, 11, 0)
    assert d.report(12, reward=5.0) is False
    assert d.report(3, reward=5.0) is False
    assert d.summary().late == 2
    for bad in (-1, "an hour", True, float("nan")):
        with pytest.raises(hn.ParameterError, match="older_than"):
            d.expire(bad)


def test_open_decisions_are_limited_and_it_says_so():
    d = made(max_open=3)
    row = contexts(1)[0]
    for _ in range(3):
        d.decide(row)
    with pytest.raises(hn.DecisionError, match="max_open=3"):
        d.decide(row)
    d.report(d.open_decisions[0], reward=3.0)
    d.decide(row)


def test_memory_stays_flat_with_unanswered_ones_expired(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hannan.decisions.decider.time.time", lambda: now[0])
    monkeypatch.setattr("hannan.decisions.decider._REMEMBERED", 50)
    d = hn.Decider(ACTIONS, rewards=(0, 1), seed=0)
    sizes = []
    for t in range(1200):
        now[0] += 1.0
        answer = d.decide()
        if t % 3:
            d.report(answer, reward=0.5)
        d.expire(older_than=20)
        if t in (300, 1199):
            sizes.append(len(content(d)))
    assert sizes[1] <= sizes[0] * 1.05


# What is refused changes nothing -----------------------------------------------------------------


BAD_CALLS = [
    lambda d: d.decide(contexts(1)[0], available=[]),
    lambda d: d.decide(contexts(1)[0], available=["gren"]),
    lambda d: d.decide(contexts(1)[0], available="red"),
    lambda d: d.decide({"age": object()}),
    lambda d: d.decide(contexts(1)[0], id=3.5),
    lambda d: d.report("open", reward=200.1),
    lambda d: d.report("open", reward=-1),
    lambda d: d.report("open", reward=float("nan")),
    lambda d: d.report("open", reward="much"),
    lambda d: d.report("open", reward=[1.0, 2.0]),
    lambda d: d.report("open", loss=1.0),
    lambda d: d.report("open"),
    lambda d: d.report("open", reward=1.0, loss=1.0),
    lambda d: d.report(None, reward=1.0),
    lambda d: d.report("never", reward=1.0),
    lambda d: d.decision("never"),
    lambda d: d.why("never"),
    lambda d: d.expire(older_than=-3),
    lambda d: d.expire(older_than=0, reward=500),
]


@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_a_refused_call_changes_nothing(number):
    d = made()
    played(d, 20)
    d.decide(contexts(1)[0], id="open")
    before = content(d)
    with pytest.raises(hn.HannanError):
        BAD_CALLS[number](d)
    assert content(d) == before


def test_a_baseline_that_fails_changes_nothing():
    def rule(context):
        return {"Rome": "red"}[context["city"]]

    d = made(baseline=rule)
    before = content(d)
    with pytest.raises(KeyError):
        d.decide({"city": "Oslo"})
    assert content(d) == before
    d.decide({"city": "Rome"})


def test_out_of_range_outcomes_are_clipped_if_asked():
    d = made(clip=True)
    row = contexts(1)[0]
    d.report(d.decide(row), reward=1e9)
    d.report(d.decide(row), reward=-1e9)
    assert d.summary().mean == 100.0
    with pytest.raises(hn.LossError, match="nan"):
        d.report(d.decide(row), reward=math.nan)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rewards": None}, "needs the range"),
        ({"losses": (0, 1)}, "got both"),
        ({"rewards": (1, 1)}, "rewards"),
        ({"rewards": (0, math.inf)}, "rewards"),
        ({"actions": []}, "at least one"),
        ({"actions": "red"}, "list of names"),
        ({"actions": ["red", "red"]}, "twice"),
        ({"actions": ["red", None]}, "must be a line of text"),
        ({"baseline": "pink"}, "Unknown action 'pink'"),
        ({"exploration": 0.4}, "exploration"),
        ({"exploration": "much"}, "exploration"),
        ({"max_open": 0}, "max_open"),
        ({"confidence": 1.0}, "confidence"),
        ({"features": 3}, "features"),
        ({"clip": 1}, "clip"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(given, message):
    with pytest.raises(hn.HannanError, match=message):
        made(**given)


# What is said ---------------------------------------------------------------------------------


def test_it_says_how_it_fares_in_five_lines_and_in_units():
    d = made(exploration=0.1)
    assert str(d).count("\n") == 4
    played(d, 1500)
    assert str(d).count("\n") == 4
    assert "reward from 0 to 200" in str(d)
    found = d.summary()
    truth = np.mean([earned(row, "red") for row in contexts(1500)])
    assert found.baseline.interval[0] <= truth <= found.baseline.interval[1]
    assert found.baseline.verdict == "better"
    assert 0.0 < found.baseline.gain[0] < found.mean - truth < found.baseline.gain[1]
    assert set(found.actions) == set(ACTIONS)
    numbers = d.metrics()
    assert numbers["decisions"] == 1500
    assert numbers["baseline"]["gain_low"] == found.baseline.gain[0]
    assert ": better" in str(found)
    assert found.predictor_share == numbers["predictor_share"]
    assert found.predictor_share > 0.9
    assert f"predictor took part in {100 * found.predictor_share:.0f} %" in str(found)


def test_when_one_looks_changes_nothing():
    asked, left = made(baseline="red"), made(baseline="red")
    rows = contexts(600, seed=3)
    for t, row in enumerate(rows):
        some = ["red", "blue"] if t % 7 == 0 else None
        for d in (asked, left):
            d.decide(row, some, id=t)
            if t >= 5 and t % 4:
                d.report(t - 5, reward=float(t % 100))
            if t == 400:
                d.add_action("violet")
        if t % 3 == 0:
            looks = (
                asked.summary,
                asked.metrics,
                lambda: str(asked),
                lambda: packed(asked, Encoder()),
            )
            looks[t % 4]()
    for d in (asked, left):  # the time of a decision is no part of what is decided
        d._open.waiting = {key: (*one[:3], 0.0, *one[4:]) for key, one in d._open.waiting.items()}
        d._open.closed = {key: (*one[:5], 0.0, one[6]) for key, one in d._open.closed.items()}
    assert content(asked) == content(left)
    assert asked.metrics() == left.metrics()


def test_a_rule_can_be_the_baseline():
    d = made(baseline=lambda context: "red" if context["new"] else "blue", exploration=0.1)
    played(d, 1000)
    found, rows = d.summary().baseline, contexts(1000)
    truth = np.mean([earned(row, "red" if row["new"] else "blue") for row in rows])
    assert found.interval[0] <= truth <= found.interval[1]


def test_why_shows_probabilities_and_expected_outcomes():
    d = made()
    played(d, 300)
    row = contexts(1)[0]
    answer = d.decide(row, id="x")
    for asked in ("x", answer):
        why = d.why(asked)
        assert why.probabilities[answer.action] == answer.propensity
        assert sum(why.probabilities.values()) == pytest.approx(1.0)
        assert set(why.scores) == set(ACTIONS)
        assert all(0.0 <= score <= 200.0 for score in why.scores.values())
        assert str(why).count("\n") == 3
    d.report(answer, reward=3.0)
    assert d.why(answer).scores == why.scores
    with pytest.raises(hn.OrderError, match="is closed"):
        d.why("x")


# Files and threads ----------------------------------------------------------------------------


@pytest.mark.parametrize("plain_arms", [True, False])
def test_saved_and_loaded_it_decides_identically(tmp_path, plain_arms):
    rows = [None] * 400 if plain_arms else contexts(400)
    d = made()
    waiting = []
    for t, row in enumerate(rows[:300]):
        answer = d.decide(row, available=["red", "blue"] if t % 7 == 0 else None)
        if t % 5:
            d.report(answer, reward=150.0 if answer.action == "blue" else 20.0)
        else:
            waiting.append(answer)
    d.expire(older_than=0.0) if plain_arms else None
    d.save(tmp_path / "d.hannan")
    twin = hn.load(tmp_path / "d.hannan")
    assert content(twin) == content(d)
    for answer in waiting[::2]:
        assert d.report(answer.id, reward=3.0) == twin.report(answer.id, reward=3.0)
    for t, row in enumerate(rows[300:]):
        one, other = d.decide(row, id=t), twin.decide(row, id=t)
        assert (one.action, one.propensity) == (other.action, other.propensity)
        for each in (d, twin):
            each.report(t, reward=30.0)
    assert str(d) == str(twin)


def test_a_new_one_without_a_seed_is_stored_with_one(tmp_path):
    d = made(seed=None)
    played(d, 30)
    d.save(tmp_path / "d.hannan")
    twin = hn.load(tmp_path / "d.hannan")
    rows = contexts(50, seed=4)
    assert [d.decide(row).action for row in rows] == [twin.decide(row).action for row in rows]


def test_threads_take_turns():
    d = hn.Decider(ACTIONS, rewards=(0, 1), seed=0)
    failures = []

    def work(number):
        try:
            for t in range(60):
                answer = d.decide(id=f"{number}-{t}")
                d.report(answer, reward=0.5)
                if t % 20 == 0:
                    str(d)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert d.summary().decisions == d.summary().with_feedback == 240


def test_it_can_be_compiled_ahead_of_time_and_copied():
    d = made()
    before = content(d)
    assert d.warm_up(contexts(1)[0]) > 0.0
    assert content(d) == before
    played(d, 20)
    twin = copy.deepcopy(d)
    known = content(d)
    played(twin, 5)
    assert content(d) == known
    row = contexts(1)[0]
    again = pickle.loads(pickle.dumps(d))
    assert again.decide(row).action == d.decide(row).action
    assert repr(d.clone()) == repr(made())


def test_actions_that_are_nearly_names_are_refused_with_the_fix():
    with pytest.raises(hn.InputTypeError, match=r"must be a list of names in a fixed order"):
        hn.Decider({"a", "b", "c"}, rewards=(0, 1))
    with pytest.raises(hn.InputTypeError, match=r"Decimal\('9.99'\): give 9.99"):
        hn.Decider([Decimal("9.99"), Decimal("12.5")], rewards=(0, 1))
    with pytest.raises(hn.ParameterError, match=r"did you mean the number 12.0"):
        hn.Decider([9.0, 12.0], rewards=(0, 1), baseline="12.0")
    d = hn.Decider(["9", "12"], rewards=(0, 1))
    with pytest.raises(hn.ParameterError, match=r"did you mean '12'"):
        d.retire(12)
    with pytest.raises(hn.ParameterError, match="did you mean '12'"):
        d.learn(None, 12, 1.0, 0.5)


def test_why_of_an_answered_decision_says_what_to_give():
    d = hn.Decider(["a", "b"], rewards=(0, 1), seed=0)
    decision = d.decide(id="x")
    d.report("x", reward=1.0)
    with pytest.raises(hn.HannanError, match=r"For why\(\), pass the decision"):
        d.why("x")
    assert d.why(decision).action == decision.action
