"""What finds drift in a stream of numbers."""

from abc import ABC, abstractmethod

from hannan.core.params import Parametrised


class Detector(Parametrised, ABC):
    """Reads one number after the other and says when they have become larger.

    An alarm makes it forget all it has read. `Restarting` also takes any object whose `update`
    returns whether there is drift, or leaves the answer in an attribute `drift_detected`.
    """

    @abstractmethod
    def update(self, value: float) -> bool:
        """Read one more number, in [0, 1]; whether drift is found."""

    def reset(self) -> None:
        """Forget all that was read."""
        self.__init__(**self.params)  # type: ignore[misc]
