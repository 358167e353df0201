"""What a notebook sees: HTML, plots and frames of results, and the notebooks in examples/."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot

import hannan as hn
from hannan.core.display import folded, page, paragraph, table
from hannan.core.frames import by_column, frame
from hannan.core.plots import Dot, axes, draw_dots

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
EVIL = "<b>$5$ & more</b>"  # markup, and mathematics of matplotlib


@pytest.fixture(autouse=True)
def no_screen():
    """Draw without a screen, and leave no figure behind."""
    backend = matplotlib.get_backend()
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


# Results, each with a name that must be escaped ---------------------------------------------------


@functools.cache
def decider():
    """Return a Decider whose second action is the best, with a few decisions left open."""
    d = hn.Decider(
        ["now", EVIL], rewards=(0, 10), baseline="now", exploration=0.1, holdout=0.1, seed=0
    )
    for number in range(400):
        decision = d.decide(id=number)
        if number % 40:
            d.report(decision, reward=3.0 if decision.action == "now" else 6.0)
    return d


@functools.cache
def trace():
    """Return a game against losses that are known, and its learner."""
    rng = np.random.default_rng(0)
    losses = (rng.random((300, 3)) < [0.2, 0.5, 0.8]).astype(float)
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    return hn.play(learner, hn.environments.FromArrays(np.arange(300) % 2, losses)), learner


@functools.cache
def log():
    """Return a log with names and euros."""
    rng = np.random.default_rng(0)
    p = np.array([0.5, 0.3, 0.2])
    actions = rng.choice(3, 600, p=p)
    return hn.off_policy.Log(
        [{"age": int(age), "plan": EVIL} for age in rng.integers(18, 80, 600)],
        actions,
        rewards=20.0 + 5.0 * actions + rng.normal(size=600),
        propensities=p[actions],
        names=["none", "5%", EVIL],
    )


@functools.cache
def watch():
    """Return a Watch of two policies that has read a log."""
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=500)
    losses = (rng.random(500) < np.where(actions, 0.2, 0.7)).astype(float)
    plain = hn.off_policy.Log(None, actions, losses, np.full(500, 0.5), n_actions=2)
    return hn.off_policy.Watch.over(plain, {"always 0": 0, EVIL: 1})


@functools.cache
def replay():
    """Return a replay with rows that are left out."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 500)
    frame = pd.DataFrame({
        "age": age,
        "left": np.where((age < 40) != (rng.random(500) < 0.05), "yes", EVIL),
        "offer": np.where(age < 60, "yes", EVIL),
    })  # fmt: skip
    frame.loc[:9, "left"] = None
    options = {"unit": "€", "learners": ["FollowTheLeader"], "cost": {"yes": {EVIL: 20}}}
    return hn.replay(frame, label="left", current="offer", **options)


MAKE = {
    "Decider": decider,
    "Summary": lambda: decider().summary(),
    "Trace": lambda: trace()[0],
    "Certificate": lambda: trace()[1].certificate(),
    "Estimate": lambda: hn.off_policy.evaluate(log(), EVIL),
    "Log": log,
    "Watch": watch,
    "Replay": replay,
}
FRAMED = [name for name in MAKE if name != "Replay"]


# HTML ------------------------------------------------------------------------------------------


class Parsed(HTMLParser):
    """HTML as text and tags; an end tag that does not fit is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.tags, self.texts, self.styles = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.styles += [value for name, value in attrs if name == "style"]
        assert {name for name, _ in attrs} <= {"style"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def numbers(text: str) -> set[str]:
    """Return the numbers in a text."""
    return set(re.findall(r"\d[\d,.]*\d|\d", text))


@pytest.mark.parametrize("name", MAKE)
def test_html_is_well_formed_and_escaped_and_needs_nothing_else(name):
    shown = Parsed(MAKE[name]()._repr_html_())
    allowed = {"b", "details", "div", "li", "p", "summary", "table", "tbody", "td", "th", "thead"}
    assert set(shown.tags) <= allowed | {"tr", "ul"}
    assert "url" not in " ".join(shown.styles)
    # Grounds are half transparent and text has the colour around it, whatever the theme.
    assert not re.search(r"(?<!-)color:|background:#", " ".join(shown.styles))


@pytest.mark.parametrize("name", ["Decider", "Summary", "Log", "Watch", "Replay"])
def test_names_are_shown_as_they_are(name):
    html = MAKE[name]()._repr_html_()
    assert EVIL in Parsed(html).text
    assert EVIL not in html


@pytest.mark.parametrize("name", [name for name in MAKE if name not in ("Log", "Trace", "Replay")])
def test_html_has_the_figures_of_the_text(name):
    thing = MAKE[name]()
    assert numbers(str(thing)) <= numbers(Parsed(thing._repr_html_()).text)


@pytest.mark.parametrize("name", ["Log", "Trace"])
def test_html_has_the_figures_of_the_short_text(name):
    thing = MAKE[name]()
    assert repr(thing)[1:-1] in Parsed(thing._repr_html_()).text


def test_a_replay_shows_the_rows_left_out_the_answer_and_all_choices():
    shown = Parsed(replay()._repr_html_())
    warning, answer = shown.texts[:2]
    assert warning == replay().warning
    assert replay().answer == f"{warning} {answer}"
    place = shown.texts.index("your current rule")
    means = replay().table.set_index("kind")["mean"]
    assert shown.texts[place + 1] == f"{means['current']:.2f}"
    names = [player.name for player in replay().results.ranked()]
    places = [
        shown.texts.index("your current rule" if name == "current" else name) for name in names
    ]
    assert places == sorted(places)


def test_large_rewards_are_shown_in_full():
    d = hn.Decider(["a", "b"], rewards=(0, 50_000), seed=0)
    for _ in range(5):
        d.report(d.decide(), reward=31_415.9)
    assert "31,416" in Parsed(d._repr_html_()).text
    assert d.plot().get_legend().get_texts()[-1].get_text() == "this Decider: 31,416"


def test_a_decider_without_decisions_and_a_short_log_are_shown():
    fresh = hn.Decider(["a", "b"], rewards=(0, 1), baseline="a")
    assert "0 decisions" in Parsed(fresh._repr_html_()).text
    assert "first 0 rounds" in Parsed(log()[:0]._repr_html_()).text
    assert "trace of 0 rounds" in Parsed(hn.experiments.Trace(None)._repr_html_()).text
    assert "not known" in Parsed(hn.off_policy.Watch(n_actions=2)._repr_html_()).text


def test_a_contradiction_is_shown_as_a_warning():
    wrong = hn.off_policy.Watch({"always 0": 0})
    for t in range(300):
        wrong.add_decision(t, None, 0, propensity=0.01)
        wrong.add_loss(t, 1.0)
    assert Parsed(wrong._repr_html_()).texts[0].startswith("Some intervals contradict")


def test_a_long_table_says_how_much_is_left_out():
    shown = Parsed(page(table(["n", "square"], [(str(i), str(i * i)) for i in range(50)], most=3)))
    assert shown.texts == ["n", "square", "0", "0", "1", "1", "2", "4", "… and 47 more"]
    assert folded("Notes", []) == ""
    assert Parsed(folded("Notes", ["a < b"])).texts == ["Notes", "a < b"]
    assert Parsed(paragraph("a < b", warning=True)).texts == ["a < b"]


def test_a_summary_has_a_short_representation():
    shown = repr(decider().summary())
    assert len(shown) < 120
    assert shown.startswith("<Summary: 400 decisions, mean reward 5.")
    assert shown.endswith("over the current rule: better>")
    fresh = hn.Decider(["a", "b"], losses=(0, 1), baseline="a").summary()
    assert repr(fresh) == "<Summary: 0 decisions>"


# Plots -----------------------------------------------------------------------------------------


def rows(ax):
    """Return the labels of the rows of a plot."""
    return [label.get_text() for label in ax.get_yticklabels()]


def points(ax, label):
    """Return the points of a line by its label."""
    (line,) = (line for line in ax.get_lines() if line.get_label() == label)
    return np.asarray(line.get_xdata(), dtype=float).tolist()


def intervals(ax, label):
    """Return the horizontal lines by their label."""
    (lines,) = (lines for lines in ax.collections if lines.get_label() == label)
    return [tuple(segment[:, 0]) for segment in lines.get_segments()]


def entries(ax):
    """Return the texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("name", MAKE)
def test_a_plot_returns_its_axes_and_draws_on_those_given(name):
    thing = MAKE[name]()
    ax = thing.plot()
    assert isinstance(ax, matplotlib.axes.Axes)
    assert ax.get_xlabel()
    ax.figure.canvas.draw()
    given = pyplot.figure().add_subplot()
    count = len(pyplot.get_fignums())
    assert thing.plot(given) is given
    assert thing.plot(ax=given) is given
    assert len(pyplot.get_fignums()) == count


@pytest.mark.parametrize("name", MAKE)
def test_without_matplotlib_a_plot_names_the_extra(name, monkeypatch):
    thing = MAKE[name]()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(hn.MissingPackageError, match=r"\.plot needs .* 'hannan\[report\]'"):
        thing.plot()


def test_a_decider_draws_every_comparison_with_both_intervals():
    summary = decider().summary()
    ax = decider().plot()
    compared = [summary.baseline, *summary.actions.values()]
    assert rows(ax) == ["current rule", "always now", f"always {EVIL}"]
    assert points(ax, "estimate") == [each.estimate for each in compared]
    assert intervals(ax, "95 % interval if you look once") == [each.look for each in compared]
    assert intervals(ax, "95 % interval at any time") == [each.interval for each in compared]
    own = f"this Decider: {summary.mean:.4g}"
    assert points(ax, own) == [summary.mean] * 2
    (line,) = (line for line in ax.get_lines() if line.get_label() == own)
    assert all(drawn.get_zorder() > line.get_zorder() for drawn in ax.collections)
    assert len(entries(ax)) == 4
    assert ax.get_xlabel() == "mean reward per decision"
    assert ax.yaxis_inverted()  # the first on top


def test_a_decider_without_outcomes_draws_the_range_alone():
    ax = hn.Decider(["a", "b"], rewards=(0, 1), baseline="a").plot()
    assert entries(ax) == ["95 % interval at any time"]
    assert intervals(ax, "95 % interval at any time") == [(0.0, 1.0)] * 3


def test_a_trace_draws_the_mean_loss_of_the_learner_and_of_the_best_policy():
    game = trace()[0]
    ax = game.plot()
    learner, best = ax.get_lines()
    assert entries(ax) == ["learner", "best policy in hindsight"]
    assert learner.get_xdata()[[0, -1]].tolist() == [4, 300]  # without the first percent
    assert learner.get_ydata()[-1] == pytest.approx(game.mean_loss)
    gap = learner.get_ydata()[-1] - best.get_ydata()[-1]
    assert 300 * gap == pytest.approx(game.regret())


def test_a_trace_without_a_policy_class_draws_the_learner_and_the_current_rule():
    world = hn.environments.FromFrame(
        pd.DataFrame({"x": [0.0, 1.0] * 20, "y": ["a", "b"] * 20, "now": ["a"] * 40}),
        context=["x"], label="y", current="now",
    )  # fmt: skip
    game = hn.play(hn.baselines.FollowTheLeader(hn.oracles.LinearPolicies(2)), world)
    game.oracle = None
    ax = game.plot()
    assert entries(ax) == ["learner", "current rule"]
    assert ax.get_lines()[1].get_ydata()[-1] == 0.5
    assert list(game.to_frame()) == ["round", "action", "loss", "cumulative_loss", "current_loss"]
    assert "current rule" in Parsed(game._repr_html_()).texts


def test_a_certificate_draws_what_it_says_of_regret_and_the_loss():
    certificate = trace()[1].certificate()
    ax = certificate.plot()
    assert rows(ax) == ["realised regret", "measured", "a priori", "high probability"]
    kinds = ("realised_regret", "measured", "a_priori", "high_probability")
    assert [bar.get_width() for bar in ax.patches] == [getattr(certificate, k) for k in kinds]
    regret, *bounds = ax.patches
    assert regret.get_facecolor() not in {bar.get_facecolor() for bar in bounds}
    assert len({bar.get_facecolor() for bar in bounds}) == 1
    total = f"total loss {certificate.loss:.6g}"
    assert entries(ax) == [total, "regret", "upper bound on regret (proved or estimated)"]
    assert points(ax, total) == [certificate.loss] * 2
    assert ax.get_xlabel() == "regret after 300 rounds, in units of losses"


def test_estimated_bounds_are_drawn_without_an_entry_for_the_regret():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    hn.play(learner, hn.environments.FromArrays(None, [[0.0, 1.0]] * 50))
    ax = learner.certificate().plot()
    assert rows(ax) == ["stability estimate", "variance estimate", "comparator estimate"]
    assert entries(ax)[1:] == ["upper bound on regret (proved or estimated)"]


def test_an_estimate_draws_its_interval_and_the_logged_mean():
    estimate = MAKE["Estimate"]()
    ax = estimate.plot()
    assert points(ax, "estimate") == [estimate.value]
    assert intervals(ax, "95 % interval") == [estimate.interval]
    logged = points(ax, f"the logged mean {estimate.logged:.4g}")
    assert logged == pytest.approx([estimate.logged] * 2)
    assert "mean reward per round" in ax.get_xlabel()
    assert str(estimate).splitlines()[1].strip() in ax.get_xlabel()


def test_a_log_draws_shares_and_propensities():
    ax = log().plot()
    assert rows(ax) == ["none", "5%", EVIL]
    shares = np.bincount(log().actions) / 600
    assert points(ax, "share of rounds") == shares.tolist()
    assert intervals(ax, "propensities") == [(0.5, 0.5), (0.3, 0.3), (0.2, 0.2)]


def test_a_watch_draws_every_policy_and_our_own_interval():
    ax, said = watch().plot(), watch().intervals().values()
    assert rows(ax) == ["always 0", EVIL]
    assert points(ax, "estimate") == [each.estimate for each in said]
    assert intervals(ax, "95 % interval if you look once") == [each.look for each in said]
    assert intervals(ax, "95 % interval at any time") == [each.loss for each in said]
    assert "mean loss of the played actions, at any time" in entries(ax)
    (band,) = ax.patches
    low, high = watch().played()
    assert (band.get_x(), band.get_width()) == pytest.approx((low, high - low))


def test_a_replay_draws_every_choice_and_the_current_rule():
    ax, table = replay().plot(), replay().table.set_index("name")
    names = rows(ax)
    shown = table.loc[names]
    assert "current" not in set(shown["kind"])
    assert points(ax, "mean") == shown["mean"].tolist()
    assert intervals(ax, "95 % interval") == list(zip(shown["low"], shown["high"], strict=True))
    now = table[table["kind"] == "current"]["mean"].item()
    assert points(ax, "your current rule") == [now, now]
    assert ax.get_xlabel() == "mean loss per row (€)"


def test_many_rows_are_cut_off_and_said_to_be():
    ax = axes(None, None, 100)
    dots = [Dot(f"{'x' * 60} {i}", float(i)) for i in range(100)]
    draw_dots(ax, dots, "value")
    assert len(rows(ax)) == 40
    assert rows(ax)[0] == "x" * 24 + "…" + "x" * 13 + " 0"
    assert len(set(rows(ax))) == 40
    assert ax.get_ylabel() == "40 of 100 rows"


# Frames ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FRAMED)
def test_frames_are_of_pandas_or_polars_or_columns(name, monkeypatch):
    thing = MAKE[name]()
    first = thing.to_frame()
    assert isinstance(first, pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    second = thing.to_frame()
    # Names and units of a Log need attrs, which polars does not have.
    assert isinstance(second, dict if name == "Log" else pl.DataFrame)
    check_same_columns(first, second if name == "Log" else second.to_dict(as_series=False))
    monkeypatch.setitem(sys.modules, "polars", None)
    third = thing.to_frame()
    assert isinstance(third, dict)
    check_same_columns(first, third)


def check_same_columns(first, columns):
    """Columns hold the same values; what is not known is None or NaN."""
    assert list(columns) == list(first)
    for name in first:
        for left, right in zip(first[name], columns[name], strict=True):
            assert left == right or left != left, name


def test_the_frame_of_a_decider_has_the_rows_of_its_summary():
    summary = decider().summary()
    found = decider().to_frame()
    assert found["policy"].tolist() == ["current rule", "always now", f"always {EVIL}"]
    assert found["reward"].tolist() == [row["reward"] for row in summary.rows()]
    assert found["gain_low"][0] == summary.baseline.gain[0]
    assert found["reward_look_high"][1] == summary.actions["now"].look[1]
    assert found["verdict"][0] == summary.baseline.verdict


def test_the_frame_of_a_trace_has_its_rounds_and_its_regret():
    game = trace()[0]
    found = game.to_frame()
    columns = ["round", "action", "loss", "cumulative_loss", "best_loss", "regret"]
    assert list(found) == columns
    assert found["round"].tolist() == list(range(1, 301))
    assert found["action"].tolist() == game.actions.tolist()
    assert found["cumulative_loss"].iloc[-1] == pytest.approx(game.losses.sum())
    assert found["regret"].iloc[-1] == pytest.approx(game.regret())


def test_the_frame_of_a_trace_of_sets_has_lists():
    losses = np.random.default_rng(0).random((20, 4))
    world = hn.environments.FromArrays(None, losses)
    game = hn.play(hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0), world)
    found = game.to_frame()
    assert all(type(action) is list and len(action) == 2 for action in found["action"])
    assert found["regret"].iloc[-1] == pytest.approx(game.regret())


def test_the_frame_of_a_trace_of_a_log_has_weights(tmp_path):
    rng = np.random.default_rng(0)
    ads = rng.integers(2, size=200)
    path = tmp_path / "ads.csv"
    pd.DataFrame({"x": rng.random(200), "ad": ads, "click": rng.integers(2, size=200)}).to_csv(path)
    world = hn.environments.FromLog(
        path, context=["x"], action="ad", reward="click", propensity=0.5
    )
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    game = hn.play(learner, world.clone(context=None), seed=0)
    found = game.to_frame()
    assert found["weight"].sum() == game.weights.sum()
    assert found["cumulative_loss"].iloc[-1] == pytest.approx(200 * game.mean_loss)
    assert found["regret"].iloc[-1] == pytest.approx(game.regret())
    assert len(game.plot().get_lines()) == 3


def test_the_frame_of_a_certificate_has_every_statement():
    certificate = trace()[1].certificate()
    found = certificate.to_frame().set_index("statement")
    assert found.loc["measured", "value"] == certificate.measured
    assert math.isnan(found.loc["theorem_5", "value"])
    assert found.loc["theorem_5", "words"] == ""
    assert found.loc["a_priori", "bound"]
    assert f"- {found.loc['high_probability', 'words']}" in str(certificate).splitlines()


def test_the_frame_of_an_estimate_is_one_row():
    estimate = MAKE["Estimate"]()
    found = estimate.to_frame().iloc[0]
    assert (found["estimate"], found["low"], found["high"]) == (estimate.value, *estimate.interval)
    assert found["difference"] == estimate.difference.value
    assert (found["difference_low"], found["difference_high"]) == estimate.difference.interval
    assert (found["unit"], found["logged"]) == ("reward", estimate.logged)
    assert found["interval"] == "normal"


def test_columns_are_taken_from_rows():
    assert by_column([{"a": 1, "b": 2}], ["b"]) == {"b": [2]}
    assert frame({"a": [1]}, {"names": ["x"]}).attrs == {"names": ["x"]}


# The notebooks in examples/ -----------------------------------------------------------------------

# Runs the cells in IPython, in a process of its own, and prints all displays as JSON. Figures go
# the way of a notebook: the backend publishes them when their cell ends.
RUNNER = """
import json, os, sys
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config
quiet = Config({"HistoryManager": {"enabled": False}})
shell, shown = InteractiveShell.instance(config=quiet), []
for number, source in enumerate(json.load(sys.stdin)):
    with capture_output() as got:
        done = shell.run_cell(source, store_history=False)
    if not done.success:
        sys.exit(f"cell {number}:\\n{source}\\n{got.stdout}{got.stderr}")
    displays = [out.data for out in got.outputs]
    if done.result is not None:
        displays.append(shell.display_formatter.format(done.result)[0])
    shown.append({
        "printed": got.stdout, "warned": got.stderr,
        "html": [each["text/html"] for each in displays if "text/html" in each],
        "pictures": sum("image/png" in each for each in displays),
    })
print(json.dumps(shown))
"""


def test_notebooks_are_there():
    assert [path.name for path in NOTEBOOKS] == ["decide_prices.ipynb", "replay_a_log.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        assert cell["cell_type"] in ("code", "markdown")
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def executed(name):
    """Run a notebook in IPython and return what each code cell displays."""
    path = ROOT / "examples" / name
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    package = Path(hn.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(package)},
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert not any(cell["warned"] for cell in shown)
    for cell in shown:
        for html in cell["html"]:
            if "overflow-x:auto" in html:  # ours, and not that of pandas
                Parsed(html)
    return shown


@pytest.mark.slow
def test_the_notebook_about_prices_runs():
    shown = executed("decide_prices.ipynb")
    assert sum(cell["pictures"] for cell in shown) == 1
    html = " ".join(Parsed(h).text for cell in shown for h in cell["html"] if "overflow-x" in h)
    assert "current rule" in html
    assert "holdout" in html
    assert re.search(r"gain [\d.]+ per decision .*: better", html)


@pytest.mark.slow
def test_the_notebook_about_a_log_runs():
    shown = executed("replay_a_log.ipynb")
    assert sum(cell["pictures"] for cell in shown) == 2
    assert any("clearly" in cell["printed"] for cell in shown)
    assert any("€" in html for cell in shown for html in cell["html"])


def test_a_certificate_without_statements_is_a_sentence_and_an_empty_plot():
    made = trace()[1].certificate()
    nothing = type(made).of(0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = nothing.plot()
    assert not ax.patches
    assert "nothing to show yet" in nothing._repr_html_()
    assert "<table" not in nothing._repr_html_()
