"""Algorithms 1, 2 and 3 as printed, beside the learners: the same action in every round."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan import paper

ROOT = Path(__file__).parent.parent
N, D, K = 12, 3, 4


def listed(m=None):
    """Policies as an array, of single actions or of sets of m elements."""
    rng = np.random.default_rng(3)
    table = rng.integers(K, size=(N, D)) if m is None else rng.random((N, D, K)).argsort(axis=2)
    table = table if m is None else np.sort(table[:, :, :m], axis=2)
    table[0, 0] = K - 1 if m is None else np.arange(K - m, K)  # so that K elements are seen
    table[:, 1] = table[:, 0]  # so that contexts 0 and 2 separate the policies
    return table


def outcomes(rounds=300):
    """Losses of which many are zero, as in a game with few mistakes."""
    rng = np.random.default_rng(4)
    losses = rng.random((rounds, K)) * (rng.random((rounds, K)) < 0.6)
    return list(zip(rng.integers(D, size=rounds).tolist(), losses, strict=True))


def played(learner, y):
    """Every action of a learner, and what it was charged with."""
    actions = []
    for x, losses in y:
        actions.append(learner.act(x))
        seen = losses if learner.feedback is hn.Feedback.FULL else losses[actions[-1]]
        learner.update(seen)
    return np.array(actions)


def fakes(rng):
    return [(int(rng.integers(D)), 3.0 * rng.laplace(size=K)) for _ in range(rng.geometric(0.2))]


@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("seed", [0, 7])
def test_algorithm_1(m, seed):
    actions = list(paper.ftpl(listed(m), fakes, outcomes(), seed))
    learner = hn.FTPL(hn.oracles.FinitePolicies(listed(m)), fakes, seed=seed)
    assert np.array_equal(actions, played(learner, outcomes()))


@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("X", [[0, 1, 2], [2, 0]])
def test_algorithm_2(m, seed, X):
    actions = list(paper.context_ftpl(listed(m), X, 0.3, outcomes(), seed))
    learner = hn.ContextFTPL(
        hn.oracles.FinitePolicies(listed(m)), separator=X, epsilon=0.3, seed=seed
    )
    assert np.array_equal(actions, played(learner, outcomes()))


@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("L", [1, 3, 40])
def test_algorithm_3(m, seed, L):
    X = list(range(D))
    actions = list(paper.context_semi_bandit_ftpl(listed(m), X, 0.1, L, outcomes(), seed))
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.FinitePolicies(listed(m)),
        epsilon=0.1,
        max_resamples=L,
        resampling="shared",
        seed=seed,
    )
    assert np.array_equal(actions, played(learner, outcomes()))


def statements(algorithm):
    """Lines of code of a function: neither its signature nor its docstring."""
    body = ast.parse(inspect.getsource(algorithm)).body[0].body[1:]
    return body[-1].end_lineno - body[0].lineno + 1


@pytest.mark.parametrize(
    "algorithm", [paper.ftpl, paper.context_ftpl, paper.context_semi_bandit_ftpl]
)
def test_an_algorithm_has_twenty_lines_at_most(algorithm):
    assert statements(algorithm) <= 20


@pytest.mark.parametrize("learner", [hn.FTPL, hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_learners_point_to_the_pseudo_code(learner):
    (name,) = re.findall(r"`hannan\.paper\.(\w+)`", learner.__doc__)
    assert f"`hannan.{learner.__name__}`" in getattr(paper, name).__doc__


def lines_of_code():
    """Pairs (expression, file) from the tables of paper and code in `architecture.md`."""
    text = (ROOT / "docs/contribute/architecture.md").read_text(encoding="utf-8")
    for table in text.split("| the paper | the code | in |\n|---|---|---|\n")[1:]:
        for row in table.split("\n\n")[0].splitlines():
            _, code, file = row.strip("| ").split(" | ")
            for expression in re.findall(r"`([^`]+)`", code):
                yield expression, file.strip("`")


@pytest.mark.parametrize(("expression", "file"), list(lines_of_code()))
def test_the_lines_of_the_architecture_are_there(expression, file):
    assert expression in (ROOT / "src" / "hannan" / file).read_text(encoding="utf-8")


def test_both_algorithms_are_told_line_by_line():
    assert len({file for _, file in lines_of_code()}) == 3
    assert len(list(lines_of_code())) >= 10
