import numpy as np
import pytest

import hannan as hn
from hannan.baselines._loss_scale import LossScale, check_loss


def test_losses_are_measured_from_the_lower_end_in_units_of_the_range():
    scale = LossScale((-2.0, 6.0), "a test")
    for loss, scaled in ((-2.0, 0.0), (0.0, 0.25), (6.0, 1.0), (2, 0.5), (np.float32(4), 0.75)):
        assert scale.scaled(loss) == scaled
        assert type(scale.scaled(loss)) is float
        assert scale.suffered(loss) == loss
    assert scale.scaled([2.0]) == scale.scaled(np.array([2.0])) == 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -2.1, 6.1, [0.0, 1.0], None, "much", True + 6])
def test_what_is_no_loss_of_one_action_is_refused(bad):
    scale = LossScale((-2.0, 6.0), "a test")
    for ask in (scale.scaled, scale.suffered, lambda loss: check_loss(loss, (-2.0, 6.0))):
        with pytest.raises(hn.HannanError):
            ask(bad)


def test_the_range_must_be_known():
    for bad in (None, (1.0, 0.0), (0.0, np.inf), 3):
        with pytest.raises(hn.ParameterError, match="'loss_range' parameter of Someone"):
            LossScale(bad, "Someone")
