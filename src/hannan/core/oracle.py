"""Oracles and their objectives: the only interface between learners and a policy class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_rows, comparable
from hannan.core.errors import HannanError, InputTypeError, ParameterError
from hannan.core.params import Parametrised
from hannan.core.policy import Action, Policy
from hannan.core.state import State, same
from hannan.core.stored import NO_STATE, Stored
from hannan.core.validation import FloatArray
from hannan.kernels import weights


class Noise(Protocol):
    """Unit fake outcomes on a context set; draw n is a function of the seed and n."""

    contexts: Sequence[Any]

    def unit(self, draw: int) -> FloatArray:
        """Return the fake losses of one draw, [d, K], at scale 1."""


class Draw(NamedTuple):
    """Draw `number` of unit noise, at scale 1/ε; scale 0 means no noise."""

    noise: Noise | None = None
    number: int = 0
    scale: float = 0.0

    def later(self, count: int) -> Draw:
        """Return the draw that comes `count` draws later."""
        return Draw(self.noise, self.number + count, self.scale)


WITHOUT_NOISE = Draw()

Plus = FloatArray | None
"""Losses of one more round with the context of a question, counted in that question only."""
Available = NDArray[np.intp] | None
"""The action played for each choice; None if all are available."""


class Lesson(NamedTuple):
    """The importance weight of a single loss, and its instability cost."""

    weight: float
    used: int
    """Number of draws used for the weight."""
    instability: float
    distribution: FloatArray | None = None
    """Probability of each action, if the weight is computed from it; else None."""


class Trials(NamedTuple):
    """Limits for finding the weight of a `Lesson`."""

    limit: int
    """Limit L: the weight has mean (1 - (1-q)^L)/q, q the probability of the action."""
    enough: float
    """Draws stop once the probabilities of the action reach this sum; 0 allows no draws."""
    stop_key: np.uint64
    """Key of the random numbers that decide when to stop."""
    share: float = 0.0
    """Share of the trials in which success is certain."""
    exact: bool = False
    """Whether the weight may be computed from the distribution of the choice."""
    kept: float = 1.0
    """Divisor of a weight from the distribution: the probability that a trial counts."""


class Objective(Stored, ABC):
    r"""Running total of losses, :math:`\pi \mapsto \sum_t \ell_t(\pi(x_t))`, and its minimisers.

    A class stores the total in the space in which the argmin is cheapest. Noise is linear, too:
    draw n at scale s adds :math:`s \sum_{x \in X} \langle \pi(x), \zeta^n_x \rangle` to the value
    of policy :math:`\pi`. Scale 0 means no noise, and then `draw.noise` may be None.

    Contexts and losses passed here have passed `Oracle.check_context` and the loss checks.

    Questions about a context take two options. `plus` holds the losses of one more round with that
    context, which counts for this question only. `available` restricts the choice. Entry b is b if
    b is available. Otherwise, it is the substitute played for b. In a `scored` class, entry b is -1
    instead, and the available action or set with the best score is chosen.
    """

    oracle: Oracle

    draws_in_batches: bool = True
    """Whether several draws in one call are cheaper than one call per draw."""

    scored: bool = False
    """Whether leaders have a score for each action on a context, so that substitutes are unused."""

    stored = State()

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
        """Return an independent copy of the total."""

    def prepare(self, contexts: Sequence[Any]) -> None:
        """Receive the contexts with noise, before the first round."""

    @abstractmethod
    def add(self, context: Any, losses: FloatArray) -> None:
        """Add one round."""

    @abstractmethod
    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        """Return the minimisers under each of `count` draws from `draw` on."""

    @abstractmethod
    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        """Return the minimal values under each of `count` draws from `draw` on.

        A value is NaN if the class cannot compute it (inexact classes only).
        """

    def leader(self) -> Policy:
        """Return the minimiser without noise."""
        return self.leaders()[0]

    def action(
        self, context: Any, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        """Return the action of the minimiser under one draw on a context."""
        if plus is not None:
            return with_round(self, context, plus).action(context, draw, None, available)
        if available is not None:
            return int(available[self.action(context, draw)])
        return self.leaders(draw)[0](context)

    def chosen(
        self, context: Any, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        """Return which elements the minimiser under each of `count` draws chooses, [count, K]."""
        if available is not None and not self.scored:
            choices = self.chosen(context, draw, count, plus)
            inclusion = np.zeros_like(choices)
            inclusion[np.arange(count), available[choices.argmax(axis=1)]] = True
            return inclusion
        if available is None and self.draws_in_batches:
            total = self if plus is None else with_round(self, context, plus)
            actions = [policy(context) for policy in total.leaders(draw, count)]
        else:
            draws = (draw.later(i) for i in range(count))
            actions = [self.action(context, each, plus, available) for each in draws]
        inclusion = np.zeros((count, _width(self, context)), dtype=bool)
        for row, action in zip(inclusion, actions, strict=True):
            row[action] = True
        return inclusion

    def distribution(
        self, context: Any, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray | None:
        """Return the probability of each element under noise of this scale, or None if unknown."""
        return None

    def inclusion(
        self,
        context: Any,
        elements: NDArray[np.intp],
        draw: Draw,
        plus: Plus = None,
        available: Available = None,
    ) -> FloatArray | None:
        """Return the probability of some elements under noise of this scale, or None if unknown.

        A class that computes `weights` from these probabilities, without draws, must return them.
        """
        return None

    def settle(
        self, context: Any, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Action:
        """Add one round; return the new minimiser's action on its context, under the same draw.

        If the optimiser fails, it must leave the total unchanged.
        """
        if available is None:
            self.add(context, losses)
            return self.action(context, draw)
        action = self.action(context, draw, losses, available)
        self.add(context, losses)
        return action

    def weights(
        self,
        context: Any,
        elements: NDArray[np.intp],
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        r"""Return weights that estimate 1/q for some elements, and the number of draws used.

        Geometric resampling: all elements share the draws from `draw` on. For each element, draws
        continue until it has been chosen r = `successes` times, at draw N, or until L - 1 draws are
        used up, L = `limit`. Its weight is N/r in the first case, and L/(S+1) after S < r successes
        in the second. So :math:`E[W] = (1-(1-q)^L)/q` for every r.
        """
        hits = np.zeros(len(elements), dtype=np.intp)
        reached = np.zeros(len(elements), dtype=np.intp)
        used, batch = 0, 4 if self.draws_in_batches else 1
        while used < limit - 1 and (hits < successes).any():
            count = min(batch, limit - 1 - used)
            drawn = self.chosen(context, draw.later(used), count, plus, available)[:, elements]
            for i in range(count):
                used += 1
                fresh = drawn[i] & (hits < successes)
                hits += fresh
                reached[fresh & (hits == successes)] = used
                if (hits >= successes).all():
                    break
            batch = min(2 * batch, 256) if self.draws_in_batches else 1
        done = hits >= successes
        return np.where(done, reached / successes, limit / (hits + 1.0)), used

    def lesson(
        self, context: Any, action: int, loss: float, draw: Draw, trials: Trials, plus: Plus = None
    ) -> Lesson | None:
        """Return the weight of a loss and its instability if one compiled call finds both, or None.

        `paired_lesson` defines the result if this method draws. If it returns None, the caller uses
        `distribution` or `weights`.
        """
        return None


def _width(total: Objective, context: Any) -> int:
    """Return K; for actions with features, the size of the menu."""
    return len(context) if total.oracle.takes_items else total.n_actions


def with_round(total: Objective, context: Any, losses: FloatArray) -> Objective:
    """Return a copy of a total with one more round."""
    twin = total.copy()
    twin.add(context, losses)
    return twin


def paired_lesson(
    total: Objective,
    context: Any,
    action: int,
    loss: float,
    draw: Draw,
    trials: Trials,
    plus: Plus = None,
    available: Available = None,
) -> Lesson:
    """Find a weight and its instability from draws that also serve as their negatives.

    Each draw counts with the probability of the action, given part of the draw (here all of it).
    This probability is averaged over the draw and its negative, which has the same distribution.
    Draws continue until these probabilities add up to `trials.enough`; see `kernels.weights`.

    The instability is the decrease of the action's probability once its weighted loss is added,
    times that loss, under the next draw. It is never negative if leaders are true minimisers.
    """

    def chances(first: Draw, count: int, more: FloatArray | None) -> FloatArray:
        back = first._replace(scale=-first.scale)
        forth, other = (
            total.chosen(context, each, count, more, available)[:, action] for each in (first, back)
        )
        return np.asarray(0.5 * (forth.astype(np.float64) + other))

    weight, used = 1.0, 0
    if trials.limit > 1:
        state = np.empty(weights.SIZE)
        batch, needed = 4 if total.draws_in_batches else 1, True
        while needed:
            count = min(batch, trials.limit - 1 - used)
            p = chances(draw.later(used), count, plus)
            p = trials.share + (1.0 - trials.share) * p
            given = trials.limit - 1, trials.enough, trials.stop_key, draw.number + used
            more, needed = weights.take_all(state, used, p, *given)
            used += more
            batch = min(2 * batch, 256) if total.draws_in_batches else 1
        weight = float(state[weights.SUM])
    if loss == 0.0:
        return Lesson(weight, used, 0.0)
    losses = np.zeros(_width(total, context)) if plus is None else plus.copy()
    losses[action] += weight * loss
    after_draws = draw.later(used)
    before = chances(after_draws, 1, plus)[0]
    after = chances(after_draws, 1, losses)[0]
    return Lesson(weight, used, max(0.0, float(weight * loss * (before - after))))


def played(distribution: FloatArray, available: Available) -> FloatArray:
    """Return the distribution of the actions played, given the distribution of the choices."""
    if available is None:
        return distribution
    summed = np.zeros(len(distribution))
    np.add.at(summed, available, distribution)
    return summed


def with_rounds(total: Objective, contexts: Sequence[Any], losses: FloatArray) -> Objective:
    """Return a copy of a total with fake losses on several contexts, [d, K]."""
    twin = total.copy()
    for context, row in zip(contexts, losses, strict=True):
        twin.add(context, row)
    return twin


def foresee(
    total: Objective, context: Any, losses: Any, draw: Draw, available: Available = None
) -> Action:
    """Return the result of `total.settle` without adding the round."""
    if total.oracle.counts_rounds and available is None:  # a round changes the regression, too
        return total.copy().settle(context, losses, draw)
    return total.action(context, draw, losses, available)


def preference_of(total: Any) -> float:
    """Return the largest difference between charges to policies besides their losses."""
    return float(getattr(total, "preference", 0.0))


def losses_alone(total: Objective) -> Objective:
    """Return a total without charges besides losses: itself, if there are none."""
    plain = getattr(total, "plain", None)
    return total if plain is None else plain()  # type: ignore[no-any-return]


def extended(total: Any, oracle: Oracle) -> Any:
    """Return a total for the same class with more actions, each as good as the best so far."""
    if not hasattr(total, "extended"):
        raise ParameterError(
            f"Totals of {type(total.oracle).__name__} cannot take more actions than they began "
            "with."
        )
    return total.extended(oracle)


def available_in(plays: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the available actions: every action that is played if it is chosen.

    >>> available_in(np.array([0, 0, 2]))
    array([0, 2])
    """
    found: NDArray[np.intp] = (plays == np.arange(len(plays))).nonzero()[0]
    return found


def as_policies(owner: object, oracle: Any) -> Any:
    """Return a policy class unchanged, or raise an error that suggests one."""
    if isinstance(oracle, Oracle):
        return oracle
    who = type(owner).__name__
    if isinstance(oracle, type):
        raise InputTypeError(f"{who} needs an instance, {oracle.__name__}(...); got the class.")
    actions = oracle if type(oracle) is int and oracle > 0 else 3
    raise InputTypeError(
        f"{who} takes a policy class, such as hannan.oracles.AllPolicies(n_contexts=1, "
        f"n_actions={actions}) without contexts or hannan.oracles.LinearPolicies({actions}) for "
        f"feature vectors; got {oracle!r:.80}. Or use hn.bandit({actions})."
    )


class Oracle(Parametrised, ABC):
    """A policy class with its optimiser.

    Losses are linear in the chosen elements and may have any sign. Ties go to the smallest
    policy in the order the class documents.
    """

    exact: bool = True
    """Whether leaders are true minimisers; the theorems assume it."""

    counts_rounds: bool = False
    """Whether a round whose losses are all zero changes totals, as in a regression."""

    takes_functions: bool = False
    """Whether totals also take `LossFunction` objects, not only loss vectors."""

    takes_new_contexts: bool = False
    """Whether contexts may be unknown in advance: noise is then put on the contexts seen so far."""

    takes_items: ClassVar[bool] = False
    """Whether a context is a `Menu`: the items of a round, each with a feature vector. K is then
    the size of the menu, and `n_actions` is None."""

    stand_ins: ClassVar[bool] = False
    """Whether `contexts` only stand for rules, each with separate noise. Any other context may then
    arrive, and the shift lemma holds as for contexts known in advance."""

    n_actions: int | None
    """K, the number of actions or elements: the length of a loss vector."""

    max_chosen: int = 1
    """Largest number of elements in an action, m."""

    antichain: bool = True
    """Whether no action contains another one (true for single actions)."""

    closes: bool = False
    """Whether rounds can make elements of sets unavailable: totals of sets then have `among`."""

    stored = NO_STATE
    room_for: ClassVar[tuple[str, ...]] = (
        "n n_actions n_contexts contexts n_labels n_left n_right restarts sequence",
    )

    @property
    def fixed_size(self) -> bool:
        """Whether all actions have equally many elements, so that none contains another."""
        return self.antichain

    @property
    def chooses_sets(self) -> bool:
        """Whether an action is a set of elements, even if every set has one element."""
        return (
            self.max_chosen > 1 or self.takes_functions or getattr(self, "sets", None) is not None
        )

    @property
    def contexts(self) -> Sequence[Hashable] | None:
        """All contexts the class is defined on, or None if they are not listed."""
        return None

    @abstractmethod
    def objective(self) -> Objective:
        """Return an empty running total."""

    @abstractmethod
    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake outcomes on these contexts, in the form that this class's objectives take.

        `memory` is the maximum number of bytes of noise held in memory.
        """

    @abstractmethod
    def check_context(self, context: Any) -> Any:
        """Return the context in the form that objectives take, or raise a `ContextError`."""

    def check_contexts(self, contexts: Any) -> list[Any]:
        """Return checked contexts without repetition, in order of first appearance.

        A frame gives its rows, and a column its values.
        """
        found: dict[Hashable, Any] = {}
        for context in comparable(as_rows(contexts)):
            checked = self.check_context(context)
            found.setdefault(self.key(checked), checked)
        return list(found.values())

    def key(self, context: Any) -> Hashable:
        """Return a key that identifies a checked context; by default the context itself."""
        return context  # type: ignore[no-any-return]

    def holds(self, context: Any) -> bool:
        """Return whether this is a context in the form that objectives take and files store."""
        try:
            return same(self.check_context(context), context)
        except (HannanError, TypeError, ValueError):
            return False

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        """Return an upper bound on log N, N the number of distinct policies on these contexts."""
        return None

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        """Return the Laplace complexity G on these contexts if a closed form exists, else None."""
        return None

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        """Return whether distinct policies differ on these contexts, or None if unknown."""
        return None


class FullTable(Oracle):
    """A class of all maps from contexts 0..d-1 to actions.

    Its objective has the totals of all actions on all contexts, [d, K], in `totals`.
    """


class Timed(Oracle):
    """A policy class for which the time of a context matters."""

    eagerness: float = 1.0
    """Factor on G that suits self-tuning; the regret is bounded for every factor."""

    def at(self, time: int, context: Any) -> Any:
        """Return the context of round number `time`, checked."""
        raise NotImplementedError

    def start(self, contexts: Sequence[Any], width: float) -> Objective:
        """Return the total that a self-tuned learner starts from; it may prefer some policies.

        The losses of a round have a range of this width. The total receives the contexts.
        """
        total = self.objective()
        if contexts:
            total.prepare(contexts)
        return total


def context_at(oracle: Oracle, time: int, context: Any) -> Any:
    """Return the context of round number `time`, checked; only `Timed` classes use the time."""
    if isinstance(oracle, Timed):
        return oracle.at(time, context)
    return oracle.check_context(context)


def eagerness_of(oracle: Oracle) -> float:
    """Return the factor on G that suits self-tuning."""
    return oracle.eagerness if isinstance(oracle, Timed) else 1.0


def loss_spread(oracle: Oracle, low: float, high: float) -> float:
    """Return the largest difference between the losses of two actions in a round.

    `low` and `high` bound the loss of each element, or the loss of whole actions if the class takes
    loss functions. Sets may have any size up to m, including the empty set.
    """
    if oracle.max_chosen == 1 or oracle.takes_functions:
        return high - low
    return oracle.max_chosen * (max(high, 0.0) - min(low, 0.0))


def fixed_actions(owner: object, oracle: Any) -> Any:
    """Return a checked policy class for learners that cannot take actions with features."""
    if as_policies(owner, oracle).takes_items:
        raise ParameterError(
            f"{type(owner).__name__} is for actions that are the same in every round, and "
            f"{type(oracle).__name__} is for actions with features: use ContextSemiBanditFTPL, or "
            'hn.bandit(actions="items").'
        )
    return oracle


def positions(contexts: Sequence[Any], n_contexts: int) -> NDArray[np.intp]:
    """Return, for contexts 0..n-1, the position of each in the list, -1 if absent."""
    places = np.full(n_contexts, -1, dtype=np.intp)
    places[np.asarray(contexts, dtype=np.intp)] = np.arange(len(contexts))
    return places
