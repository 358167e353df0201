"""Late losses, and ways to say too little about them."""

import pytest

from hannan.verify import late
from tests.verify import bandit_breaks, late_breaks
from tests.verify.breaks import failures, refuted, says_something, tried

CLAIMS = {"late-certificate": 59, "late-bound": 72, "late-hints": 33}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(late, name)
    assert failures(finding) == []
    says_something(finding, checks)


BREAKS = {
    late_breaks.compare_with_the_leader_at_arrival: (
        "late-certificate",
        "full: hits the known leader, end",
        "bandit: hits the known leader, end",
        "bandit, drawn: hits the known leader, end",
    ),
    late_breaks.measure_by_the_draw_of_play: ("late-certificate", "as shields"),
    late_breaks.forget_rounds_without_a_loss: (
        "late-certificate",
        "full: hits the known leader, bad late, forgotten",
        "full: hits the known leader, bad late, open",
        "bandit: hits the known leader, bad late, forgotten",
        "bandit: hits the known leader, bad late, open",
    ),
    late_breaks.count_truncation_at_arrival: ("late-certificate", "never answered"),
    late_breaks.compare_at_the_present_scale: (
        "late-certificate",
        "full: hits the known leader, end",
        "full, four policies: hits the known leader, end",
    ),
    late_breaks.measure_tsallis_at_arrival: (
        "late-certificate",
        "Tsallis-INF: hits the known leader, end",
        "Tsallis-INF, hints: hits the known leader, end",
    ),
    late_breaks.forget_the_price_of_exploration: (
        "late-certificate",
        "ContextSemiBanditFTPL explores",
        "TsallisINF explores",
    ),
    late_breaks.show_weights_at_once: ("late-certificate", "by their weights"),
    bandit_breaks.reserve_nothing: ("late-hints", "law known", "drawn"),
}


@pytest.mark.slow
@pytest.mark.parametrize("spoil", BREAKS, ids=lambda spoil: spoil.__name__)
def test_what_is_spoiled_is_found_out(monkeypatch, spoil):
    spoil(monkeypatch)
    refuted(late, *BREAKS[spoil])
