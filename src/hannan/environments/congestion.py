"""Travel times on roads under drifting demand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Environment, Oracle, ParameterError, Round
from hannan.core.arrays import as_floats
from hannan.core.validation import FloatArray, check_integer, check_probability, refuse
from hannan.networks import RoadNetwork


class Congestion(Environment):
    r"""Link travel times by the BPR formula, under demand with a periodic and a random part.

    In round t link i carries the flow :math:`f_i\,\max(0, 1 + a \sin 2\pi(t/P + \phi_i) + w_i(t))`.
    Here :math:`f_i` is the usual flow of the link. The sine has period P and peaks at a different
    time on every link (:math:`\phi_i` is uniform). The random walk :math:`w_i` is clipped to
    ±`wander`. The loss of a link is its travel time divided by `unit`, the longest possible travel
    time of any link. So the travel time of a route is its loss times `unit`.

    Parameters
    ----------
    network
        Road network; the loss vector has an entry for each link.
    oracle
        Paths that regret is measured against, such as `Paths.towards(network, …)`. Default None.
    flow
        Usual flow of each link, not negative. Default: the flow of the network, else 0.9 of its
        capacity.
    period, swing
        Period P of the demand in rounds, 288 by default, and its amplitude a in [0, 1], 0.5 by
        default.
    wander, step
        Bound of the random walk, and standard deviation of its steps. Both in [0, 1], by default
        0.5 and 0.02.

    Attributes
    ----------
    unit
        Travel time that corresponds to loss 1.

    Examples
    --------
    >>> import hannan as hn
    >>> roads = hn.networks.RoadNetwork([1, 1, 2], [2, 3, 3], [1.0, 3.0, 1.0], capacity=100.0)
    >>> world = hn.environments.Congestion(roads, hn.oracles.Paths.towards(roads, 1, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=300, seed=0)
    >>> bool(trace.losses.mean() * world.unit < 3.0)
    True
    """

    def __init__(
        self,
        network: RoadNetwork,
        oracle: Oracle | None = None,
        *,
        flow: ArrayLike | None = None,
        period: int = 288,
        swing: float = 0.5,
        wander: float = 0.5,
        step: float = 0.02,
    ) -> None:
        self.network = network
        self.oracle = check_links(self, oracle, network.n_links)
        self.n_actions = network.n_links
        self.flow = flow
        self.period = check_integer(self, "period", period, 1)
        self.swing = check_probability(self, "swing", swing)
        self.wander = check_probability(self, "wander", wander)
        self.step = check_probability(self, "step", step)
        self._flow = _usual_flow(self, network, flow)
        self.unit = float(network.travel_time(self._flow * (1.0 + swing + wander)).max())
        if self.unit == 0.0:
            raise ParameterError(
                "The travel times of all links are 0. Congestion needs a network with at least one "
                "positive travel time."
            )

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        phase = rng.random(self.n_actions)
        walk = np.zeros(self.n_actions)
        for t in range(horizon):
            wave = self.swing * np.sin(2.0 * np.pi * (t / self.period + phase))
            demand = np.maximum(0.0, 1.0 + wave + walk)
            # `unit` adds up the largest demand in another order, so rounding may exceed 1.
            losses = np.minimum(self.network.travel_time(self._flow * demand) / self.unit, 1.0)
            yield Round(None, losses)
            walk += self.step * rng.standard_normal(self.n_actions)
            np.clip(walk, -self.wander, self.wander, out=walk)


def check_links(owner: Environment, oracle: Oracle | None, n_links: int) -> Oracle | None:
    """Return an oracle, or raise an error unless it has one element per link and no contexts."""
    if oracle is None:
        return None
    if oracle.n_actions != n_links:
        raise ParameterError(
            f"{type(owner).__name__} has {n_links} links and an oracle of {oracle.n_actions} "
            "elements. Create the oracle from the same links, in the same order."
        )
    oracle.check_context(None)
    return oracle


def _usual_flow(owner: Environment, network: RoadNetwork, flow: ArrayLike | None) -> FloatArray:
    if flow is None and network.flow is None:
        return np.where(np.isfinite(network.capacity), 0.9 * network.capacity, 0.0)
    given = network.flow if flow is None else flow
    try:
        found = as_floats(given)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (network.n_links,) or not (np.isfinite(found) & (found >= 0.0)).all():
        accepted = f"{network.n_links} finite numbers >= 0"
        raise refuse(owner, "flow", accepted, flow)
    return found
