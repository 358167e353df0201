"""How hints fared, read from a game."""

import numpy as np
import pytest

import hannan as hn
from hannan.experiments.cell import play_game
from hannan.experiments.hints import Hints, HintWatch

WORLD = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(3, 3))


def game(learner, horizon=300, world=WORLD):
    result, _, _ = play_game(learner, world, horizon, np.random.default_rng(0), 10)
    return result["hints"]


@pytest.mark.parametrize("make", [hn.ContextSemiBanditFTPL, hn.TsallisINF])
def test_they_are_the_learners_own_numbers(make):
    learner = make(WORLD.oracle, predictor=hn.predictors.Mean(), seed=0)
    hints = game(learner)
    hint = learner.hint
    assert hints["share"] == hint.hinted / 300
    assert hints["refused"] == hint.refused / 300
    assert hints["cost"] == hint.S
    assert (hints["advantage"], hints["error"]) == pytest.approx(hint.advantage)
    budget = hint.trust.budget * np.sqrt(WORLD.oracle.complexity(WORLD.oracle.contexts) * 300)
    assert hints["budget"] == pytest.approx(max(0.0, hint.S) / budget)


def test_learners_without_hints_have_none():
    assert game(hn.ContextSemiBanditFTPL(WORLD.oracle, seed=0)) is None
    assert game(hn.baselines.LinUCB(3)) is None
    quiet = hn.ContextSemiBanditFTPL(
        WORLD.oracle, predictor=hn.predictors.Mean(), trust="baseline", seed=0
    )
    assert game(quiet) is None


class EveryHundred:
    """Says drift after every hundred rounds."""

    def __init__(self):
        self.rounds = 0

    def update(self, value):
        self.rounds += 1
        return self.rounds == 100

    def clone(self):
        return EveryHundred()


def test_restarts_lose_nothing():
    base = hn.TsallisINF(WORLD.oracle, predictor=hn.predictors.Mean(), seed=0)
    learner = hn.Restarting(base, EveryHundred())
    watch, seen = HintWatch(learner), []
    rng = np.random.default_rng(1)
    for this_round in WORLD.rounds(350, rng):
        if not seen or learner.current_learner is not seen[-1]:
            seen.append(learner.current_learner)
        action = learner.act(this_round.context)
        this_round.reveal(action)
        learner.update(float(this_round.losses[action]))
        watch.look()
    assert len(learner.restarts) == 3
    found = watch.result(350)
    assert found["share"] == pytest.approx(sum(p.hint.hinted for p in seen) / 350)
    assert found["cost"] == pytest.approx(sum(p.hint.S for p in seen))
    gains = np.array([p.hint.advantage for p in seen])
    assert found["advantage"] == pytest.approx(gains[:, 0].sum())
    assert found["error"] == pytest.approx(np.sqrt((gains[:, 1] ** 2).sum()))


def test_a_hint_that_is_punished_is_refused_and_said_to_be():
    class Wrong(hn.predictors.Mean):
        """Recommends what has cost most."""

        def advise(self, context, available=None):
            _, values = super().advise(context, available)
            return int(np.argmax(values)), values

    losses = np.broadcast_to([0.0, 1.0], (2000, 2))
    world = hn.environments.FromArrays(None, losses)
    arms = hn.oracles.AllPolicies(1, 2)
    trust = hn.Trust(0.5, prior=50.0, floor=0.1, share=0.9)
    hints = game(hn.TsallisINF(arms, predictor=Wrong(), trust=trust, seed=0), 2000, world)
    assert hints["refused"] > 0.0
    assert hints["budget"] <= 1.0
    assert hints["advantage"] < 0.0
    assert "it was left out in " in str(Hints.mean([hints]))


def test_means_over_seeds():
    one = {
        "share": 0.5,
        "cost": 1.0,
        "budget": 0.25,
        "refused": 0.0,
        "advantage": 3.0,
        "error": 3.0,
    }
    other = one | {"share": 1.0, "advantage": 5.0, "error": 4.0}
    mean = Hints.mean([one, other])
    assert (mean.share, mean.advantage, mean.error) == (0.75, 4.0, 2.5)
    assert Hints.mean([one, None]) is None
    assert Hints.mean([]) is None
    assert str(mean) == (
        "the predictor took part in 75 % of the rounds and spent 25 % of its budget; following it "
        "in every round would have reduced the total loss by 4 ± 2.5 compared with the base "
        "learner alone"
    )


def test_hints_that_cost_nothing_and_hints_that_would_have_cost_more_are_described_so():
    good = Hints(1.0, cost=-3.0, budget=0.0, refused=0.0, advantage=12.0, error=1.0)
    assert "of the rounds at no measured cost; following" in str(good)
    bad = Hints(0.1, cost=3.0, budget=0.99, refused=0.5, advantage=-299.0, error=130.0)
    text = str(bad)
    assert "would have increased the total loss by 299 ± 130 compared with the base" in text
    assert text.endswith("it was left out in 50 % because its budget was spent")
    assert "saved" not in text


def test_hints_in_another_unit_have_the_same_shares():
    hints = Hints(0.5, cost=1.0, budget=0.25, refused=0.125, advantage=3.0, error=2.0)
    assert hints.scaled(10.0) == Hints(0.5, 10.0, 0.25, 0.125, 30.0, 20.0)
