"""What a hint costs more than the choice it takes the place of."""

from hannan.kernels.compiling import njit


@njit
def within(values, low, high):
    """Return whether all values are from low to high, and none is NaN."""
    return low <= values.min() and values.max() <= high


@njit
def price(law, values, advice, action, share):
    """By the estimates alone; the base's probability of the action over the real one; its value.

    `law` is that of the base, which is followed but for a `share` of the rounds.
    """
    expected = values[advice]
    for k in range(law.size):
        expected -= law[k] * values[k]
    ratio = 1.0 / (1.0 - share)
    if action == advice:
        likely = share + (1.0 - share) * law[advice]
        ratio = law[advice] / likely if likely > 0.0 else 1.0
    return expected, ratio, values[action]
