"""File formats of other tools: one module for each format, and a table of all formats.

A module translates between files and records, and knows nothing of run folders: `read` gives a
`ForeignRun`, which the ledger writes; `write` takes a `RunRecords`, which the ledger hands out. To
add a format, write one module with `logs` and `read`, with `write`, or with all three, and add its
row to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from assay.errors import BadInput, UnknownName, UsageError, did_you_mean
from assay.formats.foreign import ForeignRun as ForeignRun
from assay.formats.foreign import StoreArtifact as StoreArtifact
from assay.lazy import package_table
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest


class RunRecords(Protocol):
    """Protocol of a recorded run that a format can write."""

    @property
    def manifest(self) -> RunManifest: ...

    def episodes(self, *, full: bool = False) -> Iterable[Episode]:
        """All attempts in order; `full` adds their messages and steps."""

    def final(self) -> Iterable[Episode]:
        """The attempts that count."""

    def text(self, sha256: str) -> str:
        """The text of an artifact."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The description of one file format in the table of formats."""

    name: str
    summary: str
    module: str = ""
    """Of this package, where it has not the format's name. It writes by `write(run, path) -> count`
    (or what `writer` names), and a folder by `files(run)`, its names and contents. It reads by
    `logs(path)`, the logs of this format at a file or under a folder, known by their contents, and
    `read(log, **options) -> ForeignRun`.
    """
    writer: str = "write"
    reads: bool = False
    writes: bool = False
    looks_for: str = ""
    """By what a log of this format is recognised, in words."""
    version: int = 1
    """Of what `read` makes of a log: one that was imported by another version is imported anew."""
    options: tuple[str, ...] = ()
    """What `read` takes apart from the path."""
    suffix: str = ""
    """What the name of a written file or folder ends with."""
    folder: bool = False
    """Whether `suffix` is that of a folder."""
    counted: str = "attempts"
    """What `write` counts."""

    def load(self) -> Any:
        """Import the module of the format, which may need an extra library."""
        return import_module(f"{__name__}.{self.module or self.name}")


class FoundLogs(NamedTuple):
    """The logs that were found at a path, and their format."""

    format: FileFormat
    logs: tuple[Path, ...]


FORMATS: tuple[FileFormat, ...] = tuple(
    FileFormat(**{**row, "options": tuple(row.get("options", ()))})
    for row in package_table(__name__, "formats")["format"]
)


def readable() -> Mapping[str, FileFormat]:
    """The formats that `assay import` can read, by name."""
    return {each.name: each for each in FORMATS if each.reads}


def writable() -> Mapping[str, FileFormat]:
    """The formats that `assay export` can write, by name."""
    return {each.name: each for each in FORMATS if each.writes}


def describe(formats: Mapping[str, FileFormat]) -> str:
    """Describe the formats in one line each: the name and the summary."""
    width = max(map(len, formats)) + 2
    return "\n".join(f"{name:<{width}}{each.summary}" for name, each in formats.items())


def find_format(name: str, among: Mapping[str, FileFormat]) -> FileFormat:
    """The format with this name; raises UnknownName for an unknown name."""
    if name not in among:
        names = ", ".join(among)
        raise UnknownName(f"no format {name!r}; {did_you_mean(name, among, f'there are {names}')}")
    return among[name]


def recognise(
    path: Path, name: str | None = None, columns: Mapping[str, str] | None = None
) -> FoundLogs:
    """Find the logs in a file or a folder, and recognise their format.

    With a name they are of that format, and with the names of columns, lines that are of no other
    are plain rows. Raises `BadInput` where there is none, and `UsageError` where a folder holds
    logs of several tools.
    """
    if not path.exists():
        raise BadInput(f"there is no file or folder {str(path)!r}")
    if name is not None:
        chosen = find_format(name, readable())
        return FoundLogs(chosen, tuple(chosen.load().logs(path)) or (path,))
    candidates = [each for each in _search(path, columns) if each.logs]
    if len(candidates) > 1:
        names = ", ".join(each.format.name for each in candidates)
        raise UsageError(
            f"{str(path)!r} holds logs of several tools ({names}); name one file, or pass --format"
        )
    if candidates:
        return candidates[0]
    sought = "; ".join(f"{each.looks_for} ({each.name})" for each in readable().values())
    raise BadInput(
        f"{str(path)!r} has no log of a known format. Assay looked for: {sought}. Pass `--format "
        "NAME` to choose a format"
    )


def _search(path: Path, columns: Mapping[str, str] | None) -> Iterable[FoundLogs]:
    """The logs of each format; plain rows are searched only if no other log was found."""
    formats = [each for each in readable().values() if each.name != "jsonl"]
    candidates = [FoundLogs(each, tuple(each.load().logs(path))) for each in formats]
    if not any(each.logs for each in candidates):
        rows = readable()["jsonl"]
        candidates.append(FoundLogs(rows, tuple(rows.load().logs(path, columns))))
    return candidates
