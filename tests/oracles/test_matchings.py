import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError
from tests import naive_combinatorial


@pytest.mark.parametrize("seed", range(100))
def test_equals_permutations(seed):
    rng = np.random.default_rng(seed)
    left, right = (int(n) for n in rng.integers(1, 5, size=2))
    oracle = hn.oracles.Matchings(left, right)
    sets = naive_combinatorial.matchings(left, right)
    assert oracle.log_size([None]) == pytest.approx(np.log(len(sets)), abs=1e-9)
    naive_combinatorial.agrees(oracle, sets, rng)


def test_pairs_are_read_off_an_action():
    oracle = hn.oracles.Matchings(3, 2)
    assert oracle.pairs(np.array([1, 4])) == [(0, 1), (2, 0)]
    assert hn.oracles.Matchings(1, 3).pairs(2) == [(0, 2)]


@pytest.mark.parametrize("arguments", [(0, 2), (2, 0), (2, 1.5), ("2", 2), (None, 1)])
def test_bad_sizes_are_refused(arguments):
    with pytest.raises(HannanError, match="Matchings"):
        hn.oracles.Matchings(*arguments)


def test_losses_come_flat():
    learner = hn.ContextFTPL(hn.oracles.Matchings(2, 3))
    learner.act()
    with pytest.raises(HannanError, match="6 numbers"):
        learner.update(np.zeros((2, 3)))
