"""Environments of coba, to be played by learners of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.adapters._rewards import Scale
from hannan.adapters._rows import Encoding
from hannan.adapters.coba.encoding import Actions, Translation, interactions
from hannan.core import Environment, Oracle, ParameterError, Round
from hannan.core.validation import FloatArray


class FromCoba(Environment):
    r"""The interactions of a coba environment, in order: an oblivious adversary.

    A reward r in [low, high] is the loss :math:`(high - r)/(high - low)`. The environment is read
    once, when this object is made, and prepared as coba's own evaluators do it: `CobaLearner` meets
    the same rounds in an experiment, and plays the same.

    Parameters
    ----------
    environment
        A coba environment with `actions` and `rewards`; of logged interactions
        `log_from_coba` makes a log.
    reward_range
        (low, high) of the rewards.
    encoding, actions, action_encoding
        How contexts and actions become ours: as in `CobaLearner`. With actions="described" the
        context of a round is a `Menu` of what it offers.
    take
        Read so many interactions at most; needed where they have no end.
    oracle
        A policy class to measure regret against.

    Attributes
    ----------
    labels
        coba's actions in the order of our numbers; described ones have none, and are not listed.

    Examples
    --------
    >>> import coba as cb
    >>> import hannan as hn
    >>> simulation = cb.Environments.from_lambda(
    ...     100, lambda i: i % 2, lambda i, x: ["left", "right"], lambda i, x, a: x * (a == "right")
    ... )
    >>> environment = hn.adapters.FromCoba(simulation)
    >>> environment.horizon, environment.labels
    (100, ['left', 'right'])
    >>> bandit = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 2), seed=0)
    >>> trace = hn.play(bandit, environment)
    >>> float(trace.losses.sum()) < 65
    True
    """

    def __init__(
        self,
        environment: Any,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
        encoding: Encoding = None,
        actions: Actions = "names",
        action_encoding: Encoding = None,
        take: int | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        self.environment = environment
        self.reward_range = reward_range
        self.encoding = encoding
        self.actions = actions
        self.action_encoding = action_encoding
        self.take = take
        self.oracle = oracle
        rewards = Scale(self, reward_range)
        translation = Translation(self, encoding, actions, action_encoding)
        self._contexts: list[Any] = []
        offers: list[tuple[list[int], list[float]]] = []
        for interaction in interactions(environment, "FromCoba", take):
            offered, earn = _offer(interaction)
            losses = [rewards.loss(earn(action)) for action in offered]
            context, numbers = translation.read(interaction.get("context"), offered)
            translation.keep(offered)
            offers.append((numbers, losses))
            self._contexts.append(context)
        if not offers:
            raise ParameterError(
                "FromCoba found no interactions. A source made from an iterator can be read once: "
                "give coba a list."
            )
        self.labels = translation.labels
        # Described actions are those that a round offers.
        K = None if translation.described else len(self.labels)
        self.n_actions = K  # type: ignore[assignment]
        self._losses, self._available = _tables(offers, K)
        self.oblivious = all(some is None for some in self._available)  # type: ignore[misc]

    @property
    def horizon(self) -> int:
        return len(self._contexts)

    @property
    def contexts(self) -> list[Any]:
        return self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > self.horizon:
            raise ParameterError(f"FromCoba holds {self.horizon} rounds; {horizon} were asked for.")
        for t in range(horizon):
            context, losses = self._contexts[t], self._losses[t]
            yield Round(context, losses, available=self._available[t])


def _offer(interaction: Any) -> tuple[list[Any], Any]:
    """The actions of an interaction, and the function that rewards them."""
    actions, earn = interaction.get("actions"), interaction.get("rewards")
    if earn is None:
        raise ParameterError(
            "FromCoba needs interactions with rewards for all actions; got one with "
            f"{sorted(interaction)}. Of logged ones hannan.adapters.log_from_coba makes a log."
        )
    if not actions:
        raise ParameterError(
            f"FromCoba needs a list of actions; got {actions!r}. Continuous actions have to be "
            "discretised first."
        )
    return actions, earn


def _tables(
    offers: list[tuple[list[int], list[float]]], n_actions: int | None
) -> tuple[list[FloatArray], list[list[int] | None]]:
    """Return the losses of each round, and the actions offered, None for all."""
    table: list[FloatArray] = []
    available: list[list[int] | None] = []
    for numbers, losses in offers:
        row = np.ones(n_actions or len(losses))  # what an action that is not offered costs is moot
        row[numbers] = losses
        table.append(row)
        available.append(sorted(numbers) if len(numbers) < len(row) else None)
    return table, available
