"""MiniWoB++ in a real Chromium: what the pages say is what the environment records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from assay.browser.chromium.shared import close_shared_browsers
from assay.browser.drive.miniwob.environment import MiniWob
from assay.errors import BadParameter, DeadResource, MissingExtra, NotReset
from assay.schema.evidence import PageEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from tests.browser.miniwob.oracle import POLICIES, Oracle, read_view


@pytest.fixture(scope="module")
def world() -> Iterator[MiniWob]:
    """One world for all tests: an instance serves every page, and every event loop."""
    made = MiniWob()
    yield made
    asyncio.run(made.close())
    asyncio.run(close_shared_browsers())


def reset(world: MiniWob, task_id: str) -> Observation:
    return asyncio.run(world.reset(Task(id=task_id)))


def step(world: MiniWob, action: str) -> Observation:
    return asyncio.run(world.step(action))


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("click-link", "a plain element with a listener"),
        ("click-checkboxes", "boxes, several in turn"),
        ("login-user", "two fields, one of them for a password"),
        ("choose-list", "a list to select from"),
        ("guess-number", "answers that depend on what the page said before"),
    ],
)
def test_an_oracle_that_reads_the_observation_is_paid_in_full(
    world: MiniWob, page: str, why: str
) -> None:
    observation, oracle = reset(world, f"{page}/3"), Oracle(page)
    for _ in range(12):
        assert (observation.reward, observation.raw_reward) == (0.0, 0.0)
        observation = step(world, oracle.act(observation.text))
        if observation.done:
            break
    assert (observation.reward, observation.raw_reward, observation.done) == (1.0, 1.0, True)
    assert isinstance(observation.evidence, PageEvidence)
    evidence = world.evidence()
    assert (evidence.world, evidence.task_id, evidence.won) == ("miniwob", f"{page}/3", True)
    assert (evidence.score, evidence.progress["reward"]) == (1.0, 1.0)


def test_a_wrong_click_pays_nothing_and_keeps_the_pages_own_minus_one(world: MiniWob) -> None:
    view = read_view(reset(world, "click-link/3").text)
    wrong = next(e for e in view.elements if e.name not in view.goal)
    observation = step(world, f'click("{wrong.ref}")')
    assert (observation.reward, observation.raw_reward, observation.done) == (0.0, -1.0, True)
    assert (world.evidence().won, world.evidence().score) == (False, -1.0)

    evidence = world.evidence()
    right = view.named(view.quoted()[0])
    assert right is not None
    late = step(world, f'click("{right.ref}")')
    assert (late.reward, late.done, world.evidence()) == (0.0, True, evidence)


def test_the_seed_draws_the_problem(world: MiniWob) -> None:
    first, other, again = (reset(world, f"click-button/{seed}") for seed in (1, 2, 1))
    assert (first.text, first.evidence) == (again.text, again.evidence)
    assert first.text != other.text


def test_the_goal_leads_the_observation_and_the_score_board_is_not_part_of_it(
    world: MiniWob,
) -> None:
    text = reset(world, "enter-text/0").text
    assert text.startswith('goal: Enter "')
    assert text.count("into the text field") == 1
    assert "Last reward" not in text
    assert "START" not in text
    assert "url: http://miniwob.localhost/miniwob/enter-text.html" in text


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ('goto("http://example.com/")', "another site, which no request reaches"),
        ('goto("http://miniwob.localhost/miniwob/click-test.html")', "another page"),
        ('goto("http://miniwob.localhost/miniwob/enter-text.html")', "the same one anew"),
    ],
)
def test_leaving_the_page_ends_the_episode_unpaid(world: MiniWob, action: str, why: str) -> None:
    reset(world, "enter-text/0")
    observation = step(world, action)
    assert (observation.done, observation.reward) == (True, 0.0)
    assert world.evidence().won is False
    assert world.evidence().progress["reason"] == "the agent left the page"


def test_an_action_that_means_nothing_changes_nothing(world: MiniWob) -> None:
    reset(world, "enter-text/0")
    observation = step(world, 'core.endEpisode(1)\n");')
    assert "error: " in observation.text
    evidence = world.evidence()
    assert (evidence.score, evidence.done, evidence.won, evidence.progress["steps"]) == (
        0.0,
        False,
        None,
        1,
    )


def test_the_pages_own_clock_can_be_set() -> None:
    async def run_out() -> tuple[Observation, str]:
        world = MiniWob(episode_s=0.2)
        await world.reset(Task(id="click-test/0"))
        observation = await world.step("noop()")
        evidence = world.evidence()
        await world.close()
        return observation, evidence.progress["reason"]

    observation, reason = asyncio.run(run_out())
    assert (observation.done, observation.raw_reward, reason) == (True, -1.0, "timed out")


def test_a_task_that_is_not_there_is_refused_and_leaves_no_episode(world: MiniWob) -> None:
    reset(world, "click-test/0")
    for bad in (
        "click-link",
        "click-link/",
        "click-link/x",
        "click-link/-1",
        "flight/0",
        "../x/0",
        "",
    ):
        with pytest.raises(BadParameter, match="MiniWoB"):
            reset(world, bad)
        with pytest.raises(NotReset):
            world.evidence()
        with pytest.raises(NotReset):
            step(world, "noop()")


def test_forgetting_unbinds_and_closing_ends() -> None:
    async def live() -> None:
        world = MiniWob()
        with pytest.raises(NotReset):
            world.evidence()
        await world.reset(Task(id="click-test/0"))
        world.forget()
        with pytest.raises(NotReset):
            world.evidence()
        await world.close()
        with pytest.raises(DeadResource):
            await world.reset(Task(id="click-test/0"))

    asyncio.run(live())


def test_a_folder_without_the_pages_says_what_to_install(tmp_path: object) -> None:
    with pytest.raises(MissingExtra, match="pip install --no-deps miniwob"):
        MiniWob(folder=str(tmp_path))


def test_there_is_an_oracle_for_twenty_pages_and_none_for_a_page_that_is_not_there() -> None:
    assert len(POLICIES) >= 20
    with pytest.raises(BadParameter, match="there is no oracle"):
        Oracle("no-such-page")
