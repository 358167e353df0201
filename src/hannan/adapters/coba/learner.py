"""Hannan's learners inside coba's experiments."""

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
    """Open round that `predict` passes to `learn`, with coba's label of its action."""

    label: Any = None
    place: int = 0  # index of the round, stored because copies need it, too
    stored = State(label=Anything(), place=Count())


class CobaLearner:
    r"""A learner of Hannan for coba's experiments: `predict`, `learn`, `score`, `params`.

    coba uses rewards, Hannan uses losses: r in [low, high] is the loss :math:`(high - r)/(high -
    low)`, scaled to the learner's `loss_range`.

    coba also needs the probability q of the chosen action. If the learner does not know its action
    distribution, m = `draws` copies with independent randomness decide in the same context. If H of
    them choose the same action, the estimate is

    .. math:: \hat p = \frac{H + 1}{m + 1}, \qquad
              E\Bigl[\frac{1}{\hat p}\Bigr] = \frac{1 - (1 - q)^{m+1}}{q}.

    So importance weights :math:`1/\hat p` are unbiased up to the factor :math:`1 - (1-q)^{m+1}`,
    and never infinite. For an action that the learner did not choose, `score` returns H/m, which is
    unbiased. Queries do not change the learner's actions.

    Parameters
    ----------
    learner
        A learner with bandit feedback and single actions; the adapter runs a copy and leaves the
        learner unchanged. Or a function that makes a learner from the number of actions in the
        first round. For several processes it must be picklable.
    reward_range
        Range (low, high) of the rewards. Default (0, 1).
    draws
        Number m of copies, at least 2. Default 100. None omits probabilities, which saves time if
        oracles are slow.
    encoding
        Conversion of contexts. None (default): a sequence becomes a feature vector, with numbers
        unchanged and coba's categories as indicators; single values stay unchanged. For contexts
        with named features: a list of all names, where text counts as a feature "name=text"; or a
        number of features to hash the names to. Or a function from coba's context to Hannan's.
    actions
        "names" (default) numbers actions in their order of appearance. "positions" numbers them by
        their place in the list, for actions whose features change all the time. A list declares all
        actions and their order. If fewer than the learner's actions are offered, the learner
        chooses among them. "items" is for learners of actions with features,
        `hn.bandit(actions="items")`: the features of each action are its row in a `Menu`.
    action_encoding
        Conversion of the features of actions, like `encoding` for contexts. A single number is a
        vector of one feature.

    Attributes
    ----------
    current_learner
        The learner that decides, with its current state; None before the first round.

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
        self._waiting: int | None = None  # index of the round that `act` opened
        if isinstance(learner, Learner):
            self._check(learner)
        elif not callable(learner):
            raise refuse(self, "learner", "a learner, or a function that makes one", learner)

    @property
    def params(self) -> dict[str, Any]:
        """Description of the learner in coba's tables."""
        learner = self.learner
        one = isinstance(learner, Learner)
        # coba reserves the family "vw", so the family of a function ends in "()".
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
        """Return one of the actions, its probability, and the information that `learn` needs.

        Without draws there is no probability, and an action with features is in {"action": …}.
        """
        player, mine, numbers, some = self._read(context, actions)
        distribution = None if self.draws is None else player.propensities(mine, self.draws, some)
        opened = _Round(mine)
        opened.place = self._made
        if self._waiting is not None and player.late is None:  # another reward is still open
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
        # coba may misinterpret a tuple of features
        return {"action": opened.label} if self._translation.takes_items else opened.label, info

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """Return the current probability of an action, without playing."""
        if self.draws is None:
            raise ParameterError(
                "score() needs a CobaLearner with draws=, a number; got draws=None."
            )
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
        """Learn from the reward of a decision's action."""
        _check_single(context, action, reward)
        if not isinstance(decision, _Round) or self.current_learner is None:
            raise OrderError(
                "CobaLearner.learn() needs the decision that predict() returned. A learner with "
                "bandit feedback cannot learn from actions of another policy, as with learn='off' "
                "or RejectionCB. Use SequentialCB(learn='on')."
            )
        if action_key(action) != action_key(decision.label):
            raise OrderError(
                f"In round {decision.place} CobaLearner chose {short(decision.label)}; got the "
                f"reward of {short(action)}."
            )
        low, high = self._range
        loss = min(high, low + (high - low) * self._rewards.loss(reward))  # despite rounding
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
        """Return the learner, the context, the actions' numbers, and the available ones or None."""
        _check_single(context, actions)
        if actions is None or len(actions) == 0:
            raise ParameterError(
                f"CobaLearner needs a list of actions; coba offered {actions!r}. Discretise "
                "continuous actions first."
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
        """Return a learner that can learn from coba's feedback, or raise an error."""
        check_bandit("CobaLearner", learner)
        described, name = self._translation.takes_items, type(learner).__name__
        if learner.takes_items and not described:
            raise ParameterError(f"{name} is for actions with features: pass actions='items'.")
        if described and not learner.takes_items:
            raise ParameterError(
                f"actions='items' needs a learner for actions with features, but {name} needs the "
                "same actions in every round. Use hn.bandit(actions='items'), or another value of "
                "actions=."
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
    """Raise an error for a batch: coba then passes its rounds one by one."""
    if any(hasattr(item, "is_batch") for item in given):
        raise ParameterError("CobaLearner does not support batches: pass rounds one by one.")


def _described(value: Any) -> Any:
    """Return a parameter for a table: a function as its name, a lambda as its line number."""
    named = getattr(value, "func", value)
    if callable(named):
        name = getattr(named, "__name__", type(named).__name__)
        return f"<lambda {named.__code__.co_firstlineno}>" if name == "<lambda>" else name
    return value if value is None or isinstance(value, int | str) else short(value)
