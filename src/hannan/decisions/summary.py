"""What is known of how decisions fare, in the units of their outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hannan.decisions.answers import Interval, Units
from hannan.decisions.names import Name
from hannan.decisions.scoreboard import BASELINE, RANDOM, Scoreboard
from hannan.off_policy.watch import aligned


@dataclass(frozen=True, slots=True)
class Standing:
    """How a policy would have fared over all decisions so far: the baseline, or one action always.

    Attributes
    ----------
    name
        The action, or "baseline".
    interval
        (low, high) of the mean outcome it would have had.
    gain
        (low, high) of how much better each decision was on average than its: above 0 we are ahead.
    plays
        How often the action was decided on.
    mean
        The mean outcome of these decisions, which says nothing of the others; NaN without any.
    """

    name: Name
    interval: Interval
    gain: Interval
    plays: int
    mean: float

    @property
    def verdict(self) -> str:
        """Who is ahead, where that is known."""
        if self.gain[0] > 0.0:
            return "we do better"
        return "it does better" if self.gain[1] < 0.0 else "not known"


@dataclass(frozen=True, slots=True)
class Summary:
    """All that a `Decider` knows of its own performance; `str(summary)` is a page of text.

    Attributes
    ----------
    outcome
        "reward" or "loss".
    decisions, answered, open, expired, late, learned
        How many decisions were made; how many of them have an outcome, wait for it, or were given
        up; outcomes that came after that; decisions of others that were learned.
    mean
        The mean outcome of the decisions that were answered; NaN without any.
    interval
        (low, high) of the mean outcome over all decisions, with `confidence`.
    baseline, actions
        How what is done today, and each action on its own, would have fared; where every decision
        offers its own, one of them "at random".
    confidence
        Of all intervals together, at all times at once.
    hinted
        The share of decisions since the last restart in which the predictor had a say.
    entropy
        Of the action's law, in bits, on average over about the last thousand decisions.
    least
        The smallest propensity so far.
    restarts
        After how many outcomes the learner has started over.
    regret
        An estimate of a bound on expected regret, in total; None where no theorem applies.
    notes
        What is to be known about these statements.
    """

    outcome: str
    decisions: int
    answered: int
    open: int
    expired: int
    late: int
    learned: int
    mean: float
    interval: Interval
    baseline: Standing | None
    actions: Mapping[Name, Standing]
    confidence: float
    hinted: float
    entropy: float
    least: float
    restarts: tuple[int, ...]
    regret: float | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As numbers by name, for a table, a log or a monitoring system."""
        counts = "decisions", "answered", "open", "expired", "late", "learned"
        numbers: dict[str, Any] = {
            **{name: getattr(self, name) for name in counts},
            f"mean_{self.outcome}": self.mean,
            f"{self.outcome}_low": self.interval[0],
            f"{self.outcome}_high": self.interval[1],
            "hinted": self.hinted,
            "entropy": self.entropy,
            "least_propensity": self.least,
            "restarts": len(self.restarts),
            "regret": math.nan if self.regret is None else self.regret,
            "confidence": self.confidence,
            "notes": list(self.notes),
        }
        if self.baseline is not None:
            numbers["baseline"] = self._numbers(self.baseline)
        numbers["actions"] = {name: self._numbers(each) for name, each in self.actions.items()}
        return numbers

    def _numbers(self, one: Standing) -> dict[str, Any]:
        numbers: dict[str, Any] = {
            f"{self.outcome}_low": one.interval[0],
            f"{self.outcome}_high": one.interval[1],
            "gain_low": one.gain[0],
            "gain_high": one.gain[1],
            "verdict": one.verdict,
        }
        own = {"plays": one.plays, f"mean_{self.outcome}": one.mean}
        return numbers if one is self.baseline else numbers | own

    def lines(self) -> list[str]:
        """The most important of it, in four lines."""
        shown = [f"{self.decisions:,} decisions", f"{self.answered:,} answered"]
        shown += [f"{self.open:,} open", f"{self.expired:,} expired"]
        restarts = len(self.restarts)
        shown += [f"{restarts:,} restart{'' if restarts == 1 else 's'}"]
        if not self.decisions:
            return [", ".join(shown), f"no {self.outcome}s yet", "nothing to compare yet", "-"]
        low, high = self.interval
        own = f"mean {self.outcome} {self.mean:.4g}" if self.answered else f"no {self.outcome}s yet"
        sure = f"{100 * self.confidence:g} %"
        learning = (
            f"predictor heeded in {100 * self.hinted:.0f} % of decisions, entropy "
            f"{self.entropy:.2g} bits, propensities from {self.least:.2g}"
        )
        known = "no bound on regret"
        if self.regret is not None:
            known = f"regret about {self.regret:.4g} at most"
        return [
            ", ".join(shown),
            f"{own}; {low:.4g} to {high:.4g} over all decisions ({sure} at all times)",
            self._compared(),
            f"{learning}; {known}",
        ]

    def _compared(self) -> str:
        if self.baseline is not None:
            one, who = self.baseline, "baseline"
        else:
            better = max if self.outcome == "reward" else min
            one = better(self.actions.values(), key=lambda each: sum(each.interval))
            who = _label(one.name)
        low, high = one.gain
        said = {"we do better": "worse than ours", "it does better": "better than ours"}
        return (
            f"{who}: {one.interval[0]:.4g} to {one.interval[1]:.4g}, "
            f"{said.get(one.verdict, 'not known whether better')} (our gain {low:.4g} to "
            f"{high:.4g} a decision)"
        )

    def __str__(self) -> str:
        """The lines, a table of all that is compared, and the notes."""
        rows = [("", self.outcome, "our gain a decision", "", "plays", "mean")]
        every = [] if self.baseline is None else [("baseline", self.baseline)]
        every += [(_label(name), each) for name, each in self.actions.items()]
        for label, one in every:
            own = label not in (BASELINE, RANDOM)
            rows.append((
                label,
                "{:.4g} to {:.4g}".format(*one.interval),
                "{:.4g} to {:.4g}".format(*one.gain),
                one.verdict,
                f"{one.plays:,}" if own else "",
                f"{one.mean:.4g}" if own and one.plays else "",
            ))  # fmt: skip
        notes = (f"- {note}" for note in self.notes)
        return "\n".join([*self.lines(), *aligned(rows), *notes])


def summary_of(
    board: Scoreboard, units: Units, names: Sequence[Name] | None, learner: Any, waiting: int
) -> Summary:
    """What a scoreboard and a learner, None before the first decision, know together.

    `names` are those of the actions, None where every decision offers its own.
    """
    said, width, rounds = board.watch.intervals(), units.width, max(board.watch.rounds, 1)

    def standing(name: Name, key: str, count: float, mean: float) -> Standing:
        low, high = (width * each / rounds for each in said[key].regret)
        interval = units.interval(said[key].loss)
        return Standing(name, interval, (-high, -low), int(count), units.back(mean))

    compared: dict[Name, Standing] = {}
    if names is None:
        compared[RANDOM] = standing(RANDOM, RANDOM, 0, math.nan)
    plays, means = board.plays.tolist(), board.means().tolist()
    for i, name in enumerate(names or ()):
        compared[name] = standing(name, str(i), plays[i], means[i])
    answered = float(board.answered.sum())
    hinted, bound, notes, restarts = 0.0, math.nan, [], ()
    if learner is not None:
        certificate, restarts = learner.certificate(), learner.restarts
        hinted = getattr(learner.hint, "hinted", 0) / max(learner.player.clock, 1)
        bound, notes = float(certificate), list(certificate.notes)
    if notes and width != 1.0:
        notes.append(f"losses in these notes are shares of the range: 1 stands for {width:g}")
    return Summary(
        outcome=units.word,
        decisions=int(board.plays.sum()),
        answered=int(answered),
        open=waiting,
        expired=board.expired,
        late=board.late,
        learned=board.learned,
        mean=units.back(float(board.sums.sum()) / answered if answered else math.nan),
        interval=units.interval(board.watch.played()),
        baseline=standing(BASELINE, BASELINE, 0, math.nan) if board.baseline else None,
        actions=compared,
        confidence=board.confidence,
        hinted=hinted,
        entropy=board.entropy,
        least=board.least,
        restarts=tuple(restarts),
        regret=None if math.isnan(bound) else width * bound,
        notes=tuple(notes),
    )


def _label(name: Name) -> str:
    return RANDOM if name == RANDOM else f"always {name}"
