"""Files that hold rows again are refused: rules would be tested on what they were fitted to."""

import numpy as np
import pandas as pd
import pytest

import hannan as hn
from tests.replays.worlds import offers

FAST = {"learners": ["UniformRandom"]}


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_file_that_holds_every_row_again_is_refused(shuffled):
    log = offers(n=400)
    frame = pd.concat([log.frame] * 3, ignore_index=True)
    if shuffled:
        frame = frame.sample(frac=1.0, random_state=0)
    with pytest.raises(hn.ParameterError, match=r"every row 3 times.*drop_duplicates"):
        hn.replay(frame, **log.options, **FAST)


def test_a_stretch_that_comes_again_is_refused():
    """Such as the last week, exported twice."""
    log = offers(n=600)
    frame = pd.concat([log.frame, log.frame[-100:]], ignore_index=True)
    with pytest.raises(hn.ParameterError, match=r"100 rows that repeat others.*row 601 .* row 501"):
        hn.replay(frame, **log.options, **FAST)
    labels = frame[["age", "new", "offer"]]
    with pytest.raises(hn.ParameterError, match="repeat others"):
        hn.replay(labels, label="offer", **FAST)


def test_rows_that_are_alike_by_chance_are_no_copies():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"plan": rng.choice(list("abc"), 600), "new": rng.random(600) < 0.3})
    frame["left"] = np.where(rng.random(600) < 0.02, "yes", "no")
    assert hn.replay(frame, label="left", **FAST).answer
    one = pd.DataFrame({"plan": ["a"] * 200 + list("bcde") * 10, "left": ["yes", "no"] * 120})
    assert hn.replay(one, label="left", **FAST).answer
