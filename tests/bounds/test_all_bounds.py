"""What holds for every result, and that none is left out."""

import inspect
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import hannan as hn
from hannan import bounds as b
from tests.for_each import for_each

SIZES = {"d": 5, "n_actions": 6, "log_size": 2.0, "m": 2, "loss_bound": 1.0}
FULL = {"d": 5, "n_actions": 6, "log_size": 2.0}

# (function, options held fixed, sizes to be doubled)
CASES = [
    *((b.complete_information, {"form": form, "setting": setting, "nonnegative": sign}, SIZES)
      for form in ("printed", "sharp") for setting in ("transductive", "separator")
      for sign in (True, False)),
    *((b.semi_bandit, {"form": form, "setting": setting, "max_resamples": L}, SIZES)
      for form in ("printed", "sharp") for setting in ("transductive", "separator")
      for L in (None, 100)),
    (b.semi_bandit, {"setting": "separator", "max_resamples": "best"}, FULL),
    *((b.switching, {"form": form, "n_actions": 6}, {"switches": 3, "log_size": 4.0, "m": 2})
      for form in ("printed", "sharp", "playout")),
    *((b.natarajan, {"form": form}, {"dimension": 2, "d": 20, "n_actions": 3, "loss_bound": 1.0})
      for form in ("printed", "corrected", "sharp")),
    *((b.self_tuned, {"feedback": word}, SIZES | {"start": 1.0, "restarts": 2})
      for word in ("full", "semi-bandit")),
    *((b.anytime, {"feedback": word}, SIZES | {"total_delay": 50})
      for word in ("full", "semi-bandit")),
    *((b.delayed, {"feedback": word, "reacting": react}, SIZES | {"total_delay": 50})
      for word in ("full", "semi-bandit") for react in (False, True)),
    (b.hinted, {}, FULL | {"loss_bound": 1.0, "budget": 2.0, "start": 1.0, "restarts": 2}),
    (b.playout, {"fixed_size": False}, {"log_size": 2.0, "m": 2}),
    (b.playout_bandit, {}, {"n_actions": 3, "log_size": 2.0, "loss_bound": 1.0}),
    *((b.shortest_path, {"feedback": word, "form": form}, {"n_edges": 20, "longest_path": 4})
      for word in ("full", "semi-bandit") for form in ("printed", "sharp")),
    *((b.submodular, {"form": form}, {"n_elements": 5, "loss_bound": 1.0})
      for form in ("printed", "sharp")),
    *((b.disjunctions, {"feedback": word, "form": form}, {"n_variables": 5})
      for word in ("full", "bandit") for form in ("printed", "sharp")),
    *((b.linear_classifiers, {"tau": 0.25, "feedback": word, "form": form}, {"n_axes": 2})
      for word in ("full", "bandit") for form in ("printed", "sharp")),
    # In place of the horizon these take what grows with it.
    *((b.predictable, {"form": form, "setting": setting}, FULL | {"m": 2})
      for form in ("printed", "sharp") for setting in ("transductive", "separator")),
    *((b.first_order, {"self_tuned": tuned}, SIZES) for tuned in (True, False)),
]  # fmt: skip
IDS = [f"{function.__name__}-{options}" for function, options, _ in CASES]


@for_each(("function", "options", "sizes"), CASES)
def test_it_is_positive_and_monotone_and_sublinear_and_the_sum_of_its_terms(
    function, options, sizes
):
    hn.checks.check_bound(lambda T, **s: function(T, **s, **options), **sizes)


def test_theorem_1_is_positive_and_monotone_at_an_epsilon_that_falls():
    hn.checks.check_bound(lambda T, **s: b.stability_plus_error(T**-0.5, T, **s), **SIZES)


def test_no_result_is_left_out():
    results = {
        name
        for name in b.__all__
        if inspect.isfunction(item := getattr(b, name))
        and inspect.signature(item).return_annotation is b.Bound
    }
    assert results == {function.__name__ for function, *_ in CASES} | {"stability_plus_error"}
    assert b.__all__ == sorted(b.__all__)


# Sharp is never larger than printed ---------------------------------------------------------


@st.composite
def problems(draw):
    """Sizes over many orders of magnitude."""
    K = draw(st.integers(1, 10**4))
    low = draw(st.sampled_from([0.0, 0.0, -1.0, 0.5, -1e-6]))
    high = low + draw(st.floats(1e-6, 1e3))
    return {
        "d": draw(st.integers(1, 10**9)),
        "n_actions": K,
        "m": draw(st.integers(1, K)),
        "log_size": draw(st.floats(math.log(2), 1e7)),
        "loss_range": (low, high),
        "setting": draw(st.sampled_from(["transductive", "separator"])),
        "antichain": draw(st.booleans()),
        "complexity": draw(st.none() | st.floats(1e-3, 1e12)),
    }


horizons = st.integers(1, 10**12)


def never_larger(function, *args, **options):
    sharp = function(*args, form="sharp", **options).value
    assert 0 <= sharp <= function(*args, form="printed", **options).value * (1 + 1e-12)


@given(horizons, problems(), st.booleans(), st.floats(1e-9, 1e6))
def test_theorems_1_and_2_sharp_is_never_larger(T, problem, linear, epsilon):
    nonnegative = linear and problem["loss_range"][0] >= 0
    never_larger(b.complete_information, T, nonnegative=nonnegative, **problem)
    never_larger(b.complete_information, T, nonnegative=nonnegative, epsilon=epsilon, **problem)
    never_larger(b.stability_plus_error, epsilon, T, nonnegative=nonnegative, **problem)


@given(horizons, problems(), st.none() | st.integers(1, 10**6), st.floats(1, 2))
def test_theorem_3_sharp_is_never_larger(T, problem, L, c):
    assume(problem["loss_range"][0] >= 0)
    never_larger(b.semi_bandit, T, max_resamples=L, second_moment=c, **problem)
    if problem["setting"] == "separator":
        best = b.semi_bandit(T, max_resamples="best", **problem)
        printed = b.semi_bandit(T, max_resamples=L, **problem)
        sharp = b.semi_bandit(T, form="sharp", **problem)
        assert sharp.value <= best.value * (1 + 1e-12)
        assert best.value <= printed.value * (1 + 1e-12)


@given(st.floats(0, 1e12), problems(), st.none() | st.floats(0, 1e13))
def test_theorem_5_sharp_is_never_larger(S, problem, ranges):
    del problem["loss_range"]
    never_larger(b.predictable, S, squared_ranges=ranges, **problem)


@given(st.integers(1, 10**9), st.integers(0, 30), problems(), st.booleans())
def test_switching_sharp_is_never_larger(T, k, problem, linear):
    del problem["setting"], problem["d"]
    nonnegative = linear and problem["loss_range"][0] >= 0
    never_larger(b.switching, T, switches=k, nonnegative=nonnegative, **problem)


@given(horizons, st.integers(1, 30), st.integers(1, 10**6), st.integers(2, 10**4))
def test_natarajan_sharp_is_never_larger(T, nu, d, K):
    options = {"dimension": nu, "d": d, "n_actions": K}
    never_larger(b.natarajan, T, **options)
    corrected = b.natarajan(T, form="corrected", **options).value
    assert b.natarajan(T, form="sharp", **options).value <= corrected


@given(horizons, st.integers(1, 200), st.integers(1, 60), st.data())
def test_the_examples_sharp_is_never_larger(T, K, steps, data):
    m = data.draw(st.integers(1, K))
    assume(m * math.log(math.e * K / m) >= math.log(2))
    word = data.draw(st.sampled_from(["full", "semi-bandit"]))
    never_larger(b.shortest_path, T, n_edges=K, longest_path=m, feedback=word)
    never_larger(b.submodular, T, n_elements=K)
    never_larger(b.disjunctions, T, n_variables=K, feedback=word)
    never_larger(b.linear_classifiers, T, n_axes=min(K, 20), tau=1 / steps, feedback=word)


@given(st.floats(math.log(2), 1e9), st.integers(1, 10**9), st.integers(1, 10**4))
def test_every_bound_on_the_complexity_is_below_the_printed_one(size, d, m):
    chernoff, closed = b.chernoff_complexity(size, d, m), b.closed_complexity(size, d, m)
    assert size < chernoff <= closed * (1 + 1e-12)
    assert closed <= b.printed_complexity(size, d, m)


# The best epsilon is the best ---------------------------------------------------------------


@pytest.mark.parametrize("form", ["printed", "sharp"])
@pytest.mark.parametrize("setting", ["transductive", "separator"])
@pytest.mark.parametrize(
    "function",
    [b.complete_information, b.semi_bandit, b.predictable, b.delayed],
    ids=lambda f: f.__name__,
)
def test_a_numerical_minimiser_agrees(function, setting, form):
    options = FULL | {"m": 3, "setting": setting}
    options |= {"total_delay": 300} if function is b.delayed else {"form": form}
    best = function(5000, **options)
    at = lambda x: function(5000, epsilon=math.exp(x), **options).value  # noqa: E731
    found = minimize_scalar(at, bounds=(-12, 8), method="bounded", options={"xatol": 1e-10})
    assert math.exp(found.x) == pytest.approx(best.epsilon, rel=1e-4)
    assert found.fun == pytest.approx(best.value, rel=1e-9)
    assert function(5000, epsilon=best.epsilon, **options).value == pytest.approx(best.value)
    assert function(5000, epsilon=best.epsilon, **options).terms == pytest.approx(best.terms)


# Wrong use is refused by name ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "change", "message"),
    [
        (b.complete_information, {"horizon": None}, "'horizon' parameter of complete_information"),
        (b.complete_information, {"horizon": 0}, "'horizon'"),
        (b.complete_information, {"log_size": 0.0}, "N >= 2"),
        (b.complete_information, {"log_size": None}, "'log_size'.*complexity="),
        (b.complete_information, {"log_size": None, "complexity": 3.0}, "form='printed'"),
        (b.complete_information, {"log_size": math.inf}, "'log_size'"),
        (b.complete_information, {"log_size": "two"}, "'log_size'"),
        (b.complete_information, {"complexity": 0.0}, "'complexity'"),
        (b.complete_information, {"m": 7}, "'m'.*from 1 to n_actions=6"),
        (b.complete_information, {"setting": "non-transductive"}, "Theorem 7.*non_transductive"),
        (b.complete_information, {"loss_range": (-1, 1)}, "never negative.*nonnegative=False"),
        (b.complete_information, {"loss_range": (1, 0)}, "'loss_range'"),
        (b.complete_information, {"form": "exact"}, "'form'"),
        (b.complete_information, {"epsilon": 0.0}, "'epsilon'"),
        (b.semi_bandit, {"horizon": None}, "'horizon' parameter of semi_bandit"),
        (b.semi_bandit, {"max_resamples": "best"}, "'max_resamples'.*separator"),
        (b.semi_bandit, {"second_moment": 0.5}, "'second_moment'"),
        (b.semi_bandit, {"setting": "open"}, "'setting'.*Theorem 7"),
        (b.stability_plus_error, {"epsilon": -1.0}, "'epsilon'"),
        (b.stability_plus_error, {"epsilon": 1.0, "horizon": 0}, "'horizon'"),
        (b.self_tuned, {"restarts": -1}, "'restarts'"),
        (b.self_tuned, {"feedback": "partial"}, "'feedback'"),
        (b.self_tuned, {"feedback": "bandit", "m": 2}, "'feedback'.*semi-bandit"),
        (b.self_tuned, {"feedback": "bandit", "nonnegative": False}, "from the lowest"),
        (
            b.self_tuned,
            {"feedback": "semi-bandit", "m": 2, "loss_range": (-1, 0), "total_delay": 9},
            r"sets of different sizes; got loss_range=\(-1.0, 0.0\) and total_delay=9",
        ),
        (b.self_tuned, {"squares": -1.0}, "'squares'"),
        (b.anytime, {"total_delay": 10**9}, "'total_delay'.*at most"),
        (b.delayed, {"total_delay": -1}, "'total_delay'"),
        (b.delayed, {"total_delay": 1, "max_resamples": 0}, "'max_resamples'"),
        (b.hinted, {"share": 1.0}, "'share'.*less than 1"),
        (b.hinted, {"budget": 0.0}, "'budget'"),
        (b.hinted, {"start": math.nan}, "'start'"),
        (b.hinted, {"n_actions": 0}, "'n_actions'"),
    ],
)
def test_wrong_use_is_refused_by_name(function, change, message):
    arguments = {"horizon": 100, **FULL, **change}
    with pytest.raises(hn.ParameterError, match=message):
        function(**arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: b.predictable(-1.0, **FULL), "'errors'"),
        (lambda: b.predictable(1.0, squared_ranges=-1.0, **FULL), "'squared_ranges'"),
        (lambda: b.predictable(1.0, setting="online", **FULL), "Theorem 7"),
        (lambda: b.first_order(-1.0, **FULL), "'best_loss'"),
        (lambda: b.switching(100, switches=-1, n_actions=2, log_size=1.0), "'switches'"),
        (lambda: b.switching(100, switches=1, n_actions=2, log_size=0.0), "N >= 2"),
        (lambda: b.natarajan(100, dimension=0, d=3, n_actions=2), "'dimension'"),
        (lambda: b.natarajan(100, dimension=1, d=3, n_actions=1), "'n_actions'"),
        (
            lambda: b.natarajan(100, dimension=1, d=3, n_actions=2, setting="non-transductive"),
            "Theorem 7",
        ),
        (
            lambda: b.natarajan(100, dimension=1, d=3, n_actions=2, setting="separator"),
            "only the transductive setting; use form='corrected'",
        ),
        (lambda: b.playout(0, log_size=1.0), "'horizon' parameter of playout"),
        (lambda: b.playout(10, log_size=0.1), "N >= 2"),
        (lambda: b.playout(10, log_size=1.0, loss_range=None), "'loss_range'"),
        (lambda: b.playout_bandit(10, n_actions=0, log_size=1.0), "'n_actions'"),
        (lambda: b.shortest_path(10, n_edges=3, longest_path=4), "'longest_path'"),
        (lambda: b.disjunctions(10, n_variables=3, monotone=False), "negations"),
        (lambda: b.linear_classifiers(10, n_axes=3, tau=0.3), "'tau'"),
        (lambda: b.submodular(10, n_elements=0), "'n_elements'"),
        (lambda: b.non_transductive(None), "'horizon'"),
        (lambda: b.kappa(setting="none"), "Theorem 7"),
        (lambda: b.kappa(antichain=False, nonnegative=False), "'n_actions'"),
        (lambda: b.claimed_rate("routing", 10), "'result'"),
        (lambda: b.claimed_rate("disjunctions", 10, d=3), "horizon, n; got d"),
        (lambda: b.claimed_rate("disjunctions", 10, n=-3), "'n'"),
    ],
)
def test_wrong_use_of_the_others_is_refused_by_name(call, message):
    with pytest.raises(hn.ParameterError, match=message):
        call()


@pytest.mark.parametrize("bound", [b.semi_bandit, b.self_tuned, b.anytime])
def test_negative_losses_of_chosen_elements_are_counted_from_the_lowest(bound):
    sizes = {"d": 1, "n_actions": 6, "log_size": 3.0, "m": 2}
    options = {} if bound is b.semi_bandit else {"feedback": "semi-bandit"}
    rewards = bound(1000, loss_range=(-2.0, 0.0), **options, **sizes)
    assert rewards.value == bound(1000, loss_bound=2.0, **options, **sizes).value
    either = bound(1000, loss_range=(-2.0, 1.0), **options, **sizes)
    assert either.value == bound(1000, loss_bound=3.0, **options, **sizes).value
