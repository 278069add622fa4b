"""A cache of models' replies: files in a folder, found by a hash of the request.

The hash includes the repeat and the seed of the attempt, and how often it has made the request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.agents.attempt import AttemptState, current_attempt
from assay.agents.models.connections import connections_of_the_run
from assay.agents.models.endpoint import Endpoint
from assay.agents.models.protocol import Reply
from assay.errors import ModelError
from assay.schema.usage import Usage

FREE = Usage(cost_usd=0.0)


async def ask(
    endpoint: Endpoint,
    body: Mapping[str, Any],
    read: Callable[[bytes], Reply],
    *,
    timeout_s: float,
) -> Reply:
    """Return the reply from the run's cache, at no cost, or from the server.

    Only a response that `read` can read is kept; errors of the cache are ignored.
    """
    connections = connections_of_the_run()
    folder = None if connections is None else connections.cache
    if folder is None:
        return await endpoint.post_and_read(body, read, timeout_s=timeout_s)
    attempt = current_attempt()
    path = _path(folder, endpoint.url, body, attempt)
    # Where there is no file, or what a full disk or a power cut left of a response.
    with suppress(OSError, ModelError):
        reply = replace(read(path.read_bytes()), usage=FREE)
        attempt.cached_calls += 1
        return reply

    def read_and_keep(content: bytes) -> Reply:
        reply = read(content)
        with suppress(OSError):
            _keep(path, content)
        return reply

    return await endpoint.post_and_read(body, read_and_keep, timeout_s=timeout_s)


def _path(folder: Path, url: str, body: Mapping[str, Any], attempt: AttemptState) -> Path:
    request = _digest([url, body])
    number = attempt.requests[request]
    attempt.requests[request] += 1
    key = _digest([request, attempt.repeat, attempt.seed, number])
    return folder / key[:2] / key


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _keep(path: Path, content: bytes) -> None:
    """Write the file atomically: a reader sees the whole file or no file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{uuid4().hex}.draft")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
