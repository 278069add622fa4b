"""The audit of every predefined reward, of the zoo, and of the peers, in one run.

    python perf/audit.py [--budget fast|full] [--zoo] [--peer NAME=PYTHON ...]

Without options: every predefined reward with both budgets, with the time each takes; exits 1 when a
reward does not pass at medium severity, or the maths reward takes longer than its limit. `--zoo`
adds the broken and the sound rewards of `tests/audit/zoo`, whole audits in isolation. `--peer` adds
graders of other projects, each in the interpreter of an environment that has it installed:
math-verify, trl, inspect, verifiers, verl.
"""

from __future__ import annotations

import argparse
import json
import runpy
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import __version__
from assay.audit.engine import KINDS_OF, audit_reward
from assay.audit.findings import SEVERITIES, Budget, Kind, at_least
from assay.audit.isolation import ProcessLimits
from assay.audit.result import Audit, Ruling
from assay.audit.snippets import expression
from assay.audit.target import parse_target

HERE = Path(__file__).parent
ZOO = HERE.parent / "tests/audit/zoo"
LIMITS_S: dict[Budget, float] = {"fast": 60.0, "full": 600.0}
"""What an audit of the maths reward may take on two cores."""
ZOO_LIMITS = ProcessLimits(call_s=2.0, memory_mb=1024)
PEER_LIMITS = ProcessLimits(call_s=10.0, memory_mb=16_384)


@dataclass(frozen=True, slots=True)
class Peer:
    """A grader of another project."""

    title: str
    package: str
    target: str
    kind: Kind


PEERS: dict[str, tuple[Peer, ...]] = {
    "math-verify": (
        Peer("math-verify", "math-verify", "math_verify_reward.py:reward", "maths"),
    ),
    "trl": (Peer("TRL `accuracy_reward`", "trl", "trl_accuracy.py:reward", "maths"),),
    "inspect": (
        Peer("Inspect `math()`", "inspect-ai", "inspect_ai.scorer:math", "maths"),
        Peer("Inspect `f1()`", "inspect-ai", "inspect_ai.scorer:f1", "qa"),
    ),
    "verifiers": (
        Peer("verifiers `MathRubric`", "verifiers", "verifiers_rubric.py:reward", "maths"),
    ),
    "verl": (
        Peer("verl `math_reward`", "verl", "verl.utils.reward_score.math_reward:compute_score",
             "maths"),
    ),
}  # fmt: skip


Audited = tuple[str, str, Audit]
"""A grader's title, the version of its package, and what was found."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; 1 when something that must hold does not."""
    arguments = _parse(argv)
    problems = [] if arguments.only_peers else list(_own(arguments.budget))
    if arguments.zoo:
        problems += _zoo()
    if arguments.peer:
        _peers(arguments.peer)
    for problem in problems:
        print(f"missed: {problem}")
    return 1 if problems else 0


def _own(budgets: Sequence[Budget]) -> Iterator[str]:
    print("| reward | kind | budget | probes | s | open findings | accepted | passes at |")
    print("|---|---|---|---|---|---|---|---|")
    for budget in budgets:
        for name in KINDS_OF:
            found = audit_reward(parse_target(name), budget=budget)
            accepted = [ruling.finding.check for ruling in found.rulings if ruling.accepted]
            print(
                f"| {name} | {found.kind} | {budget} | {found.probes} | {found.seconds:.1f} | "
                f"{_counts(found)} | {', '.join(accepted) or '–'} | {found.passes_at} |",
                flush=True,
            )
            if found.fails("medium"):
                yield f"{name} at {budget}: {found.verdict}"
            if name == "math_equal_reward" and found.seconds > LIMITS_S[budget]:
                yield f"{name} at {budget} took {found.seconds:.0f} s"


def _zoo() -> list[str]:
    """Problems: planted flaws that a whole audit does not find, and sound rewards it accuses."""
    listed = tomllib.loads((ZOO / "zoo.toml").read_text(encoding="utf-8"))
    missed: list[str] = []
    for name, entry in listed["broken"].items():
        found = audit_reward(parse_target(f"{ZOO / 'broken.py'}:{name}"), kind=entry["kind"])
        families = {item.finding.family for item in found.rulings}
        if entry["family"] not in families:
            missed.append(f"{name}: nothing found in {entry['family']}")
    planted: dict[str, str] = runpy.run_path(str(ZOO / "machine.py"))["PLANTED"]
    for name, check in planted.items():
        spec = parse_target(f"{ZOO / 'machine.py'}:{name}")
        found = audit_reward(spec, kind="maths", families=("machine",), limits=ZOO_LIMITS)
        if check not in {item.finding.check for item in found.rulings}:
            missed.append(f"{name}: {check} found nothing")
    accused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, entry in listed["sound"].items():
            found = audit_reward(
                parse_target(f"{ZOO / 'sound.py'}:{name}"),
                kind=entry["kind"],
                data=_rows(listed, entry, Path(folder)),
            )
            if found.fails("medium"):
                accused.append(f"{name}: {found.verdict}")
    broken, sound = len(listed["broken"]) + len(planted), len(listed["sound"])
    print(f"\nzoo: {broken - len(missed)} of {broken} planted flaws found in their family; "
          f"{len(accused)} of {sound} sound rewards accused at medium or above")  # fmt: skip
    return missed + accused


def _rows(listed: dict[str, Any], entry: dict[str, str], folder: Path) -> Path | None:
    if "data" not in entry:
        return None
    file = folder / f"{entry['data']}.jsonl"
    file.write_text("\n".join(map(json.dumps, listed["data"][entry["data"]])))
    return file


def _peers(named: Sequence[str]) -> None:
    pairs = [text.partition("=")[::2] for text in named]
    done: list[Audited] = [
        ("Assay `math_equal_reward`", __version__, audit_reward(parse_target("math_equal_reward"))),
        ("Assay `qa_f1_reward`", __version__, audit_reward(parse_target("qa_f1_reward"))),
    ]
    for name, python in pairs:
        for peer in PEERS[name]:
            print(f"auditing {peer.title}", file=sys.stderr)
            target = peer.target
            if ".py:" in target:
                target = str(HERE / "audit_peers" / target)
            spec = parse_target(target, python=python)
            found = audit_reward(spec, kind=peer.kind, limits=PEER_LIMITS)
            done.append((peer.title, _version(python, peer.package), found))
    _print_peers(done)


def _print_peers(done: Sequence[Audited]) -> None:
    print("\n| grader | version | critical | high | medium | low | gold refused | "
          "other right forms refused | wrong paid | probes | s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for title, version, found in done:
        print(_peer_row(title, version, found))
    for kind in ("maths", "qa"):
        _print_matrix([one for one in done if one[2].kind == kind])
    for title, _, found in done:
        print(f"\n{title}\n")
        for ruling in found.rulings:
            if at_least(ruling.finding.severity, "medium"):
                print(_line(ruling))


def _print_matrix(done: Sequence[Audited]) -> None:
    """Check by check: how bad, and an answer that shows it on the first grader that has it."""
    rows: dict[str, dict[str, Ruling]] = {}
    for title, _, found in done:
        for ruling in found.rulings:
            rows.setdefault(ruling.finding.check, {}).setdefault(title, ruling)
    titles = [title for title, _, _ in done]
    print(f"\n| check | {' | '.join(titles)} | for example: answer, gold |")
    print("|---|" + "---|" * (len(titles) + 1))
    for check, held in rows.items():
        if not any(at_least(ruling.finding.severity, "medium") for ruling in held.values()):
            continue
        cells = [_cell(held.get(title)) for title in titles]
        shown = max(held.values(), key=lambda ruling: SEVERITIES.index(ruling.finding.severity))
        print(f"| `{check}` | {' | '.join(cells)} | {_example(shown)} |")


def _cell(ruling: Ruling | None) -> str:
    if ruling is None:
        return "–"
    accepted = " (accepted)" if ruling.accepted else ""
    return f"{ruling.finding.severity}{accepted}"


def _example(ruling: Ruling) -> str:
    call = ruling.finding.reproducer
    text = expression(call.final_response)[:80]
    return f"`{text}`, `{call.columns.get('answer')}`".replace("|", "\\|")


def _line(ruling: Ruling) -> str:
    """A finding with what shows it."""
    item = ruling.finding
    accepted = " (accepted)" if ruling.accepted else ""
    answer = expression(item.reproducer.final_response)[:160]
    gold = item.reproducer.columns.get("answer")
    return (
        f"- {item.severity}{accepted}, `{item.check}`, {item.count} of {item.tried}: {item.title}. "
        f"Answer `{answer}`, gold `{gold}`: {item.observed}"
    )


def _peer_row(title: str, version: str, found: Audit) -> str:
    """Accepted findings are counted with the others: a peer had nobody to declare its own."""
    counts = Counter(ruling.finding.severity for ruling in found.rulings)
    rates = [rate for check in found.checks for rate in check.rates]
    shares = [f"{rate.hits}/{rate.n}" for rate in rates] + ["–"] * (3 - len(rates))
    severities = [str(counts[severity]) for severity in reversed(SEVERITIES[1:])]
    cells = [title, version, *severities, *shares, str(found.probes), f"{found.seconds:.0f}"]
    return f"| {' | '.join(cells)} |"


def _version(python: str, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def _counts(found: Audit) -> str:
    counts = Counter(finding.severity for finding in found.open_findings)
    return ", ".join(f"{counts[s]} {s}" for s in reversed(SEVERITIES) if counts[s]) or "none"


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--budget",
        action="append",
        choices=("fast", "full"),
        help="default: both, one after another",
    )
    parser.add_argument("--only-peers", action="store_true", help="leave our own rewards out")
    parser.add_argument("--zoo", action="store_true", help="audit the zoo as well")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    arguments = parser.parse_args(argv)
    arguments.budget = arguments.budget or ["fast", "full"]
    for text in arguments.peer:
        name, equals, _ = text.partition("=")
        if name not in PEERS or not equals:
            parser.error(f"--peer {text!r} is not NAME=PYTHON with NAME one of {', '.join(PEERS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
