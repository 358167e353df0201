"""Small games with late losses, made to break what learners say about their regret.

    python -m tests.learners.late_games --games 1000 --seeds 200

plays that many different ones and compares mean regret with the mean certificate, over all rounds
that were decided: against the best policy of each run with full information, else against every
fixed policy. A game is over as soon as the two are far apart, and one that looks broken is played
again with fresh seeds and ten times as many.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np

import hannan as hn
from tests.statistics.advised import Told
from tests.statistics.late_world import (
    DELAYS,
    ENDINGS,
    LOSSES,
    MODES,
    VOICES,
    LateGame,
    policies,
)

FEW = 40  # seeds after which a game may be decided
CLEAR = 6.0  # standard errors by which it then is
SIGMAS = 3.0

EXPERTS = hn.oracles.FinitePolicies([[0], [1]])
THREE = hn.oracles.FinitePolicies([[0], [1], [2]])
FOUR = hn.oracles.FinitePolicies([[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]])
TABLE = hn.oracles.AllPolicies(1, 2)
TABLES = hn.oracles.AllPolicies(2, 3)
PAIRS = hn.oracles.Subsets(3, 2)
UP_TO_TWO = hn.oracles.Subsets(3, 2, exactly=False)
REWARDS = (-1.0, 0.0)
GULLIBLE = hn.Trust(budget=1.0, prior=10.0, share=0.5)
UNCOVERED = hn.Trust(prior=10.0, baseline=None)


def full(oracle, **options):
    return hn.ContextFTPL(oracle, seed=0, **options)


def bandit(oracle, **options):
    return hn.ContextSemiBanditFTPL(oracle, seed=0, **options)


SETTINGS = {
    "full, two": lambda: full(EXPERTS),
    "full, three": lambda: full(THREE),
    "full, four on three": lambda: full(FOUR),
    "full, table": lambda: full(TABLE),
    "full, tables": lambda: full(TABLES),
    "full, sets": lambda: full(PAIRS),
    "full, eager": lambda: full(FOUR, epsilon=hn.SelfTuned(4.0)),
    "full, guesses": lambda: full(THREE, predictor=Told()),
    "full, guesses always": lambda: full(FOUR, predictor=Told(), trust="always"),
    "full, guesses, table": lambda: full(TABLE, predictor=Told(), trust="always"),
    "bandit, table": lambda: bandit(TABLE),
    "bandit, tables": lambda: bandit(TABLES),
    "bandit, three": lambda: bandit(THREE),
    "bandit, table, one success": lambda: bandit(TABLE, resampling=1),
    "bandit, table, two successes": lambda: bandit(TABLE, resampling=2),
    "bandit, four, one success": lambda: bandit(FOUR, resampling=1),
    "bandit, four, two successes": lambda: bandit(FOUR, resampling=2),
    "bandit, small cap": lambda: bandit(FOUR, resampling=1, max_resamples=2),
    "bandit, three, small cap": lambda: bandit(THREE, max_resamples=2),
    "bandit, sets": lambda: bandit(PAIRS),
    "rewards, pairs": lambda: bandit(PAIRS, loss_range=REWARDS),
    "rewards, any size": lambda: bandit(UP_TO_TWO, loss_range=REWARDS),
    "rewards, any size, eager": lambda: bandit(
        UP_TO_TWO, loss_range=REWARDS, epsilon=hn.SelfTuned(8.0)
    ),
    "gains and losses, any size": lambda: bandit(UP_TO_TWO, loss_range=(-0.5, 0.5)),
    "rewards, table": lambda: bandit(TABLE, loss_range=REWARDS),
    "hints, rewards, four": lambda: bandit(FOUR, loss_range=REWARDS, predictor=Told()),
    "bandit, timid": lambda: bandit(TABLE, epsilon=hn.SelfTuned(1.0)),
    "hints, table": lambda: bandit(TABLE, predictor=Told()),
    "hints, four": lambda: bandit(FOUR, predictor=Told()),
    "hints, four, gullible": lambda: bandit(FOUR, predictor=Told(), trust=GULLIBLE, resampling=1),
    "hints, table, gullible": lambda: bandit(TABLE, predictor=Told(), trust=GULLIBLE),
    "bandit, explores": lambda: bandit(TABLE, exploration=0.1),
    "bandit, four, explores": lambda: bandit(FOUR, exploration=0.2, resampling=1),
    "hints, table, explores": lambda: bandit(TABLE, predictor=Told(), exploration=0.2),
    "hints, four, explores": lambda: bandit(
        FOUR, predictor=Told(), trust=GULLIBLE, exploration=0.1
    ),
    "Tsallis": lambda: hn.TsallisINF(TABLE, seed=0),
    "Tsallis, two contexts": lambda: hn.TsallisINF(TABLES, seed=0),
    "Tsallis, explores": lambda: hn.TsallisINF(TABLE, exploration=0.2, seed=0),
    "hints, Tsallis": lambda: hn.TsallisINF(TABLE, predictor=Told(), seed=0),
    "hints, Tsallis, two": lambda: hn.TsallisINF(TABLES, predictor=Told(), seed=0),
    "hints, Tsallis, explores": lambda: hn.TsallisINF(
        TABLE, predictor=Told(), trust=GULLIBLE, exploration=0.1, seed=0
    ),
    "Exp3-IX": lambda: hn.Exp3IX(TABLES, seed=0),
    "hints, Exp3-IX, explores": lambda: hn.Exp3IX(
        TABLE, predictor=Told(), trust=GULLIBLE, exploration=0.1, seed=0
    ),
    "hints, no baseline": lambda: bandit(TABLE, predictor=Told(), trust=UNCOVERED),
}


class Result(NamedTuple):
    """Mean regret beside the mean certificate, for the policy against which they are closest."""

    z: float
    regret: float
    stated: float
    seeds: int
    overdrawn: float
    withheld: int

    @property
    def broken(self):
        return self.z > SIGMAS or self.overdrawn > 1e-9


def judge(setting, game, seeds, first=0, few=FEW):
    """Play a game with up to so many seeds; fewer if after `few` all is clear."""
    model = SETTINGS[setting]()
    if hasattr(model, "complexity"):
        _ = model.complexity
    rows = policies(model.oracle)
    found, stated, over, withheld = [], [], -np.inf, 0
    for seed in range(first, first + seeds):
        played = game.play(model, rows, seed)
        over = max(over, played.overdrawn)
        if played.stated is None:
            withheld += 1
            continue
        found.append(played.regrets)
        stated.append(played.stated)
        if len(found) == few and scores(found, stated).max() < -CLEAR:
            break
    if len(found) < 2:
        return Result(-np.inf, np.nan, np.nan, 0, over, withheld)
    z = scores(found, stated)
    worst = int(z.argmax())
    regret = float(np.mean([each[worst] for each in found]))
    return Result(float(z[worst]), regret, float(np.mean(stated)), len(found), over, withheld)


def scores(regrets, stated):
    """By how many standard errors regret exceeds what was stated, for each policy."""
    gaps = np.array(regrets) - np.array(stated)[:, None]
    mean, error = gaps.mean(axis=0), gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    sure = np.where(mean > 1e-9, np.inf, np.where(mean < -1e-9, -np.inf, 0.0))
    return np.divide(mean, error, out=sure, where=error > 1e-12)


def sample(count, seed=0):
    """Different games by their names, each with its setting, evenly over all of them."""
    rng = np.random.default_rng(seed)
    settings, losses, delays = list(SETTINGS), list(LOSSES), list(DELAYS)
    found = {}
    while len(found) < count:
        setting = settings[len(found) % len(settings)]
        advised = "hints" in setting or "guesses" in setting
        game = LateGame(
            losses[rng.integers(len(losses))],
            delays[rng.integers(len(delays))],
            str(rng.choice(ENDINGS, p=[0.4, 0.25, 0.2, 0.15])),
            str(rng.choice(MODES, p=[0.6, 0.2, 0.2])),
            str(rng.choice(VOICES)) if advised else VOICES[0],
            int(rng.choice([20, 30, 40, 60], p=[0.3, 0.3, 0.3, 0.1])),
        )
        found.setdefault(f"{setting}: {game}", (setting, game))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="which games")
    given = parser.parse_args()
    started, closest, played, broken, withheld = time.process_time(), [], 0, [], 0
    for i, (name, what) in enumerate(sample(given.games, given.seed).items()):
        result = judge(*what, given.seeds)
        played += result.seeds
        withheld += result.withheld > 0
        if result.broken:
            print(f"looks broken: {name}: {result}", flush=True)
            again = judge(*what, 10 * given.seeds, first=10**6, few=10 * given.seeds + 1)
            print(f"   with fresh seeds: {again}", flush=True)
            played += again.seeds
            if again.broken:
                broken.append(name)
        closest.append((result.z, name, result))
        if i % 100 == 99:
            print(
                f"{i + 1} games, {played} runs, {time.process_time() - started:.0f} s", flush=True
            )
    for _, name, result in sorted(closest, key=lambda each: -each[0])[:10]:
        print(
            f"{result.z:7.2f}  {result.regret:8.3f}  {result.stated:8.3f}  {result.seeds}  {name}"
        )
    print(
        f"{given.games} games, {played} runs, {withheld} games with certificates withheld, "
        f"{len(broken)} broken, {time.process_time() - started:.0f} s of processor time"
    )
    for name in broken:
        print(f"broken: {name}")
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
