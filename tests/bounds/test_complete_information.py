import math

import pytest

import hannan as hn
from hannan.bounds import complete_information

SETTINGS = [
    {"setting": "transductive"},
    {"setting": "transductive", "nonnegative": False},
    {"setting": "separator"},
]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_it_is_positive_and_monotone_and_sublinear(options):
    hn.checks.check_bound(
        lambda T, **sizes: complete_information(T, **sizes, **options).value,
        d=5,
        n_actions=3,
        log_size=2.0,
        m=2,
        loss_bound=1,
    )


@pytest.mark.parametrize(
    ("options", "slope"),
    [
        ({}, 1000 * 4),
        ({"nonnegative": False}, 4 * 3 * 1000 * 4),
        ({"setting": "separator"}, 4 * 3 * 5 * 1000 * 4),
        ({"loss_bound": 0.5}, 1000),
    ],
)
def test_it_is_the_printed_theorem_at_its_best_epsilon(options, slope):
    bound = complete_information(1000, d=5, n_actions=3, log_size=2.0, m=2, **options)
    C = 10 * math.sqrt(10) * 2.0

    def at(epsilon):
        return epsilon * slope + C / epsilon

    assert (
        bound.value == pytest.approx(at(bound.epsilon)) == pytest.approx(sum(bound.terms.values()))
    )
    assert bound.value <= min(at(0.99 * bound.epsilon), at(1.01 * bound.epsilon))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("horizon", 0),
        ("d", 0),
        ("n_actions", 1.5),
        ("m", 0),
        ("loss_bound", 0.0),
        ("loss_bound", math.inf),
        ("setting", "inductive"),
    ],
)
def test_a_size_outside_its_range_is_refused(name, value):
    sizes = {"horizon": 10, "d": 2, "n_actions": 2, "log_size": 1.0, name: value}
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of complete_information"):
        complete_information(**sizes)


@pytest.mark.parametrize("size", [0.0, 0.5, math.nan])
def test_it_needs_two_policies(size):
    with pytest.raises(hn.ParameterError, match="N >= 2"):
        complete_information(10, d=2, n_actions=2, log_size=size)
