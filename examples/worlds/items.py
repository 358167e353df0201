"""Items with features that are replaced over time, and visitors whose taste may change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Environment, Round
from hannan.core.validation import FloatArray, check_integer, check_positive, refuse
from hannan.environments.punishers import ItemPool

_STEEP = 3.0  # so that most items are close to the lowest or the highest rate of clicks


class Items(Environment):
    r"""Choose one of the available items for a visitor; an item without a click costs 1.

    In each round some items of a pool are available, each with an id and a feature vector a, for a
    visitor with features x: the context is a `Menu`. The probability of a click lies between the
    two of `clicks` and is logistic in :math:`x^\top W a + \langle b, a \rangle + u`. W and b are
    the visitors' *taste*, and u is a small number per item. New items replace old ones, so most
    items are available too rarely to estimate their clicks by id. The learner does not know the
    taste, which changes every `changes` rounds.

    Parameters
    ----------
    offered
        Available items per round.
    pool
        Items that exist at a time.
    features
        Number of features of a visitor, and of an item; all are standard normal.
    lifetime
        Mean number of rounds for which an item exists.
    clicks
        The lowest and the highest probability of a click.
    changes
        Number of rounds after which the taste changes. None: never.
    """

    n_actions = None  # type: ignore[assignment]  # the available items

    def __init__(
        self,
        offered: int = 10,
        pool: int = 200,
        *,
        features: int = 4,
        lifetime: float = 4000.0,
        clicks: tuple[float, float] = (0.01, 0.05),
        changes: int | None = None,
    ) -> None:
        self.pool = check_integer(self, "pool", pool, 1)
        self.offered = check_integer(self, "offered", offered, 1, self.pool + 1)
        self.features = check_integer(self, "features", features, 1)
        self.lifetime = check_positive(self, "lifetime", lifetime)
        try:
            low, high = (float(each) for each in clicks)
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not 0.0 <= low < high <= 1.0:
            raise refuse(self, "clicks", "two probabilities, the lower one first", clicks)
        self.clicks = clicks
        self.changes = None if changes is None else check_integer(self, "changes", changes, 1)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        low, high = self.clicks
        pool = ItemPool(self.pool, self.features, self.lifetime, rng)
        taste = self._taste(rng)
        for t in range(horizon):
            pool.turn()
            if self.changes is not None and t > 0 and t % self.changes == 0:
                taste = self._taste(rng)
            x = rng.standard_normal(self.features)
            menu, places = pool.offer(self.offered, x)
            score = _STEEP * (
                menu.rows @ (taste[:-1].T @ x + taste[-1]) + 0.3 * pool.quality[places]
            )
            rate = low + (high - low) / (1.0 + np.exp(-2.0 * score))
            yield Round(menu, (rng.random(self.offered) >= rate).astype(np.float64))

    def _taste(self, rng: np.random.Generator) -> FloatArray:
        """Return W, with b below it."""
        p = self.features
        scale = np.append(np.full(p, 1.2 / p), 0.6 / np.sqrt(p))
        return np.asarray(scale[:, None] * rng.standard_normal((p + 1, p)))
