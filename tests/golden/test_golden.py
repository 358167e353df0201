"""Plays stay as they were, bit for bit."""

import subprocess

import numpy as np
import pytest

from tests.golden import comparing
from tests.golden.playing import FIELDS, Trace, exact
from tests.golden.settings import settings


def compare(names):
    found = comparing.differences(names)
    then, now = comparing.stored()[comparing.MACHINE], comparing.machine()
    if found and then != now:
        pytest.skip(
            f"{len(found)} of {len(names)} traces differ, but they were made on {then} and this "
            f"is {now}: run `make golden` here on code that is known to be good"
        )
    assert not found, "\n".join(["these settings play differently:", *found])


def test_a_sample_of_all_families_plays_as_before():
    names = comparing.sample()
    assert {name.partition("/")[0] for name in names} == comparing.families().keys()
    compare(names)


# Where nothing that is played has changed, the night is early enough for the other settings.
@(pytest.mark.slow if comparing.may_play_differently() else pytest.mark.nightly)
@pytest.mark.parametrize("family", sorted(comparing.families()))
def test_every_setting_plays_as_before(family):
    elsewhere = set(comparing.sample())
    compare([name for name in comparing.families()[family] if name not in elsewhere])


def test_no_setting_has_gone_missing():
    assert comparing.gone() == []


def test_a_difference_is_told_by_setting_and_field(monkeypatch):
    name = "bandit/finite/adaptive/shared/late"
    changed = comparing.stored()
    assert comparing.differences([name]) == [] or changed[comparing.MACHINE] != comparing.machine()
    changed[name] = {**settings()[name]().hashes(), "state": "another"}
    monkeypatch.setattr(comparing, "stored", lambda: changed)
    assert comparing.differences([name]) == [f"{name}: state"]
    changed[name] = {"refused": "ParameterError"}
    assert comparing.differences([name]) == [f"{name}: refused (ParameterError -> None)"]


def test_a_crash_is_told_and_the_next_setting_is_played(monkeypatch):
    def crash():
        raise ZeroDivisionError("by nothing")

    name = "baseline/uniform-random"
    known = {"one": crash, name: settings()[name]}
    monkeypatch.setattr(comparing, "settings", lambda: known)
    monkeypatch.setattr(comparing, "stored", lambda: {})
    assert comparing.differences(known) == [
        "one: crashed with ZeroDivisionError: by nothing",
        f"{name}: not on file",
    ]


@pytest.fixture
def git(tmp_path, monkeypatch):
    """A clone of a repository with one commit, which `comparing` takes for this one."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    monkeypatch.setattr(comparing, "ROOT", origin)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Nobody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "nobody@example.org")
    (origin / "src/hannan/core").mkdir(parents=True)
    (origin / "src/hannan/core/rounds.py").touch()
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    comparing._git("add", ".")
    comparing._git("commit", "-q", "-m", "Begin")
    subprocess.run(["git", "clone", "-q", str(origin), str(clone)], check=True)
    monkeypatch.setattr(comparing, "ROOT", clone)

    def commit(path, text):
        (clone / path).write_text(text)
        comparing._git("add", ".")
        comparing._git("commit", "-q", "-m", "Change")

    return commit


def test_all_settings_are_played_unless_git_shows_that_no_play_can_change(git, monkeypatch):
    assert comparing.may_play_differently()  # the trunk itself: how much of it is new?
    git("README.md", "Words.")
    assert not comparing.may_play_differently()
    rounds = comparing.ROOT / "src/hannan/core/rounds.py"
    rounds.write_text("changed = True\n")  # not committed
    assert comparing.may_play_differently()
    rounds.write_text("")
    assert not comparing.may_play_differently()
    new = rounds.with_name("new.py")
    new.touch()  # not even known to git
    assert comparing.may_play_differently()
    new.unlink()
    git("src/hannan/core/rounds.py", "changed = True\n")
    git("README.md", "More words.")
    assert comparing.may_play_differently()
    monkeypatch.setattr(comparing, "ROOT", comparing.ROOT.parent)  # no repository
    assert comparing.may_play_differently()


def test_a_merge_into_the_trunk_is_compared_with_the_trunk_before(git):
    def merge(branch):
        comparing._git("checkout", "-q", "--detach", "origin/HEAD")
        comparing._git("merge", "-q", "--no-ff", "-m", "Merge", branch)
        comparing._git("update-ref", "refs/remotes/origin/HEAD", "HEAD")

    git("README.md", "Words.")
    comparing._git("branch", "words")
    merge("words")
    assert not comparing.may_play_differently()
    git("src/hannan/core/rounds.py", "changed = True\n")
    comparing._git("branch", "rounds")
    comparing._git("checkout", "-q", "--detach", "origin/HEAD")
    merge("rounds")
    assert comparing.may_play_differently()


def test_hashes_tell_the_last_bit_of_a_float():
    one, other = Trace(), Trace()
    one.note("state", {"D": 0.1})
    other.note("state", {"D": np.nextafter(0.1, 1.0)})
    differ = [field for field in FIELDS if one.hashes()[field] != other.hashes()[field]]
    assert differ == ["state"]


def test_values_are_written_without_the_kind_of_their_container():
    assert exact(np.array([0.5, 1.0])) == exact([np.float64(0.5), 1.0]) == "[0.5, 1.0]"
    assert exact({"b": None, "a": np.int64(3)}) == "{a: 3, b: None}"
