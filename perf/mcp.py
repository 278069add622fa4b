"""What the MCP proxy costs and keeps: bytes in both directions, and milliseconds a call.

    python perf/mcp.py                     # latency, beside a server that answers at once
    python perf/mcp.py --servers           # and with Playwright MCP and chrome-devtools-mcp by npx

Latency is the round trip of a call with the result of a page of 20 KB, direct and through
`assay mcp`, in turn. With a real server, every byte is recorded on both sides of the proxy: all
messages must be equal, but for the list of tools and calls of our own two. The steps that were
recorded are scored again. Exits with 3 if anything misses its target.
"""

from __future__ import annotations

import argparse
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Final, Self

from assay.browser.step_records import rescore
from assay.ledger.steps import read_steps

P50_MS: Final = 5.0
P99_MS: Final = 25.0
OWN: Final = ("assay_steps", "assay_hint")
PROXY: Final = (sys.executable, "-m", "assay.cli.main", "mcp")
CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome") or ""
SERVER: Final = r"""
import json, sys
nodes = "\n".join(f'- button "Item {n}" [ref=e{n}]' for n in range(600))
page = "### Page\n- Page URL: http://shop.test/\n### Snapshot\n```yaml\n" + nodes + "\n```"
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        text = page + str(message["id"])
        result = {"content": [{"type": "text", "text": text}]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
TEE: Final = r"""
import os, subprocess, sys, threading
folder, command = sys.argv[1], sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
def copy(source, target, name):
    with open(f"{folder}/{name}", "wb", buffering=0) as record:
        while chunk := os.read(source, 1 << 16):
            record.write(chunk)
            os.write(target, chunk)
def up():
    copy(0, server.stdin.fileno(), "to_server")
    server.stdin.close()
threading.Thread(target=up, daemon=True).start()
copy(server.stdout.fileno(), 1, "from_server")
sys.exit(server.wait())
"""
PAGES: Final = {
    "/": "<title>Shop</title><h1>Shop</h1><label>Name <input></label><a href=/b>To B</a>"
    "<button onclick='this.remove()'>Remove</button>",
    "/b": "<title>B</title><h1>Page B</h1><a href=/>Home</a>" + "<p>word</p>" * 2_000,
}


class Site(http.server.BaseHTTPRequestHandler):
    """Two pages, and no others."""

    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write((page or "<h1>Not found</h1>").encode())

    def log_message(self, *_: object) -> None:
        pass


class Client:
    """A client that keeps the bytes it wrote and read."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self.written: list[bytes] = []
        self.read: list[bytes] = []
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self.read += self._process.stdout.readlines()
        self.code = self._process.wait(30)
        self._process.stdout.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.written.append(line)
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request; what comes before it is kept as well."""
        assert self._process.stdout is not None
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise EOFError(f"the server ended during {method}")
            self.read.append(line)
            message = json.loads(line)
            if message.get("id") == self._number and "method" not in message:
                return dict(message)

    def call(self, tool: str, **arguments: Any) -> str:
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments})
        blocks = reply.get("result", {}).get("content", [{}])
        return str(blocks[0].get("text", ""))

    def begin(self) -> None:
        info = {"name": "perf", "version": "1"}
        self.ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info},
        )
        self.send({"method": "notifications/initialized"})
        self.ask("tools/list", {})


def measure_latency(calls: int) -> bool:
    """Whether the proxy adds no more than its targets to a round trip."""
    server = [sys.executable, "-c", SERVER]
    times: dict[str, list[float]] = {"direct": [], "proxy": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        proxied = [*PROXY, "--out", str(folder / "steps.jsonl"), "--", *server]
        with Client(server, folder) as direct, Client(proxied, folder) as proxy:
            clients = {"direct": direct, "proxy": proxy}
            for n in range(calls + 20):
                for kind, client in clients.items():
                    start = time.perf_counter()
                    client.call("browser_click", element="Item", ref=f"e{n}")
                    if n >= 20:
                        times[kind].append(1_000 * (time.perf_counter() - start))
        steps = sum(1 for _ in read_steps(folder / "steps.jsonl")) - 1
    p50 = {kind: median(values) for kind, values in times.items()}
    p99 = {kind: sorted(values)[int(0.99 * len(values))] for kind, values in times.items()}
    for name, at, target in (("p50", p50, P50_MS), ("p99", p99, P99_MS)):
        added = at["proxy"] - at["direct"]
        print(
            f"{name}: direct {at['direct']:.2f} ms, proxy {at['proxy']:.2f} ms, "
            f"added {added:.2f} ms (target {target:g})"
        )
    print(f"{steps} of {calls + 20} calls recorded as steps")
    within = p50["proxy"] - p50["direct"] <= P50_MS and p99["proxy"] - p99["direct"] <= P99_MS
    return within and steps == calls + 20


def playwright_session(client: Client, site: str) -> None:
    """Navigation, clicks, a stale reference, a missing page, and our own tools between them."""
    client.call("browser_navigate", url=site)
    client.call("browser_snapshot")
    client.call("browser_click", element="To B", target="text=To B")
    client.call("assay_steps")
    client.call("browser_click", element="gone", target="e999")
    client.call("assay_hint")
    client.call("browser_snapshot")
    client.call("browser_navigate", url=f"{site}missing")
    client.call("browser_take_screenshot")
    client.call("browser_tabs", action="list")
    print(client.call("assay_steps", last=20))
    client.call("browser_close")


def devtools_session(client: Client, site: str) -> None:
    """The same with the other server's tools."""
    client.call("navigate_page", type="url", url=site, pageId=1)
    client.call("take_snapshot", pageId=1)
    client.call("click", uid="1_4", pageId=1, includeSnapshot=True)
    client.call("assay_steps")
    client.call("click", uid="99_1", pageId=1)
    client.call("assay_hint")
    client.call("take_snapshot", pageId=1)
    client.call("list_pages")
    client.call("take_screenshot", pageId=1)
    print(client.call("assay_steps", last=20))


SERVERS: Final = {
    "Playwright MCP": (
        ["npx", "-y", "@playwright/mcp@latest", "--headless", "--isolated", "--no-sandbox"],
        ["--executable-path", CHROMIUM],
        playwright_session,
    ),
    "chrome-devtools-mcp": (
        ["npx", "-y", "chrome-devtools-mcp@latest", "--headless", "--isolated"],
        ["--chromeArg=--no-sandbox", "--no-usage-statistics", "--executablePath", CHROMIUM],
        devtools_session,
    ),
}


def compare_bytes(name: str, site: str) -> bool:
    """Whether every other message is equal on both sides of the proxy, and the steps re-score."""
    command, browser, session = SERVERS[name]
    print(f"{name}:")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tee = [sys.executable, "-c", TEE, temporary, *command, *(browser if CHROMIUM else [])]
        proxy = [*PROXY, "--out", str(folder / "steps.jsonl"), "--", *tee]
        with Client(proxy, folder) as client:
            client.begin()
            session(client, site)
        to_server = (folder / "to_server").read_bytes().splitlines(keepends=True)
        from_server = (folder / "from_server").read_bytes().splitlines(keepends=True)
        rows = list(rescore(read_steps(folder / "steps.jsonl")))
    written = [line for line in client.written if not _is_own_call(line)]
    own = {_number(line) for line in client.written if _is_own_call(line)}
    lists = {_number(line) for line in client.written if b'"tools/list"' in line}
    read = [line for line in client.read if _number(line) not in own]
    equal = sum(a == b for a, b in zip(written, to_server, strict=False))
    equal_back = sum(a == b or _number(a) in lists for a, b in zip(read, from_server, strict=False))
    again = sum(not row.differs for row in rows)
    print(f"  to the server: {equal} of {len(to_server)} lines equal, {len(written)} written")
    print(f"  from the server: {equal_back} of {len(from_server)} lines equal, {len(read)} read")
    print(f"  steps: {again} of {len(rows)} score again to the same; exit code {client.code}")
    return (
        equal == len(to_server) == len(written)
        and equal_back == len(from_server) == len(read)
        and again == len(rows) > 5
    )


def _number(line: bytes) -> Any:
    message = json.loads(line)
    return (
        message.get("id") if "method" not in message or message["method"][:5] == "tools" else None
    )


def _is_own_call(line: bytes) -> bool:
    message = json.loads(line)
    return message.get("method") == "tools/call" and message["params"]["name"] in OWN


def main() -> int:
    options = argparse.ArgumentParser(description="The MCP proxy: bytes and milliseconds.")
    options.add_argument("--calls", type=int, default=500, help="of the latency measurement")
    options.add_argument("--servers", action="store_true", help="with the real servers, by npx")
    arguments = options.parse_args()
    passed = measure_latency(arguments.calls)
    if arguments.servers:
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        for name in SERVERS:
            passed = compare_bytes(name, f"http://127.0.0.1:{site.server_port}/") and passed
        site.shutdown()
        site.server_close()
    print("within the targets" if passed else "a target was missed")
    return 0 if passed else 3


if __name__ == "__main__":
    sys.exit(main())
