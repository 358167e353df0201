"""Rules over any contexts and any actions: the theorem for small separators at its best."""

import numpy as np
import pytest
from benchmarks.rules import rule_game

from hannan.oracles.listed_rules import RulesObjective
from tests.statistics.means import further

pytestmark = [pytest.mark.stat, pytest.mark.slow]


@pytest.mark.parametrize("count", [4, pytest.param(20, marks=further)])
def test_regret_stays_below_the_bound_although_contexts_never_come_twice(count):
    """One Laplace number for each of 50 rules, against an adversary that punishes the leader.

    Games with fixed seeds, the largest regret of which is compared with the bound.
    """
    games = [rule_game(seed, 2000) for seed in range(count)]
    assert max(regret for regret, _ in games) <= min(bound for _, bound in games)
    assert np.mean([regret for regret, _ in games]) > 0.0  # the adversary does hurt


def test_it_fails_if_the_worst_rule_is_followed(monkeypatch):
    def worst(self, context, draw, plus=None, available=None):
        return int(context.choices[self._noisy(draw, context, plus).argmax()])

    monkeypatch.setattr(RulesObjective, "action", worst)
    regret, bound = rule_game(0, 2000)
    assert regret > bound
