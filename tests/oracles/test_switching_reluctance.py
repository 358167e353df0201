"""What a self-tuned learner charges itself for a switch."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw, losses_alone, preference_of
from hannan.perturbation import seed_key
from tests import naive_switching as naive
from tests.oracles.test_switching import BASES, METHODS, members, rounds, value

T = 5


def started(oracle, history, width=1.0):
    contexts = oracle.check_contexts([context for context, _ in history])
    total = oracle.start(contexts, width)
    for context, losses in history:
        total.add(context, losses)
    return total, contexts


@pytest.mark.parametrize(("name", "method"), METHODS)
@pytest.mark.parametrize("price", [0.5, 2.0])
@pytest.mark.parametrize("grid", [1, 2])
def test_a_total_with_a_price_is_led_by_the_best_sequence_at_that_price(name, method, price, grid):
    oracle = hn.oracles.Switching(BASES[name], 2, method=method, grid=grid, reluctance=price)
    policies = members(BASES[name])
    cells = -(-T // grid)
    for seed in range(4):
        history = rounds(oracle, T, np.random.default_rng(seed))
        total, contexts = started(oracle, history)
        noise = oracle.noise(contexts, seed_key(seed), 0, 2**20)
        for scale in (0.0, 1.3):
            faked = history + (naive.fakes(Draw(noise, 4, scale)) if scale else [])
            table = naive.costs(policies, faked, cells, grid)
            sequence, least = naive.best(table, 2, price)
            assert total.minima(Draw(noise, 4, scale), 1)[0] == pytest.approx(least, abs=1e-6)
            leader = total.leaders(Draw(noise, 4, scale), 1)[0]
            paid = value(leader, faked) + price * len(leader.switches)
            assert paid == pytest.approx(least, abs=1e-6)
            for context in contexts:
                action = total.action(context, Draw(noise, 4, scale))
                np.testing.assert_array_equal(action, leader(context))
                if method == "policies":
                    expected = policies[sequence[context[0] // grid]](context[1])
                    np.testing.assert_array_equal(action, expected)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_the_plain_total_and_the_oracle_know_no_price(name, method):
    oracle = hn.oracles.Switching(BASES[name], 2, method=method, reluctance=1.5)
    history = rounds(oracle, T, np.random.default_rng(0))
    total, _ = started(oracle, history)
    free = oracle.objective()
    for context, losses in history:
        free.add(context, losses)
    assert preference_of(free) == 0.0
    assert losses_alone(free) is free
    assert total.preference == 3.0
    assert total.copy().preference == 3.0
    _, least = naive.best(naive.costs(members(BASES[name]), history, T), 2)
    for one in (free, total.plain()):
        assert one.minima()[0] == least


@pytest.mark.parametrize("once", [False, True])
def test_a_whole_game_is_that_of_the_slow_programme(once):
    """Cached states, tilts and settling under a price, against brute force in every round."""
    base = hn.oracles.FinitePolicies([[0, 1], [1, 0], [1, 1]])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        xs = rng.integers(2, size=6).tolist()
        oracle = hn.oracles.Switching(base, 2, sequence=xs, reluctance=0.7)
        learner = hn.ContextFTPL(oracle, seed=seed, noise="once" if once else "fresh")
        noise = oracle.noise(oracle.contexts, seed_key(seed), 0, 2**20)
        history, cost = [], 0.0
        for t, x in enumerate(xs):
            draw, scale = learner.leader.number, learner.step.scale
            losses = rng.integers(3, size=2) / 2.0
            plays = []
            for past in (history, [*history, ((t, x), losses)]):
                faked = past + (naive.fakes(Draw(noise, draw, scale)) if scale else [])
                table = naive.costs(members(base), faked, len(xs))
                plays.append(base.table[naive.best(table, 2, 0.7)[0][t], x])
            assert learner.act(x) == plays[0]
            learner.update(losses)
            cost += losses[plays[0]] - losses[plays[1]]
            assert learner.step.D == pytest.approx(cost)  # noqa: SIM300
            history.append(((t, x), losses))


def test_by_default_a_switch_costs_what_luck_will_hardly_reach():
    base = hn.oracles.FinitePolicies(np.arange(50)[:, None])
    oracle = hn.oracles.Switching(base, 3, sequence=2000)
    price = math.log(2000 * 50)
    assert oracle.start(oracle.contexts, 1.0).price == pytest.approx(price)
    assert oracle.start(oracle.contexts, 0.5).price == pytest.approx(price / 2)
    assert oracle.start(oracle.contexts, math.inf).price == 0.0
    learner = hn.ContextFTPL(oracle, seed=0)
    assert learner.leader.total.price == pytest.approx(price)
    for theory in (hn.ContextFTPL(oracle, epsilon=0.3, seed=0), hn.PlayoutFTPL(oracle, seed=0)):
        assert preference_of(theory._total()) == 0.0
    with pytest.raises(hn.ParameterError, match="reluctance"):
        hn.oracles.Switching(base, 3, reluctance=-1.0)


def test_the_certificate_pays_for_preferences_and_regret_is_a_fact():
    base = hn.oracles.FinitePolicies([[0], [1], [2]])
    rng = np.random.default_rng(0)
    losses = rng.random((60, 3))
    oracle = hn.oracles.Switching(base, 2, sequence=60)
    learner = hn.ContextFTPL(oracle, seed=0)
    trace = hn.play(learner, hn.environments.FromArrays([0] * 60, losses))
    certificate = learner.certificate()
    assert certificate.realised_regret == pytest.approx(trace.regret())
    assert certificate.realised_regret == pytest.approx(trace.regret(switches=2))
    bare = learner.step.D + learner._account.top * learner.complexity.upper
    assert certificate.measured == pytest.approx(bare + 2 * math.log(180))
    best = sum(losses[t][learner.best_policy()((t, None))] for t in range(60))
    assert trace.losses.sum() - best == pytest.approx(certificate.realised_regret)
