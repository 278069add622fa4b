"""The text for the model: the instructions, and each turn's page with its notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.browser.research.actions import ACTIONS
from assay.browser.research.options import ResearchOptions

PAGE = "Page:\n"
"""What stands before the page in every turn's message; everything after it is the page."""
QUESTION = "Question: "

WORKFLOWS: Mapping[str, str] = MappingProxyType(
    {
        "none": "",
        "web": """\
- Weather, rain or temperature over many days: use the archive's JSON API, not its tables. Read \
the API's own page once to learn the address, the names of places and the fields; count what is \
asked over all the days, then compute.
- Prices of homes: use the register of sales, and say whether prices paid or asked for are meant. \
Set its filters (sold or listed, street, dates) instead of reading everything.
- Businesses: use the directory, by name or by category, and read every page of a list.
- Prefer the official site to mirrors, agents, old copies and look-alikes of it; when a page asks \
for a login or says it is blocked, go back and look for the official site.""",
    }
)
"""Ways to work that the option `workflow` can name; any other text is taken as it stands."""

_WORK = "You answer a question by working in a web browser, one action at a time."
_NATIVE = """\
Each reply calls one of the tools; `answer` ends the work. Of several calls in one reply each is \
done in its turn, on the page that the one before it led to."""
_FORM = """\
End each reply with one action, written like this:
ACTION: click
PARAMS: {"id": "12"}"""

_CUT = """\
- A mark "… N characters not shown …" stands where text was cut: what you look for may be there."""
_BARE = """\
- The answer holds only the value that was asked for: no sentence, no explanation, no source. A \
number is written in digits without unit, currency sign or thousands separator: 14.2, 850000. A \
name is the name only. Several names, or an object, are written as JSON."""
_PER_YEAR = """\
- API calls: one call per year, for only the days that are needed in that year. Put the results \
of all calls together before you answer."""
_WHOLE_RANGE = """\
- API calls: one call for the whole range of dates, from the first day to the last."""


def system_prompt(options: ResearchOptions, *, native: bool = False) -> str:
    """The instructions, for these options; native calls have their form and names by the API."""
    actions = "\n".join(
        f"- {name} {ACTIONS[name].example}: {ACTIONS[name].description}"
        for name in options.action_names
    )
    rules = [
        "- The number in brackets before an element is its id, on the page that shows it.",
        _CUT,
    ]
    if options.blocked:
        rules.append(f"- Do not open these sites: {', '.join(options.blocked)}.")
    if options.bare_answer:
        rules.append(_BARE)
    if "fetch_json" in options.action_names:
        rules.append(_PER_YEAR if options.api_calls == "per_year" else _WHOLE_RANGE)
    if options.timezone:
        rules.append(f"- Days and hours are those of the timezone {options.timezone}.")
    form = [_NATIVE] if native else [_FORM, f"Actions:\n{actions}"]
    parts = [_WORK, *form, "Rules:\n" + "\n".join(rules)]
    workflow = WORKFLOWS.get(options.workflow, options.workflow).strip()
    if workflow:
        parts.append(f"How to work:\n{workflow}")
    return "\n\n".join(parts)


def turn_prompt(
    page: str, *, step: int, steps: int, goal: str | None = None, notes: Sequence[str] = ()
) -> str:
    """One turn's message: the question on the first one, notes, and the page."""
    head = [f"{QUESTION}{goal}\n"] if goal is not None else []
    head.append(f"Step {step} of {steps}.")
    head += [f"Note: {note}" for note in notes]
    return "\n".join([*head, f"{PAGE}{page}"])


def messages_for_model(
    messages: Sequence[dict[str, Any]], history_chars: int, *, native: bool = False
) -> list[dict[str, Any]]:
    """The recorded conversation as the model gets it, older pages left out.

    The newest page is always there; earlier ones are, newest first, while they fit into
    `history_chars` together. Without native calls it is plain text. With them, what the agent did
    without asking is told as text: the model made no such call.
    """
    remaining = history_chars
    newest = True
    selected: list[dict[str, Any]] = []
    own = {
        call["id"]
        for message in messages
        if message.get("made_by") == "agent"
        for call in message["tool_calls"]
    }
    for message in reversed(messages):
        role, content = message["role"], str(message["content"])
        head, mark, page = content.partition(PAGE)
        if mark and role in ("user", "tool"):
            if not newest:
                remaining -= len(page)
            if remaining < 0 and not newest:
                content = f"{head}{PAGE}(left out: {len(page)} characters)"
            newest = False
        if native and message.get("tool_call_id") not in own and "made_by" not in message:
            selected.append({**message, "content": content})
        else:
            is_report = role == "tool" or "made_by" in message
            selected.append({"role": "user" if is_report else role, "content": content})
    return selected[::-1]
