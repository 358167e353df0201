r"""Anytime-valid bounds on sums of losses: the sums of a `Watch`, and its bounds from them.

Losses lie in [0, 1]. A round has a ratio v, which is known only with its feedback: π(a) times an
inverse propensity. The ratio is at least 0, and on average at most π(a)/q(a). Let f be the loss, or
1 minus the loss. Each column has a rate λ, θ (1 for regret, 0 for losses) and a prediction g, and

.. math:: \exp\Big(\sum_s \lambda (x_s - \tau_s) - \psi(\lambda) (x_s - g)^2\Big), \qquad
          x = f \cdot (\min(v, 1/\lambda) - \theta), \quad
          \tau = f(\pi) - \theta \langle q, f \rangle, \quad
          \psi(\lambda) = -\log(1-\lambda) - \lambda,

is a supermartingale in the order of decisions: docs/explanation/paper-sharper.md, 3.13.
`kernels.watch` adds up the terms :math:`\psi (x-g)^2 - \lambda x` of rounds with feedback.
`RESERVES` are the largest terms of rounds without feedback. `lowest` is the lower bound on
:math:`\sum_s \tau_s` that follows from Ville's inequality.

If q is known for all actions, and a loss V was predicted for each of them before the draw, most of
the weight goes to centred columns, with

.. math:: z = (v - \theta)(f - V(a)), \quad m = V(\pi) - \theta \langle q, V \rangle, \quad
          \exp\big(\lambda (z + m - \tau) - \psi_B(\lambda) z^2\big), \quad
          \psi_B(\lambda) = (-\log(1 - \lambda B) - \lambda B) / B^2,

where -B is the smallest possible z. A good prediction leaves little variance. If λB is 0.9 or more,
or without predictions, a centred column is the column above with g = 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray
from hannan.kernels import watch as kernel

_RATES = np.array([0.9, *2.0 ** -np.arange(1.0, 14.0)])
_GROUPS = (  # θ, g, whether it is centred, and its share of the prior
    (1.0, 0.0, 0.0, 0.2),
    (1.0, 0.0, 1.0, 0.8),
    (0.0, 0.0, 0.0, 0.2),
    (0.0, 0.0, 1.0, 0.4),
    (0.0, 0.5, 0.0, 0.2),
    (0.0, 1.0, 0.0, 0.2),
)  # g predicts a mean loss

RATE: FloatArray = np.tile(_RATES, len(_GROUPS))
PSI: FloatArray = -np.log1p(-RATE) - RATE
THETA, GUESS, CENTRED, _SHARE = np.repeat(np.array(_GROUPS).T, len(_RATES), axis=1)

REGRET, LOSS = (0, 2 * len(_RATES)), (2 * len(_RATES), len(RATE))
"""First and last column (exclusive) of the bounds on regret, and of those on a policy's loss."""

COLUMNS: FloatArray = np.array([RATE, PSI, THETA, GUESS, 1.0 / RATE, CENTRED])
"""The columns in the format of `kernels.watch`."""

_LOG_PRIOR = np.log(_SHARE / len(_RATES))
_STEPS = 3  # of Newton's method: each gives a bound, and the third one's is exact to 1e-8

NEVER, SURELY, AS_PLAYED, IN_PART = range(4)
"""A policy's probability of the played action: π(a) is 0; π(a) is 1; the policy copies the played
action (v is 1); or any other case. Before the feedback, nothing else is known of v."""


def _reserves() -> FloatArray:
    """Return the largest term for each kind of round and column; terms are convex in f and v."""
    found = []
    for low, high in ((0.0, 0.0), (1.0, 1.0 / RATE), (1.0, 1.0), (0.0, 1.0 / RATE)):
        ends = [np.broadcast_to(end, RATE.shape) - THETA for end in (low, high)]
        largest = [PSI * (x - GUESS) ** 2 - RATE * x for x in ends]
        found.append(np.maximum.reduce([*largest, PSI * GUESS**2]))
    return np.array(found)


RESERVES: FloatArray = _reserves()
"""[4, columns]: the largest term of a round without feedback, for either f."""

LEAST: FloatArray = np.where(CENTRED > 0.0, -0.5 - RATE, -RATE * GUESS - RATE**2 / (4.0 * PSI))
MOST: FloatArray = np.maximum(RESERVES[IN_PART], np.where(CENTRED > 0.0, np.log(10.0) + RATE, 0.0))
"""The smallest and the largest term of any round."""


def lowest(
    sums: FloatArray, kinds: NDArray[np.int64], columns: tuple[int, int], log_odds: float
) -> FloatArray:
    r"""Return lower bounds on :math:`\sum_s \tau_s`, [policies, 2], for given sums.

    `kinds` counts the rounds without feedback. The mixture of the supermartingales over a prior is
    a supermartingale, too. It stays below :math:`1/\alpha` forever with probability
    :math:`1 - \alpha`; `log_odds` is :math:`\log(1/\alpha)`.
    """
    found = np.empty(sums.shape[:2])
    kernel.lowest(sums, kinds, RESERVES, RATE, _LOG_PRIOR, *columns, log_odds, _STEPS, found)
    return found
