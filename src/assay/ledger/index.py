"""An SQLite index of all runs in a folder; deleting the index is safe.

The run folders are the truth. `update` reads what was appended since the last time, by the byte
offset that it keeps for each run, after it has made sure that what it read before is still there,
by a hash of all of it. The file is never changed: a new one is made aside and renamed into its
place, so no process waits for a lock, and a reader has the old one or the new one. An index that is
missing, damaged or of another version is built again; where no file can be made it lives in memory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from zlib import crc32

from assay.errors import BadRecord
from assay.formats.lines import open_file
from assay.ledger.counting import AttemptLine, AttemptSelection
from assay.ledger.layout import INDEX, RunLayout, list_runs
from assay.ledger.passes import PERFECT
from assay.ledger.records import RawLine, episode_from_record, read_raw
from assay.ledger.run import read_manifest
from assay.ledger.summary import primary_score, reward_of
from assay.schema.episode import FAILURES, Episode, StopReason
from assay.schema.manifest import RunManifest
from assay.schema.score import Abstained
from assay.schema.tools import as_text
from assay.schema.usage import Usage

T = TypeVar("T")

INDEX_VERSION = 7
TEXT_CHARS = 1_000
"""Of a question, an answer, a reference or a failure that the index keeps; `…` ends a cut one."""
SETTLED_S = 2.0
"""A file that was changed less long ago may change again without another time of change."""
STALE_DRAFT_S = 3_600.0
"""A draft that is older was left by a process that was killed."""
_BLOCK_BYTES = 1 << 20

_TABLES = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, created_at TEXT, benchmark TEXT, agent TEXT, focus TEXT, parent TEXT,
    task_set TEXT, n_tasks INTEGER, repeats INTEGER, commit_id TEXT, model TEXT,
    offset INTEGER NOT NULL, lines INTEGER NOT NULL, digest TEXT NOT NULL, damaged INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE files (run_id TEXT PRIMARY KEY, signature TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE attempts (
    run_id TEXT NOT NULL, line INTEGER NOT NULL, attempt TEXT NOT NULL, task_id TEXT NOT NULL,
    repeat INTEGER NOT NULL, domain TEXT NOT NULL, stop_reason TEXT NOT NULL, scorer TEXT NOT NULL,
    reward REAL, abstained TEXT, n_steps INTEGER NOT NULL, elapsed_s REAL NOT NULL,
    started_at TEXT NOT NULL, used INTEGER NOT NULL, cost_usd REAL,
    counts INTEGER NOT NULL, checksum INTEGER NOT NULL,
    question TEXT NOT NULL, submitted TEXT, reference TEXT NOT NULL, failure TEXT NOT NULL,
    PRIMARY KEY (run_id, line)
) WITHOUT ROWID;
CREATE INDEX attempts_of_a_task ON attempts (task_id);
"""

_RUNS = """
SELECT runs.run_id, created_at, benchmark, agent, focus, parent, task_set,
    n_tasks * repeats AS planned, damaged,
    count(a.line) AS attempts,
    count(a.line) FILTER (WHERE counts) AS n,
    count(a.reward) FILTER (WHERE counts) AS scored,
    avg(a.reward) FILTER (WHERE counts) AS mean,
    count(*) FILTER (WHERE counts AND a.stop_reason = 'answered') AS answered,
    count(*) FILTER (WHERE counts AND a.stop_reason IN (FAILURES)) AS errors,
    count(a.abstained) FILTER (WHERE counts) AS abstained,
    commit_id,
    total(a.elapsed_s) AS elapsed_s,
    CASE WHEN total(a.used) = count(a.cost_usd) THEN sum(a.cost_usd) END AS cost_usd,
    CAST(total(a.n_steps) AS INTEGER) AS steps,
    model
FROM runs LEFT JOIN attempts AS a USING (run_id)
GROUP BY runs.run_id ORDER BY created_at, runs.run_id
""".replace("FAILURES", ", ".join(map(repr, FAILURES)))


@dataclass(frozen=True, slots=True)
class RunRow:
    """The row of one run in a list of runs."""

    run_id: str
    created_at: str
    benchmark: str
    agent: str
    focus: str
    parent: str | None
    task_set: str
    planned: int
    """Tasks times repeats; 0 when the manifest does not say."""
    damaged: int
    """Lines that were left out: unreadable ones, and those that repeat an attempt."""
    attempts: int
    n: int
    """Final attempts."""
    scored: int
    mean: float | None
    answered: int
    errors: int
    abstained: int
    commit: str
    """Seven digits of it, and a `+` when not everything was committed."""
    elapsed_s: float
    """The sum over all attempts; concurrent ones overlap."""
    cost_usd: float | None
    """Of all attempts; `None` when no model was called, or a price is not known."""
    steps: int
    """Of all attempts."""
    model: str
    """The model that the agent asked; empty when the manifest names none."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of a run, summarised over the attempts that count."""

    task_id: str
    mean: float | None
    passed: float | None
    """The share of its scored attempts with full reward."""
    n: int
    attempt: str
    """The first of them."""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """The row of one attempt in a list of attempts."""

    run_id: str
    line: int
    attempt: str
    task_id: str
    repeat: int
    domain: str
    stop_reason: StopReason
    scorer: str
    reward: float | None
    abstained: str | None
    n_steps: int
    elapsed_s: float
    started_at: str
    used: bool
    """Whether a model was called."""
    cost_usd: float | None
    counts: bool
    """Whether it is the one that counts for its task and repeat."""
    question: str
    submitted: str | None
    """`None` when nothing was."""
    reference: str
    """A text as it is, anything else as JSON; empty where there is none."""
    failure: str
    """What broke; empty where nothing did."""


class LedgerIndex:
    """The index of one folder of runs; in a read-only folder the index is in memory."""

    def __init__(self, runs_dir: str | Path) -> None:
        self.runs_dir = Path(runs_dir)
        self.path = self.runs_dir / INDEX
        self._memory: sqlite3.Connection | None = None

    def update(self) -> int:
        """Update the index from the run folders; return the number of new lines."""
        try:
            with self._snapshot() as database:
                changed = _changes(database, self.runs_dir)
            return self._renew(fresh=False) if changed else 0
        except sqlite3.DatabaseError:
            return self.rebuild()

    def rebuild(self) -> int:
        """Build the index again from the run folders; return the number of lines."""
        self._memory = None
        return self._renew(fresh=True)

    def runs(self) -> list[RunRow]:
        """All runs, the oldest first, from the updated index."""
        self.update()
        return self._rows(_RUNS, (), RunRow)

    def attempts(
        self, *, run_id: str | None = None, task_id: str | None = None
    ) -> list[AttemptRow]:
        """The attempts of one run, of one task in all runs, or of one task in one run."""
        self.update()
        query = (
            "SELECT * FROM attempts "
            "WHERE (?1 IS NULL OR run_id = CAST(?1 AS TEXT)) "
            "AND (?2 IS NULL OR task_id = CAST(?2 AS TEXT)) ORDER BY run_id, line"
        )
        names = tuple(None if name is None else _text(name) for name in (run_id, task_id))
        return self._rows(query, names, _attempt_row)

    def tasks(self, run_id: str) -> list[TaskRow]:
        """All tasks of a run, in the order of their attempts, without an update of the index."""
        query = (
            "SELECT task_id, avg(reward), "
            "CAST(count(*) FILTER (WHERE reward >= ?2) AS REAL) / nullif(count(reward), 0), "
            "count(*), min(attempt) FROM attempts "
            "WHERE run_id = CAST(?1 AS TEXT) AND counts GROUP BY task_id ORDER BY min(line)"
        )
        return self._rows(query, (_text(run_id), PERFECT), TaskRow)

    def _rows(self, query: str, values: tuple[Any, ...], make: Callable[..., T]) -> list[T]:
        try:
            with self._snapshot() as database:
                return [make(*row) for row in database.execute(query, values)]
        except sqlite3.DatabaseError:
            # A page is damaged that no question before had touched, or the file was deleted.
            self.rebuild()
            with self._snapshot() as database:
                return [make(*row) for row in database.execute(query, values)]

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Open the index for reading; raise `_NoIndex` if there is no index."""
        if self._memory is not None:
            yield self._memory
            return
        if not self.path.is_file():
            raise _NoIndex(f"there is no {str(self.path)!r}")
        # Never changed under this name, so no lock is needed.
        address = f"file:{quote(os.fsencode(self.path.absolute()))}?mode=ro&immutable=1"
        with closing(_connect(address)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != INDEX_VERSION:
                raise _NoIndex(f"an index of version {version}")
            yield database

    def _renew(self, *, fresh: bool) -> int:
        """Replace the index by an updated copy; return the number of new lines."""
        if self._memory is not None:
            return _bring_up_to_date(self._memory, self.runs_dir)
        draft = self.path.with_name(f".{INDEX}.{uuid.uuid4().hex}.draft")
        try:
            for path in self.runs_dir.glob(f".{INDEX}.*.draft"):
                with suppress(OSError):
                    if path.stat().st_mtime < time.time() - STALE_DRAFT_S:
                        path.unlink()
            if not fresh:
                shutil.copyfile(self.path, draft)
            with closing(_connect(draft)) as database:
                new = _bring_up_to_date(database, self.runs_dir)
            if self.path.is_symlink() or not self.path.is_dir():
                draft.replace(self.path)
                return new
        except (OSError, sqlite3.OperationalError):
            pass  # A folder that cannot be written to, or a full disk.
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        self._memory = _connect(":memory:")
        return _bring_up_to_date(self._memory, self.runs_dir)


class _NoIndex(sqlite3.DatabaseError):
    """There is no usable index."""


def _connect(place: str | Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        place,
        isolation_level=None,
        uri=isinstance(place, str) and place.startswith("file:"),
        # An index in memory outlives the thread that made it; its owner uses it in turn.
        check_same_thread=False,
    )
    database.text_factory = lambda data: data.decode("utf-8", "surrogatepass")
    return database


def _changes(database: sqlite3.Connection, runs_dir: Path) -> bool:
    signatures = dict(database.execute("SELECT run_id, signature FROM files"))
    folders = {folder.name: folder for folder in list_runs(runs_dir)}
    return signatures.keys() != folders.keys() or any(
        not signatures[run_id] or signatures[run_id] != _signature(RunLayout(folder))
        for run_id, folder in folders.items()
    )


def _bring_up_to_date(database: sqlite3.Connection, runs_dir: Path) -> int:
    """Update the tables of the index; return the number of new lines."""
    # A draft that is not finished is thrown away: there is nothing to undo, or to wait for.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {INDEX_VERSION}")
    database.execute("BEGIN")
    folders = {folder.name: folder for folder in list_runs(runs_dir)}
    states = database.execute("SELECT run_id, offset, lines, digest FROM runs")
    indexed = {run_id: _State(*state) for run_id, *state in states}
    signatures = dict(database.execute("SELECT run_id, signature FROM files"))
    for run_id in indexed.keys() - folders.keys():
        _forget(database, run_id)
    new = 0
    for run_id, folder in folders.items():
        layout = RunLayout(folder)
        # Before anything is read: what is written meanwhile makes another one.
        signature = _signature(layout)
        if signature and signatures.get(run_id) == signature:
            continue
        state = indexed.get(run_id)
        if state is not None and _manifest_part(signatures.get(run_id, "")) != _manifest_part(
            _signature(layout, settled=False)
        ):
            state = None
        new += _update_run(database, run_id, layout, state)
        # Of files that may still change, the manifest alone is noted.
        signature = signature or f"{_manifest_part(_signature(layout, settled=False))}|"
        query = "INSERT OR REPLACE INTO files VALUES (CAST(? AS TEXT), ?)"
        database.execute(query, (_text(run_id), signature))
    database.execute("COMMIT")
    return new


def _manifest_part(signature: str) -> str:
    return signature.partition("|")[0]


def _signature(layout: RunLayout, *, settled: bool = True) -> str:
    """A text that changes when a run's files change; empty for a very recent change."""
    parts = []
    for path in (layout.manifest, layout.episodes):
        try:
            stat = path.stat()
        except OSError as error:
            parts.append(f"none {error.errno}")
            continue
        changed_ns = max(stat.st_mtime_ns, stat.st_ctime_ns)
        if settled and abs(time.time() - changed_ns / 1e9) < SETTLED_S:
            return ""
        parts.append(f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}")
    return "|".join(parts)


def _update_run(
    database: sqlite3.Connection, run_id: str, layout: RunLayout, state: _State | None
) -> int:
    """Index the new lines of a run; index all lines if the file was replaced."""
    try:
        if state is None or _digest(layout.episodes, state.offset) != state.digest:
            _forget(database, run_id)
            _insert_run(database, run_id, layout)
            state = _State()
        return _add_lines(database, run_id, layout, state)
    except (BadRecord, OSError) as error:
        # A directory, a pipe or a circle of links in the place of a file: this run is not
        # readable, and says so; the others are.
        _forget(database, run_id)
        _insert_run(database, run_id, layout, problem=str(error))
        return 0


def _add_lines(database: sqlite3.Connection, run_id: str, layout: RunLayout, state: _State) -> int:
    selection: AttemptSelection[AttemptLine] = AttemptSelection()
    query = (
        "SELECT attempt, task_id, repeat, stop_reason, line FROM attempts "
        "WHERE run_id = CAST(? AS TEXT) ORDER BY line"
    )
    for row in database.execute(query, (_text(run_id),)):
        selection.add(AttemptLine(*row))
    before = {line.number for line in selection.final.values()}
    offset, lines, damaged = state.offset, state.lines, 0
    for raw in read_raw(layout.episodes, start=offset, after=lines):
        offset, lines = raw.line.end, raw.line.number
        damaged += not _add_attempt(database, run_id, raw, selection)
    after = {line.number for line in selection.final.values()}
    database.executemany(
        "UPDATE attempts SET counts = ? WHERE run_id = CAST(? AS TEXT) AND line = ?",
        ((number in after, _text(run_id), number) for number in before ^ after),
    )
    database.execute(
        "UPDATE runs SET offset = ?, lines = ?, digest = ?, damaged = damaged + ? "
        "WHERE run_id = CAST(? AS TEXT)",
        (offset, lines, _digest(layout.episodes, offset), damaged, _text(run_id)),
    )
    return lines - state.lines


@dataclass(frozen=True, slots=True)
class _State:
    offset: int = 0
    lines: int = 0
    digest: str = ""


def _add_attempt(
    database: sqlite3.Connection,
    run_id: str,
    raw: RawLine,
    selection: AttemptSelection[AttemptLine],
) -> bool:
    """Add an attempt; return false if its line is unreadable or repeats an attempt."""
    try:
        episode = episode_from_record(raw.fields).episode
    except BadRecord:
        return False
    key = (episode.attempt, episode.task.id, episode.repeat, episode.stop_reason)
    is_new = selection.add(AttemptLine(*key, raw.line.number))
    if is_new:
        _insert(database, "attempts", _row(run_id, raw.line.number, episode))
    return is_new


class _DamagedText(sqlite3.DatabaseError):
    """A text in the index is damaged, which SQLite itself does not check."""


def _attempt_row(*row: Any) -> AttemptRow:
    *numbers, used, cost_usd, counts, checksum, question, submitted, reference, failure = row
    texts = (question, submitted, reference, failure)
    if _checksum(texts) != checksum:
        raise _DamagedText
    return AttemptRow(*(*numbers, bool(used), cost_usd, bool(counts), *texts))


def _checksum(texts: Iterable[str | None]) -> int:
    return crc32("\0".join(map(str, texts)).encode("utf-8", "surrogatepass"))


def _row(run_id: str, number: int, episode: Episode) -> tuple[Any, ...]:
    score = primary_score(episode)
    texts = (
        _cut(episode.task.goal),
        None if episode.final_response is None else _cut(episode.final_response),
        "" if episode.task.answer is None else _cut(as_text(episode.task.answer)),
        "" if episode.failure is None else _cut(episode.failure.message),
    )
    return (
        run_id, number, episode.attempt, episode.task.id, episode.repeat, episode.domain,
        episode.stop_reason, score.scorer if score is not None else "", reward_of(episode),
        score.reason if isinstance(score, Abstained) else None, episode.n_steps, episode.elapsed_s,
        episode.started_at, episode.usage != Usage(), episode.usage.cost_usd, False,
        _checksum(texts), *texts,
    )  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}…"


def _insert_run(
    database: sqlite3.Connection, run_id: str, layout: RunLayout, problem: str = ""
) -> None:
    """Insert the row of a run; a problem is shown in place of the run's focus."""
    try:
        manifest = read_manifest(layout)
        if problem:
            manifest = manifest.model_copy(update={"focus": f"unreadable: {problem}"})
    except BadRecord as error:
        manifest = RunManifest(run_id="", benchmark="", agent="", focus=f"unreadable: {error}")
    names = "created_at benchmark agent focus parent task_set n_tasks repeats short_commit"
    values = (getattr(manifest, name) for name in (*names.split(), "model_name"))
    _insert(database, "runs", (run_id, *values, 0, 0, "", 0))


def _insert(database: sqlite3.Connection, table: str, row: Iterable[Any]) -> None:
    values = [_text(value) if isinstance(value, str) else value for value in row]
    places = ("CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in values)
    query = f"INSERT INTO {table} VALUES ({', '.join(places)})"  # noqa: S608 - constants
    database.execute(query, values)


def _forget(database: sqlite3.Connection, run_id: str) -> None:
    for table in ("attempts", "runs", "files"):
        query = f"DELETE FROM {table} WHERE run_id = CAST(? AS TEXT)"  # noqa: S608 - constants
        database.execute(query, (_text(run_id),))


def _text(value: str) -> bytes:
    """Encode a text for `CAST(? AS TEXT)`, because SQLite's driver refuses lone surrogates."""
    return value.encode("utf-8", "surrogatepass")


def _digest(path: Path, end: int) -> str:
    """A hash of the file's first `end` bytes, or of the whole shorter file."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        stream = open_file(path)
    except FileNotFoundError:
        return digest.hexdigest()
    with stream:
        while end > 0 and (block := stream.read(min(end, _BLOCK_BYTES))):
            digest.update(block)
            end -= len(block)
    return digest.hexdigest()
