"""Simulate the training signal of a reward on groups of rollouts, without training.

Trainers of the GRPO family compare the rollouts of one prompt with each other. So it matters less
what a reward pays than how it spreads within a group: where every answer is wrong and the rewards
still differ, the difference becomes an advantage of full size, and teaches how to fail.

The reward is asked about real responses: right and wrong answers given silently, tersely, with
some working, at length, repetitively, in and out of the form; `simulation.py` draws the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from assay.audit.findings import CallResult, Sample
from assay.audit.frames import BARE, FRAMES, AnswerTemplate, to_call
from assay.audit.group_audit import GroupAudit
from assay.audit.isolation import AuditSession
from assay.audit.simulation import BEHAVIOURS, RIGHT, SimulatedRollout, simulate
from assay.errors import BadParameter
from assay.schema.audit import Kind

GROUP_SIZE: Final = 8
ROWS: Final = 8
PAID: Final = "paid/"
GATE: Final = "gate/"
REST: Final = "the rest"
OUTCOMES: Final = ("acc", "accuracy", "correct", "outcome", "em", "won", "success")
"""Parts that say whether an answer is right, in a reward that is no composition."""


def audit_groups(
    session: AuditSession,
    kind: Kind,
    samples: Sequence[Sample],
    *,
    seed: int = 0,
    size: int = GROUP_SIZE,
    outcome: str | None = None,
) -> GroupAudit:
    """Simulate the training signal of a reward for groups of `size` rollouts.

    The outcome is the first component of a composition; of any other reward the part that is named,
    or one that is usually called so. Raises `BadParameter` where nothing says whether an answer is
    right, or where the target pays no right answer.
    """
    if size < 2:
        raise BadParameter(f"a group of {size} rollouts is too small; use at least 2")
    rows = [sample for sample in samples if sample.right and _wrong_of(sample, samples)][:ROWS]
    if not rows:
        raise BadParameter(
            "no row has both a right and a wrong answer; give other rows with --data"
        )
    reader = _reader(session, kind, rows, outcome)
    frame = _best_frame(session, kind, rows, reader)
    table = [_table(session, kind, row, samples, frame, reader) for row in rows]
    if not any(table[0][behaviour.name][1].outcome >= RIGHT for behaviour in BEHAVIOURS):
        raise BadParameter(
            f"{session.target.name} scores no right answer as right; if its kind is not {kind!r}, "
            "set the kind with --kind"
        )
    return simulate(session.target.name, kind, table, reader.outcome, seed=seed, size=size)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Names of the parts that hold the outcome and the components of a reward."""

    outcome: str
    components: tuple[str, ...]

    def read(self, result: CallResult) -> SimulatedRollout:
        parts = {name: value or 0.0 for name, value in result.parts.items()}
        outcome = parts.get(self.outcome, 0.0)
        shares = {name: parts.get(PAID + name, 0.0) for name in self.components}
        shares = shares or {self.outcome: outcome, REST: result.amount - outcome}
        gates = {name.removeprefix(GATE): parts[name] for name in parts if name.startswith(GATE)}
        return SimulatedRollout(result.amount, outcome, shares, gates, result.number is not None)


def _reader(
    session: AuditSession, kind: Kind, rows: Sequence[Sample], outcome: str | None
) -> _Reader:
    probe = session.ask([to_call(kind, rows[0], rows[0].right[0])])[0]
    parts = tuple(session.target.parts or ()) or tuple(probe.parts)
    components = tuple(name for name in parts if PAID + name in parts)
    chosen = outcome or next(iter(components), None)
    chosen = chosen or next((name for name in OUTCOMES if name in parts), None)
    if chosen is None or chosen not in parts:
        have = ", ".join(parts) or "none"
        raise BadParameter(
            f"no part of {session.target.name} says whether an answer is right; choose a part with "
            f"--outcome (parts: {have})"
        )
    return _Reader(chosen, components)


def _best_frame(
    session: AuditSession, kind: Kind, rows: Sequence[Sample], reader: _Reader
) -> AnswerTemplate:
    """Find the answer format in which worked answers are most often scored as right."""
    frames = (*(frame for frame in FRAMES if frame is not BARE), BARE)
    worked = next(each for each in BEHAVIOURS if each.name == "8 sentences")

    def score(frame: AnswerTemplate) -> tuple[float, float]:
        texts = [worked.response(frame, row.right[0]) for row in rows]
        calls = [to_call(kind, row, text) for row, text in zip(rows, texts, strict=True)]
        rollouts = [reader.read(result) for result in session.ask(calls)]
        right = sum(one.outcome >= RIGHT for one in rollouts)
        return right, fsum(one.reward for one in rollouts)

    scores = [score(frame) for frame in frames]
    return frames[scores.index(max(scores))]


def _table(
    session: AuditSession,
    kind: Kind,
    row: Sample,
    samples: Sequence[Sample],
    frame: AnswerTemplate,
    reader: _Reader,
) -> dict[str, tuple[SimulatedRollout, SimulatedRollout]]:
    """Return a wrong and a right rollout for each behaviour."""
    answers = (_wrong_of(row, samples), row.right[0])
    texts = [each.response(frame, answer) for each in BEHAVIOURS for answer in answers]
    rollouts = map(reader.read, session.ask([to_call(kind, row, text) for text in texts]))
    # The iterator is its own pair: one item after the other.
    pairs = zip(rollouts, rollouts, strict=True)
    return {each.name: pair for each, pair in zip(BEHAVIOURS, pairs, strict=True)}


def _wrong_of(sample: Sample, samples: Sequence[Sample]) -> str:
    if sample.wrong:
        return sample.wrong[0]
    right = set(sample.right)
    others = (answer for other in samples for answer in other.right if answer not in right)
    return next(others, "")
