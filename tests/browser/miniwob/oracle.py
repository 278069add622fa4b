"""Scripted solvers that read the goal and the observation, as an agent would, and nothing else.

They prove that a page can be solved with the actions that there are, and that its reward is paid.
A policy is a generator: it yields an action and is sent the view that came of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.errors import BadParameter, BadRecord

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
        match = _VALUE.search(self.state)
        return str(json.loads(match[1])) if match else ""


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


Turns: TypeAlias = Generator[str, View, None]
Policy: TypeAlias = Callable[[View], Turns]
NOTHING: Final = "noop()"


class Oracle:
    """The solver of one page; a fresh one for every episode."""

    def __init__(self, page: str) -> None:
        if page not in POLICIES:
            raise BadParameter(f"there is no oracle for {page!r}; there are {sorted(POLICIES)}")
        self._policy = POLICIES[page]
        self._turns: Turns | None = None

    def act(self, observation: str) -> str:
        """The next action; `noop()` when the policy has no more."""
        view = read_view(observation)
        try:
            if self._turns is None:
                self._turns = self._policy(view)
                return next(self._turns)
            return self._turns.send(view)
        except StopIteration:
            return NOTHING


def _click(element: Element | None) -> str:
    return NOTHING if element is None else f"click({json.dumps(element.ref)})"


def _fill(element: Element, text: str) -> str:
    return f"fill({json.dumps(element.ref)}, {json.dumps(text)})"


def _submit(view: View, *names: str) -> str:
    for name in (*names, "Submit"):
        match = view.named(name)
        if match is not None:
            return _click(match)
    return NOTHING


def _fields(view: View) -> list[Element]:
    return view.of_role("textbox", "password", "spinbutton", "date")


def _only_button(view: View) -> Turns:
    yield _click(view.of_role("button")[0])


def _button_one(view: View) -> Turns:
    yield _click(view.named("ONE", "button"))


def _buttons_in_turn(view: View) -> Turns:
    view = yield _click(view.named("ONE"))
    yield _click(view.named("TWO"))


def _quoted_name(view: View) -> Turns:
    yield _click(view.named(view.quoted()[0]))


def _quoted_button(view: View) -> Turns:
    yield _click(view.named(view.quoted()[0], "button"))


def _close(view: View) -> Turns:
    yield _click(view.named("Close", "button"))


def _dialog_button(view: View) -> Turns:
    target = view.quoted()[0]
    yield _click(view.named("Close" if target == "x" else target, "button"))


def _boxes(view: View) -> Turns:
    """Tick what the goal lists between "Select" and "and click"."""
    listed = view.goal.removeprefix("Select ").rpartition(" and click")[0]
    for name in listed.split(", "):
        box = view.named(name, "checkbox", "radio")
        if box is not None:
            view = yield _click(box)
    yield _submit(view)


def _numbered_tab(view: View) -> Turns:
    number = re.search(r"Tab #\d+", view.goal)
    yield _click(view.named(number[0], "tab") if number else None)


def _link_behind_a_tab(view: View) -> Turns:
    target = view.quoted()[0]
    for tab in [element.name for element in view.of_role("tab")]:
        match = view.named(target, "clickable", "link")
        if match is not None:
            break
        view = yield _click(view.named(tab, "tab"))
    yield _click(view.named(target, "clickable", "link"))


def _from_the_list(view: View) -> Turns:
    target = view.goal.removeprefix("Select ").partition(" from the list")[0]
    box = view.of_role("combobox")[0]
    view = yield f"select({json.dumps(box.ref)}, {json.dumps(target)})"
    yield _submit(view)


def _quoted_text(view: View) -> Turns:
    view = yield _fill(_fields(view)[0], view.quoted()[0])
    yield _submit(view)


def _quoted_text_in_case(view: View) -> Turns:
    word = view.quoted()[0]
    text = word.upper() if "upper case" in view.goal else word.lower()
    view = yield _fill(_fields(view)[0], text)
    yield _submit(view)


def _same_in_all_fields(view: View) -> Turns:
    word = view.quoted()[0]
    for position in range(len(_fields(view))):
        view = yield _fill(_fields(view)[position], word)
    yield _submit(view)


def _login(view: View) -> Turns:
    user, password = view.quoted()[:2]
    view = yield _fill(_fields(view)[0], user)
    view = yield _fill(_fields(view)[1], password)
    yield _submit(view, "Login")


def _date(view: View) -> Turns:
    match = re.search(r"(\d\d)/(\d\d)/(\d{4})", view.goal)
    month, day, year = match.groups() if match else ("01", "01", "2000")
    view = yield _fill(_fields(view)[0], f"{year}-{month}-{day}")
    yield _submit(view)


def _focus(view: View) -> Turns:
    number = re.search(r"\d+", view.goal)
    yield _click(_fields(view)[int(number[0]) - 1 if number else 0])


def _nth_word(view: View) -> Turns:
    number = re.search(r"\d+", view.goal)
    words = view.of_role("clickable")[0].name.split()
    word = words[int(number[0]) - 1 if number else 0].strip(".,")
    view = yield _fill(_fields(view)[0], word)
    yield _submit(view)


def _table_value(view: View) -> Turns:
    label = view.goal.removeprefix("Enter the value of ").partition(" into the text field")[0]
    view = yield _fill(_fields(view)[0], view.rows()[label])
    yield _submit(view)


def _labelled_values(view: View) -> Turns:
    labels = [e.name.rstrip(":") for e in view.of_role("clickable") if e.name.endswith(":")]
    for position, label in enumerate(labels):
        view = yield _fill(_fields(view)[position], view.rows()[label])
    yield _submit(view)


def _sum(view: View) -> Turns:
    left, sign, right = view.of_role("clickable")[0].name.rstrip(" =").split()
    view = yield _fill(_fields(view)[0], str(_apply(int(left), sign, int(right))))
    yield _submit(view)


def _apply(left: int, sign: str, right: int) -> int:
    return {"+": left + right, "-": left - right, "x": left * right}[sign]


def _solve_equation(view: View) -> Turns:
    """Solve `3 + x = 8`, `x - 3 = 8` and `3 - x = 8`."""
    left, sign, right, _, result = view.of_role("clickable")[0].name.split()
    if left != "x":
        answer = int(result) - int(left) if sign == "+" else int(left) - int(result)
    else:
        answer = int(result) - int(right) if sign == "+" else int(result) + int(right)
    view = yield _fill(_fields(view)[0], str(answer))
    yield _submit(view)


def _odd_or_even(view: View) -> Turns:
    numbers = [e for e in view.of_role("clickable") if re.fullmatch(r"-?\d+", e.name)]
    for position, number in enumerate(numbers):
        name = "Odd" if int(number.name) % 2 else "Even"
        buttons = [e for e in view.elements if e.role == "button" and e.name == name]
        view = yield _click(buttons[position])
    yield _submit(view)


def _guess(view: View) -> Turns:
    """Halve the range at every answer."""
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        view = yield _fill(_fields(view)[0], str(middle))
        view = yield _submit(view)
        text = " ".join(view.lines).lower()
        if "higher" in text:
            low = middle + 1
        else:
            high = middle - 1


def _tree(view: View) -> Turns:
    """Open one folder after the other until the name is there."""
    target = view.quoted()[0]
    opened: set[str] = set()
    while view.named(target) is None:
        closed = [e for e in view.of_role("clickable", "link") if e.ref not in opened]
        if not closed:
            return
        opened.add(closed[0].ref)
        view = yield _click(closed[0])
    yield _click(view.named(target))


def _section(view: View) -> Turns:
    view = yield _click(view.of_role("tab")[0])
    yield _submit(view)


def _copied(view: View) -> Turns:
    source, target = _fields(view)[:2]
    view = yield _fill(target, source.value)
    yield _submit(view)


def _letters(view: View) -> Turns:
    text = "".join(element.name for element in view.of_role("clickable"))
    view = yield _fill(_fields(view)[0], text)
    yield _submit(view)


def _movie(view: View) -> Turns:
    match = re.search(r"for (.+) movies directed by (.+) from year (\d+)", view.goal)
    genre, director, year = match.groups() if match else ("", "", "")
    texts = {"Genre": genre, "Director": director, "Year": year}
    for label in list(view.rows()):
        ref = re.search(r"\[(\d+)\]", view.rows()[label])
        if ref and label in texts:
            view = yield f"fill({json.dumps(ref[1])}, {json.dumps(texts[label])})"
    yield _submit(view)


POLICIES: Final[Mapping[str, Policy]] = {
    "choose-list": _from_the_list,
    "click-button": _quoted_button,
    "click-button-sequence": _buttons_in_turn,
    "click-checkboxes": _boxes,
    "click-checkboxes-large": _boxes,
    "click-checkboxes-transfer": _boxes,
    "click-collapsible": _section,
    "click-collapsible-nodelay": _section,
    "click-dialog": _close,
    "click-dialog-2": _dialog_button,
    "click-link": _quoted_name,
    "click-option": _boxes,
    "click-tab": _numbered_tab,
    "click-tab-2": _link_behind_a_tab,
    "click-tab-2-easy": _link_behind_a_tab,
    "click-tab-2-hard": _link_behind_a_tab,
    "click-tab-2-medium": _link_behind_a_tab,
    "click-test": _only_button,
    "click-test-2": _button_one,
    "click-test-transfer": _button_one,
    "copy-paste": _copied,
    "enter-date": _date,
    "enter-password": _same_in_all_fields,
    "enter-text": _quoted_text,
    "enter-text-2": _quoted_text_in_case,
    "enter-text-dynamic": _quoted_text,
    "find-word": _nth_word,
    "focus-text": _focus,
    "focus-text-2": _focus,
    "guess-number": _guess,
    "login-user": _login,
    "multi-orderings": _movie,
    "navigate-tree": _tree,
    "odd-or-even": _odd_or_even,
    "read-table": _table_value,
    "read-table-2": _labelled_values,
    "simple-algebra": _solve_equation,
    "simple-arithmetic": _sum,
    "text-transform": _letters,
    "unicode-test": _quoted_button,
}
"""The pages that have a solver."""
