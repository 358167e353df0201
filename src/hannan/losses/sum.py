"""Several losses at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hannan.core import InputTypeError, LossError, LossFunction
from hannan.core.validation import refuse
from hannan.losses._set_loss import SetLoss, check_numbers
from hannan.losses._terms import Terms


class Sum(SetLoss):
    r"""The function :math:`f(A) = \sum_i s_i f_i(A)`, also written `f + g` and `0.5 * f`.

    Like terms are added up, so a sum of a thousand cut functions is one cut function.

    Parameters
    ----------
    parts
        Loss functions of the same number of elements.
    scales
        s ≥ 0, one for each; by default 1.

    Examples
    --------
    >>> import hannan as hn
    >>> rent = hn.losses.Coverage([[0], [0, 1], [1]])
    >>> f = 0.25 * rent + hn.losses.Linear([-0.25, -0.125, 0.0])
    >>> f([0, 1]), f([0]), f.extremes()
    (0.125, 0.0, (-0.375, 0.5))
    """

    def __init__(self, parts: Sequence[LossFunction], scales: Any = None) -> None:
        self.parts = list(parts)
        wrong = [part for part in self.parts if not isinstance(part, LossFunction)]
        if wrong or not self.parts:
            raise InputTypeError(
                f"Sum needs one or more loss functions; got {wrong[0] if wrong else parts!r}."
            )
        self.n_actions = self.parts[0].n_actions
        for part in self.parts:
            if part.n_actions != self.n_actions:
                raise LossError(
                    f"Functions of {self.n_actions} and of {part.n_actions} elements do not add."
                )
        self.scales = None if scales is None else check_numbers(self, "scales", scales)
        if self.scales is not None:
            if len(self.scales) != len(self.parts):
                raise refuse(self, "scales", f"{len(self.parts)} numbers, one a part", scales)
            if self.scales.min() < 0.0:
                raise refuse(self, "scales", "numbers >= 0: -f is not submodular", scales)
        self.terms = Terms(self.n_actions)
        for part, scale in self._pairs():
            self.terms.add(Terms.of(part), scale)

    def extremes(self) -> tuple[float, float]:
        bounds = [(part.extremes(), scale) for part, scale in self._pairs()]
        low = sum(scale * bound[0] for bound, scale in bounds)
        return low, sum(scale * bound[1] for bound, scale in bounds)

    def _pairs(self) -> list[tuple[LossFunction, float]]:
        scales = [1.0] * len(self.parts) if self.scales is None else self.scales.tolist()
        return list(zip(self.parts, scales, strict=True))
