import numpy as np
import pytest
from scipy import integrate

import hannan as hn
from hannan.core.oracle import Draw, Trials
from hannan.oracles import AllPolicies
from hannan.perturbation import seed_key
from hannan.perturbation.laplace import mean_of_maximum
from tests import naive, problems

CONTRACT = {
    "AllPolicies": problems.ALL,
    "AllPolicies, no contexts": AllPolicies(1, 4),
    "AllPolicies, one action": AllPolicies(2, 1),
}


@pytest.mark.parametrize(("d", "K"), [(1, 1), (1, 2), (3, 2), (2, 4)])
def test_it_plays_like_the_list_of_all_maps(d, K):
    rows = naive.all_policies(d, K)
    listed = hn.oracles.FinitePolicies(rows, n_actions=K)
    whole = AllPolicies(d, K)
    history = problems.rounds(d, K, 30, low=-1)
    totals = [problems.total(oracle, history) for oracle in (whole, listed)]
    noises = [oracle.noise(range(d), seed_key(3), 0, 2**20) for oracle in (whole, listed)]
    assert (noises[0].unit(5) == noises[1].unit(5)).all()
    for draw in range(50):
        a = totals[0].leaders(Draw(noises[0], draw, 1.5), 1)[0]
        b = totals[1].leaders(Draw(noises[1], draw, 1.5), 1)[0]
        assert [a(x) for x in range(d)] == [b(x) for x in range(d)]


@pytest.mark.parametrize("K", range(1, 9))
def test_mean_of_maximum_is_the_integral_of_the_tail(K):
    # E Z = ∫_0^∞ 1 - F(z) dz - ∫_{-∞}^0 F(z) dz for the distribution F^K of the maximum.
    above, _ = integrate.quad(lambda z: 1 - (1 - 0.5 * np.exp(-z)) ** K, 0, np.inf)
    below, _ = integrate.quad(lambda z: (0.5 * np.exp(-z)) ** K, 0, np.inf)
    assert mean_of_maximum(K) == pytest.approx(above - below, abs=1e-7)


def test_a_round_does_not_touch_other_contexts():
    total = AllPolicies(1000, 2).objective()
    total.add(7, np.array([1.0, 0.0]))
    leader = total.leader()
    assert [leader(x) for x in (6, 7, 8)] == [0, 1, 0]


def test_only_all_contexts_separate():
    assert AllPolicies(3, 2).separates([2, 0, 1])
    assert not AllPolicies(3, 2).separates([0, 1])
    assert AllPolicies(3, 1).separates([0])


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", True, None])
@pytest.mark.parametrize("name", ["n_contexts", "n_actions"])
def test_sizes_that_are_no_positive_integers_are_refused(name, bad):
    sizes = {"n_contexts": 2, "n_actions": 2, name: bad}
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of AllPolicies"):
        AllPolicies(**sizes)


@pytest.mark.parametrize("context", [-1, 3, None, 1.0, "1"])
def test_a_context_outside_the_table_is_refused(context):
    with pytest.raises(hn.ContextError, match="0 to 2"):
        AllPolicies(3, 2).check_context(context)


def test_without_contexts_none_is_the_only_one():
    assert AllPolicies(1, 2).check_context(None) == 0


def test_a_lesson_is_computed_from_the_law_of_a_context_with_noise():
    oracle = AllPolicies(3, 4)
    total = problems.total(oracle, problems.rounds(3, 4, 20))
    draw = Draw(oracle.noise([0, 2], seed_key(4), 0, 2**16), 0, 1.5)
    trials = Trials(40, 1.5, np.uint64(9), exact=True)
    for plus in (None, np.array([0.0, 1.0, 0.5, 0.0])):
        found = total.lesson(2, 1, 0.7, draw, trials, plus)
        assert found.distribution.tolist() == total.distribution(2, draw, plus).tolist()
    assert total.lesson(1, 1, 0.7, draw, trials) is None  # it has no noise
    assert total.lesson(2, 1, 0.7, draw._replace(scale=0.0), trials) is None
    assert total.lesson(2, 1, 0.7, draw, trials._replace(exact=False)) is None
