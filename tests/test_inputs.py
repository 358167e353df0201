"""Frames and columns of other packages do what the arrays of their values do, wherever they go."""

import datetime

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples.worlds import ImageCut, MeasuredSpeeds

import hannan as hn
from tests.for_each import for_each

RNG = np.random.default_rng(5)
ROWS = RNG.random((6, 3)).round(2)
TABLE = RNG.integers(0, 3, size=(5, 4))
BITS = np.eye(3, dtype=np.int64)
SHUFFLED = [4, 2, 0, 1, 3, 5, 7, 6, 9, 8]


def shuffled(frame):
    """The same rows under index labels that count another way."""
    frame.index = SHUFFLED[: len(frame)]
    return frame


def named(table):
    """Columns in an order that no sorting of their names gives."""
    names = [f"{letter}{i}" for i, letter in enumerate("zkbqaxrm")]
    return {name: column.tolist() for name, column in zip(names, np.transpose(table), strict=False)}


def chunked(table):
    """A table of pyarrow in several pieces."""
    whole = pa.table(named(table))
    return pa.concat_tables([whole.slice(i, 1) for i in range(len(whole))])


FRAMES = {
    "pandas": lambda table: shuffled(pd.DataFrame(named(table))),
    "pandas, nullable": lambda table: pd.DataFrame(named(table)).convert_dtypes(),
    "pandas, of objects": lambda table: pd.DataFrame(named(table)).astype(object),
    "pandas, repeated names": lambda table: pd.DataFrame(table, columns=["x"] * len(table[0])),
    "pandas, on pyarrow": lambda table: pd.DataFrame(named(table)).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda table: pl.DataFrame(named(table)),
    "pyarrow": lambda table: pa.table(named(table)),
    "pyarrow, chunked": chunked,
    "pyarrow, a batch": lambda table: pa.RecordBatch.from_pydict(named(table)),
    "lists": lambda table: np.asarray(table).tolist(),
}
COLUMNS = {
    "pandas": lambda values: shuffled(pd.Series(values)),
    "pandas, nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas, categories": lambda values: pd.Series(values, dtype="category"),
    "pandas, on pyarrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, an index": lambda values: pd.Index(values),
    "polars": lambda values: pl.Series(values),
    "pyarrow": lambda values: pa.array(values),
    "pyarrow, chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "pyarrow, a dictionary": lambda values: pa.array(values).dictionary_encode(),
    "a tuple": tuple,
}


def games(learner, contexts, losses):
    """What a learner plays, when told as much as it asks for."""
    played = []
    for context, row in zip(contexts, np.asarray(losses), strict=True):
        action = learner.act(context)
        seen = row if learner.feedback is hn.Feedback.FULL else row[action]
        learner.update(seen if np.ndim(seen) else float(seen))
        played.append(action)
    return played


def on_rows(**declared):
    """A learner of linear policies, told of contexts in one way or another."""
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(n_actions=2), seed=0, **declared)
    copy = learner.clone()
    losses = np.random.default_rng(1).random((12, 2))
    return games(learner, np.tile(ROWS, (2, 1)), losses), games(copy, np.tile(ROWS, (2, 1)), losses)


def rounds(environment, count):
    """The contexts and losses of an environment."""
    found = environment.rounds(count, np.random.default_rng(0))
    return [(np.array(r.context), r.reveal(0)) for r in found]


def stumps(edges):
    """Leaders of stumps with these cuts."""
    total = hn.oracles.Stumps(n_actions=2, edges=edges).objective()
    for row, losses in zip(ROWS, RNG_LOSSES, strict=True):
        total.add(row, losses)
    return repr(total.leader())


RNG_LOSSES = np.random.default_rng(3).random((6, 2))
LINEAR = hn.oracles.LinearPolicies(n_actions=2)

FRAME_PLACES = {
    "FinitePolicies": (TABLE, lambda x: hn.oracles.FinitePolicies(x).table),
    "Hedge": (TABLE, lambda x: games(hn.baselines.Hedge(x, seed=0), [0, 1], np.eye(3)[:2])),
    "contexts=": (ROWS, lambda x: on_rows(contexts=x)),
    "contexts=Pool": (ROWS, lambda x: on_rows(contexts=hn.Pool(x))),
    "separator=": (
        BITS,
        lambda x: games(
            hn.ContextFTPL(hn.oracles.Disjunctions(3), separator=x, seed=0), BITS, RNG_LOSSES[:3]
        ),
    ),
    "contexts of a playout": (
        np.tile(ROWS, (2, 1))[:8],
        lambda x: games(
            hn.PlayoutFTPL(LINEAR, contexts=x, seed=0),
            np.tile(ROWS, (2, 1))[:8],
            np.tile(RNG_LOSSES, (2, 1))[:8],
        ),
    ),
    "KalaiVempala": (
        ROWS,
        lambda x: games(hn.baselines.KalaiVempala(LINEAR, contexts=x, seed=0), ROWS, RNG_LOSSES),
    ),
    "decide_many": (
        ROWS,
        lambda x: [
            d.action
            for d in hn.ContextFTPL(LINEAR, contexts=ROWS, epsilon=1.0, seed=0).decide_many(x)
        ],
    ),
    "decide_many of a bandit": (
        ROWS,
        lambda x: [
            d.action for d in hn.ContextSemiBanditFTPL(LINEAR, hn.Pool(ROWS), seed=0).decide_many(x)
        ],
    ),
    "laplace_complexity": (ROWS, lambda x: hn.bounds.laplace_complexity(LINEAR, x, seed=0).value),
    "is_separator": (TABLE, lambda x: hn.separators.is_separator(x, [0, 1, 2, 3])),
    "greedy": (TABLE, hn.separators.greedy),
    "LinearProgram": (
        np.array([[1, 1, 0], [0, 1, 1]]),
        lambda x: hn.oracles.LinearProgram(A_ub=x, b_ub=[1, 1])._solve(np.array([-1.0, -1, -1])),
    ),
    "Stumps": (np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]]), lambda x: stumps(_by_column(x))),
    "Matchings": (
        np.array([[0, 1], [1, 0], [1, 1], [0, 0]]),
        lambda x: hn.oracles.Matchings(2, 2, x)._solve(np.array([0.0, 0, 1, 1])),
    ),
    "Switching": (
        ROWS,
        lambda x: games(
            hn.ContextFTPL(hn.oracles.Switching(LINEAR, 1, sequence=x), seed=0), ROWS, RNG_LOSSES
        ),
    ),
    "FromArrays, contexts": (
        ROWS,
        lambda x: rounds(hn.environments.FromArrays(x, RNG_LOSSES), 6),
    ),
    "FromArrays, losses": (ROWS, lambda x: rounds(hn.environments.FromArrays(None, x), 6)),
    "Classification": (
        ROWS,
        lambda x: rounds(hn.environments.Classification(x, [0, 1, 0, 1, 1, 0], scale="unit"), 6),
    ),
    "PlantedPolicy": (ROWS, lambda x: rounds(hn.environments.PlantedPolicy(LINEAR, x), 6)),
    "FrequencyPunisher": (
        ROWS,
        lambda x: rounds(hn.environments.FrequencyPunisher(contexts=x, n_actions=2), 6),
    ),
    "MeasuredSpeeds": (
        1.0 + ROWS,
        lambda x: rounds(MeasuredSpeeds(x, [1.0, 2.0, 3.0]), 6),
    ),
    "MeasuredSpeeds, sensors": (
        np.array([[0, 1], [2, 2]]),
        lambda x: rounds(MeasuredSpeeds(1.0 + ROWS, [1.0, 2.0], sensors=x), 6),
    ),
    "Ridge": (ROWS, lambda x: _taught(hn.predictors.Ridge(features=x)).predict(3)),
    "ImageCut": (
        BITS == 1,
        lambda x: ImageCut(x, seeds=2).pictures,
    ),
}
COLUMN_PLACES = {
    "update": ([0.25, 0.0, 0.5], lambda x: _updated(hn.ContextFTPL(ALL, seed=0), x)),
    "update of FTPL": ([0.25, 0.0, 0.5], lambda x: _updated(hn.FTPL(ALL, _no_fakes), x)),
    "update of Hedge": (
        [0.25, 0.0, 0.5],
        lambda x: _updated(hn.baselines.Hedge([[0], [1], [2]], seed=0), x),
    ),
    "update of sets": (
        [0.25, 0.5],
        lambda x: _updated(hn.ContextSemiBanditFTPL(hn.oracles.Subsets(3, 2), seed=0), x),
    ),
    "update, a late one": (
        [0.25, 0.0, 0.5],
        lambda x: _late(hn.ContextFTPL(ALL, epsilon=1.0, seed=0), x),
    ),
    "act": (
        [0.25, 0.5, 0.75],
        lambda x: (hn.ContextFTPL(LINEAR, seed=0).act(x), hn.baselines.LinUCB(2).act(x)),
    ),
    "act of Disjunctions": ([1, 0, 1], lambda x: hn.oracles.Disjunctions(3).check_context(x)),
    "act of Stumps": ([1, 0, 1], lambda x: hn.oracles.Stumps(2).check_context(x)),
    "act of Thresholds": ([7], lambda x: hn.oracles.Thresholds(2).check_context(x)),
    "learn": (
        [0.25, 0.5],
        lambda x: [
            _state(predictor, x).predict("rain")
            for predictor in (
                hn.predictors.Mean(),
                hn.predictors.Last(),
                hn.predictors.ExponentialMean(),
            )
        ],
    ),
    "a row of a predictor": (
        [0.25, 0.5],
        lambda x: (
            _one(hn.predictors.Ridge(), x).predict([0.25, 0.5]),
            _one(hn.predictors.Mean(), x).predict(np.array([0.25, 0.5])),
        ),
    ),
    "contexts= of numbers": (
        [3, 1, 2, 1],
        lambda x: hn.ContextFTPL(hn.oracles.AllPolicies(4, 2), contexts=x).leader.X.points,
    ),
    "contexts= of a line": (
        [0.5, 0.25, 0.5],
        lambda x: hn.ContextFTPL(hn.oracles.Thresholds(2), contexts=x).leader.X.points,
    ),
    "contexts= of formulas": (
        [3, 1, 2, 1],
        lambda x: hn.ContextFTPL(hn.oracles.Disjunctions(2), contexts=x).leader.X.points,
    ),
    "PerContext": (
        ["rain", "sun", "rain"],
        lambda x: list(hn.oracles.PerContext(hn.oracles.AllPolicies(1, 2), x).contexts),
    ),
    "FromArrays": (
        ["rain", "sun", "rain"],
        lambda x: hn.environments.FromArrays(x, RNG_LOSSES[:3]).contexts,
    ),
    "Classification": (
        [0, 2, 1],
        lambda x: rounds(hn.environments.Classification(ROWS[:3], x, shuffle=False), 3),
    ),
    "PartitionMatroid": (
        ["drink", "dish", "dish"],
        lambda x: hn.oracles.PartitionMatroid(x, {"drink": 1, "dish": 1})._order,
    ),
    "PartitionMatroid, capacities": (
        [2, 1],
        lambda x: hn.oracles.PartitionMatroid([0, 0, 0, 1, 1], x).quotas,
    ),
    "LinearProgram": (
        [1.0, 1.0],
        lambda x: hn.oracles.LinearProgram(A_ub=[[1, 1, 0], [0, 1, 1]], b_ub=x)._matrices[0][2],
    ),
    "Paths": (
        ["a", "a", "b"],
        lambda x: hn.oracles.Paths((x, ["b", "c", "c"]), "a", "c").edges,
    ),
    "Paths, usable": (
        [True, False, True],
        lambda x: hn.oracles.Paths([("a", "b"), ("a", "c"), ("b", "c")], "a", "c", usable=x)._ids,
    ),
    "SpanningTrees": (
        ["a", "a", "b"],
        lambda x: (
            hn.oracles.SpanningTrees(
                (np.array(x) if isinstance(x, tuple) else x, np.array(["b", "c", "c"]))
            ).edges
        ),
    ),
    "RoadNetwork": (
        ["a", "a", "b"],
        lambda x: hn.networks.RoadNetwork(x, ["b", "c", "c"], [1.0, 1.0, 1.0]).links,
    ),
    "RoadNetwork, numbers": (
        [1.0, 3.0, 2.0],
        lambda x: (
            _roads(x).free_flow_time,
            _roads([1.0, 1.0, 1.0]).travel_time(x),
            hn.environments.Congestion(_roads([1.0, 1.0, 1.0]), flow=x).unit,
        ),
    ),
    "Cut": (
        [0, 1, 2],
        lambda x: (
            hn.losses.Cut(x, [1, 2, 0], [1.0, 2.0, 4.0], n=3)([0]),
            hn.losses.Cut([1, 2, 0], x, [1.0, 2.0, 4.0], n=3)([0]),
            hn.losses.Cut([1, 2, 0], [2, 0, 1], x, n=3, modular=x)([0]),
        ),
    ),
    "Linear": ([0.25, 0.5], lambda x: hn.losses.Linear(x)([1])),
    "ConcaveOfCardinality": ([0, 2, 3], lambda x: hn.losses.ConcaveOfCardinality(x)([1])),
    "Coverage": (
        [2, 0, 2],
        lambda x: hn.losses.Coverage([x, [1]], weights=[1.0, 2.0, 4.0])([0]),
    ),
    "Coverage, weights": ([1.0, 2.0, 4.0], lambda x: hn.losses.Coverage([[0, 2]], x)([0])),
    "MeasuredSpeeds": (
        [1.0, 2.0, 3.0],
        lambda x: MeasuredSpeeds(1.0 + ROWS, x).unit,
    ),
    "AdaNormalHedge": (
        [1.0, 2.0],
        lambda x: hn.baselines.AdaNormalHedge([[0], [1]], prior=x)._prior,
    ),
    "available=": ([2, 0], lambda x: hn.ContextFTPL(ALL, seed=0).act(0, available=x)),
}
ALL = hn.oracles.AllPolicies(1, 3)


def _no_fakes(rng):
    return []


def _by_column(x):
    """Frames hold the edges of a feature in a column; lists and arrays have a list for each."""
    return np.transpose(x).tolist() if isinstance(x, np.ndarray | list) else x


def _updated(learner, loss):
    learner.act()
    learner.update(loss)
    return games(learner, [None] * 3, np.full((3, 3), 0.25))


def _late(learner, loss):
    decision = learner.decide()
    learner.update(loss, decision=decision)
    return games(learner, [None] * 3, np.full((3, 3), 0.25))


def _taught(predictor):
    predictor.prepare(2)
    predictor.learn(3, 1, 0.5)
    return predictor


def _state(predictor, loss):
    predictor.prepare(2)
    predictor.learn("rain", np.array([0, 1]), loss)
    return predictor


def _one(predictor, row):
    predictor.prepare(2)
    predictor.learn(row, 1, 0.5)
    return predictor


def _roads(time):
    return hn.networks.RoadNetwork("aab", "bcc", time, capacity=2.0)


def equal(a, b):
    """Whether two results are the same all the way down."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.parametrize("place", FRAME_PLACES)
def test_a_frame_is_its_table(place):
    table, use = FRAME_PLACES[place]
    expected = use(table)
    for kind, made in FRAMES.items():
        assert equal(use(made(table)), expected), kind


@pytest.mark.parametrize("place", COLUMN_PLACES)
def test_a_column_is_its_values(place):
    values, use = COLUMN_PLACES[place]
    expected = use(np.array(values))
    for kind, made in COLUMNS.items():
        # There a tuple means something else: an edge, the name of a context.
        if kind != "a tuple" or place not in ("Paths", "a row of a predictor"):
            assert equal(use(made(values)), expected), kind


BROKEN = {
    "missing": lambda values: [*values[:-1], None],
    "dates": lambda values: [datetime.date(2026, 1, 1 + i) for i in range(len(values))],
    "text": lambda values: [f"{value}" for value in values],
}
MAKERS = {
    "pandas": (pd.DataFrame, pd.Series),
    "pandas, nullable": (
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        lambda values: pd.Series(values).convert_dtypes(),
    ),
    "polars": (pl.DataFrame, pl.Series),
    "pyarrow": (pa.table, pa.array),
}
NAMED_CLASSES = ("Classification", "text")
MAY_BE_MISSING = ("update of sets", "missing")  # the loss of an element
NAMES_MAY_BE_ANYTHING = ("FromArrays, contexts", "FrequencyPunisher")


@for_each("maker", MAKERS)
@for_each("fault", BROKEN)
@pytest.mark.parametrize("place", FRAME_PLACES)
def test_what_is_no_number_in_a_frame_is_refused_by_name(place, fault, maker):
    table, use = FRAME_PLACES[place]
    columns = named(table)
    first = next(iter(columns))
    columns[first] = BROKEN[fault](columns[first])
    frame = MAKERS[maker][0](columns)
    if place in NAMES_MAY_BE_ANYTHING and fault != "missing":
        assert isinstance(hn.environments.FromArrays(frame, ROWS).contexts[0], tuple)
        return
    with pytest.raises(hn.HannanError):
        use(frame)


@for_each("maker", MAKERS)
@for_each("fault", BROKEN)
@pytest.mark.parametrize("place", COLUMN_PLACES)
def test_what_is_no_number_in_a_column_is_refused_by_name(place, fault, maker):
    values, use = COLUMN_PLACES[place]
    may_be = (place, fault) in (NAMED_CLASSES, MAY_BE_MISSING)
    if (isinstance(values[0], str) and fault != "missing") or may_be:
        return  # names of nodes, groups, contexts and classes
    with pytest.raises(hn.HannanError):
        use(MAKERS[maker][1](BROKEN[fault](values)))


def test_the_missing_cell_is_named():
    frame = pd.DataFrame({"age": [31.0, 48.0], "hour": [9.0, None]})
    with pytest.raises(hn.ContextError, match=r"feature 1 \('hour'\) of row 1"):
        hn.ContextFTPL(LINEAR, contexts=frame)
    with pytest.raises(hn.ContextError, match=r"feature 1 \('hour'\) of row 1"):
        hn.ContextFTPL(LINEAR, contexts=pa.Table.from_pandas(frame))
    with pytest.raises(hn.ContextError, match="number 1 in column 'hour', counting from 0, is nan"):
        hn.environments.FromArrays(frame, np.eye(2))


def test_a_row_of_a_frame_is_a_context():
    learner = hn.ContextFTPL(LINEAR, contexts=ROWS, seed=0)
    frame, other = pd.DataFrame(ROWS), pl.DataFrame(ROWS)
    forms = (
        frame.iloc[2],
        frame.iloc[[2]],
        next(frame.iloc[[2]].itertuples(index=False)),
        other.row(2),
        other[2],
        pa.table(named(ROWS)).slice(2, 1),
    )
    assert {learner.act(form) for form in forms} == {learner.act(ROWS[2])}
    with pytest.raises(hn.ContextError, match="always in the same order"):
        learner.act(other.row(2, named=True))
    with pytest.raises(hn.ContextError, match=r"one feature vector; got .* \(6, 3\)"):
        learner.act(frame)
    bits = hn.oracles.Disjunctions(3)
    assert bits.check_context(pl.DataFrame(BITS)[1]) == bits.check_context(BITS[1])


def test_the_scalars_of_a_column_of_pyarrow_are_contexts_and_losses():
    numbers, words = pa.array([2, 0]), pa.array(["rain", "sun"])
    assert hn.oracles.AllPolicies(3, 2).check_context(numbers[0]) == 2
    assert hn.oracles.Thresholds(2).check_context(pa.array([0.5])[0]) == 0.5
    assert hn.oracles.Disjunctions(2).check_context(numbers[0]) == 2
    base = hn.oracles.AllPolicies(1, 2)
    for oracle in (hn.oracles.PerContext(base), hn.oracles.PerContext(base, words)):
        assert oracle.check_context(words[1]) == "sun"
    learner = hn.ContextSemiBanditFTPL(ALL, seed=0)
    for loss in (pa.scalar(0.5), np.float32(0.5), pl.Series([0.5]), pd.Series([0.5], index=[7])):
        learner.act()
        learner.update(loss)
    learner.act()
    with pytest.raises(hn.LossError):
        learner.update(pa.scalar(None, pa.float64()))


def test_learners_keep_the_frames_they_were_given():
    frame = pd.DataFrame(ROWS)
    learner = hn.ContextFTPL(LINEAR, contexts=frame, seed=0)
    assert learner.params["contexts"] is frame
    assert learner.clone().params["contexts"] is frame
    assert "<DataFrame [6, 3]>" in repr(learner)
    kept = frame.copy()
    games(learner, ROWS, RNG_LOSSES)
    pd.testing.assert_frame_equal(frame, kept)


def test_what_is_lent_is_not_kept():
    losses = np.array([0.0, 1.0, 1.0])
    series = pd.Series(losses)
    learner = hn.ContextFTPL(ALL, seed=0)
    learner.act()
    learner.update(series)
    series[:] = [9.0, -9.0, 0.0]
    assert learner.best_policy()(0) == 0


GRAPH = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d")]


def test_edges_of_graphs_keep_their_order():
    directed, multiple = nx.DiGraph(GRAPH), nx.MultiDiGraph([*GRAPH, ("a", "b")])
    assert hn.oracles.Paths(directed, "a", "d").edges == list(directed.edges)
    paths = hn.oracles.Paths(multiple, "a", "d")
    assert paths.edges == list(multiple.edges(keys=True))
    costs = {("a", "b", 0): 0.9, ("a", "b", 1): 0.1, ("b", "d", 0): 0.1}
    total = paths.objective()
    total.add(None, np.array([costs.get(edge, 1.0) for edge in paths.edges]))
    assert [paths.edges[j] for j in total.leader()(None)] == [("a", "b", 1), ("b", "d", 0)]
    undirected = nx.MultiGraph([*GRAPH, ("a", "b")])
    assert hn.oracles.SpanningTrees(undirected).edges == list(undirected.edges(keys=False))


@pytest.mark.parametrize("oracle", [hn.oracles.Paths, hn.oracles.SpanningTrees])
def test_nodes_are_any_hashables(oracle):
    names = {"a": (0, "x"), "b": frozenset({1}), "c": 2.5, "d": datetime.date(2026, 1, 1)}
    graph = (nx.DiGraph if oracle is hn.oracles.Paths else nx.Graph)(
        [(names[u], names[v]) for u, v in GRAPH]
    )
    ends = (names["a"], names["d"]) if oracle is hn.oracles.Paths else ()
    assert oracle(graph, *ends).edges == list(graph.edges)


def test_graphs_of_the_wrong_kind_are_refused():
    directed, undirected = nx.DiGraph(GRAPH), nx.Graph(GRAPH)
    with pytest.raises(hn.InputTypeError, match="directed graph"):
        hn.oracles.Paths(undirected, "a", "d")
    with pytest.raises(hn.InputTypeError, match="undirected graph"):
        hn.oracles.SpanningTrees(directed)
    with pytest.raises(hn.InputTypeError, match="undirected graph"):
        hn.oracles.Matchings.of(directed, ["a"])
    with pytest.raises(hn.InputTypeError, match="graph of networkx"):
        hn.losses.Cut.of(GRAPH)


def test_edge_tables_of_every_package_are_read():
    tails, heads = (list(side) for side in zip(*GRAPH, strict=True))
    columns = {"length": [1.0] * 5, "head": heads, "tail": tails}
    for make, column in MAKERS.values():
        assert hn.oracles.Paths(make(columns), "a", "d").edges == GRAPH
        assert hn.oracles.SpanningTrees(make(columns)).edges == GRAPH
        assert hn.oracles.Paths((column(tails), column(heads)), "a", "d").edges == GRAPH
        with pytest.raises(hn.ParameterError, match="length"):
            hn.oracles.Paths(make({"length": [1.0]}), "a", "d")
    assert hn.oracles.Paths(pd.Series(GRAPH), "a", "d").edges == GRAPH


def test_the_cut_of_a_graph_is_that_of_its_arcs():
    for kind, directed in ((nx.DiGraph, True), (nx.Graph, False), (nx.MultiDiGraph, True)):
        graph = kind()
        for i, (u, v) in enumerate(GRAPH):
            graph.add_edge(u, v, size=float(i))
        numbers = {node: i for i, node in enumerate(graph.nodes)}
        edges = [(numbers[u], numbers[v], size) for u, v, size in graph.edges(data="size")]
        loss = hn.losses.Cut.of(graph, "size", modular=[1.0, 0.0, 0.0, -1.0], offset=2.0)
        for inside in ([0], [1, 2], [3], [0, 2, 3]):
            cut = sum(
                size for u, v, size in edges
                if (u in inside) > (v in inside) or (not directed and (u in inside) < (v in inside))
            )  # fmt: skip
            assert loss(inside) == cut + 2.0 + (0 in inside) - (3 in inside)
        assert hn.losses.Cut.of(graph, None).capacities.tolist() == [1.0] * 5
        with pytest.raises(hn.ParameterError, match="from 'a' to 'b' has no 'capacity'"):
            hn.losses.Cut.of(graph)
