"""Ways to get late losses wrong."""

import math

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.core.oracle import Draw
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, TsallisINF
from hannan.learners.certificates import Evidence
from hannan.learners.floor import Floor
from hannan.learners.instability import compared
from hannan.learners.perturbed_leader import PerturbedLeader


def compare_with_the_leader_at_arrival(patch):
    """Measure from the totals in which the loss comes, not from those of the decision."""
    moved = ContextFTPL._moved

    def late(learner, opened, leader, *given):
        if opened.shadow is not None:
            z = leader.shadow(opened.shadow, opened.draw.scale)
            opened.shadow_choice = learner._past(opened).action(opened.context, z)
        return moved(learner, opened, leader, *given)

    patch.setattr(ContextFTPL, "_moved", late)
    measure = algorithm_3.measure_late

    def late_too(leader, opened, top, *given):
        now, scale = compared(leader, opened), opened.draw.scale
        if opened.exact:
            opened.law = now.law(opened.context, Draw(leader.noise, 0, scale))
        elif opened.shadow is not None:
            opened.shadow_choice = now.action(opened.context, leader.shadow(opened.shadow, scale))
        return measure(leader, opened, top, *given)

    patch.setattr(algorithm_3, "measure_late", late_too)


def measure_by_the_draw_of_play(patch):
    """No shadow: the draw that chose the action measures what instability cost, too."""

    def cast(leader, opened, past):
        opened.shadow, opened.shadow_choice = opened.draw.number, opened.chosen
        return 0

    def same(leader, number, scale):
        return Draw(leader.noise if scale else None, number, scale)

    patch.setattr(PerturbedLeader, "cast_shadow", cast)
    patch.setattr(PerturbedLeader, "shadow", same)


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
    odds = ContextSemiBanditFTPL._odds

    def shown(learner, opened):
        found = odds(learner, opened)
        found.hidden = False
        return found

    patch.setattr(ContextSemiBanditFTPL, "_odds", shown)


def measure_tsallis_at_arrival(monkeypatch):
    """Compare the law of the totals at arrival with that after the loss."""
    update = TsallisINF._update

    def late(learner, opened, loss):
        x = opened.context
        top = max(learner._tops[x], opened.scale)
        opened.law = learner._distribution(learner._past.totals[x], 1.0 / top)
        update(learner, opened, loss)

    monkeypatch.setattr(TsallisINF, "_update", late)


def forget_the_price_of_exploration(monkeypatch):
    """Leave what exploration cost out of certificates."""
    monkeypatch.setattr(Floor, "charge", lambda floor, opened, loss: None)
