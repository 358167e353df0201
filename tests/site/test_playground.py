"""The playground: its records are the library's own plays, and its page shows them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import DESKTOP, PHONE, Page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def playground():
    from _site import playground

    return playground


@pytest.fixture(scope="module")
def records(playground):
    return playground.record()


@pytest.fixture(scope="module")
def path(playground, records, tmp_path_factory):
    """Write the playground as the site has it, without the frame of the theme."""
    folder = tmp_path_factory.mktemp("playground")
    (folder / "_static").mkdir()
    playground.write_data(folder / "_static", records)
    for name in ("playground.js", "playground.css"):
        (folder / "_static" / name).write_bytes((DOCS / "_static" / name).read_bytes())
    (raw,) = re.findall(
        r"^```\{raw\} html\n(.*?)^```", (DOCS / "playground.md").read_text(), re.S | re.M
    )
    head = (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    )
    page = folder / "playground.html"
    page.write_text(f'<html lang="en">{head}<title>Playground</title><body>{raw}</body></html>')
    return page


@pytest.fixture
def page(browser, path):
    return Page(browser, path).open()


def losses(run):
    return np.array([[int(loss) for loss in digits] for digits in run["losses"]])


def actions(run):
    return np.array([int(action) for action in run["actions"]])


def runs(records):
    for adversary, found in records["games"].items():
        for learner, run in found.items():
            yield adversary, learner, run


def totals(run, t):
    """Return the total losses of the actions before round t."""
    return losses(run)[: t - 1].sum(axis=0)


def test_there_are_four_learners_against_each_of_three_adversaries(records):
    assert len(list(runs(records))) == 12
    assert all(len(run["losses"]) == records["rounds"] for *_, run in runs(records))


def test_regret_is_the_loss_less_that_of_the_best_action_in_hindsight(records):
    for _, _, run in runs(records):
        given, played = losses(run), actions(run)
        suffered = np.cumsum(given[np.arange(len(played)), played])
        best = np.cumsum(given, axis=0).min(axis=1)
        np.testing.assert_array_equal(run["regret"], suffered - best)


def test_the_perturbed_leader_plays_the_leader_with_noise_below_its_bound(records):
    for adversary in records["games"]:
        run = records["games"][adversary]["ContextFTPL"]
        for t, action in enumerate(actions(run), 1):
            assert np.argmin(totals(run, t) + run["noise"][t - 1]) == action
        assert np.all(np.array(run["regret"]) <= run["bound"])
        assert np.ptp(run["noise"]) > 5.0


def test_who_plays_without_randomness_loses_every_round(records):
    punished = records["games"]["LeaderPunisher"]["FollowTheLeader"]
    assert punished["regret"] == sorted(punished["regret"])
    for adversary, learner in [("LeaderPunisher", "FollowTheLeader"), ("CopyPunisher", "LinUCB")]:
        run = records["games"][adversary][learner]
        assert losses(run)[np.arange(records["rounds"]), actions(run)].all()
        assert max(map(max, run["probabilities"])) == 1.0


def test_copies_answer_in_proportion_to_the_probabilities(records):
    run = records["games"]["CopyPunisher"]["hn.bandit"]
    answers = np.array([[int(n) for n in digits] for digits in run["copies"]])
    expected = answers.sum(axis=1, keepdims=True) * np.array(run["probabilities"])
    assert abs((answers - expected).sum(axis=0)).max() < 4 * np.sqrt(answers.sum() / 4)


def test_the_bait_is_best_after_its_turn_and_worst_before(records):
    given = losses(records["games"]["Bait"]["ContextFTPL"])
    turn, bait = records["turn"], records["bait"]
    assert given[:turn].mean(axis=0).argmax() == bait
    assert given[turn:].mean(axis=0).argmin() == bait
    assert not 0 < given[:, bait].mean() < 0.01


def test_what_is_not_a_digit_is_an_error(playground):
    with pytest.raises(ValueError, match="not all digits"):
        playground.digits([3, 10])


# The page ---------------------------------------------------------------------------------------


def column(page, name):
    return [cell.text.split("\n")[-1] for cell in page.all(f"#playground-view td[data-of={name}]")]


def choose(page, value):
    page.one(f"#playground-view button[data-value='{value}']").click()


def go_to(page, t):
    page(
        """const slider = document.querySelector("#pg-slider");
        slider.value = arguments[0];
        slider.dispatchEvent(new Event("input", { bubbles: true }));""",
        t,
    )


def place(page):
    return page.one(".pg-place").text


def minus(text):
    return float(text.replace("−", "-").replace("+", ""))


def test_it_opens_without_complaints_and_loads_nothing_from_elsewhere(page, path):
    assert page.browser.get_log("browser") == []
    static = (path.parent / "_static").as_uri()
    parts = [
        f"{static}/{name}" for name in ("playground.css", "playground-data.js", "playground.js")
    ]
    assert sorted(page.requests()) == sorted([path.as_uri(), *parts])
    assert place(page) == "Round 60 of 240"


@pytest.mark.parametrize("adversary", ["LeaderPunisher", "Bait", "CopyPunisher"])
@pytest.mark.parametrize("learner", ["ContextFTPL", "FollowTheLeader", "hn.bandit", "LinUCB"])
def test_every_round_is_shown_as_recorded(page, records, adversary, learner):
    choose(page, adversary)
    choose(page, learner)
    run = records["games"][adversary][learner]
    for t in (1, 2, 97, 240):
        go_to(page, t)
        played = page.one(".pg-row-played").get_attribute("data-action")
        assert played == records["names"][actions(run)[t - 1]]
        assert [minus(x) for x in column(page, "total")] == totals(run, t).tolist()
        given = [cell.text.split()[0] for cell in page.all("td[data-of=loss]")]
        assert "".join(given) == run["losses"][t - 1]
        hidden = ["not observed" in cell.text for cell in page.all("td[data-of=loss]")]
        assert sum(hidden) == (0 if run["feedback"] == "full" else 3)
        if run["noise"]:
            noisy = totals(run, t) + run["noise"][t - 1]
            assert [minus(x) for x in column(page, "noisy")] == pytest.approx(noisy, abs=0.051)
            assert [minus(x) for x in column(page, "noise")] == pytest.approx(
                run["noise"][t - 1], abs=0.051
            )
        assert minus(page.one("[data-of=regret] b").text) == run["regret"][t - 1]
        bound = page.one("[data-of=bound]").text
        if run["bound"] is None:
            assert bound == "no bound"
        else:
            assert minus(bound.split()[-1].replace(",", "")) == pytest.approx(
                run["bound"][t - 1], abs=0.051
            )
    if run["copies"]:
        assert "".join(column(page, "copies")) == run["copies"][-1]


def test_the_leader_with_noise_is_named(page, records):
    run = records["games"]["LeaderPunisher"]["ContextFTPL"]
    t = next(t for t in range(2, 240) if totals(run, t)[actions(run)[t - 1]] > totals(run, t).min())
    go_to(page, t)
    played = records["names"][actions(run)[t - 1]]
    assert f"the noise made {played} the leader" in page.one(".pg-story").text
    assert "leader with noise" in page.one(".pg-row-played").text
    assert page.all(".pg-row-played .pg-fake")


def test_keys_buttons_and_links_move_through_the_rounds(page):
    body = page.one("body")
    body.send_keys(Keys.ARROW_RIGHT)
    assert place(page) == "Round 61 of 240"
    body.send_keys(Keys.SHIFT + Keys.ARROW_LEFT)
    assert place(page) == "Round 51 of 240"
    page.one(".pg-back").click()
    page.one(".pg-back").click()
    page.one(".pg-forward").click()
    assert place(page) == "Round 50 of 240"
    page.one("a[data-round='CopyPunisher/LinUCB/120']").click()
    assert place(page) == "Round 120 of 240"
    pressed = [button.text for button in page.all("button[aria-pressed=true]")]
    assert pressed == ["CopyPunisher", "LinUCB"]


def test_play_moves_on_until_it_is_paused(page):
    page.one(".pg-play").click()
    page.browser.implicitly_wait(0)
    moved = "return document.querySelector('.pg-place').textContent !== 'Round 60 of 240'"
    for _ in range(50):
        if page(moved):
            break
        page.browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert page(moved)
    assert page.one(".pg-play").get_attribute("aria-label") == "Pause"
    page.one(".pg-play").click()
    at = place(page)
    page.browser.execute_async_script("setTimeout(arguments[0], 900)")
    assert place(page) == at
    assert page.one(".pg-play").get_attribute("aria-label") == "Play"


def test_play_stops_at_the_last_round(page):
    go_to(page, 239)
    page.one(".pg-play").click()
    page.browser.execute_async_script("setTimeout(arguments[0], 900)")
    assert place(page) == "Round 240 of 240"
    assert page.one(".pg-play").get_attribute("aria-label") == "Play"


def test_an_address_names_a_round(browser, path):
    page = Page(browser, path).open()
    page("location.hash = '#Bait/hn.bandit/200'")
    page.browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert place(page) == "Round 200 of 240"
    page("location.hash = '#a-heading'")
    page.browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert place(page) == "Round 200 of 240"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("learner", ["ContextFTPL", "hn.bandit"])
def test_the_page_never_scrolls_sideways(browser, path, size, learner):
    page = Page(browser, path).open(size)
    for adversary in ("CopyPunisher", "Bait"):
        choose(page, adversary)
        choose(page, learner)
        for t in (1, 240):
            go_to(page, t)
            assert page.width() <= size[0]
    chart = page.one(".pg-plot svg")
    assert chart.size["width"] <= size[0]
    assert len(chart.find_elements(By.CSS_SELECTOR, "path")) >= 4


def test_without_records_the_page_says_how_to_make_them(browser, path, tmp_path):
    lone = tmp_path / "playground.html"
    (tmp_path / "_static").mkdir()
    lone.write_bytes(path.read_bytes())
    script = tmp_path / "_static" / "playground.js"
    script.write_bytes((DOCS / "_static" / "playground.js").read_bytes())
    page = Page(browser, lone).open()
    assert "make docs" in page.one("#playground-view").text


def test_the_data_are_a_script(path, records):
    text = (path.parent / "_static" / "playground-data.js").read_text()
    assert (
        json.loads(text.removeprefix("window.hannanPlayground = ").removesuffix(";\n")) == records
    )
