"""Leaders that forget at several rates, and the master among them."""

import copy
import math

import numpy as np
import pytest
from examples.worlds import SlateClicks
from scipy import stats

import hannan as hn
from hannan.core.discounted_totals import DiscountedTotals
from hannan.learners import meta_learner
from hannan.perturbation import LaplaceNoise, seed_key
from hannan.perturbation.laplace import mean_of_maximum
from tests import naive, naive_adaptive, problems
from tests.cases import Match
from tests.problems import ALL, FINITE, FUNCTION, PLANTED, PUNISHER, SLATES

CONTRACT = {
    "AdaptiveDiscount": Match(hn.AdaptiveDiscount(FINITE, seed=0), PUNISHER),
    "AdaptiveDiscount, scores": Match(
        hn.AdaptiveDiscount(ALL, discounts=(1.0, 0.9, 0.5), seed=0),
        hn.environments.LeaderPunisher(ALL),
    ),
    "AdaptiveDiscount, own solver": Match(
        hn.AdaptiveDiscount(FUNCTION, range(4), discounts=(1.0, 0.5), seed=0), PLANTED
    ),
    "AdaptiveDiscount, separator": Match(
        hn.AdaptiveDiscount(FINITE, separator=range(4), discounts=(0.9, 1.0), seed=0), PUNISHER
    ),
    "AdaptiveDiscount, any loss": Match(
        hn.AdaptiveDiscount(FINITE, loss_range=(-2.0, 3.0), seed=0), PUNISHER
    ),
    "AdaptiveDiscount, slates": Match(
        hn.AdaptiveDiscount(SLATES, seed=0), SlateClicks(SLATES), no_regret=False
    ),
    "AdaptiveDiscount, open world": Match(
        hn.AdaptiveDiscount(hn.oracles.LinearPolicies(n_actions=3), discounts=(1, 0.9), seed=0),
        hn.environments.CopyPunisher(n_actions=3, n_contexts=5, features=2),
        no_regret=False,
    ),
    "AdaptiveDiscount, predictor": Match(
        hn.AdaptiveDiscount(FINITE, predictor=hn.predictors.Mean(alpha=0.0), seed=0), PUNISHER
    ),
    "AdaptiveDiscount, experts on rows": Match(
        hn.experts(hn.oracles.LinearPolicies(n_actions=3), discounts=(1, 0.9), seed=0),
        hn.environments.CopyPunisher(n_actions=3, n_contexts=5, features=2),
        no_regret=False,
    ),
}
GRID = (1.0, 0.9, 0.5)
ROWS = np.random.default_rng(2).integers(0, 3, size=(7, 3)).tolist()
SMALL = hn.oracles.FinitePolicies(ROWS, n_actions=3)


class Solver(hn.oracles.FinitePolicies):
    """The same class without a panel of its own."""

    def discounted_totals(self, discounts, contexts=()):
        return DiscountedTotals(self, discounts, contexts)


def game(T, seed=0, d=3, K=3):
    """Losses in which the best action changes every now and then; no two totals are equal."""
    rng = np.random.default_rng(seed)
    rounds = []
    for t in range(T):
        losses = rng.random(K)
        losses[(t // 9) % K] *= 0.1
        rounds.append((int(rng.integers(d)), losses))
    return rounds


def slow_twin(learner):
    """The same draws, played from the definition."""
    key = learner._key
    noises = [learner.oracle.noise(range(3), key, stream, 2**20) for stream in (0, 5)]
    mine = [LaplaceNoise([0], len(learner.discounts), key, stream) for stream in (6, 7)]
    return naive_adaptive.AdaptiveDiscount(
        ROWS,
        range(3),
        lambda hidden, n: noises[hidden].unit(n),
        lambda hidden, n: mine[hidden].unit(n)[0],
        learner._leader.complexity().value,
        learner.discounts,
        meta_learner.EAGERNESS * mean_of_maximum(len(learner.discounts)),
    )


def require_same(learner, twin):
    """What is tuned, in units of the first round."""
    units = np.array(learner.discounts) ** -float(learner.rounds)
    state = learner._tuning
    for found, expected in ((state.D, twin.D), (state.peak, twin.peak), (state.top, twin.top)):
        assert found * units == pytest.approx(expected)
    own = learner._meta_learner.tuning
    assert [own.D[0], own.peak[0], own.top[0]] == pytest.approx(list(twin.own.values()))
    assert learner._meta_learner.totals == pytest.approx(twin.lost)


@pytest.mark.parametrize("kind", [hn.oracles.FinitePolicies, Solver])
@pytest.mark.parametrize("discounts", [GRID, (1.0,), (0.3, 0.07), (0.99, 1.0)])
def test_play_equals_its_slow_twin(kind, discounts):
    learner = hn.AdaptiveDiscount(kind(ROWS, n_actions=3), discounts=discounts, seed=3)
    twin, most = slow_twin(learner), 0.0
    for context, losses in game(120):
        action, ticket = twin.decide(context, measures_delays=False)
        assert learner.act(context) == action
        learner.update(losses)
        twin.learn(ticket, losses)
        require_same(learner, twin)
        most = max(most, *learner._tuning.peak)
    assert most > 0.1
    assert len(discounts) == 1 or learner._meta_learner.scale > 0.01


@pytest.mark.parametrize("kind", [hn.oracles.FinitePolicies, Solver])
@pytest.mark.parametrize("seed", range(3))
def test_late_play_equals_its_slow_twin(kind, seed):
    learner = hn.AdaptiveDiscount(kind(ROWS, n_actions=3), discounts=GRID, seed=seed)
    twin, rng = slow_twin(learner), np.random.default_rng(seed)
    waiting, negative = [], 0
    for context, losses in game(90, seed):
        if rng.random() < 0.2:  # an ordinary round, within which others may be answered
            action, ticket = twin.decide(context, measures_delays=learner._ledger.made > 0)
            assert learner.act(context) == action
            waiting.append((None, ticket, losses))
        else:
            action, ticket = twin.decide(context, measures_delays=True)
            decision = learner.decide(context)
            assert decision.action == action
            waiting.append((decision, ticket, losses))
        while waiting and (waiting[-1][0] is None or rng.random() < 0.4):
            decision, ticket, losses = waiting.pop(int(rng.integers(len(waiting))))
            learner.update(losses, decision=decision)
            twin.learn(ticket, losses)
            require_same(learner, twin)
            negative += bool((learner._tuning.peak > learner._tuning.D).any())
    assert negative > 0  # what late rounds can do to D
    assert learner._ledger.delayed


def test_a_round_overtaken_by_the_first_decisions_is_charged_all_it_can_cost():
    learner = hn.AdaptiveDiscount(SMALL, discounts=GRID, seed=0)
    twin = slow_twin(learner)
    rounds = game(30)
    for context, losses in rounds[:20]:
        _, ticket = twin.decide(context, measures_delays=False)
        learner.act(context)
        learner.update(losses)
        twin.learn(ticket, losses)
    _, first = twin.decide(0, measures_delays=False)
    learner.act(0)
    _, second = twin.decide(1, measures_delays=True)
    decision = learner.decide(1)
    learner.update(rounds[20][1], decision=decision)
    twin.learn(second, rounds[20][1])
    before = learner._tuning.D[0]
    learner.update(rounds[21][1])
    twin.learn(first, rounds[21][1])
    require_same(learner, twin)
    assert learner._tuning.D[0] - before == pytest.approx(np.ptp(rounds[21][1]))


def test_the_master_is_context_ftpl_among_the_bases():
    """Bit for bit, on the losses of the bases, under the same draws."""
    learner = hn.AdaptiveDiscount(SMALL, discounts=GRID, seed=1)
    experts = hn.oracles.AllPolicies(1, 3)
    alone = hn.ContextFTPL(experts, epsilon=hn.SelfTuned(meta_learner.EAGERNESS), seed=1)
    noise = experts.noise([0], learner._key, 6, 2**20)
    alone.leader.put_noise = lambda: setattr(alone.leader, "noise", noise) or True
    followed = []
    for context, losses in game(150):
        learner.act(context)
        opened = learner._ledger.current
        alone.leader.number = opened.first
        followed.append(opened.followed)
        assert alone.act() == opened.followed
        learner.update(losses)
        alone.update(losses[opened.actions])
        assert pytest.approx(learner._meta_learner.tuning.D[0]) == alone.step.D
    assert len(set(followed)) == 3


@pytest.mark.slow
@pytest.mark.stat
def test_the_law_of_play_is_that_of_its_parts():
    """`Discounted` learners and `ContextFTPL` among them, each with randomness of its own."""
    rounds, followed = game(40), {"whole": [], "parts": []}
    known = hn.ContextFTPL(SMALL, seed=0)
    _ = known.complexity
    for seed in range(250):
        whole = hn.AdaptiveDiscount(SMALL, discounts=GRID, seed=seed)
        whole._leader.share_complexity(known.leader)
        bases = [hn.Discounted(known.fresh(3 * seed + i), g) for i, g in enumerate(GRID)]
        chief = hn.ContextFTPL(
            hn.oracles.AllPolicies(1, 3), epsilon=hn.SelfTuned(meta_learner.EAGERNESS), seed=seed
        )
        cost = 0.0
        for context, losses in rounds:
            actions = [base.act(context) for base in bases]
            cost += losses[actions[chief.act()]]
            chief.update(losses[actions])
            for base in bases:
                base.update(losses)
        problems.play(whole, rounds)
        followed["whole"].append(whole.certificate().loss)
        followed["parts"].append(cost)
    assert np.std(followed["whole"]) > 0.2
    # One false alarm in a thousand.
    assert stats.ks_2samp(followed["whole"], followed["parts"]).pvalue > 1e-3


# What is promised -----------------------------------------------------------------------------

EXPERTS = hn.oracles.FinitePolicies([[0], [1], [2]])
NASTY = {
    "leader": lambda: hn.environments.LeaderPunisher(EXPERTS),
    "leaders of contexts": lambda: hn.environments.LeaderPunisher(SMALL),
    "copies": lambda: hn.environments.CopyPunisher(n_actions=3, n_contexts=1),
    "frequencies": lambda: hn.environments.FrequencyPunisher(n_actions=3, n_contexts=1),
    "switching": lambda: hn.environments.Switching(SMALL, switches=4),
    "coins": lambda: hn.environments.FromArrays(
        [0] * 400, np.random.default_rng(0).integers(2, size=(400, 3)).astype(float)
    ),
    "turns": lambda: hn.environments.FromArrays([0] * 400, np.tile(np.eye(3), (134, 1))[:400]),
}


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", NASTY)
def test_regret_against_fixed_policies_keeps_its_certificate(name):
    oracle = SMALL if name in ("leaders of contexts", "switching") else EXPERTS
    found, beyond, by_base, bounds = [], 0, [], []
    T = 100 if name == "copies" else 400  # every round asks for many copies
    for seed in range(60):
        learner = hn.AdaptiveDiscount(oracle, seed=seed)
        trace = hn.play(learner, NASTY[name](), T, seed=seed, oracle=oracle)
        said = learner.certificate(0.9)
        assert said.realised_regret == pytest.approx(trace.regret())
        found.append((said.realised_regret, said.measured, said.a_priori))
        beyond += said.realised_regret > said.high_probability
        own = learner._meta_learner
        measured = own.tuning.D[0] + own.G * own.tuning.top[0]
        by_base.append(said.loss - own.totals - measured)
        bounds.append(learner.regret_bound())
    regret, measured, a_priori = np.array(found).T
    # Three standard errors: one false alarm in several hundred, for each line.
    assert (regret - measured).mean() <= 3 * standard_error(regret - measured)
    assert (measured - a_priori).mean() <= 3 * standard_error(measured - a_priori)
    gaps = np.array(by_base)
    assert (gaps.mean(axis=0) <= 3 * standard_error(gaps)).all()
    assert beyond <= 6 + 3 * math.sqrt(60 * 0.1 * 0.9)
    assert measured.mean() <= np.mean(bounds)


def standard_error(values):
    return values.std(axis=0, ddof=1) / math.sqrt(len(values))


@pytest.mark.stat
@pytest.mark.parametrize("name", ["leader", "coins", "turns"])
def test_the_loss_is_bounded_by_every_discounted_leader(name):
    """E Σ ℓ(a) ≤ E [L(T) + (1-γ) Σ L(t)] + (1 + (1-γ)(T-1)) C + M, with C and M measured."""
    T, gaps = 300, []
    for seed in range(40):
        learner = hn.AdaptiveDiscount(EXPERTS, discounts=GRID, seed=seed)
        rounds = NASTY[name]().rounds(T, np.random.default_rng(seed))
        totals, right = np.zeros((3, 3)), np.zeros(3)
        for t, this_round in enumerate(rounds, start=1):
            learner.update(this_round.reveal(learner.act(this_round.context)))
            totals = totals * np.array(GRID)[:, None] + this_round.losses
            tuning, G = learner._tuning, learner._leader.complexity().upper
            measured = (tuning.D + G * tuning.top) / np.array(GRID)  # before they fade
            right += (totals.min(axis=1) + measured) * (1.0 if t == T else 1.0 - np.array(GRID))
        own = learner._meta_learner
        right += own.tuning.D[0] + own.G * own.tuning.top[0]
        gaps.append(learner.certificate().loss - right)
    gaps = np.array(gaps)
    assert (gaps.mean(axis=0) <= 3 * standard_error(gaps)).all()


@pytest.mark.parametrize("switches", [1, 3, 10])
def test_regret_against_sequences_keeps_its_bound(switches):
    found = []
    for seed in range(8):
        learner = hn.AdaptiveDiscount(SMALL, seed=seed)
        world = hn.environments.Switching(SMALL, switches=switches, good=0.0, bad=1.0)
        trace = hn.play(learner, world, 800, seed=seed, oracle=SMALL)
        found.append(trace.regret(switches=switches))
        bound = learner.regret_bound(switches)
    assert np.mean(found) < bound
    assert np.mean(found) > 1.0
    assert learner.regret_bound(switches + 1) > bound > learner.regret_bound()


def test_the_bound_is_the_sum_written_out():
    learner = hn.AdaptiveDiscount(hn.oracles.AllPolicies(2, 3), discounts=GRID, seed=0)
    assert learner.regret_bound() == 0.0
    problems.play(learner, game(50, d=2))
    G, own, eta = 2 * mean_of_maximum(3), mean_of_maximum(3), meta_learner.EAGERNESS
    M = (1 + 1 / eta) * (math.sqrt(2 * eta * own * 50) + 1)
    assert learner.regret_bound() == pytest.approx(2 * math.sqrt(2 * G * 50) + 2 + M)

    def forgetting(gamma, k):
        squares = sum(gamma ** (2 * t) for t in range(50))
        C = 2 * math.sqrt(2 * G * squares) + 2
        return (1 + (1 - gamma) * 49) * C + k * gamma / (1 - gamma)

    for k in (1, 5, 30):
        expected = min(forgetting(gamma, k) for gamma in (0.9, 0.5)) + M
        assert learner.regret_bound(k) == pytest.approx(expected)
    with pytest.raises(hn.ParameterError, match="'switches'"):
        learner.regret_bound(-1)
    # Roots grow with the root of the number of games, and constants with their number.
    own = (1 + 1 / eta) * (math.sqrt(2 * eta * own * 3 * 50) + 3)
    assert learner.worst_case(50, 2) == pytest.approx(2 * math.sqrt(2 * G * 3 * 50) + 6 + own)
    assert learner.worst_case(50, 0) == pytest.approx(learner.regret_bound())


def test_the_certificate_is_that_of_the_plain_base_and_the_master():
    learner = hn.AdaptiveDiscount(SMALL, discounts=(0.5, 1.0), seed=2)
    actions = problems.play(learner, game(80))
    said, tuning, own = learner.certificate(), learner._tuning, learner._meta_learner.tuning
    G = learner._leader.complexity().upper
    expected = tuning.D[1] + G * tuning.top[1] + own.D[0] + mean_of_maximum(2) * own.top[0]
    assert said.measured == pytest.approx(expected)
    assert said.high_probability == pytest.approx(expected + math.sqrt(80 * math.log(20)))
    assert said.realised_regret == pytest.approx(naive.regret(ROWS, game(80), actions))
    assert said.loss == pytest.approx(
        sum(v[a] for (_, v), a in zip(game(80), actions, strict=True))
    )
    assert said.measured < said.a_priori
    losses = learner.base_losses
    assert list(losses) == [0.5, 1.0]
    assert losses[0.5] == pytest.approx(learner._meta_learner.totals[0])


class Late:
    """A world that answers late, and the later the worse an action looked."""

    def __init__(self, seed, drops=False):
        self.rng, self.drops = np.random.default_rng(seed), drops
        self.last = 0

    def play(self, learner, T):
        waiting, regret, totals = [], 0.0, np.zeros(3)
        for t in range(T):
            losses = self.rng.random(3) * 0.2
            losses[self.last] = 1.0  # what was played last
            decision = learner.decide()
            self.last = decision.action
            regret += losses[decision.action]
            totals += losses
            due = t + int(1 + 12 * losses[decision.action] + 8 * (decision.action == 0))
            waiting.append((due, decision, losses))
            for each in [each for each in waiting if each[0] <= t]:
                waiting.remove(each)
                if self.drops and each[1].action == 0 and self.rng.random() < 0.4:
                    learner.forget(each[1])
                else:
                    learner.update(each[2], decision=each[1])
        if not self.drops:
            for _, decision, losses in reversed(waiting):
                learner.update(losses, decision=decision)
        return regret - totals.min()


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("drops", [False, True])
def test_a_certificate_under_late_feedback_is_kept(drops):
    found = []
    for seed in range(60):
        learner = hn.AdaptiveDiscount(EXPERTS, discounts=GRID, seed=seed)
        regret = Late(seed, drops).play(learner, 150)
        said = learner.certificate()
        found.append((regret, said.measured))
        assert learner.regret_bound() is None
        assert said.a_priori is said.high_probability is None
    regret, measured = np.array(found).T
    assert (regret - measured).mean() <= 3 * standard_error(regret - measured)
    assert regret.mean() > 5.0
    assert "feedback was delayed: only the measured bound holds" in str(said)
    assert ("decisions without feedback: " in str(said)) == drops


def test_a_decision_answered_at_once_is_no_delay():
    learner = hn.AdaptiveDiscount(SMALL, discounts=GRID, seed=0)
    for context, losses in game(60):
        learner.update(losses, decision=learner.decide(context))
    assert learner.regret_bound() is not None
    said = learner.certificate()
    assert said.measured > 0.0
    slack = math.sqrt(2 * 60 * math.log(20))  # hidden noise draws are draws too
    assert said.high_probability == pytest.approx(said.measured + slack)
    learner.decide(0)
    assert learner.certificate().measured == pytest.approx(said.measured + 2.0)
    assert "decisions without feedback: 1;" in str(learner.certificate())


@pytest.mark.parametrize(
    ("learner", "note"),
    [
        (
            hn.AdaptiveDiscount(SMALL, discounts=(0.9, 0.5), seed=0),
            "no base learner has discount 1",
        ),
        (hn.AdaptiveDiscount(SMALL, hn.Pool(range(3)), seed=0), "no theorem"),
    ],
)
def test_without_a_theorem_nothing_is_promised(learner, note):
    learner = learner.clone()
    problems.play(learner, game(30))
    said = learner.certificate()
    assert said.measured is said.a_priori is said.high_probability is None
    assert note in str(said)
    assert (learner.regret_bound() is None) == ("theorem" in note)


def test_losses_of_any_size_have_a_certificate_and_no_bound():
    learner = hn.AdaptiveDiscount(SMALL, loss_range=None, seed=0)
    problems.play(learner, [(x, 100 * v - 30) for x, v in game(40)])
    said = learner.certificate()
    assert said.realised_regret < said.measured < said.a_priori
    assert said.high_probability is None
    assert learner.regret_bound() is None
    decision = learner.decide(0)
    assert learner.certificate().measured is None  # its loss could be anything
    learner.update([1e6, 0.0, 0.0], decision=decision)
    assert learner.certificate().measured is not None


# What it does -----------------------------------------------------------------------------------


def test_it_follows_a_world_that_changes_and_one_that_does_not():
    losses = np.full((900, 3), 0.6)
    for third in range(3):
        losses[300 * third : 300 * (third + 1), third] = 0.2
    changing = hn.environments.FromArrays([0] * 900, losses)
    late = hn.play(hn.experts(3, seed=0), changing).losses[-250:].mean()
    assert late < 0.23
    assert hn.play(hn.ContextFTPL(EXPERTS, seed=0), changing).losses[-250:].mean() > 0.5
    steady = hn.environments.FromArrays([0] * 900, np.tile([0.2, 0.6, 0.6], (900, 1)))
    assert hn.play(hn.experts(3, seed=0), steady).regret() < 3.0


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("oracle", [EXPERTS, SMALL, hn.oracles.AllPolicies(3, 3)], ids=repr)
@pytest.mark.parametrize("available", [None, [0, 2]])
def test_propensities_are_the_law_of_act(oracle, available):
    learner = hn.AdaptiveDiscount(oracle, discounts=GRID, seed=0)
    problems.play(learner, [(x if oracle is not EXPERTS else 0, v) for x, v in game(25)])
    said = learner.propensities(0, draws=4000, available=available)
    exact = oracle is not SMALL
    assert (said.draws == 0) == exact
    assert said.probabilities.sum() == pytest.approx(1.0)
    counts = np.zeros(3)
    for seed in range(1500):
        twin = copy.deepcopy(learner)
        twin._leader = learner._leader.reseeded(seed_key(seed))
        twin._meta_learner._key = seed_key(seed)
        counts[twin.act(0, available)] += 1
    others = np.bincount(learner.would_play(0, 1500, available=available), minlength=3)
    likely = said.probabilities > 0.0
    assert likely.sum() > 1
    slack = 4 * np.sqrt(said.probabilities * (1 - said.probabilities) * (1 / 1500 + 1 / 4000))
    assert (np.abs(counts / 1500 - said.probabilities) <= slack + 1e-9).all()
    assert (np.abs(others / 1500 - said.probabilities) <= slack + 1e-9).all()
    decision = learner.decide(0, available)
    assert decision.propensity == pytest.approx(
        said.probabilities[decision.action] if exact else np.nan, nan_ok=True
    )


@pytest.mark.parametrize("oracle", [SMALL, hn.oracles.AllPolicies(3, 3)], ids=repr)
def test_unavailable_actions_are_never_played(oracle):
    learner = hn.AdaptiveDiscount(oracle, seed=0)
    for t, (context, losses) in enumerate(game(120)):
        away = t % 3
        some = [a for a in range(3) if a != away]
        assert learner.act(context, available=some) in some
        losses[away] = np.nan
        learner.update(losses)
    by_score = isinstance(oracle, hn.oracles.AllPolicies)
    assert (learner.certificate().measured is None) == by_score
    assert "some actions were unavailable" in str(learner.certificate())


def test_sets_are_played_and_discounted():
    learner = hn.experts(hn.oracles.Subsets(4, 2), seed=0)
    for t in range(150):
        assert len(learner.act()) == 2
        learner.update([0.9, 0.9, 0.1, 0.2] if t < 100 else [0.1, 0.2, 0.9, 0.9])
    assert learner.act().tolist() == [0, 1]
    assert learner.certificate().measured < learner.regret_bound()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("oracle", [SMALL, hn.oracles.AllPolicies(3, 3)], ids=repr)
def test_a_saved_learner_plays_on(oracle, late, tmp_path):
    learner = hn.AdaptiveDiscount(oracle, discounts=(1.0, 0.9, 0.1), seed=0)
    rounds = game(120)
    problems.play(learner, rounds[:60])
    waiting = [learner.decide(x) for x, _ in rounds[60:64]] if late else []
    learner.act(1)
    learner.save(tmp_path / "learner")
    twin = hn.load(tmp_path / "learner")
    for each in (learner, twin):
        for decision, (_, losses) in zip(waiting[::-1], rounds, strict=False):
            each.update(losses, decision=decision.id)
        each.update(rounds[64][1])
    assert problems.play(learner, rounds[65:]) == problems.play(twin, rounds[65:])
    assert learner.certificate() == twin.certificate()
    assert learner.oracle_calls == twin.oracle_calls


def test_fresh_learners_keep_the_complexity_and_change_the_seed():
    learner = hn.AdaptiveDiscount(SMALL, seed=0)
    problems.play(learner, game(20))
    twin = learner.fresh(1)
    assert twin.seed != learner.seed
    assert twin._leader.found is learner._leader.found is not None
    assert twin.rounds == 0


def test_it_has_few_attributes():
    learner = hn.AdaptiveDiscount(SMALL, seed=0)
    problems.play(learner, game(20))
    assert len(vars(learner)) <= 30


BAD = [[0.0, 1.5, 0.0], [0.0, -0.1, 0.0], [0.0, np.nan, 0.0], [0.0, 0.0], [], None, "abc"]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_refused_losses_change_nothing(bad):
    learner, twin = (hn.AdaptiveDiscount(SMALL, seed=0) for _ in "ab")
    for each in (learner, twin):
        problems.play(each, game(30))
        each.act(1)
    with pytest.raises(hn.HannanError):
        learner.update(bad)
    for each in (learner, twin):
        each.update([0.0, 1.0, 1.0])
    assert problems.play(learner, game(60)[30:]) == problems.play(twin, game(60)[30:])
    assert learner.certificate() == twin.certificate()


@pytest.mark.parametrize(
    "discounts", [(), (0.0,), (1.1,), (1.0, 1.0), (1, 1.0), 0.9, ("0.9",), (True,), (math.nan,)]
)
def test_discounts_outside_their_range_are_refused(discounts):
    with pytest.raises(hn.ParameterError, match="'discounts' parameter of AdaptiveDiscount"):
        hn.AdaptiveDiscount(SMALL, discounts=discounts)


def test_classes_that_change_themselves_and_loss_functions_are_refused():
    with pytest.raises(hn.ParameterError, match=r"changes with time\. Use ContextFTPL"):
        hn.AdaptiveDiscount(hn.oracles.Switching(EXPERTS, 1, sequence=20))
    with pytest.raises(hn.InputTypeError, match="takes a policy class"):
        hn.AdaptiveDiscount([[0], [1]])
    learner = hn.AdaptiveDiscount(hn.oracles.Submodular(3), loss_range=(0, 3), seed=0)
    learner.act()
    with pytest.raises(hn.LossError, match="loss for each element"):
        learner.update(hn.losses.ConcaveOfCardinality([0.0, 1.0, 1.5, 1.5]))
    learner.update([0.1, 0.2, 0.3])


# hn.experts ---------------------------------------------------------------------------------------


def test_experts_takes_a_class_a_table_or_a_number():
    assert hn.experts(SMALL, seed=4).oracle is SMALL
    assert hn.experts(ROWS, seed=4).oracle.table.tolist() == ROWS
    plain = hn.experts(10, seed=4, loss_range=(0.0, 5.0))
    assert plain.action_count == plain.oracle.n_policies == 10
    assert plain.loss_range == (0.0, 5.0)
    assert plain.seed == 4
    assert plain.act() in range(10)
    plain.update(np.linspace(0.0, 5.0, 10))
    listed = hn.experts(range(4))
    assert listed.oracle.table.tolist() == [[0], [1], [2], [3]]


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, None, "abc"])
def test_experts_refuses_what_is_no_number_of_experts(bad):
    with pytest.raises(hn.HannanError, match="'policies' parameter of experts"):
        hn.experts(bad)


# A predictor as one more base ---------------------------------------------------------------------


class Oracled:
    """Knows the losses, or the opposite of them."""

    def __init__(self, rounds, wrong=False):
        self.rounds, self.wrong, self.t = rounds, wrong, 0
        self.seen = []

    def predict(self, context):
        losses = self.rounds[self.t][1]
        return 1.0 - losses if self.wrong else losses

    def learn(self, context, action, loss):
        self.t += 1
        self.seen.append((np.asarray(action).tolist(), np.asarray(loss).tolist()))


def test_a_good_predictor_is_followed_and_a_bad_one_costs_little():
    rounds = game(600)
    total = {}
    for name, predictor in (
        ("none", None),
        ("good", Oracled(rounds)),
        ("bad", Oracled(rounds, wrong=True)),
    ):
        learner = hn.AdaptiveDiscount(SMALL, predictor=predictor, seed=0)
        total[name] = 0.0
        for x, losses in rounds:
            total[name] += losses[learner.act(x)]
            learner.update(losses)
    least = sum(losses.min() for _, losses in rounds)
    assert total["good"] < least + 10.0
    assert total["bad"] < total["none"] + 25.0
    assert total["none"] > least + 30.0
    assert learner.base_losses["predictor"] > total["none"]


def test_a_predictor_is_shown_what_was_available():
    rounds = game(5)
    predictor = Oracled(rounds)
    learner = hn.AdaptiveDiscount(SMALL, predictor=predictor, seed=0)
    for x, losses in rounds[:3]:
        assert learner.act(x, available=[0, 2]) in (0, 2)
        learner.update(losses)
    assert [action for action, _ in predictor.seen] == [[0, 2]] * 3
    assert predictor.seen[1][1] == rounds[1][1][[0, 2]].tolist()


def test_propensities_count_the_predictor():
    rounds = game(60)
    learner = hn.AdaptiveDiscount(
        hn.oracles.AllPolicies(3, 3), predictor=hn.predictors.Mean(alpha=0.0), seed=0
    )
    for x, losses in rounds:
        learner.act(x)
        learner.update(losses)
    distribution = learner.propensities(1).probabilities
    played = np.bincount(learner.would_play(1, copies=4000), minlength=3) / 4000
    np.testing.assert_allclose(played, distribution, atol=0.04)
    assert distribution.sum() == pytest.approx(1.0)


def test_a_predictor_for_sets_is_refused():
    with pytest.raises(hn.ParameterError, match="single actions"):
        hn.AdaptiveDiscount(SLATES, predictor=hn.predictors.Mean())


@pytest.mark.slow
def test_experts_on_rows_learn_rare_and_expensive_events():
    # Passing a fraud costs 50, blocking a good payment 2: least squares alone nearly always passes.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) / 2.0
    score = X @ rng.normal(size=4)
    fraud = score > np.quantile(score, 0.97)
    losses = np.where(fraud[:, None], [1.0, 0.0], [0.0, 0.04])
    cost = {}
    for name, learner in (
        ("plain", hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)),
        ("experts", hn.experts(hn.oracles.LinearPolicies(2), discounts=(1.0, 0.99), seed=0)),
    ):
        cost[name] = 0.0
        for x, row in zip(X, losses, strict=True):
            cost[name] += row[learner.act(x)]
            learner.update(row)
    assert cost["experts"] < 0.7 * cost["plain"]
