"""What a policy would have paid in the rounds of a log."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.predictor import adopt, check_guess
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_choice,
    check_integer,
    check_loss_range,
    check_positive,
    refuse,
)
from hannan.off_policy.log import Log, check_inverse
from hannan.off_policy.rules import probabilities
from hannan.predictors import Hybrid, Mean, Ridge

Interval = tuple[float, float]

_ESTIMATORS = ("ips", "snips", "dr")
_INTERVALS = ("normal", "bootstrap", "bernstein")

_FEW = 50  # rounds' worth, below which the central limit theorem is a poor guide
_HEAVY = 0.1  # share of one round in all weight
_ROUNDED = 0.01  # how far ratios may be off where a log holds rounded propensities


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The mean loss of a policy, estimated from a log.

    Attributes
    ----------
    value
        The estimate.
    standard_error
        Its standard deviation, estimated from how the rounds vary.
    interval
        (low, high) of confidence `level`, by the method `kind`.
    mass
        The mean of the ratios π/q, which is 1 on average if the log has tried all that the policy
        does. What is missing to 1, times the largest loss, is how far "ips" is too low.
    effective
        How many rounds of the policy's own play would tell as much: (Σρ)²/Σρ².
    heaviest
        The largest ratio.
    notes
        What is not to be trusted in this estimate.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    kind: str
    estimator: str
    rounds: int
    mass: float
    effective: float
    heaviest: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            f"mean loss {self.value:.4g}, in [{low:.4g}, {high:.4g}] with confidence {self.level:g}"
            f" ({self.estimator}, {self.kind}; {self.rounds} rounds, worth {self.effective:,.0f})"
        ]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def evaluate(
    log: Log,
    policy: Any,
    estimator: str = "dr",
    *,
    model: Any = None,
    folds: int | None = None,
    inverse: str = "propensities",
    clip: float | None = None,
    interval: str = "normal",
    level: float = 0.95,
    loss_range: tuple[float, float] | None = None,
    max_ratio: float | None = None,
    samples: int = 1000,
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""The mean loss that a policy would have had, from the log of another one.

    With the ratios :math:`\rho_t = \pi(a_t \mid x_t)/q_t(a_t)` of the policy to be judged to the
    one that was logged, the estimates of :math:`\frac1n \sum_t \sum_a \pi(a \mid x_t) \ell_t(a)`
    are

    .. math:: \text{ips:}\; \frac1n \sum_t \rho_t \ell_t, \qquad
              \text{snips:}\; \frac{\sum_t \rho_t \ell_t}{\sum_t \rho_t}, \qquad
              \text{dr:}\; \frac1n \sum_t \Big(\sum_a \pi(a \mid x_t) m_t(a)
              + \rho_t (\ell_t - m_t(a_t))\Big)

    with guesses m of the losses. "ips" and "dr" are unbiased, "dr" whatever the guesses are;
    "snips" is biased by O(1/n) but, like "dr", does not change with a constant added to all
    losses. A policy that would never have chosen what was logged is refused, unless with
    interval="bernstein".

    Parameters
    ----------
    log
        What was logged.
    policy
        As in `probabilities`.
    estimator
        "dr", "snips" or "ips".
    model
        m, for "dr": a predictor, or a table [n, K]; by default `predictors.Ridge` where contexts
        are vectors, else `predictors.Mean`. Only a table made without the losses it predicts
        keeps the estimate unbiased.
    folds
        None: each round is guessed from the rounds before it, so that the estimate stays unbiased
        where the logging policy learned as it went. An integer k: round t is guessed from all
        rounds s with s ≠ t modulo k, which are more; right where the logging policy was fixed.
    inverse
        Where 1/q comes from: "propensities", or "weights", the log's own estimates of 1/q.
    clip
        Ratios are cut there: less variance, and a bias towards 0 ("dr": towards the guesses).
    interval
        "normal" (central limit theorem) and "bootstrap" (percentiles): right in the limit of many
        rounds only. "bernstein": right for any number of rounds, however the past entered the
        logging, but wider; not for "snips", and needs `loss_range` and `max_ratio`.
    level
        Confidence of the interval.
    loss_range
        (low, high) of the losses. Guesses are moved there.
    max_ratio
        A bound on ρ that was known in advance, such as K for uniform logging; by default `clip`.
    samples
        Of the bootstrap.
    draws
        Where the policy is a learner that does not know its law.
    seed
        Of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> import hannan as hn
    >>> rng = np.random.default_rng(0)
    >>> contexts, actions = rng.integers(3, size=2000), rng.integers(3, size=2000)
    >>> losses = np.where(actions == contexts, 0.2, 0.7) + rng.uniform(-0.2, 0.2, size=2000)
    >>> log = hn.off_policy.Log(contexts, actions, losses, np.full(2000, 1 / 3), n_actions=3)
    >>> print(hn.off_policy.evaluate(log, lambda context: context))
    mean loss 0.1975, in [0.1889, 0.2061] with confidence 0.95 (dr, normal; 2000 rounds, worth 640)

    References
    ----------
    [dudik2011], [swaminathan2015], [fan2015], [howard2021]
    """
    _check(log, estimator, interval, inverse, level)
    if interval == "bernstein" and estimator == "dr" and folds is not None:
        raise refuse("evaluate", "folds", "None with interval='bernstein'", folds)
    low_high = check_loss_range("evaluate", loss_range)
    if log.losses.min() < low_high[0] or log.losses.max() > low_high[1]:
        raise ParameterError(
            f"loss_range={loss_range} does not hold the losses of the log, which go from "
            f"{log.losses.min():g} to {log.losses.max():g}."
        )
    table, each = probabilities(policy, log, draws), np.arange(len(log))
    chosen = table[each, log.actions]
    ratios = chosen * log.weights if inverse == "weights" else chosen / log.propensities
    cut = 0
    if clip is not None:
        cut = int((ratios > check_positive("evaluate", "clip", clip)).sum())
        ratios = np.minimum(ratios, clip)
    if interval != "bernstein" and not ratios.any():
        raise ParameterError(
            f"policy= would have chosen the logged action in none of {len(log)} rounds, so the log "
            "does not show what it would have paid. Log with a policy that tries all actions; "
            "where it did, interval='bernstein' bounds the loss all the same."
        )
    terms, masses = ratios * log.losses, np.ones(len(log))
    if estimator == "dr":
        guesses = _predictions(log, model, folds, low_high)
        off = log.losses - guesses[each, log.actions]
        terms = (table * guesses).sum(axis=1) + ratios * off
    elif estimator == "snips":
        masses = ratios
    value = float(terms.sum() / masses.sum())
    error = _standard_error((terms - value * masses) / masses.mean())
    if interval == "normal":
        width = NormalDist().inv_cdf(0.5 + level / 2.0) * error
        low, high = value - width, value + width
    elif interval == "bootstrap":
        check_integer("evaluate", "samples", samples, 2)
        low, high = _bootstrap(terms, masses, level, samples, seed)
    else:
        spans = _spans(ratios, estimator, low_high, max_ratio or clip)
        low, high = _bernstein(terms, *spans, level)
    return Estimate(
        value=value,
        standard_error=error,
        interval=(low, high),
        level=float(level),
        kind=interval,
        estimator=estimator,
        rounds=len(log),
        mass=float(ratios.sum()) / len(log),
        effective=_effective(ratios),
        heaviest=float(ratios.max()),
        notes=tuple(_notes(ratios, interval, cut)),
    )


def _check(log: Log, estimator: str, interval: str, inverse: str, level: float) -> None:
    if not isinstance(log, Log) or len(log) < 2:
        raise refuse("evaluate", "log", "a Log with two rounds or more", log)
    check_choice("evaluate", "estimator", estimator, _ESTIMATORS)
    check_choice("evaluate", "interval", interval, _INTERVALS)
    check_inverse("evaluate", log, inverse)
    if not 0.0 < check_positive("evaluate", "level", level) < 1.0:
        raise refuse("evaluate", "level", "a number in (0, 1)", level)
    if interval == "bernstein" and estimator == "snips":
        raise ParameterError(
            "interval='bernstein' is for means of rounds, which 'snips' is not: use 'dr' or 'ips', "
            "or another interval."
        )


def _predictions(log: Log, model: Any, folds: int | None, loss_range: LossRange) -> FloatArray:
    """The table [n, K] of guesses; `model` and `folds` as in `evaluate`.

    It is 0 for what a menu does not offer, about which nobody asks.
    """
    if isinstance(model, np.ndarray | list | tuple):
        return _given(model, log, loss_range)
    predictor, rounds = _default(log) if model is None else model, range(len(log))
    table = np.zeros((len(log), log.n_actions))
    if folds is None:
        guesser = _prepared(predictor, log)
        for t in rounds:
            _guess(guesser, log, t, loss_range, table[t])
            guesser.learn(log.contexts[t], int(log.actions[t]), float(log.losses[t]))
        return table
    k = check_integer("evaluate", "folds", folds, 2)
    if not hasattr(predictor, "clone"):
        raise InputTypeError(
            f"model={predictor!r} has no clone(), so it cannot be fitted once for each fold. Use "
            "folds=None."
        )
    for fold in range(k):
        guesser = _prepared(predictor, log)
        for t in rounds:
            if t % k != fold:
                guesser.learn(log.contexts[t], int(log.actions[t]), float(log.losses[t]))
        for t in rounds[fold::k]:
            _guess(guesser, log, t, loss_range, table[t])
    return table


def _prepared(predictor: Any, log: Log) -> Any:
    guesser = adopt(predictor, "model")
    if hasattr(guesser, "prepare") and not log.described:
        guesser.prepare(log.n_actions)
    return guesser


def _guess(guesser: Any, log: Log, t: int, loss_range: LossRange, row: FloatArray) -> None:
    ask, context = getattr(guesser, "estimate", guesser.predict), log.contexts[t]
    K = len(context) if log.described else log.n_actions
    row[:K] = check_guess(guesser, ask(context), K, loss_range)


def _given(model: Any, log: Log, loss_range: LossRange) -> FloatArray:
    table = np.array(model, dtype=np.float64)
    fits = table.shape == (len(log), log.n_actions) and np.isfinite(table).all()
    if not fits or table.min() < loss_range[0] or table.max() > loss_range[1]:
        raise ParameterError(
            f"model= must be a predictor or finite numbers [{len(log)}, {log.n_actions}] within "
            f"loss_range, a guess for each action in each round; got an array of shape "
            f"{table.shape}."
        )
    return table


def _default(log: Log) -> Any:
    if log.features is not None:
        return Ridge()
    if log.described:
        return Hybrid()
    try:
        hash(tuple(log.contexts))
    except TypeError:
        return Mean(by_context=False)
    return Mean()


def _effective(ratios: FloatArray) -> float:
    top = ratios.max()
    if not top:
        return 0.0
    shares = ratios / top  # squares of tiny ratios would be 0
    return float(shares.sum() ** 2 / (shares**2).sum())


def _standard_error(terms: FloatArray) -> float:
    return float(terms.std(ddof=1)) / math.sqrt(len(terms))


def _spans(
    ratios: FloatArray, estimator: str, loss_range: LossRange, max_ratio: float | None
) -> tuple[Interval, Interval]:
    """Where the terms of an estimate lie, and where their means do."""
    if max_ratio is None or not math.isfinite(loss_range[1]):
        raise ParameterError(
            "interval='bernstein' holds for bounded terms: it needs loss_range=(low, high), and "
            "max_ratio= (or clip=), a bound on how many times likelier the policy may make an "
            "action than the log did, known in advance and not read off the log."
        )
    top = check_positive("evaluate", "max_ratio", max_ratio)
    if ratios.max() > top * (1.0 + 1e-9):
        raise refuse("evaluate", "max_ratio", f"at least the {ratios.max():g} in the log", top)
    low, high = loss_range
    if estimator == "dr":
        reach = top * (high - low)
        return (low - reach, high + reach), loss_range
    return (min(0.0, top * low), max(0.0, top * high)), (min(0.0, low), max(0.0, high))


def _bootstrap(
    terms: FloatArray, masses: FloatArray, level: float, samples: int, seed: int
) -> Interval:
    """Percentiles of Σ terms / Σ masses over rounds drawn with replacement."""
    rng = np.random.default_rng(seed)
    n = len(terms)
    found = np.empty(samples)
    for i in range(samples):
        drawn = rng.integers(n, size=n)
        mass = masses[drawn].sum()
        found[i] = terms[drawn].sum() / mass if mass else np.nan
    low, high = np.nanquantile(found, [0.5 - level / 2.0, 0.5 + level / 2.0])
    return float(low), float(high)


def _bernstein(terms: FloatArray, span: Interval, guesses: Interval, level: float) -> Interval:
    r"""An empirical Bernstein interval for :math:`\frac1n \sum_t E[z_t \mid \text{past}]`.

    With guesses :math:`\hat z_t` known before :math:`z_t`, and :math:`z_t \ge \hat z_t - c`,

    .. math:: \exp\Big(\lambda \sum_t (z_t - E_t[z_t])/c
              - \psi(\lambda) \sum_t (z_t - \hat z_t)^2/c^2\Big),
              \qquad \psi(\lambda) = -\log(1 - \lambda) - \lambda,

    has a mean of at most 1 for each :math:`\lambda \in [0, 1)`, whatever the past does to the
    law of the next term; so for any number of rounds fixed in advance, and for rounds that
    depend on each other. A union over a few λ takes the place of the best one. The terms z lie in
    `span`, their means in `guesses`, where running means are moved to be the :math:`\hat z_t`.
    """
    n, mean = len(terms), float(terms.mean())
    before = np.concatenate(([0.0], np.cumsum(terms)[:-1])) / np.maximum(np.arange(n), 1)
    before[0] = 0.5 * (guesses[0] + guesses[1])
    V = float(((terms - np.clip(before, *guesses)) ** 2).sum())
    over = _deviation(V, n, guesses[1] - span[0], level)
    under = _deviation(V, n, span[1] - guesses[0], level)
    return mean - over, mean + under


def _deviation(V: float, n: int, c: float, level: float) -> float:
    """How far a mean of n terms may lie above its expectation."""
    rates = 2.0 ** -np.arange(1.0, 2.0 + math.ceil(math.log2(n) / 2.0))
    log_odds = math.log(2.0 * len(rates) / (1.0 - level))
    psi = -np.log1p(-rates) - rates
    return float(((log_odds + psi * V / c**2) * c / (rates * n)).min())


def _notes(ratios: FloatArray, interval: str, cut: int) -> list[str]:
    """What makes an estimate doubtful."""
    n, total = len(ratios), float(ratios.sum())
    if not total:
        return ["no logged action is one that the policy would choose"]
    notes = [f"{cut} ratios were cut, which is a bias that no interval counts"] if cut else []
    effective = _effective(ratios)
    if effective < _FEW and interval != "bernstein":
        notes.append(f"worth {effective:.0f} rounds of play: the interval is not to be trusted")
    if ratios.max() > _HEAVY * total:
        notes.append(f"one round carries {ratios.max() / total:.0%} of all weight")
    mass, error = total / n, _standard_error(ratios)
    if abs(mass - 1.0) > max(3.0 * error, _ROUNDED):
        what = "propensities are too small"
        if mass < 1.0:
            what = (
                "the log has not tried all that the policy does, propensities are too large, or "
                "weights were capped"
            )
        notes.append(f"ratios have mean {mass:.3g} (± {error:.2g}) in place of 1: {what}")
    return notes
