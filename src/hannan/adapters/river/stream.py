"""Streams of river as environments."""

import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from hannan.adapters._rows import Encoding, Rows
from hannan.core import Environment, LossError, Oracle, ParameterError, Round
from hannan.core.validation import check_choice, check_integer, refuse
from hannan.environments._scaling import RUNNING


class FromRiver(Environment):
    r"""A stream of (x, y) pairs as a game: name the class, all but the right one cost 1.

    :math:`\ell_t(a) = 1[a \ne y_t]`, for the data sets of `river.datasets`, the generators of
    `river.datasets.synth`, and any list of pairs of a dictionary and a label.

    Parameters
    ----------
    stream
        What can be read from its beginning again and again: a data set or a list, not an iterator
        that is used up. Generators of random data need their `seed`.
    labels
        The classes, in the order of the actions. By default the number `n_classes` that the data
        set declares, in order of appearance.
    features
        How x becomes a row. Names: these features in this order, 0 where one is missing. A number
        n: hashed to n columns, text too. A function: what it returns. None: the features of the
        first x.
    scale
        None, "running-unit" or "running-standard": features as they are, to [0, 1], or to mean 0
        and variance 1, by the rows so far.
    oracle
        The policies that regret is measured against.

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
        Rows(self, "features", features, strict=False)
        self._given = None if labels is None else tuple(labels)
        self.n_actions: int = self._count()
        if oracle is not None and oracle.n_actions not in (None, self.n_actions):
            raise ParameterError(
                f"The stream has {self.n_actions} classes, the oracle {oracle.n_actions} actions."
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
        rows = Rows(self, "features", self.features, strict=False)
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
                        f"Label {y!r} is not among {list(known)}: declare all of them with "
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
                raise refuse(self, "labels", "given, as the stream declares no n_classes", None)
            declared = len({y for _, y in self.stream})
            if not declared:
                raise refuse(self, "stream", "one with at least one pair (x, y)", self.stream)
        return check_integer(self, "stream", declared, 1)

    def __repr__(self) -> str:
        return f"FromRiver(<{type(self.stream).__name__}>, n_actions={self.n_actions})"


def _too_short(length: int, horizon: int) -> ParameterError:
    return ParameterError(f"The stream has {length} rounds; {horizon} were asked for.")
