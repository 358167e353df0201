"""Propensities that are wrong in time, and rows that one draw decided, are found by their order."""

import numpy as np
import pytest

from hannan.core import PropensityError
from hannan.off_policy import Log, check_propensities, evaluate
from tests.replays.worlds import drawn


def uniform(n=1500, K=3, seed=0):
    """Return actions drawn from [0.5, 0.3, 0.2] and their propensities."""
    rng = np.random.default_rng(seed)
    chances = np.tile([0.5, 0.3, 0.2][:K], (n, 1))
    actions = drawn(rng, chances)
    return actions, chances[np.arange(n), actions]


def test_sound_logs_pass():
    for seed in range(30):
        check_propensities(*uniform(seed=seed), in_order=True)


def test_actions_that_alternate_pass():
    check_propensities(np.arange(900) % 3, np.full(900, 1 / 3), in_order=True)


def test_one_draw_for_several_rows_is_refused():
    actions, p = uniform(n=300)
    with pytest.raises(PropensityError, match=r"that follow a row with .* merge them into one row"):
        check_propensities(np.repeat(actions, 5), np.repeat(p, 5), in_order=True)
    check_propensities(np.repeat(actions, 5), np.repeat(p, 5))


def test_probabilities_that_changed_over_time_are_refused():
    rng = np.random.default_rng(0)
    late = np.linspace(0.0, 1.0, 2000)
    chances = np.stack([0.8 - 0.6 * late, 0.2 + 0.6 * late], axis=1)
    actions = drawn(rng, chances)
    right = chances[np.arange(2000), actions]
    check_propensities(actions, right, in_order=True)
    with pytest.raises(PropensityError, match=r"quarter of the rows.*changed over time"):
        check_propensities(actions, np.full(2000, 0.5), in_order=True)
    with pytest.raises(PropensityError, match="quarter"):
        evaluate(Log(None, actions, rng.random(2000), np.full(2000, 0.5), n_actions=2), 0)


@pytest.mark.parametrize("by", ["actions", "losses", "nothing"])
def test_estimates_do_not_depend_on_how_a_log_is_sorted(by):
    """Such as a frame of the control group, then one of the treated."""
    hits = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, (actions, p) = rng.normal(size=(1500, 2)), uniform(seed=seed)
        losses = (rng.random(1500) < np.array([0.2, 0.5, 0.8])[actions]).astype(float)
        keys = {"actions": actions, "losses": losses, "nothing": np.zeros(1500)}
        order = np.argsort(keys[by], kind="stable")
        log = Log(x[order], actions[order], losses[order], p[order], n_actions=3)
        assert log.sorted == (by != "nothing")
        estimate = evaluate(log, 1)
        hits.append(estimate.low <= 0.5 <= estimate.high)
    assert sum(hits) >= 16  # a chance of 0.003, if 95 % intervals hold
