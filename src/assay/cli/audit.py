"""`assay audit`: how a reward can be fooled."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from assay.audit.engine import CALL_S, audit_group, audit_reward
from assay.audit.group_audit import GroupAudit
from assay.audit.groups import GROUP_SIZE
from assay.audit.isolation import ProcessLimits
from assay.audit.result import FOLDER, Audit, AuditComparison, compare
from assay.audit.target import TargetSpec, parse_target
from assay.cli.options import renamed_option
from assay.cli.terminal import output, plain, print_json, progress_output, reward_text, table_of
from assay.errors import BadParameter
from assay.report.form_sensitivity import FormSensitivity, probe
from assay.schema.audit import (
    FAMILIES,
    KINDS,
    SEVERITIES,
    SHAPES,
    Budget,
    Family,
    Kind,
    Severity,
    Shape,
)

GATE = 3
PATH = click.Path(path_type=Path)
STYLES: dict[Severity, str] = {
    "critical": "bold white on red", "high": "bold red", "medium": "yellow", "low": "cyan",
    "info": "dim",
}  # fmt: skip


@click.command(name="audit")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET")
@click.option("--compare", "side_by_side", is_flag=True, help="Two TARGETs, check by check.")
@click.option("--group", "by_group", is_flag=True, help="Simulate groups of rollouts instead.")
@click.option("--group-size", type=click.IntRange(min=2), default=GROUP_SIZE, show_default=True,
              help="Number of rollouts for each prompt, with --group.")  # fmt: skip
@click.option("--outcome", metavar="PART",
              help="Score part that says whether an answer is right, with --group.")  # fmt: skip
@click.option("--forms-of", metavar="ANSWER",
              help=r"Show only the reward of each form of this right answer (`\n`: line break).",
)  # fmt: skip
@click.option("--data", type=PATH, metavar="FILE", help="Rows with prompts and references.")
@click.option("--kind", type=click.Choice(KINDS),
              help="What the reward scores; detected if not given.")  # fmt: skip
@click.option("--shape", type=click.Choice(SHAPES),
              help="How the reward is called; detected if not given.")  # fmt: skip
@click.option("--budget", type=click.Choice(get_args(Budget)), default="fast", show_default=True,
              help="fast takes less than a minute, full checks every row.")  # fmt: skip
@click.option("--family", "families", multiple=True, type=click.Choice(FAMILIES))
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--fail-on", type=click.Choice(SEVERITIES),
              help="Exit with 3 if a finding is at least this severe, or if no check ran.",
)  # fmt: skip
@click.option("--accept", multiple=True, metavar="CHECK=REASON",
              help="Accept the findings of CHECK as intended.")  # fmt: skip
@click.option("--reference", "reference_column", metavar="COLUMN", default="answer",
              show_default=True, help="The column of the reference.")  # fmt: skip
@renamed_option("--gold", "--reference")
@click.option("--python", metavar="PATH", help="Path of another Python that runs the target.")
@click.option("--env", "variables", multiple=True, metavar="NAME",
              help="Environment variable that the target may read.")  # fmt: skip
@click.option("--memory-mb", type=click.IntRange(min=64), default=4096, show_default=True)
@click.option("--html", type=PATH, metavar="OUT", help="A page to read.")
@click.option("--save", type=PATH, default=FOLDER, show_default=True,
              help="Folder for the audit; the viewer reads it there.")  # fmt: skip
@click.option("--no-save", is_flag=True, help="Keep nothing.")
@click.option("--timings", is_flag=True, help="Add durations to the JSON; they vary between runs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    context: click.Context,
    targets: Sequence[str],
    side_by_side: bool,
    by_group: bool,
    group_size: int,
    outcome: str | None,
    forms_of: str | None,
    data: Path | None,
    kind: Kind | None,
    shape: Shape | None,
    budget: Budget,
    families: Sequence[Family],
    seed: int,
    fail_on: Severity | None,
    accept: Sequence[str],
    reference_column: str,
    python: str | None,
    variables: Sequence[str],
    memory_mb: int,
    html: Path | None,
    save: Path,
    no_save: bool,
    timings: bool,
    as_json: bool,
) -> None:
    """Find out how a reward can be fooled, before training exploits it.

    It says first whether the reward is fooled and which right answers it refuses, then the root
    causes, then every finding with an answer that shows it.

    TARGET is a registered reward, `module:function`, `file.py:function`, or the address of a
    server, with the reward after `#`. It runs in a process of its own, within limits.

    \b
    assay audit math_equal_reward --fail-on medium
    assay audit my_rewards.py:accuracy --data train.jsonl --html audit.html
    assay audit --compare math_equal_reward my_rewards.py:accuracy
    assay audit http://127.0.0.1:8700/v1/score#qa_f1_reward --kind qa
    assay audit --group my_rewards.py:short_maths --fail-on high
    assay audit assistantbench_reward --forms-of "CrossFit East River\\nAvea Pilates"

    With --group it asks what a trainer that compares the rollouts of one prompt would make of a
    composed reward: whether wrong answers get an advantage from each other, what dominates the
    spread, which gate never opens, and where the policy would go.
    """
    if len(targets) != (2 if side_by_side else 1):
        raise BadParameter("give two targets with --compare, and one target without it")
    if by_group and any((side_by_side, html, families, accept)):
        raise BadParameter(
            "--group cannot be combined with --compare, --html, --family or --accept"
        )
    if side_by_side and html is not None:
        raise BadParameter("--html cannot be combined with --compare: the page shows one audit")
    if forms_of is not None:
        _print_forms(probe(targets[0], forms_of.replace("\\n", "\n")), as_json=as_json)
        return
    specs = [
        parse_target(text, shape=shape, python=python, reference_column=reference_column)
        for text in targets
    ]
    limits = ProcessLimits(call_s=CALL_S[budget], memory_mb=memory_mb)
    environment = {name: os.environ[name] for name in variables if name in os.environ}
    if by_group:
        result = audit_group(
            specs[0], kind=kind, data=data, budget=budget, seed=seed, size=group_size,
            outcome=outcome, limits=limits, environment=environment,
        )  # fmt: skip
        print_json(result.to_record()) if as_json else print_groups(output(), result)
        context.exit(GATE if fail_on is not None and result.fails(fail_on) else 0)
    reasons = dict(map(_reason, accept))
    run = partial(
        audit_reward, data=data, budget=budget, seed=seed, accept=reasons, families=families,
        limits=limits, environment=environment,
    )  # fmt: skip
    audits: list[Audit] = []
    for spec in specs:
        # Both are asked the same: the kind of the first decides for the second.
        audits.append(_audit_with_status(run, spec, kind or (audits[0].kind if audits else None)))
        if not no_save:
            audits[-1].save(save)
    if html is not None:
        html.write_text(audits[0].to_html(), encoding="utf-8")
    if side_by_side:
        _print_comparison(compare(*audits), as_json=as_json)
    else:
        _print_audit(audits[0], as_json=as_json, timings=timings)
    # No check that ran is no pass, whatever the gate.
    unchecked = any(not one.families for one in audits)
    closed = fail_on is not None and any(one.fails(fail_on) for one in audits)
    context.exit(GATE if unchecked or closed else 0)


def print_groups(console: Console, result: GroupAudit) -> None:
    facts = f"{result.kind}, {result.rows} rows, groups of {result.size}, outcome {result.outcome}"
    verdict = Text(plain(result.verdict, 1_000), style="bold")
    console.print(Text(f"{plain(result.target)}: {facts}"), "", verdict, "", sep="\n")
    for finding in result.findings:
        console.print(Text(f"{finding.severity:<9}", STYLES[finding.severity]), end="")
        console.print(Text(f"{finding.check}: {plain(finding.title, 400)}"))
    table = table_of("component", ">share of variance", ">gate open")
    for name, share in result.components.items():
        gate = result.gates.get(name)
        table.add_row(plain(name), f"{share:.1%}", "" if gate is None else f"{gate:.1%}")
    console.print(table)
    failed = (
        f"every answer wrong in {result.failed:.1%} of the groups; rewards differ in "
        f"{result.spread:.1%} of those, which hand out {result.phantom:.1%} of all advantage"
    )
    console.print(Text(failed, style="dim"))


def _audit_with_status(run: Callable[..., Audit], spec: TargetSpec, kind: Kind | None) -> Audit:
    """Run the audit, and show the current check on stderr."""
    title = f"auditing {plain(spec.text)}"
    with progress_output().status(title) as status:

        def progress(done: int, total: int, name: str) -> None:
            status.update(f"{title}: {done} of {total} checks, {name}")

        return run(spec, kind=kind, progress=progress)


def _reason(text: str) -> tuple[str, str]:
    check, _, reason = text.partition("=")
    if not reason.strip():
        raise BadParameter(f"--accept {text!r} is not CHECK=REASON; give the reason")
    return check.strip(), reason.strip()


def _print_audit(result: Audit, *, as_json: bool, timings: bool) -> None:
    if as_json:
        print_json(result.to_record(timings=timings))
        return
    console = output()
    facts = f"{result.kind}, {result.target.shape} shape, {result.samples} rows ({result.data})"
    effort = f"{result.probes} probes, {result.seconds:.1f} s"
    title = Text(f"{plain(result.target.text)}: {facts}, {effort}")
    verdict = Text(plain(result.verdict, 1_000), style="bold")
    tables = [_causes(result), "", _findings(result), ""] if result.findings else []
    console.print(title, "", verdict, "", *tables, sep="\n")
    for rate in (rate for check in result.checks for rate in check.rates):
        interval = f"95 % interval {100 * rate.low:.1f} to {100 * rate.high:.1f} %"
        console.print(Text(f"{rate.name}: {rate.hits} of {rate.n} ({interval})"))
    count = Counter(check.outcome for check in result.checks)
    outcomes = (
        f"{count['passed']} checks passed, {count['found']} found something, "
        f"{count['accepted']} accepted, {count['skipped']} did not apply"
    )
    console.print(Text(f"{outcomes}\n{plain(result.badge, 300)}", style="dim"))


def _causes(result: Audit) -> Table:
    """A table with a line for each root cause and the checks that found it."""
    title = Column("root cause, and the checks that show it", overflow="fold")
    table = table_of("severity", "about", title)
    for cause in result.causes:
        lines = Text(plain(cause.title, 200), style="bold")
        if cause.accepted:
            lines.append(" (accepted)", style="green")
        checks = f"{cause.name}: {', '.join(cause.checks)}"
        lines.append(f"\n{checks}", style="not bold dim")
        style = "dim" if cause.accepted else STYLES[cause.severity]
        table.add_row(Text(cause.severity, style=style), Text(cause.concern), lines)
    return table


def _findings(result: Audit) -> Table:
    title = Column("finding, an answer that shows it, and what came back", overflow="fold")
    table = table_of("severity", "check", ">inputs", title)
    for item in result.findings:
        lines = Text(plain(item.title, 200))
        if item.accepted is not None:
            lines.append(f"\naccepted: {plain(item.accepted, 300)}", style="green")
        lines.append(f"\n{plain(item.reproducer.final_response, 70)}", style="cyan")
        lines.append(f"\n{plain(item.observed, 160)}", style="dim")
        style = "dim" if item.accepted else STYLES[item.severity]
        counts = f"{item.count}/{item.tried}"
        table.add_row(Text(item.severity, style=style), Text(item.check), counts, lines)
    return table


def _print_comparison(comparison: AuditComparison, *, as_json: bool) -> None:
    if as_json:
        print_json(comparison.to_record())
        return
    first, second = comparison.first.target.name, comparison.second.target.name
    table = table_of("family", "check", plain(first), plain(second))
    for row in comparison.rows:
        if row.first is not None or row.second is not None:
            table.add_row(row.family, row.check, _cell(row.first), _cell(row.second))
    output().print(table, "", Text(plain(comparison.sentence, 1_000), style="bold"), sep="\n")


def _print_forms(sensitivity: FormSensitivity, *, as_json: bool) -> None:
    """Print the reward of each form of the right answer and of similar wrong answers."""
    if as_json:
        print_json(sensitivity.to_record())
        return
    console = output()
    odd = {*sensitivity.losing, *sensitivity.gaining}
    for kind, right in (("right", True), ("wrong", False)):
        submitted = Column("submitted", overflow="fold")
        table = table_of(f"{kind} answers", "form", ">reward", submitted)
        for row in (row for row in sensitivity.rows if row.right is right):
            style = "bold" if row in odd else "dim"
            family, form = Text(row.family, style=style), Text(row.name, style=style)
            table.add_row(family, form, reward_text(row.reward), Text(plain(row.text, 60), style))
        console.print(table)
        console.print()
    console.print(Text(f"{sensitivity.reward}: {sensitivity.sentence}", style="bold"))


def _cell(severity: Severity | None) -> Text:
    return Text("—", style="green") if severity is None else Text(severity, STYLES[severity])
