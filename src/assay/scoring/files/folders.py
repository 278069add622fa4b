"""Score a folder of files into a folder of Parquet files; each file is written whole.

    OUT/part-00017.parquet     the results of one shard: about 4 MiB of lines, or a row group
    OUT/_assay/plan.json       every shard: which file, from where to where
    OUT/_assay/00017.json      the counts of a finished shard, written after its results
    OUT/_assay/summary.json    the counts of the whole job, written last
    OUT/_assay/drafts/         what is being written; gone when the job is finished

Shards are numbered through the input files in the order of their names. The results of one depend
on its rows and the rewards alone, so a job may be stopped, and resumed on another engine: the bytes
are the same. Readers of Parquet folders skip `_assay`.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import BadParameter, BadRecord, ResourceError
from assay.formats import parquet
from assay.scoring.batch import Engine, LocalProcesses
from assay.scoring.counts import RewardCounts
from assay.scoring.files.jobs import FileJob, FileReport
from assay.scoring.files.rows import SHARD_BYTES, Shard, fingerprint, plan_shards
from assay.scoring.files.shards import (
    FILE,
    RowProgress,
    ShardJob,
    check_same,
    make_shard_scoring,
    read_plan,
    write_plan,
)
from assay.scoring.scorer import RewardLike

JOB = "_assay"
LINES = {".jsonl", ".ndjson", ".csv", ".tsv"}
PLANNED_HERE_BYTES = 2 * 2**30
"""Input up to this size is cut into shards in this process, sooner than by starting workers."""
T = TypeVar("T")


def score_folder(
    source: str | Path,
    rewards: Sequence[RewardLike],
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    max_abstained: float | None = None,
    engine: Engine | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: RowProgress | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> FileReport:
    """Score every row of a folder of JSONL, CSV and Parquet files (or of one) into `out`.

    `out` is a folder of Parquet files, one for each shard, whose bytes depend on the input, the
    rewards and their configuration alone. With `resume`, exactly the shards that are missing are
    scored. Both folders have to be where every worker of the `engine` sees them. `columns` and
    `max_abstained` are those of `score_file`.
    """
    parquet.check_installed()
    scoring = make_shard_scoring(rewards, keep, columns, max_abstained)
    if FILE in scoring.keep:
        raise BadParameter(f"keep={FILE!r}: the results already have a column of this name")
    job = _FolderJob(Path(source), Path(out), scoring, engine or LocalProcesses())
    return job.run(shard_bytes, resume=resume, overwrite=overwrite, progress=progress)


@dataclass(frozen=True, slots=True)
class _Input:
    """One input file of a folder, divided into shards."""

    name: str
    fingerprint: str
    shards: tuple[Shard, ...]

    def to_record(self) -> dict[str, Any]:
        spans = [[s.start, s.end, s.first_row, s.rows] for s in self.shards]
        return {"file": self.name, "fingerprint": self.fingerprint, "blocks": spans}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> _Input:
        shards = tuple(Shard(index, *span) for index, span in enumerate(record["blocks"]))
        return cls(record["file"], record["fingerprint"], shards)


def _cut(root: Path, shard_bytes: int, name: str) -> _Input:
    """Divide a file into shards; this reads the file to count its lines."""
    path = root / name
    return _Input(name, fingerprint(path), tuple(plan_shards(path, shard_bytes)))


def _fingerprint(root: Path, name: str) -> tuple[str, str]:
    return name, fingerprint(root / name)


def list_inputs(folder: Path) -> list[str]:
    """List the data files of a folder, sorted. Raises `BadRecord` for other files, or for none."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    names = sorted(
        path.as_posix()
        for path in paths
        if not any(part.startswith((".", "_")) for part in path.parts)
    )
    for name in names:
        if Path(name).suffix.lower() not in LINES and not parquet.is_parquet(Path(name)):
            raise BadRecord(
                f"{name!r} in {str(folder)!r} is not a .jsonl, .csv or .parquet file; "
                "move it away, or begin its name with '_' so that it is skipped"
            )
    if not names:
        raise BadRecord(f"{str(folder)!r} holds no .jsonl, .csv or .parquet file")
    return names


class _FolderJob(FileJob):
    @property
    def folder(self) -> Path:
        return self.out / JOB

    @property
    def drafts(self) -> Path:
        return self.folder / "drafts"

    @property
    def root(self) -> Path:
        """The absolute folder that the names of the input files are relative to."""
        root = self.source if self.source.is_dir() else self.source.parent
        return root.absolute()

    def open(self, shard_bytes: int, *, resume: bool, overwrite: bool) -> list[ShardJob]:
        names = self._names()
        plan_path = self.folder / "plan.json"
        self._check_out()
        earlier = read_plan(plan_path)
        if earlier is not None and not (resume or overwrite):
            raise BadRecord(
                f"{str(self.out)!r} already holds a job; "
                "--resume scores its missing rows, --overwrite starts again"
            )
        config = {**self.scoring.config(), "block_bytes": shard_bytes}
        if earlier is not None and resume:
            inputs = self._earlier_inputs(earlier, config, names)
            self.drafts.mkdir(exist_ok=True)
            return self._jobs(inputs)
        # What an earlier job left goes; other files stay.
        for path in self.out.glob("part-*.parquet"):
            path.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.drafts.mkdir(parents=True)
        by_name = {
            each.name: each for each in self._map(partial(_cut, self.root, shard_bytes), names)
        }
        inputs = [by_name[name] for name in names]
        write_plan(plan_path, {**config, "inputs": [each.to_record() for each in inputs]})
        return self._jobs(inputs)

    def close(self, jobs: Sequence[ShardJob], rows: int, rewards: dict[str, RewardCounts]) -> None:
        names = {entry.name for entry in os.scandir(self.out)}
        missing = [job.out.name for job in jobs if job.out.name not in names]
        if missing:
            raise ResourceError(
                f"{len(missing)} shards, {missing[0]} first, were written but are not in "
                f"{str(self.out)!r}; every worker needs access to this folder under this path"
            )
        # Renamed first: a worker that is declared lost and returns cannot write.
        shutil.rmtree(self.drafts.rename(self.folder / f".{uuid.uuid4().hex}"))
        counts = {name: asdict(each) for name, each in rewards.items()}
        write_plan(self.folder / "summary.json", {"rows": rows, "rewards": counts})

    def _names(self) -> list[str]:
        if self.source.is_file():
            return [self.source.name]
        if not self.source.is_dir():
            raise BadRecord(f"there is no file or folder {str(self.source)!r}")
        if self.out.absolute().is_relative_to(self.root):
            raise BadParameter(
                f"{str(self.out)!r} is inside {str(self.source)!r}; choose a folder outside of it"
            )
        return list_inputs(self.source)

    def _map(self, read: Callable[[str], T], names: Sequence[str]) -> Iterator[T]:
        """Apply `read` to each file; for large inputs on the engine, else in this process."""
        size = sum((self.root / name).stat().st_size for name in names)
        engine = self.engine if size > PLANNED_HERE_BYTES else LocalProcesses()
        return engine.map(read, names)

    def _check_out(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise BadRecord(f"{str(self.out)!r} is a file; give a folder for the results")
        if self.out.is_dir() and not self.folder.is_dir() and any(self.out.iterdir()):
            raise BadRecord(
                f"{str(self.out)!r} has other files and no earlier job; choose another folder"
            )

    def _earlier_inputs(
        self, earlier: dict[str, Any], config: dict[str, Any], names: Sequence[str]
    ) -> list[_Input]:
        """The inputs of the earlier job. Raises `BadRecord` if an input has changed."""
        check_same(earlier, config, self.out)
        inputs = [_Input.from_record(record) for record in earlier["inputs"]]
        then = {each.name: each.fingerprint for each in inputs}
        now = dict(self._map(partial(_fingerprint, self.root), names))
        changed = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        if changed:
            raise BadRecord(
                f"cannot resume {str(self.out)!r}: the input {changed[0]!r} was changed, added "
                f"or removed ({len(changed)} files in all); --overwrite starts again"
            )
        return inputs

    def _jobs(self, inputs: Sequence[_Input]) -> list[ShardJob]:
        out = self.out.absolute()
        shards = [(each.name, shard) for each in inputs for shard in each.shards]
        return [
            ShardJob(
                number=number,
                source=self.root / name,
                shard=shard,
                out=out / f"part-{number:05d}.parquet",
                tally=out / JOB / f"{number:05d}.json",
                drafts=self.drafts.absolute(),
                file=name,
            )
            for number, (name, shard) in enumerate(shards)
        ]
