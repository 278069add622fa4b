"""A stdio proxy between an MCP client and a server, which forwards every line unchanged.

A third thread scores, from a bounded queue: whatever happens to it, no line is held back or lost.
The reply to `tools/list` gets two more tools, whose calls are answered here.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import orjson

from assay.browser.connect.mcp.results import text_result
from assay.errors import BadParameter, cause_of
from assay.isolation.processes import kill_family

if TYPE_CHECKING:
    from assay.browser.connect.mcp.session import BrowserSession

T = TypeVar("T")

CHUNK_BYTES: Final = 1 << 20
LINE_LIMIT_BYTES: Final = 64 << 20
"""A longer line is forwarded in parts, and not scored."""
QUEUE_LINES: Final = 2_000
QUEUE_BYTES: Final = 64 << 20
SCORED_LINE_BYTES: Final = 16 << 20
ANSWER_S: Final = 5.0
"""How long a call of our own tools may wait for the scorer."""
GRACE_S: Final = 10.0
"""How long a server may take to end after its client has."""
MOST_REQUESTS: Final = 1_000
"""Requests for the tools that have no reply yet; the reply to a further one is not extended."""
BRACKETS: Final = 64
SWITCH_S: Final = 0.0005


class LinePart(NamedTuple):
    """A line to forward, or a part of a long line."""

    data: bytes
    whole: bool
    ends: bool


def read_parts(descriptor: int, *, limit: int = LINE_LIMIT_BYTES) -> Iterator[LinePart]:
    """Read lines from a descriptor, byte for byte; a very long line comes in parts."""
    buffer, searched, in_line = bytearray(), 0, False
    while True:
        chunk = os.read(descriptor, CHUNK_BYTES)
        if not chunk:
            break
        buffer += chunk
        while (end := buffer.find(b"\n", searched)) >= 0:
            yield LinePart(bytes(buffer[: end + 1]), not in_line, ends=True)
            del buffer[: end + 1]
            searched, in_line = 0, False
        searched = len(buffer)
        if searched > limit:
            yield LinePart(bytes(buffer), whole=False, ends=False)
            buffer.clear()
            searched, in_line = 0, True
    if buffer:
        yield LinePart(bytes(buffer), not in_line, ends=True)


def load(line: bytes) -> Any:
    """The JSON value of a line; `None` if the line is not JSON."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


class LineWriter:
    """Writes whole lines to a file descriptor, for several threads."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._in_line = False
        self.broken = False

    def forward(self, part: LinePart) -> None:
        """Write the part; other threads wait until its line ends."""
        if not self._in_line:
            self._lock.acquire()
        self._in_line = not part.ends
        try:
            self._write(part.data)
        finally:
            if part.ends:
                self._lock.release()

    def write_line(self, line: bytes) -> None:
        """Write a whole line, between the lines of other threads."""
        with self._lock:
            self._write(line)

    def release(self) -> None:
        """Release the lock if the forwarding thread ended within a line."""
        if self._in_line:
            self._in_line = False
            self._lock.release()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view and not self.broken:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            # The reader has gone; the other side's end is what ends the session.
            self.broken = True


class StderrLog:
    """Prints each kind of message to stderr once."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def once(self, kind: str, sentence: str) -> None:
        if kind not in self._kinds:
            self._kinds.add(kind)
            with contextlib.suppress(OSError, ValueError):
                print(f"assay: {sentence}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is the client's


class ScoringThread:
    """Runs the scorer on its own thread, so that forwarding never waits for it."""

    def __init__(self, scorer: BrowserSession, log: StderrLog) -> None:
        self._scorer = scorer
        self._log = log
        self._queue: queue.Queue[tuple[int, Callable[[], None]] | None] = queue.Queue(QUEUE_LINES)
        self._bytes = 0
        self._lock = threading.Lock()
        self._missed = False
        self._thread = threading.Thread(target=self._run, name="scoring", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, work: Callable[[], None], *, size: int = 0) -> bool:
        """Queue the work, and return whether the queue had room for it."""
        with self._lock:
            try:
                if self._bytes + size > QUEUE_BYTES:
                    raise queue.Full
                self._queue.put_nowait((size, work))
            except queue.Full:
                self._missed = True
                return False
            self._bytes += size
        return True

    def stop(self, timeout_s: float) -> None:
        """Score the queued lines and complete the file, within the time limit."""
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=timeout_s)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._log.once("late", "the scorer did not finish in time; the last steps are missing")

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            size, work = item
            with self._lock:
                self._bytes -= size
                missed, self._missed = self._missed, False
            if missed:
                self._log.once("behind", "the scorer fell behind; some calls were not scored")
                self.guard(self._scorer.lost)
            self.guard(work)
        self.guard(self._scorer.finish)

    def guard(self, work: Callable[[], None]) -> None:
        """Run the work, and print its failure to stderr."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a scorer's failure never reaches the client
            self._report(error)
            if work != self._scorer.lost:
                self.guard(self._scorer.lost)

    def attempt(self, look: Callable[[bytes], T], line: bytes) -> T | None:
        """What a forwarding thread finds in a line; `None` if that fails, for any reason."""
        try:
            return look(line)
        except Exception as error:  # noqa: BLE001 - whatever a line holds, it is forwarded
            self._report(error)
            self.submit(self._scorer.lost)
            return None

    def _report(self, error: Exception) -> None:
        places = [line for _, line in traceback.walk_tb(error.__traceback__)]
        self._log.once(f"{type(error)} {places}", f"a call was not scored: {cause_of(error)}")


class ToolList:
    """The list of tools for the client: the server's tools, then Assay's."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self._tools = {str(tool["name"]): tool for tool in tools}
        self.requests: dict[bytes, bool] = {}
        """The requests that have no reply yet, and whether each is for a later page."""
        self._known: list[Mapping[str, Any]] = []
        self.own = frozenset(self._tools)
        """Our tools, without those of whose names the server has one."""

    def await_reply(self, request: Mapping[str, Any]) -> None:
        """Remember a `tools/list` request, to recognise its reply."""
        params = request.get("params")
        cursor = params.get("cursor") if isinstance(params, dict) else None
        if "id" in request and len(self.requests) < MOST_REQUESTS:
            self.requests[orjson.dumps(request["id"])] = cursor is not None

    def extend(self, line: bytes) -> tuple[bytes, list[Mapping[str, Any]] | None]:
        """Add Assay's tools to the line of a tool list; also return the server's tools.

        The tools are `None` if the line is not the reply to a request for them.
        """
        message = load(line)
        if not isinstance(message, dict) or "method" in message or "id" not in message:
            return line, None
        is_later_page = self.requests.pop(orjson.dumps(message["id"]), None)
        result = message.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if is_later_page is None or not isinstance(result, dict) or not isinstance(tools, list):
            return line, None
        page: list[Mapping[str, Any]] = [tool for tool in tools if isinstance(tool, dict)]
        self._known = [*self._known, *page] if is_later_page else page
        names = {tool.get("name") for tool in self._known}
        self.own = frozenset(name for name in self._tools if name not in names)
        if result.get("nextCursor") is not None or not self.own:
            return line, self._known
        added = [tool for name, tool in self._tools.items() if name in self.own]
        return append_tools(line, message, added), self._known


class Proxy:
    """Forwards lines between a client and a server process until one of them ends."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        scorer: BrowserSession,
        tools: Sequence[Mapping[str, Any]],
        *,
        client: tuple[int, int] = (0, 1),
    ) -> None:
        """`client` holds the descriptors to read from the client and to write to it."""
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._scorer = scorer
        self._tools = ToolList(tools)
        self._from_client, to_client = client
        self._to_client = LineWriter(to_client)
        self._to_server = LineWriter(process.stdin.fileno())
        self._log = StderrLog()
        self._scoring = ScoringThread(scorer, self._log)

    def run(self) -> int:
        """Forward lines until the server ends, and return its exit code."""
        sys.setswitchinterval(SWITCH_S)
        self._pass_signals()
        self._scoring.start()
        down = threading.Thread(target=self._forward_down, name="to-client", daemon=True)
        down.start()
        threading.Thread(target=self._forward_up, name="to-server", daemon=True).start()
        self._process.wait()
        # What the server wrote before it ended is still in the pipe.
        down.join(GRACE_S)
        self._scoring.stop(GRACE_S)
        code = self._process.returncode
        return code if code >= 0 else 128 - code

    def _pass_signals(self) -> None:
        def pass_on(number: int, _: object) -> None:
            # A terminal sends its own Ctrl-C to the server as well.
            if number != signal.SIGINT or not os.isatty(self._from_client):
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(number)

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, pass_on)

    def _forward_up(self) -> None:
        """Forward lines from the client to the server until the client ends."""
        try:
            for part in read_parts(self._from_client):
                if not part.whole or not self._scoring.attempt(self._is_answered, part.data):
                    self._to_server.forward(part)
        except OSError:
            pass
        self._to_server.release()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._end_server()

    def _forward_down(self) -> None:
        """Forward lines from the server to the client until the server ends."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        try:
            for part in read_parts(descriptor):
                at_s = time.monotonic()
                if part.whole and self._tools.requests:
                    longer = self._scoring.attempt(self._with_tools, part.data)
                    part = part._replace(data=longer or part.data)
                # Queued first: the client's next call must not be scored before this reply.
                self._score_reply(part, at_s)
                self._to_client.forward(part)
        except OSError:
            pass
        self._to_client.release()
        self._end_server()

    def _end_server(self) -> None:
        """Wait for the server to end, then terminate it, then kill it."""
        for end in (self._process.terminate, lambda: kill_family(self._process.pid)):
            try:
                self._process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                end()
            else:
                return

    def _score_reply(self, part: LinePart, at_s: float) -> None:
        if not part.whole or len(part.data) > SCORED_LINE_BYTES:
            self._scoring.submit(self._scorer.lost)
            return
        self._scoring.submit(lambda: self._scorer.reply(part.data, at_s), size=len(part.data))

    def _is_answered(self, line: bytes) -> bool:
        """Whether the line calls one of Assay's own tools; such a call is answered here."""
        message = load(line)
        for one in message if isinstance(message, list) else ():
            if isinstance(one, dict) and one.get("method") == "tools/call":
                self._score_request(one, len(line) // len(message))
        if not isinstance(message, dict):
            return False
        method, params = message.get("method"), message.get("params")
        if method == "tools/list":
            self._tools.await_reply(message)
        if method != "tools/call" or not isinstance(params, dict):
            return False
        name = params.get("name")
        if not isinstance(name, str):
            return False
        if name in self._tools.own and isinstance(message.get("id"), (str, int, float)):
            self._answer(message["id"], name, params.get("arguments"))
            return True
        self._scoring.guard(lambda: self._scorer.prepare(message))
        self._score_request(message, len(line))
        return False

    def _score_request(self, message: Mapping[str, Any], size: int) -> None:
        at_s = time.monotonic()
        self._scoring.submit(lambda: self._scorer.request(message, at_s), size=size)

    def _answer(self, number: Any, tool: str, arguments: Any) -> None:
        """Reply to the call once: with the scorer's result, or with a time-out message."""
        once = threading.Lock()

        def reply(result: Any) -> None:
            if once.acquire(blocking=False):
                timer.cancel()
                message = {"jsonrpc": "2.0", "id": number, "result": result}
                self._to_client.write_line(orjson.dumps(message) + b"\n")

        def give_up() -> None:
            reply(text_result("the scorer does not answer; go on without it", error=True))

        def work() -> None:
            try:
                reply(self._scorer.answer(tool, arguments if isinstance(arguments, dict) else {}))
            except Exception as error:  # whatever it is, the client waits for a reply
                reply(text_result(f"the scorer failed: {cause_of(error)}", error=True))
                raise

        timer = threading.Timer(ANSWER_S, give_up)
        timer.daemon = True
        timer.start()
        if not self._scoring.submit(work):
            give_up()

    def _with_tools(self, line: bytes) -> bytes:
        longer, known = self._tools.extend(line)
        if known is not None:
            self._scoring.submit(lambda: self._scorer.tools(known))
        return longer


def append_tools(line: bytes, message: dict[str, Any], added: Sequence[Mapping[str, Any]]) -> bytes:
    """Append tools to the line of a tool list, and keep its other bytes unchanged."""
    tools = message["result"]["tools"]
    inserted = (b"," if tools else b"") + orjson.dumps(list(added))[1:-1]
    message["result"]["tools"] = [*tools, *added]
    end = len(line)
    # Near the end of the line, one of the brackets is that of the list.
    for _ in range(BRACKETS):
        end = line.rfind(b"]", 0, end)
        if end < 0:
            break
        candidate = line[:end] + inserted + line[end:]
        if load(candidate) == message:
            return candidate
    return orjson.dumps(message) + b"\n"


def start_server(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the server's process; raise `BadParameter` if the command does not start."""
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(list(command), stdin=pipe, stdout=pipe, bufsize=0)
    except OSError as error:
        raise BadParameter(
            f"cannot start the MCP server {command[0]!r:.200}: {error.strerror}; put its command "
            "after --, such as: assay mcp -- npx @playwright/mcp@latest"
        ) from error
