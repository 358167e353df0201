"""What a replay says is true in worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

import hannan as hn
from tests.replays.worlds import KINDS, offers, one_segment, random_log
from tests.thinning import more_at_night

FAST = {"learners": ["UniformRandom"]}


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("size", more_at_night((20, 16), (60, 53)), ids=str)
def test_intervals_of_rules_and_actions_on_a_log_cover_the_truth(size):
    """95 % intervals miss more than 7 of 60 with probability 0.01 each, and 4 of 20 with 0.003."""
    logs, hold = size
    hits = {"choice": [], "difference": [], "always free shipping": [], "always 5%": []}
    for seed in range(logs):
        log = offers(seed=100 + seed)
        replay = hn.replay(log.frame, **log.options, **FAST)
        table = replay.table.set_index("name")
        best = table.loc[replay.results.choice.name]
        value = log.value(replay.decisions["decision"])
        hits["choice"].append(best.low <= value <= best.high)
        difference = value - log.current
        hits["difference"].append(best.difference_low <= difference <= best.difference_high)
        for k, name in enumerate(log.names):
            if f"always {name}" in hits:
                row = table.loc[f"always {name}"]
                hits[f"always {name}"].append(row.low <= log.means[:, k].mean() <= row.high)
    assert {name: sum(each) >= hold for name, each in hits.items()} == dict.fromkeys(hits, True)


def test_an_action_that_was_possible_in_one_segment_only_does_not_lead():
    """It earns most there, and next to nothing elsewhere, which the log cannot know."""
    log = one_segment()
    replay = hn.replay(log.frame, **log.options, **FAST)
    table = replay.table.set_index("name")
    row, true = table.loc["always trial"], log.means[:, 2].mean()
    assert row["mean"] > 0.7 > true  # so it seems
    assert row.low <= true <= row.high
    assert row.difference_low <= true - log.current <= row.difference_high
    assert row.difference_low < 0.0
    assert replay.results.choice.name not in ("always trial", "UniformRandom")
    claimed = replay.results.choice.plain["difference"]
    assert np.sign(claimed) == np.sign(log.value(replay.decisions["decision"]) - log.current)
    assert any("never takes" in note and "always trial" in note for note in replay.results.notes)


def test_all_actions_of_a_sound_log_count_as_seen():
    for seed in range(3):
        log = offers(seed=seed)
        replay = hn.replay(log.frame, **log.options, **FAST)
        assert [p.name for p in replay.results.comparators if p.unseen] == []


def verdict(log):
    """Whether the answer is confident, and whether it is true; None for an error."""
    try:
        replay = hn.replay(log.frame, **log.options, **FAST)
    except hn.ParameterError:
        return None
    if "clearly" not in replay.answer:
        return False, True
    claimed = replay.results.choice.plain["difference"]
    true = log.value(replay.decisions["decision"]) - log.current
    return True, bool(np.sign(true) == np.sign(claimed))


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("seeds", more_at_night(range(40), range(40, 200)), ids=str)
def test_confident_answers_are_true(seeds):
    """Names, propensities, selection and drift of all kinds: at most 5 % are false."""
    verdicts = {seed: verdict(random_log(seed)) for seed in seeds}
    answers = [each for each in verdicts.values() if each is not None]
    false = [seed for seed, each in verdicts.items() if each is not None and not each[1]]
    assert len(false) <= 0.05 * len(answers), false
    assert sum(confident for confident, _ in answers) >= 0.1 * len(answers)
    kinds = {seed: KINDS[seed // 4 % len(KINDS)] for seed in seeds}
    right = [seed for seed in seeds if kinds[seed] in ("right", "drift", "estimate", "rounded")]
    assert [seed for seed in right if verdicts[seed] is None] == []
    wrong = [seed for seed in seeds if kinds[seed] in ("uniform", "over time", "customers")]
    assert sum(verdicts[seed] is None for seed in wrong) >= 0.7 * len(wrong)
