"""Deciders of sets: routes, slates and assignments, with names, ids and late outcomes."""

import math

import numpy as np
import pytest

import hannan as hn
from tests.decisions.test_ids import content

LINKS = [("home", "a"), ("home", "b"), ("a", "b"), ("a", "work"), ("b", "work")]
NAMES = ["home-a", "home-b", "a-b", "a-work", "b-work"]
MINUTES = {"home-a": 12.0, "home-b": 30.0, "a-b": 3.0, "a-work": 40.0, "b-work": 9.0}
BEST = ("home-a", "a-b", "b-work")
TODAY = ["home-b", "b-work"]


def roads(**changes):
    options = {"policies": hn.oracles.Paths(LINKS, "home", "work"), "losses": (0, 60), "seed": 1}
    return hn.Decider(**(options | changes))


def drive(decider, days, first=0):
    """Decide each day; report out of order, four to nine days late, and a seventh never."""
    rng = np.random.default_rng(first)
    for day in range(first, first + days):
        shut = {"a-b"} if day % 9 == 4 else set()
        decider.decide(id=day, available=[name for name in NAMES if name not in shut])
        for late in rng.permutation([day - 4, day - 9]).tolist():
            if late in decider.open_decisions and late % 7 and (late % 2 or late == day - 9):
                route = decider.decision(late).action
                decider.report(late, losses={link: MINUTES[link] for link in reversed(route)})
        if day % 100 == 99:
            decider.expire(older_than=0.0)


def decisions(decider, count):
    return [
        (each.action, str(each.propensity)) for each in (decider.decide() for _ in range(count))
    ]


def test_the_best_route_is_found_with_late_outcomes():
    d = roads()
    drive(d, 400)
    counts = d.summary()
    assert (counts.decisions, counts.open, counts.with_feedback + counts.expired) == (400, 0, 400)
    assert counts.expired > 50
    actions = [action for action, _ in decisions(d, 20)]
    assert actions.count(BEST) >= 15
    assert "a-b" not in d.decide(available=set(NAMES) - {"a-b"}).action
    assert counts.elements["home-a"]["mean"] == 12.0
    log = d.log()
    assert counts.mean == pytest.approx(np.mean([sum(told) for told in log["losses"]]))
    assert len(log) == counts.with_feedback
    assert "left out" in log.attrs["notes"][0]
    for action, losses, there in zip(log["action"], log["losses"], log["available"], strict=True):
        assert losses == tuple(MINUTES[link] for link in action)
        assert set(action) <= set(there)


@pytest.mark.parametrize("holdout", [{}, {"baseline": TODAY, "holdout": 0.2}], ids=["", "holdout"])
def test_files_and_journals_continue_with_the_same_decisions(tmp_path, holdout):
    path = tmp_path / "d.journal"
    d, twin = roads(**holdout).journal(path, every=50), roads(**holdout)
    for first in (0, 30, 60):
        drive(d, 30, first)
        drive(twin, 30, first)
        assert content(hn.load(path)) == content(d)
    d.save(tmp_path / "d.hannan")
    d.close()
    again = roads(**holdout).journal(path)
    assert content(again) == content(d)
    loaded = hn.load(tmp_path / "d.hannan")
    known = decisions(twin, 20)
    assert decisions(again, 20) == decisions(loaded, 20) == known
    assert again.decide(id=89, available=NAMES).action == twin.decide(id=89, available=NAMES).action
    again.close()


def cheapest(losses):
    return np.sort(np.argsort(losses)[:2])


def test_a_journal_needs_no_trust_in_the_own_solver(tmp_path):
    def new():
        solver = hn.oracles.FunctionOracle(cheapest, n_actions=4, max_chosen=2)
        return hn.Decider(policies=solver, losses=(0, 1), seed=0).journal(tmp_path / "d")

    d = new()
    decided = d.decide(id="x")
    d.report("x", losses=[0.5, 1.0])
    d.close()
    again = new()
    assert (again.decide(id="x").action, again.summary().mean) == (decided.action, 1.5)
    with pytest.raises(hn.ParameterError, match="not with FunctionOracle"):
        again.decide(available=[0, 1, 2])
    again.close()


def test_a_journal_of_another_policy_class_raises(tmp_path):
    roads().journal(tmp_path / "d").close()
    other = hn.oracles.Paths(LINKS[:2] + LINKS[3:], "home", "work")
    with pytest.raises(hn.ParameterError, match="other values of actions, policies"):
        roads(policies=other).journal(tmp_path / "d")


def test_a_damaged_file_with_a_set_that_was_not_available_raises(tmp_path):
    d = roads(baseline=TODAY, holdout=0.9)
    d.decide(id="x", available=TODAY)
    number, _, *rest = d._open.waiting["x"]
    assert number < 0  # in the holdout, so that the learner does not know the set
    for chosen in ((0, 3), (4, 1), (1, 9), 1):
        d._open.waiting["x"] = number, chosen, *rest
        d.save(tmp_path / "d")
        with pytest.raises(hn.DamagedFileError):
            hn.load(tmp_path / "d")
    d._open.waiting["x"] = number, (1, 4), *rest
    d.report("x", losses=[1.0, 2.0])
    mark = d._open.closed["x"][2]
    for forged in (
        (1, 0.5, mark, 3.0),
        ((1, 4), (0.5,), mark, (1.0, 2.0)),
        ((1, 4), None, mark, 3.0),
    ):
        d._open.closed["x"] = *forged, *d._open.closed["x"][4:]
        d.save(tmp_path / "d")
        with pytest.raises(hn.DamagedFileError):
            hn.load(tmp_path / "d")


def test_slates_for_each_kind_of_visitor_earn_clicks():
    slates = hn.oracles.PerContext(hn.oracles.Subsets(6, 2, exactly=False), ["new", "known"])
    titles = ["sport", "news", "film", "food", "chess", "maps"]
    d = hn.Decider(titles, policies=slates, rewards=(0, 1), seed=0)
    liked = {"new": {"sport", "food"}, "known": {"chess", "maps"}}
    rng = np.random.default_rng(0)
    for t in range(1200):
        visitor = ("new", "known")[t % 2]
        decision = d.decide(visitor)
        clicks = [
            rng.random() < (0.8 if each in liked[visitor] else 0.1) for each in decision.action
        ]
        assert d.report(decision, rewards=np.array(clicks, dtype=float))
    late = d.to_frame()
    assert set(late["element"]) <= set(titles)
    shares = d.probabilities(["new", "known"])
    for visitor, row in zip(("new", "known"), shares, strict=True):
        assert set(sorted(row, key=row.get)[-2:]) == liked[visitor]
    assert 1.0 < d.summary().mean < 1.6
    assert d.summary().outcome == "reward"
    assert "1,200 decisions" in str(d)
    d.decide("new", id="x")
    assert d.expire(0, reward=0.0) == 1
    assert set(d.log()["rewards"].iloc[-1]) == {0.0}


def test_assignments_have_names_of_pairs():
    pairs = [("Ann", "early"), ("Ann", "late"), ("Bob", "early"), ("Bob", "late")]
    d = hn.Decider(policies=hn.oracles.Matchings.of(pairs), losses=(-5, 60), seed=0)
    cost = {"Ann-early": 50.0, "Ann-late": -2.0, "Bob-early": 5.0, "Bob-late": 30.0}
    for _ in range(300):
        decision = d.decide(available=pairs)
        d.report(decision, losses={tuple(each.split("-")): cost[each] for each in decision.action})
    assert decision.action == ("Ann-late", "Bob-early")
    assert d.summary().elements["Ann-late"]["mean"] == -2.0


@pytest.mark.parametrize(
    ("oracle", "names"),
    [
        (hn.oracles.Paths(LINKS, "home", "work"), NAMES),
        (hn.oracles.Subsets(3, 2), [0, 1, 2]),
        (hn.oracles.Subsets(3, 2, labels=["x", "y", "z"]), ["x", "y", "z"]),
        (hn.oracles.Matchings(2, 2, left=["A", "B"]), ["A-0", "A-1", "B-0", "B-1"]),
        (hn.oracles.PerContext({7: hn.oracles.Paths(LINKS, "home", "work")}), NAMES),
        (hn.oracles.SpanningTrees([(1, 2), (2, 3), (1, 3)]), ["1-2", "2-3", "1-3"]),
        (hn.oracles.FinitePolicies([[[0, 1]], [[1, 2]]]), [0, 1, 2]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_elements_have_the_names_of_their_policy_class(oracle, names):
    d = hn.Decider(policies=oracle, losses=(0, 1), seed=0)
    context = 7 if isinstance(oracle, hn.oracles.PerContext) else None
    if isinstance(oracle, hn.oracles.FinitePolicies):
        context = 0
    assert list(d.decide(context).actions) == names
    other = hn.Decider([f"e{i}" for i in range(len(names))], policies=oracle, losses=(0, 1), seed=0)
    numbers = [names.index(name) for name in d.decision(d.open_decisions[0]).action]
    assert other.decide(context).action == tuple(f"e{i}" for i in numbers)


# Propensities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize("kind", ["computed", "drawn"])
def test_propensities_of_elements_are_their_frequencies(kind, share):
    """In one state: probabilities() are frequencies, and weights 1/q have the right mean."""
    policies = hn.oracles.Subsets(5, 2) if kind == "computed" else roads().policies
    rule = {"baseline": [0, 4] if kind == "computed" else TODAY, "holdout": share} if share else {}
    d = hn.Decider(policies=policies, losses=(0, 60), seed=2, **rule)
    for t in range(12):
        decision = d.decide()
        d.report(decision, losses=[10.0 + 7.0 * (t % 3) + i for i in range(len(decision.action))])
    n, first, every = 3000, d.summary().decisions, []
    for i in range(n):
        if i % 100 == 0:  # open decisions lower the share of the predictor
            every.append(d.probabilities())
        d.decide()
    chances = {name: float(np.mean([each[name] for each in every])) for name in every[0]}
    assert d.summary().decisions == first + n
    d.expire(0, loss=1.0)
    log = d.log().iloc[-n:]
    names = list(chances)
    counts, weights = dict.fromkeys(names, 0.0), {name: [] for name in names}
    for action, q in zip(log["action"], log["propensity"], strict=True):
        for name, chance in zip(action, q, strict=True):
            counts[name] += 1.0
            if chance == chance:
                weights[name].append(1.0 / chance)
    for name, chance in chances.items():
        spread = 4.5 * math.sqrt(0.25 / n + 0.25 / 1000)
        assert abs(counts[name] / n - chance) < spread
        if chance < 0.05:
            continue
        # The mean of 1[chosen by the learner]/q; drawn weights have it only without a holdout.
        if kind == "computed" or not share:
            expected = 1.0 - share * (name in rule.get("baseline", ())) / chance
            assert abs(np.sum(weights[name]) / n - expected) < 5.0 * math.sqrt(2.0 / (n * chance))
    holdout = [q for q in log["propensity"] if any(math.isnan(each) for each in q)]
    assert (len(holdout) > 0) == (share > 0)
    assert abs(len(holdout) / n - share) < 0.05


def test_the_propensity_is_shown_after_the_outcome_only():
    d = roads()
    decision = d.decide(id="x")
    d.report("x", losses=[1.0] * len(decision.action))
    again = d.decide(id="y")
    assert all(map(math.isnan, again.propensity))
    assert "not known before its outcome" in str(d.why(again))
    d.report("y", losses=[1.0] * len(again.action))
    known = d.decide(id="y").propensity
    assert all(0.0 < q <= 1.0 for q in known)
    assert tuple(d.log()["propensity"].iloc[1]) == known


def test_the_current_route_is_compared_by_the_holdout():
    d = roads(baseline=lambda context: TODAY, holdout=0.1)
    for day in range(2000):
        shut = ["home-a", "a-work"] if day % 20 == 0 else NAMES  # the rule has no choice then
        route = d.decide(available=shut)
        d.report(route, losses=[MINUTES[link] for link in route.action])
    found = d.summary()
    assert found.holdout.mean == pytest.approx(39.0)
    assert 0.05 < found.holdout.decisions / found.decisions < 0.15
    true = 0.95 * 39.0 + 0.05 * 52.0
    low, high = found.baseline.interval
    assert low <= true <= high
    assert found.baseline.look[0] - 1.0 < true < found.baseline.look[1] + 1.0
    assert found.baseline.verdict == "better"
    assert "current rule" in str(found)
    assert found._repr_html_().count("<table") == 2
    for action, there in zip(d.log()["action"], d.log()["available"], strict=True):
        assert set(action) <= set(there)
    assert d._scoreboard.min_propensity == 0.1


# Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": hn.oracles.AllPolicies(2, 3)}, "chooses sets of elements.*actions="),
        ({"policies": hn.oracles.Paths}, "chooses sets of elements"),
        ({"policies": hn.oracles.FunctionOracle(len, max_chosen=2)}, "pass n_actions="),
        ({"policies": hn.oracles.PerContext(hn.oracles.Subsets(3, 2))}, "contexts= to PerContext"),
        ({"actions": ["x", "y"]}, "name the 5 elements of Paths.*got 2"),
        ({"policies": hn.oracles.Paths(LINKS + LINKS[:1], "home", "work")}, "Pass actions="),
        ({"exploration": 0.1}, "exploration= is for single actions"),
        ({"features": {"age": "number"}}, "features= is for single actions"),
        ({"baseline": TODAY}, "baseline= needs holdout="),
        ({"baseline": ["home-c"], "holdout": 0.1}, "Unknown action 'home-c'.*did you mean"),
        ({"baseline": "home-b", "holdout": 0.1}, "must be a list of names"),
        ({"baseline": NAMES, "holdout": 0.1}, "has 5 elements.*at most 3"),
        ({"rewards": (0, 1)}, "range of its outcomes.*got both"),
    ],
)
def test_parameters_that_do_not_suit_sets_raise(changes, message):
    with pytest.raises(hn.HannanError, match=message):
        roads(**changes)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({"loss": 3.0}, r"losses=\{name: number\}.*sum alone"),
        ({"reward": 3.0, "losses": [1.0, 2.0]}, "got reward=3.0"),
        ({"rewards": [1.0, 2.0]}, "created with losses="),
        ({}, "got neither"),
        ({"losses": 3.0}, "must be a mapping"),
        ({"losses": [1.0]}, "must have 2 numbers.*got 1"),
        ({"losses": {"home-b": 1.0}}, "no number for 'b-work'"),
        ({"losses": {"home-b": 1.0, "b-work": 2.0, "a-b": 1.0}}, "did not choose"),
        ({"losses": {"home-b": 1.0, "b-wrok": 2.0}}, "did you mean 'b-work'"),
        ({"losses": [1.0, 61.0]}, r"must lie in \[0, 60\]; got 61"),
        ({"losses": [1.0, math.nan]}, "is missing"),
        ({"losses": [1.0, "2"]}, "must be one number"),
    ],
)
def test_outcomes_that_do_not_fit_raise_and_change_nothing(outcome, message):
    d = roads()
    d.decide(id="x", available=["home-b", "b-work"])
    before = content(d)
    with pytest.raises(hn.HannanError, match=message):
        d.report("x", **outcome)
    assert content(d) == before
    assert d.report("x", losses={"b-work": 2.0, "home-b": 1.0}) is True
    assert d.report("x", losses=[1.0, 2.0]) is False
    with pytest.raises(hn.ContradictoryOutcomeError, match="outcome 1, 2; got 1, 3"):
        d.report("x", losses=[1.0, 3.0])


@pytest.mark.parametrize("bad", [("train", None), ("car", ["home-a"])], ids=["context", "closed"])
def test_a_row_that_cannot_be_decided_leaves_all_rows_undecided(bad):
    d = roads(policies=hn.oracles.PerContext(roads().policies, ["car", "bike"]))
    with pytest.raises(hn.HannanError, match="Row 1: "):
        d.decide_many(["car", bad[0]], [None, bad[1]])
    assert d.summary().decisions == 0
    car, bike = d.decide_many(["car", "bike"], [None, ["home-b", "b-work"]], ids=["x", "y"])
    assert (car.id, bike.action) == ("x", ("home-b", "b-work"))
    assert d.decide("bike", ["home-b", "b-work"], id="y").action == bike.action


def test_what_does_not_exist_for_sets_says_so():
    d = roads()
    for call, message in [
        (lambda: d.learn(None, TODAY, loss=3.0, propensity=1.0), r"learn\(\) takes single actions"),
        (lambda: d.warm_start([]), r"warm_start\(\) takes single actions"),
        (lambda: d.add_action("new-road"), "cannot have new elements"),
        (lambda: d.plot(), "by baseline= and holdout="),
        (lambda: d.decide("monday"), "Paths has no contexts"),
        (lambda: d.decide(available=["home-a"]), "No path leads"),
        (lambda: d.report("y", losses=[]), "Unknown decision id"),
        (lambda: hn.Decider(["x"], losses=(0, 1)).report("y", losses=[1]), "Pass one number"),
    ]:
        with pytest.raises(hn.HannanError, match=message):
            call()
    assert d.summary().decisions == 0
    d.retire("a-b")
    assert {"a-b"}.isdisjoint(d.decide().action)
    d.add_action("a-b")
    assert d.warm_up() > 0.0
    assert "no comparison" in str(d)


@pytest.mark.parametrize("word", ["losses", "rewards"])
def test_first_guesses_have_the_names_and_units_of_the_user(word):
    links = [("home", "a"), ("home", "b"), ("a", "work"), ("b", "work")]
    policies = hn.oracles.Paths(links, "home", "work")
    guess = {"home-b": 20.0, ("b", "work"): 30.0, "home-a": 40.0, "a-work": 50.0}
    d = hn.Decider(policies=policies, guess=guess, shared=True, seed=0, **{word: (0, 60)})
    d.decide()
    predictor = d._learner.current_learner.predictor_
    sign = 1.0 if word == "losses" else -1.0
    assert predictor.estimate(None).tolist() == [sign * x for x in (40.0, 20.0, 50.0, 30.0)]
    assert not predictor.by_context


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"actions": ["a", "b"], "guess": [1.0, 2.0]}, "for sets of elements"),
        ({"actions": ["a", "b"], "shared": True}, "for sets of elements"),
        ({"policies": hn.oracles.Subsets(3, 2), "guess": {"x": 1.0}}, "Unknown action 'x'"),
        ({"policies": hn.oracles.Subsets(3, 2), "guess": [1.0, 9.0, 2.0]}, "'guess' parameter"),
    ],
)
def test_first_guesses_are_checked(given, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.Decider(losses=(0, 5), **given)


@pytest.mark.parametrize("rule", [["home-a", "b-work"], lambda context: ["home-a", "b-work"]])
def test_a_current_rule_must_be_a_route(rule):
    links = [("home", "a"), ("a", "work"), ("home", "b"), ("b", "work")]
    d = hn.Decider(
        policies=hn.oracles.Paths(links, "home", "work"), losses=(0, 9), baseline=rule, holdout=0.5
    )
    for call in (d.decide, lambda: d.decide_many([None, None])):
        with pytest.raises(hn.ParameterError, match="which is not a set of Paths"):
            call()
    assert d.summary().decisions == 0


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_an_outcome_that_is_missing_is_named(missing):
    d = hn.Decider(policies=hn.oracles.Subsets(2, 2), losses=(0, 9), seed=0)
    d.decide(id="x")
    with pytest.raises(hn.ParameterError, match="loss of 1 is missing"):
        d.report("x", losses=[1.0, missing])
