"""The `assay` command: import the module of a command, and print errors as sentences."""

from __future__ import annotations

import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from assay import __version__
from assay.cli.groups import SuggestingGroup
from assay.errors import AssayError, TooManyAbstained, UsageError, printable

COMMANDS = {
    "run": "Run an agent on a benchmark, and keep every attempt.",
    "list": "Show the runs, benchmarks, agents, rewards or environments there are.",
    "score": "Score every row of a file or folder, or a recorded run again.",
    "rewards": "Compare two versions of a reward, row by row.",
    "steps": "Score a browser agent's recorded steps again, with the reasons.",
    "mcp": "Score every step of an MCP browser agent, as a proxy of its server.",
    "import": "Take the results of another tool into the ledger.",
    "export": "Write a run in a format that other tools read.",
    "diagnose": "Show where a run lost reward, and why.",
    "compare": "Say whether a run is better than another, if that can be said.",
    "history": "Show every run, compared with an earlier run.",
    "labels": "Label attempts as right or wrong, and see how far each reward agrees.",
    "audit": "Find out how a reward can be fooled, before training exploits it.",
    "view": "Look at runs, episodes and rewards in a browser.",
    "serve": "Serve rewards over HTTP, or over MCP for a coding agent.",
    "check": "Check an environment, references or the sandbox before a run.",
}
"""Every command with its one-line help, so that `--help` imports none of them."""
GONE = {
    "noise": "`assay run --repeat-run N` makes the runs, `assay compare --noise RUN…` reads them"
}
"""Earlier commands, and what does their work."""
SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}


class LazyGroup(SuggestingGroup):
    """A command group that imports each command when it is called."""

    gone = GONE

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        # A module cannot be called `import`.
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = import_module(f"assay.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="assay")
def assay() -> None:
    """Score the work of LLM agents, and say why.

    Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failed, 2 the call makes no
    sense or names a file that cannot be used, 3 it ran and a gate said no, 130 stopped by Ctrl-C.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line, and print every known error as one sentence on stderr."""
    try:
        return assay.main(args=arguments, prog_name="assay", standalone_mode=False) or 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return 130
    except AssayError as error:
        # It may quote a model, a server or a row.
        click.echo(f"assay: {printable(str(error))}", err=True)
        if isinstance(error, TooManyAbstained):
            return 3
        return 2 if isinstance(error, UsageError) else 1
    except OSError as error:
        if error.filename is None:
            raise
        click.echo(f"assay: {str(error.filename)!r}: {error.strerror}", err=True)
        return 1


def run() -> None:
    """The entry point of `assay`."""
    sys.exit(main())


if __name__ == "__main__":
    run()
