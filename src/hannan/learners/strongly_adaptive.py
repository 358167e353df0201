"""Low regret on every interval of rounds, by mixing copies of a learner."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Action, Feedback, Learner, LossFunction, Objective, Oracle, ParameterError
from hannan.core.oracle import Timed, loss_spread
from hannan.core.policy import Policy, loss_of
from hannan.core.rounds import OpenRound, Retry
from hannan.core.state import (
    Array,
    Count,
    ListOf,
    NoiseKey,
    Number,
    Object,
    Part,
    State,
    TuplesOf,
    require,
    same,
)
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, check_integer, check_loss_range, check_seed, refuse
from hannan.kernels.normalhedge import weights
from hannan.learners.certificates import feedback_notes, realised
from hannan.learners.shown_losses import check_full_losses
from hannan.learners.statements import Certificate
from hannan.perturbation import seed_key

_NOISE = 2**18  # bytes of noise generated in advance by each copy; the number of copies grows


@dataclass(slots=True)
class Copy(Stored):
    """A copy of the learner on one interval of rounds, counted from 1."""

    learner: Any
    start: int
    end: int | None  # the last round; None for the copy that never ends
    prior: float
    regret: float = 0.0  # R: regret of the mixture against it since its start, in widths
    magnitude: float = 0.0  # C: the sum of the absolute values of the terms of R

    stored = State(
        learner=Object(Learner),
        start=Count(),
        end=Count() | None,
        prior=Number(0.0, 1.0),
        regret=Number(),
        magnitude=Number(low=0.0),
    )


_COPY = Object(Copy).where(lambda self, copy: same(copy.learner, self.learner, ("seed",)))


def scales_from(t: int, shortest: int) -> list[int]:
    """Return the lengths of the covering intervals that start in round t = 1, 2, …

    The intervals are :math:`[i 2^j, (i + 1) 2^j)` with i ≥ 1. The shortest length, a power of two,
    also has i = 0; this interval starts in round 1, because there is no round 0.
    """
    if t == 1:
        return [shortest]
    lengths = []
    while t % shortest == 0:
        lengths.append(shortest)
        shortest *= 2
    return lengths


class StronglyAdaptive(Learner):
    r"""Mix copies of a learner on covering intervals, for low regret on every interval of rounds.

    A fresh copy of `learner` runs on each interval :math:`[i 2^j, (i+1) 2^j)` of rounds, for each
    power of two from the shortest length M on. One more copy never ends. So about
    :math:`2 + \log_2 (t/M)` copies are awake in round t. The learner draws one of them, J, with
    probability proportional to :math:`q_J\, w(R_J, C_J)` and plays its action. All copies observe
    all losses. Here :math:`R_J = \sum r` and :math:`C_J = \sum |r|` since J began. In each round,
    r is the expected loss of the mixture minus the loss of J, in units of the loss range. As in
    AdaNormalHedge,

    .. math:: w(R, C) = \tfrac12 \bigl(\Phi(R+1, C+1) - \Phi(R-1, C+1)\bigr), \qquad
              \Phi(R, C) = \exp\bigl([R]_+^2 / 3C\bigr) .

    The prior :math:`q_J = 1/(i^2 |J|)` favours long intervals and has a finite sum. The copy
    without end counts as an interval of the length of the run so far, :math:`q = 1/t`.

    Parameters
    ----------
    learner
        Any full-information learner with a finite `loss_range`. The copies are clones of it; the
        original stays unchanged.
    shortest
        Length of the shortest intervals, rounded up to a power of two. Default 8. A smaller value
        follows faster drift with more copies.
    seed
        Seed of the choice among copies; the copies' seeds come from the learner's seed. None
        (default) takes fresh entropy.

    Guarantee
    ---------
    Against adaptive adversaries, for losses of width W: in every interval J that ended by round
    T ≥ M, and for the copy without end in all T rounds, the mixture loses at most
    :math:`W \sqrt{3 |J| \Lambda_T}` more than the copy, with
    :math:`\Lambda_T = 2 \log(2.3\, T/M) + \log(\tfrac52 + \tfrac32 \log(1+T))`.
    Any interval :math:`I = \{a, \dots, b\}` of rounds is, except for fewer than M rounds at each
    end, a union of at most :math:`2 \log_2 |I| + 2` such intervals, of lengths that first grow and
    then shrink. Therefore against *every* policy

    .. math:: E[\mathrm{Regret}(I)] \le \sum_{J \subseteq I} E[\mathrm{Regret}_J(\text{copy})]
              + (2 + \sqrt 2)\, W \sqrt{3 |I| \Lambda_b} + 2 (M - 1) W ,

    and a copy whose regret is at most :math:`c \sqrt{|J|}` adds at most
    :math:`(2 + \sqrt 2)\, c \sqrt{|I|}` in the first sum. If the best policy changes k times, the
    regrets of the k + 1 intervals between changes add up. The learner needs to know neither k nor
    the changes. Proof: docs/explanation/paper-sharper.md, section 3.12.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.StronglyAdaptive(hn.ContextFTPL(oracle, seed=0), seed=0)
    >>> for t in range(200):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1] if t < 150 else [0.1, 0.9])
    >>> learner.act(0), learner.best_policy()(0)
    (0, 1)

    References
    ----------
    [daniely2015], [luo2015], [jun2017]
    """

    oracle: Oracle

    stored = State(
        _n_actions=(Count() | None).where(
            lambda self, n: n == self.oracle.n_actions or self.oracle.n_actions is None
        ),
        _key=NoiseKey(),
        _awake=ListOf(_COPY),
        _made=Count(),
        _retry=Part(),
        _retired_calls=Count(),
        _decided=Count(),
        _history=Part(),
        _loss=Number(),
    )

    class Round(OpenRound):
        time: int = 1  # its number in the order of decisions
        made: int = 0  # number of copies started so far, including those of this round
        awake: tuple[Copy, ...] = ()
        inner: tuple[OpenRound, ...] = ()  # the round of each copy
        mixture: FloatArray = np.empty(0)  # the probability of each copy

        stored = State(
            time=Count(low=1),
            made=Count(),
            awake=TuplesOf(_COPY).where(lambda self, awake: awake),
            inner=TuplesOf(Object(OpenRound), length=lambda self: len(self.awake)).where(
                lambda self, inner: all(
                    type(each) is copy.learner.Round
                    for each, copy in zip(inner, self.awake, strict=True)
                )
            ),
            mixture=Array(lambda self: len(self.awake), low=0.0, high=1.0 + 1e-9),
        )

    def __init__(self, learner: Learner, *, shortest: int = 8, seed: int | None = None) -> None:
        super().__init__()
        self.learner = learner
        self.shortest = check_integer(self, "shortest", shortest, 1)
        self.seed = check_seed(self, seed)
        self.oracle = self._check_learner(learner)
        self._range = check_loss_range(self, self.loss_range)
        self._shortest = 1 << (self.shortest - 1).bit_length()
        self._n_actions = self.oracle.n_actions
        self._key = seed_key(seed)
        self._awake: list[Copy] = []
        self._made = 0
        self._retry = Retry()  # copies that have not learned the last round
        self._retired_calls = 0  # oracle calls of ended copies, and for unavailable actions
        self._decided = 0
        self._history = self.oracle.objective()
        self._loss = 0.0

    def _check_state(self) -> None:
        awake = self._awake
        require(self, copies=awake or not self.rounds)
        for name, (learner, inner), losses in self._retry.steps:
            known = any(learner is copy.learner for copy in awake)
            require(self, steps=name == "_teach" and known and type(inner) is learner.Round)
            check_full_losses(self.oracle, losses, self._n_actions, self._range)

    @property
    def loss_range(self) -> tuple[float, float]:
        """Loss range of the learner."""
        return self.learner.loss_range  # type: ignore[attr-defined,no-any-return]

    def best_policy(self) -> Policy:
        """Return the best policy for all losses so far, with equal weights for all rounds."""
        return self._history.leader()

    def certificate(self) -> Certificate:
        """Return the regret realised so far against the best policy for all rounds."""
        note = "on every interval of rounds the bound is that of the copies plus that of mixing"
        notes = [note, *feedback_notes(self._ledger)]
        return realised(self.rounds, self._loss, self._history, self._availability, *notes)

    def regret_bound(self) -> float | None:
        """Return the bound of the copy without end, plus the mixture's regret against it."""
        if not self._ledger.immediate:
            return None
        if not self.rounds:
            return self.learner.regret_bound()
        self._catch_up()
        bound: float | None = self._awake[0].learner.regret_bound()
        T, M = self.rounds, self._shortest
        slack = 2.0 * math.log(2.3 * max(T / M, 1.0)) + math.log(2.5 + 1.5 * math.log1p(max(T, M)))
        return None if bound is None else bound + self._width * math.sqrt(3.0 * T * slack)

    # The round --------------------------------------------------------------------------------

    def _prepare(self, opened: Round) -> None:
        """Set the copies that are awake, and the probability of following each of them."""
        self._catch_up()
        ledger = self._ledger
        opened.time = self._decided - ledger.dropped - ledger.supersedes_open_round(opened) + 1
        awake, opened.made = self._waking(opened.time)
        opened.awake = tuple(awake)
        opened.mixture = self._mixture(awake, opened.time)

    def _act(self, opened: Round) -> None:
        """Let all copies act, and follow one of them."""
        asked = opened.context, opened.plays if self._scores_actions else None, opened.late
        opened.inner = tuple(copy.learner.begin(*asked) for copy in opened.awake)
        (drawn,) = _drawn(opened.mixture, np.array([self._uniform()]))
        opened.play(opened.inner[drawn].action)

    def _played(self, opened: Round) -> None:
        for copy, inner in zip(opened.awake, opened.inner, strict=True):
            copy.learner.commit(inner, recorded=False)
        gone = [copy for copy in self._awake if all(copy is not each for each in opened.awake)]
        self._retired_calls += sum(copy.learner.oracle_calls for copy in gone) + opened.calls
        opened.calls = 0
        self._awake, self._made = list(opened.awake), opened.made
        self._awake[0].prior = self._endless_prior(opened.time)
        self._decided += 1
        self._count_calls()

    def _update(self, opened: Round, loss: Any) -> None:
        """Let all copies learn from the losses, and update the regret against each."""
        self._catch_up()  # another delayed loss may have come just before
        losses = check_full_losses(self.oracle, loss, self._n_actions, self._range)[0]
        costs = np.array([loss_of(losses, inner.action) for inner in opened.inner])
        gains = (float(opened.mixture @ costs) - costs) / self._width
        self._history.add(opened.context, losses)
        self._n_actions = losses.n_actions if isinstance(loss, LossFunction) else len(losses)
        self._loss += loss_of(losses, opened.chosen)
        for copy, gain in zip(opened.awake, gains.tolist(), strict=True):
            copy.regret += gain
            copy.magnitude += abs(gain)
        for copy, inner in zip(opened.awake, opened.inner, strict=True):
            inner.late = opened.late  # this may have changed since the decision
            # Copies whose intervals are over do not learn from a delayed loss.
            if any(copy is each for each in self._awake):
                self._retry.steps.append(("_teach", (copy.learner, inner), losses))
        try:
            self._retry.finish(self)
        except Exception:  # the round is complete: a failed copy tries again before the next one
            self._retry.keep(*self._retry.steps)
        self._count_calls()

    def _teach(self, learner: Learner, inner: OpenRound, losses: Any) -> None:
        """Let a copy learn from a round."""
        learner.close(inner, losses, recorded=False)

    def _catch_up(self) -> None:
        """Let all copies learn from the last round that have failed to do so."""
        if self._retry.steps:
            self._retry.finish(self)
            self._count_calls()

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        drawn = _drawn(opened.mixture, rng.random(copies))
        inside = opened.available if self._scores_actions else None
        answers, actions = {}, []
        for j, n in Counter(drawn).items():
            asked = opened.context, n, int(rng.integers(2**63)), inside
            answers[j] = iter(opened.awake[j].learner.would_play(*asked))
        for j in drawn:
            opened.play(next(answers[j]))
            actions.append(opened.action)
        return actions

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.learner.loss_suffered(action, loss)

    # Parts ------------------------------------------------------------------------------------

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self.learner.check_context(context, ahead)

    @property
    def _scores_actions(self) -> bool:
        return self.learner._scores_actions

    @property
    def action_count(self) -> int | None:
        return self._n_actions

    def _total(self) -> Objective:
        return self._history

    def _waking(self, t: int) -> tuple[list[Copy], int]:
        """Return the copies awake in round t, and the number of copies started so far."""
        awake = [copy for copy in self._awake if copy.end is None or copy.end >= t]
        if any(copy.start == t for copy in awake):
            return awake, self._made  # this round replaces a dropped one
        lengths = [0] * (t == 1) + scales_from(t, self._shortest)
        awake += [self._start(number, t, each) for number, each in enumerate(lengths, self._made)]
        return awake, self._made + len(lengths)

    def _mixture(self, awake: list[Copy], t: int) -> FloatArray:
        """Return the probability of each copy in round t."""
        numbers = [(copy.prior, copy.regret, copy.magnitude) for copy in awake]
        priors, R, C = np.array(numbers).T.copy()
        priors[0] = self._endless_prior(t)
        mixture = priors * weights(R, C)
        # If all weights are zero, use the priors.
        mixture = mixture if mixture.any() else priors
        return np.asarray(mixture / mixture.sum())

    def _endless_prior(self, t: int) -> float:
        """Return the prior of the copy without end; it may fall, as the potential does."""
        return 1.0 / max(t, self._shortest)

    def _start(self, number: int, t: int, length: int) -> Copy:
        learner: Any = self.learner.fresh(number)
        _limit_noise(learner)
        if hasattr(learner, "share_complexity"):
            # G belongs to the policy class and is expensive, so all copies share it.
            for copy in self._awake:
                learner.share_complexity(copy.learner)
        if not length:
            return Copy(learner, t, None, 1.0)
        i = t // length
        return Copy(learner, t, (i + 1) * length - 1, 1.0 / (max(i, 1) ** 2 * length))

    def _count_calls(self) -> None:
        self.oracle_calls = self._retired_calls + sum(c.learner.oracle_calls for c in self._awake)

    def _uniform(self) -> float:
        """Return the uniform number in [0, 1) of the round."""
        counter = [0, 0, 0, self._decided]
        return np.random.Generator(np.random.Philox(key=int(self._key), counter=counter)).random()

    @property
    def _width(self) -> float:
        return loss_spread(self.oracle, *self._range)

    def _restored(self) -> None:
        for copy in self._awake:
            _limit_noise(copy.learner)

    def _check_learner(self, learner: Any) -> Oracle:
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner", learner)
        name = type(learner).__name__
        if learner.feedback is not Feedback.FULL:
            raise ParameterError(
                "StronglyAdaptive needs full information, because every copy must know the loss "
                f"of the action that it chose; {name} learns from {learner.feedback.value} "
                "feedback. Use Restarting for bandit feedback."
            )
        if learner.oracle is None:
            raise ParameterError(
                f"StronglyAdaptive needs a learner with an oracle, such as ContextFTPL; {name} has "
                "none."
            )
        if getattr(learner, "knows_future", False) or isinstance(learner.oracle, Timed):
            raise ParameterError(
                "StronglyAdaptive starts copies during the run, so it does not support learners "
                f"with a fixed context sequence or a class that changes with time; got {name}. Use "
                "ContextFTPL with a class that does not change."
            )
        low, high = check_loss_range(self, getattr(learner, "loss_range", None))
        if not math.isfinite(high - low):
            raise ParameterError(
                "StronglyAdaptive compares losses in units of their range, which must be finite. "
                f"Create {name} with a finite loss_range=(low, high)."
            )
        return learner.oracle


def _limit_noise(learner: Any) -> None:
    if hasattr(learner, "limit_noise"):
        learner.limit_noise(_NOISE)


def _drawn(mixture: FloatArray, uniform: FloatArray) -> list[int]:
    """Return the index of the copy to follow, for each number in [0, 1)."""
    ends = mixture.cumsum()
    places = ends.searchsorted(uniform * ends[-1], side="right")
    return np.minimum(places, len(ends) - 1).tolist()  # type: ignore[no-any-return]
