"""The reward of an SQL query: whether its result equals the reference query's result."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from queue import Empty, Full, LifoQueue
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.isolation.child import ChildProcess, module_child
from assay.isolation.frames import BadFrame, PipeClosed
from assay.registry import reward
from assay.resources.row_files import FileOutsideFolder, row_file
from assay.rewards.outcome.sql.text import READING, first_word, without_end
from assay.schema.score import Abstained, CannotScore, Scored
from assay.schema.values import Unreadable, describe, is_list, is_missing, plain, read_response
from assay.text.blocks import BlockRule, offered_blocks

SqlMode: TypeAlias = Literal["assay", "bird", "test_suite"]
ColumnOrder: TypeAlias = Literal["same", "any"]
TieRule: TypeAlias = Literal["possible", "abstain"]

PARTS: Final = ("executed", "rows", "order", "databases", "determined")
LANGUAGES: Final = ("sql", "sqlite", "sqlite3")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "mode": get_args(SqlMode),
    "extract": get_args(BlockRule),
    "columns": get_args(ColumnOrder),
    "ties": get_args(TieRule),
}
QUERY_CHARS: Final = 20_000
"""Of a query; a longer one is not run."""
MOST_DATABASES: Final = 64
IDLE: Final = 8
"""Processes that are kept between requests."""
MEMORY_BYTES: Final = 1024 * 1024 * 1024
START_S: Final = 60.0
GRACE_S: Final = 2.0
"""How much later than its own limit a query is ended from outside."""
REFERENCE_RUNS: Final = 4
"""How often a reference may be run before it is known: as it is, ranked, with NULL at the other
end, and with its tables read the other way round."""


class NoQuery(Exception):
    """The response has no query that can be run; the message says why."""


@reward(name="sql_reward", version=1, parts=PARTS, kind="sql")
def sql_reward(
    final_response: object,
    answer: object,
    database: object,
    *,
    mode: SqlMode = "assay",
    extract: BlockRule = "single",
    columns: ColumnOrder = "same",
    ties: TieRule = "possible",
    root: str | None = None,
    max_steps: int = 50_000_000,
    timeout_s: float = 10.0,
    max_rows: int = 100_000,
) -> Scored | Abstained:
    """1.0 if the query's result is a possible result of the reference, on every database.

    `answer` is the reference query. `database` is the path of a SQLite file, `{"script": SQL}` for
    one that is built in memory, or a list of these: then the query must be right on each. Files
    are read-only, and a query can do nothing but read.

    Rows are compared as bags, and in their order where the reference has an ORDER BY at its top.
    Rows that it does not tell apart may come in any order; where its LIMIT cuts such rows, any
    choice of them is right (`ties="abstain"` abstains instead). NULL may stand first or last where
    the reference does not say. A reference without rows, and one whose result changes with the
    order in which tables are read, abstain. A query that reads no table earns nothing if the
    reference reads one. `mode="bird"` pays as BIRD's evaluation does, `mode="test_suite"` as
    test-suite-sql-eval.

    The query is the only one that the response offers, in `<answer>` tags, in a fenced block or
    as the whole of it; `extract="last"` takes the last block, `"whole"` the text as it is. `root`
    is the folder that paths start from, and that none may leave. A query over `max_steps` (of
    SQLite's machine), `timeout_s` or `max_rows` earns nothing.
    """
    _check_options(
        {"mode": mode, "extract": extract, "columns": columns, "ties": ties},
        {"max_steps": max_steps, "timeout_s": timeout_s, "max_rows": max_rows},
    )
    try:
        reference, sources = _reference(answer), _sources(database, root)
    except CannotScore as error:
        return error.abstain(PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    query = because = ""
    try:
        query = find_query(response or "", extract)
    except NoQuery as error:
        because = str(error)
    request = {
        "databases": sources,
        "reference": reference,
        # Also without a query it is found out whether the row could have been scored.
        "query": query,
        "mode": mode,
        "columns": columns,
        "steps": max_steps,
        "seconds": timeout_s,
        "rows": max_rows,
    }
    result = ask(request, seconds=timeout_s)
    if isinstance(result, QueryProcessLost):
        if result.of_reference:
            return Abstained("unparseable_reference", f"the reference: {result.because}", PARTS)
        return _wrong(f"the query was not run: {result.because}")
    if "reason" in result:
        return Abstained(result["reason"], result["because"], PARTS)
    return _wrong(because) if because else _to_score(result, mode, ties)


def _check_options(choices: Mapping[str, str], limits: Mapping[str, object]) -> None:
    """Raise `BadParameter` if an option has a value that is not allowed."""
    for name, value in choices.items():
        check_choice(name, value, CHOICES[name])
    for name, number in limits.items():
        if not isinstance(number, (int, float)) or isinstance(number, bool) or number <= 0:
            raise BadParameter(f"{name} is {number!r}; choose a number above 0")


def _reference(answer: object) -> str:
    value = plain(answer)
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        raise CannotScore("missing_reference", "the row has no reference query")
    if not isinstance(value, str):
        raise CannotScore(
            "bad_reference", f"'answer' is {describe(value)}; give the text of a query"
        )
    if len(value) > QUERY_CHARS:
        because = f"the reference has over {QUERY_CHARS:,} characters"
        raise CannotScore("unparseable_reference", because)
    return without_end(value)


def _sources(database: object, root: str | None) -> list[dict[str, Any]]:
    """The databases of a row, each with its file's time and size to notice changes."""
    value = plain(database)
    items = list(value) if is_list(value) else [value]
    if not 0 < len(items) <= MOST_DATABASES:
        raise _bad_database(f"{len(items)} databases; give 1 to {MOST_DATABASES}")
    return [_source(plain(item), root) for item in items]


def _bad_database(what: str) -> CannotScore:
    return CannotScore("bad_database", f"'database' is {what}")


def _source(item: Any, root: str | None) -> dict[str, Any]:
    if isinstance(item, Mapping):
        script = plain(item.get("script"))
        if isinstance(script, str) and len(item) == 1:
            return {"script": script}
        raise _bad_database('a mapping; the only allowed form is {"script": "CREATE TABLE …"}')
    if not isinstance(item, (str, Path)) or not str(item).strip() or "\0" in str(item):
        raise _bad_database(f"{describe(item)}; give the path of a SQLite file, or a script")
    try:
        path = row_file(item, root)
        state = path.stat()
    except FileOutsideFolder as error:
        raise _bad_database(f"{str(item)!r:.200}, which may not be read: {error}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _bad_database(f"{str(item)!r:.200}, which cannot be read: {error!s:.100}") from None
    return {"path": str(path), "state": [state.st_mtime_ns, state.st_size, state.st_ino]}


def find_query(response: str, extract: BlockRule) -> str:
    """Find the query in a response. Raises `NoQuery` if there is not exactly one."""
    blocks = [block for block in offered_blocks(response, LANGUAGES, extract) if block.strip()]
    queries = {block if len(block) > QUERY_CHARS else without_end(block) for block in blocks}
    if len(queries) > 1:
        raise NoQuery(f"the response offers {len(queries)} different queries")
    query = queries.pop() if queries else ""
    if len(query) > QUERY_CHARS:
        raise NoQuery(f"the query has over {QUERY_CHARS:,} characters")
    if first_word(query) not in READING:
        raise NoQuery("the response holds no query")
    return query


def _wrong(because: str) -> Scored:
    zeros = dict(zip(PARTS, (0.0, 0.0, None, 0.0, None), strict=True))
    return Scored(0.0, because, zeros)


def _to_score(result: Mapping[str, Any], mode: SqlMode, ties: str) -> Scored | Abstained:
    if not result["executed"]:
        return _wrong(result["because"])
    results = result["results"]
    ours = mode == "assay"
    if ours and (reason := _undetermined(result, ties)):
        return Abstained("undetermined_reference", reason, PARTS)
    right = sum(one["same"] for one in results)
    same = right == len(results)
    rows = float(all(one["rows"] for one in results))
    order = float(same) if result["ordered"] and mode != "bird" else None
    determined = float(result["determined"]) if ours else None
    parts = dict(zip(PARTS, (1.0, rows, order, right / len(results), determined), strict=True))
    if ours and result["constant"]:
        because = "the query reads no table, where the reference reads one"
        return Scored(0.0, because, {**parts, "rows": 0.0, "databases": 0.0})
    if same:
        more = f" on {len(results)} databases" if len(results) > 1 else ""
        return Scored(
            1.0, f"the same result as the reference: {results[0]['because']}{more}", parts
        )
    first = next(one for one in results if not one["same"])
    return Scored(0.0, f"the result differs from the reference's: {first['because']}", parts)


def _undetermined(result: Mapping[str, Any], ties: str) -> str:
    """Why the data cannot decide which result is right; empty if it can."""
    same = all(one["same"] for one in result["results"])
    if result["empty"] and same:
        return "the reference returns no row, so every query that returns none would be right"
    if not result["repeatable"]:
        return "the reference's result depends on the order in which SQLite reads the tables"
    if result["determined"]:
        return ""
    if ties == "abstain":
        return "its LIMIT cuts rows that its ORDER BY does not tell apart, or NULL has no place"
    tied = all(one["same"] or one["ties"] for one in result["results"])
    if tied and not same:
        return "the query returns every row that is tied at the reference's limit"
    return ""


class QueryProcessLost(NamedTuple):
    """The query process ended, or was stopped, while it ran the reference or the query."""

    of_reference: bool
    late: bool

    @property
    def because(self) -> str:
        return "it takes too long" if self.late else "it ended its process"


def ask(request: Mapping[str, Any], *, seconds: float) -> dict[str, Any] | QueryProcessLost:
    """Send a request to a query process, or to a new one if the first one is lost."""
    child = _take()
    if child is not None:
        answer = _ask(child, request, seconds)
        if not isinstance(answer, QueryProcessLost) or answer.late:
            return answer
    child = module_child("assay.rewards.outcome.sql.child", memory_bytes=MEMORY_BYTES)
    child.start()
    return _ask(child, request, seconds, start_s=START_S)


def _ask(
    child: ChildProcess, request: Mapping[str, Any], seconds: float, *, start_s: float = 0.0
) -> dict[str, Any] | QueryProcessLost:
    many = max(1, len(request["databases"]))
    reference_s = REFERENCE_RUNS * many * seconds + GRACE_S + start_s
    of_reference = True
    try:
        child.send(dict(request), time.monotonic() + GRACE_S + START_S)
        answer: dict[str, Any] = child.receive(time.monotonic() + reference_s)
        if not answer:
            of_reference = False
            answer = child.receive(time.monotonic() + many * seconds + GRACE_S)
    except (TimeoutError, PipeClosed, BadFrame, OSError) as error:
        child.close()
        return QueryProcessLost(of_reference, late=isinstance(error, TimeoutError))
    except BaseException:
        # Whatever interrupts a wait would leave an answer that nobody asked for.
        child.close()
        raise
    try:
        _idle_of(os.getpid()).put_nowait(child)
    except Full:
        child.close()
    return answer


def _take() -> ChildProcess | None:
    """Take an idle query process that still runs; `None` if there is none."""
    idle = _idle_of(os.getpid())
    while not idle.empty():
        try:
            child = idle.get_nowait()
        except Empty:
            break
        if child.is_running():
            return child
        child.close()
    return None


@lru_cache(maxsize=1)
def _idle_of(pid: int) -> LifoQueue[ChildProcess]:
    """The idle query processes of this process; a forked process starts its own."""
    del pid
    return LifoQueue(IDLE)
