"""Scoring a folder of files into a folder of Parquet parts, each of them whole or not there.

    OUT/part-00017.parquet     the results of one partition: about 4 MiB of lines, or a row group
    OUT/_assay/plan.json       every partition: which file, from where to where
    OUT/_assay/00017.json      the tally of a finished part, written after it
    OUT/_assay/summary.json    the counts of the whole job, written last
    OUT/_assay/drafts/         what is being written; gone when the job is finished

A partition is one block of one input file, numbered through the files in the order of their names.
Its part depends on its rows and the rewards alone, so a job may be stopped, resumed, and moved to
another engine half-way: the bytes are the same. Readers of Parquet folders pass `_assay` over.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import BadParameter, BadRecord, ResourceError
from assay.runner import parquet
from assay.runner.blocks import BLOCK_BYTES, fingerprint, plan_blocks
from assay.runner.engine import Engine, LocalProcesses
from assay.runner.files import FileReport, run_pieces
from assay.runner.pieces import (
    FILE,
    Piece,
    Progress,
    RewardLike,
    Scoring,
    Tally,
    check_same,
    make_scoring,
    merge_tallies,
    read_plan,
    write_plan,
)
from assay.runner.rows import Block

JOB = "_assay"
LINES = {".jsonl", ".ndjson"}
PLANNED_HERE_BYTES = 2 * 2**30
"""Input up to this size is cut into partitions sooner than workers for it are found."""
T = TypeVar("T")


def score_folder(
    source: str | Path,
    rewards: Sequence[RewardLike],
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    engine: Engine | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> FileReport:
    """Every row of a folder of JSONL and Parquet files (or of one file) scored into `out`.

    `out` is a folder of Parquet parts, whose bytes depend on the input, the rewards and their
    configuration alone. With `resume`, exactly the parts that are missing are made. Both folders
    have to be where every worker of the `engine` sees them.
    """
    started = time.monotonic()
    scoring = make_scoring(rewards, keep)
    if FILE in scoring.keep:
        raise BadParameter(f"keep={FILE!r}: the results have a column of that name already")
    job = _Job(Path(source), Path(out), scoring, engine or LocalProcesses())
    pieces = job.open(block_bytes, resume=resume, overwrite=overwrite)
    tallies, resumed = run_pieces(pieces, scoring, job.engine, progress)
    merged = merge_tallies(scoring.scorers, tallies)
    rows = sum(tally.rows for tally in tallies)
    job.close(pieces, rows, merged)
    return FileReport(rows, merged, time.monotonic() - started, resumed, job.out)


@dataclass(frozen=True, slots=True)
class _Input:
    """A file of the folder, cut into blocks."""

    name: str
    fingerprint: str
    blocks: tuple[Block, ...]

    def to_record(self) -> dict[str, Any]:
        spans = [[b.start, b.end, b.first_row, b.rows] for b in self.blocks]
        return {"file": self.name, "fingerprint": self.fingerprint, "blocks": spans}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> _Input:
        blocks = tuple(Block(index, *span) for index, span in enumerate(record["blocks"]))
        return cls(record["file"], record["fingerprint"], blocks)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Cuts a file into blocks, which means to read it: line ends are counted."""

    root: Path
    block_bytes: int

    def __call__(self, name: str) -> _Input:
        path = self.root / name
        return _Input(name, fingerprint(path), tuple(plan_blocks(path, self.block_bytes)))


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    root: Path

    def __call__(self, name: str) -> tuple[str, str]:
        return name, fingerprint(self.root / name)


@dataclass(frozen=True, slots=True)
class _Job:
    source: Path
    out: Path
    scoring: Scoring
    engine: Engine

    @property
    def folder(self) -> Path:
        return self.out / JOB

    @property
    def drafts(self) -> Path:
        return self.folder / "drafts"

    @property
    def root(self) -> Path:
        """What the names of the files are relative to; absolute, for workers elsewhere."""
        root = self.source if self.source.is_dir() else self.source.parent
        return root.absolute()

    def open(self, block_bytes: int, *, resume: bool, overwrite: bool) -> list[Piece]:
        """The partitions, after checking that nothing would be lost or mixed up."""
        names = self._names()
        plan_path = self.folder / "plan.json"
        self._check_out()
        held = read_plan(plan_path)
        if held is not None and not (resume or overwrite):
            raise BadRecord(
                f"{str(self.out)!r} holds a job already; "
                "--resume does what it still owes, --overwrite starts again"
            )
        config = {**self.scoring.config(), "block_bytes": block_bytes}
        if held is not None and resume:
            inputs = self._resumed(held, config, names)
            self.drafts.mkdir(exist_ok=True)
            return self._pieces(inputs)
        self._clear()
        self.drafts.mkdir(parents=True)
        cut = {each.name: each for each in self._each(_Cut(self.root, block_bytes), names)}
        inputs = [cut[name] for name in names]
        write_plan(plan_path, {**config, "inputs": [each.to_record() for each in inputs]})
        return self._pieces(inputs)

    def close(self, pieces: Sequence[Piece], rows: int, tallies: dict[str, Tally]) -> None:
        """The folder holds the parts, the summary, and nothing half-written."""
        there = {entry.name for entry in os.scandir(self.out)}
        missing = [piece.out.name for piece in pieces if piece.out.name not in there]
        if missing:
            raise ResourceError(
                f"{len(missing)} parts, {missing[0]} first, were written but are not in "
                f"{str(self.out)!r}; every worker has to see that folder under that path"
            )
        # Moved first: a worker that was given up for dead and is not finds no place to write to.
        gone = self.drafts.rename(self.folder / f".{uuid.uuid4().hex}")
        shutil.rmtree(gone)
        counts = {name: asdict(tally) for name, tally in tallies.items()}
        write_plan(self.folder / "summary.json", {"rows": rows, "rewards": counts})

    def _names(self) -> list[str]:
        if self.source.is_file():
            return [self.source.name]
        if not self.source.is_dir():
            raise BadRecord(f"there is no file or folder {str(self.source)!r}")
        if self.out.absolute().is_relative_to(self.root):
            raise BadParameter(
                f"{str(self.out)!r} is inside {str(self.source)!r}; results would become input"
            )
        paths = (path.relative_to(self.source) for path in self.source.rglob("*") if path.is_file())
        names = sorted(
            path.as_posix()
            for path in paths
            if not any(part.startswith((".", "_")) for part in path.parts)
        )
        for name in names:
            if Path(name).suffix.lower() not in LINES and not parquet.is_parquet(Path(name)):
                raise BadRecord(
                    f"{name!r} in {str(self.source)!r} is neither .jsonl nor .parquet; move it "
                    "away, or let its name begin with '_' to have it passed over"
                )
        if not names:
            raise BadRecord(f"{str(self.source)!r} holds no .jsonl or .parquet file")
        return names

    def _each(self, look: Callable[[str], T], names: Sequence[str]) -> Iterator[T]:
        """What a look at each file gives, by whoever is quicker at it."""
        size = sum((self.root / name).stat().st_size for name in names)
        engine = self.engine if size > PLANNED_HERE_BYTES else LocalProcesses()
        return engine.map(look, names)

    def _check_out(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise BadRecord(f"{str(self.out)!r} is a file; the results of a folder are a folder")
        if self.out.is_dir() and not self.folder.is_dir() and any(self.out.iterdir()):
            raise BadRecord(
                f"{str(self.out)!r} holds something that is no job of ours; choose another folder"
            )

    def _clear(self) -> None:
        """Nothing of an earlier job is left; other files stay."""
        for part in self.out.glob("part-*.parquet"):
            part.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _resumed(
        self, held: dict[str, Any], config: dict[str, Any], names: Sequence[str]
    ) -> list[_Input]:
        """The inputs as they were cut; a changed one is refused by its name."""
        check_same(held, config, self.out)
        inputs = [_Input.from_record(record) for record in held["inputs"]]
        then = {each.name: each.fingerprint for each in inputs}
        now = dict(self._each(_Fingerprint(self.root), names))
        changed = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        if changed:
            raise BadRecord(
                f"cannot resume {str(self.out)!r}: of its input, {changed[0]!r} has changed, come "
                f"or gone ({len(changed)} files in all); --overwrite starts again"
            )
        return inputs

    def _pieces(self, inputs: Sequence[_Input]) -> list[Piece]:
        out = self.out.absolute()
        spans = [(each.name, block) for each in inputs for block in each.blocks]
        return [
            Piece(
                number=number,
                source=self.root / name,
                block=block,
                out=out / f"part-{number:05d}.parquet",
                tally=out / JOB / f"{number:05d}.json",
                drafts=self.drafts.absolute(),
                file=name,
            )
            for number, (name, block) in enumerate(spans)
        ]
