"""Estimators of scikit-learn that a file may describe without trust.

The list names estimators and their allowed parameters: numbers, words, and small collections of
both. The list excludes caches on disk (`memory=`, read by executing their content) and functions
that the caller does not trust. It also excludes estimators that later set parameters of another
estimator, such as a search.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

import numpy as np

from hannan.core.errors import StorageError, UntrustedError
from hannan.core.storage.names import name_of

_LISTED = {
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": "ExtraTreesClassifier ExtraTreesRegressor GradientBoostingClassifier "
    "GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor "
    "RandomForestClassifier RandomForestRegressor",
    "sklearn.kernel_approximation": "Nystroem RBFSampler",
    "sklearn.linear_model": "BayesianRidge ElasticNet HuberRegressor Lasso LinearRegression "
    "LogisticRegression Perceptron PoissonRegressor Ridge RidgeClassifier SGDClassifier "
    "SGDRegressor",
    "sklearn.naive_bayes": "BernoulliNB GaussianNB MultinomialNB",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "FunctionTransformer KBinsDiscretizer MaxAbsScaler MinMaxScaler "
    "Normalizer PolynomialFeatures QuantileTransformer RobustScaler SplineTransformer "
    "StandardScaler",
    "sklearn.svm": "LinearSVC LinearSVR SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
    "ExtraTreeRegressor",
}
_MOST = {
    "random_state": 2**32,
    "n_estimators": 1000,
    "n_components": 1000,
    "n_jobs": 64,
    "degree": 5,
    "n_knots": 100,
}
_USUAL = 10**5  # maximum of all other integers, such as max_iter
_LONGEST = 1000  # maximum length of texts and collections
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)  # trusted by now


def listed(name: Any) -> bool:
    """Return whether this is an estimator on the list; import nothing."""
    return _home(name) is not None


def rebuilt(name: str, /, **params: Any) -> Any:
    """Return a listed estimator with these parameters."""
    home, short = _home(name), name.partition(":")[2]
    assert home is not None
    for key, value in params.items():
        steps = short == "Pipeline" and key == "steps"
        if not (_are_steps(value) if steps else _is_plain(value, _MOST.get(key, _USUAL))):
            raise UntrustedError(
                f"The file describes a {short} with {key}={value!r:.100}. Without trust, "
                "parameters must be moderate numbers, words or small collections of both. If you "
                "trust the file, pass trusted=['sklearn']."
            )
    return getattr(importlib.import_module(home), short)(**params)


def refuse_memory(path: str, params: dict[str, Any]) -> None:
    """Raise an error for an estimator with a cache on disk, even if it is trusted."""
    if params.get("memory") is not None:
        raise StorageError(
            f"{path} holds a pipeline with memory=, a cache on disk that is read by executing its "
            "content. Save a pipeline without memory=."
        )


def _home(name: Any) -> str | None:
    """Return the public module of a listed estimator; files name the private one."""
    if not isinstance(name, str):
        return None
    module, _, short = name.partition(":")
    for home, names in _LISTED.items():
        if short in names.split() and f"{module}.".startswith(f"{home}."):
            return home
    return None


def _are_steps(value: Any) -> bool:
    """Return whether these are pipeline steps: listed estimators, which are checked already."""
    return type(value) is list and all(
        type(step) is tuple
        and len(step) == 2
        and type(step[0]) is str
        and (step[1] in (None, "passthrough") or listed(name_of(type(step[1]))))
        for step in value
    )


def _is_plain(value: Any, most: int, depth: int = 2) -> bool:
    if value is None or type(value) in (bool, float, *_FUNCTIONS):
        return True
    if type(value) is int:
        return -most <= value <= most
    if type(value) is str:
        return len(value) <= _LONGEST
    if type(value) is dict:
        value = [*value.keys(), *value.values()]
    collection = type(value) in (list, tuple) and depth > 0 and len(value) <= _LONGEST
    return collection and all(_is_plain(each, most, depth - 1) for each in value)
