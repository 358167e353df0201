"""Monotone disjunctions over bits."""

from hannan.oracles._formulas import Formulas


class Disjunctions(Formulas):
    r"""Two actions, and policies that play 1 if one of the variables in a set S is on.

    .. math:: \pi_S(x) = [\exists i \in S : x_i = 1], \qquad S \subseteq \{0, …, n-1\} .

    The empty disjunction always plays 0. There are :math:`N = 2^n` policies; ties go to the
    smallest S as a number, variable i counting :math:`2^i`. Negations do not occur: add a bit for
    the opposite of a variable if you need one.

    Leaders are exact. Up to n = 20 the value of every formula is kept in a table. Beyond, a leader
    is found by branch and bound; noise on the unit vectors (`hn.separators.disjunctions`) makes
    that search short, noise on hundreds of other contexts can make it take seconds at n = 60.

    Parameters
    ----------
    n
        The number of variables, at most 64. A context is a row of n bits, or the number with those
        bits, variable i counting :math:`2^i`.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> oracle = hn.oracles.Disjunctions(3)
    >>> total = oracle.objective()
    >>> for row, losses in [([1, 1, 0], [1.0, 0.0]), ([0, 1, 0], [0.0, 1.0])]:
    ...     total.add(oracle.check_context(row), np.array(losses))
    >>> total.leader(), total.leader()([1, 0, 1])
    (<policy x0>, 1)

    Any context may arrive where the noise is on a separator:

    >>> separator = hn.separators.disjunctions(3)
    >>> learner = hn.ContextFTPL(oracle, separator=separator, seed=0)
    >>> learner.act([0, 0, 0])
    0
    """

    miss = 0

    def touched(self, context: int) -> int:
        """The variables that are on."""
        return context
