"""One step as a line of telemetry: what was called, what it was worth, and no secrets.

Arguments are redacted before they are written: what a key names as secret, what was typed into a
page, the values in an address's query, and everything long. A record is never larger than 4 KiB.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from assay.browser.steps.inputs import StepInput
from assay.browser.steps.recovery import RecoveryRewardScorer
from assay.schema.evidence import PageEvidence
from assay.schema.step_score import MOST, StepScore, step_score_to_record

RECORD_LIMIT_BYTES: Final = 4_096
_TEXT_LIMIT: Final = 120
_ITEM_LIMIT: Final = 20
_DEPTH_LIMIT: Final = 4

_SECRET: Final = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|auth|bearer|cookie|session|credential|api_?key"
    r"|private_?key|card|cvv|cvc|iban|ssn|otp|pin",
    re.IGNORECASE,
)
_TYPED: Final = frozenset(("text", "value", "values", "content", "body", "fields", "keys", "code"))


def to_record(
    score: StepScore,
    step: StepInput,
    *,
    index: int,
    arguments: Mapping[str, Any] | None = None,
    scorer: str = RecoveryRewardScorer.id,
) -> dict[str, Any]:
    """The step as JSON values, of at most 4 KiB; arguments that do not fit are left out."""
    outcome = step.outcome
    record: dict[str, Any] = {
        "index": index,
        "tool": _short(outcome.tool),
        "call": None if outcome.call is None else _short(outcome.call),
        "effect": outcome.effect.name.lower(),
        "gate": _short(outcome.gate),
        "ok": outcome.ok,
        "progress": _short(step.progress),
        "before": _digests(step.before),
        "after": _digests(step.after),
        "step_score": step_score_to_record(score, scorer=scorer),
        "arguments": None if arguments is None else redact(arguments),
    }
    if len(to_json_line(record)) > RECORD_LIMIT_BYTES:
        record["arguments"] = {"left_out": "too large"}
    return record


def to_json_line(record: Mapping[str, Any]) -> bytes:
    """The record as one line of canonical JSON."""
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def redact(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with secrets, typed text and addresses' queries taken out."""
    return _redact_mapping(arguments, depth=1)


def _redact_mapping(mapping: Mapping[Any, Any], *, depth: int) -> dict[str, Any]:
    return {
        str(key)[:_TEXT_LIMIT]: _redact_value(str(key), value, depth=depth)
        for key, value in islice(mapping.items(), _ITEM_LIMIT)
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
        return _redact_mapping(value, depth=depth + 1)
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


def _short(text: str) -> str:
    """The beginning of a text as ASCII, which has a known size in JSON."""
    return text[:40].encode("ascii", "backslashreplace").decode()[:40]


def _digests(page: PageEvidence | None) -> dict[str, Any] | None:
    if page is None:
        return None
    parts = {
        **asdict(page),
        "n_refs": None if page.n_refs is None else min(max(page.n_refs, 0), MOST),
        "shot": None if page.shot is None else f"{page.shot & (2**64 - 1):016x}",
    }
    return {
        name: _short(value) if isinstance(value, str) else value
        for name, value in parts.items()
        if value is not None and name != "kind"
    }
