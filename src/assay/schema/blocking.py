"""Web pages that block an agent: one row of `blocking.toml` for each kind."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from assay.lazy import read_toml

BlockCode: TypeAlias = Literal[
    "captcha", "bot_check", "access_denied", "auth_redirect", "js_required", "rate_limited", "gate"
]
ReadAction: TypeAlias = Literal[
    "read_page", "find_element", "list_tabs", "wait_and_read", "screenshot", "read_console"
]
"""An action that changes nothing on the page."""

_NOTE: Final = re.compile(r"^note: the page is blocked \((\w+)\)", re.MULTILINE)


class BlockingPageKind(NamedTuple):
    """One kind of page that blocks an agent, with the rules that recognise the page."""

    code: BlockCode
    sentence: str
    """What a step score says of it."""
    advice: tuple[ReadAction, ...] = ()
    """What an agent should look at, before what helps anywhere."""
    selectors: tuple[str, ...] = ()
    """CSS selectors of it; they count on a refused page, or on one with little else on it."""
    in_forms: bool = False
    """Whether its selectors do not count in a login form, where it is a part to be filled in."""
    statuses: tuple[int, ...] = ()
    """HTTP statuses of the document."""
    decisive: bool = False
    """Whether its status counts before its own and other pages' selectors."""
    path_words: frozenset[str] = frozenset()
    """Parts of an address to which a site sends those who asked for another one."""
    titles: tuple[str, ...] = ()
    """Whole titles in lower case; they count only on a page with little else on it."""


def _page(code: Any, row: dict[str, Any]) -> BlockingPageKind:
    values = {name: tuple(value) if type(value) is list else value for name, value in row.items()}
    return BlockingPageKind(code, **values | {"path_words": frozenset(row.get("path_words", ()))})


BLOCKING_PAGES: Final = tuple(
    _page(code, row) for code, row in read_toml("assay.schema", "blocking").items()
)
"""Where a page fits two rows, the first one counts."""


def block_note(code: BlockCode) -> str:
    """The observation line that names the kind of the blocking page."""
    return f"note: the page is blocked ({code})"


def read_block_note(observation: str) -> str | None:
    """The kind of the blocking page that an observation's text names, or `None`."""
    match = _NOTE.search(observation)
    return match[1] if match else None
