"""A batch of which one row in ten cannot be read, each in another way, through every door.

    python perf/rows.py [--rows 100000] [--workers 2]

Through a file, a folder, `score_batch`, the server, a stream of lines and TRL's adapter: the good
rows have their scores, each bad row abstains with its number, and the commands exit as documented.
Prints a table, and exits with 1 if anything is missed.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from pyarrow import parquet

import assay
from assay.adapters import trl
from assay.schema.score import Score, score_from_record

REWARD = "math_equal_reward"
BAD_EVERY = 10
REQUEST_ROWS = 500
TRL_ROWS = 64
NDJSON = {"content-type": "application/x-ndjson"}
SOLVED = r"so \boxed{7}"
MESSAGES = [{"role": "user", "content": "?"}, {"role": "assistant", "content": SOLVED}]


class BadJson(NamedTuple):
    """A row that is, or is not quite, JSON, and the reason for which it abstains."""

    line: bytes
    reason: str
    in_body: bool = True
    """Whether it can stand in a list of rows; the others are no JSON at all."""
    body_reason: str = ""
    """The reason where it does, if it is another."""


def _line(response: Any, answer: Any) -> bytes:
    return json.dumps({"final_response": response, "answer": answer}).encode()


DEEP = json.loads("[" * 600 + "7" + "]" * 600)

JSON_ROWS = (
    BadJson(_line(SOLVED, {"value": 7}), "bad_reference"),
    BadJson(_line(SOLVED, [["7"], ["8"]]), "bad_reference"),
    BadJson(_line(SOLVED, ["8", {"value": 7}]), "bad_reference"),
    BadJson(_line(SOLVED, None), "missing_reference"),
    BadJson(_line(SOLVED, float("nan")), "missing_reference"),
    BadJson(_line(SOLVED, float("-inf")), "bad_reference"),
    BadJson(b'{"final_response": "7", "answer": %s}' % (b"7" * 5_000), "bad_reference"),
    BadJson(_line(7, "7"), "bad_response"),
    BadJson(_line(bool(1), "7"), "bad_response"),
    BadJson(_line(float("nan"), "7"), "bad_response"),
    BadJson(_line(MESSAGES, "7"), "bad_response"),
    BadJson(_line({"content": SOLVED}, "7"), "bad_response"),
    BadJson(_line([], "7"), "bad_response"),
    BadJson(b'{"final_response": %s, "answer": "7"}' % (b"7" * 5_000), "bad_response"),
    BadJson(b'{"final_response": "7"}', "bad_row"),
    BadJson(b'{"answer": "7"}', "bad_row"),
    BadJson(b"{}", "bad_row"),
    BadJson(b"[7]", "bad_row"),
    BadJson(b'"7"', "bad_row"),
    BadJson(b"null", "bad_row"),
    BadJson(_line("7", DEEP), "bad_reference", body_reason="bad_row"),
    BadJson(b'{"final_response": "7"', "bad_row", in_body=False),
    BadJson(b"7 is the answer", "bad_row", in_body=False),
    BadJson(b'{"final_response": "\xff\xfe", "answer": "7"}', "bad_row", in_body=False),
)


class Failing(Mapping[str, Any]):
    """A row that fails at whatever it is asked."""

    def __getitem__(self, key: str) -> Any:
        raise OSError("the disk is gone")

    def __iter__(self) -> Iterator[str]:
        raise OSError("the disk is gone")

    def __len__(self) -> int:
        raise OSError("the disk is gone")


class NaTType:
    """As pandas' value for no time."""


PYTHON_VALUES: tuple[tuple[Any, Any, str], ...] = (
    (SOLVED, {"value": 7}, "bad_reference"),
    (SOLVED, b"7", "bad_reference"),
    (SOLVED, np.array([[7, 8], [9, 10]]), "bad_reference"),
    (SOLVED, 10**5_000, "bad_reference"),
    (SOLVED, object(), "bad_reference"),
    (SOLVED, float("inf"), "bad_reference"),
    (SOLVED, np.float32("nan"), "missing_reference"),
    (SOLVED, NaTType(), "missing_reference"),
    (SOLVED, [None], "missing_reference"),
    (7, "7", "bad_response"),
    (np.int64(7), "7", "bad_response"),
    (float("nan"), "7", "bad_response"),
    (b"7", "7", "bad_response"),
    (NaTType(), "7", "bad_response"),
    (10**5_000, "7", "bad_response"),
    (["7"], "7", "bad_response"),
)
"""Response, reference, and the reason."""
PYTHON_ROWS: tuple[tuple[Any, str], ...] = (
    *(({"final_response": r, "answer": a}, reason) for r, a, reason in PYTHON_VALUES),
    ({"final_response": MESSAGES, "answer": "7"}, "bad_response"),
    ({"answer": "7"}, "bad_row"),
    (Failing(), "bad_row"),
    (None, "bad_row"),
    ("7", "bad_row"),
)


@dataclass
class DoorReport:
    """What came of the rows through one door."""

    door: str
    rows: int = 0
    scored: int = 0
    abstained: int = 0
    missed: list[str] = field(default_factory=list)
    exits: dict[str, int] = field(default_factory=dict)
    elapsed_s: float = 0.0

    def check(self, number: int, value: float | None, reason: str | None, because: str) -> None:
        """Compare a result with what row `number`, from 0, has to get."""
        self.rows += 1
        if number % BAD_EVERY:
            self.scored += 1
            if value != good_value(number):
                self._miss(number, f"{value!r} ({reason}: {because:.80})")
            return
        self.abstained += 1
        if value is not None or reason != self.expected(number):
            self._miss(number, f"{value!r}, {reason}, not {self.expected(number)}: {because:.80}")
        elif str(self.number_of(number)) not in because:
            self._miss(number, f"the number is not in {because:.80}")

    def _miss(self, number: int, problem: str) -> None:
        self.missed.append(f"row {number + 1}: {problem}")

    def expected(self, number: int) -> str:
        raise NotImplementedError

    def number_of(self, number: int) -> int:
        """The number that the reason names."""
        return number + 1

    def check_exit(self, what: str, code: int, expected: int) -> None:
        self.exits[what] = code
        if code != expected:
            self.missed.append(f"{what}: exit {code}, not {expected}")


class JsonReport(DoorReport):
    """Rows that were written as JSON."""

    kinds: Sequence[BadJson] = JSON_ROWS

    def expected(self, number: int) -> str:
        return self.kinds[number // BAD_EVERY % len(self.kinds)].reason


class BodyReport(JsonReport):
    """Rows in the body of a request."""

    kinds = tuple(kind for kind in JSON_ROWS if kind.in_body)

    def expected(self, number: int) -> str:
        kind = self.kinds[number // BAD_EVERY % len(self.kinds)]
        return kind.body_reason or kind.reason


class PythonReport(DoorReport):
    """Rows of Python's objects."""

    reasons: Sequence[str] = [reason for _, reason in PYTHON_ROWS]

    def expected(self, number: int) -> str:
        return self.reasons[number // BAD_EVERY % len(self.reasons)]


def good_row(number: int) -> dict[str, Any]:
    """Every third of them is wrong; some hold half of a surrogate pair."""
    answer = number if number % 3 else number + 1
    tail = "\ud83d" if number % 7 == 0 else ""
    return {"final_response": f"so \\boxed{{{answer}}}{tail}", "answer": str(number)}


def good_value(number: int) -> float:
    return float(bool(number % 3))


def json_line(number: int, kinds: Sequence[BadJson] = JSON_ROWS) -> bytes:
    if number % BAD_EVERY:
        return json.dumps(good_row(number)).encode()
    return kinds[number // BAD_EVERY % len(kinds)].line


def python_row(number: int) -> Any:
    if number % BAD_EVERY:
        return good_row(number)
    return PYTHON_ROWS[number // BAD_EVERY % len(PYTHON_ROWS)][0]


def assay_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "assay.cli.main", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def through_file(rows: int, workers: int, folder: Path) -> DoorReport:
    """JSONL in and out; and the exit codes of jobs that score nothing, or too little."""
    report = JsonReport("file")
    source, out = folder / "rows.jsonl", folder / "scored.jsonl"
    source.write_bytes(b"\n".join(map(json_line, range(rows))) + b"\n")
    job = ("score", str(source), "--reward", REWARD, "--out", str(out), "--workers", str(workers))
    report.check_exit("5 %", assay_command(*job, "--max-abstained", "5%").returncode, 3)
    report.check_exit("resumed", assay_command(*job, "--resume").returncode, 0)
    with out.open("rb") as stream:
        for number, line in enumerate(stream):
            result = json.loads(line)
            if result["line"] != number + 1:
                report.missed.append(f"line {result['line']} stands at {number + 1}")
            record = result["scores"][REWARD]
            report.check(number, record["value"], record.get("abstained"), record["because"])
    bad = folder / "bad.jsonl"
    bad.write_bytes(b"\n".join(kind.line for kind in JSON_ROWS))
    for name, option in (("all bad", ("--out", str(folder / "bad.out.jsonl"))), ("printed", ())):
        ended = assay_command("score", str(bad), "--reward", REWARD, *option)
        report.check_exit(name, ended.returncode, 1)
        if "scored none of 24 rows" not in ended.stderr:
            report.missed.append(f"{name}: it does not say why: {ended.stderr:.200}")
    return report


def through_folder(rows: int, workers: int, folder: Path) -> DoorReport:
    """A folder of JSONL files in, a folder of Parquet files out."""
    report = JsonReport("folder")
    source, out = folder / "in", folder / "out"
    source.mkdir()
    share = -(-rows // 4 // BAD_EVERY) * BAD_EVERY
    for part in range(4):
        numbers = range(part * share, min(rows, (part + 1) * share))
        (source / f"{part}.jsonl").write_bytes(b"\n".join(map(json_line, numbers)) + b"\n")
    job = ("score", str(source), "--reward", REWARD, "--out", f"{out}/", "--workers", str(workers))
    report.check_exit("score", assay_command(*job).returncode, 0)
    report.number_of = lambda number: number % share + 1  # type: ignore[method-assign]  # per file
    for path in sorted(out.glob("part-*.parquet")):
        for row in parquet.read_table(path).to_pylist():
            number = int(row["file"].partition(".")[0]) * share + row["line"] - 1
            reason, because = row[f"{REWARD}.abstained"], row[f"{REWARD}.because"]
            report.check(number, row[REWARD], reason, because)
    return report


def through_batch(rows: int, workers: int, folder: Path) -> DoorReport:  # noqa: ARG001 - as every door
    """Python's objects into `score_batch`."""
    report = PythonReport("score_batch")
    scores = assay.score_batch(REWARD, map(python_row, range(rows)))
    for number, score in enumerate(scores):
        _check_score(report, number, score)
    expected = sum(map(good_value, (n for n in range(rows) if n % BAD_EVERY))) / report.scored
    if scores.mean is None or abs(scores.mean - expected) > 1e-9:
        report.missed.append(f"the mean is {scores.mean}, not {expected}")
    return report


def _check_score(report: DoorReport, number: int, score: Score) -> None:
    reason = score["abstained"] if score.abstained else None
    report.check(number, score["reward"], reason, score.because)


@contextmanager
def served(workers: int, folder: Path) -> Iterator[httpx.Client]:
    """A server on loopback, and a client of it."""
    call = [sys.executable, "-m", "assay.cli.main", "serve", "--port", "0", "--rewards", REWARD]
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*call, "--workers", str(workers)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        with httpx.Client(base_url=url, timeout=300, trust_env=False) as http:
            yield http
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def through_server(rows: int, workers: int, folder: Path) -> DoorReport:
    """Requests of rows as JSON; not one of them is refused for the sake of a row."""
    report = BodyReport("server")
    with served(workers, folder) as http:
        for first in range(0, rows, REQUEST_ROWS):
            numbers = range(first, min(rows, first + REQUEST_ROWS))
            lines = b",".join(json_line(number, report.kinds) for number in numbers)
            body = b'{"reward": "%s", "first": %d, "rows": [%s]}'
            answer = http.post(
                "/v1/score",
                content=body % (REWARD.encode(), first + 1, lines),
                headers={"content-type": "application/json"},
            )
            if answer.status_code != 200:
                report.missed.append(f"rows from {first + 1}: {answer.status_code} {answer.text}")
                continue
            for number, result in zip(numbers, answer.json()["results"], strict=True):
                _check_score(report, number, score_from_record(result["scores"][REWARD]))
    return report


def through_stream(rows: int, workers: int, folder: Path) -> DoorReport:
    """One stream of lines, whose results are read while it is sent."""
    report = JsonReport("NDJSON")
    with served(workers, folder) as http:
        connection = HTTPConnection(http.base_url.host, http.base_url.port, timeout=300)
        connection.putrequest("POST", f"/v1/score?reward={REWARD}")
        for name, value in (*NDJSON.items(), ("transfer-encoding", "chunked")):
            connection.putheader(name, value)
        connection.endheaders()
        with ThreadPoolExecutor(1) as sender, closing(connection):
            sending = sender.submit(_send_lines, connection, rows)
            for number, line in enumerate(connection.getresponse()):
                record = json.loads(line)
                if "scores" not in record:
                    report.missed.append(f"the stream ended: {line!r:.200}")
                    break
                _check_score(report, number, score_from_record(record["scores"][REWARD]))
            sending.result()
    return report


def _send_lines(connection: HTTPConnection, rows: int) -> None:
    for first in range(0, rows, REQUEST_ROWS):
        numbers = range(first, min(rows, first + REQUEST_ROWS))
        chunk = b"".join(json_line(number) + b"\n" for number in numbers)
        connection.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
    connection.send(b"0\r\n\r\n")


def through_trl(rows: int, workers: int, folder: Path) -> DoorReport:  # noqa: ARG001 - as every door
    """Batches as TRL passes them: columns of values, of which one may be anything."""
    report = PythonReport("TRL")
    values = [row for row in PYTHON_ROWS if isinstance(row[0], dict) and "final_response" in row[0]]
    values = [row for row in values if row[0]["final_response"] is not MESSAGES]
    report.reasons = [reason for _, reason in values]
    report.number_of = lambda number: number % TRL_ROWS + 1  # type: ignore[method-assign]  # per batch
    function = trl.reward(REWARD)
    for first in range(0, rows, TRL_ROWS):
        numbers = range(first, min(rows, first + TRL_ROWS))
        batch = [
            good_row(n) if n % BAD_EVERY else values[n // BAD_EVERY % len(values)][0]
            for n in numbers
        ]
        logged: dict[str, list[str]] = {}
        rewards = function(
            prompts=["?"] * len(batch),
            completions=[row["final_response"] for row in batch],
            answer=[row["answer"] for row in batch],
            log_extra=logged.__setitem__,
        )
        reasons = logged[f"{REWARD}/because"]
        for number, value, because in zip(numbers, rewards, reasons, strict=True):
            reason = None if number % BAD_EVERY else report.expected(number)
            report.check(number, value, reason, because)
    return report


DOORS: tuple[Callable[[int, int, Path], DoorReport], ...] = (
    through_file,
    through_folder,
    through_batch,
    through_server,
    through_stream,
    through_trl,
)


def prove(rows: int, workers: int = 2) -> list[DoorReport]:
    """The reports of every door."""
    reports = []
    for door in DOORS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            report = door(rows, workers, Path(folder))
        report.elapsed_s = time.monotonic() - started
        if report.rows != rows:
            report.missed.append(f"{report.rows:,} results for {rows:,} rows")
        reports.append(report)
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    reports = prove(options.rows, options.workers)
    print(
        f"{'door':12} {'rows':>8} {'scored':>8} {'abstained':>9} {'missed':>6} {'s':>6}  exit codes"
    )
    for report in reports:
        exits = ", ".join(f"{what}: {code}" for what, code in report.exits.items())
        print(
            f"{report.door:12} {report.rows:8,} {report.scored:8,} {report.abstained:9,} "
            f"{len(report.missed):6,} {report.elapsed_s:6.1f}  {exits}"
        )
        for problem in report.missed[:5]:
            print(f"    {problem}")
    return int(any(report.missed for report in reports))


if __name__ == "__main__":
    sys.exit(main())
