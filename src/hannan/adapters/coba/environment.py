"""Environments of coba for learners of ours, and of ours for learners of coba."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.adapters._rewards import Scale
from hannan.adapters._rows import Encoding
from hannan.adapters.coba.encoding import (
    Actions,
    Translation,
    as_coba,
    check_rows_differ,
    interactions,
)
from hannan.core import Environment, InputTypeError, Oracle, ParameterError, Round
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_integer
from hannan.off_policy import LogReplay


class FromCoba(Environment):
    r"""The interactions of a coba environment, in order: an oblivious adversary.

    A reward r in [low, high] is the loss :math:`(high - r)/(high - low)`. The environment is read
    once and prepared as coba's own evaluators do it: `CobaLearner` plays the same.

    Parameters
    ----------
    environment
        A coba environment with `actions` and `rewards`; logged ones are for `log_from_coba`.
    reward_range
        (low, high) of the rewards.
    encoding, actions, action_encoding
        How contexts and actions become ours: as in `CobaLearner`. With actions="items" the
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
    >>> bool(hn.play(bandit, environment).losses.sum() < 65)
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
        K = None if translation.takes_items else len(self.labels)
        self.n_actions = K  # type: ignore[assignment]
        self._losses: list[FloatArray] = []
        self._available: list[list[int] | None] = []  # None for all
        for numbers, losses in offers:
            row = np.ones(K or len(losses))  # what an action that is not offered costs is moot
            row[numbers] = losses
            self._losses.append(row)
            self._available.append(sorted(numbers) if len(numbers) < len(row) else None)
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
            yield Round(self._contexts[t], self._losses[t], available=self._available[t])


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


class ToCoba:
    r"""The rounds of an environment of ours as interactions of coba.

    The loss ℓ in [0, 1] becomes the reward :math:`high - \ell\,(high - low)`. Actions are the
    integers 0..K-1; described ones are the tuples of their features, as coba has no place for ids.
    Contexts that are vectors become tuples. Reading it again gives the same rounds.

    Parameters
    ----------
    environment
        One whose rounds do not depend on what is played: coba tells an adversary nothing.
    horizon
        The number of rounds; by default all of them, where that is fixed.
    seed
        Of the rounds.
    reward_range
        (low, high) of the rewards.

    Examples
    --------
    >>> import coba as cb
    >>> import hannan as hn
    >>> planted = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(4, 3))
    >>> world = hn.adapters.ToCoba(planted, horizon=20)
    >>> next(world.read())["actions"]
    [0, 1, 2]
    >>> len(cb.Experiment(world, [cb.RandomLearner()]).run(quiet=True).interactions)
    20
    """

    def __init__(
        self,
        environment: Environment,
        *,
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.environment = _check_readable(environment)
        last = environment.horizon if horizon is None else horizon
        if last is None:
            raise ParameterError(
                f"{type(environment).__name__} has no last round: say how many, horizon=."
            )
        self.horizon = check_integer(self, "horizon", last, 1)
        self.seed = check_integer(self, "seed", seed, 0)
        self.reward_range = reward_range
        self._rewards = Scale(self, reward_range)

    @property
    def params(self) -> dict[str, Any]:
        """What describes the environment in coba's tables."""
        return {
            "env_type": f"hannan.{type(self.environment).__name__}",
            "environment": repr(self.environment),
            "n_interactions": self.horizon,
            "seed": self.seed,
        }

    def read(self) -> Iterator[dict[str, Any]]:
        """The interactions, with context, actions and rewards."""
        rng = np.random.default_rng(self.seed)
        for t, this_round in enumerate(self.environment.rounds(self.horizon, rng)):
            where = f"Round {t} of {type(self.environment).__name__}"
            losses: Any = this_round.reveal(0)  # which changes nothing: nobody reacts to it
            if np.ndim(losses) != 1 or this_round.delay or this_round.weight != 1.0:
                raise ParameterError(
                    f"{where} cannot be an interaction of coba: that has a reward for each action, "
                    "at once, and counts as much as any other."
                )
            rewards = self._rewards.rewards(f"Round {t} of ToCoba", losses).tolist()
            check_rows_differ(this_round.context, where)
            context, actions = as_coba(this_round.context, range(len(rewards)))
            yield {"context": context, "actions": actions, "rewards": rewards}


def _check_readable(environment: Any) -> Environment:
    if not isinstance(environment, Environment):
        raise InputTypeError(f"ToCoba takes an environment of hannan; got {short(environment)}.")
    if isinstance(environment, LogReplay):
        raise ParameterError(
            f"{type(environment).__name__} does not know what other actions would have cost: give "
            "its log to hannan.adapters.log_to_coba."
        )
    if not environment.oblivious:
        raise ParameterError(
            f"The rounds of {type(environment).__name__} depend on what is played, or on which "
            "actions are available, which coba's interactions cannot: play it with hn.play."
        )
    if environment.oracle is not None and environment.oracle.chooses_sets:
        raise ParameterError(
            f"coba plays single actions, and those of {type(environment).__name__} are sets."
        )
    return environment
