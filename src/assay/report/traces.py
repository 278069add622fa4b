"""Signs of problems in an episode's record: cut texts, blocks, failures and loops.

Codes that the environment recorded (`Step.outcome`) are read first; where a step has none, the
lines that the environment puts before the page are. The page itself, which may say anything, is
never searched for errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from assay.errors import BadRecord
from assay.schema.blocking import read_block_note
from assay.schema.episode import Episode, Step
from assay.schema.message import Message, text_of

PAGE = "Page:\n"
"""What the research agent puts before the page in every turn: such turns and steps run in step."""
HEAD_CHARS = 4_000
NAVIGATION = frozenset({"nav_error", "timeout", "target_closed"})
CUT_MARK = re.compile(
    r"(?:…|\.{3}|\[) ?(?P<n>\d[\d,]{0,20}) char(?:acter)?s (?:not shown|truncated|omitted)"
)
"""What stands where text was left out of what an agent was shown."""
_LESS = "; ask for less"
_ERROR = re.compile(r"^error: (?P<text>.{1,200})", re.MULTILINE)
_NAVIGATED = re.compile(
    r"net::|ns_error|navigat|timeout|timed out|was closed|not load|did not answer", re.IGNORECASE
)
REFUSED = re.compile(r"^reply refused \(\d+ (?:of \d+ )?in a row\): (?P<because>.{1,300})", re.M)
_READ = ("was not opened", "was not done", "is not one of the actions")
"""What an agent says of an action that it read and did not do."""
# A name begins where a word does, and has an end: a thought may be megabytes of letters.
_REFUSED = re.compile(r"(?<![\w.-])(?P<site>[\w.-]{1,253}) does not work here and was not opened")


Turn: TypeAlias = tuple[Message, ...]
"""The messages of one turn of an agent: what it is shown, and one action."""
REFUSED_CALL = "error: "
"""How the result of a call begins that the agent did not do: it comes in the same turn."""
NOTE = "Note: "
"""How a word of the agent to its model begins; it comes in the same turn."""


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact of a step, as a sentence that a diagnosis quotes."""

    step: int
    text: str


@dataclass(frozen=True, slots=True)
class TruncatedObservation:
    """A step whose observation the agent saw only in part."""

    step: int
    chars: int
    payload: bool
    """Whether it was the result of a call, not a page."""


class AttemptTrace:
    """The steps and messages of one episode, with methods that find signs of problems."""

    def __init__(self, episode: Episode, artifact: Callable[[str], str]) -> None:
        self.episode = episode
        self.steps = episode.trajectory.steps
        self._artifact = artifact

    @cached_property
    def acted(self) -> tuple[Step, ...]:
        """The steps with an action of the agent, without the reset and the answer."""
        answers = ('answer("', "answer('")
        return tuple(s for s in self.steps if s.index > 0 and not s.action.startswith(answers))

    @cached_property
    def prompts(self) -> tuple[tuple[int, str], ...]:
        """The messages that the agent got, each with the step whose observation it shows."""
        texts = [_text(m) for m in self.episode.trajectory.messages if m.role in ("user", "tool")]
        paged = [text for text in texts if PAGE in text]
        return tuple(enumerate(paged or texts))

    @cached_property
    def cuts(self) -> tuple[TruncatedObservation, ...]:
        """Every place where a message to the agent left out text."""
        cuts = [
            TruncatedObservation(
                step, int(match["n"].replace(",", "")), text.startswith(_LESS, match.end())
            )
            for step, text in self.prompts
            for match in CUT_MARK.finditer(text)
        ]
        marked = {cut.step for cut in cuts}
        cuts += [TruncatedObservation(s.index, 0, payload=False) for s in self.steps
                  if s.truncated and s.index not in marked]  # fmt: skip
        return tuple(sorted(cuts, key=lambda cut: cut.step))

    def first_shown(self, matches: Callable[[str], bool]) -> int | None:
        """The first step whose message to the agent has a matching text, or `None`."""
        return next((step for step, text in self.prompts if matches(text)), None)

    def first_recorded(self, matches: Callable[[str], bool]) -> int | None:
        """The first step whose recorded observation has a matching text, or `None`."""
        return next((s.index for s in self.steps if matches(self.observation(s))), None)

    def observation(self, step: Step) -> str:
        """The full recorded observation of a step; empty if it cannot be read."""
        if not step.observation:
            return ""
        try:
            return self._artifact(step.observation)
        except (BadRecord, UnicodeDecodeError):
            return ""

    @cached_property
    def blocks(self) -> tuple[EvidenceLine, ...]:
        """The steps with a page that the site or the agent's own rules blocked."""
        return tuple(sign for step in self.steps if (sign := self._block(step)))

    def _block(self, step: Step) -> EvidenceLine | None:
        refused = _REFUSED.search(step.think)
        if refused:
            return EvidenceLine(step.index, f"the agent may not open {refused['site']}")
        if step.outcome is not None:
            code = step.outcome.get("block")
        else:
            code = read_block_note(self._head(step))
        return EvidenceLine(step.index, f"the page is blocked ({code})") if code else None

    @cached_property
    def failures(self) -> tuple[tuple[EvidenceLine, bool], ...]:
        """The failed steps, each with whether the navigation to a page failed."""
        return tuple(failure for step in self.acted if (failure := self._failure(step)))

    def _failure(self, step: Step) -> tuple[EvidenceLine, bool] | None:
        outcome = step.outcome or {}
        code = outcome.get("error")
        match = _ERROR.search(self._head(step))
        text = step.error or (match["text"] if match else "")
        if not code and not text:
            return None
        navigation = code in NAVIGATION or (not code and _NAVIGATED.search(text) is not None)
        return EvidenceLine(step.index, f"{step.action[:80]} failed: {text or code}"), navigation

    def _head(self, step: Step) -> str:
        """The lines that the environment put before the page."""
        return self.observation(step)[:HEAD_CHARS].partition("\n\n")[0]

    @cached_property
    def unreadable(self) -> tuple[EvidenceLine, ...]:
        """The replies of the model that had no usable action, with the reasons.

        The agent marks them in its messages; records from before have them in its thoughts.
        """
        last = self.steps[-1].index if self.steps else 0
        marks = [
            EvidenceLine(min(number, last), f"unreadable reply: {reason}"[:300])
            for number, message in enumerate(self._replies, 1)
            if (reason := message.get("unreadable"))
        ]
        return tuple(marks) or tuple(
            EvidenceLine(step.index, f"unreadable reply: {because}")
            for step in self.steps
            if (because := _why_unread(step))
        )

    @cached_property
    def _replies(self) -> tuple[Message, ...]:
        return tuple(m for m in self.episode.trajectory.messages if m.role == "assistant")

    @property
    def n_replies(self) -> int:
        """How often the model replied, as far as that is recorded."""
        return max(len(self._replies), len(self.acted))

    @property
    def ends_unreadable(self) -> bool:
        """Whether the last reply of the model was unreadable."""
        if self._replies and self._replies[-1].get("unreadable"):
            return True
        gave_up = self.episode.stop_reason == "gave_up"
        return gave_up and bool(self.steps) and bool(_why_unread(self.steps[-1]))

    @cached_property
    def repeats(self) -> tuple[EvidenceLine, ...]:
        """The steps that repeat an earlier action and lead to the same state."""
        seen: dict[tuple[str, Any], int] = {}
        repeats = []
        for step in self.acted:
            if _why_unread(step):
                # Waiting after a reply that could not be read is no choice of an action.
                continue
            first = seen.setdefault((step.action, _state(step)), step.index)
            if first != step.index:
                text = f"{step.action[:80]} again, as at step {first}"
                repeats.append(EvidenceLine(step.index, text))
        return tuple(repeats)


def _why_unread(step: Step) -> str:
    """Why the reply before the step was unreadable, in the agent's words; else empty."""
    match = REFUSED.search(step.think)
    because = match["because"] if match else ""
    return "" if any(mark in because for mark in _READ) else because


def _state(step: Step) -> Any:
    """The recorded state after a step, as a hashable value."""
    evidence = step.evidence
    if evidence is None:
        return step.observation
    if evidence.kind == "page":
        return (evidence.url, evidence.text, evidence.refs)
    # An environment's progress is a dictionary, which has no hash.
    return repr(evidence)


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    parts: Iterable[dict[str, Any]] = message.content or ()
    return "\n".join(str(part.get("text", "")) for part in parts)


def messages_by_turn(messages: Sequence[Message], n_actions: int) -> tuple[Turn, ...] | None:
    """The messages of each turn; turn `i` belongs to step `i + 1`. `None` if unclear.

    The number of turns must be that of the actions; it is one more where the agent gave up, or was
    shown the result of its last action.
    """
    for find in (_pages, _results, _replies):
        starts = find(messages)
        if starts and len(starts) in (n_actions, n_actions + 1):
            ends = [*starts[1:], len(messages)]
            pieces = zip([0, *starts[1:]], ends, strict=True)
            return tuple(tuple(messages[first:last]) for first, last in pieces)
    return None


def _pages(messages: Sequence[Message]) -> list[int]:
    """The indexes of messages in which the research agent shows a page: one in each turn."""
    return [
        i
        for i, message in enumerate(messages)
        if message.role in ("user", "tool") and PAGE in text_of(message.content)
    ]


def _results(messages: Sequence[Message]) -> list[int]:
    """The indexes of tool results, and of the user's messages after a reply."""
    starts: list[int] = []
    waiting: set[str] = set()
    replied = True
    for i, message in enumerate(messages):
        if message.role == "assistant":
            waiting |= {call.id for call in message.tool_calls}
            replied = True
        elif message.tool_call_id in waiting:
            waiting.discard(message.tool_call_id)
            refused = text_of(message.content).startswith(REFUSED_CALL)
            if not (message.get("is_error") and refused):
                starts.append(i)
            replied = False
        elif message.role == "user":
            if replied and not text_of(message.content).startswith(NOTE):
                starts.append(i)
            replied = False
    return starts


def _replies(messages: Sequence[Message]) -> list[int]:
    """The indexes at which turns begin, if each turn ends with a reply."""
    ends = [i + 1 for i, message in enumerate(messages) if message.role == "assistant"]
    return [0, *(end for end in ends if end < len(messages))] if ends else []
