"""Real streams with bandit feedback: a class is played, and only its being wrong is seen.

Digits come with scikit-learn. The other streams are looked for in a folder named `shared/data`
beside the repository and left out where it is missing. Features are scaled from the first rows
only, and rows come in stream order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import hannan as hn
from benchmarks.measure import Line

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = (
    "multiclass/pendigits",
    "multiclass/satimage",
    "multiclass/shuttle",
    "drift/ne_weather",
    "drift/covtype_every4th",
)
MOST_ROWS = 20_000
PREFIX = 500
SEEDS = 5

Stream = tuple[np.ndarray, np.ndarray]


def run() -> list[Line]:
    """Mean loss of linear policies with a ridge predictor, strict and balanced."""
    lines: list[Line] = []
    strict, rates = play_all(digits, "strict", SEEDS)
    balanced, _ = play_all(digits, "balanced", SEEDS)
    plain, _ = play_all(digits, None, 2)
    lines.append(
        Line(
            "Digits, 10,000 rounds, strict: mean loss",
            float(np.mean(strict)),
            f"{np.mean(strict):.4f} ± {np.std(strict) / np.sqrt(SEEDS):.4f}",
            0.055,
            at_least=False,
        )
    )
    rate = float(np.median(rates))
    lines.append(Line("Digits, strict: rounds a second", rate, f"{rate:,.0f}", 5000))
    lines.append(loss_line("Digits, balanced: mean loss", balanced))
    lines.append(loss_line("Digits, no predictor: mean loss", plain))
    for name in FILES:
        path = DATA / f"{name}.npz"
        if not path.exists():
            lines.append(Line(f"{name}: not found, left out", float("nan"), "-"))
            continue
        for trust in ("strict", "balanced"):
            losses, _ = play_all(lambda seed, path=path: from_file(path), trust, 3)
            lines.append(loss_line(f"{path.stem}, {trust}: mean loss", losses))
        labels = from_file(path)[1]
        again = float((labels[1:] != labels[:-1]).mean())
        lines.append(Line(f"{path.stem}, repeat the last label (sees it)", again, f"{again:.3f}"))
    return lines


def loss_line(what: str, losses: list[float]) -> Line:
    """A mean without a target."""
    return Line(what, float(np.mean(losses)), f"{np.mean(losses):.3f}")


def play_all(
    stream: Callable[[int], Stream], trust: str | None, seeds: int
) -> tuple[list[float], list[float]]:
    """Mean losses and rounds a second, one for each seed."""
    play(digits(0, 200), trust, 0)  # compile first
    found = [play(stream(seed), trust, seed) for seed in range(seeds)]
    return [loss for loss, _ in found], [rate for _, rate in found]


def play(stream: Stream, trust: str | None, seed: int) -> tuple[float, float]:
    """One pass through a stream."""
    rows, labels = stream
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=int(labels.max()) + 1),
        predictor=None if trust is None else hn.predictors.Ridge(alpha=0.1),
        trust=trust or "strict",
        seed=seed,
    )
    wrong = 0
    started = time.perf_counter()
    for row, label in zip(rows, labels.tolist(), strict=True):
        loss = float(learner.act(row) != label)
        learner.update(loss)
        wrong += int(loss)
    return wrong / len(rows), len(rows) / (time.perf_counter() - started)


def digits(seed: int, rounds: int = 10_000) -> Stream:
    """Passes over the digits, each in a new order."""
    rows, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    passes = -(-rounds // len(labels))
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(passes)])[:rounds]
    return rows[order] / 16.0, labels[order]


def from_file(path: Path) -> Stream:
    """A stored stream, scaled by the mean and deviation of its first rows."""
    with np.load(path) as stored:
        rows = stored["X"][:MOST_ROWS].astype(np.float64)
        labels = stored["y"]
    start = rows[:PREFIX]
    deviation = start.std(axis=0)
    scaled = (rows - start.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    norm = np.sqrt((scaled[:PREFIX] ** 2).sum(axis=1).mean())
    # Rows of about unit length, as the ridge penalty of 1 expects; outliers are cut off.
    return np.clip(scaled / norm, -3.0, 3.0), labels[:MOST_ROWS]
