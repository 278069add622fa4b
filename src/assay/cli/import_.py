"""`assay import`: results of BrowserGym and AgentLab as a run."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import runs_option
from assay.cli.summary import print_run
from assay.ledger.browsergym import import_browsergym


@click.command(name="import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--agent", metavar="NAME", help="Take this agent's episodes, where there are more.")
@click.option(
    "--unpickle",
    is_flag=True,
    help="Also read the pickled steps (nothing in them is run); for files of people you trust.",
)
@runs_option
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON on stdout.")
def command(path: Path, agent: str | None, unpickle: bool, runs_dir: Path, as_json: bool) -> None:
    """Take every BrowserGym or AgentLab result folder under PATH into the ledger, as one run.

    Task, agent and seed come from the folders' names, the answer from the log. The gold answer is
    in none of their files.
    """
    run = import_browsergym(path, runs_dir, agent=agent, unpickle=unpickle)
    print_run(run, as_json=as_json)
