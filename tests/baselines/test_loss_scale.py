import numpy as np
import pytest

import hannan as hn
from hannan.baselines import EpsilonGreedy
from hannan.core.validation import check_chosen_loss


def test_losses_are_measured_from_the_lower_end_in_units_of_the_range():
    learner = EpsilonGreedy(2, loss_range=(-2.0, 6.0))
    for loss, scaled in ((-2.0, 0.0), (0.0, 0.25), (6.0, 1.0), (2, 0.5), (np.float32(4), 0.75)):
        assert learner._scaled(loss) == scaled
        assert type(learner._scaled(loss)) is float
        assert learner.loss_suffered(0, loss) == loss
    assert learner._scaled([2.0]) == learner._scaled(np.array([2.0])) == 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -2.1, 6.1, [0.0, 1.0], None, "much", True + 6])
def test_what_is_no_loss_of_one_action_is_refused(bad):
    learner = EpsilonGreedy(2, loss_range=(-2.0, 6.0))
    with pytest.raises(hn.HannanError):
        learner._scaled(bad)
    with pytest.raises(hn.HannanError):
        learner.loss_suffered(0, bad)
    with pytest.raises(hn.HannanError):
        check_chosen_loss(bad, (-2.0, 6.0))


def test_the_range_must_be_known():
    for bad in (None, (1.0, 0.0), (0.0, np.inf), 3):
        with pytest.raises(hn.ParameterError, match="'loss_range' parameter of EpsilonGreedy"):
            EpsilonGreedy(2, loss_range=bad)
