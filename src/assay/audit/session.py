"""The target under audit: its processes, its results so far, and what it pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Self, TypeVar, cast

from assay.audit.findings import CallResult, GraderCall, Sample
from assay.audit.frames import PayBaseline, measure_baseline
from assay.audit.isolation import (
    USUAL,
    IsolatedTarget,
    Place,
    ProcessLimits,
    SideEffects,
    Surroundings,
    call_key,
)
from assay.audit.replies import MeasuredResult
from assay.audit.target import VARIANTS, TargetSpec, to_target
from assay.schema.audit import KINDS, AuditTarget, Kind, Shape

T = TypeVar("T")

MANY_TIMEOUTS: Final = 8
"""Time-outs after which the audit waits less for each call."""
SHORT_CALL_S: Final = 1.0
SHAPE_SAMPLES: Final = 6


class AuditSession:
    """Asks one target, and caches its results."""

    def __init__(
        self,
        spec: TargetSpec,
        limits: ProcessLimits | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits or ProcessLimits()
        self.call_count = 0
        """Calls made, those that only confirm a measurement aside."""
        self.traces = SideEffects()
        self._environment = environment
        self._isolated = self._open()
        self._results: dict[str, CallResult] = {}
        self._timeouts = 0
        self._target: AuditTarget | None = None
        self._cache: dict[str, object] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def target(self) -> AuditTarget:
        """The facts about the target, which is loaded for them."""
        if self._target is None:
            self._target = to_target(self.spec, self._isolated.start())
        return self._target

    @property
    def declared(self) -> tuple[Kind | None, Mapping[str, str]]:
        """The kind that the reward's author declared, and by check what is meant to be, and why."""
        facts = self._isolated.start()
        return next((each for each in KINDS if each == facts["kind"]), None), facts["accepts"]

    def settle_shape(self, kind: Kind, samples: Sequence[Sample]) -> None:
        """Choose the variant of the target's shape in which right answers are paid best."""
        detected: Shape = self._isolated.start()["shape"]
        variants = VARIANTS.get(detected, ())
        if self.spec.shape is not None or not variants:
            return

        def accepted(shape: Shape) -> int:
            def ask(calls: Sequence[GraderCall]) -> list[CallResult]:
                return [measured.result for measured in self._isolated.ask(calls, shape=shape)]

            return measure_baseline(ask, kind, samples[:SHAPE_SAMPLES]).accepted

        best = max(variants, key=accepted)
        if best != self.target.shape:
            self._results.clear()
        self._target = to_target(self.spec, {**self._isolated.facts, "shape": best})

    def baseline(self, kind: Kind, samples: Sequence[Sample]) -> PayBaseline:
        """Where the target looks for an answer and what it pays for a right one; measured once."""
        return self.cached("baseline", lambda: measure_baseline(self.ask, kind, samples))

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """What `compute` returned when this name was first asked for."""
        if name not in self._cache:
            self._cache[name] = compute()
        # One name stands for one question, and so for one type of answer.
        return cast(T, self._cache[name])

    def ask(self, calls: Sequence[GraderCall]) -> list[CallResult]:
        """A result for every call, in order; the same call is made once."""
        keys = [call_key(call) for call in calls]
        new = {key: call for key, call in zip(keys, calls, strict=True) if key not in self._results}
        measured = self.run_calls(list(new.values()))
        self._results |= {key: one.result for key, one in zip(new, measured, strict=True)}
        return [self._results[key] for key in keys]

    def run_calls(
        self, calls: Sequence[GraderCall], *, place: Place = "main", measure: bool = False
    ) -> list[MeasuredResult]:
        """As `ask`, in a place of one's choice, and never from the cache."""
        return self.run_in(self._isolated, calls, place, measure=measure)

    def run_in(
        self, isolated: IsolatedTarget, calls: Sequence[GraderCall], place: Place, *, measure: bool
    ) -> list[MeasuredResult]:
        """Results from this process of the target, counted."""
        if not calls:
            return []
        self.call_count += len(calls)
        many = self._timeouts >= MANY_TIMEOUTS
        limit = min(self.limits.call_s, SHORT_CALL_S) if many else None
        results = isolated.ask(
            calls, shape=self.target.shape, place=place, measure=measure, call_s=limit
        )
        self._timeouts += sum(one.result.status == "timeout" for one in results)
        return results

    @contextmanager
    def fresh_process(self, surroundings: Surroundings = USUAL) -> Iterator[FreshProcess]:
        """Another process of the same target, which has answered nothing yet."""
        with self._open(surroundings) as isolated:
            yield FreshProcess(self, isolated)
        self._add_traces(isolated.traces)

    def collect_traces(self) -> SideEffects:
        """What the target did beside answering, in all its processes that have ended or stopped."""
        self._isolated.stop()
        self._add_traces(self._isolated.traces)
        self._isolated.traces = SideEffects()
        return self.traces

    def close(self) -> None:
        """End the target's process and remove its files."""
        self._isolated.close()
        self._add_traces(self._isolated.traces)

    def _open(self, surroundings: Surroundings = USUAL) -> IsolatedTarget:
        return IsolatedTarget(
            self.spec, self.limits, surroundings=surroundings, environment=self._environment
        )

    def variables_read(self) -> list[str]:
        """Names of variables that the target has asked its environment for, so far.

        Those that the user hands over are not among them: that it reads them is known.
        """
        seen = {**self.traces.seen, **self._isolated.traces.seen}
        names = {detail for what, detail in seen if what == "variable"}
        return sorted(names - set(self._environment or ()))

    def _add_traces(self, traces: SideEffects) -> None:
        self.traces.seen.update(traces.seen)
        self.traces.survivors += traces.survivors
        self.traces.lingered += traces.lingered
        self.traces.deaths += traces.deaths


@dataclass(frozen=True, slots=True)
class FreshProcess:
    """One more process of a session's target."""

    session: AuditSession
    isolated: IsolatedTarget

    def run_calls(
        self, calls: Sequence[GraderCall], *, place: Place = "main", measure: bool = False
    ) -> list[MeasuredResult]:
        """Results of this process alone."""
        return self.session.run_in(self.isolated, calls, place, measure=measure)

    def ask(self, calls: Sequence[GraderCall]) -> list[CallResult]:
        """As `run_calls`, without the measurements."""
        return [measured.result for measured in self.run_calls(calls)]

    def confirm(self, call: GraderCall) -> MeasuredResult:
        """A measurement made again; it is no new probe, and so not counted as one."""
        measured = self.run_calls([call], measure=True)[0]
        self.session.call_count -= 1
        return measured
