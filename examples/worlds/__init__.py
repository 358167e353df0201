"""Environments of the examples, the benchmarks and some tests."""

from .image_cut import ImageCut
from .items import Items
from .measured_speeds import MeasuredSpeeds
from .slate_clicks import SlateClicks

__all__ = ["ImageCut", "Items", "MeasuredSpeeds", "SlateClicks"]
