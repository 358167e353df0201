"""Check a built site: `python -m _site.check ../site`, from docs/.

Every link within the site leads to a page and an anchor, no page loads anything from elsewhere, and
every public name has a page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

from _site import api

LOADING = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author", "copyright"}


class Page(HTMLParser):
    """Anchors and links of a page, and the addresses that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the address of a tag."""
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADING.get(tag) in given and not NOT_LOADED & set(given.get("rel", "").split()):
            self.loaded.append(given[LOADING[tag]])


@cache
def parsed(path: Path) -> Page:
    """Read a page of the site."""
    return Page(path.read_text(encoding="utf-8"))


def is_local(address: str) -> bool:
    """Return whether an address leads into the site."""
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc


def broken(site: Path, path: Path) -> Iterator[str]:
    """Yield the addresses of a page that lead nowhere, and those that it loads from elsewhere."""
    page = parsed(path)
    for address in page.loaded:
        if not is_local(address) and not address.startswith("data:"):
            yield f"loads {address} from elsewhere"
    for address in filter(is_local, [*page.links, *page.loaded]):
        parts = urlsplit(address)
        target = path.parent / unquote(parts.path) if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or site not in target.resolve().parents:
            yield f"leads to {address}, which does not exist"
        elif parts.fragment and target.suffix == ".html" and not _has(target, parts.fragment):
            yield f"leads to {address}, an anchor that does not exist"


def _has(path: Path, fragment: str) -> bool:
    return unquote(fragment) in parsed(path.resolve()).anchors


def problems(site: Path) -> Iterator[str]:
    """Yield a sentence for each problem of a site."""
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.relative_to(site).parts:
            for problem in dict.fromkeys(broken(site, path)):
                yield f"{path.relative_to(site)} {problem}."
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    pages = {name for kind, names in inventory.data.items() if kind[:3] == "py:" for name in names}
    for name in sorted(api.all_paths() - pages):
        yield f"The public name {name} has no page."


def main() -> int:
    """Print the problems of a site, and return 1 if there are any."""
    site = Path(sys.argv[1]).resolve()
    found = list(problems(site))
    print("\n".join([*found, f"{len(list(site.rglob('*.html')))} pages, {len(found)} problems"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
