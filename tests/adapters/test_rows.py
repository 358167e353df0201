import numpy as np
import pytest

import hannan as hn
from hannan.adapters._rows import RowEncoder as AnyRows


def RowEncoder(owner, features):
    return AnyRows(owner, "features", features, strict=False)


def test_names_choose_and_order_features():
    rows = RowEncoder("me", ["b", "a"])
    assert rows({"a": 1, "b": 2.5, "c": "left out"}).tolist() == [2.5, 1.0]
    assert rows({"a": True}).tolist() == [0.0, 1.0]


def test_the_first_dictionary_kept_says_what_features_there_are():
    rows = RowEncoder("me", None)
    assert rows({"z": 1}).tolist() == [1.0]
    assert rows({"b": 2, "a": 1}).tolist() == [2.0, 1.0]
    rows.keep({"b": 2, "a": 1})
    rows.keep({"other": 2})
    assert rows({"a": 5}).tolist() == [0.0, 5.0]
    with pytest.raises(hn.ContextError, match="'c'"):
        rows({"a": 5, "c": 1})


def test_hashing_takes_any_feature_and_text():
    rows = RowEncoder("me", 16)
    one = rows({"age": 2.0, "town": "Bonn"})
    assert one.shape == (16,)
    assert np.abs(one).sum() in (1.0, 3.0)
    assert np.array_equal(one, rows({"town": "Bonn"}) + rows({"age": 2.0}))
    assert not np.array_equal(rows({"town": "Bonn"}), rows({"town": "Rome"}))
    # The same on every machine and in every process.
    assert np.flatnonzero(rows({"age": 2.0})).tolist() == [1]


def test_hashed_columns_have_mean_zero():
    rows = RowEncoder("me", 8)
    total = sum(rows({f"feature {i}": 1.0}) for i in range(4000))
    # Each column is a sum of about 500 signs: five standard deviations.
    assert np.abs(total).max() < 5 * np.sqrt(500)
    used = sum(np.abs(rows({f"feature {i}": 1.0})) for i in range(4000))
    assert np.abs(used - 500).max() < 5 * np.sqrt(500)


def test_a_function_may_say_what_a_context_is():
    assert RowEncoder("me", lambda x: x["day"])({"day": 3}) == 3


def test_what_is_no_dictionary_passes():
    assert RowEncoder("me", ["a"])(None) is None
    assert RowEncoder("me", None)(7) == 7


@pytest.mark.parametrize("features", ["text", [], ["a", "a"], -3])
def test_bad_features_are_refused(features):
    with pytest.raises(hn.ParameterError, match="features"):
        RowEncoder("me", features)


def test_text_is_refused_by_name():
    with pytest.raises(hn.ContextError, match="'town'"):
        RowEncoder("me", ["town"])({"town": "Bonn"})


def test_features_that_are_not_named_are_left_out_or_refused():
    features = {"a": 1.0, "town": "Bonn"}
    assert RowEncoder("me", ["a"])(features).tolist() == [1.0]
    assert AnyRows("me", "encoding", ["a", "town=Bonn"])(features).tolist() == [1.0, 1.0]
    with pytest.raises(hn.ContextError, match=r"'town=Bonn'.*encoding="):
        AnyRows("me", "encoding", ["a"])(features)
