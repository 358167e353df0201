"""Algorithm 1: follow the leader of real and fake outcomes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from hannan.core import Action, InputTypeError, Learner, Objective, OpenRound, Oracle, Predictor
from hannan.core.oracle import fixed_actions
from hannan.core.policy import Policy, loss_of
from hannan.core.state import Count, NoiseKey, Number, Part, State
from hannan.core.validation import check_choice, check_loss_range, check_losses, check_seed
from hannan.learners.certificates import feedback_notes, realised
from hannan.learners.prediction import GUESS, TRUST, Prediction
from hannan.learners.statements import Certificate
from hannan.perturbation import seed_key

FakeOutcomes = Callable[[np.random.Generator], Iterable[tuple[Any, Any]]]


class FTPL(Learner):
    r"""Follow the perturbed leader with sample perturbations, full information (Algorithm 1).

    In each round the learner draws a fresh sequence of fake outcomes :math:`\{z\}` and plays
    :math:`\pi_t = M(\{z\} \cup y_{1:t-1})`, the oracle's best policy for the fake outcomes and
    all real outcomes so far. The sequences may have any distribution, also of their lengths. In
    twenty lines: `hannan.paper.ftpl`.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    fake_outcomes
        Function `fake_outcomes(rng)` that draws one sequence of (context, losses) pairs; losses
        may have any sign. The distribution must not depend on the rounds so far.
    predictor, trust
        As in `ContextFTPL`: the leader counts the prediction as one more outcome.
    seed
        Seed of the generator passed to `fake_outcomes`; the n-th sequence depends on (seed, n)
        only. None (default) takes fresh entropy.
    loss_range
        Range (low, high) of the real losses, or None to accept any finite losses. Default (0, 1).

    Guarantee
    ---------
    Expected regret at most STABILITY + ERROR of the given distribution (Theorem 1), against
    adaptive adversaries; with a predictor the stability is that of :math:`f_t - Q_t` (Theorem 5).

    Examples
    --------
    A geometric number of fake losses on random contexts:

    >>> import hannan as hn
    >>> def fakes(rng):
    ...     return [(int(rng.integers(2)), rng.laplace(size=3)) for _ in range(rng.geometric(0.5))]
    >>> learner = hn.FTPL(hn.oracles.AllPolicies(2, 3), fakes, seed=0)
    >>> action = learner.act(1)
    >>> learner.update([0.0, 0.5, 1.0])

    References
    ----------
    [syrgkanis2016]
    """

    oracle: Oracle

    stored = State(
        _prediction=Part(), _key=NoiseKey(), _draw=Count(), _history=Part(), _loss=Number()
    )

    class Round(OpenRound):
        guess: Any = None  # Q_t, the prediction in use
        offered: Any = None  # the predictor's prediction, whether or not it is trusted

        stored = State(guess=GUESS, offered=GUESS)

    def __init__(
        self,
        oracle: Oracle,
        fake_outcomes: FakeOutcomes,
        *,
        predictor: Predictor | None = None,
        trust: str = "earned",
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
    ) -> None:
        super().__init__()
        if not callable(fake_outcomes):
            raise InputTypeError(
                "fake_outcomes must be a function that takes a random generator and returns "
                f"(context, losses) pairs; got {fake_outcomes!r}."
            )
        self.oracle = fixed_actions(self, oracle)
        self.fake_outcomes = fake_outcomes
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self.predictor = predictor
        self.trust = check_choice(self, "trust", trust, TRUST)
        self._prediction = Prediction(predictor, self._range, oracle, trust)
        self._key = seed_key(seed)
        self._draw = 0
        self._history = oracle.objective()
        self._loss = 0.0

    def _prepare(self, opened: Round) -> None:
        self._prediction.look_ahead(opened)

    def _act(self, opened: Round) -> None:
        """Play M({z} ∪ y_1..t-1 ∪ Q_t) on x_t, for a fresh sequence {z}."""
        total = self._history.copy()
        for fake_context, losses in self.fake_outcomes(self._generator()):
            vector = check_losses(losses, self.oracle.n_actions, (-np.inf, np.inf))[0]
            total.add(self.oracle.check_context(fake_context), vector)
        if opened.guess is not None:
            total.add(opened.context, opened.guess)
        opened.play(total.leader()(opened.context))
        opened.calls += 1

    def _generator(self) -> np.random.Generator:
        # The draw's number is the counter, so the n-th sequence needs no state from the others.
        counter = [0, 0, 0, self._draw]
        return np.random.Generator(np.random.Philox(key=int(self._key), counter=counter))

    def _played(self, opened: Round) -> None:
        self._draw += 1

    def _update(self, opened: Round, loss: Any) -> None:
        """Add y_t."""
        losses, low, high = check_losses(loss, self.oracle.n_actions, self._range)
        self._prediction.learn(opened, losses, low, high)
        self._history.add(opened.context, losses)
        self._loss += loss_of(losses, opened.chosen)

    @property
    def predictor_(self) -> Any:
        """The copy of the predictor that has learned from all losses so far, or None."""
        return self._prediction.predictor

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(check_losses(loss, self.oracle.n_actions, self._range)[0], action)

    def _total(self) -> Objective:
        return self._history

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._key = rng.integers(2**64, dtype=np.uint64)
        return twin

    def best_policy(self) -> Policy:
        """Return the best policy for the real losses so far, without noise."""
        return self._history.leader()

    def certificate(self) -> Certificate:
        """Return the regret realised so far; there is no bound for fake outcomes given as code."""
        notes = feedback_notes(self._ledger)
        given = self.rounds, self._loss, self._history, self._availability
        return realised(*given, *notes, prediction_error=self._prediction.squared_error)
