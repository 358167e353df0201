"""The law of the noise and what it costs, and noise of another law."""

import numpy as np
import pytest

from hannan.perturbation import LaplaceNoise
from hannan.verify import laplace_error, separators, ties
from tests.verify.breaks import (
    failures,
    refuted,
    says_something,
    scale_noise,
    shrink_projected_noise,
    tried,
)
from tests.verify.game_breaks import draw_once


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("noise-law", 6), ("laplace-error", 12)])
def test_the_claims_stand(name, checks):
    finding = tried(laplace_error, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.5, 0.9, 2.0])
def test_a_learner_with_another_scale_than_it_says_is_found_out(monkeypatch, factor):
    scale_noise(monkeypatch, factor)
    refuted(
        laplace_error,
        "noise-law",
        "fake losses: distance from Laplace(1/ε)",
        "as the oracle adds them up",
    )
    refuted(laplace_error, "laplace-error")
    assert tried(ties, "ties").passed
    assert tried(separators, "separators").passed


def test_so_is_noise_halved_where_it_is_projected(monkeypatch):
    shrink_projected_noise(monkeypatch)
    assert failures(tried(laplace_error, "noise-law")) == [
        "as the oracle adds them up",
        "plays: standard errors from their probability",
    ]
    found = failures(tried(laplace_error, "laplace-error"))
    assert "all 256 maps: distance from its closed form" in found
    assert "4 items of 12: distance from its closed form" not in found


def test_so_is_noise_of_another_shape(monkeypatch):
    def gaussian(noise, draw):
        rng = np.random.default_rng([draw, 1])
        return np.sqrt(2.0) * rng.standard_normal((len(noise.contexts), noise.n_actions))

    monkeypatch.setattr(LaplaceNoise, "unit", gaussian)
    assert failures(tried(laplace_error, "noise-law")) == [
        "fake losses: distance from Laplace(1/ε)"
    ]


def test_so_is_noise_that_is_not_drawn_anew(monkeypatch):
    draw_once(monkeypatch)
    assert failures(tried(laplace_error, "noise-law")) == [
        "plays: standard errors from their probability"
    ]
