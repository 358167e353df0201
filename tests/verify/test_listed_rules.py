"""The claim about listed rules stands, and fails when its mechanism is broken."""

from hannan.oracles.listed_rules import RulesObjective
from hannan.verify import listed_rules
from hannan.verify.claim import Effort
from hannan.verify.listed_rules import rule_game


def test_the_claim_stands():
    found = listed_rules.listed_rules.experiment(Effort())
    assert found.passed


def test_it_fails_if_the_worst_rule_is_followed(monkeypatch):
    def worst(self, draw):
        return int(self._noisy(draw).argmax())

    monkeypatch.setattr(RulesObjective, "_leader", worst)
    regret, bound = rule_game(0, 2000)
    assert regret > bound
