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


# Probabilities in place of successes ------------------------------------------------------------


def laplace_cdf(x):
    """F of a unit Laplace variate."""
    return 0.5 * math.exp(x) if x < 0.0 else 1.0 - 0.5 * math.exp(-x)


def chance(rows, scores, X, zeta, scale, context, action):
    """P(the leader plays an action on a context), given all noise but its own there.

    Averaged over the noise and its negative; where the context has no noise, how often it does.
    """
    found = []
    for sign in (1.0, -1.0):
        z = sign * np.asarray(zeta)
        if context not in X:
            found.append(rows[leader(rows, scores, X, z, scale)][context] == action)
            continue
        z[list(X).index(context), action] = 0.0
        values = {True: [math.inf], False: [math.inf]}
        for n, row in enumerate(rows):
            noise = sum(scale * loss(each, row[x]) for x, each in zip(X, z, strict=True))
            values[row[context] == action].append(scores[n] + noise)
        found.append(laplace_cdf((min(values[False]) - min(values[True])) / scale))
    return sum(found) / 2.0


def mean_over_orders(chances):
    """The mean over all orders of 1 + P_1 + ... + P_n, P_k the product of the first k of 1 - p.

    P_k has the mean e_k / C(n, k), e_k the sum of the products of k of them.
    """
    symmetric = [1.0]
    for p in chances:
        shifted = [0.0, *(e * (1.0 - p) for e in symmetric)]
        symmetric = [a + b for a, b in zip([*symmetric, 0.0], shifted, strict=True)]
    return sum(e / math.comb(len(chances), k) for k, e in enumerate(symmetric))


def paired_weight(chance_of, coin_of, r, L):
    """The weight and the draws used; `chance_of(i)` and `coin_of(i)` are those of draw i."""
    seen, theta = [], math.exp(-r)
    while len(seen) < L - 1 and sum(seen) < r - 1e-9:
        seen.append(chance_of(len(seen)))
    if sum(seen) < r - 1e-9:
        return mean_over_orders(seen), len(seen)
    left = math.prod(1.0 - p for p in seen)
    W = mean_over_orders(seen[:-1]) + left
    used = len(seen)
    while True:
        if left < theta:
            if coin_of(used - 1) * theta >= left:
                return W, used
            left = theta
        W += left if used > len(seen) else 0.0
        if used == L - 1:
            return W, used
        left *= 1.0 - chance_of(used)
        used += 1


def paired_outcomes(distribution, r, L):
    """Return all weights that draws from (p, probability) can give, with their probabilities."""
    theta = math.exp(-r)

    def before(seen, prob):
        if len(seen) == L - 1:
            yield mean_over_orders(seen), prob
            return
        for p, q in distribution:
            if sum(seen) + p < r - 1e-9:
                yield from before([*seen, p], prob * q)
            else:
                left = math.prod(1.0 - x for x in [*seen, p])
                W = mean_over_orders(seen) + left
                yield from roulette(W, left, len(seen) + 1, prob * q, 0.0)

    def roulette(W, left, used, prob, counts):
        alive = [(left, prob)]
        if left < theta:
            yield W, prob * (1.0 - left / theta)
            alive = [(theta, prob * left / theta)]
        for w, rest in alive:
            if rest == 0.0:
                continue
            if used == L - 1:
                yield W + counts * w, rest
            else:
                for p, q in distribution:
                    yield from roulette(W + counts * w, w * (1.0 - p), used + 1, rest * q, 1.0)

    return before([], 1.0)


class PairedBandit(SlowBandit):
    """The same with weights and instability from probabilities; `coin(n)` goes with draw n."""

    def __init__(self, *given, coin, **options):
        super().__init__(*given, **options)
        self.coin = coin

    def _chance(self, scores, draw, action):
        if self.scale == 0.0:
            return float(self._leads(scores, self.context, draw) == action)
        zeta = self.unit(draw)
        return chance(self.rows, scores, self.X, zeta, self.scale, self.context, action)

    def _weigh(self, group):
        L = self.limit or max(2, math.ceil(math.sqrt(self.K * self.t)))
        if self.scale == 0.0 or not group:
            return dict.fromkeys(group, 1.0)
        first = self.draw
        W, used = paired_weight(
            lambda i: self._chance(self.scores, first + i, self.action),
            lambda i: self.coin(first + i),
            self.r - 0.5,
            L,
        )
        self.draw += used
        return {self.action: W}

    def _measure(self, context, proxy):
        before = self._chance(self.scores, self.draw, self.action)
        after = self._chance(self._tilted(context, proxy), self.draw, self.action)
        self.draw += 1
        self.D += proxy[self.action] * (before - after)
