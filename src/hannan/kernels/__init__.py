"""Compiled inner loops: arrays in, arrays out; no objects, no validation, no global randomness.

A constant that one kernel passes to another is written `int64(0)`: a plain 0 has a separate type,
for which the other kernel would be compiled again.
"""
