"""One game from the first round to the last, and everything it shows."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import hannan as hn
from tests.golden import reading
from tests.golden.worlds import World

ROUNDS = 120
FIELDS = ("plays", "answers", "laws", "state", "calls", "claims")


@dataclass
class Trace:
    """What was seen, as lines of text for each field; numbers are written exactly."""

    lines: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in FIELDS})
    refused: str | None = None

    def note(self, where: str, *values: Any) -> None:
        """Add a line to a field."""
        self.lines[where].append(" ".join(exact(value) for value in values))

    def hashes(self) -> dict[str, str]:
        """A hash for each field, or the class of the error by which the setting was refused."""
        if self.refused is not None:
            return {"refused": self.refused}
        texts = {name: "\n".join(lines) for name, lines in self.lines.items()}
        return {name: sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def exact(value: Any) -> str:
    """Text from which a value can be read back: `repr` gives every bit of a float."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {exact(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(exact(each) for each in value) + "]"
    if isinstance(value, np.ndarray | np.generic):
        return exact(value.tolist())
    return repr(value)


class Game:
    """A learner in a world, with the rounds that wait for their losses."""

    def __init__(
        self, learner: Any, world: World, rounds: int, restricted: bool, saved: bool
    ) -> None:
        self.learner = learner
        self.trace = Trace()
        self.rounds = rounds
        self.saved = saved
        self.waiting: list[tuple[int, hn.Decision]] = []
        self.world = world
        self.contexts = world.contexts(rounds)
        rng = np.random.default_rng(7)
        self.losses = [world.loss(t, rng) for t in range(rounds)]
        self.available: list[Any] = [None] * rounds
        if restricted:
            K = world.n_actions
            sized = world.oracle().n_actions is not None  # else the first losses tell
            for t in range(0 if sized else 1, rounds):
                if rng.random() < 0.6:
                    size = max(1, int(rng.integers(K + 1)))
                    self.available[t] = np.sort(rng.permutation(K)[:size])

    def act(self, t: int) -> Any:
        """Open round t."""
        action = self.learner.act(self.contexts[t], **self._among(t))
        self.trace.note("plays", action)
        return action

    def update(self, t: int, action: Any) -> None:
        """Answer round t, which `act` opened."""
        self.learner.update(self._feedback(t, action))

    def decide(self, t: int) -> None:
        """Decide on round t, to be answered later."""
        self._await(t, self.learner.decide(self.contexts[t], **self._among(t)))

    def decide_many(self, first: int, last: int) -> None:
        """Decide on several rounds at once."""
        among = self.available[first:last]
        options = {} if all(some is None for some in among) else {"available": among}
        made = self.learner.decide_many(self.contexts[first:last], **options)
        for t, decision in enumerate(made, first):
            self._await(t, decision)

    def settle(self, place: int) -> None:
        """Answer one of those that wait."""
        t, decision = self.waiting.pop(place)
        self.learner.update(self._feedback(t, decision.action), decision=decision)

    def forget(self, place: int) -> None:
        """Give up one of those that wait."""
        self.learner.forget(self.waiting.pop(place)[1])

    def ask(self, t: int) -> None:
        """Questions between rounds, none of which may change anything."""
        learner, context = self.learner, self.contexts[t]
        if t % 7 == 0:
            among = self._among(t)
            said = reading.answer(learner.would_play, context, 3, seed=t, **among)
            self.trace.note("answers", "would_play", t, said)
        if t % 30 == 10 and hasattr(learner, "propensities"):
            found = reading.answer(learner.propensities, context, 40, **self._among(t))
            if not isinstance(found, str):
                found = [found.probabilities, found.standard_errors, found.draws]
            self.trace.note("laws", t, found)
        if self.saved and t % 40 == 35:
            self.store()
        if t and t % (self.rounds // 2) == 0:
            self.look()

    def look(self) -> None:
        """Note the state of the learner and what it claims."""
        waiting = getattr(self.learner, "open_decisions", [])
        self.trace.note("state", reading.state(self.learner), waiting)
        self.trace.note("calls", reading.calls(self.learner))
        self.trace.note("claims", reading.claims(self.learner))
        if hasattr(self.learner, "best_policy"):
            best = reading.answer(self.learner.best_policy)
            followed = best if isinstance(best, str) else best(self.world.checked(self.contexts))
            self.trace.note("answers", "best_policy", followed)

    def store(self) -> None:
        """Save the learner, and go on with what is loaded."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "learner.hannan")
            self.learner.save(path)
            self.learner = hn.load(path, trusted=["tests"])

    def _among(self, t: int) -> dict[str, Any]:
        return {} if self.available[t] is None else {"available": self.available[t]}

    def _await(self, t: int, decision: hn.Decision) -> None:
        self.trace.note("plays", decision.action, decision.weights, decision.available)
        self.waiting.append((t, decision))

    def _feedback(self, t: int, action: Any) -> Any:
        loss = self.losses[t]
        if self.learner.feedback is not hn.Feedback.FULL:
            return float(loss[action]) if isinstance(action, int) else loss[action]
        if self.available[t] is None:
            return loss
        seen = np.full(len(loss), np.nan)
        seen[self.available[t]] = loss[self.available[t]]
        return seen


def immediate(game: Game, t: int) -> None:
    """The loss of a round comes before the next one."""
    action = game.act(t)
    if game.saved and t % 40 == 15:
        game.store()
    game.update(t, action)


def late(game: Game, t: int) -> None:
    """Two rounds of three are answered three rounds later and out of order."""
    if t % 3 == 0:
        immediate(game, t)
        return
    game.decide(t)
    if len(game.waiting) > 3:
        game.settle(1)


def out_of_order(game: Game, t: int) -> None:
    """Decisions are made, and others answered, while a round of `act` is open."""
    if t % 2 == 0 and t + 1 < game.rounds:
        action = game.act(t)
        game.decide(t + 1)
        if t % 8 == 4:
            game.settle(0)
        game.update(t, action)
        if len(game.waiting) > 3:
            game.settle(0)


def forgetting(game: Game, t: int) -> None:
    """Some losses never come."""
    game.decide(t)
    if len(game.waiting) > 2:
        if t % 5 == 0:
            game.forget(0)
        else:
            game.settle(t % 2)


def many(game: Game, t: int) -> None:
    """Five decisions at a time, answered in reverse but for one that waits for the next five."""
    if t % 5 == 0:
        game.decide_many(t, min(t + 5, game.rounds))
    elif t % 5 == 4:
        while len(game.waiting) > 1:
            game.settle(len(game.waiting) - 1)


Manner = Callable[[Game, int], None]
MANNERS: dict[str, Manner] = {
    "immediate": immediate,
    "late": late,
    "out_of_order": out_of_order,
    "forgetting": forgetting,
    "many": many,
}


def play(
    make: Callable[[], Any],
    world: World,
    *,
    rounds: int = ROUNDS,
    manner: str = "immediate",
    restricted: bool = False,
    saved: bool = False,
) -> Trace:
    """The trace of a game, with a refusal where the library refuses the setting."""
    try:
        game = Game(make(), world, rounds, restricted, saved)
        for t in range(rounds):
            game.ask(t)
            MANNERS[manner](game, t)
        game.look()
    except hn.HannanError as refusal:
        return Trace(refused=type(refusal).__name__)
    return game.trace
