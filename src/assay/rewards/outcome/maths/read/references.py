"""What data sets do to references: commands whose backslash JSON ate, and prose.

A file that writes `\\frac` where JSON wants two backslashes is read as a form feed and `rac`. That
is put right where only one command can have stood there. What is left of them has no reading.
"""

from __future__ import annotations

import re
from typing import Final

from assay.text.slices import Cut, VisibleText, matches

_EATEN: Final = {
    "\a": "alpha angle approx arccos arcsin arctan",
    "\b": "bar bullet begin beta bigcap bigcup bigl bigr binom bmod boxed bot bf big",
    "\f": "fbox flat forall frac",
    "\n": "nabla natural neg neq nexists nmid not notin nleq ngeq",
    "\r": "rangle rbrace rceil rfloor rho right rightarrow rvert",
    "\t": "tan tanh tau text textbf textit textrm tfrac theta therefore tilde times top triangle",
    "\v": "varepsilon varnothing varphi vartheta vec vee vert",
}
"""Commands by the character that their backslash and first letter become."""
_EATEN_COMMAND: Final = re.compile(
    r"\\?(?:"
    + "|".join(
        f"{re.escape(character)}(?:{'|'.join(name[1:] for name in names.split())})(?![a-z])"
        for character, names in _EATEN.items()
    )
    + ")"
)
_LONGEST_COMMAND: Final = 16
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LETTERS: Final = dict(zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True))
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_FORMULA: Final = re.compile(r"[\\$=^_<>]")
PROSE_WORDS: Final = 6


def repair_escapes(reference: str) -> str | None:
    r"""The reference with the commands that JSON ate; `None` if a control character is left.

    A tab, a line's end or a carriage return is layout unless the rest of a command follows it.
    """
    eaten = matches(_EATEN_COMMAND, reference, longest=_LONGEST_COMMAND)
    repaired = VisibleText(reference)
    repaired.leave_out(Cut(*match.span(), _command(match[0])) for match in eaten)
    return None if _CONTROL.search(repaired.text) else repaired.text


def _command(eaten: str) -> str:
    rest = eaten.removeprefix("\\")
    return f"\\{_LETTERS[rest[0]]}{rest[1:]}"


def is_prose(reference: str) -> bool:
    """Whether the reference is a sentence, which no answer equals but its own words."""
    return not _FORMULA.search(reference) and len(_WORD.findall(reference)) >= PROSE_WORDS
