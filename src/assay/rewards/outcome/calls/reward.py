"""The reward of tool calls: 1.0 for exactly the expected calls, else 0.0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import check_choice
from assay.registry import reward
from assay.rewards.outcome.bags import best_assignment
from assay.rewards.outcome.calls.comparison import ExpectedCall
from assay.rewards.outcome.calls.references import (
    MOST_CALLS,
    BadColumn,
    read_steps,
    read_tools,
    same_name,
)
from assay.rewards.outcome.calls.values import TextRule
from assay.schema.message import text_of
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable
from assay.text.calls import (
    CALL_TAGS,
    BadTrajectory,
    calls_of,
    get_field,
    items_of,
    read_arguments,
    read_calls,
    read_segments,
)
from assay.text.channels import final_text

Turn: TypeAlias = Literal["last", "all"]
TextCallRule: TypeAlias = Literal["none", "tags"]
CallOrder: TypeAlias = Literal["any", "same"]

PARTS: Final = ("right_calls", "right_names", "right_arguments", "missing_calls", "extra_calls")
ALL_RIGHT: Final = MappingProxyType(dict(zip(PARTS, (1.0, 1.0, 1.0, 0.0, 0.0), strict=True)))
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "order": get_args(CallOrder),
    "turn": get_args(Turn),
    "texts": get_args(TextRule),
    "text_calls": get_args(TextCallRule),
}
FULL: Final = 2.0
"""What a wholly right call weighs in the assignment; one that is partly right at most 1."""
SHOWN: Final = 3


class GivenCall(NamedTuple):
    """A tool call of the response; its arguments may not be readable."""

    name: str
    arguments: Mapping[str, Any] | Unreadable


class GivenCalls(NamedTuple):
    """The tool calls of a turn, and whether the turn also has text for the user."""

    calls: list[GivenCall]
    speaks: bool


@dataclass(slots=True)
class CallComparison:
    """The result of comparing the tool calls of a turn with the expected calls."""

    right: int = 0
    arguments: float = 0.0
    """The sum over right calls of the share of their arguments that is right."""
    differences: list[str] | None = None


@reward(name="tool_call_reward", version=1, parts=PARTS, kind="tools")
def tool_call_reward(
    trajectory: object,
    answer: object,
    tools: object,
    *,
    order: CallOrder = "any",
    turn: Turn = "last",
    texts: TextRule = "normal",
    text_calls: TextCallRule = "none",
) -> Scored | Abstained:
    """1.0 if the agent made exactly the expected tool calls with the right arguments, else 0.0.

    `answer` lists the calls: as `{"name": …, "arguments": {…}}`, or in BFCL's format of accepted
    values, `{function: {argument: [value, …]}}`, where "" says that the argument may be left out;
    an empty list says that no call is right. A list of lists is a sequence of steps. `tools` are
    the tools' schemas (OpenAI's, Anthropic's, BFCL's), or `None`; both may be JSON text.

    Calls are matched one to one, in any order (`order="same"`: in theirs). An argument is right
    if it has the type and value that are accepted; one with a default may be left out where that
    is accepted, and may be given where leaving it out is. Any other argument, call, or repetition
    is wrong. Where no call is right, an answer in words is.

    Calls after the last message of the user count (`turn="all"`: every one), as messages record
    them. `text_calls="tags"` reads `<tool_call>{"name": …, "arguments": …}</tool_call>` out of the
    text of a message that records none. `texts="exact"` compares texts letter by letter.
    """
    options = {"order": order, "turn": turn, "texts": texts, "text_calls": text_calls}
    for name, value in options.items():
        check_choice(name, value, CHOICES[name])
    column = "tools"
    try:
        schemas = read_tools(tools)
        column = "answer"
        steps = read_steps(answer, schemas)
    except BadColumn as error:
        return Abstained("bad_reference", f"{column!r}: {error}", PARTS)
    if steps is None:
        return Abstained("missing_reference", "the row has no expected tool calls", PARTS)
    turn_calls = calls_of_turn(trajectory, turn, text_calls)
    if isinstance(turn_calls, BadTrajectory):
        return Abstained("bad_trajectory", turn_calls.because, PARTS)
    if not steps:
        count = len(turn_calls.calls)
        right = not count and turn_calls.speaks
        parts = {**dict.fromkeys(PARTS[:3], float(not count)), "missing_calls": 0.0}
        because = "no call, and none is right" if right else "no call, and not a word"
        because = f"{_count(count)} where no call is right" if count else because
        return Scored(float(right), because, {**parts, "extra_calls": float(count)})
    if order == "same":
        steps = [[call] for step in steps for call in step]
    return _to_score(turn_calls.calls, steps, texts)


def calls_of_turn(
    trajectory: object, turn: Turn = "last", text_calls: TextCallRule = "none"
) -> GivenCalls | BadTrajectory:
    """The tool calls that count, in order; calls that two segments share count once."""
    segments = read_segments(trajectory)
    if isinstance(segments, BadTrajectory):
        return segments
    whole = turn == "all" or len(segments) > 1
    calls: list[GivenCall] = []
    known: set[tuple[str, str]] = set()
    speaks = False
    for segment in segments:
        earlier = frozenset(known)
        for role, message in segment:
            if role == "assistant":
                text = _text(message)
                speaks = speaks or any(map(str.isalnum, final_text(text).text))
                for key, call in _calls_in(message, text, text_calls):
                    if key is None or key not in earlier:
                        calls.append(call)
                    if key is not None and len(segments) > 1:
                        known.add(key)
            elif role == "user" and not whole and not _only_results(message):
                calls, speaks = [], False
    return GivenCalls(calls, speaks)


def _text(message: object) -> str:
    content = get_field(message, "content")
    try:
        return text_of(content)
    except (TypeError, ValueError):
        return ""


def _only_results(message: object) -> bool:
    """Whether a user message only brings results of tools, as in Anthropic's format."""
    blocks = items_of(get_field(message, "content"))
    return bool(blocks) and all(get_field(block, "type") == "tool_result" for block in blocks)


def _calls_in(
    message: object, text: str, text_calls: TextCallRule
) -> Iterator[tuple[tuple[str, str] | None, GivenCall]]:
    """The tool calls of a message, each with a key that finds copies in later segments."""
    recorded = False
    for call in calls_of(message):
        recorded = True
        name = call.name if isinstance(call.name, str) else ""
        key = (str(call.id), repr((call.name, call.arguments))) if call.id else None
        yield key, GivenCall(same_name(name), read_arguments(call.arguments))
    if not recorded and text_calls == "tags" and CALL_TAGS[0] in text:
        for written in read_calls(text).calls:
            yield None, GivenCall(same_name(written.name), written.arguments)


def _to_score(
    calls: Sequence[GivenCall], steps: Sequence[Sequence[ExpectedCall]], texts: TextRule
) -> Scored:
    expected = [call for step in steps for call in step]
    comparison = CallComparison()
    if len(calls) <= MOST_CALLS:
        start = 0
        for step in steps:
            # Where the number of calls is wrong, the last step is compared with all that are left.
            end = len(calls) if step is steps[-1] else start + len(step)
            _compare(calls[start:end], step, texts, comparison)
            start = end
    if comparison.right == len(expected) == len(calls):
        words = "as it is" if len(calls) == 1 else "as they are"
        return Scored(1.0, f"{_count(len(calls))}, {words} right", ALL_RIGHT)
    names = Counter(call.name for call in calls)
    right_names = Counter(call.name for call in expected)
    shared = (names & right_names).total()
    shares = [each / len(expected) for each in (comparison.right, shared, comparison.arguments)]
    counts = [float(each.total()) for each in (right_names - names, names - right_names)]
    because = _in_words(calls, expected, comparison.differences or [])
    return Scored(0.0, because, dict(zip(PARTS, shares + counts, strict=True)))


def _compare(
    calls: Sequence[GivenCall],
    step: Sequence[ExpectedCall],
    texts: TextRule,
    comparison: CallComparison,
) -> None:
    """Assign the calls to one step's expected calls in the best way, and add the result."""
    table = [[_weigh(call, one, texts) for one in calls] for call in step]
    pairs = (
        [(0, 0)] if len(step) == len(calls) == 1
        else best_assignment([[weight for weight, _ in row] for row in table])
    )  # fmt: skip
    for row, column in pairs:
        weight, differences = table[row][column]
        comparison.right += weight == FULL
        comparison.arguments += min(weight, 1.0)
        if differences and comparison.differences is None:
            comparison.differences = [f"{step[row].title}: {one}" for one in differences]


def _weigh(expected: ExpectedCall, call: GivenCall, texts: TextRule) -> tuple[float, list[str]]:
    """The share of a call that is right, and its differences from the expected call."""
    if call.name != expected.name:
        return 0.0, []
    if isinstance(call.arguments, Unreadable):
        return 0.0, [f"its arguments {call.arguments.because}"]
    differences = expected.differences(call.arguments, texts)
    if not differences:
        return FULL, []
    count = max(len(call.arguments.keys() | expected.accepted.keys()), len(differences))
    return 1.0 - len(differences) / count, differences


def _in_words(
    calls: Sequence[GivenCall], expected: Sequence[ExpectedCall], differences: Sequence[str]
) -> str:
    if len(calls) != len(expected):
        return f"{_count(len(calls))}, where {len(expected)} are right"
    if differences:
        more = f" and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
        return "; ".join(differences[:SHOWN]) + more
    names = {call.name for call in calls}
    titles = [call.title for call in expected if call.name not in names]
    return f"no call of {titles[0]}" if titles else "not every call is right"


def _count(number: int) -> str:
    return f"{number} call{'' if number == 1 else 's'}"
