"""Score a whole file in shards; a killed job can resume, and rows keep their order.

While a job runs, `OUT.partial/` holds its plan, and for each finished shard the scored rows and
the counts; what a kill interrupts is scored again. When every shard is finished they are joined
into `OUT` and the folder is removed.
"""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import BadRecord
from assay.formats import parquet
from assay.scoring.batch import Engine, LocalProcesses, check_table
from assay.scoring.counts import RewardCounts
from assay.scoring.files.rows import (
    SHARD_BYTES,
    column_names,
    fingerprint,
    join_shards,
    plan_shards,
    write_shard,
)
from assay.scoring.files.shards import (
    PARTIAL,
    RowProgress,
    ShardJob,
    ShardScoring,
    make_shard_scoring,
    merge_counts,
    open_partial,
    read_counts,
    settle_plan,
)
from assay.scoring.scorer import RewardLike, Scorer

PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a finished job did."""

    rows: int
    rewards: Mapping[str, RewardCounts]
    elapsed_s: float
    resumed_rows: int
    out: Path

    @property
    def rows_per_s(self) -> float:
        return (self.rows - self.resumed_rows) / self.elapsed_s if self.elapsed_s else 0.0


def score_file(
    source: str | Path,
    rewards: Sequence[RewardLike],
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    max_abstained: float | None = None,
    workers: int = 1,
    engine: Engine | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: RowProgress | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> FileReport:
    """Score every row of a JSONL, CSV or Parquet file into `out`, and return the counts.

    The bytes of `out` depend on the input, the rewards and their configuration alone: not on the
    number of workers, nor on how often the job was killed and resumed. A `Scorer` among the
    rewards brings its configuration. `engine` does the work instead of `workers` processes.

    `columns` says which column holds a parameter of the rewards: `{"answer": "solution"}`. A row
    that cannot be read abstains; more of these than `max_abstained`, a number of rows or a share of
    them, raise `TooManyAbstained`, and the job can be resumed.
    """
    scoring = make_shard_scoring(rewards, keep, columns, max_abstained)
    job = _OneFileJob(Path(source), Path(out), scoring, engine or LocalProcesses(workers))
    return job.run(shard_bytes, resume=resume, overwrite=overwrite, progress=progress)


def check_source(source: Path, scorers: Sequence[Scorer]) -> None:
    """Raise `MissingParameter` if a file's header lacks a column that a reward needs."""
    names = column_names(source)
    for scorer in scorers if names is not None else ():
        check_table(scorer, names or (), source.name)


@dataclass(frozen=True, slots=True)
class FileJob(ABC):
    """A job that scores shards: its source, its output, its rewards and its engine."""

    source: Path
    out: Path
    scoring: ShardScoring
    engine: Engine

    def run(
        self, shard_bytes: int, *, resume: bool, overwrite: bool, progress: RowProgress | None
    ) -> FileReport:
        """Score every unfinished shard, and complete the results."""
        start = time.monotonic()
        jobs = self.open(shard_bytes, resume=resume, overwrite=overwrite)
        total = sum(job.shard.rows for job in jobs)
        finished = {job.number: counts for job in jobs if (counts := read_counts(job))}
        done = resumed = sum(counts.rows for counts in finished.values())
        if progress is not None:
            progress(done, total)
        remaining = [job for job in jobs if job.number not in finished]
        limit = self.scoring.limit and self.scoring.limit.of_rows(total)
        for counts in self.engine.map(replace(self.scoring, limit=limit), remaining):
            finished[counts.number] = counts
            done += counts.rows
            if limit is not None:
                limit.check(merge_counts(self.scoring.scorers, finished.values()))
            if progress is not None:
                progress(done, total)
        merged = merge_counts(self.scoring.scorers, (finished[job.number] for job in jobs))
        if limit is not None:
            limit.check(merged, at_end=True)
        self.close(jobs, done, merged)
        return FileReport(done, merged, time.monotonic() - start, resumed, self.out)

    @abstractmethod
    def open(self, shard_bytes: int, *, resume: bool, overwrite: bool) -> list[ShardJob]:
        """Return the shards of the job, after checking that no results would be lost or mixed."""

    @abstractmethod
    def close(self, jobs: Sequence[ShardJob], rows: int, rewards: dict[str, RewardCounts]) -> None:
        """Complete the results, and remove unfinished files."""


class _OneFileJob(FileJob):
    def open(self, shard_bytes: int, *, resume: bool, overwrite: bool) -> list[ShardJob]:
        if not self.source.is_file():
            raise BadRecord(f"there is no file {str(self.source)!r}")
        if self.out.exists() and not overwrite:
            raise BadRecord(f"{str(self.out)!r} already exists; --overwrite replaces it")
        if parquet.is_parquet(self.out):
            parquet.check_installed()
        check_source(self.source, self.scoring.scorers)
        shards = plan_shards(self.source, shard_bytes)
        plan = {
            "source": fingerprint(self.source),
            **self.scoring.config(),
            "block_bytes": shard_bytes,
        }
        folder = open_partial(self.out, resume=resume, overwrite=overwrite)
        settle_plan(folder / PLAN, plan, self.out)
        suffix = self.out.suffix or ".jsonl"
        return [
            ShardJob.in_folder(folder, shard.index, self.source, shard, suffix=suffix)
            for shard in shards
        ]

    def close(self, jobs: Sequence[ShardJob], rows: int, rewards: dict[str, RewardCounts]) -> None:  # noqa: ARG002 - the counts are printed, not kept
        if jobs:
            join_shards([job.out for job in jobs], self.out)
        else:
            write_shard(self.out, iter(()), self.scoring.scorers, self.scoring.keep)
        shutil.rmtree(self.out.with_name(self.out.name + PARTIAL))
