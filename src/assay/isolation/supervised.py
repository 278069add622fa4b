"""Run a child process under a supervisor, which ends and reports leftover processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

from assay.isolation import frames
from assay.isolation.child import STANDALONE, ChildProcess

_SUPERVISE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from assay_isolation import supervisor; sys.exit(supervisor.main())"
)
COMMAND: Final = (sys.executable, "-I", "-S", "-c", _SUPERVISE, STANDALONE)
PROBE_S = 10.0
REPORT_S = 5.0
"""For a supervisor to end what is left, and report."""
REPORT_BYTES = 1 << 20


class SupervisorReport(NamedTuple):
    """How a supervised child ended, as its supervisor reports it."""

    ended: int | None = None
    """Its exit code, negative for a signal; `None` where it was not started."""
    because: str = ""
    """Why the supervisor ended it; empty if it ended by itself."""
    survivors: Sequence[str] = ()
    """Commands of processes that outlived it, and were killed."""
    unstartable: str = ""
    """Why it could not be started."""


class SupervisedChild(ChildProcess):
    """A child process whose command runs under a supervisor (`isolation/supervisor.py`)."""

    def __init__(self, command: Sequence[str], *, memory_bytes: int, **options: Any) -> None:
        super().__init__(COMMAND, **options)
        self._opening = {"command": list(command), "memory_bytes": memory_bytes}
        self._close_report: weakref.finalize[..., SupervisedChild] | None = None
        self._report_fd = -1

    def open(self, deadline: float) -> None:
        """Start the supervisor and send it the command; raise as `start` and `send` do."""
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - until `close`
        self._close_report = weakref.finalize(self, file.close)
        self._report_fd = file.fileno()
        self._launch = self._launch._replace(inherit=(self._report_fd,))
        self.start()
        opening = {"namespace": has_namespaces(), "report": self._report_fd}
        self.send({**self._opening, **opening}, deadline)

    def report(self, timeout_s: float = REPORT_S) -> SupervisorReport | None:
        """Wait for the report of how the command ended; `None` if there is no report."""
        if self.wait(timeout_s) is None:
            return None
        with suppress(frames.BadFrame):
            body = os.pread(self._report_fd, REPORT_BYTES, 0)
            return SupervisorReport(**frames.decode_object(body))
        return None

    def close(self) -> None:
        super().close()
        if self._close_report is not None:
            self._close_report()


@lru_cache(maxsize=1)
def has_namespaces() -> bool:
    """Whether this machine can give a child process its own process namespace."""
    with suppress(OSError, subprocess.TimeoutExpired):
        command = [*COMMAND, "--probe"]
        probe = subprocess.run(command, capture_output=True, timeout=PROBE_S, check=False)
        return probe.returncode == 0
    return False


def is_supervisor(command: str) -> bool:
    return _SUPERVISE in command
