"""Slow twins of the learners for worlds that change, written from their definitions."""

import math

from tests import naive


def covering(t, shortest):
    """The covering intervals (first, last) that hold round t, by going through all of them."""
    M = 1
    while shortest > M:
        M *= 2
    found, length = [], M
    while length <= max(t, M):
        for i in range(t // length + 1):
            first, last = max(i * length, 1), (i + 1) * length - 1
            if (i >= 1 or length == M) and first <= t <= last:
                found.append((first, last))
        length *= 2
    return found


def prior(first, last, t, M):
    """1/(i² length) for the interval number i of its scale; 1/t for the one without end."""
    if last is None:
        return 1 / max(t, M)
    length = M if first == 1 else last - first + 1
    return 1 / (max(first // length, 1) ** 2 * length)


def potential(R, C):
    """exp([R]₊² / 3C)"""
    return math.exp(max(R, 0.0) ** 2 / (3 * C)) if C > 0 else 1.0


def normal_hedge(priors, regrets):
    """Probabilities from a prior and the list of all regrets of each expert."""
    weights = []
    for q, r in zip(priors, regrets, strict=True):
        R, C = sum(r), sum(map(abs, r))
        weights.append(q * 0.5 * (potential(R + 1, C + 1) - potential(R - 1, C + 1)))
    if sum(weights) == 0:
        weights = priors
    return [w / sum(weights) for w in weights]


def discounted(rows, X, rounds, unit, G, gamma):
    """Plays and D after each round: all totals made anew from the definition in each round."""
    plays, costs, D = [], [], []
    for T, (context, losses) in enumerate(rounds):
        before = sum(gamma ** (T - t) * cost for t, cost in enumerate(costs))
        history = [(x, gamma ** (T - t) * v) for t, (x, v) in enumerate(rounds[:T])]
        fakes = naive.fakes_of(X, unit(T), before / G)
        action = rows[naive.leader(rows, fakes + history)][context]
        foreseeing = rows[naive.leader(rows, [*fakes, *history, (context, losses)])][context]
        costs.append(losses[action] - losses[foreseeing])
        plays.append(action)
        D.append(before + costs[-1])
    return plays, D


def discounted_regret(rows, rounds, actions, gamma):
    """Discounted loss, and how much more it is than that of the best policy."""
    T = len(rounds)
    weighted = [(x, gamma ** (T - 1 - t) * v) for t, (x, v) in enumerate(rounds)]
    loss = sum(v[a] for (_, v), a in zip(weighted, actions, strict=True))
    return loss, loss - naive.best_value(rows, weighted)


class AdaptiveDiscount:
    """Leaders at several discounts and a master, from the definition: losses that grow for ever.

    `unit(hidden, n)` and `choice(hidden, n)` are draw n of the noise of the bases and of the
    master. `measures_delays` rounds are measured under noise that was never played.
    """

    def __init__(self, rows, X, unit, choice, G, discounts, G_master):
        self.rows, self.X, self.unit, self.choice = rows, X, unit, choice
        self.G, self.discounts = G, discounts
        self.G_master = G_master or math.inf  # nothing to choose from: no noise
        self.history, self.draws = [], 0
        n = len(discounts)
        self.D, self.peak, self.top = [0.0] * n, [0.0] * n, [0.0] * n
        self.lost = [0.0] * n
        self.own = {"D": 0.0, "peak": 0.0, "top": 0.0}

    def _base(self, i, context, hidden, first, scale):
        gamma = self.discounts[i]
        weighted = [(x, gamma**-k * v) for k, (x, v) in enumerate(self.history)]
        fakes = naive.fakes_of(self.X, self.unit(hidden, first + i), scale)
        return self.rows[naive.leader(self.rows, fakes + weighted)][context]

    def _meta_learner(self, hidden, first, scale):
        noise = self.choice(hidden, first)
        values = [lost + scale * z for lost, z in zip(self.lost, noise, strict=True)]
        return values.index(min(values))

    def decide(self, context, measures_delays):
        n, first = len(self.discounts), self.draws
        self.draws += n
        scales = [peak / self.G for peak in self.peak]
        scale = self.own["peak"] / self.G_master
        draws = (False, True) if measures_delays else (False,)
        made = {
            hidden: (
                [self._base(i, context, hidden, first, scales[i]) for i in range(n)],
                self._meta_learner(hidden, first, scale),
            )
            for hidden in draws
        }
        actions, followed = made[False]
        ticket = (context, first, scales, scale, len(self.history), measures_delays, made)
        return actions[followed], ticket

    def learn(self, ticket, losses):
        context, first, scales, scale, known, measures_delays, made = ticket
        k, actions = len(self.history), made[False][0]
        late = k > known and not measures_delays
        self.history.append((context, losses))
        mine, followed = made[measures_delays]
        costs = [losses[a] for a in actions]
        for i, gamma in enumerate(self.discounts):
            self.top[i] = max(self.top[i], scales[i])
            gap = max(losses) - min(losses)
            if not late:
                b = self._base(i, context, measures_delays, first, self.top[i])
                gap = losses[mine[i]] - losses[b]
            self.D[i] += gamma**-k * gap
            self.peak[i] = max(self.peak[i], self.D[i])
            self.lost[i] += costs[i]
        own = self.own
        own["top"] = max(own["top"], scale)
        gap = max(costs) - min(costs)
        if not late:
            gap = costs[followed] - costs[self._meta_learner(measures_delays, first, own["top"])]
        own["D"] += gap
        own["peak"] = max(own["peak"], own["D"])
