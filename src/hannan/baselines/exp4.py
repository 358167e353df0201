"""Exponential weights over listed policies, with bandit feedback."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import Action, Feedback, OpenRound, ParameterError
from hannan.core.rounds import PropensityRecord
from hannan.core.state import Number, State
from hannan.core.validation import FloatArray, check_chosen_loss
from hannan.oracles import FinitePolicies


class Exp4(WeightedPolicies):
    r"""Exponential weights over a table of N policies with bandit feedback: O(N) per round.

    No oracle is needed. In context x the learner plays action a with probability :math:`p_a`, the
    total weight of the policies that play it there. The loss estimate is :math:`\hat\ell =
    \ell/p_a` on the chosen action, and 0 elsewhere. Policy n has weight :math:`\exp(-\eta \sum_s
    \hat\ell_s(\pi_n(x_s)))`.

    Parameters
    ----------
    actions, seed
        As in `Hedge`; single actions only.
    learning_rate
        Learning rate η > 0. Default None: the anytime rate :math:`\eta_t = \sqrt{\log N/(tK)}`
        divided by the largest loss.
    loss_range
        Range (low, high) of the losses, not negative. Default (0, 1).

    Guarantee
    ---------
    With :math:`\eta = \sqrt{2 \log N/(TK)}` and losses in [0, 1], the pseudo-regret is at most
    :math:`\sqrt{2TK \log N}`. The anytime rate costs a factor :math:`\sqrt2`. [auer2002]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.Exp4([[0, 0], [1, 0]], seed=0)
    >>> for _ in range(300):
    ...     action = learner.act(0)
    ...     learner.update(1.0 - action)
    >>> learner.act(0)
    1

    References
    ----------
    [auer2002]
    """

    feedback = Feedback.BANDIT

    class Round(OpenRound):
        """A round with the probability of the choice, and the inverse propensity of the action."""

        probability: float = 1.0
        weight: float = 1.0

        stored = State(probability=Number(0.0, 1.0 + 1e-9), weight=Number(low=0.0))

        @property
        def inverse(self) -> FloatArray:
            """Inverse propensity of the action."""
            return np.array([self.weight])

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        learning_rate: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, seed, loss_range, learning_rate)
        if self._range[0] < 0.0:
            raise ParameterError(
                f"Exp4 needs losses >= 0; got loss_range={loss_range}. Shift the losses."
            )
        if self.oracle.sets is not None:
            raise ParameterError(
                "Exp4 needs single actions; got a table of sets. Pass a table of actions."
            )

    def _act(self, opened: Any) -> None:
        mass = self._mass(self._columns[opened.context], self._weights(opened))
        ends = mass.cumsum()
        found = int(ends.searchsorted(self._rng.random() * ends[-1], side="right"))
        choice = min(found, self.oracle.n_actions - 1)
        opened.play(choice)
        opened.probability = float(mass[choice] / ends[-1])
        opened.weight = 1.0 / opened.probability
        if opened.plays is not None:
            opened.weight = float(mass.sum() / mass[opened.plays == opened.action].sum())

    def _update(self, opened: Round, loss: Any) -> None:
        cost = check_chosen_loss(loss, self._range)
        if cost == 0.0:
            return
        charge = np.zeros(self.oracle.n_actions)
        charge[opened.chosen] = cost / opened.probability
        self._totals += self._charge(opened.context, charge)

    def _propensity_record(self, opened: Round) -> PropensityRecord:
        return PropensityRecord(opened.inverse, 1.0 / opened.weight, 0.0)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return check_chosen_loss(loss, self._range)

    def regret_bound(self) -> float | None:
        """Return log N/η + ηTKB²/2 for losses up to B; √2 times its minimum at the anytime rate."""
        if not self._ledger.immediate:
            return None
        T, K, B = self.rounds, self.oracle.n_actions, self._range[1]
        if T == 0 or self.learning_rate is None:
            return 2.0 * B * math.sqrt(T * K * self._log_size)
        return self._log_size / self.learning_rate + 0.5 * self.learning_rate * T * K * B * B

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        tries = (self.rounds + 1) * self.oracle.n_actions
        return math.sqrt(self._log_size / tries) / self._range[1]

    def _weights(self, opened: Any) -> FloatArray:
        weights = self._scratch
        np.subtract(self._totals, self._totals.min(), out=weights)
        weights *= -self._rate()
        return np.exp(weights, out=weights)
