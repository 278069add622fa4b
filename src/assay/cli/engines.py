"""Options of commands that can run their work on another engine, such as Ray."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from typing import Any, TypeVar, get_args

import click

from assay.cli.options import import_option
from assay.errors import BadParameter
from assay.registry.addresses import load_module
from assay.scoring.batch import Engine, EngineName, LocalProcesses

F = TypeVar("F", bound=Callable[..., Any])


def engine_options(command: F) -> F:
    """Add the options --engine, --address and --import to a command."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(get_args(EngineName)),
            default="local",
            help="Work in processes of this machine, or on a Ray cluster.",
        ),
        click.option(
            "--address",
            metavar="HOST:PORT",
            help="Address of the Ray cluster.  [default: RAY_ADDRESS, or a new local cluster]",
        ),
        import_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def import_modules(names: Sequence[str]) -> None:
    """Import the modules or files, so that the names that they register are known."""
    for name in names:
        with stdout_kept_for_data():
            load_module(name, f"--import {name}")


@contextmanager
def opened_engine(name: EngineName, address: str | None, workers: int | None) -> Iterator[Engine]:
    """Open the engine that the options name, and close it at the end."""
    if name == "local":
        if address is not None:
            raise BadParameter("--address names a Ray cluster; add --engine ray")
        yield LocalProcesses(1 if workers is None else workers)
        return
    from assay.runner.cluster import connect

    with stdout_kept_for_data(), connect(address, workers=workers) as engine:
        yield engine


def stdout_kept_for_data() -> AbstractContextManager[object]:
    """Send the output of other code to stderr, so that stdout holds only results."""
    return redirect_stdout(sys.stderr)
