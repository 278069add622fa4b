"""What other tools read and write: one module for each format, and the table that names them.

A module translates between files and records, and knows nothing of run folders: `read` gives a
`ForeignRun`, which the ledger writes; `write` takes a `RunRecords`, which the ledger hands out. To
add a format, write one module with `read`, `write` or both, and add its row to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from assay.errors import BadRecord, UnknownName, did_you_mean
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest
from assay.schema.task import Task

StoreArtifact: TypeAlias = Callable[[bytes | str], str]
"""Stores a content, and returns its sha256."""


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """A run that another tool recorded."""

    manifest: RunManifest
    """Its id, dates and task set are the ledger's to fill in."""
    tasks: tuple[Task, ...]
    episodes: Callable[[StoreArtifact], Iterator[Episode]]
    """Every attempt in order, with its artifacts stored; its id is the ledger's to fill in."""


class RunRecords(Protocol):
    """A recorded run, as far as a format writes it."""

    @property
    def manifest(self) -> RunManifest: ...

    def episodes(self, *, full: bool = False) -> Iterable[Episode]:
        """Every attempt in order; messages and steps are only there with `full`."""

    def final(self) -> Iterable[Episode]:
        """The attempts that count."""

    def text(self, sha256: str) -> str:
        """The text of an artifact."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """One row of the table of formats."""

    name: str
    summary: str
    module: str = ""
    """Of this package, where it has not the format's name.

    It has `read(path, **options) -> ForeignRun`, `write(run, path) -> count`, or both;
    and `files(run)`, the names and contents of a folder, where that is written instead of a file.
    """
    reads: bool = False
    writes: bool = False
    files: tuple[str, ...] = ()
    """Patterns of the file names by which a source of this format is recognised."""
    options: tuple[str, ...] = ()
    """What `read` takes beside the path."""
    suffix: str = ""
    """What the name of a written file or folder ends with."""
    folder: bool = False
    """Whether `suffix` is that of a folder."""
    counted: str = "attempts"
    """What `write` counts."""

    def load(self) -> Any:
        """The module, imported now: some bring a library of their own."""
        return import_module(f"{__name__}.{self.module or self.name}")


FORMATS: tuple[FileFormat, ...] = (
    FileFormat(
        "browsergym",
        "result folders of BrowserGym and AgentLab",
        reads=True,
        files=("summary_info.json", "exp_args.pkl"),
        options=("agent", "unpickle"),
    ),
    FileFormat(
        "inspect",
        "a log of Inspect AI (.eval; read as .json too)",
        module="inspect_logs",
        reads=True,
        writes=True,
        files=("*.eval",),
        suffix=".eval",
    ),
    FileFormat(
        "jsonl",
        "a line for each attempt: answers, ending, scores and parts, costs",
        writes=True,
        suffix=".jsonl",
    ),
    FileFormat("parquet", "the same, as Parquet", writes=True, suffix=".parquet"),
    FileFormat("csv", "the same, for spreadsheets", module="csv_table", writes=True, suffix=".csv"),
    FileFormat(
        "otel",
        "a line for each score: an evaluation event of OpenTelemetry",
        writes=True,
        suffix=".otel.jsonl",
        counted="scores",
    ),
    FileFormat(
        "atif",
        "a file for each attempt: the Agent Trajectory Interchange Format",
        writes=True,
        suffix=".atif",
        folder=True,
    ),
)


def readable() -> Mapping[str, FileFormat]:
    """The formats that `assay import` reads, by name."""
    return {each.name: each for each in FORMATS if each.reads}


def writable() -> Mapping[str, FileFormat]:
    """The formats that `assay export` writes, by name."""
    return {each.name: each for each in FORMATS if each.writes}


def describe(formats: Mapping[str, FileFormat]) -> str:
    """A line for each format: its name and what it is."""
    width = max(map(len, formats)) + 2
    return "\n".join(f"{name:<{width}}{each.summary}" for name, each in formats.items())


def find_format(name: str, among: Mapping[str, FileFormat]) -> FileFormat:
    """The format of that name; raises UnknownName for any other name."""
    if name not in among:
        names = ", ".join(among)
        raise UnknownName(f"no format {name!r}; {did_you_mean(name, among, f'there are {names}')}")
    return among[name]


def recognise(path: Path) -> FileFormat:
    """The format of the file, or of the files in the folder; raises BadRecord if there is none."""
    if not path.exists():
        raise BadRecord(f"there is no file or folder {str(path)!r}")
    for each in readable().values():
        if any(_matches(path, pattern) for pattern in each.files):
            return each
    patterns = ", ".join(pattern for each in readable().values() for pattern in each.files)
    raise BadRecord(
        f"{str(path)!r} holds nothing that can be imported: no {patterns}; "
        f"name its format, one of {', '.join(readable())}"
    )


def _matches(path: Path, pattern: str) -> bool:
    if path.is_dir():
        return next(path.rglob(pattern), None) is not None
    return path.match(pattern)
