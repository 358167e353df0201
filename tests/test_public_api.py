import dataclasses
import doctest
import enum
import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import hannan as hn
from hannan.checks import check_docstring
from tests.for_each import for_each

MODULES = [
    "hannan",
    *(m.name for m in pkgutil.walk_packages(hn.__path__, "hannan.") if "kernels" not in m.name),
]
WITH_ALL = [name for name in MODULES if hasattr(importlib.import_module(name), "__all__")]


def exports():
    """Every class and function that some `__all__` of a public package lists."""
    found = {}
    for name in WITH_ALL:
        module = importlib.import_module(name)
        for entry in module.__all__:
            item = getattr(module, entry)
            if inspect.isclass(item) or inspect.isfunction(item):
                found[f"{item.__module__}.{item.__qualname__}"] = item
    return found


EXPORTS = exports()


@for_each("name", WITH_ALL)
def test_every_entry_of_all_is_a_bound_string(name):
    module = importlib.import_module(name)
    assert all(isinstance(entry, str) for entry in module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    missing = [entry for entry in module.__all__ if not hasattr(module, entry)]
    assert not missing, f"{name}.__all__ names {missing}, which it does not have"


@for_each("name", EXPORTS)
def test_every_export_has_a_docstring(name):
    item = EXPORTS[name]
    assert inspect.getdoc(item)
    if not inspect.isclass(item):
        return
    for attribute, value in vars(item).items():
        public = not attribute.startswith("_")
        if public and (inspect.isfunction(value) or isinstance(value, property)):
            assert inspect.getdoc(value), f"{name}.{attribute} has no docstring"


@pytest.mark.parametrize(
    "name", [name for name, item in EXPORTS.items()
             if inspect.isclass(item) and issubclass(item, hn.Learner)
             and not inspect.isabstract(item)]
)  # fmt: skip
def test_every_learner_says_what_it_guarantees(name):
    check_docstring(EXPORTS[name], ("Parameters", "Guarantee", "Examples", "References"))


@pytest.mark.parametrize(
    "name", [name for name, item in EXPORTS.items()
             if inspect.isclass(item) and issubclass(item, hn.Oracle | hn.Environment)
             and not inspect.isabstract(item)]
)  # fmt: skip
def test_every_oracle_and_environment_has_an_example(name):
    check_docstring(EXPORTS[name], ("Parameters", "Examples"))


def why_no_example(item):
    """A reason to have none: what is only raised, inherited from, or read."""
    if inspect.isclass(item):
        if issubclass(item, Exception):
            return "it is raised, not made"
        if inspect.isabstract(item) or getattr(item, "_is_protocol", False):
            return "it is a contract: its classes have examples"
        if dataclasses.is_dataclass(item) or issubclass(item, enum.Enum | tuple):
            return "it is a record: what makes it has an example"
    return None


def arguments(item):
    """The names of the arguments, without those that may be any."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(item).parameters.values()
    return [p.name for p in found if p.kind not in variadic]


@for_each("name", [n for n, item in EXPORTS.items() if why_no_example(item) is None])
def test_every_export_has_a_runnable_example_and_tells_its_parameters(name):
    item = EXPORTS[name]
    text = inspect.getdoc(item)
    assert doctest.DocTestParser().get_examples(text), f"{name} needs an example that runs"
    told = "\nParameters\n----------\n" in text or "\nAttributes\n----------\n" in text
    assert told or not arguments(item), f"{name} does not tell what {arguments(item)} are"


def test_the_fixed_public_names_are_there():
    assert {"ContextFTPL", "Decider", "FTPL", "play", "bounds", "oracles", "baselines",
            "environments", "checks"} <= set(hn.__all__)  # fmt: skip
    assert {"AllPolicies", "FinitePolicies", "FunctionOracle"} <= set(hn.oracles.__all__)
    assert {"FromArrays", "LeaderPunisher", "PlantedPolicy", "Switching"} <= set(
        hn.environments.__all__
    )
    assert {"check_oracle", "check_learner", "check_environment"} <= set(hn.checks.__all__)


def test_a_star_import_works():
    names = {}
    exec("from hannan import *", names)
    assert names["ContextFTPL"] is hn.ContextFTPL


def test_importing_loads_no_plotting_and_compiles_nothing():
    script = (
        "import sys, hannan\n"
        "from hannan.kernels import finite, noise, tabular\n"
        "heavy = {'matplotlib', 'pandas', 'sklearn', 'rich', 'scipy.stats'} & set(sys.modules)\n"
        "compiled = [f for m in (finite, noise, tabular) for f in vars(m).values()\n"
        "            if getattr(f, 'signatures', None)]\n"
        "print(heavy, compiled)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert result.stdout.strip() == "set() []"
