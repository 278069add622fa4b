"""A tab that an agent drives: it carries out calls and takes snapshots.

Element numbers are never used twice in an episode. Dialogs are dismissed, new windows and
downloads refused, with a note in the next snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus, urlsplit

from assay.browser.chromium.shared import playwright_error
from assay.browser.drive.gateway import PORTS, AddressPolicy, AddressRefused
from assay.browser.observe.isolated import ActionFailed, DocumentLost
from assay.browser.observe.patience import Patience
from assay.browser.observe.transport import PlaywrightTransport
from assay.browser.outcome.watch import PageWatch
from assay.schema.action import ActionCall

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog
    from playwright.async_api import Page as Tab

FETCH_CHARS: Final = 1_000_000
DIALOGS: Final = 20
"""Dialogs that a page may open in one step; with one more its tab is replaced."""
HOPS: Final = 5
"""Documents that may follow one another while an element is asked for."""
KEPT_NOTES: Final = 10


class PageLost(Exception):
    """The tab crashed or no longer answers; a new tab is needed."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The options of an environment's pages: waits, search and addresses."""

    timeout_s: float = 15.0
    search_url: str = ""
    """The address of a search, with `{query}` for the words."""
    noop_s: float = 0.5
    allowed: AddressPolicy = field(default_factory=AddressPolicy)
    selectors: Sequence[str] = ()
    every_text: bool = False
    patience: Patience = field(default_factory=Patience)

    def waits(self) -> Patience:
        """The time limits for a page; an action reaches its own time limit first."""
        answer_s = min(self.patience.answer_s, self.timeout_s)
        return replace(self.patience, answer_s=answer_s, arrives_s=self.timeout_s + 1)


class ScriptStoppingTransport(PlaywrightTransport):
    """A DevTools session that stops a hanging script once before it gives up."""

    loss = ""
    """Why the tab is of no use any more."""
    on_silence: Callable[[], Awaitable[None]] | None = None
    """What makes a page answer that does not."""

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Send a command; raise `PageLost` if the page does not answer the second attempt."""
        if self.loss:
            raise PageLost(self.loss)
        try:
            return await super().send(method, params)
        except TimeoutError:
            if self.on_silence is None:
                raise
        await self.on_silence()
        try:
            return await super().send(method, params)
        except TimeoutError:
            raise PageLost("the page does not respond") from None

    async def tab_status(self) -> int | None:
        """`None`: other tabs are refused."""
        return None


class BrowserPage:
    """A tab that an agent drives; it is used only on the browser's own event loop."""

    def __init__(
        self,
        tab: Tab,
        session: CDPSession,
        options: PageOptions,
        transport: ScriptStoppingTransport,
    ) -> None:
        self.tab = tab
        self.watch: PageWatch
        """What reads the page, and never touches it."""
        self._session = session
        self._transport = transport
        self._options = options
        self._timeout_s = options.timeout_s
        self._notes: list[str] = []
        self._dialogs = 0
        self._limit: asyncio.Timeout | None = None

    @classmethod
    async def open(
        cls, tab: Tab, options: PageOptions, *, old: BrowserPage | None = None
    ) -> BrowserPage:
        """Start to watch a fresh tab, with the record of the `old` page."""
        session = await tab.context.new_cdp_session(tab)
        patience = options.waits()
        transport = ScriptStoppingTransport(session, tab, timeout_s=patience.answer_s)
        page = cls(tab, session, options, transport)
        page.watch = await PageWatch.open(
            transport,
            patience=patience,
            old=None if old is None else old.watch,
            selectors=options.selectors,
            every_text=options.every_text,
            alone=True,
        )
        page._notes += () if old is None else old.take_notes()
        page._listen()
        return page

    def _listen(self) -> None:
        tab, note = self.tab, self.note
        tab.on("dialog", self._dismiss)
        tab.on("popup", self._refuse_window)
        tab.on("download", lambda item: note(f"download refused: {item.suggested_filename}"))
        tab.on("console", lambda message: self._record(message.type, message.text))
        tab.on("pageerror", lambda error: self._record("uncaught", str(error)))
        tab.on("close", lambda _: self._lose("the page closed itself"))
        tab.on("crash", lambda _: self._lose("the page crashed"))
        window = "new window refused, use goto to read it"
        self._session.on("Page.windowOpen", lambda event: note(f"{window}: {event['url']}"))
        self._transport.on_silence = self._break_silence

    def _record(self, level: str, text: str) -> None:
        requests = self.watch.observer.requests
        requests.record.add_message(level, text, requests.number)

    def note(self, text: str) -> None:
        """Add a note for the agent, in one line."""
        line = " ".join(text[:300].split())
        if len(self._notes) < KEPT_NOTES and line not in self._notes:
            self._notes.append(line)

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes since the last call, and forget them."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def _lose(self, why: str) -> None:
        """Mark the tab as lost, and end the action that waits for it."""
        self._transport.loss = why
        if self._limit is not None and not self._limit.expired():
            # The action may have ended just now, and its time limit with it.
            with suppress(RuntimeError):
                self._limit.reschedule(0.0)

    async def _break_silence(self) -> None:
        self.note("the page did not respond; its script was stopped")
        await self.stop_scripts()

    async def _dismiss(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs > DIALOGS:
            # The script goes on as soon as its dialog is answered, and cannot be stopped before.
            self._lose("the page opened one dialog after the other")
            return
        # Leaving is what the agent wants; every other question is answered with no.
        if not (unloading := dialog.type == "beforeunload"):
            self.note(f"{dialog.type} dialog dismissed: {dialog.message}")
        with suppress(playwright_error()):
            await (dialog.accept() if unloading else dialog.dismiss())

    async def _refuse_window(self, window: Tab) -> None:
        with suppress(playwright_error()):
            await window.close()

    async def do(self, call: ActionCall) -> str:
        """Carry out a call; return the text that `fetch_json` read, or an empty text."""
        from playwright.async_api import TimeoutError as TookTooLong

        verbs: dict[str, Callable[..., Awaitable[str | None]]] = {
            "click": self._click,
            "fill": self._fill,
            "select": self._select,
            "scroll": self._scroll,
            "press": self.tab.keyboard.press,
            "goto": self._goto,
            "back": self._back,
            "search": self._search,
            "fetch_json": self._fetch,
            "noop": lambda: asyncio.sleep(self._options.noop_s),
        }
        self._dialogs = 0
        try:
            # A little more than Playwright's own limit, whose message says more.
            async with asyncio.timeout(self._timeout_s + 0.5) as self._limit:
                result = await verbs[call.name](*call.arguments)
                self._transport.on_silence = None
                with suppress(playwright_error(), DocumentLost, ActionFailed):
                    await self.watch.observer.settle()
        except TimeoutError:
            if self._transport.loss:
                raise PageLost(self._transport.loss) from None
            await self.stop_scripts()
            raise ActionFailed(
                f"Timeout {self._timeout_s * 1000:.0f}ms exceeded; the page was stopped"
            ) from None
        except TookTooLong:
            await self.stop_scripts()
            raise
        finally:
            self._limit = None
            self._transport.on_silence = self._break_silence
        return result or ""

    async def stop_scripts(self) -> None:
        for method in ("Runtime.terminateExecution", "Page.stopLoading"):
            with suppress(playwright_error(), TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._session.send(method)
        self.watch.observer.abandon()

    async def _goto(self, url: str) -> None:
        await self._check_allowed(url, blank=True)
        try:
            await self.tab.goto(url, wait_until="domcontentloaded", timeout=self._timeout_s * 1000)
        except playwright_error() as error:
            if "is interrupted by another navigation" in str(error):
                return
            if "Download is starting" in str(error):
                raise ActionFailed("Navigation failed: there is a download, not a page") from None
            raise

    async def _check_allowed(self, url: str, *, blank: bool = False) -> None:
        """Raise `ActionFailed` if the address is refused; the gateway also checks redirects."""
        if urlsplit(url).scheme not in ("http", "https") and not (blank and url == "about:blank"):
            raise ActionFailed(f"Cannot navigate to invalid URL: {url[:100]!r} is not http(s)")
        try:
            parts = urlsplit(url)
            port = parts.port or PORTS.get(parts.scheme, 0)
            if parts.hostname and port:
                await self._options.allowed.resolve(parts.hostname, port)
        except AddressRefused as error:
            raise ActionFailed(f"Navigation failed: {error}") from None
        except (OSError, ValueError):
            return  # The browser has its own words for what is no address.

    async def _search(self, words: str) -> None:
        if not self._options.search_url:
            raise ActionFailed("Element not found: there is no search engine here")
        await self._goto(self.search_address(words))

    def search_address(self, words: str) -> str:
        return self._options.search_url.replace("{query}", quote_plus(words, errors="replace"))

    async def _back(self) -> None:
        limit_ms = self._timeout_s * 1000
        answer = await self.tab.go_back(wait_until="domcontentloaded", timeout=limit_ms)
        if answer is None and self.tab.url == "about:blank":
            raise ActionFailed("Navigation failed: there is no page to go back to")

    async def _scroll(self, direction: str) -> None:
        if direction not in ("up", "down"):
            raise ActionFailed(f"Element not found: scroll goes 'up' or 'down', not {direction!r}")
        sign = 1 if direction == "down" else -1
        window = self.tab.viewport_size or {"width": 1280, "height": 720}
        await self.tab.mouse.wheel(0, sign * 0.9 * window["height"])
        # A wheel turns the page when it is next drawn.
        with suppress(playwright_error(), DocumentLost):
            await self.watch.observer.ask("drawn", wait=True)

    async def _click(self, ref: str) -> None:
        x, y = await self._on_element(ref, "point")
        await self.tab.mouse.click(float(x), float(y))

    async def _fill(self, ref: str, text: str) -> None:
        kind = await self._on_element(ref, "prepareToType")
        if kind != "plain":
            await self._on_element(ref, "setValue", text)
            return
        await self._click(ref)
        await self._on_element(ref, "selectAll")
        keyboard = self.tab.keyboard
        await (keyboard.insert_text(text) if text else keyboard.press("Delete"))
        await self._on_element(ref, "changed")

    async def _select(self, ref: str, option: str) -> None:
        await self._on_element(ref, "choose", option)

    async def box(self, ref: str) -> tuple[float, float, float, float]:
        """The element's current place in the window: x, y, width, height."""
        x, y, width, height = map(float, await self._on_element(ref, "where"))
        return x, y, width, height

    async def _on_element(self, ref: str, verb: str, argument: str = "") -> Any:
        if not ref.isdecimal() or len(ref) > 9:
            raise ActionFailed(f"Element not found: {ref[:40]!r} is not the number of an element")
        call = {"id": int(ref), "verb": verb, "argument": argument}
        for _ in range(HOPS):
            with suppress(DocumentLost):
                result = await self.watch.observer.ask("act", call)
                if "error" in result:
                    raise ActionFailed(result["error"])
                return result["value"]
            await self.watch.observer.arrive()
        raise PageLost(self._transport.loss or "the page does not respond")

    async def _fetch(self, url: str) -> str:
        """Read the first `FETCH_CHARS` characters at an address, in a separate tab."""
        await self._check_allowed(url)
        tab = await self.tab.context.new_page()
        try:
            limit_ms = self._timeout_s * 1000
            answer = await tab.goto(url, wait_until="domcontentloaded", timeout=limit_ms)
            script = f"document.documentElement.innerText.slice(0, {FETCH_CHARS}).toWellFormed()"
            text: str = await tab.evaluate(script)
        finally:
            with suppress(playwright_error()):
                await tab.close()
        status = None if answer is None else answer.status
        if status is not None and status >= 400:
            raise ActionFailed(f"Navigation failed: {url[:200]} answered with status {status}")
        return text

    async def screenshot(self) -> bytes:
        limit_ms = self.watch.observer.patience.answer_s * 1000
        return await self.tab.screenshot(type="jpeg", quality=60, timeout=limit_ms)
