"""The process table, and workers that end with the process that started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest

from assay.isolation.kernel import is_alive
from assay.isolation.processes import kill_family, list_family

PARENT = """
import os, re, signal, sys, time
from assay.isolation.processes import worker_pool

def processor_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")

def main():
    pool = worker_pool(1)
    pid = pool.submit(os.getpid).result()
    print(pid, flush=True)
    if sys.argv[1] == "busy":
        # Inside the regular expression no other thread of the worker gets a turn.
        spent_s = processor_s(pid)
        pool.submit(re.match, "(a+)+$", "a" * 60 + "b")
        while processor_s(pid) < spent_s + 0.2:
            time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("work", ["idle", "busy"])
def test_a_worker_ends_when_its_parent_is_killed_whatever_it_is_doing(work: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, work], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    try:
        handle = os.pidfd_open(int(done.stdout))
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 60)[0]
    finally:
        os.close(handle)


def test_a_family_is_listed_and_killed_across_sessions() -> None:
    shell = ["sh", "-c", "setsid sleep 600 & echo $!; sleep 601"]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, text=True) as root:
        assert root.stdout is not None
        pid = int(root.stdout.readline())
        assert pid in {process.pid for process in list_family(root=root.pid)}
        kill_family(root.pid)
    assert list_family(root=root.pid) == ()
    assert not is_alive(root.pid)


def test_killing_a_family_that_is_gone_does_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    kill_family(process.pid)
