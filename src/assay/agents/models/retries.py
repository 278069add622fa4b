"""Decides whether a failed request to a model's server is retried, and after which wait."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from assay.agents.models.http1 import Response
from assay.resources.backoff import Backoff, retry_after_s

POLITE_S = 0.5
"""A server that asks to wait for at least so long is asked as often as the call's time allows."""
NO_QUOTA = (
    "insufficient_quota", "quota_exceeded", "exceeded your current quota",
    "billing_hard_limit_reached", "billing_not_active", "credit balance is too low",
)  # fmt: skip
"""What servers say of an account that is used up, also with a status that asks to wait."""
TOO_LONG = (
    "context_length_exceeded", "maximum context length", "prompt is too long",
    "context window", "exceeds the available context size", "request_too_large",
)  # fmt: skip
"""What servers say of a conversation that is longer than the model takes."""
TEMPORARY = (
    "overloaded", "rate_limit", "rate limit", "too many requests", "server_error", "api_error",
    "internal", "timeout", "timed out", "unavailable", "try again",
)  # fmt: skip
"""What an error in the body of a response with status 200 says of itself when it may pass."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is retried, and how long to wait before each retry."""

    backoff: Backoff = field(default_factory=Backoff)
    """The waits, unless the server says how long to wait."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)


default_retry: Final = lru_cache(maxsize=1)(RetryPolicy)
"""Made once: drawing a seed takes longer than all else in making a model."""


class RequestFailure(NamedTuple):
    """Why a request failed; a retry may succeed."""

    text: str
    fatal: bool = True
    wait_s: float | None = None
    """How long the server asks to wait."""
    is_busy: bool = False
    """Whether the server got too many requests (status 429)."""


class Attempts:
    """The attempts at one model call: the number sent, the number allowed, and the deadline."""

    def __init__(self, policy: RetryPolicy, timeout_s: float) -> None:
        self.sent = 0
        self._policy = policy
        self._most = policy.backoff.attempts
        self._deadline = policy.clock() + timeout_s

    def are_left(self) -> bool:
        return self.sent < self._most

    def begin(self) -> float:
        """Count an attempt, and return the seconds that it may take."""
        self.sent += 1
        return max(self._deadline - self._policy.clock(), 0.001)

    def wait_s(self, problem: RequestFailure) -> float | None:
        """Return the seconds to wait before the next attempt; `None` if none is left."""
        if problem.is_busy and (problem.wait_s or 0.0) >= POLITE_S:
            self._most += 1
        wait = problem.wait_s
        if wait is None:
            wait = self._policy.backoff.wait_s(self.sent, self._policy.rng)
        out_of_time = self._policy.clock() + wait >= self._deadline
        return None if out_of_time or not self.are_left() else wait


def problem_of(response: Response, text: str) -> RequestFailure | None:
    """Return the problem if a retry may succeed after this response, else `None`."""
    if not _is_temporary(response.status) or _has(response.content, NO_QUOTA):
        return None
    is_slow = response.status in (408, 429)
    wait_s = retry_after_s(response.headers)
    return RequestFailure(text, fatal=not is_slow, wait_s=wait_s, is_busy=response.status == 429)


def is_prompt_too_long(content: str | bytes) -> bool:
    """Whether an error says that the conversation is too long for the model."""
    return _has(content, TOO_LONG)


def may_pass(error: object) -> bool:
    """Whether a retry may succeed after this error in a response of status 200."""
    text = str(error)
    if _has(text, NO_QUOTA):
        return False
    names = ("type", "code", "status")
    codes = [str(error[name])[:80] for name in names if isinstance(error, dict) and error.get(name)]
    numbers = [int(code) for code in codes if re.fullmatch(r"[0-9]{3}", code)]
    # The error's own code, where it has one, says more than the words of its message.
    return any(map(_is_temporary, numbers)) or _has(" ".join(codes) or text, TEMPORARY)


def _is_temporary(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _has(content: str | bytes, phrases: tuple[str, ...]) -> bool:
    head = content[:4096]
    text = (head if isinstance(head, str) else head.decode("utf-8", "replace")).lower()
    return any(phrase in text for phrase in phrases)
