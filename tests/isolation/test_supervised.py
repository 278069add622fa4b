"""A supervised child: its supervisor reports how it ended, and what it left."""

import os
import sys
import time

import pytest

from assay.isolation.frames import PipeClosed
from assay.isolation.supervised import SupervisedChild

LEAVES = """
import os, subprocess, sys
subprocess.Popen(["sleep", "614"], start_new_session=True, env={})
body = b'{"answer": 1}'
os.write(int(sys.argv[-1]), len(body).to_bytes(4, "big") + body)
os._exit(3)
"""


def opened(*command: str) -> SupervisedChild:
    child = SupervisedChild(command, memory_bytes=1 << 30, environment=os.environ)
    child.open(time.monotonic() + 60)
    return child


def test_a_command_that_cannot_be_started_says_why() -> None:
    child = opened("/no/such/program")
    report = child.report(60)
    child.close()
    assert report is not None
    assert (report.unstartable, report.ended) == ("No such file or directory", None)


def test_frames_come_as_they_were_sent_and_what_is_left_is_reported() -> None:
    child = opened(sys.executable, "-c", LEAVES)
    assert child.receive(time.monotonic() + 60) == {"answer": 1}
    with pytest.raises(PipeClosed):
        child.receive(time.monotonic() + 60)
    report = child.report(60)
    assert child.family() == ()
    child.close()
    assert report is not None
    assert (report.ended, list(report.survivors)) == (3, ["sleep 614"])


def test_a_command_that_still_runs_has_no_report() -> None:
    child = opened("sleep", "614")
    assert child.report(0.0) is None
    child.close()
    assert child.family() == ()
