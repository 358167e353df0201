"""Environments of ours, to be played by learners of coba."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.adapters._rewards import Scale
from hannan.adapters.coba.encoding import as_coba, check_rows_differ, offer
from hannan.core import Environment, InputTypeError, Menu, ParameterError, Round
from hannan.core.params import short
from hannan.core.validation import check_integer
from hannan.off_policy import LogReplay


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
    >>> result = cb.Experiment(world, [cb.RandomLearner()]).run(quiet=True)
    >>> len(result.interactions)
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
        if horizon is None and environment.horizon is None:
            raise ParameterError(
                f"{type(environment).__name__} has no last round: say how many, horizon=."
            )
        given = environment.horizon if horizon is None else horizon
        self.horizon = check_integer(self, "horizon", given, 1)
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
            rewards = self._earned(t, this_round)
            context = this_round.context
            if isinstance(context, Menu):
                check_rows_differ(context, f"Round {t} of {type(self.environment).__name__}")
                context, actions = offer(context)
            else:
                context, actions = as_coba(context), list(range(len(rewards)))
            yield {"context": context, "actions": actions, "rewards": rewards}

    def _earned(self, t: int, this_round: Round) -> list[float]:
        losses: Any = this_round.reveal(0)  # which changes nothing: the environment is oblivious
        if np.ndim(losses) != 1 or this_round.delay or this_round.weight != 1.0:
            raise ParameterError(
                f"Round {t} of {type(self.environment).__name__} cannot be an interaction of coba: "
                "that has a reward for each action, at once, and counts as much as any other."
            )
        rewards: list[float] = self._rewards.rewards(f"Round {t} of ToCoba", losses).tolist()
        return rewards


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
