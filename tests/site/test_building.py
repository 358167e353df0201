"""The code that builds the site: it finds broken links, and leaves out no example and no name."""

import inspect
from pathlib import Path

import pytest

import hannan as hn

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "page.html").write_text('<h1 id="top">A</h1><a href="index.html#here">x</a>')
    (tmp_path / "index.html").write_text('<p id="here">B</p><a href="page.html#top">y</a>')
    return tmp_path


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="page.html">good</a>', None),
        ('<a href="https://example.org">elsewhere</a>', None),
        ('<img src="data:image/png;base64,AA==">', None),
        ('<a href="missing.html">x</a>', "leads to missing.html, which does not exist"),
        ('<a href="page.html#no">x</a>', "leads to page.html#no, an anchor that does not exist"),
        ('<a href="#no">x</a>', "leads to #no, an anchor that does not exist"),
        ('<a href="../outside.html">x</a>', "leads to ../outside.html, which does not exist"),
        ('<img src="missing.png">', "leads to missing.png, which does not exist"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "loads //fonts.example/x.css"),
    ],
)
def test_links_that_lead_nowhere_and_pages_that_load_from_elsewhere_are_found(site, html, problem):
    from _site import check

    page = site / "other.html"
    page.write_text(html)
    problems = list(check.broken(site, page))
    assert len(problems) == (problem is not None)
    assert not problem or problems[0].startswith(problem)


def test_every_example_has_one_place_in_the_gallery():
    from _site import gallery

    listed = [name for _, _, names in gallery.GROUPS.values() for name in names.split()]
    assert sorted(listed) == sorted(path.stem for path in gallery.EXAMPLES.glob("*.py"))


def test_titles_of_examples_fit_on_cards():
    from _site import gallery

    for path in gallery.EXAMPLES.glob("*.py"):
        _, title, line, *_ = gallery.titled(path.read_text(encoding="utf-8")).split("\n")
        assert 10 <= len(title) <= 70, path.name
        assert line == "=" * len(title)


def test_every_public_package_has_its_page():
    from _site import api

    packages = {f"hannan.{name}" for name in hn.__all__ if inspect.ismodule(getattr(hn, name))}
    assert {"hannan", *packages} <= set(api.PACKAGES)
    assert "hannan.oracles.Paths" in api.all_paths()
    assert "hannan.Decider" in api.all_paths()
    assert "hannan.decisions.Decider" not in api.all_paths()


def test_a_guarantee_is_shown_with_its_title():
    from _site import api

    lines = inspect.getdoc(hn.ContextFTPL).splitlines()
    api.keep_guarantee(None, "class", "", None, None, lines)
    i = lines.index(".. rubric:: Guarantee")
    assert lines[i - 2 : i] == ["Notes", "-----"]
    shown = ["Text.", "", ".. rubric:: Notes", "", ".. rubric:: Guarantee", "", "Regret is small."]
    api.name_guarantee(None, "class", "", None, None, shown)
    assert ".. rubric:: Notes" not in shown
    both = [".. rubric:: Notes", "", "More.", "", ".. rubric:: Guarantee", "", "None."]
    api.name_guarantee(None, "class", "", None, None, both)
    assert both[0] == ".. rubric:: Notes"


def test_links_out_of_the_pages_lead_into_the_site():
    from _site import links

    source = ["[a](../../README.md) [b](../../examples/bait.py) [c](drift.md#one-call) [d](x.png)"]

    class Env:
        @staticmethod
        def doc2path(docname):
            return Path(docname)

    app = type("App", (), {"env": Env})
    links.rewrite(app, "how-to/x.md", source)
    expected = "[a](/index.md) [b](/examples/research/bait.rst) [c](drift.md#one-call) [d](x.png)"
    assert source == [expected]


def test_the_output_of_an_example_is_read_from_its_page():
    from _site import gallery

    page = (
        ".. rst-class:: sphx-glr-script-out\n\n .. code-block:: none\n\n    one\n      two\n\n\n"
        ".. code-block:: Python\n\n    print(1)\n"
    )
    assert gallery.output(page) == "one\n  two"
