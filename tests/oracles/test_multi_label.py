import itertools
import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.oracles import AllPolicies, FinitePolicies, FunctionOracle, MultiLabel
from hannan.perturbation import seed_key
from tests import naive, problems

CONTRACT = {
    "MultiLabel": MultiLabel(FinitePolicies(problems.TABLE % 2), 3),
    "MultiLabel, all": MultiLabel(AllPolicies(2, 2), 2),
}


def instance(seed):
    """A base, its rows of yes and no, the number of labels, and signed integer rounds."""
    rng = np.random.default_rng(seed)
    d, labels = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    if seed % 3 == 0:
        base, rows = AllPolicies(d, 2), naive.all_policies(d, 2)
    else:
        rows = rng.integers(0, 2, size=(rng.integers(1, 6), d)).tolist()
        base = FinitePolicies(rows, n_actions=2)
        if seed % 3 == 1:
            base = FunctionOracle(naive.solver(rows), n_actions=2)
    losses = rng.integers(-2, 3, size=(rng.integers(0, 12), labels)).astype(float)
    return base, rows, d, labels, [(int(rng.integers(d)), row) for row in losses]


def brute_force(rows, d, n_labels, rounds):
    """The first best tuple of rows among all of them: its labels on each context, its value."""
    best, plays = math.inf, None
    for chosen in itertools.product(rows, repeat=n_labels):
        value = sum(loss for x, row in rounds for loss, b in zip(row, chosen, strict=True) if b[x])
        if value < best - 1e-12:
            best, plays = value, [[j for j, b in enumerate(chosen) if b[x]] for x in range(d)]
    return plays, best


@pytest.mark.parametrize("block", range(10))
def test_leaders_are_the_best_of_all_tuples(block):
    for seed in range(30 * block, 30 * block + 30):
        base, rows, d, n_labels, rounds = instance(seed)
        oracle = MultiLabel(base, n_labels)
        total = problems.total(oracle, rounds)
        plays, best = brute_force(rows, d, n_labels, rounds)
        assert [total.leader()(x).tolist() for x in range(d)] == plays
        assert total.minima()[0] == best
        noisy = list(range(d))[seed % d :]
        noise = oracle.noise(noisy, seed_key(seed), 0, 2**16)
        for draw, scale in ((0, 1.0), (5, -2.5)):
            fakes = naive.fakes_of(noisy, noise.unit(draw), scale)
            plays, best = brute_force(rows, d, n_labels, fakes + rounds)
            found = total.leaders(Draw(noise, draw, scale), 1)[0]
            assert [found(x).tolist() for x in range(d)] == plays
            assert [total.action(x, Draw(noise, draw, scale)).tolist() for x in range(d)] == plays
            assert total.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_the_table_plays_like_the_list_of_all_maps(n_labels):
    listed = MultiLabel(FinitePolicies(naive.all_policies(3, 2), n_actions=2), n_labels)
    whole = MultiLabel(AllPolicies(3, 2), n_labels)
    rounds = problems.rounds(3, n_labels, 20, low=-1)
    totals = [problems.total(oracle, rounds) for oracle in (whole, listed)]
    noises = [oracle.noise(range(3), seed_key(1), 0, 2**16) for oracle in (whole, listed)]
    assert (noises[0].unit(3) == noises[1].unit(3)).all()
    for x in range(3):
        chosen = [
            total.chosen(x, Draw(noise, 10, 1.5), 50)
            for total, noise in zip(totals, noises, strict=True)
        ]
        assert (chosen[0] == chosen[1]).all()


@pytest.mark.parametrize(
    ("base", "contexts"),
    [
        (AllPolicies(3, 2), None),
        (AllPolicies(1, 2), None),
        (FinitePolicies([[0, 1], [1, 0], [1, 1], [1, 1]]), None),
        (FunctionOracle(naive.solver([[0, 1], [1, 1]]), n_actions=2), [0, 1]),
        (hn.oracles.Thresholds(2), [0.1, 0.4, 0.9]),
        (hn.oracles.Stumps(2), [np.array(x) for x in ([0.0, 1.0], [1.0, 1.0], [2.0, 0.0])]),
        (hn.oracles.LinearPolicies(2), [np.array(x) for x in ([0.0, 1.0], [1.0, 1.0])]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, hn.Oracle) else "",
)
def test_it_keeps_the_contract(base, contexts):
    oracle = MultiLabel(base, 3)
    assert oracle.exact == base.exact
    assert oracle.takes_new_contexts == base.takes_new_contexts
    hn.checks.check_oracle(oracle, contexts)


def test_thresholds_for_each_label_are_the_best_ones():
    grid = [0.0, 0.25, 0.5, 0.75]
    rows = [list(r) for r in {tuple(int(x >= t) for x in grid) for t in (*grid, 1.0)}]
    rows += [[1 - b for b in row] for row in rows]
    oracle = MultiLabel(hn.oracles.Thresholds(2), 2)
    for seed in range(40):
        rounds = problems.rounds(4, 2, 10, seed=seed, low=-2, high=2)
        total = problems.total(oracle, [(grid[x], losses) for x, losses in rounds])
        noise = oracle.noise(grid, seed_key(seed), 0, 2**16)
        for scale in (0.0, 2.0):
            fakes = naive.fakes_of(range(4), noise.unit(1), scale)
            _, best = brute_force(rows, 4, 2, fakes + rounds)
            assert total.minima(Draw(noise, 1, scale), 1)[0] == pytest.approx(best, abs=1e-5)


def test_what_it_takes_from_its_base():
    oracle = MultiLabel(FinitePolicies([[0, 1], [1, 1]]), 5)
    assert (oracle.n_actions, oracle.max_chosen, oracle.antichain) == (5, 5, False)
    assert oracle.log_size([0, 1]) == pytest.approx(5 * math.log(2))
    assert oracle.separates([0]) is True
    assert oracle.separates([1]) is False


def test_the_complexity_of_all_subsets_is_half_a_label():
    oracle = MultiLabel(AllPolicies(2, 2), 3)
    assert oracle.complexity([0, 1]) == 3.0
    listed = MultiLabel(FinitePolicies(naive.all_policies(2, 2), n_actions=2), 3)
    estimate = hn.bounds.laplace_complexity(listed, pairs=1000)
    assert abs(estimate.value - 3.0) < 4 * estimate.standard_error


def test_the_law_of_each_label_is_exact_for_all_policies():
    oracle = MultiLabel(AllPolicies(2, 2), 3)
    total = problems.total(oracle, [(1, np.array([-1.0, 0.0, 2.0]))])
    noise = oracle.noise([1], seed_key(0), 0, 2**16)
    distribution = total.distribution(1, Draw(noise, 0, 2.0))
    assert (
        np.abs(total.chosen(1, Draw(noise, 0, 2.0), 20_000).mean(axis=0) - distribution).max()
        < 0.015
    )
    assert total.distribution(0, Draw(noise, 0, 2.0)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("setting", ["contexts", "separator"])
@pytest.mark.parametrize("base", [AllPolicies(3, 2), FinitePolicies([[0, 1, 1], [1, 0, 1]])])
def test_learners_play_it(base, setting):
    oracle = MultiLabel(base, 3)
    rng = np.random.default_rng(0)
    good = np.array([oracle.base.objective().leader()(x) for x in range(3)])
    contexts = rng.integers(3, size=300)
    means = np.where(good[contexts] == 0, -0.5, 0.5)[:, None] * np.array([1.0, -1.0, 1.0])
    losses = np.clip(means + rng.uniform(-0.5, 0.5, size=(300, 3)), -1.0, 1.0)
    world = hn.environments.FromArrays(contexts, losses)
    learner = hn.ContextFTPL(oracle, seed=0, loss_range=(-1.0, 1.0), **{setting: range(3)})
    trace = hn.play(learner, world)
    best = trace.losses.sum() - trace.regret()
    assert trace.losses.sum() < 0.7 * best < 0.0
    assert learner.certificate().realised_regret == pytest.approx(trace.regret())
    bandit = hn.ContextSemiBanditFTPL(oracle, seed=0, epsilon=0.5, **{setting: range(3)})
    semi = hn.play(bandit, hn.environments.FromArrays(contexts, np.abs(losses)))
    assert {len(action) for action in semi.actions} > {0}


@pytest.mark.parametrize("base", [hn.oracles.Stumps(2), hn.oracles.LinearPolicies(2)])
def test_it_works_in_an_open_world(base):
    rng = np.random.default_rng(0)
    learner = hn.ContextFTPL(MultiLabel(base, 2), seed=0, loss_range=(-1.0, 1.0))
    suffered = 0.0
    for _ in range(40):
        x = rng.normal(size=2).round(1)
        losses = np.array([np.sign(x[0] - 0.05), -np.sign(x[1] - 0.05)])
        suffered += losses[learner.act(x)].sum()
        learner.update(losses)
    assert suffered < -15.0
    bandit = hn.ContextSemiBanditFTPL(MultiLabel(base, 2), seed=0)
    for _ in range(5):
        action = bandit.act(rng.normal(size=2))
        bandit.update(np.full(len(action), 0.5))


def test_a_solver_that_fails_leaves_the_totals_as_they_were():
    fails = []

    def solve(contexts, losses):
        if fails and len(contexts) > 1:
            raise RuntimeError("no licence today")
        return naive.solver([[0, 1], [1, 0]])(contexts, losses)

    oracle = MultiLabel(FunctionOracle(solve, n_actions=2), 2)
    total = problems.total(oracle, [(0, np.array([-1.0, 1.0]))])
    before = [total.leader()(x).tolist() for x in (0, 1)]
    fails.append(True)
    with pytest.raises(RuntimeError):
        total.settle(1, np.array([-5.0, 5.0]), WITHOUT_NOISE)
    assert [total.leader()(x).tolist() for x in (0, 1)] == before


def test_a_base_that_does_not_say_yes_or_no_is_refused():
    with pytest.raises(hn.ParameterError, match="two actions"):
        MultiLabel(AllPolicies(2, 3), 2)
    with pytest.raises(hn.ParameterError, match="two actions"):
        MultiLabel(FinitePolicies([[[0, 1]]]), 2)
    with pytest.raises(hn.InputTypeError, match="oracle as its base"):
        MultiLabel("stumps", 2)


@pytest.mark.parametrize("bad", [1, 0, 2.5, None, True])
def test_one_label_is_refused(bad):
    with pytest.raises(hn.ParameterError, match="'n_labels' parameter of MultiLabel"):
        MultiLabel(AllPolicies(2, 2), bad)
