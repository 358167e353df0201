"""Who plays in the study of worlds: the recommended learner, without predictor, and its peers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import hannan as hn

Maker = Callable[[str, int, Any, int], Any]


def recommended(**options: Any) -> Maker:
    """`hn.bandit` as its documentation says: one setting for each kind of world."""

    def make(kind: str, K: int, oracle: Any, seed: int) -> Any:
        if kind == "arms":
            return hn.bandit(K, n_contexts=1, seed=seed, **options)
        return hn.bandit(K, policies=oracle if kind == "finite" else None, seed=seed, **options)

    return make


def peer(make: Callable[..., Any], *arguments: Any, coins: bool = True, **options: Any) -> Maker:
    """Takes rows as they are; every other context is a feature of its own."""

    def made(kind: str, K: int, oracle: Any, seed: int) -> Any:
        return make(K, *arguments, **({"seed": seed} if coins else {}), **options)

    return made


OURS, PLAIN = "hn.bandit", "hn.bandit, no predictor"
LIN_UCB = "LinUCB, α 0.1"
CONTENDERS: dict[str, Maker] = {
    OURS: recommended(),
    PLAIN: recommended(predictor=None),
    LIN_UCB: peer(hn.baselines.LinUCB, alpha=0.1, coins=False),
    "LinUCB, α 1": peer(hn.baselines.LinUCB, alpha=1.0, coins=False),
    "ε-greedy, ε 0.05": peer(hn.baselines.EpsilonGreedy, epsilon=0.05),
}
if importlib.util.find_spec("vowpalwabbit") is not None:
    CONTENDERS["Vowpal Wabbit: SquareCB"] = peer(hn.baselines.VowpalWabbit, "--squarecb")
    CONTENDERS["Vowpal Wabbit: SynthCover"] = peer(hn.baselines.VowpalWabbit, "--synthcover")
PEERS = tuple(name for name in CONTENDERS if name not in (OURS, PLAIN))
