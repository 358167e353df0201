"""Learners of ours inside coba's experiments."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from hannan.adapters._numbers import action_key
from hannan.adapters._rewards import Scale, check_bandit, count_actions, losses_of
from hannan.adapters._rows import Encoding
from hannan.adapters.coba.encoding import Actions, Translation
from hannan.core import Learner, OpenRound, OrderError, ParameterError
from hannan.core.params import short
from hannan.core.state import Anything, Count, State
from hannan.core.validation import check_integer, refuse


class _Round(OpenRound):
    """What `predict` gives to `learn`: a round of the learner, and coba's name of its action."""

    label: Any = None
    place: int = 0  # in the order of rounds, for copies must know it too
    stored = State(label=Anything(), place=Count())


class CobaLearner:
    r"""A learner of ours as coba's experiments take one: `predict`, `learn`, `score`, `params`.

    coba speaks of rewards, we of losses: r in [low, high] is the loss
    :math:`(high - r)/(high - low)`, moved to the learner's own `loss_range`.

    coba also wants the probability q of the action that was chosen. Where the learner does not
    know the distribution of its action, m = `draws` copies of it with randomness of their own decide on the
    same context, H of them for the same action, and

    .. math:: \hat p = \frac{H + 1}{m + 1}, \qquad
              E\Bigl[\frac{1}{\hat p}\Bigr] = \frac{1 - (1 - q)^{m+1}}{q}.

    So importance weights :math:`1/\hat p` are right on average up to the factor
    :math:`1 - (1-q)^{m+1}`, and never infinite. `score`, for an action that was not chosen here,
    is H/m, which is unbiased. Asking changes nothing of what is played.

    Parameters
    ----------
    learner
        A learner with bandit feedback and single actions, which is left as it is: a copy plays.
        Or a function of the number of actions that makes one when the first are offered. For
        several processes it must be possible to pickle it.
    reward_range
        (low, high) of the rewards.
    draws
        m, at least 2; None gives no probabilities, which saves time where oracles are slow.
    encoding
        How contexts become ours. None: a sequence as a row, its numbers as they are, categories of
        coba as indicators; single values as they are. For contexts by names: the list of the names
        there are, where text counts as the feature "name=text"; or a number of features the names
        are hashed to. Or a function from coba's context to ours.
    actions
        "names" numbers actions as they first appear; "positions" by their place in the list, for
        actions whose features change all the time; a list says which there are and in what order.
        Where fewer than the learner's actions are offered, it chooses among them. "items" is
        for learners of described actions, `hn.bandit(actions="items")`: the features of each
        action are its row in a `Menu`.
    action_encoding
        How described actions become rows: as `encoding` does it for contexts. A single number is a
        row of one feature.

    Attributes
    ----------
    player
        The learner that plays, with all it has learned; None before the first round.

    Examples
    --------
    >>> import hannan as hn
    >>> bandit = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    >>> learner = hn.adapters.CobaLearner(bandit)
    >>> for _ in range(50):
    ...     action, probability, told = learner.predict(None, ["left", "right"])
    ...     learner.learn(None, action, float(action == "right"), probability, **told)
    >>> learner.score(None, ["left", "right"], "right") > 0.9
    True
    """

    def __init__(
        self,
        learner: Learner | Callable[[int], Learner],
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
        draws: int | None = 100,
        encoding: Encoding = None,
        actions: Actions = "names",
        action_encoding: Encoding = None,
    ) -> None:
        self.learner = learner
        self.reward_range = reward_range
        self.draws = None if draws is None else check_integer(self, "draws", draws, 2)
        self.encoding = encoding
        self.actions = actions
        self.action_encoding = action_encoding
        self._rewards = Scale(self, reward_range)
        self._translation = Translation(self, encoding, actions, action_encoding)
        self.current_learner: Any = None
        self._range = (0.0, 1.0)
        self._made = 0
        self._waiting: int | None = None  # the place of the round that `act` opened
        if isinstance(learner, Learner):
            self._check(learner)
        elif not callable(learner):
            raise refuse(self, "learner", "a learner, or a function that makes one", learner)

    @property
    def params(self) -> dict[str, Any]:
        """What describes the learner in coba's tables."""
        learner = self.learner
        one = isinstance(learner, Learner)
        # coba takes the family "vw" for its own: no function is called just by its name.
        family = type(learner).__name__ if one else f"{_described(learner)}()"
        return {
            "family": family,
            "learner": repr(learner) if one else family,
            "seed": learner.params.get("seed") if isinstance(learner, Learner) else None,
            "draws": self.draws,
            "reward_range": str(tuple(self.reward_range)),
            "encoding": _described(self.encoding),
            "actions": _described(self.actions),
            "action_encoding": _described(self.action_encoding),
        }

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, ...]:
        """One of the actions, its probability, and what `learn` needs to know of the round.

        Without draws there is no probability, and a described action is in {"action": …}.
        """
        player, mine, numbers, some = self._read(context, actions)
        distribution = None if self.draws is None else player.propensities(mine, self.draws, some)
        opened = _Round(mine)
        opened.place = self._made
        if self._waiting is not None and player.late is None:  # another reward comes first
            decision = player.decide(mine, some)
            opened.action, opened.number = decision.action, decision.id
        else:
            opened.action = player.act(mine, some)
            self._waiting = opened.place
        self._made += 1
        self._keep(player, actions)
        number = int(opened.action)
        opened.label = actions[numbers.index(number)]
        info = {"decision": opened}
        if distribution is not None:
            return opened.label, float(distribution.given(number)[number]), info
        # coba may take features for something else
        return {"action": opened.label} if self._translation.takes_items else opened.label, info

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability of an action now, without playing."""
        if self.draws is None:
            raise ParameterError("The score of an action needs draws=, a number of them.")
        player, mine, numbers, some = self._read(context, actions)
        keys = list(map(action_key, actions))
        q = player.propensities(mine, self.draws, some).probabilities
        self._keep(player, actions)
        asked = action_key(action)
        return float(q[numbers[keys.index(asked)]]) if asked in keys else 0.0

    def learn(
        self,
        context: Any,
        action: Any,
        reward: float,
        probability: float | None = None,
        decision: Any = None,
    ) -> None:
        """What the action of a decision has earned."""
        _check_single(context, action, reward)
        if not isinstance(decision, _Round) or self.current_learner is None:
            raise OrderError(
                "CobaLearner.learn() needs the decision that predict() returned. Actions another "
                "policy took, as with learn='off' or RejectionCB, teach a learner with bandit "
                "feedback nothing: use SequentialCB(learn='on')."
            )
        if action_key(action) != action_key(decision.label):
            raise OrderError(
                f"Round {decision.place} of CobaLearner was decided for {short(decision.label)}; "
                f"got the reward of {short(action)}."
            )
        low, high = self._range
        loss = min(high, low + (high - low) * self._rewards.loss(reward))  # whatever rounding does
        if decision.number is not None:
            self.current_learner.update(loss, decision=decision.number)
            return
        if self._waiting != decision.place:
            why = "" if self.current_learner.late is None else f" {self.current_learner.late}"
            raise OrderError(f"Round {decision.place} of CobaLearner is over or was dropped.{why}")
        self.current_learner.update(loss)
        self._waiting = None

    def __repr__(self) -> str:
        learner = self.learner
        shown = short(learner) if isinstance(learner, Learner) else _described(learner)
        return f"CobaLearner({shown}, draws={self.draws})"

    def _read(
        self, context: Any, actions: Sequence[Any]
    ) -> tuple[Any, Any, list[int], list[int] | None]:
        """Who plays, the context, the numbers of the actions, and which of them if not all."""
        _check_single(context, actions)
        if actions is None or len(actions) == 0:
            raise ParameterError(
                f"CobaLearner chooses among listed actions; coba offered {actions!r}. "
                "Continuous actions have to be discretised first."
            )
        known, player = self._translation, self.current_learner
        if player is None:
            given: Any = self.learner
            ready, count = isinstance(given, Learner), len(known.labels if known.fixed else actions)
            player = copy.deepcopy(given) if ready else self._check(given(count))
        n_actions = None if known.takes_items else count_actions(player)
        mine, numbers = known.read(context, actions, n_actions)
        some = sorted(numbers) if n_actions is not None and len(numbers) < n_actions else None
        return player, mine, numbers, some

    def _check(self, learner: Any) -> Any:
        """A learner that can be told what coba tells."""
        check_bandit("CobaLearner", learner)
        described, name = self._translation.takes_items, type(learner).__name__
        if learner.takes_items and not described:
            raise ParameterError(
                f"{name} is for actions described by features: pass actions='items'."
            )
        if described and not learner.takes_items:
            raise ParameterError(
                f"actions='items' needs a learner for described actions, and {name} is for "
                "those that are the same in every round. Take hn.bandit(actions='items'), or "
                "another value of actions=."
            )
        if not described:
            count_actions(learner)
        return learner

    def _keep(self, player: Any, actions: Sequence[Any]) -> None:
        self._translation.keep(actions)
        if self.current_learner is None:
            self.current_learner = player
            self._range = losses_of(player)


def _check_single(*given: Any) -> None:
    """Refuse a batch: coba then hands its rounds over one by one."""
    if any(hasattr(item, "is_batch") for item in given):
        raise ParameterError("CobaLearner takes the rounds of a batch one by one.")


def _described(value: Any) -> Any:
    """A parameter as a table can hold it: functions by their names, or where they are written."""
    named = getattr(value, "func", value)
    if callable(named):
        name = getattr(named, "__name__", type(named).__name__)
        return f"<lambda {named.__code__.co_firstlineno}>" if name == "<lambda>" else name
    return value if value is None or isinstance(value, int | str) else short(value)
