"""What a check holds: samples to start from, a target to ask, and seeded dice."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from assay.audit.checks.frames import Measured
from assay.audit.findings import Budget, Call, Check, Kind, Sample, Verdict
from assay.audit.session import Session
from assay.audit.shrinking import shrink
from assay.audit.target import Target

PAYS: Final = 0.5
"""The share of full marks above which an answer counts as paid."""
SHRINK_CALLS: Final[dict[Budget, int]] = {"fast": 60, "full": 200}


@dataclass(frozen=True, slots=True)
class Bench:
    """One target before one check."""

    session: Session
    kind: Kind
    samples: Sequence[Sample]
    budget: Budget
    seed: int
    rng: random.Random
    """Depends on the seed and the check alone, so that the order of checks never matters."""

    @classmethod
    def over(
        cls, session: Session, kind: Kind, samples: Sequence[Sample], budget: Budget, seed: int = 0
    ) -> Bench:
        """A bench that belongs to no check yet."""
        return cls(session, kind, tuple(samples), budget, seed, random.Random(seed))

    def for_check(self, check: Check) -> Bench:
        """The same bench with the dice of that check."""
        return replace(self, rng=random.Random(f"{self.seed}/{check.name}"))

    @property
    def target(self) -> Target:
        """What is known of the target."""
        return self.session.target

    @property
    def measured(self) -> Measured:
        """Where the target looks for an answer, and what it pays for a right one there."""
        return self.session.measured(self.kind, self.samples)

    @property
    def full_marks(self) -> float:
        """What the target pays for a right answer: the commonest number, or 1.0 if it pays none."""
        return self.measured.full_marks or 1.0

    def ask(self, calls: Sequence[Call], *, fresh: bool = False) -> list[Verdict]:
        """A verdict for every call, in order.

        The same call is asked once in an audit, unless `fresh`: then all are asked, in this order,
        in a process that has answered nothing before.
        """
        if not fresh:
            return self.session.ask(calls)
        with self.session.apart() as apart:
            return [answer.verdict for answer in apart.answers(calls)]

    def ask_in(
        self, place: Literal["main", "thread", "loop", "spawn", "fork"], calls: Sequence[Call]
    ) -> list[Verdict]:
        """As `ask`, in a place of one's choice, never from memory."""
        return [answer.verdict for answer in self.session.answers(calls, place=place)]

    def pays(self, verdict: Verdict) -> bool:
        """Whether the verdict counts as paid: more than half of full marks, if any are known."""
        full = self.measured.full_marks
        return full > 0 and verdict.status == "scored" and (verdict.value or 0.0) > PAYS * full

    def shrink(self, call: Call, still_bad: Callable[[Verdict], bool]) -> Call:
        """A call with a shorter text that still shows the same."""

        def bad(text: str) -> bool:
            return still_bad(self.ask([_with_text(call, text)])[0])

        text = shrink(call.final_response, bad, SHRINK_CALLS[self.budget])
        return _with_text(call, text)


def _with_text(call: Call, text: str) -> Call:
    """The call with another last word, also where a conversation carries it."""
    messages = call.messages
    if messages and messages[-1].get("content") == call.final_response:
        messages = (*messages[:-1], {**messages[-1], "content": text})
    return replace(call, final_response=text, messages=messages)
