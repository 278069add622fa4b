"""`assay steps`: score the recorded steps of a browser agent again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import orjson
from rich.text import Text

from assay.browser.step_records import RescoredStep, rescore
from assay.browser.steps import RecoveryRewardScorer
from assay.cli.options import PATH
from assay.cli.terminal import output, plain, table_of
from assay.errors import BadRecord
from assay.ledger.steps import read_steps

CURRENT = RecoveryRewardScorer.id
COLUMNS = ("step", "action", "class", "score", "confidence", "reasons")
STYLES = {
    "strong_positive": "green", "weak_positive": "cyan", "neutral": "default",
    "negative": "yellow", "hard_negative": "bold red",
}  # fmt: skip


@click.command(name="steps")
@click.argument("trace", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each step.")
def command(trace: Path, as_json: bool) -> int:
    """Score the recorded steps in TRACE again, without a browser.

    TRACE is a steps/<attempt>.jsonl of a run, or a file that a script wrote. Exits with 3 when
    the scores in the file were written by the scorer of this version and yet differ.
    """
    if not trace.is_file():
        raise BadRecord(f"there is no file {str(trace)!r}")
    steps = list(rescore(read_steps(trace)))
    if as_json:
        for row in steps:
            click.echo(orjson.dumps(row.to_record(CURRENT)))
    else:
        table = table_of(*COLUMNS, rows=map(_row, steps))
        output().print(table)
    return _report(steps)


def _row(row: RescoredStep) -> list[str | Text]:
    place: list[str | Text] = [str(row.step.index), Text(plain(row.step.action or "(reset)", 48))]
    score = row.score
    if score is None:
        return [*place, "-", "-", "-", ""]
    style = STYLES[score.strength]
    return [
        *place,
        Text(score.classification, style=style),
        Text(f"{score.score:+.3f}" + (" *" if row.differs else ""), style=style),
        f"{score.confidence:.2f}",
        Text(", ".join(r.code + (f" ({r.n})" if r.n else "") for r in score.reasons)),
    ]


def _report(steps: Sequence[RescoredStep]) -> int:
    differing = [row for row in steps if row.differs]
    for scorer in sorted({row.scorer for row in differing}):
        numbers = [str(row.step.index) for row in differing if row.scorer == scorer]
        listed = ", ".join(numbers[:20]) + (", …" if len(numbers) > 20 else "")
        written = plain(scorer, 60)
        why = "has other rules" if scorer != CURRENT else "gives other scores: the file changed"
        click.echo(
            f"assay: {len(numbers)} stored score(s) differ (steps {listed}): "
            f"{written} wrote them; {CURRENT} {why}",
            err=True,
        )
    return 3 if any(row.scorer == CURRENT for row in differing) else 0
