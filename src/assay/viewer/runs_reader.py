"""Cached, read-only access to a folder of runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from assay.errors import AssayError, UnknownName
from assay.ledger.index import AttemptRow, LedgerIndex, RunRow
from assay.ledger.layout import RunLayout
from assay.ledger.lock import is_being_written, runs_being_written
from assay.ledger.records import StoredEpisode
from assay.ledger.run import Run
from assay.ledger.windows import StepGist, read_gists, read_window
from assay.report.comparison import Comparison, compare
from assay.report.diagnosis import AttemptDiagnosis, Diagnosis, diagnose, diagnose_attempt
from assay.report.statistics import ConfidenceInterval, bootstrap_mean
from assay.report.timeline import FEWEST
from assay.schema.episode import Step
from assay.schema.manifest import RunManifest
from assay.viewer.lru_cache import LruCache, Stamp, stamp

T = TypeVar("T")
MOST_GISTS = 200_000
"""Steps whose gist is remembered, over all episodes."""
MOST_INTERVALS = 2_000
MOST_RUNS = 16
MOST_REPORTS = 8


@dataclass(slots=True)
class _Open:
    """A run that one thread at a time reads."""

    run: Run
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class _Read:
    """The gists of a file, and the state of it that they are of."""

    stamp: Stamp
    gists: tuple[StepGist, ...]


class RunsReader:
    """One folder of runs. Every method may be called from any thread."""

    def __init__(self, runs_dir: Path) -> None:
        self.runs_dir = runs_dir
        self._index = LedgerIndex(runs_dir)
        self._index_lock = threading.Lock()
        self._runs: LruCache[_Open] = LruCache(MOST_RUNS)
        self._gists: LruCache[_Read] = LruCache(MOST_GISTS, lambda read: len(read.gists))
        self._intervals: LruCache[tuple[ConfidenceInterval | None]] = LruCache(MOST_INTERVALS)
        self._diagnoses: LruCache[Diagnosis] = LruCache(MOST_REPORTS)
        self._comparisons: LruCache[Comparison] = LruCache(MOST_REPORTS)

    def runs(self) -> list[RunRow]:
        """All runs, oldest first."""
        if not self.runs_dir.is_dir():
            return []
        with self._index_lock:
            return self._index.runs()

    def attempts(self, run_id: str, task_id: str | None = None) -> list[AttemptRow]:
        """The attempts of a run, or of one task in it."""
        self.layout(run_id)
        with self._index_lock:
            return self._index.attempts(run_id=run_id, task_id=task_id)

    def interval(self, row: RunRow) -> ConfidenceInterval | None:
        """The 95 % interval of the mean over tasks; `None` where it would not be honest."""

        def make() -> tuple[ConfidenceInterval | None]:
            with self._index_lock:
                means = self._index.task_means(row.run_id)
            return (bootstrap_mean(means) if len(means) >= FEWEST else None,)

        return self._intervals.get_or_make((row.run_id, row.attempts, row.mean), make)[0]

    def layout(self, run_id: str) -> RunLayout:
        """Where the run is; a name that is no run's is an `UnknownName`."""
        layout = RunLayout(self.runs_dir / run_id)
        inside = run_id not in ("", ".", "..") and not {"/", "\0"} & set(run_id)
        if not inside or not layout.manifest.is_file():
            raise UnknownName(f"no run {run_id!r} in {str(self.runs_dir)!r}")
        return layout

    def manifest(self, run_id: str) -> RunManifest:
        """What the run was."""
        with self._open(run_id) as run:
            return run.manifest

    def live(self, rows: Sequence[RunRow]) -> frozenset[str]:
        """The ids of those runs that somebody is writing to."""
        folders = [self.runs_dir / row.run_id for row in rows]
        return frozenset(folder.name for folder in runs_being_written(folders))

    def is_live(self, run_id: str) -> bool:
        """Whether somebody is writing to the run."""
        return is_being_written(self.layout(run_id).folder)

    def unfinished(self, run_id: str) -> tuple[str, ...]:
        """Attempts that left steps and no line."""
        with self._open(run_id) as run:
            return run.unfinished()

    def stored(self, run_id: str, attempt: str) -> StoredEpisode:
        """A finished attempt without its messages and steps."""
        with self._open(run_id) as run:
            return run.stored(attempt)

    def gists(self, run_id: str, attempt: str) -> tuple[StepGist, ...]:
        """The gist of every step of an attempt, whether it is finished or not."""
        path = self.layout(run_id).steps_of(attempt)
        now = stamp(path)
        read = self._gists.get(path)
        if read is not None and read.stamp == now:
            return read.gists
        known: tuple[StepGist, ...] = ()
        # A file that only grew is read on; one that was replaced is read anew.
        if read is not None and read.stamp[0] == now[0] and read.stamp[1] <= now[1]:
            known = read.gists
        return self._gists.put(path, _Read(now, read_gists(path, known))).gists

    def steps(self, run_id: str, attempt: str, first: int, last: int) -> tuple[Step, ...]:
        """The whole steps `first` to `last - 1`."""
        gists = self.gists(run_id, attempt)
        if not gists:
            return ()
        return read_window(self.layout(run_id).steps_of(attempt), gists, first, last)

    def record(self, run_id: str, attempt: str, step: int | None = None) -> bytes:
        """The line of an attempt, or of one of its steps, as it was written."""
        path = self.layout(run_id).steps_of(attempt)
        if step is None:
            with self._open(run_id) as run:
                return run.line(attempt)
        gists = self.gists(run_id, attempt)
        if step >= len(gists):
            raise UnknownName(f"attempt {attempt!r} has no step {step}; it has {len(gists)}")
        with path.open("rb") as stream:
            stream.seek(gists[step].offset)
            return stream.read(gists[step].end - gists[step].offset)

    def artifact(self, run_id: str, sha256: str) -> bytes:
        """The content, checked against its hash."""
        with self._open(run_id) as run:
            return run.artifact(sha256)

    def text(self, run_id: str, sha256: str) -> str:
        """The text of an artifact; one that cannot be read says so instead."""
        try:
            return self.artifact(run_id, sha256).decode("utf-8", "replace")
        except AssayError as error:
            return f"[not readable: {error}]"

    def diagnosis(self, run_id: str, *, now: bool = True) -> Diagnosis | None:
        """The run, cause by cause; `None` when it is not known yet and not wanted `now`."""
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.episodes))
        if not now:
            return self._diagnoses.get(key)
        return self._diagnoses.get_or_make(key, lambda: diagnose(Run(layout.folder, strict=False)))

    def finding(self, run_id: str, attempt: str) -> AttemptDiagnosis | None:
        """Why one attempt is below full reward."""
        known = self.diagnosis(run_id, now=False)
        if known is not None:
            return next((found for found in known.findings if found.attempt == attempt), None)
        return diagnose_attempt(Run(self.layout(run_id).folder, strict=False), attempt)

    def comparison(self, base: str, cand: str, *, force: bool = False) -> Comparison:
        """What the candidate run says against the base run."""
        layouts = [self.layout(base), self.layout(cand)]
        key = (base, cand, force, *(stamp(layout.episodes) for layout in layouts))
        runs = [Run(layout.folder, strict=False) for layout in layouts]
        return self._comparisons.get_or_make(
            key, lambda: compare(runs[0], runs[1], force=force, runs_dir=self.runs_dir)
        )

    def version(self, run_id: str) -> tuple[Stamp, ...]:
        """Another value whenever something of the run is new."""
        layout = self.layout(run_id)
        written = [stamp(layout.episodes), stamp(layout.steps)]
        if not is_being_written(layout.folder):
            return tuple(written)
        under_way = (layout.steps / f"{name}.jsonl" for name in self.unfinished(run_id))
        return (*written, *map(stamp, under_way))

    @contextmanager
    def _open(self, run_id: str) -> Iterator[Run]:
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.manifest))
        opened = self._runs.get_or_make(key, lambda: _Open(Run(layout.folder, strict=False)))
        with opened.lock:
            yield opened.run


def page_of(rows: Sequence[T], number: int, size: int) -> tuple[list[T], int]:
    """The rows of a page that counts from 1, and how many pages there are."""
    pages = max(1, -(-len(rows) // size))
    at = min(max(number, 1), pages) - 1
    return list(rows[at * size : (at + 1) * size]), pages
