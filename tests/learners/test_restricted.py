"""A total seen through what is played where some actions are not available."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.availability import substitution
from hannan.core.oracle import Draw
from hannan.perturbation import seed_key
from tests import problems

K = 4
SCALE = 1.5


def total_of(kind, seed=0):
    oracle, _ = problems.make(kind, d=3, K=K, N=9, seed=seed)
    total = problems.total(oracle, problems.rounds(3, K, 5, seed=seed))
    return total, oracle.noise(range(3), seed_key(seed), 0, 2**16)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("available", [[0, 3], [1, 2], [2]])
@pytest.mark.parametrize("kind", ["FinitePolicies", "FunctionOracle"])
def test_every_choice_is_replaced_by_what_is_played_for_it(kind, available, seed):
    total, noise = total_of(kind, seed)
    plays = substitution(np.array(available), available[-1], K)
    draws = [Draw(noise, n, SCALE) for n in range(60)]
    played = [int(plays[total.action(1, draw)]) for draw in draws]
    assert [total.action(1, draw, None, plays) for draw in draws] == played
    chosen = total.chosen(1, draws[0], 60, None, plays)
    assert chosen.argmax(axis=1).tolist() == played
    assert (chosen.sum(axis=1) == 1).all()
    assert set(played) <= set(available)


@pytest.mark.parametrize("available", [[0, 3], [1, 2, 3]])
@pytest.mark.parametrize("L", [1, 2, 30])
@pytest.mark.parametrize("r", [1, 2])
def test_a_weight_counts_every_draw_that_leads_to_the_element(available, L, r):
    total, noise = total_of("FinitePolicies", seed=1)
    plays = substitution(np.array(available), available[-1], K)
    for element in available:
        for first in range(0, 40, 4):
            draw = Draw(noise, first, SCALE)
            hits = total.chosen(1, draw, max(L - 1, 1), None, plays)[: L - 1, element]
            places = np.flatnonzero(hits) + 1
            enough = len(places) >= r
            expected = places[r - 1] / r if enough else L / (len(places) + 1)
            used = int(places[r - 1]) if enough else L - 1
            found = total.weights(1, np.array([element]), draw, L, r, None, plays)
            assert (found[0].item(), found[1]) == (pytest.approx(expected), used)


def test_the_law_of_what_is_played_adds_up_that_of_the_choices():
    oracle = hn.oracles.FinitePolicies(range(K))
    total = oracle.objective()
    total.add(0, np.array([0.0, 0.5, 1.0, 0.25]))
    draw = Draw(oracle.noise([0], seed_key(2), 0, 2**16), 0, SCALE)
    distribution = total.distribution(0, draw)
    found = total.distribution(0, draw, None, substitution(np.array([0, 3]), 3, K))
    np.testing.assert_allclose(
        found, [distribution[0], 0.0, 0.0, distribution[1] + distribution[2] + distribution[3]]
    )


@pytest.mark.parametrize("available", [[0, 3], [1, 2], [2]])
def test_where_actions_have_scores_the_best_of_the_available_is_played(available):
    total, noise = total_of("AllPolicies", seed=2)
    plays = substitution(np.array(available), available[-1], K)
    for n in range(40):
        scores = total.totals[1] + SCALE * noise.unit(n)[1]
        best = min(available, key=lambda b: scores[b])
        assert total.action(1, Draw(noise, n, SCALE), None, plays) == best


# What a restricted round costs ------------------------------------------------------------------


FULL, BANDIT = hn.ContextFTPL, hn.ContextSemiBanditFTPL


def small(kind, learner, **options):
    oracle, _ = problems.make(kind, d=3, K=3)
    return learner(oracle, range(3), epsilon=0.5, seed=0, **options)


@pytest.mark.parametrize("learner", [FULL, BANDIT])
@pytest.mark.parametrize("kind", problems.KINDS)
def test_the_substitute_is_found_with_one_call_and_only_while_it_must_be(kind, learner):
    """One call for it, one to act; none for it once all that are available have been seen."""
    found = small(kind, learner)
    loss = [0.5, 0.25, np.nan] if learner is FULL else 0.0
    for asked in range(3):
        before = found.oracle_calls
        found.act(1, available=[0, 1])
        both_seen = learner is FULL and asked > 0
        assert found.oracle_calls - before == (1 if both_seen else 2)
        if learner is FULL:
            found.update(loss)
    before = found.oracle_calls
    found.act(1)
    assert found.oracle_calls - before == 1


@pytest.mark.parametrize("learner", [FULL, BANDIT])
@pytest.mark.parametrize("kind", problems.KINDS)
def test_the_substitute_is_computed_once_in_a_round(kind, learner, monkeypatch):
    found = small(kind, learner, **({} if learner is FULL else {"max_resamples": 2}))
    asked = []
    original = type(found._availability).restrict

    def watched(self, opened, *args):
        asked.append(opened)
        original(self, opened, *args)

    monkeypatch.setattr(type(found._availability), "restrict", watched)
    for _ in range(3):
        found.act(1, available=[0, 1])
        found.update([0.5, 0.25, np.nan] if learner is FULL else 0.5)
    decision = found.decide(1, available=[0, 1])
    found.update([0.5, 0.25, np.nan] if learner is FULL else 0.5, decision=decision)
    found.propensities(1, draws=5, available=[0, 1])
    found.would_play(1, 5, available=[0, 1])
    assert len(asked) == 6


def test_a_users_solver_is_not_asked_more_often_than_is_counted_in_restricted_rounds():
    asked = []
    oracle, _ = problems.make("FunctionOracle")

    def solve(contexts, losses):
        asked.append(1)
        return oracle.solve(contexts, losses)

    for learner in (FULL, BANDIT):
        asked.clear()
        found = learner(oracle.clone(solve=solve), range(3), epsilon=0.5, seed=0)
        for t in range(20):
            available = [[0, 1], [1, 2], [0, 2], None][t % 4]
            action = found.act(t % 3, available=available)
            assert available is None or action in available
            found.update([0.5, 0.25, 0.75] if learner is FULL else 0.5)
        # `best_among` may ask twice where no policy's action is available; not for these.
        assert len(asked) == found.oracle_calls
