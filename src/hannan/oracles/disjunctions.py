"""Monotone disjunctions over bits."""

from hannan.oracles._formulas import Formulas


class Disjunctions(Formulas):
    r"""Monotone disjunctions: policies that play 1 if a variable in a set S is on, else 0.

    .. math:: \pi_S(x) = [\exists i \in S : x_i = 1], \qquad S \subseteq \{0, …, n-1\} .

    The empty disjunction always plays 0. There are :math:`N = 2^n` policies; ties go to the
    smallest S as a number, variable i counting :math:`2^i`. Negations do not occur: add a bit for
    the opposite of a variable if you need one.

    Leaders are exact. Up to n = 20 the value of every formula is stored in a table. For larger n, a
    leader is found by branch and bound. Noise on the unit vectors (`hn.separators.disjunctions`)
    makes this search short. Noise on hundreds of other contexts can make it take seconds at n = 60.

    Parameters
    ----------
    n
        Number of variables, from 1 to 64. A context is a sequence of n bits, or the number with
        these bits, variable i counting :math:`2^i`.

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

    With noise on a separator, any context may arrive:

    >>> separator = hn.separators.disjunctions(3)
    >>> learner = hn.ContextFTPL(oracle, separator=separator, seed=0)
    >>> learner.act([0, 0, 0])
    0
    """

    miss = 0

    def touched(self, context: int) -> int:
        """Return the variables that are on."""
        return context
