"""Predictors of the next losses, for learners that take `predictor=`."""

from hannan.predictors.blend import Blend
from hannan.predictors.element_means import ElementMeans
from hannan.predictors.element_ridge import ElementRidge
from hannan.predictors.exponential_mean import ExponentialMean
from hannan.predictors.first_guess import FirstGuess
from hannan.predictors.fourier_ridge import FourierRidge
from hannan.predictors.hybrid import Hybrid
from hannan.predictors.last import Last
from hannan.predictors.mean import Mean
from hannan.predictors.ridge import Ridge
from hannan.predictors.scaled import Scaled

__all__ = [
    "Blend",
    "ElementMeans",
    "ElementRidge",
    "ExponentialMean",
    "FirstGuess",
    "FourierRidge",
    "Hybrid",
    "Last",
    "Mean",
    "Ridge",
    "Scaled",
]
