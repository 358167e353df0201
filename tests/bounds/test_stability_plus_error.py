import math

import pytest

import hannan as hn
from hannan.bounds import stability_plus_error

SIZES = {"d": 5, "n_actions": 3, "log_size": 2.0}


def test_the_two_terms_at_an_epsilon():
    printed = stability_plus_error(0.25, 1000, **SIZES)
    assert printed.terms == pytest.approx({"stability": 250.0, "error": 80 * math.sqrt(5)})
    sharp = stability_plus_error(0.25, 1000, form="sharp", **SIZES)
    G = hn.bounds.complexity_bound(2.0, 5, 1, 3)
    assert sharp.terms == pytest.approx({"stability": 250.0, "error": 4 * G})


def test_the_printed_error_is_twice_the_complexity_where_that_is_known():
    alone = SIZES | {"log_size": None, "complexity": 3.0}
    assert stability_plus_error(0.25, 1000, **alone).terms["error"] == 24.0
    assert stability_plus_error(0.25, 1000, form="sharp", **alone).terms["error"] == 12.0


@pytest.mark.parametrize("setting", ["transductive", "separator"])
@pytest.mark.parametrize("form", ["printed", "sharp"])
def test_theorem_2_is_its_value_at_the_best_epsilon(setting, form):
    options = SIZES | {"setting": setting, "form": form, "nonnegative": False}
    best = hn.bounds.complete_information(1000, **options)
    assert stability_plus_error(best.epsilon, 1000, **options).value == pytest.approx(best.value)
    assert stability_plus_error(1.1 * best.epsilon, 1000, **options).value > best.value
