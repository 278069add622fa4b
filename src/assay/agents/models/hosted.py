"""The common part of models behind HTTP: options, key, and one request for each reply."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import urlsplit

from assay.agents.models.cache import ask
from assay.agents.models.endpoint import Endpoint, read_key
from assay.agents.models.protocol import Reply, TokenPrices
from assay.agents.models.retries import RetryPolicy
from assay.agents.models.timeouts import CALL_S, check_timeout, model_call
from assay.errors import BadParameter, ModelError
from assay.schema.secrets import SecretMask

_NO_TOOLS = re.compile(r": status 4\d\d: .*\b(?:tools?|tool[-_ ]?choice|function)\b", re.IGNORECASE)
"""What a server says that was started without support for tools, or does not know them."""


@dataclass(kw_only=True, eq=False, repr=False)
class HostedModel(ABC):
    """A model behind HTTP; each request holds the whole conversation.

    Only the default server needs a key. `extra` is added to the body of every request; `timeout_s`
    is for one reply, retries included.
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
    """What follows the base URL and its version."""
    native_tools: ClassVar[bool] = True
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
        self._prices = TokenPrices(self.input_usd_per_mtok, self.output_usd_per_mtok)
        url = self._url()
        headers = self._headers(key)
        self._endpoint = Endpoint(
            url, headers=headers, secret=key, retry=self.retry, key_env=self.api_key_env
        )

    def _read_key(self) -> str:
        key = read_key(self.api_key_env)
        if not key and urlsplit(self.base_url).netloc == urlsplit(self.own_url).netloc:
            raise BadParameter(
                f"{self.base_url} needs a key; put it in the environment variable "
                f"{self.api_key_env!r}, or set `base_url` to a server that needs none"
            )
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise BadParameter(
                f"base_url is {self.base_url!r}; it must begin with http:// or https://"
            )
        return key

    def _url(self) -> str:
        """Return the URL for requests: `base_url`, `/v1` if `base_url` has no path, and `path`."""
        base = self.base_url.rstrip("/")
        if base.endswith(self.path):
            return base
        path = urlsplit(base).path
        return base + ("" if path else "/v1") + self.path

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        timeout_s: float,
        session: str | None = None,  # noqa: ARG002 - the server keeps no conversation
        tools: Sequence[dict[str, Any]] = (),
    ) -> Reply:
        """Return the model's reply, which may call the tools."""
        body = {**self._body, **self._seed(), **self._conversation(messages)}
        if tools:
            body["tools"] = [self._tool(tool["function"]) for tool in tools]
        read = self._read_stream if self.stream else self._read
        try:
            async with model_call():
                reply = await ask(self._endpoint, body, read, timeout_s=timeout_s)
        except ModelError as error:
            if not tools or _NO_TOOLS.search(str(error)) is None:
                raise
            hint = "a server that takes no tools is asked in text with --set tool_calls=text"
            raise ModelError(f"{error} ({hint})", fatal=error.fatal) from None
        # Once more: in a stream of events the key may have come in pieces.
        return _masked(reply, self._endpoint.mask)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _seed(self) -> dict[str, Any]:
        """The fields of a request's body that hold the attempt's seed."""
        return {}

    @abstractmethod
    def _headers(self, key: str) -> dict[str, str]:
        """The headers of every request; the key may be empty."""

    @abstractmethod
    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The fields of a request's body that hold the conversation."""

    @abstractmethod
    def _tool(self, function: Mapping[str, Any]) -> dict[str, Any]:
        """Return a tool in the form of the API, from its name, description and parameters."""

    @abstractmethod
    def _read(self, content: bytes) -> Reply:
        """Return the reply in a response; raise ModelError if the response has none."""

    @abstractmethod
    def _read_stream(self, content: bytes) -> Reply:
        """Return the reply in a stream of events; raise ModelError if the stream is cut off."""


def _masked(reply: Reply, mask: SecretMask) -> Reply:
    """Return the reply with the key removed from its text, calls and fields."""
    calls = tuple(
        replace(call, name=mask.text(call.name), arguments=mask.text(call.arguments))
        for call in reply.calls
    )
    fields = {name: _masked_value(value, mask) for name, value in reply.fields.items()}
    return replace(reply, text=mask.text(reply.text), calls=calls, fields=fields)


def _masked_value(value: Any, mask: SecretMask) -> Any:
    if isinstance(value, str):
        return mask.text(value)
    if isinstance(value, list):
        return [_masked_value(item, mask) for item in value]
    if isinstance(value, dict):
        return {name: _masked_value(item, mask) for name, item in value.items()}
    return value
