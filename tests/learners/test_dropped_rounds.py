"""A second `act` before `update` opens a new round with randomness of its own."""

import numpy as np
import pytest

import hannan as hn

ORACLE = hn.oracles.AllPolicies(1, 3)
TABLE = hn.oracles.FinitePolicies([[0], [1], [2]])
CYCLE = [np.eye(3)[t % 3] for t in range(10)]
HORIZON = 400
EPSILONS = {
    "adaptive": {"epsilon": "adaptive"},
    "anytime": {"epsilon": "anytime"},
    "theorem": {"epsilon": "theorem", "horizon": HORIZON},
    "number": {"epsilon": 0.3},
}


def fakes(rng):
    return [(0, rng.laplace(scale=5.0, size=3))]


LEARNERS = {
    **{f"full, {n}": hn.ContextFTPL(ORACLE, seed=0, **o) for n, o in EPSILONS.items()},
    **{f"bandit, {n}": hn.ContextSemiBanditFTPL(ORACLE, seed=0, **o) for n, o in EPSILONS.items()},
    "full, predictor": hn.ContextFTPL(TABLE, predictor=hn.predictors.Mean(), epsilon=0.3, seed=0),
    "bandit, draws": hn.ContextSemiBanditFTPL(TABLE, epsilon=0.3, seed=0),
    "PlayoutFTPL": hn.PlayoutFTPL(ORACLE, horizon=HORIZON, seed=0),
    "PlayoutBandit": hn.PlayoutBandit(ORACLE, horizon=HORIZON, seed=0),
    "FTPL": hn.FTPL(ORACLE, fakes, seed=0),
    "AdaptiveDiscount": hn.AdaptiveDiscount(ORACLE, seed=0),
    "AdaptiveDiscount, listed": hn.AdaptiveDiscount(TABLE, discounts=(0.9, 0.5), seed=0),
    "Discounted": hn.Discounted(hn.ContextFTPL(ORACLE, seed=0), 0.9),
    "Restarting": hn.Restarting(hn.ContextFTPL(ORACLE, epsilon=0.3, seed=0)),
    "StronglyAdaptive": hn.StronglyAdaptive(hn.ContextFTPL(ORACLE, epsilon=0.3, seed=0), seed=0),
    "StronglyAdaptive, deterministic copies": hn.StronglyAdaptive(
        hn.baselines.FollowTheLeader(ORACLE), shortest=2, seed=0
    ),
    "KalaiVempala": hn.baselines.KalaiVempala(ORACLE, epsilon=0.3, seed=0),
    "Hedge": hn.baselines.Hedge(TABLE, seed=0),
    "Exp4": hn.baselines.Exp4(TABLE, seed=0),
}


def after_some_rounds(name):
    learner = LEARNERS[name].clone()
    for losses in CYCLE:
        action = learner.act(0)
        learner.update(losses if learner.feedback is hn.Feedback.FULL else float(losses[action]))
    return learner


@pytest.mark.parametrize("name", LEARNERS)
def test_every_round_takes_a_fresh_draw_whether_or_not_it_is_answered(name):
    learner = after_some_rounds(name)
    distribution = set(learner.would_play(0, 200))
    actions = [learner.act(0) for _ in range(40)]
    assert len(distribution) > 1
    assert len(set(actions[20:])) > 1
    assert learner.rounds == len(CYCLE)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_last_round_is_the_one_that_is_answered(name):
    learner = after_some_rounds(name)
    full = learner.feedback is hn.Feedback.FULL
    for _ in range(30):
        for _ in range(3):
            action = learner.act(0)
        learner.update([0.0, 1.0, 1.0] if full else float(action != 0))
    assert learner.rounds == len(CYCLE) + 30
    with pytest.raises(hn.OrderError):
        learner.update([0.0, 0.0, 0.0] if full else 0.0)
    if hasattr(learner, "best_policy"):
        assert learner.best_policy()(0) == 0


@pytest.mark.parametrize("name", ["full, anytime", "bandit, anytime"])
def test_a_round_that_replaces_another_is_counted_once_by_the_schedule(name):
    once, often = after_some_rounds(name), after_some_rounds(name)
    once.act(0)
    for _ in range(5):
        often.act(0)
    assert once.step.W == often.step.W
    assert once.step.scale == often.step.scale
    assert once.regret_bound() is not None
    # Others were dropped, perhaps because of their actions.
    bound = often.regret_bound()
    assert bound is None if "bandit" in name else bound > once.regret_bound()


@pytest.mark.parametrize("name", ["bandit, draws", "bandit, anytime"])
def test_decisions_beside_a_dropped_round_have_draws_of_their_own(name):
    learner = after_some_rounds(name)
    seen = []
    for _ in range(40):
        before = learner.leader.number
        learner.act(0)
        learner.decide(0)
        seen.append((before, learner.leader.number))
    assert all(last >= first + 2 for first, last in seen)
    assert len(learner.open_decisions) == 40


BY_KEY = [name for name in LEARNERS if name not in {"Restarting", "Hedge", "Exp4"}]


@pytest.mark.parametrize("name", BY_KEY)
def test_a_round_that_was_begun_and_not_kept_changes_nothing(name):
    silent, asked = after_some_rounds(name), after_some_rounds(name)
    full = silent.feedback is hn.Feedback.FULL
    for t in range(15):
        begun = [asked.begin(asked.check_context(0)).action for _ in range(3)]
        action = silent.act(0)
        assert asked.act(0) == action
        assert begun == [action] * 3
        for each in (silent, asked):
            each.update(CYCLE[t % 9] if full else 0.5 * (t % 3))
    assert asked.oracle_calls == silent.oracle_calls


# An adversary that has seen the draw of a dropped round -------------------------------------------

TWO = hn.oracles.AllPolicies(1, 2)
WATCHED = {
    "self-tuned": (hn.ContextFTPL(TWO, seed=0), 600),
    "anytime": (hn.ContextFTPL(TWO, epsilon="anytime", seed=0), 600),
    "theorem": (hn.ContextFTPL(TWO, epsilon="theorem", horizon=600, seed=0), 600),
    "bandit": (hn.ContextSemiBanditFTPL(TWO, seed=0), 1500),
    "PlayoutFTPL": (hn.PlayoutFTPL(TWO, horizon=400, seed=0), 400),
    "PlayoutFTPL, pool": (hn.PlayoutFTPL(TWO, hn.Pool([0]), horizon=400, seed=0), 400),
    "PlayoutBandit": (hn.PlayoutBandit(TWO, horizon=1000, seed=0), 1000),
    "StronglyAdaptive": (hn.StronglyAdaptive(hn.ContextFTPL(TWO, seed=0), seed=0), 1000),
}


def play_on(learner, T, *, drop):
    """What was dropped costs 1 next, or actions take turns at that; the regret of what counted."""
    totals, suffered = np.zeros(2), 0.0
    for t in range(T):
        losses = np.eye(2)[learner.act(0) if drop else t % 2]
        action = learner.act(0)
        learner.update(losses if learner.feedback is hn.Feedback.FULL else float(losses[action]))
        totals += losses
        suffered += losses[action]
    return suffered - totals.min()


@pytest.mark.parametrize("name", WATCHED)
def test_the_draw_of_a_dropped_round_says_nothing_about_the_next_one(name):
    learner, T = WATCHED[name]
    regret = play_on(learner.clone(), T, drop=True)
    prompt = learner.clone()
    play_on(prompt, T, drop=False)
    assert regret <= prompt.regret_bound() < T / 2


class Echo(hn.Environment):
    """The last action costs 1."""

    oblivious = False
    oracle = TWO
    n_actions = 2

    def rounds(self, horizon, rng):
        last = 0
        for _ in range(horizon):
            this = hn.Round(0, np.eye(2)[last])
            yield this
            last = this.action


@pytest.mark.parametrize("name", ["self-tuned", "anytime", "bandit"])
def test_neither_does_a_round_in_which_nothing_is_told(name):
    learner, T = WATCHED[name][0].clone(), 3000
    trace = hn.play(learner, hn.environments.Corrupted(Echo(), 0.5, kind="missing"), T, seed=0)
    prompt = WATCHED[name][0].clone()
    play_on(prompt, T, drop=False)
    # Every other round counts, whatever was played: regret is twice that of the others, on average.
    assert trace.regret() <= 2.0 * prompt.regret_bound()
    assert learner.regret_bound() > 0.4 * T  # each of them may have cost anything
