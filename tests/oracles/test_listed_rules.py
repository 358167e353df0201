"""Rules over any contexts and any actions."""

import math

import numpy as np
import pytest
from benchmarks.rules import rule_game

import hannan as hn
from hannan.core.oracle import Draw
from hannan.core.storage import reread
from hannan.perturbation import seed_key
from hannan.perturbation.laplace import mean_of_maximum
from tests.described import RULES, first, last, menus

ORACLE = hn.oracles.ListedRules(RULES)
CONTRACT = {"ListedRules": (ORACLE, [hn.Menu("any", menu.rows) for menu in menus(6)])}


def test_rules_choose_or_score():
    menu = ORACLE.check_context(hn.Menu("x", [[3.0, 1.0], [1.0, 2.0], [2.0, 9.0]]))
    assert menu.choices.tolist() == [0, 2, 1, 2]


def test_each_rule_is_asked_once_in_a_round():
    asked = []

    def counting(context, actions):
        asked.append(context)
        return 0

    oracle = hn.oracles.ListedRules([counting, last])
    learner = hn.Restarting(hn.ContextSemiBanditFTPL(oracle, seed=0))
    for t in range(20):
        decision = learner.decide(t, actions=[[1.0], [2.0]])
        learner.act(f"other {t}", actions=[[1.0], [2.0], [3.0]])
        learner.update(0.5)
        learner.update(0.5, decision=decision)
    assert len(asked) == 40


@pytest.mark.stat
def test_the_law_is_that_of_the_draws():
    total = ORACLE.objective()
    total.totals[:] = [0.0, 0.3, 1.0, -0.4]
    noise = ORACLE.noise(ORACLE.contexts, seed_key(3), 0, 0)
    for menu in map(ORACLE.check_context, menus(3, 5)):
        distribution = total.distribution(menu, Draw(noise, 0, 1.3))
        draws = total.chosen(menu, Draw(noise, 0, 1.3), 20_000).mean(axis=0)
        assert np.abs(distribution - draws).max() < 5 * 0.5 / math.sqrt(
            20_000
        )  # five standard errors


@pytest.mark.stat
def test_complexity_is_the_mean_of_the_largest_number():
    noise = ORACLE.noise(ORACLE.contexts, seed_key(0), 0, 0)
    found = np.mean([noise.numbers(draw).max() for draw in range(20_000)])
    assert ORACLE.complexity(ORACLE.contexts) == pytest.approx(mean_of_maximum(4))
    assert found == pytest.approx(mean_of_maximum(4), abs=0.05)


def test_a_rule_stays_in_front_once_its_own_number_is_shifted():
    """The shift lemma with κ = 1, exactly."""
    rng, N = np.random.default_rng(0), len(RULES)
    for menu in map(ORACLE.check_context, menus(50, 7)):
        numbers, totals, losses = rng.laplace(size=N), rng.normal(size=N), rng.random(len(menu))
        leader = int((totals + numbers).argmin())
        numbers[leader] -= losses[menu.choices[leader]]
        assert int((totals + losses[menu.choices] + numbers).argmin()) == leader


@pytest.mark.parametrize("answer", [2, -1, 0.5, [1.0], [1.0, float("nan")], "x", None, True])
def test_a_rule_that_answers_badly_is_named_and_nothing_changes(answer):
    bad = {"now": False}

    def moody(context, actions):
        return answer if bad["now"] else 0

    oracle = hn.oracles.ListedRules([first, moody])
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    twin = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for t in range(10):
        bad["now"] = True
        with pytest.raises(hn.ContextError, match=r"Rule 1 \(moody\)"):
            learner.act(t, actions=[[1.0], [2.0]])
        bad["now"] = False
        for one in (learner, twin):
            one.act(t, actions=[[1.0], [2.0]])
            one.update(0.3)
    assert learner.certificate() == twin.certificate()


def test_rules_cannot_write_into_the_actions():
    def vandal(context, actions):
        actions[:] = 0.0
        return 0

    with pytest.raises(ValueError, match="read-only"):
        hn.oracles.ListedRules([first, vandal]).check_context(hn.Menu(None, [[1.0]]))


@pytest.mark.parametrize("rules", [[first], "rules", 3, [first, 3]])
def test_rules_are_two_functions_at_least(rules):
    with pytest.raises(hn.ParameterError, match="rules"):
        hn.oracles.ListedRules(rules)


@pytest.mark.parametrize("option", [{"contexts": [0]}, {"separator": [0]}])
def test_noise_is_on_the_rules_themselves(option):
    with pytest.raises(hn.ParameterError, match="any context"):
        hn.ContextSemiBanditFTPL(ORACLE, **option)


def test_open_rounds_survive_a_file():
    learner = hn.ContextSemiBanditFTPL(ORACLE, seed=0)
    decisions = [
        learner.decide(f"visitor {i}", actions=menu.rows) for i, menu in enumerate(menus(9))
    ]
    for decision in decisions[:6]:
        learner.update(0.7, decision=decision.id)
    twin = reread(learner)
    for one in (learner, twin):
        for decision in decisions[6:]:
            one.update(0.2, decision=decision.id)
    assert twin.certificate() == learner.certificate()
    assert twin.act("x", actions=[[1.0, 2.0]] * 3) == learner.act("x", actions=[[1.0, 2.0]] * 3)


@pytest.mark.parametrize("seed", range(3))
def test_regret_stays_below_the_bound_and_the_certificate(seed):
    regret, bound = rule_game(seed, 600)
    assert regret < bound


def test_late_losses_keep_the_bound():
    learner = hn.ContextSemiBanditFTPL(ORACLE, seed=0)
    waiting = [learner.decide(t, actions=menu.rows) for t, menu in enumerate(menus(30))]
    for decision in reversed(waiting):
        learner.update(0.4, decision=decision)
    assert learner.regret_bound() is not None
    assert learner.certificate().stability_estimate is not None
