"""`assay view`: show runs, episodes and rewards in a browser."""

from __future__ import annotations

import gc
import webbrowser
from pathlib import Path
from urllib.parse import quote, urlencode

import click

from assay.cli.options import runs_option
from assay.errors import BadRecord, UsageError
from assay.formats import recognise
from assay.ledger.layout import RunLayout, find_run, list_runs
from assay.ledger.run import open_run
from assay.web.address import ListenAddress, allowed_hosts, check_address, listen

PORT = 8420


@click.command(name="view")
@click.argument("place", metavar="[RUNS_DIR|RUN|LOG]", required=False)
@click.option("--host", default="127.0.0.1", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535),
              help=f"Port to listen on; 0 is any free port.  [default: {PORT}, if free]",
)  # fmt: skip
@click.option("--token", envvar="ASSAY_TOKEN",
              help="Token that visitors must send; required off loopback.  [env: ASSAY_TOKEN]",
)  # fmt: skip
@click.option("--open/--no-open", "opens", default=False, show_default=False,
              help="Open a browser.")  # fmt: skip
@runs_option
def command(
    place: str | None, host: str, port: int | None, token: str | None, opens: bool, runs_dir: Path
) -> None:
    """Show the runs in RUNS_DIR (default: `runs`) in a web browser.

    A RUN (a folder, an id, the beginning of one, `latest`) opens the viewer at that run, among the
    others of its folder. A LOG of another tool is shown as the run that it would be imported as.
    `assay export RUN --html FILE` writes one run as a file to share.

    \b
    assay view
    assay view latest --open
    assay view results --port 9000
    """
    runs_dir, run = _find(place, runs_dir)
    requested = check_address(host, PORT if port is None else port, token)
    at = f"/runs/{quote(run)}" if run else ""
    _serve(runs_dir, requested, named=port is not None, opens=opens, at=at)


def _find(place: str | None, runs_dir: Path) -> tuple[Path, str | None]:
    """The folder of runs to show, and the name of the run to open, if any."""
    folder = runs_dir if place is None else Path(place)
    if place is not None and _is_log(folder):
        folder = open_run(place, runs_dir).path
    elif not folder.is_dir():
        if place is None or Path(place).name != place or not runs_dir.is_dir():
            raise UsageError(f"there is no folder {str(folder)!r}; `assay run` makes one")
        folder = find_run(place, runs_dir)
    if not RunLayout(folder).manifest.is_file():
        return folder, None
    run = folder.resolve()
    return run.parent, run.name


def _is_log(path: Path) -> bool:
    """Whether the path is a log of another tool, and not a folder of runs."""
    if path.is_file():
        return True
    if not path.is_dir() or RunLayout(path).manifest.is_file() or list_runs(path):
        return False
    try:
        return bool(recognise(path).logs)
    except BadRecord:
        return False


def _serve(runs_dir: Path, requested: ListenAddress, *, named: bool, opens: bool, at: str) -> None:
    from assay.viewer.app import MAX_BODY_BYTES, build_app
    from assay.web.guards import RequestGuards
    from assay.web.serving import serve

    try:
        listening, address = listen(requested)
    except UsageError:
        if named:
            raise
        # The default port is taken, for example by another viewer.
        listening, address = listen(ListenAddress(requested.host, 0, requested.token))
    guards = RequestGuards(
        allowed_hosts=allowed_hosts(address.host),
        token=address.token,
        max_body_bytes=MAX_BODY_BYTES,
    )

    def ready() -> None:
        click.echo(address.url + at)
        if address.token:
            click.echo(
                "open the page once with ?token=… in the address; a cookie then keeps the token",
                err=True,
            )
        if opens:
            token = f"?{urlencode({'token': address.token})}" if address.token else ""
            webbrowser.open(f"{address.url}{at or '/'}{token}")

    # A page of a long run makes many objects at once, hardly any in a circle: looking for those as
    # often as usual takes half of its time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    serve(
        build_app(runs_dir, guards),
        listening,
        grace_s=2.0,
        on_ready=ready,
    )
