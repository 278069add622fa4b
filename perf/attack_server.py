"""The reward server under attack: by rewards that misbehave, and by clients that do.

    python perf/attack_server.py

Starts `assay serve` on loopback with two workers, attacks it in every way that is listed below, and
prints a table of attack and outcome. After each attack a plain row has to be scored, and the number
of processes has to be what it was. Takes about a minute; exit code 1 when an attack succeeded.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil

WORKERS = 2
DEADLINE_S = 4.0
GRACE_S = 2
HELD_MB = 64
SERVER_MB = 400
"""What the server itself may take, whatever is sent to it."""

REWARDS = """
import mmap, os, re, signal, sys, time
import assay


@assay.reward(name="plain")
def plain(final_response: str) -> float:
    return float(len(final_response))


@assay.reward(name="hostile")
def hostile(final_response: str) -> float:
    what = final_response.partition(" ")[0]
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "exit":
        sys.exit(3)
    if what == "exit-hard":
        os._exit(0)
    if what == "hang":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while True:
            time.sleep(0.01)
    if what == "hold":
        re.match(r"(a|a)*b", "a" * 60)
    if what == "fork-both":
        os.fork()
    if what in ("fork-die", "fork-hang"):
        if os.fork() == 0:
            time.sleep(600)
        if what == "fork-die":
            os.kill(os.getpid(), signal.SIGKILL)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(600)
    if what == "daemon":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve("/bin/sleep", ["sleep", "600"], {})
            os._exit(0)
        os.wait()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fork-bomb":
        for _ in range(50):
            if os.fork() == 0:
                time.sleep(600)
        time.sleep(600)
    if what == "memory":
        bytearray(20 * 2**30)
    if what == "shared-memory":
        taken = mmap.mmap(-1, 2**30)
        for start in range(0, 2**30, 4096):
            taken[start] = 1
        time.sleep(600)
    if what == "close-all":
        os.closerange(3, 200)
    if what == "noise":
        for fd in range(3, 20):
            try:
                os.write(fd, b"\\xff" * 64)
            except OSError:
                pass
    if what == "raise":
        raise type("Rude", (BaseException,), {"__str__": lambda self: 1 / 0})()
    return 1.0
"""


@dataclass
class Server:
    """The server that is attacked."""

    process: subprocess.Popen[str]
    url: str
    http: httpx.Client

    def score(self, reward: str, texts: list[str]) -> list[dict[str, Any]]:
        rows = [{"final_response": text} for text in texts]
        answer = self.http.post("/v1/score", json={"reward": reward, "rows": rows})
        answer.raise_for_status()
        return [result["scores"][reward] for result in answer.json()["results"]]

    def megabytes(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 2**20

    def family(self) -> int:
        """How many processes run below the server."""
        running = 0
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                running += process.status() != psutil.STATUS_ZOMBIE
        return running

    def connect(self) -> socket.socket:
        place = urlsplit(self.url)
        return socket.create_connection((str(place.hostname), int(place.port or 0)), 10)


@dataclass
class Table:
    """The attacks so far, and whether each was held off."""

    rows: list[tuple[str, str, bool]] = field(default_factory=list)

    def add(self, attack: str, outcome: str, *, held: bool) -> None:
        self.rows.append((attack, outcome, held))
        print(f"| {attack} | {outcome} | {'held' if held else 'BROKE'} |", flush=True)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """The server is up inside the block."""
    (folder / "hostile_rewards.py").write_text(REWARDS)
    options = f"--workers {WORKERS} --import hostile_rewards --rewards plain,hostile --port 0 "
    options += f"--deadline-s {DEADLINE_S} --grace-s {GRACE_S} --worker-memory-mb 512 "
    options += f"--max-held-mb {HELD_MB} --max-body-mb 8"
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with (folder / "stderr.txt").open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "assay.cli.main", "serve", *options.split()],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
        )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        try:
            yield Server(process, url, http)
        finally:
            process.kill()
            process.wait(30)
            process.stdout.close()


def settle(server: Server) -> bool:
    """Whether a plain row is scored, and there are as many processes as at first."""
    for _ in range(100):
        ready = server.http.get("/readyz").status_code == 200
        if ready and server.family() == WORKERS:
            break
        time.sleep(0.1)
    value = server.score("plain", ["abc"])[0]["value"]
    return bool(value == 3.0 and server.family() == WORKERS)


def attack_by_rewards(server: Server, table: Table) -> None:
    """Each kind of bad row between two good ones, which keep their scores."""
    kinds = "die exit exit-hard hang hold fork-both fork-die fork-hang daemon fork-bomb memory "
    for kind in (kinds + "shared-memory close-all noise raise").split():
        started = time.monotonic()
        before, bad, after = server.score("hostile", ["good", kind, "good"])
        took_s = time.monotonic() - started
        outcome = bad.get("abstained") or f"scored {bad['value']:g}"
        neighbours = before["value"] == 1.0 == after["value"]
        whole = settle(server)
        text = f"{outcome}, neighbours {'scored' if neighbours else 'lost'}, {took_s:.1f} s"
        text += "" if whole else ", the server did not recover"
        table.add(f"reward: {kind}", text, held=neighbours and whole and took_s < DEADLINE_S + 2)


def attack_by_clients(server: Server, table: Table) -> None:
    """Heads without end, bodies by the dozen, clients that send a byte and wait."""
    outcome = _endless_head(server)
    table.add("client: a head without end", outcome, held="closed" in outcome)
    body = b'{"reward": "plain", "rows": [{"final_response": "' + b"x" * 7_900_000 + b'"}]}'

    def post(_: int) -> int:
        with suppress(httpx.TransportError):
            answer = httpx.post(
                server.url + "/v1/score",
                content=body,
                headers={"content-type": "application/json"},
                timeout=60,
                trust_env=False,
            )
            return answer.status_code
        return 0

    with ThreadPoolExecutor(40) as clients:
        statuses = list(clients.map(post, range(60)))
    counts = {status: statuses.count(status) for status in sorted(set(statuses))}
    outcome = f"{counts}, the server has {server.megabytes():.0f} MB"
    held = set(counts) <= {0, 200, 429, 503} and settle(server)
    table.add("client: 60 bodies of 7.9 MB", outcome, held=held)
    idle = [server.connect() for _ in range(300)]
    for connection in idle:
        connection.sendall(b"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n")
    healthy = server.http.get("/healthz").status_code == 200 and settle(server)
    table.add("client: 300 that send half a head", "others are served", held=healthy)
    for connection in idle:
        connection.close()
    used = server.megabytes()
    table.add("memory of the server", f"{used:.0f} MB", held=used < SERVER_MB)


def _endless_head(server: Server) -> str:
    sent = 0
    with server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        with suppress(OSError):
            while sent < 50 * 2**20:
                connection.sendall(b"X-Header: " + b"x" * 8_000 + b"\r\n")
                sent += 8_012
            return f"{sent:,} bytes taken"
    return f"closed after {sent:,} bytes"


def attack_the_end(server: Server, table: Table) -> None:
    """SIGTERM while every worker is busy with a row that will not return."""
    family = psutil.Process(server.process.pid).children(recursive=True)
    with ThreadPoolExecutor(3) as clients:
        for kind in ("fork-hang", "fork-bomb", "hang"):
            clients.submit(_ignore_answer, server, kind)
        time.sleep(0.7)
        family += psutil.Process(server.process.pid).children(recursive=True)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        try:
            code: int | None = server.process.wait(GRACE_S + 10)
        except subprocess.TimeoutExpired:
            code = None
    took_s = time.monotonic() - started
    _, alive = psutil.wait_procs(family, timeout=5)
    outcome = f"exit {code} after {took_s:.1f} s, {len(alive)} processes left"
    table.add("SIGTERM while rewards hang and fork", outcome, held=code == 0 and not alive)


def _ignore_answer(server: Server, kind: str) -> None:
    with suppress(httpx.HTTPError):
        server.score("hostile", [kind])


def main() -> int:
    """Run every attack; the exit code."""
    table = Table()
    print("| attack | outcome | |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        settle(server)
        attack_by_rewards(server, table)
        attack_by_clients(server, table)
        attack_the_end(server, table)
    broken = [attack for attack, _, held in table.rows if not held]
    print(f"\n{len(table.rows) - len(broken)} of {len(table.rows)} attacks held off")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
