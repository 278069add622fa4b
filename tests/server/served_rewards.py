"""Rewards that a server of the tests imports: slow, hanging, dying and plainly odd ones."""

import mmap
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import assay
from assay.errors import BadParameter
from assay.isolation import frames
from assay.schema.score import Score, Scored


@assay.reward(name="length")
def length(final_response: str) -> float:
    """The number of characters."""
    return float(len(final_response))


@assay.reward(name="gated")
def gated(final_response: str, gate: str) -> float:
    """1, as soon as the file `gate` is there; `gate` + `.waiting` says that it waits."""
    Path(gate + ".waiting").touch()
    while not Path(gate).exists():
        time.sleep(0.005)
    return 1.0


@assay.reward(name="hanging")
def hanging(final_response: str) -> float:
    """Never returns for `hang`, and for `hang hard` cannot be interrupted either."""
    if final_response == "hang hard":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    while final_response.startswith("hang"):
        try:
            time.sleep(0.005)
        except Exception:  # noqa: BLE001 - what many rewards do, and should not
            continue
    return 1.0


@assay.reward(name="parent")
def parent(final_response: str, note: str) -> float:
    """Starts a process that outlives it, writes its id to the file `note`, and never returns."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    Path(note).write_text(str(sleeper.pid))
    while True:
        time.sleep(0.005)


@assay.reward(name="hanging_async")
async def hanging_async(final_response: str) -> float:
    """As `hanging`, awaiting."""
    import asyncio

    while final_response == "hang":
        await asyncio.sleep(0.005)
    return 1.0


@assay.reward(name="mortal")
def mortal(final_response: str, once: str = "") -> float:
    """Kills its process for `die`; only the first time, if it can note that in a file."""
    if final_response == "die" and not (once and Path(once).exists()):
        if once:
            Path(once).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if final_response == "leave":
        sys.exit(3)
    return float(len(final_response))


@assay.reward(name="broken")
def broken(final_response: str) -> float:
    """Always raises."""
    return float(final_response) / 0


@assay.reward(name="choosy")
def choosy(final_response: str, *, mode: str = "good") -> float:
    """Refuses its option only when it is called."""
    if mode != "good":
        raise BadParameter(f"mode={mode!r}; only 'good' is")
    return 1.0


@assay.reward(name="needy")
def needy(final_response: str, *, scale: float) -> float:
    """Has an option without a default."""
    return scale


@assay.reward(name="mirror", parts=("length",))
def mirror(final_response: str) -> Score:
    """Gives the answer back in its notes."""
    return Scored(0.5, final_response, {"length": len(final_response)}, {"text": final_response})


@assay.reward(name="whoami")
def whoami(final_response: str) -> float:
    """The process that scores."""
    return float(os.getpid())


@assay.reward(name="forking")
def forking(final_response: str, note: str) -> float:
    """Forks, writes the child's id to the file `note`, and then does what the response says.

    `die` and `hang` leave a child that holds every pipe of this process, `return` goes on in both,
    and `daemon` leaves one that is in another session, without this environment or its parent.
    """
    child = os.fork()
    if child:
        Path(note).write_text(str(child))
    elif final_response != "return":
        if final_response == "daemon":
            os.setsid()
            if os.fork():
                os._exit(0)
            Path(note + ".daemon").write_text(str(os.getpid()))
            os.execve("/bin/sleep", ["sleep", "600"], {})
        time.sleep(600)
    if final_response == "daemon":
        os.waitpid(child, 0)
        while not Path(note + ".daemon").exists():
            time.sleep(0.005)
    if final_response in ("die", "daemon"):
        os.kill(os.getpid(), signal.SIGKILL)
    if final_response == "hang":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while True:
            time.sleep(0.005)
    return float(len(final_response))


@assay.reward(name="noisy")
def noisy(final_response: str) -> float:
    """For `noise`, writes to every file and pipe that its process has."""
    if final_response == "noise":
        for fd in range(3, 20):
            with suppress(OSError):
                os.write(fd, b"\xff" * 64)
    return float(len(final_response))


@assay.reward(name="greedy")
def greedy(final_response: str, megabytes: int, shared: bool = False) -> float:
    """Takes so much memory, of its own or shared with nobody."""
    size = megabytes * 2**20
    taken = mmap.mmap(-1, size) if shared else bytearray(size)
    for start in range(0, size, 4096):
        taken[start] = 1
    return float(len(taken))


@assay.reward(name="stuck")
def stuck(final_response: str) -> float:
    """For `stuck`, holds the interpreter: no signal handler and no thread runs meanwhile."""
    if final_response == "stuck":
        re.match(r"(a|a)*b", "a" * 40)
    return float(len(final_response))


@assay.reward(name="forger")
def forger(final_response: str) -> float:
    """Writes a reply of its own for `forge`, one that ends its reader for `exit`; for `shorten`
    takes the memory away that it shares with the server."""
    progress, _, replies = (int(argument) for argument in sys.argv[-3:])
    if final_response in ("forge", "exit"):
        reply = (None, SystemExit(3) if final_response == "exit" else None)
        frames.send_bytes(replies, pickle.dumps(reply))
        time.sleep(0.5)
    if final_response == "shorten":
        os.ftruncate(progress, 0)
        time.sleep(0.5)
    return float(len(final_response))


composed = assay.compose(
    "composed",
    {
        "correct": "math_equal_reward",
        "brief": {"reward": "length_reward", "weight": 0.5, "gate": "correct"},
    },
)


PROCESS = {"isolation": "process", "time_s": 3.0}
assay.compose("own_programs", {"passed": {"reward": "code_reward", "params": PROCESS}})
"""Programs with less isolation than a request may ask for."""
