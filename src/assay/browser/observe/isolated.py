"""Assay's scripts in a page, hidden from the page's scripts, and the page's event listeners."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from assay.browser.observe.transport import Transport


class ActionFailed(Exception):
    """An action failed; the message begins like the messages of other browser tools."""


class DocumentLost(Exception):
    """The document in which the scripts were installed is gone."""


@cache
def _install_script() -> str:
    """The source of a function that installs Assay's scripts under a secret name."""
    folder = resources.files("assay.browser.observe")
    dom, unrest, look, act, calls = (
        folder.joinpath(f"{name}.js").read_text("utf-8").rstrip()
        for name in ("dom", "unrest", "snapshot", "element", "calls")
    )
    return (
        "((key) => { if (globalThis[key]) return;\n"
        f"const dom = ({dom})();\n"
        "const store = { next: 1, ids: new WeakMap(), elements: new Map(),"
        " asked: new WeakSet(), hosts: [] };\n"
        'const tell = (record) => globalThis[key + "tell"]?.(JSON.stringify(record));\n'
        f"const unrest = ({unrest})(dom, tell)();\n"
        f"const look = ({look})(dom, store, unrest, key);\n"
        f"const act = ({act})(dom, store);\n"
        f"const ours = {{ look, act, ...unrest, ...({calls})(dom, store, unrest) }};\n"
        "globalThis[key] = { ...ours, from: (first) => { ours.from(first); return ours; } }; })"
    )


class IsolatedScripts:
    """Assay's scripts in a tab, which are installed again in every new document."""

    def __init__(self, transport: Transport, *, frame_id: str, timeout_s: float) -> None:
        self._transport = transport
        self._frame_id = frame_id
        self._timeout_s = timeout_s
        # A page that guesses the name could answer in the place of our scripts.
        self._key = f"assay{secrets.token_hex(8)}"
        self._ours = f"globalThis[{json.dumps(self._key)}]"
        self._context: int | None = None

    async def prepare(self) -> None:
        """Install Assay's scripts in every later document, before the page's scripts run."""
        binding = {"name": f"{self._key}tell", "executionContextName": self._key}
        await self._transport.send("Runtime.enable")
        await self._transport.send("Runtime.addBinding", binding)
        script = {"source": self._installation, "worldName": self._key, "runImmediately": True}
        await self._transport.send("Page.addScriptToEvaluateOnNewDocument", script)

    def is_ours(self, binding: str) -> bool:
        return binding == f"{self._key}tell"

    @property
    def _installation(self) -> str:
        return f"{_install_script()}({json.dumps(self._key)})"

    def forget(self) -> None:
        """Use a new context at the next call, because the document was replaced."""
        self._context = None

    async def call(
        self, function: str, argument: object, *, first_ref: int, wait: bool = False
    ) -> Any:
        """Call one of Assay's functions in the page; with `wait`, await its promise.

        Raises `DocumentLost` if the document was replaced, `ActionFailed` if the function failed.
        """
        if self._context is None:
            response = await self._transport.send(
                "Page.createIsolatedWorld", {"frameId": self._frame_id, "worldName": self._key}
            )
            self._context = int(response["executionContextId"])
        context = self._context
        call = f"{self._ours}.from({first_ref}).{function}({json.dumps(argument)})"
        answer = await self._run(call, context, wait=wait)
        if _is_missing(answer):
            # The first document of a tab, and that of an error, do not have the scripts.
            await self._run(self._installation, context)
            answer = await self._run(call, context, wait=wait)
        if _is_missing(answer):
            raise DocumentLost
        if "exceptionDetails" in answer:
            raise ActionFailed(f"Protocol error: {_problem(answer)[:300]}")
        return answer["result"].get("value")

    async def adopt(self, hosts: int) -> int:
        """Read the closed shadow roots of the elements, and return how many there are."""
        adopted = 0
        with suppress(*self._transport.errors, TimeoutError, KeyError):
            adopted = await self._adopt(hosts)
        return adopted

    async def _adopt(self, hosts: int) -> int:
        adopted = 0
        for n in range(hosts):
            element = await self._run(f"{self._ours}.host({n})", self._context or 0, value=False)
            remote = element.get("result", {}).get("objectId")
            if remote is None:
                continue
            question = {"objectId": remote, "depth": 1, "pierce": True}
            node = (await self._transport.send("DOM.describeNode", question)).get("node", {})
            for root in node.get("shadowRoots", ()):
                if root.get("shadowRootType") == "closed":
                    await self._on_node(int(root["backendNodeId"]), "adopt")
                    adopted += 1
        return adopted

    async def is_pressed(self, backend_id: int) -> bool:
        """Whether a node is the element that the step clicked, or contains that element."""
        return bool(await self._on_node(backend_id, "isPressed"))

    async def _on_node(self, backend_id: int, function: str) -> Any:
        """Call one of Assay's functions with a node of the page."""
        place = {"backendNodeId": backend_id, "executionContextId": self._context}
        resolved = await self._transport.send("DOM.resolveNode", place)
        call = {
            "objectId": resolved["object"]["objectId"],
            "functionDeclaration": f"function() {{ return {self._ours}.{function}(this); }}",
            "returnByValue": True,
        }
        answer = await self._transport.send("Runtime.callFunctionOn", call)
        return answer["result"].get("value")

    async def _run(
        self, expression: str, context: int, *, wait: bool = False, value: bool = True
    ) -> Any:
        question = {
            "expression": expression,
            "contextId": context,
            "returnByValue": value,
            "awaitPromise": wait,
            "timeout": self._timeout_s * 1000,
        }
        try:
            return await self._transport.send("Runtime.evaluate", question)
        except self._transport.errors as error:
            first = str(error).partition("\n")[0].lower()
            if any(word in first for word in ("context", "navigat", "frame for given id")):
                raise DocumentLost from error
            raise


def _problem(answer: dict[str, Any]) -> str:
    details = answer.get("exceptionDetails", {})
    return str(details.get("exception", {}).get("description", ""))


def _is_missing(answer: dict[str, Any]) -> bool:
    return "Cannot read properties of undefined" in _problem(answer).partition("\n")[0]


OBJECTS: Final = "assay"
"""The name under which the browser keeps what is asked about, until the document is gone."""
PLACES: Final = ("document", "window")
REACTED_TO: Final = frozenset(
    "click dblclick auxclick contextmenu mousedown mouseup mousemove mouseover mouseout "
    "mouseenter mouseleave pointerdown pointerup pointermove pointerover pointerout "
    "pointerenter pointerleave touchstart touchend touchmove keydown keyup keypress input "
    "beforeinput change submit reset focus blur focusin focusout scroll scrollend wheel drag "
    "dragstart dragend dragover drop toggle select selectionchange invalid formdata popstate "
    "hashchange navigate paste copy cut message visibilitychange pagehide pageshow load "
    "DOMContentLoaded transitionend animationend".split()
)
"""Events after which a page may do something late."""
LEFT: Final = frozenset(
    "mouseout mouseleave pointerout pointerleave blur focusout change selectionchange popstate "
    "hashchange navigate scroll scrollend transitionend animationend".split()
)
"""Events that a click sends to something else as well."""
PRESSED: Final = frozenset(
    "click dblclick mousedown mouseup mousemove mouseover mouseenter pointerdown pointerup "
    "pointermove pointerover pointerenter touchstart touchend focus focusin input beforeinput "
    "submit reset invalid toggle dragstart".split()
)
"""Events that a click sends to what it falls on, and to what is around that."""
ASKED_NODES: Final = 30
"""Nodes with listeners that are asked whether the click fell on them."""


class PageListeners:
    """The event listeners of the page's scripts in one document."""

    def __init__(self, transport: Transport, scripts: IsolatedScripts) -> None:
        self._transport = transport
        self._scripts = scripts
        self._objects: dict[str, str] = {}
        """The browser's ids of the things in `PLACES`, for this document."""
        self._reacts = False
        """Whether this document was once seen to listen to input."""

    def forget(self) -> None:
        """Forget the listeners, because the document was replaced."""
        # What is still on its way is of the old one, and is not kept.
        self._objects, self._reacts = {}, False

    async def react(self) -> bool:
        """Whether a script listens to input; true if the browser does not answer."""
        document = self._objects
        for place in () if self._reacts else PLACES:
            listeners = await self._on(place)
            if listeners is None or document is not self._objects:
                return True
            self._reacts = any(one.get("type") in REACTED_TO for one in listeners)
            if self._reacts:
                break
        return self._reacts

    async def receive_click(self) -> bool:
        """Whether a script receives the step's click; true if the browser does not answer."""
        listeners: list[Mapping[str, Any]] = []
        for place in PLACES:
            here = await self._on(place)
            if here is None:
                return True
            listeners += here
        nodes = {one.get("backendNodeId") for one in listeners if one.get("type") in PRESSED}
        left = any(one.get("type") in LEFT for one in listeners)
        if left or None in nodes or len(nodes) > ASKED_NODES:
            return True
        for node in nodes:
            if await self._scripts.is_pressed(int(node or 0)):
                return True
        return False

    async def _on(self, place: str) -> list[Mapping[str, Any]] | None:
        """The listeners in one of the `PLACES`; `None` if the browser does not answer."""
        objects = self._objects
        with suppress(*self._transport.errors, TimeoutError, KeyError):
            if place not in objects:
                question = {"expression": place, "objectGroup": OBJECTS}
                answer = await self._transport.send("Runtime.evaluate", question)
                objects[place] = answer["result"]["objectId"]
            whole = {"objectId": objects[place], "depth": -1, "pierce": True}
            answer = await self._transport.send("DOMDebugger.getEventListeners", whole)
            listeners: list[Mapping[str, Any]] = answer["listeners"]
            return listeners
        objects.pop(place, None)
        return None
