"""Live episodes for trainers, which reset and step an environment and record the steps.

    episodes = Episodes("alfworld", "alfworld_episode_reward", step_limit=30)
    live = episodes.new()
    turn = live.reset("…/trial_T1", seed=7, group="g1", member=3)
    while not turn.done:
        turn = live.step(policy(turn.text))
    print(live.outcome, turn_rewards(live.finish()))

A rollout of the runner turned inside out: the trainer has the loop; the record, the limits and the
scores are those of the runner. What an environment pays for each turn is kept with the outcome.

A failure of the environment ends the episode and is never a score: the outcome is `None`.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, update_wrapper
from typing import Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

from assay.adapters.binding import Reward
from assay.agents.functions import recorded
from assay.agents.protocol import as_action
from assay.agents.transcript import Transcript
from assay.errors import BadParameter, NotReset, UsageError, did_you_mean
from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools
from assay.resources.spec import ResourceSpec
from assay.resources.threads import shared_loop
from assay.runner.limits import RunLimits
from assay.runner.plan import PlannedAttempt
from assay.runner.recorder import EpisodeRecorder, LedgerSink, RunResources
from assay.runner.rollout import episode_boundary
from assay.runner.values import TaskLike, read_environment, read_tasks
from assay.schema.episode import Episode, Step, StopReason
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.scoring.scorer import Scorer, score_episode
from assay.text.channels import strip_end_tokens

P = ParamSpec("P")
T = TypeVar("T")

OUTCOMES: Mapping[str, str] = {
    "alfworld": "alfworld_episode_reward",
    "scienceworld": "scienceworld_reward",
    "webshop": "webshop_reward",
}
"""The reward that gives the outcome of each environment, where a trainer names no other."""
STEP_LIMIT = 30
AT_ONCE = 64
RELEASED: tuple[StopReason, ...] = ("timeout", "env_error")
"""Endings after which an instance may be in the middle of something, and serves no other."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """The next observation for the policy, and the environment's reward for the last action."""

    text: str
    reward: float = 0.0
    """0 for a reset, and where the environment pays nothing."""
    done: bool = False
    stop_reason: StopReason | None = None
    """How the episode ended; `None` while it goes on."""


class Episodes:
    """Plays the tasks of one environment as live episodes for a trainer.

    `environment` is a name, a mapping of a name and options, or what makes one, as `assay.run`
    takes it; `config` are further options. `tasks` are its own unless others are given. `reward`
    gives the outcome; without one, episodes are recorded and not scored. At most `at_once`
    instances live at a time: a reset beyond that waits for one. `action_of` finds the action in a
    reply, by default the reply without white space around it. `on_episode` gets every episode that
    ended, and `writer` its steps and texts as they come (a run's writer is one).
    """

    def __init__(
        self,
        environment: Any,
        reward: Reward | Scorer | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        tasks: Iterable[TaskLike] | None = None,
        step_limit: int = STEP_LIMIT,
        at_once: int = AT_ONCE,
        reset_s: float = 60.0,
        step_s: float = 60.0,
        score_s: float = 60.0,
        action_of: Callable[[str], str] = str.strip,
        on_episode: Callable[[Episode], None] | None = None,
        writer: LedgerSink | None = None,
    ) -> None:
        if type(step_limit) is not int or step_limit < 1:
            raise BadParameter(f"step_limit is {step_limit!r}; choose a whole number from 1")
        component = read_environment(environment)
        self.spec = ResourceSpec(
            component.name, {**component.options, **(config or {})}, component.value
        )
        self._task_list = None if tasks is None else read_tasks(tasks, {})
        self.at_once = at_once
        self.action_of = action_of
        self.on_episode = on_episode
        scorer = reward
        if scorer is not None and not isinstance(scorer, Scorer):
            scorer = Scorer(scorer, params, columns=columns)
        own: PoolLimits = getattr(self.spec.factory(), "limits", PoolLimits())
        self.resources = RunResources(
            environment=self.spec,
            limits=RunLimits(steps=step_limit, reset_s=reset_s, step_s=step_s, score_s=score_s),
            scorers=() if scorer is None else (scorer,),
            new_agent=_no_agent,
            pools=Pools({self.spec.name: replace(own, cap=at_once)}),
            writer=_Nowhere() if writer is None else writer,
        )

    @classmethod
    def scored(cls, environment: Any, reward: Reward | None, **options: Any) -> Self:
        """Create episodes with a reward; a shipped environment has a default reward."""
        if reward is None and isinstance(environment, str):
            reward = OUTCOMES.get(environment)
        return cls(environment, reward, **options)

    def check_scored(self) -> None:
        """Raise `BadParameter` if the episodes have no reward."""
        if not self.resources.scorers:
            raise BadParameter(
                f"the episodes of {self.spec.name!r} have no reward; pass a reward: "
                "Episodes(environment, reward)"
            )

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks of the episodes; raises `BadParameter` if there are no tasks."""
        if self._task_list is not None:
            tasks = list(self._task_list)
        elif self.spec.make is None:
            list_tasks = getattr(self.spec.factory()(**self.spec.config), "tasks", None)
            if not callable(list_tasks):
                raise BadParameter(
                    f"the environment {self.spec.name!r} has no list of tasks; pass the tasks as a "
                    "JSONL file"
                )
            tasks = list(list_tasks())
        else:
            tasks = []
        if not tasks:
            raise BadParameter(f"the environment {self.spec.name!r} has no tasks; pass tasks=")
        return tasks

    @cached_property
    def _by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def task(self, task: Task | str | None = None, *, seed: int | None = None) -> Task:
        """The task with this id, or a task that the seed selects."""
        if isinstance(task, Task):
            return task
        if task is None:
            return random.Random(seed).choice(self.tasks)
        if str(task) not in self._by_id:
            hint = did_you_mean(str(task), self._by_id, f"the first is {self.tasks[0].id!r}")
            raise BadParameter(
                f"no task {task!r} among the {len(self.tasks)} tasks of {self.spec.name!r}; {hint}"
            )
        return self._by_id[str(task)]

    def seeded(self, tasks: Sequence[Task | str] | None, seed: int) -> list[tuple[Task, int]]:
        """The given tasks or all tasks, each with its own consecutive seed."""
        selected = self.tasks if tasks is None else [self.task(task) for task in tasks]
        return [(task, number) for number, task in enumerate(selected, seed)]

    def new(self) -> LiveEpisode:
        """Create an episode without resetting or starting anything."""
        return LiveEpisode(self)

    def all(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """Run coroutines in parallel; return their results, or raise the first error at the end."""

        async def gather() -> list[T | BaseException]:
            return await asyncio.gather(*work, return_exceptions=True)

        results = self.wait(gather())
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]
        return [result for result in results if not isinstance(result, BaseException)]

    def close(self) -> None:
        """End every environment instance; a second call does nothing."""
        self.wait(self.resources.pools.close())

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop that all live episodes share, and wait for its result."""
        return shared_loop("assay-episodes").wait(work)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Like `wait`, for a caller in any event loop."""
        return await shared_loop("assay-episodes").run(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _on_shared_loop(
    name: str, work: Callable[Concatenate[LiveEpisode, P], Coroutine[Any, Any, T]]
) -> tuple[
    Callable[Concatenate[LiveEpisode, P], T],
    Callable[Concatenate[LiveEpisode, P], Coroutine[Any, Any, T]],
]:
    """Create a blocking method and an async method from one coroutine function."""

    def call(self: LiveEpisode, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.episodes.wait(work(self, *args, **kwargs))

    async def call_async(self: LiveEpisode, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.episodes.run(work(self, *args, **kwargs))

    for method, title in ((call, name), (call_async, f"{name}_async")):
        update_wrapper(method, work)
        method.__name__, method.__qualname__ = title, f"LiveEpisode.{title}"
    call_async.__doc__ = f"As `{name}`, for an event loop."
    return call, call_async


class LiveEpisode:
    """Plays one episode after another, for a single caller in any thread or event loop."""

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes
        self._recorder: EpisodeRecorder | None = None
        self._context: Context | None = None
        self._transcript = Transcript()
        self.steps = 0
        """Actions that the environment was given since the reset."""
        self.turn = LiveTurn("")
        """The latest turn."""
        self._episode: Episode | None = None
        self.task: Task | None = None
        self.group = ""
        self.seed: int | None = None
        self.member = 0
        self.start: Observation | None = None
        """What the reset showed; `None` where it failed."""
        self.observation: Observation | None = None
        """The latest."""

    @property
    def outcome(self) -> float | None:
        """The reward of the finished episode, or `None` without a scored reward."""
        scores = () if self._episode is None else self._episode.scores
        return None if not scores or scores[0].abstained else float(scores[0])

    async def _reset(
        self,
        task: Task | str | None = None,
        *,
        seed: int | None = None,
        group: str | None = None,
        member: int = 0,
    ) -> LiveTurn:
        """Start a new episode and return its first turn; an unfinished episode is dropped.

        The task is the start: an environment draws nothing that its task does not name, so all
        members of a group see the same. `seed` and `group`, by default the task and the seed, are
        kept in the record. Raises `BadParameter` for a task that there is not.
        """
        await self._release()
        selected = self.episodes.task(task, seed=seed)
        if group is None:
            group = selected.id if seed is None else f"{selected.id}#{seed}"
        resources = replace(self.episodes.resources, notes={"group": group, "member": member})
        attempt = uuid.uuid4().hex
        self._transcript, self.steps, self._episode = Transcript(), 0, None
        self.task, self.group, self.seed, self.member = selected, group, seed, member
        self.start = self.observation = None
        self._context = Context.open(
            task=selected,
            rollout_id=attempt,
            pools=resources.pools,
            environments={resources.environment.name: resources.environment},
        )
        recorder = EpisodeRecorder(attempt, PlannedAttempt(selected, member, seed), resources)
        self._recorder = recorder
        refusal: UsageError | None = None
        with episode_boundary(recorder):
            try:
                environment = await self._context.acquire_resource(resources.environment, "global")
                async with recorder.turn("env_error", resources.limits.reset_s):
                    self.start = await environment.reset(selected)
                self._see(recorder, self.start)
            except UsageError as error:
                refusal = error
        if refusal is not None:
            await self._release()
            raise refusal
        return await self._next_turn(recorder)

    async def _step(self, reply: str) -> LiveTurn:
        """Carry out the action in a reply; after the end, return the last turn again.

        In a conversation a reply that calls no tool is the answer; elsewhere `answer("…")` is.
        Raises `NotReset` before the first reset.
        """
        recorder, context = self._recorder, self._context
        if self._episode is not None:
            return replace(self.turn, reward=0.0)
        if recorder is None or context is None or self.observation is None:
            raise NotReset("this episode has not started; call `reset(task)` first")
        resources = self.episodes.resources
        text = self.episodes.action_of(strip_end_tokens(reply))
        action = recorded(as_action(text, self.observation), self.observation, self._transcript)
        recorder.record_action(action)
        if action.answer is not None:
            recorder.record_last_action()
            recorder.end("answered" if action.answer.strip() else "gave_up", action.answer)
            self.observation = Observation("")
            return await self._next_turn(recorder)
        self.steps += 1
        with episode_boundary(recorder):
            environment = await context.acquire_resource(resources.environment, "global")
            async with recorder.turn("env_error", resources.limits.step_s):
                observation = await environment.step(action.text)
            self._see(recorder, observation)
            if observation.done:
                recorder.end("finished")
            elif self.steps >= resources.limits.steps:
                recorder.end("step_limit")
        return await self._next_turn(recorder)

    def _see(self, recorder: EpisodeRecorder, observation: Observation) -> None:
        recorder.record_step(observation)
        self._transcript.add_observation(observation.text)
        self.observation = observation

    async def _next_turn(self, recorder: EpisodeRecorder) -> LiveTurn:
        """Return the latest turn, and score the episode if it has ended."""
        failed = recorder.stop_reason in RELEASED
        observation = self.observation
        text = "" if observation is None or failed else observation.text
        paid = None if observation is None or failed else observation.reward
        self.turn = LiveTurn(
            text,
            reward=paid or 0.0 if self.steps else 0.0,
            done=recorder.stop_reason is not None,
            stop_reason=recorder.stop_reason,
        )
        if self.turn.done:
            await self._finish()
        return self.turn

    async def _finish(self, stop_reason: StopReason = "gave_up") -> Episode:
        """End the episode if needed, and return its scored record."""
        if self._episode is not None:
            return self._episode
        recorder, context = self._recorder, self._context
        if recorder is None or context is None:
            raise NotReset("this episode has not started; call `reset(task)` first")
        if recorder.stop_reason is None:
            recorder.end(stop_reason)
            self.turn = LiveTurn("", done=True, stop_reason=stop_reason)
        resources = self.episodes.resources
        recorder.scores = await score_episode(
            resources.scorers, recorder.episode(), context, limit_s=resources.limits.score_s
        )
        self._episode = recorder.episode()
        await self._release()
        if self.episodes.on_episode is not None:
            self.episodes.on_episode(self._episode)
        return self._episode

    async def _release(self) -> None:
        """Return the environment to its pool, without recording an unfinished episode."""
        context, recorder, self._context = self._context, self._recorder, None
        if context is None or recorder is None:
            return
        try:
            spec = self.episodes.resources.environment
            if recorder.stop_reason in RELEASED and context.has(spec):
                await (await context.acquire_resource(spec)).close()
        finally:
            await context.release()

    reset, reset_async = _on_shared_loop("reset", _reset)
    step, step_async = _on_shared_loop("step", _step)
    finish, finish_async = _on_shared_loop("finish", _finish)
    close, close_async = _on_shared_loop("close", _release)


def turn_rewards(episode: Episode) -> list[float]:
    """The environment's own reward for each action of the episode; 0 without a reward."""
    return [step.reward or 0.0 for step in episode.trajectory.steps if step.index > 0]


class _Nowhere:
    """Replaces the run writer if an episode's record stays only in memory."""

    def steps(self, attempt: str) -> Self:  # noqa: ARG002 - the sink's signature
        return self

    def write(self, step: Step) -> None:
        """Write nothing, because the episode itself holds its steps."""

    def artifact(self, data: bytes | str) -> str:
        """The hash of the content, which allows comparing two observations."""
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        return hashlib.sha256(content).hexdigest()


def _no_agent(base_url: str) -> NoReturn:
    raise NotImplementedError(
        f"a live episode has no agent, because its trainer is the policy ({base_url})"
    )
