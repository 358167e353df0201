"""Actions that come and go, and decisions that were made elsewhere."""

import numpy as np
import pandas as pd
import pytest

import hannan as hn
from tests.decisions.test_decider import content, made, played
from tests.decisions.worlds import ACTIONS, contexts, earned


def test_a_new_action_is_found_and_the_others_are_not_forgotten(tmp_path):
    d = made()
    played(d, 400)
    waiting = [d.decide(row, id=i) for i, row in enumerate(contexts(10, seed=5))]
    d.add_action("gold")
    assert d.summary().actions["gold"].plays == 0
    counts = {}
    for row in contexts(400, seed=2):
        answer = d.decide(row)
        counts[answer.action] = counts.get(answer.action, 0) + 1
        d.report(answer, reward=200.0 if answer.action == "gold" else earned(row, answer.action))
    assert counts["gold"] > 300
    for answer in waiting:
        d.report(answer, reward=50.0)
    assert d.summary().decisions == 810
    d.save(tmp_path / "d")
    twin = hn.load(tmp_path / "d")
    assert content(twin) == content(d)
    row = contexts(1)[0]
    assert d.decide(row).action == twin.decide(row).action == "gold"


def test_a_bad_new_action_costs_little():
    d = made()
    played(d, 600)
    d.add_action("rust")
    rewards = []
    for row in contexts(400, seed=2):
        answer = d.decide(row)
        rewards.append(0.0 if answer.action == "rust" else earned(row, answer.action))
        d.report(answer, reward=rewards[-1])
    assert np.mean(rewards) > 145.0
    assert d.summary().actions["rust"].plays < 60


@pytest.mark.parametrize("context", [None, {"age": 3}])
def test_added_before_the_first_decision_it_was_always_there(context):
    one, other = made(actions=[*ACTIONS, "gold"]), made()
    other.add_action("gold")
    for t in range(150):
        a, b = one.decide(context), other.decide(context)
        assert (a.action, a.propensity) == (b.action, b.propensity)
        for d, answer in ((one, a), (other, b)):
            d.report(answer, reward=100.0 + t % 7 if answer.action == "gold" else 40.0)
    assert str(one) == str(other)


def test_a_retired_action_is_never_played_and_may_come_back():
    d = made(exploration=0.2)
    played(d, 50)
    old = next(a for a in (d.decide(row) for row in contexts(80)) if a.action == "green")
    d.retire("green")
    for row in contexts(100, seed=3):
        answer = d.decide(row)
        assert answer.action != "green"
        assert answer.distribution[1] == 0.0
        d.report(answer, reward=3.0)
    assert d.report(old, reward=100.0) is True
    with pytest.raises(hn.ParameterError, match="leaves no action"):
        d.decide(contexts(1)[0], available=["green"])
    d.add_action("green")
    assert "green" in {d.decide(row).action for row in contexts(100, seed=4)}


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.add_action("red"),
        lambda d: d.add_action(None),
        lambda d: d.retire("pink"),
        lambda d: (d.retire("red"), d.retire("red")),
        lambda d: [d.retire(name) for name in ACTIONS],
        lambda d: d.learn({"age": 3}, "pink", 3.0, 0.5),
        lambda d: d.learn({"age": 3}, "red", 300.0, 0.5),
        lambda d: d.learn({"age": 3}, "red", 30.0, 0.0),
        lambda d: d.learn({"age": 3}, "red", 30.0),
        lambda d: d.learn({"age": 3}, "red", propensity=0.5),
        lambda d: d.learn([3.0], "red", 30.0, 0.5),
        lambda d: d.warm_start("log.csv"),
        lambda d: d.warm_start([(None, "red", 3.0)]),
        lambda d: d.warm_start([{"action": "red", "reward": 3.0}]),
        lambda d: d.warm_start(hn.off_policy.Log(None, [0], [0.5], [0.5], n_actions=2)),
    ],
)
def test_refused_calls_change_nothing(call, tmp_path):
    d = made().journal(tmp_path / "d")
    played(d, 10)
    before = content(d)
    with pytest.raises(hn.HannanError):
        call(d)
    known = hn.load(tmp_path / "d")
    assert content(known) == content(d)
    if not d._names.retired:
        assert content(d) == before


def test_too_much_exploration_for_one_more_action_is_refused():
    d = made(exploration=0.3)
    played(d, 5)
    before = content(d)
    with pytest.raises(hn.ParameterError, match="1/4"):
        d.add_action("gold")
    assert content(d) == before


# Decisions of others ------------------------------------------------------------------------------


def random_log(n):
    rng = np.random.default_rng(1)
    rows = contexts(n)
    actions = [ACTIONS[i] for i in rng.integers(3, size=n)]
    return [(row, a, earned(row, a), 1 / 3) for row, a in zip(rows, actions, strict=True)]


def test_a_warm_start_is_worth_its_log():
    cold, warm = made(), made()
    assert warm.warm_start(random_log(800)) == 800
    rows = contexts(100, seed=8)
    earnings = []
    for d in (cold, warm):
        answers = [d.decide(row) for row in rows]
        earnings.append(np.mean([earned(r, a.action) for r, a in zip(rows, answers, strict=True)]))
    assert earnings[1] > 150.0 > earnings[0]
    found = warm.summary()
    assert (found.logged, found.decisions) == (800, 100)
    assert found.regret is None
    assert any("800 logged decisions of another" in note for note in found.notes)


def test_logs_of_every_kind_are_the_same_log(tmp_path):
    rows = random_log(60)
    mappings = [{**c, "action": a, "reward": r, "propensity": q} for c, a, r, q in rows]
    inside = [{"context": c, "action": a, "reward": r, "propensity": q} for c, a, r, q in rows]
    twins = []
    for log in (rows, mappings, inside, iter(rows)):
        d = made()
        assert d.warm_start(log) == 60
        twins.append(content(d))
    assert len(set(twins)) == 1
    one = made()
    for row in rows:
        one.learn(*row)
    assert content(one) == twins[0]
    frame = made()
    assert frame.warm_start(pd.DataFrame(mappings)) == 60


def test_a_log_of_numbers():
    log = hn.off_policy.Log([[0.0, 1.0], [1.0, 0.0]], [0, 2], [0.25, 1.0], [0.5, 0.25], n_actions=3)
    d, twin = made(), made()
    assert d.warm_start(log) == 2
    twin.learn([0.0, 1.0], "red", 150.0, 0.5)
    twin.learn([1.0, 0.0], "blue", 0.0, 0.25)
    assert content(d) == content(twin)
    lossy = made(rewards=None, losses=(0, 1))
    assert lossy.warm_start(log) == 2


def test_a_log_with_a_bad_row_says_which():
    d = made()
    log = [*random_log(5), (contexts(1)[0], "red", 1e9, 0.5)]
    with pytest.raises(hn.LossError, match="Row 5 of the log"):
        d.warm_start(log)
    assert d.summary().logged == 5


# All of it, in a journal ---------------------------------------------------------------------


def random_call(rng, row, step, wrong, waiting):
    """A call, which is refused if it is a wrong one, or if nothing waits."""
    calls = [
        lambda d: d.decide(row, id=step, available=["pink"] if wrong else None),
        lambda d: d.decide(row, id=waiting[0] if wrong and waiting else step),
        lambda d: d.decide({"a": object()} if wrong else row, ["red", "blue"], id=step),
        lambda d: d.report(waiting[-1], reward=900.0 if wrong else float(step)),
        lambda d: d.report(waiting[0], reward="x" if wrong else 1.0),
        lambda d: d.expire(older_than=-1 if wrong else 8.0),
        lambda d: d.expire(older_than=12.0, reward=900 if wrong else 0.0),
        lambda d: d.learn(row, "red", 900.0 if wrong else 9.0, 0.5),
        lambda d: d.add_action("red" if wrong else f"new {step}") if step % 5 == 0 else None,
        lambda d: d.retire("pink" if wrong else "blue"),
        lambda d: d.add_action("blue"),
    ]
    return calls[int(rng.integers(len(calls)))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("plain_arms", [True, False])
def test_any_calls_are_replayed_and_refused_ones_are_not(tmp_path, seed, plain_arms):
    """Random calls, good and bad: a twin that got the good ones, and the file, know the same."""
    rng = np.random.default_rng([seed, plain_arms])
    rows = [None] * 30 if plain_arms else contexts(30, seed)
    d, twin = made().journal(tmp_path / "d", every=9, fsync=False), made()
    clock = [1000.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hannan.decisions.decider.time.time", lambda: clock[0])
        for step in range(70):
            clock[0] += 1.0
            row, wrong = rows[int(rng.integers(30))], bool(rng.random() < 0.3)
            call = random_call(rng, row, step, wrong, d.open_decisions)
            before = content(d)
            try:
                call(d)
            except (hn.HannanError, IndexError):
                assert content(d) == before
            else:
                call(twin)
            if step % 10 == 9:
                assert content(hn.load(tmp_path / "d")) == content(d) == content(twin)
    assert str(d) == str(twin)
    assert str(d).count("\n") == 4
