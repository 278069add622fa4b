"""A child below a supervisor, which ends whatever the child starts and says what it left."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.isolation import frames
from assay.isolation.child import STANDALONE, ChildProcess
from assay.isolation.supervisor import OURS

_SUPERVISE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from assay_isolation import supervisor; sys.exit(supervisor.main())"
)
COMMAND: Final = (sys.executable, "-I", "-S", "-c", _SUPERVISE, STANDALONE)
PROBE_S = 10.0


class NotStartable(Exception):
    """The command cannot be started; the message is the kernel's reason."""


@dataclass(frozen=True, slots=True)
class SupervisedEnd:
    """How a supervised command ended."""

    exit_code: int
    """Negative for a signal."""
    because: str
    """Why the supervisor ended it; empty if it ended by itself."""
    survivors: tuple[str, ...]
    """Commands of processes that outlived it, and were killed."""


class SupervisedChild(ChildProcess):
    """A child whose frames and processes pass through a supervisor (`isolation/supervisor.py`)."""

    def __init__(self, command: Sequence[str], *, memory_bytes: int, **options: Any) -> None:
        super().__init__(COMMAND, **options)
        self.end: SupervisedEnd | None = None
        """Set when the command has ended, as far as its frames were received."""
        self._opening = {
            "command": list(command),
            "memory_bytes": memory_bytes,
            "namespace": has_namespaces(),
        }

    def open(self, deadline: float) -> None:
        """Start the supervisor, and tell it what to run. Raises as `start` and `send` do."""
        self.end = None
        self.start()
        self.send(self._opening, deadline)

    def receive(self, deadline: float) -> dict[str, Any]:
        """The command's next frame, which has to be an object.

        Raises as the frames of every child do, `PipeClosed` where the command has ended too, and
        `NotStartable`.
        """
        frame = self.receive_bytes(deadline)
        body = memoryview(frame)[1:]
        if frame[:1] != OURS:
            return frames.decode_object(body.tobytes())
        report = frames.decode_object(body.tobytes())
        if "unstartable" in report:
            raise NotStartable(report["unstartable"])
        self.end = SupervisedEnd(report["ended"], report["because"], tuple(report["survivors"]))
        raise frames.PipeClosed("the process ended without an answer")


@lru_cache(maxsize=1)
def has_namespaces() -> bool:
    """Whether a child can be given a process namespace of its own on this machine."""
    with suppress(OSError, subprocess.TimeoutExpired):
        probe = subprocess.run(
            [*COMMAND, "--probe"], capture_output=True, timeout=PROBE_S, check=False
        )
        return probe.returncode == 0
    return False


def is_supervisor(command: str) -> bool:
    """Whether a process that was listed is a supervisor."""
    return _SUPERVISE in command
