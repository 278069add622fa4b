"""The settings of a server."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import UsageError

MiB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of a server: offered rewards, number of workers, and limits."""

    rewards: tuple[str, ...] = ()
    """Names; none means every registered reward that needs no live environment."""
    imports: tuple[str, ...] = ()
    """Modules that register rewards, imported here and in every worker process."""
    default_reward: str | None = None
    """The reward of a trainer's request that names none."""
    root: str = field(default_factory=os.getcwd)
    """The folder of the files that rows may name, such as databases; no row gets out of it."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    max_rows: int = 4096
    """Rows of one request; a stream of NDJSON may have any number."""
    max_body_bytes: int = 8 * MiB
    """Of a JSON request, and of one line of a stream."""
    max_stream_bytes: int = 4096 * MiB
    queue_rows: int = 16_384
    """Rows accepted and not finished; beyond it requests are answered with 429."""
    deadline_s: float = 60.0
    """For one request, waiting included, and for one chunk of a stream."""
    chunk_rows: int = 64
    """Rows sent to a worker process at a time."""

    worker_memory_bytes: int = 4096 * MiB
    """Of one worker with what it started: a reward that takes more abstains; 0 is no limit."""
    max_held_bytes: int = 256 * MiB
    """Of all requests whose bodies have arrived and that are not answered; beyond it, 503."""
    max_requests: int = 1024
    """Requests at a time, whatever they hold; beyond it, 503."""

    def __post_init__(self) -> None:
        if not Path(self.root).is_dir():
            raise UsageError(f"root={self.root!r}: this folder does not exist")
        bodies = ("max_body_bytes", "max_stream_bytes", "max_requests")
        for name in ("workers", "max_rows", *bodies, "chunk_rows"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)!r} must be at least 1")
        if not 0.05 <= self.deadline_s <= 86_400:
            raise UsageError(
                f"deadline_s={self.deadline_s!r} must be between 0.05 and 86400 seconds"
            )
        if self.max_held_bytes < self.max_body_bytes:
            least = f"must be at least max_body_bytes={self.max_body_bytes}"
            raise UsageError(f"max_held_bytes={self.max_held_bytes} {least}")
        if self.queue_rows < max(self.max_rows, self.chunk_rows):
            least = f"max_rows={self.max_rows} and chunk_rows={self.chunk_rows}"
            raise UsageError(f"queue_rows={self.queue_rows} must be at least {least}")
