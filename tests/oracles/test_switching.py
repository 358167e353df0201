import itertools
import math
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.checks import check_oracle
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.policy import loss_of, same_action
from hannan.oracles._switching_intervals import interval_minima
from hannan.oracles.switching import log_sequences
from hannan.perturbation import seed_key
from tests import naive_switching as naive
from tests import problems
from tests.for_each import for_each

TABLE = np.array([[0, 1, 2], [1, 1, 0], [2, 0, 0], [0, 1, 1]])
LISTED = hn.oracles.FinitePolicies(TABLE, n_actions=3)
SLATES = hn.oracles.FinitePolicies([[[0, 1]], [[2, 3]], [[0, 3]]])
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
PATHS = hn.oracles.Paths(EDGES, 0, 3)
ROUTES = [[0, 3], [1, 4], [0, 2, 4]]
PAIRS = hn.oracles.Subsets(4, 2)
CONTRACT = {
    "Switching": hn.oracles.Switching(problems.FINITE, 2, sequence=[0, 3, 1, 1, 2]),
    "Switching, grid": (
        hn.oracles.Switching(problems.FINITE, 1, grid=2),
        [(0, 1), (1, 3), (2, 2), (2, 0), (5, 1)],
    ),
    "Switching, slates": hn.oracles.Switching(problems.SLATES, 1, sequence=[0, 1, 1]),
    "Switching, paths": hn.oracles.Switching(problems.PATHS, 1, sequence=4),
}


def members(base):
    """All policies of a small class, as callables on base contexts."""
    if isinstance(base, hn.oracles.FinitePolicies):
        return [base.policy(n) for n in range(base.n_policies)]
    chosen = {
        "Paths": ROUTES,
        "Subsets": list(itertools.combinations(range(4), 2)),
        "SpanningTrees": list(itertools.combinations(range(3), 2)),
    }[type(base).__name__]
    return [lambda x, c=c: np.array(c) for c in chosen]


def rounds(oracle, horizon, rng, *, wide=False):
    """Signed integer losses, so that sums are exact and ties occur; sometimes two at a time."""
    base = oracle.base
    xs = [0] if base.contexts is None else list(base.contexts)
    found = []
    for t in range(horizon):
        for _ in range(1 + (wide and rng.random() < 0.4)):
            x = base.check_context(xs[rng.integers(len(xs))])
            found.append(((t, x), rng.integers(-2, 3, size=base.n_actions).astype(float)))
    return found


def total_of(oracle, history):
    total = oracle.objective()
    for context, losses in history:
        total.add(context, losses)
    return total


def value(policy, history):
    return sum(loss_of(losses, policy(context)) for context, losses in history)


BASES = {
    "listed": LISTED,
    "slates": SLATES,
    "one policy": hn.oracles.FinitePolicies([1], n_actions=2),
    "duplicates": hn.oracles.FinitePolicies([[0, 1], [0, 1], [1, 0]]),
    "paths": PATHS,
    "pairs": PAIRS,
    "trees": hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2)]),
}
METHODS = [
    (name, method)
    for name, base in BASES.items()
    for method in ("policies", "intervals")
    if method == "intervals" or isinstance(base, hn.oracles.FinitePolicies)
]


@pytest.mark.parametrize(("name", "method"), METHODS)
@for_each("switches", [0, 1, 2, 5])
@for_each("grid", [1, 2, 3])
def test_the_leader_is_the_best_of_all_sequences(name, method, switches, grid):
    base, T = BASES[name], 6
    oracle = hn.oracles.Switching(base, switches, grid=grid, method=method)
    policies = members(base)
    for seed in range(5):
        rng = np.random.default_rng([seed, switches, grid])
        history = rounds(oracle, T, rng, wide=True)
        cells = -(-T // grid)
        sequence, least = naive.best(naive.costs(policies, history, cells, grid), switches)
        total = total_of(oracle, history)
        leader = total.leader()
        assert total.minima()[0] == least == value(leader, history)
        assert len(leader.switches) <= switches
        assert all(t % grid == 0 for t in leader.switches)
        for context, _ in history:
            action = total.action(context, WITHOUT_NOISE)
            assert same_action(action, leader(context))
            if method == "policies":  # whose order of ties is that of the twin
                expected = policies[sequence[context[0] // grid]](context[1])
                assert same_action(action, expected)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), METHODS)
@pytest.mark.parametrize("grid", [1, 2])
def test_noisy_leaders_are_the_best_of_all_sequences(name, method, grid):
    base, T = BASES[name], 5
    oracle = hn.oracles.Switching(base, 2, grid=grid, method=method)
    policies = members(base)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        history = rounds(oracle, T, rng, wide=True)
        contexts = oracle.check_contexts([context for context, _ in history])
        noise = oracle.noise(contexts, seed_key(seed), 0, 2**20)
        total = total_of(oracle, history)
        for draw, scale in itertools.product((0, 3), (1.5, -0.7)):
            faked = history + naive.fakes(Draw(noise, draw, scale))
            table = naive.costs(policies, faked, -(-T // grid), grid)
            sequence, least = naive.best(table, 2)
            assert total.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(least, abs=1e-9)
            leader = total.leaders(Draw(noise, draw, scale), 1)[0]
            assert value(leader, faked) == pytest.approx(least, abs=1e-9)
            for t, x in contexts:
                expected = policies[sequence[t // grid]](x)
                assert same_action(leader((t, x)), expected)
                assert same_action(total.action((t, x), Draw(noise, draw, scale)), expected)


def test_both_methods_agree_on_longer_games():
    rng = np.random.default_rng(0)
    table = np.zeros((3, 1, 5), dtype=bool)
    for mask, route in zip(table, ROUTES, strict=True):
        mask[0, route] = True
    listed = hn.oracles.Switching(hn.oracles.FinitePolicies(table), 3, sequence=40)
    paths = hn.oracles.Switching(PATHS, 3, sequence=40)
    history = [(t, rng.normal(size=5)) for t in range(40)]
    one = total_of(listed, [((t, 0), row) for t, row in history])
    other = total_of(paths, [((t, None), row) for t, row in history])
    noises = [o.noise(o.contexts, seed_key(1), 0, 2**20) for o in (listed, paths)]
    assert (noises[0].unit(4) == noises[1].unit(4)).all()
    for draw in range(6):
        values = one.minima(Draw(noises[0], draw, 2.0), 1)
        assert values == pytest.approx(other.minima(Draw(noises[1], draw, 2.0), 1))
        for t in range(0, 40, 7):
            a = one.action((t, 0), Draw(noises[0], draw, 2.0))
            assert same_action(a, other.action((t, None), Draw(noises[1], draw, 2.0)))


@pytest.mark.parametrize("method", ["policies", "intervals"])
def test_a_grid_costs_no_more_than_it_says(method):
    rng = np.random.default_rng(3)
    base, T = hn.oracles.FinitePolicies([0, 1, 2]), 24
    for _ in range(20):
        k, b = int(rng.integers(4)), int(rng.integers(2, 9))
        history = [((t, 0), rng.random(3)) for t in range(T)]
        exact, coarse = (
            total_of(hn.oracles.Switching(base, k, grid=grid, method=method), history).minima()[0]
            for grid in (1, b)
        )
        assert exact - 1e-9 <= coarse <= exact + k * (b // 2) * 1.0 + 1e-9


@pytest.mark.parametrize("method", ["policies", "intervals"])
def test_the_stated_loss_of_a_grid_is_attained(method):
    # Three good stretches, whose borders lie in the middle between two points of the grid.
    k, b = 2, 6
    good = [0] * 9 + [1] * 12 + [0] * 15
    history = [((t, 0), 1.0 - np.eye(2)[n]) for t, n in enumerate(good)]
    base = hn.oracles.FinitePolicies([0, 1])
    coarse = total_of(hn.oracles.Switching(base, k, grid=b, method=method), history)
    assert coarse.minima()[0] == k * (b // 2)


@pytest.mark.parametrize(
    "base",
    [LISTED, SLATES, PATHS, PAIRS, hn.oracles.AllPolicies(3, 2)],
    ids=lambda base: type(base).__name__,
)
def test_without_switches_it_is_the_plain_class(base):
    rng = np.random.default_rng(5)
    for method in ("auto", "intervals"):
        oracle = hn.oracles.Switching(base, 0, method=method)
        history = rounds(oracle, 8, rng)
        plain = base.objective()
        for (_, x), losses in history:
            plain.add(x, losses)
        total = total_of(oracle, history)
        assert total.minima() == plain.minima()
        for t, x in itertools.product(range(10), {base.key(x): x for (_, x), _ in history}):
            assert same_action(total.leader()((t, x)), plain.leader()(x))


def test_more_switches_than_rounds_choose_freely():
    oracle = hn.oracles.Switching(LISTED, 50, sequence=[0, 1, 2, 0])
    assert oracle.levels == 4
    history = rounds(oracle, 4, np.random.default_rng(0))
    table = naive.costs(members(LISTED), history, 4)
    assert total_of(oracle, history).minima()[0] == table.min(axis=1).sum()


class Slow(hn.oracles.Switching):
    """Forgets all that was remembered before every question."""

    def objective(self):
        total = super().objective()

        class Forgetful(type(total)):
            def _solve(self, *args):
                self._solved = self._walk = None
                return super()._solve(*args)

            def add(self, *args):
                super().add(*args)
                self._front.at = math.inf
                super().add(args[0], np.zeros(self.n_actions))

        total.__class__ = Forgetful
        return total


@pytest.mark.parametrize("settings", [
    {"noise": "once", "epsilon": 0.2},
    {"noise": "once"},
    {"epsilon": 0.2},
    {},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("grid", [1, 4])
def test_what_is_remembered_changes_no_play(settings, grid):
    rng = np.random.default_rng(7)
    T = 60
    base = hn.oracles.FinitePolicies(rng.integers(3, size=(9, 4)), n_actions=3)
    sequence = rng.integers(4, size=T).tolist()
    fast = hn.ContextFTPL(
        hn.oracles.Switching(base, 2, sequence=sequence, grid=grid), seed=1, **settings
    )
    slow = hn.ContextFTPL(Slow(base, 2, sequence=sequence, grid=grid), seed=1, **settings)
    played = set()
    for x in sequence:
        action = fast.act(x)
        assert action == slow.act(x)
        assert fast.act(x) == slow.act(x)  # in place of the round before
        losses = rng.integers(2, size=3) / 1.0
        fast.update(losses)
        slow.update(losses)
        assert getattr(fast.step, "D", 0.0) == getattr(slow.step, "D", 0.0)
        played.add(action)
    assert len(played) == 3
    if settings.get("noise") == "once" and "epsilon" in settings:
        assert fast.leader.total._walk is not None


def test_a_walk_through_one_draw_sees_every_cell_rightly():
    rng = np.random.default_rng(0)
    oracle = hn.oracles.Switching(LISTED, 2, sequence=rng.integers(3, size=30).tolist())
    noise = oracle.noise(oracle.contexts, seed_key(0), 0, 2**20)
    total = oracle.objective()
    for t, context in enumerate(oracle.contexts):
        fresh = total.copy()
        action = total.action(context, Draw(noise, 5, 3.0))
        assert action == fresh.leaders(Draw(noise, 5, 3.0), 1)[0](context)
        losses = rng.integers(-2, 3, size=3).astype(float)
        total.add(context, losses)
        if t == 11:  # late news
            total.add(oracle.contexts[4], np.array([9.0, 0.0, 0.0]))
        if t == 17:  # early ones
            total.add(oracle.contexts[25], np.array([9.0, 0.0, 0.0]))
        if t == 20:  # a look back
            assert total.action(oracle.contexts[2], Draw(noise, 5, 3.0)) == total.leaders(
                Draw(noise, 5, 3.0), 1
            )[0](oracle.contexts[2])


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_news_from_another_time_is_counted_when_the_same_is_asked_again(scale):
    oracle = hn.oracles.Switching(LISTED, 0, sequence=[0, 1, 2, 0, 1, 0])
    noise = oracle.noise(oracle.contexts, seed_key(0), 0, 2**20)
    total = oracle.objective()
    asked = oracle.contexts[3]
    total.action(asked, Draw(noise, 0, scale))
    for size, (time, wanted) in enumerate(itertools.product((5, 0), (2, 0, 1))):
        total.add(oracle.contexts[time], 100.0 * 4**size * (np.arange(3) != wanted))
        assert total.action(asked, Draw(noise, 0, scale)) == wanted


@pytest.mark.parametrize("base", [LISTED, SLATES, PATHS], ids=["listed", "slates", "paths"])
def test_settling_is_adding_and_asking(base):
    rng = np.random.default_rng(2)
    oracle = hn.oracles.Switching(base, 1)
    history = rounds(oracle, 8, rng)
    contexts = oracle.check_contexts([context for context, _ in history])
    noise = oracle.noise(contexts, seed_key(0), 0, 2**20)
    for scale in (0.0, 2.0):
        total = oracle.objective()
        for context, losses in history:
            twin = total.copy()
            total.action(context, Draw(noise, 3, scale))
            settled = total.settle(context, losses, Draw(noise, 3, scale))
            twin.add(context, losses)
            assert same_action(settled, twin.leaders(Draw(noise, 3, scale), 1)[0](context))


def test_one_more_round_under_noise_is_a_loss_added():
    rng = np.random.default_rng(1)
    oracle = hn.oracles.Switching(LISTED, 1, sequence=[0, 1, 2, 0, 1])
    noise = oracle.noise(oracle.contexts, seed_key(0), 0, 2**20)
    total = oracle.objective()
    for context in oracle.contexts:
        guess = rng.normal(size=3)
        after = total.copy()
        after.add(context, guess)
        for number in range(8):
            draw = Draw(noise, number, 1.5)
            assert total.action(context, draw, guess) == after.action(context, draw)
        total.add(context, rng.integers(-2, 3, size=3).astype(float))


def test_noise_on_a_part_of_the_times_leaves_ties_to_the_documented_order():
    oracle = hn.oracles.Switching(LISTED, 2)
    noise = oracle.noise([(1, 0), (4, 2)], seed_key(0), 0, 2**20)
    history = rounds(oracle, 6, np.random.default_rng(8))
    total = total_of(oracle, history)
    for draw in range(5):
        leader = total.leaders(Draw(noise, draw, 2.0), 1)[0]
        for t, x in itertools.product(range(8), range(3)):
            assert total.action((t, x), Draw(noise, draw, 2.0)) == leader((t, x))


@pytest.mark.slow
def test_the_game_needs_no_contexts():
    good = [0] * 40 + [2] * 40
    losses = 1.0 - np.eye(3)[good]
    world = hn.environments.FromArrays(None, losses)
    learner = hn.ContextFTPL(hn.oracles.Switching(hn.oracles.AllPolicies(1, 3), 1, sequence=80),
                             seed=0)  # fmt: skip
    trace = hn.play(learner, world)
    assert learner.best_policy().switches == (40,)
    assert learner.best_policy()((79, None)) == 2
    assert trace.regret() == trace.losses.sum()
    with pytest.raises(hn.ContextError, match="80 rounds"):
        learner.act()


def constant(contexts, losses):
    """The best action that is the same on all contexts."""
    best = int(losses.sum(axis=0).argmin())
    return lambda context: best


@pytest.mark.parametrize(
    ("base", "sequence"),
    [
        (hn.oracles.PerContext(PAIRS, ["rain", "sun"]), ["sun", "rain", "sun", "sun", "rain"]),
        (PATHS, 5),
        (hn.oracles.Stumps(2), np.random.default_rng(0).random((5, 2)).round(1)),
        (hn.oracles.Thresholds(3), [0.5, -1.0, 2.0, 0.7, -1.0]),
        (hn.oracles.FunctionOracle(constant, n_actions=3), ["a", "b"] * 2),
        (hn.oracles.LinearPolicies(2), np.random.default_rng(1).normal(size=(4, 2))),
    ],
    ids=["PerContext", "Paths", "Stumps", "Thresholds", "FunctionOracle", "LinearPolicies"],
)  # fmt: skip
def test_any_class_can_be_the_base(base, sequence):
    oracle = hn.oracles.Switching(base, 1, sequence=sequence)
    assert oracle.exact == base.exact
    check_oracle(oracle)
    bare = [None] * 5 if isinstance(sequence, int) else list(sequence)
    losses = np.random.default_rng(2).random((len(bare), oracle.n_actions)) / oracle.max_chosen
    world = hn.environments.FromArrays(bare, losses)
    trace = hn.play(hn.ContextFTPL(oracle, seed=0), world)
    best = trace.best_policy
    assert trace.losses.sum() - trace.regret() == pytest.approx(
        value(best, list(zip(oracle.contexts, losses, strict=True)))
    )


def test_stumps_switch_like_stumps_listed_by_hand():
    rng = np.random.default_rng(4)
    points = rng.integers(3, size=(6, 2)).astype(float)
    rows = []
    for j, c, a, b in itertools.product(range(2), (0.5, 1.5, 9.0), range(2), range(2)):
        rows.append([b if x[j] > c else a for x in points])
    listed = hn.oracles.FinitePolicies(rows, n_actions=2)
    losses = rng.normal(size=(6, 2))
    for k in range(3):
        one = hn.oracles.Switching(hn.oracles.Stumps(2), k, sequence=points)
        other = hn.oracles.Switching(listed, k, sequence=range(6))
        totals = [total_of(o, zip(o.contexts, losses, strict=True)) for o in (one, other)]
        assert totals[0].minima() == pytest.approx(totals[1].minima())


def test_bare_contexts_and_pairs_play_the_same():
    rng = np.random.default_rng(0)
    sequence = rng.integers(3, size=30).tolist()
    losses = rng.random((30, 3))
    plays = []
    for contexts, announced in [
        (sequence, sequence),
        (list(enumerate(sequence)), sequence),
        (list(enumerate(sequence)), None),
        (sequence, None),
    ]:
        oracle = hn.oracles.Switching(LISTED, 2, sequence=announced)
        given = {} if announced else {"contexts": list(enumerate(sequence))}
        trace = hn.play(
            hn.ContextFTPL(oracle, seed=3, **given), hn.environments.FromArrays(contexts, losses)
        )
        plays.append((trace.actions.tolist(), trace.regret()))
        at, curve = trace.regret_curve(every=10)
        assert at.tolist() == [10, 20, 30]
        assert curve[-1] == pytest.approx(trace.regret())
    assert plays[0] == plays[1] == plays[2] == plays[3]


def test_a_learner_that_has_played_before_is_traced_from_where_it_is():
    sequence = [0, 1, 2, 0, 1, 2, 1, 1]
    losses = np.random.default_rng(0).random((8, 3))
    learner = hn.ContextFTPL(hn.oracles.Switching(LISTED, 1, sequence=sequence), seed=0)
    hn.play(learner, hn.environments.FromArrays(sequence[:3], losses[:3]))
    trace = hn.play(learner, hn.environments.FromArrays(sequence[3:], losses[3:]))
    history = list(zip(enumerate(sequence[3:]), losses[3:], strict=True))
    table = naive.costs(members(LISTED), history, 5)
    assert trace.losses.sum() - trace.regret() == pytest.approx(naive.best(table, 1)[1])


@pytest.mark.parametrize("base", [LISTED, PATHS, PAIRS], ids=["listed", "paths", "pairs"])
@pytest.mark.parametrize("switching", [False, True])
def test_regret_against_the_best_sequence(base, switching):
    rng = np.random.default_rng(6)
    T = 5
    xs = [list(base.contexts)[i] for i in rng.integers(len(base.contexts), size=T)]
    losses = rng.random((T, base.n_actions))
    oracle = hn.oracles.Switching(base, 1, sequence=xs) if switching else base
    trace = hn.play(hn.ContextFTPL(oracle, seed=0), hn.environments.FromArrays(xs, losses))
    table = naive.costs(members(base), list(zip(enumerate(xs), losses, strict=True)), T)
    bests = [trace.losses.sum() - trace.regret(switches=k) for k in range(T + 1)]
    for k, best in enumerate(bests):
        assert best == pytest.approx(naive.best(table, k)[1])
    assert (np.diff(bests) <= 1e-12).all()
    assert trace.regret() == pytest.approx(trace.regret(switches=int(switching)))
    assert len(trace.best_sequence(2).switches) <= 2
    assert trace.regret(switches=2, grid=3) <= trace.regret(switches=2) + 1e-12
    coarse = naive.best(naive.costs(members(base), list(zip(enumerate(xs), losses, strict=True)),
                                    2, grid=3), 2)[1]  # fmt: skip
    assert trace.losses.sum() - trace.regret(switches=2, grid=3) == pytest.approx(coarse)


def test_pairs_as_contexts_of_a_class_that_does_not_switch_are_not_times():
    xs = [(5, "a"), (0, "b"), (5, "a")]
    base = hn.oracles.PerContext(hn.oracles.AllPolicies(1, 2), xs)
    losses = [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    trace = hn.play(hn.ContextFTPL(base, seed=0), hn.environments.FromArrays(xs, losses))
    assert trace.best_sequence(1).switches == (2,)
    assert trace.regret(switches=1) == trace.losses.sum()


def test_what_could_be_both_is_what_was_announced():
    base = hn.oracles.PerContext(hn.oracles.AllPolicies(1, 2))
    oracle = hn.oracles.Switching(base, 1, sequence=["a", (0, "a"), (2, "b"), "c"])
    assert oracle.at(0, "a") == (0, "a")
    assert oracle.at(1, (0, "a")) == (1, (0, "a"))  # bare: it is its turn
    assert oracle.at(3, (0, "a")) == (0, "a")  # a pair: (0, "a") is not announced for round 3
    assert oracle.at(2, (2, "b")) == (2, (2, "b"))
    assert oracle.at(0, (2, (2, "b"))) == (2, (2, "b"))
    with pytest.raises(hn.ContextError, match=r"context 'c' for round 3; got \(1, 'a'\)"):
        oracle.at(3, (1, "a"))
    free = hn.oracles.Switching(base, 1)
    assert free.at(7, (0, "a")) == (0, "a")
    assert free.at(7, ("x", "a")) == (7, ("x", "a"))


def test_contexts_out_of_turn_are_refused():
    oracle = hn.oracles.Switching(LISTED, 1, sequence=[0, 1, 2])
    learner = hn.ContextFTPL(oracle, seed=0)
    with pytest.raises(hn.ContextError, match="context 0 for round 0; got 2"):
        learner.act(2)
    with pytest.raises(hn.ContextError, match="integers 0 to 2"):
        learner.act("rain")
    with pytest.raises(hn.ContextError, match="3 rounds, 0 to 2"):
        oracle.check_context((3, 0))
    with pytest.raises(hn.ContextError, match=r"pairs \(t, x\)"):
        oracle.check_context((-1, 0))
    with pytest.raises(hn.ContextError, match=r"pairs \(t, x\)"):
        oracle.check_context(1)
    with pytest.raises(hn.ContextError, match=r"pairs \(t, x\)"):
        oracle.check_context((True, 0))
    for x in (0, 1, 2):
        learner.act(x)
        learner.update([0.1, 0.2, 0.3])
    with pytest.raises(hn.ContextError, match="for round 3"):
        learner.act(0)


def test_bad_parameters_are_refused():
    make = hn.oracles.Switching
    with pytest.raises(hn.InputTypeError, match="oracle as its base"):
        make([[0, 1]], 1)
    with pytest.raises(hn.ParameterError, match="without switches"):
        make(make(LISTED, 1), 1)
    with pytest.raises(hn.ParameterError, match="loss functions"):
        make(hn.oracles.Submodular(3), 1)
    with pytest.raises(hn.ParameterError, match="n_actions="):
        make(hn.oracles.FunctionOracle(lambda contexts, losses: None), 1)
    with pytest.raises(hn.ParameterError, match="'switches'"):
        make(LISTED, -1)
    with pytest.raises(hn.ParameterError, match="'grid'"):
        make(LISTED, 1, grid=0)
    with pytest.raises(hn.ParameterError, match="'method'"):
        make(LISTED, 1, method="tree")
    with pytest.raises(hn.ParameterError, match="method='intervals'"):
        make(PATHS, 1, method="policies")
    with pytest.raises(hn.ParameterError, match="has contexts"):
        make(LISTED, 1, sequence=10)
    with pytest.raises(hn.ParameterError, match="'sequence'"):
        make(PATHS, 1, sequence=0)
    with pytest.raises(hn.ParameterError, match="non-empty"):
        make(LISTED, 1, sequence=[])
    with pytest.raises(hn.ParameterError, match="'sequence'"):
        make(LISTED, 1, sequence=1.5)
    with pytest.raises(hn.ContextError, match="integers 0 to 2"):
        make(LISTED, 1, sequence=[0, 7])


def test_the_size_is_counted():
    for cells, k, N in itertools.product((1, 2, 4), (0, 1, 2, 6), (1, 2, 3)):
        count = len(naive.sequences(N, cells, k))
        assert round(math.exp(log_sequences(cells, k, math.log(N)))) == count
    oracle = hn.oracles.Switching(LISTED, 2, sequence=[0, 1, 2, 0, 1], grid=2)
    assert oracle.log_size(oracle.contexts) == pytest.approx(log_sequences(3, 2, math.log(4)))
    unsized = hn.oracles.FunctionOracle(lambda contexts, losses: None, n_actions=4, max_chosen=2)
    assert hn.oracles.Switching(unsized, 1).log_size([(0, None)]) is None
    learner = hn.ContextFTPL(oracle, epsilon="theorem", horizon=5, seed=0)
    assert learner.act(0) in (0, 1, 2)


def test_many_switches_in_a_long_time_can_be_counted():
    # k log(eT/k) + (k+1) log N bounds it from above.
    found = log_sequences(10**6, 100, math.log(10**6))
    assert 0.9 * found < 100 * math.log(math.e * 1e4) + 101 * math.log(1e6) < 1.1 * found


def test_policies_say_when_they_switch():
    oracle = hn.oracles.Switching(LISTED, 5, grid=2)
    history = [((t, 0), np.array([1.0, 1.0, 1.0]) - np.eye(3)[t // 2 % 3]) for t in range(12)]
    leader = total_of(oracle, history).leader()
    assert leader.switches == (2, 4, 6, 8, 10)
    assert [start for start, _ in leader.pieces] == [0, 2, 4, 6, 8, 10]
    assert [policy.index for _, policy in leader.pieces] == [0, 1, 2, 0, 1, 2]
    assert "from 2 <policy 1 of 4>" in repr(leader)
    assert "2 more" in repr(leader)
    assert leader((99, 1)) == 0


def test_a_learner_can_be_pickled_in_the_middle_of_a_walk():
    rng = np.random.default_rng(0)
    oracle = hn.oracles.Switching(hn.oracles.FinitePolicies([0, 1, 2]), 2, sequence=40)
    learner = hn.ContextFTPL(oracle, noise="once", epsilon=0.3, seed=0)
    for _ in range(15):
        learner.act()
        learner.update(rng.random(3))
    twin = pickle.loads(pickle.dumps(learner))
    for _ in range(25):
        assert learner.act() == twin.act()
        losses = rng.random(3)
        learner.update(losses)
        twin.update(losses)


def test_bandit_feedback_and_late_news():
    rng = np.random.default_rng(1)
    oracle = hn.oracles.Switching(LISTED, 1, sequence=rng.integers(3, size=20).tolist())
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    waiting = []
    for _, x in oracle.contexts:
        decision = learner.decide(x)
        waiting.append(decision)
        if len(waiting) > 3:
            learner.update(float(rng.random()), decision=waiting.pop(0))
    assert learner.rounds == 17


INTERVALS = {
    "paths": PATHS,
    "pairs": PAIRS,
    "at most two": hn.oracles.Subsets(4, 2, exactly=False),
    "matroid": hn.oracles.PartitionMatroid([0, 1, 0, 1], [1, 1]),
    "some edges": hn.oracles.Paths(EDGES, 0, 3, usable=[True, True, False, True, True]),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_the_minima_of_intervals_are_those_of_their_totals(name):
    base, rng = INTERVALS[name], np.random.default_rng(0)
    losses = rng.integers(-3, 4, size=(50, base.n_actions)).astype(float)
    cuts = np.sort(rng.integers(0, 45, size=37))
    found = base.interval_minima([None] * 50, losses, cuts)
    assert (
        found == interval_minima(hn.oracles.PerContext(base, [0]), [0] * 50, losses, cuts)
    ).all()
    assert (np.tril(found) == 0.0).all()
    for i, j in ((0, 36), (3, 20), (35, 36)):
        total = base.objective()
        total.add(None, losses[cuts[i] : cuts[j]].sum(axis=0))
        assert found[i, j] == total.minima()[0]


def test_rounds_are_not_far_apart():
    """Else a number in a file or a call would take all memory there is."""
    oracle = hn.oracles.Switching(hn.oracles.FinitePolicies([[0, 1], [1, 0]]), switches=1)
    with pytest.raises(hn.ContextError, match="numbered 0, 1, 2"):
        hn.ContextFTPL(oracle, contexts=[(0, 0), (10**9, 1)], seed=0)
    leader = hn.baselines.FollowTheLeader(oracle)
    leader.act((10**9, 0))
    with pytest.raises(hn.ContextError, match="numbered 0, 1, 2"):
        leader.update([0.0, 1.0])
