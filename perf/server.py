"""The reward server under load from a second process on loopback.

    python perf/server.py [--seconds 10] [--requests 10000] [--examples 50] [--data DIR]

Starts `assay serve --workers 2`, and measures rows per second in batches of 64, the latency of
`/healthz` while pathological maths is scored, hostile requests (disconnects, oversize bodies, bad
JSON, wrong types), and requests that schemathesis makes from the OpenAPI document. Exit code 1 when
a line is missed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil

BATCH_ROWS = 64
CONNECTIONS = 4
QA_ROWS_PER_S = 3_000
MATHS_ROWS_PER_S = 1_000
HEALTH_P99_MS = 50.0
OVERSIZE_BYTES = 8 * 1024 * 1024 + 1
WORKERS = 2
WORDS = "the a of river city Paris London war king 1914 new york music film by and blue".split()
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    what: str
    measured: str
    target: str
    holds: bool


class Server:
    """The server that is measured, as a child process."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.place = url.removeprefix("http://")

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.place, timeout=120)

    def ask(
        self, connection: http.client.HTTPConnection, path: str, body: bytes | None = None
    ) -> tuple[int, bytes]:
        connection.request("GET" if body is None else "POST", path, body, JSON)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def wait_until_ready(self) -> None:
        connection = self.connect()
        while self.ask(connection, "/readyz")[0] != 200:
            time.sleep(0.05)
        connection.close()

    def metric(self, beginning: str) -> float:
        connection = self.connect()
        text = self.ask(connection, "/metrics")[1].decode()
        connection.close()
        lines = [line for line in text.splitlines() if line.startswith(beginning)]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def family(self) -> list[psutil.Process]:
        process = psutil.Process(self.process.pid)
        children = process.children(recursive=True)
        return [c for c in children if "resource_tracker" not in " ".join(c.cmdline())]

    def memory_mb(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6


@contextmanager
def served() -> Iterator[Server]:
    """A server with two workers, and its log in a file that is thrown away."""
    call = [sys.executable, "-m", "assay.cli.main", "serve", "--port", "0"]
    with tempfile.TemporaryFile("w") as log:
        process = subprocess.Popen(
            [*call, "--workers", str(WORKERS)], stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            server = Server(process, url)
            server.wait_until_ready()
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(60)
            process.stdout.close()


def qa_bodies(rng: random.Random) -> list[bytes]:
    """Batches of short answers, right and wrong."""

    def row() -> dict[str, str]:
        answer = " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))
        response = " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))
        return {"final_response": response, "answer": answer}

    return [_body("qa_f1_reward", [row() for _ in range(BATCH_ROWS)]) for _ in range(50)]


def maths_bodies(data: Path, rng: random.Random) -> list[bytes]:
    """Batches of the labelled pairs, each pair in a boxed sentence."""
    pairs = []
    for name in ("equivalence", "negative", "surface", "identity"):
        with (data / f"{name}.jsonl").open() as lines:
            pairs += [json.loads(line) for line in lines]
    rows = [
        {"final_response": f"The answer is \\boxed{{{pair['pred']}}}.", "answer": str(pair["gold"])}
        for pair in pairs
        if "pred" in pair
    ]
    return [_body("math_equal_reward", rng.choices(rows, k=BATCH_ROWS)) for _ in range(50)]


def _body(reward: str, rows: Sequence[dict[str, str]]) -> bytes:
    return json.dumps({"reward": reward, "rows": list(rows)}).encode()


def rows_per_s(server: Server, bodies: Sequence[bytes], seconds: float) -> float:
    """Rows answered in a second, over a few connections that each wait for their answer."""
    stop = Event()

    def load(start: int) -> int:
        connection = server.connect()
        rows, turn = 0, start
        while not stop.is_set():
            status, answer = server.ask(connection, "/v1/score", bodies[turn % len(bodies)])
            results = answer.count(b'"scorer"')
            if status != 200 or results != BATCH_ROWS:
                raise SystemExit(f"a batch was answered with {status} and {results} results")
            rows += results
            turn += 1
        connection.close()
        return rows

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        started = time.perf_counter()
        loads = [threads.submit(load, start * 7) for start in range(CONNECTIONS)]
        stop.wait(seconds)
        stop.set()
        total = sum(load.result() for load in loads)
        return total / (time.perf_counter() - started)


def health_ms(server: Server, body: bytes, seconds: float) -> list[float]:
    """The latencies of `/healthz` while every worker is busy with the batch."""
    stop = Event()
    batches: Counter[int] = Counter()

    def keep_busy() -> None:
        connection = server.connect()
        while not stop.is_set():
            batches[server.ask(connection, "/v1/score", body)[0]] += 1
        connection.close()

    busy = [Thread(target=keep_busy) for _ in range(WORKERS + 1)]
    for thread in busy:
        thread.start()
    connection = server.connect()
    latencies = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        status, _ = server.ask(connection, "/healthz")
        latencies.append((time.perf_counter() - started) * 1000)
        if status != 200:
            raise SystemExit(f"/healthz answered with {status}")
        time.sleep(0.005)
    stop.set()
    for thread in busy:
        thread.join()
    connection.close()
    if set(batches) != {200}:
        raise SystemExit(f"the pathological batches were answered with {dict(batches)}")
    return sorted(latencies)


def pathological_body(data: Path) -> bytes:
    """The hostile maths inputs as one batch."""
    from perf.bounds import hostile_pairs

    pairs = hostile_pairs(data, tempfile.gettempdir() + "/assay-canary")
    rows = [{"final_response": pair.response, "answer": pair.gold} for pair in pairs]
    return json.dumps({"reward": "math_equal_reward", "rows": rows}).encode()


def hostile_statuses(server: Server, count: int) -> Counter[int | None]:
    """How hostile requests were answered, from several senders at once."""
    from perf.hostility import hostile_request, send

    rng = random.Random(5)

    def one(_: int) -> int | None:
        request, leaves = hostile_request(rng, OVERSIZE_BYTES)
        return send(server.url, request, leaves=leaves)

    with ThreadPoolExecutor(8) as senders:
        return Counter(senders.map(one, range(count)))


def hostile_lines(server: Server, count: int) -> list[Line]:
    """What became of the requests, and of the server."""
    before = {process.pid for process in server.family()}
    memory_mb = server.memory_mb()
    statuses = hostile_statuses(server, count)
    deadline = time.monotonic() + 60
    while server.metric("assay_queue_rows") and time.monotonic() < deadline:
        time.sleep(0.05)
    after = {process.pid for process in server.family()}
    left = statuses.pop(None, 0)
    kinds = Counter({"2xx": 0, "4xx": 0})
    for status, n in statuses.items():
        kinds[f"{status // 100}xx" if status else "none"] += n
    alive = server.process.poll() is None and server.metric("assay_queue_rows") == 0
    answers = ", ".join(f"{kind} {n:,}" for kind, n in sorted(kinds.items()))
    only = set(kinds) == {"2xx", "4xx"}
    grown = server.memory_mb() - memory_mb
    return [
        Line(f"{count:,} hostile requests", f"{answers}, left {left:,}", "only 2xx, 4xx", only),
        Line("crashes, rows left in the queue", "0" if alive else "some", "0", alive),
        Line("workers lost or leaked", str(len(before ^ after)), "0", before == after),
        Line("memory grown by, MB", f"{grown:.0f}", "< 100", grown < 100),
    ]


def document_line(server: Server, examples: int) -> Line:
    """The findings of schemathesis."""
    from perf.hostility import ask_by_document

    statuses = ask_by_document(server.url, examples)
    faults = sum(status >= 500 for status in statuses)
    return Line(f"schemathesis, {len(statuses):,} requests", f"{faults} with 5xx", "0", faults == 0)


def speed_line(what: str, target: float, measure: Callable[[], float], tries: int = 2) -> Line:
    """The better of a few measurements: a shared machine also measures the neighbours."""
    rate = 0.0
    for _ in range(tries):
        rate = max(rate, measure())
        if rate >= target:
            break
    return Line(what, f"{rate:,.0f}", f">= {target:,.0f}", rate >= target)


def health_line(server: Server, body: bytes, seconds: float) -> Line:
    latencies = health_ms(server, body, seconds)
    p50, p99 = (latencies[int(len(latencies) * share)] for share in (0.5, 0.99))
    return Line(
        f"/healthz under pathological maths, {len(latencies):,} calls",
        f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {latencies[-1]:.1f} ms",
        f"p99 <= {HEALTH_P99_MS:.0f} ms",
        p99 <= HEALTH_P99_MS,
    )


def measured(arguments: Any) -> Iterator[Line]:
    """Every line, each as soon as it is known."""
    rng = random.Random(3)
    seconds = arguments.seconds
    with served() as server:
        for what, bodies, target in (
            ("QA rows/s", qa_bodies(rng), QA_ROWS_PER_S),
            ("maths rows/s", maths_bodies(arguments.data, rng), MATHS_ROWS_PER_S),
        ):
            rows_per_s(server, bodies, 1.0)
            yield speed_line(
                f"{what}, batches of {BATCH_ROWS}",
                target,
                lambda bodies=bodies: rows_per_s(server, bodies, seconds),  # type: ignore[misc]
            )
        yield health_line(server, pathological_body(arguments.data), seconds)
        yield from hostile_lines(server, arguments.requests)
        yield document_line(server, arguments.examples)
        restarts = server.metric("assay_worker_restarts_total")
        yield Line("workers replaced in all", f"{restarts:.0f}", "0", restarts == 0)
        family = server.family()
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(60)
    left = [process for process in family if process.is_running()]
    ended = code == 0 and not left
    yield Line("exit code, processes left", f"{code}, {len(left)}", "0, 0", ended)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement")
    parser.add_argument("--requests", type=int, default=10_000, help="hostile ones")
    parser.add_argument("--examples", type=int, default=50, help="of each operation and kind")
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root / "tests/data/math")
    arguments = parser.parse_args()
    print("| what | measured | wanted | |\n|---|---|---|---|")
    missed = 0
    for line in measured(arguments):
        missed += not line.holds
        result = "holds" if line.holds else "MISSED"
        print(f"| {line.what} | {line.measured} | {line.target} | {result} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    # The benchmarks share parts of themselves, which a script does not see by itself.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.exit(main())
