import copy
import math
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.learners import discounted as module
from hannan.perturbation import seed_key
from tests import naive, naive_adaptive, problems

FINITE, ROWS = problems.make("FinitePolicies")


def hard_rounds(T, seed=0, low=0):
    """Integer losses with the leader of a while ago punished, so that D keeps moving."""
    rng = np.random.default_rng(seed)
    rounds = problems.rounds(3, 3, T, seed=seed, low=low)
    for t in range(T):
        losses = rounds[t][1]
        losses[(t // 3) % 3] += rng.integers(2) * 0.5
        losses /= 1.5
    return rounds


def discounted(oracle=FINITE, discount=0.9, seed=0, **options):
    return hn.Discounted(hn.ContextFTPL(oracle, range(3), seed=seed, **options), discount)


def play_counting(learner, rounds):
    """Actions, D in discounted units after each round, and how often weights were renewed."""
    actions, D, renewals = [], [], 0
    for context, losses in rounds:
        actions.append(learner.act(context))
        age = learner._age
        learner.update(losses)
        renewals += learner._age < age
        D.append(learner._inner.step.D * learner.discount ** (learner._age - 1))
    return actions, D, renewals


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize(("discount", "T", "times"), [(0.5, 150, 3), (0.07, 60, 5), (0.9, 300, 1)])
def test_play_equals_its_slow_twin_across_renewals(kind, discount, T, times):
    oracle, rows = problems.make(kind, seed=1)
    learner = discounted(oracle, discount, seed=4)
    rounds = hard_rounds(T)
    unit = oracle.noise(range(3), seed_key(4), 0, 2**20).unit
    G = learner._inner.complexity.value
    expected, D = naive_adaptive.discounted(rows, range(3), rounds, unit, G, discount)
    found, seen, renewals = play_counting(learner, rounds)
    assert found == expected
    assert seen == pytest.approx(D)
    assert renewals >= times
    assert max(D) > 1
    assert learner._inner.leader.number == T  # every round had a draw of its own


@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize(("discount", "T"), [(0.5, 41), (0.5, 97), (0.9, 290), (1.0, 80)])
def test_the_certificate_is_in_discounted_units(discount, T, low):
    learner = discounted(discount=discount, loss_range=(-1, 1) if low else (0, 1))
    rounds = hard_rounds(T, low=low)
    actions, D, _ = play_counting(learner, rounds)
    loss, regret = naive_adaptive.discounted_regret(ROWS, rounds, actions, discount)
    certificate = learner.certificate(0.9)
    assert certificate.loss == pytest.approx(loss)
    assert certificate.realised_regret == pytest.approx(regret)
    before = discount * D[-2]  # the noise of the last round had size D/G before it
    G = learner._inner.complexity
    assert certificate.measured == pytest.approx(D[-1] + before * G.upper / G.value)
    squares = sum(discount ** (2 * k) for k in range(T))
    width = 2.0 if low else 1.0
    assert certificate.high_probability == pytest.approx(
        certificate.measured + width * math.sqrt(squares * math.log(10) / 2)
    )
    assert certificate.measured <= certificate.a_priori
    assert ("discounted" in str(certificate)) == (discount < 1)
    assert certificate.rounds == T


def test_the_certificate_does_not_change_when_weights_are_renewed(monkeypatch):
    learner, twin = discounted(discount=0.5), discounted(discount=0.5)
    problems.play(learner, hard_rounds(40))
    monkeypatch.setattr(module, "_HEAVIEST", math.inf)
    problems.play(twin, hard_rounds(40))
    assert (learner._age, twin._age) == (0, 40)
    before, after = twin.certificate(), learner.certificate()
    for name in ("loss", "realised_regret", "measured", "a_priori", "high_probability"):
        assert getattr(after, name) == pytest.approx(getattr(before, name))
    assert discounted().certificate().realised_regret == 0.0


@pytest.mark.stat
@pytest.mark.parametrize("discount", [0.9, 0.99])
def test_discounted_regret_keeps_its_bound_at_every_time(discount):
    oracle = hn.oracles.AllPolicies(1, 3)
    world = hn.environments.LeaderPunisher(oracle)
    G = hn.ContextFTPL(oracle).complexity.upper
    bound = 2 * math.sqrt(2 * G / (1 - discount**2)) + 2
    regrets, measured = [], []
    for seed in range(20):
        learner = hn.Discounted(hn.ContextFTPL(oracle, seed=seed), discount)
        times = []
        for t, this_round in enumerate(world.rounds(400, np.random.default_rng(seed)), start=1):
            learner.update(this_round.reveal(learner.act(this_round.context)))
            if t % 100 == 0:
                certificate = learner.certificate()
                times.append((certificate.realised_regret, certificate.measured))
        regrets.append([r for r, _ in times])
        measured.append([m for _, m in times])
    # Three standard errors, at four times: one false alarm in two hundred.
    gaps = np.array(regrets) - np.array(measured)
    assert (gaps.mean(axis=0) <= 3 * gaps.std(axis=0, ddof=1) / math.sqrt(20)).all()
    assert (np.mean(measured, axis=0) <= bound).all()
    assert (np.mean(regrets, axis=0) > 0.05 * bound).all()  # the adversary does its worst


def test_without_discount_it_is_the_plain_learner():
    plain = hn.ContextFTPL(FINITE, range(3), seed=3)
    learner = hn.Discounted(hn.ContextFTPL(FINITE, range(3), seed=3), 1.0)
    rounds = hard_rounds(200)
    assert problems.play(learner, rounds) == problems.play(plain, rounds)
    assert learner.certificate() == plain.certificate()
    assert learner.oracle_calls == plain.oracle_calls
    assert not learner._recent


def test_what_is_kept_does_not_grow():
    learner = discounted(hn.oracles.AllPolicies(3, 3), 0.5)
    rounds = hard_rounds(400)
    problems.play(learner, rounds[:200])
    size = len(pickle.dumps(learner))
    problems.play(learner, rounds[200:])
    assert abs(len(pickle.dumps(learner)) - size) < 100
    assert len(learner._recent) == math.ceil(math.log(1e17) / math.log(2))


@pytest.mark.parametrize("discount", [1e-300, 1e-9, 0.3])
def test_totals_stay_far_from_the_ends_of_floats(discount):
    learner = discounted(hn.oracles.AllPolicies(3, 3), discount)
    for context, losses in hard_rounds(200):
        learner.act(context)
        learner.update(losses)
        assert learner._inner.leader.total.totals.max() < 3e12
        assert learner._inner.step.scale < 1e13


def test_the_past_is_forgotten():
    oracle = hn.oracles.AllPolicies(1, 2)
    rounds = [(0, np.array([0.0, 1.0]))] * 500 + [(0, np.array([1.0, 0.0]))] * 40
    plain = problems.play(hn.ContextFTPL(oracle, seed=0), rounds)
    learner = hn.Discounted(hn.ContextFTPL(oracle, seed=0), 0.95)
    forgetful = problems.play(learner, rounds)
    assert sum(plain[500:]) == 0
    assert sum(forgetful[500:]) > 20
    assert learner.best_policy()(None) == 1


def test_losses_kept_are_not_those_of_the_caller():
    learner, twin = discounted(discount=0.5), discounted(discount=0.5)
    reused = np.empty(3)
    for context, losses in hard_rounds(120):
        assert learner.act(context) == twin.act(context)
        reused[:] = losses
        learner.update(reused)
        twin.update(losses)
    assert learner.certificate() == twin.certificate()


def test_sets_are_discounted_too():
    oracle = hn.oracles.Subsets(4, 2)
    learner = hn.Discounted(hn.ContextFTPL(oracle, seed=0), 0.8)
    for t in range(150):
        learner.act()
        learner.update([0.9, 0.9, 0.1, 0.2] if t < 130 else [0.1, 0.2, 0.9, 0.9])
    assert learner.best_policy()(None).tolist() == [0, 1]
    plain = hn.ContextFTPL(oracle, seed=0)
    assert learner._inner.leader.kappa == plain.leader.kappa == 1.0
    squares = (1 - 0.8**300) / (1 - 0.8**2)
    certificate = learner.certificate()
    assert certificate.high_probability == pytest.approx(
        certificate.measured + 2.0 * math.sqrt(squares * math.log(20) / 2)
    )


BAD = [[0.0, 1.5, 0.0], [0.0, -0.1, 0.0], [0.0, np.nan, 0.0], [0.0, 0.0], [], None, "abc"]


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize("start", [30, 40, 45])
def test_refused_losses_change_nothing(bad, start):
    learner, twin = discounted(discount=0.5), discounted(discount=0.5)
    rounds = hard_rounds(150)
    for each in (learner, twin):
        problems.play(each, rounds[:start])
        each.act(1)
    with pytest.raises(hn.HannanError):
        learner.update(bad)
    for each in (learner, twin):
        each.update([0.0, 1.0, 1.0])
    assert problems.play(learner, rounds[start:]) == problems.play(twin, rounds[start:])
    assert learner.certificate() == twin.certificate()
    assert learner.oracle_calls == twin.oracle_calls


def test_a_refused_context_leaves_the_open_round_open():
    learner, twin = discounted(discount=0.5), discounted(discount=0.5)
    rounds = hard_rounds(150)
    for each in (learner, twin):
        problems.play(each, rounds[:40])  # weights are due to be renewed
    for bad in (3, -1, "here"):
        state = pickle.dumps(learner)
        with pytest.raises(hn.ContextError):
            learner.act(bad)
        assert pickle.dumps(learner) == state
    for each in (learner, twin):
        each.act(0)
    with pytest.raises(hn.ContextError):
        learner.act(7)
    for each in (learner, twin):
        each.update([0.0, 1.0, 1.0])
    assert problems.play(learner, rounds[41:]) == problems.play(twin, rounds[41:])


def test_the_number_of_actions_is_learned_from_the_first_losses_that_are_accepted():
    learner = discounted(hn.oracles.FunctionOracle(naive.solver(ROWS)), 0.5)
    for _ in range(50):
        learner.act(0)
        with pytest.raises(hn.LossError):
            learner.update([0.0, 2.0])
        if learner.rounds:
            with pytest.raises(hn.LossError, match="3 numbers"):
                learner.update([0.0, 1.0])
        learner.update([0.0, 1.0, 0.5])


def test_loss_functions_are_refused():
    learner = hn.Discounted(hn.ContextFTPL(hn.oracles.Submodular(3), loss_range=(0, 3)), 0.9)
    learner.act()
    with pytest.raises(hn.LossError, match="loss for each element"):
        learner.update(hn.losses.ConcaveOfCardinality([0.0, 1.0, 1.5, 1.5]))
    learner.update([0.1, 0.2, 0.3])
    assert learner.rounds == 1


def test_an_open_world_is_discounted_without_a_theorem():
    learner = hn.Discounted(hn.ContextFTPL(hn.oracles.Stumps(2), seed=0), 0.5)
    rng = np.random.default_rng(0)
    for _ in range(100):
        row = rng.random(2)
        learner.act(row)
        learner.update([row[0], 1 - row[0]])
    assert learner.certificate().measured is None
    assert "no theorem" in str(learner.certificate())


def test_a_copy_plays_on_like_the_original():
    original = discounted(discount=0.5)
    rounds = hard_rounds(120)
    problems.play(original, rounds[:38])
    original.act(2)
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    original.update([0.0, 0.5, 1.0])
    expected = problems.play(original, rounds[38:])
    for twin in twins:
        twin.update([0.0, 0.5, 1.0])
        assert problems.play(twin, rounds[38:]) == expected
        assert twin.certificate() == original.certificate()


def test_fresh_learners_have_randomness_of_their_own():
    learner = discounted()
    assert len({each.learner.seed for each in (learner, learner.fresh(1), learner.fresh(2))}) == 3
    assert learner.fresh(1).learner.seed == learner.fresh(1).learner.seed


def test_a_known_complexity_is_kept():
    plain = hn.ContextFTPL(FINITE, range(3), seed=0)
    known = plain.complexity
    assert hn.Discounted(plain, 0.9)._inner.complexity is known


REFUSED = {
    "must be a ContextFTPL. Got ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(FINITE),
    "must be a ContextFTPL. Got Hedge": hn.baselines.Hedge(ROWS),
    "epsilon=0.5": hn.ContextFTPL(FINITE, epsilon=0.5),
    "epsilon='anytime'": hn.ContextFTPL(FINITE, epsilon="anytime"),
    "noise='once'": hn.ContextFTPL(FINITE, noise="once"),
    "must be a ContextFTPL. Got PlayoutFTPL": hn.PlayoutFTPL(FINITE, [0, 1]),
    "predictor=Last": hn.ContextFTPL(FINITE, predictor=hn.predictors.Last()),
}


@pytest.mark.parametrize("message", REFUSED)
def test_learners_that_do_not_tune_themselves_are_refused(message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.Discounted(REFUSED[message])


@pytest.mark.parametrize("discount", [0.0, -0.5, 1.01, math.nan, math.inf, True, "0.9", None])
def test_a_discount_outside_its_range_is_refused(discount):
    with pytest.raises(hn.ParameterError, match="'discount' parameter of Discounted"):
        hn.Discounted(hn.ContextFTPL(FINITE), discount)
