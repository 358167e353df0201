"""One random number decides between exploration, hint and the distribution itself."""

import numpy as np
import pytest

from hannan.kernels.drawing import choose, draw

KEY = np.uint64(11)
LAW = np.array([0.2, 0.0, 0.5, 0.3])


@pytest.mark.stat
def test_choices_follow_the_law():
    u = np.random.default_rng(0).random(20_000)
    counts = np.bincount([choose(LAW, v) for v in u], minlength=4)
    assert counts[1] == 0
    expected = 20_000 * LAW[LAW > 0]
    chi2 = ((counts[LAW > 0] - expected) ** 2 / expected).sum()
    assert chi2 < 16.3  # 0.999 of two degrees of freedom is 13.8


@pytest.mark.stat
@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("explores", [0.0, 0.3])
@pytest.mark.parametrize("available", [[0, 1, 2, 3], [0, 2, 3]])
def test_draws_follow_the_mixture(share, explores, available):
    mixture = (1.0 - share) * LAW
    mixture[2] += share
    mixture *= 1.0 - explores
    mixture[available] += explores / len(available)
    drawn = [draw(LAW, 2, share, explores, np.array(available), KEY, 5, n) for n in range(20_000)]
    for action in range(4):
        said = {q for a, q, _ in drawn if a == action}
        assert len(said) == (mixture[action] > 0.0)
        assert all(q == pytest.approx(mixture[action]) for q in said)
        p = mixture[action]
        frequency = np.mean([a == action for a, *_ in drawn])
        assert abs(frequency - p) <= 4.5 * np.sqrt(p * (1.0 - p) / len(drawn))
    explored = np.mean([explored for *_, explored in drawn])
    assert abs(explored - explores) <= 4.5 * np.sqrt(explores * (1.0 - explores) / len(drawn))


def test_advice_of_nobody_has_no_share():
    draws = [draw(LAW, -1, 0.0, 0.0, np.empty(0, np.intp), KEY, 5, n) for n in range(100)]
    assert all(q == LAW[action] for action, q, _ in draws)
