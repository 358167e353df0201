"""Certificates: statements about regret, which wrappers combine without knowing their kinds."""

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

    A new kind is one more entry in `kinds` of a certificate; whoever makes such certificates gives
    its value by name.

    Parameters
    ----------
    kind
        Its name, an attribute of the certificate.
    value
        A number; None where the statement does not hold.
    combine
        What wrappers do with the values of several segments of a game: "sum", "max", or "none"
        where that of the last one stands.
    scales
        Whether the value is in units of losses, so that it is scaled with them.
    bounds
        Whether it bounds regret from above: rounds without a loss are then charged to it.
    words
        A sentence with a place for the value; values of other kinds may stand in it by name.

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
        """Return the statement about a game from the values of its segments."""
        if self.combine == "none":
            return self
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values):
            return replace(self, value=None)
        return replace(self, value=max(numbers) if self.combine == "max" else sum(numbers))


# Rounds, loss, notes and values by kind, in a file.
_SAID = TupleOf(Count(), Number(), TuplesOf(Text()), DictOf(Text(), Number() | None))


@dataclass(frozen=True, slots=True)
class Certificate(Stored):
    """Statements about a full-information learner's regret so far, each None where void.

    Every statement is an attribute by its kind:

    - `realised_regret`: loss minus the best policy's, a fact where the oracle is exact;
    - `measured`: D + G/ε, an unbiased estimate of an upper bound on expected regret;
    - `a_priori`: Σ ε κ v² + G/ε with observed loss ranges v, an upper bound on expected regret;
    - `high_probability`: exceeded by the realised regret with probability at most 1 - `confidence`;
    - `prediction_error`: Σ ‖f - Q‖², how wrong the predictor has been;
    - `theorem_5`: Theorem 5 as printed, for these errors and the best ε for them in hindsight.

    `float(certificate)` is the headline: the measured bound if there is one, else the a-priori
    one, else the realised regret.

    Attributes
    ----------
    rounds, loss
        Length and total loss of the game.
    statements
        One of each kind, in order.
    notes
        What weakens or voids statements, in words.
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
        # One for all segments: each adds a bound on the deviation of one and the same martingale
        # to something certain, and these bounds add up to more than one for all.
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
            words="Theorem 5, best tuned for these errors, promises {:.6g}",
        ),
    )
    headlines: ClassVar[tuple[str, ...]] = ("measured", "a_priori", "realised_regret")

    @classmethod
    def of(cls, rounds: int, loss: float, notes: Iterable[str] = (), **values: Any) -> Self:
        """Make a certificate from values by kind; statements without one are void."""
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
        """Return a row for each statement, as a frame.

        The columns: statement, its kind; value, NaN where the statement does not hold; bound,
        whether it bounds regret from above; words, empty where the statement does not hold.
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
        are negative. Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        bars = {
            each.kind.replace("_", " "): float(each.value)
            for each in self._standing
            if each.value is not None and (each.bounds or each.scales)
        }
        ax = axes(self, ax, len(bars))
        draw_bars(ax, bars, f"regret after {self._length}, in units of losses")
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
        return f"After {self._length} with total loss {self.loss:.6g}{self._caveat}:"

    @property
    def _length(self) -> str:
        return f"{self.rounds} round{'' if self.rounds == 1 else 's'}"

    @property
    def _standing(self) -> list[Statement]:
        """The statements in words that hold."""
        return [each for each in self.statements if each.words and each.value is not None]

    def _sentence(self, statement: Statement) -> str:
        return statement.words.format(statement.value, **self.values)

    @property
    def values(self) -> dict[str, float | None]:
        """The values of all statements by kind."""
        return {each.kind: each.value for each in self.statements}

    @property
    def headline(self) -> Statement | None:
        """The statement to quote first, of those that are not void."""
        standing = {each.kind: each for each in self.statements if each.value is not None}
        return next((standing[kind] for kind in self.headlines if kind in standing), None)

    @property
    def _caveat(self) -> str:
        return ""

    # For learners around learners ---------------------------------------------------------------

    def changed(self, **values: float | None) -> Self:
        """Return this certificate with other values of these kinds."""
        unknown = values.keys() - self.values.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no statements {sorted(unknown)}.")
        return replace(
            self,
            statements=tuple(
                replace(each, value=values[each.kind]) if each.kind in values else each
                for each in self.statements
            ),
        )

    def scaled(self, factor: float) -> Self:
        """Return what it says of losses in units of another size."""
        values = {
            each.kind: factor * each.value
            for each in self.statements
            if each.scales and each.value is not None
        }
        return replace(self.changed(**values), loss=factor * self.loss)

    def charged(self, amount: float) -> Self:
        """Return a certificate whose bounds count this loss, too; without a limit all are void."""
        values = {
            each.kind: each.value + amount if math.isfinite(amount) else None
            for each in self.statements
            if each.bounds and each.scales and each.value is not None
        }
        return self.changed(**values)

    @classmethod
    def combined(cls, segments: Sequence[Certificate], notes: Iterable[str] = ()) -> Any:
        """Return the certificate of a game from those of its segments."""
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
            raise DamagedFileError(f"A {cls.__name__} has numbers, void statements and notes.")
        return cls.of(*said[:3], **params["values"])


class SemiBanditCertificate(Certificate):
    """What can be said about pseudo-regret when only chosen elements' losses are seen.

    None of these is a guarantee for this run: each is an *estimate* whose expectation bounds
    expected regret, or None where theory does not allow it.

    - `stability_estimate`: S + D + G/ε + truncation, measured with independent draws;
    - `variance_estimate`: Σ c κ m ε Σ_j W_j ℓ_j² + G/ε + truncation, from the weights drawn;
    - `comparator_estimate`: loss minus the best policy's estimated loss, correct on average from
      above, very noisy;
    - `a_priori`: the theorem's bound on expected regret over the whole horizon (playout noise);
    - `truncation`: Σ K/(eL), what limiting the resampling may have cost.

    `float(certificate)` is the first that is there of the stability estimate, the variance estimate
    and the a-priori bound, else NaN.
    """

    __slots__ = ()
    stored = State()
    kinds = (
        Statement(
            "stability_estimate",
            words="expected regret is estimated to be at most {:.6g}, from measured instability",
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
