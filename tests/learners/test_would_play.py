"""Copies with the same past and other randomness: their distribution is that of `act`."""

import copy

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.perturbation import seed_key
from tests import statistics
from tests.test_contracts import FINITE, ORACLES

SAMPLES = 800
SLATES = hn.oracles.FinitePolicies([[(0, 1), (2, 3)], [(1, 2), (0, 3)], [(0, 3), (0, 1)]])
BASE = hn.ContextFTPL(FINITE, seed=0)
MEAN = hn.predictors.Mean()
ROTA = [0, 1, 2, 3] * 10

FULL = {
    "fixed": hn.ContextFTPL(FINITE, epsilon=0.5, seed=0),
    "adaptive": BASE,
    "anytime": hn.ContextFTPL(FINITE, epsilon="anytime", seed=0),
    "once": hn.ContextFTPL(FINITE, epsilon=0.5, noise="once", seed=0),
    "guessing": hn.ContextFTPL(FINITE, predictor=hn.predictors.Last(), trust="always", seed=0),
    "all policies": hn.ContextFTPL(hn.oracles.AllPolicies(4, 3), epsilon=0.5, seed=0),
    "playout": hn.PlayoutFTPL(FINITE, ROTA, seed=0),
    "FTPL": hn.FTPL(
        FINITE,
        lambda rng: [(x, rng.laplace(scale=2.0, size=3)) for x in range(4)],
        predictor=MEAN,
        seed=0,
    ),
    "Restarting": hn.Restarting(hn.ContextFTPL(FINITE, epsilon=0.5, seed=0)),
    "AdaptiveDiscount": hn.AdaptiveDiscount(FINITE, discounts=(1.0, 0.9, 0.5), seed=0),
    "Discounted": hn.Discounted(BASE, 0.8),
    "StronglyAdaptive": hn.StronglyAdaptive(BASE, shortest=4, seed=0),
    "Hedge": hn.baselines.Hedge(FINITE, seed=0),
    "FixedShare": hn.baselines.FixedShare(FINITE, seed=0),
    "OptimisticHedge": hn.baselines.OptimisticHedge(FINITE, seed=0),
    "KalaiVempala": hn.baselines.KalaiVempala(FINITE, seed=0),
    "UniformRandom": hn.baselines.UniformRandom(3, seed=0),
}
BANDITS = {
    "bandit": hn.ContextSemiBanditFTPL(FINITE, seed=0),
    "bandit, exploring": hn.ContextSemiBanditFTPL(FINITE, exploration=0.1, seed=0),
    "bandit, hinted and exploring": hn.ContextSemiBanditFTPL(
        FINITE, exploration=0.1, predictor=MEAN, trust=hn.Trust(prior=1.0), seed=0
    ),
    "bandit, anytime": hn.ContextSemiBanditFTPL(FINITE, epsilon="anytime", seed=0),
    "bandit, hinted": hn.ContextSemiBanditFTPL(
        FINITE, epsilon=0.2, predictor=MEAN, trust=hn.Trust(prior=1.0), seed=0
    ),
    "TsallisINF": hn.TsallisINF(hn.oracles.AllPolicies(4, 3), seed=0),
    "TsallisINF, hinted": hn.TsallisINF(hn.oracles.AllPolicies(4, 3), predictor=MEAN, seed=0),
    "bandit, baseline": hn.ContextSemiBanditFTPL(
        FINITE, epsilon=0.5, predictor=MEAN, trust="baseline", seed=0
    ),
    "bandit, playout": hn.PlayoutBandit(FINITE, ROTA, seed=0),
    "Restarting, bandit": hn.Restarting(hn.ContextSemiBanditFTPL(FINITE, seed=0)),
    "Exp4": hn.baselines.Exp4(FINITE, seed=0),
    "EpsilonGreedy": hn.baselines.EpsilonGreedy(3, epsilon=0.5, seed=0),
    "EpochGreedy": hn.baselines.EpochGreedy(FINITE, seed=0),
}
LEARNERS = FULL | BANDITS
SURE = 1e-3 / len(LEARNERS)
"""Equal distributions are called different with probability 1e-3 in all tests together."""


def after(learner, rounds):
    """A clone that has played some rounds."""
    twin = learner.clone()
    for context, losses in rounds:
        action = twin.act(context)
        twin.update(losses if twin.feedback is hn.Feedback.FULL else float(losses[action]))
    return twin


def past(n=10):
    rng = np.random.default_rng(5)
    return [(x, rng.random(3)) for x in ROTA[:n]]


def reseed(learner, rng):
    """Slowly and by hand: all randomness that `act` could use is replaced."""
    if isinstance(learner, hn.ContextFTPL | hn.ContextSemiBanditFTPL):
        leader = learner.leader
        leader.key, leader._tossed = seed_key(int(rng.integers(2**60))), -1
        if leader.noise is not None:
            leader.noise = None
            leader.put_noise()
    elif isinstance(learner, hn.PlayoutFTPL | hn.PlayoutBandit):
        noise = learner._noise
        learner._put_noise(noise.size, noise.rate, seed_key(int(rng.integers(2**60))))
    elif isinstance(learner, hn.StronglyAdaptive):
        learner._key = seed_key(int(rng.integers(2**60)))
        learner.learner = learner.learner.clone(seed=int(rng.integers(2**60)))
        for each in learner._awake:
            reseed(each.learner, rng)
    elif isinstance(learner, hn.Restarting):
        reseed(learner.current_learner, rng)
    elif isinstance(learner, hn.AdaptiveDiscount):
        learner._leader = learner._leader.reseeded(seed_key(int(rng.integers(2**60))))
        learner._meta_learner._key = seed_key(int(rng.integers(2**60)))
    elif isinstance(learner, hn.Discounted):
        reseed(learner._inner, rng)
    elif isinstance(learner, hn.TsallisINF):
        learner._key = seed_key(int(rng.integers(2**60)))
    elif isinstance(learner, hn.FTPL):
        learner._key = int(rng.integers(2**60))
    elif isinstance(learner, hn.baselines.KalaiVempala):
        learner._noise_key = int(rng.integers(2**60))
        learner._block = (-1, np.empty(0))
    else:
        learner._rng = np.random.default_rng(int(rng.integers(2**60)))


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", LEARNERS)
def test_copies_play_by_the_law_of_act(name):
    learner = after(LEARNERS[name], past())
    context = ROTA[10]
    rng = np.random.default_rng(1)
    acted = []
    for _ in range(SAMPLES):
        twin = copy.deepcopy(learner)
        reseed(twin, rng)
        acted.append(twin.act(context))
    together = learner.would_play(context, SAMPLES, seed=3)
    alone = [learner.would_play(context, 1, seed=s)[0] for s in range(SAMPLES)]
    assert len(set(acted)) > 1
    assert statistics.same_distribution(together, acted) > SURE
    assert statistics.same_distribution(alone, acted) > SURE


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", ["fixed", "once", "anytime", "Hedge", "FTPL", "KalaiVempala"])
def test_copies_play_by_the_law_of_other_seeds(name):
    # With full information and no self-tuning the state is a function of the losses alone, so
    # that a replay with another seed is a copy.
    learner = LEARNERS[name]
    acted = [after(learner.clone(seed=s), past()).act(2) for s in range(1, SAMPLES)]
    asked = after(learner, past()).would_play(2, SAMPLES, seed=4)
    assert statistics.same_distribution(asked, acted) > SURE


@pytest.mark.stat
def test_these_tests_would_notice_another_scale():
    learner = after(FULL["fixed"], past())
    other = after(hn.ContextFTPL(FINITE, epsilon=1.0, seed=0), past())
    asked = learner.would_play(2, SAMPLES), other.would_play(2, SAMPLES, seed=1)
    assert statistics.same_distribution(*asked) < SURE


@pytest.mark.parametrize("name", LEARNERS)
def test_asking_changes_nothing(name):
    rounds = past(20)
    silent, asked = LEARNERS[name].clone(), LEARNERS[name].clone()
    for t, (context, losses) in enumerate(rounds):
        asked.would_play(context, 5, seed=t)
        actions = silent.act(context), asked.act(context)
        # While a round is open, on another context where any may come.
        asked.would_play(context if "playout" in name else 3 - context, 2, seed=t)
        assert actions[0] == actions[1]
        for each in (silent, asked):
            full = each.feedback is hn.Feedback.FULL
            each.update(losses if full else float(losses[actions[0]]))
    assert asked.oracle_calls == silent.oracle_calls
    if hasattr(asked, "certificate"):
        assert asked.certificate() == silent.certificate()


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("name", [n for n in ORACLES if "Switching" not in n])
def test_asking_changes_nothing_whatever_the_class(name, learner):
    oracle, contexts, _ = ORACLES[name]
    contexts = oracle.contexts if contexts is None else list(contexts)
    if oracle.takes_items and learner is hn.ContextFTPL:
        with pytest.raises(hn.ParameterError, match="items"):
            learner(oracle)
        return
    K = max(map(len, contexts)) if oracle.takes_items else oracle.n_actions
    top = float(oracle.n_actions) if oracle.takes_functions else 1.0
    options = {"epsilon": 0.3, "seed": 0, "loss_range": (0.0, top)}
    X = None if oracle.takes_items and oracle.contexts is not None else contexts
    silent, asked = (learner(oracle, X, **options) for _ in range(2))
    rng = np.random.default_rng(0)
    for t in range(8):
        context, losses = contexts[t % len(contexts)], rng.random(K)
        answers = asked.would_play(context, 4, seed=t)
        one, other = silent.act(context), asked.act(context)
        assert np.array_equal(one, other)
        assert all(type(answer) is type(one) for answer in answers)
        for each in (silent, asked):
            each.update(losses if learner is hn.ContextFTPL else losses[one])


def test_open_decisions_are_left_alone():
    silent, asked = BANDITS["bandit, anytime"].clone(), BANDITS["bandit, anytime"].clone()
    for t in range(20):
        asked.would_play(t % 4, 3, seed=t)
        one, other = silent.decide(t % 4), asked.decide(t % 4)
        asked.would_play(t % 4, 3, seed=t)
        assert one.action == other.action
        assert one.record.weights == other.record.weights
        if t % 3:
            silent.update(0.5, decision=one)
            asked.update(0.5, decision=other)


@pytest.mark.parametrize(
    "learner",
    [
        hn.baselines.FollowTheLeader(FINITE),
        hn.baselines.LinUCB(3),
        hn.baselines.EpsilonGreedy(3, epsilon=0.0, seed=0),
        hn.ContextFTPL(hn.oracles.FinitePolicies([[1, 0, 2, 0]]), seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_without_randomness_all_copies_do_what_the_learner_does(learner):
    learner = learner.clone()
    for t, (context, losses) in enumerate(past()):
        answers = learner.would_play(context, 4, seed=t)
        action = learner.act(context)
        assert answers == [action] * 4
        learner.update(losses if learner.feedback is hn.Feedback.FULL else float(losses[action]))


@pytest.mark.parametrize("name", ["fixed", "once", "FTPL", "Hedge", "UniformRandom", "bandit"])
def test_the_seed_of_the_learner_gives_nothing_away(name):
    learner, other = LEARNERS[name].clone(seed=7), LEARNERS[name].clone(seed=8)
    guesses = []
    for context, losses in past(8) * 40:
        answer = learner.would_play(context, 1, seed=7)
        if name != "bandit":  # whose past differs
            assert answer == other.would_play(context, 1, seed=7)
        action = learner.act(context)
        other.act(context)
        guesses.append(answer[0] == action)
        full = learner.feedback is hn.Feedback.FULL
        learner.update(losses if full else float(losses[action]))
        other.update(losses if full else 0.5)
    assert not all(guesses)


@pytest.mark.stat
def test_one_copy_tells_nothing_about_the_next():
    # Pairs of equal actions come as often as independence asks, at level 1e-4.
    answers = np.array(hn.baselines.UniformRandom(3, seed=0).would_play(copies=6000))
    pairs = 3 * answers[0::2] + answers[1::2]
    assert stats.chisquare(np.bincount(pairs, minlength=9)).pvalue > 1e-4
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), epsilon=0.5, seed=0)
    answers = np.array([learner.would_play(copies=2, seed=s) for s in range(3000)])
    pairs = 3 * answers[:, 0] + answers[:, 1]
    assert stats.chisquare(np.bincount(pairs, minlength=9)).pvalue > 1e-4


def test_sets_are_given_as_act_gives_them():
    learner = hn.ContextFTPL(SLATES, epsilon=0.5, seed=0)
    answers = learner.would_play(1, 20)
    assert {tuple(a.tolist()) for a in answers} <= {(2, 3), (0, 3), (0, 1)}
    assert len({tuple(a.tolist()) for a in answers}) > 1


class Own(hn.Learner):
    """Somebody's learner: a generator under its own name, state that `act` changes."""

    def __init__(self, seed=None):
        super().__init__()
        self.seed = seed
        self.inner = hn.baselines.UniformRandom(1000, seed=seed)
        self.dice = np.random.default_rng(seed)
        self.log = []

    def _act(self, opened):
        opened.play(1000 * int(self.dice.integers(1000)) + self.inner.act(opened.context))
        self.log.append(opened.action)

    def _update(self, opened, loss):
        pass


def test_learners_of_ones_own_are_copied_deeply_with_randomness_of_their_own():
    silent, asked = Own(seed=0), Own(seed=0)
    answers = asked.would_play(copies=50)
    assert asked.log == []
    assert len(set(answers)) > 45
    assert len({a // 1000 for a in answers}) > 40 < len({a % 1000 for a in answers})
    assert answers == Own(seed=1).would_play(copies=50) != Own(seed=0).would_play(copies=50, seed=1)
    assert [silent.act() for _ in range(9)] == [asked.act() for _ in range(9)]


@pytest.mark.parametrize("name", ["fixed", "Hedge", "StronglyAdaptive", "Restarting", "FTPL"])
@pytest.mark.parametrize(("argument", "value"), [("copies", 0), ("copies", 1.5), ("seed", -1)])
def test_bad_questions_are_refused(name, argument, value):
    with pytest.raises(hn.ParameterError, match=f"'{argument}' parameter"):
        LEARNERS[name].clone().would_play(0, **{argument: value})


@pytest.mark.parametrize("name", ["fixed", "Hedge", "StronglyAdaptive", "Discounted", "FTPL"])
def test_unknown_contexts_are_refused(name):
    with pytest.raises(hn.ContextError):
        LEARNERS[name].clone().would_play(99)


def test_the_class_is_not_copied():
    learner = Own(seed=0)
    learner.oracle = hn.oracles.AllPolicies(1, 2)
    learner.oracle.__deepcopy__ = lambda memo: pytest.fail("an oracle was copied")
    assert learner.would_play()


def test_the_unit_of_discounted_weights_does_not_matter():
    learner = after(hn.Discounted(BASE, 0.8), past())
    before = learner.would_play(2, 100)
    learner._inner.renew(learner._discounted(), learner.discount**learner._age)
    learner._age = 0
    assert learner.would_play(2, 100) == before
    assert len(set(before)) > 1


@pytest.mark.parametrize("given", [{"copies": 0}, {"seed": -1}])
@pytest.mark.parametrize(
    "learner", [hn.baselines.LinUCB(2), hn.baselines.Hedge([[0], [1]], seed=0)]
)
def test_a_wrong_question_is_refused_in_its_own_name(learner, given):
    (name,) = given
    with pytest.raises(hn.ParameterError, match=f"The '{name}' parameter of would_play must be"):
        learner.would_play(0, **given)
