"""Follow the leader with noise on the future contexts, full information."""

from __future__ import annotations

import math
from typing import Any

from hannan.bounds import Bound, playout
from hannan.core import Action
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.policy import loss_of
from hannan.learners.certificates import feedback_notes, realised
from hannan.learners.future import Playout, PlayoutRound
from hannan.learners.shown_losses import check_full_losses
from hannan.learners.statements import Certificate


class PlayoutFTPL(Playout):
    r"""Follow the leader with Gaussian noise on the known future contexts, full information.

    There is no noise on the past, so the noise fades towards the end of the run. Its size needs no
    tuning. You must know the future contexts in order, or the distribution they are drawn from.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts
        All contexts in the order in which they will arrive, with repetitions; or `Pool(rows)`, a
        sample from which future contexts are drawn. Not needed if the class has only one context.
    horizon
        Number of rounds T. Required with a pool, or without `contexts`.
    epsilon
        The noise of each future round has size 1/ε. None (default) uses the value of
        `bounds.playout`.
    seed, loss_range
        As in `ContextFTPL`.

    Guarantee
    ---------
    With contexts fixed in advance or drawn independently from the pool, an exact oracle, and
    adaptive losses: `bounds.playout`, :math:`\sqrt{2\pi T \log N}` for single actions.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.PlayoutFTPL(oracle, contexts=[0, 1] * 50, seed=0)
    >>> for t in range(99):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1])
    >>> learner.act(1), round(learner.regret_bound(), 1)
    (1, 26.3)

    References
    ----------
    [cesabianchi2011]
    """

    late = (  # the noise of a round belongs to its place in the sequence
        "PlayoutFTPL does not support delayed feedback, because no theorem covers it. Use "
        "ContextFTPL with epsilon='anytime' or a number."
    )

    def _size_and_rate(self) -> tuple[float, float | None]:
        rate = self._bound(math.log(2.0)).epsilon if self.epsilon is None else self.epsilon
        assert rate is not None
        return 1.0 / rate, None

    def _act(self, opened: PlayoutRound) -> None:
        """Play the action on x_t of the leader of the past and of fake future losses."""
        past = self._perturbed(opened)
        available = opened.plays if past.scored else None
        opened.play(past.action(opened.context, WITHOUT_NOISE, None, available))
        opened.calls += 1

    def _update(self, opened: PlayoutRound, loss: Any) -> None:
        """Add the round."""
        losses = self._checked(loss)
        self._past.add(opened.context, losses)
        self._loss += loss_of(losses, opened.chosen)

    def certificate(self) -> Certificate:
        """Return the statements on the regret so far."""
        note = "the contexts must be fixed in advance or drawn from the given pool"
        given = self.rounds, self._loss, self._past, self._availability
        notes = [note, *feedback_notes(self._ledger)]
        return realised(*given, *notes, a_priori=self.regret_bound())

    def regret_bound(self) -> float | None:
        """Return the bound for the whole run, which holds for a part: other losses may be 0."""
        size = self.oracle.log_size(self._points)
        if not self._has_bound or size is None or size < math.log(2.0):
            return None
        return self._bound(size).value

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._checked(loss), action)

    def _checked(self, loss: Any) -> Any:
        return check_full_losses(self.oracle, loss, self.oracle.n_actions, self._range)[0]

    def _bound(self, log_size: float) -> Bound:
        return playout(
            self._horizon,
            log_size=log_size,
            m=self.oracle.max_chosen,
            loss_range=self._range,
            fixed_size=self.oracle.fixed_size,
        )
