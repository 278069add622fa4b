"""Where a server stands: starting, ready, draining."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["starting", "ready", "draining"]


class ServerState:
    """What `/readyz` tells."""

    def __init__(self) -> None:
        self._is_started: Callable[[], bool] = _not_yet
        self._draining = False

    @property
    def status(self) -> Status:
        if self._draining:
            return "draining"
        return "ready" if self._is_started() else "starting"

    def follow(self, is_started: Callable[[], bool]) -> None:
        """From now on this says whether the workers have started."""
        self._is_started = is_started

    def drain(self) -> None:
        """From now on no new requests are wanted."""
        self._draining = True


def _not_yet() -> bool:
    return False
