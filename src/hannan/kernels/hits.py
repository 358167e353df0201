"""Count the draws that choose each element, until every element was chosen often enough."""

from hannan.kernels.compiling import njit


@njit
def count_short(hits, successes):
    """Return the number of elements that were chosen in fewer draws than `successes`."""
    short = 0
    for e in range(hits.size):
        if hits[e] < successes:
            short += 1
    return short


@njit
def count_hit(e, draw, successes, hits, reached):
    """Count a draw that chose element e; return 1 if this was the last one needed, else 0."""
    hits[e] += 1
    if hits[e] < successes:
        return 0
    reached[e] = draw
    return 1
