"""What the models behind HTTP endpoints share: the options, the key, and one request per reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import urlsplit

from assay.agents.models.cache import ask
from assay.agents.models.calls import CALL_S, check_timeout, model_call
from assay.agents.models.endpoint import Endpoint, RetryPolicy, read_key
from assay.agents.models.protocol import Prices, Reply
from assay.errors import BadParameter


@dataclass(kw_only=True, eq=False, repr=False)
class HostedModel(ABC):
    """A model that gets the whole conversation with each request.

    The key is read from the environment variable `api_key_env` when the model is made. A server
    that asks for none needs none: only the default one is refused without a key. `extra` is added
    to the body of every request, for what one server has and another does not. `timeout_s` is for
    one reply, retries included.
    """

    model: str
    base_url: str
    api_key_env: str
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    extra: Mapping[str, Any] | None = None
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    timeout_s: float = CALL_S
    retry: RetryPolicy | None = None

    own_url: ClassVar[str]
    """The default of `base_url`."""
    path: ClassVar[str]
    """What follows the base URL."""
    stream_body: ClassVar[Mapping[str, Any]] = MappingProxyType({"stream": True})
    """What the body of a request for a stream of events has more."""

    def __post_init__(self) -> None:
        check_timeout(self.timeout_s)
        key = self._read_key()
        choices = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        self._body = {
            "model": self.model,
            **{name: value for name, value in choices.items() if value is not None},
            **(self.stream_body if self.stream else {}),
            **(self.extra or {}),
        }
        self._prices = Prices(self.input_usd_per_mtok, self.output_usd_per_mtok)
        url = self.base_url.rstrip("/") + self.path
        headers = self._headers(key)
        self._endpoint = Endpoint(url, headers=headers, secret=key, retry=self.retry)

    def _read_key(self) -> str:
        key = read_key(self.api_key_env)
        if not key and self.base_url == self.own_url:
            raise BadParameter(
                f"{self.base_url} needs a key; put it in the environment variable "
                f"{self.api_key_env!r}, or set `base_url` to a server that needs none"
            )
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise BadParameter(f"base_url is {self.base_url!r}; it begins with http:// or https://")
        return key

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        timeout_s: float,
        session: str | None = None,  # noqa: ARG002 - the server keeps no conversation
    ) -> Reply:
        """The assistant's next message."""
        body = {**self._body, **self._seed(), **self._conversation(messages)}
        read = self._read_stream if self.stream else self._read
        async with model_call():
            reply = await ask(self._endpoint, body, read, timeout_s=timeout_s)
        # Once more: in a stream of events the key may have come in pieces.
        return replace(reply, text=self._endpoint.mask.text(reply.text))

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _seed(self) -> dict[str, Any]:
        """What the body of a request says of the attempt's seed."""
        return {}

    @abstractmethod
    def _headers(self, key: str) -> dict[str, str]:
        """The headers of every request; the key may be empty."""

    @abstractmethod
    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The messages as the body of a request holds them."""

    @abstractmethod
    def _read(self, content: bytes) -> Reply:
        """The reply in a response; raises `ModelError` when there is none."""

    @abstractmethod
    def _read_stream(self, content: bytes) -> Reply:
        """The reply in a response of server-sent events; raises `ModelError` when it is cut."""
