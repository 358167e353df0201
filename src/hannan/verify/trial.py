"""A trial: learners of one kind play in one environment, and a bound limits their regret."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hannan.bounds import Bound, Sizes, laplace_complexity, sizes_of
from hannan.core import Environment, Learner, Oracle
from hannan.core.validation import FloatArray
from hannan.experiments import Trace, play
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.verify.claim import Check

SIGMAS = 5.5
"""Standard errors allowed to chance: a normal variate strays further with probability 4e-8."""
FIXED_SEEDS = "means over runs with fixed seeds, many standard errors below their bounds"


@dataclass(frozen=True, slots=True)
class Trial:
    """An oracle, an environment, a kind of learner and a bound, for runs with several seeds."""

    what: str
    oracle: Oracle
    environment: Environment
    horizon: int
    bound: Callable[..., Bound]
    """Function of `form` and the tuning: `epsilon` and, with partial feedback, `max_resamples`."""
    learner: Callable[..., Learner] = ContextFTPL
    options: Mapping[str, Any] = field(default_factory=dict)  # other parameters of the learner
    switches: int | None = None  # switches in the sequences of policies to compare with
    pseudo: bool = False
    """Whether all runs share an environment seed, with the best policy on average as comparator."""

    def games(self, seeds: Sequence[int], **changes: Any) -> list[tuple[Any, Trace]]:
        """Play one run per seed; `changes` replace options, the learner or the oracle."""
        options = {"learner": self.learner, "oracle": self.oracle, **self.options, **changes}
        kind = options.pop("learner")
        played = []
        for seed in seeds:
            learner, world_seed = kind(**options, seed=seed), seeds[0] if self.pseudo else seed
            played.append((learner, play(learner, self.environment, self.horizon, world_seed)))
        return played

    def regrets(self, seeds: Sequence[int], **changes: Any) -> FloatArray:
        """Return the regret of each run, against the best policy for its own losses."""
        played = self.games(seeds, **changes)
        return np.array([trace.regret(self.switches) for _, trace in played])

    def regret(self, seeds: Sequence[int], **changes: Any) -> float:
        """Return the mean regret of the runs."""
        if not self.pseudo:
            return float(self.regrets(seeds, **changes).mean())
        return pseudo_regret([trace for _, trace in self.games(seeds, **changes)], self.oracle)

    def theorem(self, seeds: Sequence[int], same: bool = True) -> Iterator[Check]:
        """Check regret with the printed and with the sharp tuning against the bounds.

        A learner that knows the horizon computes the printed tuning itself. With `same`, the sharp
        bound must hold at the printed tuning, too.
        """
        what, printed, sharp = self.what, self.bound(form="printed"), self.bound(form="sharp")
        named = {"epsilon": "theorem"} if "horizon" in self.options else {}
        paper = self.regret(seeds, **tuning(printed) | named)
        yield Check(f"{what}: regret at the printed ε, printed bound", paper, printed.value)
        if same:
            limit = self.bound(form="sharp", **tuning(printed)).value
            yield Check(f"{what}: regret at the printed ε, sharp bound", paper, limit)
        best = self.regret(seeds, **tuning(sharp))
        yield Check(f"{what}: regret at the sharp ε, sharp bound", best, sharp.value)
        yield Check(f"{what}: sharp bound, printed bound", sharp.value, printed.value)


def tuning(bound: Bound) -> dict[str, Any]:
    """Return ε, and L if the bound has one, as arguments of a learner or of a bound."""
    limit = {} if bound.max_resamples is None else {"max_resamples": bound.max_resamples}
    return {"epsilon": bound.epsilon, **limit}


def sizes(
    oracle: Oracle,
    contexts: Sequence[Any] | None = None,
    separator: Sequence[Any] | None = None,
    pairs: int | None = None,
) -> Sizes:
    """Return the sizes that a bound needs, including the complexity G."""
    X = contexts if separator is None else separator
    setting = "transductive" if separator is None else "separator"
    G = laplace_complexity(oracle, X, pairs=pairs)
    return sizes_of(oracle, X, setting=setting, complexity=G)


def pseudo_regret(traces: Sequence[Trace], oracle: Oracle) -> float:
    """Return the mean loss minus the loss of the policy that is best on average over all runs."""
    suffered = sum(float(trace.losses.sum()) for trace in traces)
    best = best_total(oracle, [(trace.contexts, trace.outcomes) for trace in traces])
    return (suffered - best) / len(traces)


def best_total(oracle: Oracle, games: Sequence[tuple[Sequence[Any], FloatArray]]) -> float:
    """Return the smallest total loss of a single policy over several runs."""
    sums: dict[Hashable, tuple[Any, FloatArray]] = {}
    for contexts, outcomes in games:
        for arrival, losses in zip(contexts, outcomes, strict=True):
            context = oracle.check_context(arrival)
            _, total = sums.setdefault(oracle.key(context), (context, np.zeros(len(losses))))
            total += losses
    objective = oracle.objective()
    for context, losses in sums.values():
        objective.add(context, losses)
    return float(objective.minima()[0])


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean of the values."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def totals_of(learner: ContextSemiBanditFTPL) -> FloatArray:
    """Return each action's total in a learner over all maps from one context."""
    objective: Any = learner.leader.total
    return np.array(objective.totals[0])
