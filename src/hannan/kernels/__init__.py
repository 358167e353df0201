"""Compiled inner loops: arrays in, arrays out; no objects, no validation, no global randomness."""
