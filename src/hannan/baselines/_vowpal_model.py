"""A model of Vowpal Wabbit (VW), and the examples passed to VW."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.core import Menu, OpenRound
from hannan.core.rounds import IntArray
from hannan.core.state import Anything, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, refuse

_MISSING = (
    "hannan.baselines.VowpalWabbit needs Vowpal Wabbit, which is not installed. Run "
    "pip install 'hannan[vw]'."
)
_FORM = ("--cb_explore_adf", "--quiet", "-q", "xa")

# VW has options that write files, read files or open ports, and arguments may come from an
# untrusted experiment file. So only options for exploration and learning are passed to VW.
_EXPLORING = """
    --bag --cb_max_cost --cb_min_cost --cb_type --clip_p --cover --elim --epsilon --first
    --first_only --gamma_exponent --gamma_scale --greedify --lambda --large_action_space
    --max_actions --mellowness --nounif --psi --regcb --regcbopt --rnd --rnd_alpha --rnd_invlambda
    --softmax --spanner_c --squarecb --synthcover --synthcoverpsi --synthcoversize
"""
_LEARNING = """
    --adaptive --base_learner --bit_precision -b --boosting --coin --constant -C --cubic
    --decay_learning_rate --dropout --ftrl --ftrl_alpha --ftrl_beta --hash --ignore --ignore_linear
    --initial_t --initial_weight --inpass --interactions --invariant --keep --l1 --l2
    --learning_rate -l --link --loss_function --lrq --lrqdropout --max_prediction
    --min_prediction --nn --noconstant --normalized --pistol --power_t --quadratic -q
    --quantile_tau --random_seed --random_weights --sgd --sparse_weights
"""
_OPTIONS = frozenset((*_EXPLORING.split(), *_LEARNING.split()))


class VowpalModel(Stored):
    """Contextual bandit model of VW; copies, pickles and files contain the model that VW saves.

    `arguments` are options of VW after ``--cb_explore_adf -q xa``, and `seed` is the seed of VW's
    random numbers.
    """

    _trusted_package = "vowpalwabbit"
    _shown: Any  # the round of the last prediction, and its examples

    stored = State(content=Anything())

    def __init__(
        self,
        n_actions: int | None,
        arguments: str,
        seed: int | None = None,
        owner: object = "VowpalModel",
    ) -> None:
        self._n_actions = n_actions
        self._arguments = arguments
        self._seed = seed
        self._who = owner if isinstance(owner, str) else type(owner).__name__
        if not isinstance(arguments, str):
            raise refuse(self._who, "arguments", "a string of options", arguments)
        self._start([] if seed is None else ["--random_seed", str(seed % 2**32)])

    def distribution(self, opened: OpenRound) -> FloatArray:
        """Return VW's action distribution in a round, which sums to 1 in single precision."""
        some, examples = opened.available, self._examples(opened.context, opened.available)
        distribution = self._predict(examples)
        self._shown = opened, examples
        if some is None:
            return distribution
        whole = np.zeros(self._n_actions or 0)
        whole[some] = distribution
        return whole

    def learn(self, opened: OpenRound, cost: float, probability: float) -> None:
        """Learn from the cost of a round's action, given its propensity."""
        action, some, menu = opened.action, opened.available, opened.context
        label = f"{action}:{cost!r}:{probability!r}"
        place = action if some is None else int(np.searchsorted(some, action))
        shown = self._shown
        known = shown is not None and shown[0] is opened
        examples = shown[1].copy() if known else self._examples(menu, some)
        # VW cannot remove a label from an example.
        if isinstance(menu, Menu):
            examples[1 + place] = self._item(menu, int(place), label)
        else:
            examples[1 + place] = self._example("a", [self._names + action], label)
        self._vw.learn_multi(examples)
        self._shown = None

    @property
    def content(self) -> bytes:
        """Saved VW model, as bytes."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "model")
            self._vw.save(path)
            return path.read_bytes()

    @content.setter
    def content(self, saved: bytes) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "model")
            path.write_bytes(saved)
            self._start(["-i", str(path)])

    def _start(self, options: list[str]) -> None:
        """Open a VW workspace, and prepare the parts that are equal in every round."""
        vw, self._native = (package(name, _MISSING) for name in ("vowpalwabbit", "pylibvw"))
        self._shown = None
        try:
            chosen = shlex.split(self._arguments)
            _check_options(chosen)
            given = [*_FORM, *chosen, *options]
            self._vw = vw.Workspace(arg_list=given)
            self._label = int(vw.LabelType.CONTEXTUAL_BANDIT)
            self._features = self._vw.hash_space("x")
            self._names = self._vw.hash_space("a")
            K = self._n_actions or 0
            self._actions = [self._example("a", [self._names + k]) for k in range(K)]
            empty = None if K else Menu(None, [[0.0]])
            self._predict(self._examples(empty, None))
        except (RuntimeError, ValueError) as error:
            accepted = f"options that Vowpal Wabbit takes after {' '.join(_FORM)} ({error})"
            raise refuse(self._who, "arguments", accepted, self._arguments) from error

    def _predict(self, examples: list[Any]) -> FloatArray:
        self._vw.predict_multi(examples)
        return np.array(examples[0].get_action_scores())

    def _examples(self, context: Any, some: IntArray | None) -> list[Any]:
        """Return the examples for VW: the context, then each available action."""
        items = None
        if isinstance(context, Menu):
            items = [self._item(context, k) for k in range(len(context))]
            context = context.context
        features: list[Any] = []
        if isinstance(context, np.ndarray):
            features = list(zip(itertools.count(self._features), context.tolist()))
        elif context is not None:
            features = [self._vw.hash_feature(str(context), self._features)]
        actions = self._actions if items is None else items
        if some is not None:
            actions = [self._actions[k] for k in some.tolist()]
        return [self._example("x", features, "shared"), *actions]

    def _item(self, menu: Menu, k: int, label: str = "") -> Any:
        """Return the example of an action with features, with its id as a further feature."""
        features: list[Any] = list(zip(itertools.count(self._names), menu.rows[k].tolist()))
        if menu.ids is not None:
            features.append(self._vw.hash_feature(str(menu.ids[k]), self._names))
        return self._example("a", features, label)

    def _example(self, space: str, features: list[Any], label: str = "") -> Any:
        # Build examples directly: writing and parsing VW's text format takes longer than learning.
        example = self._native.example(self._vw, self._label)
        example.push_namespace(ord(space))
        example.push_feature_list(self._vw, ord(space), 0, features)
        if label:
            example.set_label_string(self._vw, label, self._label)
        self._vw.setup_example(example)
        example.set_test_only(False)
        return example

    def __getstate__(self) -> dict[str, Any]:
        # VW starts from the content, which comes last.
        kept = ("_n_actions", "_arguments", "_seed", "_who", "content")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def _params_to_store(self) -> dict[str, Any]:
        return {"n_actions": self._n_actions, "arguments": self._arguments, "seed": self._seed}


def _check_options(words: list[str]) -> None:
    """Raise an error unless all words are known options, each with at most one value."""
    values = 1
    for word in words:
        if word.startswith("-") and not word[1:2].isdigit():
            name, equals, _ = word.partition("=")
            if name not in _OPTIONS:
                raise ValueError(f"{word} is not an option for exploration or learning")
            values = int(bool(equals))
        elif values:
            raise ValueError(f"{word} does not belong to an option")
        else:
            values = 1
