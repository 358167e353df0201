"""Small worlds that change, and what watches them."""

import numpy as np

import hannan as hn
from hannan.core import Predictor

D, K = 3, 3
ORACLE = hn.oracles.AllPolicies(D, K)


def full(**options):
    return hn.ContextFTPL(ORACLE, **{"seed": 0, **options})


def bandit(**options):
    return hn.ContextSemiBanditFTPL(
        ORACLE, **{"predictor": hn.predictors.Mean(), "seed": 0, **options}
    )


def toy(rounds, changes=(), seed=0):
    """Contexts and 0/1 losses; the good action of every context moves on at each change."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(D, size=rounds)
    era = np.searchsorted(changes, np.arange(rounds), side="right")
    good = (contexts + era) % K
    means = np.where(np.arange(K) == good[:, None], 0.05, 0.8)
    return contexts.tolist(), (rng.random((rounds, K)) < means).astype(float)


def feedback(learner, action, losses):
    return hn.Round(None, losses).reveal(action, learner.feedback)


def play(learner, stream):
    actions = []
    for context, losses in zip(*stream, strict=True):
        actions.append(learner.act(context))
        learner.update(feedback(learner, actions[-1], losses))
    return actions


class Alarms:
    """Raises the alarm at given values of its input's number, and keeps what it was shown."""

    shown = ()

    def __init__(self, *when):
        self.when = when
        self.seen = []
        Alarms.shown = self.seen

    def clone(self):
        return Alarms(*self.when)

    def update(self, value):
        self.seen.append(value)
        return len(self.seen) in self.when


class Recorder(Predictor):
    """Guesses the number of losses learned so far, in hundredths; lower when asked to."""

    def __init__(self):
        self.learned = []

    def predict(self, context):
        return np.zeros(K)

    def estimate(self, context):
        return 0.01 * len(self.learned) + 0.001 * np.arange(K)

    def learn(self, context, action, loss):
        self.learned.append((context, action, loss))
