"""Measurements of speed and regret, as ratios taken side by side in one run.

`python -m benchmarks` runs every study, `python -m benchmarks finite regret` some of them, and
`python -m benchmarks --write` renews `benchmarks/RESULTS.md`.
"""
