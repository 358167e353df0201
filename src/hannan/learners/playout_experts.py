"""Full information where the contexts to come are known: Gaussian noise on them alone."""

from __future__ import annotations

import math

from hannan.bounds import Bound, playout
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.playout import Playout


class PlayoutExperts(PerturbedLeader):
    """What perturbation="playout" makes of a full-information learner."""

    def _play_out(self, future: Playout) -> None:
        """Gaussian noise: of the size `bounds.playout` asks for, or 1/ε."""
        if isinstance(self.epsilon, str):
            size = 1.0 / self._playout_law(math.log(2.0)).epsilon
        else:
            size = 1.0 / self._fixed_epsilon()
        future.put_noise(self.oracle.n_actions or 1, size, None, self._key)

    def _playout_law(self, log_size: float) -> Bound:
        assert self._playout is not None
        return playout(
            self._playout.horizon,
            log_size=log_size,
            m=self.oracle.max_chosen,
            loss_range=self._range,
            fixed_size=self.oracle.fixed_size,
        )

    def _playout_bound(self) -> float | None:
        """What theory promises for the whole game, where the noise has the size it asks for."""
        size = self.oracle.log_size(self._perturbed)
        if size is None or size < math.log(2.0) or not isinstance(self.epsilon, str):
            return None
        return self._playout_law(size).value
