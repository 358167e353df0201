import numpy as np
import pytest
from examples.worlds import ImageCut

import hannan as hn

PICTURE = np.zeros((2, 4, 5), dtype=bool)
PICTURE[0, :2] = True
PICTURE[1, 2:, 3:] = True
WORLD = ImageCut(PICTURE, seeds=5, smoothness=0.2)
CONTRACT = {"ImageCut": ImageCut(np.eye(4, dtype=bool))}


def game(world, horizon, seed=0):
    """The losses of a game."""
    found = []
    for this_round in world.rounds(horizon, np.random.default_rng(seed)):
        assert this_round.context is None
        this_round.reveal(np.array([0]))
        found.append(this_round.losses)
    return found


def test_losses_are_cut_functions_in_range():
    rng = np.random.default_rng(0)
    losses = game(WORLD, 40)
    assert len(losses) == 40
    for f in losses:
        low, high = f.extremes()
        assert f.n_actions == WORLD.n_actions == 20
        assert 0.0 <= low < high <= 1.0
        for _ in range(10):
            assert low <= f(np.flatnonzero(rng.random(20) < 0.5)) <= high


def test_the_seed_fixes_the_rounds():
    sets = [np.arange(k) for k in range(20)]
    first, again, clone, other = (
        [[f(A) for A in sets] for f in game(world, 10, seed)]
        for world, seed in ((WORLD, 0), (WORLD, 0), (WORLD.clone(), 0), (WORLD, 1))
    )
    assert first == again == clone != other


def test_the_picture_changes_halfway():
    losses = game(WORLD, 300)
    for part, picture in zip((losses[:150], losses[150:]), PICTURE, strict=True):
        total = hn.oracles.Submodular(20).objective()
        for f in part:
            total.add(None, f)
        assert total.leader()(None).tolist() == np.flatnonzero(picture).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pictures": [[0, 1]]}, "pictures"),
        ({"pictures": np.zeros(3, dtype=bool)}, "pictures"),
        ({"pictures": np.zeros((0, 3), dtype=bool)}, "pictures"),
        ({"seeds": 21}, "seeds"),
        ({"error": 2.0}, "error"),
        ({"smoothness": 0.0}, "smoothness"),
        ({"blur": -1.0}, "blur"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(hn.ParameterError, match=message):
        ImageCut(**{"pictures": PICTURE, **arguments})
