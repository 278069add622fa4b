"""Messages as a page shows them: with their calls, code, JSON and marks of cut text.

What an agent was shown is what its messages hold, which may be less than what the environment
recorded: a mark stands where text was cut, and the text that is missing there is looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from assay.report.reformatting import read_json
from assay.report.traces import CUT_MARK, PAGE, Turn
from assay.schema.message import Message, ToolCall, text_of
from assay.viewer.pages.records import PageRecord, ShortenedText, cut_text

PieceKind: TypeAlias = Literal["text", "code", "json", "cut"]
JSON_CHARS = 100_000
"""A longer value is shown as it is written."""
ONE_LINE = 80
"""Characters of a call's arguments that are left as they are."""
NAME_CHARS = 200
ANCHOR_CHARS = 120
"""Of the text next to a cut, by which its place in the whole is found."""
DIFF_LINES = 400
"""Lines of each text; longer ones are not compared."""
DIFF_SHOWN = 200
MOST_CALLS = 50
MOST_MESSAGES = 40
_CODE = re.compile(r"^```[^\n]{0,100}\n(?P<code>.*?)(?:^```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """A part of a message: text, code, JSON or a mark of cut text."""

    kind: PieceKind
    text: ShortenedText
    """Of a cut, what is missing there, as far as that is recorded."""
    about: str = ""
    """Of JSON what it holds, of a cut its mark."""


def message_views(
    messages: Sequence[Message],
    *,
    most: int,
    whole: Callable[[], str] | None = None,
    at_most: int = MOST_MESSAGES,
) -> list[PageRecord]:
    """The records of the first messages, with at most `most` characters each.

    `whole` gives what the environment recorded of what they show.
    """
    return [
        _message(message, most, whole if _is_shown(message) else None)
        for message in messages[:at_most]
    ]


def shown_text(turn: Turn) -> str:
    """The new text that the agent saw at the start of a turn; empty if there is none."""
    texts = [text_of(message.content) for message in turn if _is_shown(message)]
    paged = [text.partition(PAGE)[2] for text in texts if PAGE in text]
    return (paged or texts or [""])[0]


def diff_view(before: str, after: str) -> PageRecord | None:
    """The added and removed lines; `None` if the texts are equal, empty or too long."""
    old, new = before.splitlines(), after.splitlines()
    if not old or not new or max(len(old), len(new)) > DIFF_LINES or old == new:
        return None
    lines: list[PageRecord] = []
    for tag, i, j, k, n in SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            lines += [{"sign": "−", "text": line[:NAME_CHARS]} for line in old[i:j]]
            lines += [{"sign": "+", "text": line[:NAME_CHARS]} for line in new[k:n]]
    removed = sum(line["sign"] == "−" for line in lines)
    return {"added": len(lines) - removed, "removed": removed, "lines": lines[:DIFF_SHOWN]}


def _is_shown(message: Message) -> bool:
    return message.role in ("user", "tool")


def _message(message: Message, most: int, whole: Callable[[], str] | None) -> PageRecord:
    text = text_of(message.content)
    reasoning = next((text_of(message.get(key)) for key in _REASONING if message.get(key)), "")
    return {
        "role": message.role[:NAME_CHARS],
        # Of the tool whose result it is.
        "name": str(message.get("name") or "")[:NAME_CHARS],
        "call_id": (message.tool_call_id or "")[:NAME_CHARS],
        "pieces": list(_pieces(text, most, whole)),
        "calls": [_call(call) for call in message.tool_calls[:MOST_CALLS]],
        "reasoning": cut_text(reasoning, most) if reasoning else None,
        "is_error": bool(message.get("is_error")),
        # Why nothing could be done with the reply, in the agent's words.
        "unreadable": str(message.get("unreadable") or "")[:1_000],
        # Who made it, where that was not the model.
        "made_by": str(message.get("made_by") or "")[:NAME_CHARS],
        "chars": len(text),
    }


def _call(call: ToolCall) -> PageRecord:
    arguments = call.function.arguments
    if len(arguments) > ONE_LINE:
        arguments = _pretty(arguments) or arguments
    name = call.function.name[:NAME_CHARS]
    shown = cut_text(arguments, JSON_CHARS)
    return {"id": call.id[:NAME_CHARS], "name": name, "arguments": shown}


def _pieces(text: str, most: int, whole: Callable[[], str] | None) -> Iterator[MessagePiece]:
    """Yield the parts of a text, with at most `most` characters in all."""
    pretty = _pretty(text)
    if pretty:
        yield MessagePiece("json", cut_text(pretty, most), _about(text))
        return
    pieces = _cuts(text, most, whole) if whole is not None and CUT_MARK.search(text) else None
    left = most
    for piece in pieces if pieces is not None else _code_blocks(text):
        if piece.kind == "cut":
            yield piece
            continue
        if left > 0:
            yield MessagePiece(piece.kind, cut_text(piece.text.text, left))
        left -= piece.text.chars


def _code_blocks(text: str) -> Iterator[MessagePiece]:
    at = 0
    for match in _CODE.finditer(text):
        if text[at : match.start()].strip():
            yield _whole("text", text[at : match.start()].strip("\n"))
        yield _whole("code", match["code"].rstrip("\n"))
        at = match.end()
    if text[at:].strip():
        yield _whole("text", text[at:].strip("\n") if at else text)


def _cuts(text: str, most: int, whole: Callable[[], str]) -> Iterator[MessagePiece]:
    """Yield the text around each cut mark, and the missing text in place of the mark."""
    recorded, at, place = whole(), 0, 0
    for match in CUT_MARK.finditer(text):
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        before, after = text[at : match.start()].rstrip("\n"), text[end:]
        missing, place = _missing(recorded, before, after, place)
        yield _whole("text", before)
        yield MessagePiece("cut", cut_text(missing, most), text[match.start() : end][:NAME_CHARS])
        at = end
    if text[at:].strip():
        yield _whole("text", text[at:].lstrip("\n"))


def _missing(recorded: str, before: str, after: str, place: int) -> tuple[str, int]:
    """The recorded text between two texts, and the position at which it ends."""
    anchor = before[-ANCHOR_CHARS:]
    start = recorded.find(anchor, place) if anchor.strip() else -1
    if start < 0:
        return "", place
    start += len(anchor)
    following = after.strip("\n")[:ANCHOR_CHARS]
    end = recorded.find(following, start) if following.strip() else len(recorded)
    end = len(recorded) if end < 0 else end
    return recorded[start:end].strip("\n"), end


def _whole(kind: PieceKind, text: str) -> MessagePiece:
    return MessagePiece(kind, ShortenedText(text, len(text)))


def _pretty(text: str) -> str:
    """The JSON text with line breaks; empty for a very long text or other content."""
    if len(text) > JSON_CHARS or text.lstrip()[:1] not in ("{", "["):
        return ""
    value = _json(text)
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""


def _about(text: str) -> str:
    """The content of a JSON text in words."""
    value = _json(text)
    if isinstance(value, Mapping):
        names = ", ".join(str(key)[:40] for key in list(value)[:5])
        return f"an object with {len(value)} members: {names}{', …' if len(value) > 5 else ''}"
    return f"a list of {len(value) if isinstance(value, list) else 0}"


def _json(text: str) -> Any:
    value = read_json(text)
    return value if isinstance(value, (dict, list)) else None
