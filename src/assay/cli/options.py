"""Options that several commands share, and functions that read option values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.errors import BadParameter
from assay.registry.annotations import UNKNOWN, OptionText, annotations_of, read_option

RUNS_DIR = "runs"
PATH = click.Path(path_type=Path)
F = TypeVar("F", bound=Callable[..., Any])

runs_option = click.option("--runs", "runs_dir", type=PATH, default=RUNS_DIR, metavar="FOLDER",
                           help="Where the runs are.")  # fmt: skip
"""The option `--runs FOLDER`, passed on as `runs_dir`."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
"""The option `--json`, passed on as `as_json`."""


import_option = click.option("--import", "imports", multiple=True, metavar="MODULE|FILE.py",
                             help="Import a module or file that registers your own names.",
)  # fmt: skip
"""The option `--import MODULE`, passed on as `imports`."""

param_option = click.option("--param", "params", multiple=True, metavar="KEY=VALUE",
                            help="An option of the reward.")  # fmt: skip
"""The option `--param KEY=VALUE`, passed on as `params`; `options_of` reads it."""

column_option = click.option("--column", "columns", multiple=True, metavar="PARAMETER=COLUMN",
                             help="Column of a parameter of the reward, such as answer=solution.",
)  # fmt: skip
"""The option `--column PARAMETER=COLUMN`, passed on as `columns`; `column_map` reads it."""


def renamed_option(old: str, new: str) -> Callable[[F], F]:
    """A hidden option under its earlier name; its use is an error that names the new option."""

    def refuse(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise click.UsageError(f"{old} is called {new} now")

    return click.option(old, hidden=True, expose_value=False, callback=refuse)


class DollarAmount(click.FloatRange):
    """A command-line type: a number of dollars of at least 0."""

    name = "amount"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number of dollars; fail for a text that is not a number."""
        try:
            float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a number of dollars, such as 5 or 0.50", param, ctx)
        number: float = super().convert(value, param, ctx)
        return number


class WholeNumber(click.IntRange):
    """A command-line type: a whole number within a range."""

    name = "whole number"


def check_folder(path: Path) -> None:
    """Raise `BadParameter` if the folder of the output file does not exist."""
    if not path.parent.is_dir():
        raise BadParameter(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")


def max_abstained_option(help_text: str) -> Callable[[Any], Any]:
    """The option `--max-abstained`, passed on as `most`; `count_or_share` reads it."""
    return click.option("--max-abstained", "most", metavar="N|SHARE", help=help_text)


def count_or_share(text: str | None, option: str) -> float | None:
    """Read `100` as a count (an `int`), and `0.05` or `5%` as a share (a `float`)."""
    if text is None:
        return None
    try:
        if text.endswith("%"):
            return float(text.removesuffix("%")) / 100
        return float(text) if "." in text else int(text)
    except ValueError:
        raise BadParameter(
            f"{option} {text!r}; give a number of rows, or a share such as 0.05 or 5%"
        ) from None


def column_map(columns: Sequence[str]) -> dict[str, str]:
    """The column of each reward parameter, from texts such as `answer=solution`."""
    pairs = [text.partition("=") for text in columns]
    for parameter, equals, column in pairs:
        if not (parameter and equals and column):
            raise BadParameter(
                f"--column {parameter + equals + column!r} is not PARAMETER=COLUMN, such as "
                "answer=solution"
            )
    columns_of = {parameter: column for parameter, _, column in pairs}
    for parameter, _, column in pairs:
        if columns_of[parameter] != column:
            raise BadParameter(
                f"--column gives {parameter!r} two columns: {column!r}, {columns_of[parameter]!r}"
            )
    return columns_of


def key_text(text: str, option: str) -> tuple[str, OptionText]:
    """Split `key=value`; the value stays text until the type of its option is known."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadParameter(f"{option} {text[:200]!r} is not KEY=VALUE")
    return key, OptionText(value)


def options_of(
    texts: Sequence[str], option: str, maker: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """The values given for an option such as `--param`, by key.

    A value stays text where `maker` says that the key is a text: `--param zip=01067` and
    `--param guess=43` alike.
    """
    types = {} if maker is None else annotations_of(maker)
    pairs = (key_text(text, option) for text in texts)
    return {key: read_option(value, types.get(key, UNKNOWN)) for key, value in pairs}
