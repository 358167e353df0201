"""The performance of a `Decider`, in the units of its outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from hannan.core import ParameterError
from hannan.core.display import folded, page, paragraph, table
from hannan.core.frames import by_column, frame
from hannan.core.plots import Dot, axes, draw_dots, draw_line, legend
from hannan.decisions.answers import Interval, Units
from hannan.decisions.names import Name
from hannan.decisions.records import as_json
from hannan.decisions.scoreboard import BASELINE, RANDOM, Scoreboard
from hannan.off_policy.watch import aligned

_ENOUGH = 20  # effective sample size, below which a normal interval is unreliable
_MOST_SHOWN = 10  # elements in a table
_ELEMENT = "element", "decisions", "with_feedback", "mean"
_NO_RULE = "no comparison: sets are only compared with a current rule, by baseline= and holdout="


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of the decisions with your current rule, or with always choosing one action.

    Outcomes and gains are per decision, in the units of the outcomes. Each has an estimate and two
    intervals: an ordinary one, which holds with the stated confidence if you look once, and an
    anytime-valid one, which holds however often you look.

    Attributes
    ----------
    name
        The action, or "baseline" for the current rule.
    estimate, look, interval
        The mean outcome that the rule or action would have had: the estimate, the interval (low,
        high) for a single look, and the anytime-valid interval. The first two are NaN before any
        outcome is known.
    gain_estimate, gain_look, gain
        The gain of the decisions over the rule or action, as an estimate and two intervals. The
        decisions are better if it is positive. Both estimates are clipped to their anytime-valid
        intervals.
    effective
        Effective sample size of the estimates.
    plays, mean
        Number of decisions with this action, and the mean outcome of these decisions; NaN without
        any.
    decisions
        Number of decisions so far.
    """

    name: Name
    estimate: float
    look: Interval
    interval: Interval
    gain_estimate: float
    gain_look: Interval
    gain: Interval
    effective: float
    plays: int
    mean: float
    decisions: int

    @property
    def verdict(self) -> str:
        """Verdict on the decisions: "better" and "worse" are anytime-valid.

        "probably better" and "probably worse" hold for a single look; otherwise "not clear".
        """
        if self.gain[0] > 0.0:
            return "better"
        if self.gain[1] < 0.0:
            return "worse"
        if self.effective >= _ENOUGH and self.gain_look[0] > 0.0:
            return "probably better"
        if self.effective >= _ENOUGH and self.gain_look[1] < 0.0:
            return "probably worse"
        return "not clear"

    @property
    def clear_after(self) -> int | None:
        """Approximate total number of decisions after which the verdict becomes anytime-valid.

        None if the gain is clear already, or if its estimate is within one standard error of 0.
        """
        size = abs(self.gain_estimate)
        if self.verdict in ("better", "worse") or not size > np.ptp(self.gain_look) / 4.0:
            return None
        left = self.gain_estimate > 0.0
        half = self.gain_estimate - self.gain[0] if left else self.gain[1] - self.gain_estimate
        needed = self.decisions * (half / size) ** 2
        digits = 1 - math.floor(math.log10(needed))
        return int(round(needed, digits))

    def numbers(self, outcome: str) -> dict[str, Any]:
        """Return the comparison as a dictionary of numbers."""
        return {
            outcome: self.estimate,
            f"{outcome}_look_low": self.look[0],
            f"{outcome}_look_high": self.look[1],
            f"{outcome}_low": self.interval[0],
            f"{outcome}_high": self.interval[1],
            "gain": self.gain_estimate,
            "gain_look_low": self.gain_look[0],
            "gain_look_high": self.gain_look[1],
            "gain_low": self.gain[0],
            "gain_high": self.gain[1],
            "verdict": self.verdict,
            "clear_after": self.clear_after,
            "effective": self.effective,
        }

    def __str__(self) -> str:
        """Return a sentence about the gain."""
        if math.isnan(self.gain_estimate):
            return "gain not known yet"
        sentence = (
            f"gain {_number(self.gain_estimate)} per decision ({_ends(self.gain_look)} if you look "
            f"once, {_ends(self.gain)} at any time): {self.verdict}"
        )
        if self.clear_after is not None:
            sentence += f"; at this rate, clear after about {self.clear_after:,} decisions"
        return sentence


@dataclass(frozen=True, slots=True)
class Holdout:
    """Comparison of the holdout, which follows your current rule, with all other decisions.

    Attributes
    ----------
    decisions, with_feedback
        Number of decisions in the holdout, and number of these with an outcome.
    mean, others
        Mean outcome of the holdout, and of all other decisions.
    gain, look
        Gain per decision of the other decisions over the holdout, and its interval (low, high) for
        a single look, as in an A/B test.
    """

    decisions: int
    with_feedback: int
    mean: float
    others: float
    gain: float
    look: Interval

    def __str__(self) -> str:
        """Return a sentence with the result of the A/B test."""
        return (
            f"holdout: {self.decisions:,} decisions by the current rule, mean "
            f"{_number(self.mean)}; all others {_number(self.others)}; gain {_number(self.gain)} "
            f"({_ends(self.look)} if you look once)"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """The results of a `Decider`; `str(summary)` is a page of text, and notebooks show a table.

    Attributes
    ----------
    outcome
        "reward" or "loss".
    decisions, with_feedback, open, expired, late, logged
        Numbers of all decisions, and of those with an outcome, without one so far, and expired;
        then of outcomes reported after expiry, and of logged decisions that the learner used.
    mean, look, interval
        Mean outcome of the decisions with feedback (NaN without any), its interval (low, high) for
        a single look, and the anytime-valid interval for the mean over all decisions.
    baseline, actions
        A `Comparison` with your current rule, and one with each constant action. If items are
        passed to each decision, one with an item chosen "at random".
    holdout
        The holdout compared with all other decisions; None without a holdout.
    confidence
        Confidence level of each interval for a single look, and joint confidence level of all
        anytime-valid intervals.
    predictor_share
        Share of the decisions since the last restart in which the learner used the predictor.
    entropy
        Mean entropy of the action distribution, in bits, over about the last 1,000 decisions; NaN
        for sets.
    min_propensity
        Smallest propensity so far; NaN for sets.
    restarts
        Numbers of outcomes after which the learner started over.
    regret
        Estimated bound on the expected regret, in total; None if no theorem applies.
    notes
        Remarks on these results and on the data.
    elements
        For sets: number of decisions, of those with feedback, and mean outcome of each element
        that was chosen, by its name. The other means are then for whole sets: the sums over their
        elements. None for single actions.
    """

    outcome: str
    decisions: int
    with_feedback: int
    open: int
    expired: int
    late: int
    logged: int
    mean: float
    look: Interval
    interval: Interval
    baseline: Comparison | None
    actions: Mapping[Name, Comparison]
    holdout: Holdout | None
    confidence: float
    predictor_share: float
    entropy: float
    min_propensity: float
    restarts: tuple[int, ...]
    regret: float | None
    notes: tuple[str, ...]
    elements: Mapping[Name, Mapping[str, float]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of numbers, for a log or a monitoring system.

        Unknown numbers are None. Every value is valid in JSON, and every key is text.
        """
        counts = "decisions", "with_feedback", "open", "expired", "late", "logged"
        numbers: dict[str, Any] = {
            **{name: getattr(self, name) for name in counts},
            f"mean_{self.outcome}": self.mean,
            f"{self.outcome}_look_low": self.look[0],
            f"{self.outcome}_look_high": self.look[1],
            f"{self.outcome}_low": self.interval[0],
            f"{self.outcome}_high": self.interval[1],
            "predictor_share": self.predictor_share,
            "entropy": self.entropy,
            "min_propensity": self.min_propensity,
            "restarts": len(self.restarts),
            "regret": self.regret,
            "confidence": self.confidence,
            "notes": list(self.notes),
        }
        if self.baseline is not None:
            numbers["baseline"] = self.baseline.numbers(self.outcome)
        if self.holdout is not None:
            numbers["holdout"] = asdict(self.holdout)
        numbers["actions"] = {
            str(name): {
                **each.numbers(self.outcome),
                "plays": each.plays,
                f"mean_{self.outcome}": each.mean,
            }
            for name, each in self.actions.items()
        }
        if self.elements is not None:
            numbers["elements"] = self.elements
        return as_json(numbers)  # type: ignore[no-any-return]

    def lines(self) -> list[str]:
        """Return the most important facts in four lines."""
        shown = [_count(self.decisions, "decision"), f"{self.with_feedback:,} with feedback"]
        shown += [f"{self.open:,} open", f"{self.expired:,} expired"]
        shown += [_count(len(self.restarts), "restart")]
        if not self.decisions:
            return [", ".join(shown), f"no {self.outcome}s yet", "nothing to compare yet", "-"]
        own = f"no {self.outcome}s yet"
        if self.with_feedback:
            once = "" if math.isnan(self.look[0]) else f"{_ends(self.look)} if you look once, "
            what = self.outcome if self.elements is None else f"{self.outcome} of a set"
            own = (
                f"mean {what} {_number(self.mean)} ({once}{_ends(self.interval)} at any "
                f"time; {100 * self.confidence:g} % intervals)"
            )
        learning = f"predictor took part in {100 * self.predictor_share:.0f} % of the decisions"
        if self.elements is None:
            learning += (
                f", entropy {self.entropy:.2g} bits, propensities from {self.min_propensity:.2g}"
            )
        bound = "no bound on regret"
        if self.regret is not None:
            bound = f"bound on regret about {self.regret:.4g}"
        return [", ".join(shown), own, self._compared(), f"{learning}; {bound}"]

    def _compared(self) -> str:
        comparison, name = self.baseline, "current rule"
        if comparison is None and self.elements is not None:
            return _NO_RULE
        if comparison is None:
            better = max if self.outcome == "reward" else min
            known = [each for each in self.actions.values() if not math.isnan(each.estimate)]
            if not known:
                return "nothing to compare yet"
            comparison = better(known, key=lambda each: each.estimate)
            name = _label(comparison.name)
        estimate = "" if math.isnan(comparison.estimate) else f"{_number(comparison.estimate)}; "
        return f"{name}: {estimate}{comparison}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for your current rule and for each action, in the order of `str`.

        For sets, return a row for each element that was chosen.
        """
        every = self._compared_with
        if self.elements is not None:
            return [{"element": name, **each} for name, each in self.elements.items()]
        return [{"policy": label, **each.numbers(self.outcome)} for label, each in every]

    def to_frame(self) -> Any:
        """Return a frame with a row for your current rule and for each action.

        The columns are policy, reward, reward_look_low, reward_look_high, reward_low, reward_high
        ("loss" in place of "reward" for losses), gain and its four ends, verdict, clear_after and
        effective. The verdict is about the Decider: "better" than that policy. "look" means the
        interval for a single look, the other interval is anytime-valid. For sets, there is a row
        for each element that was chosen, with the columns element, decisions, with_feedback and
        mean.
        """
        return frame(by_column(self.rows(), _ELEMENT if self.elements is not None else ()))

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean outcome of each rule with both intervals, and return matplotlib's axes.

        The dashed line is the mean outcome of the decisions. Needs matplotlib
        (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        if not self._compared_with:
            raise ParameterError(f"There is nothing to draw: {_NO_RULE}.")
        dots = [
            Dot(label, each.estimate, each.look, each.interval)
            for label, each in self._compared_with
        ]
        ax = axes(self, ax, len(dots))
        sure = f"{100 * self.confidence:g} % interval"
        once, ever = f"{sure} if you look once", f"{sure} at any time"
        draw_dots(ax, dots, f"mean {self.outcome} per decision", narrow=once, wide=ever)
        draw_line(ax, self.mean, f"this Decider: {_number(self.mean)}", self.look)
        legend(ax)
        return ax

    def __repr__(self) -> str:
        facts = [_count(self.decisions, "decision")]
        if self.with_feedback:
            facts.append(f"mean {self.outcome} {_number(self.mean)}")
        if self.baseline is not None and not math.isnan(self.baseline.gain_estimate):
            compared = f"gain {_number(self.baseline.gain_estimate)} over the current rule"
            facts.append(f"{compared}: {self.baseline.verdict}")
        return f"<Summary: {', '.join(facts)}>"

    def __str__(self) -> str:
        """Return the lines, a table of all comparisons, and the notes."""
        rows = aligned([self._heads, *self._cells()]) if self._compared_with else []
        if self.elements:
            rows += aligned([self._element_heads, *self._element_cells()])
        more = [] if self.holdout is None else [str(self.holdout)]
        notes = (f"- {note}" for note in self.notes)
        return "\n".join([*self.lines(), *more, *rows, *notes])

    def _repr_html_(self) -> str:
        counts, own, compared, learning = self.lines()
        if not self.decisions:
            return page(*map(paragraph, (counts, own)))
        return page(
            paragraph(compared, strong=True),
            paragraph(own),
            *([] if self.holdout is None else [paragraph(str(self.holdout))]),
            *(
                [table(self._heads, self._cells(), marked=range(self.baseline is not None))]
                if self._compared_with
                else []
            ),
            *([table(self._element_heads, self._element_cells())] if self.elements else []),
            paragraph(counts),
            paragraph(learning),
            folded("Notes", self.notes),
        )

    @property
    def _compared_with(self) -> list[tuple[str, Comparison]]:
        """Comparisons with the current rule and each action, with their labels in tables."""
        every = [] if self.baseline is None else [("current rule", self.baseline)]
        return every + [(_label(name), each) for name, each in self.actions.items()]

    @property
    def _heads(self) -> tuple[str, ...]:
        """Column headings of the table."""
        when = "", ", if you look once", ", at any time"
        whats = f"mean {self.outcome}", "gain"
        return "policy", *(what + each for what in whats for each in when), "the Decider is"

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table as text."""
        names = self.outcome, f"{self.outcome}_look", self.outcome, "gain", "gain_look", "gain"
        return [
            (
                row["policy"],
                *(
                    _number(row[name])
                    if i % 3 == 0
                    else _ends((row[f"{name}_low"], row[f"{name}_high"]))
                    for i, name in enumerate(names)
                ),
                row["verdict"],
            )
            for row in (
                {"policy": label, **each.numbers(self.outcome)}
                for label, each in self._compared_with
            )
        ]

    @property
    def _element_heads(self) -> tuple[str, ...]:
        return "element", "decisions", f"mean {self.outcome}"

    def _element_cells(self) -> list[tuple[str, ...]]:
        """Return rows for the elements chosen most often, as text."""
        ranked = sorted((self.elements or {}).items(), key=lambda pair: -pair[1]["decisions"])
        cells: list[tuple[str, ...]] = [
            (str(name), f"{each['decisions']:,}", _number(each["mean"]))
            for name, each in ranked[:_MOST_SHOWN]
        ]
        if len(ranked) > _MOST_SHOWN:
            cells.append((f"{len(ranked) - _MOST_SHOWN:,} others", "", ""))
        return cells


def _within(losses: Interval) -> Interval:
    """Clip an interval for a mean loss to [0, 1]."""
    low, high = (math.nan if math.isnan(end) else min(max(end, 0.0), 1.0) for end in losses)
    return low, high


def _ends(interval: Interval) -> str:
    low, high = interval
    return "-" if math.isnan(low) else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    """Format a number with four digits, large ones in full, 0 without a sign."""
    if math.isnan(value):
        return "-"
    if 9999.5 <= abs(value) < 1e12:
        return f"{value:,.0f}"
    return f"{value:#.4g}".removesuffix(".") if value else "0"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summary_of(
    scoreboard: Scoreboard,
    units: Units,
    names: Sequence[Name] | None,
    learner: Any,
    waiting: int,
    elements: Mapping[Name, Mapping[str, float]] | None = None,
) -> Summary:
    """Summarise a scoreboard and a learner, which is None before the first decision.

    `names` are the names of the actions, None if items are passed to each decision. `elements` are
    the results of each element of sets. The scoreboard then has the actions of `Sets.add_decision`.
    """
    said, width, rounds = scoreboard.watch.intervals(), units.width, max(scoreboard.watch.rounds, 1)

    def comparison(name: Name, key: str, count: float, mean: float) -> Comparison:
        statement = said[key]
        low, high = (width * each / rounds for each in statement.regret)
        gains = sorted(-width * each for each in statement.ahead_look)
        return Comparison(
            name=name,
            estimate=units.back(statement.estimate),
            look=units.interval(_within(statement.look)),
            interval=units.interval(statement.loss),
            gain_estimate=-width * statement.ahead,
            gain_look=(gains[0], gains[1]),
            gain=(0.0 - high, 0.0 - low),
            effective=statement.effective,
            plays=int(count),
            mean=units.back(mean),
            decisions=scoreboard.watch.rounds,
        )

    compared: dict[Name, Comparison] = {}
    if names is None:
        compared[RANDOM] = comparison(RANDOM, RANDOM, 0, math.nan)
    plays, means = scoreboard.plays.tolist(), scoreboard.means().tolist()
    scale = width
    baseline = comparison(BASELINE, BASELINE, 0, math.nan) if scoreboard.baseline else None
    if elements is not None:
        names, scale = (), 1.0  # the learner's losses are in the units of the outcomes
        if len(plays) > 1:
            baseline = comparison(BASELINE, "1", plays[1], means[1])
    for i, name in enumerate(names or ()):
        compared[name] = comparison(name, str(i), plays[i], means[i])
    answered = float(scoreboard.with_feedback.sum())
    hinted, bound, notes, restarts = 0.0, math.nan, [], ()
    if learner is not None:
        certificate, restarts = learner.certificate(), learner.restarts
        hinted = getattr(learner.hint, "hinted", 0) / max(learner.current_learner.clock, 1)
        bound, notes = float(certificate), list(certificate.notes)
    if notes and scale != 1.0:
        notes.append(f"losses in these notes are fractions of the range: 1 means {scale:g}")
    return Summary(
        outcome=units.word,
        decisions=int(scoreboard.plays.sum()),
        with_feedback=int(answered),
        open=waiting,
        expired=scoreboard.expired,
        late=scoreboard.late,
        logged=scoreboard.logged,
        mean=units.back(float(scoreboard.sums.sum()) / answered if answered else math.nan),
        look=_own_look(scoreboard, units),
        interval=units.interval(scoreboard.watch.played()),
        baseline=baseline,
        actions=compared,
        holdout=_holdout(scoreboard, units),
        confidence=scoreboard.confidence,
        predictor_share=hinted,
        entropy=scoreboard.entropy if elements is None else math.nan,
        min_propensity=scoreboard.min_propensity if elements is None else math.nan,
        restarts=tuple(restarts),
        regret=None if math.isnan(bound) else scale * bound,
        notes=tuple(notes),
        elements=elements,
    )


def _own_look(scoreboard: Scoreboard, units: Units) -> Interval:
    """Return an ordinary interval for the mean outcome of the decisions with feedback."""
    _, count, total, squares = scoreboard.groups.sum(axis=0).tolist()
    if count < 2:
        return math.nan, math.nan
    mean = total / count
    half = _quantile(scoreboard) * math.sqrt(max(squares / count - mean * mean, 0.0) / (count - 1))
    return units.interval((mean - half, mean + half))


def _quantile(scoreboard: Scoreboard) -> float:
    return NormalDist().inv_cdf(0.5 + scoreboard.confidence / 2.0)


def _holdout(scoreboard: Scoreboard, units: Units) -> Holdout | None:
    """Compare the holdout with all other decisions, as an A/B test does."""
    (count, held, total, squares), (_, others, rest, rest_squares) = scoreboard.groups.tolist()
    if not count:
        return None
    means = [sums / n if n else math.nan for sums, n in ((total, held), (rest, others))]
    look = math.nan, math.nan
    gain = units.width * (means[0] - means[1])
    if min(held, others) > 1:
        parts = (squares, held, means[0]), (rest_squares, others, means[1])
        variance = sum(max(q / n - m * m, 0.0) / (n - 1.0) for q, n, m in parts)
        half = units.width * _quantile(scoreboard) * math.sqrt(variance)
        look = gain - half, gain + half
    mean, other = map(units.back, means)
    return Holdout(int(count), int(held), mean, other, gain, look)


def _label(name: Name) -> str:
    return RANDOM if name == RANDOM else f"always {name}"
