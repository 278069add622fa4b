"""The ledger: attempts appended with fsync, the index rebuilt, BrowserGym folders imported.

python perf/ledger.py [--attempts 5000] [--index 20000] [--folders 200]

The full counts are --index 100000 --folders 1000. Exits with 1 when a floor is missed: 2,000
attempts a second by 64 concurrent workers, the index in 30 s for every 100,000 attempts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay.ledger.index import LedgerIndex
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.ledger.transfer import import_run
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import PageEvidence
from assay.schema.manifest import RunManifest
from assay.schema.score import Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

FLOOR_PER_S = 2_000
INDEX_S = 30.0
INDEX_ATTEMPTS = 100_000
WORKERS = 64
STEPS = tuple(
    Step(
        index=index,
        action=f'click("{index}")' if index else "",
        evidence=PageEvidence(url=f"d1:{index}", dom="d1:dom", text="d1:text", n_refs=40),
        think="The table is on the next page." if index else "",
        reward=0.0,
        usage=Usage(4_000, 60, 0.01, 1),
    )
    for index in range(12)
)


def episode(writer: RunWriter, number: int, steps: tuple[Step, ...] = ()) -> Episode:
    """An attempt of ordinary size: about 1 kB in its line, about 5 kB of steps."""
    task = Task(
        id=f"weather/{number}",
        goal="What part of the days of the first week of September had rain, in percent?",
        answer="14.2",
        metadata={"domain": "weather", "difficulty": "medium"},
    )
    score = Scored(
        number % 101 / 100,
        "1 - |ln(14.3/14.2)|",
        {"has_answer": 1.0, "number": 0.993},
        scorer="assistantbench_reward@1",
    )
    return Episode(
        attempt=writer.new_attempt(task),
        task=task,
        trajectory=Trajectory(steps=steps),
        final_response="14.3",
        scores=(score,),
        started_at="2026-03-29T12:21:35.000Z",
        elapsed_s=41.5,
    )


def start(runs_dir: Path, name: str) -> RunWriter:
    manifest = RunManifest(run_id=name, benchmark="townsquare", agent="rules")
    return RunWriter.create(runs_dir, manifest)


def one_by_one(writer: RunWriter, attempts: int) -> None:
    for number in range(attempts):
        writer.append(episode(writer, number))


def all_at_once(writer: RunWriter, attempts: int) -> None:
    for future in [writer.submit(episode(writer, number)) for number in range(attempts)]:
        future.result()


def by_workers(writer: RunWriter, attempts: int, steps: tuple[Step, ...] = ()) -> None:
    """As the runner does: each worker waits for its attempt before it takes the next."""

    async def work(numbers: list[int]) -> None:
        for number in numbers:
            await writer.finish(episode(writer, number, steps))

    async def work_all() -> None:
        shares = [list(range(worker, attempts, WORKERS)) for worker in range(WORKERS)]
        await asyncio.gather(*(work(share) for share in shares))

    asyncio.run(work_all())


def measure_appends(
    runs_dir: Path, name: str, attempts: int, write: Callable[[RunWriter, int], None]
) -> float:
    """Attempts a second, the last fsync included."""
    with start(runs_dir, re.sub(r"\W+", "-", name)) as writer:
        started = time.perf_counter()
        write(writer, attempts)
        elapsed_s = time.perf_counter() - started
        batches = writer.batches
    kept = sum(1 for _ in Run(writer.path).episodes())
    if kept != attempts:
        raise SystemExit(f"{name}: {attempts} attempts were appended, {kept} are there")
    rate = attempts / elapsed_s
    print(f"| {name} | {attempts:,} | {rate:,.0f} | {attempts / batches:.1f} |")
    return rate


def measure_fsync(folder: Path) -> float:
    """Milliseconds of a bare 1 kB append with fsync, the median of 100."""
    times: list[float] = []
    file = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(100):
        started = time.perf_counter()
        os.write(file, b"x" * 1_024)
        os.fsync(file)
        times.append(time.perf_counter() - started)
    os.close(file)
    return sorted(times)[50] * 1_000


def measure_index(runs_dir: Path, attempts: int) -> float:
    """Seconds to rebuild the index of ten runs that hold this many attempts."""
    for run in range(10):
        with start(runs_dir, f"run-{run}") as writer:
            all_at_once(writer, attempts // 10)
    index = LedgerIndex(runs_dir)
    started = time.perf_counter()
    index.rebuild()
    rebuild_s = time.perf_counter() - started
    started = time.perf_counter()
    with RunWriter.open(runs_dir / "run-0") as writer:
        writer.append(episode(writer, 0))
    opened_s = time.perf_counter() - started
    started = time.perf_counter()
    new = index.update()
    update_s = time.perf_counter() - started
    started = time.perf_counter()
    rows = index.runs()
    list_s = time.perf_counter() - started
    started = time.perf_counter()
    summary = summarise(Run(runs_dir / "run-1"))
    summary_s = time.perf_counter() - started
    print(f"\n| {attempts:,} attempts in {len(rows)} runs | s |")
    print("|---|---|")
    print(f"| index rebuilt | {rebuild_s:.2f} |")
    print(f"| index updated by {new} attempt | {update_s:.3f} |")
    print(f"| all runs listed with their means | {list_s:.3f} |")
    print(f"| run of {summary.attempts:,} attempts opened for writing | {opened_s:.2f} |")
    print(f"| run of {summary.attempts:,} attempts summarised | {summary_s:.2f} |")
    return rebuild_s


def write_browsergym(root: Path, folders: int) -> None:
    """Result folders as BrowserGym leaves them: summary, log, versions, three pictures."""
    head = "2026-03-29 12:21:35,123 - browsergym.experiments.loop - INFO - "
    for number in range(folders):
        name = f"2026-03-29_12-21-35_WebAgent_on_assistantbench.validation.{number}_0"
        folder = root / name
        folder.mkdir(parents=True)
        summary = {
            "n_steps": 2,
            "cum_reward": number % 101 / 100,
            "cum_raw_reward": 0,
            "err_msg": None,
            "stack_trace": None,
            "terminated": True,
            "truncated": False,
        }
        (folder / "summary_info.json").write_text(json.dumps(summary, indent=4))
        (folder / "package_versions.txt").write_text("browsergym-core==0.14.3\n" * 200)
        actions = ("click('a12')", f"send_msg_to_user('{number}')")
        log = "".join(f"{head}I think.\n\naction:\n{action}\n\n" for action in actions)
        (folder / "experiment.log").write_text(log)
        for step in range(3):
            picture = b"\x89PNG" + number.to_bytes(4) + bytes([step]) * 20_000
            (folder / f"screenshot_step_{step}.png").write_bytes(picture)


def measure_import(folder: Path, folders: int) -> None:
    write_browsergym(folder / "study", folders)
    started = time.perf_counter()
    run = import_run(folder / "study", folder / "imported")
    elapsed_s = time.perf_counter() - started
    kept = list(run.final(full=True))
    answers = sum(held.final_response is not None for held in kept)
    if (len(kept), answers) != (folders, folders):
        raise SystemExit(f"{folders} folders, {len(kept)} episodes, {answers} answers")
    print(f"\n{folders:,} BrowserGym folders, 3 pictures each, imported in {elapsed_s:.1f} s")
    print(f"({folders / elapsed_s:,.0f}/s), every answer from the log, no pickle opened")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=5_000)
    parser.add_argument("--index", type=int, default=20_000)
    parser.add_argument("--folders", type=int, default=200)
    parser.add_argument("--dir", type=Path, default=None, help="where to write; default: temp")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as name:
        folder = Path(name)
        print(f"a bare 1 kB append with fsync here: {measure_fsync(folder):.2f} ms\n")
        print("| appended with fsync | attempts | attempts/s | attempts per fsync |")
        print("|---|---|---|---|")
        appends = folder / "appends"
        measure_appends(appends, "one by one", options.attempts // 5, one_by_one)
        rate = measure_appends(appends, f"{WORKERS} workers", options.attempts, by_workers)
        measure_appends(appends, "all at once", options.attempts, all_at_once)
        measure_appends(
            appends,
            f"{WORKERS} workers, 12 steps each",
            options.attempts // 10,
            lambda writer, attempts: by_workers(writer, attempts, STEPS),
        )
        rebuild_s = measure_index(folder / "indexed", options.index)
        measure_import(folder, options.folders)
    allowed_s = INDEX_S * options.index / INDEX_ATTEMPTS
    met = rate >= FLOOR_PER_S and rebuild_s <= allowed_s
    verdict = "met" if met else "MISSED"
    print(f"\nfloors (>= {FLOOR_PER_S:,}/s, rebuild <= {allowed_s:.1f} s): {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
