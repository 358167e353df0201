"""The one place where learners are constructed: a change of their parameters is made here."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import hannan as hn

SEED = 3


def full_information(
    oracle: hn.Oracle,
    *,
    contexts: Any = None,
    separator: Any = None,
    pool: Any = None,
    epsilon: float | str = "adaptive",
    eagerness: float | None = None,
    horizon: int | None = None,
    predictor: Any = None,
    trust: str = "earned",
    noise: str = "fresh",
    seed: int = SEED,
    loss_range: tuple[float, float] | None = (0.0, 1.0),
) -> hn.Learner:
    """Algorithm 2, with Laplace noise on a known set of contexts."""
    return hn.ContextFTPL(
        oracle,
        contexts if pool is None else hn.Pool(pool),
        separator,
        epsilon=epsilon if eagerness is None else hn.SelfTuned(eagerness),
        horizon=horizon,
        predictor=predictor,
        trust=trust,
        noise=noise,
        seed=seed,
        loss_range=loss_range,
    )


def semi_bandit(
    oracle: hn.Oracle,
    *,
    contexts: Any = None,
    separator: Any = None,
    pool: Any = None,
    epsilon: float | str = "adaptive",
    eagerness: float | None = None,
    horizon: int | None = None,
    resampling: str = "auto",
    successes: int = 2,
    max_resamples: int | None = None,
    predictor: Any = None,
    trust: str | hn.Trust = "earned",
    seed: int = SEED,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> hn.Learner:
    """Algorithm 3, with Laplace noise on a known set of contexts.

    `resampling` is "auto" (the distribution itself where it is known, else two successes),
    "shared" (one
    success), "rao-blackwell" (`successes` of them) or "exact".
    """
    ways = {
        "auto": hn.Resampling(successes),
        "shared": 1,
        "rao-blackwell": successes,
        "exact": "exact",
    }
    return hn.ContextSemiBanditFTPL(
        oracle,
        contexts if pool is None else hn.Pool(pool),
        separator,
        epsilon=epsilon if eagerness is None else hn.SelfTuned(eagerness),
        horizon=horizon,
        resampling=ways[resampling],
        max_resamples=max_resamples,
        predictor=predictor,
        trust=trust,
        seed=seed,
        loss_range=loss_range,
    )


def tsallis(
    oracle: hn.Oracle,
    *,
    predictor: Any = None,
    trust: str | hn.Trust = "earned",
    seed: int = SEED,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> hn.Learner:
    """Tsallis-INF on a table."""
    return hn.TsallisINF(oracle, predictor=predictor, trust=trust, seed=seed, loss_range=loss_range)


def exp3_ix(oracle: hn.Oracle, *, predictor: Any = None, seed: int = SEED) -> hn.Learner:
    """Exp3-IX on a table."""
    return hn.Exp3IX(oracle, predictor=predictor, seed=seed)


def bandit(n_actions: int, *, seed: int = SEED, **options: Any) -> hn.Learner:
    """The learner to start with under bandit feedback."""
    return hn.bandit(n_actions, seed=seed, **options)


def adaptive_discount(
    oracle: hn.Oracle, *, discounts: Sequence[float] | None = None, **options: Any
) -> hn.Learner:
    """Leaders that forget at several rates, and a master."""
    given = {} if discounts is None else {"discounts": discounts}
    return hn.AdaptiveDiscount(oracle, seed=SEED, **given, **options)


def playout_full(
    oracle: hn.Oracle,
    *,
    sequence: Sequence[Any] | None = None,
    pool: Sequence[Any] | None = None,
    horizon: int | None = None,
    epsilon: float | str = "adaptive",
    seed: int = SEED,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> hn.Learner:
    """Make a learner for full information with noise on later contexts or their distribution."""
    return hn.PlayoutFTPL(
        oracle,
        sequence if pool is None else hn.Pool(pool),
        horizon=horizon,
        epsilon=None if isinstance(epsilon, str) else epsilon,
        seed=seed,
        loss_range=loss_range,
    )


def playout_bandit(
    oracle: hn.Oracle,
    *,
    sequence: Sequence[Any] | None = None,
    pool: Sequence[Any] | None = None,
    horizon: int | None = None,
    epsilon: float | str = "adaptive",
    seed: int = SEED,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> hn.Learner:
    """Bandit feedback with noise on the contexts to come."""
    return hn.PlayoutBandit(
        oracle,
        sequence if pool is None else hn.Pool(pool),
        horizon=horizon,
        epsilon=None if isinstance(epsilon, str) else epsilon,
        seed=seed,
        loss_range=loss_range,
    )


def ftpl(
    oracle: hn.Oracle,
    fake_outcomes: Callable[[Any], Iterable[tuple[Any, Any]]],
    *,
    predictor: Any = None,
    trust: str = "earned",
    seed: int = SEED,
) -> hn.Learner:
    """Algorithm 1."""
    return hn.FTPL(oracle, fake_outcomes, predictor=predictor, trust=trust, seed=seed)


def restarting(
    learner: hn.Learner,
    *,
    detector: Any = None,
    predictor: Any = None,
    max_restarts: int | None = None,
) -> hn.Learner:
    """A learner that starts anew when a detector reports drift."""
    return hn.Restarting(learner, detector, predictor=predictor, max_restarts=max_restarts)


def discounted(learner: hn.Learner, discount: float) -> hn.Learner:
    """Discounted losses."""
    return hn.Discounted(learner, discount)


def strongly_adaptive(learner: hn.Learner, *, shortest: int = 8, seed: int = SEED) -> hn.Learner:
    """Copies on covering intervals."""
    return hn.StronglyAdaptive(learner, shortest=shortest, seed=seed)


def baseline(name: str, *given: Any, **options: Any) -> hn.Learner:
    """One of `hn.baselines`."""
    learner: hn.Learner = getattr(hn.baselines, name)(*given, **options)
    return learner
