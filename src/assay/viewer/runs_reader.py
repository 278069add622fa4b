"""Cached, read-only access to a folder of runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import fsum
from pathlib import Path
from typing import TypeVar

from assay.errors import AssayError, UnknownName
from assay.ledger.index import AttemptRow, LedgerIndex, RunRow, TaskRow
from assay.ledger.labels import RunLabels, read_labels
from assay.ledger.layout import RunLayout, is_archived
from assay.ledger.lock import is_being_written, runs_being_written
from assay.ledger.records import StoredEpisode
from assay.ledger.run import Run, read_manifest
from assay.ledger.steps import StepSummary, read_summaries, read_window
from assay.report.agreement import Agreement, agree_with_labels
from assay.report.attempts import RunAttempts, read_attempts
from assay.report.comparison import Comparison, compare
from assay.report.diagnosis import AttemptDiagnosis, Diagnosis, diagnose, diagnose_attempt
from assay.report.statistics import ConfidenceInterval, bootstrap_mean, rate_interval
from assay.report.timeline import FEWEST, RunChange, change_from, order_of_bases
from assay.report.traces import Turn, messages_by_turn
from assay.schema.episode import Step
from assay.schema.manifest import RunManifest
from assay.schema.name import is_name
from assay.schema.worlds import TEXT_WORLDS, did_nothing
from assay.viewer.lru_cache import LruCache, Stamp, stamp

T = TypeVar("T")

MOST_SUMMARIES = 200_000
"""Steps whose summary is cached, over all episodes."""
MOST_ATTEMPTS = 40_000
"""Attempts whose rows are cached, over all runs; as many tasks, and as many that are compared."""
MOST_INTERVALS = 2_000
MOST_RUNS = 16
MOST_MESSAGE_BYTES = 30_000_000
"""Conversations that are cached, all together."""
LONGEST_CONVERSATION = 15_000_000
"""Bytes; a longer one is not taken apart."""
MOST_IDLE = 20_000
"""Observations of which is known whether the action before them did nothing."""
MOST_REPORTS = 8
MOST_FINDINGS = 200
"""Attempts that are diagnosed by themselves."""


@dataclass(slots=True)
class _OpenRun:
    """An open run, with a lock that lets one thread read at a time."""

    run: Run
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class PassRateRow:
    """The pass rate of a run over its tasks, with its interval."""

    rate: float
    interval: ConfidenceInterval | None
    """`None` for too few tasks."""


@dataclass(frozen=True, slots=True)
class _StepsFile:
    """The summaries of the steps in a file, and the version of the file."""

    stamp: Stamp
    summaries: tuple[StepSummary, ...]


@dataclass(frozen=True, slots=True)
class _Turns:
    """The turns of a conversation, and their approximate size in memory."""

    turns: tuple[Turn, ...] | None
    size: int = 1


class RunsReader:
    """A reader of a folder of runs, or of one run; any thread may call every method."""

    def __init__(self, runs_dir: Path, *, only: str | None = None) -> None:
        self.runs_dir = runs_dir
        self._only = only
        self._index = LedgerIndex(runs_dir)
        self._index_lock = threading.Lock()
        self._runs: LruCache[_OpenRun] = LruCache(MOST_RUNS)
        self._steps: LruCache[_StepsFile] = LruCache(
            MOST_SUMMARIES, lambda file: len(file.summaries)
        )
        self._attempts: LruCache[list[AttemptRow]] = LruCache(MOST_ATTEMPTS, len)
        self._tasks: LruCache[list[TaskRow]] = LruCache(MOST_ATTEMPTS, len)
        self._compared: LruCache[RunAttempts] = LruCache(MOST_ATTEMPTS, lambda run: len(run.final))
        self._unfinished: LruCache[tuple[str, ...]] = LruCache(MOST_RUNS)
        self._manifests: LruCache[RunManifest] = LruCache(MOST_INTERVALS)
        self._changes: LruCache[tuple[RunChange | None]] = LruCache(MOST_INTERVALS)
        self._intervals: LruCache[tuple[ConfidenceInterval | None]] = LruCache(MOST_INTERVALS)
        self._pass_rates: LruCache[tuple[PassRateRow | None]] = LruCache(MOST_INTERVALS)
        self._diagnoses: LruCache[Diagnosis] = LruCache(MOST_REPORTS)
        self._findings: LruCache[tuple[AttemptDiagnosis | None]] = LruCache(MOST_FINDINGS)
        self._comparisons: LruCache[Comparison] = LruCache(MOST_REPORTS)
        self._turns: LruCache[_Turns] = LruCache(MOST_MESSAGE_BYTES, lambda turns: turns.size)
        self._idle: LruCache[tuple[bool]] = LruCache(MOST_IDLE)
        self._labels: LruCache[RunLabels] = LruCache(MOST_RUNS)
        self._agreements: LruCache[Agreement] = LruCache(MOST_REPORTS)

    def _read_index(self, read: Callable[[LedgerIndex], T]) -> T:
        with self._index_lock:
            return read(self._index)

    def runs(self) -> list[RunRow]:
        """All runs, oldest first."""
        if not self.runs_dir.is_dir():
            return []
        rows = self._read_index(LedgerIndex.runs)
        if self._only is None:
            return rows
        # What it scored again is another run.
        return [replace(row, parent=None) for row in rows if row.run_id == self._only]

    def listed_runs(self, *, archived: bool = False) -> list[RunRow]:
        """The runs to list, oldest first; `archived` adds archived runs."""
        rows = self.runs()
        if archived or self._only is not None:
            return rows
        return [row for row in rows if not self.is_archived(row.run_id)]

    def is_archived(self, run_id: str) -> bool:
        """Whether the run is archived, so that lists leave it out."""
        return is_archived(self.runs_dir / run_id)

    def attempts(self, run_id: str, task_id: str | None = None) -> list[AttemptRow]:
        """The attempts of a run, or of one task in it."""
        key = self._attempts_key(run_id)
        if task_id is None:
            every = partial(LedgerIndex.attempts, run_id=run_id)
            return self._attempts.get_or_make(key, lambda: self._read_index(every))
        rows = self._attempts.get(key)
        if rows is None:
            return self._read_index(partial(LedgerIndex.attempts, run_id=run_id, task_id=task_id))
        return [row for row in rows if row.task_id == task_id]

    def _attempts_key(self, run_id: str) -> tuple[str, Stamp, Stamp]:
        """A cache key that changes whenever the attempts of a run change."""
        layout = self.layout(run_id)
        return run_id, stamp(layout.manifest), stamp(layout.episodes)

    def tasks(self, row: RunRow) -> list[TaskRow]:
        """Every task of the run with its mean reward."""
        read = partial(LedgerIndex.tasks, run_id=row.run_id)
        return self._tasks.get_or_make(_version_of(row), lambda: self._read_index(read))

    def interval(self, row: RunRow) -> ConfidenceInterval | None:
        """The 95 % interval of the mean over tasks; `None` for too few tasks."""

        def make() -> tuple[ConfidenceInterval | None]:
            means = [task.mean for task in self.tasks(row) if task.mean is not None]
            return (bootstrap_mean(means) if len(means) >= FEWEST else None,)

        return self._intervals.get_or_make(_version_of(row), make)[0]

    def pass_rate(self, row: RunRow) -> PassRateRow | None:
        """The run's pass rate over its tasks; `None` if no attempt has a reward."""

        def make() -> tuple[PassRateRow | None]:
            shares = [task.passed for task in self.tasks(row) if task.passed is not None]
            if not shares:
                return (None,)
            interval = rate_interval(shares) if len(shares) >= FEWEST else None
            return (PassRateRow(fsum(shares) / len(shares), interval),)

        return self._pass_rates.get_or_make(_version_of(row), make)[0]

    def change(
        self, row: RunRow, rows: Sequence[RunRow], *, now: bool = True
    ) -> tuple[RunChange | None] | None:
        """The change of the run since an earlier comparable run, as in the history.

        In a tuple, which holds `None` where there is no such run; without `now`, `None` itself
        unless it is cached. `rows` are the runs of the history, oldest first.
        """
        # Another task set is never comparable, which spares reading it.
        bases = [
            base
            for base in rows
            if (base.created_at, base.run_id) < (row.created_at, row.run_id)
            and base.parent is None
            and (not base.task_set or not row.task_set or base.task_set == row.task_set)
        ]
        key = (_version_of(row), *((base.run_id, base.attempts) for base in bases))
        if not now:
            return self._changes.get(key)

        def make() -> tuple[RunChange | None]:
            if row.parent is not None or not row.n:
                return (None,)
            try:
                return (self._change(row, bases),)
            except AssayError:
                # The run's own page says what is wrong with it.
                return (None,)

        return self._changes.get_or_make(key, make)

    def _change(self, row: RunRow, bases: Sequence[RunRow]) -> RunChange | None:
        readable = [(base, manifest) for base in bases if (manifest := self._manifest(base))]
        order = order_of_bases(
            [manifest for _, manifest in readable], read_manifest(self.layout(row.run_id))
        )
        runs = (self._numbers(readable[place][0].run_id) for place in order)
        return change_from(runs, self._numbers(row.run_id))

    def _manifest(self, row: RunRow) -> RunManifest | None:
        layout = self.layout(row.run_id)
        key = (row.run_id, stamp(layout.manifest))
        try:
            return self._manifests.get_or_make(key, lambda: read_manifest(layout))
        except AssayError:
            return None

    def _numbers(self, run_id: str) -> RunAttempts:
        """The attempts of a run as a comparison reads them."""
        folder = self.layout(run_id).folder
        return self._compared.get_or_make(
            self._attempts_key(run_id), lambda: read_attempts(Run(folder, strict=False))
        )

    def layout(self, run_id: str) -> RunLayout:
        """The layout of the run's folder; raise `UnknownName` for an unknown run."""
        layout = RunLayout(self.runs_dir / run_id)
        inside = run_id not in ("", ".", "..") and not {"/", "\0"} & set(run_id)
        named = self._only in (None, run_id)
        # Not `is_file`, which raises for a name that is too long.
        if not inside or not named or not os.path.lexists(layout.manifest):
            raise UnknownName(f"no run {run_id!r} in {str(self.runs_dir)!r}")
        return layout

    def manifest(self, run_id: str) -> RunManifest:
        with self._open(run_id) as run:
            return run.manifest

    def live(self, rows: Sequence[RunRow]) -> frozenset[str]:
        """The ids of the runs that are being written."""
        folders = [self.runs_dir / row.run_id for row in rows]
        return frozenset(folder.name for folder in runs_being_written(folders))

    def is_live(self, run_id: str) -> bool:
        return is_being_written(self.layout(run_id).folder)

    def unfinished(self, run_id: str) -> tuple[str, ...]:
        """The attempts that have steps but no finished record."""
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.episodes), stamp(layout.steps))

        def make() -> tuple[str, ...]:
            finished = {row.attempt for row in self.attempts(run_id)}
            started = {path.name.removesuffix(".jsonl") for path in layout.steps.glob("*.jsonl")}
            return tuple(sorted(filter(is_name, started - finished)))

        return self._unfinished.get_or_make(key, make)

    def stored(self, run_id: str, attempt: str) -> StoredEpisode:
        """A finished attempt without its messages and steps."""
        with self._open(run_id) as run:
            return run.stored(attempt)

    def step_summaries(self, run_id: str, attempt: str) -> tuple[StepSummary, ...]:
        """The summary of every step of an attempt, finished or not."""
        path = self.layout(run_id).steps_of(attempt)
        now, cached = stamp(path), self._steps.get(path)
        if cached is not None and cached.stamp == now:
            return cached.summaries
        summaries: tuple[StepSummary, ...] = ()
        # A file that only grew is read on; one that was replaced is read anew.
        if cached is not None and cached.stamp[0] == now[0] and cached.stamp[1] <= now[1]:
            summaries = cached.summaries
        return self._steps.put(path, _StepsFile(now, read_summaries(path, summaries))).summaries

    def steps(self, run_id: str, attempt: str, first: int, last: int) -> tuple[Step, ...]:
        """The full steps from `first` to `last - 1`."""
        summaries = self.step_summaries(run_id, attempt)
        if not summaries:
            return ()
        return read_window(self.layout(run_id).steps_of(attempt), summaries, first, last)

    def record(self, run_id: str, attempt: str, step: int | None = None) -> bytes:
        """The recorded line of an attempt, or of one of its steps, unchanged."""
        path = self.layout(run_id).steps_of(attempt)
        if step is None:
            with self._open(run_id) as run:
                return run.line(attempt)
        summaries = self.step_summaries(run_id, attempt)
        if step >= len(summaries):
            raise UnknownName(f"attempt {attempt!r} has no step {step}; it has {len(summaries)}")
        with path.open("rb") as stream:
            stream.seek(summaries[step].offset)
            return stream.read(summaries[step].end - summaries[step].offset)

    def turns(self, run_id: str, attempt: str, n_actions: int) -> tuple[Turn, ...] | None:
        """The messages of each turn of a finished attempt; `None` if the turns are unclear."""
        key = (run_id, attempt, n_actions, stamp(self.layout(run_id).episodes))
        return self._turns.get_or_make(
            key, lambda: self._read_turns(run_id, attempt, n_actions)
        ).turns

    def _read_turns(self, run_id: str, attempt: str, n_actions: int) -> _Turns:
        try:
            stored = self.stored(run_id, attempt)
            sha256 = stored.messages.sha256
            size = len(self.artifact(run_id, sha256)) if sha256 else 4_096
            if size > LONGEST_CONVERSATION:
                return _Turns(None)
            with self._open(run_id) as run:
                return _Turns(messages_by_turn(run.messages(attempt), n_actions), size)
        except AssayError:
            return _Turns(None)

    def did_nothing(self, run_id: str, world: str, sha256: str) -> bool:
        """Whether the text environment's observation says that the action had no effect."""
        if world not in TEXT_WORLDS or not sha256:
            return False
        key = (run_id, world, sha256)
        return self._idle.get_or_make(
            key, lambda: (did_nothing(world, self.text(run_id, sha256)),)
        )[0]

    def labels(self, run_id: str) -> RunLabels:
        """The human labels of the run's attempts and steps."""
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.labels))
        return self._labels.get_or_make(key, lambda: read_labels(layout.folder))

    def agreement(self, run_id: str, *, at: float) -> Agreement:
        """The agreement of labels and rewards in one run, or in all runs for an empty id."""
        names = [run_id] if run_id else [row.run_id for row in self.runs()]
        layouts = [layout for layout in map(self.layout, names) if layout.labels.exists()]
        stamps = [(stamp(layout.labels), stamp(layout.episodes)) for layout in layouts]
        runs = [Run(layout.folder, strict=False) for layout in layouts]
        key = (run_id, at, *stamps)
        return self._agreements.get_or_make(key, lambda: agree_with_labels(runs, at=at))

    def artifact(self, run_id: str, sha256: str) -> bytes:
        """The content of an artifact, checked against its hash."""
        with self._open(run_id) as run:
            return run.artifact(sha256)

    def text(self, run_id: str, sha256: str) -> str:
        """The text of an artifact, or in brackets why it cannot be read."""
        try:
            return self.artifact(run_id, sha256).decode("utf-8", "replace")
        except AssayError as error:
            return f"[not readable: {error}]"

    def diagnosis(self, run_id: str, *, now: bool = True) -> Diagnosis | None:
        """The diagnosis of the run; without `now`, only a cached diagnosis or `None`."""
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.episodes))
        if not now:
            return self._diagnoses.get(key)
        return self._diagnoses.get_or_make(key, lambda: diagnose(Run(layout.folder, strict=False)))

    def finding(self, run_id: str, attempt: str) -> AttemptDiagnosis | None:
        """Why one attempt is below full reward."""
        cached = self.diagnosis(run_id, now=False)
        if cached is not None:
            return next((item for item in cached.findings if item.attempt == attempt), None)
        layout = self.layout(run_id)
        return self._findings.get_or_make(
            (run_id, attempt, stamp(layout.episodes)),
            lambda: (diagnose_attempt(Run(layout.folder, strict=False), attempt),),
        )[0]

    def comparison(self, base: str, cand: str, *, force: bool = False) -> Comparison:
        """The comparison of the candidate run with the base run."""
        layouts = [self.layout(base), self.layout(cand)]
        key = (base, cand, force, *(stamp(layout.episodes) for layout in layouts))
        return self._comparisons.get_or_make(
            key, lambda: compare(self._numbers(base), self._numbers(cand), force=force)
        )

    def version(self, run_id: str) -> tuple[Stamp, ...]:
        """A value that changes whenever a file of the run changes."""
        layout = self.layout(run_id)
        paths = [layout.episodes, layout.steps, layout.labels]
        if is_being_written(layout.folder):
            paths += [layout.steps / f"{name}.jsonl" for name in self.unfinished(run_id)]
        return tuple(map(stamp, paths))

    @contextmanager
    def _open(self, run_id: str) -> Iterator[Run]:
        layout = self.layout(run_id)
        key = (run_id, stamp(layout.manifest))
        entry = self._runs.get_or_make(key, lambda: _OpenRun(Run(layout.folder, strict=False)))
        with entry.lock:
            yield entry.run


def _version_of(row: RunRow) -> tuple[str, int, float | None]:
    """A cache key that changes whenever the numbers of a run change."""
    return row.run_id, row.attempts, row.mean
