"""The code that runs in Ray's workers: an actor that plays episodes, and packed work.

Code of installed packages is named, and the worker imports its own copy; that of Assay has to be
of the same version there. Code that is installed nowhere (a script, a notebook, modules in the
same folder) is sent by value. Modules that such code imports only while it runs, and data files, do
not travel: install them on the nodes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
import site
import sys
import sysconfig
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

from assay import __version__
from assay.errors import BadParameter, ResourceError
from assay.registry import AGENTS, ENVIRONMENTS, MODELS, REWARDS, SERVICES, TASKS, Registry
from assay.runner.plan import PlannedAttempt
from assay.runner.recorder import RunResources
from assay.runner.rollout import rollout
from assay.runner.run import open_run_resources
from assay.schema.episode import Episode, Step
from assay.schema.secrets import SecretMask, environment_secrets

REGISTRIES: tuple[Registry[Any], ...] = (REWARDS, ENVIRONMENTS, AGENTS, MODELS, TASKS, SERVICES)
UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, RecursionError)
WORKS: Literal["works"] = "works"
"""The agent has shown that it can do its work."""
Event: TypeAlias = Step | bytes | Literal["works"] | Episode
"""A step that was taken, an artifact that it refers to, or the whole episode, which is the last."""


@dataclass(frozen=True, slots=True)
class RemoteRecorder:
    """Replaces the ledger in an actor: it sends steps and artifacts to the main process."""

    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    """What happened; `None` when the episode is over."""
    mask: SecretMask = field(default_factory=lambda: SecretMask(environment_secrets(os.environ)))

    def steps(self, attempt: str) -> RemoteRecorder:  # noqa: ARG002 - an actor plays one at a time
        return self

    def write(self, step: Step) -> None:
        self.events.put_nowait(step)

    def artifact(self, data: bytes | str) -> str:
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        # Before its hash is made: the driver would mask it too, and store it under another one.
        content = self.mask.bytes(content)
        self.events.put_nowait(content)
        return hashlib.sha256(content).hexdigest()


class RolloutActor:
    """A Ray actor with its own environments and service; it plays one episode at a time."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._recorder = RemoteRecorder()
        self._over = asyncio.Event()
        self._lifetime: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._resources: RunResources | None = None

    async def open(self) -> None:
        """Open the resources of the episodes; raise MissingExtra if a package is missing."""
        ready = asyncio.get_running_loop().create_future()
        self._lifetime = asyncio.create_task(self._keep_open(ready))
        await asyncio.wait((ready, self._lifetime), return_when=asyncio.FIRST_COMPLETED)
        if self._lifetime.done():
            await self._lifetime
        self._resources = await ready

    async def play(self, attempt: str, planned_attempt: PlannedAttempt) -> AsyncIterator[Event]:
        """Play an episode, and yield its steps and artifacts and finally the episode."""
        assert self._resources is not None, "open() comes first"
        self._playing = asyncio.create_task(self._play(attempt, planned_attempt, self._resources))
        while (event := await self._recorder.events.get()) is not None:
            yield event
        await self._playing

    async def close(self) -> None:
        """Close the environments and the service; cancel an episode that is under way."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait((self._playing,))
        self._over.set()
        if self._lifetime is not None:
            await asyncio.wait((self._lifetime,))

    async def _play(
        self, attempt: str, planned_attempt: PlannedAttempt, resources: RunResources
    ) -> None:
        events = self._recorder.events
        works = False

        def on_work() -> None:
            nonlocal works
            if not works:
                works = True
                events.put_nowait(WORKS)

        try:
            events.put_nowait(await rollout(attempt, planned_attempt, resources, on_work))
        finally:
            events.put_nowait(None)

    async def _keep_open(self, ready: asyncio.Future[RunResources]) -> None:
        # In a task of its own, so that what is opened is closed by the same one.
        plan, notes = unpack(self._payload)
        async with open_run_resources(plan, self._recorder, 1, notes) as resources:
            ready.set_result(resources)
            await self._over.wait()


# `cloudpickle` is Ray's own copy, which has no types.
def pack(contents: Any, cloudpickle: Any) -> bytes:
    """Pack contents for a worker, with all objects that are registered in this process."""
    registered = [
        (registry.kind, name, number, item)
        for registry in REGISTRIES
        for name, number, item in registry.registered()
    ]
    with ExitStack() as undo:
        for module in _uninstalled_modules():
            cloudpickle.register_pickle_by_value(module)
            undo.callback(cloudpickle.unregister_pickle_by_value, module)
        try:
            packed = cloudpickle.dumps((registered, contents))
        except UNPICKLABLE as error:
            raise BadParameter(
                f"{_unpicklable(registered, cloudpickle)} cannot be sent to a worker: {error}; "
                "its objects must be picklable, or be made when it is called"
            ) from error
    return pickle.dumps((_versions(), packed))


def unpack(payload: bytes) -> Any:
    """Return the packed contents, and register in this process what came with them."""
    versions, packed = pickle.loads(payload)  # noqa: S301 - it comes from the job's own driver
    for package, expected in versions.items():
        here = _versions().get(package, "none")
        if here != expected:
            raise ResourceError(
                f"a worker has {package} {here}, but the job was started with {expected}; their "
                "scores cannot be mixed: install the same version on every node"
            )
    registered, contents = pickle.loads(packed)  # noqa: S301 - it comes from the job's own driver
    by_kind = {registry.kind: registry for registry in REGISTRIES}
    for kind, name, number, item in registered:
        by_kind[kind].add(name, item, version=number, replace=True)
    return contents


def _versions() -> dict[str, str]:
    """Return the versions of the packages that can change a result."""
    try:
        arrow = version("pyarrow")
    except PackageNotFoundError:
        arrow = "none"
    return {"assay": __version__, "pyarrow": arrow}


def _unpicklable(registered: list[tuple[str, str, int, Any]], cloudpickle: Any) -> str:
    """Return the name of the object that cannot be pickled, for an error message."""
    for kind, name, _, item in registered:
        try:
            cloudpickle.dumps(item)
        except UNPICKLABLE:
            return f"{kind} {name!r}"
    return "the job"


def _uninstalled_modules() -> Iterator[ModuleType]:
    """Yield the loaded modules that are not installed, so no worker has them."""
    schemes = (sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    installed = {Path(folder).resolve() for folder in (*schemes, *site.getsitepackages())}
    installed.add(Path(site.getusersitepackages()).resolve())
    ours = _packages_of_assay()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in ours | {"__main__", "__mp_main__"} or not file:
            continue
        if sys.modules.get(getattr(module, "__name__", "")) is not module:
            continue
        if not any(folder in Path(file).resolve().parents for folder in installed):
            yield module


def _packages_of_assay() -> set[str]:
    """Return the names of the packages that are installed with Assay."""
    packages = {__name__.partition(".")[0]}
    with suppress(PackageNotFoundError):
        points = distribution("assay").entry_points
        packages |= {point.module.partition(".")[0] for point in points}
    return packages
