import copy

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.report.embedded import strips
from hannan.report.palette import LEARNERS, slots
from hannan.report.sections import gather
from hannan.report.spread import Spread, growth
from tests.report import records


def test_intervals_are_students():
    x = np.random.default_rng(0).normal(3.0, 2.0, (7, 4))
    found = Spread.of(x)
    low, high = stats.t.interval(0.95, 6, x.mean(axis=0), stats.sem(x, axis=0))
    np.testing.assert_allclose(found.mean, x.mean(axis=0))
    np.testing.assert_allclose(found.low, low)
    np.testing.assert_allclose(found.high, high)


def test_intervals_count_only_what_is_known():
    found = Spread.of([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan]])
    np.testing.assert_array_equal(found.mean, [2.0, 5.0, np.nan])
    assert np.isfinite(found.high).tolist() == [True, False, False]
    assert found.known
    assert not Spread.of([[np.nan], [np.nan]]).known


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_growth_is_the_exponent_of_a_power_law(power):
    t = np.array(records.marks(10_000, 100), dtype=float)
    assert growth(t, 7.0 * t**power) == pytest.approx(power)
    # The beginning does not count.
    assert growth(t, 7.0 * t**power + 500.0 * (t < 900)) == pytest.approx(power)


def test_there_is_no_growth_of_what_is_not_positive():
    t = np.arange(1.0, 101.0)
    assert growth(t, -np.sqrt(t)) is None
    assert growth(t, np.where(t % 2 == 0, 1.0, -1.0)) is None
    assert growth(t[:4], t[:4]) is None
    assert growth(t[:0], t[:0]) is None


def test_sections_hold_environments_and_learners_in_order():
    sections = gather(*records.experiment(seeds=2))
    assert [section.label for section in sections] == list(records.WORLDS)
    for section in sections:
        assert [s.label for s in section.learners] == [*records.OURS, *records.BASELINES]
        assert [s.ours for s in section.learners] == [True] * 3 + [False] * 4
        assert all(s.seeds == [0, 1] for s in section.learners)


def test_results_average_the_seeds():
    found, times = records.experiment(seeds=3)
    results = gather(found, times)[0].learners[0]
    mine = found[:3]
    curves = [record["result"]["curve"] for record in mine]
    t = np.array(curves[0]["t"])
    loss = np.array([curve["loss"] for curve in curves])
    best = np.array([curve["best"] for curve in curves])
    np.testing.assert_allclose(results.mean_loss_curve.mean, (loss / t).mean(axis=0))
    np.testing.assert_allclose(results.regret_curve.mean, (loss - best).mean(axis=0))
    assert float(results.mean_loss.mean) == pytest.approx(loss[:, -1].mean() / 10_000)
    assert results.calls_per_round == 3.0
    seconds = sum(times[record["key"]]["learner"] for record in mine)
    assert results.seconds_per_round == pytest.approx(seconds / 30_000)
    assert results.within_bound


def test_what_is_not_known_stays_unknown():
    section = gather(*records.experiment(seeds=2))[0]
    linucb = next(s for s in section.learners if s.label == "LinUCB")
    assert not linucb.regret.known
    assert not linucb.regret_curve.known
    assert linucb.exponent is None
    assert linucb.within_bound is None
    assert np.isnan(linucb.bound)
    found, _ = records.small()
    assert np.isnan(gather(found, {})[0].learners[0].seconds_per_round)
    found[0]["result"] |= {"mean_loss": None, "loss": None, "regret": None}
    found[0]["result"]["curve"]["loss"] = None
    results = gather(found, {})[0].learners[0]
    assert not results.mean_loss.known
    assert not results.mean_loss_curve.known


def test_learners_of_one_name_are_numbered_and_never_averaged():
    first, times = records.experiment(seeds=2)
    other, more = records.experiment(learners={"earned": {"type": "ContextFTPL"}}, seeds=2)
    longer, most = records.experiment({"digits": records.WORLDS["digits"]}, seeds=1, horizon=500)
    sections = gather(first + other + longer, times | more | most)
    assert [s.label for s in sections[0].learners][-1] == "earned (2)"
    assert [section.label for section in sections][-1] == "digits (2)"
    assert sections[-1].title == "Digits, bandit feedback (2)"


def test_curves_are_compared_where_all_seeds_have_a_point():
    found, times = records.experiment(seeds=2)
    curve = found[0]["result"]["curve"]
    kept = slice(None, None, 2)
    found[0]["result"]["curve"] = {k: v and v[kept] for k, v in curve.items()}
    results = gather(found, times)[0].learners[0]
    assert results.t.tolist() == curve["t"][kept]
    both = np.array([r["result"]["curve"]["loss"] for r in found[1:2]])[:, kept]
    expected = (both[0] + curve["loss"][kept]) / 2 / results.t
    np.testing.assert_allclose(results.mean_loss_curve.mean, expected)


def test_a_repeated_record_counts_once():
    found, times = records.small()
    results = gather(found + copy.deepcopy(found), times)[0].learners[0]
    assert len(results.records) == 1


def test_the_best_policy_of_a_world_that_does_not_react_is_put_beside_the_learners():
    found, times = records.small()
    record = found[0]
    curve = record["result"]["curve"]
    back = {"rounds": 10_000, "best": record["result"]["best"], "leaders": ["only"]}
    back["curve"] = {"t": curve["t"], "best": curve["best"], "leader": [0] * len(curve["t"])}
    looks_back = {"key": "0", "cell": record["cell"] | {"learner": None}, "result": back}
    alone = copy.deepcopy(record)
    alone["result"] |= {"best": None, "regret": None, "leaders": None}
    alone["result"]["curve"] |= {"best": None, "leader": None}
    section = gather([looks_back, alone], times)[0]
    assert section.learners[0].regret.mean == pytest.approx(record["result"]["regret"])
    assert strips(section, 1)["names"] == ["only"]


def test_no_records_are_refused():
    with pytest.raises(hn.ParameterError, match="at least one finished cell"):
        gather([], {})


def test_a_best_policy_common_to_all_is_found():
    sections = gather(*records.experiment(seeds=2, regret=1.0))
    common = [section.common_best is not None for section in sections]
    assert common == [True, False, True]


def test_learners_that_meet_have_different_colours_ours_the_first():
    sections = gather(*records.experiment(seeds=1))
    found = slots(sections)
    assert sorted(found.values()) == list(range(7))
    assert [found[name] for name in records.OURS] == [0, 1, 2]
    apart = gather(
        *(
            a | b if isinstance(a, dict) else a + b
            for a, b in zip(
                records.experiment({"digits": records.WORLDS["digits"]}, records.OURS, seeds=1),
                records.experiment({"routing": records.WORLDS["routing"]}, records.BASELINES, 1),
                strict=True,
            )
        )
    )
    found = slots(apart)
    assert [found[name] for name in records.BASELINES] == [0, 1, 2, 3]
    assert len(LEARNERS) == 8


def test_strips_say_who_led_each_round():
    section = gather(*records.experiment(seeds=3))[1]
    found = strips(section, 2)
    assert found["left_out"] == 1
    assert [row["learners"] for row in found["rows"]] == [
        [s.label] for s in section.learners if s.label != "LinUCB"
    ]
    record = section.learners[0].records[1]
    lane = found["rows"][0]["lanes"][1]
    assert lane["seed"] == 1
    starts = [start for start, _ in lane["intervals"]]
    for t, leader in zip(*(record["result"]["curve"][k] for k in ("t", "leader")), strict=True):
        run = lane["intervals"][np.searchsorted(starts, t, side="left") - 1]
        assert found["names"][run[1]] == record["result"]["leaders"][leader]


def test_learners_that_saw_the_same_leaders_share_a_strip():
    found = strips(gather(*records.experiment(seeds=2, regret=1.0))[0], 8)
    assert [row["learners"] for row in found["rows"]] == [["all learners"]]
    assert found["left_out"] == 0


def test_what_was_only_found_is_called_so():
    played, times = records.experiment({"digits": records.WORLDS["digits"]}, seeds=2)
    (section,) = gather(played, times)
    assert section.best_name == "best policy in hindsight"
    for i, entry in enumerate(played):
        entry["result"]["found"] = ("decision tree", "ridge regression")[i % 2]
    (section,) = gather(played, times)
    assert section.best_name == (
        "best policy found by decision tree (1 seed), ridge regression (1 seed)"
    )


def test_recommended_learners_are_ours():
    learners = {"a": {"type": "bandit"}, "b": {"type": "hn.experts"}, "c": {"type": "LinUCB"}}
    world = {"digits": records.WORLDS["digits"]}
    (section,) = gather(*records.experiment(world, learners, seeds=1))
    assert [results.ours for results in section.learners] == [True, True, False]


def test_there_are_no_strips_without_leaders():
    assert strips(gather(*records.experiment(seeds=1, regret=None))[0], 4) is None
