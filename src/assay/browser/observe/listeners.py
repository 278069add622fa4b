"""What the scripts of a page listen to, as the browser tells it.

The page is not asked and cannot see it. Where no script listens to input, nothing can come of a
step later; where none listens at the place of a click, what changed was not the click's doing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from assay.browser.observe.isolated import IsolatedScripts
from assay.browser.observe.transport import Transport

OBJECTS: Final = "assay"
"""The name under which the browser keeps what is asked about, until the document is gone."""
PLACES: Final = ("document", "window")
"""What the scripts of a page listen on: the document with all that is in it, and the window."""
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
    """The listeners of one document after the other; `forget` when another one comes."""

    def __init__(self, transport: Transport, scripts: IsolatedScripts) -> None:
        self._transport = transport
        self._scripts = scripts
        self._objects: dict[str, str] = {}
        """The browser's ids of the things in `PLACES`, for this document."""
        self._reacts = False
        """Whether this document was once seen to listen to input."""

    def forget(self) -> None:
        """The document was replaced."""
        # What is still on its way is of the old one, and is not kept.
        self._objects, self._reacts = {}, False

    async def react(self) -> bool:
        """Whether a script listens to input; also if that cannot be asked."""
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
        """Whether a script is told of the step's click; also if that cannot be asked.

        Raises what the transport does.
        """
        listeners: list[Mapping[str, Any]] = []
        for place in PLACES:
            here = await self._on(place)
            if here is None:
                return True
            listeners += here
        if any(one.get("type") in LEFT for one in listeners):
            return True
        return await self._any_pressed(
            {one.get("backendNodeId") for one in listeners if one.get("type") in PRESSED}
        )

    async def _any_pressed(self, nodes: set[int | None]) -> bool:
        if None in nodes or len(nodes) > ASKED_NODES:
            return True
        for node in nodes:
            if await self._scripts.is_pressed(int(node or 0)):
                return True
        return False

    async def _on(self, place: str) -> list[Mapping[str, Any]] | None:
        """The listeners in one of the `PLACES`; `None` if it cannot be asked."""
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
