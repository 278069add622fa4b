"""The lines of an MCP session, matched to calls and replies and scored as steps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import orjson

from assay.browser.connect.mcp.calls import BrowserCall, watched_call
from assay.browser.connect.mcp.proxy import load
from assay.browser.connect.mcp.session import ScoredSession
from assay.browser.connect.mcp.tools import HINT_TOOL, MOST_STEPS, STEPS_TOOL, text_result
from assay.schema.observation import Observation

IDLE_S: Final = 4.0
"""How long a call may wait for the look after the one before."""
MOST_CALLS: Final = 1_000
"""Calls without a reply that are waited for; the oldest is given up first."""


class _OpenCall(NamedTuple):
    call: BrowserCall
    at_s: float


class StepWatcher(Protocol):
    """Eyes on the browser itself; `DebuggingPort` is one."""

    def begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool: ...

    def end(self, error: str | None) -> Observation | None: ...

    def close(self) -> None: ...


class SessionScorer:
    """The scorer that the proxy asks, for one session."""

    def __init__(
        self,
        session: ScoredSession,
        *,
        watch: StepWatcher | None = None,
        on_finish: Callable[[ScoredSession], None] | None = None,
    ) -> None:
        """`watch` sees the browser itself, instead of what the server says of it."""
        self._session = session
        self._watch = watch
        self._watched: bytes | None = None
        """The call that is watched: one at a time."""
        self._idle = threading.Event()
        self._idle.set()
        self._open: dict[bytes, _OpenCall] = {}
        self._on_finish = on_finish

    def prepare(self, message: Mapping[str, Any]) -> None:
        """The page is looked at before the call, once the look after the one before is done.

        A call that was cancelled has no reply, and one with a reply that nobody could look at has
        none that we know of: it is waited for once, and not before every later call.
        """
        if self._watch is None or "id" not in message:
            return
        if not self._idle.wait(IDLE_S):
            self._release()
        params = message["params"]
        arguments = params.get("arguments")
        tool, options = watched_call(
            str(params.get("name")), arguments if isinstance(arguments, dict) else {}
        )
        if self._watch.begin(tool, options, self._session.url):
            self._idle.clear()
            self._watched = orjson.dumps(message["id"])

    def request(self, message: Mapping[str, Any], at_s: float) -> None:
        """The call waits for its reply."""
        params = message["params"]
        name, arguments = params.get("name"), params.get("arguments")
        if "id" not in message or not isinstance(name, str):
            return
        call = self._session.describe(name, arguments if isinstance(arguments, dict) else {})
        number = orjson.dumps(message["id"])
        self._open[number] = _OpenCall(call, at_s)
        while len(self._open) > MOST_CALLS:
            del self._open[next(iter(self._open))]

    def reply(self, line: bytes, at_s: float) -> None:
        """Each reply to a call in the line is a scored step."""
        message = load(line) if self._open else None
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict) and "method" not in one and "id" in one:
                number = orjson.dumps(one["id"])
                opened = self._open.pop(number, None)
                if opened is not None:
                    seen = self._look(number, one)
                    self._session.end_call(
                        opened.call, one, elapsed_s=at_s - opened.at_s, seen=seen
                    )

    def _look(self, number: bytes, reply: Mapping[str, Any]) -> Observation | None:
        """What the browser shows after the call; nothing of it if the call is not watched."""
        if self._watch is None:
            return None
        if number != self._watched:
            return Observation("")
        try:
            failed = "error" in reply or (reply.get("result") or {}).get("isError") is True
            return self._watch.end("the call failed" if failed else None) or Observation("")
        finally:
            self._release()

    def _release(self) -> None:
        """No call is watched."""
        self._watched = None
        self._idle.set()

    def lost(self) -> None:
        """The next step is not compared with the page of the one before."""
        # The reply to the call that is watched may be what went by.
        self._release()
        if self._open:
            self._session.skip()

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """What the server says of its tools is known."""
        self._session.read_only = {
            str(tool.get("name")): _read_only(tool.get("annotations")) for tool in tools
        }

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """The result of `assay_steps` or `assay_hint`."""
        if tool == HINT_TOOL.name:
            text, data = self._session.hint_report()
            return text_result(text, data=data)
        last = arguments.get("last", 10)
        if not isinstance(last, int) or not 1 <= last <= MOST_STEPS:
            refusal = (
                f"{STEPS_TOOL.name}: last is a number from 1 to {MOST_STEPS}, not {last!r:.40}"
            )
            return text_result(refusal, error=True)
        text, data = self._session.steps_report(last)
        return text_result(text, data=data)

    def finish(self) -> None:
        """The steps file is complete."""
        self._session.finish()
        if self._watch is not None:
            self._watch.close()
        if self._on_finish is not None:
            self._on_finish(self._session)


def _read_only(annotations: Any) -> bool:
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
