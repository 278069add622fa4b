"""A bench that asks a function of this process: quick, for flaws that need no isolation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from assay.audit.bench import Bench
from assay.audit.checks import CHECKS
from assay.audit.child.assay_audit_child.loading import detect
from assay.audit.child.assay_audit_child.places import Desk
from assay.audit.data import built_in
from assay.audit.findings import Budget, Call, Finding, Kind, Sample, Verdict
from assay.audit.isolation import MeasuredResult, Place
from assay.audit.session import Apart, Session
from assay.registry import find_reward


class InProcess(Session):
    """A session without a process: the function is called here, and its verdicts are kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.asked = 0
        self._memory = {}
        self._found = {}
        self._desk = Desk(
            function, {"shape": detect(function), "gold_column": "answer", "calls": []}
        )

    def answers(
        self, calls: Sequence[Call], *, place: Place = "main", measure: bool = False
    ) -> list[MeasuredResult]:
        return [MeasuredResult(self._verdict(call)) for call in calls]

    @contextmanager
    def apart(self, *, hash_seed: int = 0) -> Iterator[Apart]:
        # It answers as another process would; what the module of the function keeps, it keeps.
        yield cast(Apart, self)

    def _verdict(self, call: Call) -> Verdict:
        self.asked += 1
        told = self._desk.answer(
            {
                "final_response": call.final_response,
                "columns": dict(call.columns),
                "messages": call.messages,
            }
        )
        return Verdict(**told)


def bench_of(
    function: Callable[..., Any] | str,
    kind: Kind,
    samples: Sequence[Sample] | None = None,
    budget: Budget = "fast",
) -> Bench:
    """A bench over the function, on the built-in samples of the kind unless others are given."""
    target = find_reward(function).function if isinstance(function, str) else function
    rows = built_in(kind) if samples is None else samples
    return Bench.over(InProcess(target), kind, rows, budget)


def findings_of(bench: Bench, *checks: str) -> list[Finding]:
    """What the content checks of the kind find, all of them or those named."""
    return [
        finding
        for check in CHECKS
        if bench.kind in check.kinds and (not checks or check.name in checks)
        for finding in check.run(bench.for_check(check)).findings
    ]
