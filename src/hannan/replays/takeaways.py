"""Results of a replay to use elsewhere: code, decisions, a rule and a trained Decider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, repeat
from typing import Any

import numpy as np

from hannan.adapters.vw.files import FromVW
from hannan.core import Feedback, ParameterError
from hannan.decisions import Decider
from hannan.environments import FromLog
from hannan.environments._features import column_of
from hannan.experiments.cell import Cell
from hannan.experiments.fitted_rules import Fitted, RuleTally, rows_of, sample_of
from hannan.experiments.game import Game, world_rng
from hannan.experiments.recorder import Marks
from hannan.experiments.search import fit_rule
from hannan.features import Features
from hannan.replays.answer import Comparator
from hannan.replays.data import ReplayData
from hannan.replays.rule import Rule, model_of

DECIDER = "hn.Decider"
"""Name of a trained Decider in the table."""
_BLOCK = 1024


def snippet(data: ReplayData, arguments: Mapping[str, Any], choice: Comparator | None) -> str:
    """Return Python code that repeats the replay and lets the best choice decide the first row."""
    first, *options = (f"{name}={value!r}" for name, value in arguments.items())
    call = ", ".join([first.partition("=")[2], *options])
    code = f"import hannan as hn\n\nreplay = hn.replay({call})\n"
    if choice is None or data.columns is None:
        return f"{code}print(replay.answer)"
    kinds = data.columns.kinds
    row = next(iter(data.environment.rows(1))) if kinds else {}  # type: ignore[union-attr]
    if choice.kind == "learner":
        return f"{code}print(replay.decider.decide({row or None!r}).action)"
    return f"{code}print(replay.rule.decide({row!r}))"


def decisions(data: ReplayData, cell: Cell, choice: Comparator) -> Iterator[int]:
    """Yield the best choice's action in each row; a rule decides rows that it was not fitted to."""
    environment, policies = cell.world()
    if choice.kind == "constant":
        action = data.names.index(choice.name.removeprefix("always "))
        yield from repeat(action, data.rounds)
    elif choice.kind == "rule":
        assert policies is not None
        sample = sample_of(environment, policies, data.rounds, cell.seed)
        assert sample is not None
        rule = Fitted(choice.name, sample, data.rounds, cell.folds)
        rounds, done = environment.rounds(data.rounds, world_rng(cell.seed)), 0
        while block := list(islice(rounds, _BLOCK)):
            yield from rule.choose(rows_of(policies, done, block), done).tolist()
            done += len(block)
    else:
        game = Game(cell.make_learner(), environment, data.rounds, world_rng(cell.seed))
        for this_round in game:
            yield int(this_round.action)  # type: ignore[arg-type]


def take_rule(data: ReplayData, cell: Cell, choice: Comparator, names: list[Any]) -> Rule:
    """Return the best rule, fitted to all rows; `names` are the names of the actions."""
    if data.columns is None:
        raise ParameterError("A rule needs a frame or a table file, not a log of Vowpal Wabbit.")
    if choice.kind == "constant":
        action = data.names.index(choice.name.removeprefix("always "))
        return Rule(choice.name, names, None, action)
    environment, policies = cell.world()
    assert policies is not None
    sample = sample_of(environment, policies, data.rounds, cell.seed)
    assert sample is not None
    columns = data.columns
    features = Features({name: column_of(kind) for name, kind in columns.kinds.items()})

    def rows() -> Iterator[Any]:
        return data.environment.rows(data.rounds)  # type: ignore[union-attr]

    for row in rows():
        features.see(row)
    # All rows of the file scale new rows, so the rule is fitted to rows scaled in this way.
    places = {number: i for i, number in enumerate(sample.numbers.tolist())}
    X = np.empty((len(places), features.width))
    for number, row in enumerate(rows()):
        if number in places:
            X[places[number]] = features.encode(row)
    model = model_of(fit_rule(choice.name, X, sample.losses), X)
    return Rule(choice.name, names, features, model, columns.decimal, columns.unread)


def train_decider(
    data: ReplayData,
    names: list[Any],
    baseline: Any,
    points: int,
    seed: int,
    tick: Callable[[int], None],
) -> tuple[Decider, dict[str, Any]]:
    """Return a `Decider` that has decided all rows, in the units of the file, and its results.

    The `Decider` reads the columns as the replay did, and gets bandit feedback. The results have
    the form of `RuleTally.as_dict`.
    """
    environment, units = data.environment, data.units
    if data.columns is None or isinstance(environment, FromVW):
        raise ParameterError("A Decider needs a frame or a table file, not a log of Vowpal Wabbit.")
    kinds = {name: column_of(kind) for name, kind in data.columns.kinds.items()}
    span: dict[str, Any] = {"rewards" if units.rewards else "losses": (units.low, units.high)}
    decider = Decider(actions=names, features=kinds or None, baseline=baseline, seed=seed, **span)
    rows: Iterator[Any] = environment.rows(data.rounds) if kinds else repeat(None)
    bare = environment.clone(context=None)
    if isinstance(bare, FromLog) and bare.method != "rejection":
        bare = bare.clone(method="rejection")
    places = {name: k for k, name in enumerate(names)}
    rounds = bare.rounds(data.rounds, world_rng(seed))
    tally, marks = RuleTally(DECIDER, "decider", 0, 0), Marks(points, data.rounds)
    for t, (this_round, row) in enumerate(zip(rounds, rows, strict=False), start=1):
        decision = decider.decide(row)
        loss = this_round.reveal(places[decision.action], Feedback.BANDIT)
        if loss is None:  # the log does not contain the outcome
            decider.expire(older_than=0.0)
        else:
            decider.report(decision, **{units.name: units.mean(float(loss))})
            tally.add(np.ones(1), np.array([float(loss)]))
        if marks.due(t):
            tally.mark(t)
            tick(t)
    return decider, tally.as_dict(data.rounds, data.logged)
