"""Games in which actions come and go, played by hand from the definition."""

import math

import numpy as np


def own_means(seen):
    """What each action costs when it is there, None if never seen.

    Losses are averaged with one more, the smallest mean of any action.
    """
    best = min((sum(each) / len(each) for each in seen if each), default=None)
    return [(sum(each) + best) / (len(each) + 1) if each else None for each in seen]


def mean_rule(seen, there):
    """The first available action never seen, else the one of the smallest mean; whether seen."""
    means = own_means(seen)
    unseen = [b for b in there if means[b] is None]
    if unseen:
        return int(unseen[0]), False
    return int(min(there, key=lambda b: (means[b], b))), True


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

    The substitute is the one of the smallest mean on the context, from the first round on in which
    something was not there. If one was never seen and there is a `table` of policies: what the
    best of them so far does, of those whose action is there.
    """
    K = len(rounds[0][1])
    seen = {context: [[] for _ in range(K)] for context, _, _ in rounds}
    history, played, began = [], [], False
    for context, losses, there in rounds:
        substitute, known = mean_rule(seen[context], there)
        if table is not None and not known:
            best = best_awake(table, history, context, there)
            substitute = substitute if best is None else best
        stands = [b if b in there else substitute for b in range(K)]
        learned = np.array([losses[b] for b in stands])
        chosen = plain.act(context)
        played.append(stands[chosen])
        plain.update(learned if full else float(learned[chosen]))
        began |= len(there) < K
        for b in there if full else [stands[chosen]]:
            seen[context][b] += [losses[b]] if began else []
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
