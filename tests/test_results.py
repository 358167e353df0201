"""What README says of other learners is what the benchmarks measured."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def tables(text):
    """All tables of a page, as lists of rows of cells."""
    found, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            found.append(rows)
            rows = []
    return found


def measured():
    """Mean loss or regret of each contender in each world, to three decimals."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    study = results.split("\n## worlds\n")[1].split("\n## ")[0]
    worlds, _, *rows = tables(study)[-1]
    return {
        (world, row[0]): f"{float(cell.split()[0]):.3f}"
        for row in rows
        for world, cell in zip(worlds[1:], row[1:], strict=True)
    }


def test_the_table_of_worlds_is_that_of_the_results():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme.split("\n## How it compares\n")[1].split("\n## ")[0]
    contenders, _, *rows = tables(part)[0]
    known = measured()
    assert len(rows) > 10
    for world, *cells in rows:
        found = [known[world, contender] for contender in contenders[1:]]
        assert [cell.strip("*") for cell in cells] == found, world


def test_the_best_of_each_world_is_marked():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme.split("\n## How it compares\n")[1].split("\n## ")[0]
    for world, *cells in tables(part)[0][2:]:
        values = [float(cell.strip("*")) for cell in cells]
        bold = [cell.startswith("**") for cell in cells]
        assert bold == [value == min(values) for value in values], world
