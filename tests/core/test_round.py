"""A round tells what was played and what was really done, and says so in a line."""

import numpy as np
import pytest

import hannan as hn
from hannan.environments.wrappers import WrappedRound


def test_the_loss_of_what_was_really_done_is_hidden_as_the_others_are():
    this_round = hn.Round(0, np.array([0.2, 0.7]), current=1)
    with pytest.raises(hn.OrderError):
        this_round.current_loss  # noqa: B018
    this_round.reveal(0)
    assert (this_round.loss, this_round.current_loss) == (0.2, 0.7)
    assert WrappedRound(this_round).current_loss == 0.7
    assert WrappedRound(this_round).current == 1


def test_where_nothing_tells_what_was_done_there_is_no_loss_of_it():
    this_round = hn.Round(0, np.array([0.2, 0.7]))
    assert this_round.current is None
    assert this_round.current_loss is None


def test_what_was_really_done_may_be_a_set():
    this_round = hn.Round(0, np.array([0.25, 0.5, 1.0]), current=np.array([0, 2]))
    this_round.reveal(np.array([1]))
    assert this_round.current_loss == 1.25


@pytest.mark.parametrize(("context", "action", "text"), [
    (3, 1, "<round: context 3, action 1, loss 0.2>"),
    (3, None, "<round: context 3>"),
    (None, 1, "<round: action 1, loss 0.2>"),
    (None, None, "<round>"),
    ("rain", np.int64(0), "<round: context 'rain', action 0, loss 0.5>"),
    (None, np.array([0, 1]), "<round: action [0, 1], loss 0.7>"),
    (np.array([0.123456, 2.0]), None, "<round: context [0.123, 2.   ]>"),
    (np.arange(64.0), None, "<round: context [ 0.,  1., ..., 62., 63.]>"),
])  # fmt: skip
def test_a_round_is_described_in_a_line(context, action, text):
    this_round = hn.Round(context, np.array([0.5, 0.2]))
    if action is not None:
        this_round.reveal(action)
    assert repr(this_round) == text
    assert repr(WrappedRound(this_round)) == text


def test_a_round_that_counts_otherwise_says_so():
    this_round = hn.Round(None, np.array([0.5]))
    this_round.weight = 2.5
    this_round.reveal(0)
    assert repr(this_round) == "<round: action 0, loss 0.5, weight 2.5>"
