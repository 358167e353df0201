import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import hannan as hn
from hannan.report import write_report
from hannan.report.embedded import _plain
from hannan.report.lead import Choice, Lead
from hannan.report.reading import margin, reading
from hannan.report.sections import gather
from tests.report import records


def written(tmp_path, made, title="T", **options):
    return write_report(*made, tmp_path / "r.html", title, **options).read_text(encoding="utf-8")


def embedded(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def plain(html):
    return re.sub(r"<[^>]*>", "", html)


def test_the_same_input_gives_the_same_bytes(tmp_path):
    first = write_report(*records.experiment(seeds=2), tmp_path / "a.html", "T")
    second = write_report(*records.experiment(seeds=2), tmp_path / "b" / "c.html", "T")
    assert second == tmp_path / "b" / "c.html"
    assert first.read_bytes() == second.read_bytes()


def test_times_change_nothing_but_times(tmp_path):
    found, times = records.experiment(seeds=2)
    with_times = written(tmp_path, (found, times))
    without = written(tmp_path, (found, {}))
    assert with_times != without
    assert embedded(with_times) == embedded(without)


def test_nothing_outside_the_file_is_named(tmp_path):
    text = written(tmp_path, records.experiment(seeds=1))
    # The one address is the name of a vocabulary, which no browser fetches.
    assert set(re.findall(r"https?://[^\s\"']*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)|<img|<iframe|\bsrc=", text)
    assert "default-src 'none'" in text


class Elements(HTMLParser):
    """The policy of a page, the content of its scripts and styles, and its attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.policy, self.content, self.attributes = "", {"script": [], "style": []}, set()
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.attributes |= dict(attrs).keys()
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]
        # Data are not run, and need not be allowed.
        is_data = dict(attrs).get("type") == "application/json"
        self.inside = tag if tag in self.content and not is_data else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.content[self.inside].append(data)


@pytest.mark.parametrize("made", [records.experiment, records.nasty])
def test_only_the_pages_own_script_and_style_are_allowed(made, tmp_path):
    page = Elements(written(tmp_path, made(), records.NASTY, description=records.NASTY))
    allowed = dict(rule.split(" ", 1) for rule in page.policy.split("; "))
    assert allowed["default-src"] == "'none'"
    assert "unsafe" not in page.policy
    for element in ("script", "style"):
        (content,) = page.content[element]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert allowed[f"{element}-src"] == f"'sha256-{digest}'"
    assert not {name for name in page.attributes if name == "style" or name.startswith("on")}


def test_names_are_escaped_everywhere(tmp_path):
    text = written(tmp_path, records.nasty(), records.NASTY, description=records.NASTY)
    assert "<script>alert" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert embedded(text)["sections"][0]["series"][0]["learner"] == records.NASTY


@pytest.mark.slow
def test_a_crowd_stays_below_three_megabytes(tmp_path):
    path = write_report(*records.crowded(), tmp_path / "r.html", "Crowd")
    size = path.stat().st_size
    assert size < 3_000_000
    assert size > 1_000_000  # or the curves were thinned more than they need to be
    series = embedded(path.read_text(encoding="utf-8"))["sections"][9]["series"]
    assert len(series) == 40
    assert all(len(line["t"]) >= 30 and line["t"][-1] == 10_000 for line in series)


def test_curves_keep_five_digits_and_their_holes(tmp_path):
    found, times = records.experiment(seeds=4)
    series = embedded(written(tmp_path, (found, times)))["sections"][0]["series"][0]
    results = gather(found, times)[0].learners[0]
    assert series["t"] == [int(t) for t in results.t]
    assert series["regret"]["mean"] == pytest.approx(results.regret_curve.mean, rel=1e-4)
    assert series["loss"]["high"] == pytest.approx(results.mean_loss_curve.high, rel=1e-4)
    assert series["bound"][0] is None
    assert series["bound"][-1] == 900.0


def test_tables_hold_the_final_numbers_and_the_parameters(tmp_path):
    found, times = records.experiment(seeds=4)
    text = written(tmp_path, (found, times))
    tables = re.findall(r"<table class='(\w+)'>(.*?)</table>", text, re.S)
    assert [kind for kind, _ in tables] == [
        *["overview"] * 3,
        *["effort", "results", "parameters"] * 3,
    ]
    results = gather(found, times)[0].learners[0]
    first = re.search(r"<tbody>\s*<tr>(.*?)</tr>", tables[4][1], re.S).group(1)
    cells = [plain(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", first, re.S)]
    assert cells[0] == "earned"
    assert cells[1].startswith(f"{float(results.mean_loss.mean):.4f} ± ")
    assert cells[2].startswith(f"{float(results.regret.mean):.0f} ± ")
    assert cells[3:7] == [f"t{results.exponent:.2f}", "✓ 900", "500", "3.00"]
    assert int(cells[7].replace(",", "")) == round(1 / results.seconds_per_round)
    restarting = "learner = ContextFTPL(noise = once), detector = Bernstein(delta = 0.002)"
    assert restarting in plain(tables[5][1])
    assert "0–3" in tables[5][1]


def test_final_tables_are_ranked_and_the_best_stands_out(tmp_path):
    text = written(tmp_path, records.experiment(seeds=3))
    rows = re.search(r"<table class='results'>.*?<tbody>(.*?)</tbody>", text, re.S).group(1)
    names = re.findall(r"</i>([^<]*)</th>", rows)
    ranking = gather(*records.experiment(seeds=3))[0].ranking
    assert names == [s.label for s in ranking]
    assert rows.count("<b>") == 1
    assert "<b>" in rows.split("</tr>")[0]


def test_a_mean_regret_above_its_bound_is_marked(tmp_path):
    made = records.experiment({"digits": records.WORLDS["digits"]}, seeds=3, bound=0.1)
    text = written(tmp_path, made)
    assert "✗" in text
    assert "✓" not in text
    told = plain(reading(gather(*made)))
    assert "Regret is below the theorem’s bound in 0 of 6 cases; it is above for earned" in told
    assert "3 others" in told


def test_the_reading_says_who_lost_least_and_whose_regret_is_below_its_bound():
    told = plain(reading(gather(*records.experiment(seeds=4, bound=200.0))))
    assert told.startswith("Compared: seven learners in three environments, with four seeds of 1")
    assert "On Digits, bandit feedback, earned had the lowest mean loss, clearly ahead of " in told
    assert "On A leader-punishing adversary, earned had the lowest mean loss" in told
    assert "±" not in told  # the tables below hold the numbers
    assert "is below the theorem’s bound everywhere." in told


def test_a_single_environment_is_read_with_numbers():
    told = plain(reading(gather(*records.experiment(seeds=4))[:1]))
    assert re.search(r"earned had the lowest mean loss, 0\.0\d+\s±\s0\.00\d+ per round", told)
    assert ", clearly ahead of adaptive (0." in told


def test_every_environment_has_an_overview_without_holes(tmp_path):
    found, times = records.experiment(seeds=2)
    gone = [r for r in found if r["cell"]["environment"]["name"] == "digits"
            or r["cell"]["learner"]["name"] != "earned"]  # fmt: skip
    text = written(tmp_path, (gone, times))
    tables = re.findall(r"<table class='overview'>(.*?)</table>", text, re.S)
    sections = gather(gone, times)
    assert len(tables) == len(sections) == 3
    for table, section in zip(tables, sections, strict=True):
        assert re.findall(r"</i>([^<]*)</th>", table) == [s.label for s in section.ranking]
        assert "–" not in table
        assert table.count("<b>") == 1
    assert "earned" in tables[0]
    assert "earned" not in tables[1]


def test_learners_that_are_close_are_not_ranked():
    learners = {"one": {"type": "Hedge"}, "two": {"type": "Hedge", "eta": 1}}
    made = records.experiment({"digits": records.WORLDS["digits"]}, learners, 5, power=0.5,
                              regret=1.0)  # fmt: skip
    section = gather(*made)[0]
    gap = margin(*section.ranking)
    assert gap.low < 0 < gap.mean
    assert "is so close that it could win with more seeds" in reading([section])


def test_a_single_learner_with_a_single_seed_is_read_too():
    told = plain(reading(gather(*records.small())))
    assert told.startswith("Compared: one learner in one environment, with one seed of 10,000 ")
    assert "On Digits, bandit feedback, earned had a mean loss of 0.06" in told
    assert "±" not in told


@pytest.mark.slow
def test_many_environments_are_read_in_brief():
    told = plain(reading(gather(*records.crowded())))
    assert told.count("Best mean results") == 1
    assert len(told) < 900


def test_what_is_missing_is_shown_as_missing(tmp_path):
    found, _ = records.small()
    result = found[0]["result"]
    result |= {"mean_loss": None, "loss": None, "best": None, "regret": None, "bound": None,
               "certificate": None, "leaders": None, "effective": 0.0}  # fmt: skip
    for name in ("loss", "best", "bound", "certificate", "leader"):
        result["curve"][name] = None
    text = written(tmp_path, (found, {}))
    assert "no mean loss is known" in text
    assert "effective sample size 0" in text
    assert "data-kind='regret'" not in text
    assert "class='strips'" not in text


def test_no_records_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(hn.ParameterError, match="'records'"):
        write_report([], {}, tmp_path / "r.html", "T")
    assert not list(tmp_path.iterdir())


def test_rounding_keeps_five_digits_of_any_size():
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-12, 15, 2000)
    values[:3] = 0.0, np.nan, -np.inf
    expected = [float(f"{v:.5g}") if np.isfinite(v) else None for v in values]
    found = _plain(values)
    assert found[:3] == [0.0, None, None]
    assert found[3:] == expected[3:]


def test_the_page_says_how_hints_fared_and_what_was_found(tmp_path):
    played, times = records.small()
    assert "the predictor took part" not in written(tmp_path, (played, times))
    fared = {"share": 0.9, "cost": 5.0, "budget": 0.5, "advantage": -12.0, "error": 3.0}
    for entry in played:
        entry["result"] |= {"hints": fared | {"refused": 0.25}, "found": "a <tree>"}
    text = written(tmp_path, (played, times))
    assert "the predictor took part in 90 % of the rounds and spent 50 % of its budget" in text
    assert "would have increased the total loss by 12 ± 3 compared with the base learner" in text
    assert "it was left out in 25 % because its budget was spent" in text
    assert "minus the loss of the best policy found by a &lt;tree&gt;" in text
    assert "a <tree>" not in text
    assert embedded(text)["sections"][0]["best_name"] == "best policy found by a <tree>"


def lead(**more):
    """A thousand rows: a rule costs 0.27 per row, and the current rule 1.31."""
    choices = [
        Choice("hn.experts", "learner", 0.5, 0.4, 0.6, -0.81, -0.91, -0.71),
        Choice("always block", "constant", 1.4, 1.3, 1.5, 0.09, -0.02, 0.2),
        Choice("FollowTheLeader", "learner", 0.6, 0.5, 0.7, -0.71, -0.81, -0.61),
        Choice("current", "current", 1.31, 1.2, 1.4, 0.0, 0.0, 0.0),
        Choice("linear rule", "rule", 0.27, 0.24, 0.31, -1.04, -1.14, -0.94),
    ]
    usual = {
        "sentence": "Your current rule costs 1.31 per row; <the> best would have cost 0.27 "
        "(95 % interval 0.24 to 0.31).",
        "choices": choices,
        "rows": 1000,
        "best": "linear rule",
        "unit": "€",
        "rows_word": "customers",
        "confusion": {
            "classes": ["no", "<yes>"],
            "actions": ["pass", "block"],
            "counts": {"linear rule": [[9000, 1394], [540, 250]]},
            "costs": [[0, 6], [80, 0]],
        },
        "notes": ["Restarting: no drift found."],
        "columns": ["used as numbers: a, b"],
        "snippet": "import hannan as hn",
    }
    return Lead(**{**usual, **more})


def answered(tmp_path, **more):
    """The beginning of a page with an answer."""
    text = written(tmp_path, records.small(), lead=lead(**more))
    return text[text.index("<header") : text.index("</header>")]


def test_the_page_begins_with_the_answer_and_the_total(tmp_path):
    told = answered(tmp_path)
    assert "Your current rule costs 1.31 per row; &lt;the&gt; best" in told
    total = (
        "In total <b>1,040\xa0€\xa0less over 1,000 customers</b> (95\xa0%\xa0interval 940 to 1,140"
    )
    assert f"{total}\xa0€\xa0less)." in told
    assert "class='reading'" not in told
    assert "in one environment" not in told


def test_a_total_that_may_be_of_either_sign_says_both(tmp_path):
    told = answered(tmp_path, best="always block").replace("\xa0", " ")
    assert "90 € more over 1,000 customers</b> (95 % interval 20 € less to 200 € more)." in told


def test_numbers_are_never_torn_from_their_units(tmp_path):
    told = answered(tmp_path)
    assert "95 %" not in told
    assert "%\xa0interval" in told
    assert not re.search(r"\d €", told)


def test_the_table_is_sorted_and_names_the_current_rule(tmp_path):
    table = re.search(r"<table class='answers'>.*?</table>", answered(tmp_path), re.S).group()
    rows = re.findall(r"<tr class='(\w*)'><th scope='row'>(.*?)</th>(.*?)</tr>", table, re.S)
    assert [(look, name) for look, name, _ in rows] == [
        ("best", "linear rule"),
        ("", "learning as it goes"),
        ("now", "your current rule"),
        ("", "always block"),
    ]
    cells = [re.findall(r"<td.*?</td>", cells) for *_, cells in rows]
    assert [plain(cell) for cell in cells[0]] == [
        "0.27\xa0€0.24 to 0.31\xa0€",
        "1,040\xa0€\xa0less940 to 1,140\xa0€\xa0less",
    ]
    assert plain(cells[2][1]) == "–"
    assert plain(cells[3][1]).replace("\xa0", " ") == "90 € more20 € less to 200 € more"


def test_rewards_are_sorted_the_other_way(tmp_path):
    table = answered(tmp_path, rewards=True)
    names = re.findall(r"<th scope='row'>(.*?)</th>", table[: table.index("class='confusion")])
    assert names == ["always block", "your current rule", "learning as it goes", "linear rule"]
    assert "Further right is better." in table


def test_the_picture_has_a_dot_for_each_choice_and_a_line_for_the_current_rule(tmp_path):
    told = answered(tmp_path)
    picture = re.search(r"<svg class='picture'.*?</svg>", told, re.S).group()
    dots = re.findall(r"<line x1='([\d.]+)%' x2='([\d.]+)%' .*?<circle cx='([\d.]+)%'", picture)
    dots = [tuple(map(float, dot)) for dot in dots]
    assert len(dots) == 4
    assert all(low < middle < high for low, high, middle in dots)
    assert dots == sorted(dots)
    today = float(re.search(r"class='today' x1='([\d.]+)%'", picture).group(1))
    assert today == dots[2][2]
    spread = (1.31 - 0.27) / (1.5 - 0.24)  # the least end is at the left, the greatest right
    assert (dots[2][2] - dots[0][2]) / 96.0 == pytest.approx(spread, abs=1e-3)
    assert "<title>Cost per row in €</title>" in picture
    assert "linear rule: 0.27\xa0€, 95&nbsp;% interval 0.24 to 0.31" in picture


def test_a_warning_stands_before_everything_else(tmp_path):
    told = answered(tmp_path, warning="17,398 of 50,000 rows were <left> out.")
    places = [told.index(text) for text in ("17,398 of 50,000 rows were &lt;left", "costs 1.31",
                                            "<svg")]  # fmt: skip
    assert places == sorted(places)
    assert "class='warning'" not in answered(tmp_path)


def test_the_confusion_table_adds_up_the_mistakes(tmp_path):
    told = answered(tmp_path)
    assert "540 × 80\xa0€ + 1,394 × 6\xa0€ = 51,564\xa0€" in told
    assert "<span>540</span><small>× 80\xa0€ = 43,200\xa0€</small>" in told
    assert "<span>1,394</span><small>× 6\xa0€ = 8,364\xa0€</small>" in told
    assert "&lt;yes&gt;" in told
    without = lead().confusion | {"costs": None}
    assert "51,564" not in answered(tmp_path, confusion=without)
    assert "1,394" in answered(tmp_path, confusion=without)


def test_remarks_columns_and_code_are_folded(tmp_path):
    text = written(tmp_path, records.small(), lead=lead())
    folded = "".join(re.findall(r"<details>.*?</details>", text, re.S))
    for part in ("no drift found", "used as numbers: a, b", "import hannan as hn"):
        assert part in folded
        assert text.count(part) == 1


def test_curves_and_words_for_specialists_are_folded(tmp_path):
    text = written(tmp_path, records.small(), lead=lead())
    (head,) = re.findall(r"<details class='specialists'><summary>(.*?)</summary>", text)
    assert head == "For specialists"
    visible = text[text.index("<body") : text.index("<details class='specialists'>")]
    for word in ("egret", "certificate", "Oracle", "<sup>"):
        assert word not in visible
        assert word in text
    assert "class='specialists'" not in written(tmp_path, records.small())


def test_a_curve_shows_the_difference_so_far_with_a_band(tmp_path):
    told = answered(tmp_path, course=[(250, -300.0), (500, -520.0), (1000, -1040.0)])
    picture = re.search(r"<svg class='picture course'.*", told, re.S).group()
    (band, line) = ([float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", d)]
                    for d in re.findall(r"d='M(.*?)Z?'", picture))  # fmt: skip
    assert len(line) == 4
    assert line == sorted(line)  # less is further down
    halves = [(below - above) / 2 for above, below in zip(band[:4], band[:3:-1], strict=True)]
    per_row = (line[-1] - line[0]) / 1040
    assert halves == pytest.approx([100 * per_row * (t / 1000) ** 0.5 for t in (0, 250, 500, 1000)],
                                   abs=0.15)  # fmt: skip
    assert "−1,000" in picture
    assert "Below the line is better." in told
    assert "course" not in answered(tmp_path)


@pytest.mark.parametrize("total", [-1040.0, 1040.0])
def test_the_line_of_the_current_rule_does_not_strike_its_name(tmp_path, total):
    told = answered(tmp_path, course=[(500, total / 2), (1000, total)])
    picture = re.search(r"<svg class='picture course'.*", told, re.S).group()
    line = float(re.search(r"class='today' .*?y1='([\d.]+)'", picture).group(1))
    name = float(re.search(r"y='([\d.]+)' text-anchor='end'>your current rule", picture).group(1))
    assert (name + 4 < line) if total < 0.0 else (name - 10 > line)
    assert name > 10.0  # the letters are not cut off above


def test_a_lead_survives_being_written_as_json():
    whole = lead(warning="w")
    again = Lead.from_dict(json.loads(json.dumps(whole.as_dict())))
    assert again.html() == whole.html()
    assert again.details() == whole.details()


def test_the_page_is_in_the_units_of_the_file(tmp_path):
    made = records.experiment({"digits": records.WORLDS["digits"]}, seeds=2)
    plain = gather(*records.experiment({"digits": records.WORLDS["digits"]}, seeds=2))[0]
    for entry in made[0]:
        entry["cell"]["environment"] |= {"value_range": [10.0, 60.0]}
    section = gather(*made)[0]
    for ours, theirs in zip(section.ranking, plain.ranking, strict=True):
        assert ours.label == theirs.label
        assert ours.mean_loss.mean == pytest.approx(10.0 + 50.0 * theirs.mean_loss.mean)
        assert ours.regret.mean == pytest.approx(50.0 * theirs.regret.mean, nan_ok=True)
    for entry in made[0]:
        entry["cell"]["environment"] |= {"reward": "earned"}
    rewards = gather(*made)[0]
    assert [s.label for s in rewards.ranking] == [s.label for s in plain.ranking]
    first, last = (s.mean_loss.mean for s in (rewards.ranking[0], rewards.ranking[-1]))
    assert last < first == pytest.approx(60.0 - 50.0 * plain.ranking[0].mean_loss.mean)
    assert "Mean reward" in written(tmp_path, made)
    assert "the highest mean reward" in reading([rewards])


def test_columns_that_nobody_fills_are_left_out(tmp_path):
    found, times = records.small()
    for entry in found:
        entry["result"] |= {"bound": None, "certificate": None}
    heads = re.search(r"<table class='results'><thead>(.*?)</thead>", written(
        tmp_path, (found, times)), re.S).group(1)  # fmt: skip
    assert "Bound" not in heads
    assert "Certificate" not in heads
    assert "Regret" in heads
