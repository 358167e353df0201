"""What an experiment has shown: one HTML page that opens offline, and pictures."""

from hannan.report.figures import write_figures
from hannan.report.page import write_report

__all__ = ["write_figures", "write_report"]
