"""The one bounded child process: deadlines, limits, and that nothing of it is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.isolation import frames, kernel, processes
from assay.isolation.child import LOG_BYTES, STANDALONE, ChildProcess
from tests.ended import has_ended

SERVANT = """
import os, subprocess, sys, time
from assay.isolation import frames

read_fd, write_fd = frames.inherited_pipes(sys.argv)

def sleeper(**options):
    return subprocess.Popen(["sleep", "600"], **options).pid

def orphan():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    os.wait()
    return int(os.read(reading, 20))

def hang_inside_c():
    import re
    re.match("(a+)+$", "a" * 60 + "b")

def flood():
    for _ in range(3_000):
        os.write(2, b"x" * 10_000)
    os.write(2, b"the last line")
    return "done"

def fill_pipe():
    while True:
        frames.send(write_fd, "x" * 100_000)

try:
    while True:
        request = frames.receive(read_fd)
        if "raw" in request:
            os.write(write_fd, bytes.fromhex(request["raw"]))
        else:
            frames.send(write_fd, eval(request["eval"]))
except frames.PipeClosed:
    pass
"""


@pytest.fixture
def open_child() -> Iterator[Callable[..., ChildProcess]]:
    children = []

    def build(**options: Any) -> ChildProcess:
        child = ChildProcess([sys.executable, "-c", SERVANT], environment=os.environ, **options)
        children.append(child)
        child.start()
        return child

    yield build
    for child in children:
        child.close()


@pytest.fixture
def child(open_child: Callable[..., ChildProcess]) -> ChildProcess:
    return open_child()


def run(child: ChildProcess, code: str, timeout_s: float = 60.0) -> Any:
    return child.ask({"eval": code}, timeout_s=timeout_s)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("module", ["frames", "kernel", "supervisor", "values", "zygote.program"])
def test_what_children_import_without_the_package_needs_the_standard_library_alone(
    module: str,
) -> None:
    code = (
        f"import sys; sys.path.insert(0, {STANDALONE!r}); import assay_isolation.{module}; "
        "sys.exit('assay' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_request_is_answered_and_the_process_is_kept(child: ChildProcess) -> None:
    assert run(child, "1 + 1") == 2
    assert run(child, "'\\ud800' * 3") == "\ud800" * 3
    assert run(child, "os.getpid()") == child.pid


def test_a_large_frame_passes_both_ways(child: ChildProcess) -> None:
    text = "x" * 3_000_000
    assert run(child, f"len({text!r})") == 3_000_000
    assert run(child, "'y' * 3_000_000") == "y" * 3_000_000


def test_it_has_a_session_an_environment_a_folder_and_no_input_of_its_own(
    open_child: Callable[..., ChildProcess], tmp_path: Path
) -> None:
    child = open_child(folder=tmp_path)
    assert run(child, "os.getsid(0)") == child.pid
    assert run(child, "os.getcwd()") == str(tmp_path)
    assert run(child, "sys.stdin.read()") == ""
    assert run(child, "print('not a frame') or 1") == 1
    assert run(child, f"os.environ[{processes.MARKS!r}]").endswith(child.mark)


def test_a_mark_does_not_hide_that_of_an_outer_child(
    open_child: Callable[..., ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(processes.MARKS, "outer")
    child = open_child()
    assert run(child, f"os.environ[{processes.MARKS!r}]") == f"outer:{child.mark}"
    assert [process.pid for process in processes.list_family(mark="outer")] == [child.pid]


@pytest.mark.parametrize("code", ["time.sleep(600)", "hang_inside_c()"])
def test_a_deadline_is_kept_and_the_child_can_be_started_again(
    child: ChildProcess, code: str
) -> None:
    pid = child.pid
    assert pid is not None
    with pytest.raises(TimeoutError):
        run(child, code, 0.2)
    child.close()
    assert not Path(f"/proc/{pid}").exists()
    child.start()
    assert run(child, "1") == 1


@pytest.mark.parametrize("options", ["", ", env={}"])
def test_a_process_that_calls_itself_a_tracker_is_counted_and_killed(
    child: ChildProcess, options: str
) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(600)", kernel.TRACKER]
    pid = run(child, f"subprocess.Popen({words}, start_new_session=True{options}).pid")
    assert pid in {process.pid for process in child.family()}
    child.close()
    assert has_ended(pid)


def test_a_child_that_does_not_read_is_not_waited_for(child: ChildProcess) -> None:
    deadline = time.monotonic() + 0.5
    child.send({"eval": "time.sleep(600)"}, deadline)
    with pytest.raises(TimeoutError):
        child.send({"eval": "x" * 1_000_000}, deadline)


def test_the_whole_family_is_killed(child: ChildProcess) -> None:
    pids = [
        run(child, "sleeper()"),
        run(child, "sleeper(process_group=0)"),
        run(child, "sleeper(start_new_session=True)"),
        run(child, "sleeper(env={}, start_new_session=True)"),
        run(child, "orphan()"),
    ]
    assert {process.pid for process in child.family()} == {child.pid, *pids}
    child.close()
    assert all(map(has_ended, pids))
    assert child.family() == ()


def test_what_a_child_that_ended_by_itself_left_running_is_killed(child: ChildProcess) -> None:
    pids = [
        run(child, "sleeper(env={})"),
        run(child, "sleeper(start_new_session=True)"),
        run(child, "orphan()"),
    ]
    with pytest.raises(frames.PipeClosed):
        run(child, "os._exit(7)")
    assert child.wait(10) == 7
    assert not child.is_running()
    child.close()
    assert all(map(has_ended, pids))


def test_kill_ends_a_wait_in_another_thread(child: ChildProcess) -> None:
    raised = []

    def wait() -> None:
        try:
            run(child, "time.sleep(600)", 600)
        except frames.PipeClosed as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    child.kill()
    thread.join(60)
    assert len(raised) == 1


def test_memory_is_limited_for_the_child_and_what_it_starts(
    open_child: Callable[..., ChildProcess],
) -> None:
    child = open_child(limits={resource.RLIMIT_AS: 500 * 1024 * 1024})
    refused = "subprocess.call([sys.executable, '-c', 'bytearray(10**9)'], stderr=-3)"
    assert run(child, refused) == 1
    assert run(child, "len(bytearray(10**7))") == 10**7
    with pytest.raises(frames.PipeClosed):
        run(child, "len(bytearray(10**9))")
    assert "MemoryError" in child.stderr_tail()


def test_a_limit_above_the_one_that_holds_is_no_error(
    open_child: Callable[..., ChildProcess],
) -> None:
    child = open_child(limits={resource.RLIMIT_NOFILE: 10**9})
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert run(child, "__import__('resource').getrlimit(7)") == [min(hard, 10**9)] * 2


def test_a_flood_of_errors_is_bounded_and_its_end_is_kept(child: ChildProcess) -> None:
    assert run(child, "flood()") == "done"
    assert child.stderr_tail().endswith("the last line")
    with pytest.raises(TimeoutError):
        child.receive(time.monotonic() + 0.3)
    assert child._process is not None
    assert os.fstat(child._process._log.fileno()).st_size < LOG_BYTES


def test_a_flood_of_frames_waits_for_its_reader_and_ends_with_the_child(
    child: ChildProcess,
) -> None:
    assert run(child, "fill_pipe()") == "x" * 100_000
    child.close()
    assert child.family() == ()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\xff\xff\xff\xff", "a length beyond the limit"),
        (b"\x00\x00\x00\x03{x}", "not JSON"),
        (b"\x00\x00\x00\x02\xff\xfe", "not UTF-8"),
        (b"\x00\x03\x0d\x40" + b"[" * 200_000, "nested without end"),
    ],
)
def test_a_malformed_frame_is_an_error_of_its_own(
    child: ChildProcess, raw: bytes, why: str
) -> None:
    with pytest.raises(frames.BadFrame):
        child.ask({"raw": raw.hex()}, timeout_s=60)
    assert child.is_running(), why


def test_half_a_frame_is_no_frame(child: ChildProcess) -> None:
    with pytest.raises(TimeoutError):
        child.ask({"raw": b"\x00\x00\x00\x09{".hex()}, timeout_s=0.3)


def test_a_frame_longer_than_the_caller_allows_is_refused(
    open_child: Callable[..., ChildProcess],
) -> None:
    child = open_child(longest_frame=1_000)
    with pytest.raises(frames.BadFrame, match="1000 are allowed"):
        run(child, "'x' * 2_000")


def test_a_command_that_cannot_be_started_leaves_nothing_open() -> None:
    before = open_files()
    child = ChildProcess(["/no/such/program"], environment={})
    with pytest.raises(FileNotFoundError):
        child.start()
    with pytest.raises(frames.PipeClosed):
        child.ask(1, timeout_s=1)
    child.close()
    assert open_files() == before


def test_closing_leaves_no_descriptor_and_may_be_repeated() -> None:
    before = open_files()
    child = ChildProcess([sys.executable, "-c", SERVANT], environment=os.environ)
    for _ in range(2):
        child.start()
        assert run(child, "1") == 1
        child.close()
        child.close()
    assert open_files() == before


PARENT = f"""
import os, signal, sys
from assay.isolation.child import ChildProcess

child = ChildProcess([sys.executable, "-c", {SERVANT!r}], environment=os.environ)
child.start()
started = child.ask({{"eval": "sleeper()"}}, timeout_s=60)
print(child.pid, started, flush=True)
child.send({{"eval": sys.argv[2]}}, 10**9)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
elif sys.argv[1] == "exited":
    os._exit(0)
"""


@pytest.mark.parametrize("busy", ["time.sleep(600)", "hang_inside_c()"])
@pytest.mark.parametrize("ending", ["killed", "exited", "returned"])
def test_it_ends_with_its_parent_however_that_ends(ending: str, busy: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, ending, busy], capture_output=True, text=True, check=False
    )
    assert done.returncode == (-signal.SIGKILL if ending == "killed" else 0), done.stderr
    assert [has_ended(int(pid)) for pid in done.stdout.split()] == [True, True]


FORK = f"""
import os, sys, threading
from assay.isolation.child import ChildProcess

child = ChildProcess([sys.executable, "-c", {SERVANT!r}], environment=os.environ)
child.start()
mine = child.pid
entered = threading.Event()

def hold():
    with child.lock:
        entered.set()
        threading.Event().wait(600)

threading.Thread(target=hold, daemon=True).start()
entered.wait()
fork = os.fork()
if fork == 0:
    assert child.pid is None and not child.is_running()
    child.start()
    assert child.ask({{"eval": "os.getpid()"}}, timeout_s=60) == child.pid != mine
    child.close()
    os._exit(0)
assert os.waitpid(fork, 0)[1] == 0
assert child.pid == mine and child.is_running()
print("ok")
"""


def test_a_forked_process_starts_its_own_and_leaves_the_parents() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr


ORPHANED_FORK = f"""
import os, signal, sys, time
from assay.isolation.child import ChildProcess

child = ChildProcess([sys.executable, "-c", {SERVANT!r}], environment=os.environ)
child.start()
assert child.ask({{"eval": "1"}}, timeout_s=60) == 1
print(child.pid, flush=True)
if os.fork() == 0:
    os.close(1)
    os.close(2)
    time.sleep(600)
print(os.getpid(), flush=True)
child.send({{"eval": "hang_inside_c()"}}, 10**9)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_forked_process_does_not_keep_the_parents_child_alive() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANED_FORK], stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.wait()
        try:
            assert has_ended(pid)
        finally:
            os.killpg(parent.pid, signal.SIGKILL)


def test_it_is_killed_when_nobody_refers_to_it() -> None:
    child = ChildProcess([sys.executable, "-c", SERVANT], environment=os.environ)
    child.start()
    pid = child.pid
    del child
    assert not Path(f"/proc/{pid}").exists()


def test_errors_written_between_quick_answers_are_bounded_too(child: ChildProcess) -> None:
    for _ in range(4):
        run(child, "os.write(2, b'x' * 9_000_000)")
    run(child, "0")
    assert run(child, "os.fstat(2).st_size") <= LOG_BYTES
