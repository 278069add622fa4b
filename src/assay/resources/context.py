"""The context of one rollout: its id, task, trajectory and environments."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, NoReturn, Self, TypeAlias, get_args

from assay.errors import BadParameter, DeadResource, NotReset, ResourceError
from assay.resources.pool import Pools, ResourcePool
from assay.resources.protocol import Environment, Scope
from assay.resources.slots import Lease
from assay.resources.spec import ResourceSpec
from assay.schema.episode import Episode, Step
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.task import Task

ChatMessage: TypeAlias = Message | Mapping[str, Any]
"""A message as a record or as the dictionary that a chat API speaks."""


@dataclass(frozen=True, slots=True)
class _Holding:
    pool: ResourcePool
    lease: Lease
    scope: Scope


class Context:
    """One rollout for tools and rewards: its task, its trajectory and its environments.

    `async with Context.open(task=task, pools=pools) as context` gives everything back however the
    rollout ends. Without `pools` the rollout opens its own, and closes them.
    """

    def __init__(
        self,
        rollout_id: str | None = None,
        task: Task | None = None,
        trajectory: Sequence[ChatMessage] = (),
        metadata: Mapping[str, Any] | None = None,
        *,
        pools: Pools | None = None,
        environments: Mapping[str, ResourceSpec] | None = None,
    ) -> None:
        self.rollout_id = rollout_id or uuid.uuid4().hex
        self.task = task
        self.trajectory = trajectory
        self.metadata = dict(metadata or {})
        self.steps: Sequence[Step] = ()
        """What the agent did and what the environment paid for it; complete when a reward runs."""
        self._environments = dict(environments or {})
        """What a bare name means in this rollout, where it is not the default configuration."""
        self._own_pools = pools is None
        self._pools = Pools() if pools is None else pools
        self._lock = threading.Lock()
        self._holdings: dict[str, _Holding] = {}
        self._failures: dict[str, ResourceError] = {}
        self._flights: dict[str, Future[None]] = {}
        self._reset_observations: dict[str, Observation] = {}
        self._released = False

    @classmethod
    def open(
        cls,
        *,
        task: Task | None = None,
        rollout_id: str | None = None,
        trajectory: Sequence[ChatMessage] = (),
        metadata: Mapping[str, Any] | None = None,
        pools: Pools | None = None,
        environments: Mapping[str, ResourceSpec] | None = None,
    ) -> Self:
        """Create a context for an `async with` block."""
        return cls(rollout_id, task, trajectory, metadata, pools=pools, environments=environments)

    @staticmethod
    def recorded(episode: Episode) -> RecordedContext:
        """The context of a finished rollout, with read-only environments."""
        return RecordedContext(episode)

    async def acquire_resource(
        self,
        spec: str | ResourceSpec,
        scope: Scope = "rollout",
        timeout_s: float | None = None,
        backend: str | None = None,  # noqa: ARG002 - an environment here has one way to run
    ) -> Environment:
        """The rollout's own instance of an environment, shared by its tools and rewards.

        The same spec gives the same instance, another one another; the scope of the first call
        decides. Scope `rollout` ends the instance with the rollout, `global` gives it back to its
        pool for the next one. `backend`, which AgentFly's code names, is accepted and not read.
        Raises `AcquireTimeout` when none is ready within `timeout_s`.
        """
        _check_scope(scope)
        resolved = self._resolve(spec)
        while True:
            holding = self._holdings.get(resolved.key)
            if holding is not None:
                return holding.lease.instance
            await self._once(resolved.key, lambda: self._acquire(resolved, scope, timeout_s))

    async def environment(
        self,
        spec: str | ResourceSpec,
        scope: Scope = "rollout",
        timeout_s: float | None = None,
    ) -> Environment:
        """Acquire the environment, and reset it to the rollout's task if needed."""
        key = self._resolve(spec).key
        instance = await self.acquire_resource(spec, scope, timeout_s)
        while not _is_reset(instance):
            await self._once(key, lambda: self._reset(instance, key))
        return instance

    def reset_observation(self, spec: str | ResourceSpec) -> Observation:
        """The first observation from `environment`; raises `NotReset` if there is none."""
        key = self._resolve(spec).key
        observation = self._reset_observations.get(key)
        if observation is None:
            raise NotReset(
                f"rollout {self.rollout_id!r} has no reset observation of {key}; "
                "call `await context.environment(…)` to reset the environment and keep one"
            )
        return observation

    def evidence(self, spec: str | ResourceSpec) -> WorldEvidence:
        """The evidence of this rollout's episode; reading starts no environment.

        Raises `NotReset` when this rollout never reset it (one that it never acquired is not
        started to find that out), and the failure itself when the environment failed or died.
        """
        key = self._resolve(spec).key
        holding = self._holdings.get(key)
        if holding is not None:
            return holding.lease.instance.evidence()
        if key in self._failures:
            raise self._failures[key]
        if self._released:
            raise NotReset(
                f"rollout {self.rollout_id!r} has ended and released {key}; "
                "score the rollout before its end, or score its recorded episode"
            )
        raise NotReset(f"rollout {self.rollout_id!r} never used {key}")

    def has(self, spec: str | ResourceSpec) -> bool:
        """Whether this rollout currently holds an instance of the environment."""
        return self._resolve(spec).key in self._holdings

    async def release(self) -> None:
        """Return all environments of the rollout to their pools; a second call does nothing."""
        with self._lock:
            self._released = True
            holdings = list(self._holdings.values())
            self._holdings.clear()
        async with AsyncExitStack() as stack:
            if self._own_pools:
                stack.push_async_callback(self._pools.close)
            for holding in holdings:
                stack.push_async_callback(holding.pool.release, holding.lease, holding.scope)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.release()

    def _resolve(self, spec: str | ResourceSpec) -> ResourceSpec:
        if isinstance(spec, ResourceSpec):
            return spec
        if spec not in self._environments:
            self._environments[spec] = ResourceSpec(spec)
        return self._environments[spec]

    async def _acquire(self, spec: ResourceSpec, scope: Scope, timeout_s: float | None) -> None:
        self._check_open()
        pool = self._pools.pool(spec)
        try:
            lease = await pool.acquire(self.rollout_id, timeout_s)
        except ResourceError as error:
            self._failures[spec.key] = error
            raise
        except Exception as error:  # whatever broke the start, the rollout did try to use it
            self._failures[spec.key] = ResourceError(f"{spec.key} could not start: {error}")
            raise
        with self._lock:
            in_time = not self._released
            if in_time:
                self._holdings[spec.key] = _Holding(pool, lease, scope)
        if not in_time:
            await pool.release(lease, scope)
        self._check_open()

    def _check_open(self) -> None:
        if self._released:
            raise ResourceError(f"rollout {self.rollout_id!r} has ended and acquires no resources")

    async def _reset(self, instance: Environment, key: str) -> None:
        if self.task is None:
            raise BadParameter(
                f"rollout {self.rollout_id!r} has no task for a reset of {instance.name!r}; "
                "pass Context.open(task=…)"
            )
        if not _is_reset(instance):
            self._reset_observations[key] = await instance.reset(self.task)

    async def _once(self, key: str, act: Callable[[], Awaitable[None]]) -> None:
        """Run `act` once for the key; parallel callers wait for the running call."""
        mine: Future[None] = Future()
        with self._lock:
            flight = self._flights.setdefault(key, mine)
        if flight is not mine:
            await asyncio.shield(asyncio.wrap_future(flight))
            return
        try:
            await act()
        finally:
            with self._lock:
                del self._flights[key]
            flight.set_result(None)


class RecordedContext(Context):
    """The context of a finished rollout, read from its recorded episode."""

    def __init__(self, episode: Episode) -> None:
        super().__init__(
            str(episode.metadata.get("rollout_id") or f"{episode.task.id}#{episode.attempt}"),
            episode.task,
            episode.trajectory.messages,
            episode.metadata,
        )
        self.steps = episode.trajectory.steps
        self._episode = episode
        self._views: dict[str, RecordedEnvironment] = {}

    async def acquire_resource(
        self,
        spec: str | ResourceSpec,
        scope: Scope = "rollout",
        timeout_s: float | None = None,  # noqa: ARG002 - a record is there at once
        backend: str | None = None,  # noqa: ARG002 - nor does it run anywhere
    ) -> Environment:
        _check_scope(scope)
        return self._view(spec)

    def evidence(self, spec: str | ResourceSpec) -> WorldEvidence:
        return self._view(spec).evidence()

    def _view(self, spec: str | ResourceSpec) -> RecordedEnvironment:
        resolved = self._resolve(spec)
        view = RecordedEnvironment(resolved.name, self._episode)
        return self._views.setdefault(resolved.key, view)


class RecordedEnvironment:
    """A read-only environment that returns the evidence of the last recorded step."""

    def __init__(self, name: str, episode: Episode) -> None:
        self.name = name
        self._episode = episode
        evidence = (step.evidence for step in reversed(episode.trajectory.steps))
        worlds = (each for each in evidence if isinstance(each, WorldEvidence))
        self._evidence = next((each for each in worlds if each.world == name), None)

    def evidence(self) -> WorldEvidence:
        """The last recorded evidence of this environment."""
        evidence = self._evidence
        if self._episode.no_fault and not (evidence and evidence.done):
            failure = self._episode.failure
            cause = failure.message if failure else "no cause was recorded"
            raise DeadResource(
                f"the recorded episode ended with {self._episode.stop_reason}: {cause}"
            )
        if evidence is None:
            raise NotReset(
                f"the episode of task {self._episode.task.id!r} has no evidence of {self.name!r}"
            )
        return evidence

    async def reset(self, task: Task) -> Observation:
        self._refuse(f"reset to task {task.id!r}")

    async def step(self, action: str) -> Observation:
        self._refuse(f"take the action {action[:80]!r}")

    def forget(self) -> None:
        self._refuse("forget its episode")

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        """Do nothing, because a recording has nothing to close."""

    def _refuse(self, request: str) -> NoReturn:
        raise ResourceError(
            f"the environment {self.name!r} is recorded and cannot {request}; use a live Context"
        )


def _check_scope(scope: str) -> None:
    if scope not in get_args(Scope):
        raise BadParameter(f"scope {scope!r} is neither 'rollout' nor 'global'")


def _is_reset(instance: Environment) -> bool:
    try:
        instance.evidence()
    except NotReset:
        return False
    return True
