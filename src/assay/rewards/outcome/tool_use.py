"""Decide whether an agent used a tool, by one policy for all rewards.

Only the structure of a trajectory is read, never its prose. A tool was used where the harness
recorded a call and its result: OpenAI `tool_calls` and `role: "tool"` messages (and the older
`function_call` and `role: "function"`), or Anthropic `tool_use` and `tool_result` blocks. An
assistant or user message that says "Tool: …", or that holds JSON which looks like a call, is
text. A trajectory may come in segments, as a folded context does: a list of lists of messages.

    policy         counts                                                        asks for
    "default"      results that answer a recorded call and did not fail          1
    "agentfly"     messages whose role is "tool", whatever they hold             1, or 2 for QA
    "any"          every call and every result, failed, forged or not            1

A result *answers* a call when it follows it and carries its id; without an id, when a call of its
name (or of any name, if it has none) is still waiting. Each call is answered once. Where no call
is recorded at all, as in AgentFly's trajectories, every result message counts.

A result *failed* when its record says so: `is_error` is true, `status` is "error", or `error`
holds something. What the result's text says is never scanned, since a page about errors is not
an error; `json_errors` reads one thing more, a JSON object whose top level has a set `error`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import BadParameter
from assay.text.calls import BadTrajectory as BadTrajectory
from assay.text.calls import calls_of, get_field, items_of, read_segments

CountedUses: TypeAlias = Literal["results", "calls", "either"]

JSON_LIMIT_CHARS = 100_000
"""Longer results are not parsed for an `error` key; they count as not failed."""


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The policy: which calls and results count as tool use."""

    minimum: int = 1
    """Uses needed before a tool counts as used."""
    roles: tuple[str, ...] = ("tool", "function", "tool_result")
    """Message roles that carry a result; `tool_result` stands for Anthropic's blocks."""
    count: CountedUses = "results"
    """`results` received, `calls` made, or `either`: calls, and results that answer none."""
    distinct: bool = False
    """Whether repeating a call (its name and arguments) counts once."""
    before_answer: bool = False
    """Whether a use counts only if the assistant spoke after it: a call that delivers the answer,
    or comes after it, does not. Off, because many harnesses keep the last answer elsewhere."""
    failed_counts: bool = False
    unmatched_counts: bool = False
    """Whether a result that answers no recorded call counts."""
    json_errors: bool = False
    """Whether a result whose text is a JSON object with a set `error` failed."""
    exclude: tuple[str, ...] = ()
    """Names of tools that never count, such as the one that submits the answer."""

    def __post_init__(self) -> None:
        least = self.minimum
        if type(least) is not int or least < 1:
            raise BadParameter(f"tool policy: minimum is {least!r}; choose a whole number >= 1")
        if self.count not in get_args(CountedUses):
            choices = ", ".join(map(repr, get_args(CountedUses)))
            raise BadParameter(f"tool policy: count is {self.count!r}; choose one of {choices}")
        for item in fields(self):
            name, value = item.name, getattr(self, item.name)
            if isinstance(item.default, bool) and not isinstance(value, bool):
                raise BadParameter(f"tool policy: {name} is {value!r}; choose true or false")
            if isinstance(item.default, tuple) and not (
                isinstance(value, tuple) and all(isinstance(each, str) for each in value)
            ):
                raise BadParameter(f"tool policy: {name} is {value!r}; give a list of names")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The number of tool uses, and whether it satisfies the policy."""

    count: int
    enough: bool
    because: str


POLICIES: Mapping[str, ToolPolicy] = MappingProxyType(
    {
        "default": ToolPolicy(),
        "agentfly": ToolPolicy(roles=("tool",), failed_counts=True, unmatched_counts=True),
        "any": ToolPolicy(count="either", failed_counts=True, unmatched_counts=True),
    }
)


def to_policy(
    value: str | Mapping[str, Any] | ToolPolicy, *, agentfly_minimum: int = 1
) -> ToolPolicy:
    """Make the policy from a configuration value.

    A name, or a mapping of `ToolPolicy` fields, which change the default policy or the one that
    the mapping names under `preset`. `agentfly_minimum` is what the "agentfly" preset asks for:
    two in its QA reward, where the last call delivers the answer, one in its maths reward.
    """
    if isinstance(value, ToolPolicy):
        return value
    presets = ", ".join(map(repr, POLICIES))
    if not isinstance(value, (str, Mapping)):
        raise BadParameter(
            f"tool_policy is {value!r}; pass a name ({presets}) or a mapping of fields"
        )
    changes: dict[str, Any] = {"preset": value} if isinstance(value, str) else dict(value)
    preset = changes.pop("preset", "default")
    policy = POLICIES.get(preset) if isinstance(preset, str) else None
    if policy is None:
        raise BadParameter(f"no tool policy named {preset!r}; choose one of {presets}")
    if preset == "agentfly":
        policy = replace(policy, minimum=agentfly_minimum)
    names = {item.name for item in fields(ToolPolicy)}
    for name in changes:
        if name not in names:
            raise BadParameter(
                f"tool_policy has no field {name!r}; its fields: preset, {', '.join(sorted(names))}"
            )
        if name in ("roles", "exclude") and isinstance(changes[name], list):
            changes[name] = tuple(changes[name])
    return replace(policy, **changes)


def tool_use(trajectory: object, policy: ToolPolicy) -> ToolUse | BadTrajectory:
    """Count the tool uses of a trajectory under the policy; never raises.

    An empty trajectory is one without tools. `None`, text, an element that is not a message, or
    a message without a role gives a `BadTrajectory`.
    """
    segments = read_segments(trajectory)
    if isinstance(segments, BadTrajectory):
        return segments
    counter = _UseCounter(policy)
    for segment in segments:
        for role, message in segment:
            counter.read(role, message)
        counter.end_segment()
    return counter.result()


@dataclass(slots=True)
class _Use:
    """One tool call and its result; one of the two may be missing."""

    name: str | None
    key: Hashable
    position: int
    called: bool
    answered: bool = False
    failed: bool = False


class _UseCounter:
    """Collects the tool uses of a trajectory, and matches each result to its call."""

    def __init__(self, policy: ToolPolicy) -> None:
        self._position = 0
        self._policy = policy
        self._uses: list[_Use] = []
        self._unanswered: dict[Hashable, deque[_Use]] = {}
        self._last_reply = -1
        self._calls: set[Hashable] = set()
        self._earlier_calls: set[Hashable] = set()

    def read(self, role: str, message: object) -> None:
        """Add the tool calls and the results of the next message."""
        if role in self._policy.roles:
            self._add_result(message, get_field(message, "tool_call_id"))
        elif role == "assistant":
            self._last_reply = self._position
            for call in calls_of(message):
                self._add_call(*call)
        elif role == "user" and "tool_result" in self._policy.roles:
            for block in items_of(get_field(message, "content")):
                if get_field(block, "type") == "tool_result":
                    self._add_result(block, get_field(block, "tool_use_id"))
        self._position += 1

    def end_segment(self) -> None:
        """End a segment: later segments may repeat its calls, which then do not count again."""
        self._earlier_calls |= self._calls
        self._calls = set()

    def _add_call(self, call_id: object, name: object, arguments: object) -> None:
        label = name if isinstance(name, str) else None
        key = (label, _fingerprint(arguments))
        identity = call_id if isinstance(call_id, str) else ""
        if identity:
            if (identity, key) in self._earlier_calls:
                return
            self._calls.add((identity, key))
        use = _Use(label, key, self._position, called=True)
        self._uses.append(use)
        for handle in (("id", identity), ("name", label), ("any", None)):
            self._unanswered.setdefault(handle, deque()).append(use)

    def _add_result(self, record: object, call_id: object) -> None:
        name, content = get_field(record, "name"), get_field(record, "content")
        label = name if isinstance(name, str) else None
        if isinstance(call_id, str) and call_id:
            use = self._next_unanswered(("id", call_id))
        else:
            use = self._next_unanswered(("any", None) if label is None else ("name", label))
        if use is None:
            key = (label, _fingerprint(content)) if self._policy.distinct else None
            use = _Use(label, key, self._position, called=False)
            self._uses.append(use)
        use.answered = True
        use.position = self._position
        use.failed = (
            get_field(record, "is_error") is True
            or get_field(record, "status") == "error"
            or bool(get_field(record, "error"))
            or (self._policy.json_errors and _reports_error(content))
        )

    def _next_unanswered(self, handle: Hashable) -> _Use | None:
        queue = self._unanswered.get(handle)
        while queue:
            use = queue.popleft()
            if not use.answered:
                return use
        return None

    def result(self) -> ToolUse:
        """The count of tool uses under the policy, with a sentence that explains it."""
        policy = self._policy
        calls_recorded = any(use.called for use in self._uses)
        uses = [use for use in self._uses if self._counts(use, calls_recorded)]
        count = len({use.key for use in uses}) if policy.distinct else len(uses)
        left_out = len(self._uses) - count
        noun = {"results": "tool result", "calls": "tool call", "either": "tool use"}[policy.count]
        because = f"{count} {noun}{'' if count == 1 else 's'}, {policy.minimum} needed"
        if left_out:
            because += f"; {left_out} more did not count"
        return ToolUse(count, count >= policy.minimum, because)

    def _counts(self, use: _Use, calls_recorded: bool) -> bool:
        policy = self._policy
        if use.name in policy.exclude or (use.failed and not policy.failed_counts):
            return False
        if policy.before_answer and use.position >= self._last_reply:
            return False
        if use.called and (use.answered or policy.count != "results"):
            return True
        orphan_counts = policy.unmatched_counts or not calls_recorded
        return not use.called and policy.count != "calls" and orphan_counts


def _fingerprint(value: object) -> Hashable:
    """A key that is equal for equal arguments; the order of keys does not matter."""
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return id(value)


def _reports_error(content: object) -> bool:
    """Whether a result's text is a JSON object with a non-empty `error` at its top level."""
    text = content
    if not isinstance(content, str):
        texts = [get_field(part, "text") for part in items_of(content)]
        text = texts[0] if len(texts) == 1 else None
    if not isinstance(text, str) or len(text) > JSON_LIMIT_CHARS or "error" not in text:
        return False
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and bool(body.get("error"))
