import itertools
import math

import pytest

import hannan as hn
from hannan.bounds import switching, switching_log_size


@pytest.mark.parametrize(("T", "N", "k"), list(itertools.product([1, 2, 5], [2, 3], [0, 1, 2, 7])))
def test_sequences_are_counted(T, N, k):
    sequences = itertools.product(range(N), repeat=T)
    count = sum(sum(a != b for a, b in itertools.pairwise(s)) <= k for s in sequences)
    assert math.exp(switching_log_size(T, k, math.log(N))) == pytest.approx(count)


@pytest.mark.parametrize(("T", "k"), [(2000, 3), (10**9, 30), (50, 49)])
def test_the_count_is_below_its_simple_bounds(T, k):
    size = math.log(50)
    exact = switching_log_size(T, k, size)
    assert exact <= k * math.log(T) + (k + 1) * size
    assert exact <= k * math.log(math.e * T / k) + (k + 1) * size
    union = sum(math.comb(T - 1, i) * 50 ** (i + 1) for i in range(k + 1))
    assert exact <= math.log(union) <= exact + (k + 1) * math.log(50 / 49) + 1e-9


def test_it_is_theorem_2_on_times_as_contexts():
    options = {"n_actions": 5, "m": 2, "loss_bound": 0.5, "nonnegative": False}
    size = 3 * math.log(400) + 4 * 2.5
    assert switching(400, switches=3, log_size=2.5, **options) == hn.bounds.complete_information(
        400, d=400, log_size=size, **options
    )
    exact = switching_log_size(400, 3, 2.5)
    assert switching(
        400, switches=3, log_size=2.5, form="sharp", **options
    ) == hn.bounds.complete_information(400, d=400, log_size=exact, form="sharp", **options)


def test_playout_noise_has_the_root_rate_and_the_others_have_not():
    options = {"switches": 3, "n_actions": 5, "log_size": math.log(50)}
    growth = {}
    for form in ("printed", "sharp", "playout"):
        small, large = (switching(T, form=form, **options).value for T in (10**6, 10**8))
        growth[form] = math.log(large / small) / math.log(100)
    assert growth["playout"] == pytest.approx(0.5, abs=0.03)
    assert growth["printed"] == pytest.approx(0.75, abs=0.03)
    assert growth["sharp"] == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("fixed_size", [True, False])
def test_playout_is_the_playout_bound_of_the_larger_class(fixed_size):
    found = switching(
        900, switches=2, n_actions=9, log_size=3.0, m=4, fixed_size=fixed_size,
        loss_bound=2.0, nonnegative=False, form="playout",
    )  # fmt: skip
    assert found == hn.bounds.playout(
        900, log_size=switching_log_size(900, 2, 3.0), m=4, fixed_size=fixed_size,
        loss_range=(-2.0, 2.0),
    )  # fmt: skip
    plain = switching(900, switches=2, n_actions=9, log_size=3.0, form="playout")
    size = switching_log_size(900, 2, 3.0)
    assert plain.value == pytest.approx(math.sqrt(2 * math.pi * 900 * size))


def test_without_switches_it_is_the_base_class():
    assert switching_log_size(100, 0, 3.0) == pytest.approx(3.0)
