"""What learners say about their regret, in small games with late losses."""

import pytest

from tests.learners.late_games import SETTINGS, judge, sample


def broken(games, seeds, first=0):
    """Games that look broken, and do so again with fresh seeds and ten times as many."""
    found = {name: what for name, what in games.items() if judge(*what, seeds, first).broken}
    many = 10 * seeds
    return [name for name, what in found.items() if judge(*what, many, 10**6, few=many + 1).broken]


@pytest.mark.slow
def test_certificates_hold_in_nasty_games():
    assert broken(sample(3 * len(SETTINGS), seed=1), 40) == []


def test_some_of_them_every_day():
    games = sample(len(SETTINGS), seed=2)
    assert not any(judge(*what, 6).broken for what in games.values())
