"""Learners that go on with more actions, and that learn decisions of others."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.off_policy import Watch

MAKERS = {
    "rows": lambda K: hn.bandit(K, seed=1, exploration=0.01),
    "arms": lambda K: hn.bandit(K, n_contexts=1, seed=1, exploration=0.01),
    "table": lambda K: hn.bandit(K, n_contexts=3, seed=1),
    "table, anytime": lambda K: hn.bandit(K, n_contexts=3, seed=1, epsilon="anytime"),
    "table, adaptive": lambda K: hn.bandit(K, n_contexts=3, seed=1, epsilon="adaptive"),
    "table, fixed": lambda K: hn.bandit(K, n_contexts=3, seed=1, epsilon=0.1),
    "of another range": lambda K: hn.bandit(K, n_contexts=3, seed=1, loss_range=(0, 4)),
    "no predictor": lambda K: hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(3, K), seed=1),
    "plain": lambda K: hn.TsallisINF(hn.oracles.AllPolicies(3, K), seed=1),
}
EACH = pytest.mark.parametrize("name", MAKERS)


def context(name, rng):
    if name == "rows":
        return rng.normal(size=4)
    return None if name == "arms" else int(rng.integers(3))


def play(learner, name, rounds, seed, available=None):
    """Actions and propensities; half of the losses come three rounds late."""
    rng, found, waiting = np.random.default_rng(seed), [], []
    for t in range(rounds):
        some = available if t % 3 == 1 else None
        decision = learner.decide(context(name, rng), some)
        found.append((decision.action, decision.propensity))
        waiting.append((decision, float(rng.random() < 0.2 + 0.5 * (decision.action == 0))))
        if t % 2 and len(waiting) > 3:
            decision, loss = waiting.pop(0)
            learner.update(loss, decision=decision.id)
    for decision, loss in waiting:
        learner.update(loss, decision=decision.id)
    return found


def content(learner):
    return b"".join(bytes(part) for part in packed(learner, Encoder()))


@EACH
def test_extended_before_the_first_round_it_is_one_made_so(name):
    one, other = MAKERS[name](5), MAKERS[name](3).extended(5)
    assert repr(play(one, name, 200, 5)) == repr(play(other, name, 200, 5))
    assert repr(one) == repr(other)
    assert str(one.certificate()) == str(other.certificate())


@EACH
def test_what_was_learned_stays_and_the_new_action_is_found(name):
    learner = MAKERS[name](3)
    play(learner, name, 150, 6, available=[0, 2])
    rng = np.random.default_rng(0)
    opened = [learner.decide(context(name, rng), [0, 1] if t % 2 else None) for t in range(6)]
    before = content(learner)
    longer = learner.extended(4)
    assert content(learner) == before
    assert longer.rounds == 150
    assert longer.open_decisions == learner.open_decisions
    for decision in opened[::2]:
        longer.update(0.5, decision=decision.id)
    longer.forget(opened[1].id)
    twin = reread(longer)
    played = play(longer, name, 400, 7)
    assert repr(play(twin, name, 400, 7)) == repr(played)
    counts = np.bincount([action for action, _ in played], minlength=4)
    assert counts[3] > 20  # it is as good as two others
    assert counts[0] < 150  # which is still known to be the worst
    for decision in opened[3::2]:
        longer.update(1.0, decision=decision.id)
    assert "actions were added" in str(longer.certificate())


def test_what_a_fit_knows_of_old_actions_does_not_change():
    rng = np.random.default_rng(3)
    blend = hn.predictors.Blend()
    blend.prepare(3)
    for t in range(100):
        x = rng.normal(size=4)
        elements = np.arange(3) if t < 20 else int(rng.integers(3))
        blend.learn(x, elements, np.array([0.1, 0.5, 0.9]) if t < 20 else float(rng.random()))
    fresh = hn.predictors.Blend()
    fresh.prepare(5)
    longer = blend.extended(5)
    for _ in range(10):
        x = rng.normal(size=4)
        assert np.array_equal(longer.estimate(x)[:3], blend.estimate(x))
        assert np.array_equal(longer.widths(x)[:3], blend.widths(x))
        assert np.array_equal(longer.estimate(x)[3:], fresh.estimate(x)[3:])
    full = hn.predictors.Blend()
    full.prepare(2)
    full.learn(rng.normal(size=4), np.arange(2), np.array([0.1, 0.9]))  # one inverse for all
    longer = full.extended(3)
    x = rng.normal(size=4)
    assert np.array_equal(longer.estimate(x)[:2], full.estimate(x))


def test_a_fit_that_has_no_room_is_refused():
    blend = hn.predictors.Blend(memory=100_000)
    blend.prepare(3)
    blend.learn(np.ones(4), 0, 0.5)
    with pytest.raises(hn.ParameterError, match="memory=100000"):
        blend.extended(200)


@pytest.mark.parametrize(
    "learner",
    [
        hn.baselines.LinUCB(3),
        hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies([[0, 1]], 2), seed=0),
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_others_say_that_they_cannot(learner):
    with pytest.raises(hn.ParameterError, match=r"cannot take|n_actions"):
        learner.extended(4)


@EACH
def test_fewer_actions_are_refused(name):
    with pytest.raises(hn.ParameterError, match="n_actions"):
        MAKERS[name](3).extended(3)


# Decisions of others ------------------------------------------------------------------------------


@EACH
def test_logged_decisions_are_learned(name):
    """From a log of random actions alone it knows what to avoid."""
    learner, rng = MAKERS[name](4), np.random.default_rng(2)
    top = 4.0 if name == "of another range" else 1.0
    for _ in range(600):
        x, action = context(name, rng), int(rng.integers(4))
        learner.learn(x, action, top * float(rng.random() < (0.1 if action == 2 else 0.8)), 0.25)
    assert learner.rounds == 0
    drawn = [learner.decide(context(name, rng)).action for _ in range(100)]
    assert np.mean(np.array(drawn) == 2) > 0.8
    said = learner.certificate()
    assert np.isnan(float(said))
    assert any("600 logged decisions" in note for note in said.notes)
    assert learner.regret_bound() is None
    twin = reread(learner)
    assert content(twin) == content(learner)


@EACH
def test_refused_logged_decisions_change_nothing(name):
    learner, rng = MAKERS[name](3), np.random.default_rng(2)
    play(learner, name, 30, 1)
    before, x = content(learner), context(name, rng)
    for bad in (
        (x, 3, 0.5, 0.5), (x, -1, 0.5, 0.5), (x, 0, 9.0, 0.5), (x, 0, np.nan, 0.5),
        (x, 0, 0.5, 0.0), (x, 0, 0.5, 1.5), ("somewhere", 0, 0.5, 0.5), (x, 0.5, 0.5, 0.5),
    ):  # fmt: skip
        with pytest.raises(hn.HannanError):
            learner.learn(*bad)
        assert content(learner) == before


def test_weights_are_capped_as_those_of_algorithm_3_are():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 4), seed=0)
    learner.learn(0, 1, 1.0, 1e-9)
    assert learner.leader.total.totals[0, 1] == pytest.approx(2.0)  # L = 2 in the first round
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 4), seed=0, max_resamples=1000)
    learner.learn(0, 1, 1.0, 0.125)
    assert learner.leader.total.totals[0, 1] == pytest.approx(8.0)


# Watch ----------------------------------------------------------------------------------------


def test_a_watch_goes_on_with_more_policies():
    """A new policy did what was played: as one that was there and not available."""
    rng = np.random.default_rng(0)
    watch, whole = Watch({"0": 0, "1": 1}, 2), Watch({"0": 0, "2": 2, "1": 1}, 3)
    for t in range(300):
        if t == 150:
            watch = watch.extended({"0": 0, "2": 2, "1": 1}, 3)
        action, some = int(rng.integers(2 if t < 150 else 3)), [0, 1] if t < 150 else None
        q = 0.5 if t < 150 else 1 / 3
        watch.add_decision(t, None, action, propensity=q)
        whole.add_decision(t, None, action, propensity=q, available=some)
        if t % 4:
            loss = float(rng.random())
            watch.add_loss(t, loss)
            whole.add_loss(t, loss)
    assert watch.intervals() == whole.intervals()
    assert str(watch) == str(whole)
    assert str(reread(watch)) == str(watch)
    with pytest.raises(hn.ParameterError, match="all policies"):
        watch.extended({"0": 0}, 3)
