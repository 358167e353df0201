"""Ways to spoil geometric resampling, hints and decisions."""

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.learners import ContextSemiBanditFTPL
from hannan.learners.hint import Hint


def reuse_the_noise_that_chose(monkeypatch):
    """Start resampling with the draw the action came from, so that the first one is a success."""
    _change(monkeypatch, draw=lambda draw: draw._replace(number=draw.number - 1))


def ignore_the_cap(monkeypatch):
    """Resample until success, however long it takes."""
    _change(monkeypatch, limit=lambda limit: 10**6)


def weigh_what_costs_nothing(monkeypatch):
    """Draw for elements with loss zero too."""
    _change(monkeypatch, needed=lambda needed: None)


def ignore_the_budget(monkeypatch):
    """Follow hints whatever they have cost."""
    monkeypatch.setattr(Hint, "_affordable", lambda hint, G, n: True)


def draw_weights_at_arrival(monkeypatch):
    """Forget a decision's weights, so that they are drawn from the state its loss comes in."""
    decide = ContextSemiBanditFTPL._decide

    def forgetful(learner, *given):
        decision = decide(learner, *given)
        learner._ledger.waiting[decision.id].weights = None
        return decision

    monkeypatch.setattr(ContextSemiBanditFTPL, "_decide", forgetful)


def _change(monkeypatch, **changes):
    check = algorithm_3.check_resampling
    names = "total", "context", "action", "draw", "limit", "needed"

    def spoiled(owner, given):
        resampling = check(owner, given)
        drawn = resampling.weights

        def other(*given):
            call = dict(zip(names, given, strict=True))
            return drawn(**{name: changes.get(name, lambda x: x)(x) for name, x in call.items()})

        resampling.weights = other
        return resampling

    monkeypatch.setattr(algorithm_3, "check_resampling", spoiled)
