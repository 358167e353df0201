"""What `regret_bound` promises is kept, and nothing is promised where no theorem speaks."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.baselines import (
    AdaNormalHedge,
    Exp4,
    FixedShare,
    FollowTheLeader,
    Hedge,
    KalaiVempala,
    OptimisticHedge,
    UniformRandom,
)
from tests import naive, problems
from tests.for_each import for_each
from tests.thinning import in_turn

D, K, SEEDS, MARKS = 4, 3, 10, (10, 50, 300)
ORACLE = hn.oracles.FinitePolicies(
    np.random.default_rng(0).integers(0, K, size=(12, D)), n_actions=K
)
SETS = hn.oracles.Subsets(5, 2)
WORLDS = (hn.environments.PlantedPolicy, hn.environments.LeaderPunisher)
JUMPY = hn.detectors.Bernstein(delta=0.3, minimum=16)


def ftpl(oracle=ORACLE, **options):
    return hn.ContextFTPL(oracle, **options)


def semi(oracle=ORACLE, **options):
    return hn.ContextSemiBanditFTPL(oracle, **options)


PROMISING = {
    "self-tuned": lambda s: ftpl(seed=s),
    "self-tuned, eager": lambda s: ftpl(epsilon=hn.SelfTuned(3.0), seed=s),
    "self-tuned, cautious": lambda s: ftpl(epsilon=hn.SelfTuned(0.3), seed=s),
    "separator": lambda s: ftpl(separator=range(D), seed=s),
    "any losses": lambda s: ftpl(loss_range=None, seed=s),
    "theorem": lambda s: ftpl(epsilon="theorem", horizon=MARKS[-1], seed=s),
    "fixed": lambda s: ftpl(epsilon=0.3, seed=s),
    "anytime": lambda s: ftpl(epsilon="anytime", seed=s),
    "predictor": lambda s: ftpl(predictor=hn.predictors.Last(), seed=s),
    "sets": lambda s: ftpl(SETS, seed=s),
    "own solver": lambda s: ftpl(
        hn.oracles.FunctionOracle(naive.solver(ORACLE.table.tolist())), contexts=range(D), seed=s
    ),
    "bandit": lambda s: semi(seed=s),
    "bandit, separator": lambda s: semi(separator=range(D), seed=s),
    "bandit, exact": lambda s: semi(hn.oracles.AllPolicies(D, K), seed=s),
    "bandit, limit": lambda s: semi(max_resamples=9, seed=s),
    "bandit, sets": lambda s: semi(SETS, seed=s),
    "bandit, theorem": lambda s: semi(epsilon="theorem", horizon=MARKS[-1], seed=s),
    "bandit, fixed": lambda s: semi(epsilon=0.1, seed=s),
    "bandit, anytime": lambda s: semi(epsilon="anytime", seed=s),
    "hints": lambda s: semi(predictor=hn.predictors.Mean(), seed=s),
    "hints, exact": lambda s: semi(
        hn.oracles.AllPolicies(D, K), predictor=hn.predictors.Mean(), seed=s
    ),
    "Tsallis": lambda s: hn.TsallisINF(hn.oracles.AllPolicies(D, K), seed=s),
    "Tsallis, hints": lambda s: hn.TsallisINF(
        hn.oracles.AllPolicies(D, K), predictor=hn.predictors.Mean(), seed=s
    ),
    "Exp3-IX": lambda s: hn.Exp3IX(hn.oracles.AllPolicies(D, K), seed=s),
    "Exp3-IX, hints": lambda s: hn.Exp3IX(
        hn.oracles.AllPolicies(D, K), predictor=hn.predictors.Mean(), seed=s
    ),
    "hints, limit": lambda s: semi(
        predictor=hn.predictors.Mean(), max_resamples=9, epsilon=hn.SelfTuned(2.0), seed=s
    ),
    "restarts": lambda s: hn.Restarting(ftpl(seed=s), JUMPY, max_restarts=2),
    "restarts, bandit": lambda s: hn.Restarting(semi(seed=s), JUMPY, max_restarts=2),
    "restarts, hints": lambda s: hn.Restarting(
        semi(predictor=hn.predictors.Mean(), seed=s), JUMPY, max_restarts=2
    ),
    "restarts, fixed": lambda s: hn.Restarting(ftpl(epsilon=0.3, seed=s), JUMPY),
    "restarts, Hedge": lambda s: hn.Restarting(Hedge(ORACLE, seed=s), JUMPY),
    "strongly adaptive": lambda s: hn.StronglyAdaptive(ftpl(seed=s), seed=s),
    "restarts, adaptive discount": lambda s: hn.Restarting(
        hn.AdaptiveDiscount(ORACLE, seed=s), JUMPY, max_restarts=2
    ),
    "adaptive discount": lambda s: hn.AdaptiveDiscount(ORACLE, seed=s),
    "not discounted": lambda s: hn.Discounted(ftpl(seed=s), 1.0),
    "Hedge": lambda s: Hedge(ORACLE, seed=s),
    "Hedge, fixed": lambda s: Hedge(ORACLE, learning_rate=0.2, seed=s),
    "Exp4": lambda s: Exp4(ORACLE, seed=s),
    "Exp4, fixed": lambda s: Exp4(ORACLE, learning_rate=0.1, seed=s),
    "FixedShare": lambda s: FixedShare(ORACLE, seed=s),
    "FixedShare, switches": lambda s: FixedShare(ORACLE, switches=3, seed=s),
    "FixedShare, tuned": lambda s: FixedShare(ORACLE, horizon=MARKS[-1], switches=3, seed=s),
    "FixedShare, fixed": lambda s: FixedShare(ORACLE, learning_rate=0.2, seed=s),
    "FixedShare, share": lambda s: FixedShare(ORACLE, learning_rate=0.2, share=0.05, seed=s),
    "AdaNormalHedge": lambda s: AdaNormalHedge(ORACLE, seed=s),
    "AdaNormalHedge, prior": lambda s: AdaNormalHedge(ORACLE, prior=range(1, 13), seed=s),
    "OptimisticHedge": lambda s: OptimisticHedge(ORACLE, seed=s),
    "OptimisticHedge, fixed": lambda s: OptimisticHedge(ORACLE, learning_rate=0.2, seed=s),
    "KalaiVempala": lambda s: KalaiVempala(ORACLE, seed=s),
    "KalaiVempala, tuned": lambda s: KalaiVempala(ORACLE, horizon=MARKS[-1], seed=s),
}


def curves(make, world):
    """Regrets and bounds at the marks, [seeds, marks]."""
    regrets, bounds = [], []
    for seed in range(SEEDS):
        learner, found = make(seed), []

        def note(t, learner=learner, found=found):
            if t in MARKS:
                found.append(learner.regret_bound())

        trace = hn.play(learner, world, MARKS[-1], seed=seed, oracle=world.oracle, progress=note)
        times, curve = trace.regret_curve(10)
        regrets.append(curve[np.isin(times, MARKS)])
        bounds.append(found)
    return np.array(regrets), np.array(bounds)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize(("name", "make_world"), in_turn(PROMISING, WORLDS))
def test_mean_regret_stays_below_the_bound(name, make_world):
    make = PROMISING[name]
    learner = make(0)
    world = make_world(SETS if learner.oracle is SETS else ORACLE)
    regrets, bounds = curves(make, world)
    assert (regrets.mean(axis=0) <= bounds.mean(axis=0)).all()
    if not name.startswith("AdaNormalHedge"):  # there it is the leader's own, and changes with it
        assert (np.diff(bounds, axis=1) >= 0.0).all()
    assert np.isfinite(bounds).all()


# Nothing is promised ------------------------------------------------------------------------

ROWS = np.random.default_rng(1).normal(size=(D, 2))
LINEAR = hn.oracles.LinearPolicies(n_actions=K)


def late(learner):
    """Play with feedback that comes out of order."""
    first, second = learner.decide(0), learner.decide(1)
    learner.update(0.5, decision=second)
    learner.update(0.5, decision=first)
    return learner


def forgetful(learner):
    """Play with feedback that never comes."""
    learner.forget(learner.decide(0))
    return learner


SILENT = {
    "noise once": ftpl(noise="once", epsilon=0.3, seed=0),
    "noise once, self-tuned": ftpl(noise="once", seed=0),
    "inexact oracle": ftpl(LINEAR, contexts=ROWS, seed=0),
    "contexts not declared": ftpl(hn.oracles.Stumps(K), seed=0),
    "a pool": ftpl(hn.oracles.Stumps(K), contexts=hn.Pool(ROWS), seed=0),
    "playout, own size": hn.PlayoutFTPL(ORACLE, [0] * 9, epsilon=0.3),
    "bandit, inexact oracle": semi(LINEAR, contexts=ROWS, seed=0),
    "bandit, contexts not declared": semi(hn.oracles.Stumps(K), seed=0),
    "bandit, hints without limit": semi(
        predictor=hn.predictors.Mean(), trust=hn.Trust(share=1.0), seed=0
    ),
    "Tsallis, late": late(hn.TsallisINF(hn.oracles.AllPolicies(D, K), seed=0)),
    "Tsallis, forgotten": forgetful(hn.TsallisINF(hn.oracles.AllPolicies(D, K), seed=0)),
    "Tsallis, hints without limit": hn.TsallisINF(
        hn.oracles.AllPolicies(D, K),
        predictor=hn.predictors.Mean(),
        trust=hn.Trust(share=1.0),
        seed=0,
    ),
    "bandit, baseline": semi(predictor=hn.predictors.Mean(), trust="baseline", seed=0),
    "bandit, hints at a fixed ε": semi(predictor=hn.predictors.Mean(), epsilon=0.1, seed=0),
    "bandit, late, fixed": late(semi(epsilon=0.1, seed=0)),
    "bandit, forgotten": forgetful(semi(epsilon="anytime", seed=0)),
    "restarts without end": hn.Restarting(ftpl(seed=0)),
    "restarts of a learner of learners": hn.Restarting(
        hn.StronglyAdaptive(ftpl(seed=0), seed=0), max_restarts=2
    ),
    "adaptive discount, restarts without end": hn.Restarting(hn.AdaptiveDiscount(ORACLE, seed=0)),
    "adaptive discount, inexact": hn.AdaptiveDiscount(LINEAR, contexts=ROWS, seed=0),
    "restarts of learners that all forget": hn.Restarting(
        hn.AdaptiveDiscount(ORACLE, discounts=(0.9, 0.5), seed=0), max_restarts=1
    ),
    "restarts, inexact": hn.Restarting(ftpl(LINEAR, contexts=ROWS, seed=0), max_restarts=1),
    "strongly adaptive, inexact": hn.StronglyAdaptive(ftpl(LINEAR, contexts=ROWS, seed=0)),
    "discounted": hn.Discounted(ftpl(seed=0), 0.9),
    "FTPL": hn.FTPL(ORACLE, lambda rng: [(0, rng.laplace(size=K))], seed=0),
    "FollowTheLeader": FollowTheLeader(ORACLE),
    "UniformRandom": UniformRandom(K, seed=0),
    "FixedShare, share": FixedShare(ORACLE, share=0.1, seed=0),
    "FixedShare, all": FixedShare(ORACLE, share=1.0, learning_rate=0.1, seed=0),
}


@for_each("name", SILENT)
def test_nothing_is_promised_where_no_theorem_speaks(name):
    learner = SILENT[name]
    rows = "inexact" in name or learner.oracle is None or learner.oracle.contexts is None
    for t in range(6):
        action = learner.act(ROWS[t % D] if rows else 0)
        losses = np.arange(K) / K
        learner.update(losses if learner.feedback is hn.core.Feedback.FULL else losses[action])
    assert learner.rounds >= 6
    assert learner.regret_bound() is None


# The numbers --------------------------------------------------------------------------------


def after(learner, T=40, losses=(0.0, 1.0, 0.5)):
    problems.play(learner, [(t % D, np.array(losses)) for t in range(T)])
    return learner


def test_self_tuning_has_the_bound_of_its_theorem():
    oracle = hn.oracles.AllPolicies(D, K)  # whose G is known exactly
    G = oracle.complexity(range(D))
    plain = hn.bounds.self_tuned(40, d=D, n_actions=K, complexity=G).value
    assert after(ftpl(oracle, seed=0)).regret_bound() == pytest.approx(plain)
    # ε = eG/D: D + G/ε = (1 + 1/e) D, and D <= sqrt(2 e G V) + R.
    eager = after(ftpl(oracle, epsilon=hn.SelfTuned(4.0), seed=0)).regret_bound()
    assert eager == pytest.approx(1.25 * (math.sqrt(2 * 4 * G * 40) + 1))


def test_a_fixed_epsilon_has_the_bound_of_its_certificate():
    for epsilon in (0.3, "anytime", "theorem"):
        learner = after(ftpl(epsilon=epsilon, horizon=40, seed=0))
        assert learner.regret_bound() == learner.certificate().a_priori
    sizes = {"d": D, "n_actions": K, "log_size": ORACLE.log_size(range(D))}
    assert learner.regret_bound() < hn.bounds.complete_information(40, **sizes).value


def test_a_bandit_at_a_fixed_epsilon_has_the_bound_of_theorem_3():
    oracle = hn.oracles.AllPolicies(D, K)
    learner = semi(oracle, epsilon=0.1, max_resamples=20, resampling="shared", seed=0)
    for t in range(40):
        learner.act(t % D)
        learner.update(0.5)
    bound = hn.bounds.semi_bandit(
        40, d=D, n_actions=K, complexity=oracle.complexity(range(D)), epsilon=0.1,
        max_resamples=20, form="sharp",
    )  # fmt: skip
    assert learner.regret_bound() == pytest.approx(bound.value)


@pytest.mark.parametrize("delay", [0, 3])
def test_an_anytime_bandit_pays_for_what_was_open(delay):
    oracle = hn.oracles.AllPolicies(D, K)
    learner = semi(oracle, epsilon="anytime", max_resamples=20, resampling="shared", seed=0)
    made = []
    for t in range(200):
        made.append(learner.decide(t % D))
        if t >= delay:
            learner.update(0.5, decision=made[t - delay])
    bound = hn.bounds.anytime(
        200, d=D, n_actions=K, complexity=oracle.complexity(range(D)), feedback="bandit",
        max_resamples=20, total_delay=delay * 200,
    )  # fmt: skip
    found = learner.regret_bound()
    if delay:  # against adversaries that react to open rounds, K times the delay counts
        assert bound.value < found < 2 * bound.value
    else:
        assert 0.9 * bound.value < found <= bound.value


def test_restarts_multiply_roots_whether_or_not_they_come():
    oracle = hn.oracles.AllPolicies(D, K)
    G = oracle.complexity(range(D))
    for restarts in (0, 3):
        learner = after(hn.Restarting(ftpl(oracle, seed=0), max_restarts=restarts))
        bound = hn.bounds.self_tuned(40, d=D, n_actions=K, complexity=G, restarts=restarts)
        assert learner.restarts == []
        assert learner.regret_bound() == pytest.approx(bound.value)


def test_the_bounds_of_segments_add_up_where_they_may():
    learner = hn.Restarting(Hedge(ORACLE, seed=0), hn.detectors.Bernstein(delta=0.3, minimum=16))
    for t in range(300):
        learner.act(t % D)
        learner.update(np.eye(K)[t // 100])
    ends = [0, *learner.restarts, 300]
    lengths = np.diff(ends)
    assert len(lengths) > 1
    assert learner.regret_bound() == pytest.approx(
        sum(1.5 * math.sqrt(n * math.log(12) / 2) for n in lengths)
    )


def test_playout_promises_the_whole_game_from_the_start():
    learner = hn.PlayoutFTPL(ORACLE, [t % D for t in range(40)], seed=0)
    bound = hn.bounds.playout(40, log_size=ORACLE.log_size(range(D))).value
    assert learner.regret_bound() == bound
    assert after(learner).regret_bound() == bound
    gambler = hn.PlayoutBandit(ORACLE, [0] * 40, seed=0)
    log_size = ORACLE.log_size([0])
    bandit = hn.bounds.playout_bandit(40, n_actions=K, log_size=log_size)
    assert gambler.regret_bound() == pytest.approx(bandit.value)


def test_hints_have_the_bound_of_their_budget():
    oracle = hn.oracles.AllPolicies(D, K)
    learner = semi(oracle, predictor=hn.predictors.Mean(), seed=0)
    for t in range(40):
        learner.act(t % D)
        learner.update(0.5)
    G = oracle.complexity(range(D))
    sizes = {"d": D, "n_actions": K, "complexity": G, "start": 1.0}
    bound = hn.bounds.hinted(40, **sizes, known_distribution=True)
    assert learner.regret_bound() == pytest.approx(bound.value)
    trust = hn.Trust(budget=1.5, share=0.5)
    options = {"predictor": hn.predictors.Mean(), "trust": trust, "max_resamples": 9}
    drawn = semi(oracle, **options, resampling=2, seed=0)
    for t in range(40):
        drawn.act(t % D)
        drawn.update(0.5)
    bound = hn.bounds.hinted(40, **sizes, budget=1.5, share=0.5, max_resamples=9)
    assert drawn.regret_bound() == pytest.approx(bound.value)


@pytest.mark.parametrize("restarts", [None, 3])
def test_tsallis_has_the_bound_of_its_theorem(restarts):
    oracle = hn.oracles.AllPolicies(D, K)
    for trust, constant, c in ((None, 4.0, 0.0), (hn.Trust(budget=2.0, share=0.75), 4.67, 2.0)):
        options = {} if trust is None else {"predictor": hn.predictors.Mean(), "trust": trust}
        learner = hn.TsallisINF(oracle, seed=0, loss_range=(0.0, 2.0), **options)
        if restarts is not None:
            learner = hn.Restarting(learner, max_restarts=restarts)
        for t in range(40):
            learner.act(t % D)
            learner.update(0.5)
        games, W = (restarts or 0) + 1, 40 if trust is None else 160
        G = oracle.complexity(range(D))
        root = constant * math.sqrt(D * K * W * games) + c * math.sqrt(G * 40 * games)
        assert learner.regret_bound() == pytest.approx(2.0 * root)


@pytest.mark.parametrize(
    ("learner", "bound"),
    [
        (Hedge(ORACLE), 1.5 * math.sqrt(40 * math.log(12) / 2)),
        (Hedge(ORACLE, loss_range=(-1, 2)), 4.5 * math.sqrt(40 * math.log(12) / 2)),
        (Hedge(ORACLE, learning_rate=0.1), 10 * math.log(12) + 0.1 * 40 / 8),
        (FixedShare(ORACLE, switches=2), math.sqrt(2 * 3 * 40 * math.log(12 * 40))),
        (FixedShare(ORACLE, learning_rate=0.1), 10 * math.log(12 * 40) + 0.1 * 40 / 8),
        # The first guess is constant and the others are right: one error of width 1, and V = 2.
        (OptimisticHedge(ORACLE), math.sqrt(5 * math.log(12))),
        (OptimisticHedge(ORACLE, learning_rate=0.1), 10 * math.log(12) + 0.1 / 8),
    ],
    ids=["Hedge", "width", "fixed", "share", "share, fixed", "optimistic", "optimistic, fixed"],
)
def test_weights_over_listed_policies_have_the_bounds_they_document(learner, bound):
    assert after(learner).regret_bound() == pytest.approx(bound)


@pytest.mark.parametrize("rate", [None, 0.1])
def test_exp4_has_the_bound_it_documents(rate):
    learner = Exp4(ORACLE, learning_rate=rate, loss_range=(0.0, 2.0), seed=0)
    for t in range(40):
        learner.act(t % D)
        learner.update(1.0)
    tuned = 2 * 2 * math.sqrt(40 * K * math.log(12))
    fixed = 10 * math.log(12) + 0.1 * 40 * K * 4 / 2
    assert learner.regret_bound() == pytest.approx(tuned if rate is None else fixed)


def test_ada_normal_hedge_has_the_bound_of_the_policy_that_leads():
    # From weights 1/4 and 3/4 a loss of (0, 1) makes regrets of 3/4 and -1/4.
    learner = AdaNormalHedge([[0], [1]], prior=[1, 3], seed=0)
    problems.play(learner, [(0, np.array([0.0, 1.0]))])
    B = 1 + 1.5 * (1 + math.log(1.75) / 4 + 3 * math.log(1.25) / 4)
    assert learner.regret_bound() == pytest.approx(math.sqrt(3 * 0.75 * math.log(4 * B)))


def test_a_mixture_of_copies_pays_for_the_one_without_end_and_for_mixing():
    oracle = hn.oracles.AllPolicies(D, K)
    learner = after(hn.StronglyAdaptive(ftpl(oracle, seed=0), shortest=4, seed=0))
    slack = 2 * math.log(2.3 * 40 / 4) + math.log(2.5 + 1.5 * math.log(41))
    expected = after(ftpl(oracle, seed=0)).regret_bound() + math.sqrt(3 * 40 * slack)
    assert learner.regret_bound() == pytest.approx(expected)


def test_fixed_share_pays_for_what_sharing_took():
    # Weights 1/2; a share of 1/2 leaves the policy that is right half of its weight each round.
    learner = FixedShare([[0], [1]], share=0.5, learning_rate=2.0, seed=0)
    problems.play(learner, [(0, np.array([0.0, 1.0]))] * 3)
    assert learner.regret_bound() == pytest.approx(3 * math.log(2) / 2 + 2 * 3 / 8)


@for_each("name", PROMISING)
def test_before_any_round_nothing_can_be_lost(name):
    assert PROMISING[name](0).regret_bound() == 0.0


@for_each("name", [*PROMISING])
def test_asking_changes_nothing(name):
    learner, silent = PROMISING[name](0), PROMISING[name](0)
    d, n = (1, 5) if learner.oracle is SETS else (D, K)
    for context, losses in problems.rounds(d, n, 40):
        context = None if learner.oracle is SETS else context
        actions = learner.act(context), silent.act(context)
        assert np.array_equal(*actions)
        full = learner.feedback is hn.core.Feedback.FULL
        before = learner.oracle_calls
        learner.regret_bound()
        assert learner.oracle_calls == before
        for each, action in zip((learner, silent), actions, strict=True):
            each.update(losses if full else losses[action])
    assert learner.oracle_calls == silent.oracle_calls
    assert learner.regret_bound() == silent.regret_bound()


MIXED = hn.oracles.FinitePolicies([[0, 0], [1, 1], [2, 0]], n_actions=3)


def mixed_bound(epsilon, contexts, resampling="auto"):
    """Know the distribution on context 0, where weights are exact; draw them on context 1."""
    options = {"separator": [0], "epsilon": epsilon, "max_resamples": 9, "resampling": resampling}
    learner = semi(MIXED, seed=0, **options)
    for context in contexts:
        learner.act(context)
        learner.update(1.0)
    return learner.regret_bound()


@pytest.mark.parametrize("epsilon", [0.5, "adaptive", "anytime"])
@pytest.mark.parametrize("when", [20, 39])
def test_a_bound_knows_that_weights_were_drawn_whenever_they_were(epsilon, when):
    contexts = [int(t == when) for t in range(40)]
    drawn = mixed_bound(epsilon, contexts, hn.Resampling(2, exact=False))
    mixed, exact = mixed_bound(epsilon, contexts), mixed_bound(epsilon, [0] * 40)
    assert exact < mixed
    if epsilon == "anytime":  # a sum over rounds, which profits from those that were exact
        assert mixed < drawn
    else:
        assert mixed == pytest.approx(drawn)


def test_a_successor_knows_that_weights_were_drawn_before_it():
    learner = semi(MIXED, separator=[0], epsilon=0.5, seed=0)
    learner.decide(1)
    successor = learner.fresh(1)
    successor.decide(0)
    assert successor._resampling.second_moment > 1.0
    assert learner.clone()._resampling.known is None
