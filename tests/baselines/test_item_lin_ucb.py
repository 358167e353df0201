"""LinUCB for described actions equals its definition."""

import numpy as np
import pytest
from examples.worlds import Items

import hannan as hn
from tests.cases import Match

ITEMS = Items(4, 10)
CONTRACT = {
    "ItemLinUCB": Match(hn.baselines.ItemLinUCB(), ITEMS, no_regret=False),
    "ItemLinUCB, disjoint": Match(hn.baselines.ItemLinUCB("disjoint"), ITEMS, no_regret=False),
    "ItemLinUCB, shared": Match(hn.baselines.ItemLinUCB("shared"), ITEMS, no_regret=False),
    "UniformRandom, described": Match(
        hn.baselines.UniformRandom(None, seed=0), ITEMS, no_regret=False
    ),
}


def games(rounds=60):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(6, 2))
    for _ in range(rounds):
        some = rng.permutation(6)[:3]
        yield rng.normal(size=2), pool[some], some.tolist(), rng.random()


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_hybrid_is_algorithm_2(alpha):
    """As printed in [li2010], line by line."""
    learner = hn.baselines.ItemLinUCB("hybrid", alpha=alpha)
    A0, b0 = np.eye(9), np.zeros(9)
    A, B, b = {}, {}, {}
    for user, rows, ids, loss in games():
        x = np.append(user, 1.0)
        Z = [np.concatenate([[1.0], user, a, np.outer(user, a).ravel()]) for a in rows]
        beta, bounds = np.linalg.solve(A0, b0), []
        for z, name in zip(Z, ids, strict=True):
            A.setdefault(name, np.eye(3))
            B.setdefault(name, np.zeros((3, 9)))
            b.setdefault(name, np.zeros(3))
            Ai, A0i = np.linalg.inv(A[name]), np.linalg.inv(A0)
            theta = Ai @ (b[name] - B[name] @ beta)
            s = z @ A0i @ z - 2 * z @ A0i @ B[name].T @ Ai @ x + x @ Ai @ x
            s += x @ Ai @ B[name] @ A0i @ B[name].T @ Ai @ x
            bounds.append(z @ beta + x @ theta + alpha * np.sqrt(s))
        k = int(np.argmax(bounds))
        assert learner.act(user, actions=rows, ids=ids) == ids[k]
        learner.update(loss)
        z, name, r = Z[k], ids[k], 1.0 - loss
        Ai = np.linalg.inv(A[name])
        A0 += B[name].T @ Ai @ B[name]
        b0 += B[name].T @ Ai @ b[name]
        A[name] += np.outer(x, x)
        B[name] += np.outer(x, z)
        b[name] += r * x
        Ai = np.linalg.inv(A[name])
        A0 += np.outer(z, z) - B[name].T @ Ai @ B[name]
        b0 += r * z - B[name].T @ Ai @ b[name]


def test_disjoint_is_algorithm_1():
    learner = hn.baselines.ItemLinUCB("disjoint", alpha=0.5)
    A, b = {}, {}
    for user, rows, ids, loss in games():
        x, bounds = np.append(user, 1.0), []
        for name in ids:
            A.setdefault(name, np.eye(3))
            b.setdefault(name, np.zeros(3))
            Ai = np.linalg.inv(A[name])
            bounds.append(x @ Ai @ b[name] + 0.5 * np.sqrt(x @ Ai @ x))
        k = ids[int(np.argmax(bounds))]
        assert learner.act(user, actions=rows, ids=ids) == k
        learner.update(loss)
        A[k] += np.outer(x, x)
        b[k] += (1.0 - loss) * x


def test_items_need_ids_unless_all_is_shared():
    with pytest.raises(hn.ContextError, match="ids"):
        hn.baselines.ItemLinUCB().act([1.0], actions=[[1.0], [2.0]])
    assert hn.baselines.ItemLinUCB("shared").act([1.0], actions=[[1.0], [2.0]]) in (0, 1)


def test_vowpal_wabbit_learns_from_features_of_actions():
    pytest.importorskip("vowpalwabbit")
    learner = hn.baselines.VowpalWabbit(None, "--epsilon 0.1", seed=0)
    rng, late = np.random.default_rng(0), []
    for t in range(600):
        rows = rng.normal(size=(4, 2))
        action = learner.act(None, actions=rows)
        learner.update(float(rows[action, 0] < 0.0))
        late += [rows[action, 0] < 0.0] if t >= 300 else []
    assert np.mean(late) < 0.3
