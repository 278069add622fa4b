"""Scoring a whole file: workers read byte ranges, a killed job resumes, the order is kept.

While a job runs, `OUT.partial/` holds its plan, and for each finished block the scored rows and a
tally; what a kill interrupts is scored again. When every block is finished the pieces are joined
into `OUT` and the folder goes.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadRecord
from assay.runner.blocks import BLOCK_BYTES, fingerprint, plan_blocks
from assay.runner.engine import Engine, LocalProcesses
from assay.runner.pieces import (
    Piece,
    PieceTally,
    Progress,
    RewardLike,
    Scoring,
    Tally,
    check_same,
    make_scoring,
    merge_tallies,
    read_plan,
    read_tally,
    write_plan,
)
from assay.runner.results import join_pieces, write_piece
from assay.runner.rows import Block

PLAN = "plan.json"


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
    rewards: Sequence[RewardLike],
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    workers: int = 1,
    engine: Engine | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> FileReport:
    """Every row of a JSONL or Parquet file scored into `out`, with the counts of what happened.

    The bytes of `out` depend on the input, the rewards and their configuration alone: not on the
    number of workers, nor on how often the job was killed and resumed. A `Scorer` among the
    rewards brings its configuration. `engine` does the work instead of `workers` processes.
    """
    started = time.monotonic()
    chosen = engine or LocalProcesses(workers)
    job = _Job(Path(source), Path(out), make_scoring(rewards, keep))
    pieces = job.open(block_bytes, resume=resume, overwrite=overwrite)
    tallies, resumed = run_pieces(pieces, job.scoring, chosen, progress)
    job.close(pieces)
    return FileReport(
        rows=sum(tally.rows for tally in tallies),
        rewards=merge_tallies(job.scoring.scorers, tallies),
        elapsed_s=time.monotonic() - started,
        resumed_rows=resumed,
        out=job.out,
    )


def run_pieces(
    pieces: Sequence[Piece], scoring: Scoring, engine: Engine, progress: Progress | None
) -> tuple[list[PieceTally], int]:
    """The tallies of all pieces in order, and how many rows were scored before."""
    total = sum(piece.block.rows for piece in pieces)
    finished = {piece.number: tally for piece in pieces if (tally := read_tally(piece))}
    done = resumed = sum(tally.rows for tally in finished.values())
    if progress is not None:
        progress(done, total)
    owed = [piece for piece in pieces if piece.number not in finished]
    for tally in engine.map(scoring, owed):
        finished[tally.number] = tally
        done += tally.rows
        if progress is not None:
            progress(done, total)
    return [finished[piece.number] for piece in pieces], resumed


@dataclass(frozen=True, slots=True)
class _Job:
    source: Path
    out: Path
    scoring: Scoring

    @property
    def folder(self) -> Path:
        return self.out.with_name(self.out.name + ".partial")

    def open(self, block_bytes: int, *, resume: bool, overwrite: bool) -> list[Piece]:
        """The pieces to score, after checking that nothing would be lost or mixed up."""
        if not self.source.is_file():
            raise BadRecord(f"there is no file {str(self.source)!r}")
        if self.out.exists() and not overwrite:
            raise BadRecord(f"{str(self.out)!r} exists already; --overwrite replaces it")
        blocks = plan_blocks(self.source, block_bytes)
        plan = self._plan(block_bytes)
        if self.folder.exists() and resume:
            held = read_plan(self.folder / PLAN)
            if held is not None:
                check_same(held, plan, self.out)
        elif self.folder.exists() and not overwrite:
            raise BadRecord(
                f"{str(self.folder)!r} holds an unfinished job; "
                "--resume continues it, --overwrite starts again"
            )
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_plan(self.folder / PLAN, plan)
        return [self._piece(block) for block in blocks]

    def _piece(self, block: Block) -> Piece:
        # Absolute: a worker may stand in another folder.
        folder = self.folder.absolute()
        return Piece(
            number=block.index,
            source=self.source.absolute(),
            block=block,
            out=folder / f"{block.index:08d}{self.out.suffix or '.jsonl'}",
            tally=folder / f"{block.index:08d}.tally.json",
            drafts=folder,
        )

    def _plan(self, block_bytes: int) -> dict[str, Any]:
        return {
            "source": fingerprint(self.source),
            **self.scoring.config(),
            "block_bytes": block_bytes,
        }

    def close(self, pieces: Sequence[Piece]) -> None:
        if pieces:
            join_pieces([piece.out for piece in pieces], self.out)
        else:
            write_piece(self.out, iter(()), self.scoring.scorers, self.scoring.keep)
        shutil.rmtree(self.folder)
