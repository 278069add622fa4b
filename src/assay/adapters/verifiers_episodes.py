"""Play live episodes in the library verifiers, as a taskset and an environment.

    # household.py, named by `taskset = {"id": "household"}`
    Tasks, Household, Speak = environment(Episodes("alfworld", "alfworld_episode_reward"))
    __all__ = ["Household", "Speak", "Tasks"]

The environment speaks as the user: its first observation opens the exchange, each reply of the
model is an action, and the outcome is the reward of the trace.

Abstained: raises while the task is scored, so that the trace carries a `TaskError` and no reward,
and trainers drop it. An environment that fails ends the trace in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import httpx

from assay.adapters.binding import import_library
from assay.adapters.episodes import Episodes, LiveEpisode, LiveTurn, turn_rewards
from assay.errors import DeadResource, NoScore
from assay.schema.episode import Episode, StopReason
from assay.schema.task import Task

vf: Any = import_library("verifiers.v1", package="verifiers")

REPLY_S = 600.0
"""For one reply of the model."""


class EpisodeData(vf.TaskData):  # type: ignore[misc]  # verifiers is no dependency: it has no types
    """The data of a task for verifiers: its id, its goal and its seed."""

    seed: int | None = None
    goal: str = ""


class EpisodeTask(vf.Task[EpisodeData, vf.State, vf.TaskConfig]):  # type: ignore[misc]  # as above
    """One task of an environment, rewarded with the outcome of the episode."""

    @property
    def key(self) -> str:
        """The id of the task, which all rollouts of a group share."""
        return str(self.data.id)

    @vf.reward  # type: ignore[untyped-decorator]  # as above
    async def outcome(self, trace: Any) -> float:
        """The outcome of the episode; raises `NoScore` if there is no score."""
        record = trace.info.get("episode") or {}
        outcome = record.get("outcome")
        if outcome is None:
            raise NoScore(f"the episode has no score ({record.get('because', 'it has not ended')})")
        return float(outcome)

    @vf.metric  # type: ignore[untyped-decorator]  # as above
    async def episode_metrics(self, trace: Any) -> dict[str, float]:
        """The number of turns, and the sum of the environment's own rewards."""
        record = trace.info.get("episode") or {}
        paid = record.get("turn_rewards", [])
        return {"episode/turns": float(len(paid)), "episode/turn_rewards": float(sum(paid))}


class EpisodeTaskset(vf.Taskset[EpisodeTask, vf.TasksetConfig]):  # type: ignore[misc]  # as above
    """The tasks of the episodes for verifiers, each with its seed."""

    episodes: ClassVar[Episodes]
    rows: ClassVar[Sequence[tuple[Task, int]]]

    def load(self) -> Iterable[EpisodeTask]:
        for task, seed in self.rows:
            data = EpisodeData(id=task.id, name=task.id, goal=task.goal, seed=seed, prompt=None)
            yield EpisodeTask(data, self.config.task)


class EpisodeEnvConfig(vf.EnvConfig):  # type: ignore[misc]  # as above
    """The configuration of `EpisodeEnv`: one agent, which runs in this process."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class EpisodeEnv(vf.Env[EpisodeEnvConfig]):  # type: ignore[misc]  # as above
    """Plays an episode with the model, and records the episode in the trace."""

    episodes: ClassVar[Episodes]
    members: ClassVar[Counter[str]]
    """How many rollouts each group has had."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode; raise `DeadResource` if the environment cannot be reset."""
        live, data = self.episodes.new(), task.data
        group = f"{data.id}#{data.seed}"
        member = self.members[group]
        self.members[group] += 1
        try:
            turn = await live.reset_async(data.id, seed=data.seed, group=group, member=member)
            if turn.done:
                failure = (await live.finish_async()).failure
                raise DeadResource(f"task {data.id!r} did not start: {failure and failure.message}")
            async with agents.agent.interaction(task) as interaction:
                await _converse(live, turn, interaction)
        finally:
            await live.close_async()


class OneReplyHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]  # as above
    """The verifiers harness that asks the model for one reply."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,  # noqa: ARG002 - verifiers' signature
        runtime: Any,  # noqa: ARG002
        endpoint: str,
        secret: str,
        mcp_urls: Any,  # noqa: ARG002
        data: Any,
    ) -> Any:
        """Ask the model for one reply, which verifiers records."""
        to_wire = import_library("verifiers.v1.dialects.chat", package="verifiers").message_to_wire
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [to_wire(message) for message in prompt or ()]
        async with httpx.AsyncClient(timeout=REPLY_S, trust_env=False) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(0 if reply.is_success else 1, reply.text, "")


def environment(
    episodes: Episodes, tasks: Sequence[Task | str] | None = None, *, seed: int = 0
) -> tuple[type, type, type]:
    """Create the three classes that a module for verifiers exports in `__all__`.

    verifiers finds all three by the name of that module. `tasks` are those of the episodes unless
    some are named; the first has the seed, each next one the next. The rollouts of one task are a
    group: they have one start.
    """
    episodes.check_scored()
    rows = episodes.seeded(tasks, seed)
    name = episodes.spec.name
    return (
        type(f"{name}_taskset", (EpisodeTaskset,), {"episodes": episodes, "rows": rows}),
        type(f"{name}_env", (EpisodeEnv,), {"episodes": episodes, "members": Counter()}),
        type(f"{name}_speak", (OneReplyHarness,), {}),
    )


async def _converse(live: LiveEpisode, turn: LiveTurn, interaction: Any) -> None:
    """Play an episode to its end, and store its record in the trace."""
    trace = interaction.trace
    while not turn.done:
        segment = await interaction.turn(turn.text)
        if segment.terminated:
            break
        turn = await live.step_async(segment.last_reply)
    # A call that failed, and no limit of verifiers, is the model's failure and has no score.
    ending: StopReason = "model_error" if trace.errors else "budget_limit"
    episode = await live.finish_async(ending)
    trace.info["episode"] = _record(live, episode)
    trace.stop(episode.stop_reason)


def _record(live: LiveEpisode, episode: Episode) -> dict[str, Any]:
    score = episode.scores[0]
    return {
        **{key: episode.metadata.get(key) for key in ("group", "member", "seed")},
        "task_id": episode.task.id,
        "outcome": live.outcome,
        "because": score.because,
        "scorer": score.scorer,
        "turn_rewards": turn_rewards(episode),
        "stop_reason": episode.stop_reason,
        "start": episode.trajectory.steps[0].observation,
    }
