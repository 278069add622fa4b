"""An observation of MiniWoB++ taken apart again: the goal, and the elements by role and name."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from assay.errors import BadRecord

_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"'
_ELEMENT: Final = re.compile(rf"\[(\d+)\] (\w+) ({_TEXT})((?: \w+={_TEXT}| [^\s\[]\S*)*)")
_VALUE: Final = re.compile(rf"\bvalue=({_TEXT})")
_QUOTED: Final = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Element:
    """Something on the page that can be acted on."""

    ref: str
    role: str
    name: str
    state: str
    """What the line says after the name: a value, options, whether it is checked."""

    @property
    def value(self) -> str:
        """What is typed into it or chosen in it."""
        found = _VALUE.search(self.state)
        return str(json.loads(found[1])) if found else ""


@dataclass(frozen=True, slots=True)
class View:
    """What an observation says."""

    goal: str
    lines: tuple[str, ...]
    """The page, line by line."""
    elements: tuple[Element, ...]

    def quoted(self) -> list[str]:
        """The words in quotation marks in the goal."""
        return _QUOTED.findall(self.goal)

    def of_role(self, *roles: str) -> list[Element]:
        """The elements with one of these roles, in the order of the page."""
        return [element for element in self.elements if element.role in roles]

    def named(self, name: str, *roles: str) -> Element | None:
        """The first element with this name, of one of these roles if any are given."""
        for element in self.elements:
            if element.name == name and (not roles or element.role in roles):
                return element
        return None

    def rows(self) -> dict[str, str]:
        """The second cell of every table row by its first."""
        cells = [line.strip()[4:].split(" | ") for line in self.lines if line.strip()[:4] == "row "]
        return {row[0]: row[1] for row in cells if len(row) > 1}


def read_view(text: str) -> View:
    """The view that an observation's text gives."""
    head, _, page = text.partition("\n\n")
    goal = re.search(r"^goal: (.*)$", head, re.MULTILINE)
    if goal is None:
        raise BadRecord(f"this observation names no goal: {text[:200]!r}")
    elements = [
        Element(ref, role, str(json.loads(name)), state.strip())
        for ref, role, name, state in _ELEMENT.findall(page)
    ]
    return View(goal[1], tuple(page.splitlines()), tuple(elements))
