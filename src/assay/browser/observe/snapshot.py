"""A snapshot of a page, with its text and its digests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.browser.observe.digest import page_evidence
from assay.schema.blocking import BlockCode, block_note
from assay.schema.evidence import PageEvidence

_NUMBER: Final = re.compile(r"\[\d+\] ")


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """The content of a page at one moment, as `snapshot.js` read it."""

    url: str
    place: str
    """The address without an anchor that is on the page."""
    wall: str
    """What covers the page: `login`, `captcha`, `gate`; `lone` for a page that is but a login."""
    sendable: tuple[tuple[str, bool, bool], ...]
    """Forms: their fields, whether one is a password, whether something was typed."""
    title: str
    text: str
    """What an agent reads: lines, with numbered elements."""
    plain: str
    """The visible text alone."""
    steady: str
    """The lines without what changes or came up by itself."""
    steady_refs: tuple[tuple[str, str], ...]
    """Role and name of the elements in the steady lines."""
    refused: tuple[int, ...]
    """Numbers of fields that were refused since the call began; 0 for what has no number."""
    own: int
    """How many of these are about the field of the call."""
    holds: bool | None
    """Whether the field of the call holds what was to be put in."""
    copies: int
    popups: int
    closed: int
    """Overlays that had come by themselves, and are gone."""
    messages: tuple[tuple[str, str, bool], ...]
    """Short texts that came with the call: text, mark (`red`, `message`, `good` or none), and
    whether it stands by the field of the call."""
    busy: bool
    """Whether the page says that the end is still to come: a bar, a wheel, dots."""
    stored: bool
    """Whether what the page keeps in the browser has changed since the call began."""
    waited: bool
    """Whether it has said so in the meantime."""
    rested: bool
    """Whether the page was told with this look that the step is over."""
    hosts: int
    """Elements that may have a closed root that has not been read yet."""
    suspects: int
    """Places that may change by themselves; a little time will show."""
    scrolls: str
    """Where parts of the page that scroll by themselves are."""
    omitted: int
    """Characters that did not fit into the budget."""
    short: bool
    """Whether the page is too large to have been visited to its end."""
    refs: tuple[tuple[int, str, str], ...]
    """Number, role and name of every element that can be acted on."""
    next_ref: int
    """The number for the next element that is seen for the first time."""
    skeleton: tuple[str, ...]
    forms: int
    """A hash of everything typed into the page."""
    counts: dict[str, int]
    texts: dict[str, str]
    scroll: tuple[int, int, int]
    """Where the window is, how high the page is, how high the window is."""
    width: int
    focus: tuple[float, float, float, float] | None
    """Where the field is that has the caret."""
    restless: tuple[tuple[float, float, float, float], ...]
    """Where there is something that changes or came up by itself."""
    drawn: tuple[tuple[float, float, float, float], ...]
    """Where there are pictures, and what the call has touched."""
    pictures: bool
    """Whether there is one that can be seen."""
    inner: str = ""
    """What the frames of other sites show, as `text` is."""

    def evidence(self, *, sent: Mapping[str, int] | None = None) -> PageEvidence:
        """The digests of the page and its requests, without the numbers of elements."""
        # Written so that the digest does not take it for a running number, which it masks.
        rest = f"\ntyped-{self.forms:x} omitted-{self.omitted.bit_length()}"
        return page_evidence(
            url=self.place,
            text=_NUMBER.sub("", self.steady) + rest,
            counts={},
            landmarks=self.skeleton,
            sent=sent or {},
            refs=self.steady_refs,
            dialog=False,
        )

    def render(
        self, message: str, block: BlockCode | None, *, notes: Sequence[str], chars: int
    ) -> str:
        """The page as text for the agent, with at most `chars` characters of the page."""
        position, height, window = self.scroll
        lines = [f"url: {self.url}", f"title: {self.title}"]
        if height > window + 10:
            lines.append(f"scrolled to {position} of {height - window} pixels")
        lines += [f"note: {note}" for note in notes]
        if block is not None:
            lines.append(block_note(block))
        if message:
            lines.append(message)
        text = self.text
        if len(text) > chars:
            text = text[: max(text.rfind("\n", 0, chars + 1), 0)] or text[:chars]
        lines += ["", text]
        omitted = self.omitted + len(self.text) - len(text)
        if omitted:
            lines.append(f"… {omitted:,} characters not shown; scroll or narrow down")
        if self.short:
            lines.append("… the page is too large to be read to its end")
        return "\n".join(lines)


def read_snapshot(answer: str) -> PageSnapshot:
    """Read the snapshot from the script's answer."""
    return PageSnapshot(**{name: _frozen(value) for name, value in json.loads(answer).items()})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def with_frame(page: PageSnapshot, frame: PageSnapshot) -> PageSnapshot:
    """Add the content of another site's frame to the page; its elements get no numbers."""
    return replace(
        page,
        plain=f"{page.plain}\n{frame.plain}",
        inner=f"{page.inner}\n{frame.text}",
        wall=page.wall or frame.wall,
        messages=page.messages + frame.messages,
        busy=page.busy or frame.busy,
        stored=page.stored or frame.stored,
        waited=page.waited or frame.waited,
        rested=page.rested and frame.rested,
        steady=f"{page.steady}\n{frame.steady}\ntyped-{frame.forms:x}",
        steady_refs=page.steady_refs + frame.steady_refs,
        refused=page.refused + (0,) * len(frame.refused),
        own=page.own + frame.own,
        holds=frame.holds if page.holds is None else page.holds,
        copies=page.copies + frame.copies,
        popups=page.popups + frame.popups,
        suspects=page.suspects + frame.suspects,
        scrolls=f"{page.scrolls} {frame.scroll[0]} {frame.scrolls}",
    )


def render_payload(url: str, payload: str, *, chars: int) -> str:
    """The result of `fetch_json` as text for the agent, with at most `chars` characters."""
    cut = len(payload) - chars
    mark = f"\n… {cut:,} characters not shown; ask for less" if cut > 0 else ""
    return f"result of fetch_json {url[:300]}:\n{payload[:chars]}{mark}"
