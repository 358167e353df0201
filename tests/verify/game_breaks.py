"""Ways to spoil what is drawn, measured, weighed and stated in a game."""

import dataclasses

from hannan.learners import Anytime, SelfTuned, certificates
from hannan.learners import context_semi_bandit_ftpl as algorithm_3
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.step_size import Fixed
from hannan.perturbation import FuturePlayout


def draw_once(monkeypatch):
    """Keep the number of the draw where it is: the same noise in every round."""
    monkeypatch.setattr(PerturbedLeader, "advance", lambda leader, used: None)


def measure(monkeypatch, share):
    """Count only a share of what instability cost."""
    tune = SelfTuned.after
    monkeypatch.setattr(
        SelfTuned, "after", lambda step, leader, cost: tune(step, leader, share * cost)
    )


def foresee_with_other_noise(monkeypatch, objective):
    """Look for the foreseeing leader under another draw than the one that was played."""
    settle = objective.settle

    def other(total, context, losses, draw):
        return settle(total, context, losses, draw._replace(number=draw.number + 1))

    monkeypatch.setattr(objective, "settle", other)


def never_less_noise(monkeypatch, least):
    """Give self-tuned noise a smallest size of its own."""
    tune = SelfTuned.after

    def floored(step, leader, cost):
        tune(step, leader, cost)
        if step.scale > 0.0:
            step.scale = max(step.scale, least)

    monkeypatch.setattr(SelfTuned, "after", floored)


def widen(monkeypatch, share):
    """Let the anytime schedule make up for a share of a round only."""
    before, played = Anytime.before, Anytime.played
    monkeypatch.setattr(
        Anytime,
        "before",
        lambda step, leader, variance: before(step, leader, share * variance),
    )
    monkeypatch.setattr(
        Anytime,
        "played",
        lambda step, leader, scale, variance: played(step, leader, scale, share * variance),
    )


def leave_out_chance(monkeypatch):
    """State what regret is on average as if it were so in every run."""
    certify = certificates.full_information

    def bold(*given):
        said = certify(*given)
        return dataclasses.replace(said, high_probability=said.measured)

    monkeypatch.setattr(certificates, "full_information", bold)


def weigh_double(monkeypatch):
    """Weights with twice their mean."""
    weigh = algorithm_3.weigh

    def heavy(leader, resampling, opened, needed=None):
        return 2.0 * weigh(leader, resampling, opened, needed)

    monkeypatch.setattr(algorithm_3, "weigh", heavy)
    # Else a loss is weighed where instability is measured.
    monkeypatch.setattr(algorithm_3, "weigh_and_measure", lambda *given: None)


def perturb_the_past(monkeypatch):
    """Put noise on a context once more than it is to come."""
    to_come = FuturePlayout._to_come
    monkeypatch.setattr(
        FuturePlayout, "_to_come", lambda noise, time, rng: to_come(noise, time, rng) + 1
    )


def toss_a_bent_coin(monkeypatch):
    """Explore some actions more often than announced."""
    uniform = FuturePlayout.uniform
    monkeypatch.setattr(FuturePlayout, "uniform", lambda noise, *when: uniform(noise, *when) ** 1.5)


def call_twice(monkeypatch, learner):
    """Ask the oracle once more for every action."""
    act = learner._act

    def again(self, opened):
        act(self, opened)
        opened.calls += 1

    monkeypatch.setattr(learner, "_act", again)


def fix_epsilon(monkeypatch, value):
    """Use one ε whatever was asked for."""
    init = Fixed.__init__
    monkeypatch.setattr(Fixed, "__init__", lambda step, epsilon: init(step, value))
