"""The sandbox keeps a program away from everything, where the machine can; and ends all of it."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.isolation.kernel import is_alive
from assay.isolation.processes import list_family
from assay.isolation.sandbox import NoSandbox, RunEnd, SandboxLimits, SandboxRun, shared_sandbox

LIMITS = SandboxLimits(time_s=5.0)


def missing() -> str:
    """Why programs cannot be isolated on this machine; empty where they can."""
    try:
        shared_sandbox().check()
    except NoSandbox as error:
        return str(error)
    return ""


isolated = pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")


def stdout_of(program: str, *, limits: SandboxLimits = LIMITS, isolation: Any = "full") -> str:
    job = {"mode": "stdio", "program": program, "inputs": [""]}
    with shared_sandbox(isolation).start(job, limits=limits, channel=False) as run:
        result = run.report()["test"]
    return result["stdout"] or f"{result['cause']} {result['stderr']}".strip()


def test_check_sandbox_names_every_layer(capsys: pytest.CaptureFixture[str]) -> None:
    code: Any = main(["check", "sandbox", "--json"])
    record = json.loads(capsys.readouterr().out)
    assert code == (0 if record["isolates"] else 1)
    assert {"process namespace", "network namespace", "mount namespace", "limits"} <= {
        layer["name"] for layer in record["layers"] if layer["required"]
    }


def test_a_process_with_limits_alone_says_so() -> None:
    layers = shared_sandbox("process").layers()
    assert not next(layer for layer in layers if layer.name == "process namespace").holds
    assert stdout_of("print(1)", isolation="process") == "1\n"


def test_what_came_in_time_counts_also_where_it_is_read_late() -> None:
    job = {"mode": "stdio", "program": "print(1)", "inputs": [""]}
    limits = SandboxLimits(time_s=0.5)
    with shared_sandbox("process").start(job, limits=limits, channel=False) as run:
        time.sleep(1.2)
        assert run.report()["test"]["stdout"] == "1\n"
    assert run.end() == RunEnd("", 0)


def test_a_shared_sandbox_ends_with_its_process_and_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "from assay.isolation.sandbox import shared_sandbox\n"
        "shared_sandbox('process').layers()\n"
        "print(shared_sandbox('process').pid)"
    )
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stderr == ""
    assert list(tmp_path.iterdir()) == []
    assert not is_alive(int(ended.stdout))


SEEN = {
    "no process but its own": ("import os; print(os.getpid() < 10, os.getppid())", "True 1\n"),
    "an empty environment": ("import os; print('HOME' in os.environ, len(os.environ))", "True 7\n"),
    "no home, no proc": (
        "import os; print(os.path.exists('/proc/1'), os.path.exists('/home'))", "False False\n"
    ),
    "no descriptor but its own": (
        ("import os\ndef is_open(fd):\n    try: os.fstat(fd); return True\n"
        "    except OSError: return False\nprint([fd for fd in range(100) if is_open(fd)])"),
        "[0, 1, 2]\n",
    ),
    "read-only libraries": (
        "import os\ntry: open(os.__file__, 'a')\nexcept OSError as e: print(type(e).__name__)",
        None,
    ),
    "a /tmp that is empty": ("import os; print(os.listdir('/tmp'), os.getcwd())", "[] /tmp\n"),
    "no network": (
        ("import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\n"
        "    print('connected')\nexcept OSError as e: print('refused')"),
        "refused\n",
    ),
    "a user without rights": ("import os; print(os.getuid(), os.geteuid())", "1000 1000\n"),
}  # fmt: skip


@isolated
@pytest.mark.parametrize("what", SEEN)
def test_a_program_sees(what: str) -> None:
    program, expected = SEEN[what]
    output = stdout_of(program)
    assert output == expected if expected else output in ("OSError\n", "PermissionError\n")


@isolated
def test_disk_processes_and_memory_are_limited() -> None:
    filling = "f = open('/tmp/x', 'wb')\nfor _ in range(100): f.write(bytes(10**6)); f.flush()"
    assert "OSError" in stdout_of(filling, limits=SandboxLimits(disk_mb=8))
    many = "import os\nfor _ in range(200):\n    if os.fork() == 0: os.pause()"
    assert "BlockingIOError" in stdout_of(many) or "AttributeError" in stdout_of(many)
    spread = (
        "import os, time\nfor _ in range(8):\n"
        "    if os.fork() == 0:\n        x = bytearray(60 << 20)\n        time.sleep(9)\n"
        "time.sleep(9)"
    )
    assert stdout_of(spread, limits=SandboxLimits(memory_mb=200)) == "memory"


@isolated
def test_what_a_program_leaves_behind_is_gone_with_its_run() -> None:
    daemon = (
        "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        sys.stdout.flush()\n        time.sleep(60)\n    os._exit(0)\n"
        "time.sleep(0.1)\nprint('left')"
    )
    assert stdout_of(daemon) == "left\n"
    assert [one for one in list_family(root=os.getpid()) if "sleep" in one.command] == []
    zygote = next(
        one.pid for one in list_family(root=os.getpid()) if "assay_isolation.zygote" in one.command
    )
    below = [one for one in list_family(root=zygote) if one.pid != zygote]
    deadline = time.monotonic() + 2
    while below and time.monotonic() < deadline:
        below = [one for one in list_family(root=zygote) if one.pid != zygote]
    assert below == []


def test_a_zygote_that_died_is_started_again() -> None:
    sandbox = shared_sandbox("process")
    sandbox.check()
    first = sandbox.pid
    assert first is not None
    os.kill(first, 9)
    while is_alive(first):
        time.sleep(0.005)
    assert stdout_of("print(2)", isolation="process") == "2\n"
    assert sandbox.pid != first


def test_many_threads_have_runs_at_a_time_and_none_waits_for_a_slow_one() -> None:
    slow: SandboxRun = shared_sandbox("process").start(
        {"mode": "stdio", "program": "while True: pass", "inputs": [""]},
        limits=LIMITS,
        channel=False,
    )
    outputs: list[str] = []
    threads = [
        threading.Thread(
            target=lambda n=n: outputs.append(stdout_of(f"print({n})", isolation="process"))
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == [f"{n}\n" for n in range(8)]
    assert slow.end().cause == "asked"
    slow.close()


@isolated
def test_memory_that_processes_share_counts() -> None:
    shared = (
        "import mmap, time\nfor _ in range(6):\n    m = mmap.mmap(-1, 64 << 20)\n"
        "    for place in range(0, 64 << 20, 4096): m[place] = 1\n    globals()[f'm{_}'] = m\n"
        "time.sleep(9)"
    )
    assert stdout_of(shared, limits=SandboxLimits(memory_mb=200)) == "memory"


@isolated
def test_memory_that_no_limit_counts_is_refused() -> None:
    assert "PermissionError" in stdout_of("import os; os.memfd_create('x')") or not next(
        layer.holds for layer in shared_sandbox().layers() if layer.name == "seccomp"
    )
