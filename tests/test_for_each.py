"""Tests that go through many values do, and say which one fails."""

import pytest

from tests.for_each import for_each


def test_all_combinations_are_tried():
    tried = []

    @for_each("a", [1, 2])
    @for_each(("b", "c"), [("x", 3), ("y", 4)])
    def test(a, b, c, made):
        tried.append((a, b, c, made))

    test(made="by a fixture")
    assert tried == [(a, b, c, "by a fixture") for a in (1, 2) for b, c in (("x", 3), ("y", 4))]


def test_the_value_that_fails_is_named():
    @for_each("number", range(5))
    def test(number):
        assert number < 3

    with pytest.raises(AssertionError) as caught:
        test()
    assert caught.value.__notes__ == ["with {'number': 3}"]


def test_no_value_is_a_failure():
    @for_each("number", [])
    def test(number):
        pass

    with pytest.raises(AssertionError, match="no value"):
        test()


@pytest.mark.parametrize("outer", ["a", "b"])
@for_each("inner", [0, 1])
def test_it_goes_together_with_fixtures_and_parameters(inner, outer, tmp_path):
    (tmp_path / f"{inner}").touch()
    assert len(list(tmp_path.iterdir())) == inner + 1
