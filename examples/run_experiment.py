"""An experiment as a table: worlds, learners and seeds in; results, intervals and a page out.

The same table may be a TOML file for `hannan run` (see quickstart.toml beside this). Finished games
are kept under a hash of all that decides them, so the second run has nothing left to play.
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
            "calm": {"type": "PlantedPolicy", "policies": rules},
            "hostile": {"type": "LeaderPunisher", "policies": rules},
        },
        "learners": {
            "leader": {"type": "FollowTheLeader"},
            "Hedge": {"type": "Hedge"},
            "ours": {"type": "ContextFTPL"},
        },
    }
)
with tempfile.TemporaryDirectory() as folder:
    done, again = run(plan, folder), run(plan, folder)
    page = write_report(done.records, done.times, Path(folder) / "page.html", plan.title)
    size = page.stat().st_size
    print(f"{done.played} cells played, then {again.played}; a page of {size:,} bytes")

print(f"{'world':9}{'learner':9}{'mean loss':>17}{'regret':>18}{'promised':>10}")
for row in summarise(done.records, done.times):
    promised = "nothing" if row.bound is None else f"{row.bound.mean:.0f}"
    print(f"{row.environment:9}{row.learner:9}{row.mean_loss.show(3):>17}", end="")
    print(f"{row.regret.show(1):>18}{promised:>10}")
