"""Records of cells, grouped by environment and learner."""

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
from hannan.experiments.over_data import LossUnits
from hannan.experiments.summary import compared, found_by
from hannan.learners import __all__ as LEARNERS
from hannan.report.spread import FloatArray, Spread, growth

Record = dict[str, Any]
Times = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class LearnerResults:
    """The results of one learner in one environment: a record for each seed, and times by key.

    The label is the learner's name, with a number if several learners have the name.
    """

    label: str
    records: Sequence[Record]
    times: Times

    @property
    def learner(self) -> Mapping[str, Any]:
        """The learner as a table of the experiment file."""
        description: Mapping[str, Any] = self.records[0]["cell"]["learner"]
        return description

    @property
    def ours(self) -> bool:
        """Whether the learner is one of Hannan's learners, not a baseline."""
        kind = str(self.learner["type"]).removeprefix("hn.").split(".")[0]
        return kind in (*RECOMMENDED, *LEARNERS)

    @property
    def hints(self) -> Hints | None:
        """Mean results of the predictor's hints; None without hints."""
        hints = Hints.mean(record["result"].get("hints") for record in self.records)
        return None if hints is None else hints.scaled(self.units.width)

    @property
    def seeds(self) -> list[Any]:
        """The seeds, in the order of the records."""
        return [record["cell"]["seed"] for record in self.records]

    @cached_property
    def t(self) -> FloatArray:
        """Rounds at which the curves of all seeds have a point."""
        rounds = [np.asarray(r["result"]["curve"]["t"], np.float64) for r in self.records]
        if all(np.array_equal(t, rounds[0]) for t in rounds):
            return rounds[0]
        return reduce(np.intersect1d, rounds)

    @property
    def learns(self) -> bool:
        """Whether it is a learner, not a fitted rule, a single action or the current rule."""
        return self.learner["type"] not in ("rule", "constant", "current")

    @cached_property
    def units(self) -> LossUnits:
        """Units of all results: those of the data file, if there is one."""
        return LossUnits.of(self.records[0]["cell"]["environment"])

    @cached_property
    def mean_loss_curve(self) -> Spread:
        """Loss so far, divided by the rounds so far."""
        return Spread.of(self.units.mean(self._curves("loss") / self.t))

    @cached_property
    def regret_curve(self) -> Spread:
        """Loss so far, minus the loss of the best policy so far."""
        return Spread.of(self.units.width * (self._curves("loss") - self._curves("best")))

    @cached_property
    def best_curve(self) -> FloatArray:
        """Mean loss of the best policy so far, averaged over seeds."""
        return np.asarray(Spread.of(self.units.mean(self._curves("best") / self.t)).mean)

    @cached_property
    def bound_curve(self) -> FloatArray:
        """Regret bound of the theorem, averaged over seeds."""
        return self.units.width * np.asarray(Spread.of(self._curves("bound")).mean)

    @cached_property
    def certificate_curve(self) -> FloatArray:
        """Regret bound of the certificate, averaged over seeds."""
        return self.units.width * np.asarray(Spread.of(self._curves("certificate")).mean)

    @cached_property
    def exponent(self) -> float | None:
        """Growth of regret, as a power of the number of rounds; None if no power fits."""
        return growth(self.t, np.asarray(self.regret_curve.mean))

    @cached_property
    def mean_loss(self) -> Spread:
        """Mean loss per round over the whole run."""
        return Spread.of(self.units.mean(self._finals("mean_loss")))

    @cached_property
    def rank(self) -> float:
        """Mean loss in [0, 1] for the ranking; infinite if it is unknown."""
        return float(np.nan_to_num(Spread.of(self._finals("mean_loss")).mean, nan=np.inf))

    @cached_property
    def regret(self) -> Spread:
        """Regret after the last round."""
        return Spread.of(self.units.width * self._finals("regret"))

    @cached_property
    def bound(self) -> float:
        """Regret bound of the theorem after the last round; NaN without a bound."""
        return self.units.width * float(Spread.of(self._finals("bound")).mean)

    @cached_property
    def certificate(self) -> float:
        """Regret bound of the certificate after the last round; NaN without a certificate."""
        return self.units.width * float(Spread.of(self._finals("certificate")).mean)

    @property
    def within_bound(self) -> bool | None:
        """Whether the mean regret is at most the bound; None if one of the two is unknown."""
        if not (self.regret.known and np.isfinite(self.bound)):
            return None
        return bool(self.regret.mean <= self.bound)

    @property
    def calls_per_round(self) -> float:
        """Oracle calls per round, over all seeds."""
        return _ratio(self._finals("oracle_calls").sum(), self._finals("rounds").sum())

    @property
    def seconds_per_round(self) -> float:
        """Computing time of the learner per round; NaN if it is unknown."""
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
    """One environment and the results of its learners."""

    label: str
    learners: Sequence[LearnerResults]

    @property
    def environment(self) -> Mapping[str, Any]:
        """The environment as a table of the experiment file."""
        description: Mapping[str, Any] = self.learners[0].records[0]["cell"]["environment"]
        return description

    @property
    def title(self) -> str:
        """Title of the environment in headings."""
        written = str(self.environment.get("title") or self.environment["name"])
        return written + self.label.removeprefix(str(self.environment["name"]))

    @property
    def rounds(self) -> int:
        """Number of rounds of the longest run."""
        return max(int(r["result"]["rounds"]) for s in self.learners for r in s.records)

    @cached_property
    def ranking(self) -> list[LearnerResults]:
        """Learners by mean loss, the smallest first, unknown ones last."""
        return sorted(self.learners, key=lambda s: s.rank)

    @property
    def measured(self) -> str:
        """Name of the measured outcome: loss or reward."""
        return self.learners[0].units.name

    @cached_property
    def best_name(self) -> str:
        """Name of the policy that regret compares with."""
        return f"best policy found by {self.found}" if self.found else "best policy in hindsight"

    @cached_property
    def found(self) -> str | None:
        """Models that found the best policies; None if the policy class has an exact optimiser."""
        runs = (r for s in self.learners for r in s.records)
        return found_by({r["cell"]["seed"]: r["result"].get("found") for r in runs}.values())

    @cached_property
    def common_best(self) -> FloatArray | None:
        """Mean loss of the best policy over time; None if it differs between learners."""
        best, *others = (s.best_curve for s in self.learners)
        same = np.isfinite(best).any() and all(
            other.shape == best.shape
            and np.allclose(other, best, rtol=1e-9, atol=1e-12, equal_nan=True)
            for other in others
        )
        return best if same else None


def gather(records: Iterable[Record], times: Times) -> list[Section]:
    """Group records by environment and learner, in the order of their first records.

    In oblivious environments, the results include the best policy in hindsight. Two cells are
    seeds of the same learner in the same environment if they differ only in the seed. Different
    learners with the same name get numbers.
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
    groups = []
    for group in sections.values():
        tables = [records[0]["cell"]["learner"] for records in group.values()]
        labels = _numbered([str(table.get("title") or table["name"]) for table in tables])
        pairs = zip(labels, group.values(), strict=True)
        groups.append([LearnerResults(label, records, times) for label, records in pairs])
    environments = [learners[0].records[0]["cell"]["environment"] for learners in groups]
    names = _numbered([environment["name"] for environment in environments])
    return [Section(name, learners) for name, learners in zip(names, groups, strict=True)]


def _numbered(names: list[str]) -> list[str]:
    """Add a number to each repeated name."""
    uses = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [name if n == 1 else f"{name} ({n})" for name, n in zip(names, uses, strict=True)]


def _canonical(cell: Mapping[str, Any], *names: str) -> str:
    return json.dumps([cell.get(name) for name in names], sort_keys=True)


def _ratio(above: float, below: float) -> float:
    return float(above) / float(below) if below else float("nan")
