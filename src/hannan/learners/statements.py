"""Certificates: statements on regret, in a form that wrappers can combine for any kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from hannan.core import DamagedFileError
from hannan.core.display import folded, page, paragraph, table
from hannan.core.frames import frame
from hannan.core.plots import axes, draw_bars, draw_line, legend
from hannan.core.state import Count, DictOf, Number, State, Text, TupleOf, TuplesOf
from hannan.core.stored import Stored


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a certificate.

    To define a new kind, add an entry to `kinds` of a certificate class, and pass its value as a
    keyword argument of `of`.

    Parameters
    ----------
    kind
        Name of the statement, and of the attribute of the certificate.
    value
        Value of the statement, or None (default) if it does not hold.
    combine
        How wrappers combine the values of several segments of a run: "sum" (default), "max", or
        "none" to take the last segment's value.
    scales
        Whether the value is in units of losses, so that it scales with them. Default True.
    bounds
        Whether the value bounds regret from above; rounds without feedback are then added to it.
        Default True.
    words
        Sentence with a placeholder for the value, or with placeholders named by other kinds.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    >>> [each.kind for each in learner.certificate().statements if each.bounds]
    ['measured', 'a_priori', 'high_probability', 'theorem_5']
    """

    kind: str
    value: float | None = None
    combine: str = "sum"
    scales: bool = True
    bounds: bool = True
    words: str = ""

    def of(self, values: Sequence[float | None]) -> Statement:
        """Return the statement on a run, given the values of its segments."""
        if self.combine == "none":
            return self
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values):
            return replace(self, value=None)
        return replace(self, value=max(numbers) if self.combine == "max" else sum(numbers))


# Stored form of a certificate: rounds, loss, notes, and values by kind.
_SAID = TupleOf(Count(), Number(), TuplesOf(Text()), DictOf(Text(), Number() | None))


@dataclass(frozen=True, slots=True)
class Certificate(Stored):
    """Statements on the regret so far with full information; None for each that does not hold.

    Every statement is an attribute:

    - `realised_regret`: loss minus the best policy's loss, a fact if the oracle is exact;
    - `measured`: D + G/ε, an unbiased estimate of an upper bound on expected regret;
    - `a_priori`: Σ ε κ v² + G/ε with observed loss ranges v, an upper bound on expected regret;
    - `high_probability`: a bound that the realised regret exceeds with probability at most
      1 - `confidence`;
    - `prediction_error`: Σ ‖f - Q‖², the squared errors of the predictor;
    - `theorem_5`: Theorem 5 as printed, for these errors and the best ε for them in hindsight.

    `float(certificate)` is the headline: the measured bound if it holds, else the a-priori bound
    if it holds, else the realised regret.

    Attributes
    ----------
    rounds, loss
        Number of rounds and total loss of the run.
    statements
        One `Statement` of each kind, in order.
    notes
        Sentences that explain or limit the statements.
    """

    rounds: int
    loss: float
    statements: tuple[Statement, ...]
    notes: tuple[str, ...] = ()

    stored = State()
    kinds: ClassVar[tuple[Statement, ...]] = (
        Statement(
            "realised_regret",
            bounds=False,
            words="regret against the best policy in hindsight is {:.6g}",
        ),
        Statement("measured", words="expected regret is estimated to be at most {:.6g} (measured)"),
        Statement("a_priori", words="expected regret is at most {:.6g} (from the losses' ranges)"),
        Statement(
            "high_probability", words="with probability {confidence:g} regret is at most {:.6g}"
        ),
        # One confidence for all segments: each adds to a certain part a bound on the deviation of
        # the same martingale, and the sum of these bounds is larger than one bound for the run.
        Statement("confidence", 0.95, combine="none", scales=False, bounds=False),
        Statement(
            "prediction_error",
            scales=False,
            bounds=False,
            words="the predictor's squared errors add up to {:.6g}",
        ),
        Statement(
            "theorem_5",
            scales=False,
            words="expected regret of Theorem 5, with the best ε for these errors, is at most "
            "{:.6g}",
        ),
    )
    headlines: ClassVar[tuple[str, ...]] = ("measured", "a_priori", "realised_regret")

    @classmethod
    def of(cls, rounds: int, loss: float, notes: Iterable[str] = (), **values: Any) -> Self:
        """Make a certificate from the values of statements; the others do not hold."""
        return cls(rounds, loss, cls.kinds, tuple(notes)).changed(**values)

    def __getattr__(self, kind: str) -> float | None:
        if kind not in Certificate.__slots__:
            for statement in self.statements:
                if statement.kind == kind:
                    return statement.value
        raise AttributeError(f"{type(self).__name__} has no statement {kind!r}.")

    def __float__(self) -> float:
        headline = self.headline
        return math.nan if headline is None or headline.value is None else float(headline.value)

    def __str__(self) -> str:
        lines = [self._head, *(f"- {self._sentence(each)}" for each in self._standing)]
        return "\n".join(lines + [f"- note: {note}" for note in self.notes])

    def to_frame(self) -> Any:
        """Return a data frame with one row for each statement.

        The columns are `statement`, the kind; `value`, NaN if the statement does not hold; `bound`,
        whether it bounds regret from above; and `words`, empty if the statement does not hold.
        """
        every = self.statements
        return frame({
            "statement": [each.kind for each in every],
            "value": [math.nan if each.value is None else float(each.value) for each in every],
            "bound": [each.bounds for each in every],
            "words": [self._sentence(each) if each in self._standing else "" for each in every],
        })  # fmt: skip

    def plot(self, ax: Any = None) -> Any:
        """Draw the regret so far and the bounds on it as bars, and return matplotlib's axes.

        The dashed line is the total loss: a bound to the right of it says nothing, unless losses
        are negative. To draw a certificate over time, collect `certificate()` during the run
        (`examples/certificate_over_time.py`). Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        known, bound = "regret", "upper bound on regret (proved or estimated)"
        groups: dict[str, dict[str, float]] = {known: {}, bound: {}}
        for each in self._standing:
            if each.value is not None and (each.bounds or each.scales):
                group = groups[bound if each.bounds else known]
                group[each.kind.replace("_", " ")] = float(each.value)
        ax = axes(self, ax, sum(map(len, groups.values())))
        draw_bars(ax, groups, f"regret after {self._length}, in units of losses")
        draw_line(ax, self.loss, f"total loss {self.loss:.6g}")
        legend(ax)
        return ax

    def _repr_html_(self) -> str:
        rows = [
            (each.kind.replace("_", " "), f"{each.value:.6g}", self._sentence(each))
            for each in self._standing
        ]
        heads = ("statement", "value", "in words")
        return page(
            paragraph(self._head, strong=True), table(heads, rows), folded("Notes", self.notes)
        )

    @property
    def _head(self) -> str:
        said = f"{self.loss:.6g}{self._excess}{self._caveat}"
        return f"After {self._length} the total loss is {said}."

    @property
    def _excess(self) -> str:
        """The headline in words: how much more than the best policy's loss."""
        headline = self.headline
        if headline is None or headline.value is None:
            return "; no statement on regret holds"
        value, rest = float(headline.value), self.loss - float(headline.value)
        share = f" ({100.0 * abs(value) / rest:.1f} %)" if rest > abs(value) else ""
        if not headline.bounds:
            more = "more" if value >= 0.0 else "less"
            return f": {abs(value):.6g}{share} {more} than the best policy in hindsight"
        known = "at most" if headline.kind == "a_priori" else "estimated to be at most"
        return f": on average {known} {value:.6g}{share} more than the best policy"

    @property
    def _length(self) -> str:
        return f"{self.rounds} round{'' if self.rounds == 1 else 's'}"

    @property
    def _standing(self) -> list[Statement]:
        """The statements that hold and have a sentence."""
        return [each for each in self.statements if each.words and each.value is not None]

    def _sentence(self, statement: Statement) -> str:
        return statement.words.format(statement.value, **self.values)

    @property
    def values(self) -> dict[str, float | None]:
        """Values of all statements by kind."""
        return {each.kind: each.value for each in self.statements}

    @property
    def headline(self) -> Statement | None:
        """The most important statement that holds, or None."""
        standing = {each.kind: each for each in self.statements if each.value is not None}
        return next((standing[kind] for kind in self.headlines if kind in standing), None)

    @property
    def _caveat(self) -> str:
        return ""

    # For learners around learners ---------------------------------------------------------------

    def changed(self, **values: float | None) -> Self:
        """Return this certificate with other values of some statements."""
        unknown = values.keys() - self.values.keys()
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no statements {sorted(unknown)}. Statements: "
                f"{list(self.values)}."
            )
        return replace(
            self,
            statements=tuple(
                replace(each, value=values[each.kind]) if each.kind in values else each
                for each in self.statements
            ),
        )

    def scaled(self, factor: float) -> Self:
        """Return this certificate in another unit of losses."""
        values = {
            each.kind: factor * each.value
            for each in self.statements
            if each.scales and each.value is not None
        }
        return replace(self.changed(**values), loss=factor * self.loss)

    def charged(self, amount: float) -> Self:
        """Return a certificate with `amount` added to all bounds; None if it is infinite."""
        values = {
            each.kind: each.value + amount if math.isfinite(amount) else None
            for each in self.statements
            if each.bounds and each.scales and each.value is not None
        }
        return self.changed(**values)

    @classmethod
    def combined(cls, segments: Sequence[Certificate], notes: Iterable[str] = ()) -> Any:
        """Return the certificate of a run, given the certificates of its segments."""
        values = [each.values for each in segments]
        last = segments[-1]
        return replace(
            last,
            rounds=sum(each.rounds for each in segments),
            loss=sum(each.loss for each in segments),
            statements=tuple(
                each.of([value[each.kind] for value in values]) for each in last.statements
            ),
            notes=(*dict.fromkeys(note for each in segments for note in each.notes), *notes),
        )

    # Files ------------------------------------------------------------------------------------

    def _params_to_store(self) -> dict[str, Any]:
        # Kinds belong to the class.
        kept = ("rounds", "loss", "notes", "values")
        return {name: getattr(self, name) for name in kept}

    @classmethod
    def _rebuild(cls, **params: Any) -> Self:
        said = tuple(params[name] for name in ("rounds", "loss", "notes", "values"))
        if not _SAID.fits(said) or list(params["values"]) != [each.kind for each in cls.kinds]:
            raise DamagedFileError(
                f"The {cls.__name__} in this file is damaged: its rounds, loss, notes or values "
                "are invalid. Load a backup."
            )
        return cls.of(*said[:3], **params["values"])


class SemiBanditCertificate(Certificate):
    """Statements on the pseudo-regret so far with bandit or semi-bandit feedback.

    The estimates are not guarantees for this run: the expectation of each *estimate* bounds the
    expected regret. A statement is None if no theorem supports it.

    - `stability_estimate`: S + D + G/ε + truncation, measured with independent noise draws;
    - `variance_estimate`: Σ c κ m ε Σ_j W_j ℓ_j² + G/ε + truncation, from the importance weights;
    - `comparator_estimate`: loss minus the best policy's estimated loss; on average an upper
      bound, but very noisy;
    - `a_priori`: the theorem's bound on expected regret over the whole horizon (playout noise);
    - `truncation`: Σ K/(eL), a bound on the cost of truncating the resampling.

    `float(certificate)` is the stability estimate if it holds, else the variance estimate, else
    the a-priori bound, else NaN.
    """

    __slots__ = ()
    stored = State()
    kinds = (
        Statement(
            "stability_estimate",
            words="expected regret is estimated to be at most {:.6g}, from the measured "
            "instability cost",
        ),
        Statement(
            "variance_estimate",
            words="expected regret is estimated to be at most {:.6g}, from the variance of the "
            "loss estimates",
        ),
        Statement(
            "comparator_estimate",
            words="expected regret is estimated to be at most {:.6g}, from the best policy's "
            "estimated loss",
        ),
        Statement("a_priori", words="expected regret over the whole horizon is at most {:.6g}"),
        Statement("truncation", 0.0, bounds=False),
    )
    headlines = ("stability_estimate", "variance_estimate", "a_priori")

    @property
    def _caveat(self) -> str:
        estimates = [each.value for each in self.statements if each.kind.endswith("_estimate")]
        return "" if set(estimates) == {None} else " (estimates only)"
