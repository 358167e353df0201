"""Files of features that somebody forged: refused, or harmless."""

import pytest

import hannan as hn
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import decoded, packed
from tests.core import forger
from tests.core.test_forged_files import opened


@pytest.mark.parametrize("name", forger.rows_of_all_kinds())
def test_forged_features_are_refused_or_harmless(name, tmp_path):
    features = forger.rows_of_all_kinds()[name]
    rows = [forger.MIXED, {"age": "odd", "later": 3.0}, None]
    if name.endswith("sequences"):
        rows = [[*forger.MIXED.values(), 2.0, None], None]
    case = forger.Case(name, b"".join(packed(features, Encoder())), rows, [])
    assert forger.attempt(case, case.content, tmp_path) in ("played", "refused at play")
    makes = forger.Forger([case], seed=1)
    found = {forger.attempt(case, makes.forge(i)[1], tmp_path) for i in range(300)}
    assert found <= {"played", "refused at play", "refused at load"}
    assert "refused at load" in found


def levels(places):
    """Levels with these places."""
    return {"dict": [[f"level {i}", i] for i in places]}


WRONG = {
    "a mean that no numbers have": ("_mean", 1e100),
    "squares below zero": ("_squares", -1.0),
    "more levels than places": ("_columns", {"dict": [["a", levels(range(400))]]}),
    "a place twice": ("_columns", {"dict": [["a", levels([0])], ["b", levels([0])]]}),
    "levels that are no text": ("_columns", {"dict": [["a", {"dict": [[1, 0]]}]]}),
    "a column without places": ("_columns", {"dict": [["a", {"dict": []}]]}),
    "categories that places do not know": ("_categories", {"list": ["other"]}),
    "no places": ("_places", None),
    "a column twice": ("_names", {"list": ["age"] * 4}),
    "too few names": ("_names", {"list": ["age"]}),
    "names that are none": ("_names", {"list": [{"list": []}, 2, 3, 4]}),
    "another form": ("_sequence", 1),
    "a width of no rows": ("_length", -1),
    "columns that are none": ("_parts", {"list": [None] * 4}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_rows_could_not_have_left_is_refused(case):
    name, wrong = WRONG[case]
    head, arrays = opened(forger.rows_of_all_kinds()["Features"])
    assert not arrays
    assert decoded(head, memoryview(b""), "the file").rows == 6
    changed = 0
    for node in tables(head):
        if name in node:
            node[name] = wrong
            changed += 1
    assert changed
    with pytest.raises(hn.DamagedFileError):
        decoded(head, memoryview(b""), "the file")


def tables(tree):
    """All tables in a tree."""
    if isinstance(tree, dict):
        yield tree
    for value in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(value, dict | list):
            yield from tables(value)
