"""Every oracle, learner and environment keeps its contract, and each check can fail."""

import inspect
import threading
from pathlib import Path

import coba
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.checks import (
    ENVIRONMENT_CHECKS,
    LEARNER_CHECKS,
    ORACLE_CHECKS,
    PARAMETER_CHECKS,
    check_average_regret_falls,
    check_bound,
    check_docstring,
    check_environment,
    check_learner,
    check_oracle,
)
from hannan.checks.oracles import make_case
from hannan.core.storage import storable
from hannan.oracles.all_policies import TableObjective
from tests import naive, problems

TABLE = np.random.default_rng(0).integers(0, 3, size=(9, 4))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=3)
ALL = hn.oracles.AllPolicies(4, 3)
FUNCTION = hn.oracles.FunctionOracle(naive.solver(TABLE.tolist()), n_actions=3)
ROWS = np.random.default_rng(1).random((9, 3)).round(1)
SLATES = np.array([[[0, 1], [1, 2]], [[2, 3], [0, 3]], [[0, 2], [1, 3]]])


def pairs(contexts, losses):
    """The two cheapest elements, the same on all contexts."""
    chosen = np.argsort(losses.sum(axis=0), kind="stable")[:2]
    return lambda context: chosen


ORACLES = {
    "FinitePolicies": (FINITE, None, [FINITE.policy(n) for n in range(9)]),
    "FinitePolicies, one policy": (hn.oracles.FinitePolicies([[1, 0]], n_actions=2), None, ()),
    "FinitePolicies, duplicates": (hn.oracles.FinitePolicies([[1, 0]] * 3 + [[0, 0]]), None, ()),
    "FinitePolicies, no contexts": (hn.oracles.FinitePolicies([2, 1, 0]), None, ()),
    "FinitePolicies, slates": (hn.oracles.FinitePolicies(SLATES, n_actions=4), None, ()),
    "AllPolicies": (ALL, None, ()),
    "AllPolicies, no contexts": (hn.oracles.AllPolicies(1, 4), None, ()),
    "AllPolicies, one action": (hn.oracles.AllPolicies(2, 1), None, ()),
    "FunctionOracle": (FUNCTION, range(4), [FINITE.policy(n) for n in range(9)]),
    "LinearPolicies": (
        hn.oracles.LinearPolicies(n_actions=3),
        np.random.default_rng(1).normal(size=(5, 2)),
        (),
    ),
    "MultiLabel": (hn.oracles.MultiLabel(hn.oracles.FinitePolicies(TABLE % 2), 3), None, ()),
    "MultiLabel, all": (hn.oracles.MultiLabel(hn.oracles.AllPolicies(2, 2), 2), None, ()),
    "PerContext": (
        hn.oracles.PerContext(hn.oracles.FinitePolicies([[[0, 1]], [[2, 3]]]), ["rain", "sun"]),
        None,
        (),
    ),
    "SklearnPolicies": (
        hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1), n_actions=2),
        np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.5]]),
        (),
    ),
    "Disjunctions": (hn.oracles.Disjunctions(4), range(16), ()),
    "Disjunctions, many": (hn.oracles.Disjunctions(40), [3, 7, 2**39, 2**39 + 8, 0, 12], ()),
    "Conjunctions": (hn.oracles.Conjunctions(4), np.eye(4, dtype=int)[1:], ()),
    "InterceptClassifiers": (hn.oracles.InterceptClassifiers(3, 0.5), ROWS, ()),
    "InterceptClassifiers, many": (
        hn.oracles.InterceptClassifiers(3, 0.005, restarts=2),
        ROWS,
        (),
    ),
    "FunctionOracle, sets": (
        hn.oracles.FunctionOracle(pairs, n_actions=4, max_chosen=2),
        ["rain", "sun"],
        (),
    ),
    "Thresholds": (hn.oracles.Thresholds(3), [0.5, -1.0, 2.0, 0.7], ()),
    "Stumps": (hn.oracles.Stumps(3), ROWS, ()),
    "Trees": (hn.oracles.Trees(2), ROWS, ()),
    "Trees, greedy": (hn.oracles.Trees(2, depth=3), ROWS, ()),
    "Subsets": (hn.oracles.Subsets(5, 2), None, ()),
    "Subsets, at most": (hn.oracles.Subsets(4, 1, exactly=False), None, ()),
    "PartitionMatroid": (hn.oracles.PartitionMatroid([0, 1, 0, 1, 1], [1, 2]), None, ()),
    "SpanningTrees": (hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (2, 3)]), None, ()),
    "Matroid": (hn.oracles.Matroid(4, lambda chosen: len(chosen) <= 2), None, ()),
    "Matchings": (hn.oracles.Matchings(2, 3), None, ()),
    "Matchings, some pairs": (
        hn.oracles.Matchings(2, 3, [(1, 2), (0, 0), (0, 1), (1, 1)]),
        None,
        (),
    ),
    "Paths": (hn.oracles.Paths([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], 0, 3), None, ()),
    "PredictThenOptimise": (
        hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(4), hn.oracles.Subsets(4, 2)),
        np.random.default_rng(2).normal(size=(4, 2)),
        (),
    ),
    "Submodular": (hn.oracles.Submodular(4), None, ()),
    "Switching": (hn.oracles.Switching(FINITE, 2, sequence=[0, 3, 1, 1, 2]), None, ()),
    "Switching, grid": (
        hn.oracles.Switching(FINITE, 1, grid=2),
        [(0, 1), (1, 3), (2, 2), (2, 0), (5, 1)],
        (),
    ),
    "Switching, slates": (
        hn.oracles.Switching(hn.oracles.FinitePolicies(SLATES), 1, sequence=[0, 1, 1]),
        None,
        (),
    ),
    "Switching, paths": (
        hn.oracles.Switching(
            hn.oracles.Paths([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], 0, 3), 1, sequence=4
        ),
        None,
        (),
    ),
    "LinearProgram": (hn.oracles.LinearProgram([[2, 3, 4]], [5]), None, ()),
}

ROADS = hn.networks.RoadNetwork([1, 1, 2], [2, 3, 3], [1.0, 3.0, 1.0], capacity=100.0)
STREAM = problems.rounds(4, 3, 200)
ADS = str(Path(__file__).parent / "data" / "ads.csv")
ENVIRONMENTS = {
    "FromArrays": hn.environments.FromArrays([x for x, _ in STREAM], [v for _, v in STREAM]),
    "FromArrays, no contexts": hn.environments.FromArrays(None, np.eye(3)[[0, 2, 1] * 10]),
    "FromArrays, changing actions": hn.environments.FromArrays(
        None, np.eye(3)[[0, 2, 1] * 10], available=[[0, 1], None, [1, 2]] * 10
    ),
    "PlantedPolicy": hn.environments.PlantedPolicy(FINITE),
    "PlantedPolicy, sets": hn.environments.PlantedPolicy(
        ORACLES["FunctionOracle, sets"][0], ["rain", "sun"]
    ),
    "LeaderPunisher": hn.environments.LeaderPunisher(ALL),
    "LeaderPunisher, own solver": hn.environments.LeaderPunisher(FUNCTION, range(4)),
    "CopyPunisher": hn.environments.CopyPunisher(FINITE),
    "CopyPunisher, vectors": hn.environments.CopyPunisher(n_actions=3, n_contexts=5, features=2),
    "CopyPunisher, sets": hn.environments.CopyPunisher(ORACLES["Subsets"][0]),
    "FrequencyPunisher": hn.environments.FrequencyPunisher(n_actions=3, contexts=["rain", "sun"]),
    "Bait": hn.environments.Bait(FINITE),
    "Bait, means": hn.environments.Bait(ALL, noisy=False),
    "Switching": hn.environments.Switching(FINITE, switches=3),
    "Congestion": hn.environments.Congestion(ROADS, hn.oracles.Paths.towards(ROADS, 1, 3)),
    "MeasuredSpeeds": hn.environments.MeasuredSpeeds([[30, 60], [60, 20]] * 50, length=[1.0, 1.0]),
    "ImageCut": hn.environments.ImageCut(np.eye(4, dtype=bool)),
    "SlateClicks": hn.environments.SlateClicks(ORACLES["FinitePolicies, slates"][0]),
    "Classification": hn.environments.Classification(ROWS, [0, 1, 2] * 3, scale="unit"),
    "Classification, in order": hn.environments.Classification(
        ROWS, [0, 1, 2] * 3, shuffle=False, scale="running-standard"
    ),
    "FromFrame": hn.environments.FromFrame(
        {"x": [0, 1] * 20, "cheap": [0.1, 0.2] * 20, "dear": [0.9, 0.3] * 20},
        context="x",
        losses=["cheap", "dear"],
    ),
    "FromFrame, label": hn.environments.FromFrame(
        {"x": [0, 1] * 20, "day": ["Mon", "Tue"] * 20, "y": [0, 1] * 20, "did": [1, 1] * 20},
        context=["x", "day"],
        categorical=["day"],
        label="y",
        current="did",
    ),
    "FromFile": hn.environments.FromFile(ADS, context=["hour"], losses=["cost", "other"]),
    "FromFile, label": hn.environments.FromFile(
        ADS, context=["hour", "day"], categorical=["day"], label="ad", current="ad"
    ),
    "FromLog": hn.environments.FromLog(
        ADS, context=["hour"], action="ad", loss="cost", propensity="p"
    ),
    "FromLog, importance": hn.environments.FromLog(
        ADS, action="ad", reward="cost", propensity=1.0, method="importance", baseline=0.5
    ),
    "Drifting": hn.environments.Drifting(hn.environments.PlantedPolicy(FINITE), width=20),
    "Drifting, recurring": hn.environments.Drifting(
        hn.environments.SlateClicks(ORACLES["FinitePolicies, slates"][0]), period=30, concepts=2
    ),
    "Delayed": hn.environments.Delayed(hn.environments.PlantedPolicy(FINITE), 3, law="geometric"),
    "Corrupted": hn.environments.Corrupted(
        hn.environments.PlantedPolicy(FINITE), 0.3, kind="noise", budget=40
    ),
    "FromCoba": hn.adapters.FromCoba(
        coba.Environments.from_linear_synthetic(100, n_actions=3, n_action_features=0),
        reward_range=(-1, 2),
    ),
    "FromCoba, offers change": hn.adapters.FromCoba(
        coba.Environments.from_lambda(
            60, lambda i: i % 4, lambda i, x: "abc"[i % 3 :] or "a", lambda i, x, a: float(a == "b")
        )
    ),
}

PUNISHER = hn.environments.LeaderPunisher(FINITE)
PLANTED = hn.environments.PlantedPolicy(FINITE, good=0.1, bad=0.9)


def fakes(rng):
    """Laplace fake outcomes on all contexts."""
    return [(x, rng.laplace(scale=5.0, size=3)) for x in range(4)]


# A learner, an environment, and whether it should have no regret there.
LEARNERS = {
    "ContextFTPL": (hn.ContextFTPL(FINITE, seed=0), PUNISHER, True),
    "ContextFTPL, all": (
        hn.ContextFTPL(ALL, seed=0),
        hn.environments.LeaderPunisher(ALL),
        True,
    ),
    "ContextFTPL, own solver": (
        hn.ContextFTPL(FUNCTION, range(4), epsilon=0.3, seed=0),
        PLANTED,
        False,  # a fixed ε does not suit every horizon
    ),
    "ContextFTPL, once": (hn.ContextFTPL(FINITE, epsilon=0.2, noise="once", seed=0), PLANTED, True),
    "ContextFTPL, separator": (hn.ContextFTPL(FINITE, separator=range(4), seed=0), PUNISHER, True),
    "ContextFTPL, switching": (
        hn.ContextFTPL(hn.oracles.Switching(hn.oracles.AllPolicies(1, 3), 1, sequence=60), seed=0),
        hn.environments.PlantedPolicy(hn.oracles.AllPolicies(1, 3)),
        False,  # a known number of rounds does not suit every horizon
    ),
    "ContextSemiBanditFTPL": (hn.ContextSemiBanditFTPL(FINITE, seed=0), PLANTED, True),
    "FTPL": (hn.FTPL(FINITE, fakes, seed=0), PLANTED, True),
    "Restarting": (hn.Restarting(hn.ContextFTPL(FINITE, seed=0)), PUNISHER, True),
    "Restarting, bandit": (
        hn.Restarting(
            hn.ContextSemiBanditFTPL(FINITE, predictor=hn.predictors.Mean(), seed=0),
            hn.detectors.Bernstein(delta=0.3, minimum=16),  # so that it does restart
        ),
        PLANTED,
        False,
    ),
    "StronglyAdaptive": (
        hn.StronglyAdaptive(hn.ContextFTPL(FINITE, seed=0), seed=0),
        PUNISHER,
        True,
    ),
    "StronglyAdaptive, Hedge": (
        hn.StronglyAdaptive(hn.baselines.Hedge(FINITE, seed=0), shortest=4, seed=0),
        PLANTED,
        True,
    ),
    "Discounted": (
        hn.Discounted(hn.ContextFTPL(FINITE, seed=0), 0.5),
        PUNISHER,
        False,  # it forgets the policy that regret is measured against
    ),
    "FollowTheLeader": (hn.baselines.FollowTheLeader(FINITE), PLANTED, True),
    "Hedge": (hn.baselines.Hedge(FINITE, seed=0), PUNISHER, True),
    "FixedShare": (hn.baselines.FixedShare(FINITE, seed=0), PUNISHER, True),
    "FixedShare, tuned": (
        hn.baselines.FixedShare(FINITE, horizon=60, switches=2, seed=0),
        PLANTED,
        False,  # a tuned rate does not suit every horizon
    ),
    "AdaNormalHedge": (hn.baselines.AdaNormalHedge(FINITE, seed=0), PUNISHER, True),
    "AdaNormalHedge, prior": (
        hn.baselines.AdaNormalHedge(FINITE, prior=[1, 2, 3, 1, 1, 1, 1, 1, 9], seed=0),
        PLANTED,
        True,
    ),
    "OptimisticHedge": (hn.baselines.OptimisticHedge(FINITE, seed=0), PUNISHER, True),
    "OptimisticHedge, mean": (
        hn.baselines.OptimisticHedge(FINITE, predictor=hn.predictors.Mean(0.0), seed=0),
        PLANTED,
        True,
    ),
    "KalaiVempala": (hn.baselines.KalaiVempala(FINITE, seed=0), PUNISHER, True),
    "KalaiVempala, tuned": (
        hn.baselines.KalaiVempala(ALL, horizon=60, seed=0),
        hn.environments.LeaderPunisher(ALL),
        False,  # a tuned ε does not suit every horizon
    ),
    "Exp4": (hn.baselines.Exp4(FINITE, seed=0), PLANTED, True),
    "EpsilonGreedy": (hn.baselines.EpsilonGreedy(3, epsilon=1.0, decay=0.4, seed=0), PLANTED, True),
    "EpsilonGreedy, mean": (
        hn.baselines.EpsilonGreedy(3, hn.predictors.Mean(by_context=False), seed=0),
        PLANTED,
        False,  # the contexts matter
    ),
    "EpochGreedy": (hn.baselines.EpochGreedy(FINITE, seed=0), PLANTED, True),
    "LinUCB": (hn.baselines.LinUCB(3), PLANTED, True),
    "LinUCB, features": (hn.baselines.LinUCB(3, features=np.eye(4), alpha=0.5), PLANTED, True),
    "VowpalWabbit": (hn.baselines.VowpalWabbit(3, seed=0), PLANTED, True),
    "UniformRandom": (hn.baselines.UniformRandom(3, seed=0), PLANTED, False),
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("check", ORACLE_CHECKS, ids=lambda check: check.__name__)
def test_oracle(name, check):
    check(make_case(*ORACLES[name]))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("check", LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_learner(name, check):
    learner, environment, _ = LEARNERS[name]
    check(learner, environment, 60)


@pytest.mark.parametrize("name", [n for n, (_, _, no_regret) in LEARNERS.items() if no_regret])
def test_average_regret_falls(name):
    learner, environment, _ = LEARNERS[name]
    check_average_regret_falls(learner, environment, 200)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("check", ENVIRONMENT_CHECKS, ids=lambda check: check.__name__)
def test_environment(name, check):
    environment = ENVIRONMENTS[name]
    check(environment, environment.horizon or 100, (0.0, 1.0))


EVERYTHING = {
    **{name: oracle for name, (oracle, *_) in ORACLES.items()},
    **{name: learner for name, (learner, *_) in LEARNERS.items()},
    **ENVIRONMENTS,
}


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize("check", PARAMETER_CHECKS, ids=lambda check: check.__name__)
def test_parameters(name, check):
    check(EVERYTHING[name])


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_here_can_be_saved(name):
    assert storable(LEARNERS[name][0].clone())


def exported(*families):
    for family in families:
        for name in family.__all__:
            item = getattr(family, name)
            if inspect.isclass(item) and not inspect.isabstract(item):
                yield item


@pytest.mark.parametrize(
    ("base", "families", "table"),
    [
        (hn.Oracle, [hn.oracles], ORACLES),
        (hn.Learner, [hn, hn.baselines], LEARNERS),
        (hn.Environment, [hn.environments], ENVIRONMENTS),
    ],
)
def test_every_export_is_checked_here(base, families, table):
    tried = {type(entry[0] if isinstance(entry, tuple) else entry) for entry in table.values()}
    missing = [
        cls.__name__ for cls in exported(*families) if issubclass(cls, base) and cls not in tried
    ]
    assert not missing, f"add an instance of {missing} to the table of {base.__name__}s"


def test_the_collected_checks_pass():
    check_oracle(FINITE)
    check_learner(*LEARNERS["UniformRandom"][:2], horizon=30, no_regret=False)
    check_environment(PLANTED, 50)


# Deliberately broken classes.


class BrokenObjective(TableObjective):
    """A table of totals, to break one method of."""

    def copy(self):
        twin = type(self)(self.oracle)
        twin.totals[:] = self.totals
        return twin


def broken_oracle(objective):
    class Broken(hn.oracles.AllPolicies):
        def objective(self):
            return objective(self)

    return Broken(3, 3)


class Maximises(BrokenObjective):
    def leaders(self, noise, first, count, scale):
        flipped = self.copy()
        flipped.totals *= -1
        return TableObjective.leaders(flipped, noise, first, count, -scale)


class RefusesNegatives(BrokenObjective):
    def add(self, context, losses):
        super().add(context, np.maximum(losses, 0.0))


class IgnoresNoise(BrokenObjective):
    def leaders(self, noise, first, count, scale):
        return super().leaders(None, first, count, 0.0)


class ForgetsToAdd(BrokenObjective):
    def settle(self, context, losses, noise, draw, scale):
        return self.action(context, noise, draw, scale)


class SettlesWithFreshNoise(BrokenObjective):
    def settle(self, context, losses, noise, draw, scale):
        self.add(context, losses)
        return self.action(context, noise, draw + 1000, scale)


class SharesItsTotals(BrokenObjective):
    def copy(self):
        return self


class ChangesItsInput(BrokenObjective):
    def add(self, context, losses):
        super().add(context, losses)
        losses += 1.0


class CountsRounds(BrokenObjective):
    def add(self, context, losses):
        super().add(context, losses + np.array([3.0, 0.0, 0.0]))


class LosesItsTotals(BrokenObjective):
    _scratch = frozenset({"totals"})


class HoldsWhatNoFileCan(BrokenObjective):
    def __init__(self, oracle):
        super().__init__(oracle)
        self.lock = threading.Lock()


class MovesItsTies(BrokenObjective):
    asked = 0

    def leaders(self, noise, first, count, scale):
        self.asked += 1
        twin = self.copy()
        twin.totals += 1e-6 * np.roll([0, 1, 2], self.asked)
        return TableObjective.leaders(twin, noise, first, count, scale)


class WrongValues(BrokenObjective):
    def minima(self, noise, first, count, scale):
        return super().minima(noise, first, count, scale) + 0.1


BROKEN_OBJECTIVES = {
    Maximises: "check_leader_is_optimal",
    RefusesNegatives: "check_leader_is_optimal",
    IgnoresNoise: "check_noisy_leaders_are_optimal",
    WrongValues: "check_minima_are_the_leaders_values",
    ForgetsToAdd: "check_fast_paths_agree",
    SettlesWithFreshNoise: "check_fast_paths_agree",
    CountsRounds: "check_zero_losses_change_nothing",
    MovesItsTies: "check_ties_break_the_same_way",
    SharesItsTotals: "check_copies_are_independent",
    LosesItsTotals: "check_totals_survive_a_file",
    HoldsWhatNoFileCan: "check_totals_survive_a_file",
    ChangesItsInput: "check_losses_are_not_changed",
}


@pytest.mark.parametrize("objective", BROKEN_OBJECTIVES, ids=lambda cls: cls.__name__)
def test_a_broken_objective_is_noticed(objective):
    check = next(c for c in ORACLE_CHECKS if c.__name__ == BROKEN_OBJECTIVES[objective])
    with pytest.raises(AssertionError):
        check(make_case(broken_oracle(objective)))
    with pytest.raises(AssertionError):
        check_oracle(broken_oracle(objective))


class DrawsInOrder(hn.oracles.AllPolicies):
    """Its noise depends on what was drawn before."""

    def noise(self, contexts, key, stream, memory):
        noise = super().noise(contexts, key, stream, memory)
        asked = []

        def unit(draw):
            asked.append(draw)
            return type(noise).unit(noise, draw + len(asked))

        noise.unit = unit
        return noise


class OneDraw(hn.oracles.AllPolicies):
    """Every draw is the same."""

    def noise(self, contexts, key, stream, memory):
        noise = super().noise(contexts, key, stream, memory)
        noise.unit = lambda draw: type(noise).unit(noise, 0)
        return noise


class TooSmall(hn.oracles.AllPolicies):
    """Says that it is smaller than it is."""

    def log_size(self, contexts):
        return 0.1


class ForgetsParameters(hn.oracles.AllPolicies):
    """Does not keep what it was given."""

    def __init__(self, n_contexts, n_actions):
        super().__init__(n_contexts, n_actions + 1)


class OutOfRange(hn.oracles.FunctionOracle):
    """Plays actions that do not exist."""

    def objective(self):
        total = super().objective()
        leaders = total.leaders
        total.leaders = lambda *args: [lambda x: 7 for _ in leaders(*args)]
        return total


@pytest.mark.parametrize(
    "oracle",
    [DrawsInOrder(3, 3), OneDraw(3, 3), TooSmall(3, 3), ForgetsParameters(3, 3)],
    ids=lambda oracle: type(oracle).__name__,
)
def test_a_broken_oracle_is_noticed(oracle):
    with pytest.raises(AssertionError):
        check_oracle(oracle)


def test_actions_that_do_not_exist_are_noticed():
    with pytest.raises(AssertionError, match="an action is an int below 2"):
        check_oracle(OutOfRange(pairs, n_actions=2), contexts=[0])


def test_an_oracle_needs_contexts_to_be_checked_on():
    with pytest.raises(AssertionError, match="contexts="):
        check_oracle(FUNCTION)


class Good(hn.baselines.UniformRandom):
    __doc__ = hn.baselines.UniformRandom.__doc__


class UnseededLearner(Good):
    __doc__ = Good.__doc__

    def _act(self, context):
        return int(np.random.default_rng().integers(3))


class PlaysNumpyIntegers(Good):
    __doc__ = Good.__doc__

    def _act(self, context):
        return np.int64(super()._act(context))


class PlaysOutside(Good):
    __doc__ = Good.__doc__

    def _act(self, context):
        return super()._act(context) + 1


class SwallowsEverything(Good):
    __doc__ = Good.__doc__

    def _update(self, context, action, loss):
        pass


class LearnsBeforeChecking(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__

    def _update(self, context, action, loss):
        penalty = np.zeros(3)
        penalty[action] = 1.0
        self._history.add(context, penalty)
        super()._update(context, action, loss)


class AnswersTwice(Good):
    __doc__ = Good.__doc__

    def update(self, loss):
        if self._open is None:
            return
        super().update(loss)


class KeepsItsMemory(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__

    def reset(self):
        history = self._history
        super().reset()
        self._history = history


class ChangesLosses(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__

    def _update(self, context, action, loss):
        super()._update(context, action, loss)
        loss -= loss.min()
        loss += 0.5


class MiscountsRounds(Good):
    __doc__ = Good.__doc__

    def update(self, loss):
        super().update(loss)
        self.rounds += 1


class AsksItself(Good):
    __doc__ = Good.__doc__

    def would_play(self, context=None, copies=1, seed=0):
        return [self._act(context) for _ in range(copies)]


class AnswersLateTwice(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__

    def update(self, loss, decision=None):
        tickets = dict(self._tickets)
        super().update(loss, decision)
        self._tickets = tickets


class LearnsLateBeforeChecking(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__

    def update(self, loss, decision=None):
        if isinstance(decision, int):
            self._history.add(decision % 4, 9.0 * np.eye(3)[decision % 3])
        super().update(loss, decision)


class PlaysWhatIsGone(Good):
    __doc__ = Good.__doc__

    def act(self, context=None, available=None):
        return super().act(context)


class CopiesPlayWhatIsGone(Good):
    __doc__ = Good.__doc__

    def would_play(self, context=None, copies=1, seed=0, available=None):
        return super().would_play(context, copies, seed)


class DecidesOnWhatIsGone(Good):
    __doc__ = Good.__doc__

    def _chosen(self, context, available):
        return super()._chosen(context, None)


class TakesAnySet(Good):
    __doc__ = Good.__doc__

    def _check_available(self, available):
        try:
            return super()._check_available(available)
        except hn.HannanError:
            return None


class Undocumented(hn.baselines.UniformRandom):
    pass


@pytest.mark.parametrize(
    "learner",
    [
        UnseededLearner(3, seed=0),
        PlaysNumpyIntegers(3, seed=0),
        PlaysOutside(3, seed=0),
        SwallowsEverything(3, seed=0),
        AnswersTwice(3, seed=0),
        MiscountsRounds(3, seed=0),
        AsksItself(3, seed=0),
        AnswersLateTwice(FINITE),
        LearnsLateBeforeChecking(FINITE),
        PlaysWhatIsGone(3, seed=0),
        CopiesPlayWhatIsGone(3, seed=0),
        DecidesOnWhatIsGone(3, seed=0),
        TakesAnySet(3, seed=0),
        Undocumented(3, seed=0),
        LearnsBeforeChecking(FINITE),
        KeepsItsMemory(FINITE),
        ChangesLosses(FINITE),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_broken_learner_is_noticed(learner):
    check_learner(Good(3, seed=0), PLANTED, 60, no_regret=False)
    with pytest.raises(AssertionError):
        check_learner(learner, PLANTED, 60, no_regret=False)


def test_a_learner_that_uses_hidden_losses_is_noticed():
    check = next(c for c in LEARNER_CHECKS if c.__name__ == "check_hidden_losses_are_not_used")
    rounds = [(0, np.array([0.0, 0.5, 1.0]))] * 20

    class Cheats(Good):
        """Sees every loss, though only that of its action is revealed."""

        feedback = hn.Feedback.SEMI

        def _update(self, context, action, loss):
            self._rng = np.random.default_rng(
                int(FixedRounds.shown @ [1e3, 1e4, 1e5]) + self.rounds
            )

    class FixedRounds(hn.Environment):
        n_actions = 3
        shown = np.zeros(3)

        def rounds(self, horizon, rng):
            for context, losses in rounds[:horizon]:
                yield hn.Round(context, losses)

    original = hn.Round.reveal

    def leaking(self, action, feedback=hn.Feedback.FULL):
        FixedRounds.shown = self._losses
        return original(self, action, feedback)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hn.Round, "reveal", leaking)
        with pytest.raises(AssertionError, match="hidden"):
            check(Cheats(3, seed=0), FixedRounds(), 20)


def test_regret_that_does_not_fall_is_noticed():
    with pytest.raises(AssertionError, match="does not fall"):
        check_average_regret_falls(hn.baselines.UniformRandom(3, seed=0), PLANTED, 200)
    with pytest.raises(AssertionError, match="does not fall"):
        check_average_regret_falls(hn.baselines.FollowTheLeader(FINITE), PUNISHER, 200)


class BrokenWorld(hn.Environment):
    """Rounds to break."""

    n_actions = 2

    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.Round(0, rng.random(2))


class Short(BrokenWorld):
    def rounds(self, horizon, rng):
        yield from super().rounds(horizon - 1, rng)


class Unseeded(BrokenWorld):
    def rounds(self, horizon, rng):
        yield from super().rounds(horizon, np.random.default_rng())


class OutsideItsRange(BrokenWorld):
    def rounds(self, horizon, rng):
        for this_round in super().rounds(horizon, rng):
            yield hn.Round(0, 2 * this_round._losses)


class TooManyLosses(BrokenWorld):
    n_actions = 3


class UndeclaredContexts(BrokenWorld):
    contexts = (1, 2)


class OpenHanded(BrokenWorld):
    def rounds(self, horizon, rng):
        for this_round in super().rounds(horizon, rng):
            this_round.action = 0
            yield this_round


class SecretlyAdaptive(BrokenWorld):
    def rounds(self, horizon, rng):
        last = 0
        for this_round in super().rounds(horizon, rng):
            this_round._losses[last] = 1.0
            yield this_round
            last = this_round.action


class RewritesThePast(BrokenWorld):
    def rounds(self, horizon, rng):
        losses = np.zeros(2)
        for t in range(horizon):
            losses[:] = t % 2
            yield hn.Round(0, losses)


@pytest.mark.parametrize(
    "world",
    [
        Short,
        Unseeded,
        OutsideItsRange,
        TooManyLosses,
        UndeclaredContexts,
        OpenHanded,
        SecretlyAdaptive,
        RewritesThePast,
    ],
)
def test_a_broken_environment_is_noticed(world):
    check_environment(BrokenWorld(), 50)
    with pytest.raises(AssertionError):
        check_environment(world(), 50)


@pytest.mark.parametrize(
    "bound",
    [
        lambda T, n: -1.0,
        lambda T, n: float(T * n),
        lambda T, n: T**0.5 / n,
        lambda T, n: n / T,
    ],
)
def test_a_broken_bound_is_noticed(bound):
    with pytest.raises(AssertionError, match="bound"):
        check_bound(bound, n=3)


def test_a_docstring_without_a_section_is_noticed():
    with pytest.raises(AssertionError, match="'Parameters'"):
        check_docstring(Undocumented)
