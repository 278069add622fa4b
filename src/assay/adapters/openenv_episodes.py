"""Serve Assay's text environments over OpenEnv, with a client for the server.

    app = openenv_episodes.create_app("alfworld", step_limit=30)     # uvicorn.run(app, port=8000)

    async with openenv_episodes.TextClient("http://127.0.0.1:8000") as env:
        result = await env.reset(seed=7, member=3)
        result = await env.step(openenv_episodes.TextAction(text="look"))

Each connection has an episode of its own, up to `at_once` of them in the server's process. The
reward of a step is what the environment pays for it; `outcome` is the number of an Assay
reward once the episode has ended, and the state then has the whole record.

Abstained: `outcome` stays `None`. An environment that dies ends the episode with the stop reason
`env_error`, and neither pays nor scores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from pydantic import Field

from assay.adapters.binding import Reward, import_library
from assay.adapters.episodes import AT_ONCE, STEP_LIMIT, Episodes
from assay.runner.values import TaskLike

_PACKAGE = "openenv-core"
_types: Any = import_library("openenv.core.env_server.types", package=_PACKAGE)
_interfaces: Any = import_library("openenv.core.env_server.interfaces", package=_PACKAGE)
_clients: Any = import_library("openenv.core.env_client", package=_PACKAGE)
_results: Any = import_library("openenv.core.client_types", package=_PACKAGE)


class TextAction(_types.Action):  # type: ignore[misc]  # OpenEnv is no dependency
    """The reply of the policy, sent to the server as an action."""

    text: str


class TextObservation(_types.Observation):  # type: ignore[misc]  # as above
    """The next observation for the policy, with its episode and the stop reason."""

    text: str
    task_id: str
    goal: str = ""
    group: str = ""
    member: int = 0
    seed: int | None = None
    steps: int = 0
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """The actions as chat APIs take them, after the reset; empty where an action is a text."""
    stop_reason: str | None = None
    outcome: float | None = None


class TextState(_types.State):  # type: ignore[misc]  # as above
    """The state of a session; `record` is the finished episode as JSON."""

    task_id: str = ""
    group: str = ""
    record: dict[str, Any] | None = None


class EpisodeSession(_interfaces.Environment):  # type: ignore[misc]  # as above
    """One session of the server, which plays one episode at a time."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, episodes: Episodes) -> None:
        super().__init__()
        self._episodes = episodes
        self._live = episodes.new()
        self._episode_id: str | None = None

    async def reset_async(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str | None = None,
        group: str | None = None,
        member: int = 0,
        **_: Any,
    ) -> TextObservation:
        """Start the task with this id, or a task that the seed selects."""
        self._episode_id = episode_id
        await self._live.reset_async(task, seed=seed, group=group, member=member)
        return self._observe(paid=None)

    async def step_async(
        self,
        action: TextAction,
        timeout_s: float | None = None,  # noqa: ARG002 - the episode has limits of its own
        **_: Any,
    ) -> TextObservation:
        turn = await self._live.step_async(action.text)
        return self._observe(paid=None if turn.stop_reason == "env_error" else turn.reward)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> TextObservation:
        """As `reset_async`."""
        return self._episodes.wait(self.reset_async(seed, episode_id, **options))

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
        """As `step_async`."""
        return self._episodes.wait(self.step_async(action, timeout_s))

    @property
    def state(self) -> TextState:
        live = self._live
        return TextState(
            episode_id=self._episode_id,
            step_count=live.steps,
            task_id=live.task.id if live.task else "",
            group=live.group,
            record=live.finish().model_dump(mode="json") if live.turn.done else None,
        )

    def close(self) -> None:
        self._live.close()

    def _observe(self, paid: float | None) -> TextObservation:
        live, turn = self._live, self._live.turn
        started = live.start if live.steps == 0 else None
        return TextObservation(
            text=turn.text,
            task_id=live.task.id if live.task else "",
            goal=live.task.goal if live.task else "",
            group=live.group,
            member=live.member,
            seed=live.seed,
            steps=live.steps,
            tools=[tool.schema() for tool in started.actions] if started else [],
            stop_reason=turn.stop_reason,
            outcome=live.outcome,
            reward=paid,
            done=turn.done,
        )


class TextClient(_clients.EnvClient):  # type: ignore[misc]  # as above
    """A client session with the server; `.sync()` returns a synchronous client."""

    def _step_payload(self, action: TextAction | str) -> dict[str, Any]:
        text = action if isinstance(action, str) else action.text
        return {"text": text}

    def _parse_result(self, payload: Mapping[str, Any]) -> Any:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        observation = TextObservation(**payload["observation"], reward=reward, done=done)
        return _results.StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: Mapping[str, Any]) -> TextState:
        return TextState(**payload)


def create_app(
    environment: Any,
    reward: Reward | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    tasks: Iterable[TaskLike] | None = None,
    step_limit: int = STEP_LIMIT,
    at_once: int = AT_ONCE,
) -> Any:
    """Create a FastAPI application that serves the environment in OpenEnv's protocol.

    The arguments are those of `Episodes`; the reward of a shipped environment is its own.
    """
    options = {"config": config, "params": params, "tasks": tasks, "step_limit": step_limit}
    episodes = Episodes.scored(environment, reward, **options, at_once=at_once)
    server = import_library("openenv.core.env_server.http_server", package=_PACKAGE)
    new_session = partial(EpisodeSession, episodes)
    return server.create_app(new_session, TextAction, TextObservation, max_concurrent_envs=at_once)
