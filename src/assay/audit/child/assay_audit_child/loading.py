"""Load the audited function, and find its calling convention."""

from __future__ import annotations

import importlib
import inspect
import pickle
import sys
from pathlib import Path
from typing import Any

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class TargetNotLoadable(Exception):
    """The audited reward cannot be loaded; the message tells the user why."""


def load(target: dict[str, Any]) -> tuple[Any, str | None]:
    """Load the audited object; also return its calling convention if loading reveals it."""
    for entry in reversed(target.get("path", [])):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    if target["form"] == "url":
        return target["location"], "url"
    try:
        return _callable(*_find(target))
    except TargetNotLoadable:
        raise
    except BaseException as error:
        raise TargetNotLoadable(f"loading it raised {type(error).__name__}: {error}") from error


def _find(target: dict[str, Any]) -> tuple[Any, str | None]:
    """Find the audited object; raise any error that its import raises."""
    if target["form"] == "registered":
        from assay.registry import find_reward  # type: ignore[import-not-found,unused-ignore]

        return find_reward(target["location"]).function, "assay"
    if target["form"] == "file":
        return _from_file(Path(target["location"]), target["attribute"])
    module = importlib.import_module(target["location"])
    return _attribute(module, target["attribute"]), None


def _callable(target: Any, shape: str | None) -> tuple[Any, str | None]:
    """Return the audited object, or raise `TargetNotLoadable` if trainers cannot call it."""
    if inspect.isclass(target):
        raise TargetNotLoadable(
            f"{target.__name__} is a class, not a reward function; name an instance with "
            "`__call__`, or write a function that calls an instance"
        )
    if not callable(target):
        public = [name for name in dir(target) if not name.startswith("_")]
        methods = [name for name in public if callable(getattr(target, name, None))]
        offered = f" (it has {', '.join(methods[:8])})" if methods else ""
        raise TargetNotLoadable(
            f"it is not callable: an object of type {type(target).__name__}{offered}; name a "
            "function that takes the response and the reference"
        )
    return target, shape


def facts(function: Any, shape: str | None) -> dict[str, Any]:
    spec = getattr(function, "__assay__", None)
    own = spec if getattr(spec, "function", None) is function else None
    parts = getattr(spec, "parts", None)
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is inspected
    return {
        "shape": shape or detect(function),
        "name": getattr(spec, "id", None) or _name(function),
        "parts": None if parts is None else list(parts),
        "parameters": list(_parameters(function)),
        "is_async": inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call),
        "picklable": pickle_error(function) is None,
        "pickle_error": pickle_error(function),
        "source": _source(function),
        "summary": (inspect.getdoc(function) or "").partition("\n")[0][:200],
        "python": sys.version.split()[0],
        "kind": getattr(own, "kind", None),
        "accepts": dict(getattr(own, "accepts", {})),
    }


def detect(function: Any) -> str | None:
    """Detect the calling convention from the signature; `None` if unknown."""
    if isinstance(function, str):
        return "url"
    if hasattr(function, "__assay__"):
        return "assay"
    if hasattr(function, "__registry_info__"):
        return "inspect"
    names = _parameters(function)
    for shape, parameter in (
        ("assay", "final_response"),
        ("trl", "completions"),
        ("verl", "solution_str"),
        ("openrlhf", "queries"),
        ("verifiers", "completion"),
    ):
        if parameter in names:
            return shape
    if {"context", "trajectory", "workspace", "files"} & set(names):
        return "assay"
    positional = [item for item in names.values() if item.kind in POSITIONAL]
    return "plain" if len(positional) >= 2 else None


def _from_file(file: Path, attribute: str) -> tuple[Any, str | None]:
    """Import a function from a file; other files in its folder can be imported too."""
    if not file.is_file():
        raise TargetNotLoadable(f"there is no file {str(file)!r}")
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(file.stem)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "agentfly":
            raise
        return _agentfly(file, attribute), "agentfly"
    if Path(str(getattr(module, "__file__", ""))).resolve() != file.resolve():
        raise TargetNotLoadable(f"another module is called {file.stem!r}; rename this file")
    return _attribute(module, attribute), None


def _agentfly(file: Path, attribute: str) -> Any:
    """Load a reward from an AgentFly file without AgentFly installed."""
    from assay.adapters.agentfly import load as load_file

    rewards = load_file(file)
    if attribute not in rewards:
        raise TargetNotLoadable(
            f"{file.name} declares no reward {attribute!r}; its rewards are {sorted(rewards)}"
        )
    return rewards[attribute]


def _attribute(module: Any, path: str) -> Any:
    value: Any = module
    for name in path.split("."):
        if not hasattr(value, name):
            functions = [key for key, item in vars(module).items() if callable(item)]
            public = sorted(name for name in functions if not name.startswith("_"))
            raise TargetNotLoadable(
                f"{module.__name__} has no {path!r}; its functions are {', '.join(public)}"
            )
        value = getattr(value, name)
    return value


def _name(function: Any) -> str:
    if isinstance(function, str):
        address, _, reward = function.partition("#")
        return reward or address
    return str(getattr(function, "__name__", type(function).__name__))


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def pickle_error(function: Any) -> str | None:
    """Return why the audited function cannot be pickled, or `None` if it can."""
    try:
        pickle.dumps(function)
    except Exception as error:  # noqa: BLE001 - an object's own pickling may raise anything
        return f"{type(error).__name__}: {error}"[:300]
    return None


def _source(function: Any) -> str | None:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return None if code is None else f"{Path(code.co_filename).name}:{code.co_firstlineno}"
