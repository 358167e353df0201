"""Vowpal Wabbit's contextual bandits."""

from __future__ import annotations

import importlib
import itertools
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit, row_or_name
from hannan.baselines._known_law import KnownLaw
from hannan.core import Action, LateLearner, MissingPackageError
from hannan.core.available import IntArray
from hannan.core.learner import own_coins
from hannan.core.validation import FloatArray, check_integer, check_seed, refuse

_FORM = ("--cb_explore_adf", "--quiet", "-q", "xa")


class VowpalWabbit(KnownLaw, Bandit, LateLearner):
    r"""Vowpal Wabbit (`pip install 'hannan[vw]'`) with bandit feedback.

    VW is given features of the context, an indicator for each action and the products of the two,
    so that each action has a linear model of its own. It answers with a law p over the actions; one
    is drawn from it here, and VW learns from (action, loss, p(action)). Where only some actions are
    there, VW is shown these alone.

    Parameters
    ----------
    n_actions
        K.
    arguments
        Further options of VW, after ``--cb_explore_adf -q xa``: how to explore, as
        ``--squarecb``, ``--synthcover`` or ``--epsilon 0.05``; learning rates; anything else.
    seed
        Fixes the play, and VW's own coins where it has any; None takes fresh entropy for the play.
    loss_range
        Range of the losses; VW is shown them scaled to [0, 1].

    Notes
    -----
    Arrays and lists are rows of features; anything else that can be hashed is a discrete context,
    one feature of its own. Copies and pickles carry VW's saved model. It is complete for
    ε-greedy, SquareCB, RegCB, softmax and synthetic cover; with ``--bag``, ``--cover``,
    ``--rnd`` or ``--cb_type dr`` VW leaves something out, and a copy may play differently.

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

    _shown: list[Any] | None
    _scratch = frozenset({"_native", "_vw", "_shown", "_label", "_features", "_names", "_actions"})
    _vouched = "vowpalwabbit"

    def __init__(
        self,
        n_actions: int,
        arguments: str = "--squarecb",
        *,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        self.n_actions = check_integer(self, "n_actions", n_actions, 1)
        if not isinstance(arguments, str):
            raise refuse(self, "arguments", "a string of options", arguments)
        self.arguments = arguments
        self.seed = check_seed(self, seed)
        self._rng = own_coins(seed)
        self._probability = 1.0
        self._there: IntArray | None = None  # what was shown to VW, but for None all
        self._start([] if seed is None else ["--random_seed", str(seed % 2**32)])

    def probabilities(self, context: Any = None, available: Any = None) -> FloatArray:
        """The law of the action on a context, now."""
        checked = self._check_context(context)
        there = None if available is None else self._check_available(available)
        law = self._law(self._examples(checked, there))
        if there is None:
            return law
        whole = np.zeros(self.n_actions)
        whole[there] = law
        return whole

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        """Draws from VW's law, by other coins."""
        coins = self._coins(copies, seed)
        law = self.probabilities(context, available)
        return [_draw(law, u) for u in coins.random(copies)]

    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        law = self.probabilities(context, available)
        return np.asarray(law / law.sum())  # VW's own sums are rounded to single precision

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in _NATIVE}
        return {**state, "_model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.pop("_model")
        vars(self).update(state)
        self._model = model

    def _learned(self) -> dict[str, Any]:
        return {**super()._learned(), "_model": self._model}

    @property
    def _model(self) -> bytes:
        """VW's saved model."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "model")
            self._vw.save(path)
            return path.read_bytes()

    @_model.setter
    def _model(self, content: bytes) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "model")
            path.write_bytes(content)
            self._start(["-i", str(path)])

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        return row_or_name(context)

    def _act(self, context: Any) -> Action:
        return self._act_on(context, None)

    @property
    def _ordered(self) -> bool:
        return True

    def _act_among(self, context: Any, available: IntArray) -> int:
        return int(available[self._act_on(context, available)])

    def _act_on(self, context: Any, available: IntArray | None) -> int:
        """The place of the action drawn among those shown to VW."""
        examples = self._examples(context, available)
        law = self._law(examples)
        place = _draw(law, self._rng.random())
        self._shown, self._there, self._probability = examples, available, float(law[place])
        return place

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        label = f"{action}:{self._scaled(loss)!r}:{self._probability!r}"
        examples = self._shown or self._examples(context, self._there)
        place = action if self._there is None else int(np.searchsorted(self._there, action))
        # A label cannot be taken off an example again.
        examples[1 + place] = self._example("a", [self._names + action], label)
        self._vw.learn_multi(examples)

    def _keep(self) -> tuple[float, IntArray | None]:
        return self._probability, self._there

    def _recall(self, kept: tuple[float, IntArray | None]) -> None:
        self._probability, self._there = kept
        self._shown = None

    def _inverse_propensities(self, alike: IntArray | None = None) -> FloatArray:
        return np.array([1.0 / self._probability])

    def _start(self, options: list[str]) -> None:
        """A workspace, and what is the same in every round."""
        vw, self._native = _packages()
        self._shown = None
        try:
            given = [*_FORM, *shlex.split(self.arguments), *options]
            self._vw = vw.Workspace(arg_list=given)
            self._label = int(vw.LabelType.CONTEXTUAL_BANDIT)
            self._features = self._vw.hash_space("x")
            self._names = self._vw.hash_space("a")
            self._actions = [self._example("a", [self._names + k]) for k in range(self.n_actions)]
            self._law(self._examples(None))
        except (RuntimeError, ValueError) as error:
            accepted = f"options that Vowpal Wabbit takes after {' '.join(_FORM)} ({error})"
            raise refuse(self, "arguments", accepted, self.arguments) from error

    def _law(self, examples: list[Any]) -> FloatArray:
        self._vw.predict_multi(examples)
        return np.array(examples[0].get_action_scores())

    def _examples(self, context: Any, available: IntArray | None = None) -> list[Any]:
        """What VW is shown: the context, then each action that is there."""
        if isinstance(context, np.ndarray):
            features: list[Any] = list(zip(itertools.count(self._features), context.tolist()))
        elif context is None:
            features = []
        else:
            features = [self._vw.hash_feature(str(context), self._features)]
        there = self._actions
        if available is not None:
            there = [self._actions[k] for k in available.tolist()]
        return [self._example("x", features, "shared"), *there]

    def _example(self, space: str, features: list[Any], label: str = "") -> Any:
        # By hand, since VW's text format takes longer to write and read than to learn from.
        example = self._native.example(self._vw, self._label)
        example.push_namespace(ord(space))
        example.push_feature_list(self._vw, ord(space), 0, features)
        if label:
            example.set_label_string(self._vw, label, self._label)
        self._vw.setup_example(example)
        example.set_test_only(False)
        return example


_NATIVE = ("_vw", "_native", "_actions", "_shown")


def _draw(law: FloatArray, u: float) -> int:
    """An action with its probability under the law."""
    ends = law.cumsum()
    found = int(ends.searchsorted(u * ends[-1], side="right"))
    return min(found, int(law.nonzero()[0][-1]))


def _packages() -> tuple[Any, Any]:
    try:
        return importlib.import_module("vowpalwabbit"), importlib.import_module("pylibvw")
    except ImportError as error:
        raise MissingPackageError(
            "hannan.baselines.VowpalWabbit needs Vowpal Wabbit, which is not installed. Get it "
            "with pip install 'hannan[vw]'."
        ) from error
