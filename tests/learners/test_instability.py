"""What a round cost by instability: leaders compared under one draw, or in distribution."""

import inspect
import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.core.availability import substitution
from hannan.core.oracle import Draw
from hannan.learners import context_semi_bandit_ftpl as learner_file
from hannan.learners.context_set import ContextSet
from hannan.learners.importance_weights import Measured, measure
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles.finite_policies import FiniteObjective
from hannan.perturbation import seed_key
from tests import problems

D, K = 3, 3
SCALE = 1.2


def leader_of(kind, seed):
    oracle, _ = problems.make(kind, d=D, K=K, N=9, seed=seed)
    X = ContextSet("a test", oracle, range(D), None, seed_key(seed))
    total = problems.total(oracle, problems.rounds(D, K, 6, seed=seed))
    leader = PerturbedLeader(oracle, X, total, seed_key(seed), 0, 2**20, nonnegative=True)
    leader.put_noise()
    return leader


def opened_round(available=None):
    opened = hn.ContextSemiBanditFTPL.Round(1)
    if available is not None:
        opened.plays = substitution(np.array(available), available[0], K)
    return opened


def measured(leader, opened, draw, residual, *, exact=False, signed=False, add=False):
    resampling, baseline = hn.Resampling(2, exact), opened.baseline
    if opened.action == -1:
        opened.action = int(np.abs(residual).argmax())
    changes = baseline, residual, residual if baseline is None else baseline + residual
    return measure(leader, resampling, opened, draw, changes, signed=signed, add=add)


def with_round(total, losses):
    """An independent copy with one more round."""
    twin = total.copy()
    twin.add(1, losses)
    return twin


CASES = [
    pytest.param(kind, seed, baseline, id=f"{kind}-{seed}-{baseline}")
    for kind in problems.KINDS
    for seed in range(4)
    for baseline in (False, True)
]


@pytest.mark.parametrize(("kind", "seed", "baseline"), CASES)
@pytest.mark.parametrize("exact", [False, None])
def test_measured_by_totals_that_share_a_place_as_by_independent_ones(kind, seed, baseline, exact):
    """With a baseline totals are asked with two rounds in turn, which they note in one place."""
    rng = np.random.default_rng([seed, baseline])
    leader, opened = leader_of(kind, seed), opened_round()
    if baseline:
        opened.baseline = rng.random(K)
    often = leader.total.action(1, Draw(leader.noise, 0, SCALE))
    residual = np.where(np.arange(K) == often, 5.0, 0.0)
    estimate = residual + (opened.baseline if baseline else 0.0)
    unrest = 0.0
    for n in range(25):
        draw = Draw(leader.noise, n, SCALE)
        before = leader.total.minima()[0]
        found = measured(leader, opened, draw, residual, exact=exact)
        assert leader.total.minima()[0] == before
        assert not found.added

        calm = with_round(leader.total, opened.baseline) if baseline else leader.total.copy()
        after = with_round(leader.total, estimate)
        if kind == "AllPolicies" and exact is None:
            q, later = (
                each.distribution(1, Draw(leader.noise, 0, SCALE)) for each in (calm, after)
            )
            expected = max(0.0, float(residual @ (q - later)))
            assert found.draws == 0
        else:
            choice, later = (each.action(1, draw) for each in (calm, after))
            expected = max(0.0, residual[choice] - residual[later])
            assert found.draws == 1
        assert found.instability == pytest.approx(expected)
        unrest += found.instability
    assert unrest > 0.0


@pytest.mark.parametrize("kind", problems.KINDS)
def test_adding_on_the_way_measures_the_same(kind):
    for n in range(20):
        one, other = leader_of(kind, 1), leader_of(kind, 1)
        residual = np.array([0.0, 2.0, 0.0])
        found = [
            measured(each, opened_round(), Draw(each.noise, n, SCALE), residual, add=add)
            for each, add in ((one, False), (other, True))
        ]
        assert found[0].instability == found[1].instability
        assert found[0].calls == found[1].calls
        expected = with_round(one.total, residual) if found[1].added else one.total
        assert other.total.minima() == expected.minima()


def test_no_second_leader_is_asked_where_the_first_suffers_nothing():
    leader = leader_of("FunctionOracle", 0)
    draw = Draw(leader.noise, 0, SCALE)
    choice = leader.total.action(1, draw)
    residual = np.where(np.arange(K) == choice, 0.0, 1.0)
    found = measured(leader, opened_round(), draw, residual, add=True)
    assert found == Measured(0.0, 1, 1)
    # Signed estimates may be negative elsewhere, so that the new leader can gain.
    signed = np.where(np.arange(K) == choice, 0.0, -50.0)
    found = measured(leader, opened_round(), draw, signed, signed=True)
    assert (found.instability, found.calls, found.draws) == (50.0, 2, 1)


def test_where_scores_decide_leaders_are_compared_among_what_is_available():
    leader, opened = leader_of("AllPolicies", 2), opened_round([0, 2])
    residual = np.array([3.0, 0.0, 0.0])
    compared = 0.0
    for n in range(30):
        draw = Draw(leader.noise, n, SCALE)
        found = measured(leader, opened, draw, residual)
        scores = leader.total.totals[1] + SCALE * leader.noise.unit(n)[1]
        before = min((0, 2), key=lambda b: scores[b])
        after = min((0, 2), key=lambda b: scores[b] + residual[b])
        assert found.instability == residual[before] - residual[after]
        compared += found.instability
    assert compared > 0.0


@pytest.mark.parametrize("epsilon", ["adaptive", 0.3])
@pytest.mark.parametrize("trust", ["earned", "baseline", hn.Trust(1.0, baseline="prediction")])
def test_hints_and_baselines_of_a_game_are_measured_as_with_independent_totals(trust, epsilon):
    """The whole learner, with a class that notes one more round in one place, and with copies."""
    copies = []

    def by_copies(ask):
        def asked(*given):
            call = inspect.signature(ask).bind(*given).arguments
            plus = call.pop("plus", None)
            if plus is not None:
                call["self"] = call["self"].copy()
                call["self"].add(call["context"], plus)
                copies.append(call["self"])
            return ask(**call)

        return asked

    class Copying(hn.oracles.FinitePolicies):
        def objective(self):
            total = super().objective()
            total.__class__ = CopyingTotal
            return total

    class CopyingTotal(FiniteObjective):
        action = by_copies(FiniteObjective.action)
        chosen = by_copies(FiniteObjective.chosen)
        distribution = by_copies(FiniteObjective.distribution)
        lesson = by_copies(FiniteObjective.lesson)
        weights = by_copies(FiniteObjective.weights)

    rows = np.random.default_rng(0).integers(3, size=(12, 3))
    rng = np.random.default_rng(1)
    rounds = [(int(rng.integers(3)), rng.random(3)) for _ in range(80)]
    seen = []
    for oracle in (hn.oracles.FinitePolicies, Copying):
        learner = hn.ContextSemiBanditFTPL(
            oracle(rows, n_actions=3),
            epsilon=epsilon,
            predictor=hn.predictors.Mean(),
            trust=trust,
            seed=0,
        )
        found = []
        for context, losses in rounds:
            action = learner.act(context)
            learner.update(float(losses[action]))
            found.append((action, learner.hint.S, learner.step.scale))
        seen.append(found)
    assert seen[0] == seen[1]
    assert copies
    assert trust == "baseline" or seen[0][-1][1] != 0.0


@pytest.mark.parametrize(
    ("kind", "resampling"),
    [
        *itertools.product(
            ["all", "listed", "one context", "separator", "thresholds"],
            ["auto", "conditional", "rao-blackwell"],
        ),
        ("all", "exact"),
        ("one context", "exact"),
    ],
)
def test_rounds_are_the_same_where_weights_and_instability_are_found_apart(
    monkeypatch, kind, resampling
):
    rng = np.random.default_rng(2)
    listed = hn.oracles.FinitePolicies(rng.integers(3, size=(40, 4)), n_actions=3)
    oracle, given = {
        "all": (hn.oracles.AllPolicies(4, 3), {}),
        "listed": (listed, {}),
        "one context": (hn.oracles.FinitePolicies([[0], [1], [2]]), {}),
        # The distribution is known on the context that carries the noise, and nowhere else.
        "separator": (hn.oracles.FinitePolicies([[0, 2], [1, 0], [2, 1]]), {"separator": [0]}),
        "thresholds": (hn.oracles.Thresholds(3), {"contexts": [0, 1, 2, 3]}),
    }[kind]

    def game():
        learner = hn.ContextSemiBanditFTPL(oracle, seed=1, resampling=resampling, **given)
        contexts = {"one context": 1, "separator": 2}.get(kind, 4)
        draws, played = np.random.default_rng(3), []
        for t in range(150):
            played.append(learner.act(int(draws.integers(contexts))))
            learner.update(float(draws.random() < 0.6) * (0.2 + 0.3 * played[-1]))
            if t % 40 == 39:  # others wait, and are overtaken
                some = learner.decide_many([0] * 3)
                for decision in reversed(some):
                    learner.update(0.5, decision=decision)
        account = learner._account
        sums = account.loss, account.stability, account.truncation, learner.step.D
        return played, sums, learner.oracle_calls, learner.leader.number

    together = game()
    asked = []
    monkeypatch.setattr(learner_file, "weigh_and_measure", lambda *given: asked.append(given))
    assert game() == together
    assert len(asked) > 30
