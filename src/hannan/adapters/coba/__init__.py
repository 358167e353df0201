"""Adapters to coba: Hannan's learners in coba's experiments, and coba's environments for Hannan."""
