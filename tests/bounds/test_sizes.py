"""The keywords that all bounds share: read off an oracle, told in docstrings, refused by name."""

import inspect
import math

import numpy as np
import pytest

import hannan as hn
from hannan import bounds as b

SIZES = {"d": 5, "n_actions": 6, "log_size": 2.0}
OF_THE_CLASS = {"d", "n_actions", "log_size", "m", "setting", "antichain", "complexity"}
OF_THE_LOSSES = {"loss_bound", "loss_range", "nonnegative"}

# (function, its own required arguments, keywords of the losses that it takes)
BOUNDS = [
    (b.complete_information, {"horizon": 100}, OF_THE_LOSSES),
    (b.stability_plus_error, {"epsilon": 0.1, "horizon": 100}, OF_THE_LOSSES),
    (b.anytime, {"horizon": 100}, OF_THE_LOSSES),
    (b.delayed, {"horizon": 100, "total_delay": 10}, OF_THE_LOSSES),
    (b.self_tuned, {"horizon": 100}, OF_THE_LOSSES),
    (b.semi_bandit, {"horizon": 100}, {"loss_bound", "loss_range"}),
    (b.hinted, {"horizon": 100}, {"loss_bound", "loss_range"}),
    (b.predictable, {"errors": 10.0}, set()),
    (b.first_order, {"best_loss": 10.0}, {"loss_bound"}),
]
of_every_bound = pytest.mark.parametrize(
    ("function", "own", "losses"), BOUNDS, ids=[function.__name__ for function, *_ in BOUNDS]
)


@of_every_bound
def test_the_docstring_tells_every_keyword(function, own, losses):
    told = inspect.getdoc(function).split("Parameters\n----------\n")[1].split("\n\n")[0]
    entries = {name for line in told.splitlines() if line[0] != " " for name in line.split(", ")}
    named = {p.name for p in inspect.signature(function).parameters.values()} - {"sizes"}
    assert entries == named | OF_THE_CLASS | losses


@of_every_bound
def test_an_unknown_keyword_is_named(function, own, losses):
    for name in {"n_action", "horizn", "owner"} | OF_THE_LOSSES - losses:
        message = rf"^{function.__name__}\(\) got an unexpected keyword argument '{name}'"
        with pytest.raises(TypeError, match=message):
            function(**own, **SIZES, **{name: 1})


@of_every_bound
@pytest.mark.parametrize("name", ["d", "n_actions"])
def test_a_missing_keyword_is_named(function, own, losses, name):
    sizes = {key: value for key, value in SIZES.items() if key != name}
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) missing .*'{name}'"):
        function(**own, **sizes)


@of_every_bound
def test_defaults_are_what_they_are_said_to_be(function, own, losses):
    defaults = {"m": 1, "setting": "transductive", "antichain": True, "complexity": None}
    stated = {"loss_bound": 1.0, "loss_range": None, "nonnegative": True}
    defaults |= {name: stated[name] for name in losses}
    assert function(**own, **SIZES) == function(**own, **SIZES, **defaults)


@of_every_bound
def test_it_takes_the_sizes_of_an_oracle(function, own, losses):
    oracle = hn.oracles.AllPolicies(5, 3)
    sizes = {"d": 5, "n_actions": 3, "log_size": oracle.log_size(range(5))}
    assert function(**own, **b.sizes_of(oracle)) == function(**own, **sizes)


def test_hints_for_sets_have_no_bound_with_delay():
    with pytest.raises(hn.ParameterError, match=r"no bound is proved.*m=2 and total_delay=3"):
        b.hinted(100, **SIZES, m=2, total_delay=3)


# The sizes of a class on a context set ------------------------------------------------------


def test_sizes_of_a_finite_class():
    table = np.array([[0, 1, 2], [0, 1, 0], [2, 1, 2]])
    oracle = hn.oracles.FinitePolicies(table, n_actions=4)
    whole = {"d": 3, "n_actions": 4, "m": 1, "setting": "transductive", "antichain": True}
    assert b.sizes_of(oracle) == {**whole, "log_size": pytest.approx(math.log(3))}
    assert b.sizes_of(oracle, log_size=False) == whole
    part = {**whole, "d": 2, "setting": "separator", "log_size": pytest.approx(math.log(2))}
    assert b.sizes_of(oracle, [0, 1, 0], setting="separator") == part


@pytest.mark.parametrize(
    "oracle",
    [hn.oracles.Subsets(5, 2), hn.oracles.Submodular(4), hn.oracles.Paths([("a", "b")], "a", "b")],
    ids=lambda oracle: type(oracle).__name__,
)
def test_sizes_of_sets(oracle):
    sizes = b.sizes_of(oracle, [None], log_size=False)
    assert sizes["d"] == 1
    assert sizes["m"] == oracle.max_chosen <= sizes["n_actions"] == oracle.n_actions
    assert sizes["antichain"] == oracle.antichain


def test_at_least_as_many_elements_as_are_chosen():
    oracle = hn.oracles.Submodular(1)  # which declares two elements, so that its actions are sets
    assert (oracle.n_actions, oracle.max_chosen) == (1, 2)
    assert b.sizes_of(oracle)["n_actions"] == b.sizes_of(oracle)["m"] == 2


def test_a_known_complexity_is_passed_on():
    oracle = hn.oracles.AllPolicies(4, 2)
    G = b.laplace_complexity(oracle)
    assert b.sizes_of(oracle, complexity=G)["complexity"] is G
    assert "complexity" not in b.sizes_of(oracle)
    sizes = b.sizes_of(oracle, complexity=2.0, log_size=False)
    assert b.self_tuned(100, **sizes) == b.self_tuned(100, d=4, n_actions=2, complexity=2.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: b.sizes_of(hn.oracles.LinearPolicies(n_actions=2)), "sizes_of needs contexts="),
        (lambda: b.sizes_of(hn.oracles.AllPolicies(2, 2), []), "'contexts' parameter of sizes_of"),
        (lambda: b.sizes_of(hn.oracles.FunctionOracle(max), [1]), "FunctionOracle.*n_actions="),
        (lambda: b.sizes_of(hn.oracles.AllPolicies(2, 2), setting="open"), "Theorem 7"),
    ],
)
def test_sizes_that_are_not_known_are_refused(call, message):
    with pytest.raises(hn.ParameterError, match=message):
        call()
