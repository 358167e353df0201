"""The learners of a replay, and the policies that they are compared with."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from hannan.core import ParameterError
from hannan.experiments.catalogue import at_place, find
from hannan.experiments.game import Game, world_rng
from hannan.experiments.plan import Plan
from hannan.replays.data import ReplayData

_FULL = {"type": "ContextFTPL", "predictor": {"type": "Ridge"}}
_PLAIN = {"type": "ContextFTPL", "loss_range": None}
_RESTARTING = {"type": "Restarting", "learner": _FULL}
_NAMED: dict[str, dict[str, Any]] = {
    "ContextFTPL": _FULL,
    "Restarting": _RESTARTING,
    "UniformRandom": {"type": "UniformRandom", "loss_range": None},
}
"""Tables of learners that users can request by these names."""
_LONG = 50_000  # rows, above which slow learners run only on request


def learners_of(data: ReplayData, feedback: str | None, names: Sequence[str]) -> dict[str, Any]:
    """Return tables of the requested learners; by default of the usual ones."""
    usual = _usual_learners(data, _feedback(data, feedback))
    if names:
        return {name: usual.get(name, _NAMED.get(name, {"type": name})) for name in names}
    if data.rounds > _LONG:
        usual.pop("hn.experts", None)
    return usual


def _usual_learners(data: ReplayData, feedback: str) -> dict[str, dict[str, Any]]:
    """Return tables of the recommended learner, first, and of others to compare with."""
    leader = {"type": "FollowTheLeader"}
    if data.takes_items:
        return {
            "hn.bandit": {"type": "bandit", "actions": "items"},
            "ItemLinUCB": {"type": "ItemLinUCB", "model": "shared"},
        }
    if feedback == "bandit":
        plain = {} if data.features else {"n_contexts": 1}
        others = {name: {"type": name} for name in ("LinUCB", "EpsilonGreedy")}
        return {"hn.bandit": {"type": "bandit", **plain}, **others}
    if data.logged:
        return {"ContextFTPL": _PLAIN, "FollowTheLeader": {**leader, "loss_range": None}}
    learners: dict[str, dict[str, Any]] = {"hn.experts": {"type": "experts"}}
    if data.features and data.rounds <= _LONG:
        learners["Restarting"] = _RESTARTING
    elif data.features:
        learners["ContextFTPL"] = _FULL
    return {**learners, "FollowTheLeader": leader}


def _feedback(data: ReplayData, wanted: str | None) -> str:
    if not data.logged:
        return wanted or "full"
    fits = "bandit" if data.table["method"] == "rejection" else "full"
    if wanted not in (None, fits):
        raise ParameterError(
            f"feedback={wanted!r} does not go with method={data.table['method']!r}: with "
            "'rejection' learners have bandit feedback, with 'importance' full information. "
            f"Pass feedback={fits!r}."
        )
    return fits


def policies_of(name: str | None, data: ReplayData) -> dict[str, Any]:
    """Return the table of a policy class."""
    if data.takes_items:
        if name not in (None, "SharedLinear"):
            raise ParameterError(
                f"policies={name!r} needs the same actions in every round, but the actions of this "
                "log change. Pass policies='SharedLinear', or leave it out."
            )
        return {"type": "SharedLinear"}
    K = data.environment.n_actions
    if not data.features:
        if name not in (None, "AllPolicies"):
            raise ParameterError(f"policies={name!r} needs contexts; these data have none.")
        return {"type": "AllPolicies", "n_contexts": 1, "n_actions": K}
    with at_place("policies="):
        oracle = find(name or "LinearPolicies", ("oracles",))
    if "n_actions" not in inspect.signature(oracle).parameters:
        raise ParameterError(
            f"policies={name!r} is not a class of policies that choose one of {K} actions from "
            "features. Pass 'LinearPolicies', 'Stumps' or 'Trees'."
        )
    return {"type": name or "LinearPolicies", "n_actions": K}


def check_learners(plan: Plan) -> None:
    """Raise an error before the first run if a learner does not fit the data."""
    checked = set()
    for cell in plan.cells:
        if cell.learner is not None and cell.learner["name"] not in checked:
            checked.add(cell.learner["name"])
            environment, _ = cell.world()
            learner = cell.make_learner()
            Game(learner, environment, cell.horizon, world_rng(cell.seed))
            environment.meet(learner)
