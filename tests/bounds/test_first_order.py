import math

import pytest
from scipy.optimize import minimize_scalar

import hannan as hn
from hannan.bounds import first_order

SIZES = {"d": 5, "n_actions": 3, "m": 2, "complexity": 7.0}


@pytest.mark.parametrize("best", [0.0, 1.0, 300.0, 1e7])
@pytest.mark.parametrize(("setting", "kappa"), [("transductive", 1), ("separator", 10)])
def test_it_is_the_smallest_value_of_its_formula(best, setting, kappa):
    bound = first_order(best, loss_bound=0.5, setting=setting, **SIZES)
    a, G = kappa * 1.0, 7.0

    def at(epsilon):
        return (epsilon * a * best + G / epsilon) / (1 - epsilon * a)

    options = {"xatol": 1e-12}
    found = minimize_scalar(at, bounds=(1e-9, (1 - 1e-9) / a), method="bounded", options=options)
    assert bound.value == pytest.approx(found.fun, rel=1e-6)
    assert bound.value == pytest.approx(at(bound.epsilon))
    assert bound.value == pytest.approx(2 * a * G + 2 * math.sqrt((a * G) ** 2 + a * best * G))


@pytest.mark.parametrize("best", [0.0, 300.0, 1e7])
def test_the_self_tuned_form_solves_its_inequality(best):
    r = first_order(best, self_tuned=True, **SIZES).value
    B, kappa, G = 2.0, 1.0, 7.0
    assert r == pytest.approx(2 * math.sqrt(2 * kappa * G * B * (best + r)) + 2 * B)


def test_small_losses_beat_the_bound_for_any():
    worst = hn.bounds.complete_information(10**6, form="sharp", log_size=None, **SIZES).value
    assert first_order(100.0, **SIZES).value < worst / 40
    assert first_order(2e6, **SIZES).value == pytest.approx(worst, rel=0.01)
