"""Disjunctions and conjunctions against enumeration, by table and by branch and bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.oracle import Draw
from hannan.kernels import branching
from hannan.oracles import _formulas
from hannan.perturbation import seed_key
from tests import naive_formulas as naive

KINDS = ("Disjunctions", "Conjunctions")
# Table with projected noise, table that searches while contexts are few, contexts only.
WAYS = {"table": (20, 0), "few": (20, 128), "switching": (20, 5), "search": (0, 0)}
CONTRACT = {
    "Disjunctions": (hn.oracles.Disjunctions(4), range(16)),
    "Disjunctions, many": (hn.oracles.Disjunctions(40), [3, 7, 2**39, 2**39 + 8, 0, 12]),
    "Conjunctions": (hn.oracles.Conjunctions(4), np.eye(4, dtype=int)[1:]),
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Leaders found in one of the ways, whatever n."""
    variables, few = WAYS[request.param]
    monkeypatch.setattr(_formulas, "TABLE_VARIABLES", variables)
    monkeypatch.setattr(_formulas, "_FEW_CONTEXTS", few)
    return request.param


def make(kind, n):
    return getattr(hn.oracles, kind)(n)


def random_history(rng, n, rounds, integer=True):
    pool = rng.integers(2, size=(4, n))  # few rows, so that contexts come again
    rows = [pool[rng.integers(4)] if rng.random() < 0.5 else rng.integers(2, size=n)
            for _ in range(rounds)]  # fmt: skip
    losses = rng.integers(-2, 3, size=(rounds, 2)) if integer else rng.normal(size=(rounds, 2))
    return list(zip(rows, losses.astype(float), strict=True))


def total(oracle, history):
    objective = oracle.objective()
    for row, losses in history:
        objective.add(oracle.check_context(row), losses)
    return objective


def separator(kind, n):
    return getattr(hn.separators, kind.lower())(n)


@pytest.mark.parametrize("kind", KINDS)
def test_leader_is_the_smallest_best_formula(kind, way):
    rng = np.random.default_rng(0)
    for _ in range(120):
        n = int(rng.integers(1, 8))
        history = random_history(rng, n, int(rng.integers(0, 12)))
        values = naive.formula_values(kind, n, history)
        objective = total(make(kind, n), history)
        assert objective.leader().mask == np.argmin(values)
        assert objective.minima()[0] == values.min()


@pytest.mark.parametrize("kind", KINDS)
def test_leader_under_noise_is_the_best_perturbed_formula(kind, way):
    rng = np.random.default_rng(1)
    for trial in range(60):
        n = int(rng.integers(1, 8))
        oracle = make(kind, n)
        history = random_history(rng, n, int(rng.integers(0, 10)))
        if trial % 3:
            some = rng.permutation(2**n)[: rng.integers(1, 9)]
            X = [naive.row_of(int(mask), n) for mask in some]
        else:
            X = separator(kind, n)
        noise = oracle.noise(oracle.check_contexts(X), seed_key(trial), 0, 2**18)
        objective = total(oracle, history)
        extra = (rng.integers(2, size=n), rng.normal(size=2))
        for draw, scale in ((0, 0.5), (3, 3.0), (17, -1.0), (40, 20.0)):
            fakes = list(zip(X, scale * noise.unit(draw), strict=True))
            values = naive.formula_values(kind, n, history + fakes)
            # Formulas that agree on all contexts tie, and the smallest is taken.
            best = np.flatnonzero(values < values.min() + 1e-9)[0]
            assert objective.leaders(Draw(noise, draw, scale), 1)[0].mask == best
            assert objective.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(
                values.min(), abs=1e-4
            )
            context = oracle.check_context(extra[0])
            played = objective.action(context, Draw(noise, draw, scale), extra[1])
            values = naive.formula_values(kind, n, [*history, extra, *fakes])
            best = np.flatnonzero(values < values.min() + 1e-9)[0]
            assert played == oracle.plays(int(best), context)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_branch_and_bound_finds_the_smallest_best_set(data):
    n = data.draw(st.integers(1, 7))
    masks = data.draw(st.lists(st.integers(0, 2**n - 1), max_size=14))
    weights = data.draw(st.lists(st.integers(-3, 3), min_size=len(masks), max_size=len(masks)))
    linear = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), float)
    w = np.empty(n)
    constant, some, theirs = branching.split(
        np.array(masks, np.uint64), np.array(weights, float), w
    )
    guess = np.uint64(data.draw(st.integers(0, 2**n - 1)))
    mask, value, _ = branching.search(w + linear, some, theirs, guess)
    values = [
        sum(weight for y, weight in zip(masks, weights, strict=True) if S & y == 0)
        + sum(linear[i] for i in range(n) if S >> i & 1)
        for S in range(2**n)
    ]
    assert int(mask) == np.argmin(values)
    assert constant + value == min(values)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("n", [20, 40, 64])
def test_search_agrees_with_an_integer_program(n, density):
    from scipy.optimize import Bounds, LinearConstraint, milp

    rng = np.random.default_rng(n)
    C = 40
    rows = (rng.random((C, n)) < density).astype(float)
    rows[:, 0] = 1 - rows[:, 1:].max(axis=1)  # none is empty
    weights, w = rng.normal(size=C), rng.normal(size=n)
    # Variables: n for the set, C for missing. Penalties: missed >= 1 - sum; rewards: <= 1 - s_i.
    lhs, low = [], []
    for c in range(C):
        if weights[c] > 0:
            lhs.append(np.concatenate([rows[c], np.eye(C)[c]]))
            low.append(1.0)
        else:
            for i in np.flatnonzero(rows[c]):
                lhs.append(np.concatenate([-np.eye(n)[i], -np.eye(C)[c]]))
                low.append(-1.0)
    found = milp(
        np.concatenate([w, weights]),
        integrality=np.ones(n + C),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.array(lhs), lb=low),
        options={"mip_rel_gap": 0.0},
    )
    masks = np.array([sum(1 << i for i in range(n) if row[i]) for row in rows], np.uint64)
    linear = np.empty(n)
    constant, some, theirs = branching.split(masks, weights, linear)
    mask, value, _ = branching.search(linear + w, some, theirs, np.uint64(0))
    assert constant + value == pytest.approx(found.fun, abs=1e-6)
    missed = rows @ np.array([int(mask) >> i & 1 for i in range(n)]) == 0
    inside = np.array(naive.row_of(int(mask), n))
    assert weights[missed].sum() + w @ inside == pytest.approx(constant + value)


@pytest.mark.parametrize("kind", KINDS)
def test_search_and_table_agree_at_twenty_variables(kind, monkeypatch):
    rng = np.random.default_rng(5)
    history = random_history(rng, 20, 60, integer=False)
    X = rng.integers(2, size=(30, 20))
    found = []
    for variables, few in WAYS.values():
        monkeypatch.setattr(_formulas, "TABLE_VARIABLES", variables)
        monkeypatch.setattr(_formulas, "_FEW_CONTEXTS", few)
        oracle = make(kind, 20)
        objective = total(oracle, history)
        contexts, units = oracle.check_contexts(X), oracle.check_contexts(separator(kind, 20))
        masks = [objective.leader().mask]
        for where in (contexts, units):
            noise = oracle.noise(where, seed_key(0), 0, 2**24)
            masks += [policy.mask for policy in objective.leaders(Draw(noise, 0, 1.5), 4)]
        found.append(masks)
    assert all(masks == found[0] for masks in found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 3, 7])
def test_the_contract_is_kept(kind, n, way):
    oracle = make(kind, n)
    contexts = np.array([naive.row_of(mask, n) for mask in range(min(2**n, 10))])
    policies = [oracle.policy(S) for S in naive.subsets(n)]
    hn.checks.check_oracle(oracle, contexts, policies)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("setting", ["contexts", "separator", "open"])
@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_learners_play_with_them(kind, n, setting, learner):
    rng = np.random.default_rng(2)
    X = (rng.random((12, n)) < (0.2 if kind == "Disjunctions" else 0.8)).astype(int)
    oracle = make(kind, n)
    target = oracle.policy([0, 1])
    where = {
        "contexts": {"contexts": X},
        "separator": {"separator": separator(kind, n)},
        "open": {},
    }
    player = learner(oracle, seed=0, **where[setting])
    lost = 0.0
    for t in range(120):
        row = X[t % 12]
        losses = np.full(2, 1.0)
        losses[target(row)] = 0.0
        action = player.act(row)
        player.update(losses if learner is hn.ContextFTPL else losses[action])
        lost += losses[action]
    assert lost < 40
    assert player.best_policy()(X[0]) == target(X[0])
    player.certificate()


@pytest.mark.parametrize("kind", KINDS)
def test_a_hint_is_a_round_on_the_side(kind):
    oracle = make(kind, 6)
    X = [naive.row_of(mask, 6) for mask in range(0, 64, 7)]
    player = hn.ContextSemiBanditFTPL(oracle, contexts=X, predictor=hn.predictors.Mean(), seed=0)
    for t in range(60):
        row = X[t % len(X)]
        action = player.act(row)
        player.update(float(action != row[0]))
    assert player.certificate().loss < 40


def test_empty_formulas_are_constants():
    assert make("Disjunctions", 3).policy([])([1, 1, 1]) == 0
    assert make("Conjunctions", 3).policy([])([0, 0, 0]) == 1
    assert repr(make("Disjunctions", 3).policy([2, 0])) == "<policy x0 or x2>"
    assert repr(make("Conjunctions", 3).policy([])) == "<policy true>"
    assert make("Conjunctions", 3).policy([1, 2]).variables == (1, 2)


def test_contexts_come_in_many_forms():
    oracle = make("Disjunctions", 4)
    for row in ([1, 0, 1, 0], (True, False, True, False), np.array([1.0, 0.0, 1.0, 0.0]),
                np.array([1, 0, 1, 0], np.uint8), 5, np.int64(5)):  # fmt: skip
        assert oracle.check_context(row) == 5
    assert oracle.check_contexts(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])) == [1, 2]
    assert oracle.check_contexts([3, 7, 3]) == [3, 7]


@pytest.mark.parametrize(
    "bad",
    [[1, 0, 2, 0], [0.5, 0, 0, 0], [1, 0, 1], 16, -1, True, None, "abcd", [np.nan, 0, 0, 0],
     np.zeros((2, 4))],
)  # fmt: skip
def test_what_is_no_row_of_bits_is_refused(bad):
    with pytest.raises(hn.ContextError):
        make("Disjunctions", 4).check_context(bad)


@pytest.mark.parametrize("bad", [0, 65, 2.0, True, None])
def test_a_bad_number_of_variables_is_refused(bad):
    with pytest.raises(hn.ParameterError, match="'n' parameter of Disjunctions"):
        hn.oracles.Disjunctions(bad)


def test_a_bad_variable_is_refused():
    with pytest.raises(hn.ParameterError, match="variables"):
        hn.oracles.Disjunctions(3).policy([3])


@pytest.mark.parametrize("kind", KINDS)
def test_size_and_complexity_match_enumeration(kind):
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        X = rng.integers(2, size=(int(rng.integers(1, 7)), n))
        oracle = make(kind, n)
        contexts = oracle.check_contexts(X)
        rows = {tuple(oracle.policy(S)(x) for x in contexts) for S in naive.subsets(n)}
        assert np.log(len(rows)) <= oracle.log_size(contexts) + 1e-9
        assert oracle.separates(contexts) == (len(rows) == 2**n)
    units = oracle.check_contexts(separator(kind, n))
    assert oracle.log_size(units) == pytest.approx(n * np.log(2))
    assert oracle.complexity(units) == 0.75 * n
    assert hn.bounds.laplace_complexity(oracle, units).method == "closed form"


@pytest.mark.stat
def test_the_closed_form_of_the_complexity_is_right():
    oracle = make("Disjunctions", 8)
    units = oracle.check_contexts(separator("Disjunctions", 8))
    noise = oracle.noise(units, seed_key(0), 0, 2**20)
    minima = oracle.objective().minima(Draw(noise, 0, 1.0), 4000)
    error = minima.std() / np.sqrt(4000)
    assert abs(-minima.mean() - oracle.complexity(units)) < 4 * error


def test_nothing_grows_with_the_number_of_rounds():
    oracle = make("Disjunctions", 40)
    objective = oracle.objective()
    for t in range(500):
        objective.add(t % 7, np.array([1.0, 0.0]))
    assert len(objective._rows) == 7
