"""The suite, the command, and helpers of the experiments."""

import re
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan.cli import main
from hannan.verify import (
    Check,
    Claim,
    Finding,
    adversaries,
    round_by_round,
    switching,
    theorem_3,
    theorem_5,
    trial,
)
from hannan.verify import suite as suite_module
from tests.for_each import for_each

HERE = Path(hn.verify.__file__).parent


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    """A terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")


def test_names_are_unique_and_every_module_is_listed():
    names = [claim.name for claim in hn.verify.claims()]
    assert len(set(names)) == len(names) > 30
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    helpers = {"__init__", "claim", "suite", "trial", "adversaries"}
    files = {path.stem for path in HERE.glob("*.py")}
    assert files - helpers == set(suite_module._MODULES)


@for_each("claim", hn.verify.claims())
def test_claims_say_what_they_say(claim):
    assert claim.says.endswith(".")
    assert claim.result
    assert claim.confidence


def test_an_unknown_claim_is_refused_by_name(capsys):
    with pytest.raises(hn.ParameterError, match="No claim is called 'theorem-8'"):
        hn.verify.claims(["theorem-8"])
    assert main(["verify", "--only", "theorem-8"]) == 2
    assert capsys.readouterr().err.startswith("hannan: No claim is called")


def test_a_module_names_all_its_claims():
    names = [claim.name for claim in hn.verify.claims(["stability"])]
    assert names == ["additive-stability", "multiplicative-stability", "separator-stability"]


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_a_page(tmp_path, capsys):
    page = tmp_path / "page.html"
    names = ["be-the-leader", "switching-sequences"]
    arguments = ["verify", "--report", str(page)]
    for name in names:
        arguments += ["--only", name]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "All 2 claims stand" in printed
    assert max(map(len, printed.splitlines()[:-2])) <= 80
    text = page.read_text(encoding="utf-8")
    for name in names:
        assert name in printed
        assert name in text
    assert "largest relative error of the oracle" in text  # every check is there
    assert "://" not in text


def refuted(effort):
    return [Check("right", 1.0, 2.0), Check("wrong", 3.0, 2.0), Check("least", 1.0, 2.0, False)]


def test_a_claim_that_fails_is_seen(monkeypatch, capsys, tmp_path):
    claim = Claim("all-swans-are-white", "Hearsay", "Swans are white.", "certain", refuted)
    monkeypatch.setattr("hannan.verify.suite.claims", lambda only=None: [claim])
    monkeypatch.setattr("hannan.cli.verify.claims", lambda only=None: [claim])
    assert main(["verify", "--report", str(tmp_path / "page.html")]) == 1
    printed = capsys.readouterr().out
    assert "1 of 1 claims fail" in printed
    assert printed.count("FAILS") == 3  # the claim and two checks
    assert "right" not in printed
    main(["verify", "--verbose"])
    assert "right" in capsys.readouterr().out
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("FAILS") == 3
    assert "right" in text


def test_a_claim_that_the_library_refuses_has_failed_and_the_others_go_on(
    monkeypatch, capsys, tmp_path
):
    make = hn.separators.disjunctions
    monkeypatch.setattr(theorem_3, "disjunctions", lambda n: make(n)[1:])
    only = ["--only", "theorem-3-separator", "--only", "switching-sequences"]
    assert main(["verify", *only, "--report", str(tmp_path / "page.html")]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 of 2 claims fail: theorem-3-separator" in printed
    assert "raised ParameterError: separator= does not separate the" in printed
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "raised ParameterError: separator= does not separate the policy class" in text


def test_nothing_and_not_a_number_never_pass():
    assert not Finding([]).passed
    assert not Check("x", float("nan"), 1.0).passed
    assert not Check("x", float("nan"), 1.0, at_most=False).passed
    assert Check("x", 1.05, 1.0, allowance=0.1).passed
    assert Check("x", 0.95, 1.0, at_most=False, allowance=0.1).passed
    assert Check("x", 0.0, 0.0).margin == 0.0


# Helpers -------------------------------------------------------------------------------------


def test_pseudo_regret_compares_with_one_policy_for_all_games():
    oracle = hn.oracles.FinitePolicies([[0, 1], [1, 0]])
    world = adversaries.Habits(oracle, [0, 1])
    played = [hn.play(hn.baselines.UniformRandom(2, seed=n), world, 30, 3) for n in (3, 4)]
    totals = np.zeros(2)
    for game in played:
        for x, losses in zip(game.contexts, game.outcomes, strict=True):
            totals += losses[oracle.table[:, x]]
    suffered = sum(game.losses.sum() for game in played)
    assert trial.pseudo_regret(played, oracle) == pytest.approx((suffered - totals.min()) / 2)
    pairs = [(game.contexts, game.outcomes) for game in played]
    assert trial.best_total(oracle, pairs) == pytest.approx(totals.min())


def test_habits_are_charged_for():
    oracle = hn.oracles.FinitePolicies([[0], [1], [2]])
    world = adversaries.Habits(oracle, [0], others=0.0)
    stubborn = hn.baselines.FollowTheLeader(hn.oracles.FinitePolicies([[2]], n_actions=3))
    losses = hn.play(stubborn, world, 20, seed=0).outcomes
    assert losses[0].tolist() == [1.0, 0.0, 0.0]
    assert losses[1:].tolist() == [[0.0, 0.0, 1.0]] * 19


def test_errors_are_those_the_certificate_counts():
    for problem in theorem_5.problems(60, np.random.default_rng(1)):
        ((learner, _),) = problem.games([0])
        counted = learner.certificate().prediction_error
        predictor = problem.options["predictor"]
        norms, _ = theorem_5.squared_errors(problem.oracle, problem.environment, predictor)
        if problem.oracle.max_chosen == 1:
            assert counted == pytest.approx(norms)
        else:
            assert norms < counted < 1.5 * norms


def test_bounds_on_switching_are_not_vacuous():
    for problem, _ in switching.problems(300, np.random.default_rng(0)):
        assert problem.bound("sharp").value < problem.horizon
        assert problem.bound("playout").value < problem.horizon / 2


def test_sequences_are_listed_by_definition():
    assert switching.sequences(2, 2, 0).tolist() == [[0, 0], [1, 1]]
    assert len(switching.sequences(2, 3, 1)) == 9
    assert switching.sequences(3, 2, 1, grid=2).tolist() == [
        [0, 0, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 1, 1],
    ]


@pytest.mark.parametrize(
    ("gap", "scale", "p"),
    [(0.0, 1.0, 0.5), (2.0, 2.0, 0.27591), (-2.0, 2.0, 0.72409), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)],
)
def test_two_laplace_variates_differ_by_more_than_a_gap(gap, scale, p):
    assert round_by_round.first_leads(gap, scale) == pytest.approx(p, abs=1e-5)


def test_totals_are_read_off_the_objective():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), epsilon=1.0, seed=0)
    learner.leader.total.add(0, np.array([3.0, 1.0, 2.5]))
    assert trial.totals_of(learner) == pytest.approx([3.0, 1.0, 2.5])
