"""Run a learner in an environment and record every round."""

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
    """Run a learner in an environment and return a `Trace` of all rounds.

    Parameters
    ----------
    learner
        Learner that chooses the actions. It continues from its current state.
    environment
        Environment that yields the rounds.
    horizon
        Number of rounds, at least 1. Default: the `horizon` of the environment.
    seed
        Seed of the environment. The seed of the learner is separate: the two share no randomness,
        even if the numbers are equal. Default: None, for fresh randomness.
    feedback
        Losses that the learner observes: "full" (all losses) or "bandit" (the losses of the chosen
        elements; synonyms are "semi" and "semi-bandit"). It must agree with the learner's own
        feedback, which is the default.
    oracle
        Policy class that regret is measured against. Default: that of the learner, or else of the
        environment.
    progress
        Function that `play` calls after each round with the number of the round. Default: None.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 1], [1, 0]])
    >>> environment = hn.environments.FromArrays([0, 1] * 50, [[0, 1], [1, 0]] * 50)
    >>> trace = hn.play(hn.ContextFTPL(oracle, seed=0), environment)
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
            f"play needs horizon=, a number of rounds: {type(environment).__name__} is endless."
        )
    check_integer("play", "horizon", rounds, 1)
    shown = _feedback(learner, feedback)
    rng = world_rng(check_seed("play", seed))
    calls = learner.oracle_calls
    first = getattr(learner, "clock", 0)  # `play` accepts any object with `act` and `update`
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
            f"{type(learner).__name__} learns from {learner.feedback.value} feedback; got "
            f"feedback={wanted!r}. Leave feedback= out, or choose another learner."
        )
    return found
