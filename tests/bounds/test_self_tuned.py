"""Self-tuning, hints, the anytime schedule and delay: the notes' formulas and numbers."""

import math

import pytest

import hannan as hn
from hannan.bounds import anytime, delayed, hinted, self_tuned

T, K, d, m, G, B = 9000, 4, 10, 2, 5.0, 3.0
SIZES = {"d": d, "n_actions": K, "complexity": G}
SETS = SIZES | {"m": m, "loss_bound": B}
SETTINGS = [("transductive", 1), ("separator", d * m)]


@pytest.mark.parametrize(("setting", "kappa"), SETTINGS)
def test_self_tuned_with_full_information(setting, kappa):
    R = m * B
    bound = self_tuned(T, setting=setting, **SETS)
    assert bound.value == pytest.approx(2 * math.sqrt(2 * kappa * G * T * R**2) + 2 * R)
    assert bound.epsilon == pytest.approx(G / (bound.value / 2))
    again = self_tuned(T, setting=setting, restarts=3, start=1.5, **SETS)
    assert again.terms["instability"] == pytest.approx(2 * bound.terms["instability"])
    assert again.terms["range"] == pytest.approx(4 * bound.terms["range"])
    assert again.terms["start"] == 6.0


@pytest.mark.parametrize(("setting", "kappa"), SETTINGS)
@pytest.mark.parametrize("c", [2.0, 1.51])
def test_self_tuned_with_semi_bandit_feedback(setting, kappa, c):
    options = {"setting": setting, "second_moment": c, "feedback": "semi-bandit", **SETS}
    bound = self_tuned(T, **options)
    root = 2 * B * math.sqrt((2 * kappa * G + 1) * c * m * K * T)
    assert bound.terms["instability"] == pytest.approx(root)
    assert bound.terms["truncation"] == pytest.approx(B * 2 * math.sqrt(K * T) / math.e)
    again = self_tuned(T, restarts=3, **options)
    assert again.value == pytest.approx(2 * bound.value)
    fixed = self_tuned(T, restarts=3, max_resamples=50, **options)
    assert fixed.terms["truncation"] == pytest.approx(B * K * T / (math.e * 50))


def test_what_truncation_costs_is_bounded_for_a_growing_limit():
    bound = self_tuned(T, feedback="bandit", **SIZES)
    paid = sum(K / (math.e * math.ceil(math.sqrt(K * t))) for t in range(1, T + 1))
    assert 0.97 * bound.terms["truncation"] < paid <= bound.terms["truncation"]
    assert bound.max_resamples == math.ceil(math.sqrt(K * T))


def test_two_experts_against_follow_the_leader():
    # The leader's killer: half of the rounds cost one, so V = T/2.
    bound = self_tuned(10**4, d=1, n_actions=2, complexity=0.75, squares=5000)
    assert bound.value == pytest.approx(175, abs=0.5)
    more = self_tuned(10**4, d=1, n_actions=2, complexity=0.75, squares=10**6)
    assert more.value == self_tuned(10**4, d=1, n_actions=2, complexity=0.75).value


@pytest.mark.parametrize(("setting", "kappa"), [("transductive", 1), ("separator", d)])
@pytest.mark.parametrize("known_distribution", [False, True])
@pytest.mark.parametrize(("budget", "share"), [(3.0, 0.95), (0.5, 0.0), (1.0, 0.5)])
def test_hints_with_a_budget(setting, kappa, known_distribution, budget, share):
    options = {
        "setting": setting, "known_distribution": known_distribution, "budget": budget,
        "share": share, "start": 1.5,
    }  # fmt: skip
    bound = hinted(T, loss_bound=B, **options, **SIZES)
    unrest = 2.6 * kappa * G * K + 1 if known_distribution else 2 * K * (2 * kappa * G + 1)
    roots = budget * math.sqrt(G * T) + 2 * math.sqrt(unrest * T / (1 - share))
    roots += 2 * math.sqrt(T) if known_distribution else 0.0  # what a covered baseline may hide
    cut = 2 * math.sqrt(K * T) / math.e
    assert bound.value == pytest.approx(B * (roots + cut) + 1.5)
    D = B * math.sqrt(unrest * T / (1 - share)) + 1.5
    assert bound.epsilon == pytest.approx(G / D)
    again = hinted(T, restarts=3, **options, **SIZES)
    assert again.value == pytest.approx(2 * (roots + cut) + 4 * 1.5)
    limited = hinted(T, max_resamples=7, **options, **SIZES)
    assert limited.value == pytest.approx(roots + K * T / (7 * math.e) + 1.5)
    assert limited.max_resamples == 7


@pytest.mark.parametrize(
    ("G", "share", "drawn", "known"),
    [
        (0.75, 0.0, 1.22, 1.47),
        (0.75, 0.95, 4.2, 4.08),
        (1e7, 0.0, 1.34, 1.61),
        (1e7, 0.95, 4.81, 5.57),
    ],
)
def test_what_safe_hints_cost(G, share, drawn, known):
    """In units of what a learner without a predictor has."""
    options = {"d": 1, "n_actions": 5, "complexity": G}
    for second_moment, known_distribution, factor in ((2.0, False, drawn), (1.0, True, known)):
        calm = self_tuned(10**6, feedback="bandit", second_moment=second_moment, **options).value
        bold = hinted(10**6, share=share, known_distribution=known_distribution, **options).value
        assert bold / calm == pytest.approx(factor, abs=0.01)


@pytest.mark.parametrize(("setting", "kappa"), SETTINGS)
def test_anytime(setting, kappa):
    full = anytime(T, setting=setting, **SETS)
    assert full.value == pytest.approx(2 * math.sqrt(2 * kappa * G * (m * B) ** 2 * T))
    c = math.sqrt(G / (2 * kappa * (m * B) ** 2))
    assert full.epsilon == pytest.approx(c / math.sqrt(T))
    known = hn.bounds.complete_information(T, setting=setting, form="sharp", **SETS)
    assert full.value == pytest.approx(math.sqrt(2) * known.value)
    semi = anytime(T, setting=setting, feedback="semi-bandit", **SETS)
    root = 4 * math.sqrt(kappa * m * K * G * T)
    assert semi.value == pytest.approx(B * (root + 2 * math.sqrt(K * T) / math.e))
    c = math.sqrt(G / (4 * kappa * m * K)) / B
    assert semi.epsilon == pytest.approx(c / math.sqrt(T))


def test_the_anytime_schedule_adds_up_to_its_bound():
    # Σ ε_t w + G/ε_T with ε_t = sqrt(G / 2 w t), round by round.
    bound = anytime(T, **SIZES)
    paid = sum(math.sqrt(G / (2 * t)) for t in range(1, T + 1)) + G / bound.epsilon
    assert 0.99 * bound.value < paid <= bound.value


@pytest.mark.parametrize(("setting", "kappa"), SETTINGS)
@pytest.mark.parametrize("reacting", [True, False])
def test_delay(setting, kappa, reacting):
    delay = 12_345
    options = {"setting": setting, "reacting": reacting, "total_delay": delay, **SETS}
    full = delayed(T, feedback="full", **options)
    assert full.value == pytest.approx(2 * math.sqrt(G * kappa * (m * B) ** 2 * (T + delay)))
    semi = delayed(T, second_moment=1.38, **options)
    W = kappa * (1.38 * m * K * T + m * (K if reacting else m) * delay)
    L = math.ceil(math.sqrt(K * T))
    value = 2 * math.sqrt(G * W) + K * T / (math.e * L)
    assert semi.value == pytest.approx(B * value)
    rolling = anytime(T, second_moment=1.38, feedback="semi-bandit", **options)
    root = 2 * math.sqrt(2 * G * W)
    assert rolling.value == pytest.approx(B * (root + 2 * math.sqrt(K * T) / math.e))


def test_no_delay_is_theorem_3():
    plain = hn.bounds.semi_bandit(T, form="sharp", **SETS)
    assert delayed(T, total_delay=0, **SETS).value == pytest.approx(plain.value)
