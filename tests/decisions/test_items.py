"""Offers of items with features, another one each time."""

import numpy as np
import pytest

import hannan as hn
from tests.decisions.test_decider import content


def offer(rng, n=5):
    return {
        f"sku-{i}": {"price": float(rng.uniform(1, 20)), "kind": ["book", "toy"][i % 2]}
        for i in rng.choice(30, n, replace=False).tolist()
    }


def earned(context, item, rng):
    suits = (item["kind"] == "book") == (context is None or context["age"] > 30)
    return float(rng.random() < 0.1 + 0.7 * suits)


def cheapest(context, actions):
    return min(actions, key=lambda name: actions[name]["price"])


def play(decider, n, seed=0, contexts=True):
    rng, found = np.random.default_rng(seed), []
    for _ in range(n):
        actions = offer(rng, int(rng.integers(2, 7)))
        context = {"age": int(rng.integers(10, 60))} if contexts else None
        answer = decider.decide(context, actions=actions)
        assert answer.action in actions
        assert len(answer.distribution) == len(actions)
        found.append(
            (answer.action, answer.propensity, earned(context, actions[answer.action], rng))
        )
        decider.report(answer, reward=found[-1][-1])
    return found


def made(**changes):
    return hn.Decider(**{"rewards": (0, 1), "baseline": cheapest, "seed": 0, **changes})


@pytest.mark.parametrize("contexts", [True, False])
def test_it_learns_which_items_are_worth_offering(contexts, tmp_path):
    d = made(exploration=0.02)
    found = play(d, 600, contexts=contexts)
    assert np.mean([reward for _, _, reward in found[-200:]]) > 0.6  # 0.73 at best, 0.45 by chance
    assert min(q for _, q, _ in found) >= 0.02 - 1e-12
    assert str(d).count("\n") == 4
    low, high = d.summary().baseline.interval
    assert low <= 0.45 <= high
    d.save(tmp_path / "d")
    twin = hn.load(tmp_path / "d", trusted=[cheapest])
    assert content(twin) == content(d)
    assert play(d, 60, 1, contexts) == play(twin, 60, 1, contexts)


def test_a_journal_holds_offers(tmp_path):
    d = made().journal(tmp_path / "d", every=17, fsync=False)
    play(d, 40)
    rng = np.random.default_rng(4)
    answer = d.decide({"age": 3}, id="x", actions=offer(rng))
    d.learn({"age": 3}, "sku-1", 1.0, 0.5, actions={"sku-1": {"price": 3}, 7: {"price": 2}})
    known = content(d)
    d.close()
    again = made().journal(tmp_path / "d")
    assert content(again) == known
    assert again.decision("x").action == answer.action
    assert again.why("x").probabilities == d.why(answer).probabilities
    assert again.summary().logged == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.decide({"age": 3}),
        lambda d: d.decide({"age": 3}, actions={}),
        lambda d: d.decide({"age": 3}, actions=["sku-1"]),
        lambda d: d.decide({"age": 3}, actions={"a": {"price": object()}}),
        lambda d: d.decide({"age": 3}, actions={None: {"price": 2}}),
        lambda d: d.decide({"age": 3}, actions={"a": [1.0, 2.0], "b": {"price": 3}}),
        lambda d: d.decide({"age": 3}, available=["a"], actions={"a": {"price": 1}}),
        lambda d: d.add_action("a"),
        lambda d: d.retire("a"),
        lambda d: d.warm_start([]),
        lambda d: d.learn({"age": 3}, "a", 1.0, 0.5),
        lambda d: d.learn({"age": 3}, "a", 1.0, 0.5, actions={"b": {"price": 1}}),
    ],
)
def test_refused_calls_change_nothing(call):
    d = made(baseline=None)
    play(d, 10)
    before = content(d)
    with pytest.raises(hn.HannanError):
        call(d)
    assert content(d) == before


def test_offers_are_for_a_decider_without_actions_of_its_own():
    with pytest.raises(hn.ParameterError, match="created without"):
        hn.Decider(["a", "b"], rewards=(0, 1)).decide(actions={"a": {"price": 1}})
    with pytest.raises(hn.ParameterError, match="baseline"):
        made(baseline="sku-1")
    with pytest.raises(hn.ParameterError, match="baseline's choice"):
        made(baseline=lambda context, actions: "none").decide(actions={"a": {"price": 1}})
