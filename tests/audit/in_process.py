"""A context that asks a function of this process: quick, for flaws that need no isolation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from assay.audit.checks import CHECKS
from assay.audit.context import CheckContext
from assay.audit.data import built_in
from assay.audit.findings import CallResult, Finding, GraderCall, Sample
from assay.audit.isolation import USUAL, AuditSession, MachineConditions, Place, TargetProcess
from assay.audit.replies import MeasuredResult
from assay.isolation.child import STANDALONE
from assay.registry import find_reward
from assay.schema.audit import Budget, Kind

sys.path.append(STANDALONE)  # As the process of a target has it.
from assay.audit.child.assay_audit_child.loading import detect
from assay.audit.child.assay_audit_child.server import CallDispatcher


class InProcess(AuditSession):
    """A session without a process: the function is called here, and its results are cached."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.call_count = 0
        self._process = cast(TargetProcess, None)
        self._results = {}
        self._cache = {}
        self._dispatcher = CallDispatcher(
            function, {"shape": detect(function), "reference_column": "answer", "calls": []}
        )

    def run_calls(
        self,
        calls: Sequence[GraderCall],
        process: TargetProcess | None = None,
        *,
        place: Place = "main",
        measure: bool = False,
        counted: bool = True,
    ) -> list[MeasuredResult]:
        self.call_count += len(calls)
        return [MeasuredResult(CallResult(**self._dispatcher.answer(c.to_wire()))) for c in calls]

    @contextmanager
    def fresh_process(self, surroundings: MachineConditions = USUAL) -> Iterator[TargetProcess]:
        # It answers as another process would; what the module of the function keeps, it keeps.
        yield self._process


def context_of(
    function: Callable[..., Any] | str,
    kind: Kind,
    samples: Sequence[Sample] | None = None,
    budget: Budget = "fast",
) -> CheckContext:
    """A context over the function, on the built-in samples of the kind unless others are given."""
    target = find_reward(function).function if isinstance(function, str) else function
    rows = built_in(kind) if samples is None else samples
    return CheckContext(InProcess(target), kind, rows, budget)


def findings_of(context: CheckContext, *checks: str) -> list[Finding]:
    """What the content checks of the kind find, all of them or those named."""
    return [
        finding
        for check in CHECKS
        if context.kind in check.kinds and (not checks or check.name in checks)
        for finding in context.run(check).findings
    ]
