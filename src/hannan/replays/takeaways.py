"""The takeaways of a replay: code, decisions row by row, a rule and a trained Decider."""

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
from hannan.replays.data import Stream
from hannan.replays.rule import Rule, model_of

DECIDER = "hn.Decider"
"""The name of a trained Decider in the table."""
_BLOCK = 1024


def snippet(stream: Stream, arguments: Mapping[str, Any], choice: Comparator | None) -> str:
    """Return Python that repeats the replay and asks the best choice about the first row."""
    data, *options = (f"{name}={value!r}" for name, value in arguments.items())
    call = ", ".join([data.partition("=")[2], *options])
    code = f"import hannan as hn\n\nreplay = hn.replay({call})\n"
    if choice is None or stream.columns is None:
        return f"{code}print(replay.answer)"
    kinds = stream.columns.kinds
    row = next(iter(stream.environment.rows(1))) if kinds else {}  # type: ignore[union-attr]
    if choice.kind == "learner":
        return f"{code}print(replay.decider.decide({row or None!r}).action)"
    return f"{code}print(replay.rule.decide({row!r}))"


def decisions(stream: Stream, cell: Cell, choice: Comparator) -> Iterator[int]:
    """Yield the action of the best choice in each row; a rule decides rows it was not fitted to."""
    environment, policies = cell.world()
    if choice.kind == "constant":
        action = stream.names.index(choice.name.removeprefix("always "))
        yield from repeat(action, stream.rounds)
    elif choice.kind == "rule":
        assert policies is not None
        sample = sample_of(environment, policies, stream.rounds, cell.seed)
        assert sample is not None
        rule = Fitted(choice.name, sample, stream.rounds, cell.folds)
        rounds, done = environment.rounds(stream.rounds, world_rng(cell.seed)), 0
        while block := list(islice(rounds, _BLOCK)):
            yield from rule.choose(rows_of(policies, done, block), done).tolist()
            done += len(block)
    else:
        game = Game(cell.make_learner(), environment, stream.rounds, world_rng(cell.seed))
        for this_round in game:
            yield int(this_round.action)  # type: ignore[arg-type]


def take_rule(stream: Stream, cell: Cell, choice: Comparator, names: list[Any]) -> Rule:
    """Return the best rule, fitted to all rows; `names` are those of the actions."""
    if stream.columns is None:
        raise ParameterError("A rule needs a table of rows, not a log of Vowpal Wabbit.")
    if choice.kind == "constant":
        action = stream.names.index(choice.name.removeprefix("always "))
        return Rule(choice.name, names, None, action)
    environment, policies = cell.world()
    assert policies is not None
    sample = sample_of(environment, policies, stream.rounds, cell.seed)
    assert sample is not None
    found = stream.columns
    features = Features({name: column_of(kind) for name, kind in found.kinds.items()})

    def rows() -> Iterator[Any]:
        return stream.environment.rows(stream.rounds)  # type: ignore[union-attr]

    for row in rows():
        features.see(row)
    # New rows are scaled by all rows of the file, so the rule is fitted to rows scaled alike.
    kept = {number: i for i, number in enumerate(sample.numbers.tolist())}
    X = np.empty((len(kept), features.width))
    for number, row in enumerate(rows()):
        if number in kept:
            X[kept[number]] = features.encode(row)
    model = model_of(fit_rule(choice.name, X, sample.losses), X)
    return Rule(choice.name, names, features, model, found.decimal, found.unread)


def train_decider(
    stream: Stream,
    names: list[Any],
    baseline: Any,
    points: int,
    seed: int,
    tick: Callable[[int], None],
) -> tuple[Decider, dict[str, Any]]:
    """Return a `Decider` that has played the file, in the units of the file, and its results.

    It reads the columns as the replay did, and sees the loss of its own action only. Results are
    those of a learner, as `RuleTally.as_dict` returns them.
    """
    environment, units = stream.environment, stream.units
    if stream.columns is None or isinstance(environment, FromVW):
        raise ParameterError("A Decider needs a table of rows, not a log of Vowpal Wabbit.")
    kinds = {name: column_of(kind) for name, kind in stream.columns.kinds.items()}
    span: dict[str, Any] = {"rewards" if units.rewards else "losses": (units.low, units.high)}
    decider = Decider(actions=names, features=kinds or None, baseline=baseline, seed=seed, **span)
    rows: Iterator[Any] = environment.rows(stream.rounds) if kinds else repeat(None)
    bare = environment.clone(context=None)
    if isinstance(bare, FromLog) and bare.method != "rejection":
        bare = bare.clone(method="rejection")
    places = {name: k for k, name in enumerate(names)}
    rounds = bare.rounds(stream.rounds, world_rng(seed))
    tally, marks = RuleTally(DECIDER, "decider", 0, 0), Marks(points, stream.rounds)
    for t, (this_round, row) in enumerate(zip(rounds, rows, strict=False), start=1):
        decision = decider.decide(row)
        loss = this_round.reveal(places[decision.action], Feedback.BANDIT)
        if loss is None:  # the log does not say
            decider.expire(older_than=0.0)
        else:
            decider.report(decision, **{units.name: units.mean(float(loss))})
            tally.add(np.ones(1), np.array([float(loss)]))
        if marks.due(t):
            tally.mark(t)
            tick(t)
    return decider, tally.as_dict(stream.rounds, stream.logged)
