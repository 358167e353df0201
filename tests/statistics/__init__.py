"""Tests of hypotheses with a stated chance of a false alarm."""

import numpy as np
from scipy import stats


def same_distribution(a, b):
    """p-value of the hypothesis that two samples of small integers come from one distribution."""
    cells = np.union1d(a, b)
    counts = np.array([[np.sum(np.asarray(s) == c) for c in cells] for s in (a, b)])
    if len(cells) == 1:
        return 1.0
    # Cells too rare for the chi-square approximation are put together.
    rare = counts.sum(axis=0) < 20
    if rare.any():
        counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    if counts.shape[1] == 1 or (counts.sum(axis=0) == 0).any():
        return 1.0
    return float(stats.chi2_contingency(counts).pvalue)
