"""Noise on the future: that it is large enough, no larger than needed, and what it costs."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import hannan as hn
from hannan.bounds import playout, playout_bandit


@pytest.mark.parametrize(
    ("m", "fixed_size", "sigma", "value"),
    [
        (1, True, math.pi, 2 * math.pi),
        (1, False, math.pi, 2 * math.pi),
        (4, True, 4 * math.pi, 16 * 2 * math.pi),
        (4, False, 8 * math.pi, 16 * 4 * math.pi),
    ],
)
def test_formulas(m, fixed_size, sigma, value):
    bound = playout(500, log_size=3.0, m=m, loss_range=(0.0, 2.0), fixed_size=fixed_size)
    assert bound.epsilon == pytest.approx(1 / (2 * math.sqrt(sigma)))
    assert bound.value == pytest.approx(2 * math.sqrt(value * 500 * 3.0))


@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("fixed_size", [True, False])
@pytest.mark.parametrize("loss_range", [(0, 1), (-1, 1), (0.5, 1), (-3, -1), (-0.1, 2)])
def test_noise_makes_up_for_the_worst_round_and_less_would_not(m, fixed_size, loss_range):
    # Two policies that differ in p elements one way and q the other, the second g behind: noise
    # must raise the expected maximum by the most that the losses of a round can, less g.
    fixed_size = fixed_size or m == 1
    low, high = loss_range
    sigma = 1 / playout(9, log_size=1.0, m=m, loss_range=loss_range, fixed_size=fixed_size).epsilon
    worst = math.inf
    for p in range(m + 1):
        for q in range(m + 1):
            if p + q == 0 or (fixed_size and p != q):
                continue
            gain = p * high - q * low
            spread = sigma * math.sqrt(p + q)
            g = np.linspace(0, 10 * m, 400)
            rise = spread * norm.pdf(g / spread) - g * norm.cdf(-g / spread)
            assert (rise >= np.maximum(gain - g, 0) - 1e-9).all()
            if gain > 0:
                worst = min(worst, rise[0] / gain)
    assert worst == pytest.approx(1.0)


def test_the_numbers_of_the_notes():
    bound = playout_bandit(5000, n_actions=3, log_size=math.log(60))
    assert round(bound.value) == 1645
    constant = playout_bandit(10**15, n_actions=4, log_size=5.0).value / (10**10 * 20 ** (1 / 3))
    assert constant == pytest.approx(2.38, abs=0.002)
    rate = playout(10**6, log_size=4.0).value / math.sqrt(4e6)
    assert rate == pytest.approx(2.51, abs=0.005)


@pytest.mark.parametrize("T", [2, 1000, 10**8])
def test_bandit_formula_and_its_floor(T):
    K, size, B = 7, 3.0, 2.0
    bound = playout_bandit(T, n_actions=K, log_size=size, loss_bound=B)
    M = 1 / (B * bound.epsilon)
    assert pytest.approx(max(K, (2 * K**2 * T / size) ** (1 / 3))) == M
    assert bound.terms["exploration"] == pytest.approx(B * T * K / M)
    noise = math.sqrt(2 * T * M * size) + M * size / 3
    assert bound.terms["noise"] == pytest.approx(B * noise)
    if M > K:  # the best size, but for the last term

        def leading(M):
            return T * K / M + math.sqrt(2 * T * M * size)

        assert leading(M) <= min(leading(0.99 * M), leading(1.01 * M))


@pytest.mark.stat
def test_the_mean_maximum_of_the_noise_is_below_its_bound():
    T, K, N, M, draws = 300, 3, 20, 9.0, 400
    rng = np.random.default_rng(0)
    table = rng.integers(K, size=(N, T))
    full = rng.normal(scale=math.sqrt(math.pi), size=(draws, T, K))
    hit = rng.random((draws, T)) < K / M
    sparse = np.zeros((draws, T, K))
    where = np.nonzero(hit)
    size = rng.choice([-M, M], size=len(where[0]))
    sparse[(*where, rng.integers(K, size=len(where[0])))] = size
    gaussian = playout(T, log_size=math.log(N)).value
    bernstein = math.sqrt(2 * T * M * math.log(N)) + M * math.log(N) / 3
    for noise, bound in ((full, gaussian), (sparse, bernstein)):
        totals = noise[:, np.arange(T), table].sum(axis=2)
        largest = totals.max(axis=1)
        assert 0.5 * bound < largest.mean() + 5 * largest.std() / math.sqrt(draws) < bound


def test_playout_beats_laplace_where_contexts_do_not_repeat():
    laplace = hn.bounds.complete_information(
        5000, d=5000, n_actions=3, log_size=math.log(60), form="sharp"
    )
    assert playout(5000, log_size=math.log(60)).value < laplace.value / 4
