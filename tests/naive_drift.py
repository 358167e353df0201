"""The slow twin of the test for drift, written from its formula."""

import math

import numpy as np


def rises(values, delta, minimum, longest):
    """Whether the last value of a stream raises the alarm, given all since the last one."""
    e = np.asarray(values, dtype=float)
    n = len(e)
    if n < minimum:
        return False
    V = np.var(e)
    ld = math.log(2 * math.log(n + 2) / delta)
    w = 8
    while w <= n / 2 and w <= longest:
        inverse_m = 1 / (n - w) + 1 / w
        cut = math.sqrt(2 * V * ld * inverse_m) + 2 * ld * inverse_m / 3
        if np.mean(e[n - w :]) - np.mean(e[: n - w]) > cut:
            return True
        w *= 2
    return False


def alarms(stream, delta=1e-3, minimum=40, longest=8192):
    """For every value whether it raises the alarm; each alarm starts the stream anew."""
    found, since = [], []
    for value in stream:
        since.append(value)
        found.append(rises(since, delta, minimum, longest))
        if found[-1]:
            since = []
    return found
