"""Draws from an action distribution that is known, mixed with a hint and with exploration."""

from hannan.kernels.compiling import njit
from hannan.kernels.noise import uniform


@njit
def choose(probabilities, u):
    """Return the action that a uniform number falls on."""
    last = 0
    for k in range(probabilities.size):
        if probabilities[k] > 0.0:
            last = k
            u -= probabilities[k]
            if u < 0.0:
                return k
    return last


@njit
def draw(distribution, advice, share, explores, available, key, stream, number):
    """Return an action, its probability, and whether it was drawn to explore.

    With probability `explores` each action of `available` is equally likely; else the hint has a
    `share`, and the action is drawn from the distribution in all other cases. Which of these it
    is, and the
    action, are decided by one random number, that of a draw of noise.
    """
    u = uniform(key, stream, number)
    explored = u < explores
    left = explores + (1.0 - explores) * share
    if explored:
        place = min(int(u / explores * available.size), available.size - 1)
        action = int(available[place])
    elif u < left:
        action = advice
    else:
        action = choose(distribution, (u - left) / (1.0 - left))
    q = (1.0 - share) * distribution[action]
    if action == advice:
        q += share
    if explores > 0.0:
        q = (1.0 - explores) * q + explores / available.size
    return action, q, explored
