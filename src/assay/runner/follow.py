"""Records an episode in which the agent drives the browser itself.

    the agent runs ─────────────────────────────→ its answer
    the environment looks on:  step → step → step → the end

The agent has the whole episode's time: whether it thinks, waits for a model or does something that
leaves no trace cannot be seen from outside. A step more than the episode may have ends it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from assay.agents.driving import BrowserDrivingAgent
from assay.agents.protocol import Action
from assay.errors import DeadResource
from assay.resources.protocol import DrivableEnvironment, Environment
from assay.runner.recorder import EpisodeRecorder
from assay.schema.observation import Observation

CANCEL_S: Final = 5.0
"""How long an agent may take to end when its episode has."""


async def follow_agent(
    recorder: EpisodeRecorder,
    agent: BrowserDrivingAgent,
    environment: Environment,
    first: Observation,
) -> None:
    """Let the agent drive the browser until it answers or a limit ends it; record each step."""
    assert isinstance(environment, DrivableEnvironment)
    limits = recorder.resources.limits
    async with recorder.turn("agent_error", limits.episode_s):
        driving = asyncio.create_task(agent.drive(environment.browser, first))

        async def tell_when_done() -> None:
            await asyncio.wait((driving,))
            await environment.agent_is_done()

        telling = asyncio.create_task(tell_when_done())
        try:
            last = await _record_steps(recorder, agent, environment, first)
            if last is None:
                return recorder.end("step_limit")
            action = await _answer(recorder, driving, environment)
        finally:
            await _cancel(driving, telling)
        action = recorder.record_action(agent.answer(action, last))
    if action.gave_up:
        return recorder.end("gave_up")
    recorder.record_last_action()
    return recorder.end("answered", action.answer)


async def _record_steps(
    recorder: EpisodeRecorder,
    agent: BrowserDrivingAgent,
    environment: DrivableEnvironment,
    first: Observation,
) -> Observation | None:
    """Record the steps, and return the last observation; `None` at the limit of steps."""
    last, count = first, 0
    while True:
        try:
            step = await environment.next_step()
        except DeadResource:
            async with recorder.turn("env_error", recorder.resources.limits.step_s):
                raise
        if step is None:
            return last
        count += 1
        if count > recorder.resources.limits.steps:
            return None
        action, observation = step
        recorder.record_action(agent.step(action, last))
        recorder.record_step(observation)
        last = observation


async def _answer(
    recorder: EpisodeRecorder, driving: asyncio.Task[Action], environment: DrivableEnvironment
) -> Action:
    """Return the agent's answer; raise DeadResource if its browser has ended."""
    try:
        return await driving
    except Exception as error:  # an agent raises what it likes when its browser is gone
        if environment.alive():
            raise
        async with recorder.turn("env_error", recorder.resources.limits.step_s):
            raise DeadResource(f"the agent's browser ended too early: {error!s:.300}") from error


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks, and ignore their errors."""
    for task in tasks:
        task.cancel()
        task.add_done_callback(_forget)
    await asyncio.wait(tasks, timeout=CANCEL_S)


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
