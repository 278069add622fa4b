"""What the commands that explain runs share: JSON, signed numbers, `key=value`, short words."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.text import Text

from assay.errors import BadParameter
from assay.report.statistics import ConfidenceInterval

RUNS_DIR = "runs"
GOOD, BAD, DULL = "green", "red", "dim"


def print_json(record: Any) -> None:
    """The record on stdout, as ASCII: a model may have said what has no other form."""
    click.echo(json.dumps(record, indent=2, default=str))


def signed(value: float | None, *, digits: int = 3) -> Text:
    """A difference, green upwards and red downwards."""
    if value is None:
        return Text("—", style=DULL)
    style = DULL if abs(value) < 1e-9 else GOOD if value > 0 else BAD
    return Text(f"{value:+.{digits}f}", style=style)


def reward(value: float | None) -> Text:
    """A reward, or a dash where there is none."""
    if value is None:
        return Text("—", style="yellow")
    return Text(f"{value:.3f}", style=GOOD if value >= 0.99 else BAD if value <= 0 else "cyan")


def between(interval: ConfidenceInterval | None) -> str:
    """`[low, high]`, or nothing."""
    return "" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def words(name: str) -> str:
    """A code as words."""
    return name.replace("_", " ")


def key_value(text: str, option: str) -> tuple[str, Any]:
    """`key=value`; the value is JSON where it can be read as such, else the text itself."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadParameter(f"{option} {text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
