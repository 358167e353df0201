"""`hn.replay`: frames and files give one answer, and rules to take away decide on new rows."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import hannan as hn
from hannan.cli import main
from hannan.cli.replay import replay as command
from hannan.core import PropensityError
from tests.cli import worlds as files
from tests.replays.worlds import offers

FAST = {"learners": ["FollowTheLeader"]}


@pytest.fixture(scope="module")
def churn():
    """Whoever is young and on the free plan leaves; the current rule makes an offer to all."""
    rng = np.random.default_rng(0)
    n = 600
    age, plan = rng.integers(18, 80, n), rng.choice(["free", "pro", "NA"], n)
    leaves = ((age < 40) & (plan == "free")) != (rng.random(n) < 0.05)
    day = pd.date_range("2024-01-01", periods=n, freq="D")
    frame = pd.DataFrame({
        "age": np.where(rng.random(n) < 0.05, np.nan, age), "plan": plan, "day": day,
        "left": np.where(leaves, "yes", "no"), "offer": "yes",
    })  # fmt: skip
    return frame


@pytest.fixture(scope="module")
def replay(churn):
    cost = {"yes": {"no": 20.0}, "no": {"yes": 3.0}}
    return hn.replay(churn, label="left", current="offer", cost=cost, unit="€", **FAST)


def test_a_frame_gives_the_answer_of_its_csv(churn, replay, tmp_path):
    churn.to_csv(tmp_path / "churn.csv", index=False)
    options = {"label": "left", "current": "offer", "unit": "€", **FAST}
    again = hn.replay(tmp_path / "churn.csv", cost={"yes:no": 20, ("no", "yes"): 3}, **options)
    assert again.answer == replay.answer
    pd.testing.assert_frame_equal(again.table, replay.table)
    arguments = [
        str(tmp_path / "churn.csv"),
        "--label",
        "left",
        "--current",
        "offer",
        "--unit",
        "€",
    ]
    costs = ["--cost", "yes:no=20", "--cost", "no:yes=3", "--learner", "FollowTheLeader"]
    done = CliRunner().invoke(command, [*arguments, *costs, "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["answer"] == replay.answer


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "dict"])
def test_every_kind_of_frame_gives_the_same_answer(churn, replay, kind):
    frame = {name: churn[name].to_list() for name in churn}
    if kind != "dict":
        package = pytest.importorskip(kind)
        frame = {name: [None if v != v else v for v in cells] for name, cells in frame.items()}
        frame = package.DataFrame(frame) if kind == "polars" else package.table(frame)
    cost = {"yes": {"no": 20.0}, "no": {"yes": 3.0}}
    again = hn.replay(frame, label="left", current="offer", cost=cost, unit="€", **FAST)
    assert again.answer == replay.answer


def test_the_sentence_has_units_and_totals(churn, replay):
    now = np.where(churn["left"] == "yes", 0.0, 3.0)
    assert replay.answer.startswith(f"Your current rule costs {now.mean():.2f} € per row; ")
    saved = -replay.results.choice.plain["difference"]
    told = f"clearly {saved:.2f} € less per row, {600 * saved:,.0f} € less over 600 rows"
    assert told in replay.answer


def test_the_table_has_a_row_per_choice_the_best_first(replay):
    table = replay.table
    columns = ["name", "kind", "mean", "low", "high", "difference", "difference_low"]
    assert list(table)[:7] == columns
    assert table["mean"].is_monotonic_increasing
    assert list(table["kind"]).count("current") == 1
    assert {"always yes", "always no"} <= set(table["name"])
    current = table[table["kind"] == "current"].iloc[0]
    others = table[table["kind"] != "current"]
    assert np.allclose(others["difference"], others["mean"] - current["mean"])
    assert np.allclose(table["total"], 600 * table["mean"])
    assert (others["difference_low"] <= others["difference"]).all()


def test_without_pandas_tables_are_dicts_of_lists(replay, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    table = replay.table
    assert isinstance(table, dict)
    assert len(table["name"]) == len(table["mean"]) >= 8


def test_the_rule_decides_on_new_rows_and_is_saved(churn, replay, tmp_path):
    rule = replay.rule
    assert rule.name == replay.results.choice.name
    assert rule.decide({"age": 25, "plan": "free"}) == "yes"
    assert rule.decide({"age": 70, "plan": "pro", "day": None, "more": 1}) == "no"
    decided = rule.decide_many(churn)
    assert [rule.decide(row) for row in churn.head(50).to_dict("records")] == decided[:50]
    assert np.mean(np.array(decided) == churn["left"]) > 0.85
    rule.save(tmp_path / "rule.hannan")
    again = hn.load(tmp_path / "rule.hannan")
    assert again.decide_many(churn) == decided
    with pytest.raises(hn.ContextError, match=r"3 of its columns: 'age' .*, 'plan', 'day'\."):
        rule.decide({"agee": 25})


@pytest.fixture(scope="module")
def fees(tmp_path_factory):
    """A German file, in which a word stands for a missing fee."""
    rng = np.random.default_rng(1)
    fee, day = rng.integers(100, 9000, 400) / 100, pd.date_range("2024-01-01", periods=400)
    path = tmp_path_factory.mktemp("fees") / "fees.csv"
    texts = [f"{x:.2f}".replace(".", ",") if i % 40 else "unbekannt" for i, x in enumerate(fee)]
    pd.DataFrame({
        "fee": texts, "day": day.strftime("%d.%m.%Y"), "y": np.where(fee > 50, "ja", "nein"),
    }).to_csv(path, sep=";", index=False)  # fmt: skip
    return path


def test_the_rule_reads_text_as_the_file_was_read(fees, tmp_path):
    hn.replay(fees, label="y", **FAST).rule.save(tmp_path / "rule")
    rule = hn.load(tmp_path / "rule")
    low, high = {"fee": 20.0, "day": "01.02.2024"}, {"fee": 80.0, "day": pd.Timestamp("2024-02-01")}
    assert (rule.decide(low), rule.decide(high)) == ("nein", "ja")
    assert rule.decide({**low, "fee": "20,00"}) == "nein"
    assert rule.decide({**high, "fee": "1.020,00"}) == "ja"
    assert rule.decide({"fee": "unbekannt", "day": "?"}) == rule.decide({"fee": None, "day": None})
    as_text = pd.read_csv(fees, sep=";")
    as_values = pd.read_csv(fees, sep=";", decimal=",", na_values="unbekannt")
    as_values["day"] = pd.to_datetime(as_values["day"], format="%d.%m.%Y")
    decided = rule.decide_many(as_text)
    assert decided == rule.decide_many(as_values)
    assert np.mean(np.array(decided) == as_text["y"]) > 0.95
    assert rule.decide_many(as_text.head(0)) == []


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ({"fee": "eighty"}, "rule '.*' cannot read 'eighty' in column 'fee'.*such as 1,5"),
        ({"fee": "1,234.5"}, "cannot read '1,234.5'"),
        ({"fee": float("inf")}, "cannot read inf"),
        ({"day": "2021-08-01"}, "cannot read '2021-08-01' in column 'day'.*such as 29.02.2024"),
        ({"day": "yesterday"}, "cannot read 'yesterday'"),
        ({"day": 5}, "'day' is declared as Date"),
    ],
)
def test_the_rule_refuses_what_it_cannot_read(fees, cell, told):
    rule = hn.replay(fees, label="y", **FAST).rule
    with pytest.raises(hn.ContextError, match=told):
        rule.decide({"fee": 20.0, "day": None} | cell)


def test_the_rule_needs_all_columns_of_a_frame_and_half_of_those_of_a_row(churn, replay):
    rule = replay.rule
    with pytest.raises(hn.ContextError, match=r"columns: 'age' \(did you mean 'AGE'\?\)\."):
        rule.decide_many(churn.rename(columns={"age": "AGE"}))
    with pytest.raises(hn.ContextError, match="lacks 1 of its columns: 'day'"):
        rule.decide_many({"age": [25], "plan": ["free"]})
    with pytest.raises(hn.ContextError, match=r"lacks 2 of its.* a row half of them"):
        rule.decide({"age": 25})
    assert rule.decide({"age": 25, "plan": "free"}) == "yes"


@pytest.mark.parametrize("more", [{}, {"decimal": ","}])
def test_text_of_a_frame_is_read_as_that_of_its_file(fees, more):
    expected = hn.replay(fees, label="y", **FAST)
    for options in ({}, {"decimal": ","}):
        frame = pd.read_csv(fees, sep=";", **options)
        frame["more"] = 1.234 + np.arange(len(frame)) % 7
        again = hn.replay(frame, label="y", context=["fee", "day"], **more, **FAST)
        assert again.answer == expected.answer
        assert again.rule.decide({"fee": "20,00", "day": None}) == "nein"
    mixed = hn.replay(frame, label="y", context=["more", "fee"], **FAST)
    assert next(mixed._data.environment.rows(1))["more"] == 1.234


def test_classes_of_a_frame_with_decimal_commas_keep_their_types():
    x = [f"{i % 90},5" for i in range(300)]
    frame = pd.DataFrame({"x": x, "y": [1.5 if i % 90 < 40 else 2.5 for i in range(300)]})
    assert hn.replay(frame, label="y", **FAST).rule.decide({"x": "3,5"}) == 1.5


@pytest.mark.parametrize("name", ["data.jsonl", None])
@pytest.mark.parametrize("option", [{"delimiter": ";"}, {"header": False}])
def test_what_is_said_of_separated_values_is_refused_elsewhere(churn, name, option, tmp_path):
    data = churn if name is None else tmp_path / name
    if name is not None:
        churn.head(50).astype(str).to_json(data, orient="records", lines=True)
    with pytest.raises(hn.ParameterError, match=f"{next(iter(option))}= goes with files of sep"):
        hn.replay(data, label="left", **option)


def test_the_rule_reads_a_frame_of_one_row_as_that_row_and_refuses_more(churn, replay):
    rule = replay.rule
    row = churn[churn["age"].notna()].head(1)
    assert rule.decide(row) == rule.decide(row.iloc[0]) == rule.decide_many(row)[0]
    with pytest.raises(hn.ContextError, match=r"5 rows. Call decide_many\(\)"):
        rule.decide(churn.head(5))


def test_a_fitted_rule_is_not_judged_by_its_own_rows_without_a_word():
    log = offers(1500)
    read = hn.off_policy.Log.from_frame(log.frame, **log.options)
    for context, fitted in ((None, True), ([], False)):
        rule = hn.replay(log.frame, **log.options, context=context, learners=["UniformRandom"]).rule
        assert (rule.features is not None) == fitted
        for notes in (
            hn.off_policy.evaluate(read, rule).notes,
            hn.off_policy.evaluate(read, "none", against=rule).notes,
        ):
            assert any("a replay fitted this rule" in note for note in notes) == fitted


@pytest.mark.parametrize("name", ["linear rule", "stump", "decision tree", "boosted trees"])
def test_every_class_of_rules_is_taken_away_as_it_was_fitted(replay, name, tmp_path):
    from hannan.experiments.search import fit_rule
    from hannan.replays.rule import Rule, model_of

    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 3))
    losses = np.column_stack([X[:, 0] > 0.3, X[:, 1] < 0.0, 0.4 + 0.1 * X[:, 2]]).astype(float)
    fitted = fit_rule(name, X, losses)
    features = hn.features.Features({"a": "number", "b": "number", "c": "number"})
    model = model_of(fitted, X)
    assert np.array_equal(model.choose(X), fitted.choose(X))
    wide = np.hstack([X, np.zeros((800, 3))])  # with places that say what is missing
    model = model_of(fit_rule(name, wide, losses), wide)
    rule = Rule(name, ["x", "y", "z"], features, model)
    rule.save(tmp_path / "rule")
    assert np.array_equal(hn.load(tmp_path / "rule").model.choose(wide), model.choose(wide))


def test_a_forged_rule_is_refused(replay, tmp_path):
    from hannan.replays.rule import Forest

    leaf = {"threshold": np.zeros(1), "values": np.zeros((1, 2)), "width": 1}
    Forest(np.array([0]), np.array([-1]), children=np.zeros((1, 2), dtype=int), **leaf)
    with pytest.raises(hn.DamagedFileError, match="children"):  # a node that is its own child
        Forest(np.array([0]), np.array([0]), children=np.zeros((1, 2), dtype=int), **leaf)
    with pytest.raises(hn.DamagedFileError, match="features"):
        Forest(np.array([0]), np.array([7]), children=np.zeros((1, 2), dtype=int), **leaf)


def test_the_decider_has_played_the_rows_and_has_a_row_in_the_table(churn):
    again = hn.replay(churn, label="left", current="offer", **FAST)
    before = again.table
    assert "hn.Decider" not in set(before["name"])
    decider = again.decider
    assert decider is again.decider
    assert decider.baseline == "yes"  # the current rule always does it
    row = again.table.set_index("name").loc["hn.Decider"]
    assert row["kind"] == "decider"
    assert row["mean"] == pytest.approx(decider.summary().mean)
    assert row["low"] < row["mean"] < row["high"]
    assert decider.decide({"age": 25, "plan": "free"}).action in ("yes", "no")
    assert "hn.Decider" in str(again)
    assert str(again).startswith(again.answer)
    after = again.table[again.table["kind"] != "decider"].reset_index(drop=True)
    pd.testing.assert_frame_equal(before, after)


def test_the_decider_of_a_current_rule_that_varies_has_no_baseline(churn):
    varied = churn.assign(offer=np.where(churn["plan"] == "free", "yes", "no"))
    again = hn.replay(varied, label="left", current="offer", rounds=200, **FAST)
    assert again.decider.baseline is None


def test_decisions_are_those_of_the_best_choice(churn, replay):
    decided = replay.decisions
    assert list(decided) == ["row", "decision"]
    cost = np.where(decided["decision"] == churn["left"], 0.0,
                    np.where(churn["left"] == "yes", 20.0, 3.0))  # fmt: skip
    assert cost.mean() == pytest.approx(replay.results.choice.plain["mean"])


def test_it_is_shown_in_notebooks_printed_and_written(replay, tmp_path):
    shown = replay._repr_html_()
    assert "€ less per row" in shown
    assert "<table" in shown
    printed = str(replay)
    assert printed.startswith(replay.answer)
    assert "hn.replay(frame, label='left', current='offer'" in printed
    page = replay.report(tmp_path / "out").read_text(encoding="utf-8")
    assert "Your current rule" in page


def test_actions_keep_the_types_of_the_frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "y": (x > 0).astype(int)})
    again = hn.replay(frame, label="y", **FAST)
    assert again.rule.decide({"x": 2.0}) == 1
    assert set(again.decisions["decision"]) <= {0, 1}
    assert again.decider.actions == [0, 1]


def test_truth_values_are_actions(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    again = hn.replay(pd.DataFrame({"x": x, "y": x > 0, "now": True}), label="y", current="now",
                      **FAST)  # fmt: skip
    assert again.rule.decide({"x": 2.0}) is True
    again.rule.save(tmp_path / "rule")
    assert hn.load(tmp_path / "rule").decide({"x": -2.0}) is False
    assert again.decider.actions == ["False", "True"]  # a Decider takes text and numbers
    assert again.decider.baseline == "True"


@pytest.mark.parametrize("as_file", [False, True])
def test_whole_numbers_are_the_same_as_floats(as_file, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    now = np.where(np.arange(300) == 7, np.nan, rng.integers(2, size=300))  # so pandas has floats
    data = pd.DataFrame({"x": x, "y": (x > 0).astype(int), "now": now})
    if as_file:
        data.to_csv(tmp_path / "data.csv", index=False)
    again = hn.replay(tmp_path / "data.csv" if as_file else data, label="y", current="now", **FAST)
    assert again.results.data.names == ["0", "1"]
    wrong = data["y"][now == now] != now[now == now]
    assert again.results.current.plain["mean"] == pytest.approx(wrong.mean())


# Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "Say what the rows hold: label="),
        ({"label": "left", "losses": ["age"]}, "Got label= and losses="),
        ({"action": "offer", "reward": "age"}, "action= needs propensity=, .*'estimate'"),
        ({"labl": "left"}, "no argument 'labl'. Did you mean 'label'?"),
        ({"label": "left", "learners": ["LinUCP"]}, "did you mean 'LinUCB'"),
        ({"label": "left", "cost": {"yes": {"nein": 3}}}, "The cost of 'nein'.* class.$"),
        (
            {"label": "left", "cost": {"no": {"yess": 3}}},
            "The cost of 'yess'.* mean the class 'yes'",
        ),
        ({"label": "left", "cost": [[0, 80], [6, 0]]}, "cost= must be RIGHT:DONE=.* \\[0, 80"),
        ({"label": "left", "cost": np.eye(2)}, "cost= must be RIGHT:DONE="),
        ({"label": "left", "cost": pd.DataFrame(np.eye(2))}, "Got <DataFrame"),
        ({"label": "left", "cost": 80}, "cost= must be RIGHT:DONE=.* Got 80\\."),
        ({"label": "left", "cost": {"yes": {"yes": 80}}}, "'yes' costs 80 where it is right"),
        ({"label": "left", "cost": {"yes": {"no": 8}, "no:yes": 3}}, "must be RIGHT:DONE=COST"),
        (
            {"label": "left", "current": "no"},
            "no column 'no' in the frame for current=, the col.* Columns:",
        ),
        (
            {"action": "left", "reward": "age", "propensity": {"none": 0.4}},
            "needs propensity=, .* Got {'none'",
        ),
        ({"action": "left", "reward": "age", "propensity": [0.5] * 600}, "needs propensity="),
        ({"label": "left", "learners": [hn.bandit(2)]}, "learners= takes names, .* got Restarting"),
        ({"label": "left", "policies": 3}, "policies= takes names, .* got 3"),
        ({"label": "left", "missing": "dropp"}, "missing= must be 'drop', .* got 'dropp'"),
        ({"label": "left", "seed": "a"}, "'seed' .* of hn.replay must be an integer >= 0"),
        ({"label": "left", "rounds": 0}, "'rounds' .* of hn.replay must be an integer >= 1"),
        (
            {"action": "left", "reward": "offer", "propensity": 0.5},
            "^Row 1 of the frame, column 'offer': 'yes' is not a finite number",
        ),
        ({"label": "left", "rounds": 10**6}, "^There are 600 rows in the frame"),
    ],
)
def test_mistakes_are_named_as_they_were_typed(churn, options, told):
    with pytest.raises(hn.HannanError, match=told):
        hn.replay(churn, **options)


@pytest.mark.parametrize("n", [200, 3000])
def test_measurements_are_no_classes(n):
    frame = {"x": np.arange(n) % 7, "rev": np.random.default_rng(0).normal(size=n)}
    with pytest.raises(hn.ParameterError, match=r"'rev' holds .* reward=, loss= or losses="):
        hn.replay(frame, label="rev")


def test_one_name_stands_for_a_list_of_it(churn):
    alone, listed = (
        hn.replay(churn, label="left", context=context, rounds=100, **FAST).as_dict()["columns"]
        for context in ("age", ["age"])
    )
    assert alone == listed
    assert list(alone["kinds"]) == ["age"]


def test_a_frame_with_two_columns_of_one_name_is_refused(churn):
    twice = pd.concat([churn, churn[["age"]]], axis=1)
    with pytest.raises(hn.ParameterError, match="Two columns of the frame have the name 'age'"):
        hn.replay(twice, label="left")


@pytest.mark.parametrize("data", [3, None, [1, 2], {}, {"a": [1], "b": [1, 2]}])
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(hn.ParameterError):
        hn.replay(data, label="a")


def test_a_reward_of_hexadecimal_ids_is_refused_by_its_row():
    """Some of them read as numbers, such as 9762e240: no range has to be explained."""
    frame = pd.DataFrame({"age": range(60), "offer": ["a", "b"] * 30, "visitor": ["580c4ac8"] * 60})
    frame.loc[7, "visitor"] = "9762e240"
    with pytest.raises(hn.HannanError, match=r"Row 1 .*'580c4ac8' is not a finite number"):
        hn.replay(frame, action="offer", reward="visitor", propensity=0.5)


def test_learners_are_checked_before_anything_is_played():
    stages = []
    log = offers(300)
    with pytest.raises(hn.ParameterError, match="method='rejection'"):
        hn.replay(log.frame, **log.options, method="importance", learners=["LinUCB"],
                  progress=lambda stage, *_: stages.append(stage))  # fmt: skip
    assert stages == ["reading the frame"]


def test_rare_classes_without_costs_are_in_the_first_sentence(tmp_path):
    rng = np.random.default_rng(0)
    frame = {"x": rng.normal(size=1000), "y": np.where(np.arange(1000) % 50 == 0, "yes", "no")}
    again = hn.replay(frame, label="y", **FAST)
    assert again.answer.startswith("Your classes are 2 : 98")
    assert again.warning.startswith("Your classes are 2 : 98")
    assert again._repr_html_().count("Your classes are") == 1
    page = again.report(tmp_path).read_text(encoding="utf-8")
    assert "<p class='warning' role='note'>Your classes are 2 : 98" in page
    assert page.count("Your classes are") == 1
    cost = {"yes": {"no": 50}}
    assert hn.replay(frame, label="y", cost=cost, **FAST).warning is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_interval_ends_where_losses_or_rewards_do(sign):
    x = np.arange(300) % 2
    frame = {"x": x, "a": sign * 5.0 * x, "b": sign * 5.0 * (1 - x)}
    table = hn.replay(frame, losses=["a", "b"], **FAST).table.set_index("name")
    ends = table.loc["stump", ["mean", "low", "high"]]
    assert (ends["mean"], ends["low"]) == (min(0.0, 5.0 * sign),) * 2
    assert 0.0 < ends["high"] - ends["low"] < 0.1


def coins(n=600):
    """Labels by chance: no rule is clearly better than the current one, which is right at times."""
    rng = np.random.default_rng(3)
    frame = {
        "x": rng.normal(size=n),
        "y": rng.choice(["a", "b"], n),
        "now": rng.choice(["a", "b"], n),
    }
    frame["now"] = np.where(rng.random(n) < 0.1, frame["y"], frame["now"])
    return frame


def test_an_interval_with_both_signs_says_which_end_is_more_and_which_is_less():
    again = hn.replay(coins(), label="y", current="now", unit="€", **FAST)
    ends = re.search(r"not clear \(95 % interval [\d,.]+ (\w+) to [\d,.]+ (\w+)\)", again.answer)
    assert set(ends.groups()) == {"less", "more"}
    amounts = re.findall(r"([\d,.]+) € (?:more|less|per)", again.answer)
    assert all(len(each.partition(".")[2]) in (0, 2) for each in amounts)


def test_the_page_says_everything_once(tmp_path):
    frame = coins()
    frame["y"] = np.where(np.arange(600) % 25 == 0, None, frame["y"])
    again = hn.replay(frame, label="y", current="now", unit="€", **FAST)
    page = again.report(tmp_path).read_text(encoding="utf-8")
    header = page[page.index("<header") : page.index("</header>")].replace("\xa0", " ")
    assert header.count("are left out because") == 1
    assert header.index("class='warning'") < header.index("class='answer'")
    said = re.search(r"<p class='answer'>(.*?)</p>", header).group(1)
    total = re.search(r"<p class='total'>(.*?)</p>", header).group(1)
    assert "over 576 rows" in total
    assert "over 576 rows" not in said
    assert said.count("interval") == total.count("interval") == 1
    assert "class='picture course'" in header


def test_the_sentence_of_the_page_names_the_choice_as_its_table_does(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 600))
    frame = {"x": x, "y": y, "one": np.where((x > 0) ^ (y > 0), "yes", "no"), "now": ["yes"] * 600}
    again = hn.replay(frame, label="one", current="now", **FAST)
    assert "found here, boosted trees fitted to the other rows" in again.answer
    page = again.report(tmp_path).read_text(encoding="utf-8").replace("\xa0", " ")
    header = page[page.index("<header") : page.index("</header>")]
    assert "found here, many small decision trees fitted to the other rows, would" in header
    assert "boosted" not in header


# Files with known truth ------------------------------------------------------------------------


def test_an_action_named_none_is_an_action():
    log = offers(6000, seed=1)
    replay = hn.replay(log.frame, **log.options, unit="€", learners=["LinUCB"])
    assert "left out" not in replay.answer
    table = replay.table.set_index("name")
    assert (
        table.loc["always none", "low"] < log.means[:, 0].mean() < table.loc["always none", "high"]
    )
    assert "clearly" in replay.answer
    assert log.current < log.value(replay.decisions["decision"])


def test_rules_and_actions_are_measured_on_all_rows_whatever_learners_are_shown():
    log = offers(1500)
    asked = {**log.options, "learners": ["UniformRandom"]}
    tables = [hn.replay(log.frame, method=method, **asked).table.set_index("name")
              for method in ("rejection", "importance")]  # fmt: skip
    fixed = [table[table["kind"] != "learner"] for table in tables]
    columns = ["kind", "mean", "low", "high", "effective"]
    pd.testing.assert_frame_equal(fixed[0][columns], fixed[1][columns])
    taken = log.frame[log.frame["offer"] == "none"]
    weights = 1.0 / taken["p"]
    none = fixed[0].loc["always none"]
    assert none["mean"] == pytest.approx((weights * taken["revenue"]).sum() / weights.sum())
    assert none["effective"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_a_log_without_propensities_is_refused_or_estimated():
    log = offers(6000, seed=1)
    frame = log.frame.drop(columns="p")
    asked = {"action": "offer", "reward": "revenue", "learners": ["LinUCB"]}
    with pytest.raises(hn.ParameterError, match="drawn uniformly at random") as told:
        hn.replay(frame, **asked)
    assert "0.25" not in str(told.value)
    with pytest.raises(PropensityError, match=r"'none' was logged in 38 % .* '5%' 0.40"):
        hn.replay(frame, **asked, propensity=0.25)
    replay = hn.replay(frame, **asked, propensity="estimate")
    assert "if only the columns used here influenced the logged actions" in replay.answer
    best = replay.results.choice.plain
    value = log.value(replay.decisions["decision"])
    assert best["low"] < value < best["high"]
    assert best["mean"] < 1.1 * log.best


def test_rows_left_out_are_in_the_first_sentence_and_a_tenth_of_them_an_error(tmp_path, capsys):
    log = offers(1500)
    frame = log.frame.copy()
    frame.loc[frame.index % 50 == 0, "revenue"] = np.nan
    replay = hn.replay(frame, **log.options, learners=["LinUCB"])
    said = "30 of 1,500 rows (2 %) are left out because revenue is empty: "
    assert replay.answer.startswith(said)
    assert "with offer none" in replay.answer.partition(".")[0]
    assert replay.warning.startswith(said)
    page = replay.report(tmp_path).read_text(encoding="utf-8")
    assert page.index("are left out because") < page.index("Your current rule")
    frame.loc[frame["offer"] == "none", "offer"] = None
    with pytest.raises(hn.ParameterError, match=r"are left out because .*missing='drop'"):
        hn.replay(frame, **log.options)
    frame.to_csv(tmp_path / "log.csv", index=False)
    asked = ["--action", "offer", "--reward", "revenue", "--propensity", "p"]
    assert main(["replay", str(tmp_path / "log.csv"), *asked]) == 2
    assert "--missing drop" in capsys.readouterr().err
    with pytest.raises(PropensityError, match="rows were left out because of their action"):
        hn.replay(frame, **log.options, missing="drop")


def test_the_error_about_rows_left_out_says_the_rule_and_a_share_above_it():
    log = offers(1200)
    log.frame.loc[:121, "revenue"] = np.nan
    with pytest.raises(
        hn.ParameterError, match=r"122 of 1,200 rows \(10.2 %\) .* At most 10 % are"
    ):
        hn.replay(log.frame, **log.options)


def test_fewer_rows_left_out_need_no_word():
    log = offers(1500)
    frame = log.frame.copy()
    frame.loc[frame.index % 200 == 0, "revenue"] = np.nan
    replay = hn.replay(frame, **log.options, learners=["LinUCB"])
    assert "left out" not in replay.answer
    assert replay.as_dict()["rows_left_out"] == 8


def test_a_german_file_with_costs_is_answered_in_euros(tmp_path):
    path, _, _ = files.churn(tmp_path / "kunden.csv", n=2500, german=True)
    cost = {"ja": {"nein": 80}, "nein": {"ja": 6}}
    replay = hn.replay(path, label="churned", current="we offered", cost=cost, unit="€", **FAST)
    with open(path, encoding="latin-1") as stream:
        cells = [line.rstrip("\n").split(";")[-2:] for line in list(stream)[1:]]
    price = {("ja", "nein"): 80.0, ("nein", "ja"): 6.0}
    now = np.mean([price.get((right.strip(), did.strip()), 0.0) for right, did in cells])
    assert replay.answer.startswith(f"Your current rule costs {now:.2f} € per row; the best")
    assert replay.rule.decide({"age": 25, "plan": "free"}) == "ja"


def test_prices_are_compared_with_the_current_rule_in_euros(tmp_path):
    path, best = files.revenue(tmp_path / "prices.csv")
    asked = {"action": "price", "reward": "revenue", "propensity": "p", "unit": "€"}
    replay = hn.replay(path, **asked, learners=["LinUCB"])
    row = replay.table.iloc[0]
    assert row["low"] < best < row["high"] * 1.02
    assert replay.rule.decide({"kind": "company"}) == "high"
    assert replay.rule.decide({"kind": "person"}) == "low"


# The command line --------------------------------------------------------------------------------


def test_the_rule_and_the_decider_of_a_command_are_saved_and_shown(churn, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    churn.to_csv(tmp_path / "churn.csv", index=False)
    asked = [str(tmp_path / "churn.csv"), "--label", "left", "--learner", "FollowTheLeader"]
    saved = ["--save", str(tmp_path / "decider"), "--save-rule", str(tmp_path / "rule")]
    done = CliRunner().invoke(command, [*asked, *saved], catch_exceptions=False)
    assert "hn.Decider" in done.stdout
    assert hn.load(tmp_path / "rule").decide({"age": 25, "plan": "free"}) == "yes"
    assert isinstance(hn.load(tmp_path / "decider"), hn.Decider)


def test_progress_is_told_without_a_terminal(churn, tmp_path, monkeypatch):
    churn.to_csv(tmp_path / "churn.csv", index=False)
    asked = [str(tmp_path / "churn.csv"), "--label", "left", "--learner", "FollowTheLeader"]
    monkeypatch.setattr("hannan.cli.replay._SHORT", 1e9)
    assert CliRunner().invoke(command, asked).stderr == ""  # it is short
    monkeypatch.setattr("hannan.cli.replay._SHORT", 0.0)
    lines = CliRunner().invoke(command, asked).stderr.splitlines()
    assert lines[0].startswith("reading ")
    assert "fitting rules" in lines
    assert "playing FollowTheLeader" in lines
    assert CliRunner().invoke(command, [*asked, "--json"]).stderr == ""
