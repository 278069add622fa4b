"""`assay rewards`: compare two versions of a reward."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from assay.cli.engines import import_modules, stdout_kept_for_data
from assay.cli.groups import SuggestingGroup
from assay.cli.options import (
    PATH,
    column_map,
    column_option,
    import_option,
    json_option,
    options_of,
    param_option,
    runs_option,
)
from assay.cli.terminal import number_text, output, plain, print_json, progress_bar, table_of
from assay.errors import BadParameter, NameCollision
from assay.registry import REWARDS, find_reward
from assay.registry.addresses import is_address
from assay.report.diff_job import TOLERANCE, diff_rewards, find_data
from assay.report.group_effects import GroupEffects
from assay.report.reward_diff import (
    NOTHING,
    STEPS,
    TITLES,
    ChangeKind,
    DiffGate,
    RewardDiff,
    SideScore,
    check_gates,
)
from assay.resources.files import atomic_write
from assay.scoring.scorer import Scorer

GATE = 3
SHOWN_KINDS = 12


@click.group(name="rewards", cls=SuggestingGroup)
def command() -> None:
    """Compare two versions of a reward on the same rows, before you train with the new one.

    \b
    assay rewards diff NAME@1 NAME@2 --data rollouts.jsonl --group prompt_id

    `assay list rewards` shows those there are, and `assay list rewards NAME` its versions.
    """


@command.command(name="diff")
@click.argument("old")
@click.argument("new")
@click.option("--data", "sources", multiple=True, required=True, metavar="FILE|FOLDER|RUN",
              help="Rows that both rewards score; can be given several times.")  # fmt: skip
@click.option("--group", "group", multiple=True, metavar="COLUMN",
              help="Column whose value all rows of a group share, such as prompt_id.")  # fmt: skip
@column_option
@param_option
@click.option("--old-param", "old_params", multiple=True, metavar="KEY=VALUE")
@click.option("--new-param", "new_params", multiple=True, metavar="KEY=VALUE")
@click.option("--old-python", metavar="PATH", help="Path of another Python that runs OLD.")
@click.option("--new-python", metavar="PATH", help="Path of another Python that runs NEW.")
@import_option
@click.option("--tolerance", type=click.FloatRange(0), default=TOLERANCE,
              help="Two rewards count as equal if they differ by at most this number.")  # fmt: skip
@click.option("--fail-on", "fail_on", multiple=True, metavar="GATE[=LIMIT]",
              help="Exit with 3 if more changes than LIMIT, a number or share.  [default: 0]",
)  # fmt: skip
@click.option("--out", type=PATH, metavar="FILE",
              help="Write every changed row to this .jsonl file.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue a stopped job that has --out.")
@click.option("--overwrite", is_flag=True, help="Replace what --out names.")
@click.option("--html", type=PATH, metavar="FILE", help="A page to read.")
@click.option("--workers", type=click.IntRange(1), default=1)
@runs_option
@json_option
def diff(
    old: str,
    new: str,
    sources: Sequence[str],
    group: Sequence[str],
    columns: Sequence[str],
    params: Sequence[str],
    old_params: Sequence[str],
    new_params: Sequence[str],
    old_python: str | None,
    new_python: str | None,
    imports: Sequence[str],
    fail_on: Sequence[str],
    html: Path | None,
    runs_dir: Path,
    as_json: bool,
    **options: Any,
) -> int:
    """Score the same rows with OLD and NEW, and show what changes.

    A reward is a NAME, NAME@VERSION, FILE.py:NAME, or FILE.py:NAME@REVISION of its git repository.
    With --old-python or --new-python it is a function in another interpreter, which needs nothing
    of Assay.

    What is shown first takes something from a row: scores that become abstentions, then what falls,
    each kind with its smallest rows and both reasons. With --group also what it does to training:
    advantages that turn round, groups that become flat, rows that change places. Of runs, the
    repeats of a task are a group.

    Gates: moved, down, up, abstained, errors; with groups flips, flat, reordered.

    \b
    assay rewards diff math_equal_reward@2 mine.py:grade --data rollouts.jsonl --group prompt_id
    assay rewards diff mine.py:grade@main mine.py:grade --data rows/ --fail-on down --workers 2
    assay rewards diff qa_f1_reward qa_f1_reward --new-param mode=hotpot --data latest
    assay rewards diff peer.py:grade math_equal_reward --old-python peer/bin/python --data a.jsonl
    """
    gates = [DiffGate.of(text) for text in fail_on]
    inputs = find_data(sources, runs_dir)
    if not group and not all(each.is_run for each in inputs):
        check_gates(gates)
    import_modules(imports)
    with ExitStack() as stack:
        with stdout_kept_for_data():
            sides = [
                _open_side(stack, old, old_python, [*params, *old_params]),
                _open_side(stack, new, new_python, [*params, *new_params]),
            ]
        show = stack.enter_context(progress_bar("scoring"))
        with stdout_kept_for_data():
            result = diff_rewards(
                sides[0],
                sides[1],
                sources,
                group=group,
                columns=column_map(columns),
                names=(_label(old, sides[0]), _label(new, sides[1])),
                runs_dir=runs_dir,
                progress=show,
                **options,
            )
    sentences = result.closed(gates)
    if html is not None:
        with atomic_write(html) as draft:
            draft.write_text(result.to_html(), encoding="utf-8")
    if as_json:
        print_json({**result.to_record(timings=True), "closed": sentences})
    else:
        _show(output(), result)
    for sentence in sentences:
        click.echo(f"assay: the gate failed: {sentence}", err=True)
    return GATE if sentences else 0


def _open_side(stack: ExitStack, text: str, python: str | None, params: Sequence[str]) -> Scorer:
    """Open the reward that the text names, in this process if possible."""
    function = _load(stack, text, python)
    spec = find_reward(function)
    for key in options_of(params, "--param"):
        if key not in spec.options:
            there = ", ".join(spec.options) or "none"
            raise BadParameter(
                f"--param {key}: {text} has no such option; its options are: {there}"
            )
    return Scorer(function, options_of(params, "--param", function))


def _load(stack: ExitStack, text: str, python: str | None) -> Any:
    from assay.audit.grader import IsolatedGrader, is_revision, open_revision
    from assay.audit.target import parse_target

    if is_revision(text):
        grader = stack.enter_context(open_revision(text, python=python))
    elif python is None and not text.startswith(("http://", "https://")):
        try:
            return REWARDS.find(text)
        except NameCollision:
            if not is_address(text):
                raise
            # Two files may define one name and version: the other is loaded already.
            grader = IsolatedGrader(parse_target(text))
    else:
        if not is_address(text):
            raise BadParameter(f"{text!r} is a registered name; another Python needs FILE.py:NAME")
        grader = IsolatedGrader(parse_target(text, python=python))
    stack.callback(grader.close)
    grader.start()
    return grader


def _label(text: str, scorer: Scorer) -> str:
    """The name of the reward in the result: its id or its address, with its options."""
    from assay.audit.grader import commit_of, is_revision

    name = text if is_address(text) else scorer.spec.id
    if is_revision(text):
        name = f"{text} ({commit_of(text)[:12]})"
    options = ", ".join(f"{key}={value!r}" for key, value in scorer.params.items())
    return f"{name} ({options})" if options else name


def _show(console: Console, result: RewardDiff) -> None:
    share = result.moved / result.rows if result.rows else 0.0
    console.print(Text(plain(f"{result.old} → {result.new}", 200), style="bold"))
    console.print(
        f"{result.rows:,} rows, {result.moved:,} change ({share:.2%}); mean "
        f"{number_text(result.mean('old'), 4)} → {number_text(result.mean('new'), 4)}"
    )
    if not result.has_scores:
        console.print(f"{NOTHING}; `assay score` says why each abstains", soft_wrap=True)
    if result.moved:
        _show_changes(console, result)
    kinds = result.kinds
    for kind in kinds[:SHOWN_KINDS]:
        _show_kind(console, kind)
    if len(kinds) > SHOWN_KINDS:
        console.print(f"… and {len(kinds) - SHOWN_KINDS} more kinds; --json has them all")
    if result.groups is not None:
        _show_groups(console, result, result.groups)
    elif result.moved:
        console.print("\n--group COLUMN says which rows are one group, and what training would see")


def _show_changes(console: Console, result: RewardDiff) -> None:
    steps = [f">≤ {step:g}" for step in STEPS]
    table = table_of("change", ">rows", ">share", *steps, ">more")
    for change, title in TITLES.items():
        count = result.counts.changes[change]
        if count:
            sizes = [f"{size:,}" if size else "" for size in result.counts.sizes.get(change, ())]
            table.add_row(title, f"{count:,}", f"{count / result.rows:.2%}", *sizes)
    console.print(table)


def _show_kind(console: Console, kind: ChangeKind) -> None:
    console.print()
    rows = "1 row" if kind.count == 1 else f"{kind.count:,} rows"
    console.print(Text(f"{TITLES[kind.change]}: {rows}", style="bold"), soft_wrap=True)
    console.print(Text(plain(f"  {kind.old or '—'}  →  {kind.new or '—'}", 220), style="dim"))
    for example in kind.examples:
        line = f"  {plain(example.file, 60)}:{example.line}  {plain(example.response, 70)}"
        text = Text(line, style="cyan")
        text.append(f"   reference: {plain(example.reference, 40)}", style="dim")
        console.print(text, soft_wrap=True)
        for name, side in (("old", example.old), ("new", example.new)):
            console.print(Text(f"    {name} {_side(side)}"), soft_wrap=True)


def _side(side: SideScore) -> str:
    value = f"abstained, {side.abstained}" if side.value is None else f"{side.value:.4g}"
    return f"{value}: {plain(side.because, 160)}"


def _show_groups(console: Console, result: RewardDiff, groups: GroupEffects) -> None:
    console.print()
    console.print(Text(f"groups by {', '.join(result.group)}", style="bold"))
    table = table_of("what", ">old", ">new", ">change")
    table.add_row("flat groups", f"{groups.flat_old:,}", f"{groups.flat_new:,}",
                  f"{groups.flat:,} more, {groups.no_longer_flat:,} fewer")  # fmt: skip
    table.add_row("groups", "", f"{groups.groups:,}", f"{groups.rows:,} rows")
    console.print(table)
    console.print(
        f"{groups.flipped:,} advantages turn round in {groups.flipped_groups:,} groups; "
        f"{groups.vanished:,} vanish, {groups.appeared:,} appear"
    )
    console.print(
        f"{groups.inverted:,} of {groups.pairs:,} pairs change places in {groups.reordered:,} "
        f"groups; {groups.ties_made:,} become equal, {groups.ties_broken:,} cease to be; another "
        f"row is best in {groups.best_changed:,} groups",
        soft_wrap=True,
    )
    for change, examples in groups.examples.items():
        for example in examples[:1]:
            pairs = " ".join(f"{_short(old)}→{_short(new)}" for _, old, new in example.rows)
            line = f"  {change.replace('_', ' ')}: {plain(example.key, 60)}: {pairs}"
            console.print(Text(plain(line, 200)), soft_wrap=True)
    if result.counts.ungrouped:
        console.print(f"{result.counts.ungrouped:,} rows name no group")


def _short(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}"
