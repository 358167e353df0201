"""Policies that cut features, listed one by one in the order in which ties are broken.

A class is an array of plays: row n holds policy n's action on each of the given contexts.
"""

import numpy as np


def edges_of(rows):
    """All values of each feature but the smallest, largest first."""
    return [sorted(set(column), reverse=True)[:-1] for column in np.asarray(rows).T.tolist()]


def constants(rows, K):
    """One action everywhere, smallest first."""
    return [[a] * len(rows) for a in range(K)]


def stumps(rows, K, edges=None):
    """Constants; then by feature, largest cut, action below, action from the cut on."""
    found = constants(rows, K)
    for f, own in enumerate(edges_of(rows) if edges is None else edges):
        for edge in own:
            for a in range(K):
                found += [[b if row[f] >= edge else a for row in rows] for b in range(K)]
    return np.array(found)


def trees(rows, K, edges=None):
    """Stumps; then by root feature, largest cut, stump below, stump from the cut on."""
    small = stumps(rows, K, edges)
    found = [small]
    for f, own in enumerate(edges_of(rows) if edges is None else edges):
        for edge in own:
            above = np.array([row[f] >= edge for row in rows])
            both = np.where(above, small[None, :, :], small[:, None, :])
            found.append(both.reshape(-1, len(rows)))
    return np.concatenate(found)


def values(plays, totals):
    """The total loss of each policy, given the totals of each context."""
    return totals[np.arange(plays.shape[1]), plays].sum(axis=1)


def leader(plays, totals):
    """The plays of the first best policy, and its value."""
    found = values(plays, totals)
    return plays[found.argmin()].tolist(), found.min()


def sum_by_context(rows, history, K):
    """The total loss vector of each context; a history holds indices of contexts."""
    totals = np.zeros((len(rows), K))
    for i, losses in history:
        totals[i] += losses
    return totals
