"""The target and the effect of one step of a tab, and the retries that a page offers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.browser.observe.inputs import NativeDialog, SeenInput
from assay.browser.observe.observer import PageObserver
from assay.browser.observe.requests import RequestLog
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.outcome.notices import new_texts
from assay.browser.outcome.risk import effect_of, effect_seen, is_bin, is_question, promises_look
from assay.schema.evidence import StepEvents
from assay.schema.outcome import Effect, ToolOutcome, reported_failure

TOOLS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("go_back", "navigate_back"), "back"),
    **dict.fromkeys(("navigate", "open", "new_page"), "goto"),
    **dict.fromkeys(("wheel", "scroll_into_view_if_needed"), "scroll"),
    **dict.fromkeys(
        ("noop", "wait_for_timeout", "wait_for_selector", "wait_for", "wait_for_load_state"), "wait"
    ),
    **dict.fromkeys(("type", "press_sequentially", "insert_text", "clear"), "fill"),
    "select_option": "select",
}
"""Other names of what the rules know by one."""
SCROLL_KEYS: Final = frozenset("pagedown pageup home end arrowdown arrowup space".split()) | {" "}
FIELD_TOOLS: Final = frozenset(("fill", "select", "upload"))
"""Tools that put something into one field."""
PRESSES: Final = frozenset(("click", "press"))
DRAGS: Final = frozenset(("drag", "drag_to", "drag_and_drop"))
ERASING_KEYS: Final = frozenset(("delete", "backspace"))


@dataclass(frozen=True, slots=True)
class TargetedStep:
    """One step with its target, from the driver's arguments and from the page's events."""

    name: str
    """Of the tool, as the driver calls it."""
    arguments: Mapping[str, Any]
    named: SeenInput | None
    before: PageSnapshot | None
    observer: PageObserver

    @property
    def tool(self) -> str:
        """The name of the tool in the rules."""
        return TOOLS.get(self.name, self.name)

    @property
    def target(self) -> SeenInput | None:
        """The target of the step: the element that received input, or that the arguments name."""
        if self.tool == "fill" and self.named is not None:
            return self.named
        inputs = self.observer.step.inputs
        return next((seen for seen in inputs if seen.kind in PRESSES), self.named)

    @property
    def fills(self) -> bool:
        """Whether the step puts a value into one field."""
        return self.tool in FIELD_TOOLS

    @property
    def presses(self) -> bool:
        """Whether the step clicks or presses a known element."""
        return self.tool in PRESSES and self.target is not None

    @property
    def _key(self) -> str:
        return str(self.arguments.get("value", self.arguments.get("key", ""))).lower()

    def effect(self, *, moved: bool) -> Effect:
        """The effect of the step; `moved` says whether the page scrolled."""
        inputs = self.observer.step.inputs
        if self.tool == "press" and not inputs and moved:
            return Effect.READ if self._key in SCROLL_KEYS else Effect.BROWSER
        effect = effect_of(self.tool)
        pressed = [seen for seen in inputs if seen.kind in PRESSES]
        if not inputs and self.named is not None and self.tool in PRESSES:
            pressed = [self.named]
        if self.tool in DRAGS and any(is_bin(seen.name) for seen in inputs if seen.kind == "drop"):
            effect = Effect.DESTRUCTIVE
        for seen in pressed:
            effect = max(effect, _effect_of_input(seen))
        return _after_dialogs(effect, self.observer.step.dialogs)

    def effect_on(self, after: PageSnapshot, *, moved: bool, database: bool) -> Effect:
        """The effect of the step, by its requests and by the page after it.

        `database` says whether the site may have a database in this browser.
        """
        effect = self._effect_by_traffic(self.effect(moved=moved), after, database=database)
        shows = effect == Effect.BROWSER and self._only_shows(after, moved=moved)
        return Effect.READ if shows else effect

    def _effect_by_traffic(self, effect: Effect, after: PageSnapshot, *, database: bool) -> Effect:
        if effect >= Effect.DESTRUCTIVE:
            return Effect.BROWSER if self._stays_here(after, database=database) else effect
        if effect == Effect.READ or self.tool not in (*PRESSES, *DRAGS):
            return effect
        typed = next((seen for seen in self.observer.step.inputs if seen.kind == "enter"), None)
        aimed = typed or self.target
        # A key that deletes what is marked does not press the element.
        erases = self.tool == "press" and self._key.rpartition("+")[2] in ERASING_KEYS
        return effect_seen(
            effect,
            role="" if aimed is None else aimed.role,
            name="" if aimed is None or self.tool in DRAGS or erases else aimed.name,
            texts=new_texts(after, self.before),
            written=[line for log in self.observer.logs for line in log.written()],
            addresses=[url for log in self.observer.logs for url in log.risky_addresses()],
            answers=typed is not None,
        )

    def _only_shows(self, after: PageSnapshot, *, moved: bool) -> bool:
        """Whether a click only showed another part of the same page."""
        target, before = self.target, self.before
        if self.tool != "click" or target is None or before is None:
            return False
        if self.observer.reached_out or after.stored or after.place != before.place:
            return False
        same = after.steady == before.steady
        if target.jumps or same:
            return target.jumps and moved and same
        # A question that brings something to do is more than its answer.
        answers = is_question(target.name) and set(after.steady_refs) == set(before.steady_refs)
        return answers or promises_look(target.name)

    def _stays_here(self, after: PageSnapshot, *, database: bool) -> bool:
        """Whether the step changed only the page itself, and nothing outside it."""
        observer, before = self.observer, self.before
        if before is None or observer.reached_out or observer.step.dialogs:
            return False
        if database or after.stored or after.busy or after.waited:
            return False
        pressed = any(seen.kind in (*PRESSES, "drop") for seen in observer.step.inputs)
        return pressed and after.steady != before.steady


def _effect_of_input(seen: SeenInput) -> Effect:
    names = ("role", "name", "dialog", "recipient", "around", "near")
    return effect_of("click", **{name: getattr(seen, name) for name in names})


def _after_dialogs(effect: Effect, dialogs: Sequence[NativeDialog]) -> Effect:
    """The effect after the answers to the browser's questions, such as a declined `confirm`."""
    questions = [dialog for dialog in dialogs if dialog.kind in ("confirm", "prompt")]
    if questions and not any(question.accepted for question in questions):
        return min(effect, Effect.BROWSER)
    for text in (question.message for question in questions if question.accepted):
        asked_for = effect_of("click", role="button", name="ok", dialog=text, around=text)
        effect = max(effect, asked_for)
    return effect


def came_back(snapshot: PageSnapshot, before: PageSnapshot | None, requests: RequestLog) -> int:
    """The number of submitted forms that the next page shows again."""
    if before is None or not requests.submitted:
        return 0
    sent = {fields for fields, _, _ in before.sendable}
    return sum(fields in sent and (secret or typed) for fields, secret, typed in snapshot.sendable)


class RetryElements:
    """Remembers the elements that a page offers after a failed step, to try again."""

    def __init__(self) -> None:
        self._goal: str | None = None
        self._offers: frozenset[tuple[str, str]] = frozenset()
        self._refused: frozenset[str] = frozenset()

    def goal(self, role: str, name: str, *, written: Collection[str] = ()) -> str | None:
        """The goal of the failed step, if this step tries to achieve the same goal.

        Its element came with the failure, or it sent a request that had been refused.
        """
        again = not self._refused.isdisjoint(written)
        return self._goal if again or (role, name) in self._offers else None

    def note(
        self,
        outcome: ToolOutcome,
        events: StepEvents | None,
        before: PageSnapshot | None,
        after: PageSnapshot,
        *,
        refused: Collection[str] = (),
    ) -> None:
        """Remember the elements that appeared with a failure; a later action forgets them."""
        failed = events is not None and reported_failure(events) is not None
        if outcome.error is not None or outcome.block is not None or not failed:
            if outcome.effect != Effect.READ:
                self._goal, self._offers, self._refused = None, frozenset(), frozenset()
            return
        self._goal, self._refused = outcome.target or outcome.call, frozenset(refused)
        # Without the page before, it is not known what came with the failure.
        known = after if before is None else before
        self._offers = frozenset(after.steady_refs) - frozenset(known.steady_refs)
