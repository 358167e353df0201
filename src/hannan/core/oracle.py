"""Oracles and their objectives: the only door through which learners see a policy class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_rows, comparable
from hannan.core.errors import HannanError, InfeasibleError, InputTypeError, ParameterError
from hannan.core.kept import same
from hannan.core.params import Parametrised
from hannan.core.policy import Action, Policy, loss_of
from hannan.core.state import State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels import weights

if TYPE_CHECKING:
    from hannan.core.panel import Panel


class Noise(Protocol):
    """Unit fake outcomes on a context set; the n-th draw is a function of the seed and n."""

    contexts: Sequence[Any]

    def unit(self, draw: int) -> FloatArray:
        """Fake losses of one draw, [d, K], at scale 1."""


class Draw(NamedTuple):
    """Draw `number` of unit noise, at scale 1/ε; without noise where the scale is 0."""

    noise: Noise | None = None
    number: int = 0
    scale: float = 0.0


WITHOUT_NOISE = Draw()


class Objective(Stored, ABC):
    r"""Running total of losses, :math:`\pi \mapsto \sum_t \ell_t(\pi(x_t))`, and its minimisers.

    Kept in whatever space makes the argmin cheapest. Noise is linear too: draw n at scale s adds
    :math:`s \sum_{x \in X} \langle \pi(x), \zeta^n_x \rangle` to the value of policy
    :math:`\pi`. Scale 0 means no noise, and then `noise` may be None.

    Contexts and losses given here have passed `Oracle.check_context` and the loss checks.
    """

    oracle: Oracle
    _derived = frozenset({"_tilted"})

    draws_in_batches: bool = True
    """Whether several draws at once are cheaper than one after the other."""

    paired: bool = False
    """Whether a draw and its negative together cost about as much as a draw alone."""

    scored: bool = False
    """Whether leaders have a score for each action on a context, so that `among` answers."""

    stored = State()
    _moving = True

    @property
    def n_actions(self) -> int:
        """K, the length of a loss vector."""
        assert self.oracle.n_actions is not None
        return self.oracle.n_actions

    def _params_to_store(self) -> dict[str, Any]:
        return {"oracle": self.oracle}

    @classmethod
    def _rebuild(cls, **params: Any) -> Self:
        total = params["oracle"].objective()
        return total if type(total) is cls else cls(**params)

    @abstractmethod
    def copy(self) -> Objective:
        """An independent copy of the total."""

    def prepare(self, contexts: Sequence[Any]) -> None:
        """Told before the first round which contexts the noise will sit on, where that is known."""

    @abstractmethod
    def add(self, context: Any, losses: FloatArray) -> None:
        """Add one round."""

    def charge(self, context: Any, action: int, loss: float) -> None:
        """Add one round in which all other losses were zero."""
        losses = np.zeros(len(context) if self.oracle.described else self.n_actions)
        losses[action] = loss
        self.add(context, losses)

    def observe(self, context: Any) -> None:
        """Add one round in which every loss was zero; most totals do not change."""

    @abstractmethod
    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        """The minimisers under each of the draws first .. first + count - 1."""

    @abstractmethod
    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        """The minimal values under each of the draws first .. first + count - 1.

        NaN where the class cannot tell (inexact classes only).
        """

    @property
    def preference(self) -> float:
        """By how much more than another a policy may be charged besides its losses."""
        return 0.0

    def plain(self) -> Objective:
        """This total with losses alone; itself, where nothing else is in it."""
        return self

    def leader(self) -> Policy:
        """The minimiser without noise."""
        return self.leaders()[0]

    def action(self, context: Any, draw: Draw) -> Action:
        """What the minimiser under one draw does on a context."""
        return self.leaders(draw, 1)[0](context)

    def settle(self, context: Any, losses: FloatArray, draw: Draw) -> Action:
        """Add one round, then the new minimiser's action on its context, under the same draw.

        Where the optimiser may fail it must leave the total as it was.
        """
        self.add(context, losses)
        return self.action(context, draw)

    def foresee(self, context: Any, losses: FloatArray, draw: Draw) -> Action:
        """What `settle` would return; nothing is added."""
        return self.tilted(context, losses).action(context, draw)

    def tilted(self, context: Any, losses: FloatArray) -> Objective:
        """This total with one more round, for use until either of the two is changed."""
        twin = self.copy()
        twin.add(context, losses)
        return twin

    def among(self, context: Any, plays: NDArray[np.intp]) -> Objective:
        """This total where only some actions are available on a context, until it is changed.

        For questions about what is chosen on that context: the action of the leader's best score
        among these, ties to the smallest. Only where `scored`. `plays[b]` is b where b is
        available, and another number where it is not, -1 for sets.
        """
        raise NotImplementedError

    def pick(
        self,
        context: Any,
        plays: NDArray[np.intp],
        losses: FloatArray | None,
        draw: Draw,
    ) -> Action:
        """The `action` of `among`, with one more round if there is one: in one pass, if it can."""
        past = self if losses is None else self.tilted(context, losses)
        return past.among(context, plays).action(context, draw)

    def settle_among(
        self,
        context: Any,
        plays: NDArray[np.intp],
        losses: FloatArray,
        draw: Draw,
    ) -> Action:
        """As `settle` where only some actions are available; nothing is added if none can be."""
        action = self.pick(context, plays, losses, draw)
        self.add(context, losses)
        return action

    def perturbed(self, contexts: Sequence[Any], losses: FloatArray) -> Objective:
        """This total with fake losses on several contexts, [d, K], until either is changed."""
        twin = self.copy()
        for context, row in zip(contexts, losses, strict=True):
            twin.add(context, row)
        return twin

    def chosen(self, context: Any, draw: Draw, count: int) -> NDArray[np.bool_]:
        """Which elements the minimiser under each of `count` draws chooses, [count, K]."""
        noise, first, scale = draw
        if self.draws_in_batches:
            actions = [policy(context) for policy in self.leaders(draw, count)]
        else:
            actions = [self.action(context, Draw(noise, first + i, scale)) for i in range(count)]
        inclusion = np.zeros((count, self.n_actions), dtype=bool)
        for row, action in zip(inclusion, actions, strict=True):
            row[action] = True
        return inclusion

    def resample_one(
        self,
        context: Any,
        element: int,
        draw: Draw,
        limit: int,
        successes: int,
    ) -> tuple[float, int]:
        """`resample` for a single element: its weight, and draws used."""
        noise, first, scale = draw
        if self.draws_in_batches:
            weights, drawn = self.resample(context, np.array([element]), draw, limit, successes)
            return float(weights[0]), drawn
        hits = used = 0
        while used < limit - 1 and hits < successes:
            action = self.action(context, Draw(noise, first + used, scale))
            hits += action == element if isinstance(action, int) else element in action
            used += 1
        return (used / successes if hits >= successes else limit / (hits + 1.0)), used

    def resample(
        self,
        context: Any,
        elements: NDArray[np.intp],
        draw: Draw,
        limit: int,
        successes: int,
    ) -> tuple[FloatArray, int]:
        r"""Geometric resampling: weights that estimate 1/q for some elements, and draws used.

        Draws first, first + 1, … are shared by all elements. One is drawn until it has been
        chosen r = `successes` times, at draw N say, or L - 1 draws are used up, L = `limit`;
        its weight is N/r, or L/(S+1) after S < r successes. So
        :math:`E[W] = (1-(1-q)^L)/q` whatever r is.
        """
        noise, first, scale = draw
        hits = np.zeros(len(elements), dtype=np.intp)
        reached = np.zeros(len(elements), dtype=np.intp)
        used, batch = 0, 4 if self.draws_in_batches else 1
        while used < limit - 1 and (hits < successes).any():
            count = min(batch, limit - 1 - used)
            inclusion = self.chosen(context, Draw(noise, first + used, scale), count)[:, elements]
            for i in range(count):
                used += 1
                fresh = inclusion[i] & (hits < successes)
                hits += fresh
                reached[fresh & (hits == successes)] = used
                if (hits >= successes).all():
                    break
            batch = min(2 * batch, 256) if self.draws_in_batches else 1
        done = hits >= successes
        return np.where(done, reached / successes, limit / (hits + 1.0)), used

    def chances(self, context: Any, element: int, draw: Draw, count: int) -> FloatArray:
        """For each of `count` draws the probability that an element is chosen, given part of it.

        Averaged over the draw and its negative, which has the same law: so the numbers are
        independent, and their mean is that probability. Here all of the draw is given.
        """
        noise, first, scale = draw
        forth = self.chosen(context, draw, count)[:, element]
        back = self.chosen(context, Draw(noise, first, -scale), count)[:, element]
        return np.asarray(0.5 * (forth.astype(np.float64) + back))

    def weigh(
        self,
        context: Any,
        element: int,
        draw: Draw,
        limit: int,
        enough: float,
        share: float,
        stop_key: np.uint64,
    ) -> tuple[float, int]:
        """A weight as in `resample_one`, by `chances` instead of successes, and draws used.

        Draws go on until their sum is `enough`; see `kernels.weights`. In a `share` of the trials
        success is certain. `stop_key` is the key of the random numbers that decide when to stop.
        """
        noise, first, scale = draw
        if limit <= 1:
            return 1.0, 0
        state = np.empty(weights.SIZE)
        used, batch, needed = 0, 4 if self.draws_in_batches else 1, True
        while needed:
            count = min(batch, limit - 1 - used)
            chances = self.chances(context, element, Draw(noise, first + used, scale), count)
            chances = share + (1.0 - share) * chances
            given = limit - 1, enough, stop_key, first + used
            more, needed = weights.take_all(state, used, chances, *given)
            used += more
            batch = min(2 * batch, 256) if self.draws_in_batches else 1
        return float(state[weights.SUM]), used

    def unrest(
        self,
        context: Any,
        element: int,
        amount: float,
        draw: Draw,
    ) -> float:
        """How much less likely an element is chosen if it costs more, times that amount.

        By `chances` under one draw: never negative where leaders are true minimisers.
        """
        losses = np.zeros(self.n_actions)
        losses[element] = amount
        before = self.chances(context, element, draw, 1)[0]
        after = self.tilted(context, losses).chances(context, element, draw, 1)[0]
        return max(0.0, float(amount * (before - after)))

    def lesson(
        self,
        context: Any,
        element: int,
        loss: float,
        draw: Draw,
        limit: int,
        enough: float,
        stop_key: np.uint64,
    ) -> tuple[float, int, float]:
        """Weight and draws used as by `weigh`, and the `unrest` of the weighted loss under the draw
        that comes next."""
        noise, first, scale = draw
        weight, used = self.weigh(context, element, draw, limit, enough, 0.0, stop_key)
        lost = self.unrest(context, element, weight * loss, Draw(noise, first + used, scale))
        return weight, used, lost

    def law(self, context: Any, draw: Draw) -> FloatArray | None:
        """The probability of each element to be chosen, where it can be computed."""
        return None

    def chance_after(self, context: Any, action: int, loss: float, draw: Draw) -> float:
        """The probability of an action once it has cost so much more on a context; nothing is
        added. Only where there is a `law`."""
        losses = np.zeros(len(context) if self.oracle.described else self.n_actions)
        losses[action] = loss
        law = self.tilted(context, losses).law(context, draw)
        assert law is not None
        return law.item(action)  # type: ignore[no-any-return]

    def standing(self, context: Any, draw: Draw) -> FloatArray | None:
        """Numbers for all actions of which the smallest is chosen, once each has Laplace noise of
        its own of this scale; None where the choice is made in another way. Not to be changed.

        A loss on this context adds to that of its action.
        """
        return None

    def extended(self, oracle: Oracle) -> Objective:
        """This total for the same class with more actions, each as good as the best so far."""
        raise ParameterError(
            f"Totals of {type(self.oracle).__name__} cannot take more actions than they began with."
        )


def available_in(plays: NDArray[np.intp]) -> NDArray[np.intp]:
    """The actions that are played where they are chosen.

    >>> available_in(np.array([0, 0, 2]))
    array([0, 2])
    """
    found: NDArray[np.intp] = (plays == np.arange(len(plays))).nonzero()[0]
    return found


def as_policies(owner: object, oracle: Any) -> Any:
    """A policy class as learners take it, or what to give instead."""
    if isinstance(oracle, Oracle):
        return oracle
    who = type(owner).__name__
    if isinstance(oracle, type):
        raise InputTypeError(f"{who} needs an instance, {oracle.__name__}(...); got the class.")
    actions = oracle if type(oracle) is int and oracle > 0 else 3
    raise InputTypeError(
        f"{who} takes policies, such as hannan.oracles.AllPolicies(n_contexts=1, "
        f"n_actions={actions}) for plain actions or hannan.oracles.LinearPolicies({actions}) for "
        f"rows of features; got {oracle!r:.80}. hn.bandit({actions}) chooses for you."
    )


class Oracle(Parametrised, ABC):
    """A policy class with its optimiser.

    Losses are linear in the chosen elements and may have any sign. Ties go to the smallest
    policy in the order the class documents.
    """

    exact: bool = True
    """Whether leaders are true minimisers; theorems need it."""

    every_map: bool = False
    """Whether the class holds every map from its contexts 0..d-1 to actions; the objective then
    has the totals of all of them, [d, K], in `totals`."""

    takes_functions: bool = False
    """Whether totals also take `LossFunction` objects, not only loss vectors."""

    open_world: bool = False
    """Whether contexts may stay unknown: noise is then put on those seen so far."""

    described: ClassVar[bool] = False
    """Whether a context is a `Menu`, the actions offered in a round, each described by a row. K is
    then that of the round, and `n_actions` None."""

    stand_ins: ClassVar[bool] = False
    """Whether `contexts` only stand for rules that have noise of their own each: any other context
    may then arrive, and the shift lemma holds as for contexts known in advance."""

    timed: ClassVar[bool] = False
    """Whether it matters when a context arrives, as `at` was written anew; set by itself."""

    n_actions: int | None
    """K, the number of elements a loss vector has entries for."""

    max_chosen: int = 1
    """m, the largest number of elements an action chooses."""

    antichain: bool = True
    """Whether no action contains another one (true for single actions)."""

    closes: bool = False
    """Whether elements of sets can be closed for a round: totals of sets then answer `among`."""

    eagerness: float = 1.0
    """Factor on G that suits self-tuning; regret is bounded whatever it is."""

    stored = State()
    room_for: ClassVar[tuple[str, ...]] = (
        "n n_actions n_contexts contexts n_labels n_left n_right restarts n_features sequence",
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.timed = cls.at is not Oracle.at

    @property
    def fixed_size(self) -> bool:
        """Whether all actions choose equally many elements, so that none contains another."""
        return self.antichain

    @property
    def chooses_sets(self) -> bool:
        """Whether an action is a set of elements, also where it has one only."""
        return (
            self.max_chosen > 1 or self.takes_functions or getattr(self, "sets", None) is not None
        )

    def actions_among(self, context: Any, elements: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of these elements that are actions on a context, of a class that chooses one.

        Some may not be, as a link may lead elsewhere. An `InfeasibleError` says that none is. Asked
        only where the class `closes`.
        """
        if not elements.size:
            raise InfeasibleError(f"{type(self).__name__} has no action: no element is available.")
        return elements

    def spread(self, low: float, high: float) -> float:
        """How much more than another an action can lose in a round.

        `low` and `high` bound the loss of each element; the loss of whole actions where the class
        takes loss functions. Sets may be of any size up to m, the empty one included.
        """
        if self.max_chosen == 1 or self.takes_functions:
            return high - low
        return self.max_chosen * (max(high, 0.0) - min(low, 0.0))

    @property
    def complexity_pairs(self) -> int:
        """Pairs of oracle calls for an estimate of the Laplace complexity; fewer if expensive."""
        return 64

    @property
    def contexts(self) -> Sequence[Hashable] | None:
        """All contexts the class is defined on, or None if they are not listed."""
        return None

    @property
    def supplies(self) -> dict[str, Oracle]:
        """The arguments of learners for which this class can be given, by name."""
        return {"oracle": self}

    @abstractmethod
    def objective(self) -> Objective:
        """An empty running total."""

    def start(self, contexts: Sequence[Any], width: float) -> Objective:
        """The total a self-tuned learner starts from, where a round's losses have this range.

        Empty, and told of the contexts; or with preferences among policies besides.
        """
        total = self.objective()
        if contexts:
            total.prepare(contexts)
        return total

    def panel(self, discounts: Sequence[float], contexts: Sequence[Any] = ()) -> Panel:
        """An empty total for each of several rates of forgetting; contexts as in `start`."""
        from hannan.core.panel import Panel  # which imports this module

        return Panel(self, discounts, contexts)

    @abstractmethod
    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Fake outcomes on these contexts, ready for this class's objectives.

        `memory` bounds the bytes of noise held ready.
        """

    @abstractmethod
    def check_context(self, context: Any) -> Any:
        """The context in the form objectives take, or a `ContextError`."""

    def at(self, time: int, context: Any) -> Any:
        """The context of round number `time`, checked; only classes that change care when it is."""
        return self.check_context(context)

    def check_contexts(self, contexts: Any) -> list[Any]:
        """Several contexts at once, without repetition, in order of first appearance.

        A frame gives its rows, and a column its values.
        """
        found: dict[Hashable, Any] = {}
        for context in comparable(as_rows(contexts)):
            checked = self.check_context(context)
            found.setdefault(self.key(checked), checked)
        return list(found.values())

    def key(self, context: Any) -> Hashable:
        """What tells a checked context from others; by default the context itself."""
        return context  # type: ignore[no-any-return]

    def holds(self, context: Any) -> bool:
        """Whether this is a context in the form that objectives take, as files keep it."""
        try:
            return same(self.check_context(context), context)
        except (HannanError, TypeError, ValueError):
            return False

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        """An upper bound on log N, N the number of distinct policies on these contexts."""
        return None

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        """The Laplace complexity G on these contexts where a closed form exists."""
        return None

    def interval_minima(
        self, contexts: Sequence[Any], losses: FloatArray, cuts: NDArray[np.intp]
    ) -> FloatArray:
        """The minimal totals of all intervals of a history, without noise.

        Entry [i, j], i < j, is that of the rows cuts[i] .. cuts[j] - 1; the others are zero.
        Contexts beyond the last cut are only told to `Objective.prepare`. Inexact classes that do
        not know the minimum give the value of their leader.
        """
        values = np.zeros((len(cuts), len(cuts)))
        known = list({self.key(context): context for context in contexts}.values())
        for i in range(len(cuts) - 1):
            total = self.objective()
            if known:
                total.prepare(known)
            for j in range(i + 1, len(cuts)):
                for row in range(cuts[j - 1], cuts[j]):
                    total.add(contexts[row], losses[row])
                values[i, j] = total.minima()[0]
                if np.isnan(values[i, j]):
                    rows = range(cuts[i], cuts[j])
                    leader = total.leader()
                    values[i, j] = sum(loss_of(losses[r], leader(contexts[r])) for r in rows)
        return values

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        """Whether distinct policies differ somewhere on these contexts; None if not known."""
        return None


def fixed_actions(owner: object, oracle: Any) -> Any:
    """A policy class for learners that cannot deal with described actions, checked."""
    if as_policies(owner, oracle).described:
        raise ParameterError(
            f"{type(owner).__name__} is for actions that are the same in every round, and "
            f"{type(oracle).__name__} is for described ones: use ContextSemiBanditFTPL, or "
            'hn.bandit(actions="described").'
        )
    return oracle


def positions(contexts: Sequence[Any], n_contexts: int) -> NDArray[np.intp]:
    """For contexts 0..n-1: the place of each in the list, -1 where absent."""
    places = np.full(n_contexts, -1, dtype=np.intp)
    places[np.asarray(contexts, dtype=np.intp)] = np.arange(len(contexts))
    return places
