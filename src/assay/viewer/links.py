"""Links to each page, in a running viewer or within a single exported file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

WINDOW = 200
"""Cells of the ribbon that a page shows."""
TWIN = ".json"
"""At the end of a page's path: the page's record."""


def address(path: str, query: Sequence[tuple[str, Any]]) -> str:
    """The path with its query string; the values may hold lone surrogates."""
    return f"{path}?{urlencode(query, errors='surrogatepass')}" if query else path


def _address(path: str, **query: Any) -> str:
    """The path with the query parameters that have a value."""
    return address(path, [pair for pair in query.items() if pair[1] not in (None, "", False)])


def part(name: str) -> str:
    """Quote a name as one part of a path; a `.json` at its end is quoted too.

    The name of a folder may hold bytes that are no UTF-8; they are sent as they are.
    """
    quoted = quote(os.fsencode(name), safe="")
    return f"{quoted.removesuffix(TWIN)}%2Ejson" if quoted.endswith(TWIN) else quoted


@dataclass(frozen=True, slots=True)
class ServerLinks:
    """Absolute paths of a running viewer."""

    def static(self, name: str) -> str:
        return f"/static/{name}"

    def runs(self, **query: Any) -> str:
        return _address("/runs", **query)

    def run(self, run_id: str, **query: Any) -> str:
        return _address(f"/runs/{part(run_id)}", **query)

    def diagnosis(self, run_id: str) -> str:
        return f"/runs/{part(run_id)}/diagnosis"

    def episode(self, run_id: str, attempt: str, step: int | None = None) -> str:
        return _episode(run_id, attempt, step=step)

    def finding(self, run_id: str, attempt: str) -> str:
        return _episode(run_id, attempt, "/diagnosis")

    def record(self, run_id: str, attempt: str, step: int | None = None) -> str:
        return _episode(run_id, attempt, "/record", step=step)

    def artifact(self, run_id: str, sha256: str, kind: str = "txt") -> str:  # noqa: ARG002
        return f"/artifacts/{part(run_id)}/{part(sha256)}"

    def labels(self, run_id: str) -> str:
        return f"/runs/{part(run_id)}/labels"

    def agreement(self, run_id: str = "", **query: Any) -> str:
        return _address("/agreement", run=run_id, **query)

    def compare(self, base: str = "", cand: str = "", **query: Any) -> str:
        return _address("/compare", base=base, cand=cand, **query)

    def pair(self, base: str, cand: str, task: str, **query: Any) -> str:
        return _address("/compare/pair", base=base, cand=cand, task=task, **query)

    def rewards(self) -> str:
        return "/rewards"

    def reward(self, name: str) -> str:
        return f"/rewards/{part(name)}"


def _episode(run_id: str, attempt: str, below: str = "", *, step: int | None = None) -> str:
    path = f"/runs/{part(run_id)}/episodes/{part(attempt)}{below}"
    return path if step is None else f"{path}?step={step}"


@dataclass(frozen=True, slots=True)
class OneFileLinks:
    """Links within a single exported file; pictures are data URIs."""

    picture: Callable[[str, str], str | None]
    """The data URI of an artifact, by its hash and kind; `None` for one that is not in the file."""

    def episode(self, run_id: str, attempt: str, step: int | None = None) -> str:  # noqa: ARG002
        return f"#{part(attempt)}" + ("" if step is None else f".step-{step}")

    def artifact(self, run_id: str, sha256: str, kind: str = "txt") -> str | None:  # noqa: ARG002
        return None if kind == "txt" else self.picture(sha256, kind)

    def _elsewhere(self, *_: object, **__: object) -> None:
        """Return no link, because the file does not hold this page."""

    static = runs = run = diagnosis = finding = record = labels = agreement = _elsewhere
    compare = pair = rewards = reward = _elsewhere


Links: TypeAlias = ServerLinks | OneFileLinks
"""The links of a template; a method returns `None` where there is nothing to link to."""
