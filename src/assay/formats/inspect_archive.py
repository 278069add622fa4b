"""Read the header and the samples of an Inspect AI log, one sample at a time.

An `.eval` file is a zip file with a member for each sample, packed with deflate or, by newer
versions, with Zstandard; a `.json` log is one object. Both are read sample by sample: one that is
damaged becomes a problem, and the next is read. A zip file that was cut off has lost its
directory, and is read by the headers of its members.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from assay.errors import BadRecord, MissingExtra
from assay.formats.foreign import LogRecord, ReadProblems, loads
from assay.formats.lines import open_file

MEMBER_BYTES = 1 << 30
"""The largest member of a log that is read, unpacked."""
JSON_BYTES = 2 * 2**30
"""The largest log in JSON that is read."""
STORED, DEFLATED, ZSTANDARD = 0, 8, 93

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_SIGNATURE = b"PK\x03\x04"
_ENDS = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x07\x08")


class _Member(NamedTuple):
    name: str
    method: int
    start: int
    packed: int
    size: int
    crc: int | None


class InspectLog(NamedTuple):
    """An Inspect AI log whose samples are read only on request."""

    header: dict[str, Any]
    samples: Callable[[ReadProblems], Iterator[LogRecord]]


def open_log(path: Path) -> InspectLog:
    """Open an Inspect AI log; raise `BadRecord` if the file is not such a log."""
    try:
        stream = open_file(path)
    except FileNotFoundError as error:
        raise BadRecord(f"there is no file {str(path)!r}") from error
    with stream:
        packed = stream.read(4)[:2] == b"PK"
    return _open_zip(path) if packed else _open_json(path)


def _open_zip(path: Path) -> InspectLog:
    with _mapped(path) as data:
        members, whole = _members(path, data)
        finished = "header.json" in members
        head = members.get("header.json" if finished else "_journal/start.json")
        header = {} if head is None else _read(path, data, head)
    if not header:
        raise BadRecord(f"{str(path)!r} is not an Inspect log: it has no header.json")
    names = [name for name in members if name.startswith("samples/")]

    def samples(problems: ReadProblems) -> Iterator[LogRecord]:
        if not whole:
            problems.add(f"{path.name}: it was cut off; the samples before that are read")
        elif not finished:
            problems.add(f"{path.name}: the evaluation did not end; its samples so far are read")
        with _mapped(path) as data:
            for name in names:
                try:
                    yield LogRecord(name, _read(path, data, members[name]))
                except BadRecord as error:
                    problems.add(f"{name}: {error}")

    return InspectLog(header, samples)


@contextmanager
def _mapped(path: Path) -> Iterator[mmap]:
    with open_file(path) as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        yield data


def _members(path: Path, data: mmap) -> tuple[dict[str, _Member], bool]:
    try:
        with open_file(path) as stream:
            return {member.name: member for member in _listed(stream, data)}, True
    except (zipfile.BadZipFile, struct.error, IndexError):
        return {member.name: member for member in _searched(data)}, False


def _listed(stream: BinaryIO, data: mmap) -> Iterator[_Member]:
    with zipfile.ZipFile(stream) as file:
        for info in file.infolist():
            start = info.header_offset
            fields = _LOCAL.unpack(data[start : start + _LOCAL.size])
            begin = start + _LOCAL.size + fields[9] + fields[10]
            sizes = (info.compress_size, info.file_size)
            yield _Member(info.filename, info.compress_type, begin, *sizes, info.CRC)


def _searched(data: mmap) -> Iterator[_Member]:
    """The complete members of a damaged zip file, found by their headers."""
    at = data.find(_SIGNATURE)
    while at >= 0 and at + _LOCAL.size <= len(data):
        _, _, flags, method, _, _, crc, packed, size, name_length, extra = _LOCAL.unpack(
            data[at : at + _LOCAL.size]
        )
        begin = at + _LOCAL.size + name_length + extra
        name = data[at + _LOCAL.size : at + _LOCAL.size + name_length].decode("utf-8", "replace")
        if flags & 8 or packed == 0xFFFFFFFF:  # the sizes come after the content, or elsewhere
            ends = [end for end in (data.find(mark, begin) for mark in _ENDS) if end >= 0]
            packed, size = (min(ends) if ends else len(data)) - begin, MEMBER_BYTES
            yield _Member(name, method, begin, packed, size, None)
        elif begin + packed <= len(data):
            yield _Member(name, method, begin, packed, size, crc)
        at = data.find(_SIGNATURE, begin + packed)


def _read(path: Path, data: mmap, member: _Member) -> dict[str, Any]:
    if member.size > MEMBER_BYTES:
        raise BadRecord(f"the sample is larger than the limit of {MEMBER_BYTES} bytes")
    packed = data[member.start : member.start + member.packed]
    content = _unpack(path, packed, member)
    if member.crc is not None and zlib.crc32(content) != member.crc:
        raise BadRecord("the sample is damaged: its checksum is wrong")
    return loads(content)


def _unpack(path: Path, packed: bytes, member: _Member) -> bytes:
    try:
        if member.method == STORED:
            return packed
        if member.method == DEFLATED:
            return zlib.decompressobj(-15).decompress(packed, member.size + 1)
        if member.method == ZSTANDARD:
            return _zstandard(path)(packed, member.size)
    except MissingExtra:
        raise
    except Exception as error:  # each way of packing has errors of its own
        raise BadRecord(f"it cannot be unpacked: {error!s:.200}") from error
    raise BadRecord(f"its compression method {member.method} is unknown")


def _zstandard(path: Path) -> Callable[[bytes, int], bytes]:
    """A Zstandard decompressor; raises `MissingExtra` if no library is installed."""
    with suppress(ImportError):
        zstandard = import_module("zstandard")
        return lambda data, size: zstandard.ZstdDecompressor().decompress(data, size)
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise MissingExtra(
            f"{str(path)!r} is compressed with Zstandard, as newer versions of Inspect do; "
            "run: pip install zstandard (or turn the log into JSON with "
            "`inspect log convert --to json`)"
        ) from error
    return lambda data, size: arrow.decompress(data, size, codec="zstd", asbytes=True)


def _open_json(path: Path) -> InspectLog:
    with open_file(path) as stream:
        data = stream.read(JSON_BYTES + 1)
    if len(data) > JSON_BYTES:
        raise BadRecord(f"{str(path)!r} is larger than {JSON_BYTES} bytes; convert it to .eval")
    text = data.decode("utf-8", "replace")
    header, place = _json_header(path, text)

    def samples(problems: ReadProblems) -> Iterator[LogRecord]:
        if place is not None:
            yield from _elements(text, place, problems)

    return InspectLog(header, samples)


_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"
_SAMPLES = re.compile(r'"samples"\s*+:\s*+\[')
"""The beginning of a list under that name; inside a text its quotes would be escaped."""


def _json_header(path: Path, text: str) -> tuple[dict[str, Any], int | None]:
    """The log's data before its samples, and the position of the samples or `None`."""
    for match in _SAMPLES.finditer(text):
        # Anything but the log's own list leaves brackets open here.
        with suppress(BadRecord):
            return loads(text[: match.end()] + "]}"), match.end()
    try:
        header = loads(text)
    except BadRecord as error:
        raise BadRecord(f"{str(path)!r} is not an Inspect log: {error}") from error
    if "eval" not in header:
        raise BadRecord(f"{str(path)!r} is not an Inspect log: it has no samples")
    return header, None


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _elements(text: str, at: int, problems: ReadProblems) -> Iterator[LogRecord]:
    number = 0
    try:
        at = _skip(text, at)
        while text[at] != "]":
            sample, at = _DECODER.raw_decode(text, at)
            if isinstance(sample, dict):
                yield LogRecord(f"sample {number}", sample)
            else:
                problems.add(f"sample {number}: not an object but a {type(sample).__name__}")
            number += 1
            at = _skip(text, at)
            if text[at] == ",":
                at = _skip(text, at + 1)
    except (ValueError, RecursionError, IndexError) as error:
        why = str(error) if isinstance(error, ValueError) else "the file ends there"
        problems.add(f"sample {number} and what comes after it: not JSON: {why:.200}")
