"""Statements that hold at all times, from the definition: all rounds, rates and completions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from scipy.optimize import brentq

RATES = (0.9, *(2.0**-i for i in range(1, 14)))
GUESSES = {0.0: 0.6, 0.5: 0.2, 1.0: 0.2}  # with their shares of the prior


def psi(rate):
    return -math.log(1.0 - rate) - rate


@dataclass
class Round:
    """For each policy π(a) and what it copies; the weight and the loss, None while it is open."""

    played: list
    copied: list
    weight: float
    loss: float | None = None

    def values(self, i):
        """The ratios and losses that this round may yet turn out to have."""
        if self.loss is not None:
            return [(self.played[i] * self.weight + self.copied[i], self.loss)]
        if (self.played[i], self.copied[i]) == (0.0, 0.0):
            ratios = [0.0]
        elif self.copied[i] == 1.0:
            ratios = [1.0]
        else:
            least = 1.0 if self.played[i] == 1.0 else 0.0
            ratios = [least, 1.0, 1.3, 2.0, 10.0, 1e3, 1e9]
            ratios += [1.0 / rate for rate in RATES]
            ratios = [ratio for ratio in ratios if ratio >= least]
        return [(ratio, loss) for ratio in ratios for loss in (0.0, 0.3, 1.0)]


@dataclass
class NaiveWatch:
    """Keeps every round."""

    policies: int
    confidence: float = 0.95
    rounds: list = field(default_factory=list)

    def term(self, each, i, flipped, rate, theta, guess):
        """The largest that ψ(x - g)² - λx can be in this round."""
        found = []
        for ratio, loss in each.values(i):
            x = (1.0 - loss if flipped else loss) * (min(ratio, 1.0 / rate) - theta)
            found.append(psi(rate) * (x - guess) ** 2 - rate * x)
        return max(found)

    def lowest(self, i, flipped, theta):
        """The least sum of f(π) - θ<q, f> that the mixture allows."""
        guesses = {0.0: 1.0} if theta else GUESSES
        log_odds = math.log((4 * self.policies + 2) / (1.0 - self.confidence))
        parts = []
        for rate in RATES:
            for guess, share in guesses.items():
                total = sum(self.term(each, i, flipped, rate, theta, guess) for each in self.rounds)
                parts.append((rate, math.log(share / len(RATES)) - total))

        def above(T):
            exponents = [rest - rate * T for rate, rest in parts]
            top = max(exponents)
            return top + math.log(sum(math.exp(e - top) for e in exponents)) - log_odds

        n = len(self.rounds)
        return brentq(above, -1e7 * (n + 1), 1e7 * (n + 1), xtol=1e-10, rtol=1e-14, maxiter=500)

    def bounds(self):
        """Intervals of sums: for each policy loss and regret, and our own loss."""
        n, last = len(self.rounds), self.policies
        losses = [
            (max(0.0, self.lowest(i, False, 0)), min(n, n - self.lowest(i, True, 0)))
            for i in range(last + 1)
        ]
        regrets = [(self.lowest(i, True, 1), -self.lowest(i, False, 1)) for i in range(last)]
        own = losses.pop()
        for (a, b), (c, d) in zip(losses, regrets, strict=True):
            own = max(own[0], a + c), min(own[1], b + d)
        found = []
        for (a, b), (c, d) in zip(losses, regrets, strict=True):
            loss = max(a, own[0] - d), min(b, own[1] - c)
            regret = max(c, own[0] - b), min(d, own[1] - a)
            found.append((loss, regret))
        return found, own
