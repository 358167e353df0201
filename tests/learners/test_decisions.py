"""Feedback that comes late, out of order or never."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.core import rounds
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from tests import problems

KINDS = problems.KINDS
SLATES = [[(0, 1), (2, 3)], [(1, 2), (0, 3)], [(0, 3), (0, 1)], [(2, 3), (1, 2)]]


def make(kind, **options):
    if kind == "slates":
        oracle = hn.oracles.FinitePolicies(SLATES, n_actions=4)
    else:
        oracle, _ = problems.make(kind, d=2, K=4)
    return hn.ContextSemiBanditFTPL(oracle, range(2), **{"epsilon": 0.4, "seed": 0} | options)


def losses_of(action, value):
    return value if isinstance(action, int) else np.full(len(action), value)


def totals(learner):
    """The estimated losses so far, in the form the objective keeps them."""
    history = learner.leader.total
    for name in ("scores", "totals"):
        if hasattr(history, name):
            found = getattr(history, name)
            return found[np.isfinite(found)]
    return history._rows.totals.ravel()


@pytest.mark.parametrize("kind", [*KINDS, "slates"])
@pytest.mark.parametrize("mode", ["shared", "rao-blackwell", "auto"])
def test_any_order_of_answers_gives_the_same_totals(kind, mode):
    found = []
    for order in itertools.permutations(range(3)):
        learner = make(kind, resampling=mode)
        decisions = learner.decide_many([0, 1, 0])
        for i in order:
            loss = losses_of(decisions[i].action, [0.25, 1.0, 0.5][i])
            learner.update(loss, decision=decisions[i])
        found.append(totals(learner))
        assert learner.open_decisions == []
        assert learner.rounds == 3
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12)
    assert found[0].max() > 0


@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.4])
@pytest.mark.parametrize("kind", [*KINDS, "slates"])
def test_a_decision_answered_at_once_is_a_round(kind, epsilon):
    immediate, tickets = make(kind, epsilon=epsilon), make(kind, epsilon=epsilon)
    for t in range(40):
        loss = [0.25, 1.0, 0.75][t % 3]  # not zero: act() is lazy then, decide() is not
        action = immediate.act(t % 2)
        immediate.update(losses_of(action, loss))
        decision = tickets.decide(t % 2)
        assert np.array_equal(decision.action, action)
        tickets.update(losses_of(action, loss), decision=decision)
    np.testing.assert_array_equal(totals(immediate), totals(tickets))
    assert immediate.certificate() == tickets.certificate()
    assert immediate.certificate().comparator_estimate is not None


@pytest.mark.parametrize("kind", [*KINDS, "slates"])
def test_weights_say_what_the_loss_will_be_multiplied_with(kind):
    learner = make(kind)
    expected = np.zeros((2, 4))
    for t in range(30):
        decision = learner.decide(t % 2)
        learner.update(losses_of(decision.action, 0.5), decision=decision)
        expected[t % 2][np.atleast_1d(decision.action)] += 0.5 * decision.weights
    policy = learner.best_policy()
    found = learner.leader.total.minima()[0]
    assert found == pytest.approx(sum(expected[x][policy(x)].sum() for x in range(2)))


@pytest.mark.parametrize("kind", ["FinitePolicies", "slates"])
def test_changing_the_weights_of_a_ticket_changes_nothing(kind):
    one, other = make(kind), make(kind)
    first, second = one.decide(0), other.decide(0)
    second.weights[:] = 99.0
    one.update(losses_of(first.action, 1.0), decision=first)
    other.update(losses_of(first.action, 1.0), decision=second)
    np.testing.assert_array_equal(totals(one), totals(other))


@pytest.mark.parametrize("kind", [*KINDS, "slates"])
def test_an_open_round_keeps_the_weights_of_its_own_state(kind):
    # `act` draws its weights late; an answer to another decision in between must not change them.
    options = {"loss_range": (0, 1000), "resampling": "shared", "max_resamples": 60}
    learner, twin = make(kind, **options), make(kind, **options)
    other = learner.decide(0)
    action = learner.act(0)
    learner.update(losses_of(other.action, 1000.0), decision=other)
    learner.update(losses_of(action, 1000.0))
    first, second = twin.decide(0), twin.decide(0)
    assert np.array_equal(second.action, action)
    twin.update(losses_of(first.action, 1000.0), decision=first)
    twin.update(losses_of(second.action, 1000.0), decision=second)
    np.testing.assert_array_equal(totals(learner), totals(twin))


def test_an_open_round_keeps_the_scale_of_its_own_state():
    # Under the anytime schedule every decision widens the noise; weights are drawn late here.
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), epsilon="anytime", max_resamples=50, seed=0
    )
    learner.leader.total.add(0, np.array([0.0, 2.0, 4.0]))
    distribution = learner.propensities().probabilities  # of the round to come
    action = learner.act()
    q = distribution[action]
    before = learner.leader.total.totals[0, action]
    learner.decide_many([None] * 20)
    assert abs(learner.propensities().probabilities[action] - q) > 0.03
    learner.update(1.0)
    found = learner.leader.total.totals[0, action] - before
    assert found == pytest.approx((1 - (1 - q) ** 50) / q)


def delayed_estimates(delay, seed, at_arrival):
    """Estimated totals of two actions after 60 rounds; optionally weighed at arrival."""
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.FinitePolicies([[0], [1]]),
        epsilon=1.0,
        resampling="shared",
        max_resamples=10_000,
        seed=seed,
    )
    waiting = []
    for t in range(60 + delay):
        if t < 60:
            waiting.append(learner.decide())
        if t >= delay:
            decision = waiting.pop(0)
            if at_arrival:
                learner._ledger.waiting[decision.id].weights = None
            learner.update([0.5, 0.6][decision.action], decision=decision)
    return learner.leader.total.scores[:2].copy()


@pytest.mark.slow
@pytest.mark.stat
def test_delayed_estimates_are_unbiased_and_would_not_be_if_weighed_at_arrival():
    # With L = 10,000 the truncation is negligible; 4.5 standard errors.
    honest = np.array([delayed_estimates(10, seed, False) for seed in range(250)])
    error = honest.std(axis=0) / math.sqrt(len(honest))
    assert np.all(np.abs(honest.mean(axis=0) - [30.0, 36.0]) <= 4.5 * error)
    late = np.array([delayed_estimates(10, seed, True) for seed in range(60)])
    error = late.std(axis=0) / math.sqrt(len(late))
    assert np.any(late.mean(axis=0) - [30.0, 36.0] > 4.5 * error)


@pytest.mark.parametrize("kind", [*KINDS, "slates"])
def test_a_forgotten_decision_leaves_no_trace_in_the_totals(kind):
    learner = make(kind)
    keep, drop = learner.decide_many([0, 1])
    assert learner.open_decisions == [keep.id, drop.id]
    learner.forget(drop)
    assert learner.open_decisions == [keep.id]
    assert not totals(learner).any()
    with pytest.raises(hn.DecisionError, match=r"was abandoned; .* is 1"):
        learner.update(losses_of(drop.action, 1.0), decision=drop)
    learner.update(losses_of(keep.action, 1.0), decision=keep.id)
    assert learner.rounds == 1


@pytest.mark.parametrize("bad", [17, -1, "0", None.__class__, [0], 0.5])
def test_unknown_decisions_are_refused(bad):
    learner = make("FinitePolicies")
    learner.decide(0)
    with pytest.raises(hn.DecisionError, match="never made"):
        learner.update(0.5, decision=bad)
    with pytest.raises(hn.DecisionError, match="never made"):
        learner.forget(bad)
    assert learner.open_decisions == [0]


def test_an_answered_decision_is_refused_the_second_time():
    learner = make("FinitePolicies")
    decision = learner.decide(0)
    learner.update(0.5, decision=decision)
    before = totals(learner).copy()
    for again in (decision, decision.id):
        with pytest.raises(hn.DecisionError, match=r"already has feedback.* is 0"):
            learner.update(0.5, decision=again)
        with pytest.raises(hn.DecisionError, match=r"already has feedback.* is 0"):
            learner.forget(again)
    np.testing.assert_array_equal(totals(learner), before)


def test_a_bad_context_among_many_makes_no_decision_at_all():
    learner, twin = make("FinitePolicies"), make("FinitePolicies")
    with pytest.raises(hn.ContextError):
        learner.decide_many([0, 1, 7])
    assert learner.open_decisions == []
    assert [d.action for d in learner.decide_many([0, 1])] == [
        d.action for d in twin.decide_many([0, 1])
    ]


def test_answering_without_a_round_is_refused_even_with_open_decisions():
    learner = make("FinitePolicies")
    learner.decide(0)
    with pytest.raises(hn.OrderError):
        learner.update(0.5)


# The schedule that pays for delay ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["FinitePolicies", "slates"])
def test_the_anytime_schedule_is_that_of_the_notes(kind):
    # eps_t = sqrt(G/(2 W_t)), W_t = kappa sum_{s<=t} (c m K + m^2 |O_s|), c = 2 for one success.
    learner = make(kind, epsilon="anytime", resampling="shared")
    m = learner.oracle.max_chosen
    W, waiting = 0.0, []
    for t in range(25):
        W += 2 * m * 4 + m**2 * len(waiting)
        decision = learner.decide(t % 2)
        assert 1 / learner.step.scale == pytest.approx(
            math.sqrt(learner.complexity.value / (2 * W))
        )
        waiting.append(decision)
        if len(waiting) > 3:
            late = waiting.pop(0)
            learner.update(losses_of(late.action, 0.5), decision=late)


def test_a_round_that_was_dropped_is_not_waited_for():
    learner = make("FinitePolicies", epsilon="adaptive")
    for t in range(20):
        learner.act(1 - t % 2)
        learner.act(t % 2)
        learner.update(0.5)
    assert not any("delayed" in note for note in learner.certificate().notes)


@pytest.mark.parametrize(
    ("epsilon", "kept"),
    [("adaptive", {"stability_estimate", "comparator_estimate"}), (0.4, {"comparator_estimate"})],
)
def test_estimates_that_delay_voids_are_withheld(epsilon, kept):
    learner = make("FinitePolicies", epsilon=epsilon)
    first, second = learner.decide_many([0, 1])
    learner.update(1.0, decision=first)
    learner.update(1.0, decision=second)
    certificate = learner.certificate()
    names = ("stability_estimate", "variance_estimate", "comparator_estimate")
    assert {name for name in names if getattr(certificate, name) is not None} == kept
    assert any("delayed: 1 pair of rounds overlapped" in note for note in certificate.notes)
    assert math.isnan(float(certificate)) == ("stability_estimate" not in kept)
    # One decision at a time is no delay.
    prompt = make("FinitePolicies", epsilon=epsilon)
    for t in range(10):
        prompt.update(1.0, decision=prompt.decide(t % 2))
    assert prompt.certificate().variance_estimate is not None


@pytest.mark.parametrize("trust", ["baseline", hn.Trust(baseline="prediction")])
def test_estimates_are_void_where_a_baseline_may_predict_too_much(trust):
    learner = make("FinitePolicies", predictor=hn.predictors.Mean(), trust=trust)
    for t in range(20):
        learner.act(t % 2)
        learner.update(1.0)
    certificate = learner.certificate()
    assert certificate.stability_estimate is None
    assert certificate.variance_estimate is None
    assert certificate.comparator_estimate is None
    assert any("over-predict" in note for note in certificate.notes)


def test_estimates_of_an_inexact_oracle_are_withheld():
    class Roughly(hn.oracles.FinitePolicies):
        exact = False

    learner = hn.ContextSemiBanditFTPL(Roughly([[0], [1]]), seed=0)
    learner.act()
    learner.update(1.0)
    certificate = learner.certificate()
    assert certificate.comparator_estimate is None
    assert any("inexact" in note for note in certificate.notes)


def test_a_decision_of_another_learner_is_refused():
    oracle = hn.oracles.AllPolicies(2, 3)
    mine, other = (hn.ContextSemiBanditFTPL(oracle, seed=seed) for seed in range(2))
    mine.decide(0)
    foreign = other.decide(1)
    with pytest.raises(hn.DecisionError, match="another learner"):
        mine.update(0.5, decision=foreign)
    assert mine.open_decisions == [0]


def test_one_policy_needs_no_noise_under_the_anytime_schedule():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 1), epsilon="anytime", seed=0)
    for context in (0, 1, 0):
        assert learner.act(context) == 0
        learner.update(1.0)


def test_a_users_solver_is_not_asked_more_often_than_is_counted():
    asked = []

    def solve(contexts, losses):
        asked.append(1)
        best = int(np.argmin(losses.sum(axis=0))) if len(losses) else 0
        return lambda context: best

    oracle = hn.oracles.FunctionOracle(solve, n_actions=3)
    learner = hn.ContextSemiBanditFTPL(oracle, contexts=[0, 1], epsilon=0.5, seed=0)
    for t in range(30):
        learner.act(t % 2)
        learner.update(0.5)
    assert len(asked) == learner.oracle_calls


# Whose decisions they are --------------------------------------------------------------------


def test_a_decision_of_a_learner_just_like_this_one_is_refused():
    learner, twin = make("AllPolicies"), make("AllPolicies")
    mine, theirs = learner.decide(0), twin.decide(0)
    assert (mine.id, mine.action) == (theirs.id, theirs.action)
    for call in (lambda: learner.update(0.5, theirs), lambda: learner.forget(theirs)):
        with pytest.raises(hn.DecisionError, match="another learner"):
            call()
    learner.update(0.5, mine)


def test_decisions_are_known_to_copies_and_to_learners_that_were_loaded(tmp_path):
    learner = make("AllPolicies")
    decision = learner.decide(0)
    learner.save(tmp_path / "learner.hannan")
    loaded = hn.load(tmp_path / "learner.hannan")
    others = [loaded, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for each in others:
        each.update(0.5, decision)
        assert each.open_decisions == []
    learner.update(0.5, pickle.loads(pickle.dumps(decision)))
    later = learner.decide(1)
    loaded.decide(1)
    with pytest.raises(hn.DecisionError, match="another learner"):
        loaded.update(0.5, later)


def test_a_decision_that_was_pickled_is_still_that_of_its_maker():
    learner, twin = make("AllPolicies"), make("AllPolicies")
    mine, theirs = (pickle.loads(pickle.dumps(each.decide(0))) for each in (learner, twin))
    with pytest.raises(hn.DecisionError, match="another learner"):
        learner.update(0.5, theirs)
    learner.update(0.5, mine)
    assert learner.rounds == 1


def test_who_made_a_decision_is_in_no_file():
    assert content(make("AllPolicies")) == content(make("AllPolicies"))
    learners = [make("AllPolicies"), make("AllPolicies")]
    for each in learners:
        each.decide(0)
    assert content(learners[0]) == content(learners[1])


def content(learner):
    return b"".join(packed(learner, Encoder()))


@pytest.mark.parametrize("odd", [True, False, math.nan, "0", None, 0.0])
def test_only_whole_numbers_are_ids(odd):
    learner = make("AllPolicies")
    learner.decide_many([0, 1])
    with pytest.raises(hn.OrderError):
        learner.update(0.5, odd)
    assert learner.open_decisions == [0, 1]


def test_decisions_that_wait_are_bounded(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_OPEN", 3)
    learner = make("AllPolicies")
    learner.decide_many([0, 1])
    with pytest.raises(hn.DecisionError, match=r"2 open, 2 requested, 3 allowed\. .* forget"):
        learner.decide_many([0, 1])
    last = learner.decide(0)
    with pytest.raises(hn.DecisionError, match="forget"):
        learner.decide(0)
    assert learner.open_decisions == [0, 1, 2]
    learner.forget(last)
    assert learner.decide(0).id == 3
