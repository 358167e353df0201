"""Watch: how often its intervals hold at all times at once, how wide they are, and their cost."""

from __future__ import annotations

import timeit
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line, Matrix

MEANS = np.array([[0.2, 0.6, 0.8], [0.7, 0.3, 0.5]])  # by context and action
RULES = {"always 0": 0, "always 1": 1, "by context": lambda context: context}
CHOICES = np.array([[0, 0], [1, 1], [0, 1]])  # of the rules, by context
GAMES, ROUNDS, LOGS = 500, 2000, 20
NEVER = 10 * ROUNDS


def run() -> list[Line | Matrix]:
    """Coverage for exact and geometric weights, then widths, then time."""
    covered: list[Line | Matrix] = []
    rows = {}
    for name, options in (("exact weights", {}), ("geometric weights", {"resampling": "shared"})):
        kinds = [list(DELAYS)[seed % len(DELAYS)] for seed in range(GAMES)]
        games = (delayed(_missed)(seed, late, options) for seed, late in enumerate(kinds))
        wrong = Parallel(n_jobs=2)(games)
        missed = {late: wrong[i :: len(DELAYS)] for i, late in enumerate(DELAYS)}
        share = float(np.mean(wrong))
        what = f"games with a wrong interval at any time, {name}"
        covered.append(Line(what, share, f"{share:.1%}", 0.05, at_least=False))
        rows[name] = tuple(f"{sum(found)} of {len(found)}" for found in missed.values())
    notes = (
        f"{GAMES} games of {ROUNDS:,} rounds for each row, self-tuned learner, losses react to "
        "earlier actions; 3 policies, 95 %, looked at after every round",
    )
    covered.append(Matrix("games with a wrong interval at any time", tuple(DELAYS), rows, notes))
    return [*covered, _widths(), *_times()]


# Coverage ------------------------------------------------------------------------------------


def _late_none(action: int, loss: float, rng: np.random.Generator) -> int:
    return 0


def _late_fixed(action: int, loss: float, rng: np.random.Generator) -> int:
    return 50


def _late_by_action(action: int, loss: float, rng: np.random.Generator) -> int:
    return (0, 40, NEVER if rng.random() < 0.2 else 5)[action]


def _late_bad_news(action: int, loss: float, rng: np.random.Generator) -> int:
    return 0 if loss < 0.5 else 300


def _late_never(action: int, loss: float, rng: np.random.Generator) -> int:
    return NEVER if loss > 0.5 and rng.random() < 0.1 else int(rng.integers(30))


DELAYS = {
    "at once": _late_none,
    "50 rounds late": _late_fixed,
    "by action, some never": _late_by_action,
    "good news first": _late_bad_news,
    "some bad news never": _late_never,
}


def _missed(seed: int, late: str, options: dict[str, Any]) -> bool:
    """Whether an interval of a game did not hold its true value after one of its rounds."""
    rng = np.random.default_rng([29, seed])
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), **options, seed=seed)
    watch = hn.off_policy.Watch(RULES)
    geometric = bool(options)
    ours, theirs = 0.0, np.zeros(len(RULES))
    due: dict[int, list[tuple[Any, float]]] = {}
    recent = np.zeros(3)
    for t in range(ROUNDS):
        context = int(rng.integers(2))
        # Fixed before the action is drawn: what was popular lately is likelier to fail.
        chance = np.clip(MEANS[context] + 0.3 * (recent - recent.mean()), 0.0, 1.0)
        losses = (rng.random(3) < chance).astype(float)
        q = learner.propensities(context).probabilities
        decision = learner.decide(context)
        watch.add_decision(decision, weight=decision.record.weights[0] if geometric else None)
        recent = 0.95 * recent + 0.05 * np.eye(3)[decision.action]
        ours += float(q @ losses)
        theirs += losses[CHOICES[:, context]]
        loss = float(losses[decision.action])
        when = t + DELAYS[late](decision.action, loss, rng)
        if when < NEVER:
            due.setdefault(when, []).append((decision, loss))
        elif rng.random() < 0.5:
            learner.forget(decision)
            watch.abandon(decision)
        for each, cost in reversed(due.pop(t, [])):
            learner.update(cost, decision=each)
            watch.add_loss(each, cost)
        if _wrong(watch, ours, theirs):
            return True
    return False


def _wrong(watch: hn.off_policy.Watch, ours: float, theirs: Any) -> bool:
    n = watch.rounds
    low, high = watch.played()
    if not low <= ours / n <= high:
        return True
    for found, loss in zip(watch.intervals().values(), theirs, strict=True):
        if not found.loss[0] <= loss / n <= found.loss[1]:
            return True
        if not found.regret[0] <= ours - loss <= found.regret[1]:
            return True
    return False


# Widths --------------------------------------------------------------------------------------


def _widths() -> Matrix:
    """Of intervals for the mean loss of always playing the second action."""
    rows = {}
    for name, n in (("uniform", 250), ("uniform", 2000), ("uniform", 16_000), ("learner", 2000)):
        uniform = name == "uniform"
        found = [_three(seed, n, uniform) for seed in range(LOGS)]
        normal, bernstein, watch = np.mean(found, axis=0)
        rows[f"{name}, {n:,} rounds"] = (
            f"{normal:.3f}",
            f"{bernstein:.3f}" if uniform else "",
            f"{watch:.3f}",
            f"{watch / normal:.2f}",
            f"{watch / bernstein:.2f}" if uniform else "",
        )
    columns = (
        "normal, at one time",
        "Bernstein, at one time",
        "Watch, at all times",
        "over normal",
        "over Bernstein",
    )
    wrong = np.mean([_strays(seed) for seed in range(10 * LOGS)])
    notes = (
        f"means over {LOGS} logs; normal by dr, Bernstein by ips with max_ratio 3; learner: "
        "epsilon=0.005, of which no max_ratio is known",
        "Watch: three policies, so 14 one-sided statements share the 5 %; the others: one interval",
        f"normal intervals, looked at after 50, 51, … 2,000 rounds of uniform logging, were wrong "
        f"at some time in {wrong:.0%} of {10 * LOGS} logs",
    )
    return Matrix("width of 95 % intervals for a mean loss", columns, rows, notes)


def _three(seed: int, n: int, uniform: bool) -> list[float]:
    """Widths of the intervals from one log."""
    log, _ = _log(seed, n, uniform)
    found = [hn.off_policy.evaluate(log, lambda context: 1).interval, (np.nan, np.nan)]
    if uniform:
        known = {"interval": "bernstein", "loss_range": (0.0, 1.0), "max_ratio": 3.0}
        found[1] = hn.off_policy.evaluate(log, lambda context: 1, "ips", **known).interval
    found.append(hn.off_policy.Watch.over(log, RULES).intervals()["always 1"].loss)
    return [high - low for low, high in found]


def _strays(seed: int) -> bool:
    """Whether a normal interval did not hold the mean loss of the rounds so far, at any time."""
    log, truth = _log(seed, ROUNDS, True)
    n = np.arange(1, ROUNDS + 1)
    terms = 0.5 + 3.0 * (log.actions == 1) * (log.losses - 0.5)  # dr, with a constant guess
    mean, square = np.cumsum(terms) / n, np.cumsum(terms**2) / n
    error = np.sqrt((square - mean**2) / np.maximum(n - 1, 1))
    off = np.abs(mean - np.cumsum(truth) / n) > 1.96 * error
    return bool(off[49:].any())


def _log(seed: int, n: int, uniform: bool) -> tuple[hn.off_policy.Log, Any]:
    rng = np.random.default_rng([31, seed])
    contexts = rng.integers(2, size=n)
    losses = (rng.random((n, 3)) < MEANS[contexts]).astype(float)
    if uniform:
        actions = rng.integers(3, size=n)
        paid = losses[np.arange(n), actions]
        log = hn.off_policy.Log(contexts, actions, paid, np.full(n, 1 / 3), n_actions=3)
        return log, losses[:, 1]
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), epsilon=0.005, seed=seed)
    recorder = hn.off_policy.Recorder(learner)
    for context, row in zip(contexts.tolist(), losses, strict=True):
        decision = recorder.decide(context)
        recorder.update(float(row[decision.action]), decision=decision)
    return recorder.log(), losses[:, 1]


# Time ----------------------------------------------------------------------------------------


def _times() -> Iterator[Line]:
    watch = hn.off_policy.Watch(RULES)
    ids = iter(range(10**9))

    def one_round() -> None:
        number = next(ids)
        watch.add_decision(number, 0, 1, propensity=0.5)
        watch.add_loss(number, 0.5)

    for what, call in (("a round", one_round), ("reading all intervals", watch.intervals)):
        took = 1e6 * min(timeit.repeat(call, number=100, repeat=30)) / 100
        yield Line(f"time of {what}, 3 policies", took, f"{took:.0f} µs")
