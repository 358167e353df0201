"""Speed beside another checkout: `python -m benchmarks compare --base <its src folder>`.

Each case is played by two processes, one per checkout, that take turns: a window of rounds in one,
then the same window in the other. A measurement is the CPU time per round of a window. Ratios are
those of the fastest tenth, because other work on the machine makes windows slower, never faster.
Cold start is the CPU time of a process with an empty cache until the 100th decision of a `Decider`
on mixed rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import hannan as hn
from benchmarks.measure import Line, take_turns

WINDOWS = 81
COLD_LIMIT = 20.0

_HEAD = """
import sys, time
import numpy as np, hannan as hn
rng = np.random.default_rng(0)
"""
_DECIDER = """
shop = hn.Decider(actions=["a", "b", "c"], rewards=(0, 200), seed=0)
cities = ["Rome", "Oslo", "Bern", "Lima"]
people = [
    {"age": int(rng.integers(18, 80)), "city": cities[rng.integers(4)], "new": bool(rng.random() < 0.5)}
    for _ in range(200)
]
def play(count):
    for t in range(count):
        decision = shop.decide(people[t % 200])
        shop.report(decision.id, reward=50.0 * (t % 5))
"""  # noqa: E501
_BANDIT = """
learner = {learner}
contexts = {contexts}
def play(count):
    for t in range(count):
        learner.act(contexts[t % len(contexts)])
        learner.update(float(t % 3 == 0))
"""
_FULL = """
learner = hn.ContextFTPL(hn.oracles.FinitePolicies(rng.integers(4, size=({n}, 20))), seed=0)
losses = (rng.random((200, 4)) < 0.4).astype(float)
def play(count):
    for t in range(count):
        learner.act(t % 20)
        learner.update(losses[t % 200])
"""
_MASKED = """
learner = hn.{learner}(hn.oracles.Subsets(200, 10), seed=0)
losses = rng.random((200, 200))
masks = rng.random((200, 200)) >= {closed}
def play(count):
    for t in range(count):
        chosen = learner.act(None, masks[t % 200] if {closed} else None)
        learner.update(losses[t % 200]{seen})
"""
_LOOP = """
play({count})
for line in sys.stdin:
    started = time.process_time()
    play({count})
    print((time.process_time() - started) / {count}, flush=True)
"""
_TABLE = "hn.ContextSemiBanditFTPL(hn.oracles.{}, seed=0)"

# Case: program, rounds of a window, largest ratio to the other checkout.
CASES: dict[str, tuple[str, int, float | None]] = {
    "hn.bandit, rows": (
        _BANDIT.format(learner="hn.bandit(5, seed=0)", contexts="rng.random((200, 5))"),
        100,
        1.03,
    ),
    "Decider, mixed rows": (_DECIDER, 100, 1.03),
    "ContextFTPL, FinitePolicies(1000)": (_FULL.format(n=1000), 500, 1.2),
    "ContextFTPL, FinitePolicies(10^6)": (_FULL.format(n=10**6), 32, 1.03),
    "ContextSemiBanditFTPL without a predictor, AllPolicies(20, 4)": (
        _BANDIT.format(learner=_TABLE.format("AllPolicies(20, 4)"), contexts="range(20)"),
        500,
        1.3,
    ),
    "ContextSemiBanditFTPL without a predictor, FinitePolicies(100)": (
        _BANDIT.format(
            learner=_TABLE.format("FinitePolicies(rng.integers(4, size=(100, 20)))"),
            contexts="range(20)",
        ),
        500,
        1.3,
    ),
}
MASKED = {"ContextFTPL": "", "ContextSemiBanditFTPL": "[chosen]"}


def run(base: str | None) -> list[Line]:
    """The cases beside `base`, masked rounds beside plain ones, and both cold starts."""
    here = str(Path(hn.__file__).parents[1])
    checkouts = {"here": here, "base": base or here}
    lines = [_beside(name, *CASES[name], here, checkouts["base"]) for name in CASES]
    lines += [_masked(who, *checkout) for who in MASKED for checkout in checkouts.items()]
    for name, source in checkouts.items():
        seconds = cold_start(source)
        limit = COLD_LIMIT if name == "here" else None
        what = f"{name}: CPU seconds to the 100th decision of Decider, nothing compiled"
        lines.append(Line(what, seconds, f"{seconds:.1f} s", limit, at_least=False))
    return lines


def cold_start(source: str) -> float:
    """CPU seconds to the 100th decision of a `Decider`, nothing compiled."""
    program = f"{_HEAD}{_DECIDER}\nplay(99); shop.decide(people[99]); print(time.process_time())"
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-c", program]
        env = {**_environment(source), "NUMBA_CACHE_DIR": empty}
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _beside(
    name: str, program: str, count: int, limit: float | None, here: str, there: str
) -> Line:
    ours, theirs = _windows([(program, here), (program, there)], count)
    a, b = _fast(ours), _fast(theirs)
    shown = f"{a / b:.3f} ({1e6 * a:.1f} : {1e6 * b:.1f} µs)"
    return Line(f"{name}: a round here over one of the base", a / b, shown, limit, at_least=False)


def _masked(learner: str, name: str, source: str) -> Line:
    programs = [
        _MASKED.format(learner=learner, closed=closed, seen=MASKED[learner])
        for closed in (0.05, 0.0)
    ]
    masked, plain = _windows([(program, source) for program in programs], 200)
    a, b = _fast(masked), _fast(plain)
    shown = f"{a / b:.2f} ({1e6 * a:.0f} : {1e6 * b:.0f} µs)"
    what = f"{name}: {learner}, Subsets(200, 10), a round with 5 % unavailable over a plain one"
    return Line(what, a / b, shown, 2.0, at_least=False)


def _fast(seconds: list[float]) -> float:
    return float(np.quantile(seconds, 0.1))


def _windows(programs: list[tuple[str, str]], count: int) -> list[list[float]]:
    """CPU seconds per round of each program, in windows that take turns."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _HEAD + program + _LOOP.format(count=count)],
            env=_environment(source),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        for program, source in programs
    ]

    def window(worker: subprocess.Popen[str]) -> float:
        assert worker.stdin
        assert worker.stdout
        worker.stdin.write("\n")
        return float(worker.stdout.readline())

    try:
        return take_turns([lambda w=worker: window(w) for worker in workers], WINDOWS)
    finally:
        for worker in workers:
            worker.communicate()


def _environment(source: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": source}
