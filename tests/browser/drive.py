"""Driving a browser environment from a test, by the names of elements."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from assay.browser.drive.environment import BrowserEnvironment
from assay.schema.observation import Observation
from assay.schema.task import Task
from tests.browser.site import Site

BRIEF = {"effect_s": 0.15, "typing_s": 0.1, "alone_s": 0.1}
"""The waits of tests that are not about them; `patience=None` has the usual ones."""


class Driver:
    """A world and the latest look at its page."""

    def __init__(self, site: Site, **config: Any) -> None:
        self.site = site
        self.world = BrowserEnvironment(**{"noop_s": 0.05, "patience": BRIEF, **config})
        self.seen = Observation("")

    def open(self, path: str, **metadata: Any) -> Observation:
        """The page, in a fresh episode if there is none or the task says something new."""
        bound = self.seen.text and not metadata and self.world.alive()
        return self.goto(path) if bound else self.begin(path, **metadata)

    def begin(self, path: str, **metadata: Any) -> Observation:
        """A fresh episode that starts on the page."""
        task = Task(id=path, metadata={"start_url": self.site.base + path, **metadata})
        self.seen = asyncio.run(self.world.reset(task))
        return self.seen

    def goto(self, path: str) -> Observation:
        """The page, in the episode that there is."""
        return self.do(f'goto("{self.site.base}{path}")')

    def do(self, action: str) -> Observation:
        self.seen = asyncio.run(self.world.step(action))
        return self.seen

    def click(self, name: str) -> Observation:
        return self.do(f'click("{self.ref(name)}")')

    def fill(self, name: str, text: str) -> Observation:
        return self.do(f'fill("{self.ref(name)}", "{text}")')

    def ref(self, name: str) -> str:
        found = re.search(rf'\[(\d+)\] \w+ "{re.escape(name)}', self.seen.text)
        assert found, f"no {name!r} in:\n{self.seen.text[:2_000]}"
        return found[1]

    def wait_for(self, there: Callable[[Observation], bool]) -> Observation:
        """The first look for which it holds; a busy machine takes more of them."""
        for _ in range(40):
            if there(self.seen):
                return self.seen
            self.do("noop()")
        raise AssertionError(f"it never came:\n{self.seen.text[:2_000]}")

    def wait_for_page(self, path: str) -> Observation:
        """The page, also when the machine is too busy to load it in time at once."""
        for _ in range(20):
            if code(self.goto(path)) is None:
                return self.seen
        raise AssertionError(f"{path} never loaded:\n{self.seen.text[:2_000]}")

    def close(self) -> None:
        asyncio.run(self.world.close())


def code(seen: Observation) -> str | None:
    """The error code of the latest action."""
    assert seen.outcome is not None
    return seen.outcome.error


def page(seen: Observation) -> Any:
    """The digests of the latest look."""
    assert seen.evidence is not None
    return seen.evidence
