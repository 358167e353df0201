"""What a `Watch` says about a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Statement:
    """How a policy would have done over all rounds so far, with the confidence of its `Watch`.

    Attributes
    ----------
    name
        Of the policy.
    loss
        (low, high) of its mean loss over all rounds that were decided.
    regret
        (low, high) of our regret against it in these rounds, in total: our expected loss in each
        round, given what came before, less its loss. Below 0 we have done better.
    rounds
        How many rounds were decided.
    open, forgotten
        How many of them wait for their loss, or will never have one. They count at their worst.
    unavailable
        In how many rounds what it chooses was not available. There it does what is played.
    """

    name: str
    loss: Interval
    regret: Interval
    rounds: int
    open: int
    forgotten: int
    unavailable: int

    @property
    def contradicts(self) -> bool:
        """Whether no numbers are within the bounds.

        That is as rare as a wrong statement, where what statements need is true.
        """
        return self.loss[0] > self.loss[1] or self.regret[0] > self.regret[1]

    @property
    def verdict(self) -> str:
        """Whether we have done better, worse, or it is not known yet, in words."""
        low, high = self.regret
        if self.contradicts:
            return "contradiction"
        if high < 0.0:
            return "we do better"
        return "it does better" if low > 0.0 else "not known"

    def __str__(self) -> str:
        low, high = self.loss
        said = f"{self.name}: mean loss from {low:.4g} to {high:.4g}, our regret against it from "
        return said + f"{self.regret[0]:.4g} to {self.regret[1]:.4g}: {self.verdict}"


def as_table(
    found: Sequence[Statement],
    played: Interval,
    rounds: int,
    progress: tuple[int, int, int],
    confidence: float,
) -> str:
    """Statements as lines of text: a sentence, and a row for each policy."""
    _, forgotten, waiting = progress
    counts = ((waiting, "open"), (forgotten, "never answered"))
    apart = "".join(f", {count:,} {what}" for count, what in counts if count)
    rows = [("policy", "its mean loss", "our regret against it", "")]
    rows.append(("(what is played)", f"{played[0]:.4f} to {played[1]:.4f}", "", ""))
    for each in found:
        loss, regret = each.loss, each.regret
        note = f"; not available in {each.unavailable:,} rounds" if each.unavailable else ""
        rows.append(
            (
                each.name,
                f"{loss[0]:.4f} to {loss[1]:.4f}",
                f"{regret[0]:,.1f} to {regret[1]:,.1f}",
                each.verdict + note,
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = [
        f"After {rounds:,} rounds{apart}. With probability {confidence:g}, at all times at once:"
    ]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    if any(each.contradicts for each in found) or played[0] > played[1]:
        lines.append(
            "These statements contradict each other: check that actions are drawn with the stated "
            "probabilities, and that losses are fixed when a round is decided."
        )
    return "\n".join(lines)
