"""One rollout: its id, its task, its trajectory, and the worlds that it holds."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias, get_args

from assay.errors import BadParameter, NotReset, ResourceError
from assay.resources.pool import Pools, ResourcePool
from assay.resources.protocol import Environment, Scope
from assay.resources.recorded import RecordedEnvironment
from assay.resources.slots import Lease
from assay.resources.spec import ResourceSpec
from assay.schema.episode import Episode, Step
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.task import Task

ChatMessage: TypeAlias = Message | Mapping[str, Any]
"""A message as a record or as the dictionary that a chat API speaks."""


@dataclass(frozen=True, slots=True)
class _Holding:
    pool: ResourcePool
    lease: Lease
    scope: Scope


class Context:
    """What tools and rewards of one rollout share.

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
        """What the agent did and what the world paid for it; complete when a reward is asked."""
        self._environments = dict(environments or {})
        """What a bare name means in this rollout, where it is not the default configuration."""
        self._own_pools = pools is None
        self._pools = Pools() if pools is None else pools
        self._lock = threading.Lock()
        self._held: dict[str, _Holding] = {}
        self._failures: dict[str, ResourceError] = {}
        self._flights: dict[str, Future[None]] = {}
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
        """A rollout for an `async with` block."""
        return cls(rollout_id, task, trajectory, metadata, pools=pools, environments=environments)

    @staticmethod
    def recorded(episode: Episode) -> RecordedContext:
        """A rollout that is over: its worlds are read-only views of the recorded testimony."""
        return RecordedContext(episode)

    async def acquire_resource(
        self,
        spec: str | ResourceSpec,
        scope: Scope = "rollout",
        timeout_s: float | None = None,
    ) -> Environment:
        """This rollout's own instance of the world, the same one for tools and rewards.

        The same spec gives the same instance, another one another; the scope of the first call
        decides. Scope `rollout` ends the instance with the rollout, `global` gives it back to its
        pool for the next one. Raises `AcquireTimeout` when none is ready within `timeout_s`.
        """
        if scope not in get_args(Scope):
            raise BadParameter(f"scope {scope!r} is neither 'rollout' nor 'global'")
        wanted = self._spec(spec)
        while True:
            held = self._held.get(wanted.key)
            if held is not None:
                return held.lease.instance
            await self._once(wanted.key, lambda: self._acquire(wanted, scope, timeout_s))

    async def environment(
        self,
        spec: str | ResourceSpec,
        scope: Scope = "rollout",
        timeout_s: float | None = None,
    ) -> Environment:
        """As `acquire_resource`, and reset to the rollout's task if this rollout has not yet."""
        instance = await self.acquire_resource(spec, scope, timeout_s)
        while not _is_reset(instance):
            await self._once(self._spec(spec).key, lambda: self._reset(instance))
        return instance

    def evidence(self, spec: str | ResourceSpec) -> WorldEvidence:
        """What the world says of this rollout's episode, without touching the world.

        Raises `NotReset` when this rollout never reset it (a world that it never held is not
        started to find that out), and the failure itself when the world failed or died.
        """
        wanted = self._spec(spec)
        held = self._held.get(wanted.key)
        if held is not None:
            return held.lease.instance.evidence()
        if wanted.key in self._failures:
            raise self._failures[wanted.key]
        if self._released:
            raise NotReset(
                f"rollout {self.rollout_id!r} is over and has given {wanted.key} back; "
                "score it before that, or over its recorded episode"
            )
        raise NotReset(f"rollout {self.rollout_id!r} never used {wanted.key}")

    async def release(self) -> None:
        """Everything that the rollout held is given back; calling it again does nothing."""
        with self._lock:
            self._released = True
            holdings = list(self._held.values())
            self._held.clear()
        async with AsyncExitStack() as stack:
            if self._own_pools:
                stack.push_async_callback(self._pools.close)
            for holding in holdings:
                stack.push_async_callback(holding.pool.release, holding.lease, holding.scope)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.release()

    def _spec(self, spec: str | ResourceSpec) -> ResourceSpec:
        if isinstance(spec, ResourceSpec):
            return spec
        known = self._environments.get(spec)
        if known is None:
            known = self._environments[spec] = ResourceSpec(spec)
        return known

    async def _acquire(self, spec: ResourceSpec, scope: Scope, timeout_s: float | None) -> None:
        self._check_open()
        pool = self._pools.pool(spec)
        try:
            lease = await pool.acquire(self.rollout_id, timeout_s)
        except ResourceError as error:
            self._failures[spec.key] = error
            raise
        except Exception as error:
            # Whatever broke the start, the rollout did not merely leave the world alone.
            self._failures[spec.key] = ResourceError(f"{spec.key} could not start: {error}")
            raise
        with self._lock:
            in_time = not self._released
            if in_time:
                self._held[spec.key] = _Holding(pool, lease, scope)
        if not in_time:
            await pool.release(lease, scope)
        self._check_open()

    def _check_open(self) -> None:
        if self._released:
            raise ResourceError(f"rollout {self.rollout_id!r} is over; it can acquire nothing more")

    async def _reset(self, instance: Environment) -> None:
        if self.task is None:
            raise BadParameter(
                f"rollout {self.rollout_id!r} has no task to reset {instance.name!r} to; "
                "pass Context.open(task=…)"
            )
        if not _is_reset(instance):
            await instance.reset(self.task)

    async def _once(self, key: str, act: Callable[[], Awaitable[None]]) -> None:
        """Do `act`, or wait for the one who does it for this key: parallel tool calls share."""
        with self._lock:
            flight = self._flights.get(key)
            mine = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if not mine:
            await asyncio.shield(asyncio.wrap_future(flight))
            return
        try:
            await act()
        finally:
            with self._lock:
                del self._flights[key]
            flight.set_result(None)


class RecordedContext(Context):
    """A rollout read back from its episode."""

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
    ) -> Environment:
        if scope not in get_args(Scope):
            raise BadParameter(f"scope {scope!r} is neither 'rollout' nor 'global'")
        return self._view(spec)

    def evidence(self, spec: str | ResourceSpec) -> WorldEvidence:
        return self._view(spec).evidence()

    def _view(self, spec: str | ResourceSpec) -> RecordedEnvironment:
        wanted = self._spec(spec)
        return self._views.setdefault(wanted.key, RecordedEnvironment(wanted.name, self._episode))


def _is_reset(instance: Environment) -> bool:
    try:
        instance.evidence()
    except NotReset:
        return False
    return True
