"""Estimates of the mean outcome of a policy, from a log of another policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.display import page, paragraph, table
from hannan.core.frames import by_column, frame
from hannan.core.plots import Dot, axes, draw_dots, draw_line, legend
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
from hannan.off_policy.set_log import SetLog
from hannan.predictors import Hybrid, Mean, Ridge

Interval = tuple[float, float]

_ESTIMATORS = ("auto", "dr", "snips", "ips")
_INTERVALS = ("normal", "bootstrap", "bernstein")

_PLURAL = {"loss": "losses", "reward": "rewards"}
_ASSUMED = (
    "propensities were estimated: right only if the contexts contain every variable that "
    "influenced both the logged actions and the outcomes"
)
_FEW = 50  # effective sample size, below which the central limit theorem is a poor guide
_CLEARLY = 0.9  # ratio of standard errors, from which "dr" is not replaced
_HEAVY = 0.1  # share of one round in the total weight
_ROUNDED = 0.01  # error of mean ratios if a log has rounded propensities


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean outcome of a policy minus the mean outcome of its comparison.

    Attributes
    ----------
    value
        The estimate, in the units of the log; positive if the policy's outcomes are larger.
    standard_error
        Standard error of the difference. The two means come from the same rounds, so it differs
        from the error of independent means.
    interval
        Confidence interval (low, high), with the level and the method of the `Estimate`.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval[1]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The mean outcome of a policy, estimated from a log, in the units of the log.

    Attributes
    ----------
    value
        The estimate.
    standard_error
        Standard error of the estimate, from the variance between rounds.
    interval
        Confidence interval (low, high) of level `level`, by the method `kind`.
    estimator
        The estimator that was used, "dr", "snips" or "ips".
    mean_weight
        Mean importance weight π/q. Its expectation is 1 if every action of the policy had a
        positive probability in the log. If it is below 1, "ips" is too low by up to the difference
        times the largest loss.
    effective
        Effective sample size (Σρ)²/Σρ²: the number of rounds of the policy itself that would be
        as informative.
    heaviest
        Largest importance weight.
    notes
        Warnings about this estimate.
    unit
        "reward" or "loss".
    logged
        Mean of the logged outcomes.
    difference
        The policy's mean minus the logged mean, or minus the mean of the policy `against`, with an
        interval.
    compared
        Description of the comparison, with its mean.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    kind: str
    estimator: str
    rounds: int
    mean_weight: float
    effective: float
    heaviest: float
    notes: tuple[str, ...]
    unit: str
    logged: float
    difference: Difference
    compared: str

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval[1]

    def to_frame(self) -> Any:
        """Return a frame with one row.

        The columns are unit, estimate, low, high, standard_error, compared, difference,
        difference_low, difference_high, logged, level, interval, estimator, rounds, mean_weight,
        effective and heaviest.
        """
        gap = self.difference
        row = {
            "unit": self.unit,
            "estimate": self.value,
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_error,
            "compared": self.compared,
            "difference": gap.value,
            "difference_low": gap.low,
            "difference_high": gap.high,
            "logged": self.logged,
            "level": self.level,
            "interval": self.kind,
        }
        more = "estimator", "rounds", "effective", "mean_weight", "heaviest"
        return frame(by_column([row | {name: getattr(self, name) for name in more}]))

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimate with its interval, and return matplotlib's axes.

        The dashed line is the mean of the comparison. The difference and its interval are below
        the axis. Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        ax = axes(self, ax, 1)
        sure = f"{100.0 * self.level:.4g} % interval"
        dot = Dot("the policy", self.value, self.interval)
        draw_dots(ax, [dot], f"mean {self.unit} per round\n{self._gap}", narrow=sure)
        draw_line(ax, self.value - self.difference.value, self.compared)
        legend(ax)
        return ax

    def __str__(self) -> str:
        return "\n  ".join([self._estimated, self._gap, *self.notes])

    def _repr_html_(self) -> str:
        heads = ("", f"mean {self.unit}", f"{100.0 * self.level:.4g} % interval")
        gap = self.difference
        rows = [
            ("the policy", f"{self.value:.4g}", f"{self.low:.4g} to {self.high:.4g}"),
            ("difference", f"{gap.value:.3g}", f"{gap.low:.3g} to {gap.high:.3g}"),
        ]
        warnings = [paragraph(note, warning=True) for note in self.notes]
        return page(
            paragraph(self._gap, strong=True),
            table(heads, rows),
            paragraph(self._estimated),
            *warnings,
        )

    @property
    def _estimated(self) -> str:
        """Sentence with the estimate, its interval and the method."""
        return (
            f"mean {self.unit} {self.value:.4g}, {100.0 * self.level:.4g} % interval "
            f"{self.low:.4g} to {self.high:.4g} ({self.estimator}, {self.kind}; {self.rounds:,} "
            f"rounds, effective sample size {self.effective:,.0f})"
        )

    @property
    def _gap(self) -> str:
        """Sentence with the difference and its interval."""
        gap, sure = self.difference, f"{100.0 * self.level:.4g} % interval"
        more = "more" if gap.value >= 0.0 else "less"
        ends = (gap.low, gap.high) if gap.value >= 0.0 else (-gap.high, -gap.low)
        unclear = ": no clear difference" if gap.low <= 0.0 <= gap.high else ""
        return (
            f"{abs(gap.value):.3g} {more} than {self.compared}, {sure} {ends[0]:.3g} to "
            f"{ends[1]:.3g}{unclear}"
        )


def evaluate(
    log: Log | SetLog,
    policy: Any,
    estimator: str = "auto",
    *,
    against: Any = "logged",
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
    check: bool = True,
) -> Estimate:
    r"""Estimate the mean outcome of a policy from the log of another policy.

    With the importance weights :math:`\rho_t = \pi(a_t \mid x_t)/q_t(a_t)` of the policy to the
    logged one, the estimates of :math:`\frac1n \sum_t \sum_a \pi(a \mid x_t) \ell_t(a)` are

    .. math:: \text{ips:}\; \frac1n \sum_t \rho_t \ell_t, \qquad
              \text{snips:}\; \frac{\sum_t \rho_t \ell_t}{\sum_t \rho_t}, \qquad
              \text{dr:}\; \frac1n \sum_t \Big(\sum_a \pi(a \mid x_t) m_t(a)
              + \rho_t (\ell_t - m_t(a_t))\Big)

    with predictions m of the outcomes. "ips" and "dr" are unbiased, "dr" for any predictions;
    "snips" is biased by O(1/n) but, like "dr", does not change with a constant added to all
    outcomes. All estimates are in the units of the log. A policy that would never have chosen the
    logged action raises an error, unless interval="bernstein".

    For sets of elements, "ips" and "dr" (default) add up these terms over the elements of the
    policy's set. The predictions are the mean losses of the elements in the earlier rounds.

    Parameters
    ----------
    log
        The log, with at least two rounds; a `SetLog` for sets. With a `SetLog`, the function uses
        the parameters policy, estimator, against, interval, level, loss_range, samples and seed.
    policy
        The policy, as in `probabilities`; for sets, a set, or a function of a context that returns
        one.
    estimator
        "dr", "snips", "ips", or "auto": "dr", unless the standard error of "snips" is at least a
        tenth smaller because the predictor does not explain the outcomes; a note then says so.
    against
        The comparison for `difference`: "logged" for the logged actions, or another policy. Both
        means come from the same rounds, and the interval uses that.
    model
        Predictions m for "dr": a predictor of losses, or a table [n, K] in the units of the log.
        Default: `predictors.Ridge` if contexts are vectors or mappings, `predictors.Hybrid` for
        menus, else `predictors.Mean`. The estimate stays unbiased only if a table was made without
        the outcomes that it predicts.
    folds
        None (default): each round is predicted from the rounds before it. The estimate then stays
        unbiased if the logging policy learned during the log. Rounds that are sorted by actions or
        outcomes are shuffled first. An integer k: round t is predicted from all rounds s with
        s ≠ t modulo k, which are more rounds; right if the logging policy was fixed.
    inverse
        Source of 1/q: "propensities" (default), or "weights", the log's estimates of 1/q.
    clip
        Maximum importance weight; larger weights are cut. This reduces the variance and adds a bias
        towards 0 ("dr": towards the predictions). Default: no maximum.
    interval
        "normal" (default, central limit theorem) and "bootstrap" (percentiles) are valid only in
        the limit of many rounds. "bernstein" is valid for any number of rounds, even if the logging
        policy depended on the past, but wider. It needs `loss_range` and `max_ratio`, and does not
        work with "snips".
    level
        Confidence level of the intervals. Default 0.95.
    loss_range
        Range (low, high) of the outcomes, in the units of the log. Predictions are clipped to it.
        Default: the `value_range` of the log, except for interval="bernstein". For a `SetLog`, the
        range of the elements' losses: missing losses then count as `high`.
    max_ratio
        Bound on ρ that was known in advance, such as K for uniform logging. Default: `clip`.
    samples
        Number of bootstrap samples. Default 1000.
    draws
        Number of draws for a learner that does not know its action distribution. Default 1000.
    seed
        Random seed of the bootstrap. Default 0.
    check
        Whether to raise an error if the propensities cannot be right, as `check_propensities`
        does. Default True; each log is checked once.

    Examples
    --------
    >>> import numpy as np
    >>> import hannan as hn
    >>> rng = np.random.default_rng(0)
    >>> contexts, actions = rng.integers(3, size=2000), rng.integers(3, size=2000)
    >>> losses = np.where(actions == contexts, 0.2, 0.7) + rng.uniform(-0.2, 0.2, size=2000)
    >>> log = hn.off_policy.Log(contexts, actions, losses, np.full(2000, 1 / 3), n_actions=3)
    >>> print(hn.off_policy.evaluate(log, lambda context: context))
    mean loss 0.1975, 95 % interval 0.1889 to 0.2061 (dr, normal; 2,000 rounds, effective sample ...
      0.34 less than the logged mean 0.5377, 95 % interval 0.328 to 0.352

    References
    ----------
    [dudik2011], [swaminathan2015], [fan2015], [howard2021]
    """
    if isinstance(log, SetLog):
        others = (
            inverse == "weights",
            *(each is not None for each in (model, folds, clip, max_ratio)),
        )
        if any(others):
            raise ParameterError(
                "model=, folds=, clip=, max_ratio= and inverse= are for single actions. Leave them "
                "out with a SetLog."
            )
        by = _Method(interval, float(level), check_integer("evaluate", "samples", samples, 2), seed)
        return _evaluate_sets(log, policy, estimator, against, by, loss_range)
    _check(log, estimator, interval, inverse, level)
    if interval == "bernstein" and folds is not None and estimator != "ips":
        raise refuse("evaluate", "folds", "None with interval='bernstein'", folds)
    bounds = _bounds(log, loss_range)
    if check:
        log.check_propensities()
    top = _top(loss_range, max_ratio or clip) if interval == "bernstein" else None
    weigh = partial(_weighed, log, inverse=inverse, clip=clip, draws=draws, top=top)
    judged = weigh(policy)
    guesses = None if estimator in ("ips", "snips") else _predictions(log, model, folds, bounds)
    notes = [*log.notes, *([_ASSUMED] if log.estimated else []), *_cautions(policy)]
    if estimator == "auto":
        fixed = model is not None or interval == "bernstein"
        estimator, why = ("dr", []) if fixed else _chosen(log, judged, guesses)
        notes += why
    mean = _mean(estimator, log, judged, guesses, bounds)
    notes += _notes(judged.ratios, interval, judged.cut)
    other, compared = _Mean(log.outcomes, np.ones(len(log)), bounds, bounds), "the logged mean"
    if not (isinstance(against, str) and against == "logged"):
        rival = weigh(against)
        other, compared = _mean(estimator, log, rival, guesses, bounds), "the other policy's mean"
        more = [*_cautions(against), *_notes(rival.ratios, interval, rival.cut)]
        notes += [f"other policy: {note}" for note in more]
    by = _Method(interval, float(level), check_integer("evaluate", "samples", samples, 2), seed)
    facts = estimator, tuple(notes), log.unit, float(log.outcomes.mean()), compared
    return _estimate(by, mean, other, judged.ratios, *facts)


def _estimate(
    by: _Method,
    mean: _Mean,
    other: _Mean,
    ratios: FloatArray,
    estimator: str,
    notes: tuple[str, ...],
    unit: str,
    logged: float,
    compared: str,
) -> Estimate:
    n = len(ratios)
    return Estimate(
        value=mean.value,
        standard_error=_standard_error(mean.influence),
        interval=by.interval(mean),
        level=by.level,
        kind=by.kind,
        estimator=estimator,
        rounds=n,
        mean_weight=float(ratios.sum()) / n,
        effective=_effective(ratios),
        heaviest=float(ratios.max()),
        notes=notes,
        unit=unit,
        logged=logged,
        difference=Difference(
            mean.value - other.value,
            _standard_error(mean.influence - other.influence),  # paired, from the same rounds
            by.interval(mean, other),
        ),
        compared=f"{compared} {other.value:.4g}",
    )


def _evaluate_sets(
    log: SetLog, policy: Any, estimator: str, against: Any, by: _Method, loss_range: Any
) -> Estimate:
    """Estimate the mean loss of a rule that chooses sets, by the weights of elements."""
    if len(log) < 2:
        raise refuse("evaluate", "log", "a SetLog with two rounds or more", log)
    check_choice("evaluate", "estimator", estimator, ("auto", "dr", "ips"))
    check_choice("evaluate", "interval", by.kind, ("normal", "bootstrap"))
    if not 0.0 < check_positive("evaluate", "level", by.level) < 1.0:
        raise refuse("evaluate", "level", "a number in (0, 1)", by.level)
    estimator = "dr" if estimator == "auto" else estimator
    losses = log.complete(None if loss_range is None else check_loss_range("evaluate", loss_range))
    terms, ratios = log.estimates(policy, losses, estimator == "dr")
    if not ratios.any():
        raise ParameterError(
            f"policy= shares no element with the logged sets in the {len(log)} rounds, so the log "
            "has no information about its mean loss. Log with exploration= and current_rule=."
        )
    notes, ones, span = [*_cautions(policy), *_notes(ratios, by.kind, 0)], np.ones(len(log)), (0, 0)
    own = np.array([row.sum() for row in losses])
    other, compared = own, "the logged mean"
    if not (isinstance(against, str) and against == "logged"):
        other, rival = log.estimates(against, losses, estimator == "dr")
        notes += [f"other policy: {note}" for note in _notes(rival, by.kind, 0)]
        compared = "the other policy's mean"
    mean, less = (_Mean(values, ones, span, span) for values in (terms, other))
    facts = estimator, tuple(notes), "loss", float(own.mean()), compared
    return _estimate(by, mean, less, ratios, *facts)


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
            "interval='bernstein' does not work with estimator='snips'. Use 'dr' or 'ips', or "
            "another interval."
        )


def _bounds(log: Log, loss_range: Any) -> LossRange:
    """Return the range of the outcomes, from `loss_range` or from the log."""
    low, high = check_loss_range("evaluate", loss_range)
    if loss_range is None and log.value_range is not None:
        return log.value_range  # type: ignore[no-any-return]
    least, most = log.outcomes.min(), log.outcomes.max()
    if least < low or most > high:
        raise ParameterError(
            f"loss_range={loss_range} does not contain the {_PLURAL[log.unit]} of the log, which "
            f"range from {least:g} to {most:g}. Pass a wider range."
        )
    return low, high


def _top(loss_range: Any, max_ratio: float | None) -> float:
    """Return the largest possible importance weight; raise `ParameterError` if it is unknown."""
    if max_ratio is None or loss_range is None:
        raise ParameterError(
            "interval='bernstein' needs loss_range=(low, high), and max_ratio= or clip=. max_ratio "
            "is a bound on the policy's probability of an action divided by its propensity, which "
            "must be known in advance and not taken from the log."
        )
    return check_positive("evaluate", "max_ratio", max_ratio)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A policy on the rounds of a log: its probabilities and the importance weights."""

    table: FloatArray
    ratios: FloatArray
    cut: int
    top: float | None


def _weighed(
    log: Log, policy: Any, *, inverse: str, clip: float | None, draws: int, top: float | None
) -> _Weighed:
    table = probabilities(policy, log, draws)
    chosen = table[np.arange(len(log)), log.actions]
    ratios = chosen * log.weights if inverse == "weights" else chosen / log.propensities
    cut = 0
    if clip is not None:
        cut = int((ratios > check_positive("evaluate", "clip", clip)).sum())
        ratios = np.minimum(ratios, clip)
    if top is None and not ratios.any():
        raise ParameterError(
            f"policy= never chooses the logged action in the {len(log)} rounds, so the log "
            f"has no information about its mean {log.unit}. Log with a policy that tries all "
            "actions. If the logging policy did, interval='bernstein' still gives a bound."
        )
    if top is not None and ratios.max() > top * (1.0 + 1e-9):
        raise refuse("evaluate", "max_ratio", f"at least the {ratios.max():g} in the log", top)
    return _Weighed(table, ratios, cut, top)


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean Σ terms / Σ masses over rounds.

    `span` is the interval of bounded terms, `centre` the interval of their expectations.
    """

    terms: FloatArray
    masses: FloatArray
    span: Interval
    centre: Interval

    @property
    def value(self) -> float:
        return float(self.terms.sum() / self.masses.sum()) if self.masses.any() else 0.0

    @property
    def influence(self) -> FloatArray:
        """Influence of each round on the mean, times the number of rounds."""
        return np.asarray((self.terms - self.value * self.masses) / self.masses.mean())


def _mean(
    estimator: str, log: Log, judged: _Weighed, guesses: FloatArray | None, bounds: LossRange
) -> _Mean:
    """Return an estimate as a mean of terms."""
    ratios, n, top = judged.ratios, len(log), judged.top or math.inf
    if estimator == "dr":
        assert guesses is not None
        off = log.outcomes - guesses[np.arange(n), log.actions]
        terms, reach = (
            (judged.table * guesses).sum(axis=1) + ratios * off,
            top * (bounds[1] - bounds[0]),
        )
        return _Mean(terms, np.ones(n), (bounds[0] - reach, bounds[1] + reach), bounds)
    low, high = min(0.0, bounds[0]), max(0.0, bounds[1])
    ends = min(0.0, top * low) if low else 0.0, max(0.0, top * high) if high else 0.0
    masses = ratios if estimator == "snips" else np.ones(n)
    return _Mean(ratios * log.outcomes, masses, ends, (low, high))


def _chosen(log: Log, judged: _Weighed, guesses: Any) -> tuple[str, list[str]]:
    """Choose "dr", or "snips" with a note if its standard error is clearly smaller."""
    errors = {
        name: _standard_error(_mean(name, log, judged, guesses, (0.0, 1.0)).influence)
        for name in ("dr", "snips")
    }
    if _CLEARLY * errors["dr"] <= errors["snips"]:
        return "dr", []
    return "snips", [
        f"estimated by snips, because predictions do not explain the {_PLURAL[log.unit]}: its "
        f"standard error is {errors['snips']:.3g}, the standard error of dr {errors['dr']:.3g}"
    ]


@dataclass(frozen=True, slots=True)
class _Method:
    """Method of the intervals, for a mean or for the difference of two means."""

    kind: str
    level: float
    samples: int
    seed: int

    def interval(self, mean: _Mean, less: _Mean | None = None) -> Interval:
        if self.kind == "bootstrap":
            return self._bootstrap(mean, less)
        if self.kind == "bernstein":
            return self._bernstein(mean, less)
        influence, value = mean.influence, mean.value
        if less is not None:
            influence, value = influence - less.influence, value - less.value
        width = NormalDist().inv_cdf(0.5 + self.level / 2.0) * _standard_error(influence)
        return value - width, value + width

    def _bootstrap(self, mean: _Mean, less: _Mean | None) -> Interval:
        """Return percentiles over rounds drawn with replacement, the same for both means."""
        rng, n = np.random.default_rng(self.seed), len(mean.terms)
        means = [mean] if less is None else [mean, less]
        values = np.empty((self.samples, len(means)))
        for i in range(self.samples):
            drawn = rng.integers(n, size=n)
            for j, each in enumerate(means):
                mass = each.masses[drawn].sum()
                values[i, j] = each.terms[drawn].sum() / mass if mass else np.nan
        statistic = values[:, 0] if less is None else values[:, 0] - values[:, 1]
        ends = np.nanquantile(statistic, [0.5 - self.level / 2.0, 0.5 + self.level / 2.0])
        return float(ends[0]), float(ends[1])

    def _bernstein(self, mean: _Mean, less: _Mean | None) -> Interval:
        if less is None:
            return _bernstein(mean.terms, mean.span, mean.centre, self.level)
        span = mean.span[0] - less.span[1], mean.span[1] - less.span[0]
        centre = mean.centre[0] - less.centre[1], mean.centre[1] - less.centre[0]
        return _bernstein(mean.terms - less.terms, span, centre, self.level)


def _predictions(log: Log, model: Any, folds: int | None, bounds: LossRange) -> FloatArray:
    """Return the table [n, K] of predicted outcomes; `model` and `folds` as in `evaluate`.

    Predictors predict losses. The table is 0 beyond the rows of a menu.
    """
    if isinstance(model, np.ndarray | list | tuple):
        return _given(model, log, bounds)
    loss_range = bounds if log.unit == "loss" else (0.0, 1.0)
    table = log.outcome_of(_predicted_losses(log, model, folds, loss_range))
    return np.asarray(table.clip(*bounds)) if log.unit == "reward" else table


def _predicted_losses(log: Log, model: Any, folds: int | None, loss_range: LossRange) -> FloatArray:
    predictor, rounds = _default(log) if model is None else model, range(len(log))
    table, contexts = np.zeros((len(log), log.n_actions)), log.rows
    if folds is None:
        guesser = _prepared(predictor, log)
        # In a sorted log, earlier rounds would reveal the action or outcome of a round.
        order = np.random.default_rng(0).permutation(len(log)).tolist() if log.sorted else rounds
        for t in order:
            _guess(guesser, log, t, loss_range, table[t])
            guesser.learn(contexts[t], int(log.actions[t]), float(log.losses[t]))
        return table
    k = check_integer("evaluate", "folds", folds, 2)
    if not hasattr(predictor, "clone"):
        raise InputTypeError(
            f"model={predictor!r} has no clone(), which folds={k} needs to fit it once for each "
            "fold. Pass folds=None."
        )
    for fold in range(k):
        guesser = _prepared(predictor, log)
        for t in rounds:
            if t % k != fold:
                guesser.learn(contexts[t], int(log.actions[t]), float(log.losses[t]))
        for t in rounds[fold::k]:
            _guess(guesser, log, t, loss_range, table[t])
    return table


def _prepared(predictor: Any, log: Log) -> Any:
    guesser = adopt(predictor, "model")
    if hasattr(guesser, "prepare") and not log.takes_items:
        guesser.prepare(log.n_actions)
    return guesser


def _guess(guesser: Any, log: Log, t: int, loss_range: LossRange, row: FloatArray) -> None:
    ask, context = getattr(guesser, "estimate", guesser.predict), log.rows[t]
    K = len(context) if log.takes_items else log.n_actions
    row[:K] = check_guess(guesser, ask(context), K, loss_range)


def _given(model: Any, log: Log, loss_range: LossRange) -> FloatArray:
    table = np.array(model, dtype=np.float64)
    fits = table.shape == (len(log), log.n_actions) and np.isfinite(table).all()
    if not fits or table.min() < loss_range[0] or table.max() > loss_range[1]:
        raise ParameterError(
            f"model= must be a predictor or finite numbers [{len(log)}, {log.n_actions}] in "
            f"[{loss_range[0]:g}, {loss_range[1]:g}], a prediction for each action in each round; "
            f"got an array of shape {table.shape}."
        )
    return table


def _default(log: Log) -> Any:
    if log.features is not None:
        return Ridge()
    if log.takes_items:
        return Hybrid()
    try:
        different = len(set(log.contexts))
    except TypeError:
        return Mean(by_context=False)
    return Mean(
        by_context=different <= len(log) / 2
    )  # a context that occurs once has no other rounds to learn from


def _effective(ratios: FloatArray) -> float:
    top = ratios.max()
    if not top:
        return 0.0
    shares = ratios / top  # avoids that squares of tiny ratios are 0
    return float(shares.sum() ** 2 / (shares**2).sum())


def _standard_error(terms: FloatArray) -> float:
    return float(terms.std(ddof=1)) / math.sqrt(len(terms))


def _bernstein(terms: FloatArray, span: Interval, guesses: Interval, level: float) -> Interval:
    r"""Return an empirical Bernstein interval for :math:`\frac1n \sum_t E[z_t \mid \text{past}]`.

    With predictions :math:`\hat z_t` known before :math:`z_t`, and :math:`z_t \ge \hat z_t - c`,

    .. math:: \exp\Big(\lambda \sum_t (z_t - E_t[z_t])/c
              - \psi(\lambda) \sum_t (z_t - \hat z_t)^2/c^2\Big),
              \qquad \psi(\lambda) = -\log(1 - \lambda) - \lambda,

    has a mean of at most 1 for each :math:`\lambda \in [0, 1)`, however the distribution of the
    next term depends on the past. So the interval holds for any number of rounds fixed in advance,
    and for dependent rounds. A union bound over a few λ replaces the best λ. The terms z lie in
    `span`, and their means in `guesses`. The :math:`\hat z_t` are running means, clipped to
    `guesses`.
    """
    n, mean = len(terms), float(terms.mean())
    before = np.concatenate(([0.0], np.cumsum(terms)[:-1])) / np.maximum(np.arange(n), 1)
    before[0] = 0.5 * (guesses[0] + guesses[1])
    V = float(((terms - np.clip(before, *guesses)) ** 2).sum())
    over = _deviation(V, n, guesses[1] - span[0], level)
    under = _deviation(V, n, span[1] - guesses[0], level)
    return mean - over, mean + under


def _deviation(V: float, n: int, c: float, level: float) -> float:
    """Return a bound on the distance of a mean of n terms above its expectation."""
    rates = 2.0 ** -np.arange(1.0, 2.0 + math.ceil(math.log2(n) / 2.0))
    log_odds = math.log(2.0 * len(rates) / (1.0 - level))
    psi = -np.log1p(-rates) - rates
    return float(((log_odds + psi * V / c**2) * c / (rates * n)).min())


def _cautions(policy: Any) -> list[str]:
    """Return the caution of a policy, for example that it was fitted to rows of a log."""
    text = getattr(policy, "caution", "")
    return [text] if isinstance(text, str) and text else []


def _notes(ratios: FloatArray, interval: str, cut: int) -> list[str]:
    """Return warnings about an estimate."""
    n, total = len(ratios), float(ratios.sum())
    if not total:
        return ["the policy never chooses the logged action"]
    notes = [f"clip= cut {cut} of {n} weights: intervals do not include this bias"] if cut else []
    effective = _effective(ratios)
    if effective < _FEW and interval != "bernstein":
        notes.append(f"effective sample size {effective:.0f}: do not trust the interval")
    if ratios.max() > _HEAVY * total:
        notes.append(f"one round has {ratios.max() / total:.0%} of the total weight")
    mass, error = total / n, _standard_error(ratios)
    if abs(mass - 1.0) > max(3.0 * error, _ROUNDED):
        why = "propensities are too small"
        if mass < 1.0:
            why = (
                "some actions of the policy are never tried in the log, propensities are too "
                "large, or weights were cut"
            )
        notes.append(f"mean importance weight {mass:.3g} (± {error:.2g}) instead of 1: {why}")
    return notes
