"""Options that several commands take, and the values that they read from text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from assay.errors import BadParameter, UnknownName
from assay.registry import AGENTS
from assay.registry.annotations import UNKNOWN, admits, annotations_of

RUNS_DIR = "runs"

runs_option = click.option(
    "--runs",
    "runs_dir",
    type=click.Path(path_type=Path),
    default=RUNS_DIR,
    show_default=True,
    metavar="FOLDER",
    help="Where the runs are.",
)
"""The option `--runs FOLDER`, passed on as `runs_dir`."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
"""The option `--json`, passed on as `as_json`."""


def key_value(text: str, option: str) -> tuple[str, Any]:
    """`key=value`; the value is JSON where it can be read as such, else the text itself.

    A number that a record could not hold (NaN, infinity, more than 64 bits) is text too. Raises
    `BadParameter` for a text without a key or an equals sign.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadParameter(f"{option} {text[:200]!r} is not KEY=VALUE")
    try:
        return key, json.loads(
            value, parse_int=_whole_number, parse_float=_number, parse_constant=_number
        )
    except (ValueError, RecursionError):
        return key, value


def options_of(
    texts: Sequence[str], option: str, maker: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """Each `key=value` that was given for an option such as `--set`.

    A value stays text where `maker` says that the key is a text: `--set zip=01067` and
    `--set guess=43` alike.
    """
    annotations = {} if maker is None else annotations_of(maker)
    options: dict[str, Any] = {}
    for text in texts:
        key, value = key_value(text, option)
        raw = text.partition("=")[2]
        annotation = annotations.get(key, UNKNOWN)
        is_text = not admits(annotation, value) and admits(annotation, raw)
        options[key] = raw if is_text else value
    return options


def agent_options(texts: Sequence[str], agent: str | None) -> dict[str, Any]:
    """The values of `--set`, read as the agent's own options say; an unknown agent says nothing."""
    maker = None
    with suppress(UnknownName):
        maker = None if agent is None else AGENTS.get(agent)
    return options_of(texts, "--set", maker)


def _whole_number(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"{digits[:40]} has more than 64 bits")
    return number


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is not finite")
    return number
