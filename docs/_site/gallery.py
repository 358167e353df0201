"""The gallery: scripts of examples/ by subject, run while the site is built."""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from pathlib import Path

from matplotlib.figure import Figure

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.append(str(EXAMPLES))  # two of them import examples/worlds

GROUPS = {
    "decide": (
        "Make decisions",
        "Choose offers, prices, articles or models, and learn from the outcome of each choice.",
        """decider decider_summary route_prompts plain_arms thresholds mixed_features
        described_items changing_actions late_feedback drift_restarts adaptive_adversary
        own_predictor listed_rules save_and_load decision_service""",
    ),
    "data": (
        "Test on your data",
        "Replay files and frames, evaluate other policies on a log, and watch a running learner.",
        """replay_file replay_frame offers_log off_policy watch logged_bandit vowpal_wabbit_log
        linear_policies drifting_labels multi_label sklearn_pipeline sklearn_policies
        corrupted_feedback""",
    ),
    "sets": (
        "Choose routes, slates and assignments",
        "An action is a set of elements: links of a route, items of a slate, pairs of a matching.",
        """decider_routes online_routing watch_sets switching_paths frames_and_graphs
        slate_recommendation per_context crew_assignment crews_off_sick network_design image_cut
        own_solver""",
    ),
    "experts": (
        "Learn from all losses",
        "Full information: after each round you observe the losses of all actions.",
        """experts_with_contexts experts_on_rows following_forecasters regret_and_bound discounted
        strongly_adaptive switching_policies known_sequence predictable_losses optimistic_game
        fake_outcomes""",
    ),
    "rules": (
        "Use policy classes that people can read",
        "Exact optimisers over cuts, conjunctions, trees and lines.",
        "stumps trees conjunctions disjunctions intercept_classifiers",
    ),
    "research": (
        "Compare learners",
        "Experiments, adversaries, and learners of other libraries.",
        """run_experiment baselines_compared certificate_over_time bait own_adversary
        coba_experiment river_policies""",
    ),
}


def group_of(name: str) -> str:
    """Return the group of an example, given the name of its file without the ending."""
    return next(group for group, (_, _, names) in GROUPS.items() if name in names.split())


class InOrder:
    """Sort examples as their group lists them."""

    def __init__(self, folder: str) -> None:
        self._names = GROUPS[Path(folder).name][2].split() if Path(folder).name in GROUPS else []

    def __call__(self, file: str) -> int:
        """Return the position of a file in its group."""
        return self._names.index(Path(file).stem)

    def __repr__(self) -> str:
        return "InOrder"


def picture(gallery: dict, script: dict) -> list[str]:
    """Return the arguments of a script: examples that can draw take the name of a picture."""
    text = Path(script["src_file"]).read_text(encoding="utf-8")
    return [str(Path(tempfile.gettempdir()) / "example.png")] if "savefig(" in text else []


def stage(docs: Path) -> None:
    """Copy the examples into a folder for each group, where their text has changed."""
    top = docs / "_examples"
    for group, (title, text, names) in GROUPS.items():
        folder = top / group
        folder.mkdir(parents=True, exist_ok=True)
        _update(folder / "GALLERY_HEADER.rst", f"{title}\n{'=' * len(title)}\n\n{text}\n")
        wanted = {f"{name}.py" for name in names.split()}
        for old in folder.glob("*.py"):
            if old.name not in wanted:
                old.unlink()
        for name in wanted:
            _update(folder / name, titled((EXAMPLES / name).read_text(encoding="utf-8")))
    _update(top / "GALLERY_HEADER.rst", HEADER)


def titled(script: str) -> str:
    """Return a script with the first line of its docstring as a heading."""
    first, _, rest = script.removeprefix('"""').partition("\n")
    alone = first.endswith('"""')  # a docstring of one line
    title = first.removesuffix('"""').rstrip(".")
    return '"""\n' + title + "\n" + "=" * len(title) + "\n" + '"""\n' * alone + rest


def _update(path: Path, text: str) -> None:
    """Write a file where its text has changed: an unchanged example does not run again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def output(page: str) -> str:
    """Return the printed output on the page of an example, without the indentation."""
    blocks = re.findall(
        r"sphx-glr-script-out\n\n \.\. code-block:: none\n\n((?:    .*\n|\n)+)", page
    )
    return textwrap.dedent("".join(blocks)).strip()


def draw_thumbnails(app) -> None:
    """Draw the printed output of each example without pictures as its picture in the gallery."""
    for group, (_, _, names) in GROUPS.items():
        folder = Path(app.srcdir) / "examples" / group
        for name in names.split():
            if not (folder / "images" / f"sphx_glr_{name}_001.png").exists():
                lines = output((folder / f"{name}.rst").read_text(encoding="utf-8")).splitlines()
                _draw(lines, folder / "images" / "thumb" / f"sphx_glr_{name}_thumb.png")


def _draw(lines: list[str], path: Path) -> None:
    """Draw the first lines of a text, wrapped, as a picture of the size of a thumbnail."""
    wrapped = [part for line in lines[:_ROWS] for part in textwrap.wrap(line, _COLUMNS) or [""]]
    figure = Figure(figsize=(4.0, 2.8), facecolor="#f3f4f5")
    figure.text(
        0.03, 0.96, "\n".join(wrapped[:_ROWS]).replace("$", r"\$"),
        va="top", family="monospace", fontsize=12, linespacing=1.3, color="#222832",
    )  # fmt: skip
    figure.savefig(path, dpi=100)


_ROWS, _COLUMNS = 10, 37


HEADER = """Examples
========

See what each part of the library does on a small problem: every script here ran when the site was
built, and its output stands below its code.

*For: readers who learn from code. Before you start:* :doc:`install Hannan </start/install>`.
"""

CONFIGURATION = {
    "examples_dirs": ["_examples"],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"worlds/|__init__",
    "subsection_order": [f"_examples/{group}" for group in GROUPS],
    "within_subsection_order": InOrder,
    "reset_argv": picture,
    "parallel": 2,
    "show_memory": False,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
    "min_reported_time": 1000,
    "download_all_examples": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_signature": False,
    "nested_sections": True,
}
