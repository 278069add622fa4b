"""`assay mcp`: a proxy for a browser's MCP server that scores every step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from assay.browser.steps.recovery_ranking import (
    RecoveryStatistics,
    patterns_from_json,
    patterns_to_json,
)
from assay.errors import BadParameter, MissingExtra
from assay.ledger.steps import StepsWriter
from assay.resources.files import atomic_write
from assay.schema.outcome import Gate


@click.command(name="mcp", context_settings={"allow_interspersed_args": False})
@click.argument("server", nargs=-1, type=click.UNPROCESSED, metavar="-- SERVER...")
@click.option("--out", metavar="FILE|FOLDER/",
              help="Write the steps to this file, or to a new file in this folder.")  # fmt: skip
@click.option("--gates", type=click.Choice(("unknown", "satisfied", "missing", "not_required")),
              default="unknown", help="Whether a person confirms risky calls.")  # fmt: skip
@click.option("--cdp", metavar="URL", help="Also observe the browser through its debugging port.")
@click.option("--patterns", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Keep statistics of successful recoveries in this file.")  # fmt: skip
def command(
    server: Sequence[str], out: str | None, gates: Gate, cdp: str | None, patterns: Path | None
) -> int:
    """Score every step of an MCP browser agent, as a proxy between client and server.

    SERVER is the command of the browser's MCP server, after `--`. Put this before it where your
    client is configured, and change nothing else:

    \b
      assay mcp --out steps/ -- npx @playwright/mcp@latest --headless
      assay mcp --out steps/ -- npx chrome-devtools-mcp@latest --isolated

    \b
      {"mcpServers": {"browser": {"command": "assay",
        "args": ["mcp", "--out", "steps/", "--", "npx", "@playwright/mcp@latest"]}}}

    Every message passes through byte for byte, but for the list of tools, which gets two more that
    the agent may call: `assay_steps` (what the latest steps were worth, and whether the session is
    stuck) and `assay_hint` (what to look at next, and which recoveries worked before). Neither
    touches the page. Scores come from what the server returns, and never stop or change a call.

    With --cdp, they come from the browser itself: its requests, forms, dialogs and what changes by
    itself. Start it with a debugging port, and give the same address to the server:

    \b
      assay mcp --cdp http://127.0.0.1:9222 -- \\
        npx @playwright/mcp@latest --cdp-endpoint http://127.0.0.1:9222
      assay mcp --cdp http://127.0.0.1:9222 -- \\
        npx chrome-devtools-mcp@latest --browserUrl http://127.0.0.1:9222

    `assay steps FILE` shows a file of --out, and scores it again. Ends when either side does, with
    the server's exit code.
    """
    for module in ("mcp", "websockets"):
        if find_spec(module) is None:
            raise MissingExtra.of("assay mcp", module)
    if not server:
        raise BadParameter(
            "assay mcp needs the command of an MCP server after --, such as: "
            "assay mcp -- npx @playwright/mcp@latest"
        )
    from assay.browser.connect.mcp.proxy import Proxy, start_server

    writer = None if out is None else StepsWriter(_steps_file(out))
    known = RecoveryStatistics()
    if patterns is not None and patterns.exists():
        known = patterns_from_json(patterns.read_bytes())
    # What scores the steps is loaded while the server starts, which takes longer.
    browser = None
    if cdp is not None:
        from assay.browser.connect.devtools import follow_browser

        browser = follow_browser(cdp)
    process = start_server(server)
    try:
        from assay.browser.connect.mcp.results import tool_records
        from assay.browser.connect.mcp.session import BrowserSession

        session = BrowserSession(
            writer,
            gate=gates,
            folder=Path.cwd(),
            patterns=known,
            browser=browser,
            on_finish=partial(_save_patterns, patterns),
        )
        return Proxy(process, session, tool_records()).run()
    finally:
        if process.poll() is None:
            process.kill()


def _save_patterns(path: Path | None, patterns: RecoveryStatistics) -> None:
    if path is not None:
        with atomic_write(path) as draft:
            draft.write_bytes(patterns_to_json(patterns))


def _steps_file(out: str) -> Path:
    """The file for this session's steps: `out`, or a new file in the folder `out`."""
    if not out.endswith(os.sep) and not Path(out).is_dir():
        return Path(out)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    return Path(out) / f"{started}-{os.getpid()}.jsonl"
