"""The past of a game with noise before it."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.availability import substitution
from hannan.core.oracle import WITHOUT_NOISE, Draw, Timed
from hannan.core.storage import reread
from hannan.kernels.noise import uniform
from hannan.learners.context_set import ContextSet
from hannan.learners.perturbed_leader import (
    NoisyRound,
    PerturbedLeader,
    distribution_of,
    replay,
    shares,
    starting_total,
)
from hannan.perturbation import seed_key
from tests import naive, problems

MEMORY = 2**20


def leader_of(oracle, contexts=None, **options):
    X = ContextSet("a test", oracle, contexts, None, seed_key(0))
    total = starting_total(oracle, X)
    options = {"nonnegative": True} | options
    return PerturbedLeader(oracle, X, total, seed_key(0), 0, MEMORY, **options)


def opened_round(leader, context, scale=1.0, plays=None):
    opened = NoisyRound(context)
    opened.plays = plays
    opened.draw = leader.draw(scale)
    return opened


def minimum(total, draw):
    noise, number, scale = draw
    return total.minima(Draw(noise, number, scale), 1)[0]


# Draws ------------------------------------------------------------------------------------------


def test_draws_are_numbered_and_go_on_when_a_round_has_used_them():
    oracle, _ = problems.make("FinitePolicies")
    leader = leader_of(oracle)
    assert leader.draw(2.0) == (None, 0, 2.0)
    assert leader.put_noise()
    noise = leader.noise
    assert leader.draw(2.0, ahead=3) == (noise, 3, 2.0)
    leader.advance(5)
    assert leader.draw(2.0) == (noise, 5, 2.0)
    assert leader.draw(0.0) == (None, 5, 0.0)  # whether it is ready does not matter yet
    assert leader.put_noise()
    assert leader.noise is noise  # made once
    fixed = leader_of(oracle, fresh=False)
    fixed.advance(5)
    assert fixed.number == 0


def test_the_coin_of_a_draw_does_not_depend_on_which_were_asked_for_before():
    oracle, _ = problems.make("FinitePolicies")
    leader, numbers = leader_of(oracle), [0, 63, 64, 5, 2**40, 2**40 + 1, 65, 64]
    wanted = [uniform(seed_key(0), 2, number) for number in numbers]
    assert [leader.uniform(number) for number in numbers] == wanted
    twin = leader.reseeded(seed_key(1))
    assert twin.uniform(64) == uniform(seed_key(1), 2, 64) != leader.uniform(64)


def test_a_draw_from_a_file_finds_its_noise_again():
    oracle, _ = problems.make("FinitePolicies")
    learner = hn.ContextFTPL(oracle, epsilon=0.25, seed=0)
    learner.act(1)
    twin = reread(learner)
    opened, loaded = learner.open_round(), twin.open_round()
    assert (loaded.context, loaded.action) == (1, opened.action)
    assert loaded.draw[1:] == opened.draw[1:]
    learner.update([0.0, 1.0, 0.5])
    twin.update([0.0, 1.0, 0.5])
    assert twin.certificate() == learner.certificate()


def test_noise_waits_for_the_number_of_actions_and_for_contexts():
    unsized = leader_of(hn.oracles.FunctionOracle(naive.solver([[0], [1]])), [0])
    assert not unsized.put_noise()
    assert unsized.n_actions is None
    sized = unsized.sized(2)
    assert sized.put_noise()
    assert sized.n_actions is not None
    assert sized.oracle.n_actions == 2
    assert unsized.n_actions is None
    assert unsized.noise is None
    assert sized.sized(2) is sized
    empty = leader_of(hn.oracles.LinearPolicies(2))
    assert not empty.put_noise()
    assert empty.G == 0.0


# The past ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("available", [None, [0, 2]])
@pytest.mark.parametrize("kind", problems.KINDS)
def test_foreseeing_is_settling_without_adding(kind, available):
    oracle, _ = problems.make(kind, seed=3)
    plays = None if available is None else substitution(np.array(available), 2, 3)
    for draw, (context, losses) in enumerate(problems.rounds(3, 3, 40, seed=2)):
        leader = leader_of(oracle, range(3))
        leader.put_noise()
        for x, row in problems.rounds(3, 3, 6, seed=draw):
            leader.total.add(x, row)
        opened = opened_round(leader, context, plays=plays)
        z = Draw(leader.noise, draw, 1.0)
        before, after = leader.total.copy(), leader.total.copy()
        after.add(context, losses)
        seen = leader.foresee(opened, losses, z)
        assert minimum(leader.total, z) == minimum(before, z)
        assert leader.settle(opened, losses, z) == seen
        assert minimum(leader.total, z) == minimum(after, z)
        if plays is None or not leader.total.scored:
            assert seen == after.action(context, z)
        else:
            assert seen in available


def test_stability_is_the_shift_lemma():
    oracle, _ = problems.make("FinitePolicies", d=4)
    leader = leader_of(oracle)
    assert leader.kappa == 1
    assert leader.stability(0.5, 10.0) == pytest.approx(0.1 * 0.25)
    assert leader.stability(0.5, 0.1) == 0.5  # never more than the losses differ by
    wide = PerturbedLeader(
        oracle,
        ContextSet("a test", oracle, None, range(4), seed_key(0)),
        oracle.objective(),
        seed_key(0),
        0,
        MEMORY,
        nonnegative=True,
    )
    assert wide.kappa == 4
    assert wide.stability(0.5, 10.0) == pytest.approx(0.1)


def test_losses_that_are_never_negative_have_a_smaller_kappa():
    leader = leader_of(hn.oracles.Paths([(0, 1), (1, 2), (0, 2)], 0, 2), nonnegative=False)
    before = leader.kappa
    leader.expect_nonnegative()
    assert leader.kappa < before


# G ----------------------------------------------------------------------------------------------


def test_G_is_found_once_and_its_calls_are_owed_once():
    oracle, _ = problems.make("FunctionOracle")
    leader = leader_of(oracle, range(3))
    said = leader.complexity()
    assert (leader.owed, leader.found) == (0, None)  # statements are not counted
    assert said.value == leader.G
    assert leader.owed == said.oracle_calls > 0
    assert leader.collect() == said.oracle_calls
    assert said.value == leader.G
    assert leader.owed == leader.collect() == 0


def test_G_is_shared_by_leaders_on_the_same_contexts():
    oracle, _ = problems.make("FunctionOracle")
    first, second = leader_of(oracle, range(3)), leader_of(oracle, range(3))
    second.share_complexity(first)
    assert second.found is None
    _ = first.G
    second.share_complexity(first)
    assert second.found is first.found
    assert second.G == first.G
    assert second.owed == 0
    takes_new_contexts = leader_of(hn.oracles.LinearPolicies(2))
    takes_new_contexts.share_complexity(first)
    assert takes_new_contexts.found is None


def test_G_needs_the_number_of_actions():
    unsized = leader_of(hn.oracles.FunctionOracle(naive.solver([[0], [1]])), [0])
    with pytest.raises(hn.ParameterError, match="n_actions="):
        unsized.complexity()


# Copies -----------------------------------------------------------------------------------------


def test_a_leader_on_the_renewed_X_leaves_the_present_one_alone():
    leader = leader_of(hn.oracles.LinearPolicies(2))
    first = leader.seeing(np.array([0.5]))
    assert (len(leader.X.points), len(first.X.points)) == (0, 1)
    first.put_noise()
    second = first.seeing(np.array([0.25]))
    assert second.noise is None
    assert first.noise is not None
    assert second.total is first.total
    second.X.see(np.array([0.0]))
    assert second.seeing(np.array([0.75])) is not None
    assert leader_of(hn.oracles.AllPolicies(2, 2)).seeing(0) is None


def test_other_noise_for_the_same_past():
    oracle, _ = problems.make("FinitePolicies")
    leader = leader_of(oracle)
    assert leader.reseeded(seed_key(1)).noise is None  # none yet
    leader.put_noise()
    other, same = leader.reseeded(seed_key(1)), leader.reseeded(seed_key(0))
    assert other.total is leader.total
    assert np.array_equal(same.noise.unit(0), leader.noise.unit(0))
    assert not np.array_equal(other.noise.unit(0), leader.noise.unit(0))


# The distribution of a round
# -----------------------------------------------------------------------------


@pytest.mark.stat
@pytest.mark.parametrize("available", [None, [0, 2]])
@pytest.mark.parametrize("kind", ["AllPolicies", "FinitePolicies"])
def test_law_shares_and_replays_agree(kind, available):
    # Chances from 4,000 draws, within 4.5 standard errors of 8,000 others.
    oracle, _ = problems.make(kind, seed=3)
    leader = leader_of(oracle, range(3))
    leader.put_noise()
    leader.total.add(1, np.array([0.0, 1.0, 2.0]))
    plays = None if available is None else substitution(np.array(available), 2, 3)
    opened = opened_round(leader, 1, 2.0, plays)
    past = leader.past(opened)
    q = shares(leader, past, opened, 8000, np.random.default_rng(0))
    actions = replay(leader, past, opened, 4000, np.random.default_rng(1))
    found = np.bincount(actions, minlength=3) / 4000
    assert q.sum() == pytest.approx(1.0)
    error = np.sqrt(q * (1 - q) * (1 / 4000 + 1 / 8000))
    assert np.all(np.abs(found - q) <= 4.5 * error + 1e-12)
    if available is not None:
        assert q[1] == found[1] == 0.0
    distribution = distribution_of(past, opened)
    assert (distribution is None) is (kind == "FinitePolicies")
    if distribution is not None:
        assert distribution.sum() == pytest.approx(1.0)
        assert np.all(np.abs(distribution - q) <= 4.5 * np.sqrt(q * (1 - q) / 8000) + 1e-12)


def test_without_noise_the_law_is_certain():
    oracle, _ = problems.make("FinitePolicies")
    leader = leader_of(oracle)
    opened = opened_round(leader, 1, 0.0)
    distribution = distribution_of(leader.past(opened), opened)
    assert distribution.tolist() == np.eye(3)[leader.total.action(1, WITHOUT_NOISE)].tolist()
    plays = substitution(np.array([2]), 2, 3)
    opened = opened_round(leader, 1, 0.0, plays)
    assert distribution_of(leader.past(opened), opened).tolist() == [0.0, 0.0, 1.0]


def test_asking_for_replays_uses_no_draw_of_the_leader():
    oracle, _ = problems.make("FinitePolicies")
    leader = leader_of(oracle)
    leader.put_noise()
    noise = leader.noise
    replay(leader, leader.total, opened_round(leader, 1), 5, np.random.default_rng(0))
    shares(leader, leader.total, opened_round(leader, 1), 5, np.random.default_rng(0))
    assert (leader.number, leader.noise) == (0, noise)


def test_a_total_starts_empty_and_may_prefer_policies_where_losses_have_a_spread():
    oracle, _ = problems.make("FinitePolicies")
    X = ContextSet("a test", oracle, None, None, seed_key(0))
    assert not starting_total(oracle, X).minima().any()
    asked = []

    class Preferring(hn.oracles.AllPolicies, Timed):
        def start(self, contexts, width):
            asked.append((list(contexts), width))
            return super().start(contexts, width)

    hn.ContextFTPL(Preferring(2, 2), loss_range=(0, 3), seed=0)
    hn.ContextFTPL(Preferring(2, 2), epsilon=0.5, seed=0)
    assert asked == [([0, 1], 3.0)]
