"""Hostile text made visible: nothing in it can drive a page, a terminal or a reader's eye."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HIDDEN = re.compile(
    "\r\n?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\xad"  # controls but tab and line break, the soft hyphen
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"  # invisible, reordering
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"  # letters that are blank
    "\ufe00-\ufe0d\U000e0000-\U000e0fff"  # selectors and tags, in which text can be hidden
    "\ud800-\udfff]"  # half a character
)
_CONTROL_PICTURES = 0x2400
_DELETE = 0x7F


@dataclass(frozen=True, slots=True)
class CutText:
    """A text as far as a page shows it."""

    text: str
    chars: int
    """Of the whole."""

    @property
    def left_out(self) -> int:
        return self.chars - len(self.text)


def cut_text(text: str, most: int) -> CutText:
    """The first `most` characters, and how many there are."""
    return CutText(text[:most], len(text))


def brief(text: str, most: int = 200) -> str:
    """The text; of a longer one the beginning, and how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def visible(text: str) -> str:
    """The text with a symbol for everything that would act instead of show.

    Control characters become their pictures, escape sequences among them; what reorders or hides
    text, and half a surrogate pair, becomes its code point. Line breaks and tabs stay.
    """
    return _HIDDEN.sub(_picture, text) if _HIDDEN.search(text) else text


def _picture(match: re.Match[str]) -> str:
    hidden = match.group()
    if hidden == "\r\n":
        return "\n"
    code = ord(hidden)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    return "␡" if code == _DELETE else f"⟨U+{code:04X}⟩"
