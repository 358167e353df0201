from fractions import Fraction

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.oracles import Stumps, Thresholds, Trees
from hannan.perturbation import seed_key
from tests import naive_cuts

KINDS = {
    "float": lambda i: i / 7,
    "int": lambda i: 3 * i - 5,
    "Fraction": lambda i: Fraction(i, 7) + Fraction(1, 10**40),
}

CONTRACT = {"Thresholds": (Thresholds(3), [0.5, -1.0, 2.0, 0.7])}


def instance(seed, kind):
    """Contexts in any order, and signed integer losses so small that ties are common."""
    rng = np.random.default_rng(seed)
    K, n = int(rng.integers(1, 4)), int(rng.integers(1, 9))
    contexts = [KINDS[kind](int(i)) for i in rng.permutation(20)[:n]]
    rounds = int(rng.integers(0, 14))
    losses = rng.integers(-2, 3, size=(rounds, K)).astype(float)
    return contexts, K, list(zip(rng.integers(n, size=rounds), losses, strict=True))


def all_thresholds(contexts, K):
    return naive_cuts.stumps([[x] for x in contexts], K, [sorted(contexts, reverse=True)[:-1]])


def total_of(oracle, contexts, history):
    total = oracle.objective()
    for i, losses in history:
        total.add(contexts[i], losses)
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_the_leader_is_the_first_best_threshold(kind):
    for seed in range(200):
        contexts, K, history = instance(seed, kind)
        total = total_of(Thresholds(K), contexts, history)
        sums = naive_cuts.sum_by_context(contexts, history, K)
        plays, value = naive_cuts.leader(all_thresholds(contexts, K), sums)
        assert total.minima()[0] == value
        assert [total.leader()(x) for x in contexts] == plays
        assert [total.action(x, WITHOUT_NOISE) for x in contexts] == plays


@pytest.mark.parametrize("kind", KINDS)
def test_leaders_under_noise_are_the_best_perturbed_thresholds(kind):
    for seed in range(60):
        contexts, K, history = instance(seed, kind)
        oracle = Thresholds(K)
        perturbed = contexts[: 1 + seed % len(contexts)]
        noise = oracle.noise(perturbed, seed_key(seed), 0, [1, 2**20][seed % 2])
        total = total_of(oracle, contexts, history)
        scale = [0.25, 1.0, 3.0, -1.0][seed % 4]
        values = total.minima(Draw(noise, 0, scale), 20)
        for draw in range(20):
            sums = naive_cuts.sum_by_context(contexts, history, K)
            sums[: len(perturbed)] += scale * noise.unit(draw)
            plays, value = naive_cuts.leader(all_thresholds(contexts, K), sums)
            assert values[draw] == pytest.approx(value, abs=1e-6)
            found = total.leaders(Draw(noise, draw, scale), 1)[0]
            assert [found(x) for x in contexts] == plays
            assert [total.action(x, Draw(noise, draw, scale)) for x in contexts] == plays


def test_points_may_come_after_the_noise_was_met():
    rng = np.random.default_rng(0)
    oracle = Thresholds(3)
    contexts = rng.permutation(30).tolist()
    noise = oracle.noise(contexts[:10], seed_key(0), 0, 2**20)
    total = oracle.objective()
    sums = np.zeros((30, 3))
    for i, x in enumerate(contexts):
        sums[i] = rng.integers(-2, 3, size=3)
        total.add(x, sums[i])
        perturbed = sums.copy()
        perturbed[:10] += 2.0 * noise.unit(i)
        _, value = naive_cuts.leader(all_thresholds(contexts, 3), perturbed)
        assert total.minima(Draw(noise, i, 2.0), 1)[0] == pytest.approx(value, abs=1e-6)


def test_it_plays_like_stumps_on_one_feature():
    for seed in range(50):
        contexts, K, history = instance(seed, "float")
        line, stumps = Thresholds(K), Stumps(K)
        rows = [np.array([x]) for x in contexts]
        totals = total_of(line, contexts, history), total_of(stumps, rows, history)
        noises = [o.noise(c, seed_key(1), 0, 2**20) for o, c in ((line, contexts), (stumps, rows))]
        for draw in range(5):
            a = totals[0].leaders(Draw(noises[0], draw, 2.0), 1)[0]
            b = totals[1].leaders(Draw(noises[1], draw, 2.0), 1)[0]
            assert [a(x) for x in contexts] == [b(row) for row in rows]


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("contexts", [[0.5], [1, 2, 3], [Fraction(1, 3), 0.7, 2, -1.5]])
def test_the_contract_holds(K, contexts):
    oracle = Thresholds(K)
    hn.checks.check_oracle(oracle, contexts=contexts)
    listed = len(np.unique(all_thresholds(contexts, K), axis=0))
    assert oracle.log_size(contexts) == pytest.approx(np.log(listed))


@pytest.mark.parametrize("contexts", [None, [x / 50 for x in range(50)]])
@pytest.mark.parametrize("bandit", [False, True])
def test_games_are_learned(contexts, bandit):
    rng = np.random.default_rng(0)
    make = hn.ContextSemiBanditFTPL if bandit else hn.ContextFTPL
    learner = make(Thresholds(), contexts, seed=0)
    lost = 0.0
    for _ in range(300):
        x = int(rng.integers(50)) / 50
        losses = np.array([0.9, 0.1] if x >= 0.3 else [0.1, 0.9])
        action = learner.act(x)
        learner.update(losses[action] if bandit else losses)
        lost += losses[action]
    assert lost / 300 < (0.3 if bandit else 0.15)
    best = learner.best_policy()
    assert best(0.9) == 1
    assert best(0.1) == 0


@pytest.mark.parametrize("oracle", [Thresholds(), Stumps(2), Trees(2), Trees(2, depth=3)])
def test_noise_on_no_contexts_is_no_noise(oracle):
    noise = oracle.noise([], seed_key(0), 0, 2**20)
    total = oracle.objective()
    total.add(oracle.check_context([0.5]), np.array([1.0, 0.0]))
    assert total.minima(Draw(noise, 0, 1.0), 3).tolist() == [0.0, 0.0, 0.0]
    assert total.action(oracle.check_context([0.5]), Draw(noise, 0, 1.0)) == 1


def test_no_finite_set_separates():
    with pytest.raises(hn.ParameterError, match="separat"):
        hn.ContextFTPL(Thresholds(), separator=[0.1, 0.5])


@pytest.mark.parametrize(
    ("given", "kept"),
    [(1, 1), (0.5, 0.5), ([0.5], 0.5), (np.array([2.0]), 2.0), (np.float32(0.5), 0.5),
     (np.int64(4), 4), (Fraction(1, 3), Fraction(1, 3)), ((Fraction(1, 3),), Fraction(1, 3))],
)  # fmt: skip
def test_contexts_are_kept_as_they_are(given, kept):
    found = Thresholds().check_context(given)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize("bad", [np.nan, np.inf, "x", None, [1.0, 2.0], 1j, [], [np.nan]])
def test_other_contexts_are_refused(bad):
    with pytest.raises(hn.ContextError, match="finite numbers"):
        Thresholds().check_context(bad)


def test_a_class_needs_an_action():
    with pytest.raises(hn.ParameterError, match="'n_actions' parameter of Thresholds"):
        Thresholds(0)
