"""The suite, the command and the page."""

import re
from pathlib import Path

import pytest

import hannan as hn
from hannan.cli import main
from hannan.verify import Check, Claim, Finding, Plot, Series, Verdict, theorem_3
from hannan.verify import suite as suite_module
from hannan.verify.page import write_page
from tests.for_each import for_each

HERE = Path(hn.verify.__file__).parent


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    """A terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")


def test_names_are_unique_and_every_module_is_listed():
    names = [claim.name for claim in hn.verify.claims()]
    assert len(set(names)) == len(names) > 40
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    kept = {"claim", "suite", "page", "__init__"}
    files = {path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_")}
    assert files - kept == set(suite_module._MODULES)


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
        assert f"id='{name}'" in text
    assert text.count("<svg") == 2
    assert "://" not in re.sub(r"http://www\.w3\.org[^\"]*", "", text)


def refuted(effort):
    checks = [Check("right", 1.0, 2.0), Check("wrong", 3.0, 2.0), Check("least", 1.0, 2.0, False)]
    return Finding(checks, Plot("x", "y", [Series("points", [1, 2], [1, 2], "points")]))


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
    assert "1 of 1 claims fail." in text
    assert text.count("FAILS") == 3


def test_a_claim_that_the_library_refuses_has_failed_and_the_others_go_on(
    monkeypatch, capsys, tmp_path
):
    make = hn.separators.disjunctions
    monkeypatch.setattr(theorem_3, "FORMULAS", theorem_3.FORMULAS._replace(separator=make(3)[1:]))
    only = ["--only", "theorem-3-separator", "--only", "switching-sequences"]
    assert main(["verify", *only, "--report", str(tmp_path / "page.html")]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 of 2 claims fail: theorem-3-separator" in printed
    assert "refused with ParameterError: separator= holds 2 contexts" in printed
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "refused with ParameterError: separator= holds 2 contexts" in text
    assert text.count("<svg") == 1


def test_every_style_of_plot_is_drawn(tmp_path):
    series = [
        Series("line", [1, 10], [1, 2]),
        Series("points", [1, 10], [2, 1], "points"),
        Series("limit", [1, 10], [3, 3], "dashed"),
        Series("range", [1, 10], [[1, 1], [2, 2]], "band"),
    ]
    finding = Finding([Check("x", 0, 1)], Plot("T", "regret", series, True, True), note="a note")
    claim = Claim("name", "result", "It <says>.", "sure", lambda effort: finding)
    write_page([Verdict(claim, finding, 0.1)], tmp_path / "page.html", "quick")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "It &lt;says&gt;." in text
    assert "a note" in text
    assert text.count("<svg") == 1


def test_nothing_and_not_a_number_never_pass():
    assert not Finding([], Plot("x", "y", [])).passed
    assert not Check("x", float("nan"), 1.0).passed
    assert not Check("x", float("nan"), 1.0, at_most=False).passed
    assert Check("x", 1.05, 1.0, allowance=0.1).passed
    assert Check("x", 0.95, 1.0, at_most=False, allowance=0.1).passed
    assert Check("x", 0.0, 0.0).margin == 0.0
