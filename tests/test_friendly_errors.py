"""Likely mistakes, each with the sentence that helps."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import hannan as hn

POLICIES = hn.oracles.AllPolicies(3, 3)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("LinUCB", "hn.baselines.LinUCB"), ("AllPolicies", "hn.oracles.AllPolicies"),
     ("Contextftpl", "hn.ContextFTPL"), ("Ridge", "hn.predictors.Ridge"), ("bandits", "hn.bandit")],
)  # fmt: skip
def test_a_name_that_lies_elsewhere(name, meant):
    with pytest.raises(AttributeError, match=f"did you mean {meant}\\?$"):
        getattr(hn, name)


def test_a_name_like_no_other():
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'$"):
        hn.xyzzy  # noqa: B018
    assert not hasattr(hn, "_private")


@pytest.mark.parametrize(
    "learner",
    [hn.ContextFTPL, hn.ContextSemiBanditFTPL, hn.PlayoutFTPL, hn.baselines.FollowTheLeader,
     hn.baselines.EpochGreedy, hn.baselines.KalaiVempala],
)  # fmt: skip
def test_a_number_in_place_of_policies(learner):
    with pytest.raises(hn.InputTypeError, match=r"AllPolicies\(n_contexts=1, n_actions=4\)"):
        learner(4)
    with pytest.raises(hn.InputTypeError, match=r"needs an instance, AllPolicies\(...\)"):
        learner(hn.oracles.AllPolicies)


def test_the_number_of_actions_in_place_of_policies():
    with pytest.raises(hn.InputTypeError, match=r"AllPolicies\(n_contexts=1, n_actions=4\)"):
        hn.ContextSemiBanditFTPL(n_actions=4)


def test_an_argument_that_there_is_not():
    with pytest.raises(hn.InputTypeError, match=r"no argument 'alfa'\. Did you mean 'alpha'"):
        hn.baselines.LinUCB(3, alfa=0.1)
    with pytest.raises(hn.InputTypeError, match=r"Mean has no argument 'xyzzy'\. It takes alpha"):
        hn.predictors.Mean(xyzzy=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'oracle'"):
        hn.ContextFTPL()


def test_a_class_in_place_of_a_predictor():
    with pytest.raises(hn.InputTypeError, match=r"predictor= needs an instance, Mean\(...\)"):
        hn.ContextSemiBanditFTPL(POLICIES, predictor=hn.predictors.Mean)


@pytest.mark.parametrize(
    "learner",
    [hn.bandit(3, n_contexts=3, seed=0), hn.ContextFTPL(POLICIES), hn.baselines.LinUCB(3)],
)
def test_a_reward_in_place_of_a_loss(learner):
    learner.act(0)
    with pytest.raises(
        hn.InputTypeError, match=r"pass R - reward and .* hn.Decider accepts rewards"
    ):
        learner.update(reward=1.0)
    assert learner.rounds == 0
    learner.update([0.5] * 3 if learner.feedback is hn.Feedback.FULL else 0.5)
    assert learner.rounds == 1


def test_rewards_of_sets_are_negative_losses():
    """R - reward would teach to choose nothing: what is advised here is followed."""
    values = np.array([0.9, 0.2, 0.7, 0.4])
    learner = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2, exactly=False), seed=0)
    learner.act()
    with pytest.raises(hn.InputTypeError, match=r"pass -reward and .* loss_range=\(-R, 0\)"):
        learner.update(reward=[1.0, 0.0])
    learner = learner.clone(loss_range=(-1.0, 0.0))
    for _ in range(300):
        action = learner.act()
        learner.update(-values[action])
    assert learner.best_policy()().tolist() == [0, 2]


def test_losses_of_all_elements_where_those_chosen_are_wanted():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2), seed=0)
    action = learner.act()
    with pytest.raises(hn.LossError, match=r"2 numbers.*pass losses\[action\].*ContextFTPL"):
        learner.update(np.zeros(4))
    learner.update(np.zeros(4)[action])
    with pytest.raises(hn.ParameterError, match="cannot take more actions"):
        learner.extended(5)
    everything = hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0)
    everything.act()
    with pytest.raises(hn.LossError, match="one for each action or element"):
        everything.update(1.5)


@pytest.mark.parametrize("loss", [None, 0.0, np.zeros(4), [0.0]])
def test_losses_where_nothing_was_chosen(loss):
    learner = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2, exactly=False), seed=0)
    assert len(learner.act(available=[])) == 0
    with pytest.raises(hn.LossError, match=r"has no elements.*Pass \[\]"):
        learner.update(loss)
    learner.update([])
    assert learner.rounds == 1


def test_a_trust_that_there_is_not():
    with pytest.raises(hn.ParameterError, match="'trust' parameter of ContextSemiBanditFTPL"):
        hn.ContextSemiBanditFTPL(POLICIES, trust="balanced")


def test_the_arguments_of_play_swapped():
    learner = hn.ContextFTPL(POLICIES, seed=0)
    world = hn.environments.LeaderPunisher(POLICIES)
    with pytest.raises(hn.InputTypeError, match="takes the learner first"):
        hn.play(world, learner)


def test_names_of_classes_are_welcome():
    world = hn.environments.Classification([[0.0], [1.0], [2.0]], ["b", "a", "b"], shuffle=False)
    assert (world.n_actions, world.classes) == (2, ["a", "b"])
    trace = hn.play(hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0), world)
    wrong = [action != right for action, right in zip(trace.actions, [1, 0, 1], strict=True)]
    assert trace.losses.tolist() == wrong
    assert hn.environments.Classification([[0.0], [1.0]], pd.Series(["x", "y"])).classes == [
        "x",
        "y",
    ]
    assert hn.environments.Classification([[0.0], [1.0]], [0, 1]).classes == [0, 1]
    for labels in (["a", 1], ["a"], [0.5, 1.5]):
        with pytest.raises(hn.ParameterError, match="2 integers or names, one for each row"):
            hn.environments.Classification([[0.0], [1.0]], np.array(labels, dtype=object))


def test_a_column_of_text_among_features_is_named():
    frame = pd.DataFrame({"age": [31, 48], "city": ["Rome", "Oslo"]})
    with pytest.raises(hn.ContextError, match="Column 'city' of rows holds 'Rome'"):
        hn.environments.Classification(frame, [0, 1])


def test_roads_with_cycles():
    streets = nx.grid_2d_graph(3, 3).to_directed()
    assert hn.oracles.Paths.towards(streets, (0, 0), (2, 2)).n_actions == 24


def test_all_losses_where_one_is_wanted():
    learner = hn.bandit(3, n_contexts=1, seed=0)
    learner.act()
    with pytest.raises(hn.LossError, match=r"must be one number.* use hn.experts or ContextFTPL"):
        learner.update([0.1, 0.2, 0.3])


def test_one_kind_of_feedback_has_several_names():
    assert hn.Feedback.BANDIT is hn.Feedback.BANDIT is hn.Feedback("bandit")
    assert hn.Feedback("semi-bandit") is hn.Feedback.BANDIT
    assert [each.name for each in hn.Feedback] == ["FULL", "BANDIT"]


def test_a_learner_is_checked_without_an_environment_where_its_policies_know_one():
    hn.checks.check_learner(hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), seed=0), horizon=30)
    with pytest.raises(hn.InputTypeError, match="check_learner needs an environment for LinUCB"):
        hn.checks.check_learner(hn.baselines.LinUCB(3))
