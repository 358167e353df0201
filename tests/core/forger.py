"""Forged files: right in frame and checksum, wrong inside.

    python -m tests.core.forger --count 10000 --seed 0

saves learners of every kind, changes one to three things in each file (a field, a name, a
reference, the type, shape or values of an array, a state of a generator), repairs the checksum,
and lets a process of its own load the file, play eight rounds, answer what is open, and save. It
may succeed or raise a `HannanError`; anything else, more than five seconds or more than 300 MB is
a failure, and is printed with the number by which `--only` makes it again.
"""

from __future__ import annotations

import argparse
import copy
import mmap
import os
import pickle
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hannan as hn
from hannan.core.storage import container
from hannan.core.storage.arrays import Arrays, packed
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed as content_of
from hannan.experiments.game import Game

ROUNDS = 8
SECONDS = 5.0
MEGABYTES = 300
CHUNK = 500  # forgeries of one process


@dataclass
class Case:
    """A saved learner, and what it is played on."""

    name: str
    content: bytes
    contexts: list[Any]
    losses: list[Any]

    @classmethod
    def of(cls, name: str, learner: Any, contexts: list[Any], losses: list[Any]) -> Case:
        """A learner after some rounds, with a decision and a round open where it allows them."""
        half = len(contexts) // 2
        for t in range(half):
            action = learner.act(contexts[t])
            learner.update(feedback(learner, losses[t], action))
        if learner.late is None and len(contexts) - half > ROUNDS + 3:
            single = learner.oracle is None or learner.oracle.max_chosen == 1
            some = {}
            if single and not getattr(learner.oracle, "takes_functions", False):
                some = {"available": [0, 1]}
            try:
                learner.decide(contexts[half], **some)
                half += 1
            except hn.ParameterError:
                pass
            learner.decide(contexts[half])
            learner.act(contexts[half + 1])
            half += 1
        content = b"".join(content_of(learner, Encoder()))
        return cls(name, content, contexts[half:], losses[half:])


def feedback(learner: Any, losses: Any, action: Any) -> Any:
    """What a learner is shown of the losses of a round."""
    if learner.feedback is hn.Feedback.FULL:
        return losses
    found = losses[action]
    return float(found) if np.ndim(found) == 0 else found


# Cases ------------------------------------------------------------------------------------


def cases() -> list[Case]:
    """Learners of every kind, with every policy class, predictor and detector."""
    from tests import test_contracts as contracts
    from tests.core import test_save_load as saving
    from tests.golden import saving as golden

    found: dict[str, tuple[Any, list[Any], list[Any]]] = {}

    def put(name: str, learner: Any, contexts: Any, n_actions: int, count: int = 36) -> None:
        some = saving.rounds(contexts, n_actions, count)
        found[name] = learner, [x for x, _ in some], [f for _, f in some]

    for name, (learner, environment, _, _) in contracts.LEARNERS.items():
        if name.startswith("VowpalWabbit"):
            continue  # its model is read by its own library, which the caller has to trust
        made = learner.clone()
        drawn = list(Game(learner.clone(), environment, 24, np.random.default_rng(4)))
        found[name] = made, [r.context for r in drawn], [r.losses for r in drawn]
    for name, (oracle, contexts, _) in contracts.ORACLES.items():
        given = list(oracle.contexts) if contexts is None else list(contexts)
        X, K = given, oracle.n_actions
        if oracle.takes_items:
            X, K = None if oracle.contexts is not None else given, max(map(len, contexts))
        top = float(K) if oracle.takes_functions else 1.0
        ways = [(hn.ContextFTPL, "adaptive"), (hn.ContextSemiBanditFTPL, 0.4)]
        for kind, epsilon in ways[oracle.takes_items :]:
            made = kind(oracle, X, epsilon=epsilon, seed=5, loss_range=(0.0, top))
            changing = isinstance(oracle, hn.oracles.Switching)
            count = len(given) if changing else 36
            put(
                f"{kind.__name__}, {name}",
                made,
                list(contexts) if oracle.takes_items else given,
                K,
                count,
            )
    for name, make in (saving.SETTINGS | saving.BASELINES).items():
        if not name.startswith("VowpalWabbit"):
            put(f"setting, {name}", make(), range(6), 3)
    for name, oracle in saving.OPEN.items():
        for kind in (hn.ContextFTPL, hn.ContextSemiBanditFTPL):
            known = {} if oracle.takes_new_contexts else {"contexts": hn.Pool(saving.ROWS)}
            fits = "Sklearn" in name  # in every draw, and no file says more for many of them
            if fits and kind is hn.ContextSemiBanditFTPL:
                known["max_resamples"] = 3
            made = kind(oracle, seed=2, **known)
            put(
                f"{kind.__name__}, open, {name}",
                made,
                saving.ROWS,
                oracle.n_actions,
                22 if fits else 36,
            )
    for name, predictor in contracts.PREDICTORS.items():
        rows = "Ridge" in name or "Blend" in name or "Fourier" in name
        oracle = hn.oracles.LinearPolicies(3) if rows else contracts.FINITE
        points = list(saving.ROWS) if rows else range(4)
        for kind in (hn.ContextFTPL, hn.ContextSemiBanditFTPL):
            try:
                made = kind(oracle, predictor=predictor.clone(), seed=1)
                put(f"{kind.__name__}, {name}", made, points, 3)
            except hn.HannanError:
                continue
    for name, (world, make) in golden._learners().items():
        rng = np.random.default_rng(6)
        contexts = [world.contexts(30)[t] for t in range(30)]
        if name.startswith("playout"):
            contexts = world.contexts(golden.ROUNDS)
        found[f"golden, {name}"] = (
            make(),
            contexts,
            [world.loss(t, rng) for t in range(len(contexts))],
        )
    put("experts, table", hn.experts(hn.oracles.AllPolicies(4, 3), seed=0), range(4), 3)
    put("bandit, rows", hn.bandit(3, seed=0), saving.ROWS, 3)
    for name, estimator in {
        "tree": DecisionTreeClassifier(max_depth=2),
        "regression tree": DecisionTreeRegressor(max_depth=2),
        "least squares": LinearRegression(),
    }.items():
        made = hn.ContextFTPL(hn.oracles.SklearnPolicies(estimator, 3), saving.ROWS, seed=0)
        put(f"sklearn, {name}", made, saving.ROWS, 3, 22)
    done = [Case("Watch", b"".join(content_of(watch(), Encoder())), [0, 1], [[0.5], [1.0]])]
    for name, made in rows_of_all_kinds().items():
        content = b"".join(content_of(made, Encoder()))
        shown: list[Any] = [MIXED, {"age": "odd", "later": 3.0}, None]
        if name.endswith("sequences"):
            shown = [[*MIXED.values(), 2.0, None], None]
        done.append(Case(name, content, shown, [[0.5]]))
    done += deciders()
    for name, (learner, contexts, losses) in found.items():
        try:
            done.append(Case.of(name, learner, contexts, losses))
        except hn.HannanError as error:
            print(f"not saved: {name}: {type(error).__name__}: {error}"[:160], file=sys.stderr)
    return done


def watch() -> hn.off_policy.Watch:
    """A watch with rounds of all kinds."""
    made = hn.off_policy.Watch({"always 0": 0, "always 2": 2}, n_actions=3)
    for t in range(12):
        made.add_decision(t, None, 1 + t % 2, propensity=0.4, available=[1, 2] if t % 3 else None)
        if t % 2:
            made.add_loss(t, t / 11)
    made.add_decision("late", None, 0)
    made.abandon(0)
    return made


MIXED = {
    "age": 31,
    "plan": "pro",
    "when": "2024-02-29",
    "vip": True,
    "note": "late again, too late",
}


def rows_of_all_kinds() -> dict[str, hn.features.Features]:
    """Features found and declared, after some rows; a column waits, others came later."""
    kinds = {"age": "number", "plan": ["free", "pro"], "when": "date", "vip": "flag"}
    found = {
        "Features": hn.features.Features(),
        "Features, declared": hn.features.Features(kinds | {"note": "text"}, places=2),
        "Features, sequences": hn.features.Features(),
    }
    for features in found.values():
        for t in range(6):
            row = {**MIXED, "age": 20 + t, "plan": f"plan {t}", "none": None, "waits": None}
            late = {"late": float(t), "waits": "now"} if t > 3 else {}
            listed = found["Features, sequences"] is features
            features.see([*row.values()] if listed else row | late)
    return found


OFFER = {"sku-1": {"price": 9.5, "kind": "book"}, "sku-2": {"price": 4.0}, 3: {"price": 1.0}}


def deciders() -> list[Case]:
    """Deciders of all kinds, with actions that came and went, and decisions that wait."""
    done = []
    for name, context in {"arms": None, "rows": MIXED, "items": MIXED, "sets": None}.items():
        given: dict[str, Any] = {"rewards": (0, 10), "seed": 0}
        offers, sets = name == "items", name == "sets"
        if sets:
            colours = ["red", "green", "blue", "gold"]
            given |= {"policies": hn.oracles.Subsets(4, 2), "actions": colours, "holdout": 0.3}
            given |= {"baseline": ["red", "blue"]}
        elif not offers:
            given |= {"actions": ["red", "green", "blue"], "baseline": "red"}
        made = hn.Decider(**given)
        for t in range(24):
            some = {} if offers or t % 4 else {"available": ["red", "blue"]}
            offer = OFFER if offers else None
            made.decide(context, id=f"order-{t}", actions=offer, **some)
            if t % 3:
                made.report(f"order-{t}", **told(made, f"order-{t}", float(t % 7)))
            if t == 12 and not offers and not sets:
                made.add_action("gold")
                made.retire("green")
                made.learn(context, "red", 3.0, 0.5)
        made.expire(older_than=0.0)
        for t in range(4):
            made.decide(context, id=t, actions=OFFER if offers else None)
        content = b"".join(content_of(made, Encoder()))
        done.append(Case(f"Decider, {name}", content, [context, None, {"age": 3}], [[0.5]]))
    return done


def told(decider: hn.Decider, key: Any, reward: float) -> dict[str, Any]:
    """The outcome of an open decision, as `report` takes it."""
    action = decider.decision(key).action
    return {"rewards": [reward] * len(action)} if type(action) is tuple else {"reward": reward}


# Forgeries --------------------------------------------------------------------------------

NUMBERS = (0, 1, -1, 2, 7, 2**31, 2**62, 2**63, 10**9, 10**12, 10**400, True, 0.5, -0.5, 1e-310,
           1e18, 1e308, np.nan, np.inf, -np.inf, None, "", "3", [], {})  # fmt: skip
NODES = (
    {"ref": 0}, {"ref": 1}, {"ref": 2}, {"list": []}, {"list": [1, 2]}, {"tuple": []},
    {"tuple": [0, 1]}, {"dict": []}, {"dict": [[0, 1]]}, {"dict": [[1, {"ref": 0}]]},
    {"set": [1]}, {"frozenset": []}, {"deque": [], "most": None}, {"deque": [1], "most": 10**12},
    {"range": [0, 5, 1]}, {"range": [0, 10**15, 1]}, {"range": [0, 10**400, 1]},
    {"fraction": "1/3"}, {"fraction": "1e999999999"}, {"decimal": "1e999999999"},
    {"decimal": "NaN"},
    {"fraction": "9" * 5000}, {"complex": "nan"}, {"uuid": "x"}, {"date": "2026-01-01"},
    {"objects": [1, 2], "shape": [2]}, {"objects": [], "shape": [0, 10**12]},
    {"objects": [1], "shape": [1] * 40}, {"scalar": 0}, {"array": 0}, {"bytes": 0},
    {"generator": "MT19937"}, {"generator": [2**127, 3, 0, 0]}, {"generator": [1, 2, 3, 4]},
    {"enum": "hannan.core.environment:Feedback", "value": "full"},
    {"enum": "hannan.core.environment:Feedback", "value": "semi-bandit"},
    {"function": "builtins:eval"}, {"function": "numpy:exp"},
    {"estimator": "sklearn.tree:DecisionTreeClassifier", "params": {}},
    {"estimator": "sklearn.tree._classes:DecisionTreeClassifier", "params": {"max_depth": -3}},
    {"estimator": "sklearn.pipeline:Pipeline", "params": {"steps": None, "memory": "x"}},
    {"estimator": "sklearn.datasets._twenty_newsgroups:x", "params": {}},
    {"class": "hannan.learners.context_set:Pool", "given": {"rows": None}, "learned": {}},
    {"class": "hannan.predictors.mean:Mean", "given": {}, "learned": {}},
    {"part": "hannan.predictors.mean:Mean", "learned": {}},
    {"part": "hannan.core.rounds:Ledger", "given": {}, "learned": {}},
)  # fmt: skip
TYPES = ("<f4", ">f8", "<i8", "<i4", "|u1", "|b1", "<c16", "<U3", "|S2", "<M8[D]", "<f8", "<u8")
VALUES = (0.0, 1.0, -1.0, 3.0, 1e9, 1e18, 1e160, 1e299, -1e299, 1e308, -1e308, 1e-310, np.nan,
          np.inf, -np.inf)  # fmt: skip


class Forger:
    """Makes the forgery of each number; the same one every time."""

    def __init__(self, cases: list[Case], seed: int) -> None:
        self.seed = seed
        self.cases = cases
        self._opened: dict[int, tuple[dict[str, Any], list[Any]]] = {}
        self._pickled: dict[int, bytes] = {}
        names = {name for case in range(len(cases)) for name in _classes(self._open(case)[0])}
        self._names = sorted(names)

    def forge(self, index: int) -> tuple[Case, bytes, list[str]]:
        """The case, the forged file, and what was changed."""
        rng = np.random.default_rng([self.seed, index])
        number = index % len(self.cases)
        case = self.cases[number]
        head, arrays = self._copied(number)
        said: list[str] = []
        raw: dict[int, dict[str, Any]] = {}
        for _ in range(int(rng.choice([1, 1, 1, 1, 2, 2, 3]))):
            if arrays and rng.random() < 0.4:
                place = int(rng.integers(len(arrays)))
                if rng.random() < 0.15:
                    raw[place] = _tampered_entry(rng)
                    said.append(f"array {place}: {raw[place]}")
                else:
                    arrays[place], what = _tampered(arrays[place], rng)
                    said.append(f"array {place}: {what}")
            else:
                said.append(self._tamper(head, rng))
        entries, body = [], []
        for place, array in enumerate(arrays):
            entry, content = packed(np.asarray(array))
            entries.append(entry | raw.get(place, {}))
            body.append(content)
        if isinstance(head, dict) and "arrays" in head:
            head["arrays"] = entries
        return case, b"".join(container.pack(head, body)), said

    def _copied(self, number: int) -> tuple[dict[str, Any], list[Any]]:
        """A head to change, and the arrays."""
        head, arrays = self._open(number)
        if number not in self._pickled:  # which is read in a tenth of the time of a deep copy
            self._pickled[number] = pickle.dumps(head)
        return pickle.loads(self._pickled[number]), list(arrays)

    def _open(self, number: int) -> tuple[dict[str, Any], list[Any]]:
        if number not in self._opened:
            content = self.cases[number].content
            head, body = container.unpack(memoryview(content), "a case")
            held = Arrays(head["arrays"], body, "a case")
            arrays = [held.take(i) for i in range(len(head["arrays"]))]
            self._opened[number] = head, arrays
        return self._opened[number]

    def _tamper(self, head: dict[str, Any], rng: np.random.Generator) -> str:
        """Change one node of a tree."""
        places = list(_places(head["learner"], "learner"))
        path, parent, key = places[int(rng.integers(len(places)))]
        old = parent[key]
        kind = int(rng.integers(8))
        if kind <= 2 and isinstance(old, dict | list):  # rather a leaf: there are fewer ways there
            path, parent, key = places[int(rng.integers(len(places)))]
            old = parent[key]
        if kind <= 1 or (kind == 2 and not isinstance(old, dict | list)):
            new: Any = NUMBERS[int(rng.integers(len(NUMBERS)))]
            if type(old) in (int, float) and rng.random() < 0.5:
                new = old + int(rng.choice([-1, 1, 1000]))
            if isinstance(old, str) and ":" in old and rng.random() < 0.7:
                new = self._names[int(rng.integers(len(self._names)))]
            parent[key] = copy.deepcopy(new)
        elif kind <= 3:
            parent[key] = copy.deepcopy(NODES[int(rng.integers(len(NODES)))])
        elif kind == 4:
            _, other, name = places[int(rng.integers(len(places)))]
            parent[key] = copy.deepcopy(other[name])
            return f"{path} becomes a copy of {name}"
        elif kind == 5:
            del parent[key]
            return f"{path} is left out"
        elif kind == 6 and isinstance(old, list) and old:
            parent[key] = [old[i] for i in rng.integers(len(old), size=int(rng.integers(9)))]
        elif kind == 6 and isinstance(old, dict) and old.keys() & {"class", "part"}:
            name = self._names[int(rng.integers(len(self._names)))]
            old["class" if "class" in old else "part"] = name
            return f"{path} is a {name}"
        else:
            foreign = self._open(int(rng.integers(len(self.cases))))[0]
            others = list(_places(foreign["learner"], "learner"))
            same = [o for o in others if o[2] == key and type(o[1][o[2]]) is type(old)]
            if same:
                _, other, name = same[int(rng.integers(len(same)))]
                parent[key] = copy.deepcopy(other[name])
                return f"{path} comes from another file"
            parent[key] = None
        return f"{path} = {parent[key]!r:.60}"


def _classes(head: dict[str, Any]) -> Iterator[str]:
    for _, parent, key in _places(head["learner"], ""):
        if key in ("class", "part", "estimator") and isinstance(parent[key], str):
            yield parent[key]


def _places(node: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """All nodes of a tree: a name, what holds it and under which key."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield f"{path}.{key}", node, key
        if isinstance(value, dict | list):
            yield from _places(value, f"{path}.{key}")


def _tampered_entry(rng: np.random.Generator) -> dict[str, Any]:
    """What the head says about an array, changed alone."""
    ways: tuple[dict[str, Any], ...] = (
        {"shape": [10**12, 0]}, {"shape": [2**62, 4]}, {"shape": []}, {"shape": [1] * 40},
        {"order": "F"}, {"dtype": "|O"}, {"dtype": ">f8"}, {"dtype": "<f4"}, {"dtype": "<i8"},
        {"dtype": "<U9999999"}, {"base": 256}, {"dtype": "(3,)f8"},
        {"dtype": "f8,f8"}, {"shape": [-1]}, {"shape": [True]}, {"dtype": ["<f8"]},
    )  # fmt: skip
    return copy.deepcopy(ways[int(rng.integers(len(ways)))])


def _tampered(array: Any, rng: np.random.Generator) -> tuple[Any, str]:
    """An array with other values, of another shape or of another type."""
    array = np.array(array)
    kind = int(rng.integers(12))
    if kind <= 4 and array.size:
        flat = array.reshape(-1)
        count = int(rng.choice([1, 1, 2, flat.size]))
        places = rng.integers(flat.size, size=count)
        value = VALUES[int(rng.integers(len(VALUES)))]
        if array.dtype.kind in "iu":
            low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            flat[places] = (low, max(low, -1), 0, 1, 2, 3, 5, 9, 100, high)[int(rng.integers(10))]
        elif array.dtype.kind == "f":
            flat[places] = value
        elif array.dtype.kind == "b":
            flat[places] ^= True
        return array, f"{count} of {flat.size} become {flat[places[0]]!r:.30}"
    if kind == 5 and array.ndim:
        return rng.permutation(array.reshape(-1)).reshape(array.shape), "permuted"
    if kind == 6 and array.ndim:
        axis = int(rng.integers(array.ndim))
        size = int(rng.integers(array.shape[axis] + 1))
        return array.take(np.arange(size), axis=axis), f"cut to {size} along {axis}"
    if kind == 7 and array.ndim:
        axis = int(rng.integers(array.ndim))
        return np.concatenate([array, array], axis=axis), f"twice along {axis}"
    if kind == 8:
        shapes = (array.T, array[..., None], array.reshape(-1), array[None], array.reshape(-1)[:1])
        found = shapes[int(rng.integers(len(shapes)))]
        return found, f"of shape {found.shape}"
    if kind == 9:
        name = TYPES[int(rng.integers(len(TYPES)))]
        with np.errstate(all="ignore"):
            try:
                return array.astype(name), f"of type {name}"
            except (TypeError, ValueError):
                return np.zeros(array.shape, name), f"zeros of type {name}"
    if kind == 10:
        return np.asfortranarray(array), "in the other order"
    return np.zeros(int(rng.integers(5)), array.dtype), "zeros"


# Trials -----------------------------------------------------------------------------------


def attempt(case: Case, content: bytes, folder: Path) -> str:
    """Load, play, answer, save: "refused", "played", or what came instead of a `HannanError`."""
    stage = "load"
    try:
        path = folder / "forged.hannan"
        path.write_bytes(content)
        learner = hn.load(path, trusted=trusted())
        stage = "play"
        if isinstance(learner, hn.off_policy.Watch):
            return used(learner, path)
        if isinstance(learner, hn.features.Features):
            return read_by(learner, case, path)
        if isinstance(learner, hn.Decider):
            return decided_by(learner, case, path)
        refused = 0
        for t in range(ROUNDS):
            try:
                context, losses = (
                    case.contexts[t % len(case.contexts)],
                    case.losses[t % len(case.losses)],
                )
                action = learner.act(context)
                learner.update(feedback(learner, losses, action))
            except hn.HannanError:
                refused += 1
        stage = "answer"
        for number in learner.open_decisions[:4]:
            for loss in (0.25, case.losses[0], case.losses[0][:1]):
                try:
                    learner.update(loss, decision=number)
                except hn.HannanError:
                    continue
                break
        stage = "save"
        learner.save(path)
    except hn.HannanError as error:
        return f"refused at {stage}" if not _out_of_memory(error) else f"MemoryError at {stage}"
    except Exception as error:
        return _described(error, stage)
    return "played" if not refused else "refused at play"


def used(loaded: hn.off_policy.Watch, path: Path) -> str:
    """Tell a loaded watch of rounds, answer what is open, read it, and save it."""
    refused = 0
    for t in range(ROUNDS):
        try:
            loaded.add_decision(f"round {t}", None, t % 3, propensity=0.5)
            loaded.add_loss(f"round {t}", t / ROUNDS)
        except hn.HannanError:
            refused += 1
    for number in loaded.open_decisions[:4]:
        try:
            loaded.add_loss(number, 0.5)
        except hn.HannanError:
            loaded.abandon(number)
    str(loaded)
    loaded.save(path)
    return "played" if not refused else "refused at play"


def read_by(loaded: hn.features.Features, case: Case, path: Path) -> str:
    """Let loaded features read rows; the numbers must be finite, and as many every time."""
    refused = 0
    for t in range(ROUNDS):
        row = case.contexts[t % len(case.contexts)]
        try:
            x = loaded.encode(row)
            loaded.see(row)
        except hn.HannanError:
            refused += 1
            continue
        if x.shape != (loaded.width,) or not np.isfinite(x).all():
            raise AssertionError(f"read {x!r:.60}")
    if len(loaded.names) != loaded.width or len(loaded.kinds) > loaded.width:
        raise AssertionError("names do not fit")
    loaded.copy().save(path)
    return "played" if not refused else "refused at play"


def decided_by(loaded: hn.Decider, case: Case, path: Path) -> str:
    """Let a loaded Decider decide, answer what is open, speak, grow, and be saved."""
    refused = 0
    offers = OFFER if "items" in case.name else None
    for t in range(ROUNDS):
        try:
            answer = loaded.decide(case.contexts[t % len(case.contexts)], actions=offers)
            if not np.isnan(answer.propensity).all() and not 0.0 < answer.propensity <= 1.0 + 1e-9:
                raise AssertionError(f"a propensity of {answer.propensity}")
            str(loaded.why(answer))
            loaded.report(answer, **told(loaded, answer.id, 3.0))
        except hn.HannanError:
            refused += 1
    for key in loaded.open_decisions[:4]:
        loaded.report(key, **told(loaded, key, 1.0))
    str(loaded)
    str(loaded.summary())
    if offers is None:
        if loaded.policies is None:
            loaded.add_action("silver")
        loaded.log()
        loaded.retire(loaded.decide(case.contexts[0]).actions[-1])
    loaded.expire(older_than=0.0)
    loaded.save(path)
    return "played" if not refused else "refused at play"


def _described(error: Exception, stage: str) -> str:
    """What went wrong, and where in the library."""
    frames = traceback.extract_tb(error.__traceback__)
    if "/tests/" in frames[-1].filename and not frames[-1].filename.endswith("forger.py"):
        return "refused by a function of the user's own"
    ours = [frame for frame in frames if "/hannan/" in frame.filename] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return f"{type(error).__name__} at {stage} in {where}: {error!s:.80}"


def _out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__
    return False


def trusted() -> list[Any]:
    """Functions of the tests that some cases hold."""
    from tests.oracles.test_matroid import CONTRACT
    from tests.problems import FUNCTION

    return ["tests", FUNCTION.solve, CONTRACT["Matroid"].independent]


class Timeout(BaseException):
    """A trial took too long."""


def _late(*_: Any) -> None:
    raise Timeout


def _worker(forger: Forger, numbers: list[int], at: mmap.mmap, out: int) -> None:
    """Try some forgeries; the number of the one at work is left where the parent sees it."""
    held = _status("VmSize") + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (held, held))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _late)  # five seconds of work; the machine may be busy
    signal.signal(signal.SIGALRM, _late)  # and a minute in any case
    with tempfile.TemporaryDirectory() as name:
        for place, number in enumerate(numbers):
            at[:8] = struct.pack("<q", place)
            case, content, said = forger.forge(number)
            # What is slow once may have compiled a kernel, which is then there.
            for limit in (SECONDS, 20 * SECONDS, SECONDS):
                found, seconds = _timed(case, content, Path(name), limit)
                if limit == SECONDS and not found.startswith("more than"):
                    break
            parts = str(number), found, f"{seconds:.2f}", case.name, "; ".join(said)
            line = "\t".join(" ".join(part.split())[:800] for part in parts)
            os.write(out, f"{line}\n".encode(errors="replace"))


def _timed(case: Case, content: bytes, folder: Path, limit: float) -> tuple[str, float]:
    """What comes of a file in so many seconds of work, and how many it took."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.setitimer(signal.ITIMER_REAL, 12 * limit)
    try:
        found = attempt(case, content, folder)
    except Timeout:
        found = f"more than {limit:g} seconds"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found, time.process_time() - started


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def trial(forger: Forger, numbers: list[int]) -> Iterator[list[str]]:
    """What came of each forgery: number, result, seconds, case, changes."""
    at = mmap.mmap(-1, 8)
    while numbers:
        some, numbers = numbers[:CHUNK], numbers[CHUNK:]
        read, write = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(read)
            code = 1
            try:
                _worker(forger, some, at, write)
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        buffer = b""
        while True:
            piece = os.read(read, 2**16)
            if not piece:
                break
            buffer += piece
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                yield line.decode().split("\t")
        os.close(read)
        _, status = os.waitpid(child, 0)
        if status:
            done = struct.unpack("<q", at[:8])[0]
            case, _, said = forger.forge(some[done])
            how = f"CRASH signal {status & 127}" if status & 127 else f"CRASH exit {status >> 8}"
            yield [str(some[done]), how, "0", case.name, "; ".join(said)]
            numbers = some[done + 1 :] + numbers


def main() -> int:
    """Forge, try, and say what failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of some forgeries")
    parser.add_argument("--cases", help="a file to keep the cases in, for the next time")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    forger = Forger(kept_cases(given.cases), given.seed)
    with tempfile.TemporaryDirectory() as name:  # kernels are loaded before memory is measured
        for case in forger.cases:
            found = attempt(case, case.content, Path(name))
            if not found.startswith(("played", "refused at play")):
                sys.exit(f"The file of {case.name!r} itself: {found}")
    numbers = given.only or list(range(given.start, given.start + given.count))
    results: Counter[str] = Counter()
    slowest, failures = 0.0, 0
    started = time.process_time()
    for number, found, seconds, case, said in trial(forger, numbers):
        results[found if found.startswith(("refused", "played")) else "failed"] += 1
        slowest = max(slowest, float(seconds))
        if not found.startswith(("refused", "played")):
            failures += 1
            print(f"{number}\t{found}\t{case}\t{said}", flush=True)
        elif given.only:
            print(f"{number}\t{found}\t{case}\t{said}", flush=True)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = time.process_time() - started + children.ru_utime + children.ru_stime
    counts = ", ".join(f"{name}: {count}" for name, count in sorted(results.items()))
    print(f"{len(numbers)} forgeries of {len(forger.cases)} files: {counts}; "
          f"slowest {slowest:.2f} s, {used:.0f} CPU-s")  # fmt: skip
    return int(failures > 0)


def kept_cases(path: str | None) -> list[Case]:
    """The cases, from a file of an earlier run of this program where there is one."""
    if path is None:
        return cases()
    if not Path(path).exists():
        Path(path).write_bytes(pickle.dumps([vars(case) for case in cases()]))
    return [Case(**each) for each in pickle.loads(Path(path).read_bytes())]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
