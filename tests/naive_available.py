"""Games in which actions come and go, played by hand from the definition."""

import math

import numpy as np


def mean_rule(seen, there):
    """The available action with the smallest mean of the losses seen; unseen ones first."""
    means = [np.mean(seen[b]) if seen[b] else -math.inf for b in there]
    return int(there[int(np.argmin(means))])


def best_awake(table, history, context, there):
    """What the best policy does of those whose action on the context is there; None if none is.

    `history` has (context, losses, weight); ties go to the first policy of the table.
    """
    totals = [
        sum(weight * losses[policy[x]] for x, losses, weight in history)
        if policy[context] in there
        else math.inf
        for policy in table
    ]
    best = int(np.argmin(totals))
    return None if math.isinf(totals[best]) else int(table[best][context])


def substituted_play(plain, rounds, full, table=None, discount=1.0):
    """What is played if a plain learner is fed the losses of what stands in for each action.

    With a `table` of policies the substitute is what the best policy so far does, of those whose
    action is there; else, and where there is none, the one by the mean rule. Means are those of
    the rounds in which something was not there.
    """
    K = len(rounds[0][1])
    seen = [[] for _ in range(K)]
    history, played = [], []
    for context, losses, there in rounds:
        substitute = None
        if table is not None:
            substitute = best_awake(table, history, context, there)
        if substitute is None:
            substitute = mean_rule(seen, there)
        stands = [b if b in there else substitute for b in range(K)]
        learned = np.array([losses[b] for b in stands])
        chosen = plain.act(context)
        played.append(stands[chosen])
        plain.update(learned if full else float(learned[chosen]))
        if len(there) < K:
            for b in there if full else [stands[chosen]]:
                seen[b].append(losses[b])
        history = [(x, old, weight * discount) for x, old, weight in history]
        history.append((context, learned, 1.0))
    return played


def sleeping_regret(policies, rounds, actions):
    """The largest sum, over rounds in which its action was there, of what a policy lost less."""
    regrets = []
    for policy in policies:
        regret = 0.0
        for (context, losses, there), action in zip(rounds, actions, strict=True):
            if policy[context] in there:
                regret += losses[action] - losses[policy[context]]
        regrets.append(regret)
    return max(regrets)


def random_rounds(d, K, T, seed=0, least=1):
    """Contexts, losses and sets of available actions."""
    rng = np.random.default_rng(seed)
    return [
        (
            int(rng.integers(d)),
            rng.random(K).round(3),
            np.sort(rng.permutation(K)[: int(rng.integers(least, K + 1))]),
        )
        for _ in range(T)
    ]
