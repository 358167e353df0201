"""The learners that play a replay, and the policies they are compared with."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from hannan.core import ParameterError
from hannan.experiments.catalogue import at_place, find
from hannan.experiments.game import Game, world_rng
from hannan.experiments.plan import Plan
from hannan.replays.data import Stream

_FULL = {"type": "ContextFTPL", "predictor": {"type": "Ridge"}}
_PLAIN = {"type": "ContextFTPL", "loss_range": None}
_RESTARTING = {"type": "Restarting", "learner": _FULL}
_NAMED: dict[str, dict[str, Any]] = {
    "ContextFTPL": _FULL,
    "Restarting": _RESTARTING,
    "UniformRandom": {"type": "UniformRandom", "loss_range": None},
}
"""How learners that are asked for by name are made here."""
_LONG = 50_000  # rows, above which slow learners play only if they are asked for


def learners_of(stream: Stream, feedback: str | None, names: Sequence[str]) -> dict[str, Any]:
    """Return tables of the learners asked for, or of the recommended learner and some others."""
    usual = _usual_learners(stream, _feedback(stream, feedback))
    if names:
        return {name: usual.get(name, _NAMED.get(name, {"type": name})) for name in names}
    if stream.rounds > _LONG:
        usual.pop("hn.experts", None)
    return usual


def _usual_learners(stream: Stream, feedback: str) -> dict[str, dict[str, Any]]:
    """Return the recommended learner first, then those it is compared with."""
    leader = {"type": "FollowTheLeader"}
    if stream.takes_items:
        return {
            "hn.bandit": {"type": "bandit", "actions": "items"},
            "ItemLinUCB": {"type": "ItemLinUCB", "model": "shared"},
        }
    if feedback == "bandit":
        plain = {} if stream.features else {"n_contexts": 1}
        others = {name: {"type": name} for name in ("LinUCB", "EpsilonGreedy")}
        return {"hn.bandit": {"type": "bandit", **plain}, **others}
    if stream.logged:
        return {"ContextFTPL": _PLAIN, "FollowTheLeader": {**leader, "loss_range": None}}
    learners: dict[str, dict[str, Any]] = {"hn.experts": {"type": "experts"}}
    if stream.features and stream.rounds <= _LONG:
        learners["Restarting"] = _RESTARTING
    elif stream.features:
        learners["ContextFTPL"] = _FULL
    return {**learners, "FollowTheLeader": leader}


def _feedback(stream: Stream, wanted: str | None) -> str:
    if not stream.logged:
        return wanted or "full"
    fits = "bandit" if stream.table["method"] == "rejection" else "full"
    if wanted not in (None, fits):
        raise ParameterError(
            f"feedback={wanted!r} does not go with method={stream.table['method']!r}: by rejection "
            "learners see the loss of one action, by importance weighting estimates of all."
        )
    return fits


def policies_of(name: str | None, stream: Stream) -> dict[str, Any]:
    """Return the table of a policy class."""
    if stream.takes_items:
        if name not in (None, "SharedLinear"):
            raise ParameterError(
                f"policies={name!r} is for actions that are the same in every round; those of this "
                "log come and go, for which there is SharedLinear."
            )
        return {"type": "SharedLinear"}
    K = stream.environment.n_actions
    if not stream.features:
        if name not in (None, "AllPolicies"):
            raise ParameterError(f"policies={name!r} needs contexts, and there are none.")
        return {"type": "AllPolicies", "n_contexts": 1, "n_actions": K}
    with at_place("policies="):
        oracle = find(name or "LinearPolicies", ("oracles",))
    if "n_actions" not in inspect.signature(oracle).parameters:
        raise ParameterError(
            f"policies={name!r} is not a class of policies that choose one of {K} actions from "
            "features: LinearPolicies, Stumps and Trees are."
        )
    return {"type": name or "LinearPolicies", "n_actions": K}


def check_players(plan: Plan) -> None:
    """Refuse learners that cannot play these rows, before anything is played."""
    checked = set()
    for cell in plan.cells:
        if cell.learner is not None and cell.learner["name"] not in checked:
            checked.add(cell.learner["name"])
            environment, _ = cell.world()
            learner = cell.make_learner()
            Game(learner, environment, cell.horizon, world_rng(cell.seed))
            environment.meet(learner)
