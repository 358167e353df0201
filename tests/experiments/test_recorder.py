"""Thinned curves: the right values at the right rounds, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hannan as hn
from hannan.core import Round
from hannan.experiments.cell import look_back, play_game
from hannan.experiments.game import world_rng
from hannan.experiments.recorder import Marks, RunRecorder
from hannan.experiments.search import Sample, candidates

ORACLE = hn.oracles.FinitePolicies.random(30, 6, 3)
WORLD = hn.environments.LeaderPunisher(ORACLE)


def marks(points, horizon):
    """The rounds of a curve."""
    rule = Marks(points, horizon)
    return [t for t in range(1, horizon + 1) if rule.due(t)]


@given(st.integers(2, 40), st.integers(1, 3000))
def test_a_curve_never_has_many_more_points_than_asked_for(points, rounds):
    kept = marks(points, rounds)
    assert len(kept) <= points + np.log2(rounds) + 2
    assert len(kept) >= min(rounds, points // 2)
    gaps = np.diff([0, *kept])
    assert gaps.max() <= -(-rounds // points)


@given(st.integers(2, 40), st.integers(1, 3000), st.integers(0, 3000))
def test_the_next_point_is_the_first_one_that_is_due(points, horizon, t):
    rule = Marks(points, horizon)
    later = (s for s in range(t + 1, 10**9) if rule.due(s))
    assert rule.after(t) == next(later)


def test_the_last_round_is_on_the_curve():
    assert marks(10, 103)[-1] == 103


def play(points=20, horizon=500, comparator=ORACLE):
    """A game kept as curves, and the same game kept whole."""
    result, _, _ = play_game(
        hn.ContextFTPL(ORACLE, seed=3), WORLD, horizon, world_rng(5), points, comparator
    )
    learner = hn.ContextFTPL(ORACLE, seed=3)
    recorder_rounds = []
    for this_round in WORLD.rounds(horizon, world_rng(5)):
        learner.update(this_round.reveal(learner.act(this_round.context)))
        recorder_rounds.append((this_round.context, this_round.losses.copy(), this_round.loss))
    return result, recorder_rounds, learner


def test_curves_hold_what_a_full_trace_holds():
    result, rounds, learner = play()
    losses = np.cumsum([loss for _, _, loss in rounds])
    totals = np.zeros(30)
    best = []
    for context, values, _ in rounds:
        totals += values[ORACLE.table[:, context]]
        best.append(totals.min())
    at = np.array(result["curve"]["t"]) - 1
    assert result["curve"]["loss"] == losses[at].tolist()
    np.testing.assert_allclose(result["curve"]["best"], np.array(best)[at], atol=1e-9)
    assert result["regret"] == pytest.approx(losses[-1] - best[-1])
    assert result["mean_loss"] == pytest.approx(losses[-1] / 500)
    assert result["oracle_calls"] == learner.oracle_calls
    assert result["certificate"] == float(learner.certificate())
    assert result["rounds"] == result["effective"] == 500


def test_who_led_is_told_by_name():
    result, rounds, _ = play(points=50)
    totals = np.zeros(30)
    leaders = []
    for context, values, _ in rounds:
        totals += values[ORACLE.table[:, context]]
        leaders.append(int(totals.argmin()))
    named = [result["leaders"][i] for i in result["curve"]["leader"]]
    late = [(t, name) for t, name in zip(result["curve"]["t"], named, strict=True) if t > 100]
    assert len(late) > 20
    assert all(name == f"policy {leaders[t - 1]} of 30" for t, name in late)
    assert len(set(result["leaders"])) == len(result["leaders"]) > 1


def test_looking_back_finds_what_the_game_saw():
    result, _, _ = play()
    alone = look_back(WORLD, ORACLE, 500, 20, 5)
    assert alone["curve"]["t"] == result["curve"]["t"]
    assert alone["curve"]["best"] == result["curve"]["best"]
    assert alone["curve"]["leader"] == result["curve"]["leader"]
    assert alone["leaders"] == result["leaders"]
    assert alone["best"] == result["best"]


@pytest.mark.slow
def test_an_approximate_best_policy_is_judged_by_what_it_really_costs():
    world = hn.environments.Classification.bundled("iris")
    oracle = hn.oracles.LinearPolicies(n_actions=3)
    assert not oracle.exact
    found = look_back(world, oracle, 400, 10, 0)
    total = oracle.objective()
    rounds = list(world.rounds(400, world_rng(0)))
    for this_round in rounds:
        this_round.reveal(0)
        total.add(oracle.check_context(this_round.context), this_round.losses)
    sample = Sample()
    for this_round in rounds:
        sample.add(this_round.context, this_round.losses)
    fits = {fit.name: fit for fit in candidates(oracle, total.leader(), sample)}
    costs = {
        name: np.cumsum(sample.losses[np.arange(400), fit.choose(sample.rows)])
        for name, fit in fits.items()
    }
    assert len(costs) == 5
    assert found["best"] == min(cost[-1] for cost in costs.values())
    at = np.array(found["curve"]["t"]) - 1
    assert found["curve"]["best"] == costs[found["found"]][at].tolist()
    assert found["leaders"] is None


def test_weights_make_an_estimate_and_an_effective_size():
    recorder = RunRecorder(hn.baselines.UniformRandom(2, seed=0), None, 10, 3)
    for weight, loss in [(2.0, 1.0), (0.0, 0.5), (1.0, 0.25)]:
        this_round = Round(None, np.array([loss, loss]))
        this_round.reveal(0)
        this_round.weight = weight
        recorder.record(this_round, 0.0)
    assert recorder.mean_loss == pytest.approx((2.0 + 0.25) / 3.0)
    assert recorder.effective == pytest.approx(9.0 / 5.0)
    result, _ = recorder.result(0.0)
    assert result["loss"] == pytest.approx(3 * 2.25 / 3.0)


def test_a_log_in_which_nothing_was_accepted_has_no_mean():
    recorder = RunRecorder(hn.baselines.UniformRandom(2, seed=0), None, 10, 1)
    this_round = Round(None, np.zeros(2))
    this_round.reveal(0)
    this_round.weight = 0.0
    recorder.record(this_round, 0.0)
    result, _ = recorder.result(0.0)
    assert result["mean_loss"] is None
    assert result["effective"] == 0.0


def test_memory_does_not_grow_with_the_number_of_rounds():
    sizes = []
    for horizon in (2000, 20000):
        recorder = RunRecorder(hn.baselines.UniformRandom(2, seed=0), ORACLE, 16, horizon)
        this_round = Round(0, np.zeros(3))
        this_round.reveal(0)
        for _ in range(horizon):
            recorder.record(this_round, 0.0)
        sizes.append(sum(map(len, recorder._curve.values())))
    assert max(sizes) <= 7 * (16 + 16)
