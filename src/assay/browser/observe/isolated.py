"""Our scripts in a page, where the page's own scripts cannot see or change them."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.browser.observe.transport import Transport


class ActionFailed(Exception):
    """An action could not be carried out; the message begins as those of browser tools do."""


class DocumentLost(Exception):
    """The document that the scripts were installed in is gone."""


@cache
def _install_script() -> str:
    """A function of a secret name that puts our functions under it, once per document."""
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
    """Our scripts in the main document of a tab, installed anew in every document."""

    def __init__(self, transport: Transport, *, frame_id: str, timeout_s: float) -> None:
        self._transport = transport
        self._frame_id = frame_id
        self._timeout_s = timeout_s
        # A page that guesses the name could answer in the place of our scripts.
        self._key = f"assay{secrets.token_hex(8)}"
        self._context: int | None = None

    async def prepare(self) -> None:
        """Install our scripts in every later document, before its own scripts run."""
        binding = {"name": f"{self._key}tell", "executionContextName": self._key}
        await self._transport.send("Runtime.enable")
        await self._transport.send("Runtime.addBinding", binding)
        script = {"source": self._installation, "worldName": self._key, "runImmediately": True}
        await self._transport.send("Page.addScriptToEvaluateOnNewDocument", script)

    def is_ours(self, binding: str) -> bool:
        """Whether an event of a binding comes from our scripts."""
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
        """What one of our functions returns; with `wait`, what its promise resolves to.

        Raises `DocumentLost` if the document was replaced, `ActionFailed` if the function failed.
        """
        if self._context is None:
            response = await self._transport.send(
                "Page.createIsolatedWorld", {"frameId": self._frame_id, "worldName": self._key}
            )
            self._context = int(response["executionContextId"])
        context = self._context
        ours = f"globalThis[{json.dumps(self._key)}].from({first_ref})"
        call = f"{ours}.{function}({json.dumps(argument)})"
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
        """How many of the elements that a look named have a closed root, which is read from now on.

        A page that does not answer has none.
        """
        adopted = 0
        with suppress(*self._transport.errors, TimeoutError, KeyError):
            adopted = await self._adopt(hosts)
        return adopted

    async def _adopt(self, hosts: int) -> int:
        ours, adopted = f"globalThis[{json.dumps(self._key)}]", 0
        for n in range(hosts):
            element = await self._run(f"{ours}.host({n})", self._context or 0, value=False)
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
        """Whether a node is what the step has clicked on, or around it.

        Raises what the transport does.
        """
        return bool(await self._on_node(backend_id, "isPressed"))

    async def _on_node(self, backend_id: int, function: str) -> Any:
        """What one of our functions says of a node."""
        place = {"backendNodeId": backend_id, "executionContextId": self._context}
        resolved = await self._transport.send("DOM.resolveNode", place)
        ours = f"globalThis[{json.dumps(self._key)}]"
        call = {
            "objectId": resolved["object"]["objectId"],
            "functionDeclaration": f"function() {{ return {ours}.{function}(this); }}",
            "returnByValue": True,
        }
        answer = await self._transport.send("Runtime.callFunctionOn", call)
        return answer["result"].get("value")

    async def _run(
        self, expression: str, context: int, *, wait: bool = False, value: bool = True
    ) -> Any:
        try:
            return await self._transport.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "contextId": context,
                    "returnByValue": value,
                    "awaitPromise": wait,
                    "timeout": self._timeout_s * 1000,
                },
            )
        except self._transport.errors as error:
            if names_lost_document(str(error)):
                raise DocumentLost from error
            raise


def _problem(answer: dict[str, Any]) -> str:
    details = answer.get("exceptionDetails", {})
    return str(details.get("exception", {}).get("description", ""))


def _is_missing(answer: dict[str, Any]) -> bool:
    return "Cannot read properties of undefined" in _problem(answer).partition("\n")[0]


def names_lost_document(message: str) -> bool:
    """Whether an error of the protocol says that the document it was meant for is gone."""
    first = message.partition("\n")[0].lower()
    return any(word in first for word in ("context", "navigat", "frame for given id"))
