"""The lines of an MCP session, matched to calls and replies and scored as steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from assay.mcp.calls import BrowserCall
from assay.mcp.proxy import load
from assay.mcp.session import ScoredSession
from assay.mcp.tools import HINT_TOOL, MOST_STEPS, STEPS_TOOL, text_result

MOST_CALLS: Final = 1_000
"""Calls without a reply that are waited for; the oldest is given up first."""


class _OpenCall(NamedTuple):
    call: BrowserCall
    at_s: float


class SessionScorer:
    """The scorer that the proxy asks, for one session."""

    def __init__(
        self, session: ScoredSession, *, on_finish: Callable[[ScoredSession], None] | None = None
    ) -> None:
        self._session = session
        self._open: dict[bytes, _OpenCall] = {}
        self._on_finish = on_finish

    def request(self, message: Mapping[str, Any], at_s: float) -> None:
        """The call waits for its reply."""
        params = message["params"]
        name, arguments = params.get("name"), params.get("arguments")
        if "id" not in message or not isinstance(name, str):
            return
        call = self._session.describe(name, arguments if isinstance(arguments, dict) else {})
        self._open[orjson.dumps(message["id"])] = _OpenCall(call, at_s)
        while len(self._open) > MOST_CALLS:
            del self._open[next(iter(self._open))]

    def reply(self, line: bytes, at_s: float) -> None:
        """Each reply to a call in the line is a scored step."""
        message = load(line) if self._open else None
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict) and "method" not in one and "id" in one:
                opened = self._open.pop(orjson.dumps(one["id"]), None)
                if opened is not None:
                    self._session.end_call(opened.call, one, elapsed_s=at_s - opened.at_s)

    def lost(self) -> None:
        """The next step is not compared with the page of the one before."""
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
        if self._on_finish is not None:
            self._on_finish(self._session)


def _read_only(annotations: Any) -> bool:
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
