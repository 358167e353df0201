"""Predictors with full information (Theorem 5)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.learners.prediction import Prediction
from hannan.perturbation import seed_key
from tests import naive, problems


class Script(hn.Predictor):
    """Guesses read off a list; keeps a diary of what it was asked and shown."""

    def __init__(self, guesses):
        self.guesses = guesses
        self.diary = []

    def predict(self, context):
        self.diary.append(("predict", context))
        return self.guesses[sum(what == "learn" for what, *_ in self.diary)]

    def learn(self, context, action, loss):
        self.diary.append(("learn", context, list(action), list(loss)))


def game(seed, d=3, K=3, T=40):
    rng = np.random.default_rng(seed)
    contexts, losses = rng.integers(d, size=T), rng.random((T, K))
    rounds = [(int(x), row) for x, row in zip(contexts, losses, strict=True)]
    return rounds, rng.random((T, K))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", problems.KINDS)
def test_plays_and_D_are_those_of_the_definition(kind, seed):
    oracle, rows = problems.make(kind, seed=seed)
    rounds, guesses = game(seed)
    learner = hn.ContextFTPL(oracle, range(3), predictor=Script(guesses), trust="always", seed=seed)
    found = []
    D = []
    for context, losses in rounds:
        found.append(learner.act(context))
        learner.update(losses)
        D.append(learner.step.D)
    G = learner.complexity.value
    noise = oracle.noise(range(3), seed_key(seed), 0, 2**20)
    plays, seen = naive.optimistic(rows, range(3), rounds, guesses, noise.unit, G)
    assert found == plays
    np.testing.assert_allclose(D, seen, atol=1e-6)
    error = sum(np.abs(l - g).max() ** 2 for (_, l), g in zip(rounds, guesses, strict=True))
    assert learner.certificate().prediction_error == pytest.approx(error)


def test_a_predictor_sees_contexts_and_losses_and_no_noise():
    """Its diary is the same whatever the learner's seed, though the play differs."""
    oracle, _ = problems.make("FinitePolicies", seed=1)
    rounds, guesses = game(1, T=60)
    diaries, plays = [], []
    for seed in range(4):
        learner = hn.ContextFTPL(oracle, predictor=Script(guesses), epsilon=0.3, seed=seed)
        plays.append(problems.play(learner, rounds))
        diaries.append(learner.predictor_.diary)
    assert all(diary == diaries[0] for diary in diaries)
    assert any(play != plays[0] for play in plays)
    # Each round is guessed before it is learned, and learned whole.
    for t, (context, losses) in enumerate(rounds):
        assert diaries[0][2 * t] == ("predict", context)
        assert diaries[0][2 * t + 1] == ("learn", context, [0, 1, 2], losses.tolist())


def test_no_guess_is_the_plain_learner():
    oracle, _ = problems.make("FinitePolicies", seed=2)
    rounds, _ = game(2)
    plain = problems.play(hn.ContextFTPL(oracle, seed=3), rounds)
    nothing = hn.ContextFTPL(oracle, predictor=Script(np.zeros((40, 3))), seed=3)
    assert problems.play(nothing, rounds) == plain


def test_a_perfect_predictor_leaves_no_regret():
    for seed in range(5):
        oracle, _ = problems.make("FinitePolicies", N=20, seed=seed)
        rounds, _ = game(seed, T=300)
        losses = np.array([row for _, row in rounds])
        learner = hn.ContextFTPL(oracle, predictor=Script(losses), seed=seed)
        problems.play(learner, rounds)
        certificate = learner.certificate()
        assert certificate.realised_regret <= 1e-9
        assert certificate.prediction_error == 0.0
        assert certificate.measured == pytest.approx(0.0, abs=1e-9)
        assert certificate.theorem_5 == 0.0


@given(
    st.lists(
        st.tuples(*[st.lists(st.integers(0, 4), min_size=2, max_size=2)] * 2),
        min_size=1,
        max_size=40,
    )
)
@settings(deadline=None)
def test_earned_trust_costs_at_most_twice_the_better_choice(rounds):
    losses = np.array([a for a, _ in rounds], float) / 4
    guesses = np.array([b for _, b in rounds], float) / 4
    prediction = Prediction(Script(guesses), (0.0, 1.0), hn.oracles.AllPolicies(1, 2), "earned")
    used = 0.0
    for f in losses:
        opened = hn.ContextFTPL.Round(None)
        prediction.look_ahead(opened)
        low, high = prediction.surprises(opened, f, f.min(), f.max())
        used += (high - low) ** 2
        prediction.learn(opened, f, f.min(), f.max())
    gaps = np.ptp(losses - guesses, axis=1) ** 2
    plain = np.ptp(losses, axis=1) ** 2
    largest = max(gaps.max(), plain.max())
    assert used <= 2 * min(gaps.sum(), plain.sum()) + largest + 1e-9


def test_bad_guesses_are_dropped_and_good_ones_kept():
    rounds, _ = game(0, T=50)
    losses = np.array([row for _, row in rounds])
    oracle = hn.oracles.AllPolicies(3, 3)
    for guesses, kept in ((losses + 0.01, True), (1.0 - losses, False)):
        learner = hn.ContextFTPL(oracle, predictor=Script(guesses), seed=0)
        problems.play(learner, rounds[:-1])
        learner.act(rounds[-1][0])
        assert (learner._ledger.current.guess is not None) is kept


def test_guesses_outside_the_range_are_moved_into_it():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), predictor=Script([[-3.0, 7.0]]))
    learner.act(0)
    np.testing.assert_array_equal(learner._ledger.current.guess, [0.0, 1.0])


@pytest.mark.parametrize("guess", [[0.5], [np.nan, 0.0], [[0.5, 0.5]], "nothing"])
def test_guesses_that_are_not_losses_are_refused(guess):
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), predictor=Script([guess]))
    with pytest.raises((hn.LossError, ValueError)):
        learner.act(0)
    assert learner.rounds == 0


def test_a_predictor_needs_its_two_verbs():
    with pytest.raises(hn.InputTypeError, match="predict"):
        hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), predictor=object())
    with pytest.raises(hn.ParameterError, match="trust"):
        hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), trust="blind")


def test_sets_of_elements_and_negative_guesses():
    """Signed differences over sets: D never falls, and the certificate holds."""
    oracle = hn.oracles.Subsets(5, 2)
    rng = np.random.default_rng(0)
    losses = rng.uniform(-1, 1, (200, 5))
    learner = hn.ContextFTPL(
        oracle, predictor=hn.predictors.Last(), trust="always", loss_range=(-1.0, 1.0), seed=0
    )
    D = 0.0
    for row in losses:
        learner.act()
        learner.update(row)
        assert learner.step.D >= D
        D = learner.step.D
    certificate = learner.certificate()
    assert certificate.realised_regret <= certificate.high_probability
    assert certificate.prediction_error > 0


def test_the_number_of_actions_may_come_with_the_first_loss():
    rows = [[0, 1], [1, 0], [2, 2]]
    solve = naive.solver([[*row] for row in rows])

    def first(contexts, losses):
        return solve(contexts, losses) if len(contexts) else lambda context: 0

    oracle = hn.oracles.FunctionOracle(first)
    learner = hn.ContextFTPL(oracle, range(2), predictor=hn.predictors.Last(), seed=0)
    for t in range(20):
        learner.act(t % 2)
        learner.update([0.9, 0.2, 0.5])
    assert learner.certificate().prediction_error == pytest.approx(2 * 0.9**2)


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_counts_the_guess_as_one_more_outcome(seed):
    oracle, rows = problems.make("FinitePolicies", seed=seed)
    rounds, guesses = game(seed)

    def fakes(rng):
        return [(0, rng.laplace(size=3))]

    learner = hn.FTPL(oracle, fakes, predictor=Script(guesses), trust="always", seed=seed)
    twin = hn.FTPL(oracle, fakes, seed=seed)
    history = []
    for (context, losses), guess in zip(rounds, guesses, strict=True):
        drawn = list(fakes(twin._generator()))
        twin._draw += 1
        best = naive.leader(rows, [*drawn, *history, (context, guess)])
        assert learner.act(context) == rows[best][context]
        learner.update(losses)
        history.append((context, losses))
    assert learner.certificate().prediction_error > 0


def test_loss_functions_can_be_guessed():
    oracle = hn.oracles.Submodular(4)
    loss = hn.losses.ConcaveOfCardinality([0.0, 0.5, 0.7, 0.8, 0.85])
    plain, guessing = (
        hn.ContextFTPL(oracle, predictor=guess, loss_range=(0.0, 1.0), seed=0)
        for guess in (None, hn.predictors.Last())
    )
    for learner in (plain, guessing):
        for _ in range(12):
            learner.act()
            learner.update(loss)
    # Wrong once: the first guess was that nothing costs anything.
    assert guessing.certificate().prediction_error == pytest.approx(0.85**2)
    assert guessing.certificate().realised_regret <= plain.certificate().realised_regret + 1e-9
