"""Run an experiment from a table and write a report.

The table can also be a TOML file for `hannan run`. Finished runs are stored under a hash of their
settings, so the second call has nothing to compute. Compare the regrets with their bounds.
"""

import tempfile
from pathlib import Path

from hannan.experiments import make_plan, run, summarise
from hannan.report import write_report

rules = {"type": "FinitePolicies.random", "n_policies": 200, "n_contexts": 10, "n_actions": 4}
plan = make_plan(
    {
        "title": "Leaders and punishers",
        "horizon": 2000,
        "seeds": 3,
        "environments": {
            "stochastic": {"type": "PlantedPolicy", "policies": rules},
            "adversarial": {"type": "LeaderPunisher", "policies": rules},
        },
        "learners": {
            "FollowTheLeader": {"type": "FollowTheLeader"},
            "Hedge": {"type": "Hedge"},
            "ContextFTPL": {"type": "ContextFTPL"},
        },
    }
)
with tempfile.TemporaryDirectory() as folder:
    done, again = run(plan, folder), run(plan, folder)
    page = write_report(done.records, done.times, Path(folder) / "page.html", plan.title)
    size = page.stat().st_size
    print(f"{done.played} runs computed, then {again.played}; a report of {size:,} bytes")

print(f"{'environment':12}{'learner':15}{'mean loss':>17}{'regret':>18}{'bound':>7}")
for row in summarise(done.records, done.times):
    bound = "none" if row.bound is None else f"{row.bound.mean:.0f}"
    print(f"{row.environment:12}{row.learner:15}{row.mean_loss.show(3):>17}", end="")
    print(f"{row.regret.show(1):>18}{bound:>7}")
