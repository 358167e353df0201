"""Functions of subsets, by looking at all of them; and random submodular functions."""

import itertools

import numpy as np

import hannan as hn


def subsets(n):
    """All subsets of n elements, as masks."""
    return [np.array(bits) for bits in itertools.product((False, True), repeat=n)]


def table(f, n):
    """The value of every subset."""
    return np.array([f(np.flatnonzero(inside)) for inside in subsets(n)])


def smallest_minimiser(values, n):
    """The elements that all minimisers share, and the minimum; ties are up to rounding."""
    least = values.min()
    best = [inside for inside, v in zip(subsets(n), values, strict=True) if v < least + 1e-9]
    return np.logical_and.reduce(best), least


def is_submodular(values, n):
    """f(A) + f(B) >= f(A | B) + f(A & B) for all pairs."""
    value = {inside.tobytes(): v for inside, v in zip(subsets(n), values, strict=True)}
    return all(
        value[A.tobytes()] + value[B.tobytes()]
        >= value[(A | B).tobytes()] + value[(A & B).tobytes()] - 1e-9
        for A, B in itertools.combinations(subsets(n), 2)
    )


class Numbers:
    """Random numbers: small integers, so that ties occur, or reals."""

    def __init__(self, rng, integer):
        self.rng = rng
        self.integer = integer

    def __call__(self, size, low=0, high=4):
        if self.integer:
            return self.rng.integers(low, high, size).astype(np.float64)
        return self.rng.uniform(low, high, size)


def cut(n, rng, numbers):
    """A graph with repeated arcs and arcs from an element to itself."""
    m = int(rng.integers(0, 2 * n + 1))
    ends = rng.integers(n, size=(2, m))
    return hn.losses.Cut(*ends, numbers(m), n, numbers(n, -3, 4), 1.0, bool(rng.integers(2)))


def coverage_less_gains(n, rng, numbers):
    """Items are paid for once, elements earn."""
    covers = [rng.integers(5, size=rng.integers(4)) for _ in range(n)]
    return hn.losses.Coverage(covers, numbers(5)) + hn.losses.Linear(-numbers(n))


def concave(n, rng, numbers):
    """A root or a logarithm."""
    return hn.losses.ConcaveOfModular(numbers(n), ["sqrt", "log1p"][rng.integers(2)])


def capped(n, rng, numbers):
    """A minimum."""
    return hn.losses.ConcaveOfModular(numbers(n), "cap", cap=float(numbers(1, 1, 5)[0]))


def cardinality(n, rng, numbers):
    """Falling differences."""
    steps = np.sort(numbers(n, -3, 4))[::-1]
    return hn.losses.ConcaveOfCardinality(1.0 + np.concatenate([[0.0], np.cumsum(steps)]))


def linear(n, rng, numbers):
    """Weights of both signs."""
    return hn.losses.Linear(numbers(n, -3, 4), offset=-0.5)


def custom(n, rng, numbers):
    """Values only; the number of pairs of neighbours on a ring that are not both left out."""
    weights = numbers(n)

    def f(chosen):
        touched = {(j + s) % n for j in chosen for s in (0, 1)}
        return float(sum(weights[j] for j in touched))

    return hn.losses.Custom(f, n)


GRAPHS = (cut, coverage_less_gains, capped, cardinality, linear)
ALL = (*GRAPHS, concave, custom)


def random_sum(kinds, n, rng, integer, most=4):
    """A few random functions."""
    numbers = Numbers(rng, integer)
    return [kinds[rng.integers(len(kinds))](n, rng, numbers) for _ in range(rng.integers(most + 1))]
