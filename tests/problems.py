"""Small policy classes to try things on, each with its list of rows for the slow twins."""

from pathlib import Path

import numpy as np

import hannan as hn
from tests import naive

KINDS = ("FinitePolicies", "AllPolicies", "FunctionOracle")


def pairs(contexts, losses):
    """The two cheapest elements, the same on all contexts."""
    chosen = np.argsort(losses.sum(axis=0), kind="stable")[:2]
    return lambda context: chosen


def two_of(losses, available):
    """The two cheapest available elements."""
    if available.sum() < 2 and len(losses):
        raise hn.InfeasibleError("Two elements are needed.")
    return np.argsort(np.where(available, losses, np.inf), kind="stable")[:2]


# What the cases of the contract checks share.
TABLE = np.random.default_rng(0).integers(0, 3, size=(9, 4))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=3)
ALL = hn.oracles.AllPolicies(4, 3)
FUNCTION = hn.oracles.FunctionOracle(naive.solver(TABLE.tolist()), n_actions=3)
PAIRS = hn.oracles.FunctionOracle(pairs, n_actions=4, max_chosen=2)
SLATES = hn.oracles.FinitePolicies(
    [[[0, 1], [1, 2]], [[2, 3], [0, 3]], [[0, 2], [1, 3]]], n_actions=4
)
PATHS = hn.oracles.Paths([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], 0, 3)
ROWS = np.random.default_rng(1).random((9, 3)).round(1)
ADS = str(Path(__file__).parent / "data" / "ads.csv")
PUNISHER = hn.environments.LeaderPunisher(FINITE)
PLANTED = hn.environments.PlantedPolicy(FINITE, good=0.1, bad=0.9)


def make(kind, d=3, K=3, N=7, seed=0):
    """An oracle and its rows; `N` is ignored by AllPolicies."""
    rng = np.random.default_rng(seed)
    if kind == "AllPolicies":
        return hn.oracles.AllPolicies(d, K), naive.all_policies(d, K)
    rows = rng.integers(0, K, size=(N, d)).tolist()
    if kind == "FinitePolicies":
        return hn.oracles.FinitePolicies(rows, n_actions=K), rows
    return hn.oracles.FunctionOracle(naive.solver(rows), n_actions=K), rows


def rounds(d, K, T, seed=0, high=1, low=0):
    """Rounds with integer losses."""
    rng = np.random.default_rng(seed)
    losses = rng.integers(low, high + 1, size=(T, K)).astype(float)
    return [(int(x), row) for x, row in zip(rng.integers(d, size=T), losses, strict=True)]


def total(oracle, history):
    """The objective after a history."""
    objective = oracle.objective()
    for context, losses in history:
        objective.add(oracle.check_context(context), losses)
    return objective


def play(learner, history):
    """The actions of a learner on given rounds."""
    actions = []
    for context, losses in history:
        actions.append(learner.act(context))
        learner.update(losses)
    return actions
