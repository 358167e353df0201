"""Comparators of learners: fitted rules, the best single action, and the current rule.

A fitted rule must be measured on rounds it was not fitted to. The rounds are cut into a few folds
of consecutive rounds, and each fold is decided by a rule that was fitted to all other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, Oracle, Round
from hannan.core.oracle import context_at
from hannan.core.validation import FloatArray
from hannan.environments.from_log import Logged, LoggedRound
from hannan.experiments.game import world_rng
from hannan.experiments.recorder import Marks, Sums
from hannan.experiments.search import RULES, Candidate, Sample, fit_rule
from hannan.oracles import LinearPolicies

FOLDS = 5
_BLOCK = 1024  # rounds in one call of a fitted model
_FEWEST = 50  # rounds needed to fit rules
_MOST_ACTIONS = 30  # best single actions that are reported


class Fitted:
    """Rules of one class: for each fold a rule fitted to the other folds, and one fitted to all."""

    def __init__(self, name: str, sample: Sample, horizon: int, folds: int = FOLDS) -> None:
        self.name = name
        self._folds, self._horizon = folds, horizon
        rows, losses = sample.rows, sample.losses
        stretch = self.stretches(sample.numbers)
        self._rules = [
            fit_rule(name, rows[stretch != f], losses[stretch != f]) for f in range(folds)
        ]
        self.whole: Candidate = fit_rule(name, rows, losses)

    def stretches(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the fold of each round number."""
        return np.asarray(numbers * self._folds // self._horizon, dtype=np.intp)

    def choose(self, rows: FloatArray, first: int) -> NDArray[np.intp]:
        """Choose actions for rounds from number `first` on, by rules not fitted to these rounds."""
        stretch = self.stretches(first + np.arange(len(rows)))
        found = np.zeros(len(rows), dtype=np.intp)
        for f in np.unique(stretch):
            found[stretch == f] = self._rules[f].choose(rows[stretch == f])
        return found


class RuleTally(Sums):
    """Loss of a sequence of actions at some rounds, and counts of actions by right class."""

    def __init__(self, name: str, kind: str, classes: int, actions: int) -> None:
        self.name, self.kind = name, kind
        self.curve: dict[str, list[Any]] = {"t": [], "loss": [], "weight": []}
        self.confusion = np.zeros((classes, actions), dtype=np.int64)
        self.in_sample: float | None = None
        self.spare = False

    def add(
        self, weights: FloatArray, losses: FloatArray, actions: Any = None, right: Any = None
    ) -> None:
        """Add some rounds; if the right classes are known, count the actions in each class."""
        self.weight += float(weights.sum())
        self.squared_weight += float((weights * weights).sum())
        self.loss += float((weights * losses).sum())
        if right is not None and self.confusion.size:
            np.add.at(self.confusion, (right, actions), 1)

    def mark(self, t: int) -> None:
        """Add a point to the curve, after round t."""
        mean = self.mean_loss
        self.curve["t"].append(t)
        self.curve["loss"].append(None if mean is None else mean * t)
        self.curve["weight"].append(self.weight)

    def as_dict(self, rounds: int, logged: bool) -> dict[str, Any]:
        """Return plain values for the record of a run."""
        return {
            "name": self.name,
            "kind": self.kind,
            "spare": self.spare,
            "rounds": rounds,
            "loss": self.curve["loss"][-1],
            "mean_loss": self.mean_loss,
            "in_sample": self.in_sample,
            "effective": self.effective,
            "confusion": self.confusion.tolist() if self.confusion.size else None,
            "curve": self.curve if logged else {**self.curve, "weight": None},
        }


def put_beside(
    environment: Environment,
    policies: Oracle,
    horizon: int,
    points: int,
    seed: int,
    folds: int = FOLDS,
    *,
    tick: Callable[[int], None] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Measure the loss of rules of several classes, of single actions and of the current rule.

    If contexts are feature vectors, the function passes over the rounds twice: once to collect a
    sample, to which it fits rules, and once to measure them. If the policies are linear, it also
    returns the record that `look_back` would return, for the best of the rules fitted to all
    rounds.

    Examples
    --------
    >>> import hannan as hn
    >>> from hannan.experiments.fitted_rules import put_beside
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> data = {"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0.5) * 1}
    >>> environment = hn.environments.FromFrame(data, context=["a", "b"], label="y")
    >>> found, best = put_beside(environment, hn.oracles.LinearPolicies(2), 500, 50, 0)
    >>> {each["name"]: each["mean_loss"] < 0.1 for each in found}
    {'linear rule': True, 'stump': True, 'decision tree': True, 'boosted trees': True,
     'always 0': False, 'always 1': False}
    >>> best["found"], best["mean_loss"]
    ('boosted trees', 0.0)
    """
    if environment.n_actions is None:  # each round has other actions
        return _only_current(environment, horizon, points, seed), None
    ticks = None if tick is None else lambda share: tick(int(share * horizon))
    sample = sample_of(environment, policies, horizon, seed, ticks)
    rules = [] if sample is None else [Fitted(name, sample, horizon, folds) for name in RULES]
    if ticks is not None:
        ticks(0.6)
    logged = isinstance(environment, Logged)
    if logged:  # rules do not learn while they are measured, so every row counts
        environment = environment.clone(method="importance")
    tallies, within, rounds = _measure(environment, policies, horizon, points, seed, rules)
    beside = [tally.as_dict(rounds, logged) for tally in tallies]
    if not rules or logged or not isinstance(policies, LinearPolicies):
        return beside, None
    best = min(within, key=lambda each: each.loss)
    return beside, hindsight_record(rounds, best.curve["t"], best.curve["loss"], best.name)


def hindsight_record(
    rounds: int,
    at: list[int],
    losses: list[Any],
    found: str | None,
    leaders: list[str] | None = None,
    numbers: list[int] | None = None,
) -> dict[str, Any]:
    """Return the record of a best policy: its losses at some rounds, and the leader at each."""
    total = losses[-1]
    return {
        "rounds": rounds,
        "loss": total,
        "mean_loss": None if total is None else total / rounds,
        "best": total,
        "found": found,
        "leaders": leaders,
        "curve": {"t": at, "loss": losses, "best": losses, "leader": numbers},
    }


def _only_current(
    environment: Environment, horizon: int, points: int, seed: int
) -> list[dict[str, Any]]:
    """Measure the current rule; return an empty list if its action is unknown in a round."""
    current, marks, done = RuleTally("current", "current", 0, 0), Marks(points, horizon), 0
    for this_round in environment.rounds(horizon, world_rng(seed)):
        if this_round.current is None:
            return []
        this_round.reveal(this_round.current)
        current.add(np.ones(1), np.array([float(this_round.current_loss or 0.0)]))
        done += 1
        if marks.due(done):
            current.mark(done)
    return [current.as_dict(done, False)] if done else []


def sample_of(
    environment: Environment,
    policies: Oracle,
    horizon: int,
    seed: int,
    tick: Callable[[float], None] | None = None,
) -> Sample | None:
    """Collect feature vectors with losses to fit rules to; None if no rule can be fitted."""
    rows = policies.takes_new_contexts and policies.max_chosen == 1 and environment.n_actions != 1
    if not rows or horizon < _FEWEST:
        return None
    sample = Sample()
    for t, this_round in enumerate(environment.rounds(horizon, world_rng(seed))):
        this_round.reveal(0)
        sample.add(context_at(policies, t, this_round.context), this_round.losses)
        if tick is not None and t % _BLOCK == 0:
            tick(0.4 * t / horizon)
    return sample if np.ndim(sample.rows) == 2 and sample.rows.shape[1] else None


def rows_of(policies: Oracle, first: int, block: list[Round]) -> FloatArray:
    """Return the contexts of rounds from number `first` on, in the form that the policies take."""
    return np.array([context_at(policies, first + i, r.context) for i, r in enumerate(block)])


def _measure(
    environment: Environment,
    policies: Oracle,
    horizon: int,
    points: int,
    seed: int,
    rules: list[Fitted],
) -> tuple[list[RuleTally], list[RuleTally], int]:
    """Measure rules out of sample, single actions and the current rule; and rules in sample."""
    K = int(environment.n_actions or 0)
    listed = getattr(environment, "classes", None) or []
    shape = len(listed), K
    fitted = [RuleTally(rule.name, "rule", *shape) for rule in rules]
    within = [RuleTally(rule.name, "rule", 0, 0) for rule in rules]
    names = getattr(environment, "actions", range(K))
    constants = [RuleTally(f"always {names[k]}", "constant", *shape) for k in range(K)]
    current = RuleTally("current", "current", *shape)
    players = [*fitted, *within, *constants, current]
    marks, done = Marks(points, horizon), 0
    rounds = environment.rounds(horizon, world_rng(seed))
    right = environment.right_classes(horizon) if listed else None  # type: ignore[attr-defined]
    while block := list(islice(rounds, _BLOCK)):
        first, chosen = done, [np.full(len(block), k, dtype=np.intp) for k in range(K)]
        if rules:  # one call for the block, because a call costs more than its rows
            X = rows_of(policies, done, block)
            inside = [rule.whole.choose(X) for rule in rules]
            chosen = [*(rule.choose(X, done) for rule in rules), *inside, *chosen]
        while done < first + len(block):
            piece = slice(done - first, marks.after(done) - first)
            _tally(players, block[piece], [actions[piece] for actions in chosen], right)
            done += len(block[piece])
            if marks.due(done):
                for each in players:
                    each.mark(done)
    for each, whole in zip(fitted, within, strict=True):
        each.in_sample = whole.mean_loss
    played = [each for each in constants if each.weight]
    ranked = sorted(played, key=lambda each: each.loss / each.weight)[:_MOST_ACTIONS]
    for each in ranked[1:]:
        each.spare = True
    return [*fitted, *ranked, *([current] if current.weight else [])], within, done


def _tally(
    players: list[RuleTally], block: list[Round], chosen: list[Any], right: Iterator[int] | None
) -> None:
    """Add some rounds: `chosen` for each tally except the last, the current rule for the last."""
    for this_round in block:
        this_round.reveal(0)
    losses, ones = np.array([this_round.losses for this_round in block]), np.ones(len(block))
    classes = None
    if right is not None:
        classes = np.array(list(islice(right, len(block))), dtype=np.intp)
    for player, actions in zip(players, chosen, strict=False):
        weights, suffered = ones, losses[np.arange(len(block)), actions]
        if isinstance(block[0], LoggedRound):  # a round counts if its logged action is chosen
            weights = np.zeros(len(block))
            for i, (this_round, action) in enumerate(zip(block, actions, strict=True)):
                this_round.reveal(int(action))
                weights[i], suffered[i] = this_round.weight, this_round.loss
        player.add(weights, suffered, actions, classes)
    if block[0].current is not None:
        taken = np.array([this_round.current for this_round in block], dtype=np.intp)
        cost = np.array([float(this_round.current_loss or 0.0) for this_round in block])
        players[-1].add(ones, cost, taken, classes)


def records_of(record: Mapping[str, Any], spare: bool = False) -> list[dict[str, Any]]:
    """Return the comparators in the record of a cell without a learner, as records of runs.

    The type of their learner is rule, constant or current. `spare` includes single actions that
    are not the best one.
    """
    found = []
    for each in record["result"].get("beside") or ():
        if each.get("spare") and not spare:
            continue
        cell = {**record["cell"], "learner": {"name": each["name"], "type": each["kind"]}}
        curve = dict.fromkeys(("calls", "bound", "certificate", "best", "leader"))
        result = {
            **dict.fromkeys(("best", "regret", "bound", "certificate", "hints", "leaders")),
            "feedback": "none",
            "oracle_calls": 0,
            **{key: each[key] for key in ("rounds", "loss", "mean_loss", "effective")},
            "in_sample": each["in_sample"],
            "confusion": each["confusion"],
            "curve": {**curve, **each["curve"]},
        }
        found.append({"key": f"{record['key']} {each['name']}", "cell": cell, "result": result})
    return found
