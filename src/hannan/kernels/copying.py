"""Arrays copied into others.

An assignment to a slice does the same, but for it the compiler prepares a message about shapes that
differ, and with that all that it takes to format a string: five seconds for the first kernel.
"""

from hannan.kernels.compiling import plain


@plain
def copy(source, out):
    """out[i] = source[i], as far as `out` goes."""
    for i in range(out.size):
        out[i] = source[i]


@plain
def copy_rows(source, out):
    """out[i, j] = source[i, j], as far as `out` goes."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]
