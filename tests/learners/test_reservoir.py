"""Contexts seen so far, as a sample, and the noise that follows them."""

import numpy as np

import hannan as hn
from hannan.learners.reservoir import Reservoir


def test_the_sample_is_renewed_whenever_the_number_seen_has_doubled():
    reservoir = Reservoir(100, np.uint64(0))
    renewed = [n for n in range(1, 70) if reservoir.offer(n)]
    assert renewed == [1, 2, 4, 8, 16, 32, 64]
    assert reservoir.contexts == list(range(1, 65))


def test_the_sample_is_bounded_and_even():
    """Each of 2,000 contexts is kept with probability 1/10; 4.5 standard errors."""
    kept = np.zeros(2)
    for seed in range(40):
        reservoir = Reservoir(200, np.uint64(seed))
        for n in range(2000):
            reservoir.offer(n)
        sample = np.array(reservoir._sample)
        assert len(sample) == len(set(sample.tolist())) == 200
        kept += [(sample < 1000).sum(), (sample >= 1000).sum()]
    assert abs(kept[0] / kept.sum() - 0.5) < 4.5 * 0.5 / np.sqrt(kept.sum())


def test_noise_sits_once_on_a_context_that_came_often():
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)
    for t in range(40):
        learner.act([float(t % 3)])
        learner.update([0.2, 0.8])
    assert sorted(float(x[0]) for x in learner._perturbed) == [0.0, 1.0, 2.0]
    assert len(learner._fakes.contexts) == 3
