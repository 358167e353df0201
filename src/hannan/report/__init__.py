"""Reports of experiments: one HTML page that opens offline, and figures."""

from hannan.report.figures import write_figures
from hannan.report.page import write_report

__all__ = ["write_figures", "write_report"]
