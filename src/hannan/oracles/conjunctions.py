"""Monotone conjunctions over bits."""

from hannan.oracles._formulas import Formulas


class Conjunctions(Formulas):
    r"""Monotone conjunctions: policies that play 1 if all variables in a set S are on, else 0.

    .. math:: \pi_S(x) = [\forall i \in S : x_i = 1], \qquad S \subseteq \{0, …, n-1\} .

    The empty conjunction always plays 1. There are :math:`N = 2^n` policies; ties go to the
    smallest S as a number, variable i counting :math:`2^i`. Negations do not occur. Leaders are
    exact and are found as for `Disjunctions`, with the roles of bits that are on and off exchanged.
    The separator is `hn.separators.conjunctions`.

    Parameters
    ----------
    n
        Number of variables, from 1 to 64. A context is a sequence of n bits, or the number with
        these bits, variable i counting :math:`2^i`.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> oracle = hn.oracles.Conjunctions(3)
    >>> total = oracle.objective()
    >>> for row, losses in [([1, 1, 0], [1.0, 0.0]), ([0, 1, 1], [0.0, 1.0])]:
    ...     total.add(oracle.check_context(row), np.array(losses))
    >>> total.leader(), total.leader()([1, 0, 1])
    (<policy x0>, 1)
    """

    miss = 1

    def touched(self, context: int) -> int:
        """Return the variables that are off."""
        return self._all ^ context
