import copy
import math
import pickle

import numpy as np
import pytest
from scipy.stats import chisquare

import hannan as hn
from hannan.core.oracle import Timed
from hannan.core.storage import reread
from hannan.perturbation import seed_key
from tests import naive, naive_adaptive, problems

ONE = hn.oracles.AllPolicies(1, 2)
FINITE, ROWS = problems.make("FinitePolicies", d=3, K=3, N=7)


def strong(oracle=FINITE, seed=0, **options):
    return hn.StronglyAdaptive(hn.ContextFTPL(oracle, seed=seed), seed=seed + 100, **options)


def changing(T, parts=3, seed=0):
    """Losses of 0 or 1 around a policy that is replaced now and then."""
    world = hn.environments.Switching(FINITE, switches=parts - 1, good=0.1, bad=0.6)
    rounds = []
    for each in world.rounds(T, np.random.default_rng(seed)):
        each.reveal(0)
        rounds.append((each.context, each.losses))
    return rounds


def watch(learner, rounds):
    """Play; yields the copies awake, their actions and probabilities, and the play."""
    for context, losses in rounds:
        action = learner.act(context)
        opened = learner._ledger.current
        copies = [inner.action for inner in opened.inner]
        yield list(opened.awake), copies, opened.mixture.tolist(), action
        learner.update(losses)


@pytest.mark.parametrize("shortest", [1, 2, 3, 8, 20])
def test_every_round_is_covered_once_at_every_scale(shortest):
    learner = strong(ONE, shortest=shortest)
    watched = watch(learner, [(0, np.array([0.3, 0.6]))] * 300)
    M = learner._shortest
    for t, (awake, *_) in enumerate(watched, start=1):
        endless, *others = awake
        assert (endless.start, endless.end) == (1, None)
        found = sorted((each.start, each.end) for each in others)
        assert found == sorted(naive_adaptive.covering(t, shortest))
        assert len(awake) == 2 + max(0, int(math.log2(t / M))) if t >= M else 2
    assert M / 2 < shortest <= M


@pytest.mark.parametrize(
    ("shortest", "low", "high"), [(1, 0.0, 1.0), (8, 0.0, 1.0), (2, -0.5, 1.0)]
)
def test_the_mixture_equals_its_slow_twin(shortest, low, high):
    inner = hn.ContextFTPL(FINITE, seed=0, loss_range=(low, high))
    learner = hn.StronglyAdaptive(inner, shortest=shortest, seed=0)
    regrets = {}
    rounds = changing(150)
    far = 0.0
    for t, (awake, actions, mixture, _) in enumerate(watch(learner, rounds), start=1):
        gone = [regrets.setdefault((each.start, each.end), []) for each in awake]
        priors = [naive_adaptive.prior(e.start, e.end, t, learner._shortest) for e in awake]
        assert mixture == pytest.approx(naive_adaptive.normal_hedge(priors, gone))
        losses = rounds[t - 1][1]
        mean = sum(p * losses[a] for p, a in zip(mixture, actions, strict=True))
        for past, a in zip(gone, actions, strict=True):
            past.append((mean - losses[a]) / (high - low))
        far = max(far, max(p * sum(priors) / q for p, q in zip(mixture, priors, strict=True)))
    assert far > 2  # the weights did depart from the priors


@pytest.mark.parametrize("kind", ["AllPolicies", "FinitePolicies"])
def test_every_copy_plays_as_if_it_were_alone(kind):
    oracle, _ = problems.make(kind)
    learner = strong(oracle, shortest=4)
    rounds = problems.rounds(3, 3, 70)
    played = {}
    for awake, actions, *_ in watch(learner, rounds):
        for each, action in zip(awake, actions, strict=True):
            played.setdefault(id(each), (each, []))[1].append(action)
    assert len(played) > 30
    G = learner._awake[0].learner.complexity
    for each, actions in played.values():
        alone = hn.ContextFTPL(oracle, seed=each.learner.seed)
        alone.share_complexity(learner._awake[0].learner)
        assert alone.complexity == G
        stretch = rounds[each.start - 1 : each.end]
        assert problems.play(alone, stretch) == actions
    assert len({each.learner.seed for each, _ in played.values()}) == len(played)


def test_one_copy_finds_the_complexity_for_all():
    learner = strong()
    seen = set()
    for awake, *_ in watch(learner, changing(100)):
        found = [each.learner.leader.found for each in awake]
        seen |= {id(each) for each in found if each is not None}
    # Those of the first round may have found it at the same time.
    assert 1 <= len(seen) <= 2
    assert learner._made > 20


@pytest.mark.slow
@pytest.mark.stat
def test_copies_are_drawn_with_the_probabilities_of_the_mixture():
    learner = hn.StronglyAdaptive(hn.ContextFTPL(FINITE, epsilon=0.2, seed=0), shortest=1, seed=0)
    problems.play(learner, changing(43))
    opened = learner.begin(0)
    expected = np.zeros(3)
    np.add.at(expected, [inner.action for inner in opened.inner], opened.mixture)
    counts = np.zeros(3)
    for key in range(4000):
        learner._key = seed_key(key)
        counts[learner.begin(0).action] += 1
    possible = expected > 0
    assert possible.sum() > 1
    assert counts[~possible].sum() == 0
    # One false alarm in a thousand.
    assert chisquare(counts[possible], 4000 * expected[possible]).pvalue > 1e-3


def test_the_draw_of_a_round_depends_on_the_seed_and_its_number_alone():
    learner, twin, other = strong(), strong(), strong(seed=1)

    def drawn(each):
        return each._uniform()

    numbers = []
    for context, losses in changing(60):
        numbers.append(drawn(learner))
        assert numbers[-1] == drawn(learner) == drawn(twin) != drawn(other)
        twin.would_play(context, 3)
        assert learner.act(context) == twin.act(context)
        other.act(context)
        for each in (learner, twin, other):
            each.update(losses)
    assert len(set(numbers)) == 60
    learner.act(0)
    assert drawn(learner) not in numbers  # that of a round in place of one that was dropped
    learner.act(0)
    assert drawn(learner) != drawn(twin)


@pytest.mark.parametrize("environment", ["punisher", "changing"])
def test_the_mixture_keeps_its_bound_on_every_interval(environment):
    learner = strong(shortest=4)
    M = learner._shortest
    world = hn.environments.LeaderPunisher(FINITE)
    if environment == "changing":
        world = hn.environments.Switching(FINITE, switches=5)

    tight = 0.0
    for t, this_round in enumerate(world.rounds(600, np.random.default_rng(0)), start=1):
        action = learner.act(this_round.context)
        learner.update(this_round.reveal(action))
        for each in learner._awake:
            q = naive_adaptive.prior(each.start, each.end, t, M)
            B = (2 + math.pi**2 / 3) / M * (2.5 + 1.5 * math.log1p(t))
            bound = math.sqrt(3 * each.magnitude * math.log(B / q))
            assert each.regret <= bound
            tight = max(tight, each.regret / max(bound, 1e-9))
            Lambda = 2 * math.log(2.3 * max(t, M) / M) + math.log(2.5 + 1.5 * math.log1p(t))
            assert math.log(B / q) <= Lambda
    assert tight > 0.2


def test_priors_sum_to_what_the_guarantee_says():
    M = 8
    # The scales above 2^14 and the intervals beyond it add less than 2^-11.
    total = 1 / M + 1 / M
    for j in range(3, 15):
        i = np.arange(1, 2 ** (15 - j), dtype=float)
        total += float((1 / i**2).sum()) / 2**j
    assert total <= (2 + math.pi**2 / 3) / M


def switching_world(seed):
    table = np.random.default_rng(seed).integers(3, size=(50, 20))
    oracle = hn.oracles.FinitePolicies(table, n_actions=3)
    return oracle, hn.environments.Switching(oracle, switches=1, good=0.2, bad=0.6)


@pytest.mark.parametrize("seed", range(4))
def test_after_a_change_it_recovers_while_the_plain_learner_does_not(seed):
    oracle, world = switching_world(seed)

    def late(learner):
        return hn.play(learner, world, 1200, seed=seed).losses[600:].sum()

    plain = late(hn.ContextFTPL(oracle, seed=seed))
    adaptive = late(strong(oracle, seed=seed))
    best = 0.2 * 600
    assert adaptive - best < 0.45 * (plain - best)


@pytest.mark.slow
def test_where_nothing_changes_little_is_lost():
    regrets = []
    for seed in range(4):
        oracle, _ = switching_world(seed)
        world = hn.environments.PlantedPolicy(oracle)
        regrets.append(hn.play(strong(oracle, seed=seed), world, 1000, seed=seed).regret())
    # Without the copy that never ends, all others starting anew at 512, it is 60.
    assert np.mean(regrets) < 45


@pytest.mark.parametrize(
    "learner",
    [
        hn.baselines.Hedge(FINITE, seed=0),
        hn.baselines.FollowTheLeader(FINITE),
        hn.ContextFTPL(FINITE, epsilon=0.3, seed=0, loss_range=(-1, 2)),
        hn.ContextFTPL(FINITE, predictor=hn.predictors.Last(), seed=0),
        hn.Discounted(hn.ContextFTPL(FINITE, seed=0), 0.95),
        hn.StronglyAdaptive(hn.ContextFTPL(FINITE, seed=0), seed=0, shortest=16),
        hn.FTPL(FINITE, lambda rng: [(0, rng.laplace(size=3))], seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_any_learner_that_sees_all_losses_will_do(learner):
    adaptive = hn.StronglyAdaptive(learner, seed=1)
    rounds = changing(200)
    actions = problems.play(adaptive, rounds)
    assert actions == problems.play(hn.StronglyAdaptive(learner, seed=1), rounds)
    certificate = adaptive.certificate()
    assert certificate.realised_regret == pytest.approx(naive.regret(ROWS, rounds, actions))
    assert certificate.loss == pytest.approx(
        sum(losses[a] for (_, losses), a in zip(rounds, actions, strict=True))
    )
    assert learner.rounds == 0


def test_sets_are_mixed_too():
    oracle = hn.oracles.Subsets(5, 2)
    learner = hn.StronglyAdaptive(hn.ContextFTPL(oracle, seed=0), seed=0)
    assert learner._width == 2.0
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert len(learner.act()) == 2
        learner.update(rng.random(5) * [0.1, 1, 1, 0.2, 1])
        assert all(abs(each.regret) <= each.magnitude + 1e-12 for each in learner._awake)
    assert learner.best_policy()(None).tolist() == [0, 3]


def test_loss_functions_are_passed_on():
    oracle = hn.oracles.Submodular(3)
    learner = hn.StronglyAdaptive(
        hn.ContextFTPL(oracle, seed=0, loss_range=(0.0, 3.0)), seed=0, shortest=2
    )
    for t in range(20):
        learner.act()
        learner.update(hn.losses.ConcaveOfCardinality([0.0, 1.0, 1.5, 1.5 + 0.01 * (t % 3)]))
    assert learner.best_policy()(None).tolist() == []
    assert learner.certificate().rounds == 20
    learner.act()
    for bad in (
        hn.losses.ConcaveOfCardinality([0.0, 1.0, 2.0]),
        hn.losses.ConcaveOfCardinality([0.0, 4.0, 5.0, 6.0]),
    ):
        with pytest.raises(hn.LossError):
            learner.update(bad)
    learner.update(hn.losses.ConcaveOfCardinality([0.0, 1.0, 1.5, 1.5]))
    learner.act()
    assert learner.rounds == 21


def test_oracle_calls_of_all_copies_are_counted():
    calls = []

    def solve(contexts, losses):
        calls.append(1)
        return naive.solver(ROWS)(contexts, losses)

    oracle = hn.oracles.FunctionOracle(solve, n_actions=3)
    learner = hn.StronglyAdaptive(hn.ContextFTPL(oracle, range(3), seed=0), seed=0, shortest=2)
    problems.play(learner, changing(40))
    assert learner.oracle_calls == len(calls) > 40


@pytest.mark.parametrize("bad", [[0.0, 2.0, 0.0], [0.0, np.nan, 0.0], [0.0, 0.0], None, "abc"])
def test_refused_losses_change_nothing(bad):
    learner, twin = strong(), strong()
    rounds = changing(60)
    for each in (learner, twin):
        problems.play(each, rounds[:30])
        each.act(1)
    with pytest.raises(hn.HannanError):
        learner.update(bad)
    for each in (learner, twin):
        each.update([0.0, 1.0, 1.0])
    assert problems.play(learner, rounds[30:]) == problems.play(twin, rounds[30:])
    assert learner.certificate() == twin.certificate()
    assert learner.oracle_calls == twin.oracle_calls


@pytest.mark.parametrize("learner", [strong(), strong(hn.oracles.AllPolicies(4, 3))])
def test_a_refused_context_leaves_the_open_round_open(learner):
    first, twin = (learner.clone() for _ in range(2))
    rounds = changing(70)
    for each in (first, twin):
        problems.play(each, rounds[:15])  # the round to come starts three copies
        each.act(0)
    for bad in (99, "here", -1):
        with pytest.raises(hn.ContextError):
            first.act(bad)
    for each in (first, twin):
        each.update([0.0, 1.0, 1.0])
    assert problems.play(first, rounds[16:]) == problems.play(twin, rounds[16:])


def test_the_number_of_actions_is_learned_from_the_first_losses_that_are_accepted():
    oracle = hn.oracles.FunctionOracle(naive.solver(ROWS))
    learner = hn.StronglyAdaptive(hn.ContextFTPL(oracle, range(3), seed=0), seed=0, shortest=2)
    learner.act(0)
    with pytest.raises(hn.HannanError):
        learner.update([2.0, 0.0])
    learner.update([0.0, 1.0, 0.0])
    for _ in range(5):  # fresh copies do not know yet
        learner.act(0)
        with pytest.raises(hn.LossError, match="3 numbers"):
            learner.update([0.0, 1.0])
        learner.update([0.0, 1.0, 0.0])


def test_a_copy_that_fails_learns_the_round_before_the_next_one():
    failing = []

    def solve(contexts, losses):
        if failing and failing.pop() == "now":
            raise RuntimeError("solver is down")
        return naive.solver(ROWS)(contexts, losses)

    oracle = hn.oracles.FunctionOracle(solve, n_actions=3)
    learner, twin = (
        hn.StronglyAdaptive(hn.ContextFTPL(oracle, range(3), seed=0), seed=0, shortest=2)
        for _ in range(2)
    )
    rounds = changing(60)
    for each in (learner, twin):
        problems.play(each, rounds[:20])
        each.act(1)
    failing += ["now", "later", "later"]  # from the end: the third call fails
    buffer = np.array([0.0, 1.0, 1.0])
    learner.update(buffer)
    buffer[:] = 0.5  # the caller may use its array again
    twin.update([0.0, 1.0, 1.0])
    assert 0 < len(learner._retry.steps) < len(learner._awake)
    assert learner.rounds == twin.rounds == 21
    assert learner.certificate() == twin.certificate()
    assert [each.regret for each in learner._awake] == [each.regret for each in twin._awake]
    with pytest.raises(hn.OrderError):
        learner.update([0.0, 1.0, 1.0])
    twins = [copy.deepcopy(learner), reread(learner)]
    failing.append("now")
    with pytest.raises(RuntimeError):
        learner.act(0)  # it still fails
    assert learner.rounds == 21
    assert learner.regret_bound() == twin.regret_bound()  # which lets the copies catch up
    assert learner._retry.steps == []
    expected = problems.play(twin, rounds[20:])
    for each in (learner, *twins):
        assert problems.play(each, rounds[20:]) == expected
        assert each.certificate() == twin.certificate()
        assert each.oracle_calls == twin.oracle_calls
        for mine, theirs in zip(each._awake, twin._awake, strict=True):
            assert mine.learner.rounds == theirs.learner.rounds
            assert mine.learner.certificate() == theirs.learner.certificate()


def test_a_copy_plays_on_like_the_original():
    original = strong(shortest=2)
    rounds = changing(90)
    problems.play(original, rounds[:45])
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    expected = problems.play(original, rounds[45:])
    for twin in twins:
        assert problems.play(twin, rounds[45:]) == expected
        assert twin.certificate() == original.certificate()


def test_fresh_learners_have_randomness_of_their_own():
    learner = strong()
    one, other = learner.fresh(1), learner.fresh(2)
    assert len({each.seed for each in (learner, one, other)}) == 3
    assert len({each.learner.seed for each in (learner, one, other)}) == 3
    assert learner.fresh(1).seed == one.seed


class Dated(Timed, hn.oracles.AllPolicies):
    """A class that changes with time."""

    def at(self, time, context):
        return self.check_context(context)


REFUSED = {
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(FINITE),
    "UniformRandom": hn.baselines.UniformRandom(3),
    "loss_range": hn.ContextFTPL(FINITE, loss_range=None),
    "fixed context sequence": hn.PlayoutFTPL(FINITE, [0, 1]),
    "class that changes with time": hn.ContextFTPL(Dated(3, 3)),
    "must be a learner": FINITE,
}


@pytest.mark.parametrize("message", REFUSED)
def test_learners_that_cannot_be_mixed_are_refused(message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.StronglyAdaptive(REFUSED[message])


@pytest.mark.parametrize(("name", "value"), [("shortest", 0), ("shortest", 2.0), ("seed", -1)])
def test_a_parameter_outside_its_range_is_refused(name, value):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of StronglyAdaptive"):
        hn.StronglyAdaptive(hn.ContextFTPL(FINITE), **{name: value})


def test_an_inexact_class_is_noted():
    learner = strong(hn.oracles.LinearPolicies(2))
    for t in range(20):
        learner.act([1.0, float(t % 2)])
        learner.update([0.0, 1.0])
    assert "inexact" in str(learner.certificate())


def test_copies_hold_little_noise_however_long_the_game(tmp_path):
    oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, 2, size=(300, 2)))
    learner = hn.StronglyAdaptive(hn.ContextFTPL(oracle, epsilon=0.3, seed=0), seed=0)
    losses = np.random.default_rng(1).random((600, 2))
    sizes = {}
    for t in range(600):
        learner.act(t % 2)
        learner.update(losses[t])
        if t in (299, 599):
            blocks = [copy.learner.leader.noise.blocks for copy in learner._awake]
            sizes[t] = max(each.block.nbytes for each in blocks)
    assert sizes[299] == sizes[599] <= 2**18
    learner.save(tmp_path / "learner.hannan")
    loaded = hn.load(tmp_path / "learner.hannan")
    for t in range(300):
        assert loaded.act(t % 2) == learner.act(t % 2)
        for each in (loaded, learner):
            each.update(losses[t])
    assert max(each.learner.leader.noise.blocks.block.nbytes for each in loaded._awake) <= 2**18
