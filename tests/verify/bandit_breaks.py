"""Ways to spoil geometric resampling, hints and decisions."""

import hannan.learners.context_semi_bandit_ftpl as algorithm_3
from hannan.kernels.hints import S
from hannan.learners import ContextSemiBanditFTPL, TsallisINF
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
    hint = Hint._hint
    monkeypatch.setattr(Hint, "_hint", lambda self, opened, G, n: hint(self, opened, 1e9 * G, n))


def reserve_nothing(monkeypatch):
    """Count hints only when their losses have come."""
    monkeypatch.setattr(Hint, "_largest_step", lambda hint, share: 0.0)


def believe_what_hints_are_said_to_cost(monkeypatch):
    """Take the predictor's word in place of the loss."""
    charge = Hint.charge

    def believing(hint, opened, loss, weight):
        charge(hint, opened, float(opened.values[opened.action]), weight)

    monkeypatch.setattr(Hint, "charge", believing)


def forget_what_the_base_would_have_done(monkeypatch):
    """Charge a hint that was played with its whole loss, and no other one."""
    charge = Hint.charge

    def without_ratio(hint, opened, loss, weight):
        before = hint.S
        charge(hint, opened, loss, weight)
        hint._measured[S] = before + (loss if opened.action == opened.advice else 0.0)

    monkeypatch.setattr(Hint, "charge", without_ratio)


def cover_nothing(monkeypatch):
    """Take every estimate as a baseline, however unlikely its action is."""
    monkeypatch.setattr(Hint, "may_cover", lambda hint, scale, kappa: scale > 0.0)
    monkeypatch.setattr(
        Hint,
        "cover",
        lambda hint, opened, law, scale, kappa, n: hint._take(opened, opened.values),
    )


def scale_the_learning_rate(monkeypatch, factor):
    """Let Tsallis-INF learn faster or more slowly than it should."""
    rate = TsallisINF._rate
    monkeypatch.setattr(TsallisINF, "_rate", lambda learner, W: factor * rate(learner, W))


def draw_weights_at_arrival(monkeypatch):
    """Forget a decision's weights, so that they are drawn from the state its loss comes in."""
    decide = ContextSemiBanditFTPL._decide

    def forgetful(learner, *given):
        opened = decide(learner, *given)
        opened.weights = None
        return opened

    monkeypatch.setattr(ContextSemiBanditFTPL, "_decide", forgetful)
    monkeypatch.setattr(ContextSemiBanditFTPL, "_overtaken", lambda learner, opened: [])


def _change(monkeypatch, **changes):
    check = algorithm_3.check_resampling
    names = "total", "context", "action", "draw", "limit", "needed", "stop_key"

    def spoiled(owner, given):
        resampling = check(owner, given)
        drawn = resampling.weights

        def other(*given):
            call = dict(zip(names, given, strict=True))
            return drawn(**{name: changes.get(name, lambda x: x)(x) for name, x in call.items()})

        resampling.weights = other
        return resampling

    monkeypatch.setattr(algorithm_3, "check_resampling", spoiled)
    # Else a loss is weighed where instability is measured.
    monkeypatch.setattr(algorithm_3, "weigh_and_measure", lambda *given: None)
