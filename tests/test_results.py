"""The README compares `hn.bandit` with other learners as the benchmarks measured them."""

import re
import tomllib
from pathlib import Path

import pytest
from benchmarks import comparison

from hannan.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_comparison_is_that_of_the_results():
    assert comparison.block() in README
    assert comparison.written(README) == README


def test_the_comparison_shows_every_environment():
    assert {*comparison.LOSSES, *comparison.REGRETS} == comparison.scores().keys()
    assert not comparison.LOSSES.keys() & comparison.REGRETS.keys()
    rows = [
        line for line in README.splitlines() if re.search(r"\| (better|similar|worse) \|$", line)
    ]
    assert len(rows) == len(comparison.scores())


def test_the_comparison_shows_every_setting():
    peers = [setting for settings in comparison.PEERS.values() for setting in settings]
    settings = {comparison.OURS, comparison.PLAIN, *peers}
    assert all(row.keys() == settings for row in comparison.scores().values())


@pytest.mark.parametrize(
    ("ours", "expected"),
    [((0.41, 0.01), "better"), ((0.461, 0.0), "similar"), ((0.539, 0.0), "similar"),
     ((0.55, 0.02), "similar"), ((0.56, 0.02), "worse")],
)  # fmt: skip
def test_two_standard_errors_of_the_difference_decide(ours, expected):
    peers = [setting for settings in comparison.PEERS.values() for setting in settings]
    settings = dict.fromkeys(peers, (0.9, 0.3)) | {peers[1]: (0.5, 0.02)}
    assert comparison.verdict({comparison.OURS: ours, **settings}) == expected


def test_the_home_page_counts_the_same_environments():
    home = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    counts = re.search(
        r"In all (\d+) .*\*(\d+) better, (\d+) similar, (\d+) worse", README
    ).groups()
    said = r"In (\d+) environments .* in (\d+), similar in (\d+) and worse in (\d+)"
    assert re.search(said, home, re.DOTALL).groups() == counts


def test_stale_figures_are_renewed():
    stale = README.replace(" better |", " worse |").replace("| digits |", "| digits | 9.999 |")
    assert comparison.written(stale) == README != stale


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 130


def test_all_places_describe_the_library_by_the_same_sentence(capsys):
    sentence = README.split("\n\n")[1].partition("\n")[0]
    assert sentence.startswith("Hannan makes repeated decisions (which price, ")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["description"] == sentence
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nabstract: {sentence}\n" in citation
    assert main(["--help"]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())
