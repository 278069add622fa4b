"""Score the same rows with two rewards, shard by shard, and count the differences.

Rows come from files, folders of files and runs of the ledger. They are cut into the shards of a
file job, and each worker reads and scores whole shards. A shard leaves up to three files in the
folder of the job:

    00000017.tally.json    its counts, written last: a shard that has them is finished
    00000017.jsonl         the rows that changed, where they are asked for
    00000017.groups        which group each row is of, with both rewards, sorted into buckets

Rows of one group may be anywhere in the data, so groups are put together afterwards, bucket by
bucket. Nothing depends on the number of workers or on how often the job was stopped, and memory
grows with neither the rows nor the groups, only with the largest group.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.errors import BadParameter, BadRecord, MissingParameter
from assay.formats.lines import dump_json, load_exact
from assay.ledger.layout import RunLayout, find_run, is_archived, list_runs
from assay.ledger.run import Run
from assay.registry import REWARDS
from assay.report.group_effects import ROWS, GroupEffects, compare_groups
from assay.report.reward_diff import (
    TEXT_CHARS,
    Change,
    ChangeExample,
    DiffCounts,
    RewardDiff,
    SideScore,
)
from assay.resources.context import Context
from assay.resources.files import atomic_write
from assay.resources.scratch import scratch_prefix
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score, score_to_record
from assay.scoring.batch import Engine, LocalProcesses, at_place
from assay.scoring.columns import NoSuchPath, look_up
from assay.scoring.files.folders import list_inputs
from assay.scoring.files.jobs import check_source
from assay.scoring.files.rows import (
    IDENTITY,
    SHARD_BYTES,
    InputRow,
    Shard,
    column_names,
    encode,
    fingerprint,
    join_shards,
    plan_shards,
    read_rows,
)
from assay.scoring.files.shards import (
    RowProgress,
    ShardJob,
    bind_columns,
    open_partial,
    score_input,
    settle_plan,
)
from assay.scoring.scorer import SCORE_S, RewardLike, Scorer, score_episode

TOLERANCE = 1e-9
BUCKET_ROWS = 65_536
"""Rows of groups that are put together at a time, on average."""
CHUNK_ROWS = 64
"""Rows that are scored at a time: a grader in another process is asked for all of them at once."""
RUN_ROWS = 500
"""Attempts of a run in one shard."""
RUN_GROUP = ("run_id", "task_id")
"""The repeats of a task by one run are a group, unless something else is asked for."""
REFERENCES = ("solution", "ground_truth", "golden_answers", "target", "label", "reference")
"""Where a row that has no `answer` may have its reference, to be shown."""
PLAN = "plan.json"


class DiffSource(NamedTuple):
    """A file or a run with rows to compare."""

    name: str
    path: Path
    is_run: bool

    @property
    def content(self) -> Path:
        """The file that holds the rows."""
        return RunLayout(self.path).episodes if self.is_run else self.path


class ScoredPair(NamedTuple):
    """A row with both scores."""

    number: int
    row: Any
    old: Score
    new: Score


def diff_rewards(
    old: RewardLike,
    new: RewardLike,
    data: str | Path | Sequence[str | Path],
    *,
    group: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    tolerance: float = TOLERANCE,
    names: tuple[str, str] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    workers: int = 1,
    engine: Engine | None = None,
    runs_dir: str | Path = "runs",
    progress: RowProgress | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> RewardDiff:
    """Compare the rewards `old` and `new` on every row of `data`.

    A reward is a name, `NAME@VERSION`, `FILE.py:NAME`, a function or a `Scorer`. `data` are files
    (JSONL, CSV, Parquet), folders of them, runs, or folders of runs. `group` names the columns that
    rows of one group have in common, a dotted path leads into one; of a run they are the repeats of
    a task. Rewards that differ by `tolerance` at most are equal. `names` is what the two are
    called in the result.

    With `out`, a .jsonl file, every row that changed is written there with both scores, and a job
    that was stopped goes on with `resume`.
    """
    if not 0 <= tolerance < float("inf"):
        raise BadParameter(f"tolerance is {tolerance!r}; give a finite number of at least 0")
    start = time.monotonic()
    sides = (REWARDS.find(reward) if isinstance(reward, str) else reward for reward in (old, new))
    bound = bind_columns(tuple(sides), columns or {})
    inputs = find_data([data] if isinstance(data, str | Path) else data, Path(runs_dir))
    keys = (group,) if isinstance(group, str) else tuple(group)
    if not keys and all(each.is_run for each in inputs):
        keys = RUN_GROUP
    for each in inputs:
        _check_columns(each, bound, keys)
    comparison = ShardDiffer(bound[0], bound[1], keys, tolerance, writes_rows=out is not None)
    labels = names or (bound[0].spec.id, bound[1].spec.id)
    job = _DiffJob(inputs, comparison, engine or LocalProcesses(workers), shard_bytes)
    place = None if out is None else Path(out)
    with _job_folder(place, resume=resume, overwrite=overwrite) as folder:
        counts, effects = job.run(folder, labels, progress)
        if place is not None:
            shards = sorted(folder.glob("*.jsonl"))
            join_shards(shards, place)
    return RewardDiff(
        old=labels[0],
        new=labels[1],
        data=tuple(each.name for each in inputs),
        counts=counts,
        group=keys,
        groups=effects,
        tolerance=tolerance,
        elapsed_s=time.monotonic() - start,
    )


def find_data(names: Sequence[str | Path], runs_dir: Path) -> list[DiffSource]:
    """The files and runs that the names refer to, each once, in their order.

    A folder of runs means all runs in it that are not archived and were not made by scoring another
    one again. Raises `BadRecord` or `UnknownName` for what is none of these.
    """
    inputs = {each.path.resolve(): each for name in names for each in _expand(name, runs_dir)}
    if not inputs:
        raise BadRecord("there is no data to compare on: name a file, a folder or a run")
    return list(inputs.values())


def _expand(name: str | Path, runs_dir: Path) -> Iterator[DiffSource]:
    path = Path(name)
    if path.is_file():
        yield DiffSource(str(name), path, is_run=False)
        return
    if not path.is_dir() or RunLayout(path).manifest.is_file():
        runs = [find_run(name, runs_dir)]
    elif runs := list_runs(path):
        runs = [run for run in runs if not is_archived(run)]
        configs = ((run, Run(run, strict=False).manifest.config) for run in runs)
        runs = [run for run, config in configs if "rescored_with" not in config]
    else:
        yield from (DiffSource(file, path / file, is_run=False) for file in list_inputs(path))
    yield from (DiffSource(run.name, run, is_run=True) for run in runs)


def _check_columns(data: DiffSource, scorers: Sequence[Scorer], group: Sequence[str]) -> None:
    """Raise an error if the header of a file lacks a needed column."""
    names = None if data.is_run else column_names(data.path)
    if names is None:
        return
    check_source(data.path, scorers)
    for column in group:
        if column not in names and column.partition(".")[0] not in names:
            raise MissingParameter(
                f"{data.path.name} has no column {column!r} to group by; it has: {', '.join(names)}"
            )


@dataclass(frozen=True, slots=True)
class ShardDiffer:
    """Scores the rows of a shard with both rewards, and counts the differences."""

    old: Scorer
    new: Scorer
    group: tuple[str, ...]
    tolerance: float
    writes_rows: bool
    buckets: int = 1

    def __call__(self, job: ShardJob) -> int:
        """Write the shard's rows and groups, then its counts; return the number of rows."""
        counts = DiffCounts()
        members = _Members()
        with atomic_write(job.out, job.drafts) as draft, draft.open("wb") as stream:
            for pair in self._pairs(job):
                change = self._count(counts, pair, job)
                if change is not None and self.writes_rows:
                    stream.write(encode(_changed_row(pair, job, change)))
                if self.group:
                    key = group_key(pair.row, self.group)
                    if key is None:
                        counts.ungrouped += 1
                    else:
                        members.add(key, pair)
        if self.group:
            members.write(job, self.buckets)
        with atomic_write(job.tally, job.drafts) as draft:
            draft.write_bytes(dump_json(counts.to_record()))
        return counts.rows

    def config(self) -> dict[str, Any]:
        """The settings that a resumed job must share with the stopped job."""
        scorers = (self.old, self.new)
        return {
            "rewards": [scorer.spec.id for scorer in scorers],
            "params": [scorer.params for scorer in scorers],
            "columns": [scorer.columns for scorer in scorers],
            "group": list(self.group),
            "tolerance": self.tolerance,
        }

    def _pairs(self, job: ShardJob) -> Iterator[ScoredPair]:
        me = os.getpid()
        for pair in self._run_pairs(job) if _is_run(job) else self._file_pairs(job):
            if os.getpid() != me:
                os._exit(0)  # A reward forked, and the copy would write what its parent writes.
            yield pair

    def _file_pairs(self, job: ShardJob) -> Iterator[ScoredPair]:
        rows = read_rows(job.source, job.shard)
        while chunk := list(islice(rows, CHUNK_ROWS)):
            scores = zip(_score_chunk(self.old, chunk), _score_chunk(self.new, chunk), strict=True)
            for row, (old, new) in zip(chunk, scores, strict=True):
                yield ScoredPair(row.number, row.value, old, new)

    def _run_pairs(self, job: ShardJob) -> Iterator[ScoredPair]:
        with asyncio.Runner() as runner:
            for number, episode in _attempts(job):
                if isinstance(episode, BadRecord):
                    problem = ("bad_row", str(episode))
                    sides = (self.old.abstain(*problem), self.new.abstain(*problem))
                    yield ScoredPair(number, {}, *sides)
                    continue
                context = Context.recorded(episode)
                scoring = score_episode((self.old, self.new), episode, context, limit_s=SCORE_S)
                old, new = runner.run(scoring)
                yield ScoredPair(number, _row_of(job, episode), old, new)

    def _count(self, counts: DiffCounts, pair: ScoredPair, job: ShardJob) -> Change | None:
        row = pair.row if isinstance(pair.row, Mapping) else {}
        columns = {**self.new.columns, **self.old.columns}
        response = _value(row, (columns.get("final_response", "final_response"),))
        reference = _value(row, (columns.get("answer", "answer"), *REFERENCES))
        size = sum(len(text) for text in (response, reference) if type(text) is str)

        def example() -> ChangeExample:
            sides = SideScore.of(pair.old), SideScore.of(pair.new)
            texts = _text(response), _text(reference)
            identity = _text(_value(row, IDENTITY))
            return ChangeExample(job.file, pair.number, size, job.number, *texts, *sides, identity)

        place = (size, job.number, pair.number)
        return counts.add(pair.old, pair.new, self.tolerance, place, example)


def _score_chunk(scorer: Scorer, rows: Sequence[InputRow]) -> list[Score]:
    """The score of each row; an unreadable row abstains, with its line number."""
    readable = [row for row in rows if not row.problem and isinstance(row.value, Mapping)]
    if hasattr(scorer.spec.function, "call_many") and len(readable) == len(rows):
        with suppress(MissingParameter):
            scores = scorer.score_many([row.value for row in rows])
            return [
                at_place(score, f"line {row.number}")
                for row, score in zip(rows, scores, strict=True)
            ]
    return [score_input(scorer, row) for row in rows]


def _value(row: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """The value of the first column that the row has; a dotted path reads inside a value."""
    for column in columns:
        if column in row:
            return row[column]
        if "." in column:
            with suppress(MissingParameter, NoSuchPath):
                return look_up(row, column, "column", "a row")
    return None


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else ("" if value is None else repr(value))
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 1] + "…"


def _changed_row(pair: ScoredPair, job: ShardJob, change: Change) -> dict[str, Any]:
    """The output row of a changed row: its place, its identity, the change and both scores."""
    row = pair.row if isinstance(pair.row, dict) else {}
    place = {"file": job.file, "line": pair.number}
    identity = {name: row[name] for name in IDENTITY if name in row}
    scores = {"old": score_to_record(pair.old), "new": score_to_record(pair.new)}
    return {**place, **identity, "change": change, **scores}


def group_key(row: Any, columns: Sequence[str]) -> bytes | None:
    """A digest of the row's values in the columns; `None` if the row lacks a value."""
    values = group_values(row, columns)
    if values is None:
        return None
    if len(values) == 1 and type(values[0]) is str:
        data = b"text " + values[0].encode("utf-8", "surrogatepass")
    else:
        data = dump_json(values)
    return hashlib.blake2b(data, digest_size=16).digest()


def group_values(row: Any, columns: Sequence[str]) -> list[Any] | None:
    """The row's values in the columns; `None` if the row lacks a value."""
    if not isinstance(row, Mapping):
        return None
    values = [_value(row, (column,)) for column in columns]
    return None if any(value is None for value in values) else values


class _Members:
    """The grouped rows of one shard in compact arrays: a shard may have a million rows."""

    def __init__(self) -> None:
        self._keys = bytearray()
        self._old, self._new, self._lines = array("d"), array("d"), array("Q")

    def add(self, key: bytes, pair: ScoredPair) -> None:
        self._keys += key
        for column, score in ((self._old, pair.old), (self._new, pair.new)):
            column.append(nan if type(score) is Abstained else float(score))
        self._lines.append(pair.number)

    def write(self, job: ShardJob, buckets: int) -> None:
        """Write the rows sorted by bucket, after a table of the start of each bucket."""
        rows = np.zeros(len(self._lines), ROWS)
        rows["key"] = np.frombuffer(bytes(self._keys), "<u8").reshape(-1, 2)
        rows["old"], rows["new"], rows["line"] = self._old, self._new, self._lines
        rows["shard"] = job.number
        at = rows["key"][:, 0] % np.uint64(buckets)
        order = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[order], np.arange(buckets + 1, dtype=np.uint64))
        place = job.tally.with_name(f"{job.number:08d}.groups")
        with atomic_write(place, job.drafts) as draft, draft.open("wb") as stream:
            stream.write(starts.astype("<u8").tobytes())
            stream.write(rows[order].tobytes())


def _compare_bucket(
    folder: Path, shards: int, buckets: int, tolerance: float, bucket: int
) -> GroupEffects:
    """The effects of the new reward on the groups of one bucket."""
    arrays = []
    for number in range(shards):
        with (folder / f"{number:08d}.groups").open("rb") as stream:
            stream.seek(8 * bucket)
            first, end = map(int, np.frombuffer(stream.read(16), "<u8"))
            stream.seek(8 * (buckets + 1) + first * ROWS.itemsize)
            arrays.append(np.frombuffer(stream.read((end - first) * ROWS.itemsize), ROWS))
    return compare_groups(np.concatenate(arrays), tolerance)


@dataclass(frozen=True, slots=True)
class _DiffJob:
    """A diff job: its data, its scoring, and the engine that does the work."""

    inputs: Sequence[DiffSource]
    scoring: ShardDiffer
    engine: Engine
    shard_bytes: int

    def run(
        self, folder: Path, labels: tuple[str, str], progress: RowProgress | None
    ) -> tuple[DiffCounts, GroupEffects | None]:
        """Score every unfinished shard, and add up the counts of all shards."""
        jobs = self._cut(folder.absolute())
        total = sum(job.shard.rows for job in jobs)
        buckets = 1 + total // BUCKET_ROWS
        plan = {
            **self.scoring.config(),
            "names": list(labels),
            "inputs": [[each.name, fingerprint(each.content)] for each in self.inputs],
            "block_bytes": self.shard_bytes,
        }
        settle_plan(folder / PLAN, plan, folder)
        finished = {job.number for job in jobs if job.tally.is_file()}
        done = sum(job.shard.rows for job in jobs if job.number in finished)
        remaining = [job for job in jobs if job.number not in finished]
        if progress is not None:
            progress(done, total)
        for rows in self.engine.map(replace(self.scoring, buckets=buckets), remaining):
            done += rows
            if progress is not None:
                progress(done, total)
        counts = DiffCounts()
        # In order, since a sum of floats depends on it; read again, not kept: there may be many.
        for job in jobs:
            counts.merge(DiffCounts.from_record(load_exact(job.tally.read_bytes())))
        if not self.scoring.group:
            return counts, None
        return counts, self._compare_groups(folder.absolute(), jobs, buckets)

    def _cut(self, folder: Path) -> list[ShardJob]:
        jobs: list[ShardJob] = []
        for each in self.inputs:
            size = self.shard_bytes
            for shard in _run_shards(each.path) if each.is_run else plan_shards(each.path, size):
                job = ShardJob.in_folder(
                    folder, len(jobs), each.path, shard, suffix=".jsonl", file=each.name
                )
                jobs.append(job)
        return jobs

    def _compare_groups(self, folder: Path, jobs: Sequence[ShardJob], buckets: int) -> GroupEffects:
        effects = GroupEffects()
        if not jobs:
            return effects
        compare = partial(_compare_bucket, folder, len(jobs), buckets, self.scoring.tolerance)
        # A total of whole numbers, and the smallest of distinct examples: the order is no matter.
        for each in self.engine.map(compare, range(buckets)):
            effects.merge(each)
        key_of = lru_cache(None)(lambda shard, line: self._key_of(jobs[shard], line))
        for change, examples in effects.examples.items():
            effects.examples[change] = [
                replace(example, key=key_of(example.shard, example.line)) for example in examples
            ]
        return effects

    def _key_of(self, job: ShardJob, line: int) -> str:
        """The key of a group as text, read from the group's first row."""
        row = next(row for number, row in _rows(job) if number == line)
        return " ".join(map(_text, group_values(row, self.scoring.group) or []))


def _is_run(job: ShardJob) -> bool:
    return job.source.is_dir()


def _rows(job: ShardJob) -> Iterator[tuple[int, Any]]:
    """The rows of a shard with their numbers, without scores."""
    if _is_run(job):
        for number, episode in _attempts(job):
            yield number, {} if isinstance(episode, BadRecord) else _row_of(job, episode)
    else:
        yield from ((row.number, row.value) for row in read_rows(job.source, job.shard))


def _row_of(job: ShardJob, episode: Episode) -> dict[str, Any]:
    """The attempt as a row: the task's columns, the answer and the attempt's ids."""
    own = {"run_id": job.file, "task_id": episode.task.id, "repeat": episode.repeat}
    return {**episode.columns(), **own, "id": episode.attempt}


@lru_cache(maxsize=4)
def _open(path: Path) -> Run:
    return Run(path, strict=False)


def _run_shards(path: Path) -> list[Shard]:
    """Divide the attempts of a run that count into shards."""
    count = len(_open(path.absolute()).attempts().final)
    starts = range(0, count, RUN_ROWS)
    ends = (min(start + RUN_ROWS, count) for start in starts)
    return [
        Shard(index, start, end, start + 1, end - start)
        for index, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def _attempts(job: ShardJob) -> Iterator[tuple[int, Episode | BadRecord]]:
    """Yield each attempt of a shard with its line number, or an error if it is damaged."""
    run = _open(job.source)
    lines = list(run.attempts().final.values())[job.shard.start : job.shard.end]
    for line in lines:
        try:
            yield line.number, run.episode(line.attempt)
        except BadRecord as error:
            yield line.number, error


@contextmanager
def _job_folder(out: Path | None, *, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Yield the folder of a job: next to `out`, or a temporary folder without `out`."""
    if out is None:
        if resume:
            raise BadParameter("resume needs out: only a job with a result file can be continued")
        with tempfile.TemporaryDirectory(prefix=scratch_prefix("diff")) as temporary:
            yield Path(temporary)
        return
    if out.suffix.lower() != ".jsonl":
        raise BadParameter(f"out is {str(out)!r}; give a .jsonl file for the changed rows")
    folder = open_partial(out, resume=resume, overwrite=overwrite)
    yield folder
    shutil.rmtree(folder)
