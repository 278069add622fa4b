"""The actions of the browser environment; each step is one call, written as text."""

from __future__ import annotations

import re
from typing import Final

from assay.schema.action import ActionCall, ActionDialect, BadAction, parse_call
from assay.schema.tools import ActionTool, text_tool

USAGE: Final = (
    'one call such as click("12"), fill("5", "words"), select("7", "option"), scroll("down"), '
    'press("Enter"), goto("http://…"), back(), search("words"), fetch_json("http://…"), noop()'
)
_REF: Final = {"ref": "the number of the element, as the page shows it in brackets"}
BROWSER_ACTIONS: Final[tuple[ActionTool, ...]] = (
    text_tool("click", "Click the element with this number.", _REF),
    text_tool("fill", "Put text into a field.", {**_REF, "text": "what the field then holds"}),
    text_tool("select", "Choose an option of a list.", {**_REF, "option": "the option's text"}),
    text_tool("scroll", "Scroll the page.", {"direction": "down or up"}),
    text_tool("press", "Press a key.", {"key": "its name, such as Enter"}),
    text_tool("goto", "Open a page.", {"url": "its whole address"}),
    text_tool("back", "Go back one page.", {}),
    text_tool("search", "Ask the search engine.", {"words": "what to look for"}),
    text_tool(
        "fetch_json", "Get JSON from an API without opening a page.", {"url": "the whole address"}
    ),
    text_tool("noop", "Wait a moment.", {}),
)
PARAMETERS: Final[dict[str, tuple[str, ...]]] = {
    tool.name: tuple(tool.parameters["properties"]) for tool in BROWSER_ACTIONS
}
ACTION_CHARS: Final = 20_000
STRICT: Final = ActionDialect(
    re.compile(r"[\w.-]+"), trailing_comma=False, json_only=False, max_arguments=ACTION_CHARS
)
"""Without quotes only numbers and plain words."""


def parse_action(text: str) -> ActionCall | BadAction:
    """Read the action in a text, or explain why the text is not an action."""
    action = text.strip()
    if len(action) > ACTION_CHARS:
        return BadAction(f"the action has {len(action):,} characters; {ACTION_CHARS:,} are allowed")
    name, bracket, rest = action.partition("(")
    name = name.strip()
    if name not in PARAMETERS:
        return BadAction(f"there is no action {name[:40]!r}; say {USAGE}")
    if not bracket or not rest.endswith(")"):
        return BadAction(f"{action[:80]!r} is not a call; say {USAGE}")
    call = parse_call(action, STRICT)
    if call is None:
        return BadAction(f"the arguments of {action[:80]!r} are not quoted strings or numbers")
    expected, count = len(PARAMETERS[name]), len(call.arguments)
    problem = f"{name} takes {expected} argument(s), got {count}; say {USAGE}"
    return call if count == expected else BadAction(problem)


def arguments_by_name(call: ActionCall) -> dict[str, str]:
    """The arguments of a parsed action, by the names of its parameters."""
    return dict(zip(PARAMETERS[call.name], call.arguments, strict=True))
