"""Pages as HTML or as JSON; hostile text is escaped and made visible."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from assay import __version__
from assay.formats.lines import dump_json
from assay.viewer.links import Links
from assay.viewer.pages.records import PageRecord
from assay.viewer.theme import GLYPHS, MEANINGS, bars, duration, money, plain, shade, signed, words
from assay.viewer.words import CAUSES, code_sentence, page_words

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
class _Page:
    """A wrapper that lets `asdict` convert the dataclasses inside a record."""

    record: PageRecord


def to_json(page: PageRecord) -> bytes:
    return dump_json(asdict(_Page(page))["record"])


class Templates:
    """The templates of the package; every value is made visible by `visible`, then escaped."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("assay.viewer"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            signed=signed, plain=plain, money=money, duration=duration, words=words, shade=shade,
            bars=bars, brief=brief, when=_when, coded=coded, count="{:,}".format,
            code_sentence=code_sentence, several=several, chance=chance, spaces=spaces,
        )  # fmt: skip
        sentences = page_words()
        self._environment.globals.update(
            version=__version__,
            glyphs=GLYPHS,
            meanings=MEANINGS,
            classes=sentences.classes,
            says={
                "word": sentences.words,
                "ending": sentences.endings,
                "verdict": sentences.verdicts,
                "cause": CAUSES,
            },
        )
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def render(self, template: str, page: Any, links: Links, **more: Any) -> str:
        return self._environment.get_template(template).render(page=page, links=links, **more)


def _finalize(value: Any) -> Any:
    # Markup comes from the templates themselves; anything else may come from a model.
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _when(stamp: str) -> str:
    """`2026-03-29T12:21:35.000Z` as `2026-03-29 12:21 UTC`."""
    return f"{stamp[:16].replace('T', ' ')} UTC" if stamp else ""


def several(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def spaces(text: str) -> str:
    """The text with visible marks for tabs, line breaks, and spaces at its ends."""
    inner = text.strip(" ")
    left = len(text) - len(text.lstrip(" "))
    shown = "␣" * left + inner + ("␣" * (len(text) - left - len(inner)) if inner else "")
    return shown.replace("\t", "⇥").replace("\xa0", "⟨U+00A0⟩").replace("\n", "↵\n")


def chance(p: float) -> str:
    """A p-value with three significant digits, or as `< 0.0001`."""
    return "< 0.0001" if p < 0.0001 else f"= {p:.3g}"


def brief(text: str, most: int = 200) -> str:
    """The text; a text longer than `most` is cut, and its length is added."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def coded(text: str) -> Markup:
    """The text as HTML, with parts between backticks as code."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece)
        for i, piece in enumerate(pieces)
    )


def visible(text: str) -> str:
    """The text with visible symbols for control characters and hidden characters.

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
