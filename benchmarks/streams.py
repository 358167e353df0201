"""Streams of labelled rows, for studies with bandit feedback.

Digits come with scikit-learn. The other streams are looked for in a folder named `shared/data`
beside the repository and left out where it is missing. Features are scaled from the first rows
only, and rows come in stream order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MOST_ROWS = 20_000
PREFIX = 500

Stream = tuple[np.ndarray, np.ndarray]


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
