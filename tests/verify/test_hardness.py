"""Theorem 7 can be refuted, by floats, by a learner without noise, by a false certificate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import hannan as hn
from hannan.core import Learner
from hannan.verify import hardness
from tests.verify.breaks import failures, refuted

LINE = hn.oracles.Thresholds()


def test_every_learner_and_baseline_is_tried():
    tried = {type(learner) for learner in hardness.on_a_line(0).values()}
    tried |= {type(each) for each in hardness.on_a_list(hardness.dyadic_thresholds(2), 0).values()}
    exported = [
        vars(family)[name] for family in (hn.learners, hn.baselines) for name in family.__all__
    ]
    missing = {each for each in exported if issubclass(each, Learner)} - tried
    # The suite runs without optional packages, and Vowpal Wabbit is one; some need to know the
    # contexts, and others are for described actions or sets.
    others = {hn.PlayoutFTPL, hn.PlayoutBandit, hn.TsallisINF, hn.baselines.ItemLinUCB, hn.Exp3IX}
    for_sets = {hn.baselines.CombUCB1, hn.baselines.CombThompson, hn.baselines.C2UCB}
    assert missing == {hn.baselines.VowpalWabbit} | others | for_sets


def noisy(seed: int) -> dict[str, Learner]:
    """Learners whose actions are nearly uniform."""
    wide = {"contexts": hn.Pool([Fraction(1, 2)]), "epsilon": 1e-6}

    def fakes(rng):
        return [(Fraction(1, 2), 1e6 * rng.laplace(size=2))]

    plain = hn.ContextFTPL(LINE, **wide, seed=seed)
    return {
        "uniform": hn.baselines.UniformRandom(2, seed=seed),
        "plain": plain,
        "bandit": hn.ContextSemiBanditFTPL(LINE, **wide, seed=seed),
        "fakes": hn.FTPL(LINE, fakes, seed=seed),
        "strong": hn.StronglyAdaptive(plain, shortest=1, seed=seed),
        "restarting": hn.Restarting(plain),
        "hedge": hn.baselines.Hedge([[0], [1]], seed=seed),
    }


@pytest.mark.parametrize("name", noisy(0))
def test_the_adversary_does_not_know_the_randomness_of_a_learner(name):
    """It wins as often as independent copies lose, about half of the time: five deviations."""
    T, games = 60, 5
    won, expected = [], []
    for seed in range(games):
        learner = noisy(seed)[name]
        called = (lambda x: 0) if name == "hedge" else None
        world = hardness.Bisection(learner, called)
        trace = hn.play(learner, world, T, seed=seed, oracle=learner.oracle or LINE)
        won.append(trace.losses.mean())
        expected.append(np.mean(world.expected))
    error = 0.5 * np.sqrt((1 + 1 / 8) / (games * T))
    assert np.mean(won) == pytest.approx(np.mean(expected), abs=5 * error)
    # Where the noise is on one point, the past decides some of the rounds.
    assert 0.4 < np.mean(expected) < 0.7


def test_copies_leave_the_learner_alone():
    for name, learner in hardness.on_a_line(3).items():
        alone = hardness.on_a_line(3)[name]
        trace = hn.play(learner, hardness.Bisection(learner), 20, seed=0, oracle=LINE)
        again = [_round(alone, x, y) for x, y in zip(trace.contexts, trace.outcomes, strict=True)]
        assert again == list(trace.actions), name


def _round(learner, context, losses):
    action = learner.act(context)
    learner.update(losses if learner.feedback is hn.core.Feedback.FULL else losses[action])
    return action


def test_points_stay_between_the_labels():
    learner = hn.baselines.UniformRandom(2, seed=0)
    trace = hn.play(learner, hardness.Bisection(learner), 90, seed=0, oracle=LINE)
    labels = trace.outcomes.argmin(axis=1)
    below = [x for x, label in zip(trace.contexts, labels, strict=True) if label == 0]
    above = [x for x, label in zip(trace.contexts, labels, strict=True) if label == 1]
    assert max(below) < min(above)
    assert min(above) - max(below) == Fraction(1, 2**90)


def test_the_users_optimiser_is_exact():
    rng = np.random.default_rng(0)
    for _ in range(100):
        d = int(rng.integers(1, 8))
        points = [Fraction(int(i), 7) for i in rng.permutation(20)[:d]]
        losses = rng.integers(-3, 4, size=(d, 2)).astype(float)

        def cost(policy, points=points, losses=losses):
            return sum(row[policy(x)] for x, row in zip(points, losses, strict=True))

        thetas = [*points, Fraction(100)]
        best = min(cost(lambda x, theta=theta: int(x >= theta)) for theta in thetas)
        assert cost(hardness.solve_exactly(points, losses)) == best


@pytest.fixture
def some_learners(monkeypatch):
    """One of each kind, which is enough to see what is broken."""
    line, listed = hardness.on_a_line, hardness.on_a_list
    names = ("ContextFTPL", "ContextSemiBanditFTPL", "FollowTheLeader", "UniformRandom")

    def few(seed):
        everyone = line(seed)
        return {name: everyone[name] for name in names}

    monkeypatch.setattr(hardness, "on_a_line", few)
    monkeypatch.setattr(
        hardness, "on_a_list", lambda table, seed: {"Hedge": listed(table, seed)["Hedge"]}
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("some_learners")
def test_floats_run_out(monkeypatch):
    monkeypatch.setattr(hardness, "Fraction", lambda p, q=1: p / q)
    refuted("hardness", "largest loss of the best threshold, all runs")


@pytest.mark.nightly
@pytest.mark.usefixtures("some_learners")
def test_a_learner_without_noise_is_forced_even_when_told(monkeypatch):
    monkeypatch.setattr(hn.SelfTuned, "after", lambda *given: None)
    assert list(failures("hardness")) == [
        "ContextFTPL with known contexts, same sequences: regret at most half of T/2"
    ]


MISUSES = {
    "a finite separator of thresholds": (
        lambda: hn.ContextFTPL(LINE, separator=[Fraction(i, 16) for i in range(1, 16)]),
        "separator",
    ),
    "a single policy": (
        lambda: hn.bounds.complete_information(100, d=5, n_actions=2, log_size=0.0),
        "N >= 2",
    ),
    "a theorem's ε without a horizon": (
        lambda: hn.ContextFTPL(hardness.dyadic_thresholds(2), epsilon="theorem"),
        "horizon",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_refused_by_name(name):
    misuse, word = MISUSES[name]
    with pytest.raises(hn.core.ParameterError, match=word):
        misuse()


@pytest.mark.parametrize("known", [{}, {"contexts": hn.Pool([Fraction(1, 3), Fraction(2, 3)])}])
@pytest.mark.parametrize(
    "make",
    [
        hn.ContextFTPL,
        hn.ContextSemiBanditFTPL,
        lambda *args, **known: hn.Discounted(hn.ContextFTPL(*args, **known)),
        lambda *args, **known: hn.Restarting(hn.ContextFTPL(*args, **known)),
    ],
)
def test_a_certificate_says_why_it_promises_nothing(make, known):
    learner = make(LINE, seed=0, **known)
    for x in (0.1, 0.9, 0.4):
        _round(learner, x, np.array([1.0, 0.0]))
    said = learner.certificate()
    assert hardness.claimed_bounds(learner) == 0
    assert "contexts were not known in advance: no theorem applies" in said.notes
