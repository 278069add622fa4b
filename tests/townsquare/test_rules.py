"""The `rules` model on the town's pages, and what the knobs do to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from assay.agents.protocol import EpisodeLimits
from assay.registry import AGENTS
from assay.rewards.outcome.answers.reward import assistantbench_reward
from assay.schema.score import Scored
from assay.schema.task import Task
from tests.townsquare.browser_double import TownDouble
from townsquare.rules.model import NO_PLAN, RulesModel, plan_for
from townsquare.rules.view import read_page
from townsquare.rules.weather import dated_numbers
from townsquare.server import Town
from townsquare.tasks import tasks

SEED = 7


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Town(seed=SEED) as running:
        yield running


def answers(town: Town, chosen: list[Task], **knobs: Any) -> dict[str, str | None]:
    """The agent's answer to each task, by the task's id."""

    async def episode(task: Task) -> str | None:
        agent, limits = AGENTS.get("rules")(**knobs), EpisodeLimits()
        world = TownDouble(town.base_url)
        await agent.start(task, limits=limits)
        shown = world.reset(task.metadata["start_url"])
        for step in range(1, limits.steps + 1):
            action = await agent.act(shown, step=step)
            if action.answer is not None or action.gave_up:
                return str(action.answer)
            shown = world.step(action.text)
        return None

    return {task.id: asyncio.run(episode(task)) for task in chosen}


def right(given: dict[str, str | None], chosen: list[Task]) -> set[str]:
    scores = {task.id: assistantbench_reward(given[task.id], task.answer) for task in chosen}
    return {
        name for name, score in scores.items() if isinstance(score, Scored) and score.value >= 0.99
    }


def named(*names: str) -> list[Task]:
    return tasks(seed=SEED, names=names)


def test_most_of_the_demonstration_is_solved_the_same_way_each_time(town: Town) -> None:
    demo = tasks(seed=SEED, demo=True)
    first = answers(town, demo)
    assert len(right(first, demo)) > 0.6 * len(demo)
    assert answers(town, demo) == first


def test_every_kind_of_question_of_the_town_finds_a_plan() -> None:
    goals = [task.goal for task in tasks(seed=SEED + 1)]
    assert [goal for goal in goals if plan_for(goal) == NO_PLAN] == []
    assert plan_for("What is the meaning of life?") == NO_PLAN


@pytest.mark.parametrize(
    ("knobs", "names"),
    [
        ({"observation_chars": 4000}, ("club_fee.1", "club_secretary.1", "club_secretary.2")),
        ({"api_calls": "whole_range"}, ("rain_share.1", "rain_share.2", "wet_days.1")),
        ({"bare_answer": False}, ("motion_votes.1", "deputy_chair.1", "high_tide.1")),
        ({"workflow": "none"}, ("month_high.1", "highest_sold.1")),
        ({"json_chars": 1000}, ("wet_days.1",)),
        ({"actions": "-fetch_json"}, ("wet_days.1",)),
    ],
    ids=[
        "a small observation budget cuts the result off",
        "one call for the whole range is cut",
        "a sentence is not a bare answer",
        "without advice the popular page is believed",
        "a small payload budget cuts a year",
        "without the API there are too many tables",
    ],
)
def test_a_bad_knob_costs_what_a_good_one_gives(
    town: Town, knobs: dict[str, Any], names: tuple[str, ...]
) -> None:
    chosen = named(*names)
    assert right(answers(town, chosen), chosen) == set(names)
    assert right(answers(town, chosen, **knobs), chosen) == set()


def test_walls_are_left_for_the_next_result(town: Town) -> None:
    chosen = named("cheapest_shop", "motion_votes", "ticket_total", "high_tide")
    given = answers(town, chosen, workflow="none")
    assert len(right(given, chosen)) > 0.6 * len(chosen)


def test_a_question_of_another_kind_ends_in_unknown(town: Town) -> None:
    strange = Task(id="x", goal="Why?", metadata={"start_url": "{base_url}/"})
    assert answers(town, [strange]) == {"x": "unknown"}


def test_no_prompt_makes_the_model_raise() -> None:
    model = RulesModel()
    prompts: list[list[dict[str, Any]]] = [
        [],
        [{"role": "user", "content": ""}],
        [
            {
                "role": "user",
                "content": "Question: Which?\nStep 1 of 2.\nPage:\n" + "[1] link " * 999,
            }
        ],
        [{"role": "user", "content": 'Page:\nurl: http://[\n\n[1] link "a" -> http://[b'}],
        [{"role": "assistant", "content": "ACTION: click"}, {"role": "user", "content": "row |"}],
    ]
    for messages in prompts:
        reply = asyncio.run(model.complete(messages, timeout_s=1.0))
        assert "ACTION: " in reply.text


def test_a_page_is_read_as_it_is_shown() -> None:
    page = read_page(
        "url: http://a.example/p\ntitle: T\nnote: the page is blocked (captcha)\n\n"
        'heading "[4] link \\"A \\\\\\"b\\\\\\"\\" -> /q"\nsome words\n'
        '[7] combobox "Month" value="May" options="April | May"\n[8] button "Go"\n'
        'table\nPrices\nrow Item | Price (USD)\nrow [9] link "Tea" -> /tea | $4'
    )
    assert page.blocked
    assert page.obstacle
    assert page.elements[0].name == 'A "b"'
    assert page.elements[0].target == "http://a.example/q"
    assert page.elements[0].about == "some words"
    field = page.field("month")
    assert field is not None
    assert (field.value, field.options) == ("May", ("April", "May"))
    assert page.button_after(field) == page.element("8")
    assert page.tables[0].caption == "Prices"
    assert page.tables[0].rows == ({"Item": "Tea", "Price (USD)": "$4"},)


@pytest.mark.parametrize(
    ("payload", "count"),
    [
        ('{"d":{"2020-01":{"01":1.5,"02":0.0},"2020-02":{"01":2}}}', 3),
        ('{"d":{"2020-01":{"01":1.5,"02":0.0},"2020-02":{"01":2\n… 90 characters not shown', 2),
        ('{"d":{"2020-01":{"01":1.5,"0', 1),
        ('{"2020-01-05": 3, "note": "2020-01-06", "x": 7}', 1),
        ('{"2020-02":{"31": 1}}', 0),
        ("[" * 5000, 0),
        ("no json", 0),
        ("", 0),
    ],
    ids=["whole", "cut", "cut in a key", "whole days", "no such day", "nested", "text", "nothing"],
)
def test_numbers_by_day_are_read_from_whole_and_cut_payloads(payload: str, count: int) -> None:
    assert len(dated_numbers(payload)) == count
