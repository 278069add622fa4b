"""Print the files of Assay that a call passes through, from the command to the reward.

    python -m tools.walks [run] [score] [mcp] [audit]

A walk is read off the stack of the command, that of the tasks which wait in it, and that of the
reward, which may run in a process or thread of its own, at the moment when the reward is called. Of
several calls the last one counts. Behind `assay mcp` runs the scorer of steps.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import importlib
import inspect
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import assay

SOURCE = Path(assay.__file__).parent
REWARD = """
import json, socket, sys

def report():
    frame, files = sys._getframe(), []
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    with socket.socket(socket.AF_UNIX) as listener:
        listener.connect(ADDRESS)
        listener.sendall(json.dumps(files[::-1]).encode() + b"\\n")
        listener.recv(1)

def reward(final_response: str, answer: str) -> float:
    report()
    return float(final_response == answer)
"""
MCP_SERVER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    page = "### Page state\\n- Page URL: http://localhost/\\n- Page Title: A page"
    result = {"content": [{"type": "text", "text": page}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
CLICK = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "browser_click", "arguments": {"element": "Search", "ref": "e1"}},
}  # fmt: skip
COMMANDS = {
    "run": ["{folder}/questions.jsonl", "--agent", "{folder}/agent.py:agent",
            "--reward", "{reward}", "--runs", "{folder}/runs"],
    "score": ["{folder}/answers.jsonl", "--reward", "{reward}", "--workers", "2",
              "--out", "{folder}/scores.jsonl"],
    "mcp": ["--", sys.executable, "{folder}/server.py"],
    "audit": ["{reward}", "--kind", "qa", "--family", "degenerate", "--no-save"],
}  # fmt: skip


def walk(name: str) -> list[str]:
    """The files of the walk, in the order in which they are passed."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tools.walks", "--inside", folder, name],
            input=json.dumps(CLICK) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
        file = Path(folder) / "walk.json"
        if not file.is_file():
            raise SystemExit(f"`assay {name}` called no reward: {done.stderr}")
        files: list[str] = json.loads(file.read_text())
        return files


def run_command(name: str, folder: Path) -> None:
    """Run the command, and write the files of its walk to a file of the folder."""
    address = str(folder / "listener")
    (folder / "reward.py").write_text(REWARD.replace("ADDRESS", repr(address)))
    (folder / "agent.py").write_text("def agent(prompt):\n    return '4'\n")
    (folder / "server.py").write_text(MCP_SERVER)
    task = {"prompt": "2 + 2?", "answer": "4"}
    (folder / "questions.jsonl").write_text(json.dumps(task))
    rows = [json.dumps({**task, "final_response": str(n)}) for n in range(200)]
    (folder / "answers.jsonl").write_text("\n".join(rows))
    walks: list[list[str]] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    threading.Thread(target=_listen, args=(listener, walks), daemon=True).start()
    if name == "mcp":
        _report_steps(folder)
    words = [word.format(folder=folder, reward=f"{folder}/reward.py:reward")
             for word in COMMANDS[name]]  # fmt: skip
    command = importlib.import_module(f"assay.cli.{name}").command
    with contextlib.suppress(SystemExit):
        command.main(words, standalone_mode=False)
    if walks:
        (folder / "walk.json").write_text(json.dumps(walks[-1]))


def _report_steps(folder: Path) -> None:
    """Have the scorer of steps report its stack when it makes a score."""
    recovery: Any = importlib.import_module("assay.browser.steps.scorer")
    sys.path.insert(0, str(folder))
    report = importlib.import_module("reward").report
    make_score = recovery.StepScore

    def reporting(*arguments: Any, **options: Any) -> Any:
        report()
        return make_score(*arguments, **options)

    recovery.StepScore = reporting


def _listen(listener: socket.socket, walks: list[list[str]]) -> None:
    """Add a walk for every call of the reward, which waits for the answer."""
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile() as lines:
            stack = json.loads(lines.readline())
            files = [*_main_thread(), *_waiting_tasks(), *stack]
            walks.append(list(dict.fromkeys(_of_assay(files))))
            connection.sendall(b"\n")


def _main_thread() -> list[str]:
    """The files on the stack of the main thread."""
    # Nothing else tells of other threads.
    frame: FrameType | None = sys._current_frames()[threading.main_thread().ident or 0]  # noqa: SLF001
    files = []
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files[::-1]


def _waiting_tasks() -> Iterator[str]:
    """The files of coroutines that wait for each other, as for a reward on a thread of its own."""
    for task in [one for one in gc.get_objects() if isinstance(one, asyncio.Task)]:
        waiting: Any = task.get_coro()
        while inspect.iscoroutine(waiting):
            yield waiting.cr_code.co_filename
            waiting = waiting.cr_await


def _of_assay(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        path = Path(os.path.realpath(file))
        if path.is_relative_to(SOURCE):
            yield path.relative_to(SOURCE).as_posix()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("walks", nargs="*", metavar="|".join(COMMANDS))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        run_command(options.walks[0], options.inside)
        return
    for name in options.walks or COMMANDS:
        files = walk(name)
        print(f"{name}: {len(files)} files", *files, sep="\n  ")


if __name__ == "__main__":
    main()
