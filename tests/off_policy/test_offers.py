"""Logs in the user's words: names, units, frames, files, and differences to what was logged."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core import PropensityError
from hannan.off_policy import Log, evaluate, probabilities
from tests.off_policy.offers import LAWS, OFFERS, frame, rule, truths

NAMED = {"action": "offer", "reward": "revenue", "propensity": "p"}


def read(n=2000, seed=0, **options):
    return Log.from_frame(frame(n, seed), **NAMED, **options)


# Reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, lambda df: dict(df.items())])
def test_a_frame_is_read_by_the_names_of_its_columns(make):
    df = frame(300)
    log = Log.from_frame(make(df), **NAMED)
    assert log.names == OFFERS
    assert log.unit == "reward"
    assert log.rewards.tolist() == df["revenue"].tolist()
    assert log.value_range == (0.0, df["revenue"].max())
    assert log.contexts[7] == df[["age", "city", "new"]].iloc[7].to_dict()
    assert [row.name for row in log[:9]] == df["offer"].tolist()[:9]
    assert log.features.shape[0] == 300
    assert "mean reward" in repr(log)
    assert log.losses.min() == 0.0
    assert log.losses.max() == 1.0


def test_the_columns_of_the_context_can_be_chosen():
    assert read(50, context=["age"]).contexts[0].keys() == {"age"}
    assert read(50, context="age").contexts[0].keys() == {"age"}
    assert read(50, context=[]).contexts[0] is None
    with pytest.raises(
        hn.ParameterError, match=r"no column 'agee' in the frame. Did you mean 'age'"
    ):
        read(50, context=["agee"])


def test_losses_are_read_in_their_units():
    df = frame(200).rename(columns={"revenue": "cost"})
    log = Log.from_frame(df, action="offer", loss="cost", propensity="p")
    assert log.unit == "loss"
    assert log.losses.tolist() == df["cost"].tolist()
    assert str(evaluate(log, rule)).startswith("mean loss ")


def test_names_may_be_numbers_and_actions_that_were_never_taken():
    df = frame(400)
    df["offer"] = df["offer"].map(dict(zip(OFFERS, (10, 5, 7, 0), strict=True)))
    log = Log.from_frame(df, **NAMED)
    assert log.names == (0, 5, 7, 10)
    table = probabilities(lambda row: 7 if row["new"] else 0, log)
    assert table.argmax(axis=1).tolist() == [2 if new else 0 for new in df["new"]]
    with pytest.raises(hn.InputTypeError, match=r"an action out of \[0, 5, 7, 10\]"):
        probabilities(lambda row: 1, log)  # a number is a name here, not a place
    assert Log.from_frame(df, **NAMED, names=[10, 5, 7, 0, 99]).n_actions == 5
    with pytest.raises(hn.ParameterError, match=r"Row \d+, column 'offer': 7 is not one of names="):
        Log.from_frame(df, **NAMED, names=[10, 5, 0])


def test_none_is_a_name_and_an_empty_cell_is_an_error():
    df = frame(100)
    df["offer"] = df["offer"].replace({"none": "NA", "5%": "null"})
    assert Log.from_frame(df, **NAMED).names == ("10%", "NA", "free shipping", "null")
    df.loc[3, "offer"] = None
    with pytest.raises(hn.ParameterError, match=r"In 1 of 100 rows, .* has no action; .* row 3"):
        Log.from_frame(df, **NAMED)


@pytest.mark.parametrize("lacking", ["action", "reward", "propensity"])
def test_columns_that_are_needed_must_be_named(lacking):
    named = {name: column for name, column in NAMED.items() if name != lacking}
    named |= {"reward": None} if lacking == "reward" else {}
    with pytest.raises(hn.ParameterError, match=f"A log needs action=.*{lacking}=None") as told:
        Log.from_frame(frame(20), **named)
    assert "not logged, pass propensity='estimate'" in str(told.value)
    assert "0.25" not in str(told.value)  # which would be typed, whatever the propensities were


def test_rewards_outside_of_their_range_are_an_error():
    with pytest.raises(hn.LossError, match=r"rewards of a Log must be in value_range=\(0, 1\)"):
        read(50, value_range=(0, 1))
    assert read(50, value_range=(0, 100)).value_range == (0.0, 100.0)


def test_rewards_and_losses_are_alternatives():
    with pytest.raises(hn.ParameterError, match="got neither"):
        Log(None, [0], propensities=[0.5], n_actions=1)
    with pytest.raises(hn.ParameterError, match="got both"):
        Log(None, [0, 1], [0.0, 1.0], [0.5, 0.5], 2, rewards=[3.0, 4.0])


@pytest.mark.parametrize(
    ("names", "message"),
    [("ab", "list of names"), (["a", "a"], "'a' twice"),
     (["a", None], "non-empty text or a number; got None"), (["a", ""], "non-empty text .* got ''"),
     (["a"], "needs as many names; got 1")],
)  # fmt: skip
def test_names_that_tell_nothing_are_refused(names, message):
    with pytest.raises(hn.HannanError, match=message):
        Log(None, [0, 1], [0.0, 1.0], [0.5, 0.5], 2, names=names)


def test_a_file_is_read_like_a_frame(tmp_path):
    df = frame(500)
    df["offer"] = df["offer"].replace("none", "NA")
    path = tmp_path / "offers.csv"
    df.to_csv(path, index=False)
    log = Log.from_file(path, **NAMED)
    assert log.names == ("10%", "5%", "NA", "free shipping")
    assert len(log) == 500
    assert log.rewards.tolist() == df["revenue"].tolist()
    assert log.value_range == (0.0, df["revenue"].max())
    assert log.contexts[4]["age"] == df["age"][4]
    always = evaluate(log, "NA")
    assert always.value == evaluate(Log.from_frame(df, **NAMED), "NA").value
    assert Log.from_file(path, **NAMED, context=["city"]).contexts[0] == {"city": df["city"][0]}
    with pytest.raises(
        hn.LossError, match=r"column 'revenue': \S+ is outside value_range=\(0.0, 1"
    ):
        Log.from_file(path, **NAMED, value_range=(0, 1))


def test_wrong_propensities_are_refused_unless_unchecked(tmp_path):
    df = frame(3000).drop(columns="p")
    named = {**NAMED, "propensity": 0.25}
    with pytest.raises(PropensityError, match=r"'\S+' was logged in"):
        Log.from_frame(df, **named)
    df.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(PropensityError, match=r"'\S+' was logged in"):
        Log.from_file(tmp_path / "log.csv", **named)
    log = Log.from_frame(df, **named, check=False)
    with pytest.raises(PropensityError, match="was logged in"):
        evaluate(log, rule)
    assert np.isfinite(evaluate(log, rule, check=False).value)


def test_propensities_can_be_estimated_and_the_answer_says_so(tmp_path):
    df = frame(4000).drop(columns="p")
    df.to_csv(tmp_path / "log.csv", index=False)
    for log in (
        Log.from_frame(df, **{**NAMED, "propensity": "estimate"}),
        Log.from_file(tmp_path / "log.csv", **{**NAMED, "propensity": "estimate"}),
    ):
        assert abs(log.propensities - frame(4000)["p"]).mean() < 0.05
        assert "propensities were estimated: right only if" in str(evaluate(log, rule))


# Writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pandas", [True, False])
def test_named_logs_come_back_from_their_frames(pandas, monkeypatch):
    log = read(40, names=[*OFFERS, "never"], value_range=(0, 90))
    if not pandas:
        monkeypatch.setitem(sys.modules, "pandas", None)
    found = log.to_frame()
    assert isinstance(found, pd.DataFrame if pandas else dict)
    assert list(found) == ["age", "city", "new", "action", "reward", "propensity"]
    assert Log.from_frame(found) == log
    timed = Log(**{**vars_of(log), "times": np.arange(40.0)})
    assert Log.from_frame(timed.to_frame()) == timed


def vars_of(log):
    return {name: getattr(log, name) for name in log.__dataclass_fields__}


def test_features_with_names_of_a_log_come_back_too():
    rows = [{"weight": 80, "action": "left", "x0": 1}, {"weight": 60, "action": "right", "x0": 2}]
    log = Log(rows, [0, 1], [0.0, 1.0], [0.5, 0.5], names=["a", "b"])
    found = log.to_frame()
    assert "context weight" in found
    assert Log.from_frame(found) == log


# Policies ----------------------------------------------------------------------------------


def test_policies_speak_in_names():
    log = read(300)
    expected = np.zeros((300, 4))
    for row, context in zip(expected, log.contexts, strict=True):
        row[2 if context["new"] else 3] = 1.0
    shares = {"none": 0.25, "5%": 0.75}
    assert np.array_equal(probabilities(rule, log), expected)
    assert np.array_equal(probabilities([rule(row) for row in log.contexts], log), expected)
    assert (probabilities("5%", log) == np.eye(4)[1]).all()
    assert (probabilities(lambda row: shares, log) == [0.0, 0.75, 0.0, 0.25]).all()
    told = probabilities(lambda row, available: available[1], log)
    assert (told == np.eye(4)[1]).all()
    for wrong in (lambda row: "15%", lambda row: {"15%": 1.0}):
        with pytest.raises(hn.InputTypeError, match=r"an action out of \['10%', '5%', 'free"):
            probabilities(wrong, log)
    with pytest.raises(hn.ParameterError, match=r"actions out of .*; round 0 has '15%'"):
        probabilities(["15%"] * 300, log)


def test_actions_that_were_not_available_are_told_by_name():
    log = Log(None, ["a", "b"], [0.0, 1.0], [0.5, 0.5], names=["a", "b"], available=[[0], [0, 1]])
    with pytest.raises(hn.ParameterError, match=r"action 'b' in round 0, where only \['a'\]"):
        probabilities("b", log)


def test_a_pipeline_for_frames_is_a_policy():
    df, log = frame(500), read(500)
    columns = ["age", "city", "new"]
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=3),
    ).fit(df[columns], df["offer"])
    expected = [OFFERS.index(name) for name in model.predict(df[columns])]
    assert probabilities(model, log).argmax(axis=1).tolist() == expected


def test_learners_play_logs_of_mappings_and_can_be_judged():
    log = read(800)
    learner = hn.bandit(4, seed=0)
    hn.play(learner, log.environment(), seed=0)
    table = probabilities(learner, log)
    assert table.shape == (800, 4)
    assert np.isfinite(evaluate(log, learner).value)


# Estimates ---------------------------------------------------------------------------------


def test_estimates_are_in_euros():
    df, log = frame(3000), read(3000)
    w = np.array([rule(row) == offer for row, offer in zip(log.contexts, df["offer"], strict=True)])
    ratios, r = w / df["p"], df["revenue"]
    assert evaluate(log, rule, "ips").value == pytest.approx((ratios * r).mean())
    assert evaluate(log, rule, "snips").value == pytest.approx((ratios * r).sum() / ratios.sum())
    found = evaluate(log, rule)
    assert found.unit == "reward"
    assert found.logged == pytest.approx(r.mean())
    assert found.difference.value == pytest.approx(found.value - r.mean())
    assert found.low < found.value < found.high
    first, second = str(found).splitlines()[:2]
    assert first.startswith(f"mean reward {found.value:.4g}, 95 % interval {found.low:.4g} to ")
    assert f"than the logged mean {r.mean():.4g}, 95 % interval" in second


def test_a_difference_that_is_not_clear_is_called_so():
    log = read(3000)
    everything = probabilities(np.repeat([[0.25] * 4], 3000, axis=0), log)
    same = evaluate(log, everything)
    assert same.difference.low < 0.0 < same.difference.high
    assert "no clear difference" in str(same)
    worse = Log.from_frame(
        frame(3000).assign(revenue=lambda df: -df["revenue"] - 50.0 * (df["offer"] == "none")),
        **NAMED,
    )
    text = str(evaluate(worse, "none"))
    assert " less than the logged mean" in text
    assert "no clear difference" not in text


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_differences_use_that_both_means_come_from_the_same_rounds(estimator):
    log = read(2000)
    found = evaluate(log, rule, estimator, against=rule)
    assert found.difference.value == 0.0
    assert found.difference.standard_error == 0.0
    assert "than the other policy's mean" in str(found)
    ips = evaluate(log, rule, "ips")
    ratios = np.array(
        [(rule(x) == log.names[a]) / p
         for x, a, p in zip(log.contexts, log.actions, log.propensities, strict=True)]
    )  # fmt: skip
    expected = stats.sem(ratios * log.rewards - log.rewards)
    assert ips.difference.standard_error == pytest.approx(expected)


@pytest.mark.parametrize("interval", ["bootstrap", "bernstein"])
def test_differences_have_intervals_of_every_kind(interval):
    log = read(1500)
    options = {"loss_range": (0.0, 60.0), "max_ratio": 10.0} if interval == "bernstein" else {}
    found = evaluate(log, rule, "ips", interval=interval, **options)
    normal = evaluate(log, rule, "ips").difference
    assert found.difference.low < normal.value < found.difference.high
    width = (found.difference.high - found.difference.low) / (normal.high - normal.low)
    assert (0.9 < width < 1.1) if interval == "bootstrap" else 1.0 < width < 10.0
    twice = evaluate(log, rule, "ips", interval=interval, against=rule, **options)
    if interval == "bootstrap":
        assert twice.difference.interval == (0.0, 0.0)


def test_useless_contexts_do_not_widen_the_interval():
    df = frame(3000)
    rewards = df["revenue"] + 200.0 * (df.index % 97 == 0)
    chosen = df["offer"].tolist()
    wild = Log(range(3000), chosen, rewards=rewards, propensities=df["p"], names=OFFERS)
    plain = evaluate(wild, "none", "snips")
    found = evaluate(wild, "none")
    assert found.high - found.low < 1.1 * (plain.high - plain.low)
    noise = np.random.default_rng(0).normal(size=(3000, 60)) * 30.0
    vectors = Log(
        noise, df["offer"].tolist(), rewards=df["revenue"], propensities=df["p"], names=OFFERS
    )
    found = evaluate(vectors, "none")
    assert found.estimator == "snips"
    assert any(
        note.startswith("estimated by snips, because predictions do not") for note in found.notes
    )
    assert evaluate(vectors, "none", "dr").estimator == "dr"


# Coverage ----------------------------------------------------------------------------------


def covered(estimator, policy, expected, games=200, n=600):
    """In how many logs intervals hold the truth: of the mean, of the difference, and unpaired."""
    hits = np.zeros(3, dtype=int)
    for seed in range(games):
        log = read(n, 100 + seed, check=False)
        found = evaluate(log, policy, estimator, check=False)
        gap, width = found.difference, 1.96 * np.hypot(found.standard_error, stats.sem(log.rewards))
        hits += [
            found.low <= expected[0] <= found.high,
            gap.low <= expected[0] - expected[1] <= gap.high,
            abs(gap.value - (expected[0] - expected[1])) <= width,
        ]
    return hits


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("estimator", ["ips", "snips", "dr", "auto"])
def test_intervals_cover_the_mean_and_the_difference(estimator):
    value, gap, _ = covered(estimator, rule, truths())
    # At 95 % fewer than 180 of 200 have probability 2e-3.
    assert value >= 180
    assert gap >= 180


def nudged(row):
    """What the shop does, but in one of ten rows as `rule` says."""
    shares = 0.9 * np.array(LAWS[int(row["age"] >= 40)])
    shares[OFFERS.index(rule(row))] += 0.1
    return shares


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("estimator", ["ips", "dr"])
def test_intervals_of_small_differences_are_as_narrow_as_they_can_be(estimator):
    other, logged = truths()
    value, gap, unpaired = covered(estimator, nudged, (0.9 * logged + 0.1 * other, logged))
    assert value >= 180
    assert 180 <= gap <= 199
    assert unpaired == 200  # an interval that takes the two means for independent never fails
