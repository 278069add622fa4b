"""The same rows here, on one Ray node, on two, and on two that lose a worker and then a node.

    python perf/scale.py [--rows 200000]

The nodes are processes of this machine with a core each. Every result, count and summary has to be
the same, byte for byte, and no process may be left behind; else the exit code is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
from pyarrow import parquet

from assay.runner.cluster import connect
from assay.scoring.batch import Engine, LocalProcesses
from assay.scoring.files.folders import score_folder

WORDS = "the a of river city Paris London war king 1914 new york music film by and blue".split()
FILES = 8
REWARD = "qa_f1_reward"
SHARD_BYTES = 1024 * 1024
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
HEALTH = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
"""Ray gives a silent node up after a quarter of a minute; here after three seconds."""


def write_rows(folder: Path, rows: int, seed: int = 7) -> None:
    """Short QA answers in so many files, JSONL and Parquet in turn, the same for every run."""
    dice = random.Random(seed)
    for number in range(FILES):
        owed = [
            {
                "id": str(index),
                "final_response": " ".join(dice.choices(WORDS, k=dice.randint(1, 12))),
                "answer": " ".join(dice.choices(WORDS, k=dice.randint(1, 4))),
            }
            for index in range(number, rows, FILES)
        ]
        if number % 2:
            table = pa.Table.from_pylist(owed)
            parquet.write_table(table, folder / f"{number}.parquet", row_group_size=10_000)
        else:
            lines = "".join(json.dumps(row) + "\n" for row in owed)
            (folder / f"{number}.jsonl").write_text(lines)


@dataclass
class Sabotage:
    """Kills a busy worker after a quarter of the rows, and a node after half of them."""

    remove_node: Callable[[], None]
    worker: int | None = None
    node: bool = False

    def __call__(self, done: int, total: int) -> None:
        if self.worker is None and done > total // 4:
            self.worker = self._kill_worker()
        if not self.node and done > total // 2:
            self.remove_node()
            self.node = True

    def _kill_worker(self) -> int | None:
        """The process that was killed while it scored a shard; `None` when none was busy."""
        for process in psutil.Process().children(recursive=True):
            if process.name().startswith("ray::_call_payload"):
                os.kill(process.pid, signal.SIGKILL)
                return process.pid
        return None

    @property
    def done(self) -> bool:
        return self.worker is not None and self.node


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    name: str
    wall_s: float
    shards: int
    digests: dict[str, str]
    cpu_s: float
    """Of this process alone."""
    out_bytes: int

    @property
    def digest(self) -> str:
        """Over the names and digests of all files, in order."""
        listed = "".join(f"{name} {digest}\n" for name, digest in sorted(self.digests.items()))
        return hashlib.sha256(listed.encode()).hexdigest()


def measure(
    name: str,
    source: Path,
    out: Path,
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Line:
    started, cpu = time.perf_counter(), time.process_time()
    score_folder(source, [REWARD], out, engine=engine, shard_bytes=SHARD_BYTES, progress=progress)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    files = [path for path in out.rglob("*") if path.is_file()]
    digests = {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
    results = [path for path in files if path.name.startswith("part-")]
    size = sum(path.stat().st_size for path in results)
    return Line(name, wall_s, len(results), digests, cpu_s, size)


@contextmanager
def cluster(nodes: int) -> Iterator[tuple[Engine, Callable[[], None]]]:
    """An engine on so many nodes with warm workers, and what takes the last node away."""
    utils: Any = import_module("ray.cluster_utils")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    before = set(psutil.Process().children(recursive=True))
    head = {**NODE, "include_dashboard": False, "_system_config": HEALTH}
    started = utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        last = [started.add_node(**NODE) for _ in range(nodes - 1)]
        with connect(started.address) as engine:
            list(engine.map(_warm, range(2 * nodes)))
            yield engine, lambda: started.remove_node(last[-1], allow_graceful=False)
    finally:
        ours = set(psutil.Process().children(recursive=True)) - before
        started.shutdown()
        _, alive = psutil.wait_procs(ours, timeout=20)
    if alive:
        raise SystemExit(f"left behind: {alive}")


def _warm(number: int) -> int:
    import assay.scoring.files.folders  # noqa: F401 - imported now, the first shard need not

    time.sleep(0.2)
    return number


def run_all(source: Path, folder: Path) -> tuple[list[Line], bool]:
    """Every line of the table, and whether a worker and a node were really lost."""
    lines = [measure("1 process", source, folder / "one", LocalProcesses(1))]
    lines.append(measure("2 processes", source, folder / "two", LocalProcesses(2)))
    with cluster(1) as (engine, _):
        lines.append(measure("Ray, 1 node of 1 core", source, folder / "ray1", engine))
    with cluster(2) as (engine, _):
        lines.append(measure("Ray, 2 nodes of 1 core", source, folder / "ray2", engine))
    with cluster(2) as (engine, remove_node):
        sabotage = Sabotage(remove_node)
        name = "the same; a worker and a node killed"
        lines.append(measure(name, source, folder / "killed", engine, sabotage))
    return lines, sabotage.done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "rows")
        source.mkdir()
        write_rows(source, given.rows)
        sizes = {
            kind: 2 * sum(path.stat().st_size for path in source.glob(f"*.{kind}")) / given.rows
            for kind in ("jsonl", "parquet")
        }
        # What Ray says of lost workers is not part of the table.
        with redirect_stdout(sys.stderr):
            lines, lost = run_all(source, Path(name))
    files = f"{FILES} files"
    print(f"| {given.rows:,} QA rows, {files} | wall s | rows/s | shards | sha256 of all files |")
    print("|---|---|---|---|---|")
    for line in lines:
        rate = given.rows / line.wall_s
        print(
            f"| {line.name} | {line.wall_s:.1f} | {rate:,.0f} | {line.shards} "
            f"| `{line.digest[:16]}` |"
        )
    print(
        f"\none core: {given.rows / lines[0].cpu_s:,.0f} rows/s of its own time; bytes a row: "
        f"{sizes['jsonl']:.0f} in as JSONL, {sizes['parquet']:.0f} as Parquet, "
        f"{lines[0].out_bytes / given.rows:.0f} out"
    )
    same = len({line.digest for line in lines}) == 1
    for line in lines:
        first = lines[0].digests.items()
        for name, _ in sorted(first ^ line.digests.items()):
            print(f"{line.name}: {name} differs", file=sys.stderr)
    print(f"identical: {same}; a worker and a node were lost: {lost}")
    return 0 if same and lost else 1


if __name__ == "__main__":
    sys.exit(main())
