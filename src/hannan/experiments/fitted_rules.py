"""What is put beside learners: fitted rules, the best single action, what was done.

A fitted rule has to be measured on rounds it was not fitted to. The rounds are cut into a few
stretches, and each stretch is decided by a rule that was fitted to all others.
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
from hannan.experiments.recorder import Marks
from hannan.experiments.search import RULES, Candidate, Sample, fit_rule
from hannan.oracles import LinearPolicies

FOLDS = 5
_BLOCK = 1024  # rounds that fitted models are asked about at once
_FEWEST = 50  # rounds, with fewer of which nothing is fitted


class Fitted:
    """Rules of one class: one for each stretch of rounds, fitted to the others, and one to all."""

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
        """The stretch that a round belongs to."""
        return np.asarray(numbers * self._folds // self._horizon, dtype=np.intp)

    def choose(self, rows: FloatArray, first: int) -> NDArray[np.intp]:
        """What is done in some rounds, whose first has this number, by rules not fitted to them."""
        stretch = self.stretches(first + np.arange(len(rows)))
        found = np.zeros(len(rows), dtype=np.intp)
        for f in np.unique(stretch):
            found[stretch == f] = self._rules[f].choose(rows[stretch == f])
        return found


class Tally:
    """What a sequence of actions costs: at some rounds, and by the class that was right."""

    def __init__(self, name: str, kind: str, classes: int, actions: int) -> None:
        self.name, self.kind = name, kind
        self.weight = self.squared = self.loss = 0.0
        self.curve: dict[str, list[Any]] = {"t": [], "loss": [], "weight": []}
        self.confusion = np.zeros((classes, actions), dtype=np.int64)
        self.in_sample: float | None = None

    def add(self, weights: FloatArray, losses: FloatArray) -> None:
        """Some rounds."""
        self.weight += float(weights.sum())
        self.squared += float((weights * weights).sum())
        self.loss += float((weights * losses).sum())

    def mark(self, t: int) -> None:
        """A point of the curve."""
        mean = self.loss / self.weight if self.weight else None
        self.curve["t"].append(t)
        self.curve["loss"].append(None if mean is None else mean * t)
        self.curve["weight"].append(self.weight)

    def as_dict(self, rounds: int, logged: bool) -> dict[str, Any]:
        """For the record of a game."""
        return {
            "name": self.name,
            "kind": self.kind,
            "rounds": rounds,
            "loss": self.curve["loss"][-1],
            "mean_loss": self.loss / self.weight if self.weight else None,
            "in_sample": self.in_sample,
            "effective": self.weight**2 / self.squared if self.weight else 0.0,
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
    """What rules of several classes, the best single action, and what was done would have cost.

    Two passes over the rounds where there are rows of features: one for a sample, to which rules
    are fitted, and one to measure them. Where policies are linear, returns besides what
    `look_back` would: the best of the rules fitted to all rounds.

    Examples
    --------
    >>> import hannan as hn
    >>> from hannan.experiments.fitted_rules import put_beside
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> world = hn.environments.FromFrame(
    ...     {"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0.5) * 1}, context=["a", "b"], label="y"
    ... )
    >>> found, best = put_beside(world, hn.oracles.LinearPolicies(2), 500, 50, 0)
    >>> {each["name"]: each["mean_loss"] < 0.1 for each in found}
    {'linear rule': True, 'stump': True, 'decision tree': True, 'boosted trees': True,
     'always 0': False}
    >>> best["found"], best["mean_loss"]
    ('boosted trees', 0.0)
    """
    if environment.n_actions is None:  # every round has actions of its own
        return _only_current(environment, horizon, points, seed), None
    ticks = None if tick is None else lambda share: tick(int(share * horizon))
    sample = sample_of(environment, policies, horizon, seed, ticks)
    rules = [] if sample is None else [Fitted(name, sample, horizon, folds) for name in RULES]
    if ticks is not None:
        ticks(0.6)
    tallies, within, rounds = _measure(environment, policies, horizon, points, seed, rules)
    logged = isinstance(environment, Logged)
    beside = [tally.as_dict(rounds, logged) for tally in tallies]
    if not rules or logged or not isinstance(policies, LinearPolicies):
        return beside, None
    best = min(within, key=lambda each: each.loss)
    losses = best.curve["loss"]
    return beside, {
        "rounds": rounds,
        "loss": losses[-1],
        "mean_loss": losses[-1] / rounds,
        "best": losses[-1],
        "found": best.name,
        "leaders": None,
        "curve": {"t": best.curve["t"], "loss": losses, "best": losses, "leader": None},
    }


def _only_current(
    environment: Environment, horizon: int, points: int, seed: int
) -> list[dict[str, Any]]:
    """What was done, where it is known."""
    current, marks, done = Tally("current", "current", 0, 0), Marks(points, horizon), 0
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
    """Rows with losses to fit rules to; None where there is nothing to fit."""
    rows = policies.open_world and policies.max_chosen == 1 and environment.n_actions != 1
    if not rows or horizon < _FEWEST:
        return None
    sample = Sample()
    for t, this_round in enumerate(environment.rounds(horizon, world_rng(seed))):
        this_round.reveal(0)
        sample.add(context_at(policies, t, this_round.context), this_round.losses)
        if tick is not None and t % _BLOCK == 0:
            tick(0.4 * t / horizon)
    return sample if np.ndim(sample.rows) == 2 and sample.rows.shape[1] else None


def _measure(
    environment: Environment,
    policies: Oracle,
    horizon: int,
    points: int,
    seed: int,
    rules: list[Fitted],
) -> tuple[list[Tally], list[Tally], int]:
    fitted, within, constants, current = _tallies(environment, rules)
    listed = getattr(environment, "classes", None) or []
    marks, done, known = Marks(points, horizon), 0, False
    rounds = environment.rounds(horizon, world_rng(seed))
    right: Iterator[int] | None = None
    if listed:
        right = environment.right_classes(horizon)  # type: ignore[attr-defined]
    while block := list(islice(rounds, _BLOCK)):
        first, chosen = done, []
        if rules:  # each is asked once about all of them, as asking costs more than answering
            X = np.array([context_at(policies, done + i, r.context) for i, r in enumerate(block)])
            chosen = [(rule.choose(X, done), rule.whole.choose(X)) for rule in rules]
        while done < first + len(block):
            piece = slice(done - first, marks.after(done) - first)
            table = _Block(block[piece], right)
            pairs = [(outside[piece], inside[piece]) for outside, inside in chosen]
            known |= table.tally_all(fitted, within, constants, current, pairs)
            done += len(table.block)
            if marks.due(done):
                for each in (*fitted, *within, *constants, current):
                    each.mark(done)
    for each, whole in zip(fitted, within, strict=True):
        each.in_sample = whole.loss / whole.weight if whole.weight else None
    played = [each for each in constants if each.weight]
    best = sorted(played, key=lambda each: each.loss / each.weight)[:1]
    return [*fitted, *best, *([current] if known else [])], within, done


def _tallies(
    environment: Environment, rules: list[Fitted]
) -> tuple[list[Tally], list[Tally], list[Tally], Tally]:
    """Of the rules outside and inside their samples, of constant actions, and of what was done."""
    K = int(environment.n_actions or 0)
    names = [str(name) for name in getattr(environment, "actions", range(K))]
    shape = len(getattr(environment, "classes", None) or []), K
    return (
        [Tally(rule.name, "rule", *shape) for rule in rules],
        [Tally(rule.name, "rule", 0, 0) for rule in rules],
        [Tally(f"always {names[k]}", "constant", *shape) for k in range(K)],
        Tally("current", "current", *shape),
    )


class _Block:
    """Some rounds, and what is known of all actions in them."""

    def __init__(self, block: list[Round], right: Iterator[int] | None) -> None:
        self.block = block
        self.rows = np.arange(len(block))
        for this_round in block:
            this_round.reveal(0)
        self.logged = isinstance(block[0], LoggedRound)
        self.estimates = np.array([this_round.losses for this_round in block])
        taken = [this_round.current for this_round in block]
        self.current = None if taken[0] is None else np.array(taken, dtype=np.intp)
        self.right = None
        if right is not None:
            self.right = np.array(list(islice(right, len(block))), dtype=np.intp)

    def tally_all(
        self,
        fitted: list[Tally],
        within: list[Tally],
        constants: list[Tally],
        current: Tally,
        chosen: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> bool:
        """Add these rounds to all tallies; return whether it is known what was done."""
        for i, (outside, inside) in enumerate(chosen):
            self.tally(fitted[i], outside)
            self.tally(within[i], inside)
        for k, each in enumerate(constants):
            self.tally(each, np.full(len(self.block), k, dtype=np.intp))
        if self.current is None:
            return False
        self.tally_current(current)
        return True

    def tally(self, to: Tally, actions: NDArray[np.intp]) -> None:
        """Add what these actions would have cost; on a log, where they are the logged ones."""
        if self.logged:
            weights, losses = np.zeros(len(actions)), np.zeros(len(actions))
            for i, (this_round, action) in enumerate(zip(self.block, actions, strict=True)):
                this_round.reveal(int(action))
                weights[i], losses[i] = this_round.weight, this_round.loss
            to.add(weights, losses)
        else:
            to.add(np.ones(len(actions)), self.estimates[self.rows, actions])
        if self.right is not None and to.confusion.size:
            np.add.at(to.confusion, (self.right, actions), 1)

    def tally_current(self, to: Tally) -> None:
        """Add what was done, which in a log is known without weights."""
        assert self.current is not None
        losses = [float(r.current_loss or 0.0) for r in self.block]
        to.add(np.ones(len(losses)), np.array(losses))
        if self.right is not None:
            np.add.at(to.confusion, (self.right, self.current), 1)


def records_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was put beside learners, as records of games, by the record of a cell that looks back.

    Their learner has the type of what they are: rule, constant or current.
    """
    found = []
    for each in record["result"].get("beside") or ():
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
