"""Experiment files: what they make, and how they are refused."""

from __future__ import annotations

import copy
import inspect
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hannan as hn
from hannan.experiments import make_plan, read_plan, summarise
from hannan.experiments.catalogue import KINDS, Workshop, entries, find, nearest
from hannan.experiments.cell import play_cell

POLICIES = {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}
SMALL = {
    "horizon": 50,
    "seeds": 2,
    "environments": {
        "planted": {"type": "PlantedPolicy", "policies": POLICIES},
        "arrays": {"type": "FromArrays", "contexts": [0, 1], "losses": [[0.0, 1.0], [1.0, 0.0]]},
    },
    "learners": {
        "ours": {"type": "ContextFTPL", "environments": ["planted"]},
        "uniform": {"type": "UniformRandom"},
    },
}


def changed(path, value):
    """The small experiment with one entry replaced."""
    table = copy.deepcopy(SMALL)
    place = table
    *way, last = path.split(".")
    for key in way:
        place = place[key]
    place[last] = value
    return table


def test_cells_are_all_learners_in_all_their_environments_with_all_seeds():
    plan = make_plan(changed("environments.arrays.horizon", 2), "small")
    assert [cell.label for cell in plan.cells] == [
        "best policy in hindsight on planted, seed 0",
        "ours on planted, seed 0",
        "uniform on planted, seed 0",
        "best policy in hindsight on planted, seed 1",
        "ours on planted, seed 1",
        "uniform on planted, seed 1",
        "uniform on arrays, seed 0",
        "uniform on arrays, seed 1",
    ]
    assert len({cell.key for cell in plan.cells}) == 8
    assert plan.rounds == 6 * 50 + 2 * 2


def test_the_key_changes_with_everything_that_decides_the_result_and_nothing_else():
    keys = {cell.key for cell in make_plan(SMALL).cells}
    assert keys == {cell.key for cell in make_plan(SMALL | {"title": "Another"}).cells}
    for path, value in [
        ("horizon", 51),
        ("points", 7),
        ("learners.uniform.loss_range", [0.0, 2.0]),
        ("environments.planted.good", 0.2),
        ("environments.planted.policies", POLICIES | {"n_contexts": 4}),
    ]:
        assert keys != {cell.key for cell in make_plan(changed(path, value)).cells}, path


def test_a_shared_table_counts_only_for_those_who_use_it():
    table = copy.deepcopy(SMALL)
    table["shared"] = {"base": {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}}
    table["learners"]["own"] = {"type": "ContextFTPL", "oracle": "$base"}
    table["learners"]["own"]["environments"] = ["planted"]
    before = {cell.label: cell.key for cell in make_plan(table).cells}
    table["shared"]["base"]["n_actions"] = 3
    after = {cell.label: cell.key for cell in make_plan(table).cells}
    assert {label for label in before if before[label] != after[label]} == {
        "own on planted, seed 0",
        "own on planted, seed 1",
    }


def test_the_environments_class_and_the_seed_are_handed_to_learners_that_take_them():
    plan = make_plan(SMALL)
    learner = next(
        cell for cell in plan.cells if cell.label == "ours on planted, seed 1"
    ).make_learner()
    assert isinstance(learner.oracle, hn.oracles.AllPolicies)
    assert learner.seed == 1
    uniform = next(cell for cell in plan.cells if "uniform" in cell.label).make_learner()
    assert uniform.n_actions == 2


def test_inner_learners_get_them_too():
    row = {
        "type": "StronglyAdaptive",
        "learner": {"type": "ContextFTPL"},
        "environments": ["planted"],
    }
    plan = make_plan(changed("learners.ours", row))
    learner = plan.cells[4].make_learner()
    assert learner.learner.seed == learner.seed == 1
    assert learner.learner.oracle is learner.oracle


def test_names_with_a_dollar_stand_for_things():
    row = {"type": "ContextFTPL", "horizon": "$horizon", "epsilon": "theorem"}
    row |= {"contexts": "$contexts", "oracle": "$policies", "environments": ["planted"]}
    learner = make_plan(changed("learners.ours", row)).cells[1].make_learner()
    assert learner.horizon == 50
    assert list(learner.contexts) == [0, 1, 2]


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("sedes", 3, r"has no key 'sedes'; did you mean 'seeds'\?"),
        ("seeds", 0, "seeds must be a whole number >= 1; got 0"),
        ("seeds", [1, 1], "seeds must be one or more different"),
        ("seeds", True, "seeds must be a whole number"),
        ("horizon", "many", "horizon must be a whole number >= 1; got 'many'"),
        ("points", 1, "points must be a whole number >= 2"),
        ("environments", {}, "no environments are given"),
        ("learners", {"ours": 3}, r"learners must be tables: \[learners.NAME\]"),
        ("learners.ours.type", "ContextFTLP", "there is no 'ContextFTLP'; did you mean 'ContextF"),
        ("learners.ours.type", 5, "learners.ours: type must be the name of a class; got 5"),
        ("learners.ours.epsilom", 1.0, "ContextFTPL has no argument 'epsilom'; did you mean 'eps"),
        ("learners.ours.epsilon", -1.0, "learners.ours: .*epsilon"),
        ("learners.ours.seed", "$sede", r"\$sede is not defined; did you mean 'seed'"),
        ("learners.ours.environments", ["plantde"], "no environment 'plantde'; did you mean"),
        ("learners.ours.environments", "planted", "environments must be a list of names; got 'pl"),
        ("learners.ours.environments", [], None),
        ("learners.ours.name", "x", "learners.ours already has a name"),
        ("learners.uniform.type", "Hedge", r"Hedge needs actions \(or policies in the table of"),
        ("environments.planted.policies", "all", "policies must be a table with a type"),
        ("environments.planted.policies", {"type": "Paths"}, "policies: Paths needs graph and"),
        ("environments.planted.policies", {"type": "Paths.toward"}, "no constructor 'toward'; did"),
        ("environments.planted.policies", {"type": "Mean"}, "policies: Mean.. is not an oracle"),
        ("environments.planted.type", "ContextFTPL", "ContextFTPL is not an environment"),
        ("environments.planted.type", "no.such:Thing", "'no.such:Thing' is not allowed"),
        ("environments.planted.good", 3.0, "environments.planted: .*good"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path, value, complaint):
    table = changed(path, value)
    if complaint is None:
        assert not any("ours" in cell.label for cell in make_plan(table).cells)
        return
    with pytest.raises(hn.ParameterError, match=complaint):
        make_plan(table)


def test_an_endless_world_needs_a_horizon():
    table = copy.deepcopy(SMALL)
    del table["horizon"]
    with pytest.raises(hn.ParameterError, match=r"environments.planted needs horizon.*is endless"):
        make_plan(table)
    del table["environments"]["planted"]
    del table["learners"]["ours"]
    assert make_plan(table).rounds == 4


def test_files_are_refused_by_name(tmp_path):
    file = tmp_path / "bad.toml"
    with pytest.raises(hn.ParameterError, match=r"bad.toml cannot be read: No such file"):
        read_plan(file)
    file.write_text("horizon = 3\nseeds = = 2\n", encoding="utf-8")
    with pytest.raises(hn.ParameterError, match=r"bad.toml is not valid TOML: .*line 2"):
        read_plan(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(hn.ParameterError, match=r"bad.toml is not a text file"):
        read_plan(file)
    file.write_text("horizon = 3\n", encoding="utf-8")
    with pytest.raises(hn.ParameterError, match=r"bad.toml: no environments are given"):
        read_plan(file)


@pytest.mark.parametrize("nested", [False, True])
def test_other_data_is_another_cell(tmp_path, nested):
    file = tmp_path / "stream.csv"
    keys = set()
    for row in ("1.0,0", "2.0,1"):
        file.write_text(f"x,y\n{row}\n0.5,1\n0.1,0\n", encoding="utf-8")
        world = {"type": "FromFile", "path": "stream.csv", "context": ["x"], "label": "y"}
        if nested:
            world = {"type": "Corrupted", "environment": world}
        table = {"environments": {"file": world}, "learners": {"u": {"type": "UniformRandom"}}}
        keys.add(make_plan(table, folder=tmp_path).cells[0].key)
    assert len(keys) == 2


OWN = """
import hannan as hn

class Mine(hn.environments.PlantedPolicy):
    number = {number}
"""


def test_the_file_mine_beside_the_experiment_is_found_and_its_code_counts(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
horizon = 10
[environments.mine]
type = "mine:Mine"
policies = { type = "AllPolicies", n_contexts = 2, n_actions = 2 }
[learners.ours]
type = "ContextFTPL"
""",
        encoding="utf-8",
    )
    keys = set()
    for number in (1, 2):
        (tmp_path / "mine.py").write_text(OWN.format(number=number), encoding="utf-8")
        keys.add(read_plan(plan).cells[0].key)
    assert len(keys) == 2


def test_a_learner_from_outside_is_compared_with_the_same_best_policy(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import hannan as hn\nclass Own(hn.baselines.UniformRandom): pass\n", encoding="utf-8"
    )
    table = copy.deepcopy(SMALL)
    del table["environments"]["arrays"]
    table["learners"]["uniform"]["type"] = "mine:Own"
    cells = make_plan(table, folder=tmp_path).cells
    assert cells[2].data_of_learner is not None
    assert cells[1].data_of_learner is None
    rows = summarise([play_cell(cell)[0] for cell in cells], {})
    assert all(row.regret is not None for row in rows)


def test_a_shared_thing_may_be_the_policies():
    table = copy.deepcopy(SMALL)
    table["shared"] = {"rules": POLICIES}
    table["environments"]["planted"]["policies"] = "$rules"
    learner = make_plan(table).cells[1].make_learner()
    assert isinstance(learner.oracle, hn.oracles.AllPolicies)
    table["shared"]["rules"] = POLICIES | {"n_actions": 3}
    assert make_plan(table).cells[0].key != make_plan(SMALL).cells[0].key


def test_numbers_may_be_numpys_and_seeds_any_sequence():
    table = SMALL | {"seeds": (0, 1), "horizon": np.int64(50)}
    keys = [cell.key for cell in make_plan(table).cells]
    assert keys == [cell.key for cell in make_plan(SMALL).cells]


def test_a_cell_prints_as_a_line():
    cell = make_plan(SMALL).cells[1]
    assert repr(cell) == f"<cell {cell.key}: ours on planted, seed 0>"


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "seeds", "environments", "learners", "shared", "policies", "a"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_nonsense_is_refused_and_nothing_else_happens(table):
    with pytest.raises(hn.HannanError):
        make_plan(table if isinstance(table, dict) else {"environments": table})


def test_every_entry_of_the_catalogue_is_found_by_its_name_and_has_a_line():
    for kind in (*KINDS, "options"):
        assert entries(kind)
        for entry in entries(kind):
            assert find(entry.name, (kind,)) is entry.made
            assert find(f"{kind}.{entry.name}") is entry.made
            assert entry.summary.endswith(".")


def player_of(table, policies):
    world = {"type": "PlantedPolicy", "policies": policies}
    plan = make_plan({"horizon": 10, "environments": {"w": world}, "learners": {"a": table}})
    (cell,) = (cell for cell in plan.cells if cell.learner is not None)
    return cell.make_learner()


def test_recommended_learners_are_made_by_name_with_the_class_of_their_world():
    listed = {"type": "FinitePolicies.random", "n_policies": 5, "n_contexts": 3, "n_actions": 2}
    for name in ("bandit", "hn.bandit"):
        player = player_of({"type": name, "max_restarts": 2, "predictor": None}, listed)
        assert isinstance(player, hn.Restarting)
        assert (player.max_restarts, player.learner.predictor, player.learner.seed) == (2, None, 0)
        assert player.oracle.n_policies == 5
    guess = {"type": "bandit", "predictor": {"type": "Mean", "alpha": 0.2}}
    assert player_of(guess, listed).learner.predictor.alpha == 0.2
    assert player_of({"type": "experts"}, listed).oracle.n_policies == 5


def test_a_bandit_that_is_told_its_contexts_takes_no_class():
    every = {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}
    player = player_of({"type": "bandit", "n_contexts": 3}, every)
    assert isinstance(player.learner, hn.TsallisINF)


def test_a_bandit_that_is_told_its_contexts_needs_no_class_in_its_world():
    world = {"type": "FromArrays", "contexts": [0, 1], "losses": [[0.0, 1.0], [1.0, 0.0]]}
    learners = {"a": {"type": "bandit", "n_contexts": 2}}
    (cell,) = make_plan({"environments": {"w": world}, "learners": learners}).cells
    assert cell.make_learner().oracle.n_contexts == 2


@pytest.mark.parametrize(("table", "complaint"), [
    ({"type": "bandit", "max_restart": 1}, "bandit has no argument 'max_restart'; did you mean"
     " 'max_restarts'?"),
    ({"type": "hn.bandit", "los_range": [0, 1]}, "hn.bandit has no argument 'los_range'; did you"
     " mean 'loss_range'?"),
    ({"type": "bandit", "zzz": 1}, "bandit has no argument 'zzz'; there are n_actions, "),
    ({"type": "experts", "discount": [0.5]}, "experts has no argument 'discount'; did you mean"
     " 'discounts'?"),
    ({"type": "experts", "n_contexts": 3}, "experts has no argument 'n_contexts'; did you mean"
     " 'contexts'?"),
    ({"type": "experts", "oracle": 3}, "experts has no argument 'oracle'; there are policies, "),
    ({"type": "ContextFTPL", "zzz": 1}, "ContextFTPL has no argument 'zzz'; there are oracle, "),
])  # fmt: skip
def test_a_wrong_argument_is_refused_at_its_place_with_those_there_are(table, complaint):
    every = {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}
    with pytest.raises(hn.ParameterError, match=re.escape(f"learners.a: {complaint}")):
        player_of(table, every)


def test_a_function_of_ones_own_may_be_called_bandit(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import hannan as hn\ndef bandit(arms):\n    return hn.bandit(arms, n_contexts=1)\n",
        encoding="utf-8",
    )
    made = Workshop(folder=str(tmp_path)).build({"type": "mine:bandit", "arms": 4}, "here", ())
    assert made.oracle.n_actions == 4
    with pytest.raises(hn.ParameterError, match="has no argument 'n_actions'"):
        Workshop(folder=str(tmp_path)).build({"type": "mine:bandit", "n_actions": 4}, "here", ())


ROWS = {"type": "LinearPolicies", "n_actions": 2}


@pytest.mark.parametrize(("type_", "option"), [
    ("ContextSemiBanditFTPL", {"trust": hn.Trust(1.0, share=0.5), "predictor": None}),
    ("bandit", {"trust": hn.Trust(1.0, share=0.5)}),
    ("ContextSemiBanditFTPL", {"resampling": hn.Resampling(successes=4, exact=False)}),
    ("ContextFTPL", {"epsilon": hn.SelfTuned(4.0)}),
    ("ContextFTPL", {"epsilon": hn.Anytime()}),
])  # fmt: skip
def test_small_objects_are_options_of_learners(type_, option):
    table = {"type": type_}
    for key, value in option.items():
        params = {} if value is None else fields(value)
        table[key] = {"type": "Mean"} if value is None else {"type": type(value).__name__, **params}
    player = player_of(table, POLICIES)
    player = getattr(player, "learner", player)
    for key, value in option.items():
        if value is not None:
            found = getattr(player, key)
            assert type(found) is type(value)
            assert fields(found) == fields(value)


def fields(option):
    """The arguments that make an option what it is."""
    names = inspect.signature(type(option)).parameters
    return {name: getattr(option, name) for name in names}


def test_small_objects_are_options_of_oracles_and_predictors():
    features = {"type": "RandomFourier", "n_features": 7, "bandwidths": [1.0, 3.0]}
    made = Workshop().build(ROWS | {"features": features}, "here", ("oracles",))
    assert made.features.n_features == 7
    assert made.features.bandwidths == (1.0, 3.0)
    pool = {"type": "Pool", "rows": [[0.0, 1.0], [1.0, 0.0]]}
    table = {"type": "ContextFTPL", "oracle": ROWS, "contexts": pool, "seed": 0}
    learner = Workshop().build(table, "here", ("learners",))
    assert learner.act([0.5, 0.5]) in (0, 1)
    assert learner.contexts.rows == pool["rows"]


def test_a_small_object_is_not_a_learner_and_its_mistakes_are_named():
    for table, complaint in [
        ({"type": "Trust"}, "a learner needs act"),
        ({"type": "bandit", "trust": {"type": "Trst"}}, "no 'Trst'; did you mean 'Trust'?"),
        ({"type": "bandit", "trust": {"type": "Trust", "budgt": 1}}, "did you mean 'budget'?"),
        ({"type": "bandit", "trust": {"type": "Trust", "floor": 2}}, "floor"),
    ]:
        with pytest.raises(hn.ParameterError, match=re.escape(complaint)):
            player_of(table, POLICIES)


def test_suggestions_are_of_the_kind_that_is_wanted():
    with pytest.raises(hn.ParameterError, match="did you mean 'FromLog'"):
        find("FromLg")
    with pytest.raises(hn.ParameterError, match="'FromLg'; `hannan list` shows all names"):
        find("FromLg", ("learners", "baselines"))
    with pytest.raises(hn.ParameterError, match="there is no 'Trus'; did you mean 'Trust'"):
        find("options.Trus")


def test_two_things_of_one_name_are_told_apart_by_their_place():
    assert find("Switching", ("environments",)) is hn.environments.Switching
    assert find("Switching", ("oracles",)) is hn.oracles.Switching
    assert find("environments.Switching", ("oracles",)) is hn.environments.Switching


def test_nearest():
    assert nearest("lernaer", ["learner", "seed"]) == "; did you mean 'learner'?"
    assert nearest("zzz", ["learner", "seed"]) == "; there are learner, seed."
    assert nearest("zzz", []) == "; none are known."
