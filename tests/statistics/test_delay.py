"""Feedback that comes late: what it costs, and when the weights must be drawn."""

import math
from itertools import product

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import anytime
from hannan.environments import FromArrays, LeaderPunisher, PlantedPolicy
from hannan.learners.step_size import Anytime
from hannan.verify.trial import SIGMAS, Trial, sizes, totals_of
from tests.statistics.means import fails

pytestmark = [pytest.mark.stat, pytest.mark.slow]


def again(learner, action, L):
    """Count decisions until an action comes up again, L at most."""
    for J in range(1, L):
        decision = learner.decide()
        learner.forget(decision)
        if decision.action == action:
            return J
    return L


def test_weights_drawn_at_the_decision_stay_right_and_those_at_arrival_are_wrong():
    """Estimates have the mean (1-(1-q)^L)ℓ, q that of the state the tickets were drawn from.

    Many tickets from one state, answered while the state moves on; three means with 5.5 standard
    errors each, so a false alarm has probability below 1e-5.
    """
    n, L, K = 2500, 20, 3
    losses = np.array([0.3, 0.6, 1.0])
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, K), epsilon=0.3, max_resamples=L, resampling="shared", seed=0
    )
    for _ in range(5):
        learner.update(losses[learner.act()])
    q = learner.propensities().probabilities
    before = totals_of(learner)
    tickets = learner.decide_many([None] * n)
    for i, ticket in enumerate(tickets):
        learner.update(losses[ticket.action], decision=ticket)
        if i == 10:
            late = np.array([again(learner, other.action, L) for other in tickets], float)
    added = (totals_of(learner) - before) / n
    chosen = (np.array([ticket.action for ticket in tickets])[:, None] == np.arange(K)) * losses
    drawn = np.array([float(ticket.weights[0]) for ticket in tickets])
    right = (1.0 - (1.0 - q) ** L) * losses

    def off(means, weights):
        error = (chosen * weights[:, None]).std(axis=0) / math.sqrt(n)
        return float((np.abs(means - right) / error).max())

    assert off(added, drawn) <= SIGMAS
    assert off((chosen * late[:, None]).mean(axis=0), late) >= 2.0 * SIGMAS


class Late(hn.Environment):
    """An environment with given delays until its rounds are learned from."""

    def __init__(self, world, delays):
        self.world = world
        self.delays = delays
        self.n_actions = world.n_actions

    def rounds(self, horizon, rng):
        for this, delay in zip(self.world.rounds(horizon, rng), self.delays, strict=True):
            this.delay = delay
            yield this

    @property
    def total(self):
        """The number of rounds that are pending when others are played, in all."""
        T = len(self.delays)
        return sum(min(delay, T - 1 - t) for t, delay in enumerate(self.delays))


ROUNDS = 2000
DELAYS = {
    "none": [0] * ROUNDS,
    "5 rounds": [5] * ROUNDS,
    "40 rounds": [40] * ROUNDS,
    "0 to 160 at random": np.random.default_rng(0).integers(161, size=ROUNDS).tolist(),
}


@pytest.mark.parametrize("delay", DELAYS)
def test_the_price_of_delay(delay):
    """With ε = √(G/2W), W = κΣ(2mK + m²·pending), pseudo-regret is at most 2√(2GW) + Σ K/(eL).

    Environments that do not react to the actions; means over fixed seeds.
    """
    T, late = ROUNDS, DELAYS[delay]
    oracle = hn.oracles.FinitePolicies(list(product(range(2), repeat=2)), n_actions=2)
    # Two actions that are good in turns as long as the delay: whoever follows is late.
    waves = np.eye(2)[np.arange(T) // (3 * max(late) // 2 + 1) % 2]
    limit = None
    for world in (
        FromArrays([t % 2 for t in range(T)], waves),
        PlantedPolicy(oracle, good=0.2, bad=0.6),
        LeaderPunisher(oracle),
    ):
        delayed, options = Late(world, late), {"epsilon": "anytime", "resampling": "shared"}
        limit = limit or anytime(
            T, feedback="bandit", total_delay=delayed.total, **sizes(oracle, pairs=2000)
        )
        kind = hn.ContextSemiBanditFTPL
        trial = Trial("", oracle, delayed, T, None, kind, options, pseudo=True)
        assert trial.regret([0, 1]) <= limit.value


def test_losses_come_after_their_delay_in_any_order():
    oracle = hn.oracles.FinitePolicies([[0], [1]])
    seen = []

    class Watched(hn.ContextSemiBanditFTPL):
        def update(self, loss, decision=None):
            seen.append(None if decision is None else decision.id)
            super().update(loss, decision)

    learner = Watched(oracle, epsilon=1.0, seed=0)
    delays = [5, 0, 1, 0, 0, 0]
    pending = []
    world = Late(PlantedPolicy(oracle), delays)
    trace = hn.play(
        learner, world, 6, 0, progress=lambda t: pending.append(len(learner.open_decisions))
    )
    # Without a delay no ticket is needed; of the two, the later one is answered first.
    assert seen == [None, None, 1, None, None, 0]
    assert world.total == sum(pending[:-1]) == 1 + 1 + 2 + 1 + 1
    assert len(trace) == 6


# What breaks it ------------------------------------------------------------------------------


def test_weights_drawn_at_arrival_show(monkeypatch):
    choose = hn.ContextSemiBanditFTPL.choose

    def forgetful(learner, *given, **options):
        opened = choose(learner, *given, **options)
        opened.weights = None
        return opened

    monkeypatch.setattr(hn.ContextSemiBanditFTPL, "choose", forgetful)
    monkeypatch.setattr(hn.ContextSemiBanditFTPL, "_decided_since", lambda learner, opened: [])
    fails(test_weights_drawn_at_the_decision_stay_right_and_those_at_arrival_are_wrong)


def test_a_schedule_that_never_widens_shows(monkeypatch):
    before, played = Anytime.before, Anytime.played
    monkeypatch.setattr(Anytime, "before", lambda step, leader, variance: before(step, leader, 0.0))
    monkeypatch.setattr(
        Anytime, "played", lambda step, leader, scale, variance: played(step, leader, scale, 0.0)
    )
    fails(test_the_price_of_delay, "none")
