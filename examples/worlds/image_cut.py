"""Image segmentation from labels of a few pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, Round
from hannan.core.arrays import as_array
from hannan.core.validation import check_integer, check_positive, check_probability, refuse
from hannan.losses import Cut


class ImageCut(Environment):
    r"""Choose the pixels of a picture that belong to the object; losses are cut functions.

    In each round a few random pixels are labelled inside or outside, sometimes wrongly, and a noisy
    image of the whole picture is observed. A set of pixels loses 1 for each label that it
    contradicts. For each pair of neighbours that it separates, it loses `smoothness` times
    :math:`e^{-\delta^2/2}`, where δ is their difference in the image in units of the blur. A power
    of two divides all losses, so that they lie in [0, 1]. Elements are the pixels, row by row.

    Parameters
    ----------
    pictures
        True inside the object: [height, width], or [stages, height, width] for an object that
        changes; each stage takes an equal share of the rounds.
    seeds
        Labelled pixels per round.
    error
        Probability that a label is wrong.
    smoothness
        Weight of a separated pair.
    blur
        Standard deviation of the noise of the image, in which pixels are 0 or 1.
    """

    def __init__(
        self,
        pictures: Any,
        *,
        seeds: int = 8,
        error: float = 0.2,
        smoothness: float = 0.05,
        blur: float = 0.5,
    ) -> None:
        self.pictures = as_array(pictures).copy()
        shape = self.pictures.shape
        if self.pictures.dtype != bool or len(shape) not in (2, 3) or 0 in shape:
            accepted = "a boolean array [height, width] or [stages, ...]"
            raise refuse(self, "pictures", accepted, pictures)
        self._stages = self.pictures.reshape(-1, self.pictures.shape[-2] * self.pictures.shape[-1])
        self.n_actions = self._stages.shape[1]
        self.seeds = check_integer(self, "seeds", seeds, 1)
        if seeds > self.n_actions:
            raise refuse(self, "seeds", f"at most {self.n_actions}, the number of pixels", seeds)
        self.error = check_probability(self, "error", error)
        self.smoothness = check_positive(self, "smoothness", smoothness)
        self.blur = check_positive(self, "blur", blur)
        self._ends = grid_edges(*self.pictures.shape[-2:])
        most = self.seeds + self.smoothness * len(self._ends[0])
        self._unit = 0.5 ** math.ceil(math.log2(most))

    @property
    def contexts(self) -> list[None]:
        return [None]

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        for t in range(horizon):
            picture = self._stages[t * len(self._stages) // horizon]
            yield Round(None, self._loss(picture, rng))  # type: ignore[arg-type]

    def _loss(self, picture: NDArray[np.bool_], rng: np.random.Generator) -> Cut:
        seeds = rng.choice(self.n_actions, self.seeds, replace=False)
        inside = picture[seeds] ^ (rng.random(self.seeds) < self.error)
        weights = np.zeros(self.n_actions)
        weights[seeds] = np.where(inside, -1.0, 1.0)
        seen = picture + self.blur * rng.normal(size=self.n_actions)
        tails, heads = self._ends
        contrast = (seen[tails] - seen[heads]) / self.blur
        capacities = self.smoothness * np.exp(-0.5 * contrast**2)
        return Cut(
            tails,
            heads,
            self._unit * capacities,
            self.n_actions,
            modular=self._unit * weights,
            offset=self._unit * float(inside.sum()),
            directed=False,
        )


def grid_edges(height: int, width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of neighbours of a grid whose cells are numbered row by row.

    >>> grid_edges(2, 2)
    (array([0, 2, 0, 1]), array([1, 3, 2, 3]))
    """
    cells = np.arange(height * width).reshape(height, width)
    tails = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    heads = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    return tails, heads
