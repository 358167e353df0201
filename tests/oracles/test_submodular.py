import numpy as np
import pytest
from examples.worlds import ImageCut

import hannan as hn
from hannan.core import LossFunction
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.losses._terms import Terms
from hannan.oracles import submodular
from hannan.oracles.submodular import minimise_by_values
from hannan.perturbation import seed_key
from tests import naive_sets

SCALE = 1.5
CONTRACT = {"Submodular": hn.oracles.Submodular(4)}


def total_of(parts, n):
    """The objective after these functions."""
    total = hn.oracles.Submodular(n).objective()
    for f in parts:
        total.add(None, f)
    return total


def noise_for(n, seed):
    """Fake outcomes."""
    return hn.oracles.Submodular(n).noise([None], seed_key(seed), 0, 2**16)


@pytest.mark.parametrize("integer", [True, False], ids=["integers", "reals"])
@pytest.mark.parametrize("kinds", [naive_sets.GRAPHS, naive_sets.ALL], ids=["graphs", "all"])
def test_leaders_are_the_smallest_minimisers(kinds, integer):
    rng = np.random.default_rng(len(kinds))
    for trial in range(120):
        n = int(rng.integers(1, 8))
        parts = naive_sets.random_sum(kinds, n, rng, integer)
        total, noise = total_of(parts, n), noise_for(n, trial)
        values = sum((naive_sets.table(f, n) for f in parts), np.zeros(2**n))
        for scale in (0.0, SCALE):
            fakes = scale * noise.unit(3)[0]
            both = values + naive_sets.table(lambda chosen, z=fakes: z[chosen].sum(), n)
            expected, least = naive_sets.smallest_minimiser(both, n)
            assert (total.chosen(None, Draw(noise, 3, scale), 1)[0] == expected).all()
            assert total.minima(Draw(noise, 3, scale), 1)[0] == pytest.approx(least, abs=1e-9)
            # The general algorithm finds the same as flow and sorting do.
            assert (minimise_by_values(total.total, fakes) == expected).all()


@pytest.mark.parametrize("kind", naive_sets.ALL, ids=lambda kind: kind.__name__)
def test_each_kind_alone_has_the_right_leader(kind):
    rng = np.random.default_rng(11)
    for trial in range(40):
        n = int(rng.integers(1, 7))
        f = kind(n, rng, naive_sets.Numbers(rng, trial % 2 == 0))
        values = naive_sets.table(f, n)
        expected, least = naive_sets.smallest_minimiser(values, n)
        leader = total_of([f], n).leader()
        assert leader(None).tolist() == np.flatnonzero(expected).tolist()
        assert f(leader(None)) == pytest.approx(least, abs=1e-9)


def test_flow_and_values_agree_on_larger_sets():
    rng = np.random.default_rng(5)
    inner = 0
    for trial in range(40):
        n = int(rng.integers(15, 45))
        ends = rng.integers(n, size=(2, 4 * n))
        weights = rng.integers(-6, 7, n) if trial % 2 else 5 * rng.normal(size=n)
        f = hn.losses.Cut(*ends, rng.integers(0, 4, 4 * n), n, weights)
        if trial % 3 == 0:
            covers = [rng.integers(20, size=3) for _ in range(n)]
            bulk = hn.losses.ConcaveOfCardinality(-np.maximum(np.arange(n + 1) - n // 2, 0.0))
            f = f + hn.losses.Coverage(covers) + bulk
        total = total_of([f], n)
        by_flow = total.chosen(None, WITHOUT_NOISE, 1)[0]
        assert (by_flow == minimise_by_values(total.total, np.zeros(n))).all()
        inner += 0 < by_flow.sum() < n
    assert inner > 20


def test_cuts_take_the_fast_path(monkeypatch):
    def refuse(*args):
        raise AssertionError("values were asked for")

    monkeypatch.setattr(submodular, "minimise_by_values", refuse)
    rng = np.random.default_rng(6)
    parts = [kind(5, rng, naive_sets.Numbers(rng, False)) for kind in naive_sets.GRAPHS]
    total_of(parts, 5).leader()
    with pytest.raises(AssertionError, match="values"):
        total_of([hn.losses.ConcaveOfModular([1.0, 2.0])], 2).leader()


@pytest.mark.slow
def test_what_is_kept_of_cuts_does_not_grow():
    rng = np.random.default_rng(7)
    n = 12
    total = hn.oracles.Submodular(n).objective()

    def kept():
        terms = total.total
        return len(terms.capacities), len(terms.modular), len(terms.bends), len(terms.others)

    sizes = []
    expected = np.zeros(50)
    sets = [np.flatnonzero(rng.random(n) < 0.5) for _ in range(50)]
    for t in range(400):
        ends = rng.integers(n, size=(2, 20))
        f = hn.losses.Cut(*ends, rng.random(20), n, rng.normal(size=n))
        g = hn.losses.ConcaveOfCardinality(np.sqrt(np.arange(n + 1.0)))
        for loss in (f, g, rng.normal(size=n)):
            total.add(None, loss)
            values = [loss(A) if callable(loss) else loss[A].sum() for A in sets]
            expected += values
        if t >= 200:
            sizes.append(kept())
    assert set(sizes) == {(n * (n - 1), n, 0, 0)}
    masks = np.zeros((50, n), dtype=bool)
    for mask, A in zip(masks, sets, strict=True):
        mask[A] = True
    assert [total.total.value(mask) for mask in masks] == pytest.approx(expected.tolist())


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_contract_holds(n):
    hn.checks.check_oracle(hn.oracles.Submodular(n))


def test_vectors_and_linear_functions_are_the_same():
    rng = np.random.default_rng(8)
    vectors = rng.integers(-2, 3, size=(20, 6)).astype(np.float64)
    one = total_of(list(vectors), 6)
    other = total_of([hn.losses.Linear(v) for v in vectors], 6)
    noise = noise_for(6, 0)
    assert (
        one.chosen(None, Draw(noise, 0, 1.0), 20) == other.chosen(None, Draw(noise, 0, 1.0), 20)
    ).all()
    assert one.leader()(None).tolist() == np.flatnonzero(vectors.sum(axis=0) < 0).tolist()


def test_complexity_is_exact():
    oracle = hn.oracles.Submodular(7)
    noise = noise_for(7, 0)
    minima = oracle.objective().minima(Draw(noise, 0, 1.0), 4000)
    assert oracle.complexity([None]) == 3.5
    assert -minima.mean() == pytest.approx(3.5, abs=5 * minima.std() / np.sqrt(4000))


class Balanced(hn.Environment):
    """Cut functions that favour no set on average."""

    def __init__(self, n=12):
        self.n = n
        self.n_actions = n

    def rounds(self, horizon, rng):
        unit = 1.0 / 64
        for _ in range(horizon):
            ends = rng.integers(self.n, size=(2, self.n))
            weights = rng.choice([-2.0, 2.0], self.n) * unit
            loss = hn.losses.Cut(*ends, unit, self.n, weights, offset=0.375)
            yield hn.Round(None, loss)


@pytest.mark.slow
@pytest.mark.stat
def test_average_regret_falls_and_stays_under_the_bound():
    n, T, seeds = 12, 150, 6
    oracle = hn.oracles.Submodular(n)
    mean = {}
    for horizon in (T, 4 * T):
        bound = hn.bounds.complete_information(
            horizon,
            d=1,
            n_actions=n,
            log_size=oracle.log_size([None]),
            m=n,
            loss_bound=1.0 / n,
            nonnegative=False,
        ).value
        regrets = []
        for seed in range(seeds):
            learner = hn.ContextFTPL(oracle, seed=seed)
            trace = hn.play(learner, Balanced(n), horizon, seed=seed)
            regrets.append(trace.regret())
            certificate = learner.certificate()
            assert certificate.realised_regret == pytest.approx(regrets[-1], abs=1e-6)
            assert max(regrets) < bound
            assert regrets[-1] <= certificate.a_priori
        mean[horizon] = np.mean(regrets) / horizon
    assert mean[4 * T] < 0.75 * mean[T]


def test_a_learner_with_a_fixed_epsilon_plays_functions_too():
    pixels = np.zeros((3, 4), dtype=bool)
    pixels[1:, :2] = True
    world = ImageCut(pixels, seeds=6)
    for epsilon in ("theorem", "anytime", 0.5):
        learner = hn.ContextFTPL(hn.oracles.Submodular(12), epsilon=epsilon, horizon=150, seed=0)
        trace = hn.play(learner, world, 150, seed=0)
        assert trace.best_policy(None).tolist() == np.flatnonzero(pixels).tolist()


def test_semi_bandit_feedback_works_with_linear_losses():
    oracle = hn.oracles.Submodular(4)
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for _ in range(60):
        chosen = learner.act()
        learner.update(np.full(len(chosen), 0.5))
    assert learner.best_policy()(None).tolist() == []


def test_wrong_sizes_are_refused():
    learner = hn.ContextFTPL(hn.oracles.Submodular(3), seed=0, loss_range=None)
    learner.act()
    with pytest.raises(hn.LossError, match="has 4 elements, but the oracle has 3"):
        learner.update(hn.losses.Linear([1.0] * 4))
    with pytest.raises(hn.LossError, match="function of 4"):
        hn.oracles.Submodular(3).objective().add(None, hn.losses.Linear([1.0] * 4))
    for n in (0, 2.5, True):
        with pytest.raises(hn.ParameterError, match="'n'"):
            hn.oracles.Submodular(n)
    with pytest.raises(hn.ParameterError, match="'checks'"):
        hn.oracles.Submodular(3, checks=-1)
    with pytest.raises(hn.ContextError, match="no contexts"):
        hn.ContextFTPL(hn.oracles.Submodular(3), seed=0).act(1)


def square(chosen):
    """Supermodular: elements make each other dearer."""
    return len(chosen) ** 2 / 100.0


def sometimes_nan(chosen):
    """Not a number where three are chosen."""
    return np.nan if len(chosen) == 3 else 0.5


class Foreign(LossFunction):
    """A loss function from elsewhere."""

    def __init__(self, f, n_actions):
        self.f = f
        self.n_actions = n_actions

    def __call__(self, action):
        return self.f(action)

    def extremes(self):
        return 0.0, 1.0


@pytest.mark.parametrize("epsilon", ["adaptive", 0.5])
@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (hn.losses.Custom(square, 6, bounds=(0, 1)), r"not submodular.* A = \[.*B = \["),
        (hn.losses.Custom(square, 6), "not submodular|loss_range"),
        (0.5 * hn.losses.Custom(square, 6, bounds=(0, 1)), "not submodular"),
        (Foreign(square, 6), "not submodular"),
        (hn.losses.Custom(sometimes_nan, 6, bounds=(0, 1)), "finite"),
        (Foreign(sometimes_nan, 6), "finite"),
    ],
)
def test_a_refused_function_changes_nothing(loss, message, epsilon):
    good = 0.5 * hn.losses.ConcaveOfModular([0.1] * 6) + hn.losses.Linear([-0.05] * 6, offset=0.4)
    learner = hn.ContextFTPL(hn.oracles.Submodular(6), epsilon=epsilon, seed=0)
    twin = learner.clone()
    for t in range(8):
        played = [player.act().tolist() for player in (learner, twin)]
        assert played[0] == played[1]
        if t % 3 == 1:
            with pytest.raises(hn.LossError, match=message):
                learner.update(loss)
        learner.update(good)
        twin.update(good)
    assert learner.certificate() == twin.certificate()


def test_a_function_that_passes_the_checks_may_be_found_out_later():
    values = {(): 0.0, (0,): 1.0, (1,): -3.0, (0, 1): -1.0}
    total = hn.oracles.Submodular(2, checks=0).objective()
    total.add(None, hn.losses.Custom(lambda chosen: values[tuple(chosen.tolist())], 2))
    with pytest.raises(hn.LossError, match="not submodular"):
        total.leader()


def test_one_function_given_twice_is_tried_once():
    calls = []

    def f(chosen):
        calls.append(len(chosen))
        return float(len(chosen) > 0)

    oracle = hn.oracles.Submodular(6)
    total = oracle.objective()
    loss = hn.losses.Custom(f, 6)
    total.add(None, loss)
    tried = len(calls)
    total.add(None, loss)
    assert 0 < tried == len(calls)
    assert Terms.of(loss).others[id(loss)][1] == 1.0
