"""`hn.replay`: the costs of your current rule and of the best choice in past data."""

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
from hannan.replays.comparators import check_learners, learners_of, policies_of
from hannan.replays.data import LISTS, OPTIONS, ReplayData, check_file_options, read_data
from hannan.replays.frames import write_frame
from hannan.replays.rule import Rule
from hannan.replays.takeaways import decisions, snippet, take_rule, train_decider

Progress = Callable[[str, int, int], None]
"""Function of the stage of a replay, the rounds done and their number (0 if it is unknown)."""
_POINTS = 200
_FRAME = "the frame"  # name of data that come from memory
_COLUMNS = (
    *("name", "kind", "mean", "low", "high"),
    *("difference", "difference_low", "difference_high", "total", "effective"),
)


class FailedReplayError(RuntimeError):
    """Raised if a learner fails for a reason other than your data."""


class Replay:
    """Result of `hn.replay`: the answer, its numbers, and rules for new rows.

    Attributes
    ----------
    answer
        One sentence: the cost of your current rule, the cost of the best choice, and their
        difference with its confidence interval.
    notes
        Further facts, one sentence each.
    warning
        Warning about rows left out, copies of rows, rare classes without costs, and rough
        estimates; None without warnings.
    code
        Python code that repeats the replay and lets the best choice decide a row.

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
        replay_data: ReplayData,
        plan: Plan,
        done: Run,
        asked: Mapping[str, Any],
        folder: _Folder,
        originals: Mapping[str, Any],
        progress: Progress | None,
    ) -> None:
        self._data, self._plan, self._done = replay_data, plan, done
        self._asked, self._folder, self._progress = asked, folder, progress
        self._seed = plan.cells[0].seed
        self._names = [originals.get(name, name) for name in replay_data.names]
        # A Decider accepts text and numbers as names; True and False become text.
        self._called = [n if type(n) in (int, float, str) else str(n) for n in self._names]
        self._results = ReplayAnswer(replay_data, done.records, done.times)
        results = self._results
        self.answer, self.notes, self.warning = results.sentence, results.notes, results.warning
        self.code = snippet(replay_data, asked, results.choice)

    @property
    def results(self) -> ReplayAnswer:
        """Results of all choices, as the command line prints them."""
        return self._results

    @property
    def table(self) -> Any:
        """One row per choice, the best first, as a frame.

        `difference` is the difference per row to your current rule, which has the kind "current".
        The intervals of all differences hold jointly with 95 % confidence. Without a current rule,
        differences are to the best single action.
        """
        ranked = sorted(self._results.comparators, key=lambda comparator: comparator.mean)
        rows = [{**comparator.plain, "name": comparator.name} for comparator in ranked]
        return frame(by_column(rows, _COLUMNS))

    @cached_property
    def rule(self) -> Rule:
        """The best fitted rule or single action, to decide new rows."""
        choice = self._results.choice
        if choice is None or choice.kind == "learner":
            choice = self._results.comparator("rule", "constant")
        if choice is None:
            raise ParameterError("The log does not show how good any rule is, so there is no rule.")
        return take_rule(self._data, self._plan.cells[0], choice, self._names)

    @cached_property
    def decider(self) -> Decider:
        """A `Decider` trained on all rows. After the first access, the table has a row for it."""
        progress = self._progress or (lambda *_: None)
        rounds = self._data.rounds
        trained, results = train_decider(
            self._data,
            self._called,
            self._baseline,
            _POINTS,
            self._seed,
            lambda t: progress("training a Decider", t, rounds),
        )
        first = next(r for r in self._done.records if r["cell"]["learner"] is None)
        with_it = {**first, "result": {**first["result"], "beside": [results]}}
        self._results = ReplayAnswer(
            self._data, [*self._done.records, *records_of(with_it)], self._done.times
        )
        return trained

    @property
    def _baseline(self) -> Any:
        """The only action of the current rule, for a `Decider`; None if there are several."""
        environment, taken = self._data.environment, set()
        if self._results.current is None or self._data.logged:
            return None
        bare = environment.clone(context=None)
        for this_round in bare.rounds(self._data.rounds, world_rng(self._seed)):
            taken.add(cast(int, this_round.current))
            if len(taken) > 1:
                return None
        (action,) = taken
        return self._called[action]

    @cached_property
    def decisions(self) -> Any:
        """Action of the best choice in each row, as a frame with `row` and `decision`."""
        choice = self._results.choice
        if choice is None:
            raise ParameterError(
                "The log does not show how good any choice is, so there are no decisions."
            )
        cell = self._cell_of(choice)
        actions = [self._names[k] for k in decisions(self._data, cell, choice)]
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
        """Write the report to a folder as ``report.html``, and return its path.

        `hannan show` reads the file ``answer.json`` in the same folder.
        """
        from hannan.report import write_report

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        page, about = self._results.page(self.code), (self._plan.title, self._plan.description)
        stored = {
            "title": self._plan.title,
            "results": self.as_dict(),
            "table": self._results.listed(),
            "page": page.as_dict(),
        }
        replace_file(target / "answer.json", json.dumps(stored, ensure_ascii=False).encode())
        path = target / "report.html"
        return write_report(self._done.records, self._done.times, path, *about, lead=page)

    def print(self, console: Console, name: str) -> None:
        """Print the answer, the table and the notes; `name` is the name of the data."""
        self._results.print(console, self.code, name)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values, as `hannan replay --json` prints them."""
        return self._results.as_dict()

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=100, color_system=None)
        self.print(console, self._plan.title.removeprefix("Replay of "))
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<replay of {self._data.rounds:,} rows: {self.answer}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean of each choice with its interval, best first; return matplotlib's axes.

        The dashed line is your current rule. Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new axes.
        """
        results, units = self._results, self._data.units
        shown = results.ranked()
        current = results.current
        dots = [
            Dot(comparator.name, plain["mean"], _interval(plain["low"], plain["high"]))
            for comparator in shown
            if comparator is not current and (plain := comparator.plain)["mean"] is not None
        ]
        ax = axes(self, ax, len(dots))
        label = f"mean {units.name} per row" + (f" ({units.unit})" if units.unit else "")
        draw_dots(ax, dots, label, value="mean", narrow="95 % interval")
        if current is not None:
            draw_line(ax, current.plain["mean"], "your current rule")
        legend(ax)
        return ax

    def _repr_html_(self) -> str:
        results = self._results
        heads, rows, marked = results.overview()
        warnings = [] if self.warning is None else [paragraph(self.warning, warning=True)]
        # The warning repeats the caution at the beginning of the answer.
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
    """Replay your data to compare the cost of your current rule with that of the best choice.

    Each row holds the right class (`label`), the losses of all actions (`losses`), or the outcome
    of the action taken (`action` with `loss` or `reward`, and `propensity`).

    Parameters
    ----------
    data
        A frame of pandas or polars, a table of pyarrow, a mapping of names to columns, or the path
        of a file that `hannan replay` can read.
    label
        Column of the right class. Every other class costs 1, unless `cost` has its cost.
    current
        Column of the action that your current rule chose.
    action, reward, loss
        For a log: column of the action taken, and column of its reward or of its loss.
    propensity
        For a log: column of the probabilities of the actions taken, or "estimate" if they were not
        logged. A number is allowed only if actions were drawn uniformly at random.
    cost
        Costs of mistakes: ``{"yes": {"no": 50}}`` or ``{"yes:no": 50}`` if *no* costs 50 where
        *yes* is right; or the path of a file with a matrix.
    losses
        Columns of the losses, one for each action.
    unit
        Unit of losses and rewards in the answer, such as "€". Default none.
    seed
        Seed of all random numbers. Default 0.
    learners
        Names of the learners to run. Default: the recommended learner and some others.
    policies
        Policy class that the learners use. Default "LinearPolicies".
    feedback
        "full" (learners observe all losses) or "bandit" (only that of their action). Default
        "full", except for logs.
    rounds
        Number of rows to replay, from the first on. Default all.
    seeds, jobs
        Number of seeds per learner, and number of runs in parallel. Default 1.
    output
        Folder for the results and the HTML report. Default: neither is stored.
    progress
        Function that the replay calls with the stage, the rounds done and the total of rounds.
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
    # A single name becomes a list.
    asked |= {key: [asked[key]] for key in LISTS if isinstance(asked.get(key), str)}
    names = _names(learners, policies)
    notify = progress or (lambda *_: None)
    spare = _Folder()
    path, name, originals = data, str(data), dict[str, Any]()
    if not isinstance(data, str | os.PathLike):
        path, name = Path(spare.path, "frame.csv"), _FRAME
        targets = [each for each in (action, label, current) if isinstance(each, str)]
        check_file_options(asked, ("decimal",), name)
        dialect, originals = write_frame(data, path, targets, asked.get("decimal"))
        asked |= dialect
    notify(f"reading {name}", 0, 0)
    options, folder = {**dict.fromkeys(OPTIONS), **asked}, Path(spare.path)
    with _named(Path(path), name):
        replay_data = read_data(Path(path), options, rounds, folder)
        entry = {"title": Path(name).name, **replay_data.table}
        plan = make_plan({
            "title": f"Replay of {Path(name).name}",
            "seeds": list(range(seed, seed + seeds)),
            "horizon": replay_data.rounds,
            "points": _POINTS,
            "folds": FOLDS,
            "learners": learners_of(replay_data, feedback, names),
            "environments": {"data": {**entry, "policies": policies_of(policies, replay_data)}},
        })  # fmt: skip
        check_learners(plan)
        done = _run_plan(plan, folder if output is None else Path(output), jobs, notify)
    call = _arguments(data, name, locals())
    again = Replay(replay_data, plan, done, call, spare, originals, progress)
    if output is not None:
        again.report(output)
    return again


def _check_names(more: Mapping[str, Any]) -> None:
    """Raise `InputTypeError` for options that do not exist."""
    known = [*inspect.signature(replay).parameters, *OPTIONS]
    for name in more:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Arguments: {', '.join(known)}."
            raise InputTypeError(f"hn.replay has no argument {name!r}. {hint}")


def _names(learners: Any, policies: Any) -> list[str]:
    """Return the names of the learners; raise `InputTypeError` for objects."""
    names = [learners] if isinstance(learners, str) else list(learners)
    for key, name in [*(("learners", name) for name in names), ("policies", policies or "")]:
        if not isinstance(name, str):
            raise InputTypeError(
                f"{key}= takes names, such as 'LinUCB' or 'Stumps', because a replay creates the "
                f"objects; got {short(name)}. To run an object, use hn.play."
            )
    return names


def _check_counts(rounds: Any, seed: Any, seeds: Any, jobs: Any) -> None:
    checks = {"rounds": (1 if rounds is None else rounds, 1), "seed": (seed, 0)}
    for name, (value, low) in (checks | {"seeds": (seeds, 1), "jobs": (jobs, 1)}).items():
        check_integer("hn.replay", name, value, low)


@contextmanager
def _named(path: Path, name: str) -> Iterator[None]:
    """Replace the temporary file of a frame by the frame in messages of errors."""
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
    """A temporary folder that exists as long as this object, for rules and Deciders on demand."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.path, True)


class _Variable(str):
    """The name of a variable, without quotes in code."""

    def __repr__(self) -> str:
        return str(self)


def _run_plan(plan: Plan, folder: Path, jobs: int, notify: Progress) -> Run:
    """Run a plan; raise an error if a cell fails."""
    rounds: dict[str, int] = {}

    def tick(cell: Cell, more: int) -> None:
        rounds[cell.key] = rounds.get(cell.key, 0) + more
        stage = "fitting rules" if cell.learner is None else f"playing {cell.learner['name']}"
        notify(stage, sum(rounds.values()), plan.rounds)

    backend = "serial" if jobs == 1 else "loky"
    done = run(plan, folder, backend=backend, jobs=jobs, progress=tick)
    if done.failures:
        text = "; ".join(f"{cell.label}: {failure.error}" for cell, failure in done.failures)
        expected = all(failure.expected for _, failure in done.failures)
        raise ParameterError(text) if expected else FailedReplayError(text)
    return done


def _interval(low: float | None, high: float | None) -> tuple[float, float]:
    return (math.nan, math.nan) if low is None or high is None else (low, high)
