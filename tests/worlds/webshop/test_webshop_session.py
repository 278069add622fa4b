from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadParameter, NotReset
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.worlds.webshop.pages import THANKS
from assay.worlds.webshop.session import ShopSession
from assay.worlds.webshop.shop import open_shop

HAIR_SERUM = 3
"""A human goal whose product has the options 1pcs, 3pcs and 5pcs."""


def new(*, clickables: bool = True) -> ShopSession:
    session = ShopSession(open_shop(), clickables=clickables)
    session.reset(HAIR_SERUM)
    return session


def evidence(observation: Observation) -> WorldEvidence:
    assert isinstance(observation.evidence, WorldEvidence)
    return observation.evidence


def walk(session: ShopSession, *actions: str) -> WorldEvidence:
    for action in actions:
        observation = session.step(action)
    return evidence(observation)


def open_item(session: ShopSession) -> None:
    session.search(session.shop.stock.products[session.goal.asin].title)
    session.click(session.goal.asin)
    assert session.page.kind == "item"


def rescore(recorded: WorldEvidence) -> float:
    """The score computed again from the recorded progress, by WebShop's formula."""
    parts = recorded.progress
    matched = parts["attributes_matched"] + parts["options_matched"] + parts["price_ok"]
    score: float = matched / (parts["attributes"] + parts["goal_options"] + 1) * parts["r_type"]
    return score


def buy_goal(session: ShopSession) -> Observation:
    goal = session.goal
    session.search(session.shop.stock.products[goal.asin].title)
    while goal.asin.lower() not in session.page.products:
        assert session.page.products, f"{goal.asin} is not among the results for its own title"
        session.click("next >")
    session.click(goal.asin)
    for option in goal.options:
        session.click(option if isinstance(option, str) else option[1])
    return session.click("buy now")


@pytest.mark.parametrize("number", range(13))
def test_buying_the_item_of_a_human_goal_with_its_options_scores_1(number: int) -> None:
    session = new()
    session.reset(number)
    bought = buy_goal(session)
    assert (bought.reward, bought.done, evidence(bought).won) == (1.0, True, True)
    assert rescore(evidence(bought)) == 1.0


def test_buying_the_first_hit_scores_what_the_original_says() -> None:
    session, scores = new(), []
    for number in range(13):
        session.reset(number)
        session.search(session.goal.instruction)
        session.click(next(iter(session.page.products)))
        scores.append(round(session.click("buy now").reward or 0.0, 2))
    assert scores == [1.0, 0.67, 0.75, 0.67, 0.67, 0.5, 0.75, 0.67, 0.5, 0.67, 0.67, 0.67, 0.5]


def test_most_synthetic_goals_can_be_met_in_full() -> None:
    session, scores = new(), []
    for number in range(0, 6910, 173):
        session.reset(number, kind="synthetic")
        scores.append(buy_goal(session).reward)
    assert scores.count(1.0) >= 0.9 * len(scores)
    assert all(score is not None and score > 0.7 for score in scores)


def test_pages_read_like_those_of_the_original() -> None:
    session = new(clickables=False)
    wish = session.goal.instruction
    assert session.page.text == f"WebShop [SEP] Instruction: [SEP] {wish} [SEP] Search"
    results = session.search("hair serum roller").text
    head = f"Instruction: [SEP] {wish} [SEP] Back to Search [SEP] "
    assert results.startswith(head + "Page 1 (Total results: 50) [SEP] Next > [SEP] B0")
    assert session.click("Next >").text.startswith(
        head + "Page 2 (Total results: 50) [SEP] < Prev [SEP] Next > [SEP] B0"
    )
    open_item(session)
    assert session.page.text.startswith(head + "< Prev [SEP] size [SEP] 1pcs [SEP] 3pcs [SEP] 5pcs")
    assert session.page.text.endswith(
        " [SEP] Price: $21.99 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews"
        " [SEP] Buy Now"
    )
    assert session.click("features").text.startswith(head + "< Prev [SEP] [Upgraded Version]:")
    session.click("< prev")
    assert session.click("reviews").text == head + "< Prev"
    session.click("< prev")
    assert session.click("buy now").text == THANKS


def test_an_observation_lists_what_can_be_clicked() -> None:
    session = new()
    assert (
        session.step("search[serum]").text.count("\nClickables: ['back to search', 'next >', ") == 1
    )
    open_item(session)
    assert session.page.clickables == (
        *("back to search", "< prev", "description", "features", "reviews", "buy now"),
        *("1pcs", "3pcs", "5pcs"),
    )


def test_results_come_in_pages_of_10_and_never_end() -> None:
    session = new()
    session.search("hair")
    seen: list[str] = []
    for _ in range(5):
        seen += session.page.products
        assert len(session.page.products) == 10
        session.click("next >")
    assert len(set(seen)) == 50
    assert not session.page.products
    assert "Page 7 (Total results: 50)" in session.click("next >").text
    for _ in range(6):
        session.click("< prev")
    assert list(session.page.products) == seen[:10]
    assert "< prev" not in session.page.clickables


KEPT_OPTIONS = [
    (("click[description]", "click[< prev]"), {"size": "3pcs"}, "item", "a sub page keeps them"),
    (("click[5pcs]",), {"size": "5pcs"}, "item", "another value replaces the first"),
    (("click[no such]",), {"size": "3pcs"}, "item", "an unknown click does nothing"),
    (("click[< prev]",), {}, "results", "leaving the item loses them"),
    (("click[back to search]",), {}, "index", "so does going home"),
    (("search[shirt]",), {}, "results", "and a search, which works from an item"),
    (("click[features]", "search[shirt]"), {}, "results", "and from a sub page"),
    (("click[< prev]", "click[next >]"), {}, "results", "and paging"),
]


@pytest.mark.parametrize(("actions", "options", "page", "reason"), KEPT_OPTIONS)
def test_options_are_kept_and_lost_as_in_the_original(
    actions: tuple[str, ...], options: dict[str, str], page: str, reason: str
) -> None:
    session = new()
    open_item(session)
    after = walk(session, "click[3pcs]", *actions)
    assert (after.progress["options"], after.progress["page"]) == (options, page), reason


ACTION_FORMS = [
    ("search[hair serum]", "results", "plain"),
    (" Search [hair serum] please", "results", "case, spaces and a tail do not matter"),
    ("search[hair [organic] serum]", "results", "brackets inside belong to the keywords"),
    ("search[a/b?c#d&page=9]", "results", "nothing in the keywords is a URL"),
    ("search[<r>]", "results", "the original's commands in angle brackets are words here"),
    ("search[ ]", "results", "no keywords, no results"),
    ("choose[search]", "index", "the search button itself does nothing"),
    ("search[]", "index", "empty"),
    ("search", "index", "no brackets"),
    ("search]hair[", "index", "the wrong way round"),
    ("buy[now]", "index", "no such verb"),
    ("click[buy now]", "index", "not on this page"),
    ("search[hair", "index", "not closed"),
    ("", "index", "nothing"),
    ("get_reward", "index", "not a verb for agents"),
]


@pytest.mark.parametrize(("action", "page", "reason"), ACTION_FORMS)
def test_actions_are_read_leniently_but_not_guessed(action: str, page: str, reason: str) -> None:
    session = new()
    after = session.step(action)
    assert evidence(after).progress["page"] == page, reason
    assert after.text.startswith("Nothing happened") == (page == "index"), reason


HOSTILE = [
    "A" * 100_000,
    "search[" + "hair " * 20_000 + "]",
    "search[" + "[" * 50_000 + "]" * 50_000,
    "search[" + "_" * 100_000 + "]",
    "click[" + "x" * 100_000 + "]",
    "click[\x00\x1b[2J\r\n\u202e\ud800]",
    "search[\ud800\udfff\x00]",
    "click[../../etc/passwd]",
    "click['; DROP TABLE goals; --]",
    "search[{{7*7}} ${jndi:ldap://x} %s %n]",
    "click[__class__]",
]


@pytest.mark.parametrize("action", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_action_changes_nothing_but_the_page(action: str) -> None:
    session = new()
    open_item(session)
    before = session.shop.goals("human")
    after = session.step(action)
    assert evidence(after).score is None
    assert not after.done
    assert evidence(after).progress["page"] in ("item", "results")
    assert len(after.text) < 20_000
    assert session.shop.goals("human") is before


USEFUL = (
    *("search[hair]", "click[b09py89b1s]", "click[3pcs]", "click[buy now]"),
    *("click[< prev]", "click[next >]", "click[features]", "click[back to search]"),
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.text(max_size=20).map(lambda text: f"search[{text}]"),
            st.text(max_size=20).map(lambda text: f"click[{text}]"),
            st.sampled_from(USEFUL),
        ),
        max_size=12,
    )
)
def test_any_walk_leaves_consistent_json_evidence(actions: list[str]) -> None:
    session = new()
    for action in actions:
        after = session.step(action)
        seen = evidence(after)
        json.dumps(dict(seen.progress))
        assert seen == session.evidence()
        assert after.done == seen.done == (seen.progress["page"] == "done")
        assert (seen.score is not None) == seen.done
        assert seen.won == (seen.score == 1.0 if seen.done else None)
        assert seen.score is None or rescore(seen) == seen.score


def test_after_the_purchase_nothing_counts() -> None:
    session = new()
    open_item(session)
    bought = walk(session, "click[1pcs]", "click[buy now]")
    assert bought.done
    for action in ("search[hair]", "click[buy now]", "click[back to search]", "nonsense"):
        later = session.step(action)
        assert evidence(later) == bought
        assert (later.done, later.reward) == (True, 0.0)
        assert "No action has an effect any more" in later.text


def test_a_useless_action_without_hints_shows_the_same_page_again() -> None:
    session = new(clickables=False)
    page = session.search("hair").text
    assert session.step("click[nowhere]").text == session.step("what?").text == page


def test_a_reset_starts_a_complete_fresh_episode() -> None:
    session, other = new(), new()
    open_item(session)
    walk(session, "click[3pcs]", "click[buy now]")
    assert session.reset(HAIR_SERUM) == other.reset(str(HAIR_SERUM))
    assert session.evidence().score is None


@pytest.mark.parametrize("number", [13, -1, "13", "-1", "x", "", "1.0", "٣", "9" * 5000, True])
def test_a_goal_that_does_not_exist_is_refused(number: int | str) -> None:
    session = new()
    with pytest.raises(BadParameter, match="has 13 goals, numbered from 0"):
        session.reset(number)


def test_a_session_without_a_task_does_nothing() -> None:
    session = ShopSession(open_shop())
    for act in (session.evidence, lambda: session.step("search[x]"), lambda: session.click("x")):
        with pytest.raises(NotReset):
            act()


@pytest.mark.parametrize(
    "action", ["search[red\nshirt]", "search[red\r\nshirt]", "search\n[red shirt]"]
)
def test_an_argument_that_goes_on_in_the_next_line_is_no_action_as_in_the_original(
    action: str,
) -> None:
    session = ShopSession(open_shop())
    before = session.reset(0)
    observation = session.step(action)
    assert observation.text.startswith("Nothing happened: ")
    assert observation.evidence == before.evidence


@pytest.mark.parametrize(
    "action", ["search[red shirt]\n", "\tsearch[red shirt]\r\n", "search[red shirt]\nclick[x]"]
)
def test_the_first_line_is_the_action(action: str) -> None:
    session = ShopSession(open_shop())
    session.reset(0)
    expected = session.step("search[red shirt]").text
    session.reset(0)
    assert session.step(action).text == expected
