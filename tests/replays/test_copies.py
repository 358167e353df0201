"""Rows that come again are in the first sentence: rules are tested on what they were fitted to."""

import re

import numpy as np
import pandas as pd
import pytest

import hannan as hn
from tests.replays.worlds import offers

FAST = {"learners": ["UniformRandom"]}


@pytest.mark.parametrize("shuffled", [False, True])
def test_nothing_is_clear_where_every_row_comes_again(shuffled):
    log = offers(n=400)
    frame = pd.concat([log.frame] * 3, ignore_index=True)
    if shuffled:
        frame = frame.sample(frac=1.0, random_state=0)
    replay = hn.replay(frame, **log.options, **FAST)
    assert re.match(r"The data hold every row 3 times\. .*drop_duplicates", replay.answer)
    assert replay.warning.startswith("The data hold every row 3 times")
    assert "clearly" not in replay.answer
    assert replay.results.clear  # by its interval alone


def test_a_stretch_that_comes_again_is_told():
    """Such as the last week, exported twice."""
    log = offers(n=600)
    frame = pd.concat([log.frame, log.frame[-100:]], ignore_index=True)
    answer = hn.replay(frame, **log.options, **FAST).answer
    assert answer.startswith("100 rows repeat earlier rows in the same order: the rows from row 60")


def test_rows_that_are_alike_by_chance_are_no_copies():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"plan": rng.choice(list("abc"), 600), "new": rng.random(600) < 0.3})
    frame["left"] = np.where(rng.random(600) < 0.02, "yes", "no")
    assert hn.replay(frame, label="left", **FAST).answer
    one = pd.DataFrame({"plan": ["a"] * 200 + list("bcde") * 10, "left": ["yes", "no"] * 120})
    assert hn.replay(one, label="left", **FAST).answer
