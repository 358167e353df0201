"""Files with a right checksum that somebody forged: refused, or harmless."""

import copy
import inspect
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.storage import container, reread
from hannan.core.storage.arrays import Arrays, packed
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import decoded
from hannan.core.storage.files import packed as content_of
from hannan.core.stored import Stored
from tests.for_each import for_each

ROWS = np.random.default_rng(0).random((24, 3)).round(2)


def opened(learner):
    """The head and the arrays of a learner's file."""
    content = b"".join(content_of(learner, Encoder()))
    head, body = container.unpack(memoryview(content), "the file")
    held = Arrays(head["arrays"], body, "the file")
    return head, [held.take(i) for i in range(len(head["arrays"]))]


def load(head, arrays=(), trusted=()):
    """What is made of a forged file."""
    entries = [packed(np.asarray(array)) for array in arrays]
    head = {**head, "arrays": [entry for entry, _ in entries]}
    content = b"".join(container.pack(head, [body for _, body in entries]))
    head, body = container.unpack(memoryview(content), "the file")
    return decoded(head, body, "the file", trusted, kind=hn.Learner)


def nodes(tree, name):
    """All nodes of this name in a tree."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if key == name:
            yield value
        if isinstance(value, dict | list):
            yield from nodes(value, name)


def played(oracle, contexts, n_actions, **settings):
    learner = hn.ContextFTPL(oracle, seed=0, **settings)
    rng = np.random.default_rng(1)
    for context in contexts:
        learner.act(context)
        learner.update(rng.random(n_actions))
    return learner


# Arrays -------------------------------------------------------------------------------------

FEW = hn.oracles.FinitePolicies([[0], [1], [2]], n_actions=3)
GROWING = {
    "Switching": (hn.oracles.Switching(FEW, 1, sequence=12), [None] * 9, 3, "_totals"),
    "Switching, intervals": (
        hn.oracles.Switching(FEW, 1, sequence=12, method="intervals"), [None] * 9, 3, "_room"
    ),
    "Trees": (hn.oracles.Trees(3), ROWS, 3, "_stat"),
    "Trees, greedy": (hn.oracles.Trees(3, depth=3), ROWS, 3, "_places"),
    "Stumps": (hn.oracles.Stumps(3), ROWS, 3, "_stat"),
    "LinearPolicies": (hn.oracles.LinearPolicies(3), ROWS, 3, "_U"),
    "PredictThenOptimise": (
        hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(4), hn.oracles.Subsets(4, 2)),
        ROWS, 4, "_b",
    ),
    "Disjunctions": (hn.oracles.Disjunctions(24), range(9), 2, "_masks"),
    "Disjunctions, few": (hn.oracles.Disjunctions(5), range(9), 2, "_totals"),
}  # fmt: skip


@pytest.mark.parametrize("case", GROWING)
def test_arrays_that_grow_must_fit_the_others(case):
    oracle, contexts, n_actions, name = GROWING[case]
    head, arrays = opened(played(oracle, contexts, n_actions))
    assert load(head, arrays).rounds == len(contexts)
    (place,) = {node["array"] for node in nodes(head, name)}
    old = arrays[place]
    wrong = [old[..., None], old.astype("f4"), np.asfortranarray(np.stack([old, old]))]
    if name != "_places":  # which are found again before they are used
        wrong += [old[:0], old[:1]]
    if old.ndim > 1:
        wrong += [old[:, :1], np.hstack([old, old]), old.reshape(-1)]
    if old.dtype.kind == "f":
        for value in (np.nan, np.inf, 1e300):
            wrong.append(old.copy())
            wrong[-1].flat[0] = value
    elif old.dtype.kind == "i":
        wrong += [np.full_like(old, -1), np.full_like(old, 10**9)]
    for array in wrong:
        changed = [array if i == place else each for i, each in enumerate(arrays)]
        with pytest.raises(hn.DamagedFileError):
            load(head, changed)


@pytest.mark.parametrize(
    "other",
    [
        {"part": "hannan.oracles.finite_policies:FiniteObjective"},
        {"class": "hannan.oracles.all_policies:TableObjective", "given": {}},
        {"part": "os:system"},
    ],
    ids=str,
)
def test_parts_are_made_by_their_learner(other):
    """The total of another policy class would be played on."""
    head, arrays = opened(played(hn.oracles.AllPolicies(4, 3), [0, 1, 2], 3))
    leader = next(node for node in nodes(head, "learned") if "total" in node)
    leader["total"] = other | {"learned": leader["total"]["learned"]}
    with pytest.raises(hn.DamagedFileError):
        load(head, arrays)


# Generators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_only_the_generator_in_use_is_saved(kind):
    learner = hn.baselines.UniformRandom(3, seed=0)
    learner._rng = np.random.Generator(getattr(np.random, kind)(0))
    with pytest.raises(hn.StorageError, match="must be a PCG64"):
        opened(learner)


@pytest.mark.parametrize("wrong", ["MT19937", None, [], [1, 2, 3], [1, 2, 0, 0, 0], {"list": [1]}])
def test_only_the_generator_in_use_is_made(wrong):
    head, arrays = opened(hn.baselines.UniformRandom(3, seed=0))
    (node,) = nodes(head, "_rng")
    assert len(node["generator"]) == 4
    node["generator"] = wrong
    with pytest.raises(hn.DamagedFileError, match="cannot"):
        load(head, arrays)


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 2**128), (0, -1), (1, 0.5), (1, 2**128), (2, 2), (2, True), (3, 2**32), (3, -1)],
)
def test_a_generator_is_in_a_state_that_it_can_be_in(place, value):
    head, arrays = opened(hn.baselines.UniformRandom(3, seed=0))
    (node,) = nodes(head, "_rng")
    node["generator"][place] = value
    with pytest.raises(hn.DamagedFileError, match="cannot hold"):
        load(head, arrays)


# Estimators -----------------------------------------------------------------------------------


def fitted_by(estimator):
    oracle = hn.oracles.SklearnPolicies(estimator, 2)
    return hn.ContextFTPL(oracle, contexts=ROWS, seed=0)


def test_a_search_cannot_set_the_memory_of_a_pipeline(tmp_path):
    """Its parameters would reach joblib's cache, which executes what it finds there."""
    pipe = Pipeline([("tree", DecisionTreeClassifier(max_depth=1))])
    search = GridSearchCV(pipe, {"memory": [str(tmp_path)]}, cv=2)
    head, arrays = opened(fitted_by(search))
    with pytest.raises(hn.UntrustedError, match="GridSearchCV"):
        load(head, arrays)
    assert type(load(head, arrays, trusted=["sklearn"]).oracle.estimator) is GridSearchCV


def test_a_pipeline_with_memory_is_refused_whoever_trusts_it(tmp_path):
    pipe = Pipeline([("tree", DecisionTreeClassifier(max_depth=1))], memory=str(tmp_path))
    head, arrays = opened(fitted_by(Pipeline([("all", pipe)])))
    for trusted in ([], ["sklearn"]):
        with pytest.raises(hn.StorageError, match="memory="):
            load(head, arrays, trusted)


def test_parameters_of_estimators_are_plain_and_moderate():
    head, arrays = opened(fitted_by(LogisticRegression(C=2.0, max_iter=50)))
    assert load(head, arrays).oracle.estimator.C == 2.0
    estimator = {"estimator": "sklearn.tree:DecisionTreeClassifier", "params": {}}
    for wrong in (10**9, {"list": [{"tuple": ["x", estimator]}]}, estimator, "x" * 2000):
        changed = copy.deepcopy(head)
        node = next(nodes(changed, "estimator"))
        node["params"]["max_iter"] = wrong
        with pytest.raises(hn.UntrustedError, match="max_iter"):
            load(changed, arrays)


def test_nothing_is_imported_for_a_name_that_is_refused(monkeypatch):
    head, arrays = opened(fitted_by(DecisionTreeClassifier(max_depth=1)))
    module = "sklearn.experimental.enable_halving_search_cv"  # changes scikit-learn
    monkeypatch.delitem(sys.modules, module, raising=False)
    next(nodes(head, "estimator"))["estimator"] = f"{module}:anything"
    with pytest.raises(hn.UntrustedError, match=module):
        load(head, arrays)
    assert module not in sys.modules


@pytest.mark.parametrize("wrong", [2**70, -(2**70), {"fraction": "1/3"}, True])
def test_a_number_is_one_that_arrays_hold_as_numbers(wrong):
    """An integer beyond 64 bits would make objects of the whole array that it comes into."""
    base = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    learner = hn.StronglyAdaptive(base, seed=0)
    learner.act(0)
    learner.update([0.5, 0.0, 1.0])
    head, arrays = opened(learner)
    assert load(head, arrays).rounds == 1
    for node in nodes(head, "learned"):
        if "magnitude" in node:
            node["magnitude"] = wrong
    with pytest.raises(hn.DamagedFileError, match="magnitude"):
        load(head, arrays)


def test_two_rounds_do_not_wait_for_the_same_answer():
    learner = hn.bandit(3, n_contexts=1, seed=0)
    learner.decide()
    learner.decide()
    assert load(*opened(learner)).open_decisions == [0, 1]
    first, second = learner._ledger.opened
    second.inner = first.inner
    with pytest.raises(hn.DamagedFileError, match="Restarting"):
        load(*opened(learner))


def test_totals_of_a_table_are_moderate():
    learner = hn.TsallisINF(hn.oracles.AllPolicies(2, 3), seed=0)
    learner.act(0)
    learner.update(0.5)
    head, arrays = opened(learner)
    for array in arrays:
        if array.shape == (2, 3):
            array[:] = 1e18
    with pytest.raises(hn.DamagedFileError, match="_past"):
        load(head, arrays)


# Sizes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "node",
    [
        {"fraction": "1e999999999"},
        {"decimal": "1e999999999"},
        {"range": [0, 10**15, 1]},
        {"list": [{"range": [0, 10**7, 1]}]},
    ],
    ids=str,
)
def test_values_that_would_take_all_memory_are_refused(node):
    head, arrays = opened(hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0))
    head["learner"]["given"]["contexts"] = {"list": [0, node]}
    started = time.process_time()
    with pytest.raises(hn.DamagedFileError):
        load(head, arrays)
    assert time.process_time() - started < 1.0


def test_values_that_repeat_each_other_are_counted():
    """Forty pools, each twice in the next one: to compare the last would take for ever."""
    head, arrays = opened(hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0))
    rows = {"list": [0]}
    pools = []
    for i in range(40):
        pools.append({"class": "hannan.learners.context_set:Pool", "given": {"rows": rows},
                      "learned": {}, "id": 1000 + i})  # fmt: skip
        rows = {"list": [{"ref": 1000 + i}, {"ref": 1000 + i}]}
    head["learner"]["given"]["contexts"] = {"list": pools}
    with pytest.raises(hn.DamagedFileError, match="too many or too deeply"):
        load(head, arrays)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0), "n_contexts"),
        (hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0), "n_actions"),
        (hn.ContextFTPL(hn.oracles.Subsets(5, 2), seed=0), "n"),
        (hn.ContextFTPL(hn.oracles.Switching(FEW, 1), contexts=[(0, None)], seed=0), "switches"),
        (hn.PlayoutFTPL(FEW, horizon=9, seed=0), "horizon"),
        (hn.Restarting(hn.ContextFTPL(FEW, seed=0), hn.detectors.Bernstein()), "longest"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_numbers_of_things_must_suit_the_size_of_the_file(learner, name):
    head, arrays = opened(learner)
    assert load(head, arrays).rounds == 0
    for place in [given for given in nodes(head, "given") if type(given.get(name)) is int]:
        old, place[name] = place[name], 10**9
        with pytest.raises(hn.DamagedFileError, match="too small"):
            load(head, arrays)
        place[name] = old


# Classes ------------------------------------------------------------------------------------------


def stored_classes():
    found = set()

    def walk(made):
        for each in made.__subclasses__():
            found.add(each)
            walk(each)

    walk(Stored)
    return sorted(
        (each for each in found if each.__module__.startswith("hannan.")),
        key=lambda each: (each.__module__, each.__qualname__),
    )


@for_each("made", stored_classes())
def test_room_is_made_for_parameters_that_there_are(made):
    """A name that no constructor has would let a forged number of things pass."""
    heirs = [each for each in stored_classes() if issubclass(each, made)]
    known = {name for each in heirs for name in inspect.signature(each.__init__).parameters}
    named = {n.partition(".")[0] for room in vars(made).get("room_for", ()) for n in room.split()}
    assert named - {"unless"} <= known


# Writing ------------------------------------------------------------------------------------------


def some_learner():
    return hn.baselines.UniformRandom(3, seed=0)


def test_nobody_else_may_read_a_file_that_is_being_written(tmp_path, monkeypatch):
    modes = []

    def noted(file):
        modes.append(stat.S_IMODE(os.fstat(file).st_mode))

    monkeypatch.setattr(os, "fsync", noted)
    some_learner().save(tmp_path / "x")
    assert modes == [0o600]


def test_what_killed_saves_left_is_removed_by_the_next_one(tmp_path):
    mine = [tmp_path / f".x.{i:016x}" for i in range(3)]
    others = [tmp_path / ".y.0000000000000000", tmp_path / ".x.notes", tmp_path / ".x.0123"]
    for path in (*mine, *others):
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
    with open(mine[2], "rb") as held:  # by a save that is still at work
        container._lock(held.fileno())
        some_learner().save(tmp_path / "x")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "x", mine[2], *others])


def test_devices_and_pipes_are_neither_replaced_nor_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/null", tmp_path):
        with pytest.raises(hn.StorageError, match="cannot be written"):
            some_learner().save(path)
        with pytest.raises(hn.StorageError, match="cannot be read"):
            hn.load(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_file_stays(tmp_path):
    some_learner().save(tmp_path / "x")
    os.chown(tmp_path / "x", 1234, 2345)
    (tmp_path / "x").chmod(0o640)
    some_learner().save(tmp_path / "x")
    found = (tmp_path / "x").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o640)


# Good files -------------------------------------------------------------------------------

OPEN = {
    "LinearPolicies": hn.oracles.LinearPolicies(3),
    "Stumps": hn.oracles.Stumps(3),
    "Trees": hn.oracles.Trees(3),
    "Trees, greedy": hn.oracles.Trees(3, depth=3),
}
WRAPPED = {
    "alone": lambda learner: learner,
    "Restarting": hn.Restarting,
    "StronglyAdaptive": lambda learner: hn.StronglyAdaptive(learner, shortest=2, seed=1),
    "Discounted": lambda learner: hn.Discounted(learner, 0.9),
}


@pytest.mark.parametrize("rounds", [0, 1, 5, 17])
@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("name", OPEN)
def test_open_worlds_go_on_from_their_files(name, wrapped, rounds):
    learner = WRAPPED[wrapped](hn.ContextFTPL(OPEN[name], seed=0))
    rng = np.random.default_rng(2)
    for t in range(rounds):
        learner.act(ROWS[t])
        learner.update(rng.random(3))
    twin = reread(learner)
    for t in range(rounds, rounds + 6):
        losses = rng.random(3)
        assert twin.act(ROWS[t]) == learner.act(ROWS[t])
        for one in (learner, twin):
            one.update(losses)


@pytest.mark.slow(minutes=0.3)
@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 2_000), *(pytest.param(k, 10_000, marks=pytest.mark.nightly) for k in range(8))],
)
def test_many_forgeries(seed, count):
    """See `tests.core.forger`, which makes as many as one likes."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.core.forger", "--seed", str(seed), "--count", str(count)],
        capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-2000:]
