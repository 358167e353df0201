"""How far noise must be shifted to make up for a round."""

from hannan.core.errors import ParameterError
from hannan.core.validation import check_integer, refuse

SETTINGS = ("transductive", "separator")


def kappa(
    *,
    setting: str = "transductive",
    d: int = 1,
    n_actions: int | None = None,
    m: int = 1,
    nonnegative: bool = True,
    antichain: bool = True,
) -> float:
    r"""κ of the shift lemma: in a round with loss v instability costs at most εκv².

    If noise can be shifted by a vector of 1-norm at most κv so that a policy with loss v stays in
    front of every other one after the round, then the density of Laplace noise gives
    :math:`p_{t+1}(\pi) \ge e^{-\epsilon\kappa v} p_t(\pi)`. With :math:`\kappa_A = m` where no
    action contains another and :math:`\kappa_A = K` else,

    - transductive, linear and non-negative losses: κ = 1, v the loss itself (single actions: the
      loss less the smallest one);
    - transductive, any losses: :math:`\kappa = \kappa_A`, v the loss less the smallest one;
    - separator, any losses: :math:`\kappa = d \kappa_A`, v as before.

    Parameters
    ----------
    setting
        "transductive" or "separator".
    d
        Number of perturbed contexts.
    n_actions
        K; asked for where `antichain` is False.
    m
        Elements chosen at most.
    nonnegative
        Whether losses are linear and never negative.
    antichain
        Whether no action contains another one: experts, m-sets, paths, bases.

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


def check_setting(owner: str, setting: str) -> str:
    """One of the two settings in which there is a bound at all."""
    if setting in SETTINGS:
        return setting
    accepted = "one of " + ", ".join(map(repr, SETTINGS))
    raise ParameterError(
        f"{refuse(owner, 'setting', accepted, setting)} Where contexts are neither known in "
        "advance nor separated by a known set, no learner has sublinear regret even against "
        "thresholds on a line (Theorem 7): see bounds.non_transductive."
    )
