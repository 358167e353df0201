"""Numbers kept within limits.

`min` and `max` do the same, but for each of them, and each number of arguments, the compiler takes
as long as for two kernels like this one: what the first decision waits for goes without.
"""

from hannan.kernels.compiling import plain


@plain
def clip(x, low, high):
    """min(max(x, low), high)"""
    if x < low:
        return low
    return high if high < x else x
