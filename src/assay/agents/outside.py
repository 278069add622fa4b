"""Agents in other processes, in any language: an HTTP server, or a program with JSON lines.

Each turn sends one JSON object with `episode`, `step`, `task_id`, `question`, `observation`,
`tools`, and `seed` where the run has one, and takes one JSON value: a text, or an object with some
of `action`, `answer`, `gave_up`, `think`, `messages`, `usage`; or `{"error": …}` for a failure of
the agent, and `{"model_error": …}` for one of its model.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

import orjson

from assay.agents.attempt import attempt_seed
from assay.agents.functions import recorded
from assay.agents.models.cli import kill_group, split_command
from assay.agents.models.endpoint import Endpoint, encode, excerpt, read_key
from assay.agents.models.http1 import Response
from assay.agents.protocol import Action, EpisodeLimits, as_action
from assay.agents.transcript import Transcript
from assay.errors import BadParameter, ModelError
from assay.resources.backoff import retry_after_s
from assay.schema.observation import Observation
from assay.schema.task import Task

PATIENCE_S: Final = 30.0
"""After so long without a reply the log says so."""
LINE_BYTES = 10_000_000
STDERR_CHARS = 2_000
"""Kept of what a program writes to standard error, of its beginning and of its end."""
QUOTED_CHARS = 300
"""Of each in the message when the program fails."""


class AgentFailed(Exception):
    """An external agent reported a failure, or sent a bad reply."""


class AgentUnreachable(AgentFailed):
    """An external agent gave no reply: its program ended, or its server failed."""


class _OutsideAgent(ABC):
    """An external agent: `_ask` sends each turn as a JSON object and returns the reply's bytes."""

    name: str

    def __init__(self) -> None:
        self._task = Task(id="")
        self._episode = ""
        self._transcript = Transcript()

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002 - the protocol's
        """Begin a new conversation with a new episode id."""
        self._task = task
        self._episode = uuid.uuid4().hex
        self._transcript = Transcript()

    async def act(self, observation: Observation, *, step: int) -> Action:
        """Send the observation, and return the external agent's reply as an action."""
        self._transcript.add_observation(observation.text)
        request = {
            "episode": self._episode,
            "step": step,
            "task_id": self._task.id,
            "question": self._task.goal,
            "observation": observation.text,
            "tools": None if observation.tools is None else list(observation.tools),
        }
        if (seed := attempt_seed()) is not None:
            request["seed"] = seed
        reply = _read_reply(await self._ask(encode(request)))
        return recorded(as_action(reply, observation), observation, self._transcript)

    @abstractmethod
    async def _ask(self, request: bytes) -> bytes:
        """Send one request, and return the bytes of its reply."""


def _read_reply(content: bytes) -> Any:
    """Return the reply; raise ModelError or AgentFailed if it is bad or reports a failure."""
    try:
        reply = orjson.loads(content)
    except ValueError:
        raise AgentUnreachable(
            f"the agent's reply is not JSON: {excerpt(content)}; a program must write only "
            "replies to standard output, and other text to standard error"
        ) from None
    if isinstance(reply, dict) and reply.get("model_error"):
        raise ModelError(excerpt(str(reply["model_error"])), fatal=bool(reply.get("fatal", True)))
    if isinstance(reply, dict) and reply.get("error"):
        raise AgentFailed(excerpt(str(reply["error"])))
    return reply


class HttpAgent(_OutsideAgent):
    """An agent behind a URL; each turn is one POST request.

    With `token_env`, the value of that environment variable is sent as a bearer token. A server
    that cannot be reached or refuses (4xx) is no zero of the agent's: the episode ends as
    `model_error`. 5xx is the agent's own failure.
    """

    name = "http"

    def __init__(self, *, url: str = "", token_env: str = "") -> None:
        super().__init__()
        if not url.startswith(("http://", "https://")):
            raise BadParameter(f"url is {url!r}; it must begin with http:// or https://")
        token = read_key(token_env) if token_env else ""
        if token_env and not token:
            raise BadParameter(f"the environment variable {token_env!r} is not set")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._endpoint = Endpoint(url, headers=headers, secret=token)

    async def _ask(self, request: bytes) -> bytes:
        response = await self._endpoint.send(request)
        if not isinstance(response, Response):
            self._endpoint.fail(f"the request to the agent failed: {response}")
        if response.status != 200:
            self._refuse(response)
        return response.content

    def _refuse(self, response: Response) -> NoReturn:
        text = f"status {response.status}: {excerpt(response.content)}"
        if response.status >= 500 and retry_after_s(response.headers) is None:
            raise AgentUnreachable(f"{self._endpoint.public_url}: {text}")
        self._endpoint.fail(text, fatal=response.status not in (408, 429, 503))

    async def close(self) -> None:
        """Close the connections that this endpoint opened itself."""
        await self._endpoint.close()


class StdioAgent(_OutsideAgent):
    """An agent that is a program: each turn is a JSON line on its input and on its output.

    Each episode has a process of its own, started in the current folder with the first turn, and
    killed with all that it started at the end. Standard error is for its own messages.
    """

    name = "stdio"

    def __init__(
        self, *, command: str | Sequence[str] = "", environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self._command = split_command(command)
        if not self._command or shutil.which(self._command[0]) is None:
            program = self._command[0] if self._command else ""
            raise BadParameter(
                f"no program named {program!r}; `command` is a program and its arguments, such "
                "as 'node agent.js'"
            )
        self._environment = {**os.environ, **(environment or {})}
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._first_errors = self._errors = ""

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        """End the program of the last episode, and start a program for this episode."""
        await self.close()
        await super().start(task, limits=limits)
        self._first_errors = self._errors = ""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LINE_BYTES,
            env=self._environment,
            start_new_session=True,
        )
        self._reading = asyncio.create_task(self._keep_errors(self._process))

    async def _keep_errors(self, process: Process) -> None:
        while process.stderr is not None and (chunk := await process.stderr.read(65_536)):
            text = chunk.decode("utf-8", "replace")
            room = STDERR_CHARS - len(self._first_errors)
            self._first_errors += text[:room]
            self._errors = (self._errors + text[room:])[-STDERR_CHARS:]

    def _last_words(self) -> str:
        """Return the first and the last part of the program's standard error."""
        text = (self._first_errors + self._errors).strip()
        if len(text) <= QUOTED_CHARS:
            return excerpt(text)
        cut = max(text.rfind(" ", 0, QUOTED_CHARS), QUOTED_CHARS // 2)
        end = text[max(cut, len(text) - QUOTED_CHARS) :]
        gap = " … " if cut + len(end) < len(text) else " "
        return excerpt(text[:cut]) + gap + excerpt(end)

    async def _ask(self, request: bytes) -> bytes:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise AgentFailed("the program was not started")
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(request + b"\n")
            await process.stdin.drain()
        try:
            line = await self._line_of(process.stdout)
        except ValueError:
            problem = f"wrote a line of more than {LINE_BYTES:,} bytes"
            raise AgentFailed(f"{self._command[0]} {problem}") from None
        if not line.endswith(b"\n"):
            await self._read_to_the_end()
            words = self._last_words() or "it wrote nothing to standard error"
            status = process.returncode
            raise AgentUnreachable(f"{self._command[0]} ended with status {status}: {words}")
        return line

    async def _line_of(self, output: asyncio.StreamReader) -> bytes:
        """Return the program's next line; log a warning if the program takes long."""
        reading = asyncio.ensure_future(output.readline())
        try:
            done, _ = await asyncio.wait({reading}, timeout=PATIENCE_S)
            if not done:
                logging.getLogger(__name__).warning(
                    "no reply from %s after %g s: does it keep its input or output in a buffer? "
                    "--set limits.step_s=%g gives it up sooner",
                    self._command[0],
                    PATIENCE_S,
                    PATIENCE_S,
                )
            return await reading
        finally:
            await _give_up(reading)

    async def _read_to_the_end(self) -> None:
        """Wait briefly for the exit status and the remaining errors of a program that has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                if self._process is not None and self._reading is not None:
                    await asyncio.gather(self._process.wait(), asyncio.shield(self._reading))

    async def close(self) -> None:
        """Kill the program and its child processes."""
        process, self._process = self._process, None
        reading, self._reading = self._reading, None
        try:
            if reading is not None:
                await _give_up(reading)
        finally:
            if process is not None:
                await kill_group(process)


async def _give_up(reading: asyncio.Future[Any]) -> None:
    """Cancel the read, and wait for its end: only one task may read a stream at a time."""
    reading.cancel()
    await asyncio.wait({reading})
