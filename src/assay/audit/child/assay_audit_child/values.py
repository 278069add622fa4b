"""Convert the return value of any reward function to one plain reply."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeAlias

LONGEST_TEXT = 500
KEYS = ("reward", "score")
"""Where a mapping holds its number, in the order tried."""
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters, as its own metrics count them."""

Reading: TypeAlias = tuple[str, float | None, str, dict[str, float | None]]
"""Status, number, reason and metrics."""


def reply(returned: Any, keys: tuple[str, ...] = KEYS) -> dict[str, Any]:
    """Read the status, number, reason and metrics from a return value."""
    return _reply(*_read(returned, keys), kind=type(returned).__name__)


def _read(returned: Any, keys: tuple[str, ...]) -> Reading:
    if returned is None:
        return "abstained", None, "returned None", {}
    if hasattr(returned, "abstained") and hasattr(returned, "because"):
        # Our own records, read without importing them.
        parts = _numbers(returned.parts)
        if returned.abstained:
            status = "raised" if returned.reason == "grader_error" else "abstained"
            return status, None, f"{returned.reason}: {returned.because}", parts
        return _scored(returned.value, "a score of", str(returned.because), parts)
    if not isinstance(returned, Mapping):
        return _scored(returned, f"returned {type(returned).__name__}", "", {})
    key = next((key for key in keys if key in returned), None)
    if key is None:
        names = sorted(map(str, returned))
        return "raised", None, f"returned a mapping without {keys[0]!r}: {names}", {}
    parts = _numbers({name: value for name, value in returned.items() if name != key})
    if returned[key] is None:
        return "abstained", None, f"{key!r} is None", parts
    return _scored(returned[key], f"{key!r} is", "", parts)


def _scored(value: Any, what: str, because: str, parts: dict[str, float | None]) -> Reading:
    number = to_number(value)
    if number is None:
        return "raised", None, f"{what} {value!r:.120}, which is not a number", {}
    return "scored", number, because, parts


def first_of(returned: Any) -> Any:
    """Return the only element of a list, or the value itself if it is no list."""
    listed = returned.tolist() if hasattr(returned, "tolist") else returned
    if isinstance(listed, (list, tuple)):
        if len(listed) != 1:
            raise TypeError(f"the reward returned {len(listed)} numbers for 1 completion")
        return listed[0]
    return listed


def batch_reply(returned: Mapping[str, Any]) -> dict[str, Any]:
    """Read the single reward of an OpenRLHF mapping, with its logs as metrics."""
    logs = {key: first_of(value) for key, value in (returned.get("extra_logs") or {}).items()}
    return reply({"reward": first_of(returned.get("rewards")), **logs})


def refused(because: str, kind: str = "") -> dict[str, Any]:
    """Build a reply for a call whose result no trainer could use."""
    return _reply("raised", None, because, {}, kind=kind)


def raised(error: BaseException) -> dict[str, Any]:
    try:
        text = str(error)
    except Exception as broken:  # noqa: BLE001 - an exception may fail to describe itself
        text = f"({type(broken).__name__} while describing it)"
    return refused(f"{type(error).__name__}: {text}")


def to_number(value: Any) -> float | None:
    """Convert a number of any library to a float; `None` for other values."""
    if isinstance(value, Real):
        return _float(value)
    item = getattr(value, "item", None)
    if callable(item) and not isinstance(value, (str, bytes)):
        try:
            plain = item()
        except (TypeError, ValueError, RuntimeError):
            return None
        return _float(plain) if isinstance(plain, Real) else None
    return None


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _numbers(parts: Mapping[Any, Any]) -> dict[str, float | None]:
    """Convert metrics to numbers; a metric that is no number becomes `None`."""
    return {str(name): to_number(value) for name, value in parts.items()}


def _reply(
    status: str, value: float | None, because: str, parts: dict[str, float | None], *, kind: str
) -> dict[str, Any]:
    return {
        "status": status,
        "value": value,
        "because": because[:LONGEST_TEXT],
        "parts": parts,
        "raw_type": kind,
    }
