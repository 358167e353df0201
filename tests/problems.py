"""Small policy classes to try things on, each with its list of rows for the slow twins."""

import numpy as np

import hannan as hn
from tests import naive

KINDS = ("FinitePolicies", "AllPolicies", "FunctionOracle")


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
