"""The history of one tab: earlier calls, page states and results, and a pending failure.

It counts the last hundred distinct things by short hashes, so it notices loops of up to about
fifty steps, and is written as less than 1 KB.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from assay.browser.steps.inputs import HistoryFacts, StepInput, contract_change, failure_code
from assay.errors import BadRecord
from assay.schema.evidence import PageEvidence
from assay.schema.outcome import Effect, ErrorCode, ToolOutcome

CAPACITY: Final = 100
"""Distinct things that a history holds; the one not met for longest is dropped first."""
PATIENCE_STEPS: Final = 10
"""Steps after which a failure that was not repaired is no longer pending."""
LATEST: Final = 15

_KEY_BYTES: Final = 5
_LOGGED_BYTES: Final = 3
_CALL_MASK: Final = 2**23 - 1
"""One bit of three bytes says whether the step led to something new."""
_MOST_COUNT: Final = 15
_SCHEMA: Final = "h2"
_ERRORS: Final = frozenset(get_args(ErrorCode))

Phase: TypeAlias = Literal["running", "blocked", "recovered", "done"]
"""How the latest step left the agent, by its class alone."""
_PHASES: Final = frozenset(get_args(Phase))


class PendingFailure(NamedTuple):
    """A failed call whose effect has not been achieved since."""

    error: ErrorCode
    goal: int
    effect: Effect
    refs: int | None
    """Hash of the elements on the page when the call failed."""
    refreshed: bool = False
    """Whether other elements have been seen since."""
    age: int = 0


class HistoryStep(NamedTuple):
    """A recent step in the history: a hash of its call, and whether it led to something new."""

    call: int
    """Hash of the call in the state that it was made in; 23 bits."""
    fresh: bool
    """Whether it led to a page state or a result that was not known."""


class StepHistory(NamedTuple):
    """The record of the earlier steps of one tab; `StepHistory()` stands for a new tab."""

    seen: Mapping[int, int] = MappingProxyType({})
    """Hash of a thing met, and how often; the one met last is at the end."""
    state: int | None = None
    pending: PendingFailure | None = None
    steps: int = 0
    latest: tuple[HistoryStep, ...] = ()
    phase: Phase = "running"
    since: int = 0
    """The step at which the phase began."""


def observe(history: StepHistory, step: StepInput) -> tuple[StepHistory, HistoryFacts]:
    """Add a step to a history; also return what the earlier history says about the step."""
    outcome, seen = step.outcome, history.seen
    state_after = _state(step.after)
    state_before = history.state if step.before is None else _state(step.before)
    call = outcome.call or outcome.tool
    info = None if outcome.info is None else _key("info", outcome.info)
    place = state_before if state_before is not None else info
    keys = [_key("call", "" if place is None else str(place), call)]
    same_call = seen.get(keys[0], 0)
    same_error = revisits = 0
    error = failure_code(step)
    if error is not None or history.pending is not None:
        key = _key("fail", call)
        same_error = seen.get(key, 0)
        if error is not None:
            keys.append(key)
    if info is not None:
        keys.append(info)
    fresh = info is not None and info not in seen
    if state_after is not None and state_after != state_before:
        revisits = seen.get(state_after, 0)
        keys.append(state_after)
        fresh = fresh or revisits == 0
    passed, contract = False, step.contract
    if contract is not None and contract.verdict == "pass" and contract.fresh:
        keys.append(_key("pass", contract.id))
        passed = keys[-1] in seen
    pending, same_target, fresh_refs = _next_pending(history.pending, step, error)
    known = None if info is None else info in seen
    failure = None if history.pending is None else history.pending.error
    recent = HistoryFacts(
        same_call, same_error, revisits, known, failure, same_target, fresh_refs, passed,
        history.phase == "blocked", barren_steps(history.latest),
    )  # fmt: skip
    latest = (*history.latest[1 - LATEST :], HistoryStep(keys[0] & _CALL_MASK, fresh))
    counts, steps = _count_keys(seen, state_before, keys), history.steps + 1
    return StepHistory(
        counts, state_after, pending, steps, latest, history.phase, history.since
    ), recent


def barren_steps(latest: tuple[HistoryStep, ...]) -> int:
    """The number of latest steps in a row that led to nothing new."""
    count = 0
    for step in reversed(latest):
        if step.fresh:
            break
        count += 1
    return count


def enter_phase(history: StepHistory, phase: Phase) -> StepHistory:
    """Set the phase of the agent after its latest step."""
    same = phase == history.phase
    return history if same else history._replace(phase=phase, since=history.steps)


def _count_keys(
    seen: Mapping[int, int], state_before: int | None, keys: list[int]
) -> Mapping[int, int]:
    counts = dict(seen)
    if state_before is not None and state_before not in counts:
        counts[state_before] = 1
    for key in keys:
        counts[key] = min(counts.pop(key, 0) + 1, _MOST_COUNT)
    while len(counts) > CAPACITY:
        del counts[next(iter(counts))]
    return counts


def _next_pending(
    pending: PendingFailure | None, step: StepInput, error: ErrorCode | None
) -> tuple[PendingFailure | None, bool, bool]:
    """The pending failure after the step, and how the step relates to the earlier failure."""
    outcome = step.outcome
    if pending is None:
        return (None if error is None else _pending_failure(step, error)), False, False
    same_target = _goal(outcome) == pending.goal
    fresh_refs = error is None and _shows_other_refs(pending, step.after)
    if error is not None:
        # A failed read does not replace the failed action before it.
        keep = outcome.effect == Effect.READ and pending.effect != Effect.READ and not same_target
        if not keep:
            return _pending_failure(step, error), same_target, False
    elif outcome.ok is True and (same_target or contract_change(step.contract)[0] > 0):
        return None, same_target, fresh_refs
    if pending.age + 1 >= PATIENCE_STEPS:
        return None, same_target, fresh_refs
    older = pending._replace(age=pending.age + 1, refreshed=pending.refreshed or fresh_refs)
    return older, same_target, fresh_refs


def _pending_failure(step: StepInput, error: ErrorCode) -> PendingFailure:
    refs = None if step.before is None else step.before.refs
    code = error if error in _ERRORS else "other"
    key = None if refs is None else _key("refs", refs)
    return PendingFailure(code, _goal(step.outcome), step.outcome.effect, key)


def _shows_other_refs(pending: PendingFailure, after: PageEvidence | None) -> bool:
    if pending.error != "stale_ref" or pending.refreshed or pending.refs is None:
        return False
    refs = None if after is None or after.n_refs == 0 else after.refs
    return refs is not None and _key("refs", refs) != pending.refs


def _goal(outcome: ToolOutcome) -> int:
    return _key("goal", outcome.target or outcome.call or outcome.tool)


def _state(page: PageEvidence | None) -> int | None:
    """A hash of the page's address, structure and text, and of an open dialog."""
    if page is None or (page.url is None and page.dom is None and page.text is None):
        return None
    dialog = "!" if page.dialog else ""
    return _key("state", dialog, page.schema, page.url or "", page.dom or "", page.text or "")


def _key(*parts: str) -> int:
    # Only the last part can be any text, so the separator keeps the parts apart.
    text = "\x1f".join(parts)
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES])


def history_to_json(history: StepHistory) -> bytes:
    """Write a history as JSON of less than 1 KB; equal histories give equal bytes."""
    pending = history.pending
    keys = b"".join(key.to_bytes(_KEY_BYTES) for key in history.seen)
    latest = ((step.call << 1 | step.fresh).to_bytes(_LOGGED_BYTES) for step in history.latest)
    record = {
        "schema": _SCHEMA,
        "keys": b64encode(keys).decode(),
        "counts": "".join(f"{count:x}" for count in history.seen.values()),
        "state": history.state,
        "pending": None if pending is None else list(pending),
        "steps": history.steps,
        "latest": b64encode(b"".join(latest)).decode(),
        "phase": [history.phase, history.since],
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def history_from_json(data: bytes | str) -> StepHistory:
    """The history that `history_to_json` wrote."""
    try:
        record: dict[str, Any] = json.loads(data)
        if record["schema"] != _SCHEMA:
            raise ValueError(f"schema {record['schema']!r:.50}")
        counts = [int(digit, 16) for digit in record["counts"]]
        seen = dict(zip(_numbers(record["keys"], _KEY_BYTES), counts, strict=True))
        if len(seen) > CAPACITY:
            raise ValueError(f"the history has {len(seen)} entries; at most {CAPACITY} are allowed")
        state = record["state"]
        pending = None if record["pending"] is None else _read_pending(record["pending"])
        phase, since = record["phase"]
        if phase not in _PHASES:
            raise ValueError(f"no phase {phase!r:.50}")
        state, latest = None if state is None else int(state), _read_latest(record["latest"])
        return StepHistory(seen, state, pending, int(record["steps"]), latest, phase, int(since))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadRecord(f"not a history: {type(error).__name__} {error!s:.200}") from error


def _numbers(text: str, size: int) -> list[int]:
    raw = b64decode(text, validate=True)
    return [int.from_bytes(raw[at : at + size]) for at in range(0, len(raw), size)]


def _read_latest(text: str) -> tuple[HistoryStep, ...]:
    size = len(b64decode(text, validate=True))
    if size % _LOGGED_BYTES or size > LATEST * _LOGGED_BYTES:
        raise ValueError(f"latest has {size} bytes, a wrong size for at most {LATEST} steps")
    return tuple(HistoryStep(n >> 1, bool(n & 1)) for n in _numbers(text, _LOGGED_BYTES))


def _read_pending(fields: list[Any]) -> PendingFailure:
    error, goal, effect, refs, refreshed, age = fields
    if error not in _ERRORS:
        raise ValueError(f"no error code {error!r:.50}")
    hash_ = None if refs is None else int(refs)
    return PendingFailure(error, int(goal), Effect(effect), hash_, bool(refreshed), int(age))


State: TypeAlias = Literal["running", "stuck", "blocked", "recovered", "done"]

REPEATS: Final = 3
"""The same call in the same state among the latest ones, this often."""
BARREN: Final = 8


class AgentStatus(NamedTuple):
    """The status of an agent after its latest step, and the step at which it began."""

    state: State
    since: int
    """The step, counted from 1, at which this began; 0 before the first one."""
    because: str
    cycle: int | None = None
    """After how many steps a stuck agent is back at the same call; `None` without a cycle."""


def status(history: StepHistory) -> AgentStatus:
    """The status of the agent, by the latest fifteen steps of its history."""
    if history.phase == "done":
        return AgentStatus("done", history.since, "the outcome contract passed")
    if history.phase == "blocked":
        return AgentStatus("blocked", history.since, "something stands in the agent's way")
    if stuck := _loop(history) or _standstill(history):
        return stuck
    if history.phase == "recovered":
        return AgentStatus("recovered", history.since, "what had failed before was achieved")
    return AgentStatus("running", history.since, "the latest steps led to something new")


def _loop(history: StepHistory) -> AgentStatus | None:
    latest = history.latest
    if not latest or latest[-1].fresh:
        return None
    places = [at for at, step in enumerate(latest) if step.call == latest[-1].call]
    if len(places) < REPEATS:
        return None
    since = history.steps - len(latest) + places[0] + 1
    because = f"the same call was made {len(places)} times in the same state"
    return AgentStatus("stuck", since, because, places[-1] - places[-2])


def _standstill(history: StepHistory) -> AgentStatus | None:
    barren = barren_steps(history.latest)
    if barren < BARREN:
        return None
    because = f"the latest {barren} steps led to nothing new"
    return AgentStatus("stuck", history.steps - barren + 1, because)
