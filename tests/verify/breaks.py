"""What every claim is asked, and mechanisms broken on purpose."""

import contextlib

import numpy as np
import pytest

from hannan.learners.step_size import Fixed
from hannan.oracles.finite_policies import FiniteNoise
from hannan.verify import Check, Claim, Effort


def experiments(module):
    """The experiments of a module by the names of their claims."""
    found = [value for value in vars(module).values() if isinstance(value, Claim)]
    return {claim.name: claim.experiment for claim in found}


def tried(module, name):
    """What the claim of that name finds with little effort."""
    return experiments(module)[name](Effort())


def failures(finding):
    """The checks that do not hold."""
    return [check.what for check in finding.checks if not check.passed]


class Enough(Exception):
    """All that was to be seen has been seen."""


def refuted(module, name, *expected):
    """Require that checks fail whose names contain these texts, at least one without any.

    The experiment ends as soon as they have: what it would play or draw after that says nothing
    more about the broken mechanism.
    """
    missing = list(expected or [""])
    make = Check.__init__

    def watched(check, *given, **options):
        make(check, *given, **options)
        if not check.passed:
            missing[:] = [text for text in missing if text not in check.what]
        if not missing:
            raise Enough

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Enough):
        patch.setattr(Check, "__init__", watched)
        tried(module, name)
    assert not missing, f"{name} stands where it should not: {missing}"


def few_games(monkeypatch, module, most):
    """Let a module play fewer games, where what they show is far beyond chance."""
    seeds = module.seeds
    monkeypatch.setattr(
        module,
        "seeds",
        lambda effort, name, quick, full: seeds(effort, name, min(quick, most), full),
    )


def few_learners(monkeypatch, module, most):
    """The same where games differ in the seed of the learner."""
    seeds = module.learner_seeds
    monkeypatch.setattr(
        module, "learner_seeds", lambda effort, count: seeds(effort, min(count, most))
    )


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
    start = Fixed.start

    def scaled(step, leader):
        start(step, leader)
        step.scale *= factor

    monkeypatch.setattr(Fixed, "start", scaled)


def shrink_projected_noise(monkeypatch):
    """Halve the noise of listed policies where it is made."""
    fill = FiniteNoise._fill

    def halved(noise, first, block, start, stop):
        fill(noise, first, block, start, stop)
        block[:, start:stop] *= 0.5

    monkeypatch.setattr(FiniteNoise, "_fill", halved)
