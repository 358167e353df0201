"""Bandits where the contexts to come are known: one oracle call a round, exact weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.bounds import playout_bandit
from hannan.core import ParameterError
from hannan.core.available import IntArray, awake
from hannan.core.validation import FloatArray
from hannan.learners.playout import Playout
from hannan.learners.substituted import restricted
from hannan.learners.tickets import Ticket, TicketedLeader


class PlayoutBandit(TicketedLeader):
    r"""What perturbation="playout" makes of a bandit learner.

    With :math:`i_0` the action of the leader under sparse noise ±M on the contexts to come, the
    law of the action is :math:`q = (1 - K/M) e_{i_0} + 1/M`: known, never below 1/M, and so
    the loss estimate :math:`\hat\ell = \ell(a)/q(a)\, e_a` needs no resampling.
    """

    @property
    def _K(self) -> int:
        assert self.oracle.n_actions is not None
        return self.oracle.n_actions

    def _choose_played_out(
        self, context: Any, pending: int, stands: IntArray | None = None
    ) -> Ticket:
        assert self._playout is not None
        time = self.rounds + self._forgotten + pending
        law = self._law_played_out(context, time, stands)
        ends = np.cumsum(law)
        coin = self._playout.noise.coin(time) * ends[-1]
        last = int(np.flatnonzero(law)[-1])
        action = int(min(np.searchsorted(ends, coin, side="right"), last))
        self.oracle_calls += 1
        self._decided += 1
        self._delayed |= pending > 0
        return Ticket(context, action, 0, 0.0, None, None, 1.0 / float(law[action]), stands)

    def _law_played_out(
        self, context: Any, time: int, stands: IntArray | None = None
    ) -> FloatArray:
        """The probability of each action in a round to come, given its noise."""
        assert self._playout is not None
        noise = self._playout.noise
        past = self._history.perturbed(*noise.fakes(time))
        assert noise.rate is not None
        law = np.full(self._K, noise.rate / self._K)
        if stands is not None and self._ordered:
            there = awake(stands)
            law[:] = 0.0
            law[there] = noise.rate / len(there)
        elif stands is not None:
            law = np.bincount(stands, law, self._K)
        leader = restricted(past, context, stands).action(context, None, 0, 0.0)
        law[leader] += 1.0 - noise.rate
        return law

    def _play_out(self, future: Playout) -> None:
        """Sparse noise: of the size `bounds.playout_bandit` asks for, or 1/ε."""
        if self.oracle.max_chosen > 1:
            raise ParameterError(
                "perturbation='playout' with bandit feedback is for single actions; "
                f"{type(self.oracle).__name__} chooses up to {self.oracle.max_chosen} elements."
            )
        if isinstance(self.epsilon, str):
            size = 1.0 / self._playout_bound(max(self._log_size(), math.log(2.0))).epsilon
        else:
            size = 1.0 / self._fixed_epsilon()
        if size < self._K * self._range[1]:
            raise ParameterError(
                "perturbation='playout' puts noise of size 1/ε on single actions, which must be "
                f"at least {self._K} times the largest loss {self._range[1]:g}, one for each "
                f"action; got epsilon={self.epsilon!r}."
            )
        future.put_noise(self._K, size, self._K * self._range[1] / size, self._key)

    def _playout_bound(self, log_size: float) -> Any:
        assert self._playout is not None
        return playout_bandit(
            self._playout.horizon,
            n_actions=self._K,
            log_size=log_size,
            loss_bound=self._range[1],
        )
