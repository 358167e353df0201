"""Who plays in the study of peers, and with which settings."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hannan as hn
from benchmarks.peers_adapters import ContextualBandits, Mabwiser, OnRows, River
from benchmarks.peers_worlds import Kind, World

MANY, FEW = 5, 3

Maker = Callable[[World, int], Any]


@dataclass(frozen=True)
class Contender:
    """A learner to be made for a world and a seed.

    Slow ones play fewer seeds and are left out of some worlds; those without coins need one run
    where the rounds are the same for every seed.
    """

    make: Maker
    seeds: int = MANY
    coins: bool = True
    package: str | None = None
    sees_all: bool = False
    skips: frozenset[str] = frozenset()

    @property
    def installed(self) -> bool:
        """Whether its library is."""
        return self.package is None or importlib.util.find_spec(self.package) is not None

    def runs(self, kind: Kind) -> int:
        """The number of seeds it plays in a world."""
        if not self.installed or kind.name in self.skips:
            return 0
        if not kind.stored:
            return self.seeds
        return min(self.seeds, FEW) if self.coins else 1


def featured(make: Callable[..., Any], **options: Any) -> Maker:
    """A learner that takes features, made from K and a seed."""
    return lambda world, seed: OnRows(make(world.n_actions, seed=seed, **options), world.rows)


def baseline(make: Callable[..., Any], *arguments: Any, **options: Any) -> Maker:
    """One of our own: it takes rows of features, and contexts without any as they are."""

    coins = "seed" in inspect.signature(make).parameters

    def made(world: World, seed: int) -> Any:
        own = {**options, "seed": seed} if coins else options
        learner = make(world.n_actions, *arguments, **own)
        return learner if world.finite else OnRows(learner, world.rows)

    return made


def listed(make: Callable[..., Any]) -> Maker:
    """A learner over a list of policies."""
    return lambda world, seed: make(world.listed, seed=seed)


def ours(**options: Any) -> Maker:
    """The recommended learner: linear policies, or the finite class where there is one."""

    def make(world: World, seed: int) -> Any:
        if world.finite:
            return hn.bandit(world.n_actions, policies=world.listed, seed=seed, **options)
        return OnRows(hn.bandit(world.n_actions, seed=seed, **options), world.rows)

    return make


def vowpal_wabbit(arguments: str) -> Contender:
    """By its Python interface, examples made feature by feature."""
    make = baseline(hn.baselines.VowpalWabbit, arguments)
    return Contender(make, FEW, package="vowpalwabbit")


CONTENDERS = {
    "Hannan": Contender(ours()),
    "Hannan: no restarts": Contender(ours(max_restarts=0)),
    "Hannan: no predictor": Contender(ours(predictor=None)),
    "Vowpal Wabbit: its default, ε-greedy": vowpal_wabbit(""),
    "Vowpal Wabbit: SquareCB": vowpal_wabbit("--squarecb"),
    "Vowpal Wabbit: SynthCover": vowpal_wabbit("--synthcover"),
    "contextualbandits: LinUCB, α 0.1": Contender(
        featured(ContextualBandits, alpha=0.1), FEW, coins=False, package="contextualbandits"
    ),
    "mabwiser: LinUCB, α 0.1": Contender(
        featured(Mabwiser, policy="LinUCB", alpha=0.1),
        FEW,
        coins=False,
        package="mabwiser",
        skips=frozenset({"permuted digits"}),
    ),
    "mabwiser: LinTS, α 0.1": Contender(
        featured(Mabwiser, policy="LinTS", alpha=0.1),
        FEW,
        package="mabwiser",
        skips=frozenset({"digits", "permuted digits", "covtype"}),
    ),
    "river: LinUCB": Contender(featured(River), FEW, coins=False, package="river"),
    "LinUCB, α 0.1": Contender(baseline(hn.baselines.LinUCB, alpha=0.1), coins=False),
    "LinUCB, α 1": Contender(baseline(hn.baselines.LinUCB, alpha=1.0), coins=False),
    "ε-greedy ridge, ε 0.05": Contender(baseline(hn.baselines.EpsilonGreedy, epsilon=0.05)),
    "Exp4 over a list": Contender(listed(hn.baselines.Exp4)),
    "Uniform play": Contender(baseline(hn.baselines.UniformRandom)),
    "Hedge over a list (sees all losses)": Contender(listed(hn.baselines.Hedge), sees_all=True),
}
