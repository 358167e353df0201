"""Theorem 7: what no learner can do."""

from hannan.core.validation import check_integer


def non_transductive(horizon: int) -> float:
    r"""T/2: regret that an adversary can force on *every* learner against thresholds on [0, 1].

    Thresholds have Vapnik–Chervonenkis dimension one. If contexts are not known in advance, an
    adversary who knows the learner's probabilities shows a point between the labels so far and
    gives it the label that the learner finds less likely: half an error in each round, on points
    that some threshold labels correctly. A *lower* bound, in expectation.

    Parameters
    ----------
    horizon
        T.

    Examples
    --------
    >>> non_transductive(1000)
    500.0

    References
    ----------
    [syrgkanis2016]
    """
    return 0.5 * check_integer("non_transductive", "horizon", horizon, 1)
