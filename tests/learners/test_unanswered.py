"""Rounds that are never answered: which ones may depend on what was played."""

import copy

import numpy as np
import pytest

import hannan as hn

TWO = hn.oracles.AllPolicies(1, 2)
MEAN = hn.predictors.Mean()
FULL = {
    "ContextFTPL": hn.ContextFTPL(TWO, seed=0),
    "ContextFTPL, anytime": hn.ContextFTPL(TWO, epsilon="anytime", seed=0),
    "AdaptiveDiscount": hn.AdaptiveDiscount(TWO, seed=0),
    "StronglyAdaptive": hn.StronglyAdaptive(hn.ContextFTPL(TWO, seed=0), seed=0),
    "Discounted": hn.Discounted(hn.ContextFTPL(TWO, seed=0), 1.0),
    "Restarting": hn.Restarting(hn.ContextFTPL(TWO, seed=0), max_restarts=3),
    "PlayoutFTPL": hn.PlayoutFTPL(TWO, [0] * 4000, seed=0),
    "Hedge": hn.baselines.Hedge([[0], [1]], seed=0),
    "FixedShare": hn.baselines.FixedShare([[0], [1]], seed=0),
    "AdaNormalHedge": hn.baselines.AdaNormalHedge([[0], [1]], seed=0),
    "OptimisticHedge": hn.baselines.OptimisticHedge([[0], [1]], seed=0),
    "KalaiVempala": hn.baselines.KalaiVempala(TWO, seed=0),
}
BANDITS = {
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(TWO, seed=0),
    "ContextSemiBanditFTPL, anytime": hn.ContextSemiBanditFTPL(TWO, epsilon="anytime", seed=0),
    "ContextSemiBanditFTPL, hinted": hn.ContextSemiBanditFTPL(TWO, predictor=MEAN, seed=0),
    "TsallisINF": hn.TsallisINF(TWO, seed=0),
    "TsallisINF, hinted": hn.TsallisINF(TWO, predictor=MEAN, seed=0),
    "Restarting": hn.Restarting(hn.TsallisINF(TWO, seed=0), max_restarts=3),
    "PlayoutBandit": hn.PlayoutBandit(TWO, [0] * 4000, seed=0),
    "Exp4": hn.baselines.Exp4([[0], [1]], seed=0),
}
EVERY = FULL | {f"{name}, bandit": learner for name, learner in BANDITS.items()}
LATE = {name: learner for name, learner in EVERY.items() if learner.late is None}
STATEMENTS = (
    "measured",
    "a_priori",
    "high_probability",
    "stability_estimate",
    "variance_estimate",
    "comparator_estimate",
)


def answer(learner, losses, action, **decision):
    full = learner.feedback is hn.Feedback.FULL
    learner.update(losses if full else float(losses[action]), **decision)


def regret_where_only_bad_rounds_are_answered(learner, how, T=600):
    """Both actions cost the same in the long run, and rounds that cost nothing get no answer."""
    answered = []
    for t in range(T):
        losses = np.eye(2)[t // 2 % 2]
        decision = None if how == "dropped" else learner.decide(0)
        action = learner.act(0) if how == "dropped" else decision.action
        if losses[action] == 1.0:
            answer(learner, losses, action, decision=decision)
            answered.append(losses)
        elif how == "forgotten":
            learner.forget(decision)
    return len(answered) - np.sum(answered, axis=0).min()


# Statements about these count what rounds without a loss may have cost. With a predictor its
# estimates may have been subtracted from the losses of others, so nothing is said.
CHARGED = ("ContextFTPL", "ContextSemiBanditFTPL", "Discounted", "Restarting", "TsallisINF")
CHARGED = [name for name in EVERY if name.split(",")[0] in CHARGED]
UNBOUNDED = [name for name in CHARGED if "TsallisINF" in repr(EVERY[name])]  # in advance
WAYS = [(name, "dropped") for name in EVERY]
WAYS += [(name, how) for name in LATE for how in ("forgotten", "open")]


@pytest.mark.parametrize(("name", "how"), WAYS)
def test_only_bad_rounds_are_answered(name, how):
    learner = EVERY[name].clone()
    regret = regret_where_only_bad_rounds_are_answered(learner, how)
    assert regret > 100
    said = learner.certificate() if hasattr(learner, "certificate") else None
    made = [getattr(said, each, None) for each in STATEMENTS]
    if "AdaptiveDiscount" in name and how != "dropped":  # which adds two widths for each
        assert said.measured > regret
        return
    if name not in CHARGED or ("hinted" in name and how == "dropped"):
        assert learner.regret_bound() is None
        assert made == [None] * len(STATEMENTS)
        return
    assert min(each for each in made if each is not None) > regret
    if name in UNBOUNDED:
        assert learner.regret_bound() is None
    else:
        assert "anytime, bandit" in name or learner.regret_bound() > regret
    assert any("have no feedback: each counts" in note for note in said.notes)


def test_open_rounds_may_be_those_that_cost_nothing():
    learner = hn.ContextSemiBanditFTPL(TWO, epsilon="anytime", seed=0)
    answered = []
    for t in range(400):
        losses = np.eye(2)[t // 2 % 2]
        decision = learner.decide(0)
        if losses[decision.action] == 1.0:
            learner.update(1.0, decision)
            answered.append(losses)
    regret = len(answered) - np.sum(answered, axis=0).min()
    assert 50 < regret <= learner.regret_bound()
    assert learner.certificate().comparator_estimate > len(learner.open_decisions)


@pytest.mark.parametrize("name", EVERY)
def test_answered_rounds_keep_their_statements(name):
    learner = EVERY[name].clone()
    for t in range(60):
        losses = np.eye(2)[t // 2 % 2]
        answer(learner, losses, learner.act(0))
    assert learner.regret_bound() is not None
    learner.act(0)  # a round that is open has not been left out yet
    assert (learner.regret_bound() is None) == (name == "ContextSemiBanditFTPL, hinted, bandit")
    if hasattr(learner, "certificate"):
        said = learner.certificate()
        assert not any("never answered" in note for note in said.notes)


# What was reserved for a hint ------------------------------------------------------------------


class Level:
    """Recommends action 0, rightly."""

    def prepare(self, n_actions):
        self.n_actions = n_actions

    def predict(self, context):
        return np.arange(self.n_actions) / self.n_actions

    def learn(self, context, action, loss):
        pass


HINTED = {
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(TWO, predictor=Level(), seed=0),
    "TsallisINF": hn.TsallisINF(TWO, predictor=Level(), seed=0),
    "Restarting": hn.Restarting(hn.TsallisINF(TWO, predictor=Level(), seed=0)),
}


@pytest.mark.parametrize("name", HINTED)
@pytest.mark.parametrize("how", ["dropped", "forgotten"])
def test_rounds_without_an_answer_give_back_what_was_reserved_for_their_hints(name, how):
    learner = HINTED[name].clone()
    for t in range(400):
        if t % 2:
            answer(learner, np.array([0.0, 1.0]), learner.act(0))
        elif how == "forgotten":
            learner.forget(learner.decide(0))
        else:
            learner.act(0)
    hint = getattr(learner, "current_learner", learner).hint
    assert hint.refused <= 2  # a round is dropped by the next one, which is decided before
    assert hint.reserve == pytest.approx(0.0, abs=1e-9)


def test_missing_feedback_does_not_stop_good_hints():
    rng = np.random.default_rng(0)
    losses = np.ones((1500, 5))
    losses[:, 0] = 0.0
    world = hn.environments.FromArrays(rng.integers(20, size=1500), losses)
    world = hn.environments.Corrupted(world, rate=0.5, kind="missing")
    oracle = hn.oracles.AllPolicies(20, 5)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=hn.predictors.Mean(), seed=0)
    hn.play(learner, world, seed=0)
    assert learner.hint.refused < 30


# Several decisions at once ---------------------------------------------------------------------


class FailsOnSeven(hn.predictors.Mean):
    def advise(self, context, available=None):
        if context == 7:
            raise RuntimeError
        return super().advise(context, available)


NINE = hn.oracles.AllPolicies(9, 3)
AT_ONCE = {
    "TsallisINF": hn.TsallisINF(NINE, predictor=FailsOnSeven(), seed=0),
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(NINE, predictor=FailsOnSeven(), seed=0),
    "anytime": hn.ContextSemiBanditFTPL(NINE, epsilon="anytime", predictor=FailsOnSeven(), seed=0),
    "Restarting": hn.Restarting(hn.TsallisINF(NINE, predictor=FailsOnSeven(), seed=0)),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_decisions_before_one_that_fails_are_forgotten(name):
    learner = AT_ONCE[name].clone()
    for t in range(50):
        learner.update(float(learner.act(t % 6) != 0))
    first = learner.decide(3)
    twin = copy.deepcopy(learner)
    for _ in range(20):
        with pytest.raises(RuntimeError):
            learner.decide_many([0, 1, 2, 7])
        for decision in twin.decide_many([0, 1, 2]):
            twin.forget(decision)
    assert learner.open_decisions == [first.id]
    for each in (learner, twin):
        each.update(0.5, first.id)
    for t in range(30):
        one, other = learner.decide_many([t % 6, 8]), twin.decide_many([t % 6, 8])
        assert [d.action for d in one] == [d.action for d in other]
        assert [d.propensity for d in one] == [d.propensity for d in other]
        for mine, its in zip(one, other, strict=True):
            learner.update(0.3, mine)
            twin.update(0.3, its)
    assert learner.certificate() == twin.certificate()
