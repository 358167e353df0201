import dataclasses
import math

import pytest

import hannan as hn
from hannan.bounds import Bound
from hannan.bounds.bound import tuned


def test_a_bound_is_a_number_with_its_parts():
    bound = Bound(3.0, 0.5, {"stability": 1.0, "error": 2.0}, 7)
    assert float(bound) == 3.0
    assert str(bound) == "regret <= 3 = 1 (stability) + 2 (error), at epsilon = 0.5, L = 7"
    with pytest.raises(dataclasses.FrozenInstanceError):
        bound.value = 1.0


def test_the_best_epsilon_balances_both_terms():
    bound = tuned("owner", None, 8.0, 2.0, truncation=1.0)
    assert (bound.epsilon, bound.value) == (0.5, 9.0)
    assert bound.terms == {"stability": 4.0, "error": 4.0, "truncation": 1.0}


def test_without_instability_noise_is_not_needed():
    bound = tuned("owner", None, 0.0, 2.0)
    assert (bound.value, bound.epsilon) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Bound(5.0, 0.1, {"a": 1.0, "b": 2.0}), "add up to 3.0"),
        (Bound(1.0, 0.1, {"a": 2.0, "b": -1.0}), "negative"),
        (Bound(1.0, 0.0, {"a": 1.0}), "epsilon=0.0"),
    ],
)
def test_check_bound_looks_at_the_parts(broken, message):
    with pytest.raises(AssertionError, match=message):
        hn.checks.check_bound(lambda T: broken)


def test_check_bound_notices_what_does_not_grow_or_grows_too_fast():
    with pytest.raises(AssertionError, match="falls"):
        hn.checks.check_bound(lambda T: 1 / T)
    with pytest.raises(AssertionError, match="sublinear"):
        hn.checks.check_bound(lambda T: 2.0 * T)
    with pytest.raises(AssertionError, match="with d doubled"):
        hn.checks.check_bound(lambda T, d: math.sqrt(T) / d, d=2)


def test_tiny_slopes_do_not_overflow():
    assert tuned("owner", None, 1e-308, 4.0).value == pytest.approx(4e-154)
