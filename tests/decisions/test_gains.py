"""By how much decisions are better than the current rule, and how sure that is."""

import json
import math

import numpy as np
import pytest

import hannan as hn
from hannan.decisions.summary import Comparison
from tests.decisions.prices import NOW, PRICES, sell, shop
from tests.thinning import more_at_night


def test_the_worked_example_is_decided_in_time():
    """Four prices, a gain of 1.2 of 4.7, exploration=0.02."""
    d = shop(8, exploration=0.02)
    _, now = sell(d, 5000, 8)
    early = d.summary().baseline
    assert early.verdict == "probably better"
    assert early.look[0] < now < early.look[1]
    sell(d, 10_000, 108)
    late = d.summary().baseline
    assert late.verdict == "better"
    assert late.clear_after is None
    assert 5000 < early.clear_after < 15_000


def clear_after(seed, **how):
    """Return when a single look is clear and stays so, and when the interval at any time is."""
    d, once = shop(seed, **how), math.inf
    for n in range(500, 15_001, 500):
        sell(d, 500, 100 * seed + n)
        verdict = d.summary().baseline.verdict
        once = min(once, n) if "better" in verdict else math.inf
        if verdict == "better":
            return once, n
    return once, math.inf


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("how", "shops", "medians", "most"),
    [
        ({"exploration": 0.02}, 40, (1500, 8750), (5000, 13_000)),
        ({"exploration": 0.05}, 10, (1250, 6000), (2000, 7000)),
        ({"exploration": 0.005, "holdout": 0.05}, 20, (1000, 4500), (3000, 7500)),
    ],
    ids=str,
)
def test_the_figures_of_the_guide_are_those_of_this_shop(how, shops, medians, most):
    """docs/how-to/decider.md says after how many decisions the worked example is clear."""
    found = np.array([clear_after(seed, **how) for seed in range(shops)])
    assert tuple(found.max(axis=0)) == most
    assert tuple(np.median(found, axis=0)) == medians


def test_a_holdout_decides_sooner():
    d = shop(3, exploration=0.005, holdout=0.05)
    ours, now = sell(d, 5000, 3)
    summary = d.summary()
    assert summary.baseline.verdict == "better"
    assert summary.baseline.gain[0] < ours - now < summary.baseline.gain[1]
    assert 190 < summary.holdout.decisions < 310
    assert summary.holdout.look[0] < (ours - now) / 0.95 < summary.holdout.look[1]
    assert "holdout: 2" in str(summary)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"exploration": 0.05}, {"exploration": 0.01, "holdout": 0.05}])
@pytest.mark.parametrize("size", more_at_night((14, 11), (40, 34)), ids=str)
def test_intervals_hold_as_often_as_they_say(how, size):
    """Of 40 shops single looks at 95 % hold in 34 at least, or 11 of 14, the others in all.

    If they hold as they say, that fails with a chance below 0.005.
    """
    shops, hold = size
    hits = np.zeros(4, dtype=int)
    for seed in range(shops):
        d = shop(seed, **how)
        ours, now = sell(d, 1200, seed)
        rule = d.summary().baseline
        intervals = (rule.look, now), (rule.gain_look, ours - now)
        intervals += (rule.interval, now), (rule.gain, ours - now)
        hits += [low <= truth <= high for (low, high), truth in intervals]
    assert (hits[:2] >= hold).all(), hits
    assert (hits[2:] == shops).all(), hits


def test_nothing_is_called_clear_where_two_rules_are_the_same():
    """All actions earn the same: of 30 Deciders at most 5 say "probably", and none says more."""
    said = []
    for seed in range(30):
        d = hn.Decider(["a", "b"], rewards=(0, 1), baseline="a", exploration=0.1, seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(600):
            d.report(d.decide(), reward=float(rng.random() < 0.4))
        said.append(d.summary().baseline.verdict)
    assert "better" not in said
    assert "worse" not in said
    assert sum(verdict != "not clear" for verdict in said) <= 5


def test_propensities_with_a_holdout_are_the_frequencies():
    """The current rule and the learner's choice together, in a distribution that stays as it is."""
    d = hn.Decider(["a", "b", "c"], rewards=(0, 1), baseline="c", holdout=0.2, seed=1)
    expected, counts = np.zeros(3), np.zeros(3)
    for _ in range(4000):
        decision = d.decide()
        assert decision.propensity == pytest.approx(
            decision.distribution[d.actions.index(decision.action)]
        )
        assert decision.distribution.sum() == pytest.approx(1.0)
        expected += decision.distribution
        counts[d.actions.index(decision.action)] += 1
    assert (np.abs(counts - expected) < 4.5 * np.sqrt(expected * (1 - expected / 4000) + 1)).all()
    assert d.summary().holdout.decisions == pytest.approx(800, abs=110)
    assert counts[2] >= 690


@pytest.mark.parametrize("rule", ["c", lambda context: "ab"[context["new"]]])
def test_probabilities_are_those_of_a_decision_with_a_holdout(rule):
    d = hn.Decider(["a", "b", "c"], rewards=(0, 1), baseline=rule, holdout=0.2, seed=1)
    for t in range(40):
        row = {"new": t % 2, "age": t}
        asked = d.probabilities(row)
        decision = d.decide(row)
        assert asked[decision.action] == pytest.approx(decision.propensity, abs=1e-12)
        assert asked[rule if isinstance(rule, str) else rule(row)] >= 0.2
        d.report(decision, reward=float(decision.action == "b"))


def test_the_holdout_survives_files_and_journals(tmp_path):
    plain = shop(0, holdout=0.3)
    for i in range(50):
        plain.decide({"age": i}, id=i)
        if i % 3:
            plain.report(i, reward=1.0)
    plain.save(tmp_path / "shop.hannan")
    again = hn.load(tmp_path / "shop.hannan")
    journalled = shop(0, holdout=0.3).journal(tmp_path / "shop.journal", fsync=False)
    for i in range(50):
        journalled.decide({"age": i}, id=i)
        if i % 3:
            journalled.report(i, reward=1.0)
    journalled.close()
    resumed = hn.Decider.open(tmp_path / "shop.journal")
    for d in (again, resumed):
        assert d.metrics() == plain.metrics()
        assert [d.decision(i).action for i in range(0, 50, 3)] == [
            plain.decision(i).action for i in range(0, 50, 3)
        ]
        assert d.expire(0.0) == 17
    resumed.close()


def test_nothing_is_learned_from_the_holdout():
    d = hn.Decider(["a", "b"], rewards=(0, 1), baseline="a", holdout=0.5, seed=0)
    for _ in range(200):
        d.report(d.decide(), reward=0.5)
    summary = d.summary()
    assert summary.holdout.with_feedback + d._learner.rounds == summary.with_feedback == 200


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"holdout": 1.0, "baseline": "a"}, "holdout"),
        ({"holdout": -0.1, "baseline": "a"}, "holdout"),
        ({"holdout": True, "baseline": "a"}, "holdout"),
        ({"holdout": 0.1}, "needs actions= and baseline="),
    ],
)
def test_a_holdout_needs_a_current_rule_and_a_share(how, message):
    with pytest.raises(hn.HannanError, match=message):
        hn.Decider(["a", "b"], rewards=(0, 1), **how)


def test_an_unavailable_current_rule_is_not_held_out():
    d = hn.Decider(["a", "b", "c"], rewards=(0, 1), baseline="a", holdout=0.5, seed=0)
    decisions = [d.decide(available=["b", "c"]) for _ in range(100)]
    assert {decision.action for decision in decisions} <= {"b", "c"}
    assert d.summary().holdout is None


def compare(estimate, half, wide, effective=100.0):
    """Return a comparison with this gain after 1,000 decisions."""
    return Comparison(
        "a", 0.0, (0.0, 0.0), (0.0, 0.0), estimate, (estimate - half, estimate + half),
        (estimate - wide, estimate + wide), effective, 1, 0.0, 1000,
    )  # fmt: skip


def test_how_many_decisions_make_a_gain_clear():
    assert compare(1.0, 0.5, 2.0).clear_after == 4000
    assert compare(-1.0, 0.5, 2.0).clear_after == 4000
    assert compare(1.0, 0.5, 0.9).clear_after is None  # it is clear
    assert compare(0.1, 0.5, 2.0).clear_after is None  # within a standard error of nothing
    assert compare(math.nan, math.nan, 1.0).clear_after is None


def test_verdicts_need_enough_plays():
    verdicts = {
        compare(1.0, 0.5, 0.9): "better",
        compare(-1.0, 0.5, 0.9): "worse",
        compare(1.0, 0.5, 2.0): "probably better",
        compare(-1.0, 0.5, 2.0): "probably worse",
        compare(1.0, 0.5, 2.0, effective=5.0): "not clear",
        compare(0.1, 0.5, 2.0): "not clear",
    }
    assert all(each.verdict == verdict for each, verdict in verdicts.items())


def test_metrics_are_valid_json_at_all_times():
    d = shop(0, holdout=0.2)
    json.dumps(d.metrics(), allow_nan=False)
    for decisions in (1, 30):
        sell(d, decisions, 0)
        numbers = json.loads(json.dumps(d.metrics(), allow_nan=False))
        assert set(numbers["actions"]) == set(map(str, PRICES))
    d.decide({"age": 3})
    json.dumps(d.metrics(), allow_nan=False)


def test_the_summary_is_in_the_units_of_the_outcomes():
    d = shop(4, exploration=0.1)
    _, now = sell(d, 800, 4)
    text = str(d.summary())
    rule = d.summary().baseline
    assert rule.look[0] < now < rule.look[1]
    assert f"current rule: {rule.estimate:.4g}; gain {rule.gain_estimate:.4g} per decision" in text
    assert d.summary().actions[NOW].estimate == pytest.approx(rule.estimate)
    assert "nan" not in text


@pytest.mark.parametrize("decisions", [1, 2])
def test_what_is_not_known_yet_is_left_out_of_the_text(decisions):
    d = shop(0)
    assert "nan" not in str(d) + str(d.summary())
    sell(d, decisions, 0)
    texts = str(d), str(d.summary()), d._repr_html_(), repr(d.summary())
    assert not any("nan" in text for text in texts)
    d.decide({"age": 3})
    assert "nan" not in str(d)


def test_the_table_says_who_is_better_and_what_each_column_is_of():
    d = hn.Decider([9.0, 12.0], rewards=(0, 20), baseline=12.0, exploration=0.1, seed=0)
    for _ in range(1000):
        decision = d.decide()
        d.report(decision, reward=10.0 if decision.action == 9.0 else 2.0)
    heads = str(d.summary()).splitlines()[4].split("  ")
    heads = [head.strip() for head in heads if head]
    groups = [("mean reward", "gain")[i // 3] for i in range(6)]
    assert [head.split(",")[0] for head in heads[1:-1]] == groups
    assert len(set(heads)) == 8
    assert heads[-1] == "the Decider is"
    assert "the Decider is</th>" in d.summary()._repr_html_()
    assert d.to_frame()["verdict"][0] == "better"


def test_numbers_have_four_digits_and_nothing_has_a_sign():
    d = hn.Decider(["a"], rewards=(0, 20), baseline="a", seed=0)
    for _ in range(50):
        d.report(d.decide(), reward=10.0)
    text = str(d.summary())
    assert "mean reward 10.00 (10.00 to 10.00 if you look once" in text
    assert "gain 0 per decision (0 to 0 if you look once" in text
    assert "-0 " not in text


@pytest.mark.parametrize("seed", range(3))
def test_estimates_lie_within_their_intervals_at_any_time(seed):
    d, chances = (
        hn.Decider(["a", "b", "c"], rewards=(0, 1), baseline="b", seed=seed),
        (0.9, 0.1, 0.5),
    )
    world = np.random.default_rng(seed)
    for _ in range(300):
        decision = d.decide()
        d.report(decision, reward=float(world.random() < chances["abc".index(decision.action)]))
        summary = d.summary()
        for each in (summary.baseline, *summary.actions.values()):
            known = not math.isnan(each.estimate)
            assert not known or each.interval[0] <= each.estimate <= each.interval[1]
            assert not known or each.gain[0] <= each.gain_estimate <= each.gain[1]
