"""A learner that was saved and loaded plays on bit for bit."""

import io
import os
import signal
import subprocess
import sys
import time
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.storage import reread
from tests.test_contracts import FINITE, ORACLES

TABLE = np.random.default_rng(0).integers(0, 3, size=(40, 6))
LISTED = hn.oracles.FinitePolicies(TABLE, n_actions=3)
ROWS = np.random.default_rng(1).random((8, 3)).round(2)


def rounds(contexts, n_actions, count=36, seed=3):
    """Contexts in turn, random losses."""
    rng = np.random.default_rng(seed)
    return [(contexts[t % len(contexts)], rng.random(n_actions)) for t in range(count)]


def play(learner, some):
    """The actions, and all they have left behind in numbers."""
    actions = []
    for context, losses in some:
        action = learner.act(context)
        full = learner.feedback is hn.Feedback.FULL
        learner.update(losses if full else losses[action])
        actions.append(np.atleast_1d(action).tolist())
    return actions


def assert_goes_on(learner, some, tmp_path, **loading):
    """Half of the rounds, a file, and the other half by both, the loaded one with less memory."""
    half = len(some) // 2
    play(learner, some[:half])
    late = [learner.decide(some[half][0])] if learner.late is None else []
    path = tmp_path / "learner.hannan"
    learner.save(path)
    with pytest.MonkeyPatch.context() as patch:  # blocks of another size make no difference
        for made in (BANDIT, FULL):
            patch.setattr(made, "noise_memory", 2**10)
        twin = hn.load(path, **loading)
    for one in (learner, twin):
        for decision in late:
            losses = some[half][1]
            full = one.feedback is hn.Feedback.FULL
            one.update(losses if full else losses[decision.action], decision=decision)
    rest = some[half + len(late) :]
    assert play(learner, rest) == play(twin, rest)
    assert (learner.rounds, learner.oracle_calls) == (twin.rounds, twin.oracle_calls)
    if hasattr(learner, "certificate"):
        assert repr(learner.certificate()) == repr(twin.certificate())  # nan is not nan
    return twin


@pytest.mark.parametrize(
    ("made", "epsilon"),
    [
        (hn.ContextFTPL, "adaptive"),
        (hn.ContextSemiBanditFTPL, "adaptive"),
        (hn.ContextSemiBanditFTPL, 0.4),  # with noise from the first round on
    ],
)
@pytest.mark.parametrize("name", ORACLES)
def test_every_learner_with_every_oracle(name, made, epsilon, tmp_path):
    oracle, contexts, _ = ORACLES[name]
    given = list(oracle.contexts) if contexts is None else list(contexts)
    if oracle.takes_items and made is hn.ContextFTPL:
        with pytest.raises(hn.ParameterError, match="items"):
            made(oracle)
        return
    K = max(map(len, given)) if oracle.takes_items else oracle.n_actions
    top = float(K) if oracle.takes_functions else 1.0
    X = None if oracle.takes_items and oracle.contexts is not None else given
    learner = made(oracle, X, epsilon=epsilon, seed=5, loss_range=(0.0, top))
    changing = isinstance(oracle, hn.oracles.Switching)
    some = rounds(given, K, len(given) if changing else 36)
    functions = map(oracle.params.get, ("solve", "independent", "shared"))
    trusted = [f for f in functions if callable(f)]
    trusted += oracle.params.get("rules") or []
    assert_goes_on(learner, some, tmp_path, trusted=trusted)


BANDIT, FULL = hn.ContextSemiBanditFTPL, hn.ContextFTPL
SETTINGS = {
    "no seed": lambda: FULL(LISTED),
    "no seed, bandit": lambda: BANDIT(LISTED),
    "once": lambda: FULL(LISTED, epsilon=0.3, noise="once", seed=1),
    "theorem": lambda: FULL(LISTED, epsilon="theorem", horizon=36, seed=1),
    "theorem, bandit": lambda: BANDIT(LISTED, epsilon="theorem", horizon=36, seed=1),
    "anytime": lambda: FULL(LISTED, epsilon="anytime", seed=1),
    "anytime, bandit": lambda: BANDIT(LISTED, epsilon="anytime", seed=1),
    "separator": lambda: FULL(LISTED, separator=range(6), seed=1),
    "pool": lambda: BANDIT(LISTED, hn.Pool(range(6)), seed=1),
    "earned": lambda: BANDIT(LISTED, predictor=hn.predictors.Mean(), seed=1),
    "earned, a distribution that is known": lambda: BANDIT(
        hn.oracles.AllPolicies(6, 3), predictor=hn.predictors.Last(), seed=1,
        trust=hn.Trust(budget=2.0, prior=1.0, floor=0.2, share=0.8),
    ),
    "baseline": lambda: BANDIT(
        LISTED, predictor=hn.predictors.ExponentialMean(), trust="baseline", seed=1
    ),
    "TsallisINF": lambda: hn.TsallisINF(hn.oracles.AllPolicies(6, 3), seed=1),
    "TsallisINF, earned": lambda: hn.TsallisINF(
        hn.oracles.AllPolicies(6, 3), predictor=hn.predictors.Mean(), seed=1
    ),
    "hn.bandit, listed": lambda: hn.bandit(3, policies=LISTED, seed=1),
    "hn.bandit, table": lambda: hn.bandit(3, n_contexts=6, seed=1),
    "eager": lambda: FULL(LISTED, epsilon=hn.SelfTuned(3.0), seed=1),
    "anytime, by name": lambda: BANDIT(LISTED, epsilon=hn.Anytime(), seed=1),
    "forecast": lambda: FULL(LISTED, predictor=hn.predictors.Last(), seed=1),
    "shared": lambda: BANDIT(LISTED, resampling="shared", seed=1),
    "Rao-Blackwell": lambda: BANDIT(LISTED, resampling="rao-blackwell", seed=1),
    "three successes": lambda: BANDIT(LISTED, resampling=3, seed=1),
    "draws only": lambda: BANDIT(
        hn.oracles.AllPolicies(6, 3), resampling=hn.Resampling(4, exact=False), seed=1
    ),
    "exact": lambda: BANDIT(hn.oracles.AllPolicies(6, 3), resampling="exact", seed=1),
    "playout": lambda: hn.PlayoutFTPL(LISTED, [t % 6 for t in range(36)], seed=1),
    "playout, pool": lambda: hn.PlayoutFTPL(LISTED, hn.Pool(range(6)), horizon=36, seed=1),
    "playout, bandit": lambda: hn.PlayoutBandit(LISTED, [t % 6 for t in range(36)]),
    "playout, bandit, pool": lambda: hn.PlayoutBandit(LISTED, hn.Pool(range(6)), horizon=36),
    "Discounted": lambda: hn.Discounted(FULL(LISTED, seed=1), 0.9),
    "Restarting": lambda: hn.Restarting(
        BANDIT(LISTED, predictor=hn.predictors.Mean(), seed=1),
        hn.detectors.Bernstein(delta=0.5, minimum=4),
        predictor=hn.predictors.Mean(),
    ),
    "StronglyAdaptive": lambda: hn.StronglyAdaptive(FULL(LISTED, seed=1), shortest=2, seed=2),
    "Restarting in Restarting": lambda: hn.Restarting(hn.Restarting(FULL(LISTED, seed=1))),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting(name, tmp_path):
    assert_goes_on(SETTINGS[name](), rounds(range(6), 3), tmp_path)


OPEN = {
    "LinearPolicies": hn.oracles.LinearPolicies(3),
    "LinearPolicies, Ridge": hn.oracles.LinearPolicies(3),
    "Stumps": hn.oracles.Stumps(3),
    "Stumps, edges": hn.oracles.Stumps(3, edges=[[0.2, 0.5], [0.4], [0.1, 0.6, 0.8]]),
    "Trees": hn.oracles.Trees(3),
    "Trees, deep": hn.oracles.Trees(3, depth=3),
    "PredictThenOptimise": hn.oracles.PredictThenOptimise(
        hn.oracles.LinearPolicies(4), hn.oracles.Subsets(4, 2)
    ),
    "Sklearn, regressor": hn.oracles.SklearnPolicies(Ridge(alpha=0.5), 3),
    "Sklearn, pipeline": hn.oracles.SklearnPolicies(
        make_pipeline(StandardScaler(), LogisticRegression(C=2.0, max_iter=30)), 3
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("made", [FULL, BANDIT])
@pytest.mark.parametrize("name", OPEN)
def test_an_open_world(name, made, tmp_path):
    oracle = OPEN[name]
    few = 16 if "Sklearn" in name else 36
    extra = {}
    if "Ridge" in name:
        extra = {"predictor": hn.predictors.Ridge(alpha=0.1)}
    known = {} if oracle.takes_new_contexts else {"contexts": hn.Pool(ROWS)}
    learner = made(oracle, seed=2, **extra, **known)
    assert_goes_on(learner, rounds(ROWS, oracle.n_actions, few), tmp_path)


@pytest.mark.parametrize("made", [FULL, BANDIT])
def test_an_open_world_before_its_first_round(made):
    learner = made(hn.oracles.LinearPolicies(3), predictor=hn.predictors.Ridge(), seed=0)
    twin = reread(learner)
    assert twin.act([1.0, 2.0]) == learner.act([1.0, 2.0])


def test_loss_functions_in_the_totals_and_in_a_predictor(tmp_path):
    learner = FULL(
        hn.oracles.Submodular(4), predictor=hn.predictors.Last(), loss_range=(-5, 20), seed=0
    )
    rng = np.random.default_rng(0)
    graph = [(0, 1), (1, 2), (2, 3), (0, 3)]
    some = []
    for _ in range(12):
        tails, heads = np.array(graph).T
        cut = hn.losses.Cut(tails, heads, rng.random(4), 4)
        bend = hn.losses.ConcaveOfModular(rng.random(4), "sqrt")
        size = hn.losses.ConcaveOfCardinality([0.0, 0.5, 0.8, 0.9, 0.9])
        some.append((None, hn.losses.Sum([cut, bend, size, hn.losses.Linear(rng.random(4) - 1)])))
    assert_goes_on(learner, some, tmp_path)


def test_once_drawn_noise_along_a_walk(tmp_path):
    oracle = hn.oracles.Switching(FINITE, 2, sequence=[0, 3, 1, 1, 2] * 6)
    learner = FULL(oracle, epsilon=0.3, noise="once", seed=1)
    some = rounds([0, 3, 1, 1, 2], 3, 30)
    assert_goes_on(learner, some, tmp_path)


def test_graphs_of_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(["far", "d", "c", "b", "a"])
    graph.add_edges_from([("a", "b"), ("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")])
    for oracle in (
        hn.oracles.Paths(graph, "a", "d"),
        hn.oracles.SpanningTrees(networkx.petersen_graph()),
    ):
        learner = BANDIT(oracle, seed=0)
        twin = assert_goes_on(learner, rounds([None], oracle.n_actions), tmp_path)
        assert twin.oracle.edges == learner.oracle.edges


def test_data_frames_as_contexts(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
    learner = FULL(hn.oracles.Stumps(3), contexts=frame, seed=0)
    assert_goes_on(learner, rounds(ROWS, 3), tmp_path)


@pytest.mark.parametrize(
    "points",
    [
        [Fraction(1, 3), Fraction(-2, 7), Fraction(5)],
        [Decimal("0.10"), Decimal("-3"), Decimal("7.25")],
        [date(2026, 1, 3), date(2025, 12, 24), date(2026, 11, 16)],
        [datetime(2026, 1, 3, 4, 5, 6, 7), datetime(2025, 1, 1), datetime(2026, 1, 1)],
        [("a", 1), ("b", 0), ("a", 2)],
        [UUID(int=7), UUID(int=1), UUID(int=3)],
        [1 + 2j, -1j, 3 + 0j],
        [b"a", b"\x00", b""],
    ],
    ids=lambda points: type(points[0]).__name__,
)
def test_contexts_of_many_kinds(points, tmp_path):
    oracle = hn.oracles.PerContext(hn.oracles.AllPolicies(1, 3), points)
    learner = FULL(oracle, contexts=points, seed=0)
    twin = assert_goes_on(learner, rounds(points, 3), tmp_path)
    assert twin.contexts == points
    assert list(map(type, twin.contexts)) == list(map(type, points))


def test_what_was_shared_stays_shared(tmp_path):
    learner = hn.Restarting(FULL(LISTED, seed=0))
    play(learner, rounds(range(6), 3))
    twin = reread(learner)
    assert twin.oracle is twin.learner.oracle is twin.current_learner.oracle
    assert twin._monitor._learner is twin.current_learner


BASELINES = {
    "UniformRandom": lambda: hn.baselines.UniformRandom(3, seed=1),
    "FollowTheLeader": lambda: hn.baselines.FollowTheLeader(LISTED),
    "Hedge": lambda: hn.baselines.Hedge(LISTED, seed=1),
    "FixedShare": lambda: hn.baselines.FixedShare(LISTED, seed=1),
    "AdaNormalHedge": lambda: hn.baselines.AdaNormalHedge(LISTED, seed=1),
    "OptimisticHedge": lambda: hn.baselines.OptimisticHedge(LISTED, seed=1),
    "Exp4": lambda: hn.baselines.Exp4(LISTED, seed=1),
    "LinUCB": lambda: hn.baselines.LinUCB(3),
    "EpsilonGreedy": lambda: hn.baselines.EpsilonGreedy(3, epsilon=0.3, seed=1),
    "EpochGreedy": lambda: hn.baselines.EpochGreedy(LISTED, seed=1),
    "KalaiVempala": lambda: hn.baselines.KalaiVempala(LISTED, seed=1),
    "VowpalWabbit": lambda: hn.baselines.VowpalWabbit(3, "--epsilon 0.3", seed=1),
}


@pytest.mark.parametrize("name", [*SETTINGS, *BASELINES])
def test_open_rounds_survive_a_file(name, tmp_path):
    """One of `act` and three decisions, two of them of some actions only; the last one first."""
    learner = (SETTINGS | BASELINES)[name]()
    some, T = rounds(range(6), 3), 20
    play(learner, some[:T])
    waiting = []
    if learner.late is None:
        for n, available in enumerate((None, [0, 2], [1, 2])):
            waiting.append((learner.decide(some[T + n][0], available=available), some[T + n][1]))
    at = T + len(waiting)
    action = learner.act(some[at][0], available=[0, 1])
    learner.save(tmp_path / "x")
    trusted = ["vowpalwabbit"] if name == "VowpalWabbit" else []
    twin = hn.load(tmp_path / "x", trusted=trusted)
    assert twin.open_decisions == learner.open_decisions == [d.id for d, _ in waiting]
    assert (twin.clock, twin.rounds) == (learner.clock, learner.rounds)
    full = learner.feedback is hn.Feedback.FULL
    for one in (learner, twin):
        for decision, losses in waiting[:0:-1]:
            given = losses if full else losses[decision.action]
            with pytest.raises(hn.HannanError):
                one.update("much", decision=decision)
            one.update(given, decision=decision)
        one.update(some[at][1] if full else some[at][1][action])
        for decision, _ in waiting[:1]:
            one.forget(decision)
        with pytest.raises(hn.OrderError):
            one.update(0.1)
    rest = some[at + 1 :]
    assert play(learner, rest) == play(twin, rest)
    assert (learner.rounds, learner.oracle_calls) == (twin.rounds, twin.oracle_calls)
    assert repr(learner.regret_bound()) == repr(twin.regret_bound())
    if hasattr(learner, "certificate"):
        assert repr(learner.certificate()) == repr(twin.certificate())


def test_decisions_from_before_a_restart_survive_a_file(tmp_path):
    learner = hn.Restarting(
        BANDIT(LISTED, seed=1), hn.detectors.Bernstein(delta=0.9, minimum=4), max_restarts=2
    )
    early = learner.decide_many(range(4))
    rng = np.random.default_rng(0)
    while not learner.restarts:
        action = learner.act(int(rng.integers(6)))
        learner.update(float(learner.rounds > 30) * rng.integers(2) + 0.0 * action)
        assert learner.rounds < 500
    now = learner.decide(5)
    learner.save(tmp_path / "x")
    twin = hn.load(tmp_path / "x")
    for one in (learner, twin):
        one.update(0.5, decision=early[3])
        one.forget(early[1])
        one.update(0.25, decision=now)
        one.update(0.75, decision=early[0].id)
        assert one.open_decisions == [2]
        assert one.current_learner.open_decisions == []
    assert play(learner, rounds(range(6), 3)) == play(twin, rounds(range(6), 3))
    assert repr(learner.certificate()) == repr(twin.certificate())
    assert learner.restarts == twin.restarts


def test_a_round_that_act_opened_is_answered_after_loading(tmp_path):
    for made in (FULL, BANDIT):
        learner = made(LISTED, seed=0)
        some = rounds(range(6), 3)
        play(learner, some[:20])
        action = learner.act(2)
        learner.save(tmp_path / "x")
        twin = hn.load(tmp_path / "x")
        for one in (learner, twin):
            one.update([0.1, 0.9, 0.4] if made is FULL else 0.7)
        assert isinstance(action, int)
        assert play(learner, some) == play(twin, some)
        with pytest.raises(hn.OrderError):
            twin.update(0.1)


ELSEWHERE = """
import sys
import numpy as np, hannan as hn
hn.ContextSemiBanditFTPL.noise_memory = int(sys.argv[2])
learner = hn.load(sys.argv[1])
rng = np.random.default_rng(9)
played = []
for t in range(200):
    played.append(learner.act(t % 6))
    learner.update(float(rng.random()))
print(played)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "memory"), [("1", 1), ("2", 2**14), ("2", 2**26)])
def test_another_process_with_other_threads_and_other_blocks(threads, memory, tmp_path):
    learner = BANDIT(LISTED, predictor=hn.predictors.Mean(), seed=7)
    rng = np.random.default_rng(9)
    play(learner, rounds(range(6), 3, 100))
    learner.save(tmp_path / "x")
    played = []
    for t in range(200):
        played.append(learner.act(t % 6))
        learner.update(float(rng.random()))
    limits = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), threads)
    found = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path / "x"), str(memory)],
        capture_output=True, text=True, check=True, env={**os.environ, **limits},
    )  # fmt: skip
    assert found.stdout.strip() == str(played)


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "x.hannan"
    learner = FULL(LISTED, seed=0)
    learner.save(path)
    before = path.read_bytes()
    play(learner, rounds(range(6), 3))

    def broken(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(hn.StorageError, match="No space left"):
            learner.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.hannan"]
    learner.save(path)
    assert hn.load(path).rounds == 36
    with pytest.raises(hn.StorageError, match="cannot be written"):
        learner.save(tmp_path / "no" / "folder")


def test_modes_and_links_stay(tmp_path):
    learner, path = FULL(LISTED, seed=0), tmp_path / "x.hannan"
    learner.save(path)
    usual = (tmp_path / "other").open("w")
    usual.close()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    path.chmod(0o600)
    (tmp_path / "latest").symlink_to(path)
    learner.act(0)
    learner.update([0.1, 0.2, 0.3])
    learner.save(tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink()
    assert hn.load(path).rounds == 1
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_is_no_name_of_a_file_is_refused(tmp_path):
    for wrong in (None, 3, b"x", io.BytesIO(), ""):
        with pytest.raises(hn.InputTypeError, match="must name a file"):
            FULL(LISTED, seed=0).save(wrong)
        with pytest.raises(hn.InputTypeError, match="must name a file"):
            hn.load(wrong)
    with pytest.raises(hn.StorageError, match="there is no folder"):
        FULL(LISTED, seed=0).save(tmp_path / "no" / "x")


SAVING = """
import sys
import numpy as np, hannan as hn
learner = hn.ContextFTPL(hn.oracles.AllPolicies(2000, 10), seed=0)
while True:
    learner.act(0)
    learner.update(np.zeros(10))
    learner.save(sys.argv[1])
    print(learner.rounds, flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "x.hannan"
    rng = np.random.default_rng(0)
    for _ in range(3):
        saving = subprocess.Popen(
            [sys.executable, "-c", SAVING, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert int(saving.stdout.readline()) == 1
        time.sleep(float(rng.random()) * 0.05)
        saving.send_signal(signal.SIGKILL)
        saving.communicate()
        assert hn.load(path).rounds >= 1


def test_size_of_a_file():
    table = np.random.default_rng(0).integers(0, 2, size=(10**5, 10))
    learner = FULL(hn.oracles.FinitePolicies(table), seed=0)
    play(learner, rounds(range(10), 2, 20))
    from hannan.core.storage.encoding import Encoder
    from hannan.core.storage.files import packed

    size = sum(map(len, packed(learner, Encoder())))
    assert size <= 1.1 * (8 * 10**5 + table.size)  # totals, and a byte for each action


def test_sklearn_estimators_are_named_not_stored():
    oracle = hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1, random_state=3), 2)
    learner = FULL(oracle, contexts=ROWS, seed=0)
    play(learner, rounds(ROWS, 2, 8))
    twin = reread(learner)
    assert twin.oracle.estimator.get_params() == oracle.estimator.get_params()
    assert not hasattr(twin.oracle.estimator, "tree_")


def hinted_bandit():
    """40 rounds of a hinted bandit, and one open decision; weights were not drawn in pairs then."""
    singly = hn.Resampling(pairs=False)
    learner = BANDIT(LISTED, predictor=hn.predictors.Mean(), resampling=singly, seed=2)
    play(learner, rounds(range(6), 3, 40))
    learner.decide(3)
    return learner


@pytest.mark.parametrize("saved", [False, True])
def test_a_hinted_bandit_plays_on_as_it_always_did(saved):
    learner = reread(hinted_bandit()) if saved else hinted_bandit()
    assert learner.rounds == 40
    assert learner.open_decisions == [0]
    learner.update(0.25, decision=0)
    played = []
    for t in range(12):
        played.append(learner.act(t % 6))
        learner.update(0.5)
    assert played == [0, 2, 1, 2, 1, 0, 2, 0, 2, 1, 1, 0]
