"""Scoring a whole file: workers read byte ranges, a killed job resumes, the order is kept.

While a job runs, `OUT.partial/` holds its plan, and for each finished block the scored rows and a
tally. A block is finished when its tally exists, which is written last; what a kill interrupts is
scored again. When every block is finished the pieces are joined into `OUT` and the folder goes.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from assay.errors import BadParameter, BadRecord
from assay.runner.batch import judge_row
from assay.runner.blocks import BLOCK_BYTES, fingerprint, plan_blocks, read_rows
from assay.runner.processes import worker_pool
from assay.runner.results import join_pieces, result_of, whole_or_nothing, write_piece
from assay.runner.rows import Block, Row
from assay.schema.score import Abstained, Score
from assay.scoring.judge import Judge

PLAN = "plan.json"
Progress = Callable[[int, int], None]
"""Called with the rows done and the rows in all."""


@dataclass(slots=True)
class Tally:
    """Running counts for one reward."""

    scored: int = 0
    total: float = 0.0
    abstained: dict[str, int] = field(default_factory=dict)

    def add(self, score: Score) -> None:
        if isinstance(score, Abstained):
            self.abstained[score.reason] = self.abstained.get(score.reason, 0) + 1
        else:
            self.scored += 1
            self.total += score.value

    def merge(self, other: Tally) -> None:
        self.scored += other.scored
        self.total += other.total
        for reason, count in other.abstained.items():
            self.abstained[reason] = self.abstained.get(reason, 0) + count

    @property
    def mean(self) -> float | None:
        """Over what was scored; abstentions are counted beside it, never in it."""
        return self.total / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a finished job did."""

    rows: int
    rewards: Mapping[str, Tally]
    elapsed_s: float
    resumed_rows: int
    out: Path

    @property
    def rows_per_s(self) -> float:
        return (self.rows - self.resumed_rows) / self.elapsed_s if self.elapsed_s else 0.0


def score_file(
    source: str | Path,
    rewards: Sequence[str | Callable[..., Any] | Judge],
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> FileReport:
    """Every row of a JSONL or Parquet file scored into `out`, with the counts of what happened.

    The bytes of `out` depend on the input, the rewards and their configuration alone: not on the
    number of workers, nor on how often the job was killed and resumed. A `Judge` among the
    rewards brings its configuration.
    """
    judges = [reward if isinstance(reward, Judge) else Judge(reward) for reward in rewards]
    job = _Job(Path(source), Path(out), judges, tuple(keep))
    if workers < 1:
        raise BadParameter(f"workers={workers!r}; at least one is needed")
    started = time.monotonic()
    blocks = job.open(block_bytes, resume=resume, overwrite=overwrite)
    total = sum(block.rows for block in blocks)
    finished = {block.index: tally for block in blocks if (tally := job.read_tally(block))}
    resumed = sum(tally.rows for tally in finished.values())
    if progress is not None:
        progress(resumed, total)
    owed = [block for block in blocks if block.index not in finished]
    for tally in _run(job, owed, workers):
        finished[tally.block] = tally
        if progress is not None:
            progress(sum(t.rows for t in finished.values()), total)
    job.close(blocks)
    ordered = [finished[block.index] for block in blocks]
    return FileReport(
        rows=sum(tally.rows for tally in ordered),
        rewards=_merged(job.judges, ordered),
        elapsed_s=time.monotonic() - started,
        resumed_rows=resumed,
        out=job.out,
    )


@dataclass(frozen=True, slots=True)
class _BlockTally:
    block: int
    rows: int
    rewards: dict[str, Tally]


@dataclass(frozen=True, slots=True)
class _Job:
    source: Path
    out: Path
    judges: list[Judge]
    keep: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return self.out.with_name(self.out.name + ".partial")

    def piece(self, block: Block) -> Path:
        return self.folder / f"{block.index:08d}{self.out.suffix or '.jsonl'}"

    def tally_path(self, block: Block) -> Path:
        return self.folder / f"{block.index:08d}.tally.json"

    def open(self, block_bytes: int, *, resume: bool, overwrite: bool) -> list[Block]:
        """The blocks to score, after checking that nothing would be lost or mixed up."""
        names = [judge.spec.name for judge in self.judges]
        if not names or len(set(names)) != len(names):
            raise BadParameter(f"rewards={names!r}; name at least one, and each only once")
        if not self.source.is_file():
            raise BadRecord(f"there is no file {str(self.source)!r}")
        if self.out.exists() and not overwrite:
            raise BadRecord(f"{str(self.out)!r} exists already; --overwrite replaces it")
        blocks = plan_blocks(self.source, block_bytes)
        plan = self._plan(block_bytes)
        if self.folder.exists() and resume:
            self._check_same(plan)
        elif self.folder.exists() and not overwrite:
            raise BadRecord(
                f"{str(self.folder)!r} holds an unfinished job; "
                "--resume continues it, --overwrite starts again"
            )
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_or_nothing(self.folder / PLAN) as draft:
            draft.write_bytes(orjson.dumps(plan, option=orjson.OPT_INDENT_2, default=repr))
        return blocks

    def _plan(self, block_bytes: int) -> dict[str, Any]:
        return {
            "source": fingerprint(self.source),
            "rewards": [judge.spec.id for judge in self.judges],
            "params": [judge.params for judge in self.judges],
            "keep": list(self.keep),
            "block_bytes": block_bytes,
        }

    def _check_same(self, plan: dict[str, Any]) -> None:
        try:
            held = orjson.loads((self.folder / PLAN).read_bytes())
        except FileNotFoundError:
            # Killed before the plan was written: no piece can exist either.
            return
        wanted = orjson.loads(orjson.dumps(plan, default=repr))
        for key, value in wanted.items():
            if held.get(key) != value:
                raise BadRecord(
                    f"cannot resume {str(self.out)!r}: its {key} was {held.get(key)!r} and is "
                    f"now {value!r}; --overwrite starts again"
                )

    def read_tally(self, block: Block) -> _BlockTally | None:
        """What a finished block counted; `None` when it still has to be scored."""
        with suppress(FileNotFoundError, orjson.JSONDecodeError):
            record = orjson.loads(self.tally_path(block).read_bytes())
            rewards = {name: Tally(**tally) for name, tally in record["rewards"].items()}
            return _BlockTally(record["block"], record["rows"], rewards)
        return None

    def close(self, blocks: Sequence[Block]) -> None:
        if blocks:
            join_pieces([self.piece(block) for block in blocks], self.out)
        else:
            write_piece(self.out, iter(()), self.judges, self.keep)
        shutil.rmtree(self.folder)


def score_rows(
    judges: Sequence[Judge], rows: Iterator[Row], keep: Sequence[str]
) -> Iterator[tuple[dict[str, Score], dict[str, Any]]]:
    """For every row its scores, and the result row that tells them."""
    for row in rows:
        if row.problem:
            scores: dict[str, Score] = {
                judge.spec.name: judge.abstain("bad_row", row.problem) for judge in judges
            }
        else:
            place = f"line {row.number}"
            scores = {judge.spec.name: judge_row(judge, row.value, place) for judge in judges}
        yield scores, result_of(row.number, row.value, keep, scores)


def _score_block(job: _Job, block: Block) -> _BlockTally:
    tallies = {judge.spec.name: Tally() for judge in job.judges}
    rows = 0

    def results() -> Iterator[dict[str, Any]]:
        nonlocal rows
        for scores, result in score_rows(job.judges, read_rows(job.source, block), job.keep):
            for name, score in scores.items():
                tallies[name].add(score)
            rows += 1
            yield result

    write_piece(job.piece(block), results(), job.judges, job.keep)
    record = {
        "block": block.index,
        "rows": rows,
        "rewards": {n: asdict(t) for n, t in tallies.items()},
    }
    with whole_or_nothing(job.tally_path(block)) as draft:
        draft.write_bytes(orjson.dumps(record))
    return _BlockTally(block.index, rows, tallies)


def _run(job: _Job, blocks: Sequence[Block], workers: int) -> Iterator[_BlockTally]:
    if workers == 1 or len(blocks) < 2:
        for block in blocks:
            yield _score_block(job, block)
        return
    pool = worker_pool(min(workers, len(blocks)))
    owed = iter(blocks)
    running: set[Future[_BlockTally]] = set()
    try:
        for block in owed:
            running.add(pool.submit(_score_block, job, block))
            if len(running) > 2 * workers:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _merged(judges: Sequence[Judge], tallies: Sequence[_BlockTally]) -> dict[str, Tally]:
    merged = {judge.spec.name: Tally() for judge in judges}
    for tally in tallies:
        for name, counts in tally.rewards.items():
            merged[name].merge(counts)
    return merged
