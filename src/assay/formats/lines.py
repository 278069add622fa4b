"""JSON lines that can store any text, and can be read while they are written.

A line is ASCII: control characters, lone surrogates and everything beyond ASCII are escapes, so
that a line break ends a record and nothing else does. NaN and infinity have no JSON form and
become null. The one text that does not come back as it went in is a surrogate pair in two code
points: it is read as the character that it spells.

`load_exact` reads JSON that other tools wrote, and loses nothing of it. An integer beyond 64 bits
keeps all its digits; one of more digits than Python reads becomes an `OversizedInteger`. NaN,
Infinity and numbers that no float holds are read as floats. A reward that cannot use one of these
abstains from its row.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import orjson

from assay.errors import BadRecord
from assay.schema.values import MAX_DIGITS, OversizedInteger

DIGITS = bytes.maketrans(b"123456789[{", b"0" * 9 + b",,")
"""Digits become zeros, and what begins another value becomes a comma."""
_LONG = b"0" * 19
_LONG_INTEGER = re.compile(rb"(?:(?<=[\[:,\s])|(?<=[\[:,\s]-)|(?<=^-)|^)[0-9]{19,}(?=[,\]}\s]|$)")
_ZEROS = re.compile(rb"0*")
_RUNS = 1000
"""Runs of digits that are looked at; data with more of them is taken to hold an integer."""


class FileLine(NamedTuple):
    """One complete line of a file, without its line break."""

    number: int
    """From 1."""
    offset: int
    data: bytes

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.offset + len(self.data) + 1


def dump_json(value: Any) -> bytes:
    """The value as compact ASCII JSON; a value without JSON form becomes its `repr`."""
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError):
        text = _dump_plain(value)
    except RecursionError as error:
        raise BadRecord("a value has too many nested levels for JSON") from error
    return text.encode("ascii")


def dump_line(record: Mapping[str, Any]) -> bytes:
    """The record as a JSON line with a line break."""
    return dump_json(record) + b"\n"


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write the records as lines of a file, and return their number."""
    count = 0
    with path.open("wb") as stream:
        for record in records:
            stream.write(dump_line(record))
            count += 1
    return count


def load_record(data: bytes) -> dict[str, Any]:
    """Read a JSON object from bytes; raise `BadRecord` for anything else."""
    value = _load(data)
    if not isinstance(value, dict):
        raise BadRecord(f"not a JSON object but a {type(value).__name__}")
    return value


def _load(data: bytes) -> Any:
    if not holds_long_integer(data):
        # Half of a surrogate pair, among others, is left to the slower reader.
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(data)
    try:
        return _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"not JSON: {error!s:.200}") from error


def load_exact(data: bytes, marks: bytes | None = None) -> Any:
    """Read a JSON value from bytes without loss; raise `BadRecord` for invalid JSON.

    `marks` are the bytes translated by `DIGITS`, where the caller has them already.
    """
    if not holds_long_integer(data, marks):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            return _load_slowly(data, str(error))
    return _load_slowly(data)


def holds_long_integer(data: bytes, marks: bytes | None = None) -> bool:
    """Whether the data may contain an integer of more than 64 bits."""
    marks = data.translate(DIGITS) if marks is None else marks
    at = marks.find(_LONG)
    for _ in range(_RUNS):
        if at < 0:
            return False
        if _LONG_INTEGER.match(data, at) is not None:
            return True
        run = _ZEROS.match(marks, at)
        at = marks.find(_LONG, at if run is None else run.end())
    return True


def _load_slowly(data: bytes, problem: str = "") -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_int=_integer)
    except RecursionError as error:
        raise BadRecord("is not JSON: nested too deeply") from error
    except ValueError as error:
        raise BadRecord(f"is not JSON: {problem or error!s:.200}") from error


def _integer(digits: str) -> int | OversizedInteger:
    count = len(digits.removeprefix("-"))
    return int(digits) if count <= MAX_DIGITS else OversizedInteger(count)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading; raise `BadRecord` for a folder or a pipe."""
    try:
        # A pipe that nobody writes to would be waited for without this.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadRecord(f"{str(path)!r} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadRecord(f"{str(path)!r} is not a file")
    return os.fdopen(descriptor, "rb")


def read_lines(path: Path, *, start: int = 0, after: int = 0) -> Iterator[FileLine]:
    """The complete lines from byte `start` on; line numbers begin after `after`.

    A last line without its line break is being written, or was torn by a kill: it is not read.
    A file that does not exist has no lines.
    """
    try:
        stream = open_file(path)
    except FileNotFoundError:
        return
    with stream:
        stream.seek(start)
        offset = start
        for number, raw in enumerate(stream, after + 1):
            if not raw.endswith(b"\n"):
                return
            yield FileLine(number, offset, raw[:-1])
            offset += len(raw)


def valid_text(text: str) -> str:
    """The text with lone surrogates escaped, because many readers refuse them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def valid_unicode(value: Any) -> Any:
    """A JSON value whose texts and keys are all valid Unicode."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, Mapping):
        return {valid_text(str(key)): valid_unicode(item) for key, item in value.items()}
    return [valid_unicode(item) for item in value] if isinstance(value, (list, tuple)) else value


def finite_number(value: Any) -> float | None:
    """The value as a float, or `None` for a boolean or a value that is not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _dump_plain(value: Any) -> str:
    try:
        return _ENCODER.encode(_plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRecord(f"a value cannot be written as JSON: {error!s:.200}") from error


def _plain(value: Any) -> Any:
    """The nearest JSON value: null for NaN, a list for a set, text for other objects."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return [_plain(item) for item in sorted(value, key=repr)]
    return str(value) if isinstance(value, Path) else repr(value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain)
