import math

import numpy as np
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
        n_actions=4,
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


# The sharp form ---------------------------------------------------------------------------------

SIZES = {"d": 5, "n_actions": 3, "log_size": 2.0, "m": 2, "form": "sharp"}


@pytest.mark.parametrize(
    ("options", "slope"),
    [
        ({}, 4),  # κ = 1, v at most m
        ({"nonnegative": False}, 2 * 16),  # κ = m, losses in [-1, 1]: range 2m
        ({"nonnegative": False, "antichain": False}, 3 * 16),  # κ = K
        ({"nonnegative": False, "loss_range": (0, 1)}, 2 * 4),
        ({"setting": "separator"}, 5 * 2 * 4),  # κ = dm
        ({"setting": "separator", "antichain": False}, 5 * 3 * 4),
        ({"setting": "separator", "loss_range": (-1, 2)}, 5 * 2 * 36),
        ({"loss_bound": 0.5}, 1),
        ({"loss_range": (0.4, 0.5)}, 1),  # sets: the loss itself, not its range
        ({"loss_range": (0.4, 0.5), "m": 1}, 0.01),
    ],
)
def test_sharp_is_epsilon_kappa_v_squared_plus_complexity(options, slope):
    bound = complete_information(1000, **SIZES | options)
    m = options.get("m", 2)
    antichain = options.get("antichain", True)
    G = hn.bounds.complexity_bound(2.0, 5, m, 3, antichain)
    assert bound.value == pytest.approx(2 * math.sqrt(1000 * slope * G))
    assert bound.epsilon == pytest.approx(math.sqrt(G / (1000 * slope)))


def test_the_complexity_may_be_given_and_the_smallest_known_counts():
    alone = SIZES | {"log_size": None}
    four = complete_information(1000, complexity=4.0, **alone).value
    assert four == pytest.approx(2 * math.sqrt(4000 * 4.0))
    estimate = hn.bounds.Complexity(3.4, 0.2, "Monte Carlo")  # three standard errors: 4
    assert complete_information(1000, complexity=estimate, **alone).value == pytest.approx(four)
    both = complete_information(1000, complexity=1e6, **SIZES)
    assert both.value == complete_information(1000, **SIZES).value


def test_regret_of_the_learner_is_below_the_sharp_bound():
    oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, 3, size=(40, 6)))
    G = hn.bounds.laplace_complexity(oracle)
    sizes = {"d": 6, "n_actions": 3, "log_size": oracle.log_size(range(6))}
    bound = complete_information(500, complexity=G, form="sharp", **sizes)
    regrets = []
    for seed in range(10):
        learner = hn.ContextFTPL(oracle, epsilon=bound.epsilon, seed=seed)
        world = hn.environments.LeaderPunisher(oracle)
        regrets.append(hn.play(learner, world, horizon=500, seed=seed).regret())
    assert 0 < np.mean(regrets) < bound.value < 500
