import numpy as np
import pytest
from examples.worlds import SlateClicks

import hannan as hn
from tests import problems

CONTRACT = {"SlateClicks": SlateClicks(problems.SLATES)}


def world(**options):
    rng = np.random.default_rng(0)
    slates = rng.permuted(np.tile(np.arange(6), (20, 3, 1)), axis=2)[:, :, :2]
    return SlateClicks(hn.oracles.FinitePolicies(slates, n_actions=6), **options)


def outcomes(environment, horizon, choose, seed=1):
    """Contexts, losses and actions when `choose(context)` is played."""
    rows = []
    for this_round in environment.rounds(horizon, np.random.default_rng(seed)):
        action = choose(this_round.context)
        this_round.reveal(action)
        rows.append((this_round.context, this_round.losses.copy(), action))
    return rows


@pytest.mark.stat
def test_clicks_come_as_often_as_declared():
    # 6000 rounds: 4.5 standard errors of a frequency are below 0.05 for each item and context.
    rows = outcomes(world(appeal=0.7, dull=0.1, fatigue=0.0), 6000, lambda x: np.array([0, 1]))
    for context in range(3):
        clicks = 1 - np.mean([losses for x, losses, _ in rows if x == context], axis=0)
        planted = clicks > 0.4
        assert planted.sum() == 2
        np.testing.assert_allclose(clicks[planted], 0.7, atol=0.05)
        np.testing.assert_allclose(clicks[~planted], 0.1, atol=0.05)


def test_the_item_shown_most_often_is_not_clicked_any_more():
    environment = world(appeal=1.0, dull=1.0, fatigue=1.0)
    rows = outcomes(environment, 60, lambda x: np.array([2, 4]) if x else np.array([3, 5]))
    seen = set()
    for context, losses, _ in rows:
        tired = np.flatnonzero(losses)
        expected = [] if context not in seen else [2 if context else 3]
        assert tired.tolist() == expected
        seen.add(context)


def test_it_reacts_to_what_is_played():
    environment = world(fatigue=1.0)
    assert not environment.oblivious
    one = outcomes(environment, 100, lambda x: np.array([0, 1]))
    other = outcomes(environment, 100, lambda x: np.array([2, 3]))
    assert [x for x, _, _ in one] == [x for x, _, _ in other]
    assert any((a != b).any() for (_, a, _), (_, b, _) in zip(one, other, strict=True))
    calm = world(fatigue=0.0)
    one = outcomes(calm, 100, lambda x: np.array([0, 1]))
    other = outcomes(calm, 100, lambda x: np.array([2, 3]))
    assert all((a == b).all() for (_, a, _), (_, b, _) in zip(one, other, strict=True))


@pytest.mark.parametrize("name", ["appeal", "dull", "fatigue"])
def test_probabilities_outside_zero_and_one_are_refused(name):
    with pytest.raises(hn.ParameterError, match=name):
        world(**{name: 1.5})


def test_a_learner_finds_the_planted_slates():
    environment = world(appeal=0.9, dull=0.1, fatigue=0.0)
    learner = hn.ContextSemiBanditFTPL(environment.oracle, seed=0)
    trace = hn.play(learner, environment, 2000, seed=1)
    # A slate of two that is clicked with probability 0.9 each costs 0.2.
    assert trace.losses[-500:].mean() < 0.5
    assert trace.losses[:15].mean() > 0.8
