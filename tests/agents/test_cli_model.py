"""The command-line model against a real program."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import warnings
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.agents.models import cli
from assay.agents.models.cli import CliModel
from assay.agents.models.protocol import Reply
from assay.errors import BadParameter, ModelError
from assay.schema.usage import Usage

CLIENT = """\
import json, os, subprocess, sys, time
how, args, prompt = sys.argv[1], sys.argv[2:], sys.stdin.read()
resumed = args[1] if args[:1] == ["--resume"] else None
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps({"resumed": resumed, "prompt": prompt, "folder": os.getcwd()}) + "\\n")
if how == "stale" and resumed:
    sys.exit("No conversation found with session ID: " + resumed)
if how == "slow" and resumed or how == "stuck":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(os.environ["CALLS"] + ".pids", "w") as pids:
        pids.write(f"{os.getpid()} {child.pid}")
    time.sleep(60)
if how == "fails":
    sys.exit("cannot log in with " + os.environ["CLIENT_TOKEN"])
if how == "errs":
    print(json.dumps({"is_error": True, "result": "credit is used up"}))
elif how == "plain":
    print("just text")
elif how == "endless":
    while True:
        sys.stdout.write("x" * 1_000_000)
else:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3}
    print(json.dumps({"result": "four", "session_id": "s2", "usage": usage, "total_cost_usd": 0.5}))
"""
FIRST = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
LATER = [
    *FIRST,
    {"role": "assistant", "content": "four"},
    {"role": "user", "content": "And 3 + 3?"},
]


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path / "calls.jsonl"


def ask(
    how: str,
    calls: Path,
    messages: Sequence[dict[str, Any]] = FIRST,
    *,
    session: str | None = None,
    timeout_s: float = 20.0,
) -> Reply:
    model = CliModel(
        command=[sys.executable, str(calls.parent / "client.py"), how],
        environment={"CALLS": str(calls), "CLIENT_TOKEN": "token-0123456789"},
    )

    async def once() -> Reply:
        try:
            return await model.complete(messages, timeout_s=timeout_s, session=session)
        finally:
            await model.close()

    return asyncio.run(once())


def prompts(calls: Path) -> list[dict[str, Any]]:
    import json

    return [json.loads(line) for line in calls.read_text().splitlines()]


def gone(pid: int) -> bool:
    """Whether the process ended; one that waits to be reaped by its new parent has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_reply_comes_with_session_usage_and_cost(calls: Path) -> None:
    reply = ask("good", calls)
    assert reply == Reply("four", Usage(7, 3, 0.5, 1), "s2")
    (call,) = prompts(calls)
    assert call["prompt"] == "Be brief.\n\n2 + 2?"
    assert not Path(call["folder"]).exists(), "its own directory, which is gone afterwards"


def test_a_kept_session_gets_only_what_is_new(calls: Path) -> None:
    ask("good", calls, LATER, session="s1")
    (call,) = prompts(calls)
    assert (call["resumed"], call["prompt"]) == ("s1", "And 3 + 3?")


def test_a_stale_session_starts_afresh_with_the_whole_conversation(calls: Path) -> None:
    assert ask("stale", calls, LATER, session="s1").text == "four"
    stale, fresh = prompts(calls)
    assert (stale["resumed"], fresh["resumed"]) == ("s1", None)
    assert fresh["prompt"] == "Be brief.\n\nUSER:\n2 + 2?\n\nYOU:\nfour\n\nUSER:\nAnd 3 + 3?"


def test_a_session_that_hangs_is_killed_and_started_afresh(calls: Path) -> None:
    assert ask("slow", calls, LATER, session="s1", timeout_s=6.0).text == "four"
    assert [call["resumed"] for call in prompts(calls)] == ["s1", None]
    pids = Path(f"{calls}.pids").read_text().split()
    assert all(gone(int(pid)) for pid in pids), "the client and what it started"


def test_a_client_that_hangs_is_killed_with_everything_it_started(calls: Path) -> None:
    with pytest.raises(ModelError, match="did not reply within 3 s"):
        ask("stuck", calls, timeout_s=3.0)
    pids = Path(f"{calls}.pids").read_text().split()
    assert len(pids) == 2
    assert all(gone(int(pid)) for pid in pids)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("fails", r"status 1: cannot log in with \[secret\]"),
        ("errs", "credit is used up"),
        ("endless", "wrote more than"),
    ],
    ids=["a failure, its secret blotted out", "an error in the output", "output without end"],
)
def test_a_client_that_fails_is_a_model_error(calls: Path, how: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ask(how, calls)


def test_output_that_is_no_json_is_the_reply(calls: Path) -> None:
    assert ask("plain", calls) == Reply("just text")


def test_a_program_that_is_not_there_is_named() -> None:
    model = CliModel(command="no-such-program --flag")
    with pytest.raises(ModelError, match="cannot start 'no-such-program'"):
        asyncio.run(model.complete(FIRST, timeout_s=5.0))
    asyncio.run(model.close())


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(BadParameter, match="needs a `command`"):
        CliModel(command="")


def test_a_pipe_that_a_stranger_holds_open_is_closed_on_our_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "REAP_S", 0.2)
    stranger = "[sys.executable, '-c', 'import time; time.sleep(5)']"
    options = "start_new_session=True, stderr=subprocess.DEVNULL"
    program = (
        f"import subprocess, sys, time; subprocess.Popen({stranger}, {options}); "
        "print('ready', flush=True); time.sleep(30)"
    )

    async def start_and_kill() -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        await cli.kill_group(process)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(start_and_kill())
        gc.collect()
    assert [str(one.message) for one in caught if one.category is ResourceWarning] == []
