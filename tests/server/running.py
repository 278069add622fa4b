"""A real server in a process of its own, as users start it."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

HERE = Path(__file__).parent
JSON = {"content-type": "application/json"}
TOKEN = "a-token-for-the-tests"
NDJSON = {"content-type": "application/x-ndjson"}


def until(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """The condition holds; it is checked every few milliseconds."""
    pause = threading.Event()
    for _ in range(int(timeout_s / 0.01)):
        if condition():
            return
        pause.wait(0.01)
    raise TimeoutError("what was waited for did not come")


@dataclass
class Running:
    """A server that listens; `errors` is its stderr."""

    process: subprocess.Popen[str]
    url: str
    errors: Path
    http: httpx.Client

    @property
    def workers(self) -> list[psutil.Process]:
        """Its scoring processes: children that are not multiprocessing's own tracker."""
        return [child for child in psutil.Process(self.process.pid).children() if _scores(child)]

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return self.http.post(path, json=body, **more)

    def score(self, reward: str, rows: list[Any], **more: Any) -> list[dict[str, Any]]:
        """The records of one reward's scores."""
        answer = self.post("/v1/score", {"reward": reward, "rows": rows, **more})
        assert answer.status_code == 200, answer.text
        return [result["scores"][reward] for result in answer.json()["results"]]

    def wait_for_workers(self) -> None:
        """Every worker has started."""
        until(lambda: self.http.get("/readyz").status_code == 200)

    def metric(self, line: str) -> float:
        """The value after this beginning of a line of `/metrics`; 0 where there is none."""
        for sample in self.http.get("/metrics").text.splitlines():
            if sample.startswith(line):
                return float(sample.rpartition(" ")[2])
        return 0.0


@contextmanager
def running(folder: Path, *options: str, token: str | None = None) -> Iterator[Running]:
    """The server is up inside the block, and gone after it."""
    errors = folder / "stderr.txt"
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    if token is not None:
        environment["ASSAY_TOKEN"] = token
    call = [sys.executable, "-m", "assay.cli.main", "serve", "--port", "0", *options]
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            call, cwd=HERE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url, errors.read_text()
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as http:
        try:
            yield Running(process, url, errors, http)
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


def _scores(child: psutil.Process) -> bool:
    try:
        return "resource_tracker" not in " ".join(child.cmdline())
    except psutil.NoSuchProcess:  # it has just ended
        return False
