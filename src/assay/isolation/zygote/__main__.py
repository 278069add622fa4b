"""Zygote process: `python -m assay_isolation.zygote SOCKET_FD READ_FD WRITE_FD`.

It has loaded the modules that programs use, has gone where programs may go, and forks a guard for
every run that is asked for over its socket. It ends when its pipe closes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from importlib import import_module
from typing import Any

from .. import frames, kernel
from . import filters, guard, program, view

PRELOADED = """abc array ast asyncio base64 binascii bisect calendar cmath collections contextlib
    copy ctypes dataclasses datetime decimal enum fractions functools hashlib heapq io itertools
    json math numbers operator os pathlib queue random re statistics string struct subprocess sys
    tempfile textwrap threading time traceback types typing unicodedata uuid zlib""".split()
NOBODY = 65534
SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
RUN_SPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC
LAUNCH_BYTES = 256


class Zygote:
    """The process that forks sandboxed runs; it first isolates itself from the machine."""

    def __init__(self, opening: dict[str, Any]) -> None:
        self.proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        self.folder: str = opening["folder"]
        self.ids: tuple[int, int] | None = None
        self.layers: dict[str, str] = {}
        """By the name of what does not hold, why."""
        if opening["isolated"]:
            self._enter(opening["shown"])

    def _enter(self, shown: list[str]) -> None:
        """Leave the machine's network, IPC and files; record the first step that fails.

        A superuser becomes the user `nobody` after it.
        """
        steps = (
            ("namespaces", self._unshare),
            ("files", lambda: view.enter_view(self.folder, shown)),
            ("user", self._become_nobody),
        )
        for name, step in steps:
            try:
                step()
            except OSError as error:
                self.layers[name] = f"{error.strerror or error}"
                return
        self.ids = (os.geteuid(), os.getegid())
        kernel.set_option(kernel.PR_SET_DUMPABLE, 1)
        self._try_run()

    def _unshare(self) -> None:
        uid, gid = os.geteuid(), os.getegid()
        if uid == 0:
            with contextlib.suppress(OSError):
                kernel.unshare(SPACES)
                return
        kernel.unshare(kernel.CLONE_NEWUSER | SPACES)
        kernel.map_ids((uid, gid), (uid, gid), self.proc)

    def _become_nobody(self) -> None:
        if os.geteuid() != 0:
            return
        with contextlib.suppress(PermissionError):
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)

    def _try_run(self) -> None:
        """Test whether a run gets its own namespaces, and which other layers work."""
        read, write = os.pipe()
        try:
            pid = kernel.clone(RUN_SPACES)
        except OSError as error:
            self.layers["namespaces"] = f"{error.strerror or error}"
            self.ids = None
            return
        if pid == 0:
            try:
                frames.send(write, self._probe())
            finally:
                os._exit(0)
        os.close(write)
        try:
            failures: dict[str, str] = frames.receive(read)
        except frames.PipeClosed:
            failures = {"namespaces": "the first process of a namespace died"}
        os.close(read)
        os.waitpid(pid, 0)
        self.layers |= failures
        if "namespaces" in failures:
            self.ids = None

    def _probe(self) -> dict[str, str]:
        assert self.ids is not None
        failures: dict[str, str] = {}
        try:
            kernel.map_ids(self.ids, guard.INSIDE, self.proc)
            view.mount_tmp(1 << 20)
        except OSError as error:
            return {"namespaces": f"{error.strerror or error}"}
        if os.getpid() != 1:
            return {"namespaces": "it is not the first process of its own"}
        kernel.set_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
        for name, step in (
            ("capabilities", kernel.drop_capabilities),
            ("landlock", lambda: filters.restrict_files(view.TMP)),
            ("seccomp", filters.deny_system_calls),
        ):
            try:
                if step() is False:
                    failures[name] = "the kernel has none"
            except OSError as error:
                failures[name] = f"{error.strerror or error}"
        return failures

    def launch(self, fds: list[int]) -> None:
        """Fork a guard process that takes over the descriptors of one run."""
        control, channel = fds[0], (fds[1] if len(fds) > 1 else None)
        try:
            pid = kernel.clone(RUN_SPACES) if self.ids is not None else os.fork()
        except OSError:
            return
        if pid == 0:
            self._guard(control, channel)

    def _guard(self, control: int, channel: int | None) -> None:
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            kernel.close_all_but(control, self.proc, channel)
            folder = view.TMP if self.ids else tempfile.mkdtemp(dir=self.folder)
            try:
                guard.start(control, channel, self.proc, folder=folder, ids=self.ids)
            finally:
                if self.ids is None:
                    shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(0)


def serve(zygote: Zygote, launches: socket.socket, pipe: int) -> None:
    """Start sandboxed runs until the pipe closes."""
    # No process waits for a guard: the kernel reaps it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    poll = select.poll()
    for fd in (launches.fileno(), pipe):
        poll.register(fd, select.POLLIN)
    while True:
        events = dict(poll.poll())
        if pipe in events:
            return
        _, fds, _, _ = socket.recv_fds(launches, LAUNCH_BYTES, 4)
        if fds:
            zygote.launch(fds)
        for fd in fds:
            os.close(fd)


def main() -> None:
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    launches = socket.socket(fileno=int(sys.argv[-3]))
    launches.set_inheritable(False)
    sys.path[:] = [entry for entry in sys.path if entry != os.environ["PYTHONPATH"]]
    program.empty_environment()
    filters.prepare()
    for name in PRELOADED:
        import_module(name)
    zygote = Zygote(frames.receive(read_fd))
    isolated = zygote.ids is not None
    frames.send(write_fd, {"isolated": isolated, "missing": zygote.layers})
    gc.collect()
    gc.freeze()
    serve(zygote, launches, read_fd)


if __name__ == "__main__":
    main()
