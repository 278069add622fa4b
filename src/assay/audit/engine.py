"""Run the checks that apply to a reward, and collect their findings."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from assay import __version__
from assay.audit.checks import ALL_CHECKS
from assay.audit.context import HALF, CheckContext
from assay.audit.data import built_in, from_row
from assay.audit.findings import Check, Finding, Sample
from assay.audit.frames import AnswerTemplate, measure_baseline, to_call
from assay.audit.group_audit import GroupAudit
from assay.audit.groups import GROUP_SIZE, audit_groups
from assay.audit.isolation import AuditSession, ProcessLimits
from assay.audit.result import Audit, check_record, rank
from assay.audit.snippets import REFERENCE_NAMES
from assay.audit.target import TargetSpec, parse_target
from assay.errors import BadParameter, BadRecord, did_you_mean
from assay.schema.audit import AUDIT_SCHEMA, AuditTarget, Budget, CheckRecord, Family, Kind
from assay.scoring.files.rows import plan_shards, read_rows

BUILT_IN: Final = "built in"
ROWS: Final[Mapping[Budget, int]] = {"fast": 40, "full": 200}
"""Rows of the user's data that are used, drawn by the seed."""
CALL_S: Final[Mapping[Budget, float]] = {"fast": 10.0, "full": 20.0}
KIND_ROWS: Final = 8
KIND_PARAMETERS: Final[tuple[tuple[Kind, frozenset[str]], ...]] = (
    ("environment", frozenset(("context",))),
    ("files", frozenset(("workspace", "files"))),
    ("code", frozenset(("tests", "test_cases", "test_list", "unit_tests"))),
    ("sql", frozenset(("database", "db_path", "db_file"))),
)
"""Parameters that a reward of one kind alone has."""
GUESSED: Final[tuple[Kind, ...]] = ("qa", "maths", "structured", "choice")
CHOICE: Final = re.compile(r"\(?[A-J]\)?\.?")
MARGIN: Final = 0.25
"""How much more of a kind must be recognised than of texts, which equal some forms by chance."""
NO_ANSWER: Final = "I do not know."

Progress = Callable[[int, int, str], None]
"""Called with the checks done, the checks in all, and the name of the next one."""


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
    """Audit a reward: find its flaws with the checks that the budget allows.

    `target` is a registered name, `module:function`, `file.py:function` or the address of a server.
    Without `kind` it is what the reward declares, read off the signature, or found out by
    asking; without `data` the samples are the built-in ones of that kind. The result depends on
    the target, the data and the seed alone, timings aside.
    """
    started = time.monotonic()
    limits = limits or ProcessLimits(call_s=CALL_S[budget])
    spec = parse_target(target) if isinstance(target, str) else target
    with AuditSession(spec, limits, environment=environment) as session:
        accepted = {**session.declared[1], **(accept or {})}
        _require_checks(accepted)
        chosen, samples = _samples_of(session, kind, data, budget, seed)
        _require_columns(session, chosen, samples)
        context = CheckContext(session, chosen, samples, budget, seed, built_in_rows=data is None)
        of_kind = [check for check in ALL_CHECKS if chosen in check.kinds]
        checks = [check for check in of_kind if not families or check.family in families]
        if not checks:
            raise BadParameter(
                f"no check of {', '.join(families)} applies to a reward of kind {chosen!r}; "
                "remove --family, or set the kind with --kind"
            )
        records, findings, seconds = _run(context, checks, accepted, progress)
        baseline = context.baseline
        return Audit(
            schema=AUDIT_SCHEMA,
            assay=__version__,
            target=session.target,
            kind=chosen,
            budget=budget,
            seed=seed,
            data=BUILT_IN if data is None else data.name,
            samples=len(samples),
            full_marks=baseline.full_marks,
            frame=baseline.frame.name,
            probes=session.call_count,
            checks=records,
            findings=rank(findings, accepted),
            seconds=time.monotonic() - started,
            check_seconds=seconds,
        )


def _require_columns(session: AuditSession, kind: Kind, samples: Sequence[Sample]) -> None:
    """Raise `BadParameter` if the reward needs a column that the rows lack."""
    if not samples:
        return
    call = to_call(kind, samples[0], samples[0].reference_text)
    (result,) = session.ask([call])
    missing = _MISSING.search(result.because) if result.status == "raised" else None
    if missing is not None:
        columns = ", ".join(sorted({"final_response", *call.columns}))
        raise BadParameter(
            f"{session.target.text} needs {missing[1]}, which the rows of the audit do not have "
            f"(their columns: {columns}); give other rows with --data FILE.jsonl"
        )


_MISSING: Final = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")


def audit_group(
    target: str | TargetSpec,
    *,
    kind: Kind | None = None,
    data: Path | None = None,
    budget: Budget = "fast",
    seed: int = 0,
    size: int = GROUP_SIZE,
    outcome: str | None = None,
    limits: ProcessLimits | None = None,
    environment: Mapping[str, str] | None = None,
) -> GroupAudit:
    """Simulate the training signal that a reward gives to groups of rollouts.

    `target`, `kind` and `data` are those of `audit_reward`; `outcome` names the part that says
    whether an answer is right, by default the first component of a composition.
    """
    spec = parse_target(target) if isinstance(target, str) else target
    limits = limits or ProcessLimits(call_s=CALL_S[budget])
    with AuditSession(spec, limits, environment=environment) as session:
        chosen, samples = _samples_of(session, kind, data, budget, seed)
        return audit_groups(session, chosen, samples, seed=seed, size=size, outcome=outcome)


def _samples_of(
    session: AuditSession, kind: Kind | None, data: Path | None, budget: Budget, seed: int
) -> tuple[Kind, tuple[Sample, ...]]:
    """Determine the reward's kind, its sample rows and the best calling convention."""
    rows: tuple[Sample, ...] = ()
    if data is not None and kind is None:
        # Where they hold no references, they do not tell the kind.
        with suppress(BadRecord):
            rows = read_samples(data, "qa", budget, seed)
    chosen = kind or find_kind(session, rows)
    if data is None:
        samples = built_in(chosen, session.target.parameters)
    else:
        samples = read_samples(data, chosen, budget, seed)
    session.settle_shape(chosen, samples)
    return chosen, samples


def find_kind(session: AuditSession, rows: Sequence[Sample] = ()) -> Kind:
    """Determine the kind of a reward: declared, from its signature, from data, or by trial.

    A target without a reference among its parameters that pays the same whatever the reference is
    scores the form alone. References that are single letters are those of multiple choice. A target
    whose result follows the conversation is an agent's, one that wants its answers boxed is for
    mathematics. Any other is of the kind whose references, and other forms of them, it tells best
    from wrong answers; one that compares texts pays all references alike, and is taken for question
    answering.
    """
    target = session.target
    declared, _ = session.declared
    if declared is not None:
        return declared
    known = next((kind for kind, names in KIND_PARAMETERS if names & set(target.parameters)), None)
    if known is not None:
        return known
    if {"trajectory", "tools"} <= set(target.parameters):
        return "tools"
    if "trajectory" in target.parameters and ("tool" in target.name or _follows_tools(session)):
        return "agent"
    if _takes_no_reference(session.target) and _ignores_reference(session):
        return "format"
    if rows and all(CHOICE.fullmatch(sample.reference_text) for sample in rows):
        return "choice"
    shares: dict[Kind, tuple[float, AnswerTemplate]] = {
        kind: _kind_share(session, kind) for kind in GUESSED
    }
    share, frame = shares["maths"]
    if "box" in frame.name and share >= HALF:
        return "maths"
    best = max(GUESSED, key=lambda kind: shares[kind][0])
    return best if shares[best][0] > shares["qa"][0] + MARGIN else "qa"


def _takes_no_reference(target: AuditTarget) -> bool:
    """Whether no parameter of the reward holds a reference answer."""
    named = {*REFERENCE_NAMES, "golden_answer", "golden_answers"}.intersection(target.parameters)
    return not named and target.shape not in ("url", "verl", "plain", "openrlhf", "inspect")


def _ignores_reference(session: AuditSession) -> bool:
    """Whether the reward pays the same if the reference answers of rows are exchanged."""
    samples = built_in("format")[:KIND_ROWS]
    session.settle_shape("format", samples)
    baseline = measure_baseline(session.ask, "format", samples)
    if baseline.full_marks <= 0:
        return False
    others = [*samples[1:], samples[0]]
    own = [to_call("format", row, baseline.frame.put(row.reference_text)) for row in samples]
    swapped = [
        replace(call, columns={**other.columns, "prompt": call.columns["prompt"]})
        for call, other in zip(own, others, strict=True)
    ]
    pairs = zip(session.ask(own), session.ask(swapped), strict=True)
    return all(one.value == other.value for one, other in pairs)


def _follows_tools(session: AuditSession) -> bool:
    """Whether the score of an answer depends on the tools that were used."""
    samples = built_in("agent")[:KIND_ROWS]
    pairs = [
        (to_call("agent", row, text), to_call("qa", row, text))
        for row in samples
        for text in (row.reference_text, NO_ANSWER)
    ]
    with_tool = session.ask([one for one, _ in pairs])
    without = session.ask([other for _, other in pairs])
    return any(one.value != other.value for one, other in zip(with_tool, without, strict=True))


def _kind_share(session: AuditSession, kind: Kind) -> tuple[float, AnswerTemplate]:
    """Measure how well the reward tells right answers of a kind from wrong answers."""
    samples = built_in(kind)[:KIND_ROWS]
    session.settle_shape(kind, samples)
    baseline = measure_baseline(session.ask, kind, samples)

    def paid(answers: Callable[[Sample], Sequence[str]]) -> float:
        put = baseline.frame.put
        calls = [to_call(kind, row, put(text)) for row in samples for text in answers(row)]
        hits = sum(one.amount > HALF * baseline.full_marks for one in session.ask(calls))
        return hits / max(1, len(calls))

    forms, wrong = paid(lambda row: row.right[1:3]), paid(lambda row: row.wrong[:2])
    share = baseline.accepted / max(1, baseline.tried) + forms - wrong
    return share, baseline.frame


def read_samples(file: Path, kind: Kind, budget: Budget, seed: int) -> tuple[Sample, ...]:
    """Draw samples by the seed from the rows of a JSONL or Parquet file."""
    if not file.is_file():
        raise BadParameter(f"there is no file {str(file)!r} with rows; choose a file with --data")
    rows: list[Mapping[str, Any]] = []
    for row in (row for shard in plan_shards(file) for row in read_rows(file, shard)):
        if not isinstance(row.value, Mapping):
            raise BadRecord(f"{file.name}: {row.problem or f'row {row.number} is not an object'}")
        rows.append(row.value)
    if not rows:
        raise BadRecord(f"{file.name} has no rows")
    if len(rows) > ROWS[budget]:
        chosen = sorted(random.Random(seed).sample(range(len(rows)), ROWS[budget]))
        rows = [rows[number] for number in chosen]
    return tuple(from_row(kind, row) for row in rows)


def _run(
    context: CheckContext,
    checks: Sequence[Check],
    accepted: Mapping[str, str],
    progress: Progress | None,
) -> tuple[tuple[CheckRecord, ...], list[Finding], dict[str, float]]:
    """Run the checks; return their records, findings and durations."""
    records: list[CheckRecord] = []
    findings: list[Finding] = []
    seconds: dict[str, float] = {}
    for number, check in enumerate(checks):
        if progress is not None:
            progress(number, len(checks), check.name)
        started = time.monotonic()
        result = context.run(check)
        findings += result.findings
        records.append(check_record(check, result, accepted))
        seconds[check.name] = time.monotonic() - started
    return tuple(records), findings, seconds


def _require_checks(names: Mapping[str, str]) -> None:
    checks = [check.name for check in ALL_CHECKS]
    for name in names:
        if name not in checks:
            hint = did_you_mean(name, checks) or f"the checks are {', '.join(checks)}"
            raise BadParameter(f"cannot accept the unknown check {name!r}; {hint}")
