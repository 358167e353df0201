"""Time to the first decision where nothing has been compiled yet.

Each class in a fresh interpreter with an empty cache: from the start of the process until the first
action is there, with the settings a user gets by default. Then the end of fifty rounds, by when
whatever play needs has been compiled, and the first decision of the next process, which finds
compiled code on the disk. Seconds are those of work, which on a busy machine are fewer than those
of the clock; no process may take longer than a minute and a half.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import hannan as hn
from benchmarks.compare import cold_start
from benchmarks.measure import Line

LIMIT = 8.0
DECIDER_LIMIT = 20.0
PATIENCE = 90.0

_ROWS = "rows = np.random.default_rng(0).random((100, 5)).round(2)"
_MASKS = "masks = [int(m) for m in np.random.default_rng(0).integers(1, 2**10, 100)]"
_TABLE = "table = np.random.default_rng(0).integers(0, 3, (100, 5))"
_LINKS = "links = [(0, 1), (0, 2), (1, 3), (2, 3)]"

CLASSES: dict[str, tuple[str, str, str]] = {
    "hn.bandit, arms": ("", "hn.bandit(10, n_contexts=1)", "[None]"),
    "hn.bandit, rows": (_ROWS, "hn.bandit(10)", "rows"),
    "hn.bandit, listed policies": (_TABLE, "hn.bandit(3, policies=table)", "range(5)"),
    "hn.experts": ("", "hn.experts(5)", "[None]"),
    "bandit, AllPolicies": ("", "bandit(hn.oracles.AllPolicies(5, 3))", "range(5)"),
    "bandit, FinitePolicies": (_TABLE, "bandit(hn.oracles.FinitePolicies(table))", "range(5)"),
    "bandit, LinearPolicies": (_ROWS, "bandit(hn.oracles.LinearPolicies(3))", "rows"),
    "bandit, Paths": (_LINKS, "bandit(hn.oracles.Paths(links, 0, 3))", "[None]"),
    "AllPolicies": ("", "full(hn.oracles.AllPolicies(5, 3))", "range(5)"),
    "FinitePolicies": (_TABLE, "full(hn.oracles.FinitePolicies(table))", "range(5)"),
    "Thresholds": (_ROWS, "full(hn.oracles.Thresholds(2), rows[:, 0].tolist())", "rows[:, 0]"),
    "Stumps": (_ROWS, "full(hn.oracles.Stumps(3), rows)", "rows"),
    "Trees": (_ROWS, "full(hn.oracles.Trees(2), rows)", "rows"),
    "Disjunctions": (_MASKS, "full(hn.oracles.Disjunctions(10), masks)", "masks"),
    "Conjunctions": (_MASKS, "full(hn.oracles.Conjunctions(10), masks)", "masks"),
    "InterceptClassifiers": (
        _ROWS,
        "full(hn.oracles.InterceptClassifiers(3, 0.25), rows[:, :3])",
        "rows[:, :3]",
    ),
    "LinearPolicies": (_ROWS, "full(hn.oracles.LinearPolicies(3), rows)", "rows"),
    "MultiLabel": ("", "full(hn.oracles.MultiLabel(hn.oracles.AllPolicies(9, 2), 4))", "range(9)"),
    "Subsets": ("", "full(hn.oracles.Subsets(10, 3))", "[None]"),
    "PartitionMatroid": ("", "full(hn.oracles.PartitionMatroid([0, 0, 1, 1], [1, 1]))", "[None]"),
    "SpanningTrees": (_LINKS, "full(hn.oracles.SpanningTrees(links))", "[None]"),
    "Matchings": ("", "full(hn.oracles.Matchings(3, 3))", "[None]"),
    "Paths": (_LINKS, "full(hn.oracles.Paths(links, 0, 3))", "[None]"),
}

_PROGRAM = """
import time
import numpy as np, hannan as hn
{making}
full, bandit = hn.ContextFTPL, hn.ContextSemiBanditFTPL
learner, contexts, decided = {learner}, list({contexts}), None
rng, shows_all = np.random.default_rng(1), learner.feedback is hn.Feedback.FULL
for t in range(50):
    action = learner.act(contexts[t % len(contexts)])
    decided = decided or time.process_time()
    losses = rng.random(learner.action_count if shows_all else np.size(action))
    learner.update(losses if shows_all or not isinstance(action, int) else float(losses[0]))
print(decided, time.process_time())
"""


def run() -> list[Line]:
    """Cold and warm, one class after the other."""
    return [decider(), *(line(name) for name in CLASSES)]


def decider() -> Line:
    """`Decider` on mixed rows, up to the 100th decision."""
    seconds = cold_start(str(Path(hn.__file__).parents[1]))
    what = "Decider: 100th decision, nothing compiled"
    return Line(what, seconds, f"{seconds:.1f} s", DECIDER_LIMIT, at_least=False)


def line(name: str) -> Line:
    """One class in two processes."""
    with tempfile.TemporaryDirectory() as empty:
        cold, settled = _seconds(name, empty)
        warm, _ = _seconds(name, empty)
    shown = f"{cold:.1f} s (50 rounds {settled:.1f} s; compiled before: {warm:.1f} s)"
    return Line(f"{name}: first decision, nothing compiled", cold, shown, LIMIT, at_least=False)


def _seconds(name: str, cache: str) -> tuple[float, float]:
    """Seconds of work until the first decision and until the last; endless if it takes too long."""
    making, learner, contexts = CLASSES[name]
    program = _PROGRAM.format(making=making, learner=learner, contexts=contexts)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return float("inf"), float("inf")
    decided, settled = (float(word) for word in done.stdout.split())
    return decided, settled
