"""How far inexact oracles are from the best policy of their class."""

import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hannan as hn

POINTS = [[0.0], [0.2], [0.5], [0.7], [1.0]]


def thresholds():
    """All rules x >= cut -> b, else a, on the points, for two actions."""
    for cut, a, b in itertools.product([0.0, 0.1, 0.3, 0.6, 0.8, 2.0], (0, 1), (0, 1)):
        yield lambda x, cut=cut, a=a, b=b: b if x[0] >= cut else a


def test_an_exact_class_has_no_gap():
    gap = hn.checks.oracle_gap(hn.oracles.Stumps(2), POINTS, thresholds())
    assert gap == hn.checks.Gap(0.0, 0.0, 1.0)


def test_an_oracle_that_maximises_has_the_largest_gap():
    def worst(contexts, losses):
        best = max((0, 1), key=lambda k: losses[:, k].sum()) if len(losses) else 0
        return lambda context: best

    oracle = hn.oracles.FunctionOracle(worst, n_actions=2)
    constants = [lambda x: 0, lambda x: 1]
    assert hn.checks.oracle_gap(oracle, [0, 1, 2], constants).mean == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("oracle", "most"),
    [
        (hn.oracles.LinearPolicies(2, ridge=0.01), 0.2),
        (hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1, random_state=0), 2), 0.05),
        (hn.oracles.Trees(2, depth=3), 0.0),
    ],
    ids=["LinearPolicies", "SklearnPolicies", "Trees"],
)
def test_the_gap_of_inexact_classes_is_measured(oracle, most):
    # In one dimension linear rules are thresholds; deeper trees contain them.
    gap = hn.checks.oracle_gap(oracle, POINTS, thresholds())
    assert not oracle.exact
    assert gap.mean <= most
    assert gap.mean <= gap.worst <= 1.0


def test_the_number_of_linear_policies_is_bounded():
    oracle = hn.oracles.LinearPolicies(3, intercept=False)
    few = [np.ones(2)] * 2
    many = [np.ones(2)] * 1000
    assert oracle.log_size(few) == pytest.approx(2 * np.log(3))
    assert oracle.log_size(many) == pytest.approx(np.log(2) + 6 * np.log(np.e * 3000 / 6))
    # On a line, two actions and an intercept: d + 1 cuts in two orientations at most.
    line = hn.oracles.LinearPolicies(2)
    assert line.log_size([np.array([float(i)]) for i in range(20)]) >= np.log(2 * 20)
