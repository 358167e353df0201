"""Compiled inner loops: arrays in, arrays out; no objects, no validation, no global randomness.

A constant that one kernel hands to another is written `int64(0)`: a plain 0 has a type of its own,
for which the other one would be compiled once more.
"""
