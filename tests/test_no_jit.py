"""The same plays whether or not, and however, the kernels are compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import small_game

SCRIPT = Path(small_game.__file__)


@pytest.mark.parametrize(
    "setting",
    [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_NUM_THREADS": "1"}, {"NUMBA_NUM_THREADS": "2"}],
    ids=lambda setting: "=".join(next(iter(setting.items()))),
)
def test_the_plays_are_the_same_bit_for_bit_in_another_process(setting):
    result = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **setting},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    here = small_game.games()
    found = json.loads(result.stdout)
    assert found["compiled"] == ("NUMBA_DISABLE_JIT" not in setting)
    assert found["games"] == here
    # A game in which nothing happens would prove nothing.
    assert all(len(set(actions)) == 3 for actions, _ in here.values())
