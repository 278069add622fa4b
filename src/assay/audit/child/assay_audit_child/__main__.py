"""The child's main loop: `python -m assay_audit_child READ_FD WRITE_FD`."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from . import loading, places, wire
from .monitoring import EventRecorder, confine


def serve(read_fd: int, write_fd: int) -> None:
    """Answer requests until the pipe closes or a request asks to stop."""
    opening = wire.receive(read_fd)
    confine(opening["limits"])
    recorder = EventRecorder(opening["marker"], tempfile.gettempdir())
    spec = opening["target"]
    try:
        target, shape = loading.load(spec)
        wire.send(write_fd, {"facts": loading.facts(target, spec.get("shape") or shape)})
    except loading.Unloadable as error:
        wire.send(write_fd, {"unloadable": str(error)})
        return

    owner = os.getpid()

    def emit(frame: dict[str, Any]) -> None:
        places.only_in(owner)
        wire.send(write_fd, frame)

    while True:
        request = wire.receive(read_fd)
        if request["op"] == "bye":
            return
        # Starting those processes is the audit's own doing.
        recorder.active = request["place"] not in ("spawn", "fork")
        places.run(places.CallDispatcher(target, request), request["place"], emit, spec)
        recorder.active = False
        emit({"end": True, "seen": recorder.take()})


def main() -> None:
    read_fd, write_fd = (int(argument) for argument in sys.argv[1:3])
    for fd in (read_fd, write_fd):
        os.set_inheritable(fd, False)  # noqa: FBT003 - the call has no keyword
    try:
        serve(read_fd, write_fd)
    except (wire.Closed, KeyboardInterrupt):
        sys.exit(1)


if __name__ == "__main__":
    main()
