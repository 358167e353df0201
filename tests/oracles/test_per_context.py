import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.checks.oracles import Case, check_settling_among_some_adds_the_round
from hannan.core.oracle import WITHOUT_NOISE, Draw, with_round
from hannan.oracles import AllPolicies, FinitePolicies, FunctionOracle, PerContext
from hannan.perturbation import seed_key
from tests import problems


def first(context):
    return context[0]


def second(context):
    return context[1]


PAIRS = FinitePolicies([[list(pair)] for pair in itertools.combinations(range(4), 2)], n_actions=4)
NESTED = FinitePolicies(np.array([[[1, 0, 0]], [[1, 1, 0]], [[0, 0, 0]]], dtype=bool))
CONTRACT = {
    "PerContext": PerContext(FinitePolicies([[[0, 1]], [[2, 3]]]), ["rain", "sun"]),
    "PerContext, shared by key": PerContext(
        FinitePolicies([[[0, 1]], [[2, 3]]]),
        [(0, "rain"), (1, "rain"), (0, "sun")],
        shared=second,
    ),
}


def instance(seed):
    """A base, its actions as arrays in its order, contexts, and signed integer rounds."""
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    kind = seed % 4
    if kind == 0:
        base, actions = AllPolicies(1, K), [np.array([k]) for k in range(K)]
    elif kind == 1:
        played = rng.integers(K, size=rng.integers(1, 5))
        base, actions = FinitePolicies(played, n_actions=K), [np.array([k]) for k in played]
    else:
        inclusion = rng.integers(0, 2, size=(rng.integers(1, 6), 1, K)).astype(bool)
        base, actions = FinitePolicies(inclusion), [np.flatnonzero(row[0]) for row in inclusion]
    contexts = [["a", "b", "c"][:d], d, None][seed % 3]
    listed = list(range(d)) if contexts == d else ["a", "b", "c"][:d]
    rounds = [
        (listed[rng.integers(d)], rng.integers(-2, 3, size=K).astype(float))
        for _ in range(rng.integers(0, 12))
    ]
    return PerContext(base, contexts), actions, listed, rounds


def brute_force(actions, contexts, rounds):
    """The first best map, contexts to actions, among all of them; and its value."""
    best, plays = np.inf, None
    for chosen in itertools.product(actions, repeat=len(contexts)):
        policy = dict(zip(contexts, chosen, strict=True))
        value = sum(losses[policy[x]].sum() for x, losses in rounds)
        if value < best:
            best, plays = value, policy
    return plays, best


def assert_same(policy, plays):
    for context, action in plays.items():
        assert np.array_equal(np.atleast_1d(policy(context)), action)


@pytest.mark.parametrize("block", range(10))
def test_leaders_are_the_best_of_all_maps(block):
    for seed in range(30 * block, 30 * block + 30):
        oracle, actions, contexts, rounds = instance(seed)
        total = problems.total(oracle, rounds)
        plays, best = brute_force(actions, contexts, rounds)
        assert_same(total.leader(), plays)
        assert total.minima()[0] == best
        noisy = contexts[: 1 + seed % len(contexts)]
        noise = oracle.noise(noisy, seed_key(seed), 0, 2**16)
        for draw, scale in ((0, 1.0), (5, -2.5)):
            fakes = list(zip(noisy, scale * noise.unit(draw), strict=True))
            plays, best = brute_force(actions, contexts, fakes + rounds)
            assert_same(total.leaders(Draw(noise, draw, scale), 1)[0], plays)
            assert total.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(best, abs=1e-4)
            for x in contexts:
                found = total.action(x, Draw(noise, draw, scale))
                assert np.array_equal(np.atleast_1d(found), plays[x])


@pytest.mark.parametrize("base", [PAIRS, NESTED, AllPolicies(1, 3), FinitePolicies([2, 0])])
@pytest.mark.parametrize("contexts", [3, ["rain", "sun"], [("a", 1)], None])
def test_it_keeps_the_contract(base, contexts):
    hn.checks.check_oracle(PerContext(base, contexts), ["x", "y"] if contexts is None else None)


def test_what_it_takes_from_its_base():
    oracle = PerContext(PAIRS, 5)
    assert (oracle.n_actions, oracle.max_chosen, oracle.antichain, oracle.exact) == (
        4,
        2,
        True,
        True,
    )
    assert not PerContext(NESTED, 5).antichain
    assert oracle.log_size(range(5)) == pytest.approx(5 * np.log(6))
    assert PerContext(AllPolicies(1, 2), 5).complexity(range(5)) == 5 * 0.75
    assert oracle.complexity(range(5)) is None


def test_each_context_has_noise_of_its_own():
    oracle = PerContext(PAIRS, ["a", "b", "c"])
    noise = oracle.noise(["a", "b", "c"], seed_key(0), 0, 2**16)
    seen = np.concatenate([noise.unit(draw).ravel() for draw in range(200)])
    assert len(np.unique(seen)) > 0.999 * seen.size
    alone = PAIRS.noise([0], seed_key(0), 0, 2**16)
    assert (noise.unit(7)[2] == alone.unit((2 << 40) + 7)[0]).all()
    # A draw stays what it is when contexts are added to the list.
    assert (oracle.noise(["a", "b"], seed_key(0), 0, 1).unit(7) == noise.unit(7)[:2]).all()


def test_a_round_asks_the_base_once_whatever_the_number_of_contexts():
    calls = []

    def solve(contexts, losses):
        calls.append(len(contexts))
        best = int(losses.sum(axis=0).argmin()) if losses.size else 0
        return lambda context: best

    oracle = PerContext(FunctionOracle(solve, n_actions=3), 10_000)
    total = oracle.objective()
    noise = oracle.noise(range(10_000), seed_key(0), 0, 2**16)
    for x in range(100):
        total.add(x, np.zeros(3))
    calls.clear()
    total.action(5, Draw(noise, 0, 1.0))
    total.action(5, Draw(noise, 0, 1.0), np.ones(3))
    total.settle(5, np.ones(3), Draw(noise, 0, 1.0))
    assert calls == [1, 1, 1]


def test_the_law_of_single_actions_is_exact():
    oracle = PerContext(FinitePolicies([2, 0, 1]), ["a", "b"])
    total = problems.total(oracle, [("b", np.array([0.0, 1.0, 0.5]))])
    noise = oracle.noise(["a", "b"], seed_key(0), 0, 2**16)
    distribution = total.distribution("b", Draw(noise, 0, 1.5))
    found = total.chosen("b", Draw(noise, 0, 1.5), 20_000).mean(axis=0)
    assert np.abs(found - distribution).max() < 0.015
    assert distribution.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("setting", ["contexts", "separator"])
@pytest.mark.parametrize("base", [PAIRS, AllPolicies(1, 4)])
def test_learners_play_it(base, setting):
    visitors = ["new", "known", "rare"]
    oracle = PerContext(base, visitors)
    world = hn.environments.PlantedPolicy(oracle, visitors, good=0.1, bad=0.9)
    for make in (hn.ContextFTPL, hn.ContextSemiBanditFTPL):
        learner = make(oracle, seed=0, **{setting: visitors})
        trace = hn.play(learner, world, 400, seed=0)
        uniform = 400 * oracle.max_chosen * 0.5
        assert trace.losses.sum() < uniform
        assert trace.regret() < 0.6 * (uniform - trace.losses.sum() + trace.regret())


def test_contexts_that_are_not_listed_may_be_anything_hashable():
    oracle = PerContext(PAIRS)
    learner = hn.ContextFTPL(oracle, contexts=["a", ("b", 2)], seed=0)
    for _ in range(20):
        learner.act(("b", 2))
        learner.update([1.0, 0.0, 0.5, 0.0])
    assert learner.best_policy()(("b", 2)).tolist() == [1, 3]
    assert learner.best_policy()("never seen").tolist() == [0, 1]
    with pytest.raises(hn.ContextError, match="hashable"):
        oracle.check_context([1, 2])


def test_only_all_contexts_separate():
    assert PerContext(PAIRS, 3).separates([0, 1]) is False
    assert PerContext(PAIRS, 3).separates([0, 1, 2]) is True
    assert PerContext(FinitePolicies([0], n_actions=2), 3).separates([0]) is True
    with pytest.raises(hn.ParameterError, match="separate"):
        hn.ContextFTPL(PerContext(PAIRS, 3), separator=[0, 1])


def test_repeated_contexts_are_listed_once_and_unknown_ones_refused():
    oracle = PerContext(PAIRS, ["a", "b", "a"])
    assert oracle.contexts == ["a", "b"]
    with pytest.raises(hn.ContextError, match="not among the 2 contexts"):
        oracle.check_context("c")
    with pytest.raises(hn.ContextError, match="0 to 2"):
        PerContext(PAIRS, 3).check_context(3)


@pytest.mark.parametrize("bad", [0, -1, [], [[1], [2]], 2.5, True])
def test_bad_contexts_are_refused(bad):
    with pytest.raises(hn.ParameterError, match="'contexts' parameter of PerContext"):
        PerContext(PAIRS, bad)


def test_a_base_with_contexts_is_refused():
    with pytest.raises(hn.ParameterError, match="without contexts"):
        PerContext(AllPolicies(2, 3), 4)
    with pytest.raises(hn.ParameterError, match="n_actions="):
        PerContext(FunctionOracle(lambda contexts, losses: None), 4)
    with pytest.raises(hn.InputTypeError, match="oracle as its base"):
        PerContext([0, 1], 4)


WAYS = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "b"), ("b", "c")]
TOWN = {pair: hn.oracles.Paths(WAYS, *pair) for pair in [("a", "c"), ("a", "b"), ("b", "c")]}


def test_a_shared_round_in_which_elements_are_closed_counts_everywhere():
    case = Case(PerContext(TOWN, shared=True), list(TOWN), ())
    check_settling_among_some_adds_the_round(case)


@pytest.mark.parametrize("seed", range(10))
def test_shared_losses_count_on_every_context(seed):
    """Leaders, values and actions are those of the sum of all rounds, also with one more."""
    rng = np.random.default_rng(seed)
    oracle = PerContext(TOWN, shared=True)
    total, summed = oracle.objective(), np.zeros(5)
    noise = oracle.noise(list(TOWN), seed_key(seed), 0, 2**16)

    def agrees(found, costs):
        alone = {pair: one.objective() for pair, one in TOWN.items()}
        leader = found.leader()
        for i, (pair, part) in enumerate(alone.items()):
            part.add(None, costs)
            assert np.array_equal(leader(pair), np.atleast_1d(part.leader()(None)))
            fake = oracle.problem(pair).noise([None], seed_key(seed), 0, 2**16)
            expected = part.action(None, Draw(fake, (i << 40) + 3, 0.7))
            assert np.array_equal(found.action(pair, Draw(noise, 3, 0.7)), np.atleast_1d(expected))
        values = [part.minima()[0] for part in alone.values()]
        assert np.isclose(found.minima()[0], np.mean(values))

    for t in range(6):
        pair = list(TOWN)[rng.integers(3)]
        losses = rng.integers(-2, 3, size=5).astype(float)
        agrees(with_round(total, pair, losses), summed + losses)
        if t % 2:
            total.add(pair, losses)
        else:
            expected = total.action(pair, Draw(noise, 3, 0.7), losses)
            assert np.array_equal(total.settle(pair, losses, Draw(noise, 3, 0.7)), expected)
        summed += losses
        agrees(total, summed)
        agrees(total.copy(), summed)
        plays = np.array([0, 1, 2, -1, 4])
        among = oracle.problem(("a", "c")).objective()
        among.add(None, summed)
        picked = total.action(("a", "c"), WITHOUT_NOISE, losses, plays)
        among.add(None, losses)
        assert np.array_equal(picked, among.action(None, WITHOUT_NOISE, None, plays))


HOURS = [(trip, hour) for hour in ("day", "night") for trip in TOWN] + [(("a", "b"), "dawn")]


@pytest.mark.parametrize("seed", range(10))
def test_losses_are_shared_by_the_contexts_with_the_same_key(seed):
    """Each hour is a shared class by itself."""
    rng = np.random.default_rng(seed)
    oracle = PerContext({x: TOWN[x[0]] for x in HOURS}, shared=second)
    total = oracle.objective()
    hours = {}
    for hour in ("day", "night", "dawn"):
        trips = {x: TOWN[x[0]] for x in HOURS if x[1] == hour}
        hours[hour] = PerContext(trips, shared=True).objective()
    for t in range(8):
        x = HOURS[rng.integers(len(HOURS))]
        losses = rng.integers(-2, 3, size=5).astype(float)
        if t % 2:
            total.add(x, losses)
        else:
            expected = with_round(hours[x[1]], x, losses).action(x, WITHOUT_NOISE)
            settled = total.settle(x, losses, WITHOUT_NOISE)
            assert np.array_equal(settled, np.atleast_1d(expected))
        hours[x[1]].add(x, losses)
        for each in (total, total.copy()):
            leader = each.leader()
            for context in HOURS:
                alone = hours[context[1]].leader()(context)
                assert np.array_equal(leader(context), np.atleast_1d(alone))
            assert np.isclose(each.minima()[0], sum(part.minima()[0] for part in hours.values()))
    assert not oracle.exact


def test_sharing_by_key_goes_from_none_to_all():
    subsets, contexts = hn.oracles.Subsets(4, 2), [(i, j) for i in range(2) for j in range(3)]
    G = subsets.complexity([None])
    for key, expected in (
        (False, 6 * G), (True, G), (first, 2 * G), (second, 3 * G),
    ):  # fmt: skip
        oracle = PerContext(subsets, contexts, shared=key)
        assert oracle.complexity(contexts) == pytest.approx(expected)
        hn.checks.check_oracle(oracle)
    with pytest.raises(hn.ParameterError, match="hashable key for each context"):
        PerContext(subsets, contexts, shared=lambda context: context[5])
    with pytest.raises(hn.ParameterError, match="hashable key for each context"):
        PerContext(subsets, contexts, shared=lambda context: [context])
    with pytest.raises(hn.ParameterError, match="list them"):
        PerContext(subsets, shared=first)


def test_a_class_shared_by_key_continues_from_a_file(tmp_path):
    oracle = PerContext({x: TOWN[x[0]] for x in HOURS}, shared=second)
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)

    def play(each, seed):
        rng, actions = np.random.default_rng(seed), []
        for t in range(16):
            actions.append(each.act(HOURS[t % len(HOURS)]).tolist())
            each.update(rng.random(5)[actions[-1]])
        return actions

    play(learner, 0)
    learner.save(tmp_path / "town")
    with pytest.raises(hn.core.UntrustedError):
        hn.load(tmp_path / "town")
    again = hn.load(tmp_path / "town", trusted=[second])
    assert play(learner, 1) == play(again, 1)


def test_what_one_trip_meets_another_one_knows():
    """With shared=True the second trip starts where the first one ended; by itself it does not."""
    for shared in (True, False):
        learner = hn.ContextFTPL(PerContext(TOWN, shared=shared), seed=0)
        for _ in range(60):
            learner.act(("a", "c"))
            learner.update([0.9, 0.9, 0.8, 0.1, 0.2])
        played = [np.atleast_1d(a).tolist() for a in learner.would_play(("a", "b"), 50)]
        assert (played.count([3]) >= 45) == shared
        assert any("inexact" in note for note in learner.certificate().notes) == shared


def test_shared_contexts_have_to_be_listed():
    with pytest.raises(hn.core.HannanError, match="list them"):
        PerContext(hn.oracles.Subsets(3, 2), shared=True)
    with pytest.raises(hn.core.HannanError, match="shared"):
        PerContext(hn.oracles.Subsets(3, 2), 2, shared=1)


def test_a_shared_total_goes_on_from_a_file(tmp_path):
    learner = hn.ContextFTPL(PerContext(TOWN, shared=True), seed=0)
    rng = np.random.default_rng(0)
    for t in range(12):
        learner.act(list(TOWN)[t % 3])
        learner.update(rng.random(5))
    learner.save(tmp_path / "town")
    again = hn.load(tmp_path / "town")
    for t in range(12):
        pair, losses = list(TOWN)[t % 3], rng.random(5)
        assert learner.act(pair).tolist() == again.act(pair).tolist()
        learner.update(losses)
        again.update(losses)
