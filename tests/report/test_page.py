"""The report in a real browser."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

from hannan.report import write_report
from hannan.report.sections import gather
from tests.browser import DESKTOP, PHONE, Page
from tests.report import records
from tests.report.test_write_report import lead

COURSE = [(10 * k, -10.4 * k) for k in range(1, 101)]


class Report(Page):
    """A report that is open."""

    def hover(self, plot, share):
        """Move the pointer to a share of a chart's width; returns the lines of the tooltip."""
        self(
            """const box = arguments[0].getBoundingClientRect();
            const x = box.left + arguments[1] * box.width;
            const move = { bubbles: true, clientX: x, clientY: box.top + 60 };
            arguments[0].dispatchEvent(new PointerEvent("pointermove", move));
            """,
            self.one(plot),
            share,
        )
        return self.tip(plot)

    def tip(self, plot):
        return self(
            """const tip = document.querySelector(arguments[0] + " .tip");
            if (tip.hidden) return null;
            const rows = [...tip.querySelectorAll("tr[data-i]")];
            return { head: tip.querySelector("p").textContent,
                     rows: rows.map((row) => [...row.children].map((c) => c.textContent)) };
            """,
            plot,
        )


MADE = {
    "usual": records.experiment,
    "small": records.small,
    "nasty": records.nasty,
    "crowded": records.crowded,
    "answered": records.small,
    "long": lambda: records.experiment(
        {"digits": records.WORLDS["digits"]},
        {"ContextSemiBanditFTPL, self-tuned": {"type": "Exp4"}},
    ),
}


class Reports(dict):
    """Reports by name, each written when it is first asked for."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __missing__(self, name):
        path = self.folder / f"{name}.html"
        more = {"lead": lead(warning="Rows left out.", course=COURSE)} if name == "answered" else {}
        self[name] = write_report(*MADE[name](), path, f"The {name} report", "In brief.", **more)
        return self[name]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return Reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture
def usual(browser, reports):
    return Report(browser, reports["usual"]).open()


@pytest.mark.parametrize("name", ["usual", "small", "nasty", "crowded"])
def test_it_opens_without_complaints_and_without_any_request(browser, reports, name):
    page = Report(browser, reports[name]).open()
    assert page.all(".plot svg .curve")
    assert page.browser.get_log("browser") == []
    assert page.requests() == [reports[name].as_uri()]


def test_there_is_a_curve_for_every_learner_with_a_band_and_its_limits(usual):
    def count(kind, of):
        return len(usual.all(f"#environment-1 [data-kind={kind}] {of}"))

    assert len(usual.all("section.environment")) == 3
    assert [count(kind, ".curve") for kind in ("loss", "regret", "growth")] == [7, 6, 6]
    assert [count(kind, ".band") for kind in ("loss", "regret", "growth")] == [7, 6, 0]
    assert [count(kind, ".limit.bound") for kind in ("loss", "regret", "growth")] == [0, 4, 4]
    assert count("regret", ".limit.certificate") == 3
    assert count("loss", ".curve.ours") == 3
    assert all(len(curve.get_attribute("d")) > 500 for curve in usual.all(".curve"))


def test_single_seeds_have_thin_lines_and_no_bands(browser, reports, usual):
    width = "return parseFloat(getComputedStyle(document.querySelector('.curve.ours')).strokeWidth)"
    usually = usual(width)
    page = Report(browser, reports["small"]).open()
    assert not page.all(".band")
    assert page(width) < usually


@pytest.mark.parametrize("kind", ["loss", "regret", "growth"])
def test_hovering_reads_every_learners_value(usual, kind):
    section = gather(*records.experiment())[1]
    plot = f"#environment-2 [data-kind={kind}] .plot"
    told = usual.hover(plot, 0.63)
    t = int(told["head"].removeprefix("Round ").replace(",", ""))
    if kind != "growth":
        assert t == pytest.approx(0.63 * 10_000, abs=600)
    curves = {
        s.label: s.mean_loss_curve if kind == "loss" else s.regret_curve for s in section.learners
    }
    k = list(section.learners[0].t).index(t)
    expected = {name: curve for name, curve in curves.items() if curve.known}
    assert {name for name, *_ in told["rows"]} == set(expected)
    for name, value, half in told["rows"]:
        curve = expected[name]
        assert float(value.replace(",", "")) == pytest.approx(curve.mean[k], rel=6e-4)
        width = float(half.removeprefix("± ").replace(",", ""))
        assert width == pytest.approx(curve.high[k] - curve.mean[k], rel=0.06, abs=2e-5)
    values = [float(value.replace(",", "")) for _, value, _ in told["rows"]]
    assert values == sorted(values, reverse=True)


def test_the_crosshair_stands_where_the_values_are_drawn(usual):
    usual.hover("#environment-1 [data-kind=regret] .plot", 0.5)
    gaps = usual(
        """const plot = document.querySelector("#environment-1 [data-kind=regret] .plot");
        const x = Number(plot.querySelector(".hover line").getAttribute("x1"));
        return [...plot.querySelectorAll(".hover circle")].map((dot) => {
          const near = [...plot.querySelectorAll(".curve")].map((curve) => {
            const points = curve.getAttribute("d").split(/[ML]/).slice(1).map((p) => p.split(" "));
            const y = dot.getAttribute("cy");
            return Math.min(...points.map(([a, b]) => Math.hypot(a - x, b - y)));
          });
          return Math.min(...near);
        });"""
    )
    assert len(gaps) == 6
    assert max(gaps) < 0.2


def test_arrow_keys_read_values_too(usual):
    plot = "#environment-1 [data-kind=loss] .plot"
    usual.one(plot).send_keys(Keys.ARROW_LEFT)
    assert usual.tip(plot)["head"] == "Round 10,000"
    usual.one(plot).send_keys(Keys.ARROW_LEFT)
    assert usual.tip(plot)["head"] == "Round 9,900"
    usual.one(plot).send_keys(Keys.ESCAPE)
    assert usual.tip(plot) is None


def test_the_legend_hides_and_shows_a_learner(usual):
    button = usual.one("#environment-1 .legend button[data-i='3']")
    assert button.text == "hedge"

    def drawn():
        return len(usual.all("#environment-1 .series[data-i='3']"))

    before = drawn()
    assert before == 7  # three curves, two bands and the bound twice
    button.click()
    assert drawn() == 0
    pressed = [
        b.get_attribute("aria-pressed") for b in usual.all("#environment-1 button[data-i='3']")
    ]
    assert pressed == ["false", "false"]
    assert len(usual.all("#environment-2 .series[data-i='3']")) == before
    told = usual.hover("#environment-1 [data-kind=loss] .plot", 0.5)
    assert "hedge" not in [name for name, *_ in told["rows"]]
    button.send_keys(Keys.SPACE)
    assert drawn() == before


def test_switches_hide_baselines_bounds_and_certificates(usual):
    usual.one("#environment-1 [data-switch=bound]").click()
    assert not usual.all("#environment-1 .limit.bound")
    assert usual.all("#environment-1 .limit.certificate")
    usual.one("#environment-1 [data-switch=baselines]").click()
    assert not usual.all("#environment-1 .series.baseline")
    assert len(usual.all("#environment-1 [data-kind=loss] .curve")) == 3


def test_a_huge_bound_is_cut_off_with_a_note_until_it_is_wanted_whole(usual):
    top = """const ticks = document.querySelectorAll("#environment-2 [data-kind=regret] text.y");
        return parseFloat([...ticks].at(-1).textContent);"""
    note = usual.one("#environment-2 [data-kind=regret] .note")
    assert usual(top) < 4000
    assert "bound of earned (9,000)" in note.text
    usual.one("#environment-2 [data-switch=whole]").click()
    assert usual(top) >= 8000
    assert note.text == ""


def test_the_growth_legend_holds_the_fitted_exponents(usual):
    told = [item.text.split("\n") for item in usual.all("#environment-1 .exponents button")]
    section = gather(*records.experiment())[0]
    expected = [[s.label, f"t{s.exponent:.2f}"] for s in section.learners if s.exponent]
    assert [["".join(parts).replace(" ", "")] for parts in told] == [
        [(name + power).replace(" ", "")] for name, power in expected
    ]


def test_strips_name_the_leader_under_the_pointer(usual):
    section = gather(*records.experiment())[1]
    record = section.learners[0].records[2]
    curve = record["result"]["curve"]
    k = next(i for i, t in enumerate(curve["t"]) if t >= 4321)
    name = record["result"]["leaders"][curve["leader"][k]]
    told = usual(
        """const strip = document.querySelector("#environment-2 .strips svg");
        const box = strip.getBoundingClientRect();
        const [x, y] = [box.left + 0.4321 * box.width, box.top + 0.5 * box.height];
        const move = { bubbles: true, clientX: x, clientY: y };
        strip.dispatchEvent(new PointerEvent("pointermove", move));
        return document.querySelector("#environment-2 .strips .tip").textContent;"""
    )
    assert told.startswith(f"{name}seed 2, rounds ")
    # A world that reacts has leaders of its own for every learner, another the same for all.
    rows = [len(usual.all(f"#environment-{i} .strip:not(.scale)")) for i in (1, 2)]
    assert rows == [1, 6]


def test_light_and_dark(browser, reports):
    ground = "return getComputedStyle(document.body).backgroundColor"
    page = Report(browser, reports["usual"])
    light = page.open(scheme="light")(ground)
    page.one("#theme").click()
    dark = page(ground)
    page.one("#theme").click()
    assert page(ground) == light != dark
    assert page.open(scheme="dark")(ground) == dark
    page.one("#theme").click()
    assert page(ground) == light


@pytest.mark.parametrize("name", ["usual", "small", "nasty"])
@pytest.mark.parametrize("size", [PHONE, (820, 1180), DESKTOP])
def test_the_page_never_scrolls_sideways(browser, reports, name, size):
    page = Report(browser, reports[name]).open(size)
    page("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.hover(".plot", 0.9)
    assert page.width() <= size[0]
    inside = page(
        """const box = document.querySelector(".tip").getBoundingClientRect();
        return box.left >= 0 && box.right <= arguments[0];""",
        size[0],
    )
    assert inside


@pytest.mark.parametrize("name", ["usual", "small", "answered"])
@pytest.mark.parametrize("size", [(400, 800), DESKTOP])
def test_no_number_is_cut_off(browser, reports, name, size):
    page = Report(browser, reports[name]).open(size)
    page("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    cut = page(
        """const shown = [...document.querySelectorAll("main td, main th, header td, header th")];
        return shown.filter((cell) => cell.getBoundingClientRect().width > 0)
          .filter((cell) => cell.getBoundingClientRect().right > arguments[0] + 1
                  || cell.scrollWidth > cell.clientWidth + 1)
          .map((cell) => cell.textContent);""",
        size[0],
    )
    assert not cut


def test_the_answer_stands_at_the_top(browser, reports):
    page = Report(browser, reports["answered"]).open((400, 800))
    box = "document.querySelector('.answer').getBoundingClientRect()"
    top, bottom = page(f"return [{box}.top, {box}.bottom]")
    assert 0 < top < bottom < 500


@pytest.mark.parametrize("size", [(400, 850), (1400, 900)])
def test_warning_answer_and_picture_are_on_the_first_screen_in_this_order(browser, reports, size):
    page = Report(browser, reports["answered"]).open(size)
    tops, bottoms = page(
        """const boxes = [".warning", ".answer", ".total", ".picture"].map(
          (one) => document.querySelector(one).getBoundingClientRect());
        return [boxes.map((box) => box.top), boxes.map((box) => box.bottom)];"""
    )
    assert tops[0] < tops[1] < tops[2]
    assert tops[3] > bottoms[0]
    assert bottoms[3] < size[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_seen_in_either_light(browser, reports, scheme):
    page = Report(browser, reports["answered"]).open(scheme=scheme)
    ground = page("return getComputedStyle(document.body).backgroundColor")
    kinds = {".picture g text": "fill", ".picture circle": "fill", ".picture g line": "stroke",
             ".picture .today": "stroke", ".picture .line": "stroke"}  # fmt: skip
    for selector, kind in kinds.items():
        colours = page(
            """return [...document.querySelectorAll(arguments[0])].map(
              (one) => getComputedStyle(one)[arguments[1]]);""",
            selector,
            kind,
        )
        assert colours
        assert all(abs(shade(colour) - shade(ground)) > 60 for colour in colours)


def shade(colour):
    """The mean of red, green and blue."""
    channels = [float(number) for number in re.findall(r"[\d.]+", colour)[:3]]
    scale = 255 if colour.startswith("color(") else 1
    return scale * sum(channels) / 3


def test_charts_for_specialists_are_drawn_when_they_are_opened(browser, reports):
    page = Report(browser, reports["answered"]).open()
    assert not page.one(".charts").is_displayed()
    page.one(".specialists > summary").click()
    width = browser.execute_async_script(
        """const tell = arguments[0];
        const width = () => document.querySelector(".plot svg").getBoundingClientRect().width;
        setTimeout(() => tell(width()), 200);"""
    )
    assert page.one(".charts").is_displayed()
    assert width > 300


@pytest.mark.parametrize("size", [(400, 800), (1400, 900)])
def test_no_name_is_cut_off_in_the_table_of_work(browser, reports, size):
    page = Report(browser, reports["long"]).open(size)
    for cell in page.all(".effort th[scope=row]"):
        assert page("return getComputedStyle(arguments[0]).textOverflow", cell) == "clip"
        wide, room = page("return [arguments[0].scrollWidth, arguments[0].clientWidth]", cell)
        assert wide <= room + 1
    widths = "const box = document.querySelector('.work .scroll'); return box.%s"
    assert page(widths % "scrollWidth") <= page(widths % "clientWidth")


def test_charts_follow_the_window(browser, reports):
    page = Report(browser, reports["usual"]).open(DESKTOP)
    wide = page("return document.querySelector('.plot svg').getBoundingClientRect().width")
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    narrow = browser.execute_async_script(
        """const tell = arguments[0];
        const width = () => document.querySelector(".plot svg").getBoundingClientRect().width;
        setTimeout(() => tell(width()), 200);"""
    )
    assert narrow < 390 < wide


def test_names_are_never_markup(browser, reports):
    page = Report(browser, reports["nasty"]).open()
    assert page.one("h2").text == records.NASTY
    assert page.one(".legend button").text == records.NASTY
    assert len(page.all("script")) == 2
    assert records.NASTY in page.one(".key").text
