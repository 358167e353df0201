import copy
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.baselines._vowpal_model import VowpalModel
from hannan.core import OpenRound
from hannan.core.storage import reread

pytest.importorskip("vowpalwabbit")


def opened(context, available=None):
    this_round = OpenRound(context)
    if available is not None:
        this_round.plays = np.full(3, available[0])
        this_round.plays[available] = available
    return this_round


def taught(arguments="--squarecb"):
    """A model that has learned what actions cost on contexts."""
    model = VowpalModel(3, arguments, 0)
    for context, action, cost in LESSONS:
        this_round = opened(context)
        this_round.play(action)
        model.learn(this_round, cost, 1 / 3)
    return model


LESSONS = [(x, a, float(a != (x == "rain"))) for x in ("sun", "rain") for a in range(3)] * 20


def test_the_law_is_over_what_is_available():
    model = taught("--epsilon 0.1")
    assert model.distribution(opened("rain")).round(3).tolist() == [0.033, 0.933, 0.033]
    assert model.distribution(opened("rain", [0, 1])).round(3).tolist() == [0.05, 0.95, 0.0]
    assert model.distribution(opened("rain", [2])).tolist() == [0.0, 0.0, 1.0]


def test_a_round_is_learned_as_it_was_shown_whether_or_not_it_was_asked_about():
    asked, silent = taught(), taught()
    for available in (None, [1, 2]):
        for model in (asked, silent):
            this_round = opened("rain", available)
            if model is asked:
                model.distribution(this_round)
            this_round.play(1)
            model.learn(this_round, 1.0, 0.5)
    for x in ("sun", "rain", np.array([0.5, 1.0]), None):
        assert (asked.distribution(opened(x)) == silent.distribution(opened(x))).all()
    assert (asked.distribution(opened("rain")) != taught().distribution(opened("rain"))).any()


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), reread]
)
def test_copies_and_files_carry_what_was_learned(twin):
    model = taught()
    again = twin(model)
    for each in (model, again):
        this_round = opened("sun")
        this_round.play(2)
        each.learn(this_round, 0.5, 0.2)
    for x in ("sun", "rain"):
        assert (again.distribution(opened(x)) == model.distribution(opened(x))).all()


def test_bad_options_are_refused_in_the_name_of_the_owner():
    for bad in ("--nonsense", "'", 3):
        with pytest.raises(hn.ParameterError, match="'arguments' parameter of Someone"):
            VowpalModel(3, bad, 0, "Someone")
