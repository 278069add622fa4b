"""First process of a run's namespaces: it starts, watches and ends the program.

It runs no code of the program's. When it ends, in whatever way, the kernel kills every process of
its namespace.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from .. import frames, kernel
from . import program, view

TICK_S = 0.02
SLOW_S = 0.5
"""A program that has run for so long gives way to those that have just begun."""
NICE = 10
STDERR_BYTES = 2_000
CHUNK = 1 << 16
REAP_S = 5.0
INSIDE = (1000, 1000)
"""User and group of a program, in the user namespace of its run."""
ZYGOTE_BYTES = 12 * 1024 * 1024
"""Of it, what a fork has from the zygote, and has not taken."""

MODES = {"calls": program.serve_calls, "tests": program.serve_tests, "checks": program.serve_checks}


class RunGuard:
    """Guard one sandboxed run: start its program, enforce its limits, end its processes."""

    def __init__(
        self, control: int, channel: int | None, proc: int, folder: str, *, isolated: bool
    ) -> None:
        self._control, self._channel, self._proc = control, channel, proc
        self._folder = folder
        self._isolated = isolated
        self._own_id = os.readlink("self", dir_fd=proc)
        self._job: dict[str, Any] = frames.receive(control)
        self._limits: dict[str, Any] = self._job["limits"]
        self._deadline = 0.0
        self._is_nice = False

    @property
    def disk_bytes(self) -> int:
        """Bytes that the run may write to its folder."""
        return int(self._limits["disk_mb"]) << 20

    def run(self) -> None:
        """Run the job; the first message reports its start, the last message its end."""
        began = time.monotonic()
        self._deadline = began + self._limits["time_s"]
        frames.send(self._control, {"began": began})
        try:
            end = self._run_tests() if self._job["mode"] == "stdio" else self._run_served()
        finally:
            self._kill_all()
        frames.send(self._control, {"end": end})

    def _run_served(self) -> dict[str, Any]:
        """Run one process that communicates over its own channel."""
        channel = self._channel
        assert channel is not None
        pid = self._fork(lambda: MODES[self._job["mode"]](channel, self._job), channel)
        os.close(channel)
        cause = self._watch(pid, {})
        return {"cause": cause, "exit": self._reap(pid)}

    def _fork(self, run: Callable[[], NoReturn], channel: int | None, *streams: int) -> int:
        """Fork a confined process with the given standard streams, and return its id."""
        pid = os.fork()
        if pid:
            return pid
        try:
            # The first that the kernel ends when the machine's memory runs out.
            with contextlib.suppress(OSError):
                kernel.write("self/oom_score_adj", "1000", self._proc)
            for target, fd in enumerate(streams):
                os.dup2(fd, target)
            program.confine(
                self._limits, folder=self._folder, isolated=self._isolated, channel=channel
            )
            run()
        finally:
            os._exit(program.RAISED)

    def _run_tests(self) -> dict[str, Any]:
        """Run one process for each input, and report its output and exit code."""
        if self._job.get("file"):
            Path(self._folder, self._job["file"]).write_text(
                self._job["program"], encoding="utf-8", errors="surrogatepass"
            )
        if self._job.get("compile"):
            compiled = self._run_once(self._job["compile"], "")
            if compiled["cause"] or compiled["exit"] != 0:
                frames.send(self._control, {"uncompiled": compiled["stderr"] or compiled["cause"]})
                return {"cause": compiled["cause"], "exit": compiled["exit"]}
        for text in self._job["inputs"]:
            result = self._run_once(self._job.get("run"), text)
            frames.send(self._control, {"test": result})
            if result["cause"] in ("time", "asked"):
                return {"cause": result["cause"], "exit": None}
        return {"cause": "", "exit": 0}

    def _run_once(self, command: list[str] | None, text: str) -> dict[str, Any]:
        stdin = os.memfd_create("input")
        with open(os.dup(stdin), "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(text.encode("utf-8", "surrogatepass"))
        os.lseek(stdin, 0, os.SEEK_SET)
        out_read, out_write = os.pipe()
        error_read, error_write = os.pipe()
        if command is None:
            run = partial(program.run_main, self._job["program"])
        else:
            run = partial(program.run_command, command)
        pid = self._fork(run, None, stdin, out_write, error_write)
        for fd in (stdin, out_write, error_write):
            os.close(fd)
        output, errors = bytearray(), bytearray()
        cause = self._watch(pid, {out_read: output, error_read: errors})
        exit_code = self._reap(pid)
        self._kill_all()
        most = self._limits["output_bytes"]
        for fd, buffer in ((out_read, output), (error_read, errors)):
            _drain(fd, buffer, most)
            os.close(fd)
        return {
            "cause": cause or ("output" if len(output) > most else ""),
            "exit": exit_code,
            "stdout": output[:most].decode("utf-8", "replace"),
            "stderr": errors[-STDERR_BYTES:].decode("utf-8", "replace"),
        }

    def _watch(self, pid: int, outputs: dict[int, bytearray]) -> str:
        """Return why the process must end, as one word; empty if it ended by itself."""
        pidfd = os.pidfd_open(pid)
        poll = select.poll()
        for fd in (pidfd, self._control, *outputs):
            poll.register(fd, select.POLLIN)
        began = time.monotonic()
        next_look = began + TICK_S
        try:
            while (now := time.monotonic()) < self._deadline:
                if now >= next_look:
                    next_look = now + TICK_S
                    self._give_way(now - began)
                    if self._is_too_large():
                        return "memory"
                events = dict(poll.poll(min(self._deadline - now, TICK_S) * 1000))
                if pidfd in events:
                    return ""
                if self._control in events:
                    return "asked"
                if not self._read_outputs(poll, events.keys() & outputs.keys(), outputs):
                    return "output"
            return "time"
        finally:
            os.close(pidfd)

    def _read_outputs(
        self, poll: select.poll, ready: set[int], outputs: dict[int, bytearray]
    ) -> bool:
        """Read the process's output; return whether it is within the limit."""
        for fd in ready:
            if not _read_into(fd, outputs[fd]):
                poll.unregister(fd)
            if len(outputs[fd]) > self._limits["output_bytes"]:
                return False
        return True

    def _give_way(self, elapsed_s: float) -> None:
        if elapsed_s > SLOW_S and self._isolated and not self._is_nice:
            self._is_nice = True
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_USER, os.getuid(), NICE)

    def _is_too_large(self) -> bool:
        """Whether the processes of the run together use more memory than allowed."""
        family = list(self._family())
        most = (int(self._limits["memory_mb"]) << 20) + ZYGOTE_BYTES * len(family)
        return kernel.resident_bytes(family, self._proc) > most

    def _family(self) -> Iterator[str]:
        """Yield the machine-wide ids of all descendant processes."""
        pending = [self._own_id]
        while pending:
            children = kernel.children(pending.pop(), self._proc)
            pending += children
            yield from children

    def _kill_all(self) -> None:
        """Kill and reap every descendant of this process."""
        deadline = time.monotonic() + REAP_S
        while time.monotonic() < deadline:
            if self._isolated:
                # To the first process of a namespace, that is every other one in it.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
            else:
                for pid in list(self._family()):
                    kernel.kill(int(pid))
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.001)

    def _reap(self, pid: int) -> int | None:
        """Kill and reap a process; return its exit code, negative for a signal."""
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            return os.waitstatus_to_exitcode(status)
        return None


def _read_into(fd: int, buffer: bytearray) -> bool:
    """Read a chunk from the pipe; return False at its end."""
    chunk = os.read(fd, CHUNK)
    buffer += chunk
    return bool(chunk)


def _drain(fd: int, buffer: bytearray, most: int) -> None:
    """Read the remaining bytes of a pipe that has no writers."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        while len(buffer) <= most and _read_into(fd, buffer):
            pass


def start(
    control: int, channel: int | None, proc: int, *, folder: str, ids: tuple[int, int] | None
) -> None:
    """Guard one run in this process until the run ends.

    `ids` are the user and group that own the namespaces of which this process is the first;
    without them there are no namespaces, and `folder` is the machine's own.
    """
    kernel.set_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if ids is None:
        kernel.set_option(kernel.PR_SET_CHILD_SUBREAPER, 1)
        RunGuard(control, channel, proc, folder, isolated=False).run()
        return
    kernel.map_ids(ids, INSIDE, proc)
    guard = RunGuard(control, channel, proc, view.TMP, isolated=True)
    view.mount_tmp(guard.disk_bytes)
    kernel.set_option(kernel.PR_SET_DUMPABLE, 0)
    guard.run()
