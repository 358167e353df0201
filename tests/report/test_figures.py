import importlib
import json
import xml.etree.ElementTree as ET

import pytest

import hannan as hn
from hannan.report import write_figures
from tests.report import records


def png_size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


@pytest.mark.slow
def test_there_is_a_picture_of_each_environment_and_one_of_all(tmp_path):
    written = write_figures(*records.experiment(seeds=1), tmp_path / "new")
    names = [f"{name}.{ending}" for name in ("overview", *records.WORLDS)
             for ending in ("png", "svg")]  # fmt: skip
    assert [path.name for path in written] == names
    assert all(path.parent == tmp_path / "new" for path in written)
    width, height = png_size(written[0])
    assert width == 1600
    assert 500 < height < 1100
    assert ET.parse(written[1]).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_png_files_name_their_learners(tmp_path):
    image = pytest.importorskip("PIL.Image")
    (path, *_) = write_figures(*records.small(), tmp_path, ["png"])
    with image.open(path) as picture:
        assert json.loads(picture.info["Learners"]) == ["earned"]


@pytest.mark.slow
def test_pictures_are_the_same_every_time(tmp_path):
    made = records.experiment({"digits": records.WORLDS["digits"]}, seeds=2)
    first = write_figures(*made, tmp_path / "a", ["svg"])
    second = write_figures(*made, tmp_path / "b", ["svg"])
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


@pytest.mark.slow
def test_odd_names_single_seeds_and_missing_regret_are_drawn(tmp_path):
    names = [path.name for path in write_figures(*records.nasty(), tmp_path, ["svg"])]
    assert names == ["overview.svg", "script-alert-x-script-quotes.svg"]
    worlds = {"overview": {"type": "A"}, "Overview!": {"type": "A"}, "$x$ ß": {"type": "A"}}
    made = records.experiment(worlds, records.BASELINES, seeds=1, regret=None)
    names = [path.name for path in write_figures(*made, tmp_path, ["svg"])]
    assert names == ["overview.svg", "overview-2.svg", "overview-3.svg", "x.svg"]


@pytest.mark.slow
def test_environments_with_different_learners_have_legends_of_their_own(tmp_path):
    first, times = records.experiment({"digits": records.WORLDS["digits"]}, records.OURS, 1)
    second, more = records.experiment({"routing": records.WORLDS["routing"]}, records.BASELINES, 1)
    (overview, *_) = write_figures(first + second, times | more, tmp_path, ["svg"])
    text = overview.read_text(encoding="utf-8")
    assert text.count('id="legend_') == 2


def test_without_matplotlib_the_error_names_the_extra(tmp_path, monkeypatch):
    real = importlib.import_module

    def without(name, *rest):
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(hn.MissingPackageError, match=r"hannan\[report\]"):
        write_figures(*records.small(), tmp_path / "new")
    assert not list(tmp_path.iterdir())
