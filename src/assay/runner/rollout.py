"""The story of one episode: a world is reset, an agent acts until something ends it, rewards
score.

    open a Context → acquire the world → reset → [agent acts → world steps → step is recorded]…
    → an ending → scores → Episode

Whatever breaks on the way is that episode's ending, with its traceback, and never the end of the
run. Who broke it is whoever's turn it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from assay.agents.protocol import Agent
from assay.errors import MissingExtra
from assay.resources.context import Context
from assay.resources.protocol import Environment
from assay.runner.plan import Assignment
from assay.runner.story import Stage, Story
from assay.runner.verdict import score_episode
from assay.schema.episode import Episode
from assay.schema.observation import Observation


async def rollout(attempt: str, assignment: Assignment, stage: Stage) -> Episode:
    """One attempt at one task, scored; only cancellation and a missing dependency raise."""
    story = Story(attempt, assignment, stage)
    worlds = {stage.world.name: stage.world}
    with _boundary(story):
        async with Context.open(
            task=story.task, rollout_id=attempt, pools=stage.pools, worlds=worlds
        ) as context:
            with _boundary(story):
                await _play(story, context)
            # The world is still held: a reward that asks it gets the one that the agent used.
            story.scores = await score_episode(
                stage.scorers, story.episode(), context, limit_s=stage.limits.score_s
            )
    return story.episode()


async def _play(story: Story, context: Context) -> None:
    """From an empty world to an ending."""
    limits = story.stage.limits
    world = await context.acquire_resource(story.stage.world, "global")
    try:
        with _boundary(story):
            async with asyncio.timeout(limits.episode_s) as story.episode_clock:
                async with story.turn("env_error", limits.reset_s):
                    observation = await world.reset(story.task)
                story.record(observation)
                async with _new_agent(story) as agent:
                    with _boundary(story):
                        async with story.turn("agent_error", limits.step_s):
                            await agent.start(story.task, limits=limits.for_agent())
                        await _converse(story, agent, world, observation)
    finally:
        if story.stop_reason in (None, "timeout", "env_error"):
            # It may be in the middle of something: the next episode gets another one.
            async with asyncio.timeout(limits.reset_s):
                await world.close()


async def _converse(
    story: Story, agent: Agent, world: Environment, observation: Observation
) -> None:
    """The agent acts and the world answers, until one of them or a limit ends it."""
    limits = story.stage.limits
    for index in range(1, limits.steps + 1):
        async with story.turn("agent_error", limits.step_s):
            action = story.hear(await agent.act(observation, step=index))
        if action.answer is not None:
            story.record_last_words()
            return story.end("answered", action.answer)
        if action.gave_up:
            return story.end("gave_up")
        async with story.turn("env_error", limits.step_s):
            observation = await world.step(action.text)
        story.record(observation)
        if observation.done:
            return story.end("finished")
    return story.end("step_limit")


@asynccontextmanager
async def _new_agent(story: Story) -> AsyncIterator[Agent]:
    """An agent of this episode's own, closed afterwards."""
    limits = story.stage.limits
    async with story.turn("agent_error", limits.step_s):
        agent = story.stage.new_agent(story.stage.base_url)
    try:
        yield agent
    finally:
        async with story.turn("agent_error", limits.step_s):
            await agent.close()


@contextmanager
def _boundary(story: Story) -> Iterator[None]:
    """Whatever is raised inside is how the episode ended."""
    try:
        yield
    except MissingExtra:
        # Every other episode would end like this one: that is for the caller to mend.
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        story.fail(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a bad rollout is data, not a crash
        story.fail(error)
