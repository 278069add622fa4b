"""Whether `instructions_reward` decides as the benchmarks do, and always the same.

    python -m perf.instructions --ifbench FOLDER             # recorded decisions of IFBench
    python -m perf.instructions --peer-python ENV/bin/python # lm-eval's checkers of IFEval
    python -m perf.instructions --threads                      # 10,000 calls in threads

FOLDER holds `IFBench_test`, `eval_results_strict` and `eval_results_loose` (.jsonl or .jsonl.gz).
The peer needs lm-eval with nltk and langdetect (requirements/peer-lm-eval.txt) and no data of
theirs: where a checker asks for some, it is not compared. Exits with 1 if a decision differs that
is not listed, if fewer than 99 % agree, or if a thread gets another result.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from assay.rewards.outcome.instructions.check import BadInstruction, Undecided
from assay.rewards.outcome.instructions.ifeval import CHECKS as IFEVAL
from assay.rewards.outcome.instructions.reward import (
    CHECKS,
    decide,
    instructions_reward,
    read_instructions,
    variants_of,
)
from perf.instruction_rows import make_rows

ENOUGH: Final = 0.99
PEER: Final = Path(__file__).parent / "instruction_rows" / "peer.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--ifbench", type=Path, metavar="FOLDER")
    parser.add_argument("--peer-python", metavar="PATH")
    parser.add_argument("--rows", type=int, default=40_000, help="generated rows for the peer")
    parser.add_argument("--threads", action="store_true")
    options = parser.parse_args()
    if not (options.ifbench or options.peer_python or options.threads):
        parser.error("choose --ifbench, --peer-python or --threads")
    failures = 0
    if options.ifbench:
        failures += compare_recorded(options.ifbench)
    if options.peer_python:
        failures += compare_peer(options.peer_python, options.rows)
    if options.threads:
        failures += compare_threads()
    return min(1, failures)


def compare_recorded(folder: Path) -> int:
    """Print how many of the recorded decisions are ours; 1 if too few of them."""
    tasks = {row["prompt"].strip(): row for row in read_lines(folder, "IFBench_test")}
    worst = 0
    for name, loose in (("eval_results_strict", False), ("eval_results_loose", True)):
        agreed, undecided = Counter[str](), Counter[str]()
        differing: list[str] = []
        for record in read_lines(folder, name):
            task = tasks.get(record["prompt"].strip())
            if task is None:
                continue
            for at, expected in enumerate(record["follow_instruction_list"]):
                id_ = task["instruction_id_list"][at]
                ours = decision_of(id_, task["kwargs"][at], record["response"], loose=loose)
                if isinstance(ours, Undecided):
                    undecided[id_] += 1
                elif ours is expected:
                    agreed[id_] += 1
                else:
                    differing.append(f"{id_}, task {task['key']}: recorded {expected}, ours {ours}")
        total = agreed.total() + len(differing)
        share = agreed.total() / total
        print(f"{name}: {agreed.total()} of {total} decisions agree ({share:.2%})")
        print(f"  undecided: {dict(undecided)}")
        for line in differing:
            print(f"  {line}")
        worst = max(worst, int(share < ENOUGH))
    return worst


def decision_of(id_: str, arguments: Mapping[str, Any], response: str, *, loose: bool) -> Any:
    """The published decision on one instruction, or why there is none."""
    try:
        parsed = read_instructions([{"id": id_, "kwargs": arguments}])
    except BadInstruction as error:
        return Undecided(str(error))
    variants = list(variants_of(response)) if loose else [response]
    return decide(variants, parsed[0], "published")


def read_lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    packed = folder / f"{name}.jsonl.gz"
    if packed.exists():
        with gzip.open(packed, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
        return
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def compare_peer(python: str, count: int) -> int:
    """Print how many of lm-eval's decisions are ours; 1 if one differs."""
    rows = list(make_rows(random.Random(21), count))
    payload = "\n".join(map(json.dumps, rows))
    peer = subprocess.run(
        [python, str(PEER)], input=payload, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in peer.stdout.splitlines()]
    agreed, undecided, skipped = Counter[str](), Counter[str](), Counter[str]()
    differing: list[str] = []
    for row, answer in zip(rows, answers, strict=True):
        id_ = row["id"]
        for loose, expected in ((False, answer["strict"]), (True, answer["loose"])):
            ours = decision_of(id_, row["kwargs"], row["response"], loose=loose)
            if expected is None:
                skipped[id_] += 1
            elif isinstance(ours, Undecided):
                undecided[id_] += 1
            elif ours is expected:
                agreed[id_] += 1
            else:
                differing.append(
                    f"{id_} {'loose' if loose else 'strict'}: lm-eval {expected}, ours {ours}: "
                    f"{row['kwargs']} {row['response'][:200]!r}"
                )
    print(f"lm-eval: {agreed.total()} decisions agree, {len(differing)} differ")
    print(f"  checks compared: {sum(bool(agreed[id_]) for id_ in IFEVAL)} of {len(IFEVAL)}")
    print(f"  undecided here: {dict(undecided)}")
    print(f"  without data there: {dict(skipped)}")
    for line in differing[:40]:
        print(f"  {line}")
    return int(bool(differing))


def compare_threads() -> int:
    """Print how many of 10,000 calls in threads got another result than one at a time."""
    rows = list(make_rows(random.Random(22), 500))
    columns = [{"id": row["id"], "kwargs": row["kwargs"]} for row in rows]

    def score(at: int) -> Any:
        place = at % len(rows)
        return instructions_reward(rows[place]["response"], [columns[place]], mode="fixed")

    alone: Sequence[Any] = [score(at) for at in range(len(rows))]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(score, range(10_000)))
    wrong = sum(one != alone[at % len(rows)] for at, one in enumerate(together))
    print(f"threads: {len(together):,} calls, {wrong} differ; {len(CHECKS)} checks known")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
