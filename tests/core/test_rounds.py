"""Rounds that wait for their losses: late, out of order, mixed with those of `act`, or never."""

import copy
import heapq
import math
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.baselines import (
    AdaNormalHedge,
    EpochGreedy,
    EpsilonGreedy,
    Exp4,
    FixedShare,
    FollowTheLeader,
    Hedge,
    KalaiVempala,
    LinUCB,
    OptimisticHedge,
    UniformRandom,
    VowpalWabbit,
)
from hannan.core import DecisionError, Learner
from hannan.core.learner import learner_rng
from tests import naive_baselines

ROWS = np.random.default_rng(0).integers(3, size=(12, 4))
TABLE = hn.oracles.FinitePolicies(ROWS, n_actions=3)
ALL = hn.oracles.AllPolicies(4, 3)

LATE = {
    "UniformRandom": UniformRandom(3, seed=0),
    "FollowTheLeader": FollowTheLeader(TABLE),
    "Hedge": Hedge(TABLE, seed=0),
    "FixedShare": FixedShare(TABLE, seed=0),
    "AdaNormalHedge": AdaNormalHedge(TABLE, seed=0),
    "OptimisticHedge": OptimisticHedge(TABLE, seed=0),
    "Exp4": Exp4(TABLE, seed=0),
    "LinUCB": LinUCB(3),
    "LinUCB, features": LinUCB(3, features=np.random.default_rng(1).normal(size=(4, 2))),
    "EpsilonGreedy": EpsilonGreedy(3, epsilon=0.3, decay=0.2, seed=0),
    "EpochGreedy": EpochGreedy(TABLE, seed=0),
    "KalaiVempala": KalaiVempala(TABLE, seed=0),
    "CombUCB1": hn.baselines.CombUCB1(ALL, shared=True),
    "CombThompson": hn.baselines.CombThompson(TABLE, seed=0),
    "C2UCB": hn.baselines.C2UCB(ALL, np.eye(3), sampled=True, seed=0),
    "VowpalWabbit": VowpalWabbit(3, "--epsilon 0.2", seed=0),
    "ContextFTPL": hn.ContextFTPL(TABLE, epsilon=0.2, seed=0),
    "ContextFTPL, anytime": hn.ContextFTPL(ALL, epsilon="anytime", seed=0),
    "ContextFTPL, once": hn.ContextFTPL(TABLE, epsilon=1.0, noise="once", seed=0),
}
# These measure a round that may be overtaken by a draw of its own, so that a decision which is
# answered at once is not quite a round of `act`.
MEASURES_DELAYS = {
    "ContextFTPL, self-tuned": hn.ContextFTPL(TABLE, seed=0),
    "ContextFTPL, predictor": hn.ContextFTPL(TABLE, predictor=hn.predictors.Last(), seed=0),
    "Discounted": hn.Discounted(hn.ContextFTPL(TABLE, seed=0), 0.9),
    "StronglyAdaptive": hn.StronglyAdaptive(hn.ContextFTPL(TABLE, seed=0), shortest=2, seed=0),
}
EVERY = LATE | MEASURES_DELAYS


def stream(T, seed=0):
    rng = np.random.default_rng(seed)
    return [
        (int(x), row) for x, row in zip(rng.integers(4, size=T), rng.random((T, 3)), strict=True)
    ]


def feedback(learner, action, losses):
    return losses if learner.feedback is hn.Feedback.FULL else float(losses[action])


def delays(T, most, seed=0):
    return np.random.default_rng(seed).integers(most + 1, size=T).tolist()


def late_actions(learner, rounds, after):
    """Actions, each round being answered so many rounds later; those left over never are."""
    waiting, actions = [], []
    for t, (context, losses) in enumerate(rounds):
        decision = learner.decide(context)
        actions.append(decision.action)
        loss = feedback(learner, decision.action, losses)
        heapq.heappush(waiting, (t + after[t], t, loss, decision))
        while waiting and waiting[0][0] <= t:
            _, _, loss, decision = heapq.heappop(waiting)
            learner.update(loss, decision=decision)
    return actions


def in_order_of_arrival(learner, rounds, after):
    """A slow twin without a ledger: its rounds are copied at once and learned as they arrive."""
    waiting, actions = [], []
    for t, (context, losses) in enumerate(rounds):
        begun = learner.begin(learner.check_context(context))
        learner.commit(begun, recorded=False)
        opened = copy.deepcopy(begun)
        actions.append(opened.action)
        loss = feedback(learner, opened.action, losses)
        heapq.heappush(waiting, (t + after[t], t, loss, opened))
        while waiting and waiting[0][0] <= t:
            _, _, loss, opened = heapq.heappop(waiting)
            learner.close(opened, loss, recorded=False)
    return actions


def test_all_baselines_that_can_learn_late_are_tried():
    baselines = {vars(hn.baselines)[name] for name in hn.baselines.__all__}
    assert all(issubclass(each, Learner) for each in baselines)
    tried = {type(learner) for learner in LATE.values()}
    tried.add(hn.baselines.ItemLinUCB)  # with menus, in tests/learners/test_described.py
    assert baselines <= tried
    assert all(learner.late is None for learner in EVERY.values())


def test_a_learner_that_cannot_learn_late_says_why():
    learner = hn.PlayoutFTPL(TABLE, [0, 1, 2], seed=0)
    asks = (learner.decide, lambda x: learner.decide_many([x, 1]))
    for ask in asks:
        with pytest.raises(
            hn.ParameterError, match="PlayoutFTPL does not support delayed feedback"
        ):
            ask(0)
    assert learner.open_decisions == []
    assert learner.act(0) == hn.PlayoutFTPL(TABLE, [0, 1, 2], seed=0).act(0)


@pytest.mark.parametrize("name", LATE)
def test_a_decision_answered_at_once_is_a_round(name):
    immediate, deciding = LATE[name].clone(), LATE[name].clone()
    for context, losses in stream(80):
        action = immediate.act(context)
        immediate.update(feedback(immediate, action, losses))
        decision = deciding.decide(context)
        assert decision.action == action
        deciding.update(feedback(deciding, action, losses), decision=decision)
    assert deciding.rounds == immediate.rounds == 80
    assert deciding.regret_bound() == immediate.regret_bound()
    assert deciding.oracle_calls == immediate.oracle_calls
    for context in range(4):
        assert deciding.would_play(context, 20) == immediate.would_play(context, 20)
    if hasattr(deciding, "certificate"):
        assert deciding.certificate() == immediate.certificate()


@pytest.mark.parametrize("most", [0, 3, 25])
@pytest.mark.parametrize("name", [name for name in LATE if "anytime" not in name])
def test_losses_are_learned_in_the_order_they_come(name, most):
    learner, twin = LATE[name].clone(), LATE[name].clone()
    rounds, after = stream(150), delays(150, most)
    found = late_actions(learner, rounds, after)
    assert found == in_order_of_arrival(twin, rounds, after)
    assert learner.rounds == twin.rounds == 150 - len(learner.open_decisions)
    for context in range(4):
        assert learner.would_play(context, 20) == twin.would_play(context, 20)


def test_noise_of_the_anytime_schedule_grows_with_what_is_pending():
    learner = LATE["ContextFTPL, anytime"].clone()
    schedule, kappa = learner.step, learner.leader.kappa  # losses range over [0, 1]
    learner.decide_many([0, 1, 2])
    assert schedule.W == pytest.approx(kappa * (1 + 2 + 3))  # noqa: SIM300
    learner.act(3)
    assert schedule.W == pytest.approx(kappa * (1 + 2 + 3 + 4))  # noqa: SIM300
    learner.decide(0)
    assert schedule.W == pytest.approx(kappa * (1 + 2 + 3 + 4 + 5))  # noqa: SIM300


RANDOM = [name for name, learner in EVERY.items() if getattr(learner, "seed", None) is not None]
RANDOM.remove("ContextFTPL, once")
NUMBERED = {
    "KalaiVempala": lambda learner: learner._draws,
    "ContextFTPL": lambda learner: learner.leader.number,
}


@pytest.mark.parametrize("name", RANDOM)
def test_every_decision_has_randomness_of_its_own(name):
    learner = EVERY[name].clone()
    late_actions(learner, stream(3), [0] * 3)
    learner.act(0)
    actions = [decision.action for decision in learner.decide_many([0] * 60)]
    assert len(set(actions)) > 1


@pytest.mark.parametrize("name", RANDOM)
def test_every_round_has_randomness_of_its_own_though_others_were_dropped(name):
    dropping, deciding = EVERY[name].clone(), EVERY[name].clone()
    for learner in (dropping, deciding):
        late_actions(learner, stream(3), [0] * 3)
    actions = [dropping.act(0) for _ in range(60)]
    assert len(set(actions)) > 1
    # The noise of the schedule grows with what is pending, and copies start with decisions.
    if "anytime" not in name and name != "StronglyAdaptive":
        assert actions == [decision.action for decision in deciding.decide_many([0] * 60)]


@pytest.mark.parametrize("name", NUMBERED)
def test_every_action_takes_the_next_draw_of_the_noise(name):
    learner, number = LATE[name].clone(), NUMBERED[name]
    learner.act(0)
    learner.act(0)  # the first one is dropped
    assert number(learner) == 2
    learner.decide_many([0] * 60)
    assert number(learner) == 62
    learner.update(np.zeros(3))
    assert number(learner) == 62


@pytest.mark.parametrize("name", LATE)
def test_an_open_round_is_not_touched_by_decisions(name):
    """`act`, then others are decided and answered, then its own loss: as if all were decided."""
    mixed, deciding = LATE[name].clone(), LATE[name].clone()
    rounds = iter(stream(90))
    for _ in range(30):
        (x, f), (y, g), (z, h) = next(rounds), next(rounds), next(rounds)
        before = [mixed.decide(x), deciding.decide(x)]
        action, decision = mixed.act(y), deciding.decide(y)
        within = [mixed.decide(z), deciding.decide(z)]
        assert action == decision.action
        for (a, b), losses in ((within, h), (before, f)):
            assert a.action == b.action
            mixed.update(feedback(mixed, a.action, losses), decision=a.id)
            deciding.update(feedback(mixed, b.action, losses), decision=b)
        mixed.update(feedback(mixed, action, g))
        deciding.update(feedback(mixed, action, g), decision=decision)
    assert mixed.rounds == 90
    for context in range(4):
        assert mixed.would_play(context, 20) == deciding.would_play(context, 20)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_refused_changes_nothing(name):
    plain, tried, other = (EVERY[name].clone() for _ in range(3))
    rounds = stream(40)
    for t, (context, losses) in enumerate(rounds):
        a, b = plain.decide(context), tried.decide(context)
        assert a.action == b.action
        stranger = other.decide((context + 1) % 4)
        loss = feedback(tried, b.action, losses)
        if t:
            with pytest.raises(DecisionError, match="another learner"):
                tried.update(loss, decision=stranger)
        for wrong in (10**6, -1, "first"):
            with pytest.raises(
                DecisionError, match="never made here; the number of open decisions is 1"
            ):
                tried.update(loss, decision=wrong)
            with pytest.raises(DecisionError):
                tried.forget(wrong)
        for bad in ("much", math.nan, [1.0] * 5, None):
            with pytest.raises(hn.HannanError):
                tried.update(bad, decision=b)
        with pytest.raises(hn.OrderError, match="act"):
            tried.update(loss)
        plain.update(loss, decision=a)
        tried.update(loss, decision=b)
        with pytest.raises(DecisionError, match=r"feedback or was abandoned; the number .* is 0\."):
            tried.update(loss, decision=b)
        other.forget(stranger)
    assert tried.rounds == plain.rounds == 40
    assert other.rounds == 0
    assert other.open_decisions == []
    assert tried.would_play(0, 30) == plain.would_play(0, 30)


@pytest.mark.parametrize("name", EVERY)
def test_open_decisions_survive_copies_and_pickles(name):
    learner = EVERY[name].clone()
    for (x, f), (y, g) in zip(stream(20), stream(20, 1), strict=True):
        first, second = learner.decide_many([x, y])
        loss = feedback(learner, second.action, g)
        twins = copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))
        for each in (learner, *twins):
            each.update(loss, decision=second.id)
            each.update(feedback(learner, first.action, f), decision=first)
        expected = learner.would_play(0, 10)
        assert all(twin.would_play(0, 10) == expected for twin in twins)


PROMISING = [name for name in LATE if LATE[name].clone().regret_bound() is not None]
COUNTED = [name for name in PROMISING if "ContextFTPL" in name] + ["ContextFTPL, self-tuned"]
PROMISING = [name for name in PROMISING if name not in COUNTED]


@pytest.mark.parametrize("name", COUNTED)
def test_a_promise_counts_rounds_that_overlap_and_those_without_a_loss(name):
    learner = EVERY[name].clone()
    alone = learner.decide(0)
    learner.update(np.ones(3), decision=alone)
    plain = learner.regret_bound()
    first, second = learner.decide_many([0, 1])
    assert learner.regret_bound() == plain + 2.0  # losses range over [0, 1]
    learner.update(np.arange(3) / 2.0, decision=second)
    learner.update(np.arange(3) / 2.0, decision=first)
    promised = learner.regret_bound()
    assert promised > plain
    learner.forget(learner.decide(0))
    assert learner.regret_bound() == promised + 1.0
    learner.act(0)
    learner.act(0)
    assert learner.regret_bound() == promised + 3.0  # one was replaced, one is open


@pytest.mark.parametrize("name", PROMISING)
def test_nothing_is_promised_where_losses_came_late(name):
    learner = LATE[name].clone()
    alone = learner.decide(0)
    learner.update(feedback(learner, alone.action, np.ones(3)), decision=alone)
    assert learner.regret_bound() is not None
    first, second = learner.decide_many([0, 1])
    learner.update(feedback(learner, second.action, np.ones(3)), decision=second)
    assert learner.regret_bound() is None
    learner.update(feedback(learner, first.action, np.ones(3)), decision=first)
    assert learner.regret_bound() is None
    learner.reset()
    assert learner.regret_bound() is not None


@pytest.mark.parametrize("name", PROMISING)
@pytest.mark.parametrize("which", ["within", "around"])
def test_an_open_round_makes_others_late(name, which):
    learner = LATE[name].clone()
    if which == "within":
        action, decision = learner.act(0), learner.decide(0)
        learner.update(feedback(learner, decision.action, np.ones(3)), decision=decision)
    else:
        learner.decide(0)
        action = learner.act(0)
        learner.update(feedback(learner, action, np.ones(3)))
    assert learner.regret_bound() is None


def test_a_certificate_says_that_losses_came_late():
    learner = hn.ContextFTPL(TABLE, epsilon=0.2, seed=0)
    assert late_actions(learner, stream(50), [0] * 50)
    assert learner.certificate().a_priori is not None
    prompt = learner.certificate()
    late_actions(learner, stream(50), [5] * 50)
    said = learner.certificate()
    assert said.a_priori > prompt.a_priori + 5.0
    assert said.measured is None  # nothing is measured with a fixed ε
    assert any("pairs of rounds overlapped" in note for note in said.notes)
    assert any("5 rounds have no feedback" in note for note in said.notes)
    assert said.rounds == 95


# A learner inside another --------------------------------------------------------------------


def fake_outcomes(rng):
    return [(int(rng.integers(4)), rng.laplace(size=3)) for _ in range(3)]


INSIDE = {
    **LATE,
    "EpochGreedy": EpochGreedy(TABLE, seed=0),
    "ContextFTPL, self-tuned": hn.ContextFTPL(TABLE, seed=0),
    "ContextFTPL, predictor": hn.ContextFTPL(TABLE, predictor=hn.predictors.Last(), seed=0),
    "ContextFTPL, open world": hn.ContextFTPL(hn.oracles.Stumps(3), seed=0),
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(TABLE, seed=0),
    "ContextSemiBanditFTPL, hints": hn.ContextSemiBanditFTPL(
        TABLE, predictor=hn.predictors.Mean(), seed=0
    ),
    "FTPL": hn.FTPL(TABLE, fake_outcomes, predictor=hn.predictors.Last(), seed=0),
    "PlayoutFTPL": hn.PlayoutFTPL(TABLE, hn.Pool(range(4)), horizon=200, seed=0),
    "PlayoutBandit": hn.PlayoutBandit(TABLE, hn.Pool(range(4)), horizon=200, seed=0),
    "Discounted": hn.Discounted(hn.ContextFTPL(TABLE, seed=0), 0.9),
    "StronglyAdaptive": hn.StronglyAdaptive(hn.ContextFTPL(TABLE, seed=0), shortest=2, seed=0),
    "Restarting": hn.Restarting(hn.ContextFTPL(TABLE, seed=0), hn.detectors.Bernstein(delta=0.9)),
}
WITH_GENERATOR = {
    "UniformRandom", "Hedge", "FixedShare", "AdaNormalHedge", "OptimisticHedge", "Exp4",
    "EpsilonGreedy", "VowpalWabbit", "EpochGreedy",
}  # fmt: skip


def inside_rounds(name, T):
    rows = np.random.default_rng(5).normal(size=(4, 2))
    return [(rows[x] if "open world" in name else x, losses) for x, losses in stream(T)]


@pytest.mark.parametrize("name", INSIDE)
def test_a_round_of_a_learner_inside_is_one_of_its_own(name):
    """begin, commit and close make a round; the ledger is the caller's business."""
    inner, alone = INSIDE[name].clone(), INSIDE[name].clone()
    for context, losses in inside_rounds(name, 80):
        opened = inner.begin(inner.check_context(context))
        assert opened.action == alone.act(context)
        inner.commit(opened, recorded=False)
        assert inner.oracle_calls == alone.oracle_calls
        inner.close(opened, feedback(inner, opened.action, losses), recorded=False)
        alone.update(feedback(alone, opened.action, losses))
        assert inner.rounds == alone.rounds
        assert inner._ledger.current is None
        assert inner.open_decisions == []
    for context in (0, 3) if "open world" not in name else ([0.1, 0.2],):
        assert inner.would_play(context, 10) == alone.would_play(context, 10)
    assert inner.oracle_calls == alone.oracle_calls
    assert inner.regret_bound() == alone.regret_bound()
    if hasattr(inner, "certificate"):
        assert repr(inner.certificate()) == repr(alone.certificate())


@pytest.mark.parametrize("name", INSIDE)
def test_rounds_that_another_learner_opens_and_closes_are_those_of_act_and_update(name):
    """Late ones, dropped ones and those after actions were missing included."""
    inner, alone = INSIDE[name].clone(), INSIDE[name].clone()
    waiting = []
    for t, (context, losses) in enumerate(inside_rounds(name, 90)):
        if t % 9 == 4 and inner.late is None:
            made, decision = inner.open(context, late=True), alone.decide(context)
            assert inner.open_round(made.number).action == made.action
            assert (made.number, made.action) == (decision.id, decision.action)
            assert repr(made.record) == repr(decision.record)
            waiting.append((made, decision, losses))
        elif t % 17 == 3 and "FTPL" in name and "Playout" not in name and name != "FTPL":
            for each in (inner, alone):
                action = each.act(context, available=[0, 2])
                each.update(feedback(each, action, losses))
        else:
            made = inner.open(context)
            assert made is inner.open_round()
            assert made.action == alone.act(context)
            if t % 11:
                inner.close(made, feedback(inner, made.action, losses))
                alone.update(feedback(alone, made.action, losses))
        if t % 9 == 8 and waiting:
            made, decision, earlier = waiting.pop()
            inner.close(made, feedback(inner, made.action, earlier))
            alone.update(feedback(alone, made.action, earlier), decision)
        assert (inner.rounds, inner.oracle_calls) == (alone.rounds, alone.oracle_calls)
        assert inner.open_decisions == alone.open_decisions
    for counted in ("made", "dropped", "delayed", "closed", "total_delay"):
        assert getattr(inner._ledger, counted) == getattr(alone._ledger, counted)
    x = [0.1, 0.2] if "open world" in name else 0
    assert inner.would_play(x, 10) == alone.would_play(x, 10)
    if hasattr(inner, "certificate"):
        assert repr(inner.certificate()) == repr(alone.certificate())


@pytest.mark.parametrize("name", [name for name in INSIDE if name not in WITH_GENERATOR])
def test_a_round_that_is_not_kept_has_changed_nothing(name):
    asked, silent = INSIDE[name].clone(), INSIDE[name].clone()
    for context, losses in inside_rounds(name, 60):
        first, second = (asked.begin(asked.check_context(context)) for _ in range(2))
        assert first.action == second.action
        action = asked.act(context)
        assert action == silent.act(context) == first.action
        for each in (asked, silent):
            each.update(feedback(each, action, losses))
        assert asked.oracle_calls == silent.oracle_calls


@pytest.mark.parametrize("name", INSIDE)
def test_losses_that_a_learner_inside_refuses_change_nothing(name):
    inner, twin = INSIDE[name].clone(), INSIDE[name].clone()
    for context, losses in inside_rounds(name, 40):
        rounds = []
        for each in (inner, twin):
            rounds.append(each.begin(each.check_context(context)))
            each.commit(rounds[-1], recorded=False)
        for bad in ("much", math.nan, [1.0] * 5, None, 7.0):
            with pytest.raises(hn.HannanError):
                inner.close(rounds[0], bad, recorded=False)
            assert inner.rounds == twin.rounds
        for each, opened in zip((inner, twin), rounds, strict=True):
            each.close(opened, feedback(each, opened.action, losses), recorded=False)
        assert rounds[0].action == rounds[1].action
    assert inner.oracle_calls == twin.oracle_calls


@pytest.mark.parametrize("name", ["Hedge", "ContextFTPL", "KalaiVempala", "Exp4"])
def test_what_is_played_for_each_choice_is_the_callers_choice(name):
    """`plays` replaces choices; losses have been completed by the caller."""
    inner, plain = LATE[name].clone(), LATE[name].clone()
    plays = np.array([0, 0, 2])
    for context, losses in stream(80):
        opened = inner.begin(context, plays)
        chosen = plain.act(context)
        assert (opened.chosen, opened.action) == (chosen, plays[chosen])
        assert opened.available.tolist() == [0, 2]
        inner.commit(opened, recorded=False)
        completed = losses[plays]
        inner.close(opened, feedback(inner, chosen, completed), recorded=False)
        plain.update(feedback(plain, chosen, completed))
    assert inner._availability.costs is None
    assert inner.would_play(0, 10) == plain.would_play(0, 10)


# From the definitions ------------------------------------------------------------------------


def exponential(totals, rate):
    w = np.exp(-rate * (totals - totals.min()))
    return w / w.sum()


def test_hedge_weighs_what_has_arrived():
    learner, rounds, after = LATE["Hedge"].clone(), stream(120), delays(120, 10)
    late_actions(learner, rounds, after)
    seen = [s for s in range(120) if s + after[s] < 120]
    totals = sum(rounds[s][1][ROWS[:, rounds[s][0]]] for s in seen)
    rate = math.sqrt(8 * math.log(12) / (len(seen) + 1))
    found = learner._weights(learner.prepare(0))
    np.testing.assert_allclose(found / found.sum(), exponential(totals, rate), rtol=1e-10)


def test_exp4_divides_by_the_probability_at_the_time_of_the_decision():
    learner, rounds, after = Exp4(TABLE, learning_rate=0.2, seed=0), stream(120), delays(120, 10)
    rng, totals, waiting = learner_rng(0), np.zeros(12), []
    decided = []
    for t, (x, losses) in enumerate(rounds):
        w = exponential(totals, 0.2)
        p = np.array([w[ROWS[:, x] == k].sum() for k in range(3)])
        a = int(np.searchsorted(p.cumsum(), rng.random() * p.sum(), side="right"))
        decided.append(a)
        waiting.append((t + after[t], t, x, a, losses[a] / p[a]))
        for entry in sorted(e for e in waiting if e[0] <= t):
            waiting.remove(entry)
            totals[ROWS[:, entry[2]] == entry[3]] += entry[4]
    assert late_actions(learner, rounds, after) == decided
    np.testing.assert_allclose(learner._totals, totals, rtol=1e-10)


@pytest.mark.parametrize("name", ["Exp4", "VowpalWabbit", "UniformRandom"])
def test_decisions_carry_inverse_propensities_where_they_are_known(name):
    learner = LATE[name].clone()
    late_actions(learner, stream(60), [0] * 60)
    decision = learner.decide(2)
    share = np.mean(np.array(learner.would_play(2, 4000)) == decision.action)
    assert decision.weights.shape == (1,)
    assert 1 / decision.weights[0] == pytest.approx(share, abs=0.04)
    assert LATE["Hedge"].clone().decide(2).weights.shape == (0,)


@pytest.mark.parametrize("name", LATE)
def test_decisions_say_how_likely_their_action_was(name):
    learner = LATE[name].clone()
    late_actions(learner, stream(60), [0] * 60)
    for context, some in ((2, None), (1, [0, 2]), (3, [1])):
        for _ in range(10):
            asked = learner.propensities(context, 10, available=some)
            decision = learner.decide(context, available=some)
            learner.forget(decision)
            if asked.draws:
                assert math.isnan(decision.propensity)
                assert math.isnan(decision.propensity_error)
            else:
                expected = asked.probabilities[decision.action]
                assert decision.propensity == pytest.approx(expected)
                assert decision.propensity_error == 0.0
                if len(decision.weights):
                    assert decision.weights[0] == pytest.approx(1 / expected, rel=1e-4)


def test_vowpal_wabbit_learns_with_the_probability_at_the_time_of_the_decision():
    vw = pytest.importorskip("vowpalwabbit")
    learner = VowpalWabbit(3, "--epsilon 0.3", seed=0)
    native = vw.Workspace("--cb_explore_adf --quiet -q xa --epsilon 0.3 --random_seed 0")
    rng = np.random.default_rng(0)
    rounds = list(zip(rng.normal(size=(120, 2)), rng.random((120, 3)), strict=True))
    after, waiting = delays(120, 7), []
    for t, (row, losses) in enumerate(rounds):
        shown = "shared |x " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row.tolist()))
        lines = [shown, "|a 0", "|a 1", "|a 2"]
        distribution = np.array(native.predict(lines))
        np.testing.assert_allclose(learner.probabilities(row), distribution, atol=2e-5)
        decision = learner.decide(row)
        a, cost = decision.action, float(losses[decision.action])
        assert 1 / decision.weights[0] == pytest.approx(distribution[a], abs=2e-5)
        lines[1 + a] = f"{a}:{cost!r}:{float(distribution[a])!r} |a {a}"
        waiting.append((t + after[t], t, lines, decision, cost))
        for entry in sorted((e for e in waiting if e[0] <= t), key=lambda e: e[:2]):
            waiting.remove(entry)
            native.learn(entry[2])
            learner.update(entry[4], decision=entry[3])
    assert waiting


def test_ada_normal_hedge_measures_regret_to_the_mixture_it_followed():
    learner = LATE["AdaNormalHedge"].clone()
    first, second = learner.decide_many([0, 1])
    f, g = np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.25, 0.0])
    learner.update(g, decision=second)
    learner.update(f, decision=first)
    losses = np.array([f[ROWS[:, 0]], g[ROWS[:, 1]]])
    regrets = losses.mean(axis=1, keepdims=True) - losses  # both followed the uniform prior
    np.testing.assert_allclose(learner._totals, regrets.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(learner._magnitudes, np.abs(regrets).sum(axis=0), atol=1e-12)


class Reused(hn.Predictor):
    """Guesses the last losses, always in the same array."""

    def __init__(self):
        self.guess = np.zeros(3)

    def predict(self, context):
        return self.guess

    def learn(self, context, action, loss):
        self.guess[action] = loss


def test_optimistic_hedge_counts_the_error_of_the_guess_it_played():
    learner = OptimisticHedge(TABLE, predictor=Reused(), seed=0)
    first, second = learner.decide_many([0, 0])  # nothing is known: the guess is 0
    f, g, h = np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.25, 0.0]), np.array([0.5, 0.0, 0.0])
    before = learner._errors
    learner.act(0)
    learner.update(g, decision=second)
    learner.update(f, decision=first)  # the predictor would guess g now
    learner.update(h)
    expected = np.ptp(g) ** 2 + np.ptp(f) ** 2 + np.ptp(h) ** 2
    assert learner._errors - before == pytest.approx(expected)


def test_lin_ucb_knows_what_has_arrived():
    learner = LinUCB(3, alpha=0.3, intercept=False)
    rng = np.random.default_rng(0)
    rounds = list(zip(rng.normal(size=(80, 2)), rng.random((80, 3)), strict=True))
    after, seen, waiting = delays(80, 7), [], []
    for t, (x, losses) in enumerate(rounds):
        given = x.copy()
        decision = learner.decide(given)
        given[:] = 99.0  # the caller may use its array again
        bounds = naive_baselines.lower_confidence(seen, x, 3, 0.3, 1.0)
        assert decision.action == naive_baselines.first_smallest(bounds)
        waiting.append((t + after[t], t, decision, losses[decision.action]))
        for entry in sorted((e for e in waiting if e[0] <= t), key=lambda e: e[:2]):
            waiting.remove(entry)
            learner.update(entry[3], decision=entry[2])
            seen.append((rounds[entry[1]][0], entry[2].action, entry[3]))


# In games ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LATE)
def test_a_game_with_delays_is_played(name):
    world = hn.environments.FromArrays([x for x, _ in stream(200)], [f for _, f in stream(200)])
    late = hn.environments.Delayed(world, 8, distribution="geometric")
    learner = LATE[name].clone()
    trace = hn.play(learner, late, seed=1)
    assert len(trace) == 200
    assert 0 < len(learner.open_decisions) < 40
    assert learner.rounds == 200 - len(learner.open_decisions)
    prompt = hn.play(LATE[name].clone(), hn.environments.Delayed(world, 0), seed=1)
    alone = hn.play(LATE[name].clone(), world, seed=1)
    assert list(prompt.actions) == list(alone.actions)
    if name != "UniformRandom":
        assert list(trace.actions) != list(alone.actions)


@pytest.mark.parametrize("name", ["LinUCB", "Hedge", "ContextFTPL"])
def test_rounds_without_feedback_are_not_waited_for(name):
    world = hn.environments.FromArrays([x for x, _ in stream(200)], [f for _, f in stream(200)])
    holes = hn.environments.Corrupted(world, 0.5, kind="missing")
    learner = LATE[name].clone()
    hn.play(learner, hn.environments.Delayed(holes, 5), seed=1)
    assert len(learner.open_decisions) <= 5
    assert 60 < learner.rounds < 140


@pytest.mark.parametrize("name", LATE)
def test_restarting_plays_through_those_who_learn_late(name):
    base = LATE[name].clone()
    learner = hn.Restarting(base, hn.detectors.Bernstein(delta=0.5, minimum=8))
    rng = np.random.default_rng(0)
    rounds = []
    for t, (x, _) in enumerate(stream(600)):
        rounds.append((x, np.roll([0.0, 1.0, 1.0], t // 100) * rng.integers(2, size=3)))
    late_actions(learner, rounds, delays(600, 6))
    assert learner.rounds == 600 - len(learner.open_decisions)
    assert base.rounds == 0
    if name not in ("UniformRandom", "ContextFTPL, anytime"):  # which do about as badly throughout
        assert len(learner.restarts) > 0
        assert learner._late > 0
