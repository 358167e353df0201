"""What every claim is asked, and mechanisms broken on purpose."""

import numpy as np

from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles.finite_policies import FiniteNoise
from hannan.verify import Effort


def tried(module, name):
    """What the claim of that name finds with little effort."""
    (claim,) = (claim for claim in module.CLAIMS if claim.name == name)
    return claim.experiment(Effort())


def failures(finding):
    """The checks that do not hold."""
    return [check.what for check in finding.checks if not check.passed]


def says_something(finding, checks):
    """So many checks at least, of finite numbers, and a plot with something in every series."""
    assert len(finding.checks) >= checks
    for check in finding.checks:
        assert np.isfinite([check.measured, check.limit, check.allowance]).all(), check
    assert len(finding.plot.series) >= 2
    for series in finding.plot.series:
        x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
        assert x.size >= 2, series.label
        assert y.shape[-1] == x.size, series.label
        assert np.isfinite(x).all(), series.label
        assert np.isfinite(y).all(), series.label


def scale_noise(monkeypatch, factor):
    """Let learners use their noise at another scale than ε says."""
    make = PerturbedLeader._make_fakes

    def scaled(learner):
        make(learner)
        learner._scale *= factor

    monkeypatch.setattr(PerturbedLeader, "_make_fakes", scaled)


def shrink_projected_noise(monkeypatch):
    """Halve the noise of listed policies where it is made."""
    fill = FiniteNoise._fill

    def halved(noise, first, block):
        fill(noise, first, block)
        block *= 0.5

    monkeypatch.setattr(FiniteNoise, "_fill", halved)
