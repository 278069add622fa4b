"""The target under audit: its processes, what it has answered, and what it pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar, cast

from assay.audit.checks.frames import Measured, measure
from assay.audit.findings import Call, Kind, Sample, Verdict
from assay.audit.isolation import (
    IsolatedTarget,
    MeasuredResult,
    Place,
    ProcessLimits,
    Traces,
    call_key,
)
from assay.audit.target import VARIANTS, Shape, Target, TargetSpec, to_target

T = TypeVar("T")

PATIENCE = 8
"""Time-outs after which the audit waits less for each call."""
IMPATIENT_S = 1.0
SHAPE_SAMPLES = 6


class Session:
    """Asks one target, and remembers what it said."""

    def __init__(
        self,
        spec: TargetSpec,
        limits: ProcessLimits | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits or ProcessLimits()
        self.asked = 0
        """Calls made, those that only confirm a measurement aside."""
        self.traces = Traces()
        self._environment = environment
        self._isolated = self._open()
        self._memory: dict[str, Verdict] = {}
        self._timeouts = 0
        self._target: Target | None = None
        self._found: dict[str, object] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def target(self) -> Target:
        """The facts about the target, which is loaded for them."""
        if self._target is None:
            self._target = to_target(self.spec, self._isolated.start())
        return self._target

    def settle_shape(self, kind: Kind, samples: Sequence[Sample]) -> None:
        """The shape is the one of its variants in which right answers are paid best."""
        detected: Shape = self._isolated.start()["shape"]
        variants = VARIANTS.get(detected, ())
        if self.spec.shape is not None or not variants:
            return

        def accepted(shape: Shape) -> int:
            def ask(calls: Sequence[Call]) -> list[Verdict]:
                return [answer.verdict for answer in self._isolated.ask(calls, shape=shape)]

            return measure(ask, kind, samples[:SHAPE_SAMPLES]).accepted

        best = max(variants, key=accepted)
        if best != self.target.shape:
            self._memory.clear()
        self._target = to_target(self.spec, {**self._isolated.facts, "shape": best})

    def measured(self, kind: Kind, samples: Sequence[Sample]) -> Measured:
        """How the target wants answers and what it pays for a right one, found out once."""
        return self.once("measured", lambda: measure(self.ask, kind, samples))

    def once(self, name: str, find: Callable[[], T]) -> T:
        """What `find` found when it was first asked for under this name."""
        if name not in self._found:
            self._found[name] = find()
        # One name stands for one question, and so for one type of answer.
        return cast(T, self._found[name])

    def ask(self, calls: Sequence[Call]) -> list[Verdict]:
        """A verdict for every call, in order; the same call is asked once."""
        keys = [call_key(call) for call in calls]
        new = {key: call for key, call in zip(keys, calls, strict=True) if key not in self._memory}
        answers = self.answers(list(new.values()))
        for key, answer in zip(new, answers, strict=True):
            self._memory[key] = answer.verdict
        return [self._memory[key] for key in keys]

    def answers(
        self, calls: Sequence[Call], *, place: Place = "main", measure: bool = False
    ) -> list[MeasuredResult]:
        """As `ask`, never from memory, in a place of one's choice."""
        return self._ask(self._isolated, calls, place, measure=measure)

    @contextmanager
    def apart(self, *, hash_seed: int = 0) -> Iterator[Apart]:
        """Another process of the same target, which has answered nothing yet."""
        with self._open(hash_seed) as isolated:
            yield Apart(self, isolated)
        self._keep(isolated.traces)

    def files(self) -> list[str]:
        """Files that the target has left in its own folders."""
        return self._isolated.files()

    def seen(self) -> Traces:
        """What the target did beside answering, in all its processes that have ended or stopped."""
        self._isolated.restart()
        self._keep(self._isolated.traces)
        self._isolated.traces = Traces()
        return self.traces

    def close(self) -> None:
        """No process and no file of the target is left."""
        self._isolated.close()
        self._keep(self._isolated.traces)

    def _ask(
        self, isolated: IsolatedTarget, calls: Sequence[Call], place: Place, *, measure: bool
    ) -> list[MeasuredResult]:
        if not calls:
            return []
        self.asked += len(calls)
        limit = min(self.limits.call_s, IMPATIENT_S) if self._timeouts >= PATIENCE else None
        answers = isolated.ask(
            calls, shape=self.target.shape, place=place, measure=measure, call_s=limit
        )
        self._timeouts += sum(answer.verdict.status == "timeout" for answer in answers)
        return answers

    def _open(self, hash_seed: int = 0) -> IsolatedTarget:
        return IsolatedTarget(
            self.spec, self.limits, hash_seed=hash_seed, environment=self._environment
        )

    def _keep(self, traces: Traces) -> None:
        self.traces.seen.update(traces.seen)
        self.traces.survivors += traces.survivors
        self.traces.lingered += traces.lingered
        self.traces.deaths += traces.deaths


class Apart:
    """One more process of a session's target."""

    def __init__(self, session: Session, isolated: IsolatedTarget) -> None:
        self._session = session
        self._isolated = isolated

    def answers(
        self, calls: Sequence[Call], *, place: Place = "main", measure: bool = False
    ) -> list[MeasuredResult]:
        """Answers of this process alone."""
        return self._session._ask(  # noqa: SLF001 - the same session, through another process
            self._isolated, calls, place, measure=measure
        )

    def confirmed(self, call: Call) -> MeasuredResult:
        """A measurement taken again; it is no new probe, and so not counted as one."""
        answer = self.answers([call], measure=True)[0]
        self._session.asked -= 1
        return answer

    @property
    def traces(self) -> Traces:
        """What this process did beside answering."""
        return self._isolated.traces

    def files(self) -> list[str]:
        """Files that lie in this process's own folders."""
        return self._isolated.files()
