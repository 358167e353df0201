"""X: the contexts that carry noise."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hannan.core import ContextError, Oracle, ParameterError
from hannan.core.arrays import Contexts
from hannan.core.oracle import Timed, context_at
from hannan.core.state import Context, Count, Generator, ListOf, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import refuse

_RESERVOIR = 512  # size of the sample of contexts, if contexts are not declared
_AT_ONCE = 64  # places in the sample drawn per call


@dataclass(frozen=True, eq=False)
class Pool(Stored):
    """A sample of the contexts that may arrive, passed as `contexts=Pool(rows)`.

    The learner puts noise on the sample, and any context may arrive; no theorem applies to this.
    `PlayoutFTPL` and `PlayoutBandit` draw the future contexts from the sample instead.

    Parameters
    ----------
    rows
        Contexts of the sample, for example feature vectors.

    Examples
    --------
    >>> import hannan as hn
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> learner = hn.ContextFTPL(hn.oracles.LinearPolicies(n_actions=2), hn.Pool(X), seed=0)
    >>> learner.act([0.5, 0.5]) in (0, 1)
    True
    """

    rows: Contexts
    stored = State()


class Reservoir(Stored):
    """A uniform sample of at most `capacity` of the contexts so far.

    `contexts` is renewed whenever the number of contexts has doubled, which is O(log t) times.
    """

    stored = State(
        seen=Count(),
        contexts=ListOf(Context("_oracle"), most=lambda self: min(self.capacity, self.seen)),
        _sample=ListOf(Context("_oracle"), length=lambda self: min(self.capacity, self.seen)),
        _rng=Generator(),
        _coming=ListOf(Count(lambda self: self.seen + _AT_ONCE), most=_AT_ONCE - 1),
        left=Count(low=1),
    )

    def __init__(self, capacity: int, key: np.uint64) -> None:
        self.capacity = capacity
        self.contexts: list[Any] = []
        self.seen = 0
        self._sample: list[Any] = []
        self._rng = np.random.default_rng(int(key))
        self._coming: list[int] = []  # places of the next contexts, the next one last
        self.left = 1  # contexts until `contexts` is renewed

    def __copy__(self) -> Self:
        """Return an independent copy, which shares the contexts because these never change."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _sample=list(self._sample), _coming=list(self._coming))
        twin._rng = copy.deepcopy(self._rng)
        return twin

    def offer(self, context: Any) -> bool:
        """Add a context to the sample; return whether `contexts` has been renewed."""
        self.seen += 1
        if len(self._sample) < self.capacity:
            self._sample.append(context)
        else:
            if not self._coming:  # draw places for several contexts per call, which is faster
                drawn = self._rng.integers(np.arange(self.seen, self.seen + _AT_ONCE))
                self._coming = drawn[::-1].tolist()
            place = self._coming.pop()
            if place < self.capacity:
                self._sample[place] = context
        self.left -= 1
        if self.left:
            return False
        self.left = self.seen
        self.contexts = list(self._sample)
        return True


def _check_one_of(oracle: Oracle, contexts: Any, separator: Any) -> None:
    """Raise `ParameterError` if both are given, or one for an oracle that needs none."""
    if contexts is not None and separator is not None:
        raise ParameterError(
            "contexts= and separator= cannot be combined. Pass either contexts= (the contexts "
            "that may arrive, or a Pool of similar ones) or separator= (contexts on which all "
            "policies differ)."
        )
    if oracle.stand_ins and (contexts is not None or separator is not None):
        raise ParameterError(
            f"{type(oracle).__name__} accepts any context and puts its noise on the rules. "
            "Leave out contexts= and separator=."
        )


class ContextSet(Stored):
    """X: declared contexts, a separator, a pool, or a sample of the contexts so far."""

    stored = State(seen=Part())

    def __init__(
        self,
        owner: object,
        oracle: Oracle,
        contexts: Contexts | Pool | None,
        separator: Contexts | None,
        key: np.uint64,
    ) -> None:
        _check_one_of(oracle, contexts, separator)
        name, given = "contexts", oracle.contexts if contexts is None else contexts
        if separator is not None:
            name, given = "separator", separator
        pool = isinstance(given, Pool)
        self._oracle = oracle
        self.timed = isinstance(oracle, Timed)
        self._keyed = type(oracle).key is not Oracle.key  # most contexts are their own keys
        self._allowed: frozenset[Any] | None = None
        self.numbers: frozenset[int] = frozenset()  # declared contexts that need no further check
        self.takes_all = False  # whether any context may arrive at any time
        self.points: list[Any] = []  # checked and without repetition
        self.setting = "separator"  # or "transductive"
        self.has_theorem = given is not None and not pool
        self.seen: Reservoir | None = None  # sample of the contexts so far, if none are declared
        self.takes_new_contexts = given is None
        if given is None:
            if not oracle.takes_new_contexts:
                raise ParameterError(
                    f"{type(oracle).__name__} does not list its contexts. Pass contexts= (the "
                    "contexts that may arrive) or separator= (contexts on which all policies "
                    "differ)."
                )
            self.seen = Reservoir(_RESERVOIR, key)
            self.takes_all = not self.timed
            return
        self.points = oracle.check_contexts(given.rows if isinstance(given, Pool) else given)
        if not self.points:
            raise refuse(owner, name, "a non-empty sequence of contexts", given)
        if name == "separator" and oracle.separates(self.points) is False:
            raise ParameterError(
                "separator= does not separate the policy class: two different policies agree on "
                f"all its {len(self.points)} contexts. Add contexts on which they differ."
            )
        if name == "contexts" and not pool:
            self.setting = "transductive"
        if name == "contexts" and not pool and not oracle.stand_ins:
            self._allowed = frozenset(map(oracle.key, self.points))
            if not (self.timed or self._keyed) and all(type(x) is int for x in self.points):
                self.numbers = self._allowed

    def admit(self, context: Any, time: int) -> Any:
        """Return the checked context of a round; raise `ContextError` if it is not declared."""
        if type(context) is int and context in self.numbers:
            return context
        oracle = self._oracle
        context = context_at(oracle, time, context)
        known = self._allowed
        if known is not None and (oracle.key(context) if self._keyed else context) not in known:
            raise ContextError(
                f"Context {context!r} is not among the {len(known)} declared contexts "
                "(transductive setting). Add it to contexts=, or pass separator= to allow any "
                "context."
            )
        return context

    def log_size(self) -> float:
        """Return log N, the log size of the policy class on X, for the ε of a theorem."""
        if not self.points:
            raise ParameterError(
                "epsilon='theorem' needs declared contexts. Pass contexts= or separator=, or use "
                "epsilon='adaptive', which needs neither."
            )
        size = self._oracle.log_size(self.points)
        if size is None:
            raise ParameterError(
                "epsilon='theorem' needs the size of the policy class, which "
                f"{type(self._oracle).__name__} does not know. Use epsilon='adaptive', or a number."
            )
        return size

    def see(self, context: Any) -> None:
        """Add a context to the sample behind X, if there is one and X is not due for renewal."""
        if self.seen is not None:
            self.seen.offer(context)

    def of(self, oracle: Oracle) -> Self:
        """Return a copy with the same contexts for a class with more actions."""
        twin = copy.copy(self)
        twin._oracle = oracle
        twin.seen = copy.copy(self.seen)
        return twin

    def renewed(self, context: Any) -> Self | None:
        """Return X renewed with this context, or None if X is not due; X itself stays unchanged."""
        if self.seen is None or self.seen.left > 1:
            return None
        twin = copy.copy(self)
        twin.seen = copy.copy(self.seen)
        twin.seen.offer(context)
        twin.points = self._oracle.check_contexts(twin.seen.contexts)
        return twin

    def _restored(self) -> None:
        if self.seen is not None and self.seen.contexts:
            self.points = self._oracle.check_contexts(self.seen.contexts)
