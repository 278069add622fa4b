"""Calls of browser MCP tools: their kind, their target element and their risk."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from assay.browser.connect.mcp.results import SnapshotNode
from assay.browser.observe.digest import call_signature
from assay.browser.outcome.risk import effect_of
from assay.schema.blocking import ReadAction
from assay.schema.outcome import Effect

Kind: TypeAlias = Literal["click", "fill", "press", "goto", "dialog", "read", "other"]
ELEMENT_KEYS: Final = ("target", "ref", "uid", "selector")
"""Arguments that name the element by the number that the latest snapshot gave it."""
DESCRIPTION_CHARS: Final = 200
_NUMBER: Final = re.compile(r"(f\d+)?e\d+|\d+_\d+")
"""An element's number: `e12` and `f1e3` of Playwright MCP, `1_7` of chrome-devtools-mcp."""

_TOOLS: Final = tomllib.loads(files(__package__).joinpath("server_tools.toml").read_text("utf-8"))
KINDS: Final[Mapping[str, Kind]] = {
    tool: kind for kind, tools in _TOOLS["kinds"].items() for tool in tools
}
VERBS: Final[Mapping[str, str]] = {
    tool: verb for verb, tools in _TOOLS["verbs"].items() for tool in tools
}
READS: Final[Mapping[ReadAction, Sequence[str]]] = _TOOLS["reads"]
"""The tools that carry out each read-only action, the best first."""


class BrowserCall(NamedTuple):
    """One call of a server's tool, with its target element."""

    tool: str
    arguments: Mapping[str, Any]
    kind: Kind
    node: SnapshotNode | None
    """The element; by the caller's own description where the latest snapshot does not have it."""
    effect: Effect

    @property
    def signature(self) -> str:
        """A digest of the call that does not depend on the element's number."""
        # The caller's words for an element differ from call to call.
        left_out = ("element", *(() if self.node is None else ELEMENT_KEYS))
        arguments = {key: value for key, value in self.arguments.items() if key not in left_out}
        if self.node is not None:
            arguments["on"] = list(self.node)
        return call_signature(self.tool, arguments)

    @property
    def target(self) -> str | None:
        return None if self.node is None else call_signature(self.kind, {"on": list(self.node)})

    @property
    def acts(self) -> bool:
        """Whether the call does something in the window, rather than only reads."""
        return self.kind != "read" or self.tool in VERBS

    def reads(self) -> tuple[ReadAction, ...]:
        """The read-only actions that the call carries out."""
        return tuple(action for action, tools in READS.items() if self.tool in tools)


def watched_call(tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Translate a call for a page watch into a plain verb and its options."""
    kind = KINDS.get(tool, "other")
    verb = VERBS.get(tool) or {"read": "wait", "other": tool, "dialog": tool}.get(kind, kind)
    names = {"url": "url", "text": "value", "value": "value", "key": "key"}
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    options = {names[key]: texts[key] for key in names if key in texts}
    for key in ("target", "selector"):
        if key in texts and not _NUMBER.fullmatch(texts[key]):
            options["selector"] = texts[key]
    return verb, options


def browser_call(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    nodes: Mapping[str, SnapshotNode],
    dialog: str = "",
    read_only: bool | None = None,
) -> BrowserCall:
    """Describe a call: its kind, its element in the latest snapshot, and its risk."""
    kind: Kind = KINDS.get(tool) or ("read" if read_only else "other")
    if tool == "browser_tabs":
        kind = "read" if arguments.get("action") == "list" else "other"
    node = _node(arguments, nodes)
    return BrowserCall(tool, arguments, kind, node, _effect(kind, arguments, node, dialog))


def _node(arguments: Mapping[str, Any], nodes: Mapping[str, SnapshotNode]) -> SnapshotNode | None:
    for value in map(arguments.get, ELEMENT_KEYS):
        if isinstance(value, str) and value in nodes:
            return nodes[value]
    text = arguments.get("element")
    described = isinstance(text, str) and text.strip()
    return SnapshotNode("button", str(text)[:DESCRIPTION_CHARS]) if described else None


def _effect(
    kind: Kind, arguments: Mapping[str, Any], node: SnapshotNode | None, dialog: str
) -> Effect:
    role, name = node or SnapshotNode("", "")
    if kind == "read":
        return Effect.READ
    if kind == "dialog":
        accepted = arguments.get("accept") is True or arguments.get("action") == "accept"
        name = "OK" if accepted else "Cancel"
        return effect_of("click", role="button", name=name, dialog=dialog)
    if kind == "fill" and (arguments.get("submit") is True or "submitKey" in arguments):
        return effect_of("press", role="form", key="Enter")
    if kind == "press":
        return effect_of("press", role=role, name=name, key=str(arguments.get("key", ""))[:40])
    return effect_of(kind, role=role, name=name, dialog=dialog)
