"""Independent choices from a feasible set on every context."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import (
    Action,
    ContextError,
    InputTypeError,
    Objective,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import Contexts, as_rows, as_scalar, check_comparable, comparable
from hannan.core.availability import actions_among, has_available
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import Context, MadeByKey, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.oracles._combinatorial import check_flag
from hannan.oracles._tables import check_table_context
from hannan.perturbation.blocks import LANES

_DRAW_BITS = 40  # draws of one context; the higher bits hold the index of the context
_MOST_CONTEXTS = 2 ** (63 - _DRAW_BITS)


class PerContext(Oracle):
    r"""All maps from contexts to the feasible actions of a problem without contexts.

    With A the actions of `base`, :math:`\Pi = A^X`. Contexts decouple: on context x every leader
    plays :math:`\arg\min_{a \in A} \sum_{s : x_s = x} \ell_s(a)`, and only the noise on x
    matters. So the cost of a round is that of `base` and does not depend on the number of contexts.
    Ties go to the smallest action of `base` on every context.

    Parameters
    ----------
    base
        Inner oracle for one context: an oracle that takes None as its context, such as
        `FinitePolicies` of a list of sets, or `AllPolicies(1, K)`. If feasible actions differ,
        a mapping from each context to its oracle, all over the same elements, for example routes
        between several pairs of places on one road network.
    contexts
        Contexts, any hashables, as a list, an array or a column; or an integer d for 0..d-1.
        Default: None for unknown contexts: any hashable is accepted, and learners need `contexts=`
        to place the noise. The contexts of a mapping are its keys.
    shared
        Whether the losses of elements are equal on all contexts, as travel times do not depend on
        the traveller. Then each round counts on all contexts, and the choice on every context is
        the best for *all* rounds. Or a function of the context: contexts for which it returns the
        same key share their losses. A file holds the name of the function, so `hn.load` needs it in
        `trusted`. For each single context the theorem holds over all rounds, and
        also over its own rounds if contexts arrive independently of the losses. In general it does
        not, so `exact` is False. Under semi-bandit feedback leave it False, and share the predictor
        instead: `hn.bandit(policies=PerContext(...), shared=True)`. Otherwise elements that a
        context cannot choose seem to have loss 0 in the rounds of that context. Default: False.

    Examples
    --------
    Two of three items, for each kind of visitor:

    >>> import hannan as hn
    >>> pairs = hn.oracles.FinitePolicies([[[0, 1]], [[0, 2]], [[1, 2]]])
    >>> total = hn.oracles.PerContext(pairs, ["new", "known"]).objective()
    >>> total.add("known", np.array([1.0, 0.0, 0.5]))
    >>> total.leader()("new"), total.leader()("known")
    (array([0, 1]), array([1, 2]))

    Two trips on the same roads:

    >>> roads = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    >>> trips = hn.oracles.PerContext(
    ...     {pair: hn.oracles.Paths.towards(roads, *pair) for pair in [("a", "c"), ("b", "a")]})
    >>> trips.objective().leader()(("b", "a"))
    array([1])

    With shared travel times the rounds of one trip tell of the other one too:

    >>> ways = [("a", "b"), ("a", "b"), ("b", "c")]
    >>> shared = hn.oracles.PerContext(
    ...     {"near": hn.oracles.Paths(ways, "a", "b"), "far": hn.oracles.Paths(ways, "a", "c")},
    ...     shared=True)
    >>> total = shared.objective()
    >>> total.add("near", np.array([9.0, 5.0, 2.0]))
    >>> total.leader()("far")
    array([1, 2])

    Travel times depend on the time of day, but not on the trip:

    >>> def hour(context):
    ...     return context[1]
    >>> trips = hn.oracles.PerContext(
    ...     {(trip, hour): hn.oracles.Paths(ways, *trip)
    ...      for trip in [("a", "b"), ("a", "c")] for hour in ("day", "night")},
    ...     shared=hour)
    >>> total = trips.objective()
    >>> total.add((("a", "b"), "day"), np.array([9.0, 5.0, 2.0]))
    >>> total.leader()((("a", "c"), "day")), total.leader()((("a", "c"), "night"))
    (array([1, 2]), array([0, 2]))
    """

    def __init__(
        self,
        base: Oracle | Mapping[Any, Oracle],
        contexts: Contexts | int | None = None,
        *,
        shared: bool | Callable[[Any], Hashable] = False,
    ) -> None:
        # A copy: the caller may change the mapping later.
        self.base = dict(base) if isinstance(base, Mapping) else base
        self.shared = shared if callable(shared) else check_flag(self, "shared", shared)
        some = self.problems()
        if not some:
            raise ParameterError("PerContext needs at least one context; the mapping is empty.")
        for one in some:
            _check_base(one)
        first = some[0]
        widths = {one.n_actions for one in some}
        if len(widths) > 1 or len({one.takes_functions for one in some}) > 1:
            raise ParameterError(
                "PerContext needs problems over the same elements; these have "
                f"{sorted(str(n) for n in widths)} of them."
            )
        self.alone = first.check_context(None)
        if any(one.check_context(None) != self.alone for one in some):
            raise ParameterError("PerContext needs problems of one kind; some have no contexts.")
        assert first.n_actions is not None
        self.n_actions: int = first.n_actions
        # A problem of single elements plays ints, but together with problems of sets it plays sets.
        self.max_chosen = max(one.max_chosen for one in some)
        self.antichain = all(one.antichain for one in some)
        self.exact = not shared and all(one.exact for one in some)  # type: ignore[misc]
        self.closes = all(one.closes for one in some)
        self.takes_functions = first.takes_functions  # type: ignore[misc]
        self._listed = _as_list(self, contexts)
        if isinstance(base, Mapping):
            keys = _as_list(self, list(base))
            if self._listed not in (None, keys):
                raise ParameterError("The contexts of PerContext with a mapping are its keys.")
            self._listed = keys
        self._known: dict[Hashable, Hashable] | None = None
        if self._listed is not None and not isinstance(self._listed, range):
            self._known = {x: x for x in self._listed}
        self._alike = self._groups(self._listed) if self.shared else {}

    def _groups(self, contexts: Sequence[Hashable] | None) -> dict[Hashable, list[Hashable]]:
        """Return the contexts that share their losses with each of these contexts."""
        if contexts is None:
            raise ParameterError("PerContext with shared= needs to know its contexts: list them.")
        groups: dict[Hashable, list[Hashable]] = {}
        try:
            keys = [self.shared(x) if callable(self.shared) else None for x in contexts]
            for x, key in zip(contexts, keys, strict=True):
                groups.setdefault(key, []).append(x)
        except (TypeError, LookupError, AttributeError) as error:
            raise ParameterError(
                "The function shared= of PerContext must return a hashable key for each context; "
                f"it raises {error!r}. Check it with a context such as {contexts[0]!r}."
            ) from None
        return {x: groups[key] for x, key in zip(contexts, keys, strict=True)}

    @property
    def fixed_size(self) -> bool:
        """Whether all actions on one context choose equally many elements."""
        return all(one.fixed_size for one in self.problems())

    @property
    def empty_remedy(self) -> str | None:
        """The change that excludes the empty set, if it is an action on a context."""
        remedies = [getattr(problem, "empty_remedy", None) for problem in self.problems()]
        return next(filter(None, remedies), None)

    def problem(self, context: Any) -> Oracle:
        """Return the inner oracle of a context.

        >>> import hannan as hn
        >>> hn.oracles.PerContext(hn.oracles.Subsets(3, 1), ["x", "y"]).problem("x")
        Subsets(n=3, m=1)
        """
        if isinstance(self.base, Oracle):
            return self.base
        return self.base[context if context in self.base else self.check_context(context)]

    def problems(self) -> list[Oracle]:
        """Return the inner oracle of each context; a list of one, if they share it."""
        return list(self.base.values()) if isinstance(self.base, Mapping) else [self.base]

    def actions_among(self, context: Any, elements: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the elements among `elements` that are actions of the problem of a context."""
        return actions_among(self.problem(context), self.alone, elements)

    def has_available(self, context: Any, available: NDArray[np.intp]) -> bool:
        """Return whether the problem of a context has a set of available elements."""
        return has_available(self.problem(context), self.alone, available)

    @property
    def contexts(self) -> Sequence[Hashable] | None:
        """Listed contexts, without repetition; None if they are unknown."""
        return self._listed

    def check_context(self, context: Any) -> Hashable:
        """Check that a context is listed, or hashable if no contexts are listed."""
        if isinstance(self._listed, range):
            return check_table_context(self, context, len(self._listed))
        if type(context) not in (str, int, tuple):
            context = as_scalar(context)
        try:
            if self._known is None:
                hash(context)
                return check_comparable(context)  # type: ignore[no-any-return]
            return self._known[context]
        except TypeError:
            raise ContextError(
                f"The contexts of PerContext must be hashable; got {context!r}. Use a tuple "
                "instead of a list or an array."
            ) from None
        except KeyError:
            assert self._known is not None
            remedy = "List it, or leave contexts=None to allow any."
            if isinstance(self.base, Mapping):
                remedy = "Make one whose mapping has a problem for it too."
            raise ContextError(
                f"Context {context!r} is not among the {len(self._known)} contexts of this "
                f"PerContext. {remedy}"
            ) from None

    def objective(self) -> PerContextObjective:
        return SharedContextsObjective(self, {}) if self.shared else PerContextObjective(self, {})

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return PerContextNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        return self._summed([self.problem(x).log_size([self.alone]) for x in contexts])

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        parts = [self.problem(x).complexity([self.alone]) for x in contexts]
        if self.shared:  # totals are means over the contexts that share their losses
            sizes = [len(alike) for alike in self._groups(contexts).values()]
            parts = [part and part / n for part, n in zip(parts, sizes, strict=True)]
        return self._summed(parts)

    @property
    def complexity_pairs(self) -> int:
        """Number of pairs of draws for an estimate of G: each draw has d independent contexts."""
        return max(8, 64 // len(self._listed or (None,)))

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        """Return True only for the set of all contexts (for any set, if there is one action)."""
        if all(one.log_size([self.alone]) == 0.0 for one in self.problems()):
            return True
        if self._listed is None:
            return None
        return len(set(contexts)) == len(self._listed)

    def _summed(self, parts: list[float | None]) -> float | None:
        return None if None in parts else sum(part for part in parts if part is not None)

    def _action(self, action: Action) -> Action:
        """Convert an action of a problem to an action of this class: a set, if any has sets."""
        return np.array([action]) if self.max_chosen > 1 and isinstance(action, int) else action


class PerContextPolicy(Policy):
    """Policy of the base for each context; on unseen contexts, its policy for zero losses."""

    def __init__(
        self, oracle: PerContext, choices: dict[Hashable, Policy], elsewhere: Policy
    ) -> None:
        self.oracle = oracle
        self.choices = choices
        self.elsewhere = elsewhere

    def __call__(self, context: Any = None) -> Action:
        policy = self.choices.get(self.oracle.check_context(context), self.elsewhere)
        return self.oracle._action(policy(None))

    def __repr__(self) -> str:
        return f"<policy on {len(self.choices)} contexts>"


class PerContextNoise:
    """Noise of the base: draw n of the i-th context is the base's draw i 2^40 + n.

    Consecutive draws of a context are consecutive in the base, too. They remain valid when the list
    of contexts changes.
    """

    def __init__(
        self, oracle: PerContext, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> None:
        if len(contexts) > _MOST_CONTEXTS:
            raise ParameterError(
                f"PerContext can put noise on at most {_MOST_CONTEXTS} contexts; got "
                f"{len(contexts)}."
            )
        self.contexts = contexts
        self.n_actions = oracle.n_actions
        self.first = {x: i << _DRAW_BITS for i, x in enumerate(contexts)}
        made: dict[int, Noise] = {}
        self.base: dict[Hashable, Noise] = {}
        for x in contexts:
            problem = oracle.problem(x)
            if id(problem) not in made:
                made[id(problem)] = _noise_of(problem, oracle.alone, key, stream, memory)
            self.base[x] = made[id(problem)]

    def unit(self, draw: int) -> FloatArray:
        """Return one draw of the fake losses, [d, K], at scale 1."""
        rows = [self.base[x].unit(first + draw) for x, first in self.first.items()]
        return np.concatenate(rows) if rows else np.empty((0, self.n_actions))


def _noise_of(problem: Oracle, alone: Any, key: np.uint64, stream: int, memory: int) -> Noise:
    noise = problem.noise([alone], key, stream, 1)
    blocks = getattr(noise, "blocks", None)
    if blocks is None:
        return noise
    # The context may change in every round, so draws made ahead would be wasted.
    draw = 4 * blocks.block.shape[1]
    return problem.noise([alone], key, stream, min(memory, LANES * draw))


class PerContextObjective(Objective):
    """Total of the base for every context seen."""

    oracle: PerContext

    stored = State(_parts=MadeByKey(Context(), lambda self, x: self.oracle.problem(x).objective()))

    def __init__(self, oracle: PerContext, parts: MutableMapping[Hashable, Objective]) -> None:
        self.oracle = oracle
        self._parts = parts
        self._blanks: dict[int, Objective] = {}
        self._alone = oracle.alone
        self.scored = oracle.chooses_sets and oracle.closes  # single actions have substitutes

    def copy(self) -> PerContextObjective:
        parts = {context: part.copy() for context, part in self._parts.items()}
        return PerContextObjective(self.oracle, parts)

    def add(self, context: Hashable, losses: FloatArray) -> None:
        self._own(context).add(self._alone, losses)

    def action(
        self, context: Hashable, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        address = _address(draw, context)
        action = self._part(context).action(self._alone, address, plus, available)
        return self.oracle._action(action)

    def settle(
        self, context: Hashable, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Action:
        address = _address(draw, context)
        action = self._own(context).settle(self._alone, losses, address, available)
        return self.oracle._action(action)

    def chosen(
        self,
        context: Hashable,
        draw: Draw,
        count: int,
        plus: Plus = None,
        available: Available = None,
    ) -> NDArray[np.bool_]:
        address = _address(draw, context)
        return self._part(context).chosen(self._alone, address, count, plus, available)

    def weights(
        self, context: Hashable, elements: Any, draw: Draw, *trials: Any, **options: Any
    ) -> tuple[FloatArray, int]:
        part, address = self._part(context), _address(draw, context)
        return part.weights(self._alone, elements, address, *trials, **options)

    def inclusion(
        self,
        context: Hashable,
        elements: Any,
        draw: Draw,
        plus: Plus = None,
        available: Available = None,
    ) -> FloatArray | None:
        part, address = self._part(context), _address(draw, context)
        return part.inclusion(self._alone, elements, address, plus, available)

    def distribution(
        self, context: Hashable, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray | None:
        address = _address(draw, context)
        if address.noise is None or address.scale == 0.0:
            return None  # equivalent: a loaded learner makes its noise later
        return self._part(context).distribution(self._alone, address, plus, available)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        elsewhere = self.oracle.problems()[0].objective().leader()
        choices: list[dict[Hashable, Policy]] = [{} for _ in range(count)]
        for context in self._contexts(draw.noise):
            found = self._part(context).leaders(_address(draw, context), count)
            for chosen, policy in zip(choices, found, strict=True):
                chosen[context] = policy
        return [PerContextPolicy(self.oracle, chosen, elsewhere) for chosen in choices]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        values = np.zeros(count)
        for context in self._contexts(draw.noise):
            values += self._part(context).minima(_address(draw, context), count)
        return values

    def _part(self, context: Hashable) -> Objective:
        try:
            return self._parts[context]
        except KeyError:
            return self._blank(context)

    def _blank(self, context: Hashable) -> Objective:
        """Return the empty total of a context without losses; nothing is ever added to it."""
        problem = self.oracle.problem(context)
        blank = self._blanks.get(id(problem))
        if blank is None:
            blank = self._blanks[id(problem)] = problem.objective()
        return blank

    def _own(self, context: Hashable) -> Objective:
        part = self._parts.get(context)
        if part is None:
            part = self._parts[context] = self.oracle.problem(context).objective()
        return part

    def _contexts(self, noise: Noise | None) -> dict[Hashable, None]:
        """Return contexts with losses or noise, in the listed order if contexts are listed.

        If contexts have different problems, return all contexts, so that leaders are feasible.
        """
        if isinstance(self.oracle.base, Mapping):
            return dict.fromkeys(self.oracle.base)
        noisy = () if noise is None else noise.contexts
        found = dict.fromkeys([*self._parts, *noisy])
        listed = self.oracle.contexts
        return found if listed is None else dict.fromkeys(x for x in listed if x in found)


class SharedContextsObjective(PerContextObjective):
    """Total of the base for every context, to which all rounds with the same key are added.

    Values are means over the contexts of a key: the loss of a round with a uniformly random one.
    """

    stored = State()

    def copy(self) -> SharedContextsObjective:
        parts = {context: self._part(context).copy() for context in self.oracle._alike}
        return SharedContextsObjective(self.oracle, parts)

    def add(self, context: Hashable, losses: FloatArray) -> None:
        for each in self.oracle._alike[context]:
            self._own(each).add(self._alone, losses)

    def settle(
        self, context: Hashable, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Action:
        """Settle the round's context first: if a solver fails, nothing has changed."""
        action = super().settle(context, losses, draw, available)
        for each in self.oracle._alike[context]:
            if each != context:
                self._own(each).add(self._alone, losses)
        return action

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        values = np.zeros(count)
        for context, alike in self.oracle._alike.items():
            values += self._part(context).minima(_address(draw, context), count) / len(alike)
        return values

    def _contexts(self, noise: Noise | None) -> dict[Hashable, None]:
        return dict.fromkeys(self.oracle._alike)


def _address(draw: Draw, context: Hashable) -> Draw:
    """Return the base's noise, draw and scale for a context; scale 0 for no noise."""
    noise, number, scale = draw
    if isinstance(noise, PerContextNoise):
        first = noise.first.get(context)
        if first is not None:
            return Draw(noise.base[context], first + number, scale)
    return WITHOUT_NOISE


def _check_base(base: Any) -> None:
    if not isinstance(base, Oracle):
        raise InputTypeError(
            f"PerContext needs an oracle as its base, or a mapping to oracles; got {base!r}."
        )
    try:
        base.check_context(None)
    except ContextError:
        raise ParameterError(
            f"PerContext needs a base without contexts, which takes None; {base!r} does not. Pass "
            "a class with a single context."
        ) from None
    if base.n_actions is None:
        raise ParameterError(
            f"PerContext needs a base with a known number of actions; pass n_actions= to {base!r}."
        )


def _as_list(oracle: PerContext, given: Any) -> Sequence[Hashable] | None:
    if given is None:
        return None
    if isinstance(given, Integral):
        return range(check_integer(oracle, "contexts", given, 1))
    if isinstance(given, range) and given == range(len(given)) and given:
        return given
    try:
        found = list(dict.fromkeys(comparable(as_rows(given))))
    except TypeError:
        accepted = "a sequence of hashable contexts, an integer or None"
        raise refuse(oracle, "contexts", accepted, given) from None
    if not found:
        raise refuse(oracle, "contexts", "a non-empty sequence of contexts", given)
    return found
