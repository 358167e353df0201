import numpy as np
import pytest

import hannan as hn
from hannan.environments import FromArrays
from tests import problems

STREAM = problems.rounds(4, 3, 200)
CONTRACT = {
    "FromArrays": FromArrays([x for x, _ in STREAM], [v for _, v in STREAM]),
    "FromArrays, no contexts": FromArrays(None, np.eye(3)[[0, 2, 1] * 10]),
    "FromArrays, changing actions": FromArrays(
        None, np.eye(3)[[0, 2, 1] * 10], available=[[0, 1], None, [1, 2]] * 10
    ),
}


def test_it_replays_its_rows_in_order():
    losses = np.arange(6.0).reshape(3, 2) / 10
    world = FromArrays(["a", "b", "a"], losses)
    rounds = list(world.rounds(3, np.random.default_rng(0)))
    assert [r.context for r in rounds] == ["a", "b", "a"]
    assert [r.reveal(0).tolist() for r in rounds] == losses.tolist()
    assert world.contexts == ["a", "b", "a"]


def test_contexts_of_an_array_are_plain_integers():
    world = FromArrays(np.array([0, 1]), [[0, 1], [1, 0]])
    assert [type(r.context) for r in world.rounds(2, np.random.default_rng(0))] == [int, int]


def test_rows_of_features_are_contexts():
    features = np.arange(6.0).reshape(3, 2)
    world = FromArrays(features, np.zeros((3, 2)))
    for row, this_round in zip(features, world.rounds(3, np.random.default_rng(0)), strict=True):
        assert (this_round.context == row).all()


def test_without_contexts_none_arrives():
    world = FromArrays(None, [[0, 1], [1, 0]])
    assert world.contexts is None
    trace = hn.play(hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0), world)
    assert len(trace) == 2


def test_the_losses_are_copied():
    losses = np.zeros((2, 2))
    world = FromArrays([0, 1], losses)
    losses[:] = 1
    assert next(world.rounds(2, np.random.default_rng(0))).reveal(0).tolist() == [0, 0]


def test_fewer_rounds_may_be_played_but_not_more():
    world = FromArrays([0, 1], np.zeros((2, 2)))
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), seed=0)
    assert len(hn.play(learner, world, 1)) == 1
    with pytest.raises(hn.ParameterError, match="has 2 rounds, less than the horizon 3"):
        hn.play(learner, world, 3)
    assert learner.rounds == 1


@pytest.mark.parametrize("losses", [[], [0.0, 1.0], np.zeros((2, 0)), np.zeros((2, 2, 2))])
def test_losses_of_another_shape_are_refused(losses):
    with pytest.raises(hn.ParameterError, match=r"losses \[T, K\]"):
        FromArrays(None, losses)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_losses_that_are_not_finite_are_refused_with_their_row(bad):
    losses = np.zeros((3, 2))
    losses[1, 0] = bad
    with pytest.raises(hn.LossError, match="row 1, counting from 0, is"):
        FromArrays(None, losses)


def test_contexts_and_losses_must_be_as_many():
    with pytest.raises(hn.ParameterError, match="1 contexts for 2 rows"):
        FromArrays([0], np.zeros((2, 2)))


def test_a_bad_set_of_actions_is_told_with_its_row():
    with pytest.raises(hn.ParameterError, match=r"'available\[1\]' parameter of FromArrays"):
        FromArrays(None, np.zeros((3, 3)), available=[[0], [1, 5], [2]])
    with pytest.raises(hn.InputTypeError, match=r"available\[2\]= takes"):
        FromArrays(None, np.zeros((3, 3)), available=[[0], [1], ["x"]])
