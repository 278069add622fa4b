"""Each page in real Chromium, over a ledger that a real run of townsquare made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import axe_playwright_python  # type: ignore[import-untyped]  # it ships no types
from playwright.sync_api import Browser, Page, Route, expect

from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Step
from assay.schema.score import Scored
from assay.schema.task import Task
from tests.viewer.conftest import Ledger, Viewer, check_harmless
from tests.viewer.ledgers import (
    BREAKOUT,
    HUGE,
    IMAGE,
    SCORER,
    SCRIPT,
    manifest,
    scored_steps,
)

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")

DARK = ("runs", "run", "marks", "hostile episode", "verdict", "pair", "reward")
"""Where every colour is; structure is the same in light and dark."""
COLOURS = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
EVERYTHING = {"resultTypes": ["violations"], "iframes": False}


def cells(page: Page) -> list[str]:
    labels: list[str] = page.locator(".ribbon .cell").evaluate_all(
        "cells => cells.map(cell => cell.getAttribute('aria-label'))"
    )
    return labels


def addresses(ledger: Ledger) -> dict[str, str]:
    """One address of each page, for what must hold of all."""
    pair = f"base={ledger.cut}&cand={ledger.whole}"
    return {
        "runs": "/runs",
        "run": f"/runs/{ledger.whole}",
        "diagnosis": f"/runs/{ledger.cut}/diagnosis",
        "episode": f"/runs/{ledger.cut}/episodes/club-fee-1-67934b95.r0.a1?step=2",
        "talk": "/runs/talked/episodes/pages.r0.a1?step=2",
        "shop": "/runs/talked/episodes/shop.r0.a1?step=2",
        "agreement": "/agreement?run=hostile",
        "marks": "/runs/marked/episodes/marked.r0.a1?step=4",
        "long episode": "/runs/long/episodes/marked.r0.a1?step=260",
        "hostile episode": "/runs/hostile/episodes/hostile.r0.a1",
        "hostile run": "/runs/hostile",
        "choice of runs": "/compare",
        "refusal": f"/compare?{pair}",
        "verdict": "/compare?base=made-1&cand=made-2",
        "pair": f"/compare/pair?{pair}&task=club_fee.1",
        "rewards": "/rewards",
        "reward": "/rewards/assistantbench_reward?c.answer=850000",
        "world's reward": "/rewards/webshop_reward",
        "problem": "/runs/nowhere",
    }


def test_the_runs_page_shows_what_each_run_scored_and_how_sure_that_is(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/"))
    assert page.url == viewer.at("/runs")
    row = page.locator("tbody tr", has_text=viewer.ledger.cut)
    expect(row).to_contain_text("short pages lose the clubs")
    expect(row).to_contain_text("townsquare")
    expect(row).to_contain_text("0.500")
    expect(page.locator("tbody tr", has_text="made-1")).to_contain_text("[0.000, 0.000]")
    expect(page.locator(".chart.done canvas")).to_be_visible()


def test_runs_are_sorted_and_filtered_by_the_address_alone(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at("/runs"))
    page.get_by_role("link", name="mean reward").click()
    assert "sort=mean" in page.url
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("mean reward")
    means = page.locator(".runs tbody .chip").all_inner_texts()
    assert means == sorted(means, reverse=True)
    page.get_by_label("search").fill("whole pages")
    page.get_by_role("button", name="Filter").click()
    # The new page has its address before it has its rows.
    expect(page.locator(".runs tbody tr")).to_have_count(1)
    assert page.locator(".runs tbody tr").count() == 1
    assert "sort=mean" in page.url
    pasted = page.url
    page.goto("about:blank")
    page.goto(pasted)
    expect(page.locator(".runs tbody tr")).to_contain_text(viewer.ledger.whole)


def test_the_runs_page_has_a_line_for_each_benchmark_and_agent(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at("/runs"))
    key = page.locator(".chart .key li")
    expect(key.filter(has_text="townsquare, rules")).to_have_count(1)
    expect(key.filter(has_text="town, rules")).to_have_count(1)
    looks = page.locator(".chart .key .line").evaluate_all(
        "lines => lines.map(line => getComputedStyle(line).strokeDasharray)"
    )
    assert len(set(looks)) == len(looks), "told apart without colour"
    row = page.locator(".runs tbody tr").filter(has_text="made-2")
    expect(row).to_contain_text("improved")
    expect(row).to_contain_text("+1.000")
    verdict = row.locator("abbr").filter(has_text="improved")
    expect(verdict).to_have_attribute("title", re.compile("A test shows that the run is better"))


def test_the_map_shows_each_task_in_each_run_and_leads_to_the_attempt(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs?benchmark=town"))
    cells = page.locator(".matrix tbody tr").first.locator("td a")
    assert cells.all_inner_texts() == ["0.00", "1.00"]
    cells.nth(1).click()
    expect(page).to_have_url(re.compile("/runs/made-2/episodes/"))


def test_two_runs_are_picked_by_the_keyboard_and_compared_the_older_one_first(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs?benchmark=town"))
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    page.get_by_role("button", name="Compare the two").click()
    expect(page).to_have_url(re.compile(r"base=made-1&cand=made-2$"))
    expect(page.locator(".verdict")).to_contain_text("improved")


def test_the_run_page_says_what_was_asked_submitted_right_and_why_points_were_lost(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at(f"/runs/{viewer.ledger.cut}"))
    expect(page.locator("#diagnosis")).to_contain_text("observation truncated")
    row = page.locator(".attempts tbody tr").filter(has_text="club_fee.1")
    for text in ("annual fee", "unknown", "29", "0.000", "observation truncated", "not shown"):
        expect(row).to_contain_text(text)
    expect(row).to_contain_text("answered")
    assert row.locator("svg.spark path").count() == 2, "scores, and steps without one"
    expect(page.locator(".stats").first).to_contain_text("pass rate")
    expect(page.locator(".multiples")).to_have_count(0)
    row.locator(".why a").click()
    expect(page).to_have_url(re.compile(r"step=\d+$"))


def test_repeats_are_shown_where_there_are_any(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at(f"/runs/{viewer.ledger.whole}"))
    expect(page.locator(".multiples li")).to_have_count(2)
    expect(page.get_by_label("club_fee.1, repeat 1: 1.000")).to_be_visible()
    page.get_by_label("show").select_option("below full reward")
    expect(page.locator("#list")).to_contain_text("None.")
    expect(page).to_have_url(re.compile(r"\?show=lost$"))


def test_attempts_are_searched_sorted_and_filtered_without_leaving_the_page(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/made-2"))
    rows = page.locator(".attempts tbody tr")
    page.keyboard.press("/")
    expect(page.get_by_label("search")).to_be_focused()
    page.keyboard.type("task 11")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/runs/made-2\?q=task(\+|%20)11$"))
    expect(page.locator("#twin")).to_have_attribute("href", re.compile(r"\.json\?q=task\+11$"))
    page.get_by_label("search").fill("")
    expect(rows).to_have_count(12)
    page.locator("select[name=changed]").select_option("better")
    expect(page).to_have_url(re.compile(r"changed=up$"))
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text("0.000 ▲+1.00")
    page.get_by_role("columnheader", name="task").get_by_role("link").click()
    expect(page).to_have_url(re.compile("sort=task"))
    expect(page.locator("th[aria-sort]")).to_contain_text("task ↑")
    expect(rows.nth(1)).to_contain_text("task 1")
    page.get_by_role("columnheader", name="task").get_by_role("link").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("task ↓")
    expect(rows.first).to_contain_text("task 9")
    page.get_by_label("to", exact=True).fill("0.5")
    expect(rows.first).to_contain_text("None.")
    pasted = page.url
    page.goto("about:blank")
    page.goto(pasted)
    expect(page.get_by_label("to", exact=True)).to_have_value("0.5")


def test_the_keys_of_a_list_and_the_words_of_the_page(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at(f"/runs/{viewer.ledger.cut}"))
    links = page.locator(".attempts tbody tr td:first-child a")
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("n")
    lost = page.locator(".attempts tr[data-failure]")
    expect(lost.locator("a").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_have_attribute("open", "")
    expect(page.locator("#help")).to_contain_text("at least 0.99")
    expect(page.locator("#help > summary")).to_be_focused()
    for path in ("/runs", f"/runs/{viewer.ledger.cut}"):
        page.goto(viewer.at(path))
        heads = page.locator("table[data-rows] th").evaluate_all(
            "heads => heads.filter(head => !head.querySelector('[title]')).map(h => h.innerText)"
        )
        assert heads == [], path
        assert "`" not in page.locator("main").inner_text()


def test_the_episode_page_shows_each_score_with_the_fact_that_earned_it(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at(addresses(viewer.ledger)["episode"]))
    assert len(cells(page)) == 6
    assert cells(page)[:2] == ["step 0, no score, reset", "step 1, +0.55"]
    step = page.locator("#step-2")
    expect(step.locator(".action")).to_contain_text("click(")
    expect(step.locator(".observation")).to_contain_text("title: ")
    earned = step.locator(".earned")
    expect(earned).to_contain_text("+0.550")
    expect(earned).to_contain_text("the address changed")
    expect(earned.get_by_text("recovery@")).to_have_attribute("title", re.compile("rule 7 decided"))
    expect(earned.get_by_role("row").filter(has_text="visible text")).to_contain_text("changed")
    picture = step.locator(".shot svg").first
    assert picture.locator("image").evaluate("image => image.getBBox().width") > 100
    expect(picture.locator("rect.target")).to_be_visible()
    aligned = page.locator(".aligned").first
    expect(aligned).to_contain_text("unknown")
    expect(aligned).to_contain_text("✗")
    expect(page.locator(".finding")).to_contain_text("observation truncated")


def test_the_element_that_an_action_was_aimed_at_is_boxed_on_what_the_agent_saw(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=2"))
    before, after = page.locator(".shot").all()
    expect(before).to_contain_text("before the action, step 1")
    box = before.locator("rect.target")
    assert [box.get_attribute(name) for name in ("x", "y", "width", "height")] == [
        "10.0", "12.0", "20.0", "8.0",
    ]  # fmt: skip
    assert before.locator("svg").get_attribute("viewBox") == "0 0 64 48"
    expect(after.locator("rect.target")).to_have_count(0)


def test_every_mark_is_on_the_ribbon_in_colour_in_a_glyph_and_in_words(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1"))
    labels = " ".join(cells(page))
    for mark in ("reset", "failure", "recovered", "blocked", "loop"):
        assert mark in labels
    glyphs = page.locator(".ribbon .cell").all_inner_texts()
    assert {"○", "×", "↑", "⊘", "↻", "+"} <= set(glyphs)


def test_the_keyboard_moves_to_the_next_and_previous_step_and_failure(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=1"))

    def press(key: str, step: int) -> None:
        page.keyboard.press(key)
        expect(page.locator(f"#step-{step}")).to_be_visible()
        expect(page).to_have_url(re.compile(rf"step={step}$"))

    press("j", 2)
    press("k", 1)
    press("n", 2)
    press("n", 4)
    press("ArrowRight", 5)
    press("p", 4)
    expect(page.locator(".cell[aria-current=step]")).to_have_attribute(
        "aria-label", "step 4, −0.75, blocked"
    )
    expect(page.locator("#twin")).to_have_attribute("href", re.compile(r"\.json\?step=4$"))
    page.go_back()
    expect(page.locator("#step-5")).to_be_visible()
    # What the way back fetches replaces the cells, and with them the focus.
    page.wait_for_load_state("networkidle")
    page.locator("#cell-3").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#step-3")).to_be_visible()
    expect(page.locator("#cell-3")).to_be_focused()


def test_focus_is_visible_and_the_first_stop_skips_to_the_content(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1"))
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.locator(".ribbon .cell").nth(3).focus()
    page.keyboard.press("Tab")
    style = page.locator(".ribbon .cell").nth(4).evaluate("cell => getComputedStyle(cell).outline")
    assert "3px" in style


def test_a_long_episode_is_shown_a_window_at_a_time_with_an_overview(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/long/episodes/marked.r0.a1?step=399"))
    labels = cells(page)
    assert len(labels) == 200
    assert labels[0].startswith("step 200,")
    expect(page.locator("h2", has_text="Steps 200 to 399 of 450")).to_be_visible()
    expect(page.locator(".overview a")).to_have_count(113)
    page.keyboard.press("j")
    expect(page.locator("#step-400")).to_be_visible()
    assert cells(page)[-1].startswith("step 449,")


def test_a_comparison_that_the_data_cannot_carry_is_refused_in_words(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs"))
    page.get_by_label(f"pick {viewer.ledger.whole}").check()
    page.get_by_label(f"pick {viewer.ledger.cut}").check()
    page.get_by_role("button", name="Compare the two that are picked").click()
    expect(page.locator(".verdict")).to_contain_text("no verdict possible: n=2")
    expect(page.get_by_text("agent.options.observation_chars: 4000 → 24000")).to_be_visible()
    first = page.locator("tbody tr").filter(has_text="club_fee.1")
    expect(first).to_contain_text("improved")
    order = page.locator("table").last.locator("tbody tr").all_inner_texts()
    assert "club_fee.1" in order[0]
    page.goto(viewer.at(f"/compare?base={viewer.ledger.cut}&cand=made-1"))
    expect(page.locator(".verdict")).to_contain_text("not comparable: the task sets differ")
    page.get_by_role("link", name="Compute it all the same").click()
    expect(page.locator(".verdict")).to_contain_text("no task was scored in both runs")


def test_a_difference_that_is_shown_comes_with_its_interval(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at("/compare?base=made-1&cand=made-2"))
    expect(page.locator(".verdict")).to_contain_text("improved")
    expect(page.get_by_role("row").filter(has_text="mean reward")).to_contain_text("[1.000, 1.000]")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="task 0", exact=True)).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("McNemar p")


def test_a_row_opens_both_trajectories_aligned_where_they_part(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at(f"/compare?base={viewer.ledger.cut}&cand={viewer.ledger.whole}"))
    page.get_by_role("link", name="club_fee.1").click()
    expect(page.get_by_text("They part at step")).to_be_visible()
    rows = page.locator(".pair tbody tr").all()
    at = next(i for i, row in enumerate(rows) if "first divergence" in row.inner_text())
    actions: list[list[str]] = [
        [half.inner_text() for half in row.locator("code").all()] for row in rows
    ]
    assert at > 0
    for both in actions[:at]:
        assert both[0] == both[1]
    assert actions[at][0] != actions[at][1]
    rows[at].locator("a").first.click()
    expect(page.locator(f"#step-{at}")).to_be_visible()


def test_a_reward_is_tried_and_probed_on_the_page(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.at("/rewards"))
    page.get_by_role("link", name="math_equal_reward", exact=True).click()
    page.get_by_label("final_response").fill(r"so \boxed{\tfrac12}")
    page.get_by_label("answer").first.fill("0.5")
    page.get_by_role("button", name="Score").click()
    result = page.locator("section", has=page.locator("#result"))
    expect(result).to_contain_text("1.000")
    expect(result).to_contain_text("equals '0.5'")
    page.get_by_role("button", name="Probe the reference").click()
    expect(result).to_contain_text("right forms lose points")
    page.goto(viewer.at("/rewards/webshop_reward"))
    expect(page.locator("main")).to_contain_text("live environment")
    expect(page.locator("form")).to_have_count(0)
    page.goto(viewer.at("/rewards/math_equal_reward"))
    page.get_by_label("final_response").fill("1")
    page.get_by_label("answer").first.fill("1")
    page.get_by_text("options", exact=True).click()
    page.get_by_label("tolerance").fill("nonsense")
    page.get_by_role("button", name="Score").click()
    expect(page.get_by_role("alert")).to_contain_text("'nonsense'")


def test_two_tabs_do_not_fight(page: Page, viewer: Viewer) -> None:
    other = page.context.new_page()
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=3"))
    other.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=7"))
    page.reload()
    expect(page.locator("#step-3")).to_be_visible()
    other.keyboard.press("j")
    expect(other.locator("#step-8")).to_be_visible()
    page.reload()
    expect(page.locator("#step-3")).to_be_visible()


def test_a_running_run_updates_by_itself(page: Page, viewer: Viewer) -> None:
    folder = viewer.ledger.folder
    task, later = Task(id="first", answer="1"), Task(id="second", answer="1")
    with RunWriter.create(folder, manifest("under-way", n_tasks=2, focus="live")) as writer:
        attempt, second = writer.new_attempt(task), writer.new_attempt(later)
        steps = writer.steps(attempt)
        steps.write(Step(index=0, action=""))
        page.goto(viewer.at("/runs/under-way"))
        expect(page.locator("h1")).to_contain_text("live")
        page.get_by_role("link", name=attempt).click()
        expect(page.locator("#step-0")).to_be_visible()
        for step in scored_steps(3)[1:]:
            steps.write(step)
        expect(page.locator("#step-2")).to_be_visible()
        with page.expect_request(re.compile("seen=")):
            page.route(re.compile("seen="), lambda route: None)
        # An update that is under way must not undo a step of the reader's.
        with page.expect_event("requestfailed", lambda request: "seen=" in request.url):
            page.keyboard.press("k")
        expect(page.locator("#step-1")).to_be_visible()
        page.unroute_all()
        writer.append(episode(attempt, task, 1.0))
        expect(page.locator(".worth")).to_contain_text("1.000")
        page.goto(viewer.at("/runs/under-way"))
        page.get_by_text("Configuration (").click()
        writer.append(episode(second, later, 0.0))
        expect(page.get_by_role("row").filter(has_text="second").first).to_contain_text("0.000")
        expect(page.locator("details", has_text="Configuration")).to_have_attribute("open", "")
    expect(page.locator("h1")).not_to_contain_text("live")
    expect(page.locator("#live[hx-get]")).to_have_count(0)


def episode(attempt: str, task: Task, reward: float) -> Episode:
    return Episode(attempt=attempt, task=task, scores=(Scored(reward, scorer=SCORER),))


def test_hostile_content_is_shown_and_does_nothing(page: Page, viewer: Viewer) -> None:
    task = quote(f"task {SCRIPT}{BREAKOUT}", safe="")
    both = "base=hostile-before&cand=hostile&force=true"
    for path in (
        "/runs?q=hostile",
        f"/runs?benchmark={quote(SCRIPT)}&model=%22onfocus=%22pwned=8",
        "/runs/hostile",
        "/runs/hostile?q=%3Cscript%3E&cause=%22%3E%3Cimg src=x%3E&error=%3Cscript%3E&show=all",
        "/runs/hostile?show=all&sort=cause&domain=%3Cscript%3E&ending=%22%3E%3Cscript%3E",
        "/runs/hostile?task=%3Cscript%3Ewindow.pwned=9%3C/script%3E",
        "/runs/hostile/diagnosis",
        "/runs/hostile/episodes/hostile.r0.a1?step=1",
        "/runs/hostile/episodes/hostile.r0.a1?step=0",
        "/runs/hostile/episodes/hostile.r0.a1?step=2",
        "/runs/hostile/episodes/broken.r0.a1",
        "/runs/talked/episodes/shop.r0.a1?step=2",
        "/agreement?run=hostile",
        f"/compare?{both}",
        f"/compare/pair?{both}&task={task}",
        "/rewards",
        "/rewards/assistantbench_reward",
        "/rewards/qa_f1_reward?c.final_response=%3Cscript%3Ewindow.pwned=6%3C/script%3E",
        f"/runs/{quote(IMAGE, safe='')}",
    ):
        page.goto(viewer.at(path))
        check_harmless(page, path, "http:")
    page.goto(viewer.at("/runs/hostile"))
    since = page.locator(".since")
    expect(since).to_contain_text(SCRIPT)
    page.goto(viewer.at("/runs/hostile/episodes/hostile.r0.a1?step=1"))
    action = page.locator("#step-1 .action").inner_text()
    assert "<script>window.pwned = 1</script>" in action
    assert "␛[31mred␛[0m" in action
    assert "⟨U+202E⟩" in action
    assert "{{ 7 * 7 }}" in action


def test_five_megabytes_of_text_are_cut_visibly_with_the_whole_a_click_away(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/hostile/episodes/hostile.r0.a1?step=2"))
    cut = page.locator(".cut").filter(has_text="Cut here")
    expect(cut.first).to_contain_text(f"of {HUGE:,} characters are not shown")
    whole = page.locator("#step-2 .cut a").last.get_attribute("href")
    answer = page.request.get(viewer.at(whole or ""))
    assert len(answer.body()) == HUGE + 3
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert page.locator("body").evaluate("body => body.innerText.length") < 100_000
    page.goto(viewer.at("/runs/hostile/episodes/endless.r0.a1"))
    assert page.locator("body").evaluate("body => body.innerText.length") < 100_000


def test_one_key_labels_an_attempt_or_a_step_and_the_note_is_kept(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=3"))
    page.keyboard.press("w")
    label = page.locator("#labels-attempt .label")
    expect(label).to_contain_text("✗ wrong")
    assert page.url.endswith("?step=3")
    page.keyboard.press("m")
    page.keyboard.type(f"why {IMAGE}")
    page.keyboard.press("Enter")
    expect(label).to_contain_text(f"wrong: why {IMAGE}")
    page.keyboard.press("R")
    expect(page.locator("#labels-step .label")).to_contain_text("✓ right")
    page.keyboard.press("j")
    expect(page.locator("#step-4")).to_be_visible()
    expect(page.locator("#labels-step .label")).to_have_count(0)
    expect(label).to_contain_text("wrong")
    page.goto(viewer.at("/agreement?run=marked"))
    expect(page.locator("main")).to_contain_text("kappa")
    expect(page.get_by_role("row").filter(has_text="marked").first).to_contain_text("wrong: why")
    assert page.evaluate("window.pwned") is None
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=3"))
    page.keyboard.press("u")
    expect(label).to_have_count(0)
    page.keyboard.press("U")
    expect(page.locator(".label")).to_have_count(0)


class SlowLabels:
    """Holds back every label that the page sends, until it is let go."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._is_open = False
        self._waiting: list[Route] = []
        page.route("**/labels", lambda route: self._take(route))

    def _take(self, route: Route) -> None:
        if self._is_open:
            route.continue_()
        else:
            self._waiting.append(route)

    def press(self, key: str) -> None:
        """Press the key, and come back when its label is under way."""
        # Chromium drops keys that come before a document is first drawn.
        self._page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        with self._page.expect_request("**/labels"):
            self._page.keyboard.press(key)

    def let_go(self) -> None:
        self._is_open = True
        for route in self._waiting:
            route.continue_()


def test_what_is_pressed_while_a_label_is_under_way_comes_after_it(
    page: Page, viewer: Viewer
) -> None:
    address = viewer.at("/runs/marked/episodes/marked.r0.a1?step=3")
    of_attempt, of_step = (
        page.locator("#labels-attempt .label"),
        page.locator("#labels-step .label"),
    )
    page.goto(address)
    slow = SlowLabels(page)
    slow.press("w")
    page.keyboard.press("r")
    page.keyboard.press("W")
    slow.let_go()
    expect(of_attempt).to_contain_text("✓ right")
    expect(of_step).to_contain_text("✗ wrong")
    slow = SlowLabels(page)
    slow.press("u")
    page.keyboard.press("U")
    slow.let_go()
    expect(page.locator(".label")).to_have_count(0)
    page.goto(address)
    expect(page.locator(".label")).to_have_count(0)
    slow = SlowLabels(page)
    slow.press("D")
    page.keyboard.press("j")
    page.locator("#cell-6").click()
    slow.let_go()
    expect(page.locator("#step-6")).to_be_visible()
    assert page.url.endswith("?step=6")
    page.goto(address)
    expect(of_step).to_contain_text("doubtful")
    page.keyboard.press("U")
    expect(page.locator(".label")).to_have_count(0)


def test_a_note_that_is_being_written_outlives_the_answer_to_a_label(
    page: Page, viewer: Viewer
) -> None:
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=3"))
    slow = SlowLabels(page)
    slow.press("w")
    page.keyboard.press("m")
    page.keyboard.type("a wrong word")
    slow.let_go()
    label = page.locator("#labels-attempt .label")
    expect(label).to_contain_text("✗ wrong")
    note = page.get_by_label("A note on the attempt")
    expect(note).to_be_focused()
    expect(note).to_have_value("a wrong word")
    page.keyboard.press("Enter")
    expect(label).to_contain_text("wrong: a wrong word")
    expect(note).to_have_value("")
    page.keyboard.press("u")
    expect(label).to_have_count(0)


def test_content_of_a_step_is_above_the_fold_of_a_desk_and_of_a_phone(
    browser: Browser, viewer: Viewer
) -> None:
    for width, height in ((1400, 900), (390, 844)):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        for name in ("episode", "talk", "shop"):
            page.goto(viewer.at(addresses(viewer.ledger)[name]))
            box = page.locator(".did .message, .did .observation").first.bounding_box()
            assert box is not None
            assert box["y"] < height - 60, (name, width, box["y"])
        context.close()


def test_what_was_cut_is_marked_and_the_rest_is_one_click_away(page: Page, viewer: Viewer) -> None:
    cut = f"/runs/{viewer.ledger.cut}/episodes/club-fee-1-67934b95.r0.a1?step=4"
    page.goto(viewer.at(cut))
    gap = page.locator(".gap").first
    expect(gap).to_contain_text("characters not shown")
    missing = gap.locator("pre")
    expect(missing).to_be_hidden()
    gap.locator("summary").click()
    expect(missing).to_be_visible()
    assert len(missing.inner_text()) > 1_000


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """Whatever axe-core finds on the page, however small."""
    page.evaluate(AXE)
    results = page.evaluate("rules => axe.run(document, rules)", rules)["violations"]
    return [
        f"{item['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for item in results
        for node in item["nodes"][:3]
    ]


def test_every_page_fits_into_390_and_1280_pixels_and_axe_finds_no_violation(
    browser: Browser, viewer: Viewer
) -> None:
    context = browser.new_context(color_scheme="light", bypass_csp=True)
    page = context.new_page()
    problems: dict[str, list[str]] = {}
    for name, path in addresses(viewer.ledger).items():
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(viewer.at(path))
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (name, wide)
        assert page.locator("#help").count() == (name != "problem"), name
        page.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")
        problems[name] = violations(page, EVERYTHING)
        if name in DARK:
            page.emulate_media(color_scheme="dark")
            problems[f"{name}, dark"] = violations(page, COLOURS)
            page.emulate_media(color_scheme="light")
    context.close()
    assert {name: listed for name, listed in problems.items() if listed} == {}


def test_pages_say_the_same_without_scripts(browser: Browser, viewer: Viewer) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(viewer.at("/runs/marked/episodes/marked.r0.a1?step=1"))
    page.get_by_role("link", name="next failure").click()
    expect(page.locator("#step-2")).to_be_visible()
    page.goto(viewer.at(f"/runs/{viewer.ledger.cut}"))
    expect(page.locator("#diagnosis")).to_contain_text("observation truncated")
    context.close()
