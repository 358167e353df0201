"""The game: context, action, loss, round after round."""

from __future__ import annotations

from collections.abc import Callable

from hannan.core import Environment, Feedback, InputTypeError, Learner, Oracle, ParameterError
from hannan.core.validation import check_integer, check_seed
from hannan.experiments.game import Game, world_rng
from hannan.experiments.trace import Trace


def play(
    learner: Learner,
    environment: Environment,
    horizon: int | None = None,
    seed: int | None = None,
    *,
    feedback: str | Feedback | None = None,
    oracle: Oracle | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Let a learner play an environment and record what happened.

    Parameters
    ----------
    learner
        Plays on from the state it is in.
    environment
        Yields the rounds.
    horizon
        Number of rounds; by default the environment's own.
    seed
        Of the environment. The learner has a seed of its own, which may be the same number: they
        share no randomness.
    feedback
        What the learner is shown: "full" (all losses) or "bandit" (those of the chosen elements;
        "semi" and "semi-bandit" mean the same). By default what the learner takes.
    oracle
        The policy class that regret is measured against; by default the learner's, else the
        environment's.
    progress
        Called after each round with its number.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 1], [1, 0]])
    >>> world = hn.environments.FromArrays([0, 1] * 50, [[0, 1], [1, 0]] * 50)
    >>> trace = hn.play(hn.ContextFTPL(oracle, seed=0), world)
    >>> trace.regret()
    0.0
    >>> trace.best_policy.index
    0
    """
    if isinstance(learner, Environment) and isinstance(environment, Learner):
        raise InputTypeError("play takes the learner first: play(learner, environment).")
    rounds = environment.horizon if horizon is None else horizon
    if rounds is None:
        raise ParameterError(
            f"play needs horizon=, the number of rounds: {type(environment).__name__} has no end."
        )
    check_integer("play", "horizon", rounds, 1)
    shown = _feedback(learner, feedback)
    rng = world_rng(check_seed("play", seed))
    calls = learner.oracle_calls
    first = getattr(learner, "clock", 0)  # anything with the two verbs may play
    trace = Trace(oracle or learner.oracle or environment.oracle, first)
    for t, this_round in enumerate(Game(learner, environment, rounds, rng, shown), start=1):
        trace.record(this_round)
        if progress is not None:
            progress(t)
    trace.oracle_calls = learner.oracle_calls - calls
    return trace


def _feedback(learner: Learner, wanted: str | Feedback | None) -> Feedback:
    words = {"full": Feedback.FULL, "semi": Feedback.BANDIT}
    words |= {"bandit": Feedback.BANDIT, "semi-bandit": Feedback.BANDIT}
    found = words.get(wanted) if isinstance(wanted, str) else wanted or learner.feedback
    if found is None:
        raise ParameterError(f"feedback must be one of {', '.join(words)}; got {wanted!r}.")
    if found is not learner.feedback:
        raise ParameterError(
            f"{type(learner).__name__} learns from {learner.feedback.value} feedback and cannot be "
            f"played with feedback={wanted!r}."
        )
    return found
