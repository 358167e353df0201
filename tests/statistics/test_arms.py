"""Plain arms with a `Decider`: the best one is not lost, and nothing is preferred unseen."""

import numpy as np
import pytest
from scipy.stats import chisquare

import hannan as hn
from tests.thinning import more_at_night

pytestmark = [pytest.mark.stat, pytest.mark.slow]

GAPS = (0.08, 0.1, 0.15, 0.2, 0.3)


def arms(seed):
    """Two to ten arms with 0/1 rewards; the best is ahead of the next by one of five gaps."""
    rng = np.random.default_rng([17, seed])
    K, gap = 2 + seed % 9, GAPS[seed // 9 % 5]
    best = rng.uniform(0.15 + gap, 0.85)
    behind = gap * np.r_[0.0, 1.0, rng.uniform(1.0, 1.5, size=K - 2)]
    return rng, rng.permutation(np.clip(best - behind, 0.01, 1.0))


def played(seed, decisions=8000):
    """Return which arms were played, and their means."""
    rng, means = arms(seed)
    names = [str(k) for k in range(len(means))]
    d, won = hn.Decider(names, rewards=(0, 1), seed=seed), rng.random(decisions)
    actions = []
    for u in won:
        decision = d.decide()
        actions.append(int(decision.action))
        d.report(decision, reward=float(u < means[actions[-1]]))
    return np.array(actions), means


@pytest.mark.parametrize(
    "seeds",
    # 187 was lost by hints that may have 90 % of the rounds, with a width of one error.
    more_at_night((187, *range(8)), range(300)),
    ids=str,
)
def test_no_game_loses_the_best_arm(seeds):
    regret = []
    for seed in seeds:
        actions, means = played(seed)
        assert np.mean(actions[-1000:] == means.argmax()) > 0.5, seed
        regret.append((means.max() - means[actions]).sum())
    assert np.mean(regret) < 82.0  # as it was with that share and width


@pytest.mark.parametrize("context", [None, {"age": 30, "city": "Rome"}], ids=["arms", "rows"])
def test_all_actions_are_equally_likely_until_an_outcome_arrives(context):
    counts = np.zeros(4, dtype=int)
    for seed in range(20):
        d = hn.Decider(["a", "b", "c", "d"], rewards=(0, 1), seed=seed)
        for _ in range(40):
            distribution = d.probabilities(context)
            assert list(distribution.values()) == pytest.approx([0.25] * 4)
            counts["abcd".index(d.decide(context).action)] += 1
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("items", [2, 5])
def test_items_are_equally_likely_until_an_outcome_arrives(items):
    d = hn.Decider(rewards=(0, 1), seed=0)
    offered = {f"sku-{i}": {"price": float(i)} for i in range(items)}
    for _ in range(20):
        distribution = d.probabilities({"age": 30}, actions=offered)
        assert list(distribution.values()) == pytest.approx([1.0 / items] * items)
        d.decide({"age": 30}, actions=offered)
