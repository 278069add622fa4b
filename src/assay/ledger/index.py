"""An SQLite index over all runs of a folder: fast to ask, safe to delete.

The run folders are the truth. `update` reads what was appended since the last time, by the byte
offset that it keeps for each run; an index that is missing, damaged or of another version is
built again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadRecord
from assay.ledger.counting import AttemptLine, AttemptSelection
from assay.ledger.layout import INDEX, RunLayout, list_runs
from assay.ledger.records import RawLine, episode_from_record, read_raw
from assay.ledger.run import read_manifest
from assay.ledger.summary import primary_score, reward_of
from assay.schema.episode import FAILURES, Episode, StopReason
from assay.schema.manifest import RunManifest
from assay.schema.score import Abstained
from assay.schema.usage import Usage

INDEX_VERSION = 4
_HEAD_BYTES = 4_096

_TABLES = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, created_at TEXT, benchmark TEXT, agent TEXT, focus TEXT, parent TEXT,
    task_set TEXT, n_tasks INTEGER, repeats INTEGER, commit_id TEXT,
    offset INTEGER NOT NULL, lines INTEGER NOT NULL, head TEXT NOT NULL, damaged INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
    run_id TEXT NOT NULL, line INTEGER NOT NULL, attempt TEXT NOT NULL, task_id TEXT NOT NULL,
    repeat INTEGER NOT NULL, domain TEXT NOT NULL, stop_reason TEXT NOT NULL, scorer TEXT NOT NULL,
    reward REAL, abstained TEXT, n_steps INTEGER NOT NULL, elapsed_s REAL NOT NULL,
    started_at TEXT NOT NULL, used INTEGER NOT NULL, cost_usd REAL,
    counts INTEGER NOT NULL,
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
    CAST(total(a.n_steps) AS INTEGER) AS steps
FROM runs LEFT JOIN attempts AS a USING (run_id)
GROUP BY runs.run_id ORDER BY created_at, runs.run_id
""".replace("FAILURES", ", ".join(map(repr, FAILURES)))


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list of runs."""

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


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt in a list of attempts."""

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


class LedgerIndex:
    """The index of one folder of runs; where nothing can be written it lives in memory."""

    def __init__(self, runs_dir: str | Path) -> None:
        self.runs_dir = Path(runs_dir)
        self.path = self.runs_dir / INDEX
        self._memory: sqlite3.Connection | None = None

    def update(self) -> int:
        """The index says what the run folders say; returns how many lines were new."""
        with self._connection() as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                return self._update(database)

    def rebuild(self) -> int:
        """The index is built again from the run folders; returns how many lines there are."""
        self._delete()
        return self.update()

    def runs(self) -> list[RunRow]:
        """All runs, oldest first, up to date."""
        self.update()
        return [RunRow(*row) for row in self._rows(_RUNS)]

    def attempts(
        self, *, run_id: str | None = None, task_id: str | None = None
    ) -> list[AttemptRow]:
        """The attempts of a run, of a task over all runs, or both, up to date."""
        self.update()
        query = (
            "SELECT * FROM attempts "
            "WHERE (?1 IS NULL OR run_id = CAST(?1 AS TEXT)) "
            "AND (?2 IS NULL OR task_id = CAST(?2 AS TEXT)) ORDER BY run_id, line"
        )
        names = (None if name is None else _text(name) for name in (run_id, task_id))
        rows = self._rows(query, tuple(names))
        return [AttemptRow(*(*row[:-3], bool(row[-3]), row[-2], bool(row[-1]))) for row in rows]

    def task_means(self, run_id: str) -> list[float]:
        """The mean reward of each task of a run that was scored, as of the last update."""
        query = (
            "SELECT avg(reward) FROM attempts WHERE run_id = CAST(? AS TEXT) "
            "AND counts AND reward IS NOT NULL GROUP BY task_id ORDER BY min(line)"
        )
        return [mean for (mean,) in self._rows(query, (_text(run_id),))]

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connection() as database:
            return database.execute(query, values).fetchall()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            yield self._memory
            return
        try:
            database = _open(self.path)
        except sqlite3.OperationalError:
            self._memory = _open(None)
            yield self._memory
            return
        except sqlite3.DatabaseError:
            self._delete()
            database = _open(self.path)
        with closing(database):
            yield database

    def _delete(self) -> None:
        self._memory = None
        for path in (self.path, self.path.with_name(INDEX + "-journal")):
            # Where nothing can be written there is nothing to delete either.
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _update(self, database: sqlite3.Connection) -> int:
        folders = {folder.name: folder for folder in list_runs(self.runs_dir)}
        states = database.execute("SELECT run_id, offset, lines, head FROM runs")
        indexed = {run_id: _State(*state) for run_id, *state in states}
        for run_id in indexed.keys() - folders.keys():
            _forget(database, run_id)
        new = 0
        for run_id, folder in folders.items():
            new += _update_run(database, run_id, RunLayout(folder), indexed.get(run_id))
        return new


def _update_run(
    database: sqlite3.Connection, run_id: str, layout: RunLayout, state: _State | None
) -> int:
    if state is None or not _grew_from(layout.episodes, state):
        _forget(database, run_id)
        _insert_run(database, run_id, layout)
        state = _State()
    elif _size(layout.episodes) == state.offset:
        return 0
    selection = _selection(database, run_id)
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
    head = _head(layout.episodes, offset)
    database.execute(
        "UPDATE runs SET offset = ?, lines = ?, head = ?, damaged = damaged + ? "
        "WHERE run_id = CAST(? AS TEXT)",
        (offset, lines, head, damaged, _text(run_id)),
    )
    return lines - state.lines


@dataclass(frozen=True, slots=True)
class _State:
    """How far a run was indexed."""

    offset: int = 0
    lines: int = 0
    head: str = ""


def _add_attempt(
    database: sqlite3.Connection,
    run_id: str,
    raw: RawLine,
    selection: AttemptSelection[AttemptLine],
) -> bool:
    """Whether the line is in the index now: an unreadable one, or one that repeats, is not."""
    try:
        episode = episode_from_record(raw.fields).episode
    except BadRecord:
        return False
    key = (episode.attempt, episode.task.id, episode.repeat, episode.stop_reason)
    if not selection.add(AttemptLine(*key, raw.line.number)):
        return False
    _insert(database, "attempts", _row(run_id, raw.line.number, episode))
    return True


def _selection(database: sqlite3.Connection, run_id: str) -> AttemptSelection[AttemptLine]:
    """The attempts of a run as far as they are indexed."""
    selection: AttemptSelection[AttemptLine] = AttemptSelection()
    query = (
        "SELECT attempt, task_id, repeat, stop_reason, line FROM attempts "
        "WHERE run_id = CAST(? AS TEXT) ORDER BY line"
    )
    for row in database.execute(query, (_text(run_id),)):
        selection.add(AttemptLine(*row))
    return selection


def _row(run_id: str, number: int, episode: Episode) -> tuple[Any, ...]:
    score = primary_score(episode)
    return (
        run_id,
        number,
        episode.attempt,
        episode.task.id,
        episode.repeat,
        episode.domain,
        episode.stop_reason,
        score.scorer if score is not None else "",
        reward_of(episode),
        score.reason if isinstance(score, Abstained) else None,
        episode.n_steps,
        episode.elapsed_s,
        episode.started_at,
        episode.usage != Usage(),
        episode.usage.cost_usd,
        False,
    )


def _insert_run(database: sqlite3.Connection, run_id: str, layout: RunLayout) -> None:
    try:
        manifest = read_manifest(layout)
    except BadRecord as error:
        manifest = RunManifest(run_id="", benchmark="", agent="", focus=f"unreadable: {error}")
    values = (
        run_id,
        manifest.created_at,
        manifest.benchmark,
        manifest.agent,
        manifest.focus,
        manifest.parent,
        manifest.task_set,
        manifest.n_tasks,
        manifest.repeats,
        manifest.commit[:7] + "+" * bool(manifest.dirty),
    )
    _insert(database, "runs", (*values, 0, 0, "", 0))


def _insert(database: sqlite3.Connection, table: str, row: Iterable[Any]) -> None:
    values = [_text(value) if isinstance(value, str) else value for value in row]
    places = ("CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in values)
    query = f"INSERT INTO {table} VALUES ({', '.join(places)})"  # noqa: S608 - constants
    database.execute(query, values)


def _forget(database: sqlite3.Connection, run_id: str) -> None:
    for table in ("attempts", "runs"):
        query = f"DELETE FROM {table} WHERE run_id = CAST(? AS TEXT)"  # noqa: S608 - constants
        database.execute(query, (_text(run_id),))


def _open(path: Path | None) -> sqlite3.Connection:
    """A connection with the tables in place; a `DatabaseError` means that the file is no index."""
    database = sqlite3.connect(
        ":memory:" if path is None else path,
        isolation_level=None,
        timeout=30.0,
        # An index in memory outlives the thread that made it; its owner uses it in turn.
        check_same_thread=path is not None,
    )
    try:
        database.text_factory = lambda data: data.decode("utf-8", "surrogatepass")
        # What a power cut destroys is built again; there is nothing to wait for.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, INDEX_VERSION):
            raise sqlite3.DatabaseError(f"an index of version {version}")
        if version == 0:
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {INDEX_VERSION}")
        database.execute("COMMIT")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _text(value: str) -> bytes:
    """A text for `CAST(? AS TEXT)`: the driver itself refuses lone surrogates."""
    return value.encode("utf-8", "surrogatepass")


def _head(path: Path, offset: int) -> str:
    """A hash of the first bytes that were indexed: a file that was replaced has another one."""
    try:
        with path.open("rb") as stream:
            head = stream.read(min(offset, _HEAD_BYTES))
    except FileNotFoundError:
        head = b""
    return hashlib.sha256(head).hexdigest()


def _grew_from(path: Path, state: _State) -> bool:
    """Whether what was indexed is still the beginning of the file."""
    return _size(path) >= state.offset and _head(path, state.offset) == state.head


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
