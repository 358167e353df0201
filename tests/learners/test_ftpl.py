import numpy as np
import pytest

import hannan as hn
from tests import naive, problems


def laplace(d, K, scale):
    return lambda rng: [(x, rng.laplace(scale=scale, size=K)) for x in range(d)]


@pytest.mark.parametrize("kind", problems.KINDS)
def test_it_leads_for_the_fake_and_real_outcomes_together(kind):
    oracle, rows = problems.make(kind)
    drawn = []

    def fakes(rng):
        # Lengths are random, zero included, and contexts repeat.
        length = int(rng.integers(0, 6))
        drawn.append([(int(rng.integers(3)), rng.normal(size=3)) for _ in range(length)])
        return iter(drawn[-1])

    learner = hn.FTPL(oracle, fakes, seed=0)
    history = []
    for context, losses in problems.rounds(3, 3, 60):
        action = learner.act(context)
        assert action == rows[naive.leader(rows, drawn[-1] + history)][context]
        learner.update(losses)
        history.append((context, losses))
    assert {len(sequence) for sequence in drawn} == set(range(6))


def test_without_fakes_it_follows_the_leader():
    oracle, _ = problems.make("FinitePolicies")
    rounds = problems.rounds(3, 3, 60)
    plain = hn.baselines.FollowTheLeader(oracle)
    assert problems.play(hn.FTPL(oracle, lambda rng: []), rounds) == problems.play(plain, rounds)


def test_the_nth_sequence_is_a_function_of_the_seed_and_n():
    oracle = hn.oracles.AllPolicies(2, 3)
    rounds = problems.rounds(2, 3, 50)

    def greedy(rng):
        # Takes more variates in some rounds than in others.
        rng.random(size=int(rng.integers(1, 50)))
        return laplace(2, 3, 3.0)(rng)

    plays = [problems.play(hn.FTPL(oracle, greedy, seed=s), rounds) for s in (1, 1, 2)]
    assert plays[0] == plays[1] != plays[2]


def test_sequences_are_drawn_afresh_in_every_round():
    seen = []

    def fakes(rng):
        seen.append(rng.random())
        return []

    problems.play(hn.FTPL(hn.oracles.AllPolicies(1, 2), fakes, seed=0), [(0, np.zeros(2))] * 50)
    assert len(set(seen)) == 50


def test_fakes_never_stay_in_the_history():
    oracle = hn.oracles.AllPolicies(1, 2)
    learner = hn.FTPL(oracle, lambda rng: [(0, [100.0, -100.0])], seed=0)
    assert problems.play(learner, [(0, np.array([0.0, 1.0]))] * 10) == [1] * 10
    assert learner.best_policy()(0) == 0
    assert learner.certificate().realised_regret == 10.0


@pytest.mark.parametrize(
    ("fake", "error"),
    [
        ((5, [0.0, 0.0]), hn.ContextError),
        ((0, [0.0, 0.0, 0.0]), hn.LossError),
        ((0, [np.nan, 0.0]), hn.LossError),
        ((0, "xy"), hn.InputTypeError),
    ],
)
def test_a_bad_fake_outcome_is_refused_and_changes_nothing(fake, error):
    oracle = hn.oracles.AllPolicies(2, 2)
    bad = [False]

    def fakes(rng):
        good = laplace(2, 2, 2.0)(rng)
        return [*good, fake] if bad[0] else good

    learner, twin = (hn.FTPL(oracle, fakes, seed=3) for _ in range(2))
    for context, losses in problems.rounds(2, 2, 30):
        bad[0] = True
        with pytest.raises(error):
            learner.act(context)
        bad[0] = False
        assert learner.act(context) == twin.act(context)
        learner.update(losses)
        twin.update(losses)


def test_fakes_that_are_no_function_are_refused():
    with pytest.raises(hn.InputTypeError, match="fake_outcomes"):
        hn.FTPL(hn.oracles.AllPolicies(1, 2), [(0, [0.0, 1.0])])


@pytest.mark.parametrize("loss", [[0.0], [np.nan, 0.0], [2.0, 0.0]])
def test_bad_losses_are_refused(loss):
    learner = hn.FTPL(hn.oracles.AllPolicies(1, 2), laplace(1, 2, 1.0), seed=0)
    learner.act()
    with pytest.raises(hn.LossError):
        learner.update(loss)
    learner.update([0.0, 1.0])
    assert learner.rounds == 1
