import numpy as np
import pytest

import hannan as hn


def test_a_round_hides_its_losses_until_an_action_is_revealed():
    this_round = hn.Round("rain", np.array([0.2, 0.8]))
    with pytest.raises(hn.OrderError, match="hidden"):
        _ = this_round.losses
    with pytest.raises(hn.OrderError, match="no loss"):
        _ = this_round.loss
    assert this_round.reveal(1).tolist() == [0.2, 0.8]
    assert this_round.losses.tolist() == [0.2, 0.8]
    assert this_round.loss == 0.8
    assert this_round.action == 1


def test_semi_bandit_feedback_is_the_losses_of_the_chosen_elements():
    losses = np.array([0.1, 0.2, 0.4])
    assert hn.Round(None, losses).reveal(2, hn.Feedback.BANDIT) == 0.4
    assert type(hn.Round(None, losses).reveal(2, hn.Feedback.BANDIT)) is float
    chosen = hn.Round(None, losses).reveal(np.array([0, 2]), hn.Feedback.BANDIT)
    assert chosen.tolist() == [0.1, 0.4]


def test_the_loss_of_a_set_is_the_sum_over_its_elements():
    this_round = hn.Round(None, np.array([0.1, 0.2, 0.4]))
    this_round.reveal(np.array([0, 2]))
    assert this_round.loss == pytest.approx(0.5)
