"""Watches, recorders and logs of sets of elements."""

import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.off_policy import Log, Recorder, SetLog, Watch, Watched, evaluate
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.sets import Overlap, WatchedSets, counted_weights
from tests.cases import Match

PAIRS = hn.oracles.Subsets(5, 2)
TODAY = [0, 1]
WORLD = hn.environments.FromArrays([None] * 80, np.random.default_rng(0).random((80, 5)))


def learner(seed=0, **options):
    """A learner of pairs that explores today's pair."""
    options = {"exploration": 0.1, "current_rule": TODAY, **options}
    return hn.ContextSemiBanditFTPL(PAIRS, seed=seed, **options)


def pairs_watch(**options):
    return Watch({"today": TODAY}, 5, max_chosen=2, **options)


CONTRACT = {
    "Watch, sets": pairs_watch(floors={"today": 0.1}),
    "Recorder, sets": Match(Recorder(learner(), draws=10), WORLD, no_regret=False),
    "Watched, sets": Match(Watched(learner(), pairs_watch(), draws=10), WORLD, no_regret=False),
}
K, M = 3, 2
SUBSETS = [
    np.array(each, dtype=np.intp)
    for size in range(M + 1)
    for each in itertools.combinations(range(K), size)
]
SPANS = [(0.0, 1.0), (-1.0, 0.0), (-0.5, 1.5)]


def terms(sets, policy, action, weights, losses, seen):
    """Terms of the policy in one round: [f, column]."""
    sums, moments = np.zeros((2, 2, len(evidence.RATE))), np.zeros((2, 6))
    sets.add(sums, moments, ["today"], Overlap.of([policy], action, seen), weights, losses)
    return sums[0]


def ways(q, floor, kind):
    """Pairs of the weights of an element and their probability; 4 draws at most."""
    if kind == "exact":
        return [(counted_weights(np.array([q]), 0), 1.0)]
    if kind == "geometric":
        chances = q * (1.0 - q) ** np.arange(4.0)
        chances[-1] = 1.0 - chances[:-1].sum()
        return [(np.array([[J]]), chance) for J, chance in enumerate(chances, 1)]
    x, hits = (q - floor) / (1.0 - floor), np.ones(1)
    for _ in range(4):
        hits = np.append(hits * (1.0 - x), 0.0) + np.append(0.0, hits * x)
    estimates = floor + (1.0 - floor) * np.arange(5) / 4
    return [(counted_weights(np.array([q]), 4), chance) for q, chance in zip(estimates, hits)]  # noqa: B905


def loss_of(sets, losses, chosen):
    """Scaled loss of a set."""
    return losses[chosen].sum() / M + (M - len(chosen)) / M * sets.zero


@pytest.mark.parametrize("kind", ["exact", "counted", "geometric"])
def test_every_step_is_a_supermartingale(kind):
    """The mean of exp(-term - λτ) is at most 1: any policy, losses, predictions and column."""
    rng, largest = np.random.default_rng(0), 0.0
    for trial in range(45):
        policy, floor = int(rng.integers(len(SUBSETS))), rng.choice([0.05, 0.3])
        chances = (1.0 - floor) * rng.dirichlet(np.full(len(SUBSETS), 0.2))
        chances[policy] += floor
        q = np.minimum(chances @ [np.isin(np.arange(K), each) for each in SUBSETS], 1.0)
        losses = np.where(rng.random(K) < 0.5, rng.integers(2, size=K), rng.random(K))
        sets = WatchedSets("Watch", M, K, SPANS[trial % 3], {"today": floor})
        seen = np.array([rng.random(K) * rng.integers(2, size=K), np.ones(K)])
        all_losses = np.array([loss_of(sets, losses, each) for each in SUBSETS])
        goal = all_losses[policy] - evidence.THETA * (chances @ all_losses)
        mean = np.zeros((2, len(goal)))
        for chance, action in zip(chances, SUBSETS, strict=True):
            element_floors = np.where(np.isin(action, SUBSETS[policy]), floor, 0.0)
            each = [ways(q[j], e, kind) for j, e in zip(action, element_floors, strict=True)]
            empty = np.ones((1 if kind == "geometric" else 2, 0))
            for drawn in itertools.product(*each):
                columns = [J for J, _ in drawn] or [empty]
                share = chance * np.prod([likely for _, likely in drawn])
                given = action, np.hstack(columns), losses[action], seen
                goals = np.array([goal, 1.0 - evidence.THETA - goal])
                found = terms(sets, SUBSETS[policy], *given)
                mean += share * np.exp(-found - evidence.RATE * goals)
        largest = max(largest, mean.max())
    assert 0.9 < largest <= 1.0 + 1e-9


def test_missing_losses_count_as_the_worst():
    rng = np.random.default_rng(1)
    for trial in range(300):
        policy, action = SUBSETS[rng.integers(len(SUBSETS))], SUBSETS[rng.integers(1, len(SUBSETS))]
        floors = [{"today": 0.1}, None][trial % 2]
        sets = WatchedSets("Watch", M, K, SPANS[trial % 3], floors)
        weights = counted_weights(rng.uniform(0.1, 1.0, len(action)), int(rng.choice([0, 5])))
        seen = np.array([rng.random(K), np.ones(K)])
        losses, missing = rng.integers(2, size=len(action)) * 1.0, rng.random(len(action)) < 0.6
        full = terms(sets, policy, action, weights, losses, seen)
        partial = np.where(missing, np.nan, losses)
        assert (terms(sets, policy, action, weights, partial, seen) >= full - 1e-9).all()
        if floors is None:
            assert (full <= evidence.RESERVES[evidence.IN_PART] + 1e-9).all()


def test_sets_of_one_element_are_single_actions():
    rng, single = np.random.default_rng(2), Watch({"today": 1}, loss_range=(0.0, 2.0))
    sets = Watch({"today": [1]}, 3, (0.0, 2.0), max_chosen=1)
    for t in range(300):
        action, loss = int(rng.integers(3)), float(2.0 * rng.random())
        single.add_decision(t, None, action, propensity=1 / 3)
        sets.add_decision(t, None, [action], weight=[3.0])
        single.add_loss(t, loss)
        sets.add_loss(t, [loss])
    ours, theirs = sets.intervals()["today"], single.intervals()["today"]
    assert (*ours.loss, *ours.regret) == pytest.approx((*theirs.loss, *theirs.regret), rel=1e-9)
    assert sets.played() == pytest.approx(single.played(), rel=1e-9)


# Coverage -------------------------------------------------------------------------------------


def runs(seed, n=600, how="exact"):
    """Whether an interval was wrong at any time, given known means; and the width for today."""
    rng = np.random.default_rng([seed, 5])
    means = rng.random(5)
    today, floors = [0, 1, 2], {"today": 0.1, "best": 0.1}
    best = sorted(np.argsort(means)[:2].tolist())
    others = [[0, 4], [1, 3, 4], [2]]
    watch = Watch({"today": today, "best": best}, 5, max_chosen=3, floors=floors)
    chances = np.array([0.1, 0.1, *(0.8 * rng.dirichlet(np.ones(3)))])
    choices = [np.array(each) for each in (today, best, *others)]
    q = chances @ [np.isin(np.arange(5), each) for each in choices]
    own, sums, wrong, waiting = 0.0, np.zeros(2), False, []
    for t in range(n):
        losses = (rng.random(5) < means) * rng.random()
        a = choices[rng.choice(5, p=chances)]
        if how == "exact":
            watch.add_decision(t, None, a, propensity=q[a])
        else:
            watch.add_decision(t, None, a, weight=np.minimum(rng.geometric(q[a]), 20))
        own += chances @ [losses[each].sum() for each in choices]
        sums += losses[today].sum(), losses[best].sum()
        waiting.append((t, losses[a]))
        if losses[a].sum() < 1.0 or len(waiting) > 30:  # large losses come late, and some never
            for number, late in waiting:
                watch.add_loss(number, np.where(rng.random(len(late)) < 0.02, np.nan, late))
            waiting = []
        if t % 10 == 9:
            for each, total in zip(watch.intervals().values(), sums, strict=True):
                wrong |= not each.loss[0] <= total / (t + 1) <= each.loss[1]
                wrong |= not each.regret[0] <= own - total <= each.regret[1]
            wrong |= not watch.played()[0] <= own / (t + 1) <= watch.played()[1]
    first = watch.intervals()["today"].loss
    return wrong, first[1] - first[0]


@pytest.mark.parametrize("how", ["exact", "drawn"])
def test_intervals_hold_throughout(how):
    results = [runs(seed, how=how) for seed in range(20)]
    assert sum(wrong for wrong, _ in results) <= 2
    assert np.mean([width for _, width in results]) < (1.2 if how == "exact" else 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["exact", "drawn"])
def test_intervals_hold_throughout_many_runs(how):
    assert sum(runs(seed, how=how)[0] for seed in range(200)) <= 10


# With learners ----------------------------------------------------------------------------------

MEANS = np.array([0.7, 0.5, 0.2, 0.4, 0.9])


def play(player, n, seed=1, missing=0.0):
    """Play with element 2 as the best one; return the losses of all rounds and the sets."""
    rng = np.random.default_rng(seed)
    table, chosen = (rng.random((n, 5)) + 3.0 * MEANS) / 4.0, []
    for losses in table:
        action = player.act()
        seen = np.where(rng.random(2) < missing, np.nan, losses[action])
        player.update(seen)
        chosen.append(action.tolist())
    return table, chosen


def test_a_watched_learner_of_sets_plays_alike_and_is_compared_with_today():
    watch = pairs_watch(floors={"today": 0.1})
    table, chosen = play(Watched(learner(), watch, draws=40), 1500)
    assert chosen == play(learner(), 1500)[1]
    truth, found = table[:, TODAY].sum(axis=1).mean(), watch.intervals()["today"]
    ours = np.mean([losses[each].sum() for losses, each in zip(table, chosen, strict=True)])
    assert found.loss[0] < truth < found.loss[1]
    assert found.loss[1] - found.loss[0] < 0.4
    assert found.estimate == pytest.approx(truth, abs=0.05)
    assert found.verdict == "better"
    assert watch.played()[0] < ours < watch.played()[1]


def test_the_floor_makes_the_intervals_narrower():
    narrow, wide = pairs_watch(floors={"today": 0.1}), pairs_watch()
    for watch in (narrow, wide):
        play(Watched(learner(), watch, draws=40), 600)
    widths = [np.ptp(watch.intervals()["today"].loss) for watch in (narrow, wide)]
    assert widths[0] < 0.7 * widths[1]


def test_decisions_have_weights_of_elements():
    ours, watch = learner(), pairs_watch()
    for _ in range(300):
        decision = ours.decide()
        watch.add_decision(decision)
        ours.update(MEANS[decision.action], decision=decision)
        watch.add_loss(decision, MEANS[decision.action])
    found = watch.intervals()["today"]
    assert found.loss[0] < MEANS[TODAY].sum() < found.loss[1]
    assert found.estimate == pytest.approx(MEANS[TODAY].sum(), abs=0.4)


def test_an_unavailable_rule_copies_the_learner():
    watched = Watched(learner(), pairs_watch(floors={"today": 0.1}), draws=20)
    for _ in range(50):
        action = watched.act(available=[1, 2, 3])
        watched.update(MEANS[action])
    decision = watched.decide(available=[1, 2, 3])
    watched = reread(watched)
    watched.update(MEANS[decision.action], decision=decision.id)
    found = watched.watch.intervals()["today"]
    assert found.unavailable == found.rounds == 51
    assert found.ahead == pytest.approx(0.0)
    assert found.regret[0] <= 0.0 <= found.regret[1] < 40.0
    with pytest.raises(hn.InfeasibleError):
        watched.act(available=[])


def test_a_watch_of_sets_is_saved_in_the_middle():
    watch = pairs_watch(floors={"today": 0.1})
    play(Watched(learner(), watch, draws=20), 30, missing=0.3)
    rounds = [("known", {"propensity": [0.4, 0.5]}), ("drawn", {"weight": [2.0, 3.0]})]
    for name, how in rounds:
        watch.add_decision(name, None, [0, 3], **how)
    watch.add_decision("unknown", None, [1, 2])
    twin = reread(watch)
    for each in (watch, twin):
        for name, _ in rounds:
            each.add_loss(name, [0.25, np.nan])
        each.abandon("unknown")
    assert twin.intervals() == watch.intervals()
    assert twin.rounds == 33


def test_more_policies_continue_a_watch_of_sets():
    watch = pairs_watch(floors={"today": 0.1})
    play(Watched(learner(), watch, draws=20), 60)
    watch.add_decision("open", None, [0, 3], propensity=[0.4, 0.5])
    more = watch.extended({"new": [2, 3], **watch.policies}, 5)
    more.add_loss("open", [0.5, 0.5])
    assert more.intervals()["today"].rounds == 61
    assert more.intervals()["new"].unavailable == 61


# Logs -------------------------------------------------------------------------------------------


def test_a_recorder_of_sets_logs_propensities_and_losses():
    recorder = Recorder(learner(), draws=400)
    table, chosen = play(recorder, 800, missing=0.05)
    log = reread(recorder).log()
    assert log == recorder.log()
    assert [action.tolist() for action in log.actions] == chosen
    seen = [np.where(np.isnan(losses), np.nan, table[t, a]) for t, (_, a, losses, *_) in
            enumerate(log)]  # fmt: skip
    for losses, known in zip(log.losses, seen, strict=True):
        np.testing.assert_array_equal(losses, known)
    assert sum(np.isnan(losses).sum() for losses in log.losses) > 40
    assert min(q.min() for a, q in zip(log.actions, log.propensities) if 0 in a) > 0.09  # noqa: B905
    assert log.draws == 401
    over = Watch.over(log, {"today": TODAY}, floors={"today": 0.1}).intervals()["today"]
    assert over.loss[0] < table[:, TODAY].sum(axis=1).mean() < over.loss[1]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_files_hold_logs_of_sets(tmp_path, name):
    log = SetLog(
        ["rain", {"hour": 8, "towns": ["Zürich"]}, None],
        [[0, 3], [], [2]],
        [[0.1, np.nan], [], [1 / 3]],
        [[0.5, 1.0], [], [0.125]],
        n_actions=5,
        max_chosen=3,
        available=[None, [1, 2], [2]],
        draws=50,
    )
    log.to_file(tmp_path / name)
    assert SetLog.from_file(tmp_path / name, 5, 3, 50) == log
    assert SetLog.from_file(tmp_path / name, 5, 3) != log


@pytest.mark.parametrize("estimator", ["ips", "dr"])
def test_estimates_from_a_log_of_sets(estimator):
    rng = np.random.default_rng(4)
    choices, chances = [np.array(each) for each in ([0, 1], [1, 2], [3])], [0.2, 0.5, 0.3]
    q = np.array(chances) @ [np.isin(np.arange(4), each) for each in choices]
    truths, estimates, covered = 0.5 + 0.25 * np.arange(4), [], 0
    for _ in range(60):
        actions = [choices[i] for i in rng.choice(3, p=chances, size=200)]
        losses = [truths[a] + rng.normal(0, 0.2, len(a)) for a in actions]
        log = SetLog(None, actions, losses, [q[a] for a in actions], 4)
        found = evaluate(log, lambda _: [0, 3], estimator, against=[1])
        estimates.append(found.value)
        covered += found.low <= truths[[0, 3]].sum() <= found.high
        assert found.mean_weight == pytest.approx(1.0, abs=0.5)
    error = np.std(estimates) / np.sqrt(60)
    assert np.mean(estimates) == pytest.approx(truths[[0, 3]].sum(), abs=4.0 * error)
    assert covered >= 50
    by_hand = [sum(l / p for j, l, p in zip(a, row, q[a], strict=True) if j in (0, 3))
               for a, row in zip(actions, losses, strict=True)]  # fmt: skip
    if estimator == "ips":
        assert found.value == pytest.approx(np.mean(by_hand))
    assert found.difference.value == pytest.approx(
        found.value - evaluate(log, [1], estimator).value
    )


# Mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Watch({"today": [0]}, max_chosen=2), "pass n_actions="),
        (lambda: Watch({"today": [0, 1, 2]}, 5, max_chosen=2), "chooses 3 elements"),
        (lambda: Watch({"today": [0, 0]}, 5, max_chosen=2), "a list of different elements"),
        (lambda: Watch({"today": 3}, 5, max_chosen=2), "a list of different elements"),
        (lambda: Watch(None, 5, max_chosen=2), "names and sets"),
        (lambda: pairs_watch(floors={"other": 0.1}), "for policies out of"),
        (lambda: pairs_watch(floors={"today": 0.0}), "positive"),
        (lambda: pairs_watch(floors=0.1), "a dictionary"),
        (lambda: Watch({"always 0": 0}, floors={"always 0": 0.1}), "pass max_chosen="),
        (lambda: Watch({"x": 0}).add_decision(1, None, [0, 1]), "pass n_actions= and max_chosen="),
        (lambda: Watch({"x": [0, 1]}), "pass n_actions= and max_chosen="),
        (lambda: Watch({"x": lambda _: np.array([0, 1])}).targets(0), "pass n_actions= and max_ch"),
        (lambda: pairs_watch().add_decision(1, None, [1, 0], propensity=[1, 1]), "rising order"),
        (lambda: pairs_watch().add_decision(1, None, [0, 1], propensity=[1]), "one for each"),
        (lambda: answered([0.5]), "one for each chosen element"),
        (lambda: answered([0.5, 3.0]), "the range 0 to 1"),
        (lambda: broken_floor(), "floors= says"),
        (lambda: Watched(learner(), Watch({"x": 0})), "pass max_chosen=2"),
        (lambda: Watched(hn.bandit(5), pairs_watch()), "leave out max_chosen="),
        (lambda: Recorder(submodular()), "functions of whole sets"),
        (lambda: SetLog(None, [[1, 0]], [[0, 0]], [[1, 1]], 3), "Sort the elements"),
        (lambda: SetLog(None, [[0, 1]], [[0]], [[1, 1]], 3), "as many losses"),
        (lambda: SetLog(None, [[0]], [[0]], [[0]], 3), "probabilities in"),
        (lambda: SetLog(None, [[0]], [], [], 3), "as many contexts"),
        (lambda: small().to_file("log.txt"), "jsonl"),
        (lambda: evaluate(small(), [2]), "shares no element"),
        (lambda: evaluate(small(np.nan), [0]), "missing losses"),
        (lambda: evaluate(small(), [0], "snips"), "'estimator'"),
        (lambda: evaluate(small(), [0], clip=3.0), "for single actions"),
        (lambda: evaluate(small(), 0), "must be a set"),
        (lambda: pairs_watch().read(small()), "5 elements"),
        (lambda: Watch({"x": 0}).read(small()), "a Log"),
        (lambda: Log(None, [[0, 1]], [0.5], [1.0], 3), "SetLog"),
    ],
)
def test_mistakes_raise_errors(call, message):
    with pytest.raises(hn.HannanError, match=message):
        call()


def answered(losses):
    watch = pairs_watch()
    watch.add_decision(1, None, [0, 1], propensity=[0.5, 0.5])
    watch.add_loss(1, losses)


def broken_floor():
    pairs_watch(floors={"today": 0.1}).add_decision(1, None, [0, 2], propensity=[0.05, 0.5])


def small(loss=0.5):
    return SetLog(None, [[0], [0, 1]], [[loss], [0.5, 0.5]], [[0.5], [0.5, 0.5]], 3)


def submodular():
    return hn.ContextFTPL(hn.oracles.Submodular(3), epsilon=0.5)
