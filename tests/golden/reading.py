"""The one place where private attributes of learners are read: the rebuilt ones are read here."""

from collections.abc import Callable
from typing import Any

import hannan as hn


def state(learner: Any) -> dict[str, Any]:
    """What a learner has measured so far; of a wrapper also what the learners inside have."""
    found: dict[str, Any] = {"rounds": learner.rounds}
    if isinstance(learner, hn.ContextFTPL | hn.ContextSemiBanditFTPL):
        found["D"] = getattr(learner.step, "D", 0.0)
        found["scale"] = learner.step.scale
        found["draws"] = learner.leader.number
        found["loss"] = learner._account.loss
        found["last"] = learner._account.top
    elif isinstance(learner, hn.PlayoutFTPL | hn.PlayoutBandit):
        draws = learner.rounds if isinstance(learner, hn.PlayoutFTPL) else 0
        found |= {"D": 0.0, "scale": 0.0, "draws": draws, "loss": learner._loss, "last": 0.0}
    elif isinstance(learner, hn.FTPL):
        found |= {"draws": learner._draw, "loss": learner._loss}
    elif isinstance(learner, hn.Restarting):
        found |= {"restarts": learner.restarts, "late": learner._late, "lost": learner._late_loss}
        found["inside"] = state(learner.current_learner)
    elif isinstance(learner, hn.Discounted):
        found |= {"age": learner._age, "inside": state(learner._inner)}
    elif isinstance(learner, hn.StronglyAdaptive):
        found["loss"] = learner._loss
        found["copies"] = [
            (copy.start, copy.end, copy.prior, copy.regret, copy.magnitude, state(copy.learner))
            for copy in learner._awake
        ]
    elif isinstance(learner, hn.baselines.EpochGreedy):
        found["explored"] = learner.explored
    return found


def calls(learner: Any) -> int:
    """How often the oracle was asked."""
    count: int = learner.oracle_calls
    return count


def claims(learner: Any) -> dict[str, Any]:
    """What a learner says of its regret, in numbers; the wording of notes is left out."""
    found: dict[str, Any] = {"regret_bound": answer(learner.regret_bound)}
    if hasattr(learner, "certificate"):
        certificate = answer(learner.certificate)
        if isinstance(certificate, hn.Certificate):
            found |= {"rounds": certificate.rounds, "loss": certificate.loss, **certificate.values}
        else:
            found["certificate"] = certificate
    return found


def answer(question: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """What is answered, or the class of the refusal."""
    try:
        return question(*given, **options)
    except hn.HannanError as refusal:
        return f"refused: {type(refusal).__name__}"
