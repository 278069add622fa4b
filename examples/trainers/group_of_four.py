"""What the examples with a group of four share: its responses, its reward, and the line they print.

One of four answers to a prompt has no score: the grader cannot be reached over it. Each example
lets its library ask our adapter about the four and compute their advantages.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
import typing
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import Any
from unittest.mock import MagicMock

PROMPT = "2+2=?"
REFERENCE = "4"
RESPONSES = ["4", "5", "lost", "5"]
LOST = RESPONSES.index("lost")


def grade(final_response: str, answer: str) -> float:
    """1 for the reference; the grader does not answer over "lost"."""
    if final_response == "lost":
        raise ConnectionError("the grader did not answer")
    return float(final_response == answer)


def report(library: str, rewards: Sequence[Any], advantages: Sequence[Any]) -> int:
    """Print both; 0 if the three that were scored keep finite advantages of the right sign."""
    numbers = [float(number) for number in advantages]
    others = [number for index, number in enumerate(numbers) if index != LOST]
    shown = [None if reward is None else round(float(reward), 3) for reward in rewards]
    print(f"{library}: rewards {shown}, advantages {[round(number, 3) for number in numbers]}")
    right = all(map(isfinite, others)) and others[0] > 0 > max(others[1:])
    return 0 if right and (not isfinite(numbers[LOST]) or numbers[LOST] > min(others)) else 1


def named(package: str) -> str:
    """The package and its version."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


class _Placeholders(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the named packages, and gives a placeholder for whatever is imported from them."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        if name.split(".")[0] in self._packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        vars(module)["__getattr__"] = _placeholder
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def _placeholder(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return MagicMock(name=name)


def without(*packages: str) -> None:
    """Let a library be imported without these: engines and tools that scoring does not touch."""
    sys.meta_path.append(_Placeholders(packages))
    if sys.version_info < (3, 12):
        # pydantic wants the newer one, of which 3.12's own `typing` is.
        import typing_extensions

        vars(typing)["TypedDict"] = typing_extensions.TypedDict
