"""`assay import`: results of other tools as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import runs_option
from assay.cli.summary import print_run
from assay.formats import describe, readable
from assay.ledger.transfer import import_run

HELP = f"""Take the results of another tool under PATH into the ledger, as one run.

\b
{describe(readable())}

Of BrowserGym and AgentLab, task, agent and seed come from the folders' names, the answer from the
log. The reference answer is in none of their files.
"""


@click.command(name="import", help=HELP)
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "file_format",
    type=click.Choice(list(readable())),
    help="The format.  [default: recognised by its files]",
)
@click.option("--agent", metavar="NAME", help="Take this agent's episodes, where there are more.")
@click.option(
    "--unpickle",
    is_flag=True,
    help="Also read the pickled steps (nothing in them is run); for files of people you trust.",
)
@runs_option
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON on stdout.")
def command(
    path: Path,
    file_format: str | None,
    agent: str | None,
    unpickle: bool,
    runs_dir: Path,
    as_json: bool,
) -> None:
    options = {"agent": agent, "unpickle": unpickle}
    passed: dict[str, Any] = {name: value for name, value in options.items() if value}
    print_run(import_run(path, runs_dir, format=file_format, **passed), as_json=as_json)
