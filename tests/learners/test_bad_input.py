"""Each kind of bad input is refused with an error that says what is wrong, and changes nothing."""

import copy

import numpy as np
import pytest

import hannan as hn
from tests import problems
from tests.for_each import for_each


def learner_after_some_rounds(kind="FinitePolicies", **options):
    oracle, _ = problems.make(kind, d=3, K=3)
    options = {"contexts": range(3), "seed": 0, **options}
    learner = hn.ContextFTPL(oracle, **options)
    problems.play(learner, problems.rounds(3, 3, 25))
    return learner


def assert_as_if_nothing_happened(learner, twin):
    assert learner.rounds == twin.rounds
    assert learner.certificate() == twin.certificate()
    rounds = problems.rounds(3, 3, 30, seed=77)
    assert problems.play(learner, rounds) == problems.play(twin, rounds)
    assert learner.certificate() == twin.certificate()


BAD_LOSSES = {
    "nan": ([0.0, np.nan, 0.0], hn.LossError, "finite"),
    "infinite": ([0.0, np.inf, 0.0], hn.LossError, "finite"),
    "minus infinite": (np.array([-np.inf, 0.0, 0.0]), hn.LossError, "finite"),
    "too short": ([0.0, 1.0], hn.LossError, "3 numbers"),
    "too long": ([0.0, 1.0, 0.0, 1.0], hn.LossError, "3 numbers"),
    "empty": ([], hn.LossError, "3 numbers"),
    "a number": (0.5, hn.LossError, "3 numbers"),
    "a table": (np.zeros((1, 3)), hn.LossError, "3 numbers"),
    "above the range": ([0.0, 1.0, 1.0 + 1e-9], hn.LossError, "loss_range"),
    "below the range": ([0.0, -0.1, 1.0], hn.LossError, "loss_range"),
    "words": (["low", "high", "high"], hn.InputTypeError, "numbers"),
    "ragged": ([[0.0], [0.0, 1.0], 1.0], hn.InputTypeError, "numbers"),
    "an object": (object(), hn.InputTypeError, "numbers"),
}


@for_each("kind", problems.KINDS)
@for_each("epsilon", ["adaptive", 0.5])
@pytest.mark.parametrize("name", BAD_LOSSES)
def test_bad_losses_are_refused(name, epsilon, kind):
    loss, error, message = BAD_LOSSES[name]
    learner, twin = (learner_after_some_rounds(kind, epsilon=epsilon) for _ in range(2))
    action = learner.act(1)
    with pytest.raises(error, match=message):
        learner.update(loss)
    assert twin.act(1) == action
    for each in (learner, twin):
        each.update([0.0, 1.0, 0.5])
    assert_as_if_nothing_happened(learner, twin)


def test_none_is_no_loss():
    learner = learner_after_some_rounds()
    learner.act(1)
    with pytest.raises(hn.HannanError):
        learner.update(None)


BAD_CONTEXTS = [-1, 3, 10**30, 1.0, "1", None, True, [1], (1,), np.array([1]), Ellipsis, np.nan]


@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
@pytest.mark.parametrize("context", BAD_CONTEXTS, ids=repr)
def test_a_context_that_the_class_does_not_know_is_refused(context, kind):
    learner, twin = (learner_after_some_rounds(kind) for _ in range(2))
    with pytest.raises(hn.ContextError, match="0 to 2"):
        learner.act(context)
    with pytest.raises(hn.OrderError):
        learner.update([0.0, 0.0, 0.0])
    assert_as_if_nothing_happened(learner, twin)


@pytest.mark.parametrize("kind", problems.KINDS)
def test_a_context_that_was_not_declared_is_refused(kind):
    oracle, _ = problems.make(kind, d=3, K=3)
    learner = hn.ContextFTPL(oracle, contexts=[0, 2], seed=0)
    with pytest.raises(hn.ContextError, match="transductive"):
        learner.act(1)
    assert learner.act(2) in (0, 1, 2)


def test_a_refused_context_leaves_the_open_round_open():
    learner, twin = (learner_after_some_rounds() for _ in range(2))
    assert learner.act(0) == twin.act(0)
    with pytest.raises(hn.ContextError):
        learner.act(99)
    for each in (learner, twin):
        each.update([1.0, 0.0, 0.0])
    assert_as_if_nothing_happened(learner, twin)


def test_updating_before_acting_is_refused():
    oracle, _ = problems.make("FinitePolicies")
    learner = hn.ContextFTPL(oracle, seed=0)
    with pytest.raises(hn.OrderError, match=r"call act\(context\) first"):
        learner.update([0.0, 0.0, 0.0])
    assert learner.rounds == 0


def test_updating_twice_is_refused():
    learner, twin = (learner_after_some_rounds() for _ in range(2))
    with pytest.raises(hn.OrderError, match="once"):
        learner.update([1.0, 0.0, 0.0])
    assert_as_if_nothing_happened(learner, twin)


def test_losses_out_of_range_are_fine_once_the_range_is_declared():
    oracle = hn.oracles.AllPolicies(1, 2)
    for loss_range in ((-10, 10), None):
        learner = hn.ContextFTPL(oracle, loss_range=loss_range, seed=0)
        learner.act()
        learner.update([-5.0, 5.0])
        assert learner.best_policy()(None) == 0


def test_infinite_losses_are_refused_whatever_the_range():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), loss_range=None, seed=0)
    learner.act()
    with pytest.raises(hn.LossError, match="finite"):
        learner.update([np.inf, 0.0])


BAD_PARAMETERS = [
    ("epsilon", 0.0),
    ("epsilon", -1.0),
    ("epsilon", float("nan")),
    ("epsilon", float("inf")),
    ("epsilon", True),
    ("epsilon", None),
    ("epsilon", "adaptiv"),
    ("horizon", 0),
    ("horizon", -5),
    ("horizon", 10.0),
    ("seed", -1),
    ("seed", 0.5),
    ("seed", "1"),
    ("loss_range", (1.0, 0.0)),
    ("loss_range", (0.0, 0.0)),
    ("loss_range", (0.0, float("inf"))),
    ("loss_range", (float("nan"), 1.0)),
    ("loss_range", (0.0, 0.5, 1.0)),
    ("loss_range", 1.0),
    ("loss_range", "01a"),
    ("noise", "twice"),
    ("noise", None),
    ("contexts", []),
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_a_parameter_outside_its_range_is_refused(name, value):
    oracle = hn.oracles.AllPolicies(2, 2)
    with pytest.raises(hn.ParameterError) as refusal:
        hn.ContextFTPL(oracle, **{name: value})
    message = str(refusal.value)
    assert f"The {name!r} parameter of ContextFTPL must be" in message
    assert f"Got {value!r} instead." in message


def test_an_empty_separator_is_refused():
    with pytest.raises(hn.ParameterError, match="'separator' parameter"):
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), separator=[])


def test_a_separator_that_does_not_separate_is_refused():
    oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1]])
    with pytest.raises(hn.ParameterError, match="does not separate"):
        hn.ContextFTPL(oracle, separator=[0])
    with pytest.raises(hn.ParameterError, match="does not separate"):
        hn.ContextFTPL(hn.oracles.AllPolicies(3, 2), separator=[0, 2])


@pytest.mark.parametrize("name", ["contexts", "separator"])
def test_a_context_set_outside_the_class_is_refused(name):
    with pytest.raises(hn.ContextError, match="0 to 1"):
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), **{name: [0, 1, 2]})


def test_an_oracle_without_listed_contexts_needs_some():
    oracle = hn.oracles.FunctionOracle(lambda c, l: lambda x: 0, n_actions=2)
    with pytest.raises(hn.ParameterError, match="contexts="):
        hn.ContextFTPL(oracle)


def test_the_theorem_needs_a_horizon():
    with pytest.raises(hn.ParameterError, match="horizon="):
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 2), epsilon="theorem")


def test_the_theorem_needs_two_policies():
    oracle = hn.oracles.FinitePolicies([[0, 1]])
    with pytest.raises(hn.ParameterError, match="N >= 2"):
        hn.ContextFTPL(oracle, epsilon="theorem", horizon=10)


def test_the_theorem_needs_the_size_of_the_class():
    oracle = hn.oracles.FunctionOracle(lambda c, l: lambda x: [0], n_actions=2, max_chosen=2)
    with pytest.raises(hn.ParameterError, match="size of the policy class"):
        hn.ContextFTPL(oracle, contexts=[0], epsilon="theorem", horizon=10)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, np.nan, "sure", None])
def test_a_confidence_that_is_no_probability_is_refused(confidence):
    learner, twin = (learner_after_some_rounds() for _ in range(2))
    with pytest.raises(hn.ParameterError, match="'confidence' parameter"):
        learner.certificate(confidence)
    assert_as_if_nothing_happened(learner, twin)


def test_every_error_is_also_of_a_standard_kind():
    for name in hn.__all__:
        item = getattr(hn, name)
        if (
            isinstance(item, type)
            and issubclass(item, hn.HannanError)
            and item is not hn.HannanError
        ):
            assert issubclass(item, ValueError | TypeError | ImportError)


def test_inputs_are_not_changed():
    table = np.array([[0, 1, 2], [2, 1, 0]])
    contexts = [0, 1, 2]
    kept = copy.deepcopy((table, contexts))
    learner = hn.ContextFTPL(hn.oracles.FinitePolicies(table), contexts=contexts, seed=0)
    losses = np.array([0.1, 0.2, 0.3])
    learner.act(0)
    learner.update(losses)
    assert losses.tolist() == [0.1, 0.2, 0.3]
    assert (table == kept[0]).all()
    assert contexts == kept[1]
