"""Formulas and intercept classifiers one by one, from their definitions."""

import itertools
import math

import numpy as np


def disjunction(variables, row):
    """1 if one of the variables is on."""
    return int(any(row[i] for i in variables))


def conjunction(variables, row):
    """1 if all of the variables are on."""
    return int(all(row[i] for i in variables))


PLAYS = {"Disjunctions": disjunction, "Conjunctions": conjunction}


def subsets(n):
    """Every set of variables, as numbers in ascending order."""
    return [[i for i in range(n) if S >> i & 1] for S in range(2**n)]


def row_of(mask, n):
    """The bits of a number."""
    return [mask >> i & 1 for i in range(n)]


def formula_values(kind, n, history):
    """Total loss of every formula; contexts are rows."""
    play = PLAYS[kind]
    return np.array(
        [sum(losses[play(S, row)] for row, losses in history) for S in subsets(n)], dtype=float
    )


def classifiers(n, steps):
    """Every vector of intercepts, in lexicographic order, infinity last."""
    values = [k / steps for k in range(1, steps + 1)] + [math.inf]
    return list(itertools.product(values, repeat=n))


def far(intercepts, row):
    """Whether a point lies on the far side."""
    return int(sum(x / a for x, a in zip(row, intercepts, strict=True)) >= 1.0 - 1e-9)
