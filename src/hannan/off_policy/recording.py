"""Logs of our own decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Learner
from hannan.core.state import ListOf, Number, Object, State
from hannan.off_policy.beside import Beside, cost
from hannan.off_policy.log import Log


class Recorder(Beside):
    r"""Plays as a learner does and keeps a `Log` that others can evaluate policies with.

    Before each decision the learner's `propensities` are asked for, which changes nothing of the
    play. Where the learner knows q, it is written down as it is. Where q can only be sampled, the
    share :math:`\bar q` of an action in m draws is counted together with the action that was
    played: :math:`\hat q = (1 + m \bar q)/(1 + m)` has

    .. math:: E\Big[\frac{1}{\hat q(a)} \,\Big|\, a\Big]
              = \frac{1 - (1 - q(a))^{m+1}}{q(a)},

    which is 1/q but for actions rarer than one in m. The weights of `decide`, which are drawn by
    geometric resampling, are logged too, for `evaluate(..., inverse="weights")`; in a game played
    by `act` there are none.

    Parameters
    ----------
    learner
        What plays, from the state it is in: one action a round. Decisions that it made before are
        answered by itself.
    draws
        m, for learners that do not know their law.

    Guarantee
    ---------
    That of the learner.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> recorder = hn.off_policy.Recorder(learner)
    >>> for t in range(200):
    ...     decision = recorder.decide(t % 2)
    ...     recorder.update(0.1 if decision.action == 2 else 0.9, decision=decision)
    >>> recorder.log()
    <Log: 200 rounds, 3 actions, mean loss 0.18, propensities from 0.003494>
    >>> found = hn.off_policy.evaluate(recorder.log(), learner.best_policy(), "snips")
    >>> round(found.value, 6)
    0.1

    References
    ----------
    [neu2016]
    """

    stored = State(
        _answered=ListOf(Object(Beside.Round).where(lambda self, each: self._could_have(each))),
    )

    class Round(Beside.Round):
        """A round of the learner, and what the log says of it."""

        weight: float | None = None
        loss: float = np.nan

        stored = State(weight=Number(low=0.0) | None, loss=Number())

    def _could_have(self, opened: Any) -> bool:
        """Whether a round can be among those with feedback."""
        return type(opened) is self.Round and opened.inner is None and np.isfinite(opened.loss)

    def __init__(self, learner: Learner, draws: int = 1000) -> None:
        super().__init__(learner, draws)
        self._answered: list[Recorder.Round] = []

    def log(self) -> Log:
        """The rounds answered so far, in the order of their decisions.

        Decisions that still wait for their loss, or were forgotten, are left out: unless that has
        to do with the losses, the others are as good as all.
        """
        kept = sorted(self._answered, key=lambda opened: opened.place)
        weights = [opened.weight for opened in kept]
        found = [opened.known.given(int(opened.action)) for opened in kept]
        K = self._K or max((len(opened.context) for opened in kept), default=1)
        table = np.zeros((len(kept), K))
        for row, law in zip(table, found, strict=True):
            row[: len(law)] = law
        actions = np.array([opened.action for opened in kept], dtype=np.intp)
        draws = max((opened.known.draws for opened in kept), default=0)
        some = [opened.available for opened in kept]
        all_of_them = np.arange(K)
        return Log(
            contexts=[opened.context for opened in kept],
            actions=actions,
            losses=[opened.loss for opened in kept],
            propensities=np.minimum(table[np.arange(len(kept)), actions], 1.0),
            n_actions=K,
            available=None
            if all(these is None for these in some)
            else [all_of_them if these is None else these for these in some],
            distribution=table,
            weights=None if None in weights or not weights else weights,
            draws=draws + 1 if draws else None,
        )

    # The round --------------------------------------------------------------------------

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner learn, and write down what the action cost."""
        super()._update(opened, loss)
        if opened.odds is not None and np.size(opened.odds.weights) == 1:
            opened.weight = float(np.ravel(opened.odds.weights)[0])  # drawn ones are shown only now
        opened.loss = cost(loss, int(opened.action))
        self._answered.append(opened)
