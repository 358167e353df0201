"""Leaders against brute force, for every oracle that lists its policies as rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key
from tests import naive, problems

KINDS = problems.KINDS


@st.composite
def instances(draw):
    """Rows with duplicates, and signed integer losses so small that ties are common."""
    kind = draw(st.sampled_from(KINDS))
    d, K = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    if kind == "AllPolicies":
        rows = naive.all_policies(d, K)
        oracle = hn.oracles.AllPolicies(d, K)
    else:
        row = st.lists(st.integers(0, K - 1), min_size=d, max_size=d)
        rows = draw(st.lists(row, min_size=1, max_size=18))
        table = hn.oracles.FinitePolicies(rows, n_actions=K)
        function = hn.oracles.FunctionOracle(naive.solver(rows), n_actions=K)
        oracle = table if kind == "FinitePolicies" else function
    losses = st.lists(st.integers(-2, 2), min_size=K, max_size=K)
    history = draw(st.lists(st.tuples(st.integers(0, d - 1), losses), max_size=8))
    return oracle, rows, d, K, [(x, np.array(v, dtype=float)) for x, v in history]


@pytest.mark.slow
@given(instances())
@settings(max_examples=150)
def test_leader_is_the_first_best_policy(instance):
    oracle, rows, d, _, history = instance
    total = problems.total(oracle, history)
    best = rows[naive.leader(rows, history)]
    assert [total.leader()(x) for x in range(d)] == best
    assert total.minima()[0] == naive.best_value(rows, history)
    assert [total.action(x, WITHOUT_NOISE) for x in range(d)] == best


@given(instances(), st.integers(0, 50), st.sampled_from([0.25, 1.0, 3.0, -1.0]))
@settings(max_examples=150)
def test_leader_under_noise_is_the_best_perturbed_policy(instance, draw, scale):
    oracle, rows, d, _, history = instance
    noise = oracle.noise(range(d), seed_key(1), 0, 2**16)
    fakes = naive.fakes_of(range(d), noise.unit(draw), scale)
    total = problems.total(oracle, history)
    best = rows[naive.leader(rows, fakes + history)]
    found = total.leaders(Draw(noise, draw, scale), 1)[0]
    assert [found(x) for x in range(d)] == best
    assert [total.action(x, Draw(noise, draw, scale)) for x in range(d)] == best
    expected = naive.best_value(rows, fakes + history)
    assert total.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(expected, abs=1e-4)


@given(instances(), st.integers(0, 50), st.sampled_from([0.0, 0.5, 2.0]), st.data())
@settings(max_examples=100)
def test_settling_is_adding_and_leading_under_the_same_draw(instance, draw, scale, data):
    oracle, rows, d, K, history = instance
    context = data.draw(st.integers(0, d - 1))
    losses = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=K, max_size=K)), float)
    noise = oracle.noise(range(d), seed_key(1), 0, 2**16)
    fakes = naive.fakes_of(range(d), noise.unit(draw), scale)
    total = problems.total(oracle, history)
    settled = total.settle(context, losses, Draw(noise, draw, scale))
    later = [*history, (context, losses)]
    assert settled == rows[naive.leader(rows, fakes + later)][context]
    assert total.minima()[0] == naive.best_value(rows, later)


@given(instances(), st.integers(0, 30), st.sampled_from([0.0, 0.7, 4.0]))
@settings(max_examples=100)
def test_be_the_leader_holds_on_every_realisation(instance, draw, scale):
    # z(π_1) + Σ_t ℓ_t(π_{t+1}) ≤ min_π [z(π) + Σ_t ℓ_t(π)], π_{t+1} leading for z and ℓ_1..ℓ_t.
    oracle, _, d, _, history = instance
    noise = oracle.noise(range(d), seed_key(1), 0, 2**16)
    total = oracle.objective()
    foreseeing = float(total.minima(Draw(noise, draw, scale), 1)[0])
    for context, losses in history:
        before = total.action(context, Draw(noise, draw, scale))
        after = total.settle(context, losses, Draw(noise, draw, scale))
        assert losses[after] <= losses[before]
        foreseeing += losses[after]
    assert foreseeing <= total.minima(Draw(noise, draw, scale), 1)[0] + 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_ties_go_to_the_first_policy(kind):
    oracle, rows = problems.make(kind, d=2, K=3)
    empty = oracle.objective()
    assert [empty.leader()(x) for x in range(2)] == rows[0]
    same = problems.total(oracle, [(x, np.full(3, 0.5)) for x in range(2)])
    assert [same.leader()(x) for x in range(2)] == rows[0]


@pytest.mark.parametrize("kind", KINDS)
def test_noise_on_some_contexts_leaves_the_others_alone(kind):
    oracle, rows = problems.make(kind, d=4, K=3, seed=3)
    noise = oracle.noise([3, 1], seed_key(0), 0, 2**16)
    history = problems.rounds(4, 3, 20, low=-1)
    total = problems.total(oracle, history)
    for draw in range(40):
        fakes = naive.fakes_of([3, 1], noise.unit(draw), 2.0)
        best = rows[naive.leader(rows, fakes + history)]
        assert [total.leaders(Draw(noise, draw, 2.0), 1)[0](x) for x in range(4)] == best
        assert [total.action(x, Draw(noise, draw, 2.0)) for x in range(4)] == best
