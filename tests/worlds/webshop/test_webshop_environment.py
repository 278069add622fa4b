from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from assay.errors import AcquireTimeout, BadParameter, DeadResource, NotReset
from assay.resources.context import Context
from assay.resources.pool import Pools
from assay.resources.protocol import Environment, StartableEnvironment
from assay.resources.spec import ResourceSpec
from assay.schema.task import Task
from assay.worlds.webshop.environment import WebShop
from assay.worlds.webshop.tasks import tasks
from assay.worlds.webshop.tools import webshop_action, webshop_click, webshop_search

T = TypeVar("T")


def run(act: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return asyncio.run(act())


def test_it_is_an_environment() -> None:
    world: Environment = WebShop()
    assert isinstance(world, StartableEnvironment)
    assert world.name == "webshop"
    assert world.alive()
    build = ResourceSpec("webshop", {"goals": "synthetic", "seed": 1}).builder()
    assert type(build()) is WebShop


def test_a_task_is_played_to_its_end() -> None:
    async def act() -> None:
        world, task = WebShop(), tasks()[3]
        await world.start()
        first = await world.reset(task)
        assert task.goal in first.text
        assert (first.reward, first.done) == (0.0, False)
        for action in ("search[B09PY89B1S organic hair serum roller]", "click[B09PY89B1S]"):
            await world.step(action)
        await world.step("click[1pcs]")
        last = await world.step("click[buy now]")
        assert (last.reward, last.done) == (1.0, True)
        assert last.evidence == world.evidence()
        assert (world.evidence().task_id, world.evidence().won) == ("3", True)

    run(act)


def test_before_a_reset_and_after_forgetting_it_has_nothing_to_say() -> None:
    async def act() -> None:
        world = WebShop()
        with pytest.raises(NotReset):
            world.evidence()
        await world.reset(Task(id="0"))
        world.forget()
        with pytest.raises(NotReset):
            world.evidence()
        with pytest.raises(NotReset):
            await world.step("search[x]")
        await world.close()
        await world.close()

    run(act)


def test_a_closed_instance_is_dead() -> None:
    async def act() -> None:
        world = WebShop()
        await world.close()
        assert not world.alive()
        with pytest.raises(DeadResource):
            await world.reset(Task(id="0"))
        with pytest.raises(DeadResource):
            world.evidence()

    run(act)


def test_a_reset_that_its_holder_did_not_wait_for_binds_nothing() -> None:
    async def act() -> None:
        world = WebShop()
        # Another seed draws the goals in a thread, so the reset is still under way below.
        late = asyncio.create_task(world.reset(Task(id="0", metadata={"seed": 97})))
        await asyncio.sleep(0)
        world.forget()
        with pytest.raises(NotReset, match="released during"):
            await late
        with pytest.raises(NotReset):
            world.evidence()

    run(act)


def test_a_failed_reset_leaves_no_old_episode_behind() -> None:
    async def act() -> None:
        world = WebShop()
        await world.reset(Task(id="0"))
        with pytest.raises(BadParameter, match="13"):
            await world.reset(Task(id="99"))
        with pytest.raises(NotReset):
            world.evidence()

    run(act)


def test_what_the_task_says_comes_before_the_settings_of_the_instance() -> None:
    async def act() -> None:
        world = WebShop(goals="human", seed=5)
        for task in (tasks(goals="synthetic", seed=2)[6909], tasks(seed=4, shuffle=True)[1]):
            assert task.goal in (await world.reset(task)).text
            progress = world.evidence().progress
            assert {key: progress[key] for key in task.metadata} == task.metadata
        assert tasks(seed=5)[1].goal in (await world.reset(Task(id="1"))).text

    run(act)


@pytest.mark.parametrize(
    "metadata",
    [{"goals": "robot"}, {"goals": ["human"]}, {"seed": "0"}, {"seed": True}, {"shuffled": "no"}],
)
def test_a_task_that_makes_no_sense_is_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(BadParameter, match="WebShop"):
        run(lambda: WebShop().reset(Task(id="0", metadata=metadata)))


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadParameter, match="goals"):
        WebShop(goals="robot")  # type: ignore[arg-type]  # a configuration file may say so
    with pytest.raises(BadParameter, match="nouns"):
        WebShop(nouns="magic")  # type: ignore[arg-type]  # likewise


def test_instances_share_the_shop_and_nothing_else() -> None:
    async def act() -> None:
        one, two = WebShop(), WebShop()
        await one.reset(Task(id="0"))
        await two.reset(Task(id="1"))
        await one.step("search[shoes]")
        assert one.session.shop is two.session.shop
        assert two.evidence().progress["page"] == "index"

    run(act)


def test_a_thousand_rollouts_may_each_have_a_shop_at_once() -> None:
    async def act() -> None:
        async with Pools() as pools:
            pool = pools.pool(ResourceSpec("webshop"))
            leases = [await pool.acquire(f"rollout {n}", timeout_s=10.0) for n in range(1_024)]
            assert pool.status().leased == len({id(lease.instance) for lease in leases}) == 1_024
            with pytest.raises(AcquireTimeout, match="1024 of 1024"):
                await pool.acquire("one too many", timeout_s=0.0)

    run(act)


def test_tools_reset_the_world_to_the_task_and_share_it() -> None:
    async def act() -> None:
        async with Context.open(task=tasks()[3]) as context:
            assert "Total results: 50" in await webshop_search(context, keywords="hair [serum] ]x[")
            await webshop_action(context, action="search[organic hair serum roller set]")
            assert "1pcs" in await webshop_click(context, target="B09PY89B1S")
            await webshop_click(context, target="1pcs")
            await webshop_click(context, target="buy now")
            assert context.evidence("webshop").score == 1.0

    run(act)


def test_a_bad_tool_call_is_told_what_is_possible() -> None:
    async def act() -> None:
        async with Context.open(task=tasks()[0]) as context:
            assert "search[keywords]" in await webshop_search(context, keywords="")
            assert "Clickables: []" in await webshop_click(context, target="buy now")
            assert "keywords" in await webshop_search(context, query="hair")
            assert "action" in await webshop_action(context)
            assert "target" in await webshop_click(context, target=5)
            assert context.evidence("webshop").progress["page"] == "index"

    run(act)


@pytest.mark.parametrize(
    ("tool", "argument"),
    [(webshop_search, "keywords"), (webshop_click, "target"), (webshop_action, "action")],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_tool_has_a_schema_with_one_described_argument(tool: Any, argument: str) -> None:
    function = tool.schema()["function"]
    assert function["parameters"]["required"] == [argument]
    assert function["parameters"]["properties"][argument]["description"]
    assert function["description"]


@pytest.mark.parametrize("kind", ["foo", "", "Human", 7, None])
def test_goals_that_there_are_not_are_refused_at_once(kind: Any) -> None:
    with pytest.raises(BadParameter, match="one of 'human', 'synthetic'"):
        tasks(goals=kind)
    if kind is not None:
        with pytest.raises(BadParameter, match="goals of WebShop"):
            WebShop().tasks(kind)


def test_an_instance_lists_either_kind_of_goals() -> None:
    assert (len(WebShop().tasks()), len(WebShop().tasks("synthetic"))) == (13, 6910)
