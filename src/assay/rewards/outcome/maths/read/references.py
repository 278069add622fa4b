"""What data sets do to references: commands whose backslash JSON ate, and prose.

A file that writes `\\frac` where JSON wants two backslashes is read as a form feed and `rac`. That
is put right where only one command can have stood there. What is left of them has no reading.
"""

from __future__ import annotations

import re
from typing import Final

from assay.rewards.outcome.maths.read.lexicon import EATEN
from assay.text.slices import Cut, VisibleText, matches

_CONTROLS: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
"""What a file makes of a backslash before each of these letters."""
_EATEN_COMMAND: Final = re.compile(
    r"\\?(?:" + "|".join(_CONTROLS[name[0]] + name[1:] for name in EATEN) + ")(?![a-z])"
)
_LONGEST_COMMAND: Final = 16
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LETTERS: Final = {control: letter for letter, control in _CONTROLS.items()}
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
