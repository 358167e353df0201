"""A learner saved in the middle of a round goes on as if nothing had happened."""

import numpy as np
import pytest

import hannan as hn

ROWS = np.random.default_rng(1).integers(0, 3, size=(12, 4))
FINITE = hn.oracles.FinitePolicies(ROWS, n_actions=3)
EVERY = hn.oracles.AllPolicies(4, 3)
SLATES = hn.oracles.FinitePolicies(
    [[(0, 1), (1, 2)] * 2, [(1, 2), (0, 1)] * 2, [(0, 2), (1, 2)] * 2], n_actions=3
)
MEAN, LAST = hn.predictors.Mean(), hn.predictors.Last()
TUNED = hn.ContextFTPL(FINITE, seed=0)
BANDIT = hn.ContextSemiBanditFTPL
SEQUENCE = [t % 4 for t in range(200)]
PROMPT = {
    "full": TUNED,
    "full, scores": hn.ContextFTPL(EVERY, seed=0),
    "full, fixed": hn.ContextFTPL(FINITE, epsilon=0.3, seed=0),
    "full, anytime": hn.ContextFTPL(FINITE, epsilon="anytime", seed=0),
    "full, once": hn.ContextFTPL(FINITE, epsilon=0.3, noise="once", seed=0),
    "full, predictor": hn.ContextFTPL(FINITE, predictor=LAST, seed=0),
    "PlayoutFTPL": hn.PlayoutFTPL(FINITE, SEQUENCE, seed=0),
    "Discounted": hn.Discounted(TUNED, 0.9),
    "StronglyAdaptive": hn.StronglyAdaptive(TUNED, shortest=2, seed=0),
    "Restarting": hn.Restarting(TUNED),
}
LATE = {
    "bandit": BANDIT(FINITE, seed=0),
    "bandit, scores": BANDIT(EVERY, seed=0),
    "bandit, anytime": BANDIT(FINITE, epsilon="anytime", seed=0),
    "bandit, shared": BANDIT(EVERY, epsilon=0.3, resampling="shared", seed=0),
    "bandit, earned": BANDIT(FINITE, predictor=MEAN, seed=0),
    "bandit, earned, scores": BANDIT(EVERY, predictor=MEAN, seed=0),
    "bandit, baseline": BANDIT(FINITE, predictor=MEAN, trust="baseline", seed=0),
    "PlayoutBandit": hn.PlayoutBandit(FINITE, hn.Pool(SEQUENCE), horizon=400, seed=0),
    "Restarting, bandit": hn.Restarting(BANDIT(FINITE, seed=0)),
    "TsallisINF": hn.TsallisINF(EVERY, seed=0),
    "TsallisINF, earned": hn.TsallisINF(EVERY, predictor=MEAN, seed=0),
    "hn.bandit": hn.bandit(3, policies=FINITE, seed=0),
    "AdaptiveDiscount": hn.AdaptiveDiscount(FINITE, seed=0),
    "AdaptiveDiscount, scores": hn.AdaptiveDiscount(EVERY, discounts=(1.0, 0.3), seed=0),
    "full, late": hn.ContextFTPL(FINITE, epsilon="anytime", seed=0),
}
SETS = {"slates": BANDIT(SLATES, seed=0)}
LEARNERS = PROMPT | LATE | SETS


def loaded(learner, tmp_path):
    path = tmp_path / "learner.hannan"
    learner.save(path)
    return hn.load(path)


def shown(learner, action, losses):
    return losses if learner.feedback is hn.Feedback.FULL else losses[action]


def rounds(T, seed=0):
    rng = np.random.default_rng(seed)
    return [(SEQUENCE[t], rng.integers(0, 5, size=3) / 4.0) for t in range(T)]


def assert_equal_games(one, other, some):
    for context, losses in some:
        action = one.act(context)
        assert np.array_equal(action, other.act(context))
        for each in (one, other):
            each.update(shown(each, action, losses))
    assert one.certificate() == other.certificate()
    assert one.oracle_calls == other.oracle_calls


def some_of(t):
    """What is available in round t."""
    return [None, [0, 2], [1, 2], [0, 1]][t % 4]


# Sets have constraints of their own.
@pytest.mark.parametrize(
    ("name", "restricted"),
    [(name, False) for name in LEARNERS] + [(name, True) for name in PROMPT | LATE],
)
def test_an_open_round_is_answered_after_loading(name, restricted, tmp_path):
    learner, twin = LEARNERS[name].clone(), LEARNERS[name].clone()
    for t, (context, losses) in enumerate(rounds(12)):
        some = some_of(t) if restricted else None
        action = learner.act(context, some)
        assert np.array_equal(action, twin.act(context, some))
        learner = loaded(learner, tmp_path)
        for each in (learner, twin):
            each.update(shown(each, action, losses))
    assert learner.rounds == 12
    assert_equal_games(learner, twin, rounds(40)[12:])


@pytest.mark.parametrize("name", LEARNERS)
def test_a_round_dropped_before_saving_stays_dropped(name, tmp_path):
    learner, twin = LEARNERS[name].clone(), LEARNERS[name].clone()
    assert_equal_games(learner, twin, rounds(12))
    context, losses = rounds(13)[12]
    for each in (learner, twin):
        each.act(context)
        each.act(context)
    learner = loaded(learner, tmp_path)
    action = learner.act(context)
    assert np.array_equal(action, twin.act(context))
    for each in (learner, twin):
        each.update(shown(each, action, losses))
    assert_equal_games(learner, twin, rounds(40)[13:])


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("name", LATE)
def test_an_open_round_and_open_decisions_are_answered_after_loading(name, restricted, tmp_path):
    learner, twin = LATE[name].clone(), LATE[name].clone()
    assert_equal_games(learner, twin, rounds(12))
    values = rounds(20, seed=1)
    some = [some_of(t + 1) if restricted else None for t in range(4)]
    decisions = []
    for each in (learner, twin):
        first = each.decide(0, some[0])
        action = each.act(1, some[1])
        decisions.append([first, *each.decide_many([2, 3], some[2:])])
    for one, other in zip(*decisions, strict=True):
        assert (one.id, one.action, one.propensity) == (other.id, other.action, other.propensity)
        np.testing.assert_array_equal(one.weights, other.weights)
    learner = loaded(learner, tmp_path)
    assert learner.open_decisions == twin.open_decisions
    # The last one is answered first, so that the open round's weights are drawn before that.
    for i in (2, None, 0, 1):
        for each, made in zip((learner, twin), decisions, strict=True):
            played = action if i is None else made[i].action
            losses = values[0 if i is None else i + 1][1]
            each.update(shown(each, played, losses), decision=None if i is None else made[i])
        learner = loaded(learner, tmp_path)
    assert learner.open_decisions == []
    assert_equal_games(learner, twin, rounds(40)[16:])
