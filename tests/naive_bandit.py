"""Slow twins for semi-bandit feedback, written from the definitions, with nothing from the library.

A policy class is a list of rows: row n holds policy n's action on each context, an int or a tuple
of chosen elements. Ties go to the first policy.
"""

import math

import numpy as np


def elements(action):
    """The elements an action chooses, as a list."""
    return [action] if isinstance(action, int | np.integer) else [int(j) for j in action]


def loss(losses, action):
    """The sum over the chosen elements."""
    return sum(losses[j] for j in elements(action))


def leader(rows, scores, X, zeta, scale):
    """The first policy with the smallest perturbed score."""
    values = [
        scores[n] + sum(scale * loss(z, row[x]) for x, z in zip(X, zeta, strict=True))
        for n, row in enumerate(rows)
    ]
    return min(range(len(rows)), key=lambda n: (values[n], n))


def propensities(rows, scores, X, context, scale, K, rng, draws):
    """Inclusion probabilities of each element, from many draws at once, and standard errors."""
    zeta = rng.laplace(scale=scale, size=(draws, len(X), K))
    values = np.tile(np.asarray(scores, float), (draws, 1))
    for i, x in enumerate(X):
        for n, row in enumerate(rows):
            for j in elements(row[x]):
                values[:, n] += zeta[:, i, j]
    best = values.argmin(axis=1)
    member = np.array([[j in elements(row[context]) for j in range(K)] for row in rows])
    q = member[best].mean(axis=0)
    return q, np.sqrt(q * (1 - q) / draws)


def weight(successes_seen, r, L):
    """Weight from the outcomes of draws, in order: N/r, or L/(S+1) after L - 1 draws."""
    S = 0
    for i, success in enumerate(successes_seen, start=1):
        S += bool(success)
        if r == S:
            return i / r, i
    assert len(successes_seen) == L - 1
    return L / (S + 1), L - 1


def algorithm_3(rows, scores, X, context, epsilon, L, losses, rng):
    """One round as printed: the action, and the proxy loss of each element."""
    K = len(losses)

    def draw():
        zeta = rng.laplace(scale=1.0 / epsilon, size=(len(X), K))
        return elements(rows[leader(rows, scores, X, zeta, 1.0)][context])

    action = draw()
    proxy = np.zeros(K)
    for j in action:
        J = L
        for i in range(1, L + 1):
            if j in draw():
                J = i
                break
        proxy[j] = J * losses[j]
    return action, proxy


class SlowBandit:
    """Algorithm 3, self-tuned or not, draw by draw in a fixed order.

    `unit(n)` is the n-th draw of noise. A round uses one draw to act; for the elements with a
    loss, draws of one stream until each has had r successes; and one to measure what instability
    costs.
    """

    def __init__(self, rows, X, K, unit, *, r=1, limit=None, G=1.0, epsilon=None):
        self.rows, self.X, self.K, self.unit = rows, X, K, unit
        self.r, self.limit = r, limit
        self.G, self.epsilon = G, epsilon
        self.scores = [0.0] * len(rows)
        self.D = 0.0
        self.draw = self.t = 0

    @property
    def scale(self):
        return self.D / self.G if self.epsilon is None else 1.0 / self.epsilon

    def _tilted(self, context, extra):
        return [
            s + loss(extra, row[context]) for s, row in zip(self.scores, self.rows, strict=True)
        ]

    def _leads(self, scores, context, draw):
        zeta = self.unit(draw) if self.scale else np.zeros((len(self.X), self.K))
        return self.rows[leader(self.rows, scores, self.X, zeta, self.scale)][context]

    def act(self, context):
        self.t += 1
        self.context = context
        self.action = self._leads(self.scores, context, self.draw)
        self.draw += 1
        return self.action

    def update(self, losses):
        """`losses` are those of all elements; only the chosen ones are looked at."""
        context = self.context
        proxy = np.zeros(self.K)
        needed = [j for j in elements(self.action) if losses[j] != 0.0]
        for j, w in self._weigh(needed).items():
            proxy[j] = w * losses[j]
        if needed and self.epsilon is None:
            self._measure(context, proxy)
        for n, row in enumerate(self.rows):
            self.scores[n] += loss(proxy, row[context])

    def _weigh(self, group):
        L = self.limit or max(2, math.ceil(math.sqrt(self.K * self.t)))
        if self.scale == 0.0:
            return dict.fromkeys(group, 1.0)
        seen = {j: [] for j in group}
        while group and len(next(iter(seen.values()))) < L - 1:
            chosen = elements(self._leads(self.scores, self.context, self.draw))
            self.draw += 1
            for j in group:
                seen[j].append(j in chosen)
            if all(sum(s) >= self.r for s in seen.values()):
                break
        return {j: weight(s, self.r, L)[0] for j, s in seen.items()}

    def _measure(self, context, proxy):
        a0 = self._leads(self.scores, context, self.draw)
        a1 = self._leads(self._tilted(context, proxy), context, self.draw)
        d = loss(proxy, a0) - loss(proxy, a1)
        assert d >= 0.0
        self.draw += 1
        self.D += d
