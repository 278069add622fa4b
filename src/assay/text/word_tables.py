"""Read tables of words from TOML files, and check them against a record.

A text holds phrases with `|` or a line break between them; in a phrase that `phrase_pattern`
compiles, `*` stands for up to three words and `/` between two words for either of them. An array
holds texts that are taken as they stand. The reader keeps nothing: its callers cache their tables.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from assay.errors import BadRecord, did_you_mean
from assay.lazy import read_toml

Record = TypeVar("Record", bound=Any)
Fold = Callable[[str], str] | None

NEVER: Final = re.compile(r"(?!)")
"""The pattern of a table without phrases."""
_GAP: Final = r"(?: [^ ]+){0,3}"


def read_table(shape: type[Record], package: str, file: str, *, fold: Fold = None) -> Record:
    """Read a record from a package's TOML file; `fold` normalises each phrase."""
    record: Record = _filled(shape, _document(package, file), f"{package}/{file}", fold)
    return record


def read_rows(shape: type[Record], package: str, file: str) -> tuple[Record, ...]:
    """Read one record from each `[[row]]` table of a TOML file, in order."""
    document, where = _document(package, file), f"{package}/{file}"
    unknown = next((key for key in document if key != "row"), None)
    if unknown is not None:
        raise BadRecord(f"{where}: unknown key {unknown!r}; use only [[row]] tables")
    return tuple(
        _filled(shape, row, f"{where}, row {number}", None)
        for number, row in enumerate(document.get("row", []), 1)
    )


def phrases(text: str, fold: Fold = None) -> tuple[str, ...]:
    """Split a text into its phrases, in order."""
    listed = filter(None, text.replace("\n", "|").split("|"))
    return tuple(map(fold, listed) if fold is not None else listed)


def phrase_pattern(phrase: str) -> str:
    """Make a pattern for a phrase, in a text with spaces around each word."""
    parts = []
    for word in phrase.split():
        choices = "|".join(map(re.escape, word.split("/")))
        parts.append(_GAP if word == "*" else f" (?:{choices})")
    return "".join(parts)


def trie_pattern(words: Iterable[str]) -> str:
    """Make a pattern that matches any of the texts, the longest first."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]  # a tree of itself
    for word in words:
        node = root
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branch(root)


def _branch(node: dict) -> str:  # type: ignore[type-arg]  # a tree of itself
    ends = "" in node
    options = [re.escape(char) + _branch(child) for char, child in node.items() if char]
    if not options:
        return ""
    joined = options[0] if len(options) == 1 and not ends else f"(?:{'|'.join(options)})"
    return f"{joined}?" if ends and joined.startswith("(?:") else joined


def _document(package: str, file: str) -> dict[str, Any]:
    try:
        return read_toml(package, file.removesuffix(".toml"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecord(f"{package}/{file} is not valid TOML: {error}") from error


@cache
def _hints(shape: Hashable) -> dict[str, Any]:
    return get_type_hints(shape)


def _filled(shape: Any, table: Mapping[str, Any], where: str, fold: Fold) -> Any:
    hints = _hints(shape)
    for key in table:
        if key not in hints:
            raise BadRecord(f"{where}: unknown key {key!r}; {did_you_mean(key, hints)}")
    for field in fields(shape):
        if field.name not in table and field.default is MISSING:
            raise BadRecord(f"{where}: the key {field.name!r} is missing")
    return shape(**{key: _value(hints[key], table[key], f"{where}: {key}", fold) for key in table})


def _value(hint: Any, value: Any, where: str, fold: Fold) -> Any:
    """Convert a TOML value to the type of its field."""
    kind = get_origin(hint) or hint
    if kind in (tuple, frozenset):
        return kind(_phrases(get_args(hint)[0], value, where, fold))
    if kind is dict and isinstance(value, dict):
        inner = get_args(hint)[1]
        return {key: _value(inner, each, f"{where}.{key}", fold) for key, each in value.items()}
    if value in get_args(hint) if kind is Literal else type(value) is kind:
        return value
    raise BadRecord(f"{where}: {value!r:.80} has the wrong type; it must be {hint}")


def _phrases(hint: Any, value: Any, where: str, fold: Fold) -> Sequence[str]:
    """The phrases of a text, or the members of an array; none may repeat."""
    if isinstance(value, str):
        members: Sequence[str] = phrases(value, fold)
    elif isinstance(value, list):
        members = [_value(hint, each, where, fold) for each in value]
    else:
        raise BadRecord(f"{where}: {value!r:.80} is not a text and not an array")
    if len(set(members)) < len(members):
        twice = next(each for n, each in enumerate(members) if each in members[:n])
        raise BadRecord(f"{where}: {twice!r} is there twice")
    return members
