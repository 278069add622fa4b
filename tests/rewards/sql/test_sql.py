"""Queries are paid by their rows, on databases that stay as they are."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import BadParameter
from assay.rewards.outcome.sql.execution import QueryLimits, open_database
from assay.rewards.outcome.sql.references import CACHED_CELLS, possible_results
from assay.rewards.outcome.sql.text import shape_of, without_end
from assay.schema.score import Abstained, Score

DATA = Path(__file__).parents[2] / "data" / "sql"
SCRIPT = (DATA / "emp.sql").read_text()
DATABASE = {"script": SCRIPT}
TOP = "SELECT name FROM emp ORDER BY pay DESC LIMIT 1"
FIRST = "SELECT name FROM emp ORDER BY pay LIMIT 1"
BY_PAY = "SELECT name FROM emp WHERE pay > 0 ORDER BY pay DESC"
QUICK = {"max_steps": 200_000, "timeout_s": 2.0}


def score(query: str, reference: str, database: Any = DATABASE, **params: Any) -> Score:
    return assay.score(
        "sql_reward",
        final_response=query,
        answer=reference,
        database=database,
        params={**QUICK, **params},
    )


def number(query: str, reference: str, database: Any = DATABASE, **params: Any) -> float | str:
    result = score(query, reference, database, **params)
    return result.reason if isinstance(result, Abstained) else float(result)


PAIRS = [json.loads(line) for line in (DATA / "pairs.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["what"])
def test_a_planted_pair_is_paid_by_three_rules(pair: dict[str, Any]) -> None:
    for mode in ("assay", "bird", "test_suite"):
        assert number(pair["query"], pair["reference"], mode=mode) == pair[mode], mode


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("SELECT dept, count(*) AS c FROM emp GROUP BY dept", "c DESC, dept DESC"),
        ("SELECT dept FROM emp WHERE id < 5 GROUP BY dept", "max(id) DESC"),
        ("SELECT DISTINCT pay FROM emp", "1 DESC"),
        ("SELECT id FROM emp UNION SELECT minutes FROM visit", "1 DESC"),
        ("SELECT * FROM emp", "upper(name) COLLATE NOCASE DESC"),
    ],
)  # fmt: skip
def test_an_order_is_asked_for_however_the_reference_writes_it(query: str, order: str) -> None:
    reference = f"{query} ORDER BY {order}"
    assert number(reference, reference) == 1.0
    assert number(f"{query} ORDER BY 1", reference) == 0.0


def test_columns_may_come_in_another_order_where_that_is_allowed() -> None:
    query, reference = "SELECT dept, name FROM emp", "SELECT name, dept FROM emp"
    assert number(query, reference, columns="any") == 1.0
    assert number("SELECT dept, upper(name) FROM emp", reference, columns="any") == 0.0


def test_ties_can_abstain() -> None:
    assert number(TOP, TOP, ties="abstain") == "undetermined_reference"
    assert number(BY_PAY, BY_PAY, ties="abstain") == 1.0
    assert score(TOP, TOP).parts["determined"] == 0.0


def test_several_databases_are_a_test_suite() -> None:
    other = {"script": SCRIPT + "INSERT INTO emp VALUES (6, 'Flo', 'a', 5);"}
    wrong = score(
        "SELECT 4 + (id > 0) FROM emp LIMIT 1", "SELECT count(*) FROM emp", [DATABASE, other]
    )
    assert (float(wrong), wrong["databases"]) == (0.0, 0.5)
    assert number("SELECT count(id) FROM emp", "SELECT count(*) FROM emp", [DATABASE, other]) == 1.0


HOSTILE = [
    "DELETE FROM emp",
    "UPDATE emp SET pay = 0",
    "INSERT INTO emp VALUES (9, 'x', 'x', 1)",
    "DROP TABLE emp",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "WITH x AS (SELECT 1) DELETE FROM emp",
    "WITH x AS (SELECT 1) INSERT INTO emp (name) SELECT * FROM x",
    "ATTACH 'other.db' AS other", "DETACH main", "VACUUM INTO 'copy.db'", "PRAGMA query_only=OFF",
    "PRAGMA writable_schema=ON", "SELECT * FROM pragma_database_list", "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')", "SELECT name FROM emp; DELETE FROM emp",
    "SELECT name FROM emp; SELECT 1", "EXPLAIN SELECT name FROM emp", "BEGIN EXCLUSIVE",
    "SELECT random() FROM emp",
    "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
    "WITH RECURSIVE t(x) AS (SELECT zeroblob(900000) UNION ALL SELECT x FROM t) SELECT 1 FROM t",
    "SELECT zeroblob(900000) AS x FROM emp, emp, emp, emp, emp ORDER BY x",
    "SELECT count(*) FROM emp a, emp b, emp c, emp d, emp e, emp f, emp g, emp h, emp i, emp j",
    "SELECT printf('%.900000c', 'x') FROM emp, visit, emp, visit, emp, visit",
    "SELECT name FROM emp WHERE name LIKE '" + "%a" * 600 + "b'",
    "SELECT " + "(" * 1_000 + "1" + ")" * 1_000,
    "SELECT " + "+".join("1" * 900),
    "SELECT 'unclosed FROM emp",
    "SELECT \0 FROM emp",
    "SELECT '\ud800' FROM emp",
    "",
]  # fmt: skip


def test_no_answer_changes_a_database_or_takes_more_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "emp.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    before = hashlib.sha256(path.read_bytes()).digest()
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(lambda query: number(query, "SELECT name FROM emp", str(path)), HOSTILE)
        )
    assert results == [0.0] * len(HOSTILE)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [file.name for file in tmp_path.iterdir()] == ["emp.db"]
    assert number("SELECT name FROM emp", "SELECT name FROM emp", str(path)) == 1.0


def test_a_query_that_one_step_keeps_busy_is_ended_from_outside() -> None:
    long = "SELECT replace(hex(zeroblob(40000)), '0', 'a') x FROM emp"
    busy = f"SELECT trim(x, replace(x, 'a', 'b') || 'a') FROM ({long})"
    result = score(busy, "SELECT name FROM emp", timeout_s=0.2)
    assert (float(result), result.because) == (0.0, "the query was not run: it takes too long")
    assert number("SELECT name FROM emp", "SELECT name FROM emp") == 1.0


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "emp.db"
    for rows in (1, 2):
        with sqlite3.connect(path) as connection:
            connection.executescript("CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (7);")
        connection.close()
        assert number(f"SELECT {rows} FROM t LIMIT 1", "SELECT count(*) FROM t", str(path)) == 1.0


def test_a_path_stays_inside_of_its_root(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "secret.db"
    inside.mkdir()
    for path in (inside / "emp.db", outside):
        with sqlite3.connect(path) as connection:
            connection.executescript(SCRIPT)
        connection.close()
    (inside / "link.db").symlink_to(outside)
    query = "SELECT name FROM emp"
    assert number(query, query, "emp.db", root=str(inside)) == 1.0
    for name in ("../secret.db", str(outside), "link.db"):
        assert number(query, query, name, root=str(inside)) == "bad_database"


def test_a_database_that_cannot_be_read_abstains(tmp_path: Path) -> None:
    text, pipe, open_log = tmp_path / "text.db", tmp_path / "pipe.db", tmp_path / "log.db"
    text.write_text("not a database, whatever its name says; " * 100)
    os.mkfifo(pipe)
    with sqlite3.connect(open_log) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    Path(f"{open_log}-wal").write_bytes(b"unfinished")
    bad: list[Any] = [None, 7, "", "missing.db", "a\0b", str(tmp_path), str(text), str(pipe)]
    bad += [str(open_log), [], {"path": "x"}, {"script": "CREATE nothing"}, {"script": 1}]
    bad += [{"script": "ATTACH 'x.db' AS x"}, [DATABASE] * 65, "file:x?mode=rw"]
    for database in bad:
        assert number("SELECT 1", "SELECT name FROM emp", database) == "bad_database", database


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (None, "missing_reference"),
        ("", "missing_reference"),
        (float("nan"), "missing_reference"),
        (7, "bad_reference"),
        (["SELECT 1"], "bad_reference"),
        ("SELECT name FROM nowhere", "unparseable_reference"),
        ("DELETE FROM emp", "unparseable_reference"),
        ("SELECT " + "1," * 20_000 + "1", "unparseable_reference"),
        (HOSTILE[21], "unparseable_reference"),
        ("SELECT random() FROM emp", "unparseable_reference"),
    ],
)
def test_a_reference_that_cannot_be_run_abstains(reference: Any, reason: str) -> None:
    assert number("SELECT name FROM emp", reference) == reason


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("```sql\nSELECT name FROM emp;\n```", 1.0),
        ("I join nothing.\n```\nSELECT name FROM emp -- all\n```\nThat is it.", 1.0),
        ("<think>SELECT 1</think>SELECT name FROM emp;", 1.0),
        ("<answer>SELECT name FROM emp</answer>", 1.0),
        ("(SELECT name FROM emp)", 0.0),
        ("```sql\nSELECT 1\n```\nor\n```sql\nSELECT name FROM emp\n```", 0.0),
        ("The answer is SELECT name FROM emp", 0.0),
        ("<think>SELECT name FROM emp</think>", 0.0),
        ("```python\nSELECT name FROM emp\n```", 0.0),
        (None, 0.0),
    ],
)
def test_the_query_is_the_only_one_that_is_offered(response: Any, value: float) -> None:
    assert number(response, "SELECT name FROM emp") == value


def test_the_last_block_can_be_taken() -> None:
    response = "```sql\nSELECT 1\n```\nbetter:\n```sql\nSELECT name FROM emp\n```"
    assert number(response, "SELECT name FROM emp", extract="last") == 1.0


def test_an_option_that_is_none_is_refused() -> None:
    wrong: list[dict[str, Any]] = [{"mode": "x"}, {"extract": "x"}, {"columns": "x"}]
    for params in [*wrong, {"ties": "x"}, {"max_steps": 0}, {"timeout_s": -1}, {"max_rows": "9"}]:
        with pytest.raises(BadParameter):
            score("SELECT 1", "SELECT 1", **params)


def test_the_clauses_at_the_top_of_a_query_are_read() -> None:
    shape = shape_of(
        without_end(
            "SELECT a, (SELECT b FROM c ORDER BY d LIMIT 1) AS e FROM f -- x\n"
            "ORDER BY e DESC, a NULLS LAST LIMIT 5, 10; ;"
        )
    )
    assert shape is not None
    assert [(term.text, term.descends, term.nulls) for term in shape.terms] == [
        ("e", True, ""),
        ("a", False, "LAST"),
    ]
    assert (shape.limit, shape.offset) == (10, 5)
    assert shape.items == (("a", ""), ("(SELECT b FROM c ORDER BY d LIMIT 1)", "e"))


@pytest.mark.parametrize("clock", ["strftime('%s', 'now')", "CURRENT_TIMESTAMP", "datetime()"])
def test_a_reference_that_reads_the_clock_is_run_for_every_query(clock: str) -> None:
    reference = f"SELECT name, {clock} FROM emp"
    view = {"script": f"{SCRIPT}; CREATE VIEW times AS SELECT name, {clock} FROM emp"}
    pairs = [(reference, DATABASE), ("SELECT * FROM times", view)]
    for query, database in pairs:
        assert number(query, query, database) in (1.0, "undetermined_reference")
    time.sleep(1.1)
    for query, database in pairs:
        assert number(query, query, database) in (1.0, "undetermined_reference")


def test_a_reference_that_the_clock_has_moved_abstains() -> None:
    reference = "SELECT strftime('%f', 'now') FROM emp"
    assert number(reference, reference) in (1.0, "undetermined_reference")
    slow = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        SELECT name FROM emp WHERE pay < (SELECT count(*) FROM n)"""
    assert number(slow, reference, max_steps=10**7) == "undetermined_reference"


def test_a_date_that_is_written_is_no_clock() -> None:
    reference = "SELECT name FROM emp WHERE date('2024-01-31', '+1 day') = '2024-02-01'"
    assert number(reference, reference) == 1.0


@pytest.mark.parametrize("params", [{"columns": "any"}, {"mode": "test_suite"}])
def test_many_equal_columns_take_no_time(params: dict[str, Any]) -> None:
    reference = f"SELECT {', '.join(['pay'] * 40)} FROM emp WHERE pay > 0"
    start = time.process_time()
    assert number(reference, reference, **params) == 1.0
    other = f"SELECT {', '.join(['pay'] * 39)}, id FROM emp WHERE pay > 0"
    assert number(other, reference, **params) == 0.0
    assert time.process_time() - start < QUICK["timeout_s"]


def test_columns_with_the_same_cells_are_told_apart_by_their_rows() -> None:
    database = {"script": "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 2, 3), (2, 1, 3);"}
    reference = "SELECT a, b, c FROM t WHERE a > 0 ORDER BY a"
    query = "SELECT c, b, a FROM t ORDER BY a"
    assert number(query, reference, database, columns="any") == 1.0
    assert number("SELECT c, b, b FROM t ORDER BY a", reference, database, columns="any") == 0.0


def test_the_dump_of_a_database_builds_it() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCRIPT)
    dump = "PRAGMA foreign_keys=OFF;\n" + "\n".join(connection.iterdump())
    assert number(TOP, TOP, {"script": f"DROP TABLE IF EXISTS emp;\n{dump}"}) == 1.0


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("PRAGMA journal_mode=OFF", "PRAGMA journal_mode"),
        ("ATTACH 'other.db' AS other", "something else than tables"),
        ("INSERT INTO emp(id) VALUES (random())", "random()"),
    ],
)
def test_a_script_that_may_not_be_run_says_what_it_asks_for(statement: str, words: str) -> None:
    result = score(TOP, TOP, {"script": f"{SCRIPT};\n{statement};"})
    assert isinstance(result, Abstained)
    assert (result.reason, words in result.because) == ("bad_database", True), result.because


def test_what_other_rows_left_in_memory_costs_no_row_its_score() -> None:
    # Each has 90 MB, and SQLite 256 in one process.
    large = """CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 94) INSERT INTO t SELECT zeroblob(960000) FROM n; CREATE TABLE """
    databases = [{"script": f"{large} t{at}(a)"} for at in range(4)]
    assert [
        number("SELECT count(*) FROM t", "SELECT count(*) FROM t", one) for one in databases
    ] == [1.0] * 4


def test_few_large_results_are_kept() -> None:
    database = open_database(DATABASE)
    limits = QueryLimits(10**7, 10.0, 100_000)
    for at in range(5):
        query = f"SELECT a.id, b.id, c.id, {at} FROM emp a, emp b, emp c, emp d, emp e, emp f"
        cells = 4 * len(possible_results(database, query, limits).rows)
    assert cells > CACHED_CELLS / 4
    assert len(database.cache) < 5


def test_a_script_that_takes_too_much_memory_is_a_bad_database() -> None:
    script = """CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 400) INSERT INTO t SELECT zeroblob(960000) FROM n;"""
    result = score("SELECT 1 FROM t", "SELECT 1 FROM t", {"script": script})
    assert isinstance(result, Abstained)
    assert (result.reason, "too much memory" in result.because) == ("bad_database", True)
