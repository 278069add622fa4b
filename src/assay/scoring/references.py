"""Which references of a data set a reward cannot judge, found before a run is spent on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import BadParameter
from assay.schema.score import Abstained
from assay.scoring.batch import score_row
from assay.scoring.scorer import Scorer
from assay.scoring.shard_rows import InputRow, plan_shards, read_rows

PROBE = "0"
"""An answer that every reward can read: what abstains from it abstains because of the reference."""


class ReferenceProblem(NamedTuple):
    """A row whose reference cannot be judged; without a reason, one that can."""

    line: int
    reason: str = ""
    because: str = ""


def check_references(source: Path, scorer: Scorer) -> Iterator[ReferenceProblem]:
    """For each row of the file whether its reference can be judged, in the file's order.

    Raises `BadParameter` for a reward that asks a live environment.
    """
    if "context" in (*scorer.spec.required, *scorer.spec.optional):
        raise BadParameter(
            f"{scorer.spec.name} scores an episode in an environment, not a reference; "
            "`assay list rewards` shows what each reads"
        )
    for shard in plan_shards(source):
        for row in read_rows(source, shard):
            yield _check(scorer, row)


def _check(scorer: Scorer, row: InputRow) -> ReferenceProblem:
    if row.problem:
        return ReferenceProblem(row.number, "bad_row", row.problem)
    score = score_row(scorer, _with_probe(row.value), f"line {row.number}")
    if isinstance(score, Abstained):
        return ReferenceProblem(row.number, score.reason, score.because)
    return ReferenceProblem(row.number)


def _with_probe(row: Any) -> Any:
    return {"trajectory": [], **row, "final_response": PROBE} if isinstance(row, dict) else row
