"""A total seen through what is played where some actions are not available."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.availability import substitution
from hannan.core.oracle import Draw
from hannan.core.rounds import OpenRound
from hannan.learners.restricted import Restricted, restricted
from hannan.perturbation import seed_key
from tests import problems

K = 4
SCALE = 1.5


def total_of(kind, seed=0):
    oracle, _ = problems.make(kind, d=3, K=K, N=9, seed=seed)
    total = problems.total(oracle, problems.rounds(3, K, 5, seed=seed))
    return total, oracle.noise(range(3), seed_key(seed), 0, 2**16)


def opened_round(available):
    opened = OpenRound(1)
    if available is not None:
        opened.plays = substitution(np.array(available), available[-1], K)
    return opened


@pytest.mark.parametrize("kind", problems.KINDS)
def test_where_all_actions_are_available_the_total_is_as_it_is(kind):
    total, _ = total_of(kind)
    assert restricted(total, opened_round(None)) is total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("available", [[0, 3], [1, 2], [2]])
@pytest.mark.parametrize("kind", ["FinitePolicies", "FunctionOracle"])
def test_every_choice_is_replaced_by_what_is_played_for_it(kind, available, seed):
    total, noise = total_of(kind, seed)
    opened = opened_round(available)
    seen = restricted(total, opened)
    choices = [total.action(1, Draw(noise, n, SCALE)) for n in range(60)]
    played = [int(opened.plays[choice]) for choice in choices]
    assert [seen.action(1, Draw(noise, n, SCALE)) for n in range(60)] == played
    assert seen.chosen(1, Draw(noise, 0, SCALE), 60).argmax(axis=1).tolist() == played
    assert (seen.chosen(1, Draw(noise, 0, SCALE), 60).sum(axis=1) == 1).all()
    assert set(played) <= set(available)
    # Leaders and values are those of the class itself.
    for one, other in zip(
        seen.leaders(Draw(noise, 0, SCALE), 5), total.leaders(Draw(noise, 0, SCALE), 5), strict=True
    ):
        assert [one(x) for x in range(3)] == [other(x) for x in range(3)]
    np.testing.assert_array_equal(
        seen.minima(Draw(noise, 0, SCALE), 5), total.minima(Draw(noise, 0, SCALE), 5)
    )


@pytest.mark.parametrize("available", [[0, 3], [1, 2, 3]])
@pytest.mark.parametrize("L", [1, 2, 30])
@pytest.mark.parametrize("r", [1, 2])
def test_a_weight_counts_every_draw_that_leads_to_the_element(available, L, r):
    total, noise = total_of("FinitePolicies", seed=1)
    seen = restricted(total, opened_round(available))
    for element in available:
        for first in range(0, 40, 4):
            hits = seen.chosen(1, Draw(noise, first, SCALE), max(L - 1, 1))[: L - 1, element]
            places = np.flatnonzero(hits) + 1
            enough = len(places) >= r
            expected = places[r - 1] / r if enough else L / (len(places) + 1)
            used = int(places[r - 1]) if enough else L - 1
            found = seen.resample_one(1, element, Draw(noise, first, SCALE), L, r)
            assert found == (pytest.approx(expected), used)


def test_the_law_of_what_is_played_adds_up_that_of_the_choices():
    total, noise = total_of("AllPolicies", seed=2)
    plays = substitution(np.array([0, 3]), 3, K)
    law = total.law(1, Draw(noise, 0, SCALE))
    found = Restricted(total, plays).law(1, Draw(noise, 0, SCALE))
    np.testing.assert_allclose(found, [law[0], 0.0, 0.0, law[1] + law[2] + law[3]])
    unknown, noise = total_of("FinitePolicies", seed=2)
    assert Restricted(unknown, plays).law(1, Draw(noise, 0, SCALE)) is None


@pytest.mark.parametrize("available", [[0, 3], [1, 2], [2]])
def test_where_actions_have_scores_the_best_of_the_available_is_played(available):
    total, noise = total_of("AllPolicies", seed=2)
    seen = restricted(total, opened_round(available))
    assert not isinstance(seen, Restricted)
    for n in range(40):
        scores = total.totals[1] + SCALE * noise.unit(n)[1]
        best = min(available, key=lambda b: scores[b])
        assert seen.action(1, Draw(noise, n, SCALE)) == best


def test_a_copy_is_independent_and_adding_reaches_the_total():
    total, _ = total_of("FinitePolicies")
    seen = restricted(total, opened_round([0, 3]))
    before = total.minima()[0]
    seen.copy().add(1, np.ones(K))
    assert total.minima()[0] == before
    seen.add(1, np.ones(K))
    assert total.minima()[0] == before + 1.0


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
