"""Digits named before their labels are shown: `OnlinePolicyClassifier` and scikit-learn's own."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler

import hannan as hn
from benchmarks.measure import Matrix

ORDERS = 2
PASSES = 2


def run() -> list[Matrix]:
    """Two orders of the rows, each seen twice; renamed: labels permuted at a third, two thirds."""
    rows, labels = load_digits(return_X_y=True)
    scaled = {"features / 16": rows / 16, "standardised": StandardScaler().fit_transform(rows)}
    right: dict[str, list[list[float]]] = {name: [] for name in _contenders(0)}
    columns = []
    for scale, features in scaled.items():
        for renamed in (False, True):
            columns.append(f"{scale}, renamed" if renamed else scale)
            for found in right.values():
                found.append([])
            for seed in range(ORDERS):
                X, y = _stream(features, labels, seed, renamed)
                for name, classifier in _contenders(seed).items():
                    right[name][-1].append(_named(classifier, X, y))
    table = {
        name: tuple(f"{100 * np.mean(each):.1f}" for each in found) for name, found in right.items()
    }
    notes = (f"percent of {PASSES * len(labels)} rows, mean of {ORDERS} orders",)
    return [Matrix("Digits named before the label is shown, %", tuple(columns), table, notes)]


def _restarting(oracle: hn.Oracle, guess: bool = False, **options: Any) -> hn.Learner:
    predictor = hn.predictors.Ridge() if guess else None
    return hn.Restarting(hn.ContextFTPL(oracle, predictor=predictor, **options))


def _contenders(seed: int) -> dict[str, Any]:
    make = hn.adapters.OnlinePolicyClassifier
    guessing = partial(_restarting, guess=True)
    aggressive = {"learning_rate": "pa1", "eta0": 1.0, "penalty": None}
    return {
        "OnlinePolicyClassifier()": make(random_state=seed),
        "with Restarting": make(learner=_restarting, random_state=seed),
        "with Restarting and Ridge": make(learner=guessing, random_state=seed),
        "SGDClassifier()": SGDClassifier(random_state=seed),
        "SGDClassifier, passive-aggressive": SGDClassifier(**aggressive, random_state=seed),
        "Perceptron()": Perceptron(random_state=seed),
    }


def _stream(features: Any, labels: Any, seed: int, renamed: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(PASSES)])
    y = labels[order].copy()
    for start in (1, 2) if renamed else ():
        part = slice(start * len(y) // 3, (start + 1) * len(y) // 3)
        y[part] = rng.permutation(10)[y[part]]
    return features[order], y


def _named(classifier: Any, X: Any, y: Any) -> float:
    """The share named correctly; ours counts that itself while it fits."""
    if isinstance(classifier, hn.adapters.OnlinePolicyClassifier):
        return 1.0 - float(classifier.fit(X, y).mean_loss_)
    right = 0
    for i in range(len(y)):
        if i:
            right += classifier.predict(X[i : i + 1])[0] == y[i]
        classifier.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.arange(10))
    return right / len(y)
