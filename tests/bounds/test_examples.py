"""The examples of the paper, and what the theorems give for them."""

import math

import pytest

import hannan as hn
from hannan import bounds as b


def growth(function, small, large, **options):
    """The exponent in the number that changes."""
    (first,), (last,) = small.values(), large.values()
    ratio = function(**small, **options).value / function(**large, **options).value
    return math.log(ratio) / math.log(first / last)


def test_disjunctions_with_bandit_feedback_have_the_notes_values():
    options = {"n_variables": 6, "feedback": "bandit"}
    assert round(b.disjunctions(4000, **options).value) == 70945
    sharp = b.disjunctions(4000, form="sharp", **options)
    assert sharp.value == pytest.approx(1348, rel=1e-3)
    oracle = hn.oracles.Disjunctions(6)
    G = b.laplace_complexity(oracle, hn.separators.disjunctions(6)).value
    sizes = {"d": 6, "n_actions": 2, "complexity": G, "setting": "separator"}
    assert sharp == b.semi_bandit(4000, form="sharp", **sizes)


@pytest.mark.parametrize(("form", "exponent"), [("printed", 5 / 4), ("sharp", 1.0)])
def test_disjunctions_grow_as_stated_in_the_sharp_form_only(form, exponent):
    options = {"horizon": 10**6, "form": form}
    small, large = {"n_variables": 100}, {"n_variables": 10_000}
    assert growth(b.disjunctions, small, large, **options) == pytest.approx(exponent)
    ratio = b.disjunctions(10**6, n_variables=50, form="sharp").value / b.claimed_rate(
        "disjunctions", 10**6, n=50
    )
    assert ratio == pytest.approx(math.sqrt(3) / math.log(2))


@pytest.mark.parametrize(("form", "exponent"), [("printed", 5 / 4), ("sharp", 1.0)])
def test_submodular_grows_as_a_refined_analysis_says_in_the_sharp_form_only(form, exponent):
    options = {"horizon": 10**6, "form": form}
    small, large = {"n_elements": 100}, {"n_elements": 10_000}
    assert growth(b.submodular, small, large, **options) == pytest.approx(exponent)
    bound = b.submodular(10**6, n_elements=16, loss_bound=3.0, form="sharp").value
    assert bound == pytest.approx(2 * math.sqrt(2) * 16 * 3 * 1000)
    oracle = hn.oracles.Submodular(16)
    assert b.laplace_complexity(oracle).value == 8.0


@pytest.mark.parametrize(("form", "exponent"), [("printed", 5 / 4), ("sharp", 1.0)])
def test_linear_classifiers_grow_as_stated_in_the_sharp_form_only(form, exponent):
    options = {"horizon": 10**6, "tau": 1e-3, "form": form}
    found = growth(b.linear_classifiers, {"n_axes": 4}, {"n_axes": 40}, **options)
    assert found == pytest.approx(exponent, abs=0.01)


def test_linear_classifiers_have_the_sizes_of_their_oracle():
    oracle = hn.oracles.InterceptClassifiers(3, 0.02)
    points = hn.separators.intercept_classifiers(3, 0.02)
    sizes = {"d": len(points), "n_actions": 2, "log_size": oracle.log_size(points)}
    found = b.linear_classifiers(500, n_axes=3, tau=0.02, form="sharp")
    assert found == b.complete_information(500, setting="separator", form="sharp", **sizes)


def test_paths_take_the_longest_path_for_m_in_the_sharp_form():
    options = {"n_edges": 76, "longest_path": 10, "log_size": 8.0}
    sizes = {"d": 1, "n_actions": 76, "log_size": 8.0}
    assert b.shortest_path(900, **options) == b.complete_information(900, m=76, **sizes)
    assert b.shortest_path(900, form="sharp", **options) == b.complete_information(
        900, m=10, form="sharp", **sizes
    )
    assert b.shortest_path(900, feedback="semi-bandit", form="sharp", **options) == b.semi_bandit(
        900, m=10, form="sharp", **sizes
    )
    unknown = b.shortest_path(900, n_edges=76, longest_path=10, form="sharp")
    sizes["log_size"] = 10 * math.log(7.6 * math.e)
    assert unknown == b.complete_information(900, m=10, form="sharp", **sizes)


@pytest.mark.parametrize(
    ("result", "sizes", "theorem"),
    [
        ("experts", {"d": 9, "N": 50},
         lambda T: b.complete_information(T, d=9, n_actions=4, log_size=math.log(50))),
        ("experts, separator", {"d": 9, "K": 4, "N": 50},
         lambda T: b.complete_information(
             T, d=9, n_actions=4, log_size=math.log(50), setting="separator")),
        ("bandit", {"d": 9, "K": 4, "N": 50},
         lambda T: b.semi_bandit(T, d=9, n_actions=4, log_size=math.log(50))),
        ("bandit, separator", {"d": 9, "K": 4, "N": 50},
         lambda T: b.semi_bandit(
             T, d=9, n_actions=4, log_size=math.log(50), setting="separator")),
        ("submodular", {"K": 7, "H": 2.0},
         lambda T: b.submodular(T, n_elements=7, loss_bound=2.0)),
        ("disjunctions", {"n": 7}, lambda T: b.disjunctions(T, n_variables=7)),
        ("linear classifiers", {"n": 3, "tau": 0.1},
         lambda T: b.linear_classifiers(T, n_axes=3, tau=0.1)),
        ("natarajan", {"d": 40, "K": 3, "nu": 2},
         lambda T: b.natarajan(T, dimension=2, d=40, n_actions=3)),
        ("switching", {"k": 3, "N": 50, "m": 2},
         lambda T: b.switching(T, switches=3, n_actions=4, log_size=math.log(50), m=2)),
    ],
)  # fmt: skip
def test_every_claimed_rate_has_the_theorem_s_exponent_of_the_horizon(result, sizes, theorem):
    shorter, longer = 10**10, 10**12
    rate = [b.claimed_rate(result, T, **sizes) for T in (shorter, longer)]
    bound = [theorem(T).value for T in (shorter, longer)]
    assert bound[1] / bound[0] == pytest.approx(rate[1] / rate[0], rel=0.05)


def test_hardness():
    assert b.non_transductive(1001) == 500.5
