"""Environments of coba for Hannan's learners, and Hannan's environments for coba's learners."""

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
    r"""Replay the interactions of a coba environment in order (an oblivious adversary).

    A reward r in [low, high] is the loss :math:`(high - r)/(high - low)`. The environment is read
    once and prepared as in coba's evaluators, so `CobaLearner` plays the same rounds.


    Parameters
    ----------
    environment
        A coba environment with `actions` and `rewards`. For logged interactions use
        `log_from_coba`.
    reward_range
        Range (low, high) of the rewards. Default (0, 1).
    encoding, actions, action_encoding
        Conversion of contexts and actions, as in `CobaLearner`. With actions="items" the context of
        a round is a `Menu` of the offered actions.
    take
        Maximum number of interactions to read; required if the environment has no end. Default:
        all.
    oracle
        Policy class (oracle) that regret is measured against. Default None.

    Attributes
    ----------
    labels
        coba's actions in the order of their numbers; empty for actions with features.

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
                "FromCoba found no interactions. A source made from an iterator can be read only "
                "once: pass a list to coba."
            )
        self.labels = translation.labels
        # With actions="items", each round has its actions.
        K = None if translation.takes_items else len(self.labels)
        self.n_actions = K  # type: ignore[assignment]
        self._losses: list[FloatArray] = []
        self._available: list[list[int] | None] = []  # None for all
        for numbers, losses in offers:
            row = np.ones(K or len(losses))  # losses of unavailable actions are ignored
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
            raise ParameterError(
                f"FromCoba has {self.horizon} rounds, less than the horizon {horizon}."
            )
        for t in range(horizon):
            yield Round(self._contexts[t], self._losses[t], available=self._available[t])


def _offer(interaction: Any) -> tuple[list[Any], Any]:
    """Return the actions of an interaction, and the function that rewards them."""
    actions, earn = interaction.get("actions"), interaction.get("rewards")
    if earn is None:
        raise ParameterError(
            "FromCoba needs interactions with rewards for all actions; got one with "
            f"{sorted(interaction)}. For logged interactions use hannan.adapters.log_from_coba."
        )
    if not actions:
        raise ParameterError(
            f"FromCoba needs a list of actions; got {actions!r}. Discretise continuous actions "
            "first."
        )
    return actions, earn


class ToCoba:
    r"""An environment of Hannan as a coba environment of interactions.

    The loss ℓ in [0, 1] becomes the reward :math:`high - \ell\,(high - low)`. Actions are the
    integers 0..K-1. Actions with features become the tuples of their features, because coba has no
    ids. Contexts that are vectors become tuples. Reading the environment again yields the same
    rounds.

    Parameters
    ----------
    environment
        An environment whose rounds do not depend on the actions, because coba does not report
        actions to an environment.
    horizon
        Number of rounds. Default: all rounds; required if their number is not fixed.
    seed
        Seed of the rounds. Default 0.
    reward_range
        Range (low, high) of the rewards. Default (0, 1).

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
                f"{type(environment).__name__} has no last round. Pass the number of rounds as "
                "horizon=."
            )
        self.horizon = check_integer(self, "horizon", last, 1)
        self.seed = check_integer(self, "seed", seed, 0)
        self.reward_range = reward_range
        self._rewards = Scale(self, reward_range)

    @property
    def params(self) -> dict[str, Any]:
        """Description of the environment in coba's tables."""
        return {
            "env_type": f"hannan.{type(self.environment).__name__}",
            "environment": repr(self.environment),
            "n_interactions": self.horizon,
            "seed": self.seed,
        }

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the interactions, with context, actions and rewards."""
        rng = np.random.default_rng(self.seed)
        for t, this_round in enumerate(self.environment.rounds(self.horizon, rng)):
            where = f"Round {t} of {type(self.environment).__name__}"
            losses: Any = this_round.reveal(0)  # no side effect: the environment is oblivious
            if np.ndim(losses) != 1 or this_round.delay or this_round.weight != 1.0:
                raise ParameterError(
                    f"{where} cannot be an interaction of coba. An interaction needs a reward for "
                    "each action, without delay and with weight 1."
                )
            rewards = self._rewards.rewards(f"Round {t} of ToCoba", losses).tolist()
            check_rows_differ(this_round.context, where)
            context, actions = as_coba(this_round.context, range(len(rewards)))
            yield {"context": context, "actions": actions, "rewards": rewards}


def _check_readable(environment: Any) -> Environment:
    if not isinstance(environment, Environment):
        raise InputTypeError(f"ToCoba needs an environment of hannan; got {short(environment)}.")
    if isinstance(environment, LogReplay):
        raise ParameterError(
            f"{type(environment).__name__} does not know the losses of other actions. Pass its log "
            "to hannan.adapters.log_to_coba."
        )
    if not environment.oblivious:
        raise ParameterError(
            f"The rounds of {type(environment).__name__} depend on the learner's actions or on "
            "their availability, which coba's interactions do not support. Run it with hn.play."
        )
    if environment.oracle is not None and environment.oracle.chooses_sets:
        raise ParameterError(
            f"coba plays single actions, but {type(environment).__name__} has sets as actions. Run "
            "it with hn.play."
        )
    return environment
