"""Names of runs and attempts that are safe as file names."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

_NAME = re.compile(
    r"(?!(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z))[A-Za-z0-9][A-Za-z0-9._-]{0,199}(?<!\.)"
)
"""Not the name of a device, and no dot at the end, which Windows drops."""


def is_name(text: str) -> bool:
    """Whether the text is a safe file name on every file system."""
    return _NAME.fullmatch(text) is not None


def name_problem(text: str) -> str:
    """The error message for a text that is not a valid name."""
    return (
        f"{text[:80]!r} is not safe as a file name; "
        "use at most 200 letters, digits, dots, dashes and underscores, a letter or digit first, "
        "no dot last, and no name of a device (CON, NUL, COM1)"
    )


def _checked(text: str) -> str:
    if not is_name(text):
        raise ValueError(name_problem(text))
    return text


Name: TypeAlias = Annotated[str, AfterValidator(_checked)]
"""The id of a run or an attempt in a record; anything else is refused when it is read."""
NameOrEmpty: TypeAlias = Annotated[str, AfterValidator(lambda text: text and _checked(text))]
"""An id that may still have to be given."""
