"""Proof that no row gets past the text rewards: generated rows, a million for each reward.

    python perf/fuzz.py [--reward NAME] [--count 1000000] [--seed 0] [--processes 2]
    python perf/fuzz.py --reward NAME --row INDEX      # one row, printed and scored

No exception may leave `assay.score`. A text may never make a reward fail, nor abstain where a plain
wrong answer in its place is scored. No call may take more than a second or keep the interpreter's
lock for more than 50 ms, both in processor time, and no process may grow by more than 150 MB. The
digest is over all scores and reasons: it depends on the count and the seed, and on nothing else.
Exit code 1 when one of these does not hold.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import multiprocessing
import reprlib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# A script has its own folder on the path, not the one above it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from perf.text_rows import OPTIONS, text_row
from perf.text_rows.blocks import Block, BlockResult, peak_mb, score_block, warm_up

BLOCK_ROWS = 2_000
GROWTH_LIMIT_MB = 150.0
MOST_PROBLEMS = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each reward; 1 when a promise is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reward", choices=OPTIONS, help="only this reward")
    parser.add_argument("--count", type=int, default=1_000_000, help="rows for each reward")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--row", type=int, help="print and score this row, and nothing else")
    arguments = parser.parse_args(argv)
    rewards = [arguments.reward] if arguments.reward else list(OPTIONS)
    if arguments.row is not None:
        for reward in rewards:
            _show(reward, arguments.seed, arguments.row)
        return 0
    print(
        "| reward | rows | not only text | scored | abstained | mean µs | slowest ms | "
        "lock kept ms | grown by MB | digest |\n|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    problems: list[str] = []
    for reward in rewards:
        problems += _fuzz(reward, arguments.count, arguments.seed, arguments.processes)
    for problem in problems[:MOST_PROBLEMS]:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


def _fuzz(reward: str, count: int, seed: int, processes: int) -> list[str]:
    """Print the line of a reward; what does not hold."""
    context = multiprocessing.get_context("spawn")
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    results: list[BlockResult] = []
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_prepare) as pool:
        before = pool.submit(peak_mb).result()
        for result in pool.map(score_block, _blocks(reward, seed, count)):
            counts += result.counts
            digest.update(result.digest.encode())
            results.append(result)
    problems = [problem for result in results for problem in result.problems]
    rows = sum(result.rows for result in results)
    slowest = max(results, key=lambda result: result.slowest_s)
    largest = max(results, key=lambda result: result.peak_mb)
    growth = max(0.0, largest.peak_mb - before)
    if growth > GROWTH_LIMIT_MB:
        problems.append(f"{reward} row {largest.peak_row}: the process grew by {growth:.0f} MB")
    scored = counts.pop("scored", 0)
    hold = max(result.hold_s for result in results)
    mean = sum(result.spent_s for result in results) / rows
    print(
        f"| {reward} | {rows:,} | {sum(result.odd for result in results):,} | {scored:,} | "
        f"{_reasons(counts)} | {mean * 1e6:.0f} | {slowest.slowest_s * 1e3:.0f} (row "
        f"{slowest.slowest_row}) | {f'{hold * 1e3:.0f}' if hold else '< 50'} | {growth:.0f} | "
        f"`{digest.hexdigest()[:12]}` |",
        flush=True,
    )
    return problems


def _prepare() -> None:
    """Warm up, with failures counted and not logged."""
    logging.getLogger("assay").setLevel(logging.ERROR)
    warm_up()


def _blocks(reward: str, seed: int, count: int) -> Iterator[Block]:
    for start in range(0, count, BLOCK_ROWS):
        yield Block(reward, seed, start, min(start + BLOCK_ROWS, count))


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items())) or "0"


def _show(reward: str, seed: int, index: int) -> None:
    _prepare()
    row = text_row(reward, seed, index)
    for name, value in (*row.columns.items(), ("params", row.params)):
        try:
            print(f"{name}: {value!a:.2000}")
        except BaseException as error:  # noqa: BLE001 - some values fail at whatever they are asked
            print(f"{name}: a {type(value).__name__}, whose repr raises {type(error).__name__}")
    before, start = peak_mb(), time.thread_time()
    result = score_block(Block(reward, seed, index, index + 1))
    spent = time.thread_time() - start
    print(reprlib.repr(dict(result.counts)), *result.problems, sep="\n")
    print(f"{spent * 1e3:.1f} ms, grown by {peak_mb() - before:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
