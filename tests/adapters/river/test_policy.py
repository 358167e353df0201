import copy
import pickle
import random

import numpy as np
import pytest
from river import bandit, metrics, proba, stats

import hannan as hn
from hannan.adapters import RiverPolicy
from hannan.checks import check_docstring

gym = pytest.importorskip("gymnasium")

ARMS = ["tea", "juice", "milk"]


def arms(n, **options):
    """A learner without contexts."""
    return hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, n), **{"predictor": hn.predictors.Mean(), "seed": 0, **options}
    )


def linear(n=3, **options):
    return hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n), **{"predictor": hn.predictors.Ridge(), "seed": 0, **options}
    )


class Spy(hn.Learner):
    """Plays the first action that is available and keeps what it is shown."""

    feedback = hn.Feedback.BANDIT
    late = "Spy cannot decide."

    def __init__(self, n_actions=3, loss_range=(0.0, 1.0)):
        super().__init__()
        self.n_actions = n_actions
        self.loss_range = loss_range
        self.asked, self.losses = [], []

    def act(self, context=None, available=None):
        self.asked.append((context, available))
        self._first = 0 if available is None else available[0]
        return super().act(context, available)

    def _act(self, opened):
        opened.play(self._first)

    def _update(self, opened, loss):
        self.losses.append(loss)


def drinks(rounds, seed=0):
    """A uniform log: tea in the morning, milk in the evening, is liked."""
    rng = random.Random(seed)
    for _ in range(rounds):
        context = {"hour": rng.random(), "constant": 1.0}
        arm = rng.choice(ARMS)
        liked = "tea" if context["hour"] < 0.5 else "milk"
        yield ARMS, context, arm, float(rng.random() < (0.9 if arm == liked else 0.1))


def test_river_evaluates_it_beside_its_own_policies():
    env = gym.make(
        "river_bandits/CandyCaneContest-v0", n_machines=10, reward_decay=0.0, max_episode_steps=200
    )
    trace = list(
        bandit.evaluate(
            [RiverPolicy(arms(10)), bandit.RandomPolicy(seed=0)], env, n_episodes=3, seed=0
        )
    )
    assert len(trace) == 2 * 3 * 200
    ours, chance = (
        sum(step["reward"] for step in trace if step["policy_idx"] == i) for i in (0, 1)
    )
    assert ours > 1.4 * chance


def test_unbounded_rewards_are_clipped_on_request():
    env = gym.make("river_bandits/KArmedTestbed-v0", max_episode_steps=300)
    policy = RiverPolicy(arms(10), reward_range=(-3.0, 3.0), clip=True)
    trace = list(bandit.evaluate([policy, bandit.RandomPolicy(seed=1)], env, n_episodes=2, seed=0))
    ours, chance = (
        np.mean([step["reward"] for step in trace if step["policy_idx"] == i]) for i in (0, 1)
    )
    assert ours > chance + 0.5


def test_a_log_is_replayed_by_river():
    policy = RiverPolicy(linear())
    total, used = bandit.evaluate_offline(policy, drinks(3000), stats.Mean())
    # 1,000 of 3,000 matched on average; 5 standard deviations.
    assert abs(used - 1000) < 130
    assert policy.unlearned == 0
    assert policy.current_learner.rounds == used
    assert total.get() > 0.75


def test_it_plays_what_the_learner_plays():
    policy, learner = RiverPolicy(linear(), features=["constant", "hour"]), linear()
    for _, context, _, _ in drinks(200):
        action = learner.act([1.0, context["hour"]])
        assert policy.pull(ARMS, context) == ARMS[action]
        reward = float(action == 1)
        learner.update(1.0 - reward)
        policy.update(ARMS[action], context, reward)


def test_rewards_become_losses_by_their_ranges():
    policy = RiverPolicy(Spy(loss_range=(1.0, 3.0)), reward_range=(-1.0, 3.0))
    for reward in (-1.0, 3.0, 0.0, np.True_):
        policy.update(policy.pull(ARMS), reward)
    assert policy.current_learner.losses == [3.0, 1.0, 2.5, 2.0]


def test_arms_are_numbered_as_they_appear_and_may_be_missing():
    policy = RiverPolicy(Spy(4))
    assert policy.pull(["b", "a"]) == "b"
    assert policy.pull(["c", "a"]) == "c"
    assert policy.pull(["d", "b", "a", "c"]) == "b"
    assert [there for _, there in policy.current_learner.asked] == [[0, 1], [2, 1], None]


def test_arms_may_be_given_in_order():
    policy = RiverPolicy(Spy(), arms=["z", "y", "x"])
    assert policy.pull(["x", "y"]) == "x"
    assert policy.current_learner.asked == [(None, [2, 1])]


def test_a_real_learner_plays_among_the_arms_that_are_there():
    policy, rng = RiverPolicy(linear(), arms=ARMS), random.Random(0)
    for i, (_, context, _, _) in enumerate(drinks(300)):
        some = rng.sample(ARMS, 1 + i % 3)
        arm = policy.pull(some, context)
        assert arm in some
        policy.update(arm, context, float(arm == "juice"))
    assert policy.pull(["milk", "juice"], {"hour": 0.5, "constant": 1.0}) == "juice"


def test_late_rewards_find_their_pulls():
    policy, learner = RiverPolicy(linear(), pending=3), linear()
    contexts = [{"x": 0.0}, {"x": 0.5}, {"x": 1.0}]
    for t in range(40):
        pulled = [policy.pull(ARMS, context) for context in contexts]
        made = [learner.decide([context["x"]]) for context in contexts]
        assert pulled == [ARMS[decision.action] for decision in made]
        for i in (2, 0, 1):
            loss = ((t + i) % 3) / 2
            learner.update(loss, decision=made[i])
            policy.update(pulled[i], dict(contexts[i]), 1.0 - loss)
    assert policy.current_learner.open_decisions == []


def test_pulls_that_wait_too_long_are_given_up():
    policy = RiverPolicy(linear(), pending=2)
    pulled = [policy.pull(ARMS, {"x": x}) for x in (0.0, 0.5, 1.0)]
    assert policy.current_learner.open_decisions == [1, 2]
    policy.update(pulled[0], {"x": 0.0}, 1.0)
    assert (policy.unlearned, policy.current_learner.rounds, policy._n) == (1, 0, 1)
    policy.update(pulled[2], {"x": 1.0}, 1.0)
    assert (policy.unlearned, policy.current_learner.open_decisions) == (1, [1])


def test_the_burn_in_is_ranked_and_not_learned():
    policy = RiverPolicy(Spy(), burn_in=2)
    for t in range(8):
        arm = policy.pull(ARMS)
        assert arm == (["tea"] * 2 + ["juice"] * 2 + ["milk"] * 2 + ["tea"] * 2)[t]
        policy.update(arm, float(arm == "milk"))
    assert policy.unlearned == 6
    assert len(policy.current_learner.losses) == 2
    assert policy.ranking[0] == "milk"
    assert "milk" in repr(policy)


def test_an_arm_of_another_policy_is_not_learned():
    policy = RiverPolicy(Spy())
    policy.pull(ARMS, {"x": 1.0})
    policy.update("milk", {"x": 1.0}, 1.0)
    policy.update("tea", {"x": 2.0}, 1.0)
    assert (policy.unlearned, policy.current_learner.losses) == (2, [])
    policy.update("tea", {"x": 1.0}, 1.0)
    assert (policy.unlearned, policy.current_learner.losses) == (2, [0.0])
    policy.update("tea", {"x": 1.0}, 1.0)
    assert (policy.unlearned, policy.current_learner.losses) == (3, [0.0])


def test_a_clone_has_learned_nothing_and_a_copy_everything():
    policy = RiverPolicy(linear(), pending=2, reward_obj=proba.Gaussian())
    start = [policy.pull(ARMS, {"x": x / 20}) for x in range(20)]
    policy = policy.clone()
    for _, context, _, _ in drinks(50):
        arm = policy.pull(ARMS, context)
        policy.update(arm, context, float(arm == "juice"))
    twins = [copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
    fresh = policy.clone()
    assert fresh._n == fresh.current_learner.rounds == 0
    assert [fresh.pull(ARMS, {"x": x / 20}) for x in range(20)] == start
    later = [context for _, context, _, _ in drinks(30, seed=1)]
    expected = [policy.pull(ARMS, context) for context in later]
    for twin in twins:
        assert [twin.pull(ARMS, context) for context in later] == expected


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda p: p.pull([], {"x": 0.0}), hn.ParameterError),
        (lambda p: p.pull(["tea", "tea"], {"x": 0.0}), hn.ParameterError),
        (lambda p: p.pull([*ARMS, "gin"], {"x": 0.0}), hn.ParameterError),
        (lambda p: p.pull(["tea", "gin"], {"x": 0.0, "y": 1.0}), hn.ContextError),
        (lambda p: p.pull(ARMS, {"x": "warm"}), hn.ContextError),
        (lambda p: p.pull(ARMS, {"x": float("nan")}), hn.ContextError),
        (lambda p: p.update("tea", {"x": 0.0}, 1.5), hn.LossError),
        (lambda p: p.update("tea", {"x": 0.0}, float("nan")), hn.LossError),
        (lambda p: p.update("tea", {"x": 0.0}, "much"), hn.LossError),
        (lambda p: p.update("tea", {"x": 0.0}), hn.LossError),
    ],
)
def test_a_refused_call_changes_nothing(call, error):
    policy = RiverPolicy(linear())
    arm = policy.pull(["tea", "juice"], {"x": 0.0})
    with pytest.raises(error):
        call(policy)
    assert policy._n == policy.unlearned == policy.current_learner.rounds == 0
    assert policy._numbering.labels == ["tea", "juice"]
    policy.update(arm, {"x": 0.0}, 1.0)
    assert policy.current_learner.rounds == 1
    assert policy.pull(["milk"], {"x": 0.0}) == "milk"


def test_it_is_shown_before_any_reward_and_after():
    """river's own table of arms fails while it is empty."""
    policy = RiverPolicy(arms(3))
    assert repr(policy).startswith("RiverPolicy(ContextSemiBanditFTPL(")
    policy.update(policy.pull(["tea", "juice", "milk"]), 1.0)
    assert "Reward" in repr(policy)


def test_who_learns_nothing_may_play():
    policy = RiverPolicy(hn.baselines.UniformRandom(3, seed=0), pending=2)
    pulled = set()
    for _ in range(30):
        arm = policy.pull(ARMS)
        policy.update(arm, 0.5)
        pulled.add(arm)
    assert pulled == set(ARMS)
    assert policy.current_learner.rounds == 30


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"learner": "me"}, "learner"),
        ({"learner": bandit.UCB(delta=1)}, "learner.* of type UCB"),
        ({"learner": hn.ContextFTPL(hn.oracles.AllPolicies(1, 3))}, "bandit feedback"),
        ({"learner": hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2))}, "single actions"),
        ({"reward_range": (1.0, 1.0)}, "reward_range"),
        ({"reward_range": None}, "reward_range"),
        ({"features": "x"}, "features"),
        ({"features": 0}, "features"),
        ({"pending": 0}, "pending"),
        ({"learner": Spy(), "pending": 2}, "pending=2.*Spy cannot decide"),
        ({"burn_in": -1}, "burn_in"),
        ({"arms": [1, 2, 3, 4]}, "actions"),
        ({"reward_obj": metrics.Accuracy()}, "reward_obj"),
    ],
)
def test_bad_parameters_are_refused(options, named):
    with pytest.raises(hn.HannanError, match=named):
        RiverPolicy(**{"learner": linear(), **options})


def test_the_docstring_is_complete():
    check_docstring(RiverPolicy, ("Parameters", "Examples"))
