"""Every oracle, learner, environment, predictor, detector and column keeps its contract.

The cases are declared beside the tests of each class; see `tests.cases`. That each check can fail
is tested in `tests/checks`.
"""

import inspect
from types import SimpleNamespace

import pytest

import hannan as hn
from hannan.checks import (
    ENVIRONMENT_CHECKS,
    FAILURE_CHECKS,
    LEARNER_CHECKS,
    ORACLE_CHECKS,
    PARAMETER_CHECKS,
    check_average_regret_falls,
    check_environment,
    check_learner,
    check_oracle,
)
from hannan.checks.oracles import make_case
from hannan.core.storage import reread, storable
from tests.cases import Tried, declared, everything, subject
from tests.for_each import for_each
from tests.problems import FINITE, PLANTED

FAMILIES = {
    hn.Oracle: [hn.oracles],
    hn.Learner: [hn, hn.baselines],
    hn.Environment: [hn.environments],
    hn.Predictor: [hn.predictors],
    hn.detectors.Detector: [hn.detectors],
    hn.features.Column: [hn.features],
    hn.features.Features: [hn.features],
}
ORACLES = {
    name: Tried(*case) if isinstance(case, tuple) else Tried(case)
    for name, case in declared(hn.Oracle).items()
}
LEARNERS = declared(hn.Learner)
ENVIRONMENTS = declared(hn.Environment)
PREDICTORS = declared(hn.Predictor)


@pytest.mark.parametrize("name", ORACLES)
@for_each("check", ORACLE_CHECKS)
def test_oracle(name, check):
    check(make_case(*ORACLES[name]))


@pytest.mark.parametrize("name", LEARNERS)
@for_each("check", LEARNER_CHECKS)
def test_learner(name, check):
    learner, environment, _, horizon = LEARNERS[name]
    check(learner, environment, horizon)


@pytest.mark.parametrize("name", LEARNERS)
@for_each("check", FAILURE_CHECKS)
def test_a_failing_part_changes_nothing(name, check):
    learner, environment, *_ = LEARNERS[name]
    check(learner, environment, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in LEARNERS.items() if case.no_regret])
def test_average_regret_falls(name):
    learner, environment, *_ = LEARNERS[name]
    check_average_regret_falls(learner, environment, 100)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@for_each("check", ENVIRONMENT_CHECKS)
def test_environment(name, check):
    environment = ENVIRONMENTS[name]
    check(environment, environment.horizon or 100, (0.0, 1.0))


@pytest.mark.parametrize(
    "thing", [pytest.param(subject(case), id=name) for name, case in everything()]
)
@for_each("check", PARAMETER_CHECKS)
def test_parameters(thing, check):
    check(thing)


@for_each("name", LEARNERS)
def test_every_learner_here_can_be_saved(name):
    assert storable(LEARNERS[name].learner.clone())


@for_each("name", [name for name, each in PREDICTORS.items() if not each.takes_items])
def test_predictors_go_on_after_a_file_as_before(name):
    predictor = PREDICTORS[name].clone()
    predictor.prepare(3)
    for t in range(7):
        predictor.learn(t % 2, t % 3, 0.1 * t)
    twin = reread(predictor)
    for t in range(7):
        for one in (predictor, twin):
            one.learn(t % 2, (t + 1) % 3, 0.1 * t)
        assert twin.predict(t % 2).tolist() == predictor.predict(t % 2).tolist()


def without_cases(base, families):
    """The public classes made from `base` for which no case is declared."""
    tried = {type(subject(case)) for case in declared(base).values()}
    public = [getattr(family, name) for family in families for name in family.__all__]
    return [
        item.__name__
        for item in public
        if inspect.isclass(item)
        and issubclass(item, base)
        and not inspect.isabstract(item)
        and item not in tried
    ]


@pytest.mark.parametrize("base", FAMILIES, ids=lambda base: base.__name__)
def test_every_public_class_has_a_case(base):
    missing = without_cases(base, FAMILIES[base])
    assert not missing, f"add {missing} to CONTRACT in the module that tests it"


def test_a_class_without_a_case_is_noticed():
    class Another(hn.predictors.Mean):
        pass

    package = SimpleNamespace(Another=Another, Mean=hn.predictors.Mean, __all__=["Another", "Mean"])
    assert without_cases(hn.Predictor, [package]) == ["Another"]


def test_the_collected_checks_pass():
    check_oracle(FINITE)
    learner, environment, *_ = LEARNERS["UniformRandom"]
    check_learner(learner, environment, horizon=30, no_regret=False)
    check_environment(PLANTED, 50)
