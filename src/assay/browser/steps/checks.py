"""The checks of an outcome contract, each a question about the recorded facts of a page.

Patterns are plain text and `*`, matched in linear time, because page text is hostile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from assay.schema.evidence import Channel, PageFacts

TEXT_LIMIT: Final = 1_000_000
"""Characters of a text that are read; a longer one counts as cut there, as do the next two."""
ENTRY_LIMIT: Final = 10_000
ENTRY_TEXT_LIMIT: Final = 8_192

CheckCode: TypeAlias = Literal["holds", "differs", "fact_missing", "fact_stale", "fact_cut"]
TextOp: TypeAlias = Literal["equals", "contains", "prefix", "suffix", "glob"]
CountOp: TypeAlias = Literal["eq", "gte", "lte"]


@dataclass(frozen=True, slots=True)
class TextTest:
    """A test of a text, in linear time; runs of white space count as one space."""

    op: TextOp
    value: str
    ignore_case: bool = False

    def holds(self, text: str) -> bool:
        return _TEXT_OPS[self.op](self._fold(text), self._fold(self.value))

    def answer(self, text: str, *, cut: bool) -> CheckCode:
        """Test a text that may be cut; an uncertain result is `fact_cut`."""
        if len(text) > TEXT_LIMIT:
            text, cut = text[:TEXT_LIMIT], True
        holds = self.holds(text)
        if not cut:
            return "holds" if holds else "differs"
        return "holds" if holds and self.op in ("contains", "prefix") else "fact_cut"

    def _fold(self, text: str) -> str:
        folded = " ".join(text.split())
        return folded.casefold() if self.ignore_case else folded


def match_glob(text: str, pattern: str) -> bool:
    """Whether the whole text matches the pattern; `*` matches any text."""
    head, *rest = pattern.split("*")
    if not rest:
        return text == head
    *middle, tail = rest
    if not text.startswith(head) or len(text) < len(head) + len(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for piece in middle:
        start = text.find(piece, at, end)
        if start < 0:
            return False
        at = start + len(piece)
    return text.endswith(tail)


_TEXT_OPS: Final[Mapping[TextOp, Callable[[str, str], bool]]] = {
    "equals": lambda text, value: text == value,
    "contains": lambda text, value: value in text,
    "prefix": lambda text, value: text.startswith(value),
    "suffix": lambda text, value: text.endswith(value),
    "glob": match_glob,
}


@dataclass(frozen=True, slots=True)
class CountTest:
    """A test of a number of things."""

    op: CountOp
    value: int

    def answer(self, count: int, *, cut: bool) -> CheckCode:
        """Test a count; if the counted list was cut, the count is a lower bound."""
        if not cut:
            holds = {"eq": count == self.value, "gte": count >= self.value}
            return "holds" if holds.get(self.op, count <= self.value) else "differs"
        if self.op == "gte":
            return "holds" if count >= self.value else "fact_cut"
        return "differs" if count > self.value else "fact_cut"


@dataclass(frozen=True, slots=True)
class UrlCheck:
    """The address of the page."""

    test: TextTest
    kind: Literal["url"] = "url"
    channel: Channel = "url"

    def answer(self, facts: PageFacts) -> CheckCode:
        cut = "url" in facts.cut
        return "fact_missing" if facts.url is None else self.test.answer(facts.url, cut=cut)


@dataclass(frozen=True, slots=True)
class DomTextCheck:
    """A check of the visible text of the page or of one element."""

    test: TextTest
    selector: str | None = None
    kind: Literal["dom_text"] = "dom_text"
    channel: Channel = "text"

    def answer(self, facts: PageFacts) -> CheckCode:
        text = facts.text if self.selector is None else facts.texts.get(self.selector)
        if text is None:
            gone = self.selector is not None and facts.counts.get(self.selector) == 0
            return "differs" if gone else "fact_missing"
        return self.test.answer(text, cut="text" in facts.cut)


@dataclass(frozen=True, slots=True)
class DomCountCheck:
    """A check of how many elements match a selector."""

    selector: str
    test: CountTest
    kind: Literal["dom_count"] = "dom_count"
    channel: Channel = "counts"

    def answer(self, facts: PageFacts) -> CheckCode:
        count, cut = facts.counts.get(self.selector), "counts" in facts.cut
        return "fact_missing" if count is None else self.test.answer(count, cut=cut)


@dataclass(frozen=True, slots=True)
class NetworkCheck:
    """A check that the page sent a request with this address, method and status.

    With `since="step"`, only requests of the step count at which the facts were taken.
    """

    url: TextTest | None = None
    method: str | None = None
    status: tuple[int, ...] = ()
    since: Literal["start", "step"] = "start"
    kind: Literal["network"] = "network"
    channel: Channel = "network"

    def answer(self, facts: PageFacts) -> CheckCode:
        if facts.network is None:
            return "fact_missing"
        entries, cut = _newest(facts.network, cut="network" in facts.cut)
        now = facts.taken.get("network", facts.step)
        for entry in entries:
            fits = self.since == "start" or entry.step == now
            fits = fits and self.method in (None, entry.method.upper())
            if not fits or (self.status and entry.status not in self.status):
                continue
            answer = _check_entry(self.url, entry.url)
            if answer == "holds":
                return answer
            cut = cut or answer == "fact_cut"
        return "fact_cut" if cut else "differs"


@dataclass(frozen=True, slots=True)
class NoDialogCheck:
    """That no dialog is open."""

    kind: Literal["no_dialog"] = "no_dialog"
    channel: Channel = "dialog"

    def answer(self, facts: PageFacts) -> CheckCode:
        if facts.dialog is None:
            return "fact_missing"
        return "differs" if facts.dialog else "holds"


@dataclass(frozen=True, slots=True)
class ConsoleCheck:
    """A check of how many console messages have a level and a text."""

    test: CountTest
    level: str | None = None
    text: TextTest | None = None
    kind: Literal["console"] = "console"
    channel: Channel = "console"

    def answer(self, facts: PageFacts) -> CheckCode:
        if facts.console is None:
            return "fact_missing"
        entries, cut = _newest(facts.console, cut="console" in facts.cut)
        answers = [
            _check_entry(self.text, entry.text)
            for entry in entries
            if self.level is None or entry.level == self.level
        ]
        return self.test.answer(answers.count("holds"), cut=cut or "fact_cut" in answers)


@dataclass(frozen=True, slots=True)
class ScreenshotCheck:
    """A check that the screenshot's 64-bit hash is close to another hash."""

    hash: int
    max_distance: int
    kind: Literal["screenshot"] = "screenshot"
    channel: Channel = "shot"

    def answer(self, facts: PageFacts) -> CheckCode:
        if facts.shot is None:
            return "fact_missing"
        return "holds" if (facts.shot ^ self.hash).bit_count() <= self.max_distance else "differs"


DataOp: TypeAlias = Literal["equals", "contains", "gte", "lte", "exists"]


@dataclass(frozen=True, slots=True)
class DataCheck:
    """A check of an extracted value at a dotted key, such as `cart.0.price`."""

    key: str
    op: DataOp
    value: str | float | bool | None
    kind: Literal["data"] = "data"
    channel: Channel = "data"

    def answer(self, facts: PageFacts) -> CheckCode:
        if facts.data is None:
            return "fact_missing"
        exists, value = _at(facts.data, self.key)
        if self.op == "exists":
            holds = exists is self.value
        else:
            holds = exists and _data_holds(self.op, value, self.value)
        return "holds" if holds else "fact_cut" if "data" in facts.cut else "differs"


Check: TypeAlias = (
    UrlCheck
    | DomTextCheck
    | DomCountCheck
    | NetworkCheck
    | NoDialogCheck
    | ConsoleCheck
    | ScreenshotCheck
    | DataCheck
)


def _newest(entries: Sequence[Any], *, cut: bool) -> tuple[Iterable[Any], bool]:
    """The newest entries, and whether older entries were cut."""
    return entries[-ENTRY_LIMIT:], cut or len(entries) > ENTRY_LIMIT


def _check_entry(test: TextTest | None, text: str) -> CheckCode:
    cut = len(text) > ENTRY_TEXT_LIMIT
    return "holds" if test is None else test.answer(text[:ENTRY_TEXT_LIMIT], cut=cut)


def _at(data: Any, key: str) -> tuple[bool, Any]:
    value = data
    for part in key.split("."):
        index = int(part) if part.isdecimal() and len(part) < 10 else None
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, (list, tuple)) and index is not None and index < len(value):
            value = value[index]
        else:
            return False, None
    return True, value


def _data_holds(op: DataOp, value: Any, expected: str | float | bool | None) -> bool:
    if op == "equals":
        # True == 1 in Python; in JSON they are different values.
        return isinstance(value, bool) is isinstance(expected, bool) and bool(value == expected)
    if op == "contains" and isinstance(value, str):
        test = TextTest("contains", str(expected))
        return isinstance(expected, str) and test.holds(value[:TEXT_LIMIT])
    if op == "contains":
        return isinstance(value, (list, tuple)) and expected in value[:ENTRY_LIMIT]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    assert isinstance(expected, (int, float))
    return value >= expected if op == "gte" else value <= expected
