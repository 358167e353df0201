"""The types that users see: enough for mypy --strict, and no `Any` that swallows mistakes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hannan

ROOT = Path(__file__).parents[1]
SCRIPT = Path(__file__).parent / "typing" / "user_script.py"
MISTAKES = {
    "hn.ContextFTLP": "has no attribute",
    "hn.oracles.Path": "has no attribute",
    "hn.adapters.Coba": "has no attribute",
    "hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), sed=0)": "Unexpected keyword argument",
    "hn.oracles.AllPolicies('2', 2)": "incompatible type",
    "hn.play(hn.baselines.Hedge([[0]]), hn.oracles.AllPolicies(1, 1))": "incompatible type",
    "hn.oracles.AllPolicies(2, 2).objective().leader() + 1": "Unsupported operand",
    "hn.bounds.anytime(10, d=1, n_actions=2, log_sise=2.0)": "Unexpected keyword argument",
    "hn.bounds.predictable(10, d=1, n_actions=2, loss_bound=2.0)": "Unexpected keyword argument",
    "hn.bounds.anytime(10, d=1, log_size=2.0)": "Missing named argument",
    "hn.bounds.anytime(10, d=1, n_actions='2', log_size=2.0)": "incompatible type",
}


def strict(cache: Path, *files: Path) -> list[str]:
    """What mypy --strict says as a user runs it, without this project's settings."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir"]
    asked = [*command, str(cache), *map(str, files)]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=cache, timeout=300)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_users_script_passes_and_mistakes_are_seen(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import hannan as hn\n" + "".join(f"{line}\n" for line in MISTAKES))
    told = strict(tmp_path, SCRIPT, wrong)
    assert [one for one in told if ": error: " in one and not one.startswith("wrong.py:")] == []
    assert told[-1].endswith(" errors in 1 file (checked 2 source files)")
    for number, (line, message) in enumerate(MISTAKES.items(), start=2):
        seen = [one for one in told if f"wrong.py:{number}: error" in one]
        assert any(message in one for one in seen), (line, seen)


def test_the_users_script_runs():
    subprocess.run([sys.executable, "-W", "error", str(SCRIPT)], check=True, timeout=120)


def test_the_wheel_says_that_it_is_typed():
    assert (Path(hannan.__file__).parent / "py.typed").is_file()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert wheel == {"packages": ["src/hannan"]}, "look whether py.typed still gets in"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert not any(line in ("py.typed", "*.typed") for line in ignored)
