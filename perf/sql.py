"""`sql_reward` asked hostile queries: what they change, earn and take; and its ordinary speed.

    python perf/sql.py [--queries 10000] [--seed 1] [--workers 2]

The queries are made from templates with random names and numbers: writes of every kind, ATTACH,
PRAGMA and VACUUM, functions that reach outside, several statements, queries without an end, joins
of everything with everything, values and sorts that fill memory, and what takes one step long.
Exits with 1 if a byte of the database changed, a file was left beside it, a query earned anything
or had no verdict, an endless one was not ended by its limit, or one took longer than its limits
allow.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import assay

STEPS = 100_000
SECONDS = 1.0
GRACE_S = 10.0
"""Beyond its limit: two seconds until it is ended from outside, and a busy machine."""
REFERENCE = "SELECT name FROM emp WHERE pay > 10"
ENDED = ("it takes more than", "it takes too long", "it takes too much memory", "ended its process")

Maker = Callable[[random.Random], str]


def _number(rng: random.Random) -> int:
    return rng.randint(1, 10**6)


REFUSED: dict[str, Maker] = {
    "delete": lambda rng: f"DELETE FROM emp WHERE id > {_number(rng)}",
    "update": lambda rng: f"UPDATE emp SET pay = {_number(rng)}",
    "insert": lambda rng: f"INSERT INTO emp VALUES ({_number(rng)}, 'x', 'y', 1)",
    "replace": lambda rng: f"REPLACE INTO emp VALUES ({_number(rng)}, 'x', 'y', 1)",
    "drop": lambda rng: f"DROP {rng.choice(['TABLE', 'INDEX', 'VIEW'])} IF EXISTS emp",
    "create": lambda rng: f"CREATE {rng.choice(['', 'TEMP '])}TABLE t{_number(rng)} AS SELECT 1",
    "alter": lambda rng: f"ALTER TABLE emp RENAME TO emp{_number(rng)}",
    "write in a with": lambda rng: f"WITH x AS (SELECT {_number(rng)}) DELETE FROM emp",
    "insert in a with": lambda rng: f"WITH x AS (SELECT {_number(rng)}) INSERT INTO emp SELECT 1",
    "attach": lambda rng: f"ATTACH 'x{_number(rng)}.db' AS x",
    "vacuum": lambda rng: f"VACUUM INTO 'x{_number(rng)}.db'",
    "pragma": lambda rng: (
        f"PRAGMA {rng.choice(['query_only', 'writable_schema'])} = {_number(rng)}"
    ),
    "pragma as a table": lambda rng: f"SELECT {_number(rng)} FROM pragma_table_info('emp')",
    "extension": lambda rng: f"SELECT load_extension('x{_number(rng)}')",
    "file": lambda rng: f"SELECT writefile('x{_number(rng)}', 'y'), readfile('/etc/passwd')",
    "two statements": lambda rng: f"{REFERENCE}; DELETE FROM emp WHERE id = {_number(rng)}",
    "transaction": lambda rng: rng.choice(["BEGIN EXCLUSIVE", "SAVEPOINT x", "ROLLBACK"]),
    "explain": lambda rng: f"EXPLAIN {REFERENCE} LIMIT {_number(rng)}",
    "brackets": lambda rng: f"SELECT {'(' * 5_000}{_number(rng)}{')' * 5_000}",
    "long expression": lambda rng: f"SELECT {'+'.join('1' * 5_000)} + {_number(rng)}",
    "unclosed": lambda rng: f"SELECT '{_number(rng)} FROM emp",
    "garbage": lambda rng: "SELECT " + "".join(chr(rng.randint(1, 0x2FFF)) for _ in range(50)),
    "random": lambda rng: f"SELECT random() % {_number(rng)} FROM emp",
    "constant": lambda rng: f"SELECT {_number(rng)}",
}
ENDLESS: dict[str, Maker] = {
    "counting": lambda rng: (
        f"WITH RECURSIVE t(x) AS (SELECT {_number(rng)} UNION ALL SELECT x + 1 FROM t) "
        "SELECT count(*) FROM t"
    ),
    "rows without end": lambda rng: (
        f"WITH RECURSIVE t(x) AS (SELECT {_number(rng)} UNION ALL SELECT x + 1 FROM t) "
        "SELECT 1 FROM t"
    ),
    "a join of everything": lambda rng: (
        f"SELECT count(*) + {_number(rng)} FROM emp a, emp b, emp c, emp d, emp e, emp f"
    ),
    "a text that doubles": lambda rng: (
        f"WITH RECURSIVE t(x) AS (SELECT 'a{_number(rng)}' UNION ALL "
        "SELECT CASE WHEN length(x) > 400000 THEN x ELSE x || x END FROM t) "
        "SELECT sum(length(x)) FROM t"
    ),
    "a sort of large values": lambda rng: (
        f"WITH RECURSIVE t(n, x) AS (SELECT {_number(rng)}, zeroblob(900000) UNION ALL "
        "SELECT n + 1, zeroblob(900000) FROM t) SELECT x FROM t ORDER BY n DESC"
    ),
    "different values without end": lambda rng: (
        f"WITH RECURSIVE t(x) AS (SELECT {_number(rng)} UNION SELECT x + 1 FROM t) "
        "SELECT count(DISTINCT hex(zeroblob(1000)) || x) FROM t"
    ),
}  # fmt: skip
ONE_STEP: dict[str, Maker] = {
    "one step": lambda rng: (
        "SELECT trim(x, replace(x, 'a', 'b') || 'a') FROM "
        f"(SELECT replace(hex(zeroblob(40000)), '0', 'a') || {_number(rng)} x FROM emp)"
    )
}
ONE_STEP_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one query."""

    kind: str
    value: float | None
    because: str
    seconds: float


def make_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE emp (id INTEGER PRIMARY KEY, name TEXT, dept TEXT, pay REAL)"
        )
        rows = [(at, f"name {at}", f"dept {at % 7}", at % 50) for at in range(1, 1_001)]
        connection.executemany("INSERT INTO emp VALUES (?, ?, ?, ?)", rows)
    connection.close()


def make_queries(count: int, rng: random.Random) -> list[tuple[str, str]]:
    makers = {**REFUSED, **ENDLESS}
    queries = []
    for number in range(count):
        table = ONE_STEP if number % ONE_STEP_EVERY == 0 else makers
        kind = rng.choice(list(table))
        queries.append((kind, table[kind](rng)))
    return queries


def ask(kind: str, query: str, path: Path) -> Outcome:
    started = time.monotonic()
    score = assay.score(
        "sql_reward",
        final_response=query,
        answer=REFERENCE,
        database=str(path),
        params={"max_steps": STEPS, "timeout_s": SECONDS},
    )
    return Outcome(kind, score["reward"], score.because, time.monotonic() - started)


def measure_speed(path: Path, count: int) -> float:
    started = time.monotonic()
    for number in range(count):
        query = f"SELECT name FROM emp WHERE pay > {number % 20}"
        assay.score("sql_reward", final_response=query, answer=REFERENCE, database=str(path))
    return count / (time.monotonic() - started)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "emp.db"
        make_database(path)
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        queries = make_queries(options.queries, random.Random(options.seed))
        started = time.monotonic()
        with ThreadPoolExecutor(options.workers) as pool:
            outcomes = list(pool.map(lambda pair: ask(pair[0], pair[1], path), queries))
        seconds = time.monotonic() - started
        unchanged = hashlib.sha256(path.read_bytes()).hexdigest() == before
        beside = sorted(file.name for file in Path(folder).iterdir() if file != path)
        speed = measure_speed(path, 1_000)
    paid = [one for one in outcomes if one.value != 0.0]
    endless = [one for one in outcomes if one.kind in ENDLESS or one.kind in ONE_STEP]
    unended = [one for one in endless if not any(words in one.because for words in ENDED)]
    late = [one for one in outcomes if one.seconds > SECONDS + GRACE_S]
    kinds = Counter(one.because.partition(": ")[2][:40] or one.because[:40] for one in endless)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{len(outcomes)} hostile queries in {seconds:.0f} s with {options.workers} threads")
    print(f"bytes unchanged: {unchanged}; files beside the database: {beside or 'none'}")
    print(f"paid or without a verdict: {len(paid)}")
    print(f"endless: {len(endless)}, not ended by a limit: {len(unended)}; {dict(kinds)}")
    slowest = max(outcomes, key=lambda one: one.seconds)
    print(
        f"slowest: {slowest.seconds:.2f} s ({slowest.kind}); over their limits: {len(late)}; "
        f"largest process that has ended: {memory:.0f} MB"
    )
    print(f"ordinary queries: {speed:.0f} a second, one at a time")
    for one in [*paid, *unended, *late][:10]:
        print(f"  {one.kind}: {one.value} after {one.seconds:.2f} s: {one.because}")
    return int(not unchanged or bool(beside or paid or unended or late))


if __name__ == "__main__":
    sys.exit(main())
