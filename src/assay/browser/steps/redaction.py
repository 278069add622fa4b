"""Remove secrets, typed texts, queries of addresses and long values from a call's arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

_TEXT_LIMIT: Final = 120
_ITEM_LIMIT: Final = 20
_DEPTH_LIMIT: Final = 4

_SECRET: Final = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|auth|bearer|cookie|session|credential|api_?key"
    r"|private_?key|card|cvv|cvc|iban|ssn|otp|pin",
    re.IGNORECASE,
)
_TYPED: Final = frozenset(("text", "value", "values", "content", "body", "fields", "keys", "code"))


def redact(arguments: Mapping[Any, Any], *, depth: int = 1) -> dict[str, Any]:
    return {
        str(key)[:_TEXT_LIMIT]: _redact_value(str(key), value, depth=depth)
        for key, value in islice(arguments.items(), _ITEM_LIMIT)
    }


def _redact_value(key: str, value: Any, *, depth: int) -> Any:
    if _SECRET.search(key):
        return "[secret]"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value if -(10**15) < value < 10**15 else "[large number]"
    if isinstance(value, str):
        return _redact_text(key, value)
    if depth >= _DEPTH_LIMIT:
        return "[nested]"
    if isinstance(value, Mapping):
        return redact(value, depth=depth + 1)
    if isinstance(value, (list, tuple)):
        return [_redact_value(key, item, depth=depth + 1) for item in value[:_ITEM_LIMIT]]
    return f"[{type(value).__name__}]"


def _redact_text(key: str, value: str) -> str:
    if key.lower() in _TYPED:
        return f"[{len(value)} characters]"
    if "://" in value[:20]:
        try:
            parts = urlsplit(value)
            host = parts.netloc.rpartition("@")[2]
        except ValueError:
            return "[address]"
        value = f"{parts.scheme}://{host}{parts.path}" + ("?[query]" if parts.query else "")
    return value if len(value) <= _TEXT_LIMIT else f"{value[:_TEXT_LIMIT]}[cut]"
