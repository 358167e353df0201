import math

import pytest

import hannan as hn
from hannan.bounds import predictable

SIZES = {"d": 5, "n_actions": 6, "log_size": 2.0, "m": 3}


@pytest.mark.parametrize(
    ("options", "slope", "complexity"),
    [
        ({}, 4 * 6 * 70, None),
        ({"setting": "separator"}, 4 * 6 * 5 * 70, None),
        ({"form": "sharp"}, 3 * 4 * 70, True),
        ({"form": "sharp", "squared_ranges": 100}, 3 * 100, True),
        ({"form": "sharp", "squared_ranges": 1000}, 3 * 280, True),
        ({"form": "sharp", "antichain": False}, 6 * 280, True),
        ({"form": "sharp", "setting": "separator"}, 5 * 3 * 280, True),
    ],
)
def test_it_is_the_formula_at_its_best_epsilon(options, slope, complexity):
    antichain = options.get("antichain", True)
    printed = 10 * math.sqrt(15) * 2.0
    error = hn.bounds.complexity_bound(2.0, 5, 3, 6, antichain) if complexity else printed
    bound = predictable(70.0, **SIZES | options)
    assert bound.value == pytest.approx(2 * math.sqrt(slope * error))
    assert bound.epsilon == pytest.approx(math.sqrt(error / slope))


@pytest.mark.parametrize("form", ["printed", "sharp"])
def test_perfect_predictions_cost_nothing(form):
    bound = predictable(0.0, form=form, **SIZES)
    assert (bound.value, bound.epsilon) == (0.0, math.inf)


def test_experts_pay_no_factor_for_their_number():
    few, many = (
        predictable(70.0, d=1, n_actions=K, log_size=math.log(8), complexity=2.0, form="sharp")
        for K in (8, 800)
    )
    assert few.value == many.value


def test_without_predictions_it_is_theorem_2():
    # Q = 0: the errors are the losses, all of norm one.
    for setting in ("transductive", "separator"):
        options = {"d": 5, "n_actions": 6, "log_size": 2.0, "setting": setting}
        theorem = hn.bounds.complete_information(400, nonnegative=False, **options)
        assert predictable(400.0, **options).value == pytest.approx(theorem.value)
