"""A list of rules, each of which chooses among the actions of the round."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import ContextError, Menu, Policy
from hannan.core.arrays import as_floats
from hannan.core.oracle import Available, Draw, Noise, Plus, played
from hannan.core.state import Array, Object, State
from hannan.core.validation import FloatArray, refuse
from hannan.oracles._features import MenuOracle
from hannan.oracles._tables import argmin_distribution_of
from hannan.oracles._totals import Solved
from hannan.perturbation import LaplaceNoise
from hannan.perturbation.laplace import mean_of_maximum

Rule = Callable[[Any, FloatArray], Any]


class ListedRules(MenuOracle):
    r"""A list of rules, which are functions of the context and of the actions with features.

    The actions may change in every round. A rule f is called as `f(context, actions)`, with one
    feature vector for each action. It returns the number of an action, or a score for each action,
    and the smallest score wins. Contexts may be any objects and need not repeat. Every rule is
    called once per round, so a round costs N calls and O(N) further operations.

    This is the paper's small separator at its best. Imagine one additional context for each rule,
    on which this rule chooses an action that no other rule chooses. These N contexts separate all
    rules, and fake losses on them amount to one Laplace number for each rule. The number of one
    rule can be shifted without changing the others, so κ = 1 in the shift lemma, rather than N as
    for separators in general. And :math:`G = E\max_n \zeta_n`, about log N. So the theorems hold
    for every context and every set of actions. The action distribution is known: it is the
    distribution of the leader, summed over the rules that choose the same action.

    Parameters
    ----------
    rules
        Rules f_1, f_2, …, at least two. Ties between rules, or between scores, go to the first.

    Guarantee
    ---------
    With a self-tuned `ContextSemiBanditFTPL`, the expected regret against the best rule is at most
    :math:`2\sqrt{(2G + 1) K T}` + truncation, for K the largest number of actions in a round and
    for all contexts, actions and losses in [0, 1]. [syrgkanis2016]

    Examples
    --------
    >>> import hannan as hn
    >>> def cheapest(context, actions):
    ...     return actions[:, 0]
    >>> def newest(context, actions):
    ...     return len(actions) - 1
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.ListedRules([cheapest, newest]), seed=0)
    >>> for t in range(200):
    ...     prices = [[t % 7], [t % 3], [t % 5]]
    ...     chosen = learner.act(f"visitor {t}", actions=prices)
    ...     learner.update(float(chosen != 2))
    >>> learner.best_policy()
    <rule 1: newest>
    >>> learner.regret_bound() < 200
    True
    """

    stand_ins = True

    def __init__(self, rules: Sequence[Rule]) -> None:
        if isinstance(rules, str) or not isinstance(rules, Sequence) or len(rules) < 2:
            raise refuse(self, "rules", "a list of at least two functions", rules)
        for i, rule in enumerate(rules):
            if not callable(rule):
                raise refuse(self, "rules", f"functions f(context, actions); number {i}", rule)
        self.rules = rules

    @property
    def contexts(self) -> Sequence[Hashable]:
        """One artificial context for each rule, which the noise perturbs; it never arrives."""
        return range(len(self.rules))

    def check_contexts(self, contexts: Any) -> list[Any]:
        """Check contexts: keep artificial contexts, and remove duplicate menus."""
        if all(type(each) is int for each in contexts):
            return list(contexts)
        return super().check_contexts(contexts)

    def check_context(self, context: Any) -> Judged:
        """Return the menu with the choice of each rule."""
        if isinstance(context, Judged) and context.oracle is self:
            return context
        seen = self._check_menu(context).rows.view()
        seen.flags.writeable = False  # rules share it
        choices = np.empty(len(self.rules), np.intp)
        for i, rule in enumerate(self.rules):
            choices[i] = self._choice(i, rule(context.context, seen), len(seen))
        return Judged(context.context, context.rows, context.ids, choices, self)

    def _choice(self, i: int, answer: Any, n: int) -> int:
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            if 0 <= answer < n:
                return int(answer)
        else:
            try:
                scores = as_floats(answer)
            except (TypeError, ValueError):
                scores = np.empty(0)
            if scores.shape == (n,) and not np.isnan(scores).any():
                return int(scores.argmin())
        raise ContextError(
            f"Rule {i} ({_named(self.rules[i])}) must return the number of an action, from 0 "
            f"to {n - 1}, or {n} scores, one for each action; got {answer!r:.100}."
        )

    def objective(self) -> RulesObjective:
        return RulesObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return RulesNoise(contexts, 1, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float:
        return math.log(len(self.rules))

    def complexity(self, contexts: Sequence[Any]) -> float:
        """Return the mean of the largest of N unit Laplace numbers."""
        return mean_of_maximum(len(self.rules))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judged(Menu):
    """Menu with the choice of each rule of a list."""

    choices: Any = None
    oracle: Any = None

    stored = State(
        oracle=Object(ListedRules),
        choices=Array(
            lambda self: len(self.oracle.rules),
            dtype=np.intp,
            low=0,
            below=lambda self: len(self.rows),
        ),
    )


class RulesNoise(LaplaceNoise):
    """One number for each rule: the fake loss of its action on its artificial context."""

    def numbers(self, draw: int) -> FloatArray:
        """Return the numbers of one draw."""
        return super().unit(draw)[:, 0]

    def unit(self, draw: int) -> FloatArray:
        """Return fake losses [N, 2] of the action of rule i on context i and of all others'."""
        own = self.numbers(draw)
        return np.stack([own, np.zeros_like(own)], axis=1)


class RulePolicy(Policy):
    """Policy given by one rule of the list."""

    def __init__(self, oracle: ListedRules, number: int) -> None:
        self.oracle, self.number = oracle, number

    def __call__(self, context: Any = None) -> int:
        if type(context) is int:  # artificial context of a rule
            return int(context != self.number)
        return int(self.oracle.check_context(context).choices[self.number])

    def __repr__(self) -> str:
        return f"<rule {self.number}: {_named(self.oracle.rules[self.number])}>"


class RulesObjective(Solved):
    """Total loss of every rule."""

    oracle: ListedRules
    draws_in_batches = False

    stored = State(totals=Array())

    def __init__(self, oracle: ListedRules) -> None:
        self.oracle = oracle
        self.totals: FloatArray = np.zeros(len(oracle.rules))

    def add(self, context: Judged | int, losses: FloatArray) -> None:
        if isinstance(context, int):  # artificial context of a rule
            self.totals += losses[1]
            self.totals[context] += losses[0] - losses[1]
        else:
            self.totals += losses[context.choices]

    def action(
        self, context: Judged, draw: Draw, plus: Plus = None, available: Available = None
    ) -> int:
        choice = int(context.choices[self._noisy(draw, context, plus).argmin()])
        return choice if available is None else int(available[choice])

    def distribution(
        self, context: Judged, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        """Return the leader's distribution, summed over rules that choose the same action."""
        totals = self.totals if plus is None else self.totals + plus[context.choices]
        q = argmin_distribution_of(totals, abs(draw.scale))
        return played(np.bincount(context.choices, q, len(context)).astype(np.float64), available)

    def _solve(self, draw: Draw) -> tuple[RulePolicy, float]:
        totals = self._noisy(draw)
        best = int(totals.argmin())
        return RulePolicy(self.oracle, best), float(totals[best])

    def _noisy(self, draw: Draw, context: Judged | None = None, plus: Plus = None) -> FloatArray:
        """Return the totals under a draw, with one more round if `plus` is given."""
        noise, number, scale = draw
        totals = self.totals
        if plus is not None and context is not None:
            totals = totals + plus[context.choices]
        if not scale:
            return totals
        assert isinstance(noise, RulesNoise)
        return np.asarray(totals + scale * noise.numbers(number))


def _named(rule: Any) -> str:
    return str(getattr(rule, "__name__", type(rule).__name__))
