"""Contract checks."""
