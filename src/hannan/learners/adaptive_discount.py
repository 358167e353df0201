"""The recommended learner for full information: several discount factors and a meta-learner."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from hannan.core import (
    Action,
    Learner,
    LossError,
    LossFunction,
    Noise,
    Objective,
    OpenRound,
    Oracle,
    ParameterError,
    Policy,
    Predictor,
)
from hannan.core.arrays import Contexts
from hannan.core.discounted_totals import Choices, Draws, discounted_totals_of
from hannan.core.oracle import Draw, Timed, eagerness_of, fixed_actions, loss_spread, losses_alone
from hannan.core.policy import loss_of
from hannan.core.predictor import adopt, advice_of
from hannan.core.rounds import Choice, IntArray, chooses_sets, n_actions_of
from hannan.core.state import Array, Count, Flag, ListOf, NoiseKey, Number, Part, State
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_loss_range,
    check_probability,
    check_seed,
    refuse,
)
from hannan.learners import certificates
from hannan.learners.context_set import ContextSet, Pool
from hannan.learners.meta_learner import MetaLearner, Tuning
from hannan.learners.perturbed_leader import (
    NoisyRound,
    Past,
    PerturbedLeader,
    distribution_of,
    replay,
    shares,
)
from hannan.learners.shown_losses import check_full_losses, warn_of_empty_set
from hannan.learners.statements import Certificate
from hannan.learners.step_size import SelfTuned
from hannan.perturbation import seed_key

DISCOUNTS = (1.0, 0.999, 0.99, 0.9, 0.5, 0.1)

_HIDDEN_STREAM = 5  # random stream of the hidden noise draws; no action depends on it
_HIDDEN_MEMORY = 2**16  # bytes; hidden noise is drawn in the order in which losses arrive


# The action of each base learner.
_CHOICES = ListOf(Choice(), length=lambda self: len(self.scales)).where(
    lambda self, _: chooses_sets(self)
) | Array(
    lambda self: len(self.scales), dtype=np.intp, low=0, below=lambda self: n_actions_of(self)
).where(lambda self, _: not chooses_sets(self))


class AdaptiveDiscount(Learner):
    r"""Combine perturbed leaders with different discount factors by a self-tuned meta-learner.

    For each discount γ a *base learner* acts like `Discounted`: it follows the leader of the
    losses :math:`\sum_{t<T} \gamma^{T-t} \ell_t` under separate noise. In each round a
    meta-learner follows one base learner: the one with the least total loss under Laplace noise.
    The meta-learner observes the loss of every base learner's action and tunes its noise by its
    own instability cost. You need to know neither how fast the environment drifts nor any noise
    size.

    Parameters
    ----------
    oracle, contexts, separator, seed, loss_range
        As in `ContextFTPL`.
    discounts
        Discount factors γ of the base learners: distinct numbers in (0, 1]. With 1, all rounds
        count fully. Default: six factors from 1 to 0.1.
    predictor
        Model of the losses, for single actions only. It adds one more base learner, which plays
        the predictor's recommendation. The meta-learner is never much worse than it, and the
        guarantee against the other base learners stays valid. Default: None.

    Guarantee
    ---------
    With an exact oracle, against adaptive adversaries, for losses of width W and n base learners.
    Let M_T be the meta-learner's own bound, :math:`E[M_T] \le \tfrac54 W (2\sqrt{2 G_n T} + 1)`,
    with G_n the mean of the largest of n unit Laplace variates, 1.76 for the default six. Let C_γ
    be the bound of `Discounted` on discounted regret. Then for *every* γ among the discounts, with
    :math:`L_\gamma(t) = \min_\pi \sum_{s \le t} \gamma^{t-s} \ell_s(\pi(x_s))`,

    .. math:: E \sum_{t \le T} \ell_t(a_t) \le E \Bigl[ L_\gamma(T) + (1-\gamma) \sum_{t<T}
              L_\gamma(t) \Bigr] + (1 + (1-\gamma)(T-1))\, C_\gamma + E[M_T] .

    For γ = 1 this is regret against the best policy, at most
    :math:`2\sqrt{2\kappa G V} + 2W + E[M_T]`. Against a sequence of policies that changes k times
    the first term is at most its loss plus :math:`k W \gamma/(1-\gamma)`. `regret_bound(switches)`
    is the smallest of these bounds. `certificate` measures those of the meta-learner and of the
    base learner with γ = 1 during the run. Proofs: docs/explanation/paper-sharper.md, section 3.12.

    With delayed feedback (`decide`, `update(…, decision=…)`) the certificate stays valid against
    fixed policies for all rounds decided, even if the delays depend on the actions. Every decision
    without feedback adds 2W to it. `regret_bound` is None after the first delayed loss.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.AdaptiveDiscount(hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]]), seed=0)
    >>> for t in range(300):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1] if t < 200 else [0.1, 0.9])
    >>> learner.act(1), learner.best_policy()(0)
    (0, 0)

    References
    ----------
    [syrgkanis2016], [derooij2014]
    """

    oracle: Oracle
    noise_memory: ClassVar[int] = 2**27
    """Bytes of noise generated in advance; the actions do not depend on this number."""

    stored = State(
        _discounted_totals=Part(),
        _leader=Part(),
        _key=NoiseKey(),
        _tuning=Part(),
        predictor_=Part(),
        _meta_learner=Part(),
        _account=Part(),
    )

    class Round(OpenRound):
        """A round of all base learners and the meta-learner."""

        first: int = 0  # number of the first draw; base learner i takes draw first + i
        learned: int = 0  # number of rounds with feedback before this decision
        scales: FloatArray = np.empty(0)  # 1/ε of each base learner
        meta_scale: float = 0.0  # 1/ε of the meta-learner
        actions: Choices = np.empty(0, np.intp)  # the action of each base learner
        followed: int = 0  # index of the base learner that the meta-learner follows
        measures_delays: bool = False  # whether the round has hidden noise draws
        hidden_choices: Choices = actions  # `actions` and `followed` under the hidden noise draws
        hidden_followed: int = 0
        advice: int | None = None  # the predictor's recommendation

        stored = State(
            first=Count(),
            learned=Count(),
            scales=Array(lambda self: len(self._rates), low=0.0),
            meta_scale=Number(low=0.0),
            actions=_CHOICES,
            advice=Choice(single=True) | None,
            followed=Count(lambda self: len(self.scales) + (self.advice is not None)),
            measures_delays=Flag(),
            hidden_choices=_CHOICES
            | Array(0, dtype=np.intp).where(lambda self, _: not self.measures_delays),
            hidden_followed=Count(lambda self: len(self.scales) + (self.advice is not None)),
        )

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | Pool | None = None,
        separator: Contexts | None = None,
        *,
        discounts: Sequence[float] = DISCOUNTS,
        predictor: Predictor | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        if isinstance(oracle, Timed):
            raise ParameterError(
                f"AdaptiveDiscount cannot discount the past of {type(oracle).__name__}, a policy "
                "class that changes with time. Use ContextFTPL."
            )
        self.contexts = contexts
        self.separator = separator
        self.discounts = discounts
        self.predictor = predictor
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        warn_of_empty_set(self, oracle, self._range)
        self._rates = self._check_discounts(discounts)
        # Index of the base learner with γ = 1.
        self._plain = self._rates.index(1.0) if 1.0 in self._rates else None
        key = seed_key(seed)
        X = ContextSet(self, oracle, contexts, separator, key)
        self._discounted_totals = discounted_totals_of(oracle, self._rates, X.points)
        nonnegative = not oracle.takes_functions and self._range[0] >= 0.0
        self._leader = PerturbedLeader(
            oracle, X, oracle.objective(), key, seed, self.noise_memory, nonnegative=nonnegative
        )
        self._key = key
        self._hidden: tuple[Noise | None, Noise | None] = (None, None)
        self._tuning = Tuning(self._rates)
        self.predictor_: Any = None if predictor is None else self._adopt(predictor)
        self._meta_learner = MetaLearner(len(self._rates) + (predictor is not None), key)
        self._account = certificates.Account()

    # The round --------------------------------------------------------------------------------

    def _prepare(self, opened: Round) -> None:
        """Set ε and the noise draws of every base learner and of the meta-learner."""
        leader = self._leader
        opened.first = leader.number
        opened.learned = self.rounds
        # η G, the divisor of the peak of D; 0 while there is no noise.
        G = None if leader.noise is None else leader.found
        size = 0.0 if G is None else eagerness_of(self.oracle) * G.value
        opened.scales = self._tuning.scales(size)
        opened.meta_scale = self._meta_learner.scale
        # With `decide`, the order of the losses may depend on the actions. So a round must not be
        # measured under the noise that chose its action.
        opened.measures_delays = self._ledger.made > 0 or opened.number is not None
        if self.predictor_ is not None:
            opened.advice = advice_of(
                self.predictor_, opened.context, opened.available, self.oracle.n_actions
            )

    def _act(self, opened: Round) -> None:
        """Let every base learner choose, and follow one of them."""
        discounted_totals, leader, meta_learner = (
            self._discounted_totals,
            self._leader,
            self._meta_learner,
        )
        context, first, plays = opened.context, opened.first, self._scored_plays(opened)
        opened.actions = discounted_totals.actions(
            context, Draws(leader.noise, first, opened.scales), plays
        )
        opened.followed = meta_learner.choose(opened, hidden=False)
        opened.calls += len(self._rates)
        if opened.measures_delays:
            draws = Draws(self._hidden_noise(leader), first, opened.scales)
            opened.hidden_choices = discounted_totals.actions(context, draws, plays)
            opened.hidden_followed = meta_learner.choose(opened, hidden=True)
            opened.calls += len(self._rates)
        if opened.followed == len(self._rates):
            assert opened.advice is not None
            opened.play(opened.advice)
        else:
            choice = opened.actions[opened.followed]
            opened.play(int(choice) if isinstance(opened.actions, np.ndarray) else choice)

    def _played(self, opened: Round) -> None:
        self._leader.advance(len(self._rates))
        if self._leader.owed:
            opened.calls += self._leader.collect()

    def _update(self, opened: Round, loss: Any) -> None:
        """Let all base learners learn from the losses, and add their instability costs."""
        if isinstance(loss, LossFunction):
            raise LossError(
                "AdaptiveDiscount needs a loss for each element, not a loss function; got "
                f"{loss!r}."
            )
        known, context = self._leader.n_actions, opened.context
        f, low, high = check_full_losses(self.oracle, loss, known, self._range)
        leader = self._leader if known is not None else self._leader.sized(len(f))
        later = leader.seeing(context) or leader  # on the renewed X, if X is due for renewal
        costs = _costs(f, opened.actions)
        measured = _costs(f, opened.hidden_choices) if opened.measures_delays else costs
        missed = self.rounds - opened.learned
        out_of_order = missed > 0 and not opened.measures_delays
        top = self._tuning.reached(opened.scales, missed)
        unready = leader.noise is None or later is not leader
        if unready and (self._tuning.peak.any() or out_of_order or measured.max() > low):
            # The scales of the next round need G: if the oracle fails, let it fail now.
            later.get_ready()
        noise = self._hidden_noise(leader) if opened.measures_delays else leader.noise
        if out_of_order:
            measured, foreseen = np.full(len(costs), high), np.full(len(costs), low)
            self._learn(opened, f)
            self._discounted_totals.add(context, f)
        else:
            asked = context, Draws(noise, opened.first, top), self._scored_plays(opened), f
            if self.predictor_ is None:
                after = self._discounted_totals.settle(*asked)
            else:  # the predictor may fail, too, so the round is added last
                after = self._discounted_totals.actions(*asked)
                self._learn(opened, f)
                self._discounted_totals.add(context, f)
            foreseen = _costs(f, after)
            opened.calls += len(self._rates)
        # From here on nothing can fail.
        account = self._account
        bases = costs if opened.advice is None else np.append(costs, f[opened.advice])
        account.loss += bases.item(opened.followed)
        if self._plain is not None:
            scale = opened.scales.item(self._plain)
            account.stability += leader.stability(high - low, scale)
        self._tuning.after(top, measured, foreseen)
        self._meta_learner.learn(opened, bases, out_of_order)
        if leader.X.takes_new_contexts and later is leader:
            leader.X.see(context)
        if leader.owed or later.owed:
            opened.calls += leader.collect() + later.collect()
        self._leader = later

    def _learn(self, opened: Round, losses: FloatArray) -> None:
        """Let the predictor learn from the losses of all available actions."""
        if self.predictor_ is not None:
            some = opened.available
            seen = np.arange(len(losses)) if some is None else some
            self.predictor_.learn(opened.context, seen, losses[seen])

    # Statements -------------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """Return the best policy for the losses with the discount of the best base learner."""
        totals = self._meta_learner.totals[: len(self._rates)]
        return losses_alone(self._discounted_totals.total(int(totals.argmin()))).leader()

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """Return the statements on the regret against fixed policies so far.

        `confidence` is that of the high-probability statement.
        """
        check_probability(self, "confidence", confidence)
        game, ledger, plain = self._evidence(), self._ledger, self._plain
        notes = game.obstacles()
        if plain is None:
            notes.append(
                "no base learner has discount 1: there is no statement on regret against fixed "
                "policies"
            )
        loss, regret = self._account.loss, None
        if plain is not None:
            regret, unknown = certificates.realised_regret(
                loss, self._discounted_totals.total(plain)
            )
            notes += unknown
        missing = len(ledger.waiting) + ledger.discarded
        # A round that a second `act` replaced had no hidden noise draw. So which rounds remain may
        # depend on the noise under which they are measured.
        void = ledger.dropped > 0
        if void:
            notes += certificates.feedback_notes(ledger)
        elif missing:
            notes.append(
                f"decisions without feedback: {missing}; the bounds count each at twice the width "
                "of the losses"
            )
            void = math.isinf(self._width)
        if ledger.delayed:
            notes.append("feedback was delayed: only the measured bound holds")
        notes += certificates.availability_notes(self._availability)
        bounds: dict[str, Any] = {}
        if plain is not None and not void and game.has_theorem:
            tuning, own = self._tuning, self._meta_learner.tuning
            G = self._leader.complexity().upper if tuning.top[plain] else 0.0
            error = G * float(tuning.top[plain]) + self._meta_learner.G * float(own.top[0])
            without_feedback = 2.0 * self._width * missing if missing else 0.0
            measured = float(tuning.D[plain] + own.D[0]) + error + without_feedback
            bounds = {"measured": measured, "confidence": confidence}
            if not ledger.delayed and not missing:
                bounds["a_priori"] = self._account.stability + self._meta_learner.stability + error
                # Each noise draw of a round moves the sum by one width: one of the base learner,
                # one of the meta-learner, and their hidden ones.
                draws = (4 if ledger.made else 2) * self.rounds
                bounds["high_probability"] = certificates.likely_bound(
                    measured, self._width, draws, confidence
                )
        return Certificate.of(self.rounds, loss, notes, realised_regret=regret, **bounds)

    def regret_bound(self, switches: int = 0) -> float | None:
        """Return an upper bound on the expected regret so far, for any adversary, or None.

        The comparator is the best sequence of policies with at most `switches` changes; 0
        (default) is a fixed policy.
        """
        k = check_integer(self, "switches", switches, 0)
        T = self.rounds
        if not self._evidence().has_theorem or not self._ledger.immediate:
            return None
        if T == 0:
            return 0.0
        if not math.isfinite(self._width):
            return None
        least = math.inf
        for rate in self._rates if k == 0 else [rate for rate in self._rates if rate < 1.0]:
            # Discounted regret at every time, and the cost of a change until it is discounted away.
            changes = self._width * k * rate / (1.0 - rate) if k else 0.0
            least = min(least, (1.0 + (1.0 - rate) * (T - 1)) * self._base_bound(rate, T) + changes)
        return None if math.isinf(least) else least + self._meta_learner.bound(T, self._width)

    def worst_case(
        self, rounds: int, restarts: int, total_delay: int = 0, without_feedback: int = 0
    ) -> float | None:
        """Return the bound against fixed policies with restarts; infinite if none is known."""
        if total_delay or without_feedback:
            return math.inf
        known = math.isfinite(self._width) and self._leader.n_actions is not None
        if self._plain is None or not known or not self._evidence().has_theorem:
            return math.inf
        own = self._meta_learner.bound(rounds, self._width, restarts)
        return own + self._base_bound(1.0, rounds, restarts)

    def _base_bound(self, rate: float, rounds: int, restarts: int = 0) -> float:
        """Return C, a bound on the expected discounted regret of a base learner."""
        weights = rounds if rate == 1.0 else (1.0 - rate ** (2 * rounds)) / (1.0 - rate**2)
        return self._evidence().self_tuned(rounds, restarts, squares=self._width**2 * weights)

    @property
    def base_losses(self) -> dict[float | str, float]:
        """Total loss of each base learner by its discount: shows which discount suits the data."""
        names: list[float | str] = [*self._rates]
        if self.predictor_ is not None:
            names.append("predictor")
        return dict(zip(names, self._meta_learner.totals.tolist(), strict=True))

    def loss_suffered(self, action: Action, loss: Any) -> float:
        losses = check_full_losses(self.oracle, loss, self.action_count, self._range)[0]
        return loss_of(losses, action)

    def fresh(self, number: int) -> Self:
        """Return a new learner with the same parameters and with G, if G has been computed."""
        twin = super().fresh(number)
        twin.share_complexity(self)
        return twin

    def share_complexity(self, other: AdaptiveDiscount) -> None:
        """Take G from a learner with the same policy class and contexts, if it is known."""
        self._leader.share_complexity(other._leader)

    # Parts ------------------------------------------------------------------------------------

    def _action_distribution(self, opened: Round) -> FloatArray | None:
        distribution: Any = 0.0
        for i, share in enumerate(self._meta_learner.distribution(opened.meta_scale).tolist()):
            if share > 0.0:
                advised = i == len(self._rates)
                of_base = (
                    self._advised(opened) if advised else distribution_of(*self._base(i, opened))
                )
                if of_base is None:
                    return None
                distribution = distribution + share * of_base
        return np.asarray(distribution)

    def _advised(self, opened: Round) -> FloatArray:
        """Return the distribution with probability 1 on the predictor's recommendation."""
        assert self.oracle.n_actions is not None
        return np.eye(self.oracle.n_actions)[opened.advice]

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        distribution = self._meta_learner.distribution(opened.meta_scale)
        followed = rng.choice(len(distribution), size=copies, p=distribution).tolist()
        answers: dict[int, Iterator[Any]] = {}
        for i in sorted(set(followed)):
            answers[i] = itertools.repeat(opened.advice)
            if i < len(self._rates):
                n = followed.count(i)
                answers[i] = iter(replay(self._leader, *self._base(i, opened), n, rng))
        return [next(answers[i]) for i in followed]

    def _shares(self, opened: Round, draws: int, rng: np.random.Generator) -> FloatArray:
        distribution = self._meta_learner.distribution(opened.meta_scale)
        counts = rng.multinomial(draws, distribution / distribution.sum())
        found = [
            n * shares(self._leader, *self._base(i, opened), int(n), rng)
            for i, n in enumerate(counts[: len(self._rates)])
            if n
        ]
        if opened.advice is not None and counts[-1]:
            found.append(counts[-1] * self._advised(opened))
        return np.asarray(np.sum(found, axis=0) / draws)

    def _base(self, i: int, opened: Round) -> tuple[Past, NoisyRound]:
        """Return the past with the discounts of one base learner, and a round for it alone."""
        inner, total = NoisyRound(opened.context), self._discounted_totals.total(i)
        inner.plays = opened.plays
        scale = float(opened.scales[i]) * self._discounted_totals.unit(i)
        inner.draw = Draw(self._leader.noise, opened.first + i, scale)
        return Past(total, None, self._scored_plays(opened)), inner

    def _hidden_noise(self, leader: PerturbedLeader) -> Noise | None:
        """Return the hidden noise on the same contexts, or None while there is no noise."""
        if leader.noise is None:
            return None
        if self._hidden[0] is not leader.noise:
            unseen = leader.oracle.noise(leader.X.points, self._key, _HIDDEN_STREAM, _HIDDEN_MEMORY)
            self._hidden = leader.noise, unseen
        return self._hidden[1]

    def _scored_plays(self, opened: Round) -> IntArray | None:
        """Return the substitute of each action if scores choose among the available actions."""
        return opened.plays if self._discounted_totals.scored else None

    def _evidence(self) -> certificates.Evidence:
        return certificates.Evidence(
            self.rounds,
            self._account,
            self._leader,
            SelfTuned(eagerness_of(self.oracle)),
            self._ledger,
            self._availability,
            self._width,
            self._width,
        )

    @property
    def _width(self) -> float:
        """Largest difference between the losses of two actions in a round."""
        return loss_spread(self.oracle, *self._range)

    def _total(self) -> Objective:
        return self._discounted_totals.total(0 if self._plain is None else self._plain)

    @property
    def _scores_actions(self) -> bool:
        return self._discounted_totals.scored

    @property
    def action_count(self) -> int | None:
        return self._leader.oracle.n_actions

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self._leader.X.admit(context, 0)

    def _restored(self) -> None:
        if self._tuning.peak.any():
            self._leader.put_noise()

    def _adopt(self, predictor: Any) -> Any:
        if self.oracle.max_chosen > 1 or self.oracle.n_actions is None:
            raise ParameterError(
                "AdaptiveDiscount takes a predictor only for single actions whose number is known; "
                f"{type(self.oracle).__name__} chooses sets, or has no n_actions. For single "
                "actions, pass n_actions= to the oracle; for sets, leave out predictor=."
            )
        return adopt(predictor, n_actions=self.oracle.n_actions)

    def _check_discounts(self, given: Any) -> tuple[float, ...]:
        try:
            rates = tuple(check_probability(self, "discounts", rate) for rate in given)
        except (TypeError, ParameterError):
            rates = ()
        if not rates or 0.0 in rates or len(set(rates)) < len(rates):
            raise refuse(self, "discounts", "distinct numbers in (0, 1], at least one", given)
        return rates


def _costs(losses: FloatArray, actions: Choices) -> FloatArray:
    """Return the loss of each of several actions."""
    if isinstance(actions, np.ndarray):
        return losses.take(actions)
    return np.array([loss_of(losses, action) for action in actions])
