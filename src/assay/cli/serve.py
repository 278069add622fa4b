"""`assay serve`: serve rewards over HTTP, or over MCP for a coding agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from assay.cli.engines import import_modules
from assay.cli.options import PATH, RUNS_DIR, import_option
from assay.errors import BadParameter, MissingExtra

MiB = 1024 * 1024
MCP_ONLY = frozenset({"as_mcp", "run_code", "runs_dir"})


@click.command(name="serve")
@click.option("--rewards", multiple=True, metavar="NAME[,NAME]", help="Serve only these.")
@import_option
@click.option("--default-reward", metavar="NAME", help="For requests without a reward.")
@click.option("--root", type=click.Path(exists=True, file_okay=False), default=".",
              help="Folder of the files that rows may name.")  # fmt: skip
@click.option("--host", default="127.0.0.1", help="Where to listen.")
@click.option("--port", default=8700, help="Port to listen on; 0 takes any free port.")
@click.option("--workers", type=click.IntRange(1), help="Scoring processes.  [default: cores]")
@click.option("--token", envvar="ASSAY_TOKEN",
              help="Token that clients must send; ASSAY_TOKEN is safer.")  # fmt: skip
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A further Host name.")
@click.option("--max-rows", default=4096, help="Rows of one request.")
@click.option("--max-body-mb", default=8, help="Megabytes of one request.")
@click.option("--queue-rows", default=16_384, help="Rows that may wait.")
@click.option("--worker-memory-mb", default=4096, help="Of one process; 0: any.")
@click.option("--max-held-mb", default=256, help="Megabytes of all requests.")
@click.option("--max-requests", default=1024, help="Requests at a time.")
@click.option("--deadline-s", default=60.0, help="Seconds for one request.")
@click.option("--grace-s", default=30.0, help="Seconds to finish when stopped.")
@click.option("--mcp", "as_mcp", is_flag=True, help="Serve a coding agent over stdin and stdout.")
@click.option(
    "--run-code", is_flag=True, help="With --mcp: also run rewards given as FILE.py:NAME."
)
@click.option("--runs", "runs_dir", type=PATH, default=RUNS_DIR, metavar="FOLDER",
              help="With --mcp: the folder of the runs.")  # fmt: skip
@click.pass_context
def command(
    context: click.Context,
    /,
    rewards: Sequence[str],
    imports: Sequence[str],
    default_reward: str | None,
    root: str,
    host: str,
    port: int,
    workers: int | None,
    token: str | None,
    names: Sequence[str],
    max_body_mb: int,
    worker_memory_mb: int,
    max_held_mb: int,
    grace_s: float,
    as_mcp: bool,
    run_code: bool,
    runs_dir: Path,
    **limits: Any,
) -> None:
    """Serve rewards over HTTP for a trainer, or over MCP for a coding agent.

    Prints the address on stdout, and one JSON line a request on stderr, without what was in it.
    Without --rewards every registered reward is served that needs no live environment. --import
    names a module that registers rewards of your own; the current folder is searched first. Rows
    may name files below --root alone, such as the databases of sql_reward. Off loopback a token is
    needed. SIGTERM or Ctrl-C finishes what was accepted, a second one stops at once.

    \b
    assay serve --rewards math_equal_reward --port 8700
    curl -s http://127.0.0.1:8700/v1/score -H 'Content-Type: application/json' \\
      -d '{"reward": "math_equal_reward", "row": {"final_response": "1/2", "answer": "0.5"}}'
    curl -s 'http://127.0.0.1:8700/v1/score?reward=math_equal_reward' \\
      -H 'Content-Type: application/x-ndjson' -X POST -T answers.jsonl

    The routes, with examples, are at /docs.

    With --mcp it is an MCP server on stdin and stdout instead, for a coding agent that writes
    rewards. Its tools are `score`, `diagnose`, `steps` and `audit`; they read below --root and
    write nothing. With --run-code they also follow FILE.py:NAME, which runs that code.
    It needs the extra `mcp`.

    \b
    {"mcpServers": {"assay": {"command": "assay", "args": ["serve", "--mcp"]}}}
    """
    sys.path.insert(0, str(Path.cwd()))
    _check_options(context, as_mcp=as_mcp)
    if as_mcp:
        _serve_mcp(imports, Path(root), runs_dir, run_code=run_code)
        return
    # A web server is not for the other commands to wait for.
    from assay.isolation.processes import adopt_orphans
    from assay.server.app import OPEN_PATHS, asgi_app, build_app
    from assay.server.settings import ServerSettings
    from assay.server.telemetry import log_to_stderr
    from assay.web.address import allowed_hosts, check_address, listen
    from assay.web.guards import RequestGuards
    from assay.web.serving import serve

    settings = ServerSettings(
        rewards=tuple(name for listed in rewards for name in listed.split(",") if name),
        imports=tuple(imports),
        default_reward=default_reward,
        root=str(Path(root).resolve()),
        workers=workers or os.cpu_count() or 1,
        max_body_bytes=max_body_mb * MiB,
        worker_memory_bytes=worker_memory_mb * MiB,
        max_held_bytes=max_held_mb * MiB,
        **limits,
    )
    requested = check_address(host, port, token)
    app = build_app(settings)
    listening, address = listen(requested)
    guards = RequestGuards(
        allowed_hosts=allowed_hosts(host, names),
        token=address.token,
        max_body_bytes=settings.max_body_bytes,
        max_stream_bytes=settings.max_stream_bytes,
        max_held_bytes=settings.max_held_bytes,
        max_requests=settings.max_requests,
        open_paths=OPEN_PATHS,
    )

    def tell() -> None:
        click.echo(address.url)
        access = "with `Authorization: Bearer $ASSAY_TOKEN`" if token else "without a token"
        click.echo(
            f"assay: {len(app.state.catalogue.names)} reward(s), {settings.workers} worker(s), "
            f"answers {access}; routes: {address.url}/docs; stop with Ctrl-C",
            err=True,
        )

    log_to_stderr()
    adopt_orphans()
    serve(
        asgi_app(app, guards),
        listening,
        grace_s=grace_s,
        on_ready=tell,
        on_stop=app.state.scoring.drain,
    )


def _check_options(context: click.Context, *, as_mcp: bool) -> None:
    """Raise `BadParameter` for an option that was typed and would be ignored."""
    for option in context.command.params:
        name = option.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        is_meant = name in ("imports", "root") or (name in MCP_ONLY) == as_mcp
        if is_typed and not is_meant:
            reason = "has no meaning with --mcp" if as_mcp else "goes with --mcp"
            raise BadParameter(f"{option.opts[0]} {reason}; leave it out")


def _serve_mcp(imports: Sequence[str], root: Path, runs_dir: Path, *, run_code: bool) -> None:
    if find_spec("mcp") is None:
        raise MissingExtra.of("assay serve --mcp", "mcp")
    from assay.resources.row_files import confine_row_files
    from assay.server.mcp_tools import RewardTools, build_server

    import_modules(imports)
    confine_row_files(root)
    build_server(RewardTools(root, runs_dir, run_code=run_code)).run("stdio")
