"""Records of cells, gathered into what a reader compares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from hannan.core.validation import refuse
from hannan.experiments.catalogue import RECOMMENDED
from hannan.experiments.hints import Hints
from hannan.experiments.over_data import Units
from hannan.experiments.summary import compared, found_by
from hannan.learners import __all__ as LEARNERS
from hannan.report.spread import FloatArray, Spread, growth

Record = dict[str, Any]
Times = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class LearnerResults:
    """One learner in one environment, over all its seeds: a record for each, all times by key.

    The label is the learner's name, numbered where several learners have it.
    """

    label: str
    records: Sequence[Record]
    times: Times

    @property
    def learner(self) -> Mapping[str, Any]:
        """The learner's table in the experiment file."""
        description: Mapping[str, Any] = self.records[0]["cell"]["learner"]
        return description

    @property
    def ours(self) -> bool:
        """Whether it is a learner of this library, not a baseline."""
        kind = str(self.learner["type"]).removeprefix("hn.").split(".")[0]
        return kind in (*RECOMMENDED, *LEARNERS)

    @property
    def hints(self) -> Hints | None:
        """How well the hints of its predictor did, where it has any."""
        hints = Hints.mean(record["result"].get("hints") for record in self.records)
        return None if hints is None else hints.scaled(self.units.width)

    @property
    def seeds(self) -> list[Any]:
        """The seeds, in the order of the records."""
        return [record["cell"]["seed"] for record in self.records]

    @cached_property
    def t(self) -> FloatArray:
        """The rounds at which the curves of all seeds have a point."""
        rounds = [np.asarray(r["result"]["curve"]["t"], np.float64) for r in self.records]
        if all(np.array_equal(t, rounds[0]) for t in rounds):
            return rounds[0]
        return reduce(np.intersect1d, rounds)

    @property
    def learns(self) -> bool:
        """Whether it is a learner: not a rule, an action, or what was done."""
        return self.learner["type"] not in ("rule", "constant", "current")

    @cached_property
    def units(self) -> Units:
        """Of all that is shown: those of the file, where there is one."""
        return Units.of(self.records[0]["cell"]["environment"])

    @cached_property
    def mean_loss_curve(self) -> Spread:
        """Loss so far over rounds so far."""
        return Spread.of(self.units.mean(self._curves("loss") / self.t))

    @cached_property
    def regret_curve(self) -> Spread:
        """Loss so far less that of the policy which is best so far."""
        return Spread.of(self.units.width * (self._curves("loss") - self._curves("best")))

    @cached_property
    def best_curve(self) -> FloatArray:
        """Mean loss of the policy which is best so far, averaged over seeds."""
        return np.asarray(Spread.of(self.units.mean(self._curves("best") / self.t)).mean)

    @cached_property
    def bound_curve(self) -> FloatArray:
        """The theorem's bound on expected regret, averaged over seeds."""
        return self.units.width * np.asarray(Spread.of(self._curves("bound")).mean)

    @cached_property
    def certificate_curve(self) -> FloatArray:
        """The bound measured in play, averaged over seeds."""
        return self.units.width * np.asarray(Spread.of(self._curves("certificate")).mean)

    @cached_property
    def exponent(self) -> float | None:
        """How regret grows: as this power of the number of rounds."""
        return growth(self.t, np.asarray(self.regret_curve.mean))

    @cached_property
    def mean_loss(self) -> Spread:
        """Loss a round, over the whole game."""
        return Spread.of(self.units.mean(self._finals("mean_loss")))

    @cached_property
    def rank(self) -> float:
        """What standings are sorted by: the mean loss in [0, 1], infinite if it is not known."""
        return float(np.nan_to_num(Spread.of(self._finals("mean_loss")).mean, nan=np.inf))

    @cached_property
    def regret(self) -> Spread:
        """Regret at the end."""
        return Spread.of(self.units.width * self._finals("regret"))

    @cached_property
    def bound(self) -> float:
        """The theorem's bound at the end; NaN where there is none."""
        return self.units.width * float(Spread.of(self._finals("bound")).mean)

    @cached_property
    def certificate(self) -> float:
        """The bound measured in play at the end; NaN where there is none."""
        return self.units.width * float(Spread.of(self._finals("certificate")).mean)

    @property
    def within_bound(self) -> bool | None:
        """Whether the mean regret is below the bound; None where one of them is not known."""
        if not (self.regret.known and np.isfinite(self.bound)):
            return None
        return bool(self.regret.mean <= self.bound)

    @property
    def calls_per_round(self) -> float:
        """Oracle calls over rounds, all seeds together."""
        return _ratio(self._finals("oracle_calls").sum(), self._finals("rounds").sum())

    @property
    def seconds_per_round(self) -> float:
        """The learner's own time over rounds; NaN where no time is known."""
        timed = [r for r in self.records if r["key"] in self.times]
        rounds = sum(r["result"]["rounds"] for r in timed)
        return _ratio(sum(self.times[r["key"]]["learner"] for r in timed), rounds)

    def _finals(self, name: str) -> FloatArray:
        return np.array([r["result"][name] for r in self.records], dtype=np.float64)

    def _curves(self, name: str) -> FloatArray:
        rows = []
        for record in self.records:
            curve = record["result"]["curve"]
            row = curve[name] if curve[name] is not None else [None] * len(curve["t"])
            whole = len(row) == len(self.t)
            rows.append(row if whole else np.array(row)[np.isin(curve["t"], self.t)])
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.t))


@dataclass(frozen=True)
class Section:
    """One environment and the learners that met it."""

    label: str
    standings: Sequence[LearnerResults]

    @property
    def environment(self) -> Mapping[str, Any]:
        """The environment's table in the experiment file."""
        description: Mapping[str, Any] = self.standings[0].records[0]["cell"]["environment"]
        return description

    @property
    def title(self) -> str:
        """What it is called in headings."""
        written = str(self.environment.get("title") or self.environment["name"])
        return written + self.label.removeprefix(str(self.environment["name"]))

    @property
    def rounds(self) -> int:
        """The length of the longest game."""
        return max(int(r["result"]["rounds"]) for s in self.standings for r in s.records)

    @cached_property
    def ranking(self) -> list[LearnerResults]:
        """By mean loss, least first; those without one last."""
        return sorted(self.standings, key=lambda s: s.rank)

    @property
    def measured(self) -> str:
        """What the means are means of."""
        return self.standings[0].units.name

    @cached_property
    def best_name(self) -> str:
        """What regret is measured against."""
        return f"best policy found by {self.found}" if self.found else "best policy in hindsight"

    @cached_property
    def found(self) -> str | None:
        """Where the class has no exact optimiser: the models that found the best policies."""
        games = (r for s in self.standings for r in s.records)
        return found_by({r["cell"]["seed"]: r["result"].get("found") for r in games}.values())

    @cached_property
    def common_best(self) -> FloatArray | None:
        """The best policy's mean loss over time, where it is the same for all learners."""
        best, *others = (s.best_curve for s in self.standings)
        same = np.isfinite(best).any() and all(
            other.shape == best.shape
            and np.allclose(other, best, rtol=1e-9, atol=1e-12, equal_nan=True)
            for other in others
        )
        return best if same else None


def gather(records: Iterable[Record], times: Times) -> list[Section]:
    """Environments, and in each the learners, in the order in which the records name them.

    The best policy in hindsight is put beside those whose world does not react. Cells count as
    seeds of the same learner in the same environment if nothing but their seeds differs; two
    learners of one name are numbered, never averaged.
    """
    latest = {record["key"]: record for record in compared(records)}
    if not latest:
        raise refuse("report", "records", "the records of at least one finished cell", [])
    sections: dict[str, dict[str, list[Record]]] = {}
    for record in latest.values():
        cell = record["cell"]
        where = _canonical(cell, "environment", "policies", "shared", "horizon", "data")
        who = _canonical(cell, "learner", "shared_with_learner", "hannan")
        sections.setdefault(where, {}).setdefault(who, []).append(record)
    found = []
    for group in sections.values():
        tables = [records[0]["cell"]["learner"] for records in group.values()]
        labels = _numbered([str(table.get("title") or table["name"]) for table in tables])
        players = zip(labels, group.values(), strict=True)
        found.append([LearnerResults(label, records, times) for label, records in players])
    worlds = [standings[0].records[0]["cell"]["environment"] for standings in found]
    names = _numbered([world["name"] for world in worlds])
    return [Section(name, standings) for name, standings in zip(names, found, strict=True)]


def _numbered(names: list[str]) -> list[str]:
    """Each name, with a number from its second use on."""
    uses = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [name if n == 1 else f"{name} ({n})" for name, n in zip(names, uses, strict=True)]


def _canonical(cell: Mapping[str, Any], *names: str) -> str:
    return json.dumps([cell.get(name) for name in names], sort_keys=True)


def _ratio(above: float, below: float) -> float:
    return float(above) / float(below) if below else float("nan")
