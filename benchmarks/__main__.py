"""`python -m benchmarks [study ...] [--write]`, or `compare --base <src of another checkout>`."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import time
from pathlib import Path

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

import hannan as hn
from benchmarks import compare
from benchmarks.measure import Line, Matrix

STUDIES = (
    "finite",
    "flat",
    "flat_classes",
    "large",
    "tabular",
    "overhead",
    "imports",
    "cold",
    "regret",
    "bandit",
    "draws",
    "weights",
    "bandit_regret",
    "worlds",
    "worlds_speed",
    "items",
    "advice",
    "stumps",
    "formulas",
    "drift",
    "adaptive",
    "experts",
    "paths",
    "paths_regret",
    "combinatorial",
    "sets",
    "town",
    "submodular",
    "predictable",
    "switching",
    "playout",
    "storage",
    "classifier",
    "coverage",
    "late",
    "watch",
    "decider",
    "runner",
    "peers",
)
RESULTS = Path(__file__).with_name("RESULTS.md")

Report = dict[str, list[Line | Matrix]]


def main() -> int:
    """Run the studies; the exit status is 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="study", help=", ".join(STUDIES))
    parser.add_argument(
        "--write", action="store_true", help="renew these studies, or all, in benchmarks/RESULTS.md"
    )
    parser.add_argument("--base", help="src folder of another checkout; for `compare` only")
    options = parser.parse_args()
    if options.studies == ["compare"]:
        return show({"compare": compare.run(options.base)}, Console())
    unknown = [name for name in options.studies if name not in STUDIES]
    if unknown:
        parser.error(f"no study is called {unknown[0]!r}; there are {', '.join(STUDIES)}")
    console = Console()
    report: Report = {}
    for name in options.studies or STUDIES:
        with console.status(f"{name} ..."):
            started = time.perf_counter()
            report[name] = importlib.import_module(f"benchmarks.{name}").run()
        console.print(f"{name}: {time.perf_counter() - started:.0f} s", style="dim")
    if options.write:
        RESULTS.write_text(renewed(report), encoding="utf-8")
    return show(report, console)


def show(report: Report, console: Console) -> int:
    """Print the tables; 1 if a target is missed."""
    for table in as_tables(report):
        console.print(table)
    return int(any(x.passed is False for name in report for x in lines(report, name)))


def lines(report: Report, name: str) -> list[Line]:
    """What a study measured, line by line."""
    return [found for found in report[name] if isinstance(found, Line)]


def matrices(report: Report, name: str) -> list[Matrix]:
    """The tables of many contenders in many worlds that a study made."""
    return [found for found in report[name] if isinstance(found, Matrix)]


def as_tables(report: Report) -> list[Table]:
    """For the terminal."""
    table = Table()
    table.add_column("what", ratio=1)
    table.add_column("measured", justify="right")
    table.add_column("target", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    colour = {None: None, True: "green", False: "red"}
    wide = []
    for name in report:
        for line in lines(report, name):
            mark = line.mark
            table.add_row(line.what, line.shown, line.wanted, mark, style=colour[line.passed])
        table.add_section()
        for matrix in matrices(report, name):
            wide.append(Table("", *matrix.columns, title=matrix.title))
            wide[-1].caption = "\n".join(matrix.notes)
            for contender, cells in matrix.rows.items():
                wide[-1].add_row(contender, *cells)
    return [table, *wide]


def renewed(report: Report) -> str:
    """The file with these studies renewed; the others stay as they were measured last."""
    old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    kept = {part.splitlines()[0]: part.rstrip("\n") for part in old.split("\n## ")[1:]}
    parts = kept | {name: section(report, name) for name in report}
    known = [parts[name] for name in STUDIES if name in parts]
    return "\n\n## ".join(["\n".join(preface()), *known]) + "\n"


def preface() -> list[str]:
    """What was measured where."""
    return [
        "# Results",
        "",
        "Written by `python -m benchmarks --write`, all studies or some; not edited by hand.",
        "Contenders take turns in one run and ratios are medians, so they say more than the rounds",
        "per second beside them.",
        "",
        f"- {hn.__name__} {hn.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}",
        f"- {processor()}, {os.cpu_count()} cores",
    ]


def section(report: Report, name: str) -> str:
    """One study."""
    doc = importlib.import_module(f"benchmarks.{name}").__doc__ or ""
    text = [name, "", doc.splitlines()[0], ""]
    text += ["| what | measured | target | |", "|---|---:|---:|---|"]
    found = lines(report, name)
    text += [f"| {x.what} | {x.shown} | {x.wanted} | {x.mark} |" for x in found]
    for matrix in matrices(report, name):
        text += ["", f"**{matrix.title}**", "", f"| | {' | '.join(matrix.columns)} |"]
        text.append("|---" + "|---:" * len(matrix.columns) + "|")
        text += [f"| {who} | {' | '.join(cells)} |" for who, cells in matrix.rows.items()]
        text += ["", *(f"- {note}" for note in matrix.notes)]
    return "\n".join(text)


def processor() -> str:
    """The processor's name, where the system tells it."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    raise SystemExit(main())
