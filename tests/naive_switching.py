"""Sequences of policies by looking at all of them, with nothing from the library.

A policy class is a list of callables on base contexts; a history is a list of ((t, x), losses).
"""

import itertools

import numpy as np


def sequences(n_policies, cells, switches):
    """All sequences of policy numbers that change at most so often, in the documented order.

    The first policy counts first; then, at every step, staying comes before changing, and
    changing to a smaller policy before changing to a larger one.
    """

    def place(sequence):
        moves = [
            0 if after == before else 1 + after for before, after in itertools.pairwise(sequence)
        ]
        return (sequence[0], *moves)

    found = [
        sequence
        for sequence in itertools.product(range(n_policies), repeat=cells)
        if sum(a != b for a, b in itertools.pairwise(sequence)) <= switches
    ]
    return sorted(found, key=place)


def costs(policies, history, cells, grid=1):
    """What each policy costs in each cell of time, [cells, N]."""
    table = np.zeros((cells, len(policies)))
    for (t, x), losses in history:
        for n, policy in enumerate(policies):
            table[t // grid, n] += losses[policy(x)].sum()
    return table


def best(table, switches, price=0.0):
    """The first of the best sequences, and its cost, where each switch has a price."""
    cells, n_policies = table.shape
    values = {
        sequence: sum(table[g, n] for g, n in enumerate(sequence))
        + price * sum(a != b for a, b in itertools.pairwise(sequence))
        for sequence in sequences(n_policies, cells, switches)
    }
    sequence = min(values, key=values.__getitem__)
    return sequence, values[sequence]


def fakes(draw):
    """The fake outcomes of one draw, as a history."""
    noise, number, scale = draw
    return list(zip(noise.contexts, scale * noise.unit(number), strict=True))
