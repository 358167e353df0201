"""Links that lead out of docs/ in the repository: into the site, where it has the page."""

from __future__ import annotations

import re

from _site import gallery

# Pages of the repository that the site includes.
PAGES = {
    "README.md": "/index.md",
    "README.md#comparison": "/explanation/benchmarks.md#the-comparison",
    "CHANGELOG.md": "/reference/changelog.md",
    "CONTRIBUTING.md": "/contribute/contributing.md",
    "SECURITY.md": "/reference/security.md",
    "benchmarks/RESULTS.md": "/reference/results.md",
    "docs/references.bib": "/references.bib",
    "references.bib": "/references.bib",
}
_LINK = re.compile(r"\]\((?:\.\./)*((?:[\w-]+/)*[\w.-]+\.(?:py|md|bib|ipynb|toml))(#[\w-]*)?\)")
_LAST_LINE = re.compile(r"\n\n```\n")


def _target(found: re.Match[str]) -> str:
    path, anchor = found[1], found[2] or ""
    if path + anchor in PAGES:
        path, anchor = path + anchor, ""
    folder, _, name = path.rpartition("/")
    if folder.endswith("examples") and name.endswith(".py"):
        stem = name.removesuffix(".py")
        return f"](/examples/{gallery.group_of(stem)}/{stem}.rst)"
    if path in PAGES:
        return f"]({PAGES[path]}{anchor})"
    if path.startswith("docs/"):
        return f"](/{path.removeprefix('docs/')}{anchor})"
    return found[0]


def rewrite(app, docname: str, source: list[str]) -> None:
    """Rewrite the links of a page, and drop the empty line with which examples end."""
    if app.env.doc2path(docname).suffix == ".md":
        source[0] = _LAST_LINE.sub("\n```\n", _LINK.sub(_target, source[0]))


def rewrite_included(app, path, docname: str, source: list[str]) -> None:
    """Rewrite the links of a file that a page includes."""
    source[0] = _LINK.sub(_target, source[0])
