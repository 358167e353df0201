"""Theorem 5: regret with predictors, full information."""

from typing import Any

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.complete_information import printed_kappa
from hannan.bounds.sizes import FORMS, check_sizes, check_total
from hannan.core.validation import check_choice


def predictable(
    errors: float,
    *,
    d: int,
    n_actions: int,
    log_size: float | None = None,
    m: int = 1,
    setting: str = "transductive",
    antichain: bool = True,
    complexity: Any = None,
    squared_ranges: float | None = None,
    epsilon: float | None = None,
    form: str = "printed",
) -> Bound:
    r"""Regret in terms of how wrong the predictions were.

    Printed: :math:`4\epsilon K S + \frac{10}\epsilon\sqrt{dm}\log N` with
    :math:`S = \sum_t E\|f_t - Q_t\|_*^2`; separator: 4εKdS in place of the first term. Sharp:
    :math:`\epsilon \kappa \sum_t \mathrm{range}(f_t - Q_t)^2 + G/\epsilon`, without any K for
    single actions.

    Parameters
    ----------
    errors
        S. With perfect predictions, S = 0, nothing is paid at ε = ∞: without noise.
    d, n_actions, log_size, m, setting, antichain, complexity, epsilon, form
        As in `complete_information`.
    squared_ranges
        :math:`\sum_t E(\max_a (f_t-Q_t)(a) - \min_a (f_t-Q_t)(a))^2`, where known, for the sharp
        form; it is 4S at most.

    Examples
    --------
    >>> import math
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> [round(predictable(100.0, form=form, **sizes).value) for form in ("printed", "sharp")]
    [1977, 248]

    References
    ----------
    [syrgkanis2016]
    """
    check_choice("predictable", "form", form, FORMS)
    S = check_total("predictable", "errors", errors)
    sizes = check_sizes(
        "predictable",
        d=d,
        n_actions=n_actions,
        log_size=log_size,
        m=m,
        setting=setting,
        antichain=antichain,
        complexity=complexity,
    )
    V = 4.0 * S
    if squared_ranges is not None:
        V = min(V, check_total("predictable", "squared_ranges", squared_ranges))
    if form == "printed":
        slope, error = printed_kappa(sizes, nonnegative=False) * S, sizes.C
    else:
        slope, error = sizes.kappa(nonnegative=False) * V, sizes.G
    return tuned("predictable", epsilon, slope, error)
