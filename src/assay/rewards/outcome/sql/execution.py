"""Run queries on SQLite so that they cannot write, attach files or go over their limits.

A database file is opened read-only and immutable; one that is given as a script is built in memory
and then closed to writers. An authorizer lets a query read tables and call functions, and nothing
else. A progress handler counts the steps of SQLite's machine, which are the same on every machine,
and looks at the clock; limits on lengths bound what one step can do.
"""

from __future__ import annotations

import re
import sqlite3
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from assay.rewards.outcome.sql.text import READING, first_word

SqlRow: TypeAlias = tuple[Any, ...]

HEAP_BYTES: Final = 256 * 1024 * 1024
"""Of SQLite's own memory in a process."""
RESULT_BYTES: Final = 64 * 1024 * 1024
"""Of the texts and blobs of one result."""
CHUNK: Final = 50
"""Rows that are fetched at once, each of a megabyte at most."""
SCRIPT_STEPS: Final = 200_000_000
STEPS_BETWEEN: Final = 1_000
"""Steps of SQLite's machine between two looks at the limits."""
_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_READS: Final = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)
_BUILDS: Final = _READS | {
    sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_REINDEX, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_ALTER_TABLE,
}  # fmt: skip
"""What a script may do while it builds a database in memory."""
_DUMPED: Final = "foreign_keys"
"""The pragma with which the dump of a database begins."""
_CLOCK: Final = frozenset(
    """current_date current_time current_timestamp date time datetime julianday unixepoch strftime
    timediff""".split()
)
"""Functions that may read the clock; whether they do depends on what they are given."""
_NOW: Final = re.compile(r"\bnow\b|\bcurrent_(?:date|time)|(?:time|date|day|epoch)\s*\(\s*\)", re.I)
_REFUSED: Final = frozenset(
    ("load_extension", "random", "randomblob", "readfile", "writefile", "edit", "fts3_tokenizer")
)
"""Functions that reach out of the database, or whose result nobody can repeat."""


class BadDatabase(Exception):
    """The database cannot be read."""


class BadQuery(Exception):
    """The query cannot be run, or exceeded a limit."""


class OutOfMemory(BadQuery):
    """The process ran out of memory; a new process may have enough."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What one query may spend."""

    steps: int
    """Of SQLite's machine."""
    seconds: float
    rows: int


@dataclass(slots=True)
class ResultTable:
    """The rows and columns that a query returned, and the tables that it read."""

    rows: list[SqlRow]
    columns: tuple[str, ...]
    tables: frozenset[str]
    """The tables that it reads."""
    reads_clock: bool = False
    """Whether it may give something else tomorrow."""


@dataclass(slots=True)
class _Meter:
    """Counts the steps of a query, and stops the query at its limit."""

    steps: int
    deadline: float
    spent: int = 0
    over: str = ""

    def __call__(self) -> bool:
        self.spent += STEPS_BETWEEN
        if self.spent > self.steps:
            self.over = f"it takes more than {self.steps:,} steps"
        elif time.monotonic() > self.deadline:
            self.over = "it takes too long"
        return bool(self.over)


@dataclass(slots=True)
class Database:
    """One open database that queries cannot change."""

    connection: sqlite3.Connection
    cache: dict[Any, Any] = field(default_factory=dict)
    """What is known of reference queries on it."""
    _tables: set[str] = field(default_factory=set)
    _reads_clock: bool = False

    def run(self, query: str, limits: QueryLimits, *, reverse: bool = False) -> ResultTable:
        """Run a query; `reverse` reads unordered rows backwards. Raises `BadQuery`."""
        if first_word(query) not in READING:
            raise BadQuery("the query must begin with SELECT, WITH or VALUES")
        self.connection.set_authorizer(None)
        self.connection.execute(f"PRAGMA reverse_unordered_selects={'ON' if reverse else 'OFF'}")
        self.connection.set_authorizer(self._may_read)
        self._tables, self._reads_clock = set(), False
        meter = _Meter(limits.steps, time.monotonic() + limits.seconds)
        self.connection.set_progress_handler(meter, STEPS_BETWEEN)
        try:
            return self._fetch_table(query, limits)
        except MemoryError as error:
            raise OutOfMemory("it takes too much memory") from error
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise BadQuery(meter.over or f"SQLite says: {error!s:.200}") from error
        finally:
            self.connection.set_progress_handler(None, 0)

    def _fetch_table(self, query: str, limits: QueryLimits) -> ResultTable:
        for decode in (str, _decode):
            self.connection.text_factory = decode
            try:
                cursor = self.connection.execute(query)
                rows = _fetch(cursor, limits.rows)
                break
            except sqlite3.OperationalError as error:
                # Text of an old data set need not be valid UTF-8; reading it so takes longer.
                if decode is _decode or "decode" not in str(error):
                    raise
        columns = tuple(str(column[0]) for column in cursor.description or ())
        reads_clock = self._reads_clock or _NOW.search(query) is not None
        return ResultTable(rows, columns, frozenset(self._tables), reads_clock)

    def _may_read(
        self, action: int, first: str | None, second: str | None, where: str | None, by: str | None
    ) -> int:
        del where
        if action not in _READS:
            return sqlite3.SQLITE_DENY
        name = (second or "").lower() if action == sqlite3.SQLITE_FUNCTION else ""
        if name in _REFUSED:
            return sqlite3.SQLITE_DENY
        if name in _CLOCK and by is not None:
            # Inside of a view, whose text is not the query's.
            self._reads_clock = True
        if action == sqlite3.SQLITE_READ and first:
            self._tables.add(first.lower())
        return sqlite3.SQLITE_OK


def _fetch(cursor: sqlite3.Cursor, most: int) -> list[SqlRow]:
    rows: list[SqlRow] = []
    size = 0
    while chunk := cursor.fetchmany(CHUNK):
        rows += chunk
        size += sum([len(cell) for row in chunk for cell in row if type(cell) in (str, bytes)])
        if len(rows) > most:
            raise BadQuery(f"the query returns more than {most:,} rows")
        if size > RESULT_BYTES:
            raise BadQuery("its result is too large")
    return rows


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def open_database(source: Mapping[str, Any]) -> Database:
    """Open or build a database for reading. Raises `BadDatabase`, or `OutOfMemory`."""
    try:
        if "script" in source:
            return _build(str(source["script"]))
        return _open_file(Path(source["path"]))
    except MemoryError as error:
        raise OutOfMemory("it takes too much memory") from error
    except (sqlite3.Error, sqlite3.Warning, ValueError, OSError) as error:
        raise BadDatabase(f"{error!s:.200}") from error


def _open_file(path: Path) -> Database:
    if not stat.S_ISREG(path.stat().st_mode):
        raise BadDatabase("the path is not a regular file")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise BadDatabase(
            "the database has unfinished writes in its -wal file; checkpoint it first"
        )
    # Immutable: no lock, no journal and no shared memory is made beside the file.
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    database = _prepare(sqlite3.connect(address, uri=True, isolation_level=None))
    database.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return database


def _build(script: str) -> Database:
    database = _prepare(sqlite3.connect(":memory:", isolation_level=None), writable=True)
    connection = database.connection

    denied: list[str] = []

    def may_build(action: int, *names: str | None) -> int:
        first, second = names[0] or "", (names[1] or "").lower()
        if action == sqlite3.SQLITE_FUNCTION and second in _REFUSED:
            denied.append(f"{second}()")
        elif action == sqlite3.SQLITE_PRAGMA and first.lower() != _DUMPED:
            denied.append(f"PRAGMA {first:.60}")
        elif action not in _BUILDS and action != sqlite3.SQLITE_PRAGMA:
            denied.append("something else than tables, indexes, views and their rows")
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    meter = _Meter(SCRIPT_STEPS, time.monotonic() + 30.0)
    connection.set_authorizer(may_build)
    connection.set_progress_handler(meter, STEPS_BETWEEN)
    try:
        connection.executescript(script)
    except sqlite3.DatabaseError as error:
        if denied:
            raise BadDatabase(f"its script uses {denied[0]}, which is not allowed") from error
        raise BadDatabase(meter.over or f"{error!s:.200}") from error
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
    connection.execute("PRAGMA query_only=ON")
    return database


def _prepare(connection: sqlite3.Connection, *, writable: bool = False) -> Database:
    for kind, value in _LIMITS:
        connection.setlimit(kind, value)
    for pragma in ("temp_store=MEMORY", "mmap_size=0", "cell_size_check=ON", "trusted_schema=OFF",
                   f"hard_heap_limit={HEAP_BYTES}"):  # fmt: skip
        connection.execute(f"PRAGMA {pragma}")
    if not writable:
        connection.execute("PRAGMA query_only=ON")
    return Database(connection)
