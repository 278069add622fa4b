"""Rewards that attack the audit which runs them, one means each; the docstring says what it tries.

Each is called with a text for its response, which some of them use, and pays 1.0 if it gets that
far. `ATTACKS` names them, with the statuses that the audit may give the call.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE_S = 4.0
"""How long an attack that would go on for ever does so, if nobody ends it."""
SLEEP = ("sleep", "613")
"""The command of every process that is left behind."""
MEGABYTE = 1024 * 1024


def _send(text: str) -> None:
    """Write a frame where the audit's own code writes its answers."""
    body = text.encode()
    os.write(int(sys.argv[-1]), len(body).to_bytes(4, "big") + body)


def forged_starts(final_response: str, answer: str) -> float:
    """Says again and again that the call has just begun."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        _send('{"start": 0}')
        time.sleep(0.1)
    return 1.0


def forged_numbers(final_response: str, answer: str) -> float:
    """Begins ever other calls."""
    for number in range(1, int(PATIENCE_S * 10)):
        _send(json.dumps({"start": number}))
        time.sleep(0.1)
    return 1.0


def forged_results(final_response: str, answer: str) -> float:
    """Answers its own call twice."""
    reply = {"status": "scored", "value": 1.0, "because": "", "parts": {}, "raw_type": "float"}
    for _ in range(2):
        _send(json.dumps({"done": 0, "reply": {**reply, "seconds": 0.0}}))
    return 1.0


def forged_frame(final_response: str, answer: str) -> float:
    """Sends the response itself as a frame."""
    _send(final_response)
    return 1.0


def forged_length(final_response: str, answer: str) -> float:
    """Announces a frame of four gigabytes."""
    os.write(int(sys.argv[-1]), b"\xff\xff\xff\xff")
    return 1.0


def closed_pipes(final_response: str, answer: str) -> float:
    """Closes every file, and stays."""
    os.closerange(0, 64)
    time.sleep(PATIENCE_S)
    return 1.0


def escaped_session(final_response: str, answer: str) -> float:
    """Starts a process in a session of its own, without the environment."""
    subprocess.Popen(SLEEP, start_new_session=True, env={"PATH": "/usr/bin:/bin"})
    return 1.0


def escaped_twice(final_response: str, answer: str) -> float:
    """Forks twice, so that the process has another parent, without the environment."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", list(SLEEP), {})
        os._exit(0)
    os.waitpid(child, 0)
    return 1.0


def escaped_and_dead(final_response: str, answer: str) -> float:
    """Leaves a process behind, and ends its own."""
    escaped_twice(final_response, answer)
    os._exit(3)


def killed_parent(final_response: str, answer: str) -> float:
    """Leaves a process behind, and kills the one that could find it."""
    escaped_twice(final_response, answer)
    os.kill(os.getppid(), signal.SIGKILL)
    return 1.0


def killed_group(final_response: str, answer: str) -> float:
    """Kills its whole process group."""
    os.killpg(0, signal.SIGKILL)
    return 1.0


def many_processes(final_response: str, answer: str) -> float:
    """Starts processes without end."""
    for _ in range(600):
        if os.fork() == 0:
            time.sleep(PATIENCE_S)
            os._exit(0)
    time.sleep(PATIENCE_S)
    return 1.0


def environment_above(final_response: str, answer: str) -> float:
    """Reads the environment of every process that it finds; pays if the response is in one."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "environ").read_bytes()
        except OSError:
            continue
        if final_response.encode() in text:
            return 1.0
    return 0.0


def environment_of_parent(final_response: str, answer: str) -> float:
    """Reads its parent's environment; pays if the response is in it."""
    text = Path(f"/proc/{os.getppid()}/environ").read_bytes()
    return float(final_response.encode() in text)


def shared_memory(final_response: str, answer: str) -> float:
    """Fills a gigabyte that is shared with nobody."""
    block = mmap.mmap(-1, 1024 * MEGABYTE)
    for _ in range(16):
        block.write(b"\1" * (64 * MEGABYTE))
    time.sleep(PATIENCE_S / 4)
    return 1.0


def memory_of_many(final_response: str, answer: str) -> float:
    """Takes a gigabyte, an eighth of it in each of eight processes."""
    for _ in range(8):
        if os.fork() == 0:
            block = bytearray(os.urandom(MEGABYTE) * 128)
            time.sleep(PATIENCE_S)
            os._exit(len(block) and 0)
    time.sleep(PATIENCE_S)
    return 1.0


def output_without_end(final_response: str, answer: str) -> float:
    """Sends answers that nobody asked for, as fast as it can."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        _send('{"start": 0}' + " " * 60_000)
    return 1.0


LOST = ("crashed", "timeout")
ATTACKS: dict[str, tuple[str, ...]] = {
    "forged_starts": LOST,
    "forged_numbers": LOST,
    "forged_results": LOST,
    "forged_length": LOST,
    "closed_pipes": LOST,
    "output_without_end": LOST,
    "escaped_session": ("scored",),
    "escaped_twice": ("scored",),
    "escaped_and_dead": LOST,
    "killed_parent": (*LOST, "scored"),
    "killed_group": LOST,
    "many_processes": LOST,
    "shared_memory": LOST,
    "memory_of_many": LOST,
}
REPORTED = ("escaped_session", "escaped_twice", "escaped_and_dead")
"""Those of which the audit names the process that they left."""
FRAMES = (
    "5",
    "null",
    "[]",
    '"start"',
    "{}",
    '{"1}',
    "\xff",
    "[" * 100_000,
    "9" * 5_000,
    '{"end": 1, "seen": 1}',
    '{"end": true, "seen": []}',
    '{"start": []}',
    '{"start": true}',
    '{"start": -1}',
    '{"start": 1e99}',
    '{"done": 7, "reply": {}}',
    '{"done": 0}',
    '{"done": 0, "reply": []}',
    '{"done": 0, "reply": {"status": ["scored"]}}',
    *(
        f'{{"done": 0, "reply": {{"status": "scored", "value": {value}, "because": {because}, '
        f'"parts": {parts}, "seconds": 0, "raw_type": {kind}}}}}'
        for value, because, parts, kind in (
            ('"1"', '""', "{}", '"float"'),
            ("null", '""', "{}", '"float"'),
            ("true", '""', "{}", '"float"'),
            ("1" + "0" * 400, '""', "{}", '"float"'),
            ("1.0", "7", "{}", '"float"'),
            ("1.0", '""', "[]", '"float"'),
            ("1.0", '""', '{"a": "b"}', '"float"'),
            ("1.0", '""', "{}", "null"),
        )
    ),
    '{"facts": {}}',
    '{"ended": 0, "survivors": [], "because": ""}',
    '{"frame": "{}"}',
)
"""Frames that are not what can come next."""
