"""Streams of river as environments."""

import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from hannan.adapters._rows import Encoding, RowEncoder
from hannan.core import Environment, LossError, Oracle, ParameterError, Round
from hannan.core.validation import check_choice, check_integer, refuse
from hannan.environments._scaling import RUNNING


class FromRiver(Environment):
    r"""Online classification of a river stream of (x, y) pairs: every wrong class costs 1.

    The losses are :math:`\ell_t(a) = 1[a \ne y_t]`. The stream can be a data set of
    `river.datasets`, a generator of `river.datasets.synth`, or any list of pairs of a dictionary
    and a label.

    Parameters
    ----------
    stream
        A stream that can be read repeatedly from its beginning: a data set or a list, not an
        iterator. Generators of random data need their `seed`.
    labels
        Classes, in the order of the actions. Default: the `n_classes` classes that the data set
        declares, in order of appearance.
    features
        Conversion of x to a feature vector. Names: these features in this order, 0 for a missing
        one. A number n: all features, also text, hashed to n columns. A function: its result. None
        (default): the features of the first x.
    scale
        Scaling of the features. None (default): no scaling. "running-unit": to [0, 1];
        "running-standard": to mean 0 and variance 1, both by the rows so far.
    oracle
        Policy class (oracle) that regret is measured against. Default None.

    Examples
    --------
    >>> import hannan as hn
    >>> from river import datasets
    >>> world = hn.adapters.FromRiver(datasets.ImageSegments(), scale="running-unit")
    >>> world.n_actions, world.horizon
    (7, 2310)
    >>> learner = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.LinearPolicies(n_actions=7), predictor=hn.predictors.Ridge(), seed=0
    ... )
    >>> bool(hn.play(learner, world, horizon=1000, seed=0).losses[500:].mean() < 0.25)
    True
    """

    def __init__(
        self,
        stream: Any,
        *,
        labels: Sequence[Hashable] | None = None,
        features: Encoding = None,
        scale: str | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        if not hasattr(stream, "__iter__") or hasattr(stream, "__next__"):
            raise refuse(self, "stream", "a data set or a list, which can be read twice", stream)
        if getattr(stream, "seed", 0) is None:
            raise refuse(self, "stream", "a generator whose seed= is set", type(stream))
        if scale is not None:
            check_choice(self, "scale", scale, RUNNING)
        self.stream = stream
        self.labels = labels
        self.features = features
        self.scale = scale
        self.oracle = oracle
        RowEncoder(self, "features", features, strict=False)
        self._given = None if labels is None else tuple(labels)
        self.n_actions: int = self._count()
        if oracle is not None and oracle.n_actions not in (None, self.n_actions):
            raise ParameterError(
                f"The stream has {self.n_actions} classes, but the oracle has {oracle.n_actions} "
                f"actions. Pass an oracle with {self.n_actions} actions."
            )

    @property
    def horizon(self) -> int | None:
        if hasattr(self.stream, "__len__"):
            return len(self.stream)
        length: int | None = getattr(self.stream, "n_samples", None)
        return length

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if self.horizon is not None and horizon > self.horizon:
            raise _too_short(self.horizon, horizon)
        rows = RowEncoder(self, "features", self.features, strict=False)
        scaler: Any = None if self.scale is None else RUNNING[self.scale]()
        known = {label: k for k, label in enumerate(self._given or ())}
        miss = 1.0 - np.eye(self.n_actions)
        count = 0
        for x, y in itertools.islice(self.stream, horizon):
            count += 1
            row = rows(x)
            rows.keep(x)
            if y not in known:
                if self._given is not None or len(known) == self.n_actions:
                    raise LossError(
                        f"Label {y!r} is not among {list(known)}. Declare all labels with "
                        "labels=[…]."
                    )
                known[y] = len(known)
            yield Round(row if scaler is None else scaler(row), miss[known[y]].copy())
        if count < horizon:
            raise _too_short(count, horizon)

    def _count(self) -> int:
        if self._given is not None:
            if not self._given or len(set(self._given)) < len(self._given):
                raise refuse(self, "labels", "distinct labels", self.labels)
            return len(self._given)
        declared = getattr(self.stream, "n_classes", None)
        if getattr(self.stream, "task", None) == "Binary classification":
            declared = 2
        if declared is None:
            if not hasattr(self.stream, "__len__"):
                raise refuse(self, "labels", "given for a stream without n_classes", None)
            declared = len({y for _, y in self.stream})
            if not declared:
                raise refuse(self, "stream", "one with at least one pair (x, y)", self.stream)
        return check_integer(self, "stream", declared, 1)

    def __repr__(self) -> str:
        return f"FromRiver(<{type(self.stream).__name__}>, n_actions={self.n_actions})"


def _too_short(length: int, horizon: int) -> ParameterError:
    return ParameterError(f"The stream has {length} rounds, less than the horizon {horizon}.")
