"""The best-looking action, and now and then any other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit, row_or_name
from hannan.baselines._known_law import KnownLaw
from hannan.core import Action, LateLearner, Predictor
from hannan.core.available import IntArray
from hannan.core.learner import own_coins
from hannan.core.predictor import adopt, check_guess
from hannan.core.validation import FloatArray, check_integer, check_probability, check_seed
from hannan.predictors import Mean, Ridge

_ANY = (-math.inf, math.inf)


class EpsilonGreedy(KnownLaw, Bandit, LateLearner):
    r"""Play what a predictor thinks cheapest, with probability ε a uniform action; bandit feedback.

    In round t the action is

    .. math:: a_t = \arg\min_k \hat\ell_t(k) \quad\text{with probability } 1 - \varepsilon_t,
              \qquad \varepsilon_t = \varepsilon\, t^{-\delta},

    else uniform over all K, or both among those that are there. Ties go to the smallest action.
    The predictor learns from every round, whichever way its action was chosen.

    Parameters
    ----------
    n_actions
        K.
    predictor
        Whose `estimate` is minimised; it is shown losses scaled to [0, 1]. None is
        `predictors.Ridge()` for contexts that are rows of features (arrays, lists), and
        `predictors.Mean()` for discrete ones (anything hashable, None too).
    epsilon
        ε, the probability of exploring; in the first round, if it decays.
    decay
        δ, from 0 (ε stays) to 1; 1/3 goes well with ε = 1.
    seed
        Fixes the play; None takes fresh entropy.
    loss_range
        Range of the losses.

    Guarantee
    ---------
    None against an adversary, who sees what looks cheapest and makes it dear. Exploring costs at
    most :math:`\sum_t \varepsilon_t` more than playing greedily, losses in [0, 1]. [auer2002b]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.EpsilonGreedy(2, seed=0)
    >>> for x in [0.0, 1.0] * 50:
    ...     action = learner.act([x])
    ...     learner.update(float(action != x))
    >>> learner.act([0.0]), learner.act([1.0])
    (0, 1)

    References
    ----------
    [auer2002b]
    """

    def __init__(
        self,
        n_actions: int,
        predictor: Predictor | None = None,
        *,
        epsilon: float = 0.05,
        decay: float = 0.0,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        self.n_actions = check_integer(self, "n_actions", n_actions, 1)
        self.predictor = predictor
        self.epsilon = check_probability(self, "epsilon", epsilon)
        self.decay = check_probability(self, "decay", decay)
        self.seed = check_seed(self, seed)
        self._for_rows: Any = Ridge() if predictor is None else adopt(predictor)
        self._for_names: Any = Mean() if predictor is None else self._for_rows
        for mine in (self._for_rows, self._for_names):
            if hasattr(mine, "prepare"):
                mine.prepare(self.n_actions)
        self._rng = own_coins(seed)

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        return row_or_name(context)

    def _act(self, context: Any) -> Action:
        return self._drawn(self._estimate(context))

    @property
    def _ordered(self) -> bool:
        return True

    def _act_among(self, context: Any, available: IntArray) -> int:
        return int(available[self._drawn(self._estimate(context)[available])])

    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        there = np.arange(self.n_actions) if available is None else available
        law, exploring = np.zeros(self.n_actions), self._exploring()
        law[there] = exploring / len(there)
        law[there[self._estimate(context)[there].argmin()]] += 1.0 - exploring
        return law

    def _exploring(self) -> float:
        """ε of this round."""
        found: float = self.epsilon * (self.rounds + 1) ** -self.decay
        return found

    def _estimate(self, context: Any) -> FloatArray:
        mine = self._predictor(context)
        guess = getattr(mine, "estimate", mine.predict)(context)
        return check_guess(mine, guess, self.n_actions, _ANY)

    def _drawn(self, estimates: FloatArray) -> int:
        """The place of the smallest, or now and then any."""
        greedy = int(estimates.argmin())
        if self._rng.random() < self._exploring():
            return int(self._rng.integers(len(estimates)))
        return greedy

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        self._predictor(context).learn(context, action, self._scaled(loss))

    def _predictor(self, context: Any) -> Any:
        return self._for_rows if isinstance(context, np.ndarray) else self._for_names
