"""Follow the leader with noise on the contexts still to come, full information."""

from __future__ import annotations

import copy
import math
from typing import Any, Self

import numpy as np

from hannan.bounds import Bound, playout
from hannan.core import Action, Learner, Objective, Oracle, Policy
from hannan.core.arrays import Contexts
from hannan.core.oracle import WITHOUT_NOISE, fixed_actions, losses_alone
from hannan.core.policy import loss_of
from hannan.core.state import Number, Part, State
from hannan.core.validation import check_integer, check_loss_range, check_positive, check_seed
from hannan.learners.certificates import feedback_notes, realised
from hannan.learners.context_set import Pool
from hannan.learners.full_losses import check_full_losses
from hannan.learners.future import Future, PlayoutRound
from hannan.learners.statements import Certificate
from hannan.perturbation import seed_key


class PlayoutFTPL(Learner):
    r"""Follow the leader of the past and of Gaussian noise on the rounds to come.

    The past is free of noise, which fades out as the game ends, and its scale needs no tuning. The
    contexts to come must be known: in order, or the law they are drawn from.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts
        All contexts in the order they will arrive, repetitions included; or `Pool(rows)`, a sample
        to draw the contexts to come from. Not needed where the class has one context only.
    horizon
        T, the number of rounds; needed with a pool.
    epsilon
        The noise of each round to come has size 1/ε; None for the size that `bounds.playout` asks
        for.
    seed
        Fixes all randomness; None takes fresh entropy.
    loss_range
        Range (low, high) of each element's loss.

    Guarantee
    ---------
    With contexts fixed in advance or drawn independently from the pool, an exact oracle, and
    adaptive losses: `bounds.playout`, :math:`\sqrt{2\pi T \log N}` for single actions.
    [cesabianchi2011]

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

    oracle: Oracle
    knows_future = True
    Round = PlayoutRound

    stored = State(_future=Part(), _loss=Number())
    late = (  # each round's noise belongs to its place in the sequence
        "PlayoutFTPL cannot learn late: nothing is proved for that. Use ContextFTPL with "
        "epsilon='anytime' or a number."
    )
    room_for = ("horizon unless contexts",)

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | Pool | None = None,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        self.contexts = contexts
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.epsilon = None if epsilon is None else check_positive(self, "epsilon", epsilon)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._future = Future(self, oracle, contexts, self.horizon)
        rate = self._bound(math.log(2.0)).epsilon if self.epsilon is None else self.epsilon
        assert rate is not None
        self._future.put_noise(1.0 / rate, None, seed_key(seed))
        self._loss = 0.0

    def _prepare(self, opened: PlayoutRound) -> None:
        self._future.locate(opened, self.rounds, self._ledger)

    def _act(self, opened: PlayoutRound) -> None:
        """Play what the leader of the past and of fake losses on the future does on x_t."""
        past = self._future.perturbed(opened)
        available = opened.plays if past.scored else None
        opened.play(past.action(opened.context, WITHOUT_NOISE, None, available))
        opened.calls += 1

    def _played(self, opened: PlayoutRound) -> None:
        self._future.played(opened)

    def _update(self, opened: PlayoutRound, loss: Any) -> None:
        """Add the round."""
        losses = self._checked(loss)
        self._future.past.add(opened.context, losses)
        self._loss += loss_of(losses, opened.chosen)

    def best_policy(self) -> Policy:
        """The leader without noise."""
        return losses_alone(self._future.past).leader()

    def certificate(self) -> Certificate:
        """What can be said about regret so far."""
        note = "contexts must be fixed in advance or drawn from the pool given"
        given = self.rounds, self._loss, self._future.past, self._availability
        notes = [note, *feedback_notes(self._ledger)]
        return realised(*given, *notes, a_priori=self.regret_bound())

    def regret_bound(self) -> float | None:
        """The bound for the whole game, hence for a part: all other losses may be zero."""
        size = self._future.log_size()
        covered = self.oracle.exact and not self._availability.by_score and self.epsilon is None
        if not covered or not self._ledger.immediate or size is None or size < math.log(2.0):
            return None
        return self._bound(size).value

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._checked(loss), action)

    def _checked(self, loss: Any) -> Any:
        return check_full_losses(self.oracle, loss, self.oracle.n_actions, self._range)[0]

    def _bound(self, log_size: float) -> Bound:
        return playout(
            self._future.horizon,
            log_size=log_size,
            m=self.oracle.max_chosen,
            loss_range=self._range,
            fixed_size=self.oracle.fixed_size,
        )

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._future = self._future.reseeded(rng.integers(2**64, dtype=np.uint64))
        return twin

    def _total(self) -> Objective:
        return self._future.past

    @property
    def _scores_actions(self) -> bool:
        return self._future.past.scored

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self._future.check(self.clock + ahead, context)
