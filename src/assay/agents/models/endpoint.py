"""An HTTP endpoint for JSON requests, with retries, size limits and errors without the key."""

from __future__ import annotations

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeVar

import httpx
import orjson

from assay.agents.models.connections import Connections, connections_of_the_run
from assay.agents.models.http1 import NoResponse, Response
from assay.agents.models.retries import (
    Attempts,
    RequestFailure,
    RetryPolicy,
    default_retry,
    is_prompt_too_long,
    may_pass,
    problem_of,
)
from assay.errors import BadParameter, ModelError, PromptTooLong
from assay.schema.secrets import SecretMask, secret_values

T = TypeVar("T")

MAX_BYTES = 16_000_000
"""A longer response is not a reply; it is refused before it fills the memory."""
EXCERPT_CHARS = 300


class Endpoint:
    """One URL that takes POST requests, with its headers and its key."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        secret: str = "",
        retry: RetryPolicy | None = None,
        key_env: str = "",
    ) -> None:
        try:
            self._url = _parse_url(url)
        except httpx.InvalidURL as error:
            raise BadParameter(f"{url!r} is no URL: {error}") from error
        self._headers = {
            **headers,
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": "assay",
            **_basic_authorization(self._url),
        }
        self.mask = SecretMask([secret, *secret_values(url)])
        """Takes the key out of whatever the server sends, and out of every message."""
        self._retry = retry or default_retry()
        self._missing_key = "" if secret else key_env
        self._own = Connections()

    @property
    def url(self) -> str:
        """The whole URL, which may hold a secret."""
        return str(self._url)

    @property
    def public_url(self) -> str:
        """The URL without user, password and query, for messages."""
        return f"{self._url.scheme}://{self._url.netloc.decode('ascii')}{self._url.path}"

    async def post_and_read(
        self, body: Mapping[str, Any], read: Callable[[bytes], T], *, timeout_s: float
    ) -> T:
        """Send a request, and return what `read` makes of the response."""
        content = await self.post(body, timeout_s=timeout_s)
        try:
            return read(content)
        except PromptTooLong as error:
            raise PromptTooLong(self._public(str(error))) from None
        except ModelError as error:
            self.fail(str(error), fatal=error.fatal)

    async def post(self, body: Mapping[str, Any], *, timeout_s: float) -> bytes:
        """Send a request, with retries for `timeout_s` seconds, and return the response's content.

        Status 429, 408, 5xx and failed connections are retried while attempts and time last; a 429
        that names a wait is limited by time alone. After a 429 or a named wait all callers wait.
        """
        retry = self._retry
        attempts = Attempts(retry, timeout_s)
        content = encode(body)
        problem: RequestFailure | None = None
        gate = self._connections.gate(self._url)
        while attempts.are_left():
            try:
                async with asyncio.timeout(attempts.begin()):
                    async with gate.request(retry.clock, retry.sleep) as turn:
                        response = await self.send(content)
            except TimeoutError:
                if problem is None:
                    self.fail(f"no complete reply within {timeout_s:g} s", fatal=False)
                # A retry that ran out of time says less than what was wrong before it.
                self._give_up(problem, attempts.sent)
            if isinstance(response, Response) and response.status == 200:
                return self._checked(response)
            problem = self._temporary_problem(response)
            wait = attempts.wait_s(problem)
            if wait is None:
                self._give_up(problem, attempts.sent)
            if problem.is_busy or problem.wait_s is not None:
                gate.slow_down(turn, retry.clock() + wait)
            else:
                await retry.sleep(wait)
        raise BadParameter(f"attempts is {retry.backoff.attempts!r}; it must be at least 1")

    def fail(self, problem: str, *, fatal: bool = True) -> NoReturn:
        """Raise a ModelError that names the URL and the problem, without the key."""
        raise ModelError(self._public(problem), fatal=fatal) from None

    def _public(self, problem: str) -> str:
        text = f"{self.public_url}: {problem}"
        return self.mask.text(text)

    def _checked(self, response: Response) -> bytes:
        """Return the content of the response; raise ModelError if it is a web page."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("text/html", "application/xhtml+xml"):
            page = excerpt(response.content)
            self.fail(f"the server sent a web page ({kind}), no reply; is the URL right? {page}")
        return response.content

    def _give_up(self, problem: RequestFailure, sent: int) -> NoReturn:
        # In words that are the same for one request and for six: messages are counted.
        self.fail(f"{problem.text} (gave up; requests sent: {sent})", fatal=problem.fatal)

    def _temporary_problem(self, response: Response | str) -> RequestFailure:
        """Return why the request failed; raise ModelError if no retry can succeed."""
        if isinstance(response, str):
            return RequestFailure(response)
        text = f"status {response.status}: {excerpt(response.content)}"
        if response.status in (400, 413, 422) and is_prompt_too_long(response.content):
            raise PromptTooLong(self._public(text))
        problem = problem_of(response, text)
        if problem is None:
            self.fail(text + self._key_hint(response.status))
        return problem

    def _key_hint(self, status: int) -> str:
        """Return a hint that no key was sent, if the server refused the request for that."""
        if status not in (401, 403) or not self._missing_key:
            return ""
        return f" (no key was sent: the environment variable {self._missing_key!r} is empty)"

    @property
    def _connections(self) -> Connections:
        return connections_of_the_run() or self._own

    async def close(self) -> None:
        """Close the connections that this endpoint opened itself."""
        await self._own.close()

    async def send(self, body: bytes) -> Response | str:
        """Send one request, and return the response, or a text that says why there is none."""
        try:
            response = await self._connections.post(
                self._url, self._headers, body, max_bytes=MAX_BYTES
            )
        except NoResponse as error:
            return str(error)
        except ModelError as error:
            self.fail(str(error))
        # Before anything is cut or quoted: half a key would not be recognised.
        return replace(response, content=self.mask.bytes(response.content))


_parse_url: Final = lru_cache(maxsize=64)(httpx.URL)


def _basic_authorization(url: httpx.URL) -> dict[str, str]:
    """Return the authorization header for a URL with a user and a password."""
    if not url.userinfo:
        return {}
    pair = f"{url.username}:{url.password}".encode()
    return {"authorization": f"Basic {b64encode(pair).decode('ascii')}"}


def encode(body: Mapping[str, Any]) -> bytes:
    """Return the body as JSON; lone surrogates are escaped."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


def read_key(variable: str) -> str:
    """Return the key in an environment variable; empty if the variable is not set."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and (key.isprintable() or not key)):
        raise BadParameter(f"the environment variable {variable!r} holds an invalid key")
    return key


def server_events(content: bytes) -> Iterator[str]:
    """Yield the data of each server-sent event."""
    data: list[str] = []
    for line in [*content.decode("utf-8", "replace").split("\n"), ""]:
        text = line.removesuffix("\r")
        if not text and data:
            yield "\n".join(data)
            data = []
        elif text.startswith("data:"):
            data.append(text[5:].removeprefix(" "))


def read_event(event: str) -> dict[str, Any]:
    """Return the JSON object of one event; raise ModelError if the event is cut off."""
    return read_object(event, "an event of the stream", fatal=False)


def cut_off(content: bytes) -> ModelError:
    """Return the error for a stream that is cut off, or a response that is no stream."""
    if any(True for _ in server_events(content)):
        problem = f"the stream stops in the middle of a reply: {excerpt(content)}"
        return ModelError(problem, fatal=False)
    # An error may come as a plain response, though a stream was asked for.
    with suppress(ValueError):
        value = orjson.loads(content)
        if isinstance(value, dict) and value.get("error"):
            raise reported_error(value["error"], "the response")
    return ModelError(f"the response is no stream of events: {excerpt(content)}")


def read_object(content: str | bytes, what: str, *, fatal: bool = True) -> dict[str, Any]:
    """Return `content` as a JSON object; raise ModelError if the object reports an error."""
    try:
        value = orjson.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ModelError(f"{what} is not a JSON object: {excerpt(content)}", fatal=fatal)
    if value.get("error"):
        raise reported_error(value["error"], what)
    return value


def reported_error(error: object, what: str) -> ModelError | PromptTooLong:
    """Return the error that a response of status 200, or an event in it, reports."""
    text = str(error)
    problem = f"{what} reports an error: {excerpt(text)}"
    if is_prompt_too_long(text):
        return PromptTooLong(problem)
    return ModelError(problem, fatal=not may_pass(error))


def excerpt(content: str | bytes) -> str:
    """Return the start of the content on one line, without control characters."""
    head = content[:4096]
    text = head if isinstance(head, str) else head.decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= EXCERPT_CHARS else line[: EXCERPT_CHARS - 1] + "…"


def string_in(record: object, name: str) -> str:
    """Return the text under a name of a record; empty if the value is not a text."""
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def token_count(record: object, name: str) -> int:
    """Return the token count under a name of a record; 0 if the value is not a count."""
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0
