"""Self-tuned learners under late losses: what they state about their regret, and their bounds."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.bounds import hinted, self_tuned
from hannan.core import Decision
from hannan.core.oracle import Draw
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, SelfTuned, Trust, TsallisINF
from hannan.learners.certificates import Evidence
from hannan.learners.floor import Floor
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles import AllPolicies, FinitePolicies
from tests.statistics.advised import Told
from tests.statistics.late_world import VOICES, LateGame, Played, policies
from tests.statistics.means import SIGMAS, below, fails, further
from tests.statistics.test_hints import reserve_nothing

pytestmark = [pytest.mark.stat, pytest.mark.slow]
TWO = AllPolicies(1, 2)
EXPERTS = FinitePolicies([[0], [1]])
FOUR = FinitePolicies([[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]])
MODELS: dict[str, Any] = {
    "full": ContextFTPL(EXPERTS, seed=0),
    "full, four policies": ContextFTPL(FOUR, seed=0),
    "full, guesses": ContextFTPL(TWO, predictor=Told(), trust="always", seed=0),
    "bandit": ContextSemiBanditFTPL(TWO, seed=0),
    "bandit, drawn": ContextSemiBanditFTPL(FOUR, resampling=1, seed=0),
    "bandit, hints": ContextSemiBanditFTPL(TWO, predictor=Told(), trust=Trust(prior=5.0), seed=0),
    "Tsallis-INF": TsallisINF(TWO, seed=0),
    "Tsallis-INF, hints": TsallisINF(TWO, predictor=Told(), trust=Trust(prior=5.0), seed=0),
    "bandit, explores": ContextSemiBanditFTPL(TWO, exploration=0.25, seed=0),
    "Tsallis-INF, explores": TsallisINF(TWO, exploration=0.25, seed=0),
}
GAMES = {
    "at the end": LateGame("hits the known leader", "end, in order"),
    "bad ones forgotten": LateGame("hits the known leader", "bad late", "forgotten"),
    "bad ones open": LateGame("hits the known leader", "bad late", "open"),
    "good ones first": LateGame("blocks of 5", "bursts of 12, good first"),
    "one action late": LateGame("hits the last open action", "action 0 late", mode="mixed"),
    "stops ahead": LateGame("hits all open actions", "rare by 8", "ahead"),
    "drops rounds": LateGame("turns that settle", "good by 5", "answered", "dropping"),
    "settled": LateGame("turns that settle", "by 5", T=600),
}


def play(model, game, count, first=0):
    """Play a game with several seeds."""
    if not isinstance(model, TsallisINF):
        _ = model.complexity
    rows = policies(model.oracle)
    return [game.play(model, rows, seed) for seed in range(first, first + count)]


def cases():
    for what in MODELS:
        for game in GAMES:
            long = game == "settled"
            # Nothing is stated where a round with a baseline was dropped.
            silent = "hints" in what and game == "drops rounds"
            if long == ("explores" in what) and not silent:
                yield what, game


@pytest.mark.parametrize(("what", "game"), list(cases()))
def test_regret_is_on_average_at_most_the_certificate(what, game):
    """Whatever decides when and whether losses come, and of all rounds decided.

    At most D + G·top, with truncation and the most that rounds without a loss can cost. Paired
    means with 4.5 standard errors, against the policy for which they are closest.
    """
    played = play(MODELS[what], GAMES[game], 6 if game == "settled" else 10)
    stated = np.array([run.stated for run in played], dtype=float)
    assert np.isfinite(stated).all()
    regrets = np.array([run.regrets for run in played])
    below(regrets[:, int(regrets.mean(axis=0).argmax())], stated, SIGMAS)


def test_good_rounds_do_not_shield_bad_ones():
    """Paired means with 4.5 standard errors."""
    model = ContextFTPL(EXPERTS, epsilon=SelfTuned(4.0), seed=0)
    _ = model.complexity
    regret, stated = np.array([shields(model.fresh(n), 1500) for n in range(6)]).T
    below(regret, stated, SIGMAS)


def shields(learner: Any, horizon: int) -> tuple[float, float]:
    """Return regret and certificate against an adversary for whom the draws that are played leak.

    Totals of two actions differ by -w or by w, and the better one is hit n times, each time at one
    and the same state. Of these rounds the good ones, in which the other action was played, move
    totals to the other side; there rounds wait in which the action that is better now was played
    and cost something. Answered then, each under the draw that it was played by, hardly any of
    them seems to have been decided by the wrong leader.
    """
    table = Shields(learner, horizon)
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


class Shields:
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


# One state -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("totals", "losses", "answers", "L", "resampling"),
    [
        ([0.0, 1.65, 40.0], [1.0, 1.0, 0.0], lambda ticket: ticket.action != 0, 6, "auto"),
        ([0.0, 0.0], [1.0, 1.0], lambda ticket: not (ticket.weights > 1.0).any(), 8, 1),
    ],
    ids=["an action that is never answered", "tickets answered by their weights"],
)
def test_the_loss_of_a_round_is_counted(totals, losses, answers, L, resampling):
    """Its loss is estimated, or it is counted with the most that it can cost.

    Truncation of weights hides part of the former, also of rounds that are not answered in the
    end. A mean over tickets from one state, with 4.5 standard errors.
    """
    n = 1500
    learner = ContextSemiBanditFTPL(
        AllPolicies(1, len(totals)), resampling=resampling, max_resamples=L, epsilon=1.0, seed=0
    )
    learner.leader.total.add(0, np.array(totals))
    q = learner.propensities().probabilities
    gaps = []
    for ticket in learner.decide_many([0] * n):
        loss = losses[ticket.action]
        if answers(ticket):
            learner.update(loss, decision=ticket)
            gaps.append(loss - q[ticket.action] * float(ticket.weights[0]) * loss)
        else:
            learner.forget(ticket)
            gaps.append(loss - 1.0)
    below(np.array(gaps) - learner.certificate().truncation / n, 0.0, SIGMAS)


# Bounds --------------------------------------------------------------------------------------

PROMISED = {
    "full": MODELS["full"],
    "bandit": MODELS["bandit"],
    "hints": ContextSemiBanditFTPL(
        TWO, predictor=Told(), trust=Trust(budget=1.0, prior=10.0, share=0.5), seed=0
    ),
}


@pytest.mark.parametrize("delay", ["none", "by 10", "stragglers", "end, in order"])
@pytest.mark.parametrize("losses", ["hits the known leader", "blocks of 10"])
@pytest.mark.parametrize("what", PROMISED)
def test_the_peak_and_regret_are_within_bounds_for_the_pairs_of_open_rounds(what, losses, delay):
    """Bounds on the peak M of the instability cost and on regret; means over fixed seeds."""
    T = 80
    played = play(PROMISED[what], LateGame(losses, delay, T=T), 5)
    limits = np.array([promised(what, run, T, delay == "stragglers") for run in played])
    below([run.learner.step.M for run in played], limits[:, 0])
    regret = np.mean([run.regrets for run in played], axis=0).max()
    assert regret <= limits[:, 1].mean()
    stated = np.array([run.learner.regret_bound() for run in played])
    assert (stated >= (1.0 - 1e-9) * limits[:, 1]).all()


def promised(what: str, played: Played, T: int, out_of_order: bool) -> tuple[float, float]:
    """Bounds on E M and on regret, for the delays of a game."""
    learner = played.learner
    late = pairs(learner)
    G, eta = learner.complexity.value, learner.step.factor
    options: dict[str, Any] = {
        "d": 1, "n_actions": 2, "complexity": eta * G,
        "total_delay": late, "out_of_order": out_of_order,
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
    terms = hinted(T, budget=1.0, share=0.5, known_distribution=True, start=1.0, **options).terms
    most = 0.5 * terms["instability"]
    rest = terms["hints"] + terms["truncation"] + terms["start"]
    return most + terms["start"], share * terms["instability"] + rest


def pairs(learner: Any) -> int:
    """Pairs of rounds that were open together, as the certificate counts them."""
    notes = " ".join(learner.certificate().notes)
    found = notes.partition("feedback was delayed: ")[2].split()
    return int(found[0]) if found else 0


HINTED: dict[str, Any] = {"predictor": Told(), "trust": Trust(0.5, prior=10.0, share=0.5)}
ADVISED = {
    "law known": ContextSemiBanditFTPL(TWO, seed=0, **HINTED),
    "drawn": ContextSemiBanditFTPL(FOUR, resampling=1, seed=0, **HINTED),
}


@pytest.mark.parametrize("what", ADVISED)
def test_hints_stay_within_their_budget_however_many_rounds_are_open(what):
    """S ≤ c√(Gt) at every moment, on every path."""
    hinted_rounds = 0
    delays = ("by 10", "end, bad first", "bursts of 12, bad first", "good late")
    for delay, voice in itertools.product(delays, VOICES):
        played = play(ADVISED[what], LateGame("turns", delay, voice=voice, mode="mixed", T=60), 2)
        assert max(run.overdrawn for run in played) <= 1e-9
        hinted_rounds += sum(run.learner.hint.hinted for run in played)
    assert hinted_rounds >= 10


# What breaks it ------------------------------------------------------------------------------


def compare_with_the_leader_at_arrival(patch):
    """Measure from the totals in which the loss comes, not from those of the decision."""
    moved = ContextFTPL._moved

    def late(learner, opened, leader, *given):
        if opened.hidden_draw is not None:
            z = leader.hidden_draw(opened.hidden_draw, opened.draw.scale)
            opened.hidden_choice = learner._past(opened).action(opened.context, z)
        return moved(learner, opened, leader, *given)

    patch.setattr(ContextFTPL, "_moved", late)
    measure = algorithm_3.measure_late

    def late_too(leader, opened, top, *given):
        now, scale = leader.past(opened), opened.draw.scale
        if opened.exact:
            opened.distribution = now.distribution(opened.context, Draw(leader.noise, 0, scale))
        elif opened.hidden_draw is not None:
            opened.hidden_choice = now.action(
                opened.context, leader.hidden_draw(opened.hidden_draw, scale)
            )
        return measure(leader, opened, top, *given)

    patch.setattr(algorithm_3, "measure_late", late_too)


def measure_by_the_draw_of_play(patch):
    """No hidden noise draw: the draw that chose the action measures what instability cost, too."""

    def cast(leader, opened, past):
        opened.hidden_draw, opened.hidden_choice = opened.draw.number, opened.chosen
        return 0

    def same(leader, number, scale):
        return Draw(leader.noise if scale else None, number, scale)

    patch.setattr(PerturbedLeader, "draw_hidden_noise", cast)
    patch.setattr(PerturbedLeader, "hidden_draw", same)


def forget_rounds_without_a_loss(patch):
    """Speak of answered rounds only."""
    patch.setattr(Evidence, "lost", property(lambda game: 0.0))


def count_truncation_at_arrival(patch):
    """Count what the cap hides only of rounds that are answered."""
    played, note = ContextSemiBanditFTPL._played, ContextSemiBanditFTPL._note

    def uncounted(learner, opened):
        before = learner._account.truncation
        played(learner, opened)
        learner._account.truncation = before

    def counted(learner, opened, *given):
        note(learner, opened, *given)
        K = learner.oracle.n_actions
        learner._account.truncation += learner.loss_range[1] * K / (math.e * opened.limit)

    patch.setattr(ContextSemiBanditFTPL, "_played", uncounted)
    patch.setattr(ContextSemiBanditFTPL, "_note", counted)


def compare_at_the_present_scale(patch):
    """Ask for the new leader under the noise of the next round, and charge for less."""

    def noisy(measure):
        def measured(learner, *given, **options):
            account = learner._account
            top, account.top = account.top, max(account.top, learner.step.scale)
            try:
                return measure(learner, *given, **options)
            finally:
                account.top = top

        return measured

    patch.setattr(ContextFTPL, "_moved", noisy(ContextFTPL._moved))
    patch.setattr(ContextSemiBanditFTPL, "_measure", noisy(ContextSemiBanditFTPL._measure))


def show_weights_at_once(patch):
    """Let everybody see the weights of a round before it is answered."""
    record = ContextSemiBanditFTPL._propensity_record

    def shown(learner, opened):
        found = record(learner, opened)
        found.hidden = False
        return found

    patch.setattr(ContextSemiBanditFTPL, "_propensity_record", shown)


def measure_tsallis_at_arrival(patch):
    """Compare the distribution of the totals at arrival with that after the loss."""
    update = TsallisINF._update

    def late(learner, opened, loss):
        x = opened.context
        top = max(learner._tops[x], opened.scale)
        opened.distribution = learner._distribution(learner._past.totals[x], 1.0 / top)
        update(learner, opened, loss)

    patch.setattr(TsallisINF, "_update", late)


def forget_the_price_of_exploration(patch):
    """Leave what exploration cost out of certificates."""
    patch.setattr(Floor, "charge", lambda floor, opened, loss: None)


CERTIFICATE = test_regret_is_on_average_at_most_the_certificate
COUNTED = test_the_loss_of_a_round_is_counted
RARELY = [0.0, 1.65, 40.0], [1.0, 1.0, 0.0], lambda ticket: ticket.action != 0, 6, "auto"
BY_WEIGHT = [0.0, 0.0], [1.0, 1.0], lambda ticket: not (ticket.weights > 1.0).any(), 8, 1
BREAKS = [
    (compare_with_the_leader_at_arrival, CERTIFICATE, "bandit", "at the end"),
    (compare_with_the_leader_at_arrival, CERTIFICATE, "full", "at the end"),
    (compare_with_the_leader_at_arrival, CERTIFICATE, "bandit, drawn", "at the end"),
    (measure_by_the_draw_of_play, test_good_rounds_do_not_shield_bad_ones),
    (forget_rounds_without_a_loss, CERTIFICATE, "full", "bad ones forgotten"),
    (forget_rounds_without_a_loss, CERTIFICATE, "full", "bad ones open"),
    (forget_rounds_without_a_loss, CERTIFICATE, "bandit", "bad ones forgotten"),
    (forget_rounds_without_a_loss, CERTIFICATE, "bandit", "bad ones open"),
    (count_truncation_at_arrival, COUNTED, *RARELY),
    (compare_at_the_present_scale, CERTIFICATE, "full", "at the end"),
    (compare_at_the_present_scale, CERTIFICATE, "full, four policies", "at the end"),
    (measure_tsallis_at_arrival, CERTIFICATE, "Tsallis-INF", "at the end"),
    (measure_tsallis_at_arrival, CERTIFICATE, "Tsallis-INF, hints", "at the end"),
    (forget_the_price_of_exploration, CERTIFICATE, "bandit, explores", "settled"),
    (forget_the_price_of_exploration, CERTIFICATE, "Tsallis-INF, explores", "settled"),
    (show_weights_at_once, COUNTED, *BY_WEIGHT),
]


@pytest.mark.parametrize(
    ("spoil", "test", "given"),
    [
        pytest.param(
            spoil,
            test,
            given,
            id=f"{spoil.__name__}-{given[0] if test is CERTIFICATE else number}-{number}",
            marks=() if number in (0, 3, 8) else further,
        )
        for number, (spoil, test, *given) in enumerate(BREAKS)
    ],
)
def test_what_is_measured_at_the_wrong_time_shows(monkeypatch, spoil, test, given):
    spoil(monkeypatch)
    fails(test, *given)


@pytest.mark.parametrize("what", ["law known", pytest.param("drawn", marks=further)])
def test_hints_that_are_counted_late_show(monkeypatch, what):
    reserve_nothing(monkeypatch)
    fails(test_hints_stay_within_their_budget_however_many_rounds_are_open, what)
