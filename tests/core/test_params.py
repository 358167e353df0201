import numpy as np
import pytest

import hannan as hn
from hannan.core.params import short


def test_parameters_are_those_of_the_constructor():
    oracle = hn.oracles.AllPolicies(3, 2)
    learner = hn.ContextFTPL(oracle, contexts=[0, 1], epsilon=0.5, seed=4)
    assert learner.params["oracle"] is oracle
    assert learner.params["contexts"] == [0, 1]
    assert learner.params["epsilon"] == 0.5


def test_a_clone_has_learned_nothing():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    learner.act()
    learner.update([1.0, 0.0])
    twin = learner.clone()
    assert twin.rounds == 0
    assert twin.best_policy()(None) == 0
    assert learner.best_policy()(None) == 1


def test_a_clone_may_change_some_parameters():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), epsilon=0.5, seed=0)
    twin = learner.clone(seed=7)
    assert (twin.seed, twin.epsilon) == (7, 0.5)


def test_repr_shows_what_differs_from_the_defaults():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=3)
    assert repr(learner) == "ContextFTPL(oracle=AllPolicies(n_contexts=1, n_actions=2), seed=3)"


def test_repr_abbreviates_large_arrays():
    oracle = hn.oracles.FinitePolicies(np.zeros((20, 3), int), n_actions=2)
    assert "array [20, 3]" in repr(oracle)


class Table:
    """What a frame is like."""

    shape = (3, 2)

    def __repr__(self):
        return "a  b\n1  2\n"


@pytest.mark.parametrize(("value", "text"), [
    (Table(), "<Table [3, 2]>"),
    ({f"column {i}": [0.0] * 9 for i in range(7)}, "<dict of 7>"),
    ({"a": [1, 2]}, "{'a': [1, 2]}"),
    (np.eye(2, dtype=int), "array([[1, 0], [0, 1]])"),
    (np.float64(0.5), "np.float64(0.5)"),
    ("a  b", "'a  b'"),
    ("x" * 100, "'" + "x" * 56 + "..."),
])  # fmt: skip
def test_values_are_shown_in_one_line(value, text):
    assert short(value) == text


def test_reset_forgets_everything_but_the_seed():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), epsilon=0.3, seed=0)

    def plays():
        found = []
        for t in range(40):
            found.append(learner.act())
            learner.update(np.eye(3)[t % 3])
        return found

    first = plays()
    learner.reset()
    assert learner.rounds == learner.oracle_calls == 0
    assert plays() == first


def test_a_constructor_that_renames_an_argument_is_told_the_rule():
    class Renames(hn.Predictor):
        def __init__(self, decay=0.9):
            self._decay = decay

        def predict(self, context):
            return np.zeros(2)

        def learn(self, context, action, loss):
            pass

    with pytest.raises(hn.InputTypeError, match=r"Renames must store .*self.argument = argument"):
        repr(Renames())
