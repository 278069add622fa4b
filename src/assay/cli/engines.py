"""The options of commands whose work can be done elsewhere: which engine, where, with what."""

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
    """The command takes --engine, --address and --import."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(get_args(EngineName)),
            default="local",
            help="This machine's processes, or a Ray cluster's.",
        ),
        click.option(
            "--address",
            metavar="HOST:PORT",
            help="The Ray cluster.  [default: RAY_ADDRESS, or one started here]",
        ),
        import_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def import_modules(names: Sequence[str]) -> None:
    """What these modules register is known; this folder, or a file's own, is searched first."""
    for name in names:
        with stdout_kept_for_data():
            load_module(name, f"--import {name}")


@contextmanager
def opened_engine(name: EngineName, address: str | None, workers: int | None) -> Iterator[Engine]:
    """The engine that the options ask for; it is closed afterwards."""
    if name == "local":
        if address is not None:
            raise BadParameter("--address is that of a Ray cluster; give --engine ray too")
        yield LocalProcesses(1 if workers is None else workers)
        return
    from assay.runner.cluster import connect

    with stdout_kept_for_data(), connect(address, workers=workers) as engine:
        yield engine


def stdout_kept_for_data() -> AbstractContextManager[object]:
    """What Ray prints, or code that is not ours, goes where progress goes."""
    return redirect_stdout(sys.stderr)
