"""A rollout has its environments alone, shares them with its rewards, and gives everything back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from assay.errors import (
    AcquireTimeout,
    BadParameter,
    DeadResource,
    NotReset,
    ResourceError,
    UnknownName,
)
from assay.registry import ENVIRONMENTS
from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools
from assay.resources.protocol import Environment, Scope
from assay.resources.spec import ResourceSpec
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.task import Task


class Counter:
    """Counts its steps; every instance is kept, so that a test can see what became of it."""

    name: str = "test-counter"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=4)
    made: ClassVar[list[Counter]] = []

    def __init__(self, *, size: float = 1, nested: dict[str, int] | None = None) -> None:
        self.size = size
        self.nested = nested
        self.resets = 0
        self.closed = False
        self._evidence: WorldEvidence | None = None
        Counter.made.append(self)

    async def reset(self, task: Task) -> Observation:
        await asyncio.sleep(0)
        self.resets += 1
        self._evidence = WorldEvidence(self.name, task.id, score=0.0)
        return Observation(task.goal, self._evidence)

    async def step(self, action: str) -> Observation:
        score = (self.evidence().score or 0.0) + self.size
        self._evidence = WorldEvidence(self.name, self.evidence().task_id, score=score)
        return Observation(action, self._evidence)

    def evidence(self) -> WorldEvidence:
        if self.closed:
            raise DeadResource("closed")
        if self._evidence is None:
            raise NotReset("no episode")
        return self._evidence

    def forget(self) -> None:
        self._evidence = None

    def alive(self) -> bool:
        return not self.closed

    async def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def counter_world() -> Iterator[None]:
    ENVIRONMENTS.add(Counter.name, Counter)
    Counter.made.clear()
    yield
    Counter.made.clear()


TASK = Task(id="t", goal="count")


def counter(environment: Environment) -> Counter:
    assert isinstance(environment, Counter)
    return environment


def test_the_same_spec_gives_tools_and_rewards_the_same_instance() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            first = await context.acquire_resource(Counter.name)
            assert await context.acquire_resource(ResourceSpec(Counter.name)) is first
            assert await context.acquire_resource(Counter.name, scope="global") is first

    asyncio.run(main())


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({}, {"size": 2}, "another option"),
        ({"size": 1}, {"size": 1.0}, "a whole number and a float are not the same JSON"),
        ({"nested": {"a": 1}}, {"nested": {"a": 2}}, "a difference deep inside"),
    ],
)
def test_two_configurations_are_two_instances(
    one: dict[str, Any], other: dict[str, Any], why: str
) -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            first = await context.acquire_resource(ResourceSpec(Counter.name, one))
            second = await context.acquire_resource(ResourceSpec(Counter.name, other))
            assert first is not second, why

    asyncio.run(main())


def test_the_order_of_options_does_not_matter_and_a_later_change_neither() -> None:
    config = {"size": 1, "nested": {"b": 1, "a": 2}}
    spec = ResourceSpec(Counter.name, config)
    config["size"] = 5
    assert spec == ResourceSpec(Counter.name, {"nested": {"a": 2, "b": 1}, "size": 1})
    assert spec.config["size"] == 1


@pytest.mark.parametrize("config", [{"size": float("nan")}, {"size": {1, 2}}, {"size": object()}])
def test_a_configuration_that_is_not_json_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(BadParameter, match="not JSON"):
        ResourceSpec(Counter.name, config)


def test_what_cannot_be_acquired_says_so() -> None:
    async def main() -> None:
        async with Context.open() as context:
            with pytest.raises(BadParameter, match="'banana' is neither"):
                await context.acquire_resource(Counter.name, scope="banana")  # type: ignore[arg-type]
            with pytest.raises(UnknownName, match="did you mean 'test-counter'"):
                await context.acquire_resource("test-countr")
            with pytest.raises(BadParameter, match="its options: size, nested"):
                await context.acquire_resource(ResourceSpec(Counter.name, {"siez": 2}))
            with pytest.raises(BadParameter, match="has no task"):
                await context.environment(Counter.name)

    asyncio.run(main())


def test_a_name_means_what_the_rollout_says_it_means() -> None:
    async def main() -> None:
        environments = {Counter.name: ResourceSpec(Counter.name, {"size": 3})}
        async with Context.open(task=TASK, environments=environments) as context:
            assert counter(await context.acquire_resource(Counter.name)).size == 3

    asyncio.run(main())


def test_parallel_tool_calls_share_one_instance_and_one_reset() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            instances = await asyncio.gather(
                *(context.environment(Counter.name) for _ in range(20))
            )
            assert len({id(instance) for instance in instances}) == 1
            assert counter(instances[0]).resets == 1
        assert len(Counter.made) == 1

    asyncio.run(main())


def test_when_the_first_of_parallel_acquisitions_is_cancelled_the_next_one_acquires() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            calls = [asyncio.create_task(context.environment(Counter.name)) for _ in range(3)]
            await asyncio.sleep(0)
            calls[0].cancel()
            endings = await asyncio.gather(*calls, return_exceptions=True)
            assert isinstance(endings[0], asyncio.CancelledError)
            assert endings[1] is endings[2]

    asyncio.run(main())


class Oops(Exception):
    """A rollout's own failure."""


@pytest.mark.parametrize("ending", ["returns", "raises", "is cancelled", "times out"])
@pytest.mark.parametrize("scope", ["rollout", "global"])
def test_every_ending_gives_everything_back(ending: str, scope: Scope) -> None:
    async def rollout(pools: Pools) -> None:
        async with Context.open(task=TASK, pools=pools) as context:
            await context.environment(Counter.name, scope)
            await context.environment(ResourceSpec(Counter.name, {"size": 2}), scope)
            if ending == "raises":
                raise Oops
            if ending != "returns":
                await asyncio.sleep(3600)

    async def main() -> None:
        async with Pools() as pools:
            task = asyncio.create_task(rollout(pools))
            if ending == "times out":
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(task, timeout=0.05)
            else:
                while ending == "is cancelled" and len(Counter.made) < 2:
                    await asyncio.sleep(0)
                if ending == "is cancelled":
                    task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            idle = 1 if scope == "global" else 0
            for status in pools.status().values():
                assert (status.leased, status.changing, status.idle) == (0, 0, idle)
        assert all(counter.closed for counter in Counter.made)
        assert len(Counter.made) == 2

    asyncio.run(main())


def test_a_rollout_without_pools_opens_and_closes_its_own() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            await context.environment(Counter.name, "global")
        assert Counter.made[0].closed
        with pytest.raises(ResourceError, match="has ended"):
            await context.acquire_resource(Counter.name)

    asyncio.run(main())


def test_a_rollout_never_sees_the_episode_of_the_one_before() -> None:
    async def main() -> None:
        async with Pools({Counter.name: PoolLimits(cap=1)}) as pools:
            async with Context.open(task=TASK, pools=pools) as first:
                environment = await first.environment(Counter.name, "global")
                await environment.step("up")
                assert first.evidence(Counter.name).score == 1
            async with Context.open(task=TASK, pools=pools) as second:
                assert await second.acquire_resource(Counter.name, "global") is environment
                with pytest.raises(NotReset):
                    second.evidence(Counter.name)
                await second.environment(Counter.name)
                assert second.evidence(Counter.name).score == 0

    asyncio.run(main())


def test_asking_for_testimony_starts_no_world() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            with pytest.raises(NotReset, match="never used test-counter"):
                context.evidence(Counter.name)
        assert Counter.made == []

    asyncio.run(main())


def test_a_failed_acquisition_is_the_testimony_of_the_rollout() -> None:
    async def main() -> None:
        async with (
            Pools({Counter.name: PoolLimits(cap=1)}) as pools,
            Context.open(task=TASK, pools=pools, rollout_id="greedy") as greedy,
            Context.open(task=TASK, pools=pools) as late,
        ):
            await greedy.environment(Counter.name)
            with pytest.raises(AcquireTimeout, match="greedy"):
                await late.environment(Counter.name, timeout_s=0.0)
            with pytest.raises(AcquireTimeout, match="greedy"):
                late.evidence(Counter.name)

    asyncio.run(main())


def test_a_world_that_cannot_start_is_a_failure_and_not_an_unused_world() -> None:
    def broken() -> Counter:
        raise OSError("disk full")

    async def main() -> None:
        ENVIRONMENTS.add("test-broken", broken)
        async with Context.open(task=TASK) as context:
            with pytest.raises(OSError, match="disk full"):
                await context.environment("test-broken")
            with pytest.raises(ResourceError, match="could not start: disk full") as caught:
                context.evidence("test-broken")
            assert not isinstance(caught.value, NotReset)

    asyncio.run(main())


def test_a_rollout_that_ends_while_it_acquires_keeps_nothing() -> None:
    async def main() -> None:
        async with Pools({Counter.name: PoolLimits(cap=1)}) as pools:
            first = Context(task=TASK, pools=pools)
            await first.environment(Counter.name, "global")
            late = Context(task=TASK, pools=pools)
            acquiring = asyncio.create_task(late.acquire_resource(Counter.name, "global"))
            await asyncio.sleep(0)
            await late.release()
            await first.release()
            with pytest.raises(ResourceError, match="has ended"):
                await acquiring
            (status,) = pools.status().values()
            assert (status.leased, status.idle) == (0, 1)

    asyncio.run(main())


def test_a_world_acquired_on_one_loop_testifies_on_another() -> None:
    pools = Pools()
    context = Context(task=TASK, pools=pools)
    environment = asyncio.run(context.environment(Counter.name))

    async def later() -> None:
        assert await context.acquire_resource(Counter.name) is environment
        await context.release()
        await pools.close()

    asyncio.run(later())
    assert Counter.made[0].closed


def episode(*steps: Step, **more: Any) -> Episode:
    messages = (Message(role="user", content="count"),)
    return Episode(
        task=TASK,
        trajectory=Trajectory(
            messages=messages, steps=steps, stop_reason=more.pop("stop_reason", "finished")
        ),
        **more,
    )


def seen(score: float, *, done: bool = False, world: str = Counter.name) -> Step:
    return Step(index=0, action="up", evidence=WorldEvidence(world, "t", score=score, done=done))


def test_a_recorded_rollout_shows_the_last_evidence_and_refuses_to_change_it() -> None:
    async def main() -> None:
        record = episode(seen(1), seen(2), seen(9, world="other"), Step(index=3, action="say"))
        read_back = Episode.model_validate_json(record.model_dump_json())
        context = Context.recorded(read_back)
        environment = await context.acquire_resource(Counter.name, "global", 1.0)
        assert environment is await context.acquire_resource(Counter.name)
        assert environment.evidence().score == context.evidence(Counter.name).score == 2
        assert (context.task, len(context.trajectory)) == (TASK, 1)
        assert await context.environment(Counter.name) is environment
        for change in (environment.reset(TASK), environment.step("up")):
            with pytest.raises(ResourceError, match="is recorded"):
                await change
        with pytest.raises(ResourceError, match="is recorded"):
            environment.forget()
        await environment.close()
        assert environment.alive()
        await context.release()

    asyncio.run(main())


def test_a_recording_without_this_world_was_never_reset() -> None:
    with pytest.raises(NotReset, match="has no evidence"):
        Context.recorded(episode(seen(1, world="other"))).evidence(Counter.name)


def test_a_recorded_env_error_is_a_dead_world_unless_the_episode_was_over() -> None:
    failure = Failure(kind="env_error", message="the process was killed")
    broken = episode(seen(1), stop_reason="env_error", failure=failure)
    with pytest.raises(DeadResource, match="the process was killed"):
        Context.recorded(broken).evidence(Counter.name)
    over = episode(seen(1, done=True), stop_reason="env_error", failure=failure)
    assert Context.recorded(over).evidence(Counter.name).score == 1


def test_the_observation_of_the_reset_is_kept() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            with pytest.raises(NotReset, match="no reset observation"):
                context.reset_observation(Counter.name)
            environment = await context.environment(Counter.name)
            first = context.reset_observation(Counter.name)
            await environment.step("up")
            await context.environment(Counter.name)
            assert context.reset_observation(Counter.name) is first
            assert first.evidence is not None
            assert first.text == (await Counter().reset(TASK)).text

    asyncio.run(main())


def test_a_rollout_that_resets_by_hand_has_the_observation_itself() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            environment = await context.acquire_resource(Counter.name)
            await environment.reset(TASK)
            await context.environment(Counter.name)
            with pytest.raises(NotReset, match="no reset observation"):
                context.reset_observation(Counter.name)

    asyncio.run(main())


def test_a_backend_is_accepted_and_not_read() -> None:
    async def main() -> None:
        async with Context.open(task=TASK) as context:
            live = await context.acquire_resource(
                spec=Counter.name, scope="global", backend="local"
            )
            assert live.name == Counter.name
        record = Context.recorded(episode(seen(1)))
        assert (await record.acquire_resource(spec=Counter.name, backend="local")).alive()

    asyncio.run(main())
