"""Sets of elements with semi-bandit feedback: the recommended learner and its peers.

`python -m benchmarks.sets grid --seeds 50 51` plays one environment with these seeds
and prints the figures of all learners. Constants were chosen on other seeds than those of the
study.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import hannan as hn
from benchmarks import sets_contenders as who
from benchmarks import sets_worlds as worlds
from benchmarks.measure import Line, Matrix, rate, ratio, take_turns
from benchmarks.sets_contenders import OURS
from benchmarks.town import NETWORKS

SEEDS = range(100, 110)
Figures = dict[str, list[float]]


@dataclass(frozen=True)
class Bound:
    """The target of the recommended learner, by the figure of a peer.

    Its mean figure is at most `factor` times the peer's, or the peer's plus `extra` and `errors`
    standard errors of the difference, whichever is larger.
    """

    peer: str
    factor: float
    extra: float = 0.0
    errors: float = 0.0

    def line(self, what: str, ours: np.ndarray, theirs: np.ndarray) -> Line:
        """The row of the table."""
        mean = float(theirs.mean())
        slack = self.extra + self.errors * _error(ours - theirs)
        most = mean + (self.factor - 1.0) * abs(mean)
        most = max(most, mean + slack) if slack else most
        shown = f"{_shown(ours)} ({_shown(theirs)})"
        return Line(f"{what}, compared with {self.peer}", float(ours.mean()), shown, most, False)


@dataclass(frozen=True)
class World:
    """A kind of run: `make(seed)` has a method `play`, and `contenders` names the learners."""

    figure: str
    make: Callable[[int], Any]
    contenders: Callable[[Any, int], who.Makers]
    bounds: tuple[Bound, ...]
    seeds: Iterable[int] = SEEDS


def _stationary(problem: str) -> World:
    bound = Bound(who.THOMPSON, 1.3)
    make = partial(worlds.stationary, problem)
    return World("regret", make, who.of_coins, (bound,))


def _switching(problem: str) -> World:
    bounds = Bound(who.RESTARTED, 1.1), Bound(who.PLAIN, 0.7)
    make = partial(worlds.stationary, problem, switches=1)
    return World("regret", make, who.of_changes, bounds)


def _town(name: str, rounds: int) -> World:
    bound = Bound(who.THOMPSON, 1.0, extra=0.5)
    make = partial(worlds.town, name, rounds=rounds)
    return World("% beyond the best fixed routes", make, who.of_times, (bound,))


def _adversary(problem: str, name: str) -> World:
    bound = Bound(who.PLAIN, 1.25, errors=2.0)
    make = partial(worlds.Adversary, problem, worlds.ADVERSARIES[name])
    return World("regret", make, who.against_adversaries, (bound,))


LONG, SHORT = "slates, trap, 12,000 rounds", "slates, trap"
REGION = "region"
WORLDS: dict[str, World] = {
    **{problem: _stationary(problem) for problem in worlds.PROBLEMS},
    "Sioux Falls": _town("Sioux Falls", 5000),
    "Anaheim": _town("Anaheim", 3000),
    "articles": World(
        "regret",
        worlds.articles,
        who.of_features,
        (Bound(who.LINEAR_THOMPSON, 2.0),),
    ),
    **{f"{problem}, switch": _switching(problem) for problem in ("grid", "slates")},
    **{
        f"{problem}, {name}": _adversary(problem, name)
        for problem in ("grid", "slates")
        for name in worlds.ADVERSARIES
    },
    LONG: World(
        "regret",
        lambda seed: worlds.Adversary("slates", worlds.ADVERSARIES["trap"], seed, 12_000),
        who.in_the_long_run,
        (),
        SEEDS[:3],
    ),
    REGION: World(
        "minutes a trip",
        worlds.Region,
        who.of_guessed_times,
        (Bound(who.DIJKSTRA, 1.05),),
        SEEDS[:2],
    ),
    "drivers": World("minutes a day", worlds.drivers, who.of_rewards, (Bound(who.MEANS, 1.05),)),
    "clicks": World(
        "-clicks a visitor", worlds.clicks, who.of_rewards, (Bound(who.THOMPSON, 1.05),), SEEDS[:3]
    ),
}


def run() -> list[Line | Matrix]:
    """Play all environments; the towns only if their files exist."""
    lines: list[Line] = []
    figures: dict[str, Figures] = {}
    for name, world in WORLDS.items():
        if world.contenders is not who.of_times or NETWORKS.exists():
            figures[name], more = played(name, world.seeds)
            lines += more
    return [*lines, _growth(figures[SHORT], figures[LONG]), *speed(), matrix(figures)]


def speed() -> list[Line]:
    """Return the speed of Algorithm 3 with hints as a share of that without, in turns."""
    lines = []
    for name in ("grid", "slates", "matchings"):
        game = worlds.stationary(name, SEEDS[0], rounds=3000)

        def once(predictor: Any, game: Any = game) -> float:
            learner = hn.ContextSemiBanditFTPL(game.oracle, predictor=predictor, seed=0)
            started = time.process_time()
            for losses in game.losses:
                learner.update(losses[learner.act()])
            return (time.process_time() - started) / len(game.losses)

        hints = partial(once, hn.predictors.ElementMeans())
        without, hinted = take_turns([partial(once, None), hints], 5)
        share, rates = ratio(without, hinted), f"{rate(hinted)} and {rate(without)}"
        what = f"{name}: rounds a second with hints over those without"
        lines.append(Line(what, share, f"{share:.2f} ({rates})", 0.5))
    return lines


def played(name: str, seeds: Iterable[int]) -> tuple[Figures, list[Line]]:
    """Return the figures of all learners in an environment, and the targets."""
    world, figures, speeds, refused = WORLDS[name], Figures(), [], Figures()
    for seed in seeds:
        game = world.make(seed)
        for contender, make in world.contenders(game, seed).items():
            learner, started = make(), time.process_time()
            figures.setdefault(contender, []).append(game.play(learner))
            if contender == OURS:
                speeds.append(game.rounds / (time.process_time() - started))
            refused.setdefault(contender, []).append(getattr(game, "refused", 0))
    what, ours = f"{name}: {world.figure}", np.array(figures[OURS])
    lines = [each.line(what, ours, np.array(figures[each.peer])) for each in world.bounds]
    if name == REGION:
        speed = max(speeds)
        lines.append(Line(f"{name}: rounds a second", speed, f"{speed:,.0f}", 100.0))
        counts = ", ".join(f"{each}: {sum(count):.0f}" for each, count in refused.items())
        lines.append(Line(f"{name}: rounds refused", sum(refused[OURS]), counts, 0.0, False))
    return figures, lines


def matrix(figures: dict[str, Figures]) -> Matrix:
    """Return the table of environments and learners."""
    names = tuple(dict.fromkeys(name for each in figures.values() for name in each))
    rows = {
        f"{world}: {WORLDS[world].figure}": tuple(
            _shown(np.array(each[name])) if name in each else "" for name in names
        )
        for world, each in figures.items()
    }
    return Matrix("Figures of all learners, ± a standard error", names, rows)


def _growth(short: Figures, long: Figures) -> Line:
    """How regret grows from 3,000 to 12,000 rounds, on the same seeds: 2 like a square root."""
    ratios = {}
    for contender, late in long.items():
        ratios[contender] = float(np.mean(late) / np.mean(short[contender][: len(late)]))
    others = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if name != OURS)
    what = f"{SHORT}: regret at 12,000 rounds over that at 3,000"
    return Line(what, ratios[OURS], f"{ratios[OURS]:.2f} ({others})", 2.6, at_least=False)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _shown(values: np.ndarray) -> str:
    digits = max(0, 2 - math.floor(math.log10(max(1.0, abs(values.mean())))))
    return f"{values.mean():,.{digits}f} ± {_error(values):,.{digits}f}"


def main() -> None:
    """Play some environments and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sets", description=__doc__)
    parser.add_argument("worlds", nargs="+", choices=WORLDS, metavar="world", help=str([*WORLDS]))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    options = parser.parse_args()
    for name in options.worlds:
        started = time.perf_counter()
        figures, lines = played(name, options.seeds)
        for contender, values in figures.items():
            each = ", ".join(f"{value:.4g}" for value in values)
            print(f"{contender}: {_shown(np.array(values))} ({each})")
        for line in lines:
            print(line.what, line.shown, line.wanted, line.mark)
        print(f"{name}: {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
