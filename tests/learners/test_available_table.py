"""The table of `unavailable-actions.md`: which learner takes `available` in which calls."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import hannan as hn

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "unavailable-actions.md"
ALL = hn.oracles.AllPolicies(1, 3)
TUNED = hn.ContextFTPL(ALL, seed=0)
FIXED = hn.ContextFTPL(ALL, epsilon=0.5, seed=0)
BANDIT = hn.ContextSemiBanditFTPL(ALL, seed=0)
OTHERS = {
    "AdaptiveDiscount": hn.AdaptiveDiscount(ALL, seed=0),
    "FTPL": hn.FTPL(ALL, lambda rng: [(0, rng.laplace(size=3))], seed=0),
    "TsallisINF": hn.TsallisINF(ALL, predictor=hn.predictors.Mean(), seed=0),
    "Exp3IX": hn.Exp3IX(ALL, predictor=hn.predictors.Mean(), seed=0),
    "PlayoutFTPL": hn.PlayoutFTPL(ALL, [0] * 9, seed=0),
    "PlayoutBandit": hn.PlayoutBandit(ALL, [0] * 40, seed=0),
    "Discounted": hn.Discounted(TUNED, 0.9),
    "StronglyAdaptive": hn.StronglyAdaptive(TUNED, seed=0),
    "FollowTheLeader": hn.baselines.FollowTheLeader(ALL),
    "EpsilonGreedy": hn.baselines.EpsilonGreedy(3, seed=0),
    "LinUCB": hn.baselines.LinUCB(3),
    "CombUCB1": hn.baselines.CombUCB1(ALL),
    "C2UCB": hn.baselines.C2UCB(ALL, [[0.0], [1.0], [2.0]]),
    "UniformRandom": hn.baselines.UniformRandom(3, seed=0),
    "VowpalWabbit": hn.baselines.VowpalWabbit(3, seed=0),
}


def table():
    """Names as they stand in the first column, with the other cells."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if "| `act`, `would_play` |" in line)
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            return
        names, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield names, cells


def names_in(cell):
    """The learners a row is about: what is quoted and begins with a capital."""
    quoted = [word.split(".")[-1] for word in cell.split("`")[1::2]]
    return [word for word in quoted if word[:1].isupper()]


def made(name, cell):
    """One learner of the row, or several where the row is about all but one kind."""
    if name == "ContextFTPL":
        guessing = hn.ContextFTPL(ALL, epsilon=0.5, predictor=hn.predictors.Mean(), seed=0)
        return [TUNED, FIXED, guessing, hn.ContextFTPL(ALL, epsilon="anytime", seed=0)]
    if name == "ContextSemiBanditFTPL":
        return [BANDIT]
    if name in OTHERS:
        return [OTHERS[name]]
    return [getattr(hn.baselines, name)(hn.oracles.FinitePolicies([[0], [1], [2]]), seed=0)]


def answers(learner, method):
    """Return "yes" if a call with a restriction works, else the error that it raises."""
    learner = learner.clone()
    call = getattr(learner, method)
    x = [0.5] if isinstance(learner, hn.baselines.LinUCB) else 0
    given = ([x], [[0, 1]]) if method == "decide_many" else (x, [0, 1])
    if learner.late is not None and method.startswith("decide"):
        with pytest.raises(hn.ParameterError, match=re.escape(learner.late)):
            call(given[0], available=given[1])
        return "raises `ParameterError`"
    call(given[0], available=given[1])
    return "yes"


@pytest.mark.parametrize(("cell", "entries"), list(table()), ids=lambda value: str(value)[:40])
def test_every_entry_is_true(cell, entries):
    columns = [("act", "would_play"), ("decide", "decide_many"), ("propensities",)]
    for methods, entry in zip(columns, entries, strict=True):
        for method in methods:
            if "inside" in entry:
                for inside in (TUNED, FIXED, BANDIT):
                    expected = answers(inside, method)
                    assert answers(hn.Restarting(inside), method) == expected
                    assert answers(hn.off_policy.Recorder(inside), method) == expected
                    watched = hn.off_policy.Watched(inside, hn.off_policy.Watch({"always 0": 0}))
                    assert answers(watched, method) == expected
                continue
            for name in names_in(cell):
                if name not in ("Restarting", "Recorder", "Watched"):
                    found = {answers(learner, method) for learner in made(name, cell)}
                    assert found == {entry}, (name, method)


def test_no_learner_is_left_out():
    named = {name for cell, _ in table() for name in names_in(cell)}
    public = set()
    for module in ("learners", "baselines", "off_policy"):
        package = importlib.import_module(f"hannan.{module}")
        found = ((name, getattr(package, name)) for name in package.__all__)
        public |= {n for n, c in found if inspect.isclass(c) and issubclass(c, hn.Learner)}
    assert named == public - {"ItemLinUCB"}  # for described actions, which come and go anyway
