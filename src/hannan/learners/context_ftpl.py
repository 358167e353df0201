"""Algorithm 2: contextual follow the perturbed leader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hannan.bounds import complete_information
from hannan.core import Action, LossError, LossFunction, Oracle
from hannan.core.policy import loss_of
from hannan.core.validation import check_losses, check_probability
from hannan.learners.certificate import Certificate
from hannan.learners.perturbed_leader import PerturbedLeader


class ContextFTPL(PerturbedLeader):
    r"""Contextual follow the perturbed leader, full information (Algorithm 2).

    Each round draws a fake loss vector with independent Laplace(ε) coordinates for every context
    of a set X and plays :math:`a_t = \pi_t(x_t)` with

    .. math:: \pi_t = \arg\min_{\pi \in \Pi} \sum_{s<t} \ell_s(\pi(x_s))
              + \frac1\epsilon \sum_{x \in X} \langle \pi(x), \zeta_x \rangle .

    X is the set of contexts that may arrive (*transductive*, `contexts=`), or any set on which
    all policies differ (*small separator*, `separator=`): then every context may arrive.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts
        X in the transductive setting; by default the oracle's own contexts.
    separator
        X in the small-separator setting.
    pool
        Contexts like those that may arrive, for X without a theorem. Give one of the three.
        Feature classes need none: X is then a sample of the contexts seen so far.
    epsilon
        "adaptive": self-tuned from what instability has cost so far, needs nothing else;
        "anytime": the schedule :math:`\epsilon_t \propto 1/\sqrt t`, from `loss_range`;
        "theorem": the paper's tuning, needs `horizon`; or a positive number.
    horizon
        T, the number of rounds, for epsilon="theorem".
    seed
        Fixes all randomness; None takes fresh entropy.
    loss_range
        Range (low, high) of each element's loss, or None to accept any finite loss.
    noise
        "fresh" draws anew in every round. "once" uses one draw for the whole game: the same
        expected loss against an *oblivious* adversary, and no guarantee at all against one that
        reacts to what is played.
    noise_memory
        Bytes of noise made ready ahead of time. It never changes what is played.

    Guarantee
    ---------
    With epsilon="adaptive", fresh noise and an exact oracle, against adaptive adversaries:
    expected regret at most :math:`2\,E[D_T] \le 2\sqrt{2\kappa G V} + 2R`, with D_T measured on
    the way and reported by `certificate`. With epsilon="theorem":
    `bounds.complete_information`. [syrgkanis2016, Theorem 2]

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.ContextFTPL(oracle, seed=0)
    >>> for t in range(100):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1])
    >>> learner.act(0), learner.best_policy()(0)
    (1, 1)

    References
    ----------
    [syrgkanis2016]
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Sequence[Any] | None = None,
        separator: Sequence[Any] | None = None,
        *,
        pool: Sequence[Any] | None = None,
        epsilon: float | str = "adaptive",
        horizon: int | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        noise: str = "fresh",
        noise_memory: int = 2**26,
    ) -> None:
        super().__init__(
            oracle,
            contexts,
            separator,
            pool,
            epsilon,
            horizon,
            seed,
            loss_range,
            noise,
            noise_memory,
        )
        self._loss = 0.0
        self._stability = 0.0
        self._last_scale = 0.0

    def _act(self, context: Any) -> Action:
        if self._anytime and self._open is None:
            self._widen(self._kappa * self._width**2)
        action = self._history.action(context, self._fakes, self._draw, self._scale)
        self.oracle_calls += 1
        return action

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        unsized = self._sized is None
        try:
            self._learn(context, action, loss)
        except BaseException:
            if unsized:  # a refused loss vector does not say how many actions there are
                self._sized = self._complexity = self._fakes = None
            raise

    def _learn(self, context: Any, action: Action, loss: Any) -> None:
        losses, low, high = self._check_loss(loss)
        suffered = loss_of(losses, action)
        sized = self._sized
        if sized is None:
            self._learn_size(len(losses))
        try:
            instability = self._settle(context, losses, suffered, low)
        except BaseException:
            self._sized = sized
            raise
        self._loss += suffered
        self._stability += self._stability_bound(low, high)
        self._last_scale = self._scale
        self._tune(instability)
        self._see(context)
        if self.noise == "fresh":
            self._draw += 1

    def _settle(self, context: Any, losses: Any, suffered: float, low: float) -> float:
        """Add the round; what it cost not to have known it, where that is measured."""
        if not self._adaptive:
            self._history.add(context, losses)
            return 0.0
        if suffered > low and self._perturbed:
            # Instability may show, and then G is asked for. If the oracle fails at that, it must
            # be now, while nothing has been changed.
            _ = self.complexity
        foreseeing = self._history.settle(context, losses, self._fakes, self._draw, self._scale)
        self.oracle_calls += 1
        # Never negative, but for rounding in the totals.
        return suffered - loss_of(losses, foreseeing)

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """What can be said about regret so far.

        Parameters
        ----------
        confidence
            Probability of the high-probability statement.
        """
        check_probability(self, "confidence", confidence)
        regret = self._loss - float(self._history.minima(None, 0, 1, 0.0)[0])
        known = {"rounds": self.rounds, "loss": self._loss, "realised_regret": regret}
        notes = []
        if not self._covered:
            notes.append("contexts were not known in advance: no theorem applies")
        if not self.oracle.exact:
            notes.append("the oracle is inexact: no theorem applies, true regret may be larger")
        if self.noise == "once":
            notes.append("noise drawn once: bounds need an oblivious adversary and a fixed ε")
        covered = self._covered and self.oracle.exact
        if not covered or (self.noise == "once" and self._adaptive):
            return Certificate(**known, notes=tuple(notes))  # type: ignore[arg-type]
        # G/ε of the last round; three standard errors are added where G is an estimate.
        error = self._last_scale * self.complexity.upper if self._last_scale else 0.0
        measured = self._D + error if self._adaptive else None
        certain = None
        if measured is not None and math.isfinite(self._width) and confidence < 1.0:
            spread = math.sqrt(self.rounds * -math.log1p(-confidence) / 2.0)
            certain = measured + self._width * spread
        return Certificate(
            **known,  # type: ignore[arg-type]
            measured=measured,
            a_priori=self._stability + error,
            high_probability=certain,
            confidence=confidence,
            notes=tuple(notes),
        )

    def _check_loss(self, loss: Any) -> tuple[Any, float, float]:
        """The loss in the form the oracle takes, and the range to bound instability with."""
        functions = self.oracle.takes_functions
        losses: Any
        if isinstance(loss, LossFunction):
            if not functions:
                raise LossError(
                    f"{type(self.oracle).__name__} takes a loss for each element, not a loss "
                    f"function; got {loss!r}."
                )
            if loss.n_actions != self._n_actions:
                raise LossError(
                    f"The loss function is on {loss.n_actions} elements; the oracle has "
                    f"{self._n_actions}."
                )
            losses, (low, high) = loss, loss.extremes()
        else:
            losses, low, high = check_losses(loss, self._n_actions, self._range)
            m = self.oracle.max_chosen
            if m > 1:
                low, high = m * min(low, 0.0), m * max(high, 0.0)
        if functions:
            slack = 1e-9 * max(1.0, abs(low), abs(high))
            if low < self._range[0] - slack or high > self._range[1] + slack:
                raise LossError(
                    f"The loss of a set must lie in loss_range={self._range}; this one may range "
                    f"from {low:g} to {high:g}. Pass the range of the losses of whole sets as "
                    "loss_range=(low, high)."
                )
        return losses, low, high

    @property
    def _n_actions(self) -> int | None:
        return None if self._sized is None else self._sized.n_actions

    def _stability_bound(self, low: float, high: float) -> float:
        r"""An upper bound on what instability can cost in a round with losses in [low, high].

        By the shift lemma it is at most :math:`\min(v, \epsilon\kappa v^2)`; κ and v go together.
        """
        kappa, v = self._kappa, high - low
        return kappa * v * v / self._scale if kappa * v < self._scale else v

    @property
    def _width(self) -> float:
        """How much more than another an action can lose in a round."""
        low, high = self._range
        if self.oracle.max_chosen == 1 or self.oracle.takes_functions:
            return high - low
        return self.oracle.max_chosen * (max(high, 0.0) - min(low, 0.0))

    @property
    def _kappa(self) -> float:
        m = self.oracle.max_chosen if self.oracle.antichain else self._n_actions or 1
        if self._arrivals is None:
            return float(m * len(self._perturbed))
        linear = not self.oracle.takes_functions
        return 1.0 if linear and self._range[0] >= 0.0 else float(m)

    def _theorem_epsilon(self) -> float:
        assert self.horizon is not None
        low, high = self._range
        m = self.oracle.max_chosen
        functions = self.oracle.takes_functions
        return complete_information(
            self.horizon,
            d=len(self._perturbed),
            n_actions=self.oracle.n_actions or 1,
            log_size=self._log_size(),
            m=m,
            loss_bound=max(abs(low), abs(high)) / (m if functions else 1),
            setting="transductive" if self._arrivals is not None else "separator",
            nonnegative=low >= 0.0 and not functions,
        ).epsilon
