"""The action with the lowest predicted loss, and sometimes a random action."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit, GreedyRound, lowest, row_or_name
from hannan.core import Predictor
from hannan.core.learner import learner_rng
from hannan.core.predictor import adopt, check_guess
from hannan.core.rounds import IntArray
from hannan.core.state import Generator, Part, State, same
from hannan.core.validation import FloatArray, check_integer, check_probability, check_seed
from hannan.predictors import Mean, Ridge


class EpsilonGreedy(Bandit):
    r"""Play the action with the lowest predicted loss, or with probability ε a uniform one.

    The feedback is bandit feedback. In round t the action is

    .. math:: a_t = \arg\min_k \hat\ell_t(k) \quad\text{with probability } 1 - \varepsilon_t,
              \qquad \varepsilon_t = \varepsilon\, t^{-\delta},

    and otherwise uniform over all K actions. If some actions are unavailable, both choices are
    among the available ones. Ties go to the smallest action. The predictor learns from every round,
    in which ever way its action was chosen.

    Parameters
    ----------
    n_actions
        Number of actions K.
    predictor
        Predictor whose `estimate` is minimised; it learns from losses scaled to [0, 1]. Default
        None: `predictors.Ridge()` for contexts that are feature vectors (arrays, lists), and
        `predictors.Mean()` for discrete contexts (any hashable value, including None).
    epsilon
        Exploration probability ε in [0, 1]; with decay, its value in the first round. Default 0.05.
    decay
        Decay exponent δ in [0, 1]. Default 0: ε is constant. With ε = 1, 1/3 is a good value.
    seed, loss_range
        As in `Hedge`.

    Guarantee
    ---------
    There is no guarantee against an adversary, who can make the action with the lowest predicted
    loss expensive. Exploration costs at most :math:`\sum_t \varepsilon_t` more than greedy play,
    for losses in [0, 1]. [auer2002b]

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

    _scores_actions = True

    stored = State(_for_rows=Part(), _for_names=Part(), _rng=Generator())

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
        mine = Ridge() if predictor is None else predictor
        self._for_rows: Any = adopt(mine, n_actions=self.n_actions)
        self._for_names: Any = self._for_rows
        if predictor is None:
            self._for_names = adopt(Mean(), n_actions=self.n_actions)
        self._rng = learner_rng(seed)

    def _prepare(self, opened: GreedyRound) -> None:
        mine = self._predictor(opened.context)
        guess = getattr(mine, "estimate", mine.predict)(opened.context)
        estimates = check_guess(mine, guess, self.n_actions, (-math.inf, math.inf))
        opened.best = lowest(estimates, opened.available)

    def _act(self, opened: GreedyRound) -> None:
        choice = opened.best
        if self._rng.random() < self._exploring():
            some = self._some_or_all(opened)
            choice = int(some[self._rng.integers(len(some))])
        opened.play(choice)

    def _update(self, opened: GreedyRound, loss: Any) -> None:
        cost = self._scaled(loss)
        self._predictor(opened.context).learn(opened.context, opened.action, cost)

    def _action_distribution(self, opened: GreedyRound) -> FloatArray:
        distribution, some = np.zeros(self.n_actions), self._some_or_all(opened)
        exploring = self._exploring()
        distribution[some] = exploring / len(some)
        distribution[opened.best] += 1.0 - exploring
        return distribution

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return row_or_name(context)

    def _holds(self, context: Any) -> bool:
        return same(row_or_name(context), context)

    def _exploring(self) -> float:
        """Return ε of this round."""
        return float(self.epsilon * (self.rounds + 1) ** -self.decay)

    def _some_or_all(self, opened: GreedyRound) -> IntArray:
        some = opened.available
        return np.arange(self.n_actions) if some is None else some

    def _predictor(self, context: Any) -> Any:
        return self._for_rows if isinstance(context, np.ndarray) else self._for_names
