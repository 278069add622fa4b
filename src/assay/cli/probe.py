"""`assay probe`: how sensitive a reward is to form."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.table import Column, Table
from rich.text import Text

from assay.cli.options import json_option, options_of, renamed_option
from assay.cli.terminal import output, plain, print_json, reward_text, table_of
from assay.registry import find_reward
from assay.report.sensitivity import ScoredVariant, Sensitivity, probe


@click.command(name="probe")
@click.argument("name", metavar="REWARD")
@click.option(
    "--answer", required=True, metavar="TEXT", help=r"The reference; `\n` is a line break."
)
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="Its options.")
@click.option("--value", "columns", multiple=True, metavar="COLUMN=VALUE", help="Other columns.")
@renamed_option("--column", "--value")
@json_option
def command(
    name: str, answer: str, params: Sequence[str], columns: Sequence[str], as_json: bool
) -> None:
    """Score systematic variants of a right answer, and wrong ones, with REWARD.

    \b
    assay probe assistantbench_reward --answer 850000
    assay probe qa_f1_reward --answer "Shanghai villa"
    assay probe assistantbench_reward --answer "CrossFit East River\\nAvea Pilates"
    """
    sensitivity = probe(
        name,
        answer.replace("\\n", "\n"),
        params=options_of(params, "--param", find_reward(name).function),
        columns=options_of(columns, "--value"),
    )
    if as_json:
        print_json(sensitivity.to_record())
        return
    console = output()
    for kind, right in (("right", True), ("wrong", False)):
        rows = [row for row in sensitivity.rows if row.right is right]
        console.print(_table(rows, kind, sensitivity))
        console.print()
    console.print(Text(f"{sensitivity.reward}: {sensitivity.sentence}", style="bold"))


def _table(rows: Sequence[ScoredVariant], kind: str, sensitivity: Sensitivity) -> Table:
    submitted = Column("submitted", overflow="fold")
    table = table_of(f"{kind} answers", "form", ">reward", submitted)
    odd = set(sensitivity.losing) | set(sensitivity.gaining)
    for row in rows:
        style = "bold" if row in odd else "dim"
        table.add_row(
            Text(row.family, style=style),
            Text(row.name, style=style),
            reward_text(row.reward),
            Text(plain(row.text, 60), style=style),
        )
    return table
