"""Recorded runs for the playground: every round of some learners against some adversaries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hannan as hn
from hannan.perturbation import LaplaceNoise, seed_key

NAMES = "ABCD"
"""Names of the actions. Without contexts, every policy is one of these actions."""
K = len(NAMES)
ROUNDS = 240
LEARNER_SEED, ADVERSARY_SEED = 0, 1
DIGITS = 3
"""Decimal places of the noise on record."""

_policies = hn.oracles.AllPolicies(1, K)

ADVERSARIES: dict[str, Callable[[], Any]] = {
    "LeaderPunisher": lambda: hn.environments.LeaderPunisher(_policies),
    "Bait": lambda: hn.environments.Bait(_policies),
    "CopyPunisher": lambda: hn.environments.CopyPunisher(_policies),
}
LEARNERS: dict[str, Callable[[], hn.Learner]] = {
    "ContextFTPL": lambda: hn.ContextFTPL(_policies, seed=LEARNER_SEED),
    "FollowTheLeader": lambda: hn.baselines.FollowTheLeader(_policies),
    "hn.bandit": lambda: hn.bandit(K, n_contexts=1, seed=LEARNER_SEED),
    "LinUCB": lambda: hn.baselines.LinUCB(K),
}
ABOUT_LEARNERS = {
    "ContextFTPL": "Follow the perturbed leader. It adds fresh random noise to the total losses, "
    "and plays the action whose total with noise is smallest. It observes the losses of all "
    "actions.",
    "FollowTheLeader": "It plays the action with the smallest total loss, without noise. It "
    "observes the losses of all actions.",
    "hn.bandit": "The recommended learner for bandit feedback: it observes the loss of the "
    "chosen action only. It samples an action from its action distribution. A predictor "
    "recommends an action, and the learner follows it only as often as it has helped.",
    "LinUCB": "It plays the action with the lowest lower confidence bound of the loss, without "
    "randomness. It observes the loss of the chosen action only.",
}
NO_BOUND = {
    "FollowTheLeader": "an adversary that knows this rule can make it lose in every round",
    "LinUCB": "it plays without randomness, so an adversary that knows this rule can make it lose "
    "in every round",
}
LOOSE_BOUND = {
    "hn.bandit": "This bound allows for a useless predictor and for ten restarts. It becomes "
    "useful only in much longer runs.",
}


def about_adversaries() -> dict[str, str]:
    """Return a description of each adversary, with the values of its parameters."""
    leader, bait, copier = (meet() for meet in ADVERSARIES.values())
    return {
        "LeaderPunisher": f"It draws losses: {leader.planted} actions have loss 1 with probability "
        f"{leader.good}, the other action with probability {leader.bad}. It then gives loss 1 to "
        "the action with the smallest total loss so far. It does not look at the learner's "
        "actions.",
        "Bait": f"One action, the bait, has loss 1 with probability {bait.early} until round "
        f"{round(bait.part * ROUNDS)}, and with probability {bait.late} afterwards. All others "
        f"have loss 1 with probability {bait.other}. It does not look at the learner's actions.",
        "CopyPunisher": f"It runs {copier.copies} copies of the learner with the same past and "
        "fresh randomness, and gives loss 1 to the action that most copies play. Every other "
        f"action has loss 1 with probability {copier.low}.",
    }


class Questions:
    """A learner as an adversary meets it: queries pass through, and the answers are recorded."""

    def __init__(self, learner: hn.Learner) -> None:
        self._learner = learner
        self.answers: list[Any] | None = None

    def would_play(self, context: Any = None, copies: int = 1, seed: int = 0) -> list[Any]:
        """Return the next actions of copies of the learner."""
        self.answers = self._learner.would_play(context, copies, seed)
        return self.answers


def noise_of(learner: hn.ContextFTPL) -> list[float]:
    """Return the noise that the open round added to each total.

    A noise draw is a function of the seed and of its number, which the open round holds.
    """
    opened: Any = learner.open_round()
    unit = LaplaceNoise(range(1), K, seed_key(learner.seed)).unit(opened.draw.number)[0]
    return [round(float(value), DIGITS) + 0.0 for value in opened.draw.scale * unit]


def digits(values: Any) -> str:
    """Return whole numbers from 0 to 9 as a string; raise `ValueError` on other numbers."""
    if any(value not in range(10) for value in values):
        raise ValueError(f"{values} are not all digits.")
    return "".join(str(int(value)) for value in values)


def game(learner: hn.Learner, adversary: Any) -> dict[str, Any]:
    """Run a learner against an adversary and return the record of all rounds."""
    questions = Questions(learner)
    adversary.meet(questions)
    totals, suffered = np.zeros(K), 0.0
    actions, losses, copies = [], [], []
    regret, bound, noise, probabilities, hints = [], [], [], [], []
    for each in adversary.rounds(ROUNDS, np.random.default_rng(ADVERSARY_SEED)):
        if questions.answers is not None:
            copies.append(digits(np.bincount(questions.answers, minlength=K)))
        now = learner.propensities(each.context)
        if now.draws:
            raise RuntimeError(f"{type(learner).__name__} has no formula for its probabilities.")
        probabilities.append([round(float(q), 4) for q in now.probabilities])
        action = learner.act(each.context)
        opened: Any = learner.open_round()
        if isinstance(learner, hn.ContextFTPL):
            noise.append(noise_of(learner))
            if np.argmin(totals + noise[-1]) != action:
                raise RuntimeError("The noise on record is not the noise that chose the action.")
        elif isinstance(learner, hn.Restarting):
            hints.append([opened.inner.advice, round(opened.inner.share, 4)])
        learner.update(each.reveal(action, learner.feedback))
        totals += each.losses
        suffered += each.loss
        actions.append(action)
        losses.append(digits(each.losses))
        regret.append(int(suffered - totals.min()))
        bound.append(learner.regret_bound())
    return {
        "actions": digits(actions),
        "losses": losses,
        "copies": copies or None,
        "noise": noise or None,
        "hints": hints or None,
        "restarts": getattr(learner, "restarts", []),
        "probabilities": probabilities,
        "regret": regret,
        "bound": None if bound[-1] is None else [round(value, 2) for value in bound],
        "feedback": learner.feedback.value,
    }


def bait_of(losses: list[str], turn: int) -> int:
    """Return the bait, which is by far the best action after the turn."""
    late = np.array([[int(loss) for loss in each] for each in losses[turn:]])
    return int(late.mean(axis=0).argmin())


def record() -> dict[str, Any]:
    """Run every learner against every adversary, and return the records."""
    games = {
        adversary: {learner: game(play(), meet()) for learner, play in LEARNERS.items()}
        for adversary, meet in ADVERSARIES.items()
    }
    turn = round(ADVERSARIES["Bait"]().part * ROUNDS)
    return {
        "names": NAMES,
        "rounds": ROUNDS,
        "turn": turn,
        "bait": bait_of(games["Bait"]["FollowTheLeader"]["losses"], turn),
        "adversaries": about_adversaries(),
        "learners": ABOUT_LEARNERS,
        "noBound": NO_BOUND,
        "looseBound": LOOSE_BOUND,
        "games": games,
    }


def write_data(folder: Path, records: dict[str, Any]) -> None:
    """Write records into a folder, as a script that a page loads without a server."""
    text = json.dumps(records, separators=(",", ":"))
    path = folder / "playground-data.js"
    path.write_text(f"window.hannanPlayground = {text};\n", encoding="utf-8")


def add_data(app: Any, exception: Exception | None) -> None:
    """Write the records into the folder of the page's scripts after a successful HTML build."""
    if exception is None and app.builder.format == "html":
        write_data(Path(app.outdir) / "_static", record())
