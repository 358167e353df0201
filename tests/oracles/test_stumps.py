import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.oracles import Stumps, Trees
from hannan.oracles import _histograms as histograms
from hannan.perturbation import seed_key
from tests import naive_cuts, problems

CLASSES = {"stumps": (Stumps, naive_cuts.stumps), "trees": (Trees, naive_cuts.trees)}
CONTRACT = {"Stumps": (Stumps(3), problems.ROWS)}


def instance(seed, small=False):
    """Few values, so that rows and cuts coincide, and signed integer losses, so that ties occur."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 4))
    n, F = int(rng.integers(1, 13)), int(rng.integers(1, 3 if small or seed % 2 else 20))
    rows = rng.integers(0, 3, size=(n, F)).astype(float) / 3
    rows = np.unique(rows, axis=0)
    rounds = int(rng.integers(0, 30))
    losses = rng.integers(-2, 3, size=(rounds, K)).astype(float)
    return rows, K, list(zip(rng.integers(len(rows), size=rounds), losses, strict=True))


def total_of(oracle, rows, history):
    total = oracle.objective()
    for i, losses in history:
        total.add(rows[i], losses)
    return total


@pytest.mark.parametrize("kind", CLASSES)
def test_the_leader_is_the_first_best_of_all_policies(kind):
    make, enumerate_ = CLASSES[kind]
    for seed in range(300):
        rows, K, history = instance(seed, small=kind == "trees")
        total = total_of(make(K), rows, history)
        sums = naive_cuts.sum_by_context(rows, history, K)
        plays, value = naive_cuts.leader(enumerate_(rows, K), sums)
        assert total.minima()[0] == value
        assert [total.leader()(row) for row in rows] == plays
        assert [total.action(row, WITHOUT_NOISE) for row in rows] == plays


@pytest.mark.parametrize("kind", CLASSES)
def test_leaders_under_noise_are_the_best_perturbed_policies(kind):
    make, enumerate_ = CLASSES[kind]
    for seed in range(100):
        rows, K, history = instance(seed, small=kind == "trees")
        oracle = make(K)
        noise = oracle.noise(list(rows), seed_key(seed), 0, 2**20)
        total = total_of(oracle, rows, history)
        listed = enumerate_(rows, K)
        sums = naive_cuts.sum_by_context(rows, history, K)
        scale = [0.25, 1.0, 3.0, -1.0][seed % 4]
        values = total.minima(Draw(noise, 0, scale), 20)
        leaders = total.leaders(Draw(noise, 0, scale), 20)
        for draw in range(20):
            plays, value = naive_cuts.leader(listed, sums + scale * noise.unit(draw))
            assert values[draw] == pytest.approx(value, abs=1e-4)
            assert [leaders[draw](row) for row in rows] == plays
            assert total.action(rows[0], Draw(noise, draw, scale)) == plays[0]


@pytest.mark.parametrize("kind", CLASSES)
def test_noise_may_be_on_other_contexts_than_losses(kind):
    make, enumerate_ = CLASSES[kind]
    for seed in range(60):
        rows, K, history = instance(seed, small=kind == "trees")
        oracle = make(K, edges=[[1 / 3, 2 / 3]] * rows.shape[1])
        perturbed = np.flatnonzero(np.random.default_rng(seed).random(len(rows)) < 0.5)
        if not len(perturbed):
            continue
        noise = oracle.noise([rows[i] for i in perturbed], seed_key(0), 0, 2**20)
        total = total_of(oracle, rows, history)
        listed = enumerate_(rows, K, [[2 / 3, 1 / 3]] * rows.shape[1])
        for draw in range(5):
            sums = naive_cuts.sum_by_context(rows, history, K)
            sums[perturbed] += 2.0 * noise.unit(draw)
            _, value = naive_cuts.leader(listed, sums)
            assert total.minima(Draw(noise, draw, 2.0), 1)[0] == pytest.approx(value, abs=1e-4)
            # Policies may be tied that differ only where there is no noise.
            found = total.leaders(Draw(noise, draw, 2.0), 1)[0]
            plays = np.array([[found(row) for row in rows]])
            assert naive_cuts.values(plays, sums)[0] == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("kind", CLASSES)
def test_given_edges_are_the_only_cuts(kind):
    make, enumerate_ = CLASSES[kind]
    rng = np.random.default_rng(5)
    edges = [[-0.5, 0.1, 0.7], [], [0.0]]
    oracle = make(3, edges=edges)
    for _ in range(50):
        rows = rng.normal(size=(7, 3))
        history = [(i, rng.integers(-2, 3, size=3).astype(float)) for i in range(7)]
        total = total_of(oracle, rows, history)
        listed = enumerate_(rows, 3, [own[::-1] for own in edges])
        plays, value = naive_cuts.leader(listed, np.array([v for _, v in history]))
        assert total.minima()[0] == value
        assert [total.leader()(row) for row in rows] == plays


@pytest.mark.parametrize("memory", [1, 5000, 2**22])
def test_more_actions_and_features_than_lanes(memory):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, size=(30, 35)).astype(float)
    oracle = Stumps(17)
    noise = oracle.noise(list(rows), seed_key(3), 0, memory)
    history = [(i, rng.normal(size=17)) for i in range(30)]
    total = total_of(oracle, rows, history)
    listed = naive_cuts.stumps(rows, 17)
    sums = np.array([v for _, v in history])
    for draw in (0, 20, 3):
        plays, value = naive_cuts.leader(listed, sums + noise.unit(draw))
        assert total.minima(Draw(noise, draw, 1.0), 1)[0] == pytest.approx(value, abs=1e-4)
        assert [total.leaders(Draw(noise, draw, 1.0), 1)[0](row) for row in rows] == plays


@pytest.mark.parametrize(
    "oracle",
    [
        Stumps(3),
        Stumps(1),
        Stumps(2, edges=[[0.5], [], [0.2, 0.9]]),
        Trees(3),
        Trees(2, depth=1),
        Trees(2, depth=3),
        Trees(2, edges=[[0.5], [], [0.2, 0.9]]),
        Trees(3, depth=3, edges=[[0.5], [], [0.2, 0.9]]),
    ],
    ids=repr,
)
def test_the_contract_holds(oracle):
    contexts = np.random.default_rng(0).random((12, 3)).round(1)
    hn.checks.check_oracle(oracle, contexts=contexts)
    hn.checks.check_oracle(oracle, contexts=contexts[:1])


def play(learner, rows, labels, bandit):
    lost = 0.0
    for row, label in zip(rows, labels, strict=True):
        action = learner.act(row)
        losses = np.ones(3)
        losses[label] = 0.0
        learner.update(losses[action] if bandit else losses)
        lost += losses[action]
    return lost / len(rows)


@pytest.mark.parametrize("make", [Stumps, Trees, lambda K: Trees(K, depth=3)])
@pytest.mark.parametrize("known", ["contexts", "pool", "nothing"])
def test_games_are_learned(make, known):
    rng = np.random.default_rng(2)
    pool = rng.random((40, 2))
    rows = pool[rng.integers(40, size=200)]
    labels = np.where(rows[:, 1] > 0.6, 2, 0)
    given = {"contexts": {"contexts": pool, "pool": hn.Pool(pool), "nothing": None}[known]}
    assert play(hn.ContextFTPL(make(3), seed=0, **given), rows, labels, False) < 0.15
    bandit = hn.ContextSemiBanditFTPL(make(3), seed=0, max_resamples=20, **given)
    assert play(bandit, rows[:100], labels[:100], True) < 0.6
    assert bandit.propensities(rows[0], draws=20).probabilities.sum() == pytest.approx(1.0)
    hint = hn.ContextSemiBanditFTPL(
        make(3), predictor=hn.predictors.Mean(), seed=0, max_resamples=10, **given
    )
    play(hint, rows[:30], labels[:30], True)


@pytest.mark.parametrize("make", [Stumps, Trees])
def test_a_separator_lets_every_context_arrive(make):
    edges = [[0.3, 0.6], [0.5]]
    separator = [[0.0, 0.0], [0.4, 0.0], [0.9, 0.0], [0.0, 0.9]]
    oracle = make(3, edges=edges)
    assert oracle.separates(oracle.check_contexts(separator)) is not False
    assert oracle.separates(oracle.check_contexts(separator[1:3])) is False
    rng = np.random.default_rng(3)
    rows = rng.random((150, 2))
    labels = np.where(rows[:, 0] >= 0.6, 1, 0)
    learner = hn.ContextFTPL(oracle, separator=separator, seed=0)
    assert play(learner, rows, labels, False) < 0.2
    with pytest.raises(hn.ParameterError, match="separat"):
        hn.ContextFTPL(oracle, separator=separator[1:3])


def test_few_values_give_all_cuts_and_many_give_n_bins():
    few = Stumps(2, n_bins=4).noise([np.array([v, 0.0]) for v in (3.0, 1.0, 2.0, 7.0)], 0, 0, 1)
    assert few.grid.n_cuts.tolist() == [3, 0]
    assert few.grid.edges[0].tolist() == [7.0, 3.0, 2.0]
    many = Stumps(2, n_bins=4).noise([np.array([float(v)]) for v in range(100)], 0, 0, 1)
    assert many.grid.edges[0].tolist() == [75.0, 50.0, 25.0]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_leader_on_bins_is_the_best_of_the_binned_class(kind):
    make, enumerate_ = CLASSES[kind]
    rng = np.random.default_rng(8)
    for seed in range(20):
        rows = rng.normal(size=(40, 2))
        oracle = make(2, n_bins=4)
        noise = oracle.noise(list(rows), seed_key(seed), 0, 2**20)
        history = [(int(i), rng.normal(size=2)) for i in rng.integers(40, size=60)]
        total = total_of(oracle, rows, history)
        listed = enumerate_(rows, 2, noise.grid.edges.tolist())
        sums = naive_cuts.sum_by_context(rows, history, 2) + noise.unit(0)
        plays, value = naive_cuts.leader(listed, sums)
        assert total.minima(Draw(noise, 0, 1.0), 1)[0] == pytest.approx(value, abs=1e-4)
        assert [total.leaders(Draw(noise, 0, 1.0), 1)[0](row) for row in rows] == plays


def test_cuts_follow_the_noise_until_there_are_too_many_contexts(monkeypatch):
    monkeypatch.setattr(histograms, "_MOST_ROWS", 20)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, size=(100, 3)) + rng.random((100, 3)).round(1)
    oracle = Stumps(2, n_bins=64)
    total = oracle.objective()
    first = oracle.noise(list(rows[:4]), seed_key(0), 0, 2**20)
    second = oracle.noise(list(rows[:16]), seed_key(0), 0, 2**20)
    sums = np.zeros((100, 2))
    for i, row in enumerate(rows):
        losses = rng.integers(-2, 3, size=2).astype(float)
        sums[i] = losses
        total.add(row, losses)
        noise = first if i < 8 else second
        edges = noise.grid.edges.tolist()
        listed = naive_cuts.stumps(rows[: i + 1], 2, edges)
        perturbed = sums.copy()
        perturbed[: len(noise.contexts)] += noise.unit(i)
        if i + 1 >= len(noise.contexts):
            _, value = naive_cuts.leader(listed, perturbed[: i + 1])
            assert total.minima(Draw(noise, i, 1.0), 1)[0] == pytest.approx(value, abs=1e-4)
        total.action(row, Draw(noise, i, 1.0))
    assert total._rows is None
    other = oracle.noise(list(rows[50:60]), seed_key(1), 0, 2**20)
    perturbed = sums.copy()
    perturbed[50:60] += other.unit(0)
    _, value = naive_cuts.leader(naive_cuts.stumps(rows, 2, edges), perturbed)
    assert total.minima(Draw(other, 0, 1.0), 1)[0] == pytest.approx(value, abs=1e-4)


def test_without_noise_cuts_stay_where_they_were_once_there_are_too_many_contexts(monkeypatch):
    monkeypatch.setattr(histograms, "_MOST_ROWS", 10)
    rng = np.random.default_rng(0)
    total = Stumps(2, n_bins=64).objective()
    rows = rng.random((30, 2))
    sums = rng.normal(size=(30, 2))
    for row, losses in zip(rows, sums, strict=True):
        total.add(row, losses)
    edges = naive_cuts.edges_of(rows[:11])
    _, value = naive_cuts.leader(naive_cuts.stumps(rows, 2, edges), sums)
    assert total.minima()[0] == pytest.approx(value)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_size_bounds_the_number_of_policies_that_differ(K):
    for seed in range(40):
        rows, _, _ = instance(seed, small=True)
        contexts = list(rows)
        stumps = len(np.unique(naive_cuts.stumps(rows, K), axis=0))
        assert Stumps(K).log_size(contexts) == pytest.approx(np.log(stumps))
        trees = len(np.unique(naive_cuts.trees(rows, K), axis=0))
        assert Trees(K).log_size(contexts) >= np.log(trees) - 1e-9


def test_a_total_with_one_more_round_follows_the_cuts_of_the_noise():
    rows, K, history = instance(4)
    oracle = Stumps(K)
    total = total_of(oracle, rows, history)
    noise = oracle.noise(list(rows), seed_key(0), 0, 2**20)
    total.action(rows[0], Draw(noise, 0, 1.0))
    other = oracle.noise(list(rows[:2]), seed_key(0), 0, 2**20)
    twin = total.copy()
    twin.add(rows[0], np.ones(K))
    for drawn in (noise, other, noise):
        draw = Draw(drawn, 3, 1.0)
        after = total.chosen(rows[0], draw, 40, np.ones(K))
        assert np.array_equal(after, twin.chosen(rows[0], draw, 40))


@pytest.mark.parametrize("make", [Stumps, Trees, lambda K: Trees(K, depth=3)])
def test_a_row_of_another_length_is_refused_and_changes_nothing(make):
    total = make(2).objective()
    total.add(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    before = total.minima()
    with pytest.raises(hn.ContextError, match="2 features"):
        total.add(np.array([1.0]), np.array([0.0, 5.0]))
    assert total.minima() == before
    with pytest.raises(hn.ContextError, match="2 features"):
        make(2).noise([np.zeros(2), np.zeros(3)], seed_key(0), 0, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_actions": 0}, "'n_actions' parameter of Stumps"),
        ({"n_bins": 1}, "'n_bins' parameter of Stumps"),
        ({"edges": []}, "'edges' parameter of Stumps"),
        ({"edges": [["a"]]}, "'edges' parameter of Stumps"),
        ({"edges": [[2.0, 1.0]]}, "strictly rising"),
        ({"edges": [[np.nan]]}, "finite"),
        ({"edges": 3}, "'edges' parameter of Stumps"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(hn.ParameterError, match=message):
        Stumps(**{"n_actions": 2, **changes})


@pytest.mark.parametrize("bad", [[0.0], [[0.0, 1.0, 2.0]], "row", [0.0, np.nan, 1.0]])
def test_bad_contexts_are_refused(bad):
    with pytest.raises(hn.ContextError):
        Stumps(2, edges=[[0.0], [1.0], [2.0]]).check_context(bad)
