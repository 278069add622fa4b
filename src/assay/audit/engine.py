"""Runs the checks that apply to a target, and says what they found."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from assay.audit.acceptances import accepted_for
from assay.audit.bench import Bench
from assay.audit.checks import CHECKS
from assay.audit.checks.frames import Frame, measure, say
from assay.audit.data import built_in, from_row
from assay.audit.findings import Budget, Check, Family, Finding, Kind, Sample
from assay.audit.isolation import ProcessLimits
from assay.audit.machine import MACHINE_CHECKS
from assay.audit.result import Audit, Checked, checked, ranked
from assay.audit.session import Session
from assay.audit.target import TargetSpec, parse_target
from assay.errors import BadParameter, BadRecord, did_you_mean
from assay.runner.shard_rows import plan_shards, read_rows

BUILT_IN: Final = "built in"
ROWS: Final[Mapping[Budget, int]] = {"fast": 40, "full": 200}
"""Rows of the user's data that are used, drawn by the seed."""
CALL_S: Final[Mapping[Budget, float]] = {"fast": 10.0, "full": 20.0}
KIND_ROWS: Final = 8
KINDS_OF: Final[Mapping[str, Kind]] = {
    "math_equal_reward": "maths",
    "math_equal_reward_tool": "agent",
    "qa_f1_reward": "qa",
    "qa_f1_reward_tool": "agent",
    "assistantbench_reward": "structured",
    "fuzzy_answer_reward": "qa",
    "webshop_reward": "environment",
    "alfworld_episode_reward": "environment",
    "scienceworld_reward": "environment",
    "testimony_reward": "environment",
}
GUESSED: Final[tuple[Kind, ...]] = ("qa", "maths", "structured")
HALF: Final = 0.5

Progress = Callable[[int, int, str], None]
"""Called with the checks done, the checks in all, and the name of the next one."""


def all_checks() -> tuple[Check, ...]:
    """Every check, in the order in which they run."""
    return (*CHECKS, *MACHINE_CHECKS)


def audit_reward(
    target: str | TargetSpec,
    *,
    kind: Kind | None = None,
    data: Path | None = None,
    budget: Budget = "fast",
    seed: int = 0,
    accept: Mapping[str, str] | None = None,
    families: Sequence[Family] = (),
    limits: ProcessLimits | None = None,
    environment: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """What is wrong with a reward, as far as the budget's checks can tell.

    `target` is a registered name, `module:function`, `file.py:function` or the address of a server.
    Without `kind` it is known (a predefined reward), read off the signature, or found out by
    asking; without `data` the samples are the built-in ones of that kind. The result depends on
    the target, the data and the seed alone, timings aside.
    """
    _known_checks(accept or {})
    started = time.monotonic()
    spec = parse_target(target) if isinstance(target, str) else target
    with Session(
        spec, limits or ProcessLimits(call_s=CALL_S[budget]), environment=environment
    ) as session:
        chosen = kind or find_kind(session)
        samples = built_in(chosen) if data is None else read_samples(data, chosen, budget, seed)
        session.settle_shape(chosen, samples)
        bench = Bench.over(session, chosen, samples, budget, seed)
        accepted = accepted_for(session.target, accept or {})
        wanted = [check for check in all_checks() if _applies(check, chosen, budget, families)]
        done, findings = _run(bench, wanted, accepted, progress)
        measured = session.measured(chosen, samples)
        return Audit(
            target=session.target,
            kind=chosen,
            budget=budget,
            seed=seed,
            data=BUILT_IN if data is None else data.name,
            samples=len(samples),
            full_marks=measured.full_marks,
            frame=measured.frame.name,
            probes=session.asked,
            checks=done,
            rulings=ranked(findings, accepted),
            seconds=time.monotonic() - started,
        )


def find_kind(session: Session) -> Kind:
    """The kind of the target: known by name, told by its signature, or found out by asking.

    A target that wants its answers boxed judges mathematics. Any other is of the kind whose golds,
    and other forms of them, it pays best; one that compares texts pays all golds alike, and is
    taken for question answering.
    """
    target = session.target
    if target.form == "registered" and target.plain_name in KINDS_OF:
        return KINDS_OF[target.plain_name]
    if "context" in target.parameters:
        return "environment"
    if "trajectory" in target.parameters and "tool" in target.name:
        return "agent"
    asked: dict[Kind, tuple[float, Frame]] = {kind: _paid(session, kind) for kind in GUESSED}
    share, frame = asked["maths"]
    if "box" in frame.name and share >= HALF:
        return "maths"
    return max(GUESSED, key=lambda kind: asked[kind][0])


def _paid(session: Session, kind: Kind) -> tuple[float, Frame]:
    """The share of golds that are paid, plus that of their other forms, and where."""
    samples = built_in(kind)[:KIND_ROWS]
    session.settle_shape(kind, samples)
    found = measure(session.ask, kind, samples)
    forms = [(sample, text) for sample in samples for text in sample.right[1:3]]
    calls = [say(kind, sample, found.frame.put(text)) for sample, text in forms]
    paid = sum((verdict.value or 0.0) > HALF * found.full_marks for verdict in session.ask(calls))
    return found.accepted / max(1, found.tried) + paid / max(1, len(forms)), found.frame


def read_samples(file: Path, kind: Kind, budget: Budget, seed: int) -> tuple[Sample, ...]:
    """Samples made of the rows of a JSONL or Parquet file, drawn by the seed."""
    if not file.is_file():
        raise BadParameter(f"there is no file {str(file)!r} to take golds from")
    rows: list[Mapping[str, Any]] = []
    for shard in plan_shards(file):
        for row in read_rows(file, shard):
            if not isinstance(row.value, Mapping):
                raise BadRecord(
                    f"{file.name}: {row.problem or f'row {row.number} is not an object'}"
                )
            rows.append(row.value)
    if not rows:
        raise BadRecord(f"{file.name} has no rows")
    most = ROWS[budget]
    if len(rows) > most:
        chosen = sorted(random.Random(seed).sample(range(len(rows)), most))
        rows = [rows[number] for number in chosen]
    return tuple(from_row(kind, row) for row in rows)


def _run(
    bench: Bench, wanted: Sequence[Check], accepted: dict[str, str], progress: Progress | None
) -> tuple[tuple[Checked, ...], list[Finding]]:
    done: list[Checked] = []
    findings: list[Finding] = []
    for number, check in enumerate(wanted):
        if progress is not None:
            progress(number, len(wanted), check.name)
        started = time.monotonic()
        result = check.run(bench.for_check(check))
        findings += result.findings
        done.append(checked(check, result, accepted, time.monotonic() - started))
    return tuple(done), findings


def _applies(check: Check, kind: Kind, budget: Budget, families: Iterable[Family]) -> bool:
    wanted = tuple(families)
    return (
        kind in check.kinds
        and (budget == "full" or check.budget == "fast")
        and (not wanted or check.family in wanted)
    )


def _known_checks(accept: Mapping[str, str]) -> None:
    names = [check.name for check in all_checks()]
    for name in accept:
        if name not in names:
            hint = did_you_mean(name, names) or f"the checks are {', '.join(names)}"
            raise BadParameter(f"there is no check {name!r} to accept; {hint}")
