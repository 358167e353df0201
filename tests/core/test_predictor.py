"""What learners make of the answers of predictors, those of others among them."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.predictor import check_guess


class Level:
    """Recommends action 1, and expects of all actions the last loss, in one array of its own."""

    def __init__(self, advice=1):
        self.advice = advice

    def prepare(self, n_actions):
        self.values = np.zeros(n_actions)

    def predict(self, context):
        return self.values

    def advise(self, context, available=None):
        return self.advice, self.values

    def learn(self, context, action, loss):
        self.values[:] = loss


def test_a_guess_is_a_copy():
    values = np.array([0.25, 0.5])
    found = check_guess(None, values, 2, (0.0, 1.0))
    values[:] = 1.0
    assert found.tolist() == [0.25, 0.5]


@pytest.mark.stat
@pytest.mark.parametrize("kind", [hn.ContextSemiBanditFTPL, hn.TsallisINF])
def test_a_predictor_that_changes_what_it_returned_does_not_make_certificates_false(kind):
    learner = kind(
        hn.oracles.AllPolicies(1, 2), predictor=Level(), trust=hn.Trust(share=0.6), seed=0
    )
    regret = 0.0
    for _ in range(5000):
        loss = float(learner.act() == 1)
        learner.update(loss)
        regret += loss  # the other action costs nothing
    assert regret < float(learner.certificate())
    assert regret < learner.regret_bound()


@pytest.mark.parametrize("advice", [1, np.int64(1), np.uint8(1)])
def test_advice_may_be_any_integer(advice):
    made = []
    for each in (1, advice):
        learner = hn.TsallisINF(hn.oracles.AllPolicies(1, 2), predictor=Level(each), seed=0)
        actions = [learner.act() for _ in range(20)]
        assert all(type(action) is int for action in actions)
        made.append(actions)
    assert made[0] == made[1]


@pytest.mark.parametrize("advice", [1.0, "1", None, np.float64(1.0), np.int64(2), -1])
def test_advice_that_is_no_action_is_refused(advice):
    learner = hn.TsallisINF(hn.oracles.AllPolicies(1, 2), predictor=Level(advice), seed=0)
    with pytest.raises(hn.LossError, match="recommend an available action below 2"):
        learner.act()


def test_the_class_of_a_predictor_is_no_predictor():
    with pytest.raises(hn.InputTypeError, match=r"an instance, Ridge\(\.\.\.\)"):
        hn.bandit(3, predictor=hn.predictors.Ridge)
    with pytest.raises(hn.InputTypeError, match=r"an instance, Ridge\(\.\.\.\)"):
        hn.bandit(3, predictor=hn.predictors.Ridge, loss_range=(0, 2))
