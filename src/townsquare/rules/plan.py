"""Plans for questions: a plan chooses the next move on the current page.

The rules keep no state: each move follows from the plan and from all the pages so far.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.lazy import package_table
from assay.schema.action import ActionCall
from townsquare.rules import conclusions
from townsquare.rules.conclusions import Conclusion, Row, Value, Words
from townsquare.rules.dialogue import Dialogue
from townsquare.rules.terms import DAY, MONTHS, iso
from townsquare.rules.view import Element, Page

MAX_WAITS = 4
"""How often to wait for one page that says it is loading."""
NEXT = "Next page"
FILLS = ("fill", "select")
_WORD = re.compile(r"[a-z0-9]{3,}")
_NAME = re.compile(r"'([^']{3,200})'|([A-Z]\w*(?: (?:and |of )?[A-Z]\w*)*)")
_TRUSTED = re.compile(
    r"\b(official|register|current|archive|office|council|museum|minutes|tables)\b", re.IGNORECASE
)
_DOUBTFUL = re.compile(
    r"\b(mirror|unofficial|classic|old|fast|free|quick|deals?|compare|instant|live|no queue|"
    r"report|gazette|always)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Move:
    """The next action, or the answer, with a thought."""

    think: str
    call: ActionCall | None = None
    answer: Value | None = None


def no_conclusion(_: Words, rows: Sequence[Row]) -> Value | None:  # noqa: ARG001
    """Return no answer, for plans without a conclusion."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan: where an answer is, how to get there, and how to read it; see `plans.toml`."""

    words: Words
    """What the question names."""
    conclusion: Conclusion = no_conclusion
    query: str = ""
    links: Sequence[str] = ()
    columns: Sequence[str] = ()
    fields: Sequence[Sequence[str]] = ()
    title: str = ""
    facts: Sequence[Sequence[str]] = ()

    def move(self, dialogue: Dialogue) -> Move:
        """What to do now."""
        page = dialogue.page
        rows = _collect_rows(self, dialogue)
        if dialogue.must_answer:
            return Move("There is no time left; this is what I have.", answer=self.conclude(rows))
        if page.obstacle or page.error:
            return _leave(self, dialogue)
        if page.loading and _count_waits(dialogue) < MAX_WAITS:
            return Move("The page is still loading.", ActionCall("noop"))
        if not _is_filling(dialogue) and self.read(page) is not None and _form_done(self, page):
            following = page.link(NEXT)
            if following is not None and following.target not in dialogue.visited():
                return Move("The list goes on.", ActionCall("click", (following.id,)))
            value = self.conclude(rows)
            if value is not None:
                return Move(f"The page {page.title!r} answers the question.", answer=value)
        return _approach(self, dialogue)

    def read(self, page: Page) -> Sequence[Row] | None:
        """Return the rows that a page contributes; `None` if the page is not the right one."""
        rows = page.rows(*self.columns) if self.columns else None
        if rows is None or not page.title.startswith(self.title):
            return None
        entries = [list(row.values()) for row in rows]
        return rows if all(fact in entries for fact in self.facts) else None

    def conclude(self, rows: Sequence[Row]) -> Value | None:
        """Return the answer from the rows of all pages, or `None`."""
        return self.conclusion(self.words, rows)


def plan_of(name: str, words: Words, conclusion: Conclusion | None = None) -> Plan:
    """Return the plan of a name, filled in with the words of a question."""
    row = dict(package_table(__package__, "plans")[name])
    del row["question"]
    chosen = conclusion or getattr(conclusions, name)
    return Plan(conclusion=chosen, words=words, **{key: _fill(row[key], words) for key in row})


def _fill(value: Any, words: Words) -> Any:
    if isinstance(value, str):
        return value.format(**words)
    return [_fill(item, words) for item in value]


def words_of(match: re.Match[str]) -> Words:
    """Return the groups of a match, with days and months in the form that web forms need."""
    groups = match.groupdict()
    words = {name: iso(text) if re.fullmatch(DAY, text) else text for name, text in groups.items()}
    if "month" in words:
        words["month"] = f"{MONTHS.get(words['month'], 1):02d}"
    is_weekend = "weekend" in match[0]
    words["when"] = "weekend" if is_weekend else "weekday"
    words["day_of_when"] = "saturday" if is_weekend else "monday"
    return words


def _approach(plan: Plan, dialogue: Dialogue) -> Move:
    """Return a move towards the answer: a form, a link, a search result or a search."""
    result = _best_result(dialogue)
    if result is not None:
        return Move(f"{result.name!r} fits best.", ActionCall("click", (result.id,)))
    return (
        _fill_in(plan, dialogue)
        or _follow(plan, dialogue)
        or _submit(plan, dialogue)
        or _search(plan, dialogue)
    )


def _follow(plan: Plan, dialogue: Dialogue) -> Move | None:
    visited = dialogue.visited()
    for name in plan.links:
        link = dialogue.page.link(name)
        if link is not None and link.target not in visited:
            return Move(f"{link.name!r} leads on.", ActionCall("click", (link.id,)))
    return None


def _search(plan: Plan, dialogue: Dialogue) -> Move:
    searches = {arguments[0] for arguments in dialogue.arguments_of("search")}
    for words in (plan.query, dialogue.question[:200]):
        if words and words not in searches and "search" in dialogue.instructions.actions:
            return Move("I look for the page.", ActionCall("search", (words,)))
    value = plan.conclude(_collect_rows(plan, dialogue))
    return Move("I find no better page than those I saw.", answer=value)


def _leave(plan: Plan, dialogue: Dialogue) -> Move:
    """Return a move away from an obstacle or a failed action."""
    page = dialogue.page
    if page.obstacle and "back" in dialogue.instructions.actions:
        last = dialogue.last_call
        if last is None or last.name != "back":
            return Move(f"{page.title!r} leads nowhere.", ActionCall("back"))
    if _results(page):
        return _approach(plan, dialogue)
    return _search(plan, dialogue)


def _collect_rows(plan: Plan, dialogue: Dialogue) -> list[Row]:
    """Return the rows that all pages so far contain, each address once.

    A page whose form is being filled in shows the results of the form before.
    """
    pages: dict[str, Page] = {}
    for number, turn in enumerate(dialogue.turns):
        before = dialogue.turns[number - 1].call if number else None
        if before is None or before.name not in FILLS:
            pages[turn.page.url] = turn.page
    rows: list[Row] = []
    for page in pages.values():
        if not page.obstacle and _form_done(plan, page):
            rows += plan.read(page) or ()
    return rows


def _is_filling(dialogue: Dialogue) -> bool:
    last = dialogue.last_call
    return last is not None and last.name in FILLS


def _form_done(plan: Plan, page: Page) -> bool:
    """Whether the form on the page has the values of the plan."""
    return all(field.value == value for field, value in _fields(plan, page))


def _field_value(field: Element, value: str) -> str:
    """Return the value for a field; for a list, the option that contains one of the words."""
    words = value.lower().split("|")
    for option in field.options:
        if any(word in option.lower() for word in words):
            return option
    return value


def _form(plan: Plan, page: Page) -> list[tuple[Element, str]]:
    """Return the plan's fields with their values, if the page has all of them."""
    fields = _fields(plan, page)
    return fields if len(fields) == len(plan.fields) else []


def _fields(plan: Plan, page: Page) -> list[tuple[Element, str]]:
    """Return the plan's fields that are on the page, with their values."""
    fields = [(page.field(label), value) for label, value in plan.fields]
    return [(field, _field_value(field, value)) for field, value in fields if field is not None]


def _fill_in(plan: Plan, dialogue: Dialogue) -> Move | None:
    """Return a move that sets the next wrong field, or sends the form."""
    for field, value in _form(plan, dialogue.page):
        if field.value != value:
            verb = "select" if field.role == "combobox" else "fill"
            if (field.id, value) in dialogue.arguments_of(verb)[-1:]:
                return None
            return Move(f"{field.name!r} has to be {value!r}.", ActionCall(verb, (field.id, value)))
    return _submit(plan, dialogue) if _is_filling(dialogue) else None


def _submit(plan: Plan, dialogue: Dialogue) -> Move | None:
    form = _form(plan, dialogue.page)
    button = dialogue.page.button_after(form[-1][0]) if form else None
    if button is None or (not _is_filling(dialogue) and _was_submitted(dialogue)):
        return None
    return Move("The form is complete.", ActionCall("click", (button.id,)))


def _was_submitted(dialogue: Dialogue) -> bool:
    """Whether a button was clicked and no field has changed since."""
    for turn in reversed(dialogue.turns):
        if turn.call is None:
            continue
        if turn.call.name in FILLS:
            return False
        clicked = turn.page.element(turn.call.arguments[0]) if turn.call.name == "click" else None
        if clicked is not None and clicked.role == "button":
            return True
    return False


def _count_waits(dialogue: Dialogue) -> int:
    calls = [turn.call for turn in reversed(dialogue.turns[:-1])]
    is_wait = [call is not None and call.name in ("noop", "scroll") for call in calls]
    return [*is_wait, False].index(False)


def _results(page: Page) -> list[Element]:
    """Return the search results on a page: links in headings, each with a text below."""
    result_headings = {heading for heading in page.headings if heading.startswith("[")}
    return [
        element
        for element in page.elements
        if element.role == "link"
        and any(head.startswith(f"[{element.id}]") for head in result_headings)
    ]


def _best_result(dialogue: Dialogue) -> Element | None:
    visited = dialogue.visited()
    fresh = [item for item in _results(dialogue.page) if item.target not in visited]
    official = dialogue.instructions.prefers_official
    question = dialogue.question
    # Of equally good ones the engine's order decides, as `max` keeps the first.
    return max(fresh, key=lambda item: fit(item, question, official=official), default=None)


def fit(result: Element, question: str, *, official: bool) -> int:
    """Return a score of how well a search result matches the question.

    Names count most, then words; `official` adds words of official sites and subtracts advertising.
    """
    text = f"{result.name} {result.about}"
    lower = text.lower()
    names = {quote or plain for quote, plain in _NAME.findall(question)}
    score = 4 * sum(1 for name in names if name.lower() in lower)
    score += len(set(_WORD.findall(lower)) & set(_WORD.findall(question.lower())))
    if official:
        score += 3 * len(set(_TRUSTED.findall(lower)))
        score -= 5 * len(set(_DOUBTFUL.findall(lower)))
    return score
