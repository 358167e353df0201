"""Links between the pages of the repository lead to a file, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)


def anchors(page: Path) -> set[str]:
    """Return the fragments that a browser finds in a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    lost = []
    for link in re.findall(r"\]\(([^()\s]+)\)", prose(page)):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            lost.append(link)
    return lost


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_a_link_to_a_missing_file_or_heading_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# `A` page, 1.2\n[a](#a-page-12) [b](#b) [c](no.md) [d](https://x.org)\n")
    assert broken(page) == ["#b", "no.md"]
