"""Menus: what is offered, and what is refused."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.crossing import Crossing
from hannan.core.menu import menu_of
from hannan.core.storage import reread

ROWS = [[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]


def test_a_menu_keeps_copies():
    rows, x = np.array(ROWS), np.array([0.5])
    menu = hn.Menu(x, rows, ["a", "b", "c"])
    rows[:], x[:] = 9.0, 9.0
    assert menu.rows.tolist() == ROWS
    assert menu.context.tolist() == [0.5]
    assert (menu.index("c"), menu.named(1), len(menu)) == (2, "b", 3)


@pytest.mark.parametrize(
    "given",
    [
        np.array(ROWS),
        np.array(ROWS).astype(int),
        ROWS,
        [np.array(row) for row in ROWS],
        tuple(map(tuple, ROWS)),
        dict(zip("abc", ROWS, strict=True)),
    ],
)
def test_rows_come_in_many_forms(given):
    assert menu_of(None, given).rows.tolist() == ROWS


def test_frames_are_rows():
    pd = pytest.importorskip("pandas")
    assert menu_of(None, pd.DataFrame(ROWS)).rows.tolist() == ROWS


@pytest.mark.parametrize(
    ("rows", "ids", "error", "said"),
    [
        ([], None, hn.ContextError, "at least one action"),
        (np.empty((3, 0)), None, hn.ContextError, "at least one feature"),
        ([[1.0], [1.0, 2.0]], None, hn.ContextError, "action 1 has 2"),
        ([[1.0], [float("nan")]], None, hn.ContextError, "feature 0 of action 1"),
        ([[1.0], [float("inf")]], None, hn.ContextError, "inf"),
        ([[1.0], [1e70]], None, hn.ContextError, "at most"),
        ([["x"], [1.0]], None, hn.ContextError, "for action 0"),
        ([1.0, 2.0], None, hn.ContextError, "row of numbers"),
        ("rows", None, hn.InputTypeError, "mapping"),
        (3, None, hn.InputTypeError, "mapping"),
        (ROWS, ["a", "b"], hn.ParameterError, "3 ids; got 2"),
        (ROWS, ["a", "b", "a"], hn.ParameterError, "'a' is the id of two"),
        (ROWS, ["a", "b", []], hn.InputTypeError, "hashable"),
        (ROWS, "abc", hn.InputTypeError, "list"),
        (ROWS, [1.0, 2.0, float("nan")], hn.ParameterError, "distinct"),
    ],
)
def test_what_is_no_menu_is_refused_by_name(rows, ids, error, said):
    with pytest.raises(error, match=said):
        menu_of(None, rows, ids)


def test_an_unknown_id_is_refused():
    with pytest.raises(hn.ParameterError, match="'d' is not among 'a', 'b', 'c'"):
        hn.Menu(None, ROWS, ["a", "b", "c"]).index("d")
    with pytest.raises(hn.ParameterError, match="not among the 3 actions"):
        hn.Menu(None, ROWS).index(3)


def test_actions_are_given_once():
    with pytest.raises(hn.ParameterError, match="leave out actions="):
        menu_of(hn.Menu(None, ROWS), ROWS)
    with pytest.raises(hn.ParameterError, match="leave out ids="):
        menu_of(None, {"a": [1.0]}, ["a"])


def test_files_keep_menus():
    menu = hn.Menu(np.array([1.5]), ROWS, [("a", 1), "b", 3])
    assert reread(menu).key == menu.key


@pytest.mark.parametrize("width", [100, 12, 4, 2])
def test_crossing_equals_its_definition(width):
    rng = np.random.default_rng(0)
    blocks = ("context", "action", "context*action", "action*action")
    crossing = Crossing(blocks, width)
    x, rows = rng.normal(size=3), rng.normal(size=(4, 2))
    found = crossing.rows(hn.Menu(x, rows))
    whole = [
        [1.0, *x, *a, *np.outer(x, a).ravel(), a[0] * a[0], a[0] * a[1], a[1] * a[1]] for a in rows
    ]
    if width >= len(whole[0]):
        np.testing.assert_allclose(found, whole)
        return
    # Hashed: a fixed signed sum of the same products.
    size, (_, _, slot, sign) = crossing.plan(3, 2)
    folding = np.zeros((len(whole[0]), size))
    folding[np.arange(len(slot)), slot] = sign
    assert size == width
    np.testing.assert_allclose(found, np.array(whole) @ folding)


@pytest.mark.parametrize("blocks", [(), ("context", "context"), ("x",), "action"])
def test_blocks_are_known_names(blocks):
    with pytest.raises(hn.ParameterError, match="blocks"):
        Crossing(blocks, 10)
