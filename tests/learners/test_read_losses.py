"""Missing and clipped losses, and the headline of a certificate in words."""

import numpy as np
import pytest

import hannan as hn

PAIRS = hn.oracles.Subsets(4, 2)


@pytest.mark.parametrize("predictor", [None, hn.predictors.ElementMeans()])
def test_losses_out_of_the_range_are_clipped_and_counted(predictor):
    clipping = hn.ContextSemiBanditFTPL(PAIRS, clip=True, predictor=predictor, seed=0)
    usual = hn.ContextSemiBanditFTPL(PAIRS, predictor=predictor, seed=0)
    for t in range(20):
        action = clipping.act()
        assert action.tolist() == usual.act().tolist()
        clipping.update([-3.0, 7.0] if t % 2 else [0.0, 1.0])
        usual.update([0.0, 1.0])
    assert clipping.certificate().loss == usual.certificate().loss == 20.0
    note = "20 losses were outside of loss_range and clipped: the statements are about these"
    assert note in clipping.certificate().notes
    assert not any("clipped" in each for each in usual.certificate().notes)


def test_a_single_loss_is_clipped():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), clip=True, seed=0)
    learner.act(0)
    learner.update(3.0)
    assert learner.certificate().loss == 1.0
    learner.act(0)
    with pytest.raises(hn.LossError):
        learner.update(float("nan"))


@pytest.mark.parametrize("predictor", [None, hn.predictors.ElementMeans()])
def test_missing_losses_are_charged_and_teach_nothing(predictor):
    learner = hn.ContextSemiBanditFTPL(PAIRS, predictor=predictor, seed=0)
    learner.act()
    learner.update([0.5, 0.5])
    before = learner.certificate()
    action = learner.act()
    learner.update([0.25, np.nan])
    after = learner.certificate()
    assert after.loss == before.loss + 0.25
    note = "1 loss of chosen elements missing: each counts at the largest possible loss"
    assert note in after.notes
    assert after.stability_estimate >= before.stability_estimate + 1.0 - 0.5 - 0.25
    if predictor is not None:
        estimates = learner.predictor_.estimate(None)
        assert estimates[action[1]] in (0.0, 0.25)  # from the first round at most


@pytest.mark.parametrize("clip", [1, "yes", None])
def test_clip_is_a_flag(clip):
    with pytest.raises(hn.ParameterError, match="clip"):
        hn.ContextSemiBanditFTPL(PAIRS, clip=clip)


# The headline ------------------------------------------------------------------------------------


def head(kind, loss, **values):
    return str(kind.of(100, loss, **values)).splitlines()[0]


def test_the_headline_says_how_much_more_than_the_best_policy():
    full, bandit = hn.Certificate, hn.learners.statements.SemiBanditCertificate
    said = head(full, 60.0, realised_regret=4.0, measured=10.0)
    assert said == (
        "After 100 rounds the total loss is 60: on average estimated to be at most 10 (20.0 %) "
        "more than the best policy."
    )
    assert "less than the best policy in hindsight" in head(full, 60.0, realised_regret=-4.0)
    assert ": 4 (7.1 %) more than the best policy in hindsight." in head(
        full, 60.0, realised_regret=4.0
    )
    assert "at most 9 (17.6 %) more" in head(bandit, 60.0, a_priori=9.0)
    assert "estimated" not in head(bandit, 60.0, a_priori=9.0)
    vacuous, rewards = (head(bandit, x, stability_estimate=50.0) for x in (60.0, -60.0))
    assert "%" not in vacuous + rewards
    assert head(bandit, 60.0).startswith(
        "After 100 rounds the total loss is 60; no statement on regret holds"
    )
