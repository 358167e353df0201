"""`hn.replay`: what your current rule costs, and what the best choice would have cost."""

from __future__ import annotations

import csv
import difflib
import inspect
import io
import json
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from hannan.core import HannanError, InputTypeError, ParameterError
from hannan.core.display import folded, page, paragraph, table
from hannan.core.frames import by_column, frame
from hannan.core.params import short
from hannan.core.plots import Dot, axes, draw_dots, draw_line, legend
from hannan.core.validation import check_integer
from hannan.decisions import Decider
from hannan.experiments.cell import Cell
from hannan.experiments.fitted_rules import FOLDS, records_of
from hannan.experiments.game import world_rng
from hannan.experiments.plan import Plan, make_plan
from hannan.experiments.results import replace_file
from hannan.experiments.run import Run, run
from hannan.replays.answer import Comparator, ReplayAnswer
from hannan.replays.comparators import check_players, learners_of, policies_of
from hannan.replays.data import LISTS, OPTIONS, Stream, check_file_options, read_stream
from hannan.replays.frames import write_frame
from hannan.replays.rule import Rule
from hannan.replays.takeaways import decisions, snippet, take_rule, train_decider

Progress = Callable[[str, int, int], None]
"""Called with the stage of a replay, the rounds done, and their number (0 if it is not known)."""
_POINTS = 200
_FRAME = "the frame"  # what a replay calls data that is no file
_COLUMNS = (
    *("name", "kind", "mean", "low", "high"),
    *("difference", "difference_low", "difference_high", "total", "effective"),
)


class FailedReplayError(RuntimeError):
    """A learner stopped with an error that is not about your data."""


class Replay:
    """The answer of `hn.replay`, the figures behind it, and rules to take away.

    Attributes
    ----------
    answer
        One sentence: the cost of your current rule, the cost of the best choice, and how sure the
        difference is.
    notes
        Further facts, a sentence each.
    warning
        Rows that are left out, rare classes without costs, rough estimates; None if there are none.
    code
        Python that repeats the replay and asks the best choice about a row.

    Examples
    --------
    >>> import hannan as hn
    >>> frame = {"hour": list(range(24)) * 20, "busy": (["no"] * 8 + ["yes"] * 16) * 20}
    >>> again = hn.replay(frame, label="busy", learners=["FollowTheLeader"])
    >>> again.table["kind"].tolist().count("rule"), len(again.decisions)
    (4, 480)
    >>> again.decider.decide({"hour": 3}).action in ("no", "yes")
    True
    """

    def __init__(
        self,
        stream: Stream,
        plan: Plan,
        done: Run,
        asked: Mapping[str, Any],
        folder: _Folder,
        originals: Mapping[str, Any],
        progress: Progress | None,
    ) -> None:
        self._stream, self._plan, self._done = stream, plan, done
        self._asked, self._folder, self._progress = asked, folder, progress
        self._seed = plan.cells[0].seed
        self._names = [originals.get(name, name) for name in stream.names]
        # A Decider takes text and numbers as names, and a truth value is no number.
        self._called = [n if type(n) in (int, float, str) else str(n) for n in self._names]
        self._results = ReplayAnswer(stream, done.records, done.times)
        results = self._results
        self.answer, self.notes, self.warning = results.sentence, results.notes, results.warning
        self.code = snippet(stream, asked, results.choice)

    @property
    def results(self) -> ReplayAnswer:
        """Figures of all choices, as the command line prints them."""
        return self._results

    @property
    def table(self) -> Any:
        """One row per choice, the best first, as a frame.

        `difference` is the difference to your current rule, which has the kind "current", per row;
        its interval holds for all choices at once. Without a current rule it is the difference to
        the best single action.
        """
        ranked = sorted(self._results.comparators, key=lambda comparator: comparator.mean)
        rows = [{**comparator.plain, "name": comparator.name} for comparator in ranked]
        return frame(by_column(rows, _COLUMNS))

    @cached_property
    def rule(self) -> Rule:
        """The best fixed choice, a fitted rule or a single action, which decides on new rows."""
        choice = self._results.choice
        if choice is None or choice.kind == "learner":
            choice = self._results.comparator("rule", "constant")
        if choice is None:
            raise ParameterError("The data say nothing about any rule: there is none to take away.")
        return take_rule(self._stream, self._plan.cells[0], choice, self._names)

    @cached_property
    def decider(self) -> Decider:
        """A `Decider` that has played all rows; from then on the table has a row for it."""
        progress = self._progress or (lambda *_: None)
        rounds = self._stream.rounds
        trained, beside = train_decider(
            self._stream,
            self._called,
            self._baseline,
            _POINTS,
            self._seed,
            lambda t: progress("training a Decider", t, rounds),
        )
        first = next(r for r in self._done.records if r["cell"]["learner"] is None)
        with_it = {**first, "result": {**first["result"], "beside": [beside]}}
        self._results = ReplayAnswer(
            self._stream, [*self._done.records, *records_of(with_it)], self._done.times
        )
        return trained

    @property
    def _baseline(self) -> Any:
        """The current rule where that is a single action, which a `Decider` can be told."""
        environment, taken = self._stream.environment, set()
        if self._results.current is None or self._stream.logged:
            return None
        bare = environment.clone(context=None)
        for this_round in bare.rounds(self._stream.rounds, world_rng(self._seed)):
            taken.add(cast(int, this_round.current))
            if len(taken) > 1:
                return None
        (action,) = taken
        return self._called[action]

    @cached_property
    def decisions(self) -> Any:
        """The action of the best choice in each row, as a frame: `row` and `decision`."""
        choice = self._results.choice
        if choice is None:
            raise ParameterError("The data say nothing about any choice: it decides nothing.")
        cell = self._cell_of(choice)
        actions = [self._names[k] for k in decisions(self._stream, cell, choice)]
        return frame({"row": list(range(1, len(actions) + 1)), "decision": actions})

    def _cell_of(self, choice: Comparator) -> Cell:
        cells = self._plan.cells
        own = (c for c in cells if c.learner is not None and c.learner["name"] == choice.name)
        return next(own, cells[0])

    def write_decisions(self, path: str | os.PathLike[str]) -> None:
        """Write `decisions` as a CSV file."""
        table = self.decisions
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["row", "decision"])
            writer.writerows(zip(table["row"], table["decision"], strict=True))

    def report(self, folder: str | os.PathLike[str]) -> Path:
        """Write the report, an HTML page, to a folder, and return its path.

        `hannan show` reads the file ``answer.json`` beside it.
        """
        from hannan.report import write_report

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        page, about = self._results.page(self.code), (self._plan.title, self._plan.description)
        kept = {
            "title": self._plan.title,
            "results": self.as_dict(),
            "table": self._results.listed(),
            "page": page.as_dict(),
        }
        replace_file(target / "answer.json", json.dumps(kept, ensure_ascii=False).encode())
        path = target / "report.html"
        return write_report(self._done.records, self._done.times, path, *about, lead=page)

    def print(self, console: Console, name: str) -> None:
        """Print the answer, the table and what is behind them; `name` is that of the data."""
        self._results.print(console, self.code, name)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values, as `hannan replay --json` prints them."""
        return self._results.as_dict()

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=100, color_system=None)
        self.print(console, self._plan.title.removeprefix("Replay of "))
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<replay of {self._stream.rounds:,} rows: {self.answer}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean of each choice with its interval, best first; return matplotlib's axes.

        The dashed line is your current rule. Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        results, units = self._results, self._stream.units
        shown = results.ranked()
        now = results.current
        dots = [
            Dot(comparator.name, plain["mean"], _interval(plain["low"], plain["high"]))
            for comparator in shown
            if comparator is not now and (plain := comparator.plain)["mean"] is not None
        ]
        ax = axes(self, ax, len(dots))
        label = f"mean {units.name} per row" + (f" ({units.unit})" if units.unit else "")
        draw_dots(ax, dots, label, value="mean", narrow="95 % interval")
        if now is not None:
            draw_line(ax, now.plain["mean"], "your current rule")
        legend(ax)
        return ax

    def _repr_html_(self) -> str:
        results = self._results
        heads, rows, marked = results.overview()
        warnings = [] if self.warning is None else [paragraph(self.warning, warning=True)]
        # The warning has the caution with which the answer begins as well.
        answer = self.answer.removeprefix(f"{results.caution} ")
        return page(
            *warnings,
            paragraph(answer, strong=True),
            table(heads, rows, marked=marked),
            folded("Notes", self.notes),
            folded("Columns", results.columns),
        )


def replay(
    data: Any,
    *,
    label: str | None = None,
    current: str | None = None,
    action: str | None = None,
    reward: str | None = None,
    loss: str | None = None,
    propensity: str | float | None = None,
    cost: Any = None,
    losses: Sequence[str] | None = None,
    unit: str = "",
    seed: int = 0,
    learners: Sequence[str] = (),
    policies: str | None = None,
    feedback: str | None = None,
    rounds: int | None = None,
    seeds: int = 1,
    jobs: int = 1,
    output: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Replay:
    """Replay your data: what does your current rule cost, and what would the best choice cost?

    Rows hold the right class (`label`), the loss of every action (`losses`), or the outcome of the
    action taken (`action` with `loss` or `reward`, and `propensity`).

    Parameters
    ----------
    data
        A frame of pandas or polars, a table of pyarrow, a mapping of names to columns, or the path
        of a file as `hannan replay` takes it.
    label
        Column of the right class. Another class costs 1, unless `cost` says otherwise.
    current
        Column of the action that your current rule chose.
    action, reward, loss
        Of a log: column of the action taken, and column of its reward or of its loss.
    propensity
        Of a log: column of the probabilities with which the actions were taken; "estimate" if these
        were not logged; a number if actions were drawn uniformly at random.
    cost
        Costs of mistakes: ``{"yes": {"no": 50}}`` or ``{"yes:no": 50}`` if *no* costs 50 where
        *yes* is right; or the path of a file with a matrix.
    losses
        One column for each action, with its loss.
    unit
        Unit of losses and rewards, such as "€", for sentence and table.
    seed
        Fixes all randomness.
    learners
        Names of the learners to play; by default the recommended one and some others.
    policies
        Policy class that the learners use. Default "LinearPolicies".
    feedback
        "full" or "bandit": learners see the losses of all actions, or that of their own action.
    rounds
        Number of rows to replay, from the first on. Default all.
    seeds, jobs
        Number of seeds that learners are played with, and of games played in parallel.
    output
        Folder for results and the HTML report.
    progress
        Called with the stage, the rounds done and the rounds in all.
    **more
        Further options of `hannan replay` with underscores: ``context``, ``categorical``, ``text``,
        ``labels``, ``actions``, ``method``, ``missing``, ``floor``, ``value_range``, ``delimiter``,
        ``decimal``, ``encoding``, ``header``, ``format``, ``hash``, ``max_columns``,
        ``max_unpacked``.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> age = np.random.default_rng(0).integers(18, 80, 400)
    >>> frame = {"age": age, "left": np.where(age < 40, "yes", "no"), "offer": ["no"] * 400}
    >>> again = hn.replay(frame, label="left", current="offer", learners=["FollowTheLeader"])
    >>> print(again.answer)
    Your current rule costs 0.3... per row; the best choice found here, ...: clearly 0.3... less per
    row, 1... less over 400 rows (95 % interval ... to ...).
    >>> again.rule.decide({"age": 43})
    'no'
    """
    asked = {
        "label": label, "losses": losses, "cost": cost, "current": current, "action": action,
        "loss": loss, "reward": reward, "propensity": propensity, "unit": unit or None, **more,
    }  # fmt: skip
    _check_names(more)
    _check_counts(rounds, seed, seeds, jobs)
    # One name stands for a list of it.
    asked |= {key: [asked[key]] for key in LISTS if isinstance(asked.get(key), str)}
    names = _names(learners, policies)
    tell = progress or (lambda *_: None)
    spare = _Folder()
    path, name, originals = data, str(data), dict[str, Any]()
    if not isinstance(data, str | os.PathLike):
        path, name = Path(spare.path, "frame.csv"), _FRAME
        targets = [each for each in (action, label, current) if isinstance(each, str)]
        check_file_options(asked, ("decimal",), name)
        dialect, originals = write_frame(data, path, targets, asked.get("decimal"))
        asked |= dialect
    tell(f"reading {name}", 0, 0)
    options, folder = {**dict.fromkeys(OPTIONS), **asked}, Path(spare.path)
    with _named(Path(path), name):
        stream = read_stream(Path(path), options, rounds, folder)
        world = {"title": Path(name).name, **stream.table}
        plan = make_plan({
            "title": f"Replay of {Path(name).name}",
            "seeds": list(range(seed, seed + seeds)),
            "horizon": stream.rounds,
            "points": _POINTS,
            "folds": FOLDS,
            "learners": learners_of(stream, feedback, names),
            "environments": {"data": {**world, "policies": policies_of(policies, stream)}},
        })  # fmt: skip
        check_players(plan)
        done = _played(plan, folder if output is None else Path(output), jobs, tell)
    call = _arguments(data, name, locals())
    again = Replay(stream, plan, done, call, spare, originals, progress)
    if output is not None:
        again.report(output)
    return again


def _check_names(more: Mapping[str, Any]) -> None:
    """Refuse options that do not exist."""
    known = [*inspect.signature(replay).parameters, *OPTIONS]
    for name in more:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(known)}."
            raise InputTypeError(f"hn.replay has no argument {name!r}. {hint}")


def _names(learners: Any, policies: Any) -> list[str]:
    """Return the names of the learners; refuse objects."""
    names = [learners] if isinstance(learners, str) else list(learners)
    for key, name in [*(("learners", name) for name in names), ("policies", policies or "")]:
        if not isinstance(name, str):
            raise InputTypeError(
                f"{key}= takes names, such as 'LinUCB' or 'Stumps', because a replay makes its own "
                f"objects; got {short(name)}. hn.play plays an object."
            )
    return names


def _check_counts(rounds: Any, seed: Any, seeds: Any, jobs: Any) -> None:
    least = {"rounds": (1 if rounds is None else rounds, 1), "seed": (seed, 0)}
    for name, (value, low) in (least | {"seeds": (seeds, 1), "jobs": (jobs, 1)}).items():
        check_integer("hn.replay", name, value, low)


@contextmanager
def _named(path: Path, name: str) -> Iterator[None]:
    """Name a frame in errors, and not the file that it was written to."""
    try:
        yield
    except HannanError as error:
        if name == _FRAME:
            error.args = (str(error).replace(f"the file {str(path)!r}", name),)
        raise


def _arguments(data: Any, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that differ from their defaults, the data first."""
    arguments = {"data": _Variable("frame") if name == _FRAME else str(data)}
    silent = ("data", "more", "output", "progress", "jobs")
    for each in inspect.signature(replay).parameters.values():
        if each.name not in silent and values[each.name] not in (each.default, None, []):
            arguments[each.name] = values[each.name]
    return arguments | {key: value for key, value in values["more"].items() if value is not None}


class _Folder:
    """A folder that is removed with this object: rules and Deciders are made when asked for."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.path, True)


class _Variable(str):
    """A name that code shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _played(plan: Plan, folder: Path, jobs: int, tell: Progress) -> Run:
    """Play a plan; a cell that fails is an error."""
    rounds: dict[str, int] = {}

    def tick(cell: Cell, more: int) -> None:
        rounds[cell.key] = rounds.get(cell.key, 0) + more
        who = "fitting rules" if cell.learner is None else f"playing {cell.learner['name']}"
        tell(who, sum(rounds.values()), plan.rounds)

    backend = "serial" if jobs == 1 else "loky"
    done = run(plan, folder, backend=backend, jobs=jobs, progress=tick)
    if done.failures:
        text = "; ".join(f"{cell.label}: {failure.error}" for cell, failure in done.failures)
        expected = all(failure.expected for _, failure in done.failures)
        raise ParameterError(text) if expected else FailedReplayError(text)
    return done


def _interval(low: float | None, high: float | None) -> tuple[float, float]:
    return (math.nan, math.nan) if low is None or high is None else (low, high)
