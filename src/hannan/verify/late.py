"""Self-tuned learners under late losses: what they say about their regret, and what is promised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hannan.bounds import hinted, self_tuned
from hannan.core import Decision
from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, SelfTuned, Trust, TsallisINF
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._advised import Told
from hannan.verify._games import seeds, standard_error
from hannan.verify._late import VOICES, LateGame, Played, policies
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_RESULT = "Late feedback (beyond the paper)"
_Z = 4.5  # standard errors; one-sided, 3e-6 for each check
_TWO = AllPolicies(1, 2)
_EXPERTS = FinitePolicies([[0], [1]])
_FOUR = FinitePolicies([[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]])


# What is said -------------------------------------------------------------------------------


def _full() -> dict[str, Any]:
    return {
        "full": ContextFTPL(_EXPERTS, seed=0),
        "full, four policies": ContextFTPL(_FOUR, seed=0),
        "full, guesses": ContextFTPL(_TWO, predictor=Told(), trust="always", seed=0),
    }


def _bandits() -> dict[str, Any]:
    told = Told()
    return {
        "bandit": ContextSemiBanditFTPL(_TWO, seed=0),
        "bandit, drawn": ContextSemiBanditFTPL(_FOUR, resampling=1, seed=0),
        "bandit, hints": ContextSemiBanditFTPL(
            _TWO, predictor=told, trust=Trust(prior=5.0), seed=0
        ),
        "Tsallis-INF": TsallisINF(_TWO, seed=0),
        "Tsallis-INF, hints": TsallisINF(_TWO, predictor=told, trust=Trust(prior=5.0), seed=0),
    }


_GAMES = [
    LateGame("hits the known leader", "end, in order"),
    LateGame("hits the known leader", "bad late", "forgotten"),
    LateGame("hits the known leader", "bad late", "open"),
    LateGame("blocks of 5", "bursts of 12, good first"),
    LateGame("hits the last open action", "action 0 late", mode="mixed"),
    LateGame("hits all open actions", "rare by 8", "ahead"),
    LateGame("turns that settle", "good by 5", "answered", "dropping"),
]
_SETTLED = LateGame("turns that settle", "by 5", T=600)


@claim(
    "late-certificate",
    _RESULT,
    f"paired means with {_Z} standard errors; false alarms below 1e-4",
)
def certificate(effort: Effort) -> Finding:
    """Whatever decides when and whether losses come, regret over all rounds decided is on average
    at most D + G·top, with truncation and the most that rounds without a loss can cost.

    Adaptive losses, delays that depend on actions, rounds that are never answered; good rounds
    that are answered early to hide what bad ones cost; and many tickets from one state, of which
    only some are answered.
    """
    checks, count = [], effort.pick(10, 150)
    for what, model in (_full() | _bandits()).items():
        for game in _GAMES:
            if "hints" in what and game.mode == "dropping":
                continue  # nothing is said where a round with a baseline was dropped
            name = f"{what}: {game.losses}, {game.delay}, {game.ending}"
            checks.append(_said(name, _runs(model, game, effort, count)))
    for kind in (ContextSemiBanditFTPL, TsallisINF):
        model = kind(_TWO, exploration=0.25, seed=0)
        name = f"{kind.__name__} explores for long"
        checks.append(_said(name, _runs(model, _SETTLED, effort, effort.pick(6, 40))))
    numbers = seeds(effort, "shields", 6, 40)
    model = ContextFTPL(_EXPERTS, epsilon=SelfTuned(4.0), seed=0)
    _ = model.complexity
    shielded = np.array([shields(model.fresh(n), effort.pick(1500, 4000)) for n in numbers])
    gaps = shielded[:, 0] - shielded[:, 1]
    regret, stated = shielded.mean(axis=0)
    what = "good rounds first, as shields: regret"
    checks.append(Check(what, regret, stated, allowance=_Z * standard_error(gaps)))
    plays = _scatter(checks)
    checks += _one_state(effort)
    return Finding(checks, plays, f"{count} runs of {len(plays.series[0].x) - 1} games")  # type: ignore[arg-type]


def _runs(model: Any, game: LateGame, effort: Effort, count: int) -> list[Played]:
    if not isinstance(model, TsallisINF):
        _ = model.complexity
    rows, first = policies(model.oracle), 10_000 * effort.seed
    return [game.play(model, rows, seed) for seed in range(first, first + count)]


def _said(name: str, played: Sequence[Played]) -> Check:
    """Mean regret against the policy for which it is closest to what was stated."""
    found = [run for run in played if run.stated is not None]
    if not found:
        return Check(f"{name}: runs without a certificate", len(played), 0.0)
    regrets = np.array([run.regrets for run in found])
    stated = np.array([run.stated for run in found])
    worst = int(regrets.mean(axis=0).argmax())
    gaps, regret = stated - regrets[:, worst], float(regrets[:, worst].mean())
    # A game without randomness has gaps of equal size.
    chance = 1e-9 + _Z * standard_error(gaps)
    return Check(f"{name}: regret", regret, float(stated.mean()), allowance=chance)


def shields(learner: Any, horizon: int) -> tuple[float, float]:
    """Regret and certificate against an adversary for whom the draws that are played leak.

    Totals of two actions differ by -w or by w, and the better one is hit n times, each time at one
    and the same state. Of these rounds the good ones, in which the other action was played, move
    totals to the other side; there rounds wait in which the action that is better now was played
    and cost something. Answered then, each under the draw that it was played by, hardly any of
    them seems to have been decided by the wrong leader.
    """
    table = _Shields(learner, horizon)
    while learner.step.scale < 1.0:  # first some noise, by losses that come at once
        table.decide(int(table.difference > 0), 1)
        table.settle()
    while table.made < horizon:
        w = max(1, round(0.4 * learner.step.scale))
        n = max(40, 25 * w)
        table.move(-w)
        table.decide(0, n)
        table.move(w)
        table.decide(1, n)
        table.pair((0, 1), (1, 1))
        table.move(-w)
        table.pair((1, 0), (0, 0))
        table.pair((0, 0), (1, 1))
    table.settle()
    return table.suffered - min(table.losses), float(learner.certificate().measured)


class _Shields:
    """Rounds by the action that they hit and the one that was played."""

    def __init__(self, learner: Any, horizon: int) -> None:
        self.learner = learner
        self.waiting: dict[tuple[int, int], list[Decision]] = defaultdict(list)
        self.known = [0, 0]
        self.losses = [0, 0]
        self.suffered = self.made = 0

    @property
    def difference(self) -> int:
        return self.known[0] - self.known[1]

    def decide(self, hit: int, count: int) -> None:
        for ticket in self.learner.decide_many([0] * count):
            self.suffered += ticket.action == hit
            self.waiting[hit, ticket.action].append(ticket)
        self.losses[hit] += count
        self.made += count

    def answer(self, hit: int, played: int) -> None:
        self.known[hit] += 1
        self.learner.update(np.eye(2)[hit], decision=self.waiting[hit, played].pop())

    def move(self, to: int) -> None:
        """Answer rounds that hit the action whose total must grow, good ones first."""
        while self.difference != to:
            hit = int(self.difference > to)
            there = [a for a in (1 - hit, hit) if self.waiting[hit, a]]
            if not there:
                return
            self.answer(hit, there[0])

    def pair(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        """Answer them in turns while there are both."""
        while self.waiting[one] and self.waiting[other]:
            self.answer(*one)
            self.answer(*other)

    def settle(self) -> None:
        """Answer all."""
        for key in list(self.waiting):
            while self.waiting[key]:
                self.answer(*key)


# One state ----------------------------------------------------------------------------------


class _State(NamedTuple):
    """A state of a learner, and an environment that answers some of its tickets."""

    totals: list[float]
    losses: list[float]
    answers: Callable[[Decision], bool]
    L: int


_RARELY_SEEN = _State([0.0, 1.65, 40.0], [1.0, 1.0, 0.0], lambda ticket: ticket.action != 0, 6)
_BY_WEIGHT = _State([0.0, 0.0], [1.0, 1.0], lambda ticket: not (ticket.weights > 1.0).any(), 8)


def _one_state(effort: Effort) -> list[Check]:
    """What a round costs and what is counted of it, for many tickets from one state.

    Its loss is estimated, or it is counted with the most that it can cost. The truncation of
    weights hides part of the former, also of rounds that in the end are not answered.
    """
    checks = []
    for what, state, resampling in [
        ("an action that is never answered", _RARELY_SEEN, "auto"),
        ("tickets answered by their weights", _BY_WEIGHT, 1),
    ]:
        gaps = _uncounted(state, resampling, effort.pick(1500, 20_000), effort.seed)
        chance = _Z * standard_error(gaps)
        name = f"{what}: loss of a round less what is counted"
        checks.append(Check(name, float(gaps.mean()), 0.0, allowance=chance))
    return checks


def _uncounted(state: _State, resampling: Any, n: int, seed: int) -> FloatArray:
    learner = ContextSemiBanditFTPL(
        AllPolicies(1, len(state.totals)),
        resampling=resampling,
        max_resamples=state.L,
        epsilon=1.0,
        seed=seed,
    )
    learner.leader.total.add(0, np.array(state.totals))
    q = learner.propensities().probabilities
    gaps = []
    for ticket in learner.decide_many([0] * n):
        assert isinstance(ticket.action, int)
        loss = state.losses[ticket.action]
        if state.answers(ticket):
            learner.update(loss, decision=ticket)
            counted = q[ticket.action] * float(ticket.weights[0]) * loss
        else:
            learner.forget(ticket)
            counted = 1.0
        gaps.append(loss - counted)
    return np.array(gaps) - learner.certificate().truncation / n


def _scatter(drawn: Sequence[Check]) -> Plot:
    stated = [check.limit for check in drawn]
    top = np.array([0.0, max(stated)])
    series = [
        Series("games", stated, [check.measured for check in drawn], "points"),
        Series("equality", top, top, "dashed"),
    ]
    return Plot("mean of what is stated", "mean regret", series)


# What is promised ---------------------------------------------------------------------------


@claim("late-bound", _RESULT, "means over games with fixed seeds, without allowance")
def bound(effort: Effort) -> Finding:
    """The peak M of what instability has cost, and regret, are on average within their bounds for
    the number of pairs of rounds that were open together.

    Full information, bandits and hints; losses in order, some out of order, and all at the end.
    """
    T, count = effort.pick(80, 300), effort.pick(5, 40)
    told = Told()
    trust = Trust(budget=1.0, prior=10.0, share=0.5)
    models: dict[str, Any] = {
        "full": ContextFTPL(_EXPERTS, seed=0),
        "bandit": ContextSemiBanditFTPL(_TWO, seed=0),
        "hints": ContextSemiBanditFTPL(_TWO, predictor=told, trust=trust, seed=0),
    }
    checks, x, y = [], [], []
    for what, model in models.items():
        for losses in ("hits the known leader", "blocks of 10"):
            for delay in ("none", "by 10", "stragglers", "end, in order"):
                played = _runs(model, LateGame(losses, delay, T=T), effort, count)
                limits = np.array(
                    [_promised(what, run, T, delay == "stragglers") for run in played]
                )
                limit, whole = limits.mean(axis=0)
                peak = float(np.mean([run.learner.step.M for run in played]))
                where = f"{what}: {losses}, {delay}"
                checks.append(Check(f"{where}: M", peak, limit))
                regret = float(np.mean([run.regrets for run in played], axis=0).max())
                checks.append(Check(f"{where}: regret", regret, whole))
                said = np.array([run.learner.regret_bound() for run in played])
                least = float((said / limits[:, 1]).min())
                checks.append(
                    Check(f"{where}: regret_bound() over that, at least", least, 1.0 - 1e-9, False)
                )
                x.append(limit)
                y.append(peak)
    top = np.array([0.0, max(x)])
    series = [Series("games", x, y, "points"), Series("equality", top, top, "dashed")]
    return Finding(checks, Plot("bound on E M", "mean M", series), f"T = {T}, {count} runs each")


def _promised(what: str, played: Played, T: int, overtaken: bool) -> tuple[float, float]:
    """Bounds on E M and on regret, for the delays of a game."""
    learner = played.learner
    late = _pairs(learner)
    G, eta = learner.complexity.value, learner.step.factor
    options: dict[str, Any] = {
        "d": 1, "n_actions": 2, "complexity": eta * G,
        "total_delay": late, "overtaken": overtaken,
    }  # fmt: skip
    share = 0.5 * (1.0 + learner.complexity.upper / (eta * G))
    if what == "full":
        terms = self_tuned(T, **options).terms
        most = 0.5 * (terms["instability"] + terms["range"])
        return most, 2.0 * share * most
    options |= {"reacting": True}
    if what == "bandit":
        terms = self_tuned(T, feedback="bandit", second_moment=1.0, **options).terms
        return 0.5 * terms["instability"], share * terms["instability"] + terms["truncation"]
    terms = hinted(T, budget=1.0, share=0.5, known_law=True, start=1.0, **options).terms
    most = 0.5 * terms["instability"]
    rest = terms["hints"] + terms["truncation"] + terms["start"]
    return most + terms["start"], share * terms["instability"] + rest


def _pairs(learner: Any) -> int:
    """Pairs of rounds that were open together, as the certificate counts them."""
    notes = " ".join(learner.certificate().notes)
    found = notes.partition("feedback was late: ")[2].split()
    return int(found[0]) if found else 0


@claim("late-hints", _RESULT, "holds on every path")
def hints(effort: Effort) -> Finding:
    """What hints have measurably cost, S, is within their budget c√(Gt) at every moment, however
    many hinted rounds are open, whenever they are answered and in whatever order.
    """
    T, count = effort.pick(60, 200), effort.pick(2, 40)
    told = Told()
    options: dict[str, Any] = {"predictor": told, "trust": Trust(0.5, prior=10.0, share=0.5)}
    models = {
        "law known": ContextSemiBanditFTPL(_TWO, seed=0, **options),
        "drawn": ContextSemiBanditFTPL(_FOUR, resampling=1, seed=0, **options),
    }
    delays = ("by 10", "end, bad first", "bursts of 12, bad first", "good late")
    checks, hinted_rounds = [], 0
    over: dict[str, list[float]] = defaultdict(list)
    for what, model in models.items():
        for delay in delays:
            for voice in VOICES:
                game = LateGame("turns", delay, voice=voice, mode="mixed", T=T)
                played = _runs(model, game, effort, count)
                worst = max(run.overdrawn for run in played)
                over[what].append(worst)
                hinted_rounds += sum(run.learner.hint.hinted for run in played)
                checks.append(Check(f"{what}, {delay}, {voice}: S beyond its budget", worst, 1e-9))
    checks.append(Check("rounds with a hint, at least", hinted_rounds, 10.0 * count, False))
    series = [Series(what, np.arange(len(y)), y, "points") for what, y in over.items()]
    plot = Plot("games", "largest S less its budget", series)
    return Finding(checks, plot, f"T = {T}, {count} runs of each game")
