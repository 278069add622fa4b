"""What travels to a worker on another machine: the work, and what the user registered for it.

Code of installed packages is named, and the worker imports its own copy; that of Assay has to be
of the same version there. Code that is installed nowhere (a script, a notebook, modules beside
them) is sent by value. Modules that such code imports only while it runs, and data files, do not
travel: install them on the nodes.
"""

from __future__ import annotations

import pickle
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any

from assay import __version__
from assay.errors import BadParameter, ResourceError
from assay.registry import AGENTS, ENVIRONMENTS, MODELS, REWARDS, SERVICES, TASKS, Registry

REGISTRIES: tuple[Registry[Any], ...] = (REWARDS, ENVIRONMENTS, AGENTS, MODELS, TASKS, SERVICES)
UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, RecursionError)


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
