"""Waiting times between requests: exponential backoff with jitter, and `Retry-After`."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_S = 1e9
"""A longer wait is a mistake of the server's."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The number of times that a request is sent, and the waiting times in between."""

    attempts: int = 6
    """Requests in all, the first included."""
    base_s: float = 0.5
    """The longest wait after the first attempt; doubled after every further one."""
    cap_s: float = 30.0

    def wait_s(self, sent: int, rng: random.Random) -> float:
        """A random waiting time, so that refused clients do not return at the same moment."""
        longest_s = min(self.cap_s, self.base_s * 2.0 ** min(sent - 1, 30))
        return longest_s * (0.5 + 0.5 * rng.random())


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds of a `Retry-After` header, or `None` if the header is missing or invalid.

    A date is read against the `Date` of the same response, the server's own clock.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            wait = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("date", ""))
        except (TypeError, ValueError):
            return None
        seconds = max(0.0, wait.total_seconds())
    return seconds if 0 <= seconds < MAX_RETRY_AFTER_S else None
