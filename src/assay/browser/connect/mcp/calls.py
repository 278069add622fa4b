"""The tools of browser MCP servers: what a call does, to which element, and at what risk."""

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
    """One call of a server's tool, with the element that it is done to."""

    tool: str
    arguments: Mapping[str, Any]
    kind: Kind
    node: SnapshotNode | None
    """The element; by the caller's own description where the latest snapshot does not have it."""
    effect: Effect

    @property
    def signature(self) -> str:
        """The same for the same element, whatever its number is."""
        arguments = dict(self.arguments)
        if self.node is not None:
            arguments = {key: value for key, value in arguments.items() if key not in ELEMENT_KEYS}
            arguments["on"] = list(self.node)
        # The caller's words for an element differ from call to call.
        arguments.pop("element", None)
        return call_signature(self.tool, arguments)

    @property
    def target(self) -> str | None:
        return None if self.node is None else call_signature(self.kind, {"on": list(self.node)})

    @property
    def acts(self) -> bool:
        """Whether something is done in the window, which a browser that is looked at shows."""
        return self.kind != "read" or self.tool in VERBS

    def reads(self) -> tuple[ReadAction, ...]:
        """The read-only actions that the call carries out."""
        return tuple(action for action, tools in READS.items() if self.tool in tools)


def watched_call(tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The call as one who watches the page knows it: a plain verb, an address, a value.

    An element that is named by a selector, and not by its number in a snapshot, can be found there.
    """
    kind = KINDS.get(tool, "other")
    verb = VERBS.get(tool) or {"read": "wait", "other": tool, "dialog": tool}.get(kind, kind)
    options = {
        name: arguments[source]
        for name, source in (("url", "url"), ("value", "text"), ("value", "value"), ("key", "key"))
        if isinstance(arguments.get(source), str)
    }
    for key in ("target", "selector"):
        if isinstance(arguments.get(key), str) and not _NUMBER.fullmatch(arguments[key]):
            options["selector"] = arguments[key]
    return verb, options


def browser_call(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    nodes: Mapping[str, SnapshotNode],
    dialog: str = "",
    read_only: bool | None = None,
) -> BrowserCall:
    """The call, with its element in the latest snapshot and its risk.

    `dialog` is the text of the open dialog; `read_only` is what the server says of the tool.
    """
    kind = _kind(tool, arguments, read_only=read_only)
    node = _node(arguments, nodes)
    return BrowserCall(tool, arguments, kind, node, _effect(kind, arguments, node, dialog))


def _kind(tool: str, arguments: Mapping[str, Any], *, read_only: bool | None) -> Kind:
    if tool == "browser_tabs":
        return "read" if arguments.get("action") == "list" else "other"
    return KINDS.get(tool) or ("read" if read_only else "other")


def _node(arguments: Mapping[str, Any], nodes: Mapping[str, SnapshotNode]) -> SnapshotNode | None:
    for key in ELEMENT_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value in nodes:
            return nodes[value]
    description = arguments.get("element")
    if isinstance(description, str) and description.strip():
        return SnapshotNode("button", description[:DESCRIPTION_CHARS])
    return None


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
