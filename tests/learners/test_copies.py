"""Learners can be copied and sent to other processes in the middle of a game."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hannan as hn

ROWS = np.random.default_rng(0).random((8, 2)).round(1)
TABLE = np.random.default_rng(1).integers(0, 3, size=(40, 6))
ORACLES = {
    "FinitePolicies": (hn.oracles.FinitePolicies(TABLE, n_actions=3), range(6)),
    "AllPolicies": (hn.oracles.AllPolicies(6, 3), range(6)),
    "LinearPolicies": (hn.oracles.LinearPolicies(3), ROWS),
    "Stumps": (hn.oracles.Stumps(3), ROWS),
    "Trees": (hn.oracles.Trees(2), ROWS),
    "Thresholds": (hn.oracles.Thresholds(3), [0.1, 0.5, 0.9]),
    "InterceptClassifiers": (hn.oracles.InterceptClassifiers(2, 0.25), ROWS),
    "SklearnPolicies": (
        hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1, random_state=0), 2),
        ROWS[:4],
    ),
    "MultiLabel": (hn.oracles.MultiLabel(hn.oracles.AllPolicies(3, 2), 2), range(3)),
    "PerContext": (hn.oracles.PerContext(hn.oracles.Subsets(4, 2), 3), range(3)),
    "SpanningTrees": (hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (2, 3)]), [None]),
    "Matchings": (hn.oracles.Matchings(2, 3), [None]),
    "Submodular": (hn.oracles.Submodular(4), [None]),
    "Disjunctions": (hn.oracles.Disjunctions(4), range(16)),
    "Paths": (hn.oracles.Paths([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], 0, 3), [None]),
    "Subsets": (hn.oracles.Subsets(5, 2), [None]),
}


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("name", ORACLES)
def test_a_copy_plays_on_like_the_original(name, learner):
    oracle, contexts = ORACLES[name]
    top = float(oracle.n_actions) if oracle.takes_functions else 1.0
    original = learner(oracle, contexts, epsilon=0.4, seed=5, loss_range=(0.0, top))
    rng = np.random.default_rng(2)
    rounds = [
        (contexts[int(rng.integers(len(contexts)))], rng.random(oracle.n_actions))
        for _ in range(60)
    ]

    def play(player, some):
        actions = []
        for context, losses in some:
            action = player.act(context)
            full = learner is hn.ContextFTPL
            player.update(losses if full else losses[action])
            actions.append(np.atleast_1d(action).tolist())
        return actions

    play(original, rounds[:30])
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    expected = play(original, rounds[30:])
    for twin in twins:
        assert play(twin, rounds[30:]) == expected
