"""The maths reward on labelled pairs, beside Math-Verify: errors, every miss, and speed.

    python perf/maths.py --data DIR [--peer-python PATH]
    python perf/maths.py --generated 200000 [--seed 7]

DIR holds JSON-lines files of pairs (`gold`, `pred`, `label`, `kind`). Rows of kind `answer` are put
in a box, for both graders; rows of kind `response` are graded as they are. Math-Verify needs a
parser runtime that clashes with other packages, so it runs in an interpreter of its own, named by
`--peer-python`; without it only the reward is measured, and the table says so.

`--generated` draws so many pairs whose label is certain by the way in which they were made
(`perf/maths_cases`), half of them near misses, and counts errors by family: exit code 1 for a near
miss that is paid, or for fewer than 995 right in a thousand. Without a seed it draws one and says
which.

Times are processor time of one thread, per call, in one process.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from perf.maths_cases import Case, cases  # noqa: E402 - found beside this file

FILES = ("equivalence", "reward_doctor_cases", "hack_probes", "identity", "surface", "negative")
LEAST_ACCURACY = 0.995
TIMED = ("identity", "surface", "negative")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled pair, as the graders see it."""

    gold: str
    response: str
    label: bool | None
    group: str
    boxed: bool

    @property
    def peer_gold(self) -> str:
        marked = "$" in self.gold or "\\boxed" in self.gold or "\\(" in self.gold
        return self.gold if marked and not self.boxed else _boxed(self.gold)


@dataclass(frozen=True, slots=True)
class Judged:
    """One grader's verdict on a row (`None`: it abstained or failed) and the time it took."""

    row: Row
    right: bool | None
    cpu_s: float
    because: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if the data cannot be read, or if generated pairs are misjudged."""
    arguments = _parse(argv)
    if arguments.serve_peer:
        return _serve_peer()
    if arguments.generated:
        return print_generated(arguments.seed, arguments.generated)
    rows = list(read_rows(arguments.data))
    ours = [score_row(row) for row in rows]
    peer = ask_peer(arguments.peer_python, _peer_rows(rows, arguments.peer_sample))
    print(_accuracy(ours, peer))
    print(_speed(ours, peer))
    print(_undecided(ours))
    print(_misses(ours))
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of JSON-lines files")
    parser.add_argument("--peer-python", help="interpreter that can import math_verify")
    parser.add_argument(
        "--peer-sample",
        type=int,
        default=200,
        help="rows of each derived file for the peer; 0 means all (default: 200)",
    )
    parser.add_argument(
        "--generated", type=int, default=0, help="pairs to generate, instead of DIR"
    )
    parser.add_argument("--seed", type=int, help="seed of the generated pairs (default: a new one)")
    parser.add_argument("--serve-peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.data is None and not arguments.serve_peer and not arguments.generated:
        parser.error("--data or --generated is needed")
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(10**9)
    return arguments


@dataclass(slots=True)
class Tally:
    """What became of the generated pairs of one family, and the pairs that were misjudged."""

    equal: int = 0
    different: int = 0
    refused: int = 0
    abstained: int = 0
    paid: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, case: Case, right: bool | None) -> None:
        self.equal += case.equal
        self.different += not case.equal
        self.abstained += case.equal and right is None
        self.refused += case.equal and right is False
        self.paid += not case.equal and right is True
        if case.equal is not (right is True):
            self.misses.append(f"{case.reference}    {case.answer}    equal: {case.equal}")


def judge_generated(seed: int, count: int) -> dict[str, Tally]:
    """The reward's results on generated pairs, by family."""
    from assay.rewards.outcome.maths.reward import math_equal_reward

    families: dict[str, Tally] = {}
    for case in cases(seed=seed, count=count):
        score = math_equal_reward(_boxed(case.answer), case.reference)
        right = None if score.abstained else float(score) == 1.0
        families.setdefault(case.family, Tally()).add(case, right)
    return families


def print_generated(seed: int, count: int) -> int:
    """Print the errors on generated pairs by family; 1 when there are too many."""
    start = time.thread_time()
    families = judge_generated(seed, count)
    spent = time.thread_time() - start
    print(f"## Generated pairs, seed {seed}\n")
    print("| family | near misses | paid | equal | refused | abstained |")
    print("|---|---|---|---|---|---|")
    for name, tally in sorted(families.items()):
        cells = (tally.different, tally.paid, tally.equal, tally.refused, tally.abstained)
        print(f"| {name} | {' | '.join(map(str, cells))} |")
    tallies = families.values()
    near, paid = sum(t.different for t in tallies), sum(t.paid for t in tallies)
    accuracy = 1 - sum(len(t.misses) for t in tallies) / count
    print(
        f"\n{count:,} pairs, {near:,} of them near misses; paid wrongly: {paid}; accuracy ", end=""
    )
    print(f"{accuracy:.5f}; {spent / count * 1e3:.2f} ms for each pair")
    for name, tally in sorted(families.items()):
        for miss in dict.fromkeys(tally.misses[:5]):
            print(f"    {name}: {miss}")
    return int(paid > 0 or accuracy < LEAST_ACCURACY)


def read_rows(folder: Path) -> Iterator[Row]:
    """Every row of the known files in the folder; conventions get a group of their own."""
    for name in FILES:
        path = folder / f"{name}.jsonl"
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            boxed = record.get("kind") == "answer"
            yield Row(
                gold=record["gold"],
                response=_boxed(record["pred"]) if boxed else record["pred"],
                label=record["label"],
                group=f"{name} (convention)" if record.get("policy") else name,
                boxed=boxed,
            )


def _boxed(answer: str) -> str:
    # A backslash at the end would escape the brace.
    return f"\\boxed{{{answer} }}" if answer.endswith("\\") else f"\\boxed{{{answer}}}"


def score_row(row: Row) -> Judged:
    """The reward's verdict on a row."""
    from assay.rewards.outcome.maths.reward import math_equal_reward

    start = time.thread_time()
    score = math_equal_reward(row.response, row.gold)
    spent = time.thread_time() - start
    return Judged(row, None if score.abstained else float(score) == 1.0, spent, score.because)


def ask_peer(python: str | None, rows: Sequence[Row]) -> list[Judged]:
    """Math-Verify's verdicts, from another interpreter; none without one."""
    if python is None:
        return []
    asked = "".join(
        json.dumps({"gold": row.peer_gold, "pred": row.response}) + "\n" for row in rows
    )
    process = subprocess.run(
        [python, __file__, "--serve-peer"], input=asked, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    return [
        Judged(row, answer["equal"], answer["cpu_s"], answer["because"])
        for row, answer in zip(rows, answers, strict=True)
    ]


def _peer_rows(rows: Sequence[Row], sample: int) -> list[Row]:
    """All human-labelled rows, and an even sample of each derived file."""
    chosen = [row for row in rows if row.group not in TIMED]
    for group in TIMED:
        members = [row for row in rows if row.group == group]
        step = max(1, len(members) // sample) if sample else 1
        chosen += members[::step][: sample or None]
    return chosen


def _serve_peer() -> int:
    """Answer JSON lines with Math-Verify's verdicts; runs in the peer's interpreter."""
    import logging

    from math_verify import parse, verify  # type: ignore[import-not-found, unused-ignore]

    logging.disable(logging.CRITICAL)
    parse("\\boxed{1}")
    for line in sys.stdin:
        pair = json.loads(line)
        start = time.process_time()
        answer: dict[str, Any]
        try:
            equal = bool(verify(parse(pair["gold"]), parse(pair["pred"])))
            answer = {"equal": equal, "because": ""}
        except Exception as error:  # noqa: BLE001 - a failing peer is a measurement, not our failure
            answer = {"equal": None, "because": repr(error)[:200]}
        print(json.dumps({**answer, "cpu_s": time.process_time() - start}), flush=True)
    return 0


def _accuracy(ours: Sequence[Judged], peer: Sequence[Judged]) -> str:
    groups = list(dict.fromkeys(judged.row.group for judged in ours))
    lines = [
        "## Errors",
        "",
        "| file | rows | reward | FN | FP | abstained | Math-Verify (rows) | FN | FP | failed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {group} | {_counts(ours, group)} | {_peer_counts(peer, group)} |" for group in groups
    ]
    if not peer:
        lines += ["", "Math-Verify was not asked: no `--peer-python`."]
    return "\n".join(lines) + "\n"


def _counts(judged: Sequence[Judged], group: str) -> str:
    members = [item for item in judged if item.row.group == group and item.row.label is not None]
    missed = sum(item.row.label is True and item.right is not True for item in members)
    fooled = sum(item.row.label is False and item.right is True for item in members)
    abstained = sum(item.right is None for item in members)
    accuracy = 1 - (missed + fooled) / len(members) if members else 0.0
    return f"{len(members)} | {accuracy:.4f} | {missed} | {fooled} | {abstained}"


def _peer_counts(peer: Sequence[Judged], group: str) -> str:
    if not any(item.row.group == group for item in peer):
        return "- | - | - | -"
    rows, accuracy, *errors = _counts(peer, group).split(" | ")
    return " | ".join([f"{accuracy} ({rows})", *errors])


def _speed(ours: Sequence[Judged], peer: Sequence[Judged]) -> str:
    timed = [item for item in ours if item.row.group in TIMED]
    asked = {id(item.row) for item in peer}
    lines = [
        "## Speed (identity, surface and negative rows; processor time of one thread)",
        "",
        "| grader | rows | calls/s | p50 ms | p99 ms | max ms |",
        "|---|---|---|---|---|---|",
        f"| reward | {_times(timed)} |",
    ]
    if peer:
        same = [item for item in timed if id(item.row) in asked]
        theirs = [item for item in peer if item.row.group in TIMED]
        ratio = sum(item.cpu_s for item in theirs) / sum(item.cpu_s for item in same)
        lines += [
            f"| reward, the peer's rows | {_times(same)} |",
            f"| Math-Verify | {_times(theirs)} |",
            "",
            f"On the same {len(same)} rows the reward is {ratio:,.0f} times as fast.",
        ]
    return "\n".join(lines) + "\n"


def _times(judged: Sequence[Judged]) -> str:
    if not judged:
        return "0 | - | - | - | -"
    spent = sorted(item.cpu_s for item in judged)
    rate = len(spent) / sum(spent)
    p99 = spent[min(len(spent) - 1, int(0.99 * len(spent)))]
    milliseconds = (median(spent) * 1e3, p99 * 1e3, spent[-1] * 1e3)
    return f"{len(spent)} | {rate:,.0f} | " + " | ".join(f"{value:.3f}" for value in milliseconds)


def _undecided(ours: Sequence[Judged]) -> str:
    lines = ["## Rows without a label: what the reward decides", ""]
    lines += ["| gold | response | verdict | because |", "|---|---|---|---|"]
    for item in ours:
        if item.row.label is None:
            lines.append(
                f"| `{item.row.gold}` | {_cell(item.row.response)} | {item.right} | "
                f"{_cell(item.because)} |"
            )
    return "\n".join(lines) + "\n"


def _misses(ours: Sequence[Judged]) -> str:
    wrong = [
        item
        for item in ours
        if item.row.label is not None and (item.right is True) != item.row.label
    ]
    lines = [f"## Misses ({len(wrong)})", ""]
    lines += ["| file | label | gold | response | because |", "|---|---|---|---|---|"]
    for item in wrong:
        row = item.row
        cells = (row.group, str(row.label), _cell(row.gold), _cell(row.response), item.because)
        lines.append("| " + " | ".join(cells).replace("\n", " ") + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    shown = text if len(text) <= 160 else f"{text[:60]} … {text[-90:]}"
    return "`" + shown.replace("|", "\\|").replace("\n", " ") + "`"


if __name__ == "__main__":
    sys.exit(main())
