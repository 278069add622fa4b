"""A model behind a command-line program that keeps the conversation, such as `claude -p`."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

import orjson

from assay.agents.models.endpoint import excerpt, token_count
from assay.agents.models.protocol import Reply
from assay.agents.models.timeouts import CALL_S, check_timeout, model_call
from assay.errors import BadParameter, ModelError
from assay.resources.scratch import scratch_prefix
from assay.schema.secrets import SecretMask, environment_secrets
from assay.schema.usage import Usage

COMMAND = "claude -p --output-format json"
RESUME = "--resume {session}"
STALE = ("No conversation found with session ID",)
MAX_BYTES = 16_000_000
REAP_S = 10.0


class _TimedOut(ModelError):
    """The program exceeded its time limit and was killed with its child processes."""


class _Stale(ModelError):
    """The program does not know the session that it was asked to resume."""


class CliModel:
    """A model that is a program: it reads a prompt on standard input and writes the reply.

    The reply is a JSON object with `result`, and perhaps `session_id`, `usage` and
    `total_cost_usd`; other output is the reply itself. While the program keeps a session, only new
    messages are sent; a new session gets the whole conversation when the session is stale (its
    message is one of `stale`) or the resumed call takes more than half of the time.
    """

    name = "cli"

    def __init__(
        self,
        *,
        command: str | Sequence[str] = COMMAND,
        resume: str | Sequence[str] = RESUME,
        stale: Sequence[str] = STALE,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = CALL_S,
    ) -> None:
        self.timeout_s = check_timeout(timeout_s)
        self._command = split_command(command)
        self._resume = split_command(resume)
        if not self._command:
            raise BadParameter("the cli model needs a `command`")
        self._stale = tuple(stale)
        self._environment = {**os.environ, **(environment or {})}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def complete(
        self, messages: Sequence[dict[str, Any]], *, timeout_s: float, session: str | None = None
    ) -> Reply:
        """Return the reply to the new messages, or to the whole conversation in a new session."""
        async with model_call():
            return await self._complete(messages, timeout_s=timeout_s, session=session)

    async def _complete(
        self, messages: Sequence[dict[str, Any]], *, timeout_s: float, session: str | None
    ) -> Reply:
        started = time.monotonic()
        if session and self._resume:
            extra = [word.replace("{session}", session) for word in self._resume]
            try:
                return await self._ask(_new_messages(messages), extra, timeout_s / 2)
            except (_TimedOut, _Stale):
                timeout_s -= time.monotonic() - started
        return await self._ask(_whole_conversation(messages), [], timeout_s)

    async def close(self) -> None:
        """Remove the working directory of the program."""
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    async def _ask(self, prompt: str, extra: Sequence[str], timeout_s: float) -> Reply:
        output, errors, status = await self._run(prompt, [*self._command, *extra], timeout_s)
        # Before anything is cut or quoted: half a key would not be recognised.
        output, errors = self._clean(output), self._clean(errors)
        reply = _read(output)
        if status == 0 and not isinstance(reply, str):
            return reply
        problem = reply if isinstance(reply, str) and reply else excerpt(errors or output)
        text = errors.decode("utf-8", "replace") + output.decode("utf-8", "replace")
        if any(mark in text for mark in self._stale):
            raise _Stale(f"{self._command[0]}: {problem}")
        raise ModelError(f"{self._command[0]} ended with status {status}: {problem}")

    async def _run(
        self, prompt: str, command: Sequence[str], timeout_s: float
    ) -> tuple[bytes, bytes, int]:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=scratch_prefix("cli"))
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self._folder.name,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(f"cannot start {command[0]!r}: {error}") from error
        try:
            async with asyncio.timeout(max(timeout_s, 0.001)):
                output, errors, _ = await asyncio.gather(
                    _read_bounded(process, process.stdout),
                    _read_bounded(process, process.stderr),
                    _send_prompt(process, prompt),
                )
                if max(len(output), len(errors)) > MAX_BYTES:
                    raise ModelError(f"the program wrote more than {MAX_BYTES:,} bytes")
                return output, errors, await process.wait()
        except TimeoutError:
            raise _TimedOut(
                f"{command[0]} did not reply within {timeout_s:g} s", fatal=False
            ) from None
        finally:
            await kill_group(process)

    def _clean(self, output: bytes) -> bytes:
        """Return the output without the values of environment variables that hold secrets."""
        return SecretMask(environment_secrets(self._environment)).bytes(output)


def split_command(command: str | Sequence[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else [str(word) for word in command]


def _new_messages(messages: Sequence[dict[str, Any]]) -> str:
    """Return the messages after the model's last reply, as one text."""
    new = takewhile(lambda message: message["role"] != "assistant", reversed(messages))
    return "\n\n".join(reversed([str(message["content"]) for message in new]))


def _whole_conversation(messages: Sequence[dict[str, Any]]) -> str:
    """Return the whole conversation as one prompt that names the role of each message."""
    if all(message["role"] != "assistant" for message in messages):
        return "\n\n".join(str(message["content"]) for message in messages)
    heads = {"system": "", "user": "USER:\n", "assistant": "YOU:\n"}
    return "\n\n".join(f"{heads[message['role']]}{message['content']}" for message in messages)


async def _read_bounded(process: Process, stream: asyncio.StreamReader | None) -> bytes:
    """Read the program's output; kill the program if it writes more than MAX_BYTES."""
    received = bytearray()
    # To its end even then: a process whose output is not read to the end cannot be waited for.
    while stream is not None and (chunk := await stream.read(65_536)):
        if len(received) <= MAX_BYTES:
            received += chunk
            if len(received) > MAX_BYTES:
                _signal_group(process)
    return bytes(received)


async def _send_prompt(process: Process, prompt: str) -> None:
    if process.stdin is None:
        return
    # A client may end, or close its input, without having read all of it.
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(prompt.encode("utf-8", "replace"))
        await process.stdin.drain()
    process.stdin.close()


def _signal_group(process: Process) -> None:
    """Send SIGKILL to the process group, also after its leader has ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def kill_group(process: Process) -> None:
    """Kill the process group, discard its remaining output and wait for its leader."""
    _signal_group(process)
    try:
        with suppress(TimeoutError):
            # Somebody outside of the group may hold a pipe open for ever.
            async with asyncio.timeout(REAP_S):
                for stream in (process.stdout, process.stderr):
                    while stream is not None and await stream.read(65_536):
                        pass
                await process.wait()
    finally:
        # Its own end of such a pipe would stay open; asyncio has no public way to close it.
        process._transport.close()  # type: ignore[attr-defined] # noqa: SLF001


def _read(output: bytes) -> Reply | str:
    """Return the reply in the program's output, or the problem that the output reports."""
    text = output.decode("utf-8", "replace").strip()
    try:
        body = orjson.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return Reply(text)
    result = body.get("result")
    if body.get("is_error") or not isinstance(result, str):
        return excerpt(str(result or body))
    session = body.get("session_id")
    return Reply(result, _usage(body), session if isinstance(session, str) else None)


def _usage(body: dict[str, Any]) -> Usage:
    usage, cost = body.get("usage"), body.get("total_cost_usd")
    counts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    is_number = isinstance(cost, (int, float)) and not isinstance(cost, bool)
    return Usage(
        prompt_tokens=sum(token_count(usage, name) for name in counts),
        completion_tokens=token_count(usage, "output_tokens"),
        cost_usd=float(cost) if is_number and cost is not None else None,
        calls=1,
    )
