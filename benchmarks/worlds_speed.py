"""Speed of the recommended learner in processor time, and what restarts cost."""

from __future__ import annotations

import statistics
import time
from typing import Any

from threadpoolctl import threadpool_limits

import hannan as hn
from benchmarks.measure import Line, ratio, take_turns
from benchmarks.worlds import Rounds, arms, digits

ROUNDS, REPETITIONS = 3000, 9
LINEAR = "digits, linear predictor"
SPEEDS = (  # what, kind, K, options of hn.bandit, rounds a second
    ("digits, K = 10, 64 features", "rows", 10, {}, 5000),
    (LINEAR, "rows", 10, {"predictor": hn.predictors.Ridge()}, 15_000),
    ("10 arms", "arms", 10, {"n_contexts": 1}, 50_000),
)


def run() -> list[Line]:
    """Rounds a second after the first ones, everyone taking turns."""
    digit, arm = digits(0, 2 * ROUNDS), arms(10, 0.2)(0)
    players = {
        what: (hn.bandit(K, seed=0, **options), arm if kind == "arms" else digit)
        for what, kind, K, options, _ in SPEEDS
    }
    inside = players[LINEAR][0].params["learner"].clone()
    players["the same without restarts"] = inside, digit
    with threadpool_limits(1):
        for learner, game in players.values():
            seconds(learner, game, 0, ROUNDS)  # compile, and learn
        turns = take_turns(
            [lambda each=each: seconds(*each, ROUNDS, ROUNDS // 2) for each in players.values()],
            REPETITIONS,
        )
    spent = dict(zip(players, turns, strict=True))
    lines = []
    for what, *_, target in SPEEDS:
        rate = 1.0 / statistics.median(spent[what])
        lines.append(Line(f"{what}: rounds a second", rate, f"{rate:,.0f}", target))
    cost = ratio(spent[LINEAR], spent["the same without restarts"])
    what = f"{LINEAR}: time of a round over that without restarts"
    return [*lines, Line(what, cost, f"{cost:.2f}", 1.1, at_least=False)]


def seconds(learner: Any, game: Rounds, first: int, count: int) -> float:
    """Of processor time a round: other programs may be running."""
    started = time.process_time()
    for t in range(first, first + count):
        action = learner.act(game.contexts[t])
        learner.update(float(game.losses[t, action]))
    return (time.process_time() - started) / count
