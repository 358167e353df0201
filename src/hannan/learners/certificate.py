"""What can be said about regret so far."""

from dataclasses import dataclass

from hannan.core import Learner
from hannan.core.stored import Stored


@dataclass(frozen=True, slots=True)
class Certificate(Stored):
    """Statements about a full-information learner's regret so far, each None where void.

    `float(certificate)` is the headline: the measured bound if there is one, else the a-priori
    one, else the realised regret.
    """

    rounds: int
    loss: float
    """Total loss suffered."""
    realised_regret: float | None = None
    """Loss minus the best policy's: a fact, where the oracle is exact."""
    measured: float | None = None
    """D + G/ε: an unbiased estimate of an upper bound on expected regret."""
    a_priori: float | None = None
    """Σ ε κ v² + G/ε with observed loss ranges v: an upper bound on expected regret."""
    high_probability: float | None = None
    """Exceeded by the realised regret with probability at most 1 - confidence."""
    confidence: float = 0.95
    prediction_error: float | None = None
    """Σ ‖f - Q‖², how wrong the predictor has been."""
    theorem_5: float | None = None
    """Theorem 5 as printed, for these errors and the ε that suits them best in hindsight."""
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        for value in (self.measured, self.a_priori, self.realised_regret):
            if value is not None:
                return float(value)
        return float("nan")

    def __str__(self) -> str:
        lines = [f"{_after(self.rounds)} with total loss {self.loss:.6g}:"]
        sentences = (
            (self.realised_regret, "regret against the best policy in hindsight is {:.6g}"),
            (self.measured, "expected regret is estimated to be at most {:.6g} (measured)"),
            (self.a_priori, "expected regret is at most {:.6g} (from the losses' ranges)"),
            (
                self.high_probability,
                f"with probability {self.confidence:g} regret is at most {{:.6g}}",
            ),
            (self.prediction_error, "the predictor's squared errors add up to {:.6g}"),
            (self.theorem_5, "Theorem 5, best tuned for these errors, promises {:.6g}"),
        )
        lines += ["- " + text.format(value) for value, text in sentences if value is not None]
        lines += [f"- note: {note}" for note in self.notes]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SemiBanditCertificate(Stored):
    """What can be said about pseudo-regret when only chosen elements' losses are seen.

    None of these is a guarantee for this run: each is an *estimate* whose expectation bounds
    expected regret, or None where theory does not allow it. `float(certificate)` is the first that
    is there of the stability estimate, the variance estimate and the a-priori bound, else NaN.
    """

    rounds: int
    loss: float
    """Total loss suffered."""
    stability_estimate: float | None = None
    """S + D + G/ε + truncation, measured with independent draws."""
    variance_estimate: float | None = None
    """Σ c κ m ε Σ_j W_j ℓ_j² + G/ε + truncation, from the weights drawn."""
    comparator_estimate: float | None = None
    """Loss minus the best policy's estimated loss: correct on average from above, very noisy."""
    a_priori: float | None = None
    """The theorem's bound on expected regret over the whole horizon (playout noise)."""
    truncation: float = 0.0
    """Σ K/(eL), what limiting the resampling may have cost."""
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        for value in (self.stability_estimate, self.variance_estimate, self.a_priori):
            if value is not None:
                return float(value)
        return float("nan")

    def __str__(self) -> str:
        lines = [f"{_after(self.rounds)} with total loss {self.loss:.6g} (estimates only):"]
        for value, what in (
            (self.stability_estimate, "from measured instability"),
            (self.variance_estimate, "from the variance of the loss estimates"),
            (self.comparator_estimate, "from the best policy's estimated loss"),
        ):
            if value is not None:
                lines.append(f"- expected regret is estimated to be at most {value:.6g}, {what}")
        if self.a_priori is not None:
            lines.append(f"- expected regret over the whole horizon is at most {self.a_priori:.6g}")
        lines += [f"- note: {note}" for note in self.notes]
        return "\n".join(lines)


def _after(rounds: int) -> str:
    return f"After {rounds} round{'' if rounds == 1 else 's'}"


def came_and_went(learner: Learner) -> list[str]:
    """What regret means where not all actions were always there."""
    if learner._sorted:
        return [
            "actions came and went, and the best-scored of those there was played: no theorem "
            "applies, and a policy whose action was not there is charged what stood in for it"
        ]
    if learner._presence is not None:
        return [
            "actions came and went: a policy whose action was not there is charged what stood in "
            "for it"
        ]
    return []
