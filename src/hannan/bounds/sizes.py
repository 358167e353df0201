"""Sizes that all results share: passed as keywords or read from an oracle, and checked once."""

import math
from numbers import Real
from typing import Any, Required, TypedDict

from hannan.bounds.laplace_complexity import (
    Complexity,
    complexity_bound,
    known_contexts,
    printed_complexity,
)
from hannan.core import Oracle, ParameterError
from hannan.core.arrays import Contexts
from hannan.core.validation import check_integer, check_loss_range, check_positive, refuse
from hannan.perturbation.laplace import mean_of_maximum

SETTINGS = ("transductive", "separator")
FORMS = ("printed", "sharp")
FEEDBACKS = ("full", "semi-bandit", "bandit")


class Sizes(TypedDict, total=False):
    """Keywords that describe a policy class to a bound; `sizes_of` reads them from an oracle.

    Attributes
    ----------
    d, n_actions, log_size, m, setting, antichain, complexity
        As in `complete_information`. Only the first two are required by all bounds.

    Examples
    --------
    >>> import hannan as hn
    >>> sizes: hn.bounds.Sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> round(hn.bounds.anytime(20_000, **sizes).value)
    2477
    """

    d: Required[int]
    n_actions: Required[int]
    log_size: float | None
    m: int
    setting: str
    antichain: bool
    complexity: Complexity | float | None


class SizesAndLosses(Sizes, total=False):
    """Keywords of `Sizes`, and keywords that describe the losses."""

    loss_bound: float
    loss_range: tuple[float, float] | None
    nonnegative: bool


def sizes_of(
    oracle: Oracle,
    contexts: Contexts | None = None,
    *,
    setting: str = "transductive",
    log_size: bool = True,
    complexity: Complexity | float | None = None,
) -> Sizes:
    """Return the sizes of a policy class on a context set, as keywords for the bounds.

    Parameters
    ----------
    oracle, contexts
        Policy class, and set X of perturbed contexts. Default: the contexts of the oracle.
    setting
        "transductive", or "separator" if X is a separator.
    log_size
        Whether to ask the oracle for log N. If log N and `complexity` are both known, bounds use
        the one that gives less.
    complexity
        G if it is known, such as `laplace_complexity(oracle, contexts)`. It is returned unchanged.

    Examples
    --------
    >>> import hannan as hn
    >>> sizes = hn.bounds.sizes_of(hn.oracles.Subsets(5, 2))
    >>> sizes["d"], sizes["n_actions"], sizes["m"], round(sizes["log_size"], 2)
    (1, 5, 2, 2.3)
    >>> round(hn.bounds.complete_information(1000, form="sharp", **sizes).value)
    200
    """
    known = known_contexts("sizes_of", oracle, contexts)
    if not known:
        raise refuse("sizes_of", "contexts", "at least one context", contexts)
    if oracle.n_actions is None:
        raise ParameterError(
            f"sizes_of: {type(oracle).__name__} does not know its number of actions; pass "
            "n_actions= to it."
        )
    sizes: Sizes = {
        "d": len(known),
        "n_actions": max(oracle.n_actions, oracle.max_chosen),
        "m": oracle.max_chosen,
        "setting": check_setting("sizes_of", setting),
        "antichain": oracle.antichain,
    }
    if log_size:
        sizes["log_size"] = oracle.log_size(known)
    if complexity is not None:
        sizes["complexity"] = complexity
    return sizes


class Checked:
    """Checked sizes under the paper's letters, and values derived from them.

    A bound with its own parameters for some of the `losses` passes them separately; other bounds
    take them among the sizes.
    """

    def __init__(self, owner: str, given: Sizes, **losses: Any) -> None:
        _check_names(owner, given, Sizes if losses else SizesAndLosses)
        known: dict[str, Any] = {**given, **losses}
        self.owner = owner
        self.setting = check_setting(owner, known.get("setting", "transductive"))
        self.d = check_integer(owner, "d", known["d"], 1)
        self.K = check_integer(owner, "n_actions", known["n_actions"], 1)
        self.m = check_integer(owner, "m", known.get("m", 1), 1)
        if self.m > self.K:
            raise refuse(owner, "m", f"an integer from 1 to n_actions={self.K}", self.m)
        self.antichain = bool(known.get("antichain", True))
        log_size, G = known.get("log_size"), known.get("complexity")
        if log_size is None and G is None:
            raise refuse(owner, "log_size", "log N, or complexity= must be given", log_size)
        self.complexity: float | None = None
        if G is not None:
            value = G.upper if isinstance(G, Complexity) else G
            self.complexity = check_positive(owner, "complexity", value)
        self.log_size = None if log_size is None else check_log_size(owner, log_size)
        self.nonnegative = known.get("nonnegative", True)
        if known.get("loss_range") is not None:
            self.low, self.high = check_loss_range(owner, known["loss_range"])
        else:
            self.high = check_positive(owner, "loss_bound", known.get("loss_bound", 1.0))
            self.low = 0.0 if self.nonnegative else -self.high

    @property
    def G(self) -> float:
        """Smallest known upper bound on the Laplace complexity."""
        known = [] if self.complexity is None else [self.complexity]
        if self.log_size is not None:
            known.append(complexity_bound(self.log_size, self.d, self.m, self.K, self.antichain))
        return min(known)

    def kappa(self, form: str = "sharp") -> float:
        """Return κ of the shift lemma, or the factor of the printed stability lemmas."""
        if form == "printed" and self.setting == "separator":
            return 4.0 * self.K * self.d
        if form == "printed":
            return 1.0 if self.nonnegative else 4.0 * self.K
        return kappa(
            setting=self.setting,
            d=self.d,
            n_actions=self.K,
            m=self.m,
            nonnegative=self.nonnegative,
            antichain=self.antichain,
        )

    def out_of_order_factor(self) -> float:
        """Return C of the scale lemma."""
        return out_of_order_factor(self.d, self.K, self.m)

    def error(self, form: str) -> float:
        r"""Return the cost of noise times ε: G, or :math:`10\sqrt{dm}\log N` as printed."""
        if form == "sharp":
            return self.G
        if self.log_size is None:
            raise refuse(self.owner, "log_size", "log N for form='printed'", None)
        return printed_complexity(self.log_size, self.d, self.m)

    def instability(self, form: str) -> float:
        """Return the largest instability cost of a round, divided by ε."""
        norm, spread = self.check_losses()
        return self.kappa(form) * (norm if form == "printed" else spread) ** 2

    def check_losses(self) -> tuple[float, float]:
        r"""Check the losses; return :math:`\max_a |f(a)|` and the spread of an action's loss.

        The spread is the v of κ: it bounds :math:`\max f - \min f`, and for non-negative losses
        of several elements the loss itself.
        """
        low, high, m = self.low, self.high, self.m
        if self.nonnegative and low < 0.0 and self.setting == "transductive":
            raise ParameterError(
                f"{self.owner}: this claim needs losses that are never negative; got "
                f"loss_range={(low, high)}. Use the claim for any losses with nonnegative=False; "
                "or add a constant to each loss, if all actions choose equally many elements."
            )
        spread = high - low if m == 1 else m * (max(high, 0.0) - min(low, 0.0))
        return m * max(abs(low), abs(high)), spread

    def check_semi_bandit_losses(self) -> float:
        """Return the largest loss of an element, counted from the lowest if that is negative."""
        return self.high - min(self.low, 0.0)


def _check_names(owner: str, given: Sizes, takes: type[Sizes]) -> None:
    """Raise `TypeError` for unknown and missing keywords, as Python does for parameters."""
    names = ", ".join(takes.__annotations__)
    for name in given:
        if name not in takes.__annotations__:
            said = f"{owner}() got an unexpected keyword argument {name!r}"
            raise TypeError(f"{said}; the sizes it takes are {names}")
    for name in sorted(Sizes.__required_keys__ - given.keys()):
        raise TypeError(f"{owner}() missing 1 required keyword-only argument: {name!r}")


def check_setting(owner: str, setting: str) -> str:
    """Check that the setting is one of the two settings that have a bound."""
    if setting in SETTINGS:
        return setting
    accepted = "one of " + ", ".join(map(repr, SETTINGS))
    raise ParameterError(
        f"{refuse(owner, 'setting', accepted, setting)} If contexts are neither known in "
        "advance nor separated by a known set, no learner has sublinear regret even against "
        "thresholds on a line (Theorem 7): see bounds.non_transductive."
    )


def check_log_size(owner: str, log_size: Any) -> float:
    """Check that log N is a number for at least two policies, as the theorems require."""
    if isinstance(log_size, bool) or not isinstance(log_size, Real) or float(log_size) == math.inf:
        raise refuse(owner, "log_size", "a finite number, log N", log_size)
    if not float(log_size) >= math.log(2) - 1e-12:
        raise ParameterError(
            f"{owner} needs N >= 2 distinct policies on the context set; got log_size = log N = "
            f"{float(log_size):g}. With one policy there is nothing to learn."
        )
    return float(log_size)


def check_second_moment(owner: str, value: Any) -> float:
    """Check c: 1 for exact weights, 2 for one success; more if not only the leader chooses."""
    known = isinstance(value, Real) and not isinstance(value, bool)
    if not known or not 1.0 <= float(value) < math.inf:
        accepted = "a number: 1 for exact weights, 2 for one success, more with exploration"
        raise refuse(owner, "second_moment", accepted, value)
    return float(value)


def kappa(
    *,
    setting: str = "transductive",
    d: int = 1,
    n_actions: int | None = None,
    m: int = 1,
    nonnegative: bool = True,
    antichain: bool = True,
) -> float:
    r"""Return κ of the shift lemma: in a round with loss v instability costs at most εκv².

    Assume that a shift of the noise by a vector of 1-norm at most κv keeps a policy with loss v in
    front of every other policy after the round. Then the density of Laplace noise gives
    :math:`p_{t+1}(\pi) \ge e^{-\epsilon\kappa v} p_t(\pi)`. With :math:`\kappa_A = m` where no
    action contains another and :math:`\kappa_A = K` otherwise,

    - transductive, linear and non-negative losses: κ = 1, v the loss itself (single actions: the
      loss less the smallest one);
    - transductive, any losses: :math:`\kappa = \kappa_A`, v the loss less the smallest one;
    - separator, any losses: :math:`\kappa = d \kappa_A`, v as before.

    Parameters
    ----------
    setting, d, n_actions, m, nonnegative, antichain
        As in `complete_information`; `n_actions` is needed only if `antichain` is False.

    Examples
    --------
    >>> kappa(m=3), kappa(m=3, nonnegative=False), kappa(m=3, setting="separator", d=10)
    (1.0, 3.0, 30.0)
    """
    check_setting("kappa", setting)
    d = check_integer("kappa", "d", d, 1)
    m = check_integer("kappa", "m", m, 1)
    if setting == "transductive" and nonnegative:
        return 1.0
    chosen = m if antichain else check_integer("kappa", "n_actions", n_actions, 1)
    return float(chosen if setting == "transductive" else chosen * d)


def out_of_order_factor(d: int, n_actions: int, m: int = 1) -> float:
    r"""Return C of the scale lemma: factor of the regret due to growing noise between two moments.

    If the same noise is multiplied by σ instead of s < σ, a leading policy loses its lead with
    probability at most :math:`C (1 - s/\sigma)`. Single actions:
    :math:`C = d (1 - 1/K + \gamma_K)`, :math:`\gamma_K` the mean of the largest of K unit Laplace
    variables; sets: :math:`C = dK`. It matters for feedback out of order: for a round whose loss
    arrives after that of a later decision with more noise.

    Parameters
    ----------
    d, n_actions, m
        As in `complete_information`.

    Examples
    --------
    >>> out_of_order_factor(1, 2), out_of_order_factor(3, 4, m=2)
    (1.25, 12.0)
    """
    d = check_integer("out_of_order_factor", "d", d, 1)
    K = check_integer("out_of_order_factor", "n_actions", n_actions, 1)
    if check_integer("out_of_order_factor", "m", m, 1) > 1:
        return float(d * K)
    return d * min(K, 1.0 - 1.0 / K + mean_of_maximum(K))


def non_transductive(horizon: int) -> float:
    r"""Return T/2, the regret an adversary can force on *every* learner of thresholds on [0, 1].

    Theorem 7. Thresholds have Vapnik–Chervonenkis dimension one. If contexts are not known in
    advance, an adversary who knows the learner's probabilities presents a point between the labels
    so far. It gives the point the label that the learner finds less likely. So the learner makes
    half an error per round, on points that some threshold labels correctly. This is a *lower*
    bound, in expectation.

    Parameters
    ----------
    horizon
        T.

    Examples
    --------
    >>> non_transductive(1000)
    500.0
    """
    return 0.5 * check_integer("non_transductive", "horizon", horizon, 1)
