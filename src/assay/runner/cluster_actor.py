"""What Ray's workers run: the actor that plays episodes, and how work travels to another machine.

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
    """Stands in for the ledger in an actor: everything is sent to the driver, the one writer."""

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
    """A process with its own environments, browser and service; plays one episode at a time."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._recorder = RemoteRecorder()
        self._over = asyncio.Event()
        self._lifetime: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._resources: RunResources | None = None

    async def open(self) -> None:
        """Open what the episodes share; raises what the machine lacks for it."""
        ready = asyncio.get_running_loop().create_future()
        self._lifetime = asyncio.create_task(self._keep_open(ready))
        await asyncio.wait((ready, self._lifetime), return_when=asyncio.FIRST_COMPLETED)
        if self._lifetime.done():
            await self._lifetime
        self._resources = await ready

    async def play(self, attempt: str, planned_attempt: PlannedAttempt) -> AsyncIterator[Event]:
        """What happens, while it happens; the episode itself comes last."""
        assert self._resources is not None, "open() comes first"
        self._playing = asyncio.create_task(self._play(attempt, planned_attempt, self._resources))
        while (event := await self._recorder.events.get()) is not None:
            yield event
        await self._playing

    async def close(self) -> None:
        """Environments, browser and service are closed; an episode under way is broken off."""
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
    """The contents and every registration of this process, to be unpacked by a worker."""
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
                "what it refers to must be picklable, or be made when it is called"
            ) from error
    return pickle.dumps((_versions(), packed))


def unpack(payload: bytes) -> Any:
    """The contents; whatever came with them is registered in this process too."""
    versions, packed = pickle.loads(payload)  # noqa: S301 - it comes from the job's own driver
    for package, expected in versions.items():
        here = _versions().get(package, "none")
        if here != expected:
            raise ResourceError(
                f"a worker has {package} {here}, and the job was started with {expected}; scores "
                "of a mixture mean nothing: install the same on every node"
            )
    registered, contents = pickle.loads(packed)  # noqa: S301 - it comes from the job's own driver
    by_kind = {registry.kind: registry for registry in REGISTRIES}
    for kind, name, number, item in registered:
        by_kind[kind].add(name, item, version=number, replace=True)
    return contents


def _versions() -> dict[str, str]:
    """The versions of the packages that decide the bytes of a result."""
    try:
        arrow = version("pyarrow")
    except PackageNotFoundError:
        arrow = "none"
    return {"assay": __version__, "pyarrow": arrow}


def _unpicklable(registered: list[tuple[str, str, int, Any]], cloudpickle: Any) -> str:
    """What cannot be pickled, for an error message."""
    for kind, name, _, item in registered:
        try:
            cloudpickle.dumps(item)
        except UNPICKLABLE:
            return f"{kind} {name!r}"
    return "the job"


def _uninstalled_modules() -> Iterator[ModuleType]:
    """The loaded modules of which no worker has a copy."""
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
    """The packages that every installation of Assay has: its own, and those that it offers."""
    packages = {__name__.partition(".")[0]}
    with suppress(PackageNotFoundError):
        points = distribution("assay").entry_points
        packages |= {point.module.partition(".")[0] for point in points}
    return packages
