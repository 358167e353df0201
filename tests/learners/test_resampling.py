"""Geometric resampling: weights with mean (1 - (1-q)^L)/q, whatever the mode.

Exact statements enumerate all outcomes of the draws. Statistical ones use fixed seeds and fail
for a right program with probability below 1e-5 each (4.5 standard errors).
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.core import Objective
from hannan.core.oracle import WITHOUT_NOISE, Draw, Trials, paired_lesson
from hannan.kernels.noise import uniform
from hannan.learners.perturbed_leader import Past
from hannan.perturbation import seed_key
from tests import naive, naive_bandit, problems, statistics
from tests.for_each import for_each
from tests.thinning import one_in

SIGMAS = 4.5
COINS = np.uint64(7)


class Scripted(Objective):
    """An objective whose successive leaders choose what a list says."""

    def __init__(self, outcomes):
        self.outcomes = np.asarray(outcomes, dtype=bool)  # [draws, K]
        self.looked_at = 0

    n_actions = property(lambda self: self.outcomes.shape[1])

    def copy(self):
        raise AssertionError("only draws are asked for")

    def add(self, context, losses):
        raise AssertionError("only draws are asked for")

    def leaders(self, draw=WITHOUT_NOISE, count=1):
        raise AssertionError("only draws are asked for")

    def minima(self, draw=WITHOUT_NOISE, count=1):
        raise AssertionError("only draws are asked for")

    def chosen(self, context, draw, count, plus=None, available=None):
        _, first, _ = draw
        assert first + count <= len(self.outcomes), "more than L - 1 draws"
        self.looked_at = first + count
        return self.outcomes[first : first + count]


def scripted_weight(sequence, r, L):
    column = np.reshape(sequence, (-1, 1))
    weights, used = Scripted(column).weights(None, np.array([0]), Draw(None, 0, 1.0), L, r)
    return weights.item(0), used


def sequences(L):
    """All outcomes of L - 1 draws."""
    return list(itertools.product([0, 1], repeat=L - 1))


@pytest.mark.parametrize("L", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("r", [1, 2, 4, 7])
def test_a_weight_is_the_mean_of_J_given_the_unordered_outcome(r, L):
    # Outcomes with the same stopping time, or the same number of successes, differ in the order
    # of successes before the last only, and all orders are equally likely.
    groups = {}
    for sequence in sequences(L):
        W, used = scripted_weight(sequence, r, L)
        J = next((i for i, s in enumerate(sequence, start=1) if s), L)
        reached = sum(sequence[:used]) == r
        shown = (used, "reached") if reached else sum(sequence)
        groups.setdefault(shown, []).append((sequence[:used], J, W))
    for members in groups.values():
        weights = {W for _, _, W in members}
        assert len(weights) == 1
        seen = {prefix: J for prefix, J, _ in members}  # unused draws play no role
        assert weights.pop() == pytest.approx(np.mean(list(seen.values())))


@for_each("q", [0.02, 0.3, 0.75, 1.0])
@for_each("L", [1, 2, 3, 6, 11])
@for_each("r", [1, 2, 4])
def test_mean_weight_is_exact_and_more_successes_never_raise_the_second_moment(q, L, r):
    found = []
    for successes in (1, r):
        mean = second = 0.0
        for sequence in sequences(L):
            p = math.prod(q if s else 1 - q for s in sequence)
            W, _ = scripted_weight(sequence, successes, L)
            mean, second = mean + p * W, second + p * W * W
        assert mean == pytest.approx((1 - (1 - q) ** L) / q)
        found.append(second)
    assert found[1] <= found[0] + 1e-12
    assert q * q * found[1] <= {1: 2.0, 2: 1.5, 4: 1.32}[r]


def exact_moments(q, L, r):
    """E W and E W^2 from the negative binomial distribution of the r-th success."""
    N, S = np.arange(r, L), np.arange(min(r, L))
    p = np.concatenate([stats.nbinom.pmf(N - r, r, q), stats.binom.pmf(S, L - 1, q)])
    W = np.concatenate([N / r, L / (S + 1)])
    return float(p @ W), float(p @ (W * W))


@pytest.mark.parametrize(("r", "second"), [(1, 2.0), (2, 1.501), (3, 1.36), (4, 1.32), (8, 1.3)])
def test_second_moments_stay_below_the_constants_in_use(r, second):
    learner = hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies([[0], [1]]), resampling=r, seed=0)
    worst = 0.0
    for L in (2, 5, 30, 300, 3000):
        for q in np.concatenate([np.geomspace(1e-3, 0.999, 15), np.linspace(0.5, 12, 25) / L]):
            if q < 1.0:
                mean, square = exact_moments(q, L, r)
                assert mean == pytest.approx((1 - (1 - q) ** L) / q)
                worst = max(worst, q * square / mean)
                assert q * q * square <= second
    assert (
        0.97 * learner._resampling.second_moment
        <= worst
        <= learner._resampling.second_moment
        <= 2.0
    )


@pytest.mark.parametrize("L", [1, 2, 3, 40])
@pytest.mark.parametrize("r", [1, 2, 4])
@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
def test_kernels_resample_as_the_definition_does(kind, r, L):
    oracle, _ = problems.make(kind, d=3, K=3, N=40, seed=r)
    total = problems.total(oracle, problems.rounds(3, 3, 6, seed=L))
    noise = oracle.noise(range(3), seed_key(5), 0, 2**12)  # small blocks, so that draws span some
    for first in range(0, 60, 3):
        for element in range(3):
            given = 1, np.array([element]), Draw(noise, first, 1.7), L, r
            fast, slow = total.weights(*given), Objective.weights(total, *given)
            inclusion = total.chosen(1, Draw(noise, first, 1.7), max(L - 1, 1))[: L - 1, element]
            W, used = naive_bandit.weight(inclusion, r, L)
            assert (fast[0].item(), fast[1]) == (pytest.approx(W), used)
            assert (slow[0].item(), slow[1]) == (pytest.approx(W), used)


@pytest.mark.parametrize("L", [1, 2, 3, 40])
@pytest.mark.parametrize("r", [1, 3])
def test_set_kernels_resample_as_the_definition_does(r, L):
    rng = np.random.default_rng(r)
    table = np.array([[rng.permutation(6)[:3] for _ in range(2)] for _ in range(20)])
    oracle = hn.oracles.FinitePolicies(table, n_actions=6)
    total = oracle.objective()
    total.add(0, rng.random(6))
    noise = oracle.noise([0, 1], seed_key(1), 0, 2**11)
    for first in range(0, 90, 3):
        chosen = np.array([0, 2, 5])
        fast = total.weights(0, chosen, Draw(noise, first, 0.8), L, r)
        slow = Objective.weights(total, 0, chosen, Draw(noise, first, 0.8), L, r)
        inclusion = total.chosen(0, Draw(noise, first, 0.8), max(L - 1, 1))[: L - 1]
        by_hand = [naive_bandit.weight(inclusion[:, j], r, L) for j in chosen]
        assert fast[0] == pytest.approx([W for W, _ in by_hand])
        assert slow[0] == pytest.approx([W for W, _ in by_hand])
        assert fast[1] == slow[1] == max(used for _, used in by_hand)


# Learners at a fixed state: decisions without updates are independent samples -----------------

MODES = {
    "shared": {"resampling": "shared"},
    "rao-blackwell": {"resampling": "rao-blackwell"},
    "four successes": {"resampling": 4},
    "conditional": {"resampling": "conditional"},
    "auto": {},
}
EPSILON = 0.6


def at_a_state(oracle, context, losses, L, seed=0, **mode):
    """A learner at ε whose history is one round with given estimates."""
    learner = hn.ContextSemiBanditFTPL(
        oracle,
        range(2),
        epsilon=EPSILON,
        max_resamples=L,
        seed=seed,
        **mode,
    )
    learner.leader.total.add(context, np.asarray(losses, float))
    return learner


def samples(learner, context, count, K):
    """W_j for the chosen elements of many decisions, 0 elsewhere."""
    found = np.zeros((count, K))
    for row in found:
        decision = learner.decide(context)
        row[decision.action] = np.squeeze(decision.record.weights)
    return found


SINGLE = [[0, 0], [1, 1], [2, 0], [1, 2], [0, 1], [2, 2]]
SLATES = [
    [(0, 1), (2, 3)],
    [(1, 2), (0, 3)],
    [(0, 3), (0, 1)],
    [(2, 3), (1, 2)],
    [(1, 3), (0, 2)],
]


def problem(kind):
    """Oracle, rows and estimated losses on context 0; the rarest element is very rare."""
    if kind == "slates":
        table = np.array(SLATES)
        return hn.oracles.FinitePolicies(table, n_actions=4), SLATES, [0.0, 0.5, 2.0, 4.0]
    losses = [0.0, 1.0, 6.0]
    if kind == "AllPolicies":
        rows = [[a, b] for a in range(3) for b in range(3)]
        return hn.oracles.AllPolicies(2, 3), rows, losses
    if kind == "FunctionOracle":
        return hn.oracles.FunctionOracle(naive.solver(SINGLE), n_actions=3), SINGLE, losses
    return hn.oracles.FinitePolicies(SINGLE, n_actions=3), SINGLE, losses


@cache
def inclusion(kind, draws=300_000):
    """Each element's probability of being chosen, by simulation, with standard errors."""
    _, rows, losses = problem(kind)
    scores = [naive_bandit.loss(losses, row[0]) for row in rows]
    K, rng = len(losses), np.random.default_rng(17)
    return naive_bandit.propensities(rows, scores, [0, 1], 0, 1 / EPSILON, K, rng, draws)


KINDS = ["FinitePolicies", "AllPolicies", "FunctionOracle", "slates"]
CASES = [
    (kind, mode, L)
    for kind in KINDS
    for mode in MODES
    for L in (2, 25)
    if not (kind == "FunctionOracle" and (mode == "auto" or L == 2))
]


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize(("kind", "mode", "L"), one_in(3, CASES))
def test_mean_of_the_proxy_is_the_loss_up_to_the_known_truncation(kind, mode, L):
    oracle, _, losses = problem(kind)
    q, error = inclusion(kind)
    assert q.min() < 0.3 < 0.5 < q.max()
    learner = at_a_state(oracle, 0, losses, L, **MODES[mode])
    W = samples(learner, 0, 1000 if kind == "FunctionOracle" else 12_000, len(losses))
    expected = 1 - (1 - q) ** L
    uncertainty = np.hypot(W.std(axis=0) / math.sqrt(len(W)), L * (1 - q) ** (L - 1) * error)
    assert np.all(np.abs(W.mean(axis=0) - expected) <= SIGMAS * uncertainty)
    r = learner._resampling.successes
    second = q * (W * W).mean(axis=0)  # q^2 E[W^2 | chosen]
    noise = q * (W * W).std(axis=0) / math.sqrt(len(W))
    assert np.all(second <= {1: 2.0, 2: 1.5, 4: 1.32}[r] + SIGMAS * noise)


@pytest.mark.stat
def test_that_test_would_notice_a_weight_off_by_one_draw():
    oracle, _, losses = problem("FinitePolicies")
    q, _ = inclusion("FinitePolicies")
    W = samples(at_a_state(oracle, 0, losses, 25, resampling="shared"), 0, 12_000, 3)
    wrong = W + (W > 0)
    uncertainty = wrong.std(axis=0) / math.sqrt(len(W))
    assert np.any(np.abs(wrong.mean(axis=0) - (1 - (1 - q) ** 25)) > SIGMAS * uncertainty)


@pytest.mark.parametrize("resampling", ["exact", "auto"])
@pytest.mark.parametrize("L", [1, 2, 25])
def test_exact_weights_are_the_mean_itself(resampling, L):
    oracle, _, losses = problem("AllPolicies")
    learner = at_a_state(oracle, 0, losses, L, resampling=resampling)
    q = learner.propensities(0).probabilities
    for _ in range(50):
        decision = learner.decide(0)
        j = decision.action
        assert decision.weights[0] == pytest.approx((1 - (1 - q[j]) ** L) / q[j])
    simulated, error = inclusion("AllPolicies")
    assert np.all(np.abs(simulated - q) <= 3 * error)


def as_printed(kind, L, count, seed):
    """Proxies of unit losses by Algorithm 3 with a stream of draws for each element."""
    _, rows, losses = problem(kind)
    rng = np.random.default_rng(seed)
    scores = [naive_bandit.loss(losses, row[0]) for row in rows]
    one = np.ones(len(losses))
    return np.array(
        [
            naive_bandit.algorithm_3(rows, scores, [0, 1], 0, EPSILON, L, one, rng)[1]
            for _ in range(count)
        ]
    )


@pytest.mark.slow
@pytest.mark.stat
def test_one_stream_for_all_elements_gives_each_the_law_and_the_mean_of_its_own_stream():
    oracle, _, losses = problem("slates")
    shared = samples(at_a_state(oracle, 0, losses, 12, seed=1, resampling="shared"), 0, 15_000, 4)
    apart = as_printed("slates", 12, 4000, seed=2)
    for j in range(4):
        assert statistics.same_distribution(shared[:, j], apart[:, j]) > 1e-5
    uncertainty = [each.std(axis=0) / math.sqrt(len(each)) for each in (shared, apart)]
    gap = np.abs(shared.mean(axis=0) - apart.mean(axis=0))
    assert np.all(gap <= SIGMAS * np.hypot(*uncertainty))


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "FunctionOracle"])
def test_the_proxy_of_single_actions_has_the_law_of_algorithm_3_as_printed(kind):
    oracle, _, losses = problem(kind)
    K, L, count = len(losses), 8, 1500
    learner = at_a_state(oracle, 0, losses, L, resampling="shared")
    found = samples(learner, 0, count, K)
    expected = as_printed(kind, L, count, seed=23)
    code = (L + 1) ** np.arange(K)
    assert statistics.same_distribution(found @ code, expected @ code) > 1e-5
    # ... and would not have it if the noise that chose the action counted as the first draw.
    assert statistics.same_distribution((found > 0) @ code, expected @ code) < 1e-5


# Probabilities in place of successes -----------------------------------------------------------

LAWS = [
    [(1.0, 0.3), (0.0, 0.7)],
    [(0.5, 0.3), (0.0, 0.6), (1.0, 0.1)],
    [(0.05, 0.9), (0.95, 0.1)],
    [(0.3, 1.0)],
    [(0.9, 0.6), (0.6, 0.4)],
]


@pytest.mark.parametrize("distribution", LAWS)
@pytest.mark.parametrize("L", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("r", [1, 2, 3, 0.5, 1.5, 2.5])
def test_mean_weights_from_probabilities_are_exact_and_no_more_spread(distribution, L, r):
    q = sum(p * share for p, share in distribution)
    found = list(naive_bandit.paired_outcomes(distribution, r, L))
    assert sum(share for _, share in found) == pytest.approx(1.0)
    mean = sum(W * share for W, share in found)
    second = sum(W * W * share for W, share in found)
    assert mean == pytest.approx((1 - (1 - q) ** L) / q)
    assert q * second <= hn.Resampling(math.ceil(r), exact=False).second_moment * mean
    J = [(k + 1.0, q * (1 - q) ** k) for k in range(L - 1)] + [(L, (1 - q) ** (L - 1))]
    assert second <= sum(k * k * share for k, share in J) + 1e-9


class Chances(Scripted):
    """An objective whose leaders choose element 0 with given probabilities."""

    def __init__(self, chances, in_batches):
        self.given = np.asarray(chances)
        self.draws_in_batches = in_batches

    def chosen(self, context, draw, count, plus=None, available=None):
        _, first, _ = draw
        assert first + count <= len(self.given), "more than L - 1 draws"
        return self.given[first : first + count, None]


def paired_weight(total, L, enough, share=0.0):
    trials = Trials(L, enough, COINS, share)
    return paired_lesson(total, None, 0, 0.0, Draw(None, 0, 1.0), trials)[:2]


@pytest.mark.parametrize("in_batches", [True, False])
@pytest.mark.parametrize("L", [1, 2, 3, 6, 40, 400])
@pytest.mark.parametrize("r", [1, 1.5, 5, 10])
def test_kernels_weigh_as_the_definition_does(r, L, in_batches):
    rng = np.random.default_rng(int(2 * L * r))
    kinds = (
        rng.random((10, L)),
        rng.random((10, L)) ** 4,
        rng.integers(3, size=(10, L)) / 2.0,
        0.02 * rng.random((10, L)),
    )
    for chances in np.concatenate(kinds):
        total = Chances(chances[: L - 1], in_batches)
        W, used = paired_weight(total, L, r)
        coins = [float(uniform(COINS, 8, i)) for i in range(L)]
        slow = naive_bandit.paired_weight(chances.__getitem__, coins.__getitem__, r, L)
        assert (W, used) == (pytest.approx(slow[0], rel=1e-10), slow[1])
        shared = paired_weight(total, L, r, 0.3)
        mixed = 0.3 + 0.7 * chances
        slow = naive_bandit.paired_weight(mixed.__getitem__, coins.__getitem__, r, L)
        assert shared == (pytest.approx(slow[0], rel=1e-10), slow[1])


def test_outcomes_0_and_1_are_weighed_as_successes():
    rng = np.random.default_rng(0)
    for _ in range(200):
        r, L = int(rng.integers(1, 5)), int(rng.integers(1, 30))
        outcomes = rng.integers(2, size=L - 1)
        given = paired_weight(Chances(outcomes.astype(float), False), L, r - 0.5)
        assert given == (pytest.approx(naive_bandit.weight(outcomes, r, L)[0]), given[1])
        assert given[1] == naive_bandit.weight(outcomes, r, L)[1]


def in_pairs(total, *given):
    return total.lesson(*given) or paired_lesson(total, *given)


@pytest.mark.parametrize("kind", ["Thresholds", "Stumps", "FinitePolicies", "AllPolicies"])
def test_chances_have_the_mean_of_what_is_chosen(kind):
    """Under a draw and its negative together; fixed seeds, 4.5 standard errors."""
    x = 0
    if kind == "Thresholds":
        oracle, X, x = hn.oracles.Thresholds(3), [0.1, 0.4, 0.7], 0.4
    elif kind == "Stumps":
        X = [np.array(row, float) for row in ([0, 1], [1, 0], [2, 2])]
        oracle, x = hn.oracles.Stumps(3), X[1]
    else:
        oracle, X = problems.make(kind, d=3, K=3, N=40)[0], range(3)
    noise, total = oracle.noise(X, seed_key(3), 0, 2**20), oracle.objective()
    total.prepare(X)
    for i, context in enumerate(X):
        total.add(context, np.array([0.5, 0.2 * i, 1.0]))
    n = 3000
    chosen = total.chosen(x, Draw(noise, 0, 1.3), n)
    for element in range(3):
        one_trial = Trials(2, 8.0, COINS)  # its first sum is 1 + (1 - p)
        lessons = [
            in_pairs(total, x, element, 0.0, Draw(noise, n + i, 1.3), one_trial) for i in range(n)
        ]
        chances = np.array([2.0 - lesson.weight for lesson in lessons])
        assert ((chances >= 0.0) & (chances <= 1.0)).all()
        q = chosen[:, element].mean()
        error = math.sqrt((q * (1 - q) + chances.var()) / n)
        assert abs(chances.mean() - q) <= SIGMAS * error
        assert chances.var() <= q * (1 - q)
        cost = [
            in_pairs(total, x, element, 0.7, Draw(noise, i, 1.3), Trials(1, 8.0, COINS)).instability
            for i in range(300)
        ]
        assert min(cost) >= 0.0
        losses = np.zeros(3)
        losses[element] = 0.7
        after = total.chosen(x, Draw(noise, 0, 1.3), n, losses)[:, element].mean()
        error = 0.7 * math.sqrt(2 * q * (1 - q) / n) + np.std(cost) / math.sqrt(300)
        assert abs(np.mean(cost) - 0.7 * (q - after)) <= SIGMAS * error


# Settings --------------------------------------------------------------------------------------


def test_the_words_are_short_for_numbers():
    oracle, _, losses = problem("AllPolicies")
    for word, meaning in (
        ("shared", hn.Resampling(1, exact=False)),
        ("rao-blackwell", hn.Resampling(2, exact=False)),
        ("rao-blackwell", 2),
        ("auto", hn.Resampling()),
        ("exact", hn.Resampling(1, exact=True)),
    ):
        one, other = (
            samples(at_a_state(oracle, 0, losses, 25, resampling=each), 0, 30, 3)
            for each in (word, meaning)
        )
        np.testing.assert_array_equal(one, other)


def test_learners_given_the_same_resampling_do_not_share_it():
    mine = hn.Resampling(3)
    oracle, _, losses = problem("AllPolicies")
    learner = at_a_state(oracle, 0, losses, 25, resampling=mine)
    assert learner._resampling.second_moment > 1.0
    learner.decide(0)
    assert learner._resampling.second_moment == 1.0  # exact weights have no spread of their own
    assert mine.second_moment > 1.0


@pytest.mark.parametrize("successes", [0, -1, 1.5, "two", None])
def test_a_number_of_successes_is_a_positive_integer(successes):
    with pytest.raises(hn.ParameterError, match="successes"):
        hn.Resampling(successes)


@pytest.mark.parametrize("exact", ["yes", 2, "auto"])
def test_whether_weights_are_exact_is_yes_no_or_open(exact):
    with pytest.raises(hn.ParameterError, match="exact"):
        hn.Resampling(2, exact)


def test_weights_are_asked_for_elements_that_need_them_only():
    outcomes = np.array([[0, 1, 1], [0, 1, 0], [0, 1, 1]], dtype=bool)
    total = Scripted(outcomes)
    weights, used = hn.Resampling(2, exact=False).weights(
        Past(total), None, np.array([0, 1, 2]), Draw(None, 0, 1.0), 4, np.array([0.0, 0.5, 0.5])
    )
    assert weights.tolist() == [0.0, 1.0, 1.5]
    assert used == 3


def test_numbers_that_would_take_for_ever_are_refused():
    with pytest.raises(hn.ParameterError, match="successes"):
        hn.Resampling(10_000)
    learner = hn.TsallisINF(hn.oracles.AllPolicies(1, 2), seed=0)
    with pytest.raises(hn.ParameterError, match="draws"):
        hn.off_policy.Recorder(learner, draws=10**6)
