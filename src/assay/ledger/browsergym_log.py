"""What the log of a BrowserGym episode tells: the agent's actions and thoughts."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

ANSWER_CHARS = 1_000_000

_HEAD = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - (?:\d+ - )?(?P<logger>[\w.]+)(?::\d+)? - "
    r"(?P<level>[A-Z]+) - ",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """One turn of the agent; the text `None` is an agent that gave up."""

    text: str
    think: str


def logged_actions(log: str) -> tuple[LoggedAction, ...]:
    """The actions in the order in which they were taken.

    The loop logs each one as the agent's thought, an empty line, `action:`, and the action. A
    thought that quotes this form cannot be told apart from it; the last one in a message counts.
    """
    heads = list(_HEAD.finditer(log))
    ends = [head.start() for head in heads[1:]] + [len(log)]
    actions: list[LoggedAction] = []
    for head, end in zip(heads, ends, strict=False):
        if head["level"] != "INFO" or not head["logger"].endswith("experiments.loop"):
            continue
        think, found, action = ("\n" + log[head.end() : end]).rpartition("\naction:\n")
        if found:
            actions.append(LoggedAction(action.strip("\n"), think.strip("\n")))
    return tuple(actions)


def answer_of(action: str) -> str | None:
    """The text of the last `send_msg_to_user("…")` of an action; `None` when there is none."""
    if "send_msg_to_user" not in action or len(action) > ANSWER_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            # An invalid escape in the agent's text is nobody's concern here.
            warnings.simplefilter("ignore")
            statements = ast.parse(action.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    answers = [_message(statement) for statement in statements]
    return next((answer for answer in reversed(answers) if answer is not None), None)


def _message(statement: ast.stmt) -> str | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    texts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if call.func.id != "send_msg_to_user" or len(texts) != 1:
        return None
    text = texts[0].value if isinstance(texts[0], ast.Constant) else None
    return None if text is None else str(text)
