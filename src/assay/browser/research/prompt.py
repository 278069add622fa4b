"""The text for the model: the instructions, and each turn's page with its notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.browser.research.actions import ACTIONS, PROMPT
from assay.browser.research.options import ResearchOptions

PAGE = "Page:\n"
"""What stands before the page in every turn's message; everything after it is the page."""
QUESTION = "Question: "

WORKFLOWS: Mapping[str, str] = MappingProxyType(PROMPT["workflows"])
"""Ways to work that the option `workflow` can name; any other text is taken as it stands."""


def system_prompt(options: ResearchOptions, *, native: bool = False) -> str:
    """The instructions, for these options; native calls have their form and names by the API."""
    actions = "\n".join(
        f"- {name} {ACTIONS[name].example}: {ACTIONS[name].description}"
        for name in options.action_names
    )
    texts = PROMPT["rules"]
    rules = [texts["number"], texts["cut"]]
    if options.blocked:
        rules.append(f"- Do not open these sites: {', '.join(options.blocked)}.")
    if options.bare_answer:
        rules.append(texts["bare_answer"])
    if "fetch_json" in options.action_names:
        rules.append(texts[options.api_calls])
    if options.timezone:
        rules.append(f"- Days and hours are those of the timezone {options.timezone}.")
    form = [PROMPT["native"]] if native else [PROMPT["form"], f"Actions:\n{actions}"]
    parts = [PROMPT["work"], *form, "Rules:\n" + "\n".join(rules)]
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
