"""Adapters to river: Hannan's learners as policies, river's models and detectors in Hannan."""
