"""Ways to spoil what is drawn, measured, weighed and stated in a game."""

from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.perturbation import FuturePlayout


def draw_once(monkeypatch):
    """Keep the draw counter where it is: the same noise in every round."""
    stuck = property(lambda learner: 0, lambda learner, draw: None)
    monkeypatch.setattr(ContextFTPL, "_draw", stuck, raising=False)


def measure(monkeypatch, share):
    """Count only a share of what instability cost."""
    tune = PerturbedLeader._tune
    monkeypatch.setattr(PerturbedLeader, "_tune", lambda learner, cost: tune(learner, share * cost))


def foresee_with_other_noise(monkeypatch, objective):
    """Look for the foreseeing leader under another draw than the one that was played."""
    settle = objective.settle

    def other(total, context, losses, noise, draw, scale):
        return settle(total, context, losses, noise, draw + 1, scale)

    monkeypatch.setattr(objective, "settle", other)


def never_less_noise(monkeypatch, least):
    """Give self-tuned noise a smallest size of its own."""
    tune = PerturbedLeader._tune

    def floored(learner, cost):
        tune(learner, cost)
        if learner._scale > 0.0:
            learner._scale = max(learner._scale, least)

    monkeypatch.setattr(PerturbedLeader, "_tune", floored)


def widen(monkeypatch, share):
    """Let the anytime schedule make up for a share of a round only."""
    widen = PerturbedLeader._widen
    monkeypatch.setattr(
        PerturbedLeader, "_widen", lambda learner, variance: widen(learner, share * variance)
    )


def leave_out_chance(monkeypatch):
    """State what regret is on average as if it were so in every run."""
    monkeypatch.setattr(ContextFTPL, "_deviation", property(lambda learner: 0.0))


def weigh_double(monkeypatch):
    """Weights with twice their mean."""
    weigh = ContextSemiBanditFTPL._weigh

    def heavy(learner, ticket, needed=None):
        weigh(learner, ticket, needed)
        ticket.weights = 2.0 * ticket.weights

    monkeypatch.setattr(ContextSemiBanditFTPL, "_weigh", heavy)


def perturb_the_past(monkeypatch):
    """Put noise on a context once more than it is to come."""
    to_come = FuturePlayout._to_come
    monkeypatch.setattr(
        FuturePlayout, "_to_come", lambda noise, time, rng: to_come(noise, time, rng) + 1
    )


def toss_a_bent_coin(monkeypatch):
    """Explore some actions more often than announced."""
    coin = FuturePlayout.coin
    monkeypatch.setattr(FuturePlayout, "coin", lambda noise, time: coin(noise, time) ** 1.5)


def call_twice(monkeypatch, learner):
    """Ask the oracle once more for every action."""
    act = learner._act

    def again(self, context):
        self.oracle_calls += 1
        return act(self, context)

    monkeypatch.setattr(learner, "_act", again)


def fix_epsilon(monkeypatch, value):
    """Use one ε whatever was asked for."""
    monkeypatch.setattr(PerturbedLeader, "_fixed_epsilon", lambda learner: value)
