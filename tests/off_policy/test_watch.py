"""Statements about named policies that hold at all times at once."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.rounds import PropensityRecord
from hannan.core.storage import reread
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.kernels import watch as kernel
from hannan.off_policy import Log, PolicyIntervals, Watch
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.centres import Centre
from hannan.off_policy.rules import shares
from tests.naive_watch import NaiveWatch, Round, psi
from tests.off_policy.logs import K, draw

CONTRACT = {"Watch": Watch({"always 0": 0, "always 2": 2}, n_actions=3)}


def rule(context):
    return context % 2


def half(context):
    return np.array([0.5, 0.25, 0.25])


RULES = {"always 0": 0, "by turns": rule, "mixed": half}


def content(watch):
    """All that a file would hold."""
    return b"".join(packed(watch, Encoder()))


def tell(watch, rounds, order=None):
    """Tell a watch of rounds (context, action, propensity, loss or None), answers in an order."""
    for number, (context, action, q, _) in enumerate(rounds):
        watch.add_decision(number, context, action, propensity=q)
    answered = [i for i, each in enumerate(rounds) if each[3] is not None]
    for i in answered if order is None else [answered[j] for j in order]:
        watch.add_loss(i, rounds[i][3])
    return watch


def sums(watch):
    """Intervals of sums, in one array: ours, then losses and regrets."""
    n = watch.rounds
    found = [np.multiply(watch.played(), n)]
    for each in watch.intervals().values():
        found += [np.multiply(each.loss, n), each.regret]
    return np.array(found)


def twin(rounds, confidence=0.95):
    """The slow twin of a watch of RULES."""
    found = NaiveWatch(len(RULES), confidence)
    for context, action, q, loss in rounds:
        distributions = [np.eye(3)[0], np.eye(3)[rule(context)], half(context)]
        played = [float(distribution[action]) for distribution in distributions]
        found.rounds.append(Round([*played, 0.0], [0.0, 0.0, 0.0, 1.0], 1.0 / q, loss))
    return found


ROUNDS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 2),
        st.floats(1e-3, 1.0),
        st.one_of(st.none(), st.floats(0.0, 1.0)),
    ),
    min_size=1,
    max_size=12,
)


# From the definition -----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(ROUNDS, st.sampled_from([0.5, 0.95, 0.999]))
def test_as_the_definition_says(rounds, confidence):
    watch = tell(Watch(RULES, confidence=confidence), rounds)
    policies, own = twin(rounds, confidence).bounds()
    expected = [own, *(interval for pair in policies for interval in pair)]
    assert sums(watch) == pytest.approx(np.array(expected), abs=1e-6, rel=1e-6)


@pytest.mark.slow
def test_as_the_definition_says_in_a_long_game():
    rng = np.random.default_rng(0)
    rounds = []
    for t in range(700):
        q = rng.dirichlet([0.4, 1.0, 2.0])
        action = int(rng.choice(3, p=q))
        loss = None if rng.random() < 0.02 else float(rng.random() < 0.3 + 0.2 * action)
        rounds.append((t % 3, action, float(q[action]), loss))
    policies, own = twin(rounds).bounds()
    expected = [own, *(interval for pair in policies for interval in pair)]
    assert sums(tell(Watch(RULES), rounds)) == pytest.approx(np.array(expected), rel=1e-7, abs=1e-6)


def test_every_step_is_a_supermartingale():
    """The mean of exp(λ(x - τ) - ψ(x - g)²) is at most 1: exact, capped and geometric weights."""
    rng = np.random.default_rng(1)
    rate, theta, guess = (each[:, None] for each in (evidence.RATE, evidence.THETA, evidence.GUESS))
    curved = np.array([psi(each) for each in evidence.RATE])[:, None]
    largest = 0.0
    for _ in range(300):
        q = rng.dirichlet(rng.choice([0.05, 1.0]) * np.ones(3))
        q = np.maximum(q, 1e-9) / np.maximum(q, 1e-9).sum()
        losses = rng.choice([0.0, 1.0, rng.random()], size=3)
        distribution = rng.choice([0, 1]) * np.eye(3)[0]
        distribution = distribution if distribution.any() else rng.dirichlet(np.ones(3))
        cap = int(rng.integers(1, 60))
        for weights in ("exact", "geometric"):
            for flipped in (False, True):
                f = 1.0 - losses if flipped else losses
                mean = 0.0  # of every column at once
                for a in range(3):
                    if weights == "exact":
                        J, chance = np.array([1.0 / q[a]]), np.ones(1)
                    else:  # draws until a comes again, cap at most
                        J = np.arange(1, cap + 1)
                        chance = q[a] * (1.0 - q[a]) ** (J - 1.0)
                        chance[-1] = 1.0 - chance[:-1].sum()
                    x = f[a] * (np.minimum(distribution[a] * J, 1.0 / rate) - theta)
                    tau = f @ distribution - theta * (f @ q)
                    value = np.exp(rate * (x - tau) - curved * (x - guess) ** 2)
                    mean = mean + q[a] * (value @ chance)
                assert mean.shape == evidence.RATE.shape
                largest = max(largest, mean.max())
    assert 0.999 < largest <= 1.0 + 1e-9


def choices(targets):
    return np.array([-1 if target is None else target for target in targets])


def centred_round(rng, K=3):
    """Random propensities, losses and predictions, some of them at their ends."""
    q = rng.dirichlet(rng.choice([0.05, 1.0]) * np.ones(K))
    q = np.maximum(q, 1e-6) / np.maximum(q, 1e-6).sum()
    losses, values = (rng.choice([0.0, 1.0, rng.random()], size=K) for _ in range(2))
    return q, losses, values


def test_every_centred_step_is_a_supermartingale():
    """The mean of exp(-λτ - term) is at most 1, as the kernel computes its terms."""
    rng, largest, centred = np.random.default_rng(2), 0.0, evidence.CENTRED > 0.0
    for _ in range(300):
        q, losses, values = centred_round(rng)
        targets = [0, 1, 2, None]
        sides = np.array([losses, 1.0 - losses])
        means = np.array(
            [[f[target] if target is not None else f @ q for f in sides] for target in targets]
        )
        tau = means[:, :, None] - evidence.THETA * (sides @ q)[None, :, None]
        mean = 0.0
        for a in range(3):
            held, sums = shares(targets, a, None), np.zeros((5, 2, len(evidence.RATE)))
            centre = Centre.of(choices(targets), a, q, values)
            how = held.played, held.copied, 1.0 / q[a], losses[a]
            kernel.add(sums, np.zeros((5, 6)), np.zeros(4, dtype=np.int64), *how,
                       evidence.COLUMNS, centre.rows, centre.own)  # fmt: skip
            mean = mean + q[a] * np.exp(-sums[:4] - evidence.RATE * tau)
            assert (sums[:4] >= evidence.LEAST - 1e-9).all()
            assert (sums[:4] <= evidence.MOST + 1e-9).all()
        largest = max(largest, mean[:, :, centred].max())
        assert mean.max() <= 1.0 + 1e-9
    assert largest > 0.999


def test_centred_sums_are_those_of_the_definition_and_estimates_are_unbiased():
    rng = np.random.default_rng(3)
    for _ in range(50):
        q, losses, values = centred_round(rng)
        value = regret = 0.0
        for a in range(3):
            moments, held = np.zeros((4, 6)), shares([0, 1, 2], a, None)
            centre = Centre.of(choices([0, 1, 2]), a, q, values)
            kernel.add(np.zeros((4, 2, len(evidence.RATE))), moments, np.zeros(3, dtype=np.int64),
                       held.played, held.copied, 1.0 / q[a], losses[a],
                       evidence.COLUMNS, centre.rows, centre.own)  # fmt: skip
            value, regret = value + q[a] * moments[:, 0], regret + q[a] * moments[:, 2]
        assert value[:3] == pytest.approx(losses)
        assert regret[:3] == pytest.approx(losses - losses @ q)
        assert value[3] == pytest.approx(losses @ q)


def test_a_centred_round_without_an_answer_counts_at_its_worst():
    rng = np.random.default_rng(4)
    for _ in range(100):
        q, _, values = centred_round(rng)
        a = int(rng.integers(3))
        held, centre = shares([0, 2], a, None), Centre.of(choices([0, 2]), a, q, values)
        how = held.played, held.copied, 1.0 / q[a]
        worst = np.zeros((3, 2, len(evidence.RATE)))
        kernel.reserve(worst, *how, evidence.COLUMNS, centre.rows, centre.own)
        largest = np.full_like(worst, -np.inf)
        for loss in np.linspace(0.0, 1.0, 21):
            sums = np.zeros_like(worst)
            kernel.add(sums, np.zeros((3, 6)), np.zeros(2, dtype=np.int64), *how, loss,
                       evidence.COLUMNS, centre.rows, centre.own)  # fmt: skip
            largest = np.maximum(largest, sums)
        assert worst == pytest.approx(largest)


def centred_watch(rng, rounds, good):
    """A watch over two actions in `rounds` rounds, and the mean losses of both."""
    watch, total = Watch({"always 0": 0, "always 1": 1}), np.zeros(2)
    for t in range(rounds):
        q = np.array([0.05, 0.95])
        means = np.array([0.5, 0.4]) + 0.3 * np.sin(t / 50.0)
        losses = (rng.random(2) < means).astype(float)
        total += losses
        a = int(rng.random() < q[1])
        values = means if good else np.array([1.0, 0.0])
        centre = Centre.of(choices([0, 1]), a, q, values)
        watch.enter(t, shares([0, 1], a, None), 1.0 / q[a], centre)
        if t % 10:
            watch.settle(t, float(losses[a]))
    for t in range(0, rounds, 20):
        watch.abandon(t)
    return watch, total / rounds


@pytest.mark.parametrize("good", [True, False])
def test_centred_statements_hold_and_survive_files(good, tmp_path):
    """Open and forgotten rounds among them; bad predictions cost width, not truth."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        watch, truth = centred_watch(rng, 600, good)
        for action, said in enumerate(watch.intervals().values()):
            assert said.loss[0] <= truth[action] <= said.loss[1]
    watch.save(tmp_path / "watch.hannan")
    again = hn.load(tmp_path / "watch.hannan")
    assert again.intervals() == watch.intervals()
    assert again.progress == watch.progress


def test_predictions_narrow_the_intervals():
    centred, _ = centred_watch(np.random.default_rng(6), 3000, good=True)
    for key in list(centred.open_decisions):
        centred.withdraw(key)
    plain = Watch({"always 0": 0, "always 1": 1})
    rng = np.random.default_rng(6)
    for t in range(3000):
        means = np.array([0.5, 0.4]) + 0.3 * np.sin(t / 50.0)
        losses = (rng.random(2) < means).astype(float)
        a = int(rng.random() < 0.95)
        plain.add_decision(t, None, a, propensity=[0.05, 0.95][a])
        plain.add_loss(t, losses[a])
    width = [np.ptp(each.intervals()["always 0"].regret) for each in (centred, plain)]
    assert width[0] < 0.9 * width[1]


def test_single_looks_cover_the_truth_as_often_as_they_say():
    """95 % intervals over 200 games of 1,000 rounds cover in 90 % at least."""
    rng, hits, leads = np.random.default_rng(7), 0, 0
    for _ in range(200):
        watch, total, ours = Watch({"always 0": 0}), 0.0, 0.0
        for t in range(1000):
            q0 = 0.5 if t < 200 else 0.1
            losses = (rng.random(2) < [0.3, 0.2]).astype(float)
            total, ours = total + 0.3, ours + 0.3 * q0 + 0.2 * (1 - q0)
            a = int(rng.random() >= q0)
            q = np.array([q0, 1 - q0])
            centre = Centre.of(choices([0]), a, q, np.array([0.3, 0.5]))
            watch.enter(t, shares([0], a, None), 1.0 / q[a], centre)
            watch.settle(t, losses[a])
        said = watch.intervals()["always 0"]
        hits += said.look[0] <= total / 1000 <= said.look[1]
        leads += said.ahead_look[0] <= (ours - total) / 1000 <= said.ahead_look[1]
    assert 180 <= hits <= 199
    assert 180 <= leads <= 199


def test_the_grid_is_the_one_of_the_proof():
    assert np.exp(evidence._LOG_PRIOR[slice(*evidence.REGRET)]).sum() == pytest.approx(1.0)
    assert np.exp(evidence._LOG_PRIOR[slice(*evidence.LOSS)]).sum() == pytest.approx(1.0)
    regret = slice(*evidence.REGRET)
    assert (evidence.THETA[regret] == 1.0).all()
    assert (evidence.GUESS[regret] == 0.0).all()
    # The reserve of a policy that was played is nothing, that of another one ψ + λ.
    assert (evidence.RESERVES[evidence.SURELY, regret] == 0.0).all()
    rates = evidence.RATE[regret]
    assert evidence.RESERVES[evidence.NEVER, regret] == pytest.approx(-np.log1p(-rates))


@pytest.mark.stat
def test_losses_that_are_made_of_later_plays_are_not_covered():
    """Blocks of 32 rounds; a loss is 1 where action 0 is rare in the others of its block.

    It is the same for both actions, so regret is 0, and a round's own action does not matter. But
    if action 0 is played 16 times the loss is 1 exactly where it was: one block in seven.
    """
    rng, runs = np.random.default_rng(0), 400
    missed = {"made later": 0, "fixed": 0}
    for _ in range(runs):
        plays = rng.integers(2, size=32)
        others = (plays == 0).sum() - (plays == 0)
        for kind, losses in (
            ("made later", (others < 15.5).astype(float)),
            ("fixed", rng.permutation((others < 15.5).astype(float))),
        ):
            watch = Watch({"always 0": 0}, confidence=0.55)  # so 7.5 % for each of six statements
            for t in range(32):
                watch.add_decision(t, None, int(plays[t]), propensity=0.5)
            for t in range(32):
                watch.add_loss(t, losses[t])
            missed[kind] += watch.intervals()["always 0"].regret[1] < 0.0
    assert missed["made later"] > 0.1 * runs
    assert missed["fixed"] < 0.075 * runs


# What must not matter ----------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(ROUNDS, st.randoms())
def test_the_order_of_answers_does_not_matter(rounds, random):
    answered = sum(each[3] is not None for each in rounds)
    order = list(range(answered))
    random.shuffle(order)
    one, other = tell(Watch(RULES), rounds), tell(Watch(RULES), rounds, order)
    assert sums(one) == pytest.approx(sums(other), rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(ROUNDS, st.integers(0, 3), st.integers(0, 2), st.floats(1e-3, 1.0))
def test_an_open_round_never_narrows_a_bound(rounds, context, action, q):
    watch = tell(Watch(RULES), rounds)
    before, played = watch.intervals(), watch.played()
    watch.add_decision("one more", context, action, propensity=q)
    for name, after in watch.intervals().items():
        for was, now in ((before[name].loss, after.loss), (before[name].regret, after.regret)):
            assert now[0] <= was[0] + 1e-9
            assert now[1] >= was[1] - 1e-9
    assert watch.played()[0] <= played[0] + 1e-9
    assert watch.played()[1] >= played[1] - 1e-9


@settings(max_examples=60, deadline=None)
@given(ROUNDS, st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12))
def test_intervals_hold_those_of_every_completion(rounds, losses):
    watch = tell(Watch(RULES), rounds)
    wide = sums(watch)
    for number in watch.open_decisions:
        watch.add_loss(number, losses[number])
    narrow = sums(watch)
    assert (wide[:, 0] <= narrow[:, 0] + 1e-9).all()
    assert (wide[:, 1] >= narrow[:, 1] - 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(ROUNDS, st.floats(-5.0, 5.0), st.floats(0.1, 7.0))
def test_losses_in_another_unit_give_the_same_statements(rounds, low, span):
    plain = tell(Watch(RULES), rounds)
    other = Watch(RULES, loss_range=(low, low + span))
    moved = [
        (*each, None if loss is None else min(low + span * loss, low + span))
        for *each, loss in rounds
    ]
    tell(other, moved)
    for name, found in other.intervals().items():
        same = plain.intervals()[name]
        assert np.array(found.loss) == pytest.approx(low + span * np.array(same.loss), abs=1e-7)
        assert np.array(found.regret) == pytest.approx(span * np.array(same.regret), abs=1e-6)


def test_one_minus_the_loss_turns_intervals_round():
    rounds = [(t % 2, t % 3, 0.4, (t % 7) / 6) for t in range(60)]
    there = tell(Watch(RULES), rounds)
    back = tell(Watch(RULES), [(x, a, q, 1.0 - loss) for x, a, q, loss in rounds])
    for name, one in there.intervals().items():
        other = back.intervals()[name]
        assert one.loss == pytest.approx((1.0 - other.loss[1], 1.0 - other.loss[0]))
        assert one.regret == pytest.approx((-other.regret[1], -other.regret[0]))


def test_forgotten_rounds_count_as_open_ones():
    rounds = [(t % 2, t % 3, 0.4, None if t % 5 == 0 else 0.5) for t in range(40)]
    watch = tell(Watch(RULES), rounds)
    expected = sums(watch)
    for number in watch.open_decisions:
        watch.abandon(number)
    assert (sums(watch) == expected).all()
    found = watch.intervals()["by turns"]
    assert (found.rounds, found.open, found.abandoned) == (40, 0, 8)


def test_what_is_withdrawn_leaves_no_trace():
    watch = tell(Watch(RULES), [(0, 1, 0.5, 0.5), (1, 1, 0.5, None)])
    before = content(watch)
    watch.add_decision("x", 1, 0, weight=3.0)
    assert content(watch) != before
    watch.withdraw("x")
    assert content(watch) == before


def test_nothing_is_known_before_the_first_round():
    watch = Watch(RULES, loss_range=(-1.0, 3.0))
    assert watch.played() == (-1.0, 3.0)
    found = watch.intervals()["mixed"]
    assert (found.loss, found.regret, found.rounds) == ((-1.0, 3.0), (0.0, 0.0), 0)
    assert "After 0 rounds" in str(watch)


def test_our_own_play_has_no_regret_against_itself():
    watch = Watch({"the same": lambda context: np.array([0.25, 0.75])}, n_actions=2)
    for t, action in enumerate(np.random.default_rng(0).random(3000) < 0.75):
        watch.add_decision(t, None, int(action), propensity=0.75 if action else 0.25)
        watch.add_loss(t, 0.3)
    low, high = watch.intervals()["the same"].regret
    assert -30.0 < low <= 0.0 <= high < 30.0  # on every path: the ratio is 1 in each round
    assert watch.played()[1] - watch.played()[0] < 0.05


# Restricted rounds, weights ----------------------------------------------------------------------


def test_where_a_choice_is_not_available_a_policy_does_what_is_played():
    restricted, copied = Watch({"always 0": 0, "mixed": half}, n_actions=3), NaiveWatch(2)
    for t in range(30):
        some = [1, 2] if t % 3 == 0 else None
        action = 1 + t % 2 if some else t % 3
        restricted.add_decision(t, None, action, propensity=0.4, available=some)
        if t % 4:
            restricted.add_loss(t, (t % 5) / 4)
        loss = (t % 5) / 4 if t % 4 else None
        shares = [0.0, half(0)[action]] if some else [float(action == 0), half(0)[action]]
        missing = [1.0, 0.5] if some else [0.0, 0.0]
        copied.rounds.append(Round([*shares, 0.0], [*missing, 1.0], 2.5, loss))
    policies, own = copied.bounds()
    expected = [own, *(interval for pair in policies for interval in pair)]
    assert sums(restricted) == pytest.approx(np.array(expected), abs=1e-6)
    found = restricted.intervals()
    assert (found["always 0"].unavailable, found["mixed"].unavailable) == (10, 10)
    assert "; unavailable in 10 rounds" in str(restricted)


def test_policies_that_know_what_is_available():
    asked = []

    def first(context, available):
        asked.append(available.tolist())
        return int(available[0])

    watch = Watch({"first": first}, n_actions=3)
    watch.add_decision(0, "x", 2, propensity=0.5, available=[True, False, True])
    watch.add_decision(1, "x", 2, propensity=0.5)
    assert asked == [[0, 2], [0, 1, 2]]
    assert watch.intervals()["first"].unavailable == 0
    with pytest.raises(hn.ParameterError, match="pass n_actions= to Watch"):
        Watch({"first": first}).add_decision(0, "x", 2, propensity=0.5)
    wrong = Watch({"wrong": lambda context, available: 1}, n_actions=3)
    with pytest.raises(hn.ParameterError, match=r"'wrong' chooses action 1, but only \[0, 2\]"):
        wrong.add_decision(0, None, 2, propensity=0.5, available=[0, 2])
    distribution = Watch({"distribution": lambda context, available: half(context)}, n_actions=3)
    message = r"'distribution' chooses action 1, but only \[0, 2\]"
    with pytest.raises(hn.ParameterError, match=message):
        distribution.add_decision(0, None, 2, propensity=0.5, available=[0, 2])


def test_exact_probabilities_come_before_weights_of_a_decision():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 2), epsilon=0.5, resampling="shared", seed=0
    )
    for loss in (1.0, 0.5, 0.7):
        learner.update(loss, decision=learner.decide())
    decision = learner.decide()
    assert decision.propensity_error == 0.0
    assert decision.record.weights[0] != 1.0 / decision.propensity
    plain, exact, drawn = (Watch({"it": decision.action}) for _ in range(3))
    plain.add_decision(decision)
    exact.add_decision(decision, propensity=decision.propensity)
    drawn.add_decision(decision, weight=decision.record.weights[0])
    for watch in (plain, exact, drawn):
        watch.add_loss(decision, 1.0)
    assert content(plain) == content(exact)
    assert content(plain) != content(drawn)


def test_weights_may_come_with_the_loss():
    at_once, later = Watch({"it": 1}), Watch({"it": 1})
    at_once.add_decision("a", None, 1, weight=4.0)
    later.add_decision("a", None, 1)
    assert (sums(at_once) == sums(later)).all()  # reserves do not look at weights
    with pytest.raises(hn.ParameterError, match="probability of decision 'a' is unknown"):
        later.add_loss("a", 0.5)
    at_once.add_loss("a", 0.5)
    later.add_loss("a", 0.5, weight=4.0)
    assert (sums(at_once) == sums(later)).all()
    other = Watch({"it": 1})
    other.add_decision("b", None, 0)
    other.add_loss("b", 0.5)  # a policy that was not played needs no weight
    decision = hn.Decision(7, None, 1, PropensityRecord(np.array([4.0]), np.nan, np.nan))
    other.add_decision(7, None, 1)
    other.add_loss(decision, 0.5)
    assert other.open_decisions == []


# Logs --------------------------------------------------------------------------------------------


def test_a_log_says_what_its_rounds_said():
    log = draw(300)
    read = Watch.over(log, RULES)
    told = Watch(RULES, log.n_actions)
    for t, each in enumerate(log):
        told.add_decision(t, each.context, each.action, propensity=each.propensity)
    for t, each in enumerate(log):
        told.add_loss(t, each.loss)
    assert content(read) == content(told)
    parts = Watch(RULES, log.n_actions)
    parts.read(log[:100])
    parts.read(log[100:])
    assert content(parts) == content(read)


def test_all_constant_policies_are_watched_by_default():
    watch = Watch.over(draw(50))
    assert list(watch.intervals()) == ["always 0", "always 1", "always 2"]


def test_a_log_may_have_weights_and_restricted_rounds():
    log = Log(
        None, [0, 1, 1], [0.0, 1.0, 0.5], [0.5, 0.5, 0.5], 3, [[0, 1], [1, 2], None],
        weights=[2.0, 3.0, 1.0],
    )  # fmt: skip
    by_weights = Watch.over(log, {"always 0": 0}, inverse="weights")
    told = Watch({"always 0": 0}, 3)
    for t, each in enumerate(log):
        told.add_decision(t, None, each.action, weight=each.weight, available=each.available)
        told.add_loss(t, each.loss)
    assert content(by_weights) == content(told)
    assert by_weights.intervals()["always 0"].unavailable == 1


def test_rounds_that_are_not_in_a_log_count_at_their_worst():
    log = draw(200)
    whole = Watch.over(log, RULES)
    for without_feedback in (1, 30):
        wide = Watch.over(log, RULES, without_feedback=without_feedback)
        assert wide.rounds == 200 + without_feedback
        assert (sums(wide)[:, 0] <= sums(whole)[:, 0]).all()
        assert (sums(wide)[:, 1] >= sums(whole)[:, 1]).all()
        # Whatever was played in them, they would have counted no more.
        for action in range(K):
            known = copy.deepcopy(whole)
            for number in range(without_feedback):
                known.add_decision(number, 0, action, propensity=0.5)
            assert (sums(wide)[:, 0] <= sums(known)[:, 0] + 1e-9).all()
            assert (sums(wide)[:, 1] >= sums(known)[:, 1] - 1e-9).all()


def test_logs_that_do_not_fit_are_refused():
    log, watch = draw(20), Watch(RULES, 3)
    before = content(watch)
    for options, match in (
        ({"inverse": "draws"}, "'inverse'"),
        ({"inverse": "weights"}, "this log has none"),
        ({"without_feedback": -1}, "'without_feedback'"),
        ({"without_feedback": 0.5}, "'without_feedback'"),
    ):
        with pytest.raises(hn.ParameterError, match=match):
            watch.read(log, **options)
    with pytest.raises(hn.ParameterError, match="'log'"):
        watch.read([log])
    with pytest.raises(hn.ParameterError, match="'log'"):
        Watch.over("log")
    with pytest.raises(hn.ParameterError, match="must have the 3 actions"):
        watch.read(Log(None, [0], [0.5], [0.5], 2))
    with pytest.raises(hn.LossError, match="losses must lie in loss_range"):
        watch.read(Log(None, [0, 1], [0.5, 1.5], [0.5, 0.5], 3))
    with pytest.raises(ZeroDivisionError):
        Watch.over(log, {"fails": lambda context: 1 // 0})
    assert content(watch) == before


# Refused calls change nothing --------------------------------------------------------------------


def decision(number=5, action=1):
    return hn.Decision(number, 0, action, PropensityRecord(np.empty(0), np.nan, np.nan))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda w: w.add_loss(0, math.nan), hn.LossError, "finite"),
        (lambda w: w.add_loss(0, math.inf), hn.LossError, "finite"),
        (lambda w: w.add_loss(0, 1.5), hn.LossError, "loss_range"),
        (lambda w: w.add_loss(0, -0.1), hn.LossError, "loss_range"),
        (lambda w: w.add_loss(0, "bad"), hn.InputTypeError, "number"),
        (lambda w: w.add_loss(0, None), hn.HannanError, "loss"),
        (lambda w: w.add_loss(0, [0.1, 0.2]), hn.LossError, "one number"),
        (lambda w: w.add_loss(0, 0.5, weight=2.0), hn.ParameterError,
         "0 is already known. Leave out weight="),
        (lambda w: w.add_loss(99, 0.5), hn.DecisionError,
         "99 .* or was never added with add_decision"),
        (lambda w: w.add_loss(1, 0.5), hn.DecisionError, "1 is not open: it has a loss"),
        (lambda w: w.add_loss(2, 0.5), hn.DecisionError, "2 is not open: .* was abandoned"),
        (lambda w: w.add_loss(None, 0.5), hn.InputTypeError, "must be a Decision, or its id"),
        (lambda w: w.add_loss(True, 0.5), hn.InputTypeError, "must be a Decision, or its id"),
        (lambda w: w.abandon(1), hn.DecisionError, "1 is not open: it has a loss"),
        (lambda w: w.abandon(0.0), hn.InputTypeError, "must be a Decision, or its id"),
        (lambda w: w.withdraw(77), hn.DecisionError, "77 is not open: .* or was never added"),
        (lambda w: w.add_decision(0, 0, 1, propensity=0.5), hn.DecisionError,
         "0 is already open. Use a different"),
        (lambda w: w.add_decision("x" * 300, 0, 1), hn.InputTypeError, "at most 200 characters"),
        (lambda w: w.add_decision([9], 0, 1), hn.InputTypeError, "must be a Decision, or its id"),
        (lambda w: w.add_decision(9, 0, 3, propensity=0.5), hn.ParameterError,
         "action=3 is not an available action"),
        (lambda w: w.add_decision(9, 0, -1, propensity=0.5), hn.ParameterError,
         "action=-1 is not an available action"),
        (lambda w: w.add_decision(9, 0, True), hn.InputTypeError, "single actions"),
        (lambda w: w.add_decision(9, 0, None), hn.InputTypeError, "single actions"),
        (lambda w: w.add_decision(9, 0, np.array([1, 2])), hn.InputTypeError, "single actions"),
        (lambda w: w.add_decision(9, 0, 1.0), hn.InputTypeError, "single actions"),
        (lambda w: w.add_decision(9, 0, 1, propensity=0.0), hn.ParameterError, "'propensity'"),
        (lambda w: w.add_decision(9, 0, 1, propensity=1.1), hn.ParameterError, "'propensity'"),
        (lambda w: w.add_decision(9, 0, 1, propensity=math.nan), hn.ParameterError, "'propensity'"),
        (lambda w: w.add_decision(9, 0, 1, propensity=True), hn.ParameterError, "'propensity'"),
        (lambda w: w.add_decision(9, 0, 1, propensity="1"), hn.ParameterError, "'propensity'"),
        (lambda w: w.add_decision(9, 0, 1, weight=0.5), hn.ParameterError, "'weight'"),
        (lambda w: w.add_decision(9, 0, 1, weight=math.inf), hn.ParameterError, "'weight'"),
        (lambda w: w.add_decision(9, 0, 1, weight=[1, 2]), hn.ParameterError, "'weight'"),
        (lambda w: w.add_decision(9, 0, 1, weight=2, propensity=1), hn.ParameterError, "not both"),
        (lambda w: w.add_decision(9, 0, 1, available=[0, 2]), hn.ParameterError,
         "action=1 is not an available action"),
        (lambda w: w.add_decision(9, 0, 1, available=[7]), hn.ParameterError, "'available'"),
        (lambda w: w.add_decision(9, 0, 1, available="01"), hn.InputTypeError, "available="),
        (lambda w: w.add_decision(decision(), 0), hn.ParameterError, "pass it alone"),
        (lambda w: w.add_decision(decision(action=8)), hn.ParameterError,
         "action=8 is not an available action"),
        (lambda w: w.add_decision(9, "fail", 1), ZeroDivisionError, "by zero"),
        (lambda w: w.add_decision(9, "float", 1), hn.InputTypeError, "'rule' must be an action"),
        (lambda w: w.add_decision(9, "text", 1), hn.InputTypeError, "'rule' must be an action"),
        (lambda w: w.add_decision(9, "bool", 1), hn.InputTypeError, "'rule' must be an action"),
        (lambda w: w.add_decision(9, "none", 1), hn.InputTypeError, "'rule' must be an action"),
        (lambda w: w.add_decision(9, "high", 1), hn.ParameterError, "an action from 0 to 2; got 3"),
        (lambda w: w.add_decision(9, "sum", 1), hn.ParameterError, "3 actions, which sum to 1"),
        (lambda w: w.add_decision(9, "nan", 1), hn.ParameterError, "3 actions, which sum to 1"),
        (lambda w: w.add_decision(9, "short", 1), hn.ParameterError, "of 3 actions"),
        (lambda w: w.add_decision(9, "whole", 1), hn.ParameterError, "probabilities"),
        (lambda w: w.add_decision(9, "table", 1), hn.InputTypeError, "'rule' must be an action"),
    ],
)  # fmt: skip
def test_refused_calls_change_nothing(call, error, match):
    answers = {
        "float": 1.0, "text": "1", "bool": True, "none": None, "high": 3, "table": np.ones((3, 3)),
        "sum": np.array([0.5, 0.2, 0.2]), "nan": np.array([np.nan, 0.5, 0.5]),
        "short": np.array([0.5, 0.5]), "whole": np.array([1, 0, 0]),
    }  # fmt: skip

    def odd(context):
        return 1 // 0 if context == "fail" else answers.get(context, 0)

    watch = Watch({"rule": odd, "always 1": 1}, n_actions=3)
    for number in range(3):
        watch.add_decision(number, 0, 1, propensity=0.5)
    watch.add_loss(1, 0.5)
    watch.abandon(2)
    before = content(watch)
    with pytest.raises(error, match=match):
        call(watch)
    assert content(watch) == before
    watch.add_loss(0, 0.5)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"policies": None}, hn.ParameterError, "'policies'"),
        ({"policies": {}}, hn.ParameterError, "'policies'"),
        ({"policies": [0, 1]}, hn.ParameterError, "'policies'"),
        ({"policies": {0: 0}}, hn.ParameterError, "names are non-blank lines"),
        ({"policies": {" ": 0}}, hn.ParameterError, "names are non-blank lines"),
        ({"policies": {"a\nb": 0}}, hn.ParameterError, "names are non-blank lines"),
        ({"policies": {"a": 3}, "n_actions": 3}, hn.ParameterError, "0 to 2; got 3"),
        ({"policies": {"a": -1}}, hn.ParameterError, "from 0 to 2147483647; got -1"),
        ({"policies": {"a": True}}, hn.InputTypeError, "must be an action"),
        ({"policies": {"a": [0, 1]}}, hn.InputTypeError, "must be an action"),
        ({"policies": {"a": "0"}}, hn.InputTypeError, "must be an action"),
        ({"policies": {"a": hn.baselines.UniformRandom(2)}}, hn.InputTypeError, "is a learner"),
        ({"n_actions": 0}, hn.ParameterError, "'n_actions'"),
        ({"loss_range": None}, hn.ParameterError, "'loss_range'"),
        ({"loss_range": (1.0, 0.0)}, hn.ParameterError, "'loss_range'"),
        ({"loss_range": (0.0, math.inf)}, hn.ParameterError, "'loss_range'"),
        ({"confidence": 1.0}, hn.ParameterError, "'confidence'"),
        ({"confidence": 0}, hn.ParameterError, "'confidence'"),
        ({"confidence": math.nan}, hn.ParameterError, "'confidence'"),
    ],
)
def test_what_cannot_be_watched_is_refused(options, error, match):
    with pytest.raises(error, match=match):
        Watch(**{"policies": {"always 0": 0}, **options})


def test_too_many_open_rounds_are_refused(monkeypatch):
    monkeypatch.setattr("hannan.off_policy.watch.MOST_OPEN", 3)
    watch = Watch({"always 0": 0})
    for number in range(3):
        watch.add_decision(number, None, 0, propensity=0.5)
    with pytest.raises(
        hn.DecisionError, match=r"^3 decisions are open.* call abandon\(decision\) for"
    ):
        watch.add_decision(3, None, 0, propensity=0.5)
    watch.abandon(0)
    watch.add_decision(3, None, 0, propensity=0.5)


def test_memory_does_not_grow_with_answered_rounds():
    watch = Watch(RULES)
    sizes = []
    for t in range(2000):
        watch.add_decision(t, t % 2, t % 3, propensity=0.5)
        if t >= 5:
            watch.add_loss(t - 5, 0.5)
        if t in (500, 1999):
            sizes.append(len(pickle.dumps(watch._state())))
    assert sizes[1] <= sizes[0] + 16


@pytest.mark.parametrize("every", [1, 7, 300])
def test_when_one_looks_changes_nothing(every):
    """Asking changes no sum, bit for bit."""
    rng = np.random.default_rng(every)
    asked, left = Watch(RULES, n_actions=3), Watch(RULES, n_actions=3)
    for t in range(700):
        some = [0, 2] if t % 5 == 0 else None
        action, q, loss = int(rng.choice(some or 3)), float(rng.uniform(0.05, 1.0)), rng.random()
        late = int(rng.integers(max(t - 40, 0), t + 1))
        for watch in (asked, left):
            watch.add_decision(t, t % 2, action, propensity=q, available=some)
            if late in watch:
                watch.abandon(late) if t % 11 == 0 else watch.add_loss(late, loss)
            if t % 50 == 3 and t in watch:
                watch.withdraw(t)
            if t == 350:
                watch.read(draw(20), without_feedback=3)
        if t % every == 0:
            (Watch.intervals, Watch.played, reread, str)[t % 4](asked)
        if t == 500:
            asked, left = copy.deepcopy(asked), pickle.loads(pickle.dumps(left))
            more = {**RULES, "new": 1}
            asked, left = asked.extended(more, 3), left.extended(more, 3)
    assert content(asked) == content(left)
    assert asked.intervals() == left.intervals()


# Words -------------------------------------------------------------------------------------------


def test_the_table_reads_as_sentences():
    watch = Watch.over(draw(3000), {"good": lambda kind: kind, "bad": 1}, without_feedback=2)
    watch.add_decision("x", 0, 1, propensity=0.5)
    lines = str(watch).splitlines()
    assert lines[0] == (
        "After 3,003 rounds, 1 open, 2 abandoned, 95 % anytime-valid confidence intervals:"
    )
    assert lines[1].split("  ")[0] == "policy"
    assert lines[2].startswith("(played actions)")
    assert lines[3].endswith("worse")
    assert lines[4].endswith("better")
    found = watch.intervals()
    assert found["good"].verdict == "worse"
    assert found["bad"].verdict == "better"
    assert str(found["bad"]).startswith("bad: mean loss 0.")
    frame = watch.to_frame()
    assert list(frame["policy"]) == ["good", "bad"]
    assert list(zip(frame["loss_low"], frame["loss_high"], strict=True)) == [
        each.loss for each in found.values()
    ]
    assert frame["regret_high"][1] == found["bad"].regret[1]
    assert (list(frame["rounds"]), list(frame["open"])) == ([3003, 3003], [1, 1])


def test_statements_that_contradict_each_other_say_so():
    # Probabilities that are wrong by far: the policy seems to cost more than the largest loss.
    watch = Watch({"always 0": 0})
    for t in range(300):
        watch.add_decision(t, None, 0, propensity=0.01)
        watch.add_loss(t, 1.0)
    found = watch.intervals()["always 0"]
    assert found.contradicts
    assert found.verdict == "contradiction"
    assert "contradict each other" in str(watch)
    assert PolicyIntervals("x", (0.1, 0.2), (-1.0, 1.0), 5, 0, 0, 0).verdict == "not known"


# Files -------------------------------------------------------------------------------------------


def some_rounds():
    watch = Watch({"always 0": 0, "always 2": 2}, n_actions=3)
    for t in range(20):
        watch.add_decision(t, t % 2, t % 3, propensity=0.2 + 0.04 * t)
        if t % 3:
            watch.add_loss(t, (t % 4) / 3)
    watch.add_decision("late", 0, 1, available=[1, 2])
    watch.abandon(0)
    return watch


def test_a_watch_goes_on_from_a_file(tmp_path):
    watch = some_rounds()
    watch.save(tmp_path / "watch.hannan")
    loaded = hn.load(tmp_path / "watch.hannan")
    assert content(loaded) == content(watch)
    for one in (watch, loaded):
        for number in one.open_decisions:
            one.add_loss(number, 0.25, weight=2.0 if number == "late" else None)
        one.add_decision("new", 1, 2, propensity=0.1)
        one.add_loss("new", 1.0)
    assert content(loaded) == content(watch)
    assert loaded.intervals() == watch.intervals()
    for copied in (copy.deepcopy(watch), pickle.loads(pickle.dumps(watch))):
        assert content(copied) == content(watch)
    clone = watch.clone()
    assert (clone.rounds, clone.intervals().keys()) == (0, watch.intervals().keys())
    watch.reset()
    assert content(watch) == content(clone)


def test_functions_have_to_be_trusted(tmp_path):
    Watch({"rule": rule}).save(tmp_path / "watch.hannan")
    with pytest.raises(hn.UntrustedError):
        hn.load(tmp_path / "watch.hannan")
    assert hn.load(tmp_path / "watch.hannan", trusted=[rule]).policies["rule"] is rule


def test_a_part_of_a_learner_is_not_loaded_alone(tmp_path):
    from hannan.core.storage import save

    save(hn.predictors.Mean(), tmp_path / "part.hannan")
    with pytest.raises(hn.DamagedFileError, match="holds no learner"):
        hn.load(tmp_path / "part.hannan")


def forged(change):
    watch = some_rounds()
    change(watch)
    return watch


def break_open(watch, **changes):
    key = watch.open_decisions[0]
    shares, weight, centre = watch._open[key]
    watch._open[key] = shares, changes.pop("weight", weight), changes.pop("centre", centre)
    for name, value in changes.items():
        object.__setattr__(shares, name, value)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w._sums.__setitem__((0, 0, 3), 1e9),
        lambda w: w._sums.__setitem__((2, 1, 50), -1e9),
        lambda w: w._sums.__setitem__((0, 0, 0), np.nan),
        lambda w: setattr(w, "_sums", w._sums[:2].copy()),
        lambda w: setattr(w, "_sums", np.asfortranarray(w._sums)),
        lambda w: w._kinds.__setitem__((0, 0), -1),
        lambda w: w._kinds.__setitem__((0, 1), 50),
        lambda w: w._kinds.__setitem__((2, 1), 1),
        lambda w: w._kinds.__setitem__(0, w._kinds[0] + 1),
        lambda w: setattr(w, "_kinds", w._kinds.astype(float)),
        lambda w: w._absent.__setitem__(0, -1),
        lambda w: w._absent.__setitem__(0, 10**6),
        lambda w: setattr(w, "_with_feedback", -3),
        lambda w: setattr(w, "_with_feedback", 0),
        lambda w: setattr(w, "_abandoned", 7),
        lambda w: setattr(w, "_abandoned", "1"),
        lambda w: setattr(w, "_open", [1]),
        lambda w: setattr(w, "_open", None),
        lambda w: w._open.__setitem__(0.5, w._open["late"]),
        lambda w: w._open.__setitem__("late", 3),
        lambda w: break_open(w, weight=0.5),
        lambda w: break_open(w, weight="2"),
        lambda w: break_open(w, weight=math.inf),
        lambda w: break_open(w, played=np.array([2.0, 0.0, 0.0])),
        lambda w: break_open(w, played=np.array([0.0, 0.0, 1.0])),
        lambda w: break_open(w, copied=np.array([0.0])),
        lambda w: break_open(w, copied=None),
    ],
)
def test_forged_files_are_refused(change):
    watch = forged(change)
    with pytest.raises(hn.HannanError):
        reread(watch)
    assert reread(some_rounds()).rounds == 21


# Logs with names and rewards ----------------------------------------------------------------------


def sales(n=2000):
    """A log of two ads with rewards on a scale of its own, and the same log as losses 0 to 1."""
    rng = np.random.default_rng(0)
    ads = rng.choice(["red", "blue"], p=[0.7, 0.3], size=n)
    columns = {
        "age": rng.integers(18, 80, n),
        "ad": ads,
        "p": np.where(ads == "red", 0.7, 0.3),
        "sale": np.where(ads == "red", 20.0, 30.0) + rng.uniform(-9.0, 9.0, n),
    }
    named = Log.from_frame(columns, action="ad", reward="sale", propensity="p")
    rows = [named[t].context for t in range(n)]
    return named, Log(rows, named.actions, named.losses, named.propensities, 2)


def test_a_log_with_names_and_rewards_is_answered_in_its_own_terms():
    named, plain = sales()
    rules = {
        "red": ("red", 1),
        "by age": (
            lambda row: "blue" if row["age"] > 40 else "red",
            lambda row: 0 if row["age"] > 40 else 1,
        ),
        "mixed": (lambda row: {"red": 0.25, "blue": 0.75}, lambda row: np.array([0.75, 0.25])),
        "first": (lambda row, available: available[0], lambda row: 0),
    }
    ours = Watch.over(named, {name: each[0] for name, each in rules.items()})
    theirs = Watch.over(plain, {name: each[1] for name, each in rules.items()})
    low, high = named.value_range
    for said, other in zip(ours.intervals().values(), theirs.intervals().values(), strict=True):
        assert said.reward == pytest.approx(
            [high - loss * (high - low) for loss in other.loss[::-1]]
        )
        gain = [-each * (high - low) / len(named) for each in other.regret[::-1]]
        assert said.gain == pytest.approx(gain)
        assert said.verdict == other.verdict
    assert ours.played() == pytest.approx([high - x * (high - low) for x in theirs.played()[::-1]])
    assert "mean reward" in str(ours)
    assert "gain over policy, per round" in str(ours)
    assert "gain of the played actions" in str(ours.intervals()["red"])
    found = ours.to_frame()
    value = hn.off_policy.evaluate(named, "red", "ips").value
    assert found["reward_low"][0] <= found["estimate"][0] <= found["reward_high"][0]
    assert found["estimate"][0] == pytest.approx(value, abs=0.5)
    again = Watch.over(named)
    assert [*again.intervals()] == ["always blue", "always red"]
    assert reread(again).intervals() == again.intervals()


@pytest.mark.parametrize("policy", ["green", lambda row: "green"])
def test_a_policy_of_no_known_name_is_refused_with_the_names(policy):
    with pytest.raises(hn.ParameterError, match=r"action out of \['blue', 'red'\].*'green'"):
        Watch.over(sales(10)[0], {"mine": policy})


def test_another_log_must_have_the_names_of_the_first():
    named, plain = sales(10)
    watch = Watch.over(named, {"red": "red"})
    with pytest.raises(hn.ParameterError, match="in this order"):
        watch.read(plain)
    losses = Log(plain.contexts, named.actions, plain.losses, plain.propensities, names=named.names)
    with pytest.raises(hn.ParameterError, match="logs with rewards"):
        watch.read(losses)
    with pytest.raises(hn.ParameterError, match="a different name for each"):
        Watch(names=["red", "red"])
