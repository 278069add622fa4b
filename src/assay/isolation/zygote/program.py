"""Process of one program: it drops its rights, then runs the program's code.

From `confine` on everything here is in the hands of that code. It gains nothing by it: its frames
are read as hostile, and no expected value comes here.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import resource
import signal
import sys
import types
from typing import Any, NoReturn

from .. import frames, kernel, values
from . import filters, view

MODULE = "program"
BAD_SOURCE, RAISED = 2, 1
OPEN_FILES = 128
STACK_BYTES = 64 * 1024 * 1024


def empty_environment() -> None:
    """Replace the environment variables by a minimal set for all programs."""
    path = os.environ["PATH"]
    os.environ.clear()
    os.environ.update(
        PATH=path, HOME=view.TMP, TMPDIR=view.TMP, LANG="C.UTF-8", OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0",
    )  # fmt: skip


def confine(limits: dict[str, Any], *, folder: str, isolated: bool, channel: int | None) -> None:
    """Limit this process permanently; keep only descriptors 0 to 2 and the channel."""
    # Not a session of its own, which would be a stranger to the scheduler each time.
    os.setpgid(0, 0)
    kernel.set_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
    kernel.close_all_but(channel)
    if not isolated:
        os.environ.update(HOME=folder, TMPDIR=folder)
    os.umask(0o077)
    os.chdir(folder)
    megabyte = 1024 * 1024
    kernel.limit(resource.RLIMIT_CORE, 0)
    kernel.limit(resource.RLIMIT_DATA, limits["memory_mb"] * megabyte)
    kernel.limit(resource.RLIMIT_FSIZE, limits["disk_mb"] * megabyte)
    kernel.limit(resource.RLIMIT_CPU, int(limits["time_s"]) + 2)
    kernel.limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    kernel.limit(resource.RLIMIT_STACK, STACK_BYTES)
    kernel.limit(resource.RLIMIT_MEMLOCK, 0)
    kernel.limit(resource.RLIMIT_MSGQUEUE, 0)
    kernel.set_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
    # The guard is hidden from its children; it has to see them.
    kernel.set_option(kernel.PR_SET_DUMPABLE, 1)
    if isolated:
        # Counted in the user namespace of this run alone.
        kernel.limit(resource.RLIMIT_NPROC, limits["processes"])
        kernel.drop_capabilities()
        with contextlib.suppress(OSError):
            filters.restrict_files(folder)
        with contextlib.suppress(OSError):
            filters.deny_system_calls()


def run_main(source: str) -> NoReturn:
    """Run Python source as the `__main__` program with its own streams, then exit."""
    sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115 - the process's own
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    module = _module("__main__")
    code = RAISED
    try:
        exec(compile(source, "<program>", "exec", dont_inherit=True), vars(module))  # noqa: S102 - what this process is for
        code = 0
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:  # noqa: BLE001 - a program's failure is its exit code
        with contextlib.suppress(Exception):
            sys.stderr.write(f"{type(error).__name__}: {error!s:.1000}\n")
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    os._exit(code)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else RAISED


def run_command(command: list[str]) -> NoReturn:
    """Replace this process by a command; exit with 127 if it cannot start."""
    with contextlib.suppress(OSError):
        os.execvp(command[0], command)  # noqa: S606 - no shell
    os._exit(127)


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module)["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - the process's own


def serve_calls(channel: int, job: dict[str, Any]) -> NoReturn:
    """Load the program, and answer calls from the job or from the channel.

    First {"ready": …}, {"uncompiled": why} or {"unloaded": why}; then for each {"args": […],
    "kwargs": {…}} one {"value": …}, {"raised": type, "text": …} or {"opaque": type}.
    """
    _silence()
    function = _load(channel, job)
    calls = job.get("calls")
    requests = iter(lambda: frames.receive(channel), None) if calls is None else calls
    for request in requests:
        arguments = values.decode(request["args"])
        keywords = values.decode(request["kwargs"])
        frames.send(channel, _answer(function, arguments, keywords, request["args"]))
    os._exit(0)


def _load(channel: int, job: dict[str, Any]) -> Any:
    try:
        code = compile(job["program"], "<program>", "exec", dont_inherit=True)
    except BaseException as error:  # noqa: BLE001 - whatever the compiler raises, the text is no program
        frames.send(channel, {"uncompiled": _describe(error)})
        os._exit(BAD_SOURCE)
    module = _module(MODULE)
    try:
        exec(code, vars(module))  # noqa: S102 - what this process is for
        function = _look_up(module, job["entry_point"])
    except BaseException as error:  # noqa: BLE001 - a program's failure is its own
        frames.send(channel, {"unloaded": _describe(error)})
        os._exit(RAISED)
    frames.send(channel, {"ready": True})
    return function


def _look_up(module: types.ModuleType, name: str) -> Any:
    """Find a function by name: plain, a method of `Solution`, or `Class().method`."""
    if "." in name:
        owner, _, method = name.rpartition(".")
        holder = getattr(module, owner.removesuffix("()"))
        return getattr(holder() if owner.endswith("()") else holder, method)
    solution: Any = getattr(module, "Solution", None)
    if not hasattr(module, name) and hasattr(solution, name):
        return getattr(solution(), name)
    return getattr(module, name)


def _answer(function: Any, arguments: Any, keywords: Any, before: Any) -> dict[str, Any]:
    try:
        result = function(*arguments, **keywords)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        os._exit(RAISED)
    except BaseException as error:  # noqa: BLE001 - a program's failure is its own
        return {"raised": type(error).__name__, "text": f"{error!s:.300}"}
    try:
        answer = {"value": values.encode(result)}
    except values.NotPlain as error:
        return {"opaque": str(error)}
    with contextlib.suppress(values.NotPlain):
        after = values.encode(arguments)
        if after != before:
            answer["args"] = after
    return answer


def serve_tests(channel: int, job: dict[str, Any]) -> NoReturn:
    """Run test code that calls the program's function remotely, and report the outcome.

    Sends {"call": …} for each call, and at the end {"passed": true}, {"failed": why}, or
    {"unjudged": why} if an argument cannot cross. If the program ends, no answer comes.
    """
    _silence()
    tests = _RemoteTests(channel, job)
    try:
        tests.run()
        verdict: dict[str, Any] = {"passed": True}
    except _ArgumentStays as error:
        verdict = {"unjudged": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever a test raises, it did not pass
        verdict = {"failed": _describe(error)}
    frames.send(channel, verdict)
    os._exit(0)


class _ArgumentStays(BaseException):
    """A test passes an argument that cannot be sent to the program."""


class _RemoteTests:
    def __init__(self, channel: int, job: dict[str, Any]) -> None:
        self._channel = channel
        self._code: str = job["code"]
        self._entry_point: str = job["entry_point"]
        self._checks: list[Any] = job.get("checks", [])

    def run(self) -> None:
        """Run all tests; return without an error if every test passes."""
        module = _module("tests")
        name = self._entry_point.rpartition(".")[2]
        scope = vars(module)
        scope.update({"candidate": self.call, name: self.call})
        exec(compile(self._code, "<tests>", "exec", dont_inherit=True), scope)  # noqa: S102 - the data set's own
        # A stub of the function, as a prompt has it, must not stand in for the program.
        scope[name] = self.call
        check = scope.get("check")
        if callable(check):
            check(self.call)

    def call(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the program's function; return its result or raise its exception."""
        try:
            request = {"args": values.encode(list(arguments)), "kwargs": values.encode(keywords)}
        except values.NotPlain as error:
            raise _ArgumentStays(f"an argument of type {error}") from None
        frames.send(self._channel, {"call": request})
        answer = frames.receive(self._channel)
        if "raised" in answer:
            raise _exception(answer["raised"], answer["text"])
        if "opaque" in answer:
            raise TypeError(f"the program returned {answer['opaque']}, which is not plain data")
        if "args" in answer:
            _write_back(arguments, values.decode(answer["args"]))
        return values.decode(answer["value"])


def _write_back(arguments: tuple[Any, ...], changed: Any) -> None:
    """Copy the program's changes of lists, maps and sets to the caller's arguments."""
    for mine, theirs in zip(arguments, changed, strict=False):
        if type(mine) is not type(theirs):
            continue
        if isinstance(mine, (list, bytearray)):
            mine[:] = theirs
        elif isinstance(mine, (dict, set)):
            mine.clear()
            mine.update(theirs)


def _exception(name: str, text: str) -> Exception:
    """Rebuild an exception that the program raised, from its type name and its text.

    One that ends an iteration is another error, as in a generator: it would end the tests' own.
    """
    kind = getattr(builtins, name, None)
    if kind in (StopIteration, StopAsyncIteration):
        return RuntimeError(f"the program raised {name}")
    if isinstance(kind, type) and issubclass(kind, Exception):
        with contextlib.suppress(Exception):
            error: Exception = kind(text)
            return error
    unknown: type[Exception] = type(name, (Exception,), {})
    return unknown(text)


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error!s:.300}"
    except Exception:  # noqa: BLE001 - its text is computed by foreign code
        return type(error).__name__


def serve_checks(channel: int, job: dict[str, Any]) -> NoReturn:
    """Run a data set's own `check(input, output, expected)` on each triple.

    First {"ready": true} or {"unjudged": why}; then for each triple {"verdict": …} or
    {"raised": why}.
    """
    _silence()
    try:
        module = _module("checker")
        exec(compile(job["code"], "<checker>", "exec", dont_inherit=True), vars(module))  # noqa: S102 - the data set's own
        check = vars(module)["check"]
    except BaseException as error:  # noqa: BLE001 - a checker that fails has not judged
        frames.send(channel, {"unjudged": _describe(error)})
        os._exit(0)
    frames.send(channel, {"ready": True})
    for triple in job["checks"]:
        try:
            report: dict[str, Any] = {"verdict": bool(check(*values.decode(triple)))}
        except BaseException as error:  # noqa: BLE001 - the scorer knows whose fault it is
            report = {"raised": _describe(error)}
        frames.send(channel, report)
    os._exit(0)
