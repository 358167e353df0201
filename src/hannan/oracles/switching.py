"""Sequences of policies with a limited number of switches."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, InputTypeError, Objective, Oracle, ParameterError
from hannan.core.arrays import Contexts, as_rows
from hannan.core.oracle import Noise, Timed
from hannan.core.validation import check_choice, check_integer, refuse
from hannan.oracles._sequences import ListedNoise, Listing, Pair, SwitchingNoise
from hannan.oracles._switching_intervals import IntervalSequences
from hannan.oracles._switching_policies import PolicySequences
from hannan.oracles.finite_policies import FinitePolicies


class Switching(Timed):
    r"""Sequences of policies of another class with at most k switches.

    Contexts are pairs :math:`(t, x_t)` of the number of the round, from 0, and a context of
    `base`; the leader is

    .. math:: \arg\min_{\pi_0, …, \pi_{T-1}} \sum_t \ell_t(\pi_t(x_t))
              \quad\text{over } \#\{t > 0 : \pi_t \ne \pi_{t-1}\} \le k .

    Regret against this class is regret against the best sequence of policies. Learners also take
    bare contexts :math:`x_t`, because they know the number of the round. The future contexts, or at
    least their number, must be known, because the noise perturbs them, too. Leaders are found by
    dynamic programming over time.

    *Listed policies* (`FinitePolicies`): O(TkN) for a draw, and O(kN) per round for a draw that is
    reused at later times (noise="once"). Ties: the smallest first policy, for as long as it is no
    worse; then the smallest policy that is as good, and so on.

    *Any other class*: O(T²k), from the minimal totals of all T(T+1)/2 intervals of time. Ties: the
    longest first interval, then the longest second one, and so on; in each the leader of `base`.

    Parameters
    ----------
    base
        Inner oracle: the class whose policies the sequences contain.
    switches
        Largest number k of switches.
    sequence
        Contexts of `base` in the order of their arrival; an integer T if `base` has no contexts.
        Default: None; then learners need pairs, `contexts=[(0, x_0), (1, x_1), …]`.
    grid
        Distance b of possible switches: only in rounds b, 2b, 3b, …. A draw then costs T/b instead
        of T, and the best sequence is worse by at most :math:`k \lfloor b/2 \rfloor R`, R the range
        of the losses of a round. Default: 1.
    method
        "policies" (for listed policies), "intervals" (for any class), or "auto", which chooses
        between them. Default: "auto".
    reluctance
        Charge of a self-tuned learner for each switch of a sequence, in addition to the losses, so
        that it does not switch after a few lucky rounds. It adds at most k times itself to the
        regret bound. Default: None, for R log(TN) with N policies; 0 for no charge.

    Examples
    --------
    Whom to follow in the morning, and whom in the afternoon:

    >>> import hannan as hn
    >>> experts = hn.oracles.FinitePolicies([0, 1, 2])
    >>> total = hn.oracles.Switching(experts, switches=1, sequence=6).objective()
    >>> for t in range(6):
    ...     total.add((t, 0), np.array([0.5, 0.0, 0.9] if t < 4 else [0.5, 0.8, 0.1]))
    >>> best = total.leader()
    >>> best
    <sequence: from 0 <policy 1 of 3>, from 4 <policy 2 of 3>>
    >>> best((3, None)), best((4, None)), best.switches
    (1, 2, (4,))

    Shortest paths, when the short way changes:

    >>> roads = hn.oracles.Paths([("a", "b"), ("a", "b")], "a", "b")
    >>> learner = hn.ContextFTPL(hn.oracles.Switching(roads, 1, sequence=40), seed=0)
    >>> for t in range(40):
    ...     road = learner.act()
    ...     learner.update([0.2, 0.8] if t < 20 else [0.8, 0.2])
    >>> learner.best_policy().switches
    (20,)

    References
    ----------
    [syrgkanis2016], [herbster1998]
    """

    room_for = ("sequence", "switches base.n_policies")

    def __init__(
        self,
        base: Oracle,
        switches: int,
        *,
        sequence: Contexts | int | None = None,
        grid: int = 1,
        method: str = "auto",
        reluctance: float | None = None,
    ) -> None:
        self.base = _check_base(base)
        self.switches = check_integer(self, "switches", switches, 0)
        self.sequence = sequence
        self.grid = check_integer(self, "grid", grid, 1)
        self.method = check_choice(self, "method", method, ("auto", "policies", "intervals"))
        if reluctance is not None and not 0.0 <= reluctance < math.inf:
            raise refuse(self, "reluctance", "None or a number >= 0", reluctance)
        self.reluctance = reluctance
        if method == "policies" and not isinstance(base, FinitePolicies):
            raise ParameterError(
                f"method='policies' needs FinitePolicies as base; got {base!r}. Use "
                "method='intervals'."
            )
        self.listed = isinstance(base, FinitePolicies) and method != "intervals"
        """Whether the programme runs over listed policies, and not over intervals."""
        assert base.n_actions is not None
        self.n_actions: int = base.n_actions
        self.max_chosen = base.max_chosen
        self.antichain = base.antichain
        self.exact = base.exact  # type: ignore[misc]
        self._pairs = _announced(self, base, sequence)
        self._keys = None if self._pairs is None else [base.key(x) for _, x in self._pairs]
        cells = math.inf if self._pairs is None else -(-len(self._pairs) // grid)
        self.levels = int(min(switches + 1, cells))
        """The largest number of pieces of a sequence."""

    # Except in the worst case, the class needs less noise than on every round.
    eagerness = 4.0

    @property
    def fixed_size(self) -> bool:
        return self.base.fixed_size

    @property
    def complexity_pairs(self) -> int:
        """Number of pairs of draws for an estimate of G; fewer for intervals, which are slow."""
        return 64 if self.listed else 16

    @property
    def contexts(self) -> list[Pair] | None:
        """Pairs (t, x_t), if the sequence is known; otherwise None."""
        return self._pairs

    def check_context(self, context: Any) -> Pair:
        if not _is_pair(context) or context[0] < 0:
            raise ContextError(
                "The contexts of Switching must be pairs (t, x), t the number of the round from 0; "
                f"got {context!r}."
            )
        self._check_time(context[0], context)
        return int(context[0]), self.base.check_context(context[1])

    def at(self, time: int, context: Any) -> Pair:
        """Return the pair of a bare context that arrives at this time; return pairs unchanged.

        An ambiguous context counts as a bare context if `sequence` announces it for this time, and
        as a pair if `sequence` announces the pair. Without a sequence it counts as a pair.
        """
        if self._keys is None:
            if _is_pair(context):
                return self.check_context(context)
            return time, self.base.check_context(context)
        known = self._known(time, context)
        if known is None and _is_pair(context):
            known = self._known(*context)
        if known is not None:
            return known
        self._check_time(time, context)
        x = self.base.check_context(context)
        assert self._pairs is not None
        raise ContextError(
            f"sequence= announces context {self._pairs[time][1]!r} for round {time}; got "
            f"{x!r}. Give the contexts in the announced order."
        )

    def _known(self, time: int, context: Any) -> Pair | None:
        """Return the pair, if `sequence` announces it."""
        assert self._keys is not None
        if not 0 <= time < len(self._keys):
            return None
        try:
            x = self.base.check_context(context)
        except (ContextError, TypeError):
            return None
        return (int(time), x) if self.base.key(x) == self._keys[time] else None

    def _check_time(self, time: int, context: Any) -> None:
        if self._keys is not None and time >= len(self._keys):
            raise ContextError(
                f"sequence= announces {len(self._keys)} rounds, 0 to "
                f"{len(self._keys) - 1}; got {context!r} for round {time}."
            )

    def key(self, context: Pair) -> Hashable:
        return context[0], self.base.key(context[1])

    def cell(self, context: Pair) -> int:
        """Return the number of the interval between two possible switches, from 0."""
        return context[0] // self.grid

    def cells(self, contexts: Sequence[Pair]) -> NDArray[np.int64]:
        """Return the cell of each pair."""
        return np.array([t for t, _ in contexts], np.int64) // self.grid

    def objective(self) -> Objective:
        return PolicySequences(self) if self.listed else IntervalSequences(self)

    def start(self, contexts: Sequence[Any], width: float) -> Objective:
        """Return a total that charges for switches."""
        price = self.reluctance
        if price is None:
            price = width * self._log_changes(contexts) if math.isfinite(width) else 0.0
        total = PolicySequences(self, price) if self.listed else IntervalSequences(self, price)
        if contexts:
            total.prepare(contexts)
        return total

    def _log_changes(self, contexts: Sequence[Any]) -> float:
        """Return the log of the number of ways to switch once."""
        cells = len(np.unique(self.cells(contexts)))
        size = self.base.log_size(self.base.check_contexts([x for _, x in contexts]))
        return math.log(max(1, cells)) + (math.log(self.n_actions) if size is None else size)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        kind = ListedNoise if self.listed else SwitchingNoise
        return kind(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        r"""Return :math:`\log \sum_{i \le k} \binom{C-1}{i} N (N-1)^i` for C cells of time."""
        if not len(contexts):
            return 0.0
        size = self.base.log_size(self.base.check_contexts([x for _, x in contexts]))
        if size is None:
            return None
        return log_sequences(len(np.unique(self.cells(contexts))), self.switches, size)

    @cached_property
    def listing(self) -> Listing:
        """Actions of the listed policies."""
        assert isinstance(self.base, FinitePolicies)
        return Listing(self.base)


def log_sequences(cells: int, switches: int, log_size: float) -> float:
    r"""Return the log of the number of sequences of N policies with at most k switches.

    >>> round(math.exp(log_sequences(3, 1, math.log(2))))
    6
    """
    most = min(switches, cells - 1)
    if log_size <= 0.0 or most == 0:
        return log_size
    others = log_size + math.log(-math.expm1(-log_size))
    terms = [
        math.lgamma(cells) - math.lgamma(i + 1) - math.lgamma(cells - i) + i * others
        for i in range(most + 1)
    ]
    return log_size + float(np.logaddexp.reduce(terms))


def _is_pair(context: Any) -> bool:
    if not isinstance(context, tuple) or len(context) != 2:
        return False
    return isinstance(context[0], Integral) and not isinstance(context[0], bool)


def _check_base(base: Any) -> Oracle:
    if not isinstance(base, Oracle):
        raise InputTypeError(f"Switching needs an oracle as its base; got {base!r}.")
    if isinstance(base, Switching):
        raise ParameterError(
            "Switching needs a base without switches; got another Switching. Pass its base instead."
        )
    if base.takes_functions:
        raise ParameterError(
            f"Switching needs a base with a loss for each element; {base!r} takes loss functions. "
            "Use another base."
        )
    if base.n_actions is None:
        raise ParameterError(
            f"Switching needs a base with a known number of actions; pass n_actions= to {base!r}."
        )
    return base


def _announced(owner: Switching, base: Oracle, sequence: Any) -> list[Pair] | None:
    """Check a sequence, and return the pairs (t, x_t)."""
    if sequence is None:
        return None
    if isinstance(sequence, Integral):
        rounds = check_integer(owner, "sequence", sequence, 1)
        try:
            alone = base.check_context(None)
        except ContextError:
            accepted = f"the contexts in order of arrival, for {type(base).__name__} has contexts"
            raise refuse(owner, "sequence", accepted, sequence) from None
        return [(t, alone) for t in range(rounds)]
    try:
        found = [(t, base.check_context(x)) for t, x in enumerate(as_rows(sequence))]
    except TypeError:
        accepted = "a sequence of contexts, an integer or None"
        raise refuse(owner, "sequence", accepted, sequence) from None
    if not found:
        raise refuse(owner, "sequence", "a non-empty sequence of contexts", sequence)
    return found
