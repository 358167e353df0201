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

    VW is given features of the context, an indicator for each action and the products of the two,
    so that each action has a linear model of its own. It answers with a distribution p over the
    actions; one
    is drawn from it here, and VW learns from (action, loss, p(action)). Where only some actions are
    available, VW is shown these alone.

    Parameters
    ----------
    n_actions
        K; None for described actions, of which VW is shown the features (and the id as one more).
    arguments
        Further options of VW, after ``--cb_explore_adf -q xa``: how to explore, as
        ``--squarecb``, ``--synthcover`` or ``--epsilon 0.05``; learning rates; anything else.
    seed
        Fixes the play, and VW's own random numbers where it draws any; None takes fresh entropy for
        the play.
    loss_range
        Range of the losses; VW is shown them scaled to [0, 1].

    Notes
    -----
    Arrays and lists are rows of features; anything else that can be hashed is a discrete context,
    one feature of its own. Copies and pickles carry VW's saved model, from which VW leaves
    something out with ``--bag``, ``--cover``, ``--rnd`` or ``--cb_type dr``.

    Guarantee
    ---------
    None against an adversary; for independent rounds, that of the exploration chosen.
    [foster2020]

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
        """VW's distribution over the actions, and the probability of the one that was drawn."""

        shares: FloatArray = np.empty(0)
        probability: float = 1.0

        stored = State(shares=Array(None, low=0.0), probability=Number(0.0, 1.0 + 1e-9))

        @property
        def inverse(self) -> FloatArray:
            """The inverse propensity of the action."""
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
        """The distribution of the action on a context, now."""
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
        # VW's own sums are rounded to single precision.
        return np.asarray(opened.shares / opened.shares.sum())

    @property
    def takes_items(self) -> bool:
        """Whether actions are those that a round offers."""
        return self.n_actions is None

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        if not self.takes_items:
            return row_or_name(context)
        if not isinstance(context, Menu):
            raise ContextError(
                "VowpalWabbit(None) needs the actions of the round: call act(x, actions=rows)."
            )
        return context.with_context(row_or_name(context.context))
