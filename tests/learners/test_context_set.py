"""X: declared contexts, a separator, a pool, or a sample of the contexts seen so far."""

import numpy as np
import pytest

import hannan as hn
from hannan.learners.context_set import ContextSet, Reservoir

KEY = np.uint64(0)
FEATURES = {
    "LinearPolicies": hn.oracles.LinearPolicies(2),
    "Thresholds": hn.oracles.Thresholds(2),
    "Stumps": hn.oracles.Stumps(2),
    "Trees": hn.oracles.Trees(2),
}


def context_set(oracle, contexts=None, separator=None):
    return ContextSet("a test", oracle, contexts, separator, KEY)


def table():
    return hn.oracles.FinitePolicies([[0, 1, 1], [1, 0, 1], [1, 1, 0]])


# Which contexts carry noise, and which may arrive ----------------------------------------------


def test_a_class_that_lists_its_contexts_needs_no_others():
    X = context_set(table())
    assert (X.points, X.setting, X.has_theorem, X.takes_new_contexts) == (
        [0, 1, 2],
        "transductive",
        True,
        False,
    )


def test_declared_contexts_are_kept_once_and_others_refused():
    X = context_set(table(), [2, 0, 2])
    assert (X.points, X.setting, X.has_theorem) == ([2, 0], "transductive", True)
    assert X.admit(2, 0) == 2
    with pytest.raises(hn.ContextError, match="transductive"):
        X.admit(1, 0)


def test_any_context_may_arrive_beside_a_separator():
    X = context_set(table(), separator=[1, 0])
    assert (X.points, X.setting, X.has_theorem) == ([1, 0], "separator", True)
    assert X.admit(2, 0) == 2


def test_any_context_may_arrive_beside_a_pool_of_which_no_theorem_speaks():
    X = context_set(table(), hn.Pool([1]))
    assert (X.points, X.setting, X.has_theorem) == ([1], "separator", False)
    assert X.admit(2, 0) == 2


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_noise_sits_on_the_pool_and_the_certificate_says_what_that_means(learner):
    learner = learner(table(), hn.Pool([0, 2]), epsilon=0.5, seed=0)
    assert learner.leader.noise.contexts == [0, 2]
    for context in (0, 1, 2):
        learner.act(context)
        learner.update([0.0, 1.0] if learner.feedback is hn.Feedback.FULL else 0.5)
    assert any("not known in advance" in note for note in learner.certificate().notes)
    assert learner.regret_bound() is None


def test_an_empty_pool_is_refused():
    with pytest.raises(hn.ParameterError, match="'contexts' parameter"):
        hn.ContextFTPL(table(), hn.Pool([]))


@pytest.mark.parametrize("given", [[0, 1], hn.Pool([0, 1])])
def test_contexts_and_a_separator_together_are_refused(given):
    with pytest.raises(hn.ParameterError, match="cannot be combined"):
        hn.ContextFTPL(table(), given, separator=[0, 1])


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("name", FEATURES)
def test_a_theorem_needs_contexts_or_a_separator_where_none_are_known(name, learner):
    with pytest.raises(hn.ParameterError, match=r"contexts= or separator="):
        learner(FEATURES[name], epsilon="theorem", horizon=100, seed=0)


def test_the_size_of_a_class_on_X_is_that_of_the_oracle():
    oracle = table()
    assert context_set(oracle).log_size() == oracle.log_size([0, 1, 2])
    unknown = hn.oracles.FunctionOracle(lambda c, l: lambda x: [0], n_actions=2, max_chosen=2)
    with pytest.raises(hn.ParameterError, match="size of the policy class"):
        context_set(unknown, [0]).log_size()


# An open world ----------------------------------------------------------------------------------


def test_X_follows_the_contexts_and_is_renewed_as_another_one():
    X = context_set(hn.oracles.LinearPolicies(2))
    assert (X.points, X.has_theorem, X.takes_new_contexts) == ([], False, True)
    renewals = []
    for t in range(20):
        context = np.array([float(t % 5)])
        before, seen = list(X.points), X.seen.seen
        later = X.renewed(context)
        # Asking changes nothing.
        assert X.points == before
        assert X.seen.seen == seen
        if later is None:
            X.see(context)
        else:
            X = later
            renewals.append(t + 1)
    assert renewals == [1, 2, 4, 8, 16]
    assert sorted(float(x[0]) for x in X.points) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert X.seen.seen == 20


class Failing(hn.oracles.LinearPolicies):
    """Fails while a switch is on: when noise is to be made, or when G is to be found."""

    fails = None

    def noise(self, *args):
        if type(self).fails == "noise":
            raise RuntimeError("out of memory")
        return super().noise(*args)

    def complexity(self, contexts):
        if type(self).fails == "complexity":
            raise RuntimeError("out of memory")
        return super().complexity(contexts)


def looks(learner):
    """All that a call could have changed."""
    leader, step = learner.leader, learner.step
    return (
        learner.rounds,
        learner.oracle_calls,
        leader.number,
        leader.owed,
        len(leader.X.points),
        leader.X.seen.seen,
        vars(step),
        vars(learner._hint if hasattr(learner, "_hint") else learner._prediction),
        str(learner._account),
        [learner.best_policy()(np.array([x])) for x in (0.0, 0.5, 1.0)],
    )


@pytest.mark.parametrize("fails", ["noise", "complexity"])
@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.3])
@pytest.mark.parametrize(
    ("learner", "options"),
    [
        (hn.ContextFTPL, {}),
        (hn.ContextSemiBanditFTPL, {}),
        (
            hn.ContextSemiBanditFTPL,
            {"resampling": "shared"},
        ),  # measured by draws, not by a distribution
    ],
)
def test_a_renewal_that_fails_changes_nothing(learner, options, epsilon, fails, monkeypatch):
    one, twin = (learner(Failing(2), epsilon=epsilon, seed=0, **options) for _ in "ab")
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(70):
        context, losses = rng.random(1).round(2), rng.random(2)
        action = one.act(context)
        assert twin.act(context) == action
        loss = losses if learner is hn.ContextFTPL else float(losses[action])
        before = str(looks(one))
        monkeypatch.setattr(Failing, "fails", fails)
        try:
            one.update(loss)
        except RuntimeError:
            monkeypatch.setattr(Failing, "fails", None)
            failed += 1
            assert str(looks(one)) == before
            one.update(loss)
        monkeypatch.setattr(Failing, "fails", None)
        twin.update(loss)
    assert failed >= (3 if fails == "noise" or epsilon == "adaptive" else 0)
    assert str(looks(one)) == str(looks(twin))


# The sample -------------------------------------------------------------------------------------


def test_the_sample_is_renewed_whenever_the_number_seen_has_doubled():
    reservoir = Reservoir(100, np.uint64(0))
    renewed = [n for n in range(1, 70) if reservoir.offer(n)]
    assert renewed == [1, 2, 4, 8, 16, 32, 64]
    assert reservoir.contexts == list(range(1, 65))


def test_the_sample_is_bounded_and_even():
    """Each of 2,000 contexts is kept with probability 1/10; 4.5 standard errors."""
    kept = np.zeros(2)
    for seed in range(40):
        reservoir = Reservoir(200, np.uint64(seed))
        for n in range(2000):
            reservoir.offer(n)
        sample = np.array(reservoir._sample)
        assert len(sample) == len(set(sample.tolist())) == 200
        kept += [(sample < 1000).sum(), (sample >= 1000).sum()]
    assert abs(kept[0] / kept.sum() - 0.5) < 4.5 * 0.5 / np.sqrt(kept.sum())


def test_noise_sits_once_on_a_context_that_came_often():
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)
    for t in range(40):
        learner.act([float(t % 3)])
        learner.update([0.2, 0.8])
    assert sorted(float(x[0]) for x in learner.leader.X.points) == [0.0, 1.0, 2.0]
    assert len(learner.leader.noise.contexts) == 3
