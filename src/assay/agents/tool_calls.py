"""Native tool calls of a model: each step carries out one call and records its result.

An environment takes one action a step. The calls that come with one reply wait here for their
turn, and the model is asked again when each has its result. What cannot be done (an unknown tool,
arguments that are no JSON, a call that was cut off) has the reason as its result at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from assay.agents.models.protocol import Model, Reply
from assay.agents.transcript import Message, Transcript
from assay.errors import BadParameter, check_choice
from assay.schema.tools import ANSWER, ActionTool, BadCall, as_text, read_tool_call

ToolCalls: TypeAlias = Literal["auto", "native", "text"]
CUT_OFF = "the reply was cut off at the limit of tokens (max_tokens)"
EMPTY = "the reply is empty"
REASON_CHARS = 1_000
"""Of why a reply was refused, in the record; the model gets the reason of each call in full."""


def calls_natively(choice: ToolCalls, model: Model) -> bool:
    """Whether the model calls tools natively; "auto" depends on the model."""
    check_choice("tool_calls", choice, get_args(ToolCalls))
    native = bool(getattr(model, "native_tools", False))
    if choice == "native" and not native:
        name = getattr(model, "name", type(model).__name__)
        raise BadParameter(f"the model {name!r} has no native tool calls; set tool_calls to 'text'")
    return native and choice != "text"


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A valid tool call that can be carried out."""

    tool: ActionTool
    arguments: Mapping[str, Any]
    think: str = ""
    """What the model said beside its calls."""

    @property
    def answer(self) -> str | None:
        """The answer, if the call is the tool `answer`."""
        return as_text(self.arguments["text"]) if self.tool is ANSWER else None


@dataclass(slots=True)
class _Waiting:
    """A tool call that is waiting, or the reason why it cannot be carried out."""

    record: Message | None
    """Its entry in the conversation; an answer has none, because it is no use of a tool."""
    use: ReadyCall | BadCall


class CallQueue:
    """The tool calls of the newest reply that are not carried out yet."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._waiting: deque[_Waiting] = deque()
        self._reply = Reply("")
        self._message: Message = {}
        self._reasons: list[str] = []
        self._n_done = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, reply: Reply, tools: Iterable[ActionTool]) -> None:
        """Record the calls of a reply and queue them; calls after an answer are dropped."""
        uses = _read_calls(reply, {tool.name: tool for tool in tools})
        end = next((at for at, use in enumerate(uses) if _answers(use)), len(uses))
        self._reply, self._message, self._reasons, self._n_done = reply, {}, [], 0
        records: list[Message] = []
        if end:
            records = self._transcript.add_calls(reply.text, reply.calls[:end], fields=reply.fields)
            self._message = self._transcript.messages[-1]
        pairs = zip([*records, None], uses[: end + 1], strict=False)
        self._waiting = deque(_Waiting(record, use) for record, use in pairs)

    def take(self, object_to: Callable[[ReadyCall], str] = lambda _: "") -> ReadyCall | None:
        """Return the next call that can be carried out; the next observation is its result.

        `object_to` returns a reason to refuse a call, or nothing; refused calls are skipped.
        """
        while self._waiting:
            waiting = self._waiting.popleft()
            use = waiting.use
            if isinstance(use, BadCall):
                self._refuse(waiting, use.because)
            elif because := object_to(use):
                self._refuse(waiting, because)
            else:
                self._n_done += 1
                self._accept(waiting.record, use)
                return use
        return None

    def _accept(self, record: Message | None, use: ReadyCall) -> None:
        if record is not None:
            self._transcript.expect(record)
        elif self._message:
            self._transcript.add_reply(use.answer or "")
        else:
            text = "\n\n".join(filter(None, (self._reply.text, use.answer)))
            self._transcript.add_reply(text, fields=self._reply.fields)

    def _refuse(self, waiting: _Waiting, because: str) -> None:
        self._reasons.append(because)
        if waiting.record is not None:
            self._transcript.add_result(waiting.record, f"error: {because}", failed=True)
        is_last = not self._waiting and not self._n_done
        if is_last and isinstance(waiting.use, BadCall):
            self._message["unreadable"] = "; ".join(self._reasons)[:REASON_CHARS]

    def refuse_reply(self, reply: Reply, because: str) -> None:
        """Record a reply without calls, and why the reply is refused."""
        self._transcript.add_reply(reply.text, unreadable=because, fields=reply.fields)
        self._reasons.append(because)

    def take_refusal(self) -> str:
        """Return why no call of the newest reply was carried out; empty if one was carried out."""
        reasons, self._reasons = self._reasons, []
        return "" if self._n_done else "; ".join(reasons)[:REASON_CHARS]


def _read_calls(reply: Reply, tools: Mapping[str, ActionTool]) -> list[ReadyCall | BadCall]:
    uses: list[ReadyCall | BadCall] = []
    for call in reply.calls:
        arguments = read_tool_call(call.name, call.arguments, tools)
        if isinstance(arguments, BadCall):
            uses.append(arguments)
        else:
            uses.append(ReadyCall(tools[call.name], arguments, reply.text))
    if reply.cut_off and uses:
        # Its arguments may be half of what the model meant, though they can be read.
        uses[-1] = BadCall(f"{CUT_OFF} in the middle of this call; be briefer")
    return uses


def _answers(use: ReadyCall | BadCall) -> bool:
    return isinstance(use, ReadyCall) and use.tool is ANSWER
