"""What a report of a bug says about where it happened."""

from __future__ import annotations

import getpass
import importlib.metadata
import io
import platform
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan import _show_versions
from hannan.cli import main

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def name_of(requirement):
    """The package of a requirement."""
    return re.match(r"[\w.-]+", requirement)[0]


def test_every_package_of_the_project_is_named():
    assert set(_show_versions.NEEDED) == {name_of(line) for line in PROJECT["dependencies"]}
    extras = {
        extra: {name_of(line) for line in lines}
        for extra, lines in PROJECT["optional-dependencies"].items()
        if extra != "all"
    }
    assert set(_show_versions.OPTIONAL) == set().union(*extras.values())
    for package, extra in _show_versions.OPTIONAL.items():
        assert package in extras[extra], f"hannan[{extra}] does not bring {package}"


def test_versions_are_told():
    told = _show_versions.versions()
    assert told["hannan"]["hannan"] == hn.__version__
    assert told["hannan"]["python"].startswith(platform.python_version())
    assert told["needed packages"]["numpy"] == np.__version__
    assert told["computing"]["compiled"] in ("yes", "no, by NUMBA_DISABLE_JIT")


def test_what_is_missing_is_named_with_its_extra(monkeypatch):
    real = importlib.metadata.version

    def version(package):
        if package == "polars":
            raise importlib.metadata.PackageNotFoundError(package)
        return real(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    told = _show_versions.versions()["optional packages"]
    assert told["polars"] == "not installed (pip install 'hannan[networks]')"
    assert told["pandas"] == real("pandas")


def test_nothing_private_is_told():
    page = io.StringIO()
    hn.show_versions(page)
    text = page.getvalue()
    assert "optional packages" in text
    for path in (Path.home(), Path(hn.__file__).parents[1]):
        assert str(path) not in text
    for name in (platform.node(), getpass.getuser()):
        assert re.search(rf"\b{re.escape(name)}\b", text) is None


@pytest.mark.parametrize(
    ("chosen", "told"), [("", "next to the code"), ("/somewhere", "in NUMBA_CACHE_DIR")]
)
def test_location_of_the_cache_of_compiled_code(chosen, told):
    assert _show_versions._cache(chosen) in (told, "in the user's cache")


def test_the_command_line_prints_the_same(capsys):
    hn.show_versions()
    printed = capsys.readouterr().out
    assert main(["--versions"]) == 0
    assert capsys.readouterr().out == printed
    assert printed.splitlines()[0].split() == ["hannan", hn.__version__]
