"""`assay diagnose`: show where a run lost reward, and why."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from assay.cli.options import json_option, runs_option
from assay.cli.summary import rate_lines
from assay.cli.terminal import output, plain, print_json, print_notes, reward_text, table_of
from assay.ledger.layout import LATEST
from assay.report.diagnosis import AttemptDiagnosis, Diagnosis, diagnose

SHOWN = 40


@click.command(name="diagnose")
@click.argument("run", default=LATEST)
@click.option("--task", metavar="ID",
              help="Show only this task, in detail: give its id, or 3 for line.3.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True,
              help=f"Show every attempt, not only the first {SHOWN}.")  # fmt: skip
@runs_option
@json_option
def command(run: str, task: str | None, show_all: bool, runs_dir: Path, as_json: bool) -> None:
    """Show where RUN (default: `latest`) lost reward, why, and how much each cause could return.

    RUN is a folder, an id, the beginning of one, `latest`, `@-2`, or the log of another tool: a
    file or folder as `assay import` takes it.

    Answers are scored again in other forms by the run's own reward. What the best form would have
    scored is shown beside the reward, as an upper bound: the form was chosen by the reference.
    """
    diagnosis = diagnose(run, task=task, runs_dir=runs_dir)
    if as_json:
        print_json(diagnosis.to_record())
        return
    console = output()
    _head(console, diagnosis)
    if diagnosis.causes:
        console.print(_causes(diagnosis))
    if task is not None:
        for finding in diagnosis.findings:
            _detail(console, finding)
    elif diagnosis.findings and {row.cause for row in diagnosis.causes} != {"not_scored"}:
        listed = diagnosis.findings if show_all else diagnosis.findings[:SHOWN]
        console.print()
        console.print(_attempts(listed))
        more = len(diagnosis.findings) - len(listed)
        if more:
            console.print(f"… and {more} more; --all shows them, --task ID one in detail")
    print_notes(console, diagnosis.notes)


def _head(console: Console, diagnosis: Diagnosis) -> None:
    lost = sum(finding.lost is not None for finding in diagnosis.findings)
    unscored = len(diagnosis.findings) - lost
    of = f" of {diagnosis.planned}" if diagnosis.planned > diagnosis.n else ""
    excluded = f"; {unscored} without a reward, in no mean" if unscored else ""
    if diagnosis.mean is None:
        sentence = f"{diagnosis.n}{of} attempts, none with a reward"
    elif not lost:
        mean = f"mean {diagnosis.mean:.3f}: nothing lost"
        sentence = f"{diagnosis.n}{of} attempts, {mean}{excluded}"
    else:
        sentence = (
            f"mean {diagnosis.mean:.3f} over {diagnosis.scored} scored attempts, {lost} below full "
            f"reward; ≤ {diagnosis.recoverable_mean or 0.0:.3f} had every answer been in its best "
            f"form{excluded}"
        )
        sentence += f"; {diagnosis.n}{of} attempts are there" if of else ""
    console.print(f"{diagnosis.run_id}: {sentence}")
    for name, value in rate_lines(diagnosis.passes):
        console.print(f"{name:<8} {value}")


def _causes(diagnosis: Diagnosis) -> Table:
    suggestion = Column("what it suggests", overflow="fold")
    table = table_of("cause", ">attempts", ">lost", ">returns ≤", suggestion)
    for row in diagnosis.causes:
        known = row.unscored != row.attempts
        values = (f"{each:.3f}" if known else "unknown" for each in (row.lost, row.returns))
        table.add_row(row.cause.replace("_", " "), str(row.attempts), *values, row.suggestion)
    return table


def _attempts(findings: tuple[AttemptDiagnosis, ...]) -> Table:
    folded = {"submitted": 2, "reference": 1, "evidence": 3}
    columns = (Column(name, overflow="fold", ratio=ratio) for name, ratio in folded.items())
    rows = (
        (
            Text(plain(each.task_id + (f" #{each.repeat}" if each.repeat else ""), 40)),
            _reward(each),
            each.cause.replace("_", " "),
            Text(plain(each.answer if each.answer is not None else "nothing", 60)),
            Text(plain(each.gold, 40)),
            Text(_evidence(each)),
        )
        for each in findings
    )
    return table_of("task", ">reward", "cause", *columns, rows=rows)


def _reward(finding: AttemptDiagnosis) -> Text:
    text = reward_text(finding.reward)
    if finding.recovery is not None:
        text.append(f" ≤{finding.recovery.reward:.2f}", style="magenta")
    return text


def _evidence(finding: AttemptDiagnosis) -> str:
    first = finding.evidence[0]
    more = f" (+{len(finding.evidence) - 1})" if len(finding.evidence) > 1 else ""
    return f"step {first.step}: {plain(first.text, 110)}{more}"


def _detail(console: Console, finding: AttemptDiagnosis) -> None:
    console.print()
    title = f"{finding.attempt}  {finding.cause.replace('_', ' ')}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    because = f"  {plain(finding.because, 200)}"
    console.print(Text.assemble("reward ", reward_text(finding.reward), because))
    if (best := finding.recovery) is not None:
        form = f"in another form ({best.form}): ≤ {best.reward:.3f}  {plain(best.text, 120)}"
        console.print(Text(form, style="magenta"))
    table = table_of("reference", "submitted", ">overlap")
    for row in finding.aligned:
        pair = ("—" if text is None else plain(text, 60) for text in (row.gold, row.answer))
        overlap = Text(f"{row.overlap:.2f}", style="green" if row.matched else "red")
        table.add_row(*map(Text, pair), overlap)
    if not finding.aligned:
        table.add_row(Text(plain(finding.gold, 60)), "nothing", "")
    console.print(table)
    for sign, link in zip(finding.evidence, finding.links(), strict=True):
        console.print(Text(f"step {sign.step}: {plain(sign.text, 200)}  ({link})"), soft_wrap=True)
