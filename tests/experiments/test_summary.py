"""Tables of results: intervals, regret against the best policy, and what is not known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.experiments import make_plan
from hannan.experiments.cell import play_cell
from hannan.experiments.game import world_rng
from hannan.experiments.summary import compared, interval, summarise

PLAN = make_plan(
    {
        "horizon": 300,
        "seeds": 3,
        "environments": {
            "planted": {
                "type": "PlantedPolicy",
                "policies": {
                    "type": "FinitePolicies.random",
                    "n_policies": 20,
                    "n_contexts": 4,
                    "n_actions": 3,
                },
            },
        },
        "learners": {"ours": {"type": "ContextFTPL"}, "uniform": {"type": "UniformRandom"}},
    }
)
PLAYED = [play_cell(cell) for cell in PLAN.cells]
RECORDS = [record for record, _ in PLAYED]
TIMES = {times["key"]: times for _, times in PLAYED}


def test_an_interval_is_students():
    values = [0.3, 0.5, 0.1, 0.4]
    found = interval(values)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert found.mean - found.half_width == pytest.approx(low)
    assert found.mean + found.half_width == pytest.approx(high)
    assert found.show(2) == f"{np.mean(values):.2f} ± {found.half_width:.2f}"


def test_one_value_has_no_spread_and_a_missing_one_no_mean():
    assert interval([2.0]).half_width is None
    assert interval([2.0]).show(1) == "2.0"
    assert interval([2.0, None]) is None
    assert interval([]) is None


def test_regret_is_against_the_best_policy_of_the_same_world_and_seed():
    for record in compared(RECORDS):
        seed = record["cell"]["seed"]
        cell = next(c for c in PLAN.cells if c.key == record["key"])
        environment, policies = cell.world()
        learner = cell.make_learner()
        losses, total = 0.0, np.zeros(20)
        for this_round in environment.rounds(300, world_rng(seed)):
            learner.update(this_round.reveal(learner.act(this_round.context)))
            losses += this_round.loss
            total += this_round.losses[policies.table[:, this_round.context]]
        assert record["result"]["regret"] == pytest.approx(losses - total.min())
        assert record["result"]["curve"]["best"][-1] == pytest.approx(total.min())


def test_rows():
    rows = summarise(RECORDS, TIMES)
    assert [(row.environment, row.learner) for row in rows] == [
        ("planted", "ours"),
        ("planted", "uniform"),
    ]
    ours, uniform = rows
    assert ours.mean_loss.count == 3
    assert ours.mean_loss.mean < uniform.mean_loss.mean
    assert ours.best.mean == uniform.best.mean < ours.mean_loss.mean
    assert ours.certificate is not None
    assert uniform.certificate is None
    assert ours.calls_per_round == pytest.approx(2.0, abs=1.0)
    assert ours.rounds_per_second > 0
    assert summarise(RECORDS, {})[0].rounds_per_second is None


def test_a_world_without_policies_has_no_regret():
    plan = make_plan(
        {
            "environments": {
                "arrays": {"type": "FromArrays", "contexts": None, "losses": [[0.0, 1.0]] * 20}
            },
            "learners": {"uniform": {"type": "UniformRandom"}},
        }
    )
    (row,) = summarise([play_cell(cell)[0] for cell in plan.cells], {})
    assert row.regret is None
    assert row.best is None
    assert row.mean_loss is not None


def test_a_world_that_reacts_has_a_best_policy_for_each_learner():
    assert hn.environments.LeaderPunisher.oblivious
    plan = make_plan(
        {
            "horizon": 100,
            "environments": {
                "copy": {
                    "type": "FrequencyPunisher",
                    "policies": {"type": "AllPolicies", "n_contexts": 2, "n_actions": 3},
                }
            },
            "learners": {"ours": {"type": "ContextFTPL"}, "uniform": {"type": "UniformRandom"}},
        }
    )
    assert all(cell.learner is not None for cell in plan.cells)
    records = compared([play_cell(cell)[0] for cell in plan.cells])
    assert all(record["result"]["regret"] is not None for record in records)
    assert records[0]["result"]["best"] != records[1]["result"]["best"]
