"""The shape of the code: few ancestors, parts that keep to themselves, no method for one heir."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan import baselines, learners

SOURCE = Path(hn.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted({path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES})
LEARNERS = [
    getattr(family, name)
    for family in (learners, baselines)
    for name in family.__all__
    if issubclass(getattr(family, name), hn.Learner)
]

# Others' names that begin with an underscore and are meant to be used.
MEANT = {
    "model._multiclass": "what river's own checks ask a classifier",
    "thing._get_params": "how river itself clones a model",
}


def ours(kind: type) -> list[str]:
    """The classes of this package that a class is made from, itself among them."""
    return [base.__name__ for base in kind.__mro__ if base.__module__.startswith("hannan.")]


def test_a_class_has_its_name_alone():
    """An environment and an oracle are both called Switching: users write the package, too."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in FILES]
    names = [
        node.name
        for tree in trees
        for node in tree.body  # a class of a learner's open rounds is its member Round
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert {name for name in names if names.count(name) > 1} == {"Switching"}
    assert len(names) > 400


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda kind: kind.__name__)
def test_a_learner_is_made_from_four_classes_at_most(learner):
    families = {
        "Bandit",
        "KnownDistribution",
        "Playout",
        "SetBandit",
        "WeightedPolicies",
    }  # whose base is one more
    assert len(set(ours(learner)) - families) <= 4, ours(learner)


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_a_learner_has_thirty_attributes_at_most(kind):
    learner = kind(hn.oracles.AllPolicies(2, 3), predictor=hn.predictors.Mean(), seed=0)
    for t, losses in enumerate(np.random.default_rng(0).random((50, 3))):
        available = [0, 2] if t % 5 == 1 else None
        this_round = hn.Round(t % 2, losses, available=available)
        action = learner.act(this_round.context, available)
        learner.update(this_round.reveal(action, learner.feedback))
    slots = [name for base in kind.__mro__ for name in getattr(base, "__slots__", ())]
    held = sorted({*vars(learner), *(name for name in slots if hasattr(learner, name))})
    assert len(held) <= 30, held


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("step", ["_prepare", "_act", "_update"])
def test_a_step_of_the_algorithms_is_read_at_a_glance(kind, step):
    assert len(inspect.getsourcelines(getattr(kind, step))[0]) <= 45


# Names that begin with an underscore ---------------------------------------------------------


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def private(name: str) -> bool:
    # Named tuples spell their public methods with an underscore.
    return name.startswith("_") and not name.startswith("__") and name != "_replace"


def is_own(value: ast.expr) -> bool:
    """Whether it is self, cls or super()."""
    if isinstance(value, ast.Call):
        value = value.func
    return isinstance(value, ast.Name) and value.id in ("self", "cls", "super")


def defined(nodes: list[ast.AST]) -> set[str]:
    """The private names of functions, classes, variables and attributes that a file defines."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} if is_own(node.value) else set()
    return found


def reads_of_others(sources: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Where each package reads a private name that nothing in it defines.

    `sources` has the text of every file of every package. A name that the package defines itself
    is taken to be its own, whatever the object.
    """
    found = defaultdict(list)
    for package, files in sources.items():
        trees = {name: list(ast.walk(ast.parse(text))) for name, text in files.items()}
        own = set().union(*map(defined, trees.values()))
        for name, nodes in trees.items():
            for node in nodes:
                if isinstance(node, ast.Attribute) and private(node.attr):
                    if node.attr in own or is_own(node.value):
                        continue
                    read = ast.unparse(node)
                    if read not in MEANT:
                        found[package].append(f"{name}:{node.lineno} {read}")
                elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hannan."):
                    home = str(node.module).split(".")[1]
                    taken = [each.name for each in node.names if private(each.name)]
                    if taken and home != package:
                        found[package].append(f"{name}:{node.lineno} from {node.module}: {taken}")
    return found


@pytest.fixture(scope="module")
def reads() -> dict[str, list[str]]:
    sources: dict[str, dict[str, str]] = defaultdict(dict)
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        sources[package_of(path)][str(path.relative_to(SOURCE))] = text
    return reads_of_others(sources)


@pytest.mark.parametrize(
    "package",
    PACKAGES,
)
def test_no_package_reads_private_names_of_another(package, reads):
    assert not reads[package], "\n".join(reads[package])


def test_reads_of_private_names_are_found():
    sources = {
        "there": {
            "a.py": "class A:\n    _left = 1\n    def f(self):\n        self._right = 2\n",
            "b.py": "from hannan.there import _left\ndef g(a):\n    return a._left + a._right\n",
        },
        "here": {
            "c.py": "from hannan.there import _left\n"
            "def g(a):\n    a._right = 1\n    return a._left + a.__class__\n",
            "d.py": "class B:\n    _own = 1\n"
            "    def f(self):\n        return self._left, super()._right\n",
            "e.py": "def h(b):\n    return b._own\n",
        },
    }
    assert reads_of_others(sources) == {
        "here": [
            "c.py:1 from hannan.there: ['_left']",
            "c.py:3 a._right",
            "c.py:4 a._left",
        ]
    }


# Abstract methods ------------------------------------------------------------------------------


def everything() -> set[type]:
    """All classes of the package."""
    found = set()
    for module in pkgutil.walk_packages(hn.__path__, "hannan."):
        if not module.name.endswith("__main__"):
            loaded = importlib.import_module(module.name)
            found |= {item for item in vars(loaded).values() if isinstance(item, type)}
    return {item for item in found if item.__module__.startswith("hannan.")}


def for_one_heir(classes: set[type]) -> list[str]:
    """Abstract methods that exactly one class writes: there is nothing to be abstract about."""
    found = []
    for base in classes:
        for name, method in vars(base).items():
            if not getattr(method, "__isabstractmethod__", False):
                continue
            writers = [
                heir.__name__
                for heir in classes
                if issubclass(heir, base)
                and name in vars(heir)
                and not getattr(vars(heir)[name], "__isabstractmethod__", False)
            ]
            if len(writers) == 1:
                found.append(f"{base.__module__}.{base.__name__}.{name}: {writers[0]}")
    return sorted(found)


def test_no_method_is_abstract_for_a_single_heir():
    found = for_one_heir(everything())
    assert not found, "\n".join(found)


def test_methods_for_a_single_heir_are_found():
    class Base(ABC):
        @abstractmethod
        def walk(self): ...

        @abstractmethod
        def fly(self): ...

    class Duck(Base):
        def walk(self): ...

        def fly(self): ...

    class Duckling(Duck): ...

    class Cat(Base):
        def walk(self): ...

    assert for_one_heir({Base, Duck, Duckling, Cat}) == [f"{__name__}.Base.fly: Duck"]


# Nothing is left out ---------------------------------------------------------------------------


def test_every_test_is_run_at_merge_or_at_night():
    root = Path(__file__).parents[1]
    commands = (root / "Makefile").read_text(encoding="utf-8").splitlines()
    calls = {
        target.partition(":")[0]: line.partition(" -m pytest ")[2].partition(" -m ")[2]
        for target, line in pairwise(commands)
        if " -m pytest " in line
    }
    assert calls == {
        "test": '"not slow"',  # whatever is nightly is slow: see conftest.py
        "test-slow": '"slow and not nightly"',
        "test-all": '"not nightly"',
        "test-nightly": "nightly",
    }
    called = (root / ".ci" / "run").read_text(encoding="utf-8").split("\n")
    assert called[-2:] == ["make -j 2 --output-sync check test-all docs", ""]


# Protocols of policy classes -----------------------------------------------------------------


OF_FILES = {"stored", "room_for", "_moving", "_learns", "_params_to_store", "_rebuild"}


@pytest.mark.parametrize(("kind", "most"), [(hn.Objective, 17), (hn.Oracle, 22)])
def test_the_protocol_of_a_policy_class_stays_small(kind, most):
    """Members that a class of its own must know, apart from what it says about files."""
    named = {*vars(kind), *kind.__annotations__}
    members = {
        name for name in named if not name.startswith(("__", "_abc")) and name not in OF_FILES
    }
    assert len(members) <= most, sorted(members)
