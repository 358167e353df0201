"""The checks of environments and of bounds notice what is broken."""

import numpy as np
import pytest

import hannan as hn
from hannan.checks import check_bound, check_environment


class BrokenWorld(hn.Environment):
    """Rounds to break."""

    n_actions = 2

    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.Round(0, rng.random(2))


class Short(BrokenWorld):
    def rounds(self, horizon, rng):
        yield from super().rounds(horizon - 1, rng)


class Unseeded(BrokenWorld):
    def rounds(self, horizon, rng):
        yield from super().rounds(horizon, np.random.default_rng())


class OutsideItsRange(BrokenWorld):
    def rounds(self, horizon, rng):
        for this_round in super().rounds(horizon, rng):
            yield hn.Round(0, 2 * this_round._losses)


class TooManyLosses(BrokenWorld):
    n_actions = 3


class UndeclaredContexts(BrokenWorld):
    contexts = (1, 2)


class OpenHanded(BrokenWorld):
    def rounds(self, horizon, rng):
        for this_round in super().rounds(horizon, rng):
            this_round.action = 0
            yield this_round


class SecretlyAdaptive(BrokenWorld):
    def rounds(self, horizon, rng):
        last = 0
        for this_round in super().rounds(horizon, rng):
            this_round._losses[last] = 1.0
            yield this_round
            last = this_round.action


class RewritesThePast(BrokenWorld):
    def rounds(self, horizon, rng):
        losses = np.zeros(2)
        for t in range(horizon):
            losses[:] = t % 2
            yield hn.Round(0, losses)


@pytest.mark.parametrize(
    "world",
    [
        Short,
        Unseeded,
        OutsideItsRange,
        TooManyLosses,
        UndeclaredContexts,
        OpenHanded,
        SecretlyAdaptive,
        RewritesThePast,
    ],
)
def test_a_broken_environment_is_noticed(world):
    check_environment(BrokenWorld(), 50)
    with pytest.raises(AssertionError):
        check_environment(world(), 50)


@pytest.mark.parametrize(
    "bound",
    [
        lambda T, n: -1.0,
        lambda T, n: float(T * n),
        lambda T, n: T**0.5 / n,
        lambda T, n: n / T,
    ],
)
def test_a_broken_bound_is_noticed(bound):
    with pytest.raises(AssertionError, match="bound"):
        check_bound(bound, n=3)
