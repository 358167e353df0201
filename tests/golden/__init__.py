"""Golden traces: one line of hashes for every setting in which learners are played.

`python -m tests.golden` plays all settings and rewrites `traces.json`; with `--check` it says which
settings differ from it, and in what. Learners are constructed in `making.py` alone, and their
private attributes are read in `reading.py` alone.
"""
