"""Numbers and objects at the edge are refused by name, and nothing else is raised."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.kernels.losses import LARGEST
from tests.cases import Tried, declared
from tests.for_each import for_each
from tests.learners import call_sequences

ORACLES = {
    name: case
    for name, case in declared(hn.Oracle).items()
    if "SklearnPolicies" not in name and "Switching" not in name
    if not (case[0] if isinstance(case, tuple) else case).takes_items
}


class Raising:
    """What NumPy cannot make an array of."""

    def __array__(self, *args, **options):
        raise RuntimeError("not here")


FOREIGN = [10**400, [10**400, 0], Raising(), [Raising()], np.array([10**400], dtype=object)]


@pytest.mark.parametrize("name", ORACLES)
def test_losses_whose_totals_could_overflow_are_refused(name):
    case = ORACLES[name]
    oracle, contexts, _ = Tried(*case) if isinstance(case, tuple) else Tried(case)
    contexts = list(oracle.contexts if contexts is None else contexts)
    given = None if oracle.contexts is not None else contexts
    K = oracle.n_actions or 3
    learner = hn.ContextFTPL(oracle, given, loss_range=None, seed=0)
    rng = np.random.default_rng(0)
    for t in range(8):
        learner.act(contexts[t % len(contexts)])
        with pytest.raises(hn.LossError, match="1e\\+120"):
            learner.update(rng.choice([-1e308, 1e308], K))
        with np.errstate(over="raise", invalid="raise"):
            learner.update(rng.choice([-1e110, 1e110], K))
    assert np.isfinite(learner.certificate().loss)


def test_a_range_of_losses_whose_totals_could_overflow_is_refused():
    oracle = hn.oracles.AllPolicies(1, 2)
    with pytest.raises(hn.ParameterError, match="loss_range"):
        hn.ContextSemiBanditFTPL(oracle, loss_range=(0.0, 1e308))
    assert hn.ContextSemiBanditFTPL(oracle, loss_range=(0.0, LARGEST)).rounds == 0


@pytest.mark.parametrize("epsilon", [1e-310, 1e-200, 1e200, 10**400])
@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_a_step_whose_inverse_is_too_large_is_refused(kind, epsilon):
    with pytest.raises(hn.ParameterError, match="epsilon"):
        kind(hn.oracles.AllPolicies(2, 2), epsilon=epsilon)


def test_the_smallest_step_can_be_played():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), epsilon=1.0 / LARGEST, seed=0)
    with np.errstate(all="raise"):
        for t in range(10):
            learner.act(t % 2)
            learner.update([0.0, 1.0])
        assert np.isfinite(learner.certificate().loss)


@for_each("name", sorted(call_sequences.settings()))
def test_foreign_objects_are_refused_by_name(name):
    setting = call_sequences.setting(name)
    if setting is None:  # a class that this learner does not take
        return
    learner = setting.make(call_sequences.Fuse())
    for odd in FOREIGN:
        try:
            learner.act(odd)
        except hn.HannanError:
            learner.act(setting.contexts[0])
        with pytest.raises(hn.HannanError):
            learner.update(odd)


@pytest.mark.parametrize(
    "context", [float("nan"), (1, float("nan")), np.array([1.0, np.nan]), [np.float32("nan")]]
)
def test_a_context_that_does_not_equal_itself_is_refused(context):
    learner = hn.baselines.UniformRandom(2, seed=0)
    for call in (learner.act, learner.decide, lambda x: learner.decide_many([0, x])):
        with pytest.raises(hn.ContextError, match="must not contain NaN"):
            call(context)
    assert (learner.open_decisions, learner.clock) == ([], 0)


def test_zeros_of_both_signs_are_one_context():
    rows = [[0.0, 1.0], [-0.0, 2.0]]
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), rows, seed=0)
    for row in ([-0.0, 1.0], np.array([-0.0, 1.0]), np.array([0.0, 2.0])):
        learner.act(row)
        learner.update([0.0, 1.0])
    assert learner.rounds == 3


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_keep_the_width_of_their_rows(depth):
    learner = hn.ContextFTPL(hn.oracles.Trees(2, depth=depth), seed=0)
    rng = np.random.default_rng(0)
    for t in range(20):
        learner.act(rng.normal(size=3))
        learner.update([t % 2, 1 - t % 2])
    for width in (1, 2, 7):
        with pytest.raises(hn.ContextError, match="3 features"):
            learner.act(rng.normal(size=width))


def test_drift_is_watched_in_the_losses_of_chosen_elements_where_losses_may_be_functions():
    inner = hn.ContextSemiBanditFTPL(hn.oracles.Submodular(4), epsilon=0.5, seed=0)
    learner, rng = hn.Restarting(inner), np.random.default_rng(0)
    for t in range(50):
        action = learner.act()
        learner.update(rng.random(len(action)))
        assert learner.rounds == t + 1


def test_listed_classifiers_play_out():
    oracle = hn.oracles.InterceptClassifiers(2, tau=0.25)
    rng = np.random.default_rng(0)
    rows = [rng.random((6, 2))[i] for i in rng.integers(0, 6, size=20)]
    for kind in (hn.PlayoutFTPL, hn.PlayoutBandit):
        learner = kind(oracle, rows, seed=0)
        for row in rows:
            action = learner.act(row)
            losses = rng.random(2)
            learner.update(losses if kind is hn.PlayoutFTPL else losses[action])
        assert learner.rounds == 20


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e40])
def test_minima_are_scaled_in_double_precision(scale):
    oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    total = oracle.objective()
    noise = oracle.noise([0, 1], np.uint64(3), 0, 2**20)
    unit = total.minima(Draw(noise, 0, 1.0), 20)
    assert total.minima(Draw(noise, 0, scale), 20) == pytest.approx(scale * unit, rel=1e-15)
