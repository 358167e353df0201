"""Ways to spoil geometric resampling, hints and tickets."""

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.learners.advice import Advice
from hannan.learners.tickets import TicketedLeader


def reuse_the_noise_that_chose(monkeypatch):
    """Start resampling with the draw the action came from, so that the first one is a success."""
    _change(monkeypatch, first=lambda first: first - 1)


def ignore_the_cap(monkeypatch):
    """Resample until success, however long it takes."""
    _change(monkeypatch, limit=lambda limit: 10**6)


def weigh_what_costs_nothing(monkeypatch):
    """Draw for elements with loss zero too."""
    _change(monkeypatch, needed=lambda needed: None)


def ignore_the_budget(monkeypatch):
    """Follow hints whatever they have cost."""
    hint = Advice.hint

    def always(advice, context, G, n, weight):
        return hint(advice, context, 1e12, n, weight)

    monkeypatch.setattr(Advice, "hint", always)


def draw_weights_at_arrival(monkeypatch):
    """Forget a ticket's weights, so that they are drawn from the state its loss comes in."""
    decide = TicketedLeader.decide

    def forgetful(learner, *given):
        decision = decide(learner, *given)
        learner._tickets[decision.id].weights = None
        return decision

    monkeypatch.setattr(TicketedLeader, "decide", forgetful)


def _change(monkeypatch, **changes):
    drawn = algorithm_3.drawn_weights
    names = "played", "context", "action", "noise", "first", "scale", "limit", "successes"

    def other(*given, **more):
        call = {**dict(zip(names, given, strict=True)), **more}
        return drawn(**{name: changes.get(name, lambda x: x)(x) for name, x in call.items()})

    monkeypatch.setattr(algorithm_3, "drawn_weights", other)
