import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw, Trials
from hannan.oracles import FinitePolicies
from hannan.perturbation import seed_key
from tests import problems

SIZES = [1, 2, 15, 16, 17, 127, 128, 129, 2047, 2049, 5000]

CONTRACT = {
    "FinitePolicies": (
        problems.FINITE,
        None,
        [problems.FINITE.policy(n) for n in range(len(problems.FINITE.actions))],
    ),
    "FinitePolicies, one policy": FinitePolicies([[1, 0]], n_actions=2),
    "FinitePolicies, duplicates": FinitePolicies([[1, 0]] * 3 + [[0, 0]]),
    "FinitePolicies, no contexts": FinitePolicies([2, 1, 0]),
}


def class_of(N, d=5, K=3, seed=0):
    rng = np.random.default_rng(seed)
    return FinitePolicies(rng.integers(0, K, size=(N, d)), n_actions=K)


def row_of(noise, draw):
    row = noise.blocks.locate(draw)
    return noise.blocks.block[row].copy()


@pytest.mark.parametrize(
    ("N", "d", "K"),
    [
        (1, 1, 1),
        (3, 1, 2),
        (16, 4, 1),
        (17, 7, 2),
        (40, 20, 5),
        (700, 50, 5),
        (5000, 13, 3),
        (3000, 9, 40),
        (20, 3, 300),
    ],
)
def test_projected_noise_is_the_sum_over_contexts(N, d, K):
    oracle = class_of(N, d, K)
    contexts = list(np.random.default_rng(1).permutation(d))
    noise = oracle.noise(contexts, seed_key(0), 0, 2**22)
    for draw in (0, 1, 15, 16, 33):
        unit = noise.unit(draw)
        expected = unit[np.arange(d), oracle.table[:, contexts]].sum(axis=1)
        # d float32 additions of numbers of size about 1.
        tolerance = 2e-7 * d * np.abs(unit).max()
        np.testing.assert_allclose(row_of(noise, draw)[:N], expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("N", [1, 16, 17, 2100])
def test_rows_do_not_depend_on_the_block_they_came_in(N):
    oracle = class_of(N, d=9)
    noises = [oracle.noise(range(9), seed_key(4), 0, memory) for memory in (1, 4 * 4096, 2**26)]
    for draw in [*range(70), 3, 2**31 + 5, 40]:
        first, *others = (row_of(noise, draw)[:N] for noise in noises)
        for other in others:
            assert (first == other).all()


def test_blocks_filled_ahead_hold_the_same_draws():
    oracle = class_of(2100, d=9)
    ahead, single = (oracle.noise(range(9), seed_key(4), 0, memory) for memory in (2**21, 1))
    for draw in range(700):
        assert (row_of(ahead, draw) == row_of(single, draw)).all()
    assert len(ahead.blocks.block) > 16


@pytest.mark.parametrize("N", SIZES)
def test_the_leader_is_the_first_smallest_score_whatever_the_number_of_policies(N):
    oracle = class_of(N, d=3, K=2)
    noise = oracle.noise(range(3), seed_key(0), 0, 2**26)
    total = problems.total(oracle, problems.rounds(3, 2, 15, low=-1))
    scores = total.scores[:N]
    assert total.leader().index == int(np.argmin(scores))
    for draw in range(40):
        perturbed = scores + 1.5 * row_of(noise, draw)[:N].astype(float)
        # Most of these policies are duplicates, so that the minimum is shared.
        assert total.leaders(Draw(noise, draw, 1.5), 1)[0].index == int(np.argmin(perturbed))


def test_several_draws_at_once_are_the_single_draws():
    oracle = class_of(300)
    total = problems.total(oracle, problems.rounds(5, 3, 15))
    noise = oracle.noise(range(5), seed_key(0), 0, 2**26)
    together = [p.index for p in total.leaders(Draw(noise, 5, 2.0), 100)]
    single = [total.leaders(Draw(noise, n, 2.0), 1)[0].index for n in range(5, 105)]
    assert together == single
    values = total.minima(Draw(noise, 5, 2.0), 100)
    for i, value in enumerate(values):
        assert value == pytest.approx(total.minima(Draw(noise, 5 + i, 2.0), 1)[0], rel=1e-12)


def test_duplicate_policies_share_their_noise():
    oracle = FinitePolicies([[0, 1], [1, 0], [0, 1]])
    noise = oracle.noise(range(2), seed_key(0), 0, 2**20)
    for draw in range(20):
        row = row_of(noise, draw)
        assert row[0] == row[2] != row[1]


def test_the_table_is_copied():
    table = np.array([[0, 1], [1, 0]])
    oracle = FinitePolicies(table)
    table[:] = 0
    assert oracle.policy(1)(0) == 1


def test_a_list_of_actions_is_a_class_without_contexts():
    oracle = FinitePolicies([2, 0, 1])
    total = oracle.objective()
    total.add(oracle.check_context(None), np.array([0.0, 1.0, 1.0]))
    assert total.leader().index == 1
    assert total.leader()(None) == total.leader()() == 0


def test_size_counts_policies_that_differ_on_the_contexts():
    oracle = FinitePolicies([[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    assert oracle.log_size([0, 1, 2]) == pytest.approx(np.log(3))
    assert oracle.log_size([0, 1]) == pytest.approx(np.log(2))
    assert oracle.log_size([0]) == 0.0


def test_a_separator_separates_policies_that_differ_at_all():
    oracle = FinitePolicies([[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    assert oracle.separates([1, 2])
    assert not oracle.separates([0, 1])


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([], hn.ParameterError),
        (np.zeros((0, 3), int), hn.ParameterError),
        (np.zeros((3, 0), int), hn.ParameterError),
        (3, hn.ParameterError),
        ([[0, -1]], hn.ParameterError),
        ([[0.5, 1.0]], hn.InputTypeError),
        ([["a"]], hn.InputTypeError),
    ],
)
def test_a_table_that_is_none_is_refused(actions, error):
    with pytest.raises(error):
        FinitePolicies(actions)


@pytest.mark.parametrize("n_actions", [1, 0, -3, 2.5, True, "2"])
def test_a_number_of_actions_that_does_not_fit_is_refused(n_actions):
    with pytest.raises(hn.HannanError, match="n_actions"):
        FinitePolicies([[0, 1]], n_actions=n_actions)


@pytest.mark.parametrize("context", [-1, 2, 0.0, "0", None, True, [0], (0, 1), np.float64(1)])
def test_a_context_outside_the_table_is_refused(context):
    oracle = FinitePolicies([[0, 1], [1, 0]])
    with pytest.raises(hn.ContextError, match="0 to 1"):
        oracle.check_context(context)
    with pytest.raises(hn.ContextError, match="0 to 1"):
        oracle.policy(0)(context)


@pytest.mark.parametrize("limit", [1, 2, 3, 40, 1000])
def test_a_lesson_is_a_weight_and_the_instability_after_it(limit):
    oracle = class_of(60, d=4, K=3)
    total = problems.total(oracle, problems.rounds(4, 3, 12))
    noise = oracle.noise(range(4), seed_key(4), 0, 2**13)  # small blocks, so that draws span some
    trials = Trials(limit, 1.5, np.uint64(9))
    for first in range(0, 300, 7):
        action, draw = first % 3, Draw(noise, first, 1.3)
        found = total.lesson(1, action, 0.7, draw, trials)
        weight, used, lost, _ = total.lesson(1, action, 0.0, draw, trials)
        assert (found.weight, found.used, lost) == (weight, used, 0.0)
        later, alone = draw.later(used), trials._replace(limit=1)
        assert total.lesson(1, action, weight * 0.7, later, alone) == (1.0, 0, found[2], None)


def test_a_law_is_known_where_the_smallest_total_of_an_action_is_chosen():
    oracle = FinitePolicies(np.random.default_rng(0).integers(3, size=(20, 2)), n_actions=4)
    total = problems.total(oracle, problems.rounds(2, 4, 9))
    one, both = (oracle.noise(X, seed_key(4), 0, 2**16) for X in ([1], [0, 1]))
    draw, trials = Draw(one, 0, 2.0), Trials(40, 0.0, np.uint64(9), exact=True)
    distribution, losses = total.distribution(1, draw), np.array([0.0, 1.0, 0.5, 0.0])
    for plus in (None, losses):
        chosen = total.chosen(1, draw, 4000, plus).mean(axis=0)
        found = total.distribution(1, draw, plus)
        assert found == pytest.approx(chosen, abs=4.5 * 0.5 / np.sqrt(4000))
    lesson = total.lesson(1, 0, 0.7, draw, trials)
    assert lesson.distribution.tolist() == distribution.tolist()
    lost = 0.7 * lesson.weight * np.eye(4)[0]
    after = total.distribution(1, draw, lost)
    assert lesson.instability == pytest.approx(lost[0] * (distribution[0] - after[0]))
    for x, other in ((0, draw), (1, Draw(both, 0, 2.0)), (1, Draw(None, 0, 2.0)), (1, Draw(one))):
        assert total.distribution(x, other) is None
        assert total.lesson(x, 0, 0.7, other, trials) is None
