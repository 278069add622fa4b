"""Plays one episode: reset the environment, let the agent act until an end, and score.

    open a Context → acquire the environment → reset
    → [agent acts → environment steps → step is recorded]… → an ending → scores → Episode

Whatever breaks on the way is that episode's ending, with its traceback, and never the end of the
run. The failure is attributed to whoever's turn it was, or to the model that an agent asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from assay.agents.attempt import attempt_state
from assay.agents.driving import BrowserDrivingAgent
from assay.agents.functions import seed_for
from assay.agents.protocol import Agent, as_action
from assay.errors import MissingExtra
from assay.resources.context import Context
from assay.resources.protocol import Environment
from assay.runner.follow import follow_agent
from assay.runner.plan import PlannedAttempt
from assay.runner.recorder import EpisodeRecorder, RunResources, do_nothing
from assay.schema.episode import Episode, StopReason
from assay.schema.observation import Observation
from assay.scoring.scorer import score_episode


async def rollout(
    attempt: str,
    planned_attempt: PlannedAttempt,
    resources: RunResources,
    on_work: Callable[[], None] = do_nothing,
) -> Episode:
    """Play and score one attempt at one task."""
    recorder = EpisodeRecorder(attempt, planned_attempt, resources, on_work)
    environments = {resources.environment.name: resources.environment}
    with attempt_state(recorder.state), episode_boundary(recorder):
        async with Context.open(
            task=recorder.task,
            rollout_id=attempt,
            pools=resources.pools,
            environments=environments,
        ) as context:
            with episode_boundary(recorder):
                await _run_episode(recorder, context)
            # Before the context closes: a reward that asks the environment gets the agent's own.
            recorder.scores = await score_episode(
                resources.scorers, recorder.episode(), context, limit_s=resources.limits.score_s
            )
    return recorder.episode()


async def _run_episode(recorder: EpisodeRecorder, context: Context) -> None:
    """Acquire and reset the environment, and let the agent act until the episode ends."""
    limits, planned_seed = recorder.resources.limits, recorder.state.seed
    environment = await context.acquire_resource(recorder.resources.environment, "global")
    try:
        with episode_boundary(recorder):
            async with asyncio.timeout(limits.episode_s) as recorder.episode_clock:
                async with recorder.turn("env_error", limits.reset_s):
                    observation = await environment.reset(recorder.task)
                recorder.record_step(observation)
                async with _new_agent(recorder) as agent:
                    with episode_boundary(recorder):
                        async with recorder.turn("agent_error", limits.step_s):
                            seed = seed_for(agent.start, planned_seed)
                            await agent.start(recorder.task, limits=limits, **seed)
                        if isinstance(agent, BrowserDrivingAgent):
                            await follow_agent(recorder, agent, environment, observation)
                        else:
                            await _run_steps(recorder, agent, environment, observation)
    finally:
        if recorder.stop_reason in (None, "timeout", "env_error"):
            # It may be in the middle of something: the next episode gets another one.
            async with asyncio.timeout(limits.reset_s):
                await environment.close()


async def _run_steps(
    recorder: EpisodeRecorder, agent: Agent, environment: Environment, observation: Observation
) -> None:
    """Let the agent and the environment take turns until the episode ends."""
    limits = recorder.resources.limits
    for index in range(1, limits.steps + 1):
        if recorder.is_out_of_budget():
            return recorder.end("budget_limit")
        async with recorder.turn("agent_error", limits.step_s):
            result = await agent.act(observation, step=index)
            action = recorder.record_action(as_action(result, observation))
        if action.answer is not None:
            recorder.record_last_action()
            # An empty answer is none: counted so here, in a log's import and in a diagnosis.
            ending: StopReason = "answered" if action.answer.strip() else "gave_up"
            return recorder.end(ending, action.answer)
        if action.gave_up:
            return recorder.end("gave_up")
        async with recorder.turn("env_error", limits.step_s):
            observation = await environment.step(action.text)
        recorder.record_step(observation)
        if observation.done:
            return recorder.end("finished")
    return recorder.end("step_limit")


@asynccontextmanager
async def _new_agent(recorder: EpisodeRecorder) -> AsyncIterator[Agent]:
    """Make an agent for this episode, and close it after the block."""
    resources = recorder.resources
    async with recorder.turn("agent_error", resources.limits.step_s):
        agent = resources.new_agent(resources.base_url)
    try:
        yield agent
    finally:
        async with recorder.turn("agent_error", resources.limits.step_s):
            await agent.close()


@contextmanager
def episode_boundary(recorder: EpisodeRecorder) -> Iterator[None]:
    """Record an error inside the block as the ending of the episode."""
    try:
        yield
    except MissingExtra:
        # Every other episode would end like this one: that is for the caller to mend.
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        recorder.fail(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a bad rollout is data, not a crash
        recorder.fail(error)
