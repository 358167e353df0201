"""Vowpal Wabbit's contextual bandits."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit, row_or_name
from hannan.baselines._vowpal_model import VowpalModel
from hannan.core import ContextError, Menu, OpenRound
from hannan.core.learner import learner_rng
from hannan.core.state import Array, Generator, Number, Part, State
from hannan.core.validation import FloatArray, check_integer, check_seed


class VowpalWabbit(Bandit):
    r"""Vowpal Wabbit (`pip install 'hannan[vw]'`) with bandit feedback.

    VW gets the features of the context, an indicator for each action, and the products of the two,
    so that each action has a separate linear model. VW returns a distribution p over the actions.
    The learner samples an action from p, and VW learns from (action, loss, p(action)). If some
    actions are unavailable, VW gets only the available ones.

    Parameters
    ----------
    n_actions
        Number of actions K. None for actions with features: VW gets the features (and the id as one
        more).
    arguments
        Further options of VW, after ``--cb_explore_adf -q xa``, for exploration (such as
        ``--squarecb``, the default, ``--synthcover`` or ``--epsilon 0.05``) and for learning.
        Options that read or write files or open ports raise `ParameterError`.
    seed
        Seed of the sampled actions, and of VW's random numbers if VW uses any. None (default) uses
        fresh entropy for the sampled actions.
    loss_range
        Range (low, high) of the losses, (0, 1) by default. VW learns from losses scaled to [0, 1].

    Notes
    -----
    Arrays and lists are feature vectors; any other hashable value is a discrete context with a
    separate feature. Copies and pickles contain VW's saved model. With ``--bag``, ``--cover``,
    ``--rnd`` or ``--cb_type dr``, this model is incomplete, because VW does not save everything.

    Guarantee
    ---------
    There is no guarantee against an adversary. For independent rounds, the guarantee is that of the
    chosen exploration method.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.VowpalWabbit(2, "--epsilon 0.1", seed=0)
    >>> for x in ["sun", "rain"] * 100:
    ...     action = learner.act(x)
    ...     learner.update(float(action != (x == "rain")))
    >>> learner.probabilities("rain").round(2)
    array([0.05, 0.95])

    References
    ----------
    [bietti2021], [foster2020]
    """

    _scores_actions = True
    _trusted_package = "vowpalwabbit"

    stored = State(_model=Part(), _rng=Generator())

    class Round(OpenRound):
        """A round with VW's action distribution, and the probability of the sampled action."""

        shares: FloatArray = np.empty(0)
        probability: float = 1.0

        stored = State(shares=Array(None, low=0.0), probability=Number(0.0, 1.0 + 1e-9))

        @property
        def inverse(self) -> FloatArray:
            """Inverse propensity of the action."""
            return np.array([1.0 / self.probability])

    def __init__(
        self,
        n_actions: int | None,
        arguments: str = "--squarecb",
        *,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        known = n_actions is not None
        self.n_actions = check_integer(self, "n_actions", n_actions, 1) if known else None
        self.arguments = arguments
        self.seed = check_seed(self, seed)
        self._rng = learner_rng(seed)
        self._model = VowpalModel(self.n_actions, arguments, self.seed, self)

    def probabilities(self, context: Any = None, available: Any = None) -> FloatArray:
        """Return the current action distribution in a context."""
        return self.prepare(context, available).shares  # type: ignore[no-any-return]

    def _prepare(self, opened: Round) -> None:
        opened.shares = self._model.distribution(opened)

    def _act(self, opened: Round) -> None:
        ends = opened.shares.cumsum()
        place = int(ends.searchsorted(self._rng.random() * ends[-1], side="right"))
        choice = min(place, int(opened.shares.nonzero()[0][-1]))
        opened.play(choice)
        opened.probability = float(opened.shares[choice])

    def _update(self, opened: Round, loss: Any) -> None:
        self._model.learn(opened, self._scaled(loss), opened.probability)

    def _action_distribution(self, opened: Round) -> FloatArray:
        # VW's sums are rounded to single precision.
        return np.asarray(opened.shares / opened.shares.sum())

    @property
    def takes_items(self) -> bool:
        """Whether each round offers its actions."""
        return self.n_actions is None

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        if not self.takes_items:
            return row_or_name(context)
        if not isinstance(context, Menu):
            raise ContextError(
                "VowpalWabbit(None) needs the actions of the round. Call act(x, actions=rows)."
            )
        return context.with_context(row_or_name(context.context))
