"""What is installed: files of known hashes, within stated bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN, DEV = "constraints.txt", "constraints-dev.txt"
LOCKS = [RUN, DEV, "benchmarks/constraints.txt"]


def locked(name: str) -> dict[str, list[str]]:
    """The hashes of every requirement in a lock file, by name and version."""
    lines = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return {line.split()[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line) for line in lines}


@pytest.mark.parametrize("name", LOCKS)
def test_everything_is_pinned_by_hashes_and_no_host_is_named(name):
    found = locked(name)
    assert len(found) >= 20
    for requirement, hashes in found.items():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*", requirement), requirement
        assert hashes, requirement
    assert "://" not in (ROOT / name).read_text(encoding="utf-8")


def test_the_build_backend_is_pinned_and_locked():
    (backend,) = PROJECT["build-system"]["requires"]
    assert re.fullmatch(r"hatchling==[\d.]+", backend)
    assert backend in locked(RUN)


def test_tests_run_on_the_versions_that_make_run_installs():
    assert locked(RUN).items() <= locked(DEV).items()


def test_make_run_waits_for_nothing_that_only_tests_need():
    names = {requirement.partition("==")[0] for requirement in locked(RUN)}
    needed = {re.split("[<>=]", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert needed <= names
    assert len(names) <= 25, sorted(names)


def test_every_dependency_has_an_upper_bound():
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = PROJECT["dependency-groups"].values()
    listed = [PROJECT["project"]["dependencies"], *extras, *groups]
    lines = [line for lines in listed for line in lines if isinstance(line, str)]
    own = [line for line in lines if "hannan[" not in line]
    assert [line for line in own if "<" not in line and "==" not in line] == []


def test_nothing_is_installed_without_its_hash():
    recipes = re.findall(r"^\t.*", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    installs = [line for line in recipes if "$(PIP)" in line or "pip install" in line]
    free = [line for line in installs if "--require-hashes" not in line]
    # This package itself, and the tool that makes the lock.
    assert [line.split()[-1] for line in free] == [".", "'uv==0.13.7'"]
