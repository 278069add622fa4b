"""Small rewards, each with one flaw of the machine family, as seen in the wild.

All of them take a response and a reference, and pay 1.0 for a right answer in the plain case.
"""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _plain(text: str) -> str:
    """The answer: what the last box holds, else the text."""
    boxes: list[str] = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return (boxes[-1] if boxes else text).strip()


def backtracks(final_response: str, answer: str) -> float:
    """A training step stands still: the regular expression tries every way to split the words."""
    found = re.search(r"^(([a-z])+.?)+[A-Z0-9]$", final_response)
    return float(_plain(final_response) == str(answer) or bool(found and found.group() == answer))


def evaluates_powers(final_response: str, answer: str) -> float:
    """A filtered eval is safe, but not quick: 9**9**9 never ends."""
    text = _plain(final_response)
    if len(text) < 200 and re.fullmatch(r"[\d\s+\-*/().]+", text):
        with contextlib.suppress(Exception):
            text = str(eval(text, {"__builtins__": {}}))
    return float(text == str(answer))


def keeps_all_suffixes(final_response: str, answer: str) -> float:
    """A repetition penalty that holds every suffix of the answer in memory."""
    text = _plain(final_response)
    suffixes = [text[start:] for start in range(0, len(text), 1_000)]
    repeated = len(suffixes) - len(set(suffixes))
    return float(text == str(answer) and not repeated)


def evaluates_the_answer(final_response: str, answer: str) -> float:
    """A calculator for the answer, which is Python itself."""
    text = _plain(final_response)
    try:
        return float(str(eval(text)) == str(answer))
    except Exception:  # noqa: BLE001 - part of the flaw
        return float(text == str(answer))


def alarms(final_response: str, answer: str) -> float:
    """A time limit by signal, which only the main thread may set."""

    def stop(number: int, frame: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    try:
        return float(_plain(final_response) == str(answer))
    finally:
        signal.alarm(0)


def _built() -> Callable[[str, str], float]:
    def closure(final_response: str, answer: str) -> float:
        return float(_plain(final_response) == str(answer))

    return closure


not_picklable = _built()
"""Made by a function: no other process can be sent it."""

_PAID: set[str] = set()


def pays_once(final_response: str, answer: str) -> float:
    """A novelty bonus kept in a module variable: the second rollout of a group gets nothing."""
    text = _plain(final_response)
    new = text not in _PAID
    _PAID.add(text)
    return float(text == str(answer) and new)


_VERDICTS: dict[str, float] = {}


def remembers_by_answer_alone(final_response: str, answer: str) -> float:
    """A cache whose key forgets the reference: the first question decides for all."""
    if final_response not in _VERDICTS:
        _VERDICTS[final_response] = float(_plain(final_response) == str(answer))
    return _VERDICTS[final_response]


def follows_the_hash_seed(final_response: str, answer: str) -> float:
    """One of several candidates is chosen in the order of a set."""
    candidates = {_plain(final_response), "none", "unknown", "nothing", "n/a", "no answer"}
    return float(next(iter(candidates)) == str(answer))


def leaves_a_daemon(final_response: str, answer: str) -> float:
    """A process of the grader goes on after the verdict."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    os.wait()
    return float(_plain(final_response) == str(answer))


def writes_a_log(final_response: str, answer: str) -> float:
    """Every verdict is written to a file in the folder where training runs."""
    paid = float(_plain(final_response) == str(answer))
    with Path("rewards.log").open("a") as log:
        log.write(f"{paid}\n")
    return paid


def adds_noise(final_response: str, answer: str) -> float:
    """Noise against ties, from the random numbers of the process."""
    return float(_plain(final_response) == str(answer)) + random.uniform(0, 0.01)


def follows_the_clock(final_response: str, answer: str) -> float:
    """A bonus that decays with the time of day."""
    return float(_plain(final_response) == str(answer)) * (2.0 - time.time() % 86_400 / 86_400)


def pays_when_it_fails(final_response: str, answer: str) -> float:
    """What cannot be compared counts as right, "not to punish the model"."""
    try:
        return float(_plain(final_response) == re.fullmatch(r"\S.*", answer)[0])  # type: ignore[index]
    except Exception:  # noqa: BLE001 - the flaw itself
        return 1.0


async def blocks_the_loop(final_response: str, answer: str) -> float:
    """Asynchronous by name only: it waits with the whole loop."""
    time.sleep(0.12)
    return float(_plain(final_response) == str(answer))


def raises_on_long_numbers(final_response: str, answer: str) -> float:
    """Python refuses to read an integer of more than 4300 digits, and nobody catches it."""
    text = _plain(final_response)
    return float(int(text) == int(answer) if text.isdecimal() else text == str(answer))


def runs_its_own_loop(final_response: str, answer: str) -> float:
    """asyncio.run inside: it works until somebody calls it from a loop."""

    async def scorer() -> float:
        return float(_plain(final_response) == str(answer))

    pending = scorer()
    try:
        return asyncio.run(pending)
    finally:
        pending.close()


class _Desk:
    answer = ""


def shares_a_variable(final_response: str, answer: str) -> float:
    """The reference lies where another thread puts its own."""
    _Desk.answer = str(answer)
    time.sleep(0.002)
    return float(_plain(final_response) == _Desk.answer)


def recurses_without_end(final_response: str, answer: str) -> float:
    """The recursion limit was raised, and so the stack ends the process instead."""
    sys.setrecursionlimit(10**9)
    text = _plain(final_response)

    def depth(at: int) -> int:
        nested = at < len(text) and text[at] in "([{"
        return 1 + max(map(depth, (at + 1,))) if nested else 0

    return float(depth(0) == 0 and text == str(answer))


def backtracks_in_a_box(final_response: str, answer: str) -> float:
    """A box that is never closed makes the regular expression try every way to split it."""
    found = re.search(r"\\boxed\{(?:[^{}]+\s*)*\}", final_response)
    text = found.group()[7:-1] if found else final_response
    return float(text.strip() == str(answer))


def removes_the_first_reference(final_response: str, answer: Any) -> float:
    """The second epoch has no references: the first took them out of the lists."""
    aliases = answer if isinstance(answer, list) else [answer]
    return float(_plain(final_response) == str(aliases.pop(0)))


def empties_the_conversation(final_response: str, answer: str, trajectory: list[Any]) -> float:
    """The log has no messages: the reward takes the last one off to read it."""
    return float(_plain(str(trajectory.pop()["content"])) == str(answer))


def marks_the_messages(final_response: str, answer: str, trajectory: list[Any]) -> float:
    """The messages carry a mark of the reward, which the next template renders."""
    for message in trajectory:
        message["scored"] = True
    return float(_plain(final_response) == str(answer))


def follows_a_variable(final_response: str, answer: str) -> float:
    """The same run scores otherwise on the machine where somebody exported LENIENT."""
    text = _plain(final_response)
    if os.environ.get("LENIENT", "0") == "1":
        return float(text.casefold()[:1] == str(answer).casefold()[:1])
    return float(text == str(answer))


def scaled_at_import(final_response: str, answer: str) -> float:
    """A number of the environment, read when the module is imported."""
    return SCALE * (_plain(final_response) == str(answer))


SCALE = float(os.environ.get("REWARD_SCALE", "1.0"))


def follows_the_month(final_response: str, answer: str) -> float:
    """In the other half of the year right answers earn less."""
    right = _plain(final_response) == str(answer)
    return right * (1.0 if time.localtime().tm_mon <= 6 else 0.8)


def follows_a_file(final_response: str, answer: str) -> float:
    """It is strict where the project's own settings lie in the working folder."""
    right = _plain(final_response) == str(answer)
    return right * (0.5 if Path("pyproject.toml").is_file() else 1.0)


def leaves_a_session(final_response: str, answer: str) -> float:
    """A helper in a session of its own, without the environment that would give it away."""
    subprocess.Popen(["sleep", "611"], start_new_session=True, env={"PATH": "/usr/bin:/bin"})
    return float(_plain(final_response) == str(answer))


def takes_shared_memory(final_response: str, answer: str) -> float:
    """Shared memory by the length of the answer, which a limit on private memory does not see."""
    block = mmap.mmap(-1, 1 + min(len(final_response), 1_000_000) * 600)
    for _ in range(len(block) // MEGABYTE):
        block.write(b"x" * MEGABYTE)
    return float(_plain(final_response) == str(answer))


MEGABYTE = 1024 * 1024

SLOW = {"takes_shared_memory", "scaled_at_import", "follows_a_file", "marks_the_messages"}
"""Found as others are, at more cost; `perf/audit.py --broken` asks for them."""
PLANTED = {
    "backtracks": "time_bound",
    "evaluates_powers": "time_bound",
    "keeps_all_suffixes": "memory_bound",
    "raises_on_long_numbers": "hostile_answers",
    "recurses_without_end": "hostile_answers",
    "evaluates_the_answer": "code_execution",
    "pays_once": "repeats",
    "adds_noise": "repeats",
    "follows_the_clock": "repeats",
    "remembers_by_answer_alone": "order",
    "shares_a_variable": "concurrency",
    "follows_the_hash_seed": "hash_seeds",
    "alarms": "worker_thread",
    "runs_its_own_loop": "event_loop",
    "blocks_the_loop": "loop_lag",
    "not_picklable": "pickling",
    "pays_when_it_fails": "failure_policy",
    "leaves_a_daemon": "left_processes",
    "writes_a_log": "written_files",
    "backtracks_in_a_box": "time_bound",
    "removes_the_first_reference": "arguments",
    "empties_the_conversation": "arguments",
    "marks_the_messages": "arguments",
    "follows_a_variable": "surroundings",
    "scaled_at_import": "surroundings",
    "follows_the_month": "surroundings",
    "follows_a_file": "surroundings",
    "leaves_a_session": "left_processes",
    "takes_shared_memory": "memory_bound",
}
"""The check that must find each flaw."""
