"""`assay check`: check an environment, reference answers or the sandbox before a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson
from rich.text import Text

from assay.cli.groups import SuggestingGroup
from assay.cli.options import column_map, column_option, json_option, options_of, param_option
from assay.cli.terminal import output, plain, table_of
from assay.errors import BadParameter, UsageError
from assay.isolation.sandbox import SandboxLayer, shared_sandbox
from assay.registry import find_reward
from assay.resources.contract import check_environment
from assay.schema.score import Abstained, Score
from assay.schema.task import Task
from assay.scoring.files.rows import plan_shards, read_rows
from assay.scoring.files.shards import bind_columns, score_input
from assay.scoring.scorer import Scorer

PROBE = "0"
"""An answer that every reward can read: what abstains from it abstains because of the reference."""


@click.group(name="check", cls=SuggestingGroup)
def command() -> None:
    """Check an environment, the references of a data set, or the sandbox of this machine."""


@command.command(name="env")
@click.argument("name")
@click.option("--config", default="{}", help="The environment's options, as a JSON object.")
@click.option("--task", "tasks", multiple=True, help="Id of a task to play; give two or more.")
@click.option("--action", "actions", multiple=True,
              help="Action to take, if the environment lists none.")  # fmt: skip
@click.option("--steps", default=6, help="Steps of each episode.")
@click.option("--seed", default=0, help="Seed of the random actions.")
@json_option
def env(name: str, config: str, tasks: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Play short episodes in the environment NAME, and show which rules of its contract hold.

    Exit code 1 when it breaks one.
    """
    findings = check_environment(
        name, config=_options(config), tasks=[Task(id=task) for task in tasks] or None, **options
    )
    if as_json:
        click.echo(orjson.dumps([asdict(finding) for finding in findings]))
    else:
        words = {True: Text("kept", style="green"), False: Text("BROKEN", style="red")}
        rows = ((row.check, words[row.passed], Text(plain(row.because, 300))) for row in findings)
        output().print(table_of("check", "", "because", rows=rows))
    return 0 if all(finding.passed for finding in findings) else 1


@command.command(name="references")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, path_type=Path))
@click.option("--reward", required=True, metavar="NAME",
              help="The reward that will score the answers.")  # fmt: skip
@param_option
@column_option
@click.option("--most", default=20, help="Rows to show for each reason; --json shows all.")
@json_option
def references(
    source: Path,
    reward: str,
    params: tuple[str, ...],
    columns: tuple[str, ...],
    most: int,
    as_json: bool,
) -> int:
    """Show which references in FILE (JSONL, CSV or Parquet) the reward cannot use, and why.

    Such a row abstains whatever an agent answers, so it is worth mending, or leaving out, before a
    run is spent on it. Exit code 1 when there is one.

    \b
    assay check references train.jsonl --reward math_equal_reward
    assay check references train.csv --reward math_equal_reward --column answer=solution
    """
    spec = find_reward(reward)
    unbound = Scorer(spec.function, options_of(params, "--param", spec.function))
    (scorer,) = bind_columns([unbound], column_map(columns))
    rows = 0
    problems: dict[str, list[dict[str, Any]]] = {}
    for number, score in _score_with_probe(source, scorer):
        rows += 1
        if isinstance(score, Abstained):
            problem = {"line": number, "reason": score.reason, "because": score.because}
            problems.setdefault(score.reason, []).append(problem)
    if as_json:
        every = [each for group in problems.values() for each in group]
        click.echo(orjson.dumps({"rows": rows, "problems": every}))
    else:
        _show_problems(problems, rows, most)
    return 1 if problems else 0


@command.command(name="sandbox")
@json_option
def sandbox(as_json: bool) -> int:
    """Show which isolation layers of the sandbox work on this machine.

    Exit code 1 when a required one does not: such rewards abstain here (`no_isolation`).
    """
    layers = shared_sandbox().layers()
    isolates = all(layer.holds for layer in layers if layer.required)
    if as_json:
        records = [layer._asdict() for layer in layers]
        click.echo(orjson.dumps({"isolates": isolates, "layers": records}))
    else:
        _show_layers(layers, isolates=isolates)
    return 0 if isolates else 1


def _show_layers(layers: tuple[SandboxLayer, ...], *, isolates: bool) -> None:
    missing = {True: Text("MISSING", style="red"), False: Text("not here")}
    holds = Text("holds", style="green")
    rows = (
        (each.name, holds if each.holds else missing[each.required], Text(plain(each.because, 300)))
        for each in layers
    )
    output().print(table_of("layer", "", "because", rows=rows))
    output().print(
        "programs are isolated here"
        if isolates
        else "programs are not isolated here: rewards that run them abstain (no_isolation)"
    )


def _score_with_probe(source: Path, scorer: Scorer) -> Iterator[tuple[int, Score]]:
    """Yield each row's number, and the score of a probe answer for that row."""
    if "context" in (*scorer.spec.required, *scorer.spec.optional):
        raise BadParameter(
            f"{scorer.spec.name} scores an episode in an environment, not a reference; "
            "`assay list rewards` shows what each reward reads"
        )
    for shard in plan_shards(source):
        for row in read_rows(source, shard):
            if isinstance(row.value, dict):
                probe = {"trajectory": [], **row.value, "final_response": PROBE}
                row = row._replace(value=probe)
            yield row.number, score_input(scorer, row)


def _show_problems(problems: dict[str, list[dict[str, Any]]], rows: int, most: int) -> None:
    count = sum(map(len, problems.values()))
    if problems:
        table = table_of("line", "reason", "because")
        for reason, group in problems.items():
            for each in group[:most]:
                table.add_row(str(each["line"]), reason, Text(plain(each["because"], 200)))
            if len(group) > most:
                table.add_row("", reason, f"and {len(group) - most:,} more")
        output().print(table)
    output().print(f"{rows - count:,} of {rows:,} references can be judged, {count:,} cannot")


def _options(text: str) -> dict[str, Any]:
    try:
        options = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadParameter(f"--config {plain(text)!r} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise UsageError(f"--config {plain(text)!r} is not a JSON object such as {{}}")
    return options
