"""Off-policy estimates from their definitions, one round at a time."""

import math


def mean_table(rounds, K, x, before=None):
    """The mean loss of each action on context x in some (x, a, loss); 0 where none was seen."""
    guess = []
    for a in range(K):
        seen = [loss for y, b, loss in rounds if y == x and b == a]
        guess.append(sum(seen) / len(seen) if seen else 0.0)
    return guess


def guesses(log, folds=None):
    """m for each round, by the means of the rounds that may be used for it."""
    rounds = [(r.context, r.action, r.loss) for r in log]
    table = []
    for t in range(len(rounds)):
        if folds is None:
            used = rounds[:t]
        else:
            used = [r for s, r in enumerate(rounds) if s % folds != t % folds]
        table.append(mean_table(used, log.n_actions, rounds[t][0]))
    return table


def ips(log, target):
    """Mean of π ℓ/q."""
    return sum(target[t][r.action] * r.loss / r.propensity for t, r in enumerate(log)) / len(log)


def snips(log, target):
    """The same, divided by the mean of π/q."""
    total = sum(target[t][r.action] / r.propensity for t, r in enumerate(log))
    return ips(log, target) * len(log) / total


def dr(log, target, model):
    """Mean of Σ π m + π (ℓ - m)/q."""
    total = 0.0
    for t, r in enumerate(log):
        total += sum(p * m for p, m in zip(target[t], model[t], strict=True))
        total += target[t][r.action] * (r.loss - model[t][r.action]) / r.propensity
    return total / len(log)


def terms(log, target, model=None):
    """What each round contributes to ips, or to dr with guesses."""
    found = []
    for t, r in enumerate(log):
        base = 0.0 if model is None else sum(map(math.prod, zip(target[t], model[t], strict=True)))
        own = 0.0 if model is None else model[t][r.action]
        found.append(base + target[t][r.action] * (r.loss - own) / r.propensity)
    return found


def bernstein(values, span, middle, level):
    """The interval, with the smallest deviation over the same rates."""
    n, mean = len(values), sum(values) / len(values)
    squares = 0.0
    for t, value in enumerate(values):
        guess = sum(values[:t]) / t if t else (middle[0] + middle[1]) / 2
        squares += (value - min(max(guess, middle[0]), middle[1])) ** 2
    count = math.ceil(math.log2(n) / 2) + 1
    ends = []
    for c in (middle[1] - span[0], span[1] - middle[0]):
        found = math.inf
        for j in range(1, count + 1):
            rate = 0.5**j
            psi = -math.log(1 - rate) - rate
            odds = math.log(2 * count / (1 - level))
            found = min(found, c / (rate * n) * (odds + psi * squares / c**2))
        ends.append(found)
    return mean - ends[0], mean + ends[1]


def counted_inverse(q, draws):
    """E[1/q̂], where q̂ counts the action itself together with so many draws."""
    total = 0.0
    for hits in range(draws + 1):
        chance = math.comb(draws, hits) * q**hits * (1 - q) ** (draws - hits)
        total += chance * (draws + 1) / (hits + 1)
    return total
