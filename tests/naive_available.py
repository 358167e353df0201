"""Games in which action sets change, played by hand from the definition."""

import math

import numpy as np


def own_means(seen):
    """What each action costs when it is available, None if never seen.

    Losses are averaged with one more, the smallest mean of any action.
    """
    best = min((sum(each) / len(each) for each in seen if each), default=None)
    return [(sum(each) + best) / (len(each) + 1) if each else None for each in seen]


def mean_rule(seen, available):
    """The first available action never seen, else the one of the smallest mean; whether seen."""
    means = own_means(seen)
    unseen = [b for b in available if means[b] is None]
    if unseen:
        return int(unseen[0]), False
    return int(min(available, key=lambda b: (means[b], b))), True


def best_among(table, history, context, available):
    """What the best policy does of those whose action on the context is available; None if none is.

    `history` has (context, losses, weight); ties go to the first policy of the table.
    """
    totals = [
        sum(weight * losses[policy[x]] for x, losses, weight in history)
        if policy[context] in available
        else math.inf
        for policy in table
    ]
    best = int(np.argmin(totals))
    return None if math.isinf(totals[best]) else int(table[best][context])


def substituted_play(plain, rounds, full, table=None, discount=1.0):
    """What is played if a plain learner is fed the losses of what is played for each action.

    The substitute is the one of the smallest mean on the context, from the first round on in which
    something was not available. If one was never seen and there is a `table` of policies: what the
    best of them so far does, of those whose action is available.
    """
    K = len(rounds[0][1])
    seen = {context: [[] for _ in range(K)] for context, _, _ in rounds}
    history, played, began = [], [], False
    for context, losses, available in rounds:
        substitute, known = mean_rule(seen[context], available)
        if table is not None and not known:
            best = best_among(table, history, context, available)
            substitute = substitute if best is None else best
        plays = [b if b in available else substitute for b in range(K)]
        learned = np.array([losses[b] for b in plays])
        chosen = plain.act(context)
        played.append(plays[chosen])
        plain.update(learned if full else float(learned[chosen]))
        began |= len(available) < K
        for b in available if full else [plays[chosen]]:
            seen[context][b] += [losses[b]] if began else []
        history = [(x, old, weight * discount) for x, old, weight in history]
        history.append((context, learned, 1.0))
    return played


def sleeping_regret(policies, rounds, actions):
    """The most that a policy lost less, over the rounds in which its action was available."""
    regrets = []
    for policy in policies:
        regret = 0.0
        for (context, losses, available), action in zip(rounds, actions, strict=True):
            if policy[context] in available:
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
