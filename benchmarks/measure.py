"""Timing on a noisy machine: contenders take turns, and medians are kept."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hannan import Learner

Rounds = Sequence[tuple[int, np.ndarray]]


@dataclass(frozen=True)
class Line:
    """One row of the table: what was measured, and what it has to be, where a target exists."""

    what: str
    value: float
    shown: str
    target: float | None = None
    at_least: bool = True

    @property
    def passed(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def mark(self) -> str:
        """PASS, below, above, or nothing."""
        missed = "below" if self.at_least else "above"
        return {None: "", True: "PASS", False: missed}[self.passed]

    @property
    def wanted(self) -> str:
        """The target in words."""
        if self.target is None:
            return ""
        number = f"{self.target:,.0f}" if self.target >= 1000 else f"{self.target:.4g}"
        return f"{'≥' if self.at_least else '≤'} {number}"


@dataclass(frozen=True)
class Matrix:
    """Many contenders in many worlds: one row and one column for each."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


def random_rounds(count: int, n_contexts: int, n_actions: int, seed: int = 0) -> Rounds:
    """Contexts drawn evenly and losses of 0 or 1."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(n_contexts, size=count).tolist()
    losses = (rng.random((count, n_actions)) < 0.4).astype(np.float64)
    return list(zip(contexts, losses, strict=True))


def seconds_per_round(learner: Learner, rounds: Rounds) -> float:
    """The ordinary loop: act, then update."""
    started = time.perf_counter()
    for context, losses in rounds:
        learner.act(context)
        learner.update(losses)
    return (time.perf_counter() - started) / len(rounds)


def take_turns(contenders: Iterable[Callable[[], float]], repetitions: int) -> list[list[float]]:
    """The measurements of each contender, all of them once in every repetition."""
    contenders = list(contenders)
    found: list[list[float]] = [[] for _ in contenders]
    for _ in range(repetitions):
        for results, measure in zip(found, contenders, strict=True):
            results.append(measure())
    return found


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """The median over repetitions of slow / fast, each pair measured within moments."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def rate(seconds: Sequence[float]) -> str:
    """Rounds per second of the median measurement."""
    return f"{1.0 / statistics.median(seconds):,.0f}/s"
