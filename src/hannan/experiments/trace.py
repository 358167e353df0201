"""Record of a run of `play`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Oracle, ParameterError, Policy, Round
from hannan.core.display import page, paragraph, table
from hannan.core.frames import frame
from hannan.core.oracle import context_at
from hannan.core.plots import axes, bare, legend
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles import Switching

_PARTS = 10  # parts of the run in a notebook's table


class Trace:
    r"""Record of all rounds of a run: actions, losses, regret and the best policy in hindsight.

    With the weights :math:`w_t` of the rounds, which are 1 except on a replayed log,

    .. math:: \text{mean loss} = \frac{\sum_t w_t \ell_t}{\sum_t w_t},
              \qquad \text{effective} = \frac{(\sum_t w_t)^2}{\sum_t w_t^2},

    and regret is T times the mean loss, minus the loss of the best policy on `outcomes`.

    Attributes
    ----------
    oracle
        Policy class that regret is measured against.
    contexts
        Contexts of all rounds, in order.
    oracle_calls
        Number of oracle calls of the learner during the run.
    first
        Number of the first round. It is 0 unless the learner has already played rounds.

    Examples
    --------
    >>> import hannan as hn
    >>> environment = hn.environments.FromArrays([0, 0, 0], [[0, 1], [0, 1], [1, 0]])
    >>> learner = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2))
    >>> trace = hn.play(learner, environment, horizon=3)
    >>> trace
    <trace of 3 rounds, mean loss 0.333>
    >>> trace.actions.tolist(), trace.losses.tolist(), trace.regret()
    ([0, 0, 0], [0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, oracle: Oracle | None, first: int = 0) -> None:
        self.oracle = oracle
        self.oracle_calls = 0
        self.first = first
        self.contexts: list[Any] = []
        self._actions: list[Action] = []
        self._losses: list[FloatArray] = []
        self._suffered: list[float] = []
        self._current: list[float | None] = []
        self._weights: list[float] = []
        self._comparable = True

    def record(self, this_round: Round) -> None:
        """Record a round after it was played."""
        assert this_round.action is not None
        self.contexts.append(this_round.context)
        self._actions.append(this_round.action)
        self._losses.append(this_round.losses)
        self._suffered.append(this_round.loss)
        self._current.append(this_round.current_loss)
        self._weights.append(this_round.weight)
        self._comparable = self._comparable and this_round.comparable

    def __len__(self) -> int:
        return len(self._actions)

    def __repr__(self) -> str:
        facts = [f"<trace of {len(self)} rounds"]
        if self._actions:
            facts.append(f"mean loss {self.mean_loss:.3g}")
        if any(weight != 1.0 for weight in self._weights):
            facts.append(f"effective {self.effective:.0f}")
        return ", ".join(facts) + ">"

    def _repr_html_(self) -> str:
        """Return a table of the mean loss in each tenth of the run, without oracle calls."""
        now, rows = self.current_losses, []
        for part in np.array_split(np.arange(len(self)), min(len(self), _PARTS) or 1):
            weights, losses = self.weights[part], self.losses[part]
            if not weights.any():
                continue
            first, last = self.first + part[[0, -1]] + 1
            row = f"{first:,} to {last:,}", f"{np.average(losses, weights=weights):#.4g}"
            rows.append(row if now is None else (*row, f"{now[part].mean():#.4g}"))
        heads = "rounds", "mean loss", *(() if now is None else ("current rule",))
        return page(paragraph(repr(self)[1:-1], strong=True), table(heads, rows))

    def to_frame(self) -> Any:
        """Return a data frame with a row for each round.

        The columns are:

        - round, counted from 1.
        - action (a list for a set of elements).
        - loss.
        - cumulative_loss; on a log, the mean loss so far times the number of rounds.
        - weight, on a log.
        - current_loss, the loss of the current rule, if known.
        - best_loss, the loss of the best policy in hindsight, if known (costs one oracle call).
        - regret, cumulative_loss minus the sum of best_loss, if known.
        """
        actions = [
            action if isinstance(action, int) else np.asarray(action).tolist()
            for action in self._actions
        ]
        number = np.arange(1, len(self) + 1)
        total = self._so_far(self.losses, self.weights) * number
        columns: dict[str, Any] = {"round": self.first + number, "action": actions}
        columns |= {"loss": self.losses, "cumulative_loss": total}
        best, now = self._best_losses(), self.current_losses
        if any(weight != 1.0 for weight in self._weights):
            columns["weight"] = self.weights
        if now is not None:
            columns["current_loss"] = now
        if best is not None:
            columns |= {"best_loss": best, "regret": total - np.cumsum(best)}
        return frame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean loss so far, and return matplotlib's axes.

        Further lines show the mean loss so far of the best policy in hindsight and of the current
        rule, if they are known. The distance to the best policy, times the number of rounds, is
        the regret. The lines begin after 1 % of the rounds. The method needs matplotlib
        (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new axes.
        """
        ax = axes(self, ax)
        lines = {"learner": self._so_far(self.losses, self.weights)}
        best, now = self._best_losses(), self.current_losses
        if best is not None:
            exact = self._need_oracle().exact
            name = "best policy in hindsight" if exact else "best policy found in hindsight"
            lines[name] = self._so_far(best)
        if now is not None:
            lines["current rule"] = self._so_far(now)
        start = len(self) // 100
        rounds = self.first + np.arange(1, len(self) + 1)
        for (name, means), style in zip(lines.items(), ("-", "--", ":"), strict=False):
            ax.plot(rounds[start:], means[start:], style, label=name)
        ax.set_xlabel("round")
        ax.set_ylabel("mean loss per round so far")
        bare(ax, "y")
        legend(ax)
        return ax

    def _so_far(self, losses: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the mean of losses up to each round; NaN while all weights are 0."""
        if weights is None:
            weights = np.ones(len(losses))
        total, weight = np.cumsum(weights * losses), np.cumsum(weights)
        out = np.full(len(losses), np.nan)
        np.divide(total, weight, out=out, where=weight > 0.0)
        return out

    def _best_losses(self) -> FloatArray | None:
        """Return the losses of the best policy in hindsight; None if that policy is unknown."""
        if self.oracle is None or not self._comparable or not self._actions:
            return None
        best = self.best_policy
        return np.array([loss_of(losses, best(context)) for context, losses in self._rounds()])

    @property
    def actions(self) -> NDArray[np.intp] | list[Action]:
        """Actions of all rounds: an array of ints, or a list of sets of chosen elements."""
        if all(isinstance(action, int) for action in self._actions):
            return np.array(self._actions, dtype=np.intp)
        return self._actions

    @cached_property
    def outcomes(self) -> FloatArray:
        """Losses of all elements, [T, K]; on a log, estimates of these losses.

        If actions are sets, the loss of an element is NaN in the rounds where it was unavailable.
        """
        return np.array(self._losses, dtype=np.float64)

    @cached_property
    def losses(self) -> FloatArray:
        """Loss of the learner's action in each round.

        On a log it is the loss of the logged action, whichever action the learner chose. The mean
        of `losses`, weighted with `weights`, is `mean_loss`.
        """
        return np.array(self._suffered, dtype=np.float64)

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each round: 1, except on a log (see `FromLog`)."""
        return np.array(self._weights, dtype=np.float64)

    @property
    def mean_loss(self) -> float:
        """Mean loss, or its estimate from a log: Σ w · loss / Σ w; NaN if Σ w = 0."""
        weights = np.array(self._weights)
        return float(np.average(self._suffered, weights=weights)) if weights.any() else math.nan

    @property
    def effective(self) -> float:
        """Effective sample size of `mean_loss`: (Σ w)² / Σ w²; all rounds, except on a log."""
        weights = np.array(self._weights)
        return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 0.0

    @property
    def current_losses(self) -> FloatArray | None:
        """Loss of the current rule's action in each round; None if the data do not contain it.

        Environments of files, frames and logs take the current rule as parameter `current`.
        """
        known = [loss for loss in self._current if loss is not None]
        return np.array(known) if known and len(known) == len(self) else None

    @property
    def current_mean_loss(self) -> float | None:
        """Mean of `current_losses`, for comparison with `mean_loss`; None if unknown."""
        losses = self.current_losses
        return None if losses is None else float(losses.mean())

    @cached_property
    def best_policy(self) -> Policy:
        """Best policy in hindsight that the oracle finds; costs one oracle call."""
        oracle = self._need_oracle()
        total = oracle.objective()
        # An inexact reduction may depend on how often a context occurs: sum losses only if exact.
        summed = oracle.exact and self._linear
        for context, losses in self._totals() if summed else self._rounds():
            total.add(context, losses)
        return total.leader()

    def best_sequence(self, switches: int, *, grid: int = 1) -> Policy:
        """Find the best sequence of policies in hindsight with at most `switches` switches.

        The sequence is a policy on pairs (number of the round, context).

        Parameters
        ----------
        switches
            Maximum number k of switches.
        grid
            Distance b between possible switches: a larger b is faster. See `oracles.Switching`.
            Default: 1, so every round can switch.
        """
        oracle = self._need_oracle()
        base = oracle.base if isinstance(oracle, Switching) else oracle
        total = Switching(base, switches, grid=grid).objective()
        for pair, losses in zip(self._pairs(), self._losses, strict=True):
            total.add(pair, losses)
        return total.leader()

    def regret(self, switches: int | None = None, *, grid: int = 1) -> float:
        """Return the learner's total loss minus the loss of the best policy that the oracle finds.

        On a log both losses are estimates: the learner's loss is T times `mean_loss`, and the
        policy's loss is its total on `outcomes`, which it was chosen for. The regret is NaN if
        actions are sets and some elements were unavailable, because the losses of other sets are
        unknown then.

        Parameters
        ----------
        switches
            Number k of switches, to compare with `best_sequence` instead of `best_policy`. If the
            policy class is `Switching`, its inner oracle replaces it. Default: None, for
            `best_policy`.
        grid
            Distance between possible switches of the sequence. Default: 1.

        Examples
        --------
        >>> import hannan as hn
        >>> losses = [[0, 1]] * 50 + [[1, 0]] * 50
        >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
        >>> trace = hn.play(learner, hn.environments.FromArrays(None, losses))
        >>> trace.regret(switches=1) == trace.regret() + 50.0
        True
        >>> trace.best_sequence(1).switches
        (50,)
        """
        if not self._comparable:
            return math.nan
        if switches is None:
            best, rounds = self.best_policy, self._totals() if self._linear else self._rounds()
        else:
            best = self.best_sequence(switches, grid=grid)
            rounds = zip(self._pairs(), self._losses, strict=True)
        total = sum(loss_of(losses, best(context)) for context, losses in rounds)
        weight = self.weights.sum()
        share = len(self) / weight if weight else math.nan
        return float((self.weights * self.losses).sum() * share - total)

    def regret_curve(self, every: int = 1) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the regret after every `every` rounds, each against the best policy so far.

        The result is the pair (numbers of rounds, regrets). Each point costs one oracle call.
        """
        check_integer(self, "every", every, 1)
        at = np.unique(np.append(np.arange(every, len(self) + 1, every), len(self)))
        if not self._comparable:
            return at, np.full(len(at), np.nan)
        total, rounds = self._need_oracle().objective(), self._rounds()
        best = np.empty(len(at))
        for i, new in enumerate(np.diff(at, prepend=0)):
            for context, losses in islice(rounds, int(new)):
                total.add(context, losses)
            best[i] = total.minima()[0]
        weight = np.cumsum(self.weights)[at - 1]
        share = np.divide(at, weight, out=np.full(len(at), np.nan), where=weight > 0.0)
        return at, np.cumsum(self.weights * self.losses)[at - 1] * share - best

    @property
    def _linear(self) -> bool:
        """Whether losses are vectors of numbers, which can be added, and not loss functions."""
        return all(isinstance(losses, np.ndarray) for losses in self._losses)

    def _rounds(self) -> Iterator[tuple[Any, Any]]:
        oracle = self._need_oracle()
        for t, (given, losses) in enumerate(zip(self.contexts, self._losses, strict=True)):
            yield context_at(oracle, self.first + t, given), losses

    def _totals(self) -> list[tuple[Any, FloatArray]]:
        """Sum the losses of each distinct context."""
        key = self._need_oracle().key
        totals: dict[Hashable, tuple[Any, FloatArray]] = {}
        for context, losses in self._rounds():
            known = totals.setdefault(key(context), (context, np.zeros(len(losses))))
            known[1][:] += losses
        return list(totals.values())

    def _pairs(self) -> list[tuple[int, Any]]:
        """Return the rounds as contexts of `Switching`: pairs (number of the round, context)."""
        contexts = [context for context, _ in self._rounds()]
        switching = isinstance(self._need_oracle(), Switching)
        return contexts if switching else list(enumerate(contexts, self.first))

    def _need_oracle(self) -> Oracle:
        if self.oracle is None:
            raise ParameterError(
                "Regret needs a policy class to compare with: pass oracle= to play()."
            )
        if not self._comparable:
            raise ParameterError(
                "The best policy is unknown because some elements of sets were unavailable: the "
                "loss of a set with an unavailable element is not defined. Compare mean losses."
            )
        return self.oracle
