"""Base class of drift detectors."""

from abc import ABC, abstractmethod

from hannan.core.params import Parametrised


class Detector(Parametrised, ABC):
    """Base class of detectors that read numbers one by one and report a rise.

    An alarm resets the detector. `Restarting` also accepts any object whose `update` returns
    whether there is drift, or sets an attribute `drift_detected`.
    """

    @abstractmethod
    def update(self, value: float) -> bool:
        """Read a number in [0, 1]; return whether there is drift."""

    def reset(self) -> None:
        """Discard all numbers read so far."""
        self.__init__(**self.params)  # type: ignore[misc]
