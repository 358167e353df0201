"""Feasible sets listed one by one, and what every optimiser over them is held against."""

import itertools
import math

import numpy as np

import hannan as hn
from hannan.core.oracle import Draw
from hannan.perturbation import seed_key


def subsets(n, m, exactly=True):
    """All sets of m out of n, or of m at most."""
    sizes = [m] if exactly else range(m + 1)
    return [set(c) for size in sizes for c in itertools.combinations(range(n), size)]


def all_sets(n):
    """Every set of n elements."""
    return subsets(n, n, exactly=False)


def within_capacities(groups, capacities, bases=True):
    """Sets with at most so many of each group; the largest of them, for bases."""
    found = []
    for chosen in all_sets(len(groups)):
        counts = [sum(groups[j] == g for j in chosen) for g in range(len(capacities))]
        if all(count <= c for count, c in zip(counts, capacities, strict=True)):
            found.append(chosen)
    most = max(map(len, found))
    return [chosen for chosen in found if len(chosen) == most or not bases]


def spanning_trees(n_nodes, edges):
    """Sets of n - 1 edges that connect all nodes."""
    found = []
    for chosen in itertools.combinations(range(len(edges)), n_nodes - 1):
        part = list(range(n_nodes))
        for j in chosen:
            a, b = (part[v] for v in edges[j])
            part = [a if p == b else p for p in part]
        if len(set(part)) == 1:
            found.append(set(chosen))
    return found


def matchings(n_left, n_right):
    """Injections of the smaller side into the larger one."""
    if n_left <= n_right:
        return [
            {i * n_right + j for i, j in enumerate(order)}
            for order in itertools.permutations(range(n_right), n_left)
        ]
    return [
        {i * n_right + j for j, i in enumerate(order)}
        for order in itertools.permutations(range(n_left), n_right)
    ]


def partial_matchings(pairs):
    """All sets of pairs in which nobody is twice."""
    return [
        set(chosen)
        for size in range(len(pairs) + 1)
        for chosen in itertools.combinations(range(len(pairs)), size)
        if all(len({pairs[e][side] for e in chosen}) == size for side in (0, 1))
    ]


def points(K, A_ub=None, b_ub=None, A_eq=None, b_eq=None):
    """The 0/1 points of a polytope."""
    found = []
    for chosen in all_sets(K):
        x = np.zeros(K)
        x[list(chosen)] = 1.0
        below = A_ub is None or (np.asarray(A_ub) @ x <= np.asarray(b_ub) + 1e-9).all()
        equal = A_eq is None or np.allclose(np.asarray(A_eq) @ x, b_eq)
        if below and equal:
            found.append(chosen)
    return found


def best_value(sets, costs):
    """The cost of the cheapest set."""
    return min(sum(costs[j] for j in chosen) for chosen in sets)


def as_set(action):
    """The elements of an action."""
    return set(np.atleast_1d(action).tolist())


def agrees(oracle, sets, rng, rounds=5, draws=3):
    """Leaders, with noise and without, are feasible and as good as the best set in the list.

    Losses are small signed integers, so that ties occur and sums are exact.
    """
    K = oracle.n_actions
    assert max(map(len, sets)) <= oracle.max_chosen
    assert not oracle.antichain or len({len(chosen) for chosen in sets}) == 1
    assert oracle.log_size([None]) >= math.log(len(sets)) - 1e-9
    total = oracle.objective()
    noise = oracle.noise([None], seed_key(int(rng.integers(2**31))), 0, 2**16)
    totals = np.zeros(K)
    for losses in rng.integers(-2, 3, size=(rounds, K)).astype(float):
        total.add(None, losses)
        totals += losses
    for draw in range(draws):
        scale = (0.0, 0.5, 4.0)[draw % 3]
        costs = totals + scale * noise.unit(draw)[0]
        chosen = as_set(total.action(None, Draw(noise, draw, scale)))
        assert chosen in sets
        best = best_value(sets, costs)
        assert sum(costs[list(chosen)]) <= best + 1e-6
        assert abs(total.minima(Draw(noise, draw, scale), 1)[0] - best) < 1e-5
        leader = as_set(total.leaders(Draw(noise, draw, scale), 1)[0](None))
        listed = np.flatnonzero(total.chosen(None, Draw(noise, draw, scale), 1)[0])
        assert leader == chosen == set(listed.tolist())


def play_short_games(oracle, sets, T=30):
    """Both learners play, and every action is feasible."""
    rng = np.random.default_rng(0)
    full = hn.ContextFTPL(oracle, seed=0)
    semi = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for losses in rng.random((T, oracle.n_actions)):
        action = full.act()
        assert as_set(action) in sets
        full.update(losses)
        action = semi.act(None)
        assert as_set(action) in sets
        semi.update(losses[action])
    assert full.rounds == semi.rounds == T
    decision = semi.decide()
    size = len(np.atleast_1d(decision.action))
    semi.update(np.zeros(size), decision=decision)
    assert len(decision.weights) == size
    assert np.isfinite(float(full.certificate()))


def average_regrets(oracle, T, seeds, kind=hn.ContextFTPL, world=None):
    """Mean regret after T and 4T rounds, and the self-tuned bounds 2 sqrt(2 G V) + 2R."""
    means, bounds = [], []
    G = hn.bounds.laplace_complexity(oracle).upper
    for horizon in (T, 4 * T):
        regrets, limits = [], []
        for seed in range(seeds):
            environment = (world or hn.environments.LeaderPunisher)(oracle)
            trace = hn.play(kind(oracle, seed=seed), environment, horizon, seed=seed)
            regrets.append(trace.regret())
            V = float((trace.losses**2).sum())
            limits.append(2.0 * math.sqrt(2.0 * G * V) + 2.0 * oracle.max_chosen)
        means.append(np.mean(regrets))
        bounds.append(np.mean(limits))
    return means, bounds
