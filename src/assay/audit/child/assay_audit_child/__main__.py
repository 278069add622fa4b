"""The child's main loop: `python -m assay_audit_child READ_FD WRITE_FD`."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from . import loading, places
from .monitoring import EventRecorder, move_clock

if TYPE_CHECKING:
    from assay.isolation import frames
else:
    from assay_isolation import frames


def serve(read_fd: int, write_fd: int) -> None:
    """Answer requests until the pipe closes or a request asks to stop."""
    opening = frames.receive(read_fd)
    recorder = EventRecorder(opening["marker"], tempfile.gettempdir())
    spec = opening["target"]
    if opening.get("shift_s"):
        move_clock(opening["shift_s"])
    try:
        target, shape = loading.load(spec)
        frames.send(write_fd, {"facts": loading.facts(target, spec.get("shape") or shape)})
    except loading.TargetNotLoadable as error:
        frames.send(write_fd, {"unloadable": str(error)})
        return

    owner = os.getpid()

    def emit(frame: dict[str, Any]) -> None:
        places.only_in(owner)
        frames.send(write_fd, frame)

    while True:
        request = frames.receive(read_fd)
        if request["op"] == "bye":
            return
        # Starting those processes is the audit's own doing.
        recorder.active = request["place"] not in ("spawn", "fork")
        places.run(places.CallDispatcher(target, request), request["place"], emit, spec)
        recorder.active = False
        emit({"end": True, "seen": recorder.take()})


def main() -> None:
    try:
        serve(*frames.inherited_pipes(sys.argv))
    except (frames.PipeClosed, KeyboardInterrupt):
        sys.exit(1)


if __name__ == "__main__":
    main()
