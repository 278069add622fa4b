"""What the models behind HTTP endpoints share: the key, the URL, and one request per reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from assay.agents.models.endpoint import Endpoint, RetryPolicy, read_key
from assay.agents.models.protocol import Prices, Reply
from assay.errors import BadParameter


class HostedModel(ABC):
    """A model that gets the whole conversation with each request."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        key: str,
        body: Mapping[str, Any],
        stream: bool,
        prices: Prices,
        retry: RetryPolicy | None,
    ) -> None:
        self._settings = dict(body)
        self._stream = stream
        self._prices = prices
        self._endpoint = Endpoint(url, headers=headers, secret=key, retry=retry)

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        timeout_s: float,
        session: str | None = None,  # noqa: ARG002 - the server keeps no conversation
    ) -> Reply:
        """The assistant's next message."""
        body = {**self._settings, **self._conversation(messages)}
        read = self._read_stream if self._stream else self._read
        return await self._endpoint.post_and_read(body, read, timeout_s=timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    @abstractmethod
    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The messages as the body of a request holds them."""

    @abstractmethod
    def _read(self, content: bytes) -> Reply:
        """The reply in a response; raises `ModelError` when there is none."""

    @abstractmethod
    def _read_stream(self, content: bytes) -> Reply:
        """The reply in a response of server-sent events; raises `ModelError` when it is cut."""


def key_for(base_url: str, variable: str, *, required_by: str) -> str:
    """The key for this server; raises `BadParameter` where there must be one, or for a bad URL."""
    key = read_key(variable)
    if not key and base_url == required_by:
        raise BadParameter(
            f"{base_url} needs a key; put it in the environment variable {variable!r}, or "
            "set `base_url` to a server that needs none"
        )
    if urlsplit(base_url).scheme not in ("http", "https"):
        raise BadParameter(f"base_url is {base_url!r}; it begins with http:// or https://")
    return key
