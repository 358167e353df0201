"""Estimates of the losses of elements: means in a table, and ridge regressions.

A table of means has the rows sums, numbers of observations and sums of squared deviations from the
element's mean, [3, K]. A prior estimate is one number for all elements, or K numbers.

There is a regression for each element, or one for all: `fits` is [M, 1 + p, p], M = K or 1. It
holds the weights w and, in the rows below, a root S of the design inverse, SS' = (λI + Σ xx')^-1.
An update of the root (Potter's) keeps SS' positive, so rounding errors do not add up. `rows` is
[K, p], or [1, p] for features that all elements share.

`errors` are the sum of squared errors and their number. Losses of NaN were not observed. Nothing
here sums in an order that depends on the machine.
"""

import math

import numpy as np

from hannan.kernels.compiling import njit

RARE = 1.0 / 3.0  # factor of the logarithm in the width of rarely observed elements
POOL = 8.0  # weight of the variance of all elements in the variance of an element

# A check for zero before every division would keep loops out of vector instructions.
fast = njit(error_model="numpy")


@fast
def pooled(errors, variance):
    """Return the mean squared error of all elements, from a first error of this variance."""
    return (variance + errors[0]) / (1.0 + errors[1])


@fast
def means(table, prior, out):
    """Set out[k] to the mean of element k, in which the prior estimate counts once."""
    first, several = prior[0], prior.size > 1
    sums, counts = table[0], table[1]
    for k in range(out.size):
        out[k] = (sums[k] + (prior[k] if several else first)) / (counts[k] + 1.0)


@fast
def lower(table, prior, variance, alpha, estimates, out):
    """Set estimates[k] to the mean of element k, and out[k] to that minus its width."""
    first, several = prior[0], prior.size > 1
    sums, counts, squares = table[0], table[1], table[2]
    usual = 0.0
    for k in range(out.size):
        usual += counts[k]
    usual /= out.size
    for k in range(out.size):
        n = counts[k]
        mean = (sums[k] + (prior[k] if several else first)) / (n + 1.0)
        square = (squares[k] + POOL * variance) / ((n + POOL) * (n + 1.0))
        if n < usual:
            square *= 1.0 + RARE * math.log((usual + 1.0) / (n + 1.0))
        estimates[k] = mean
        out[k] = mean - alpha * math.sqrt(square)


@fast
def count(table, errors, elements, losses):
    """Add losses of elements to the table."""
    for i in range(elements.size):
        k, loss = elements[i], losses[i]
        if math.isnan(loss):
            continue
        n = table[1, k]
        if n > 0.0:
            off = loss - table[0, k] / n
            square = off * off * n / (n + 1.0)
            table[2, k] += square
            errors[0] += square
            errors[1] += 1.0
        table[0, k] += loss
        table[1, k] = n + 1.0


@fast
def predict(rows, weights, prior, out):
    """Set out[k] to the prior estimate of element k plus <w_k, x_k>."""
    for k in range(out.size):
        x, w = rows[min(k, len(rows) - 1)], weights[min(k, len(weights) - 1)]
        value = prior[min(k, prior.size - 1)]
        for i in range(x.size):
            value += w[i] * x[i]
        out[k] = value


@fast
def project(x, root, out):
    """Set out to S'x and return the square of its length, x'SS'x."""
    out[:] = 0.0
    for i in range(x.size):
        factor, row = x[i], root[i]
        for j in range(x.size):
            out[j] += factor * row[j]
    square = 0.0
    for j in range(x.size):
        square += out[j] * out[j]
    return square


@fast
def subtract_widths(rows, fits, deviations, alpha, out):
    """Subtract α σ_k √(x_k'SS'x_k) from out[k]."""
    projected = np.empty(rows.shape[1])
    for k in range(out.size):
        fit = min(k, len(fits) - 1)
        square = project(rows[min(k, len(rows) - 1)], fits[fit, 1:], projected)
        out[k] -= alpha * deviations[fit] * math.sqrt(square)


@fast
def sample(fits, deviations, alpha, normals, out):
    """Set out[k] to weights drawn around w_k: w_k + α σ_k S z_k, for standard normals z."""
    M, p = normals.shape
    for k in range(M):
        for i in range(p):
            value = 0.0
            for j in range(p):
                value += fits[k, 1 + i, j] * normals[k, j]
            out[k, i] = fits[k, 0, i] + alpha * deviations[k] * value


@fast
def learn(rows, fits, prior, low, high, errors, elements, losses):
    """Learn losses of elements: the sizes of the errors, from a second loss on, and the weights."""
    p = rows.shape[1]
    projected = np.empty(p)
    for e in range(elements.size):
        k, loss = elements[e], losses[e]
        if math.isnan(loss):
            continue
        m, x = min(k, len(fits) - 1), rows[min(k, len(rows) - 1)]
        weights, root = fits[m, 0], fits[m, 1:]
        value = prior[min(k, prior.size - 1)]
        for i in range(p):
            value += weights[i] * x[i]
        off = loss - min(max(value, low), high)
        if errors[1, m] > 0.0:
            errors[0, m] += off * off
        errors[1, m] += 1.0
        bottom = 1.0 + project(x, root, projected)
        step = 1.0 / (bottom + math.sqrt(bottom))
        for i in range(p):
            gain = 0.0
            for j in range(p):
                gain += root[i, j] * projected[j]
            weights[i] += gain * (loss - value) / bottom
            for j in range(p):
                root[i, j] -= step * gain * projected[j]
