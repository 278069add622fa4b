"""Small rewards, each with one flaw of the machine family, as seen in the wild.

All of them take a response and a reference, and pay 1.0 for a right answer in the plain case.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
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
}
"""The check that must find each flaw."""
