"""One tab that an agent drives: it carries out calls and takes snapshots of the page.

Elements are found by their numbers in the last snapshot, by scripts that the page's own cannot
reach; a number is never used twice in an episode. Clicks and keys are real input events. Dialogs
are dismissed, new windows and downloads refused; the next snapshot has a note of each. Everything
has a deadline: a page that hangs, loops or crashes costs the agent a step and disturbs nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote_plus, urlsplit

from assay.browser.chromium.shared import playwright_error
from assay.browser.drive.gateway import PORTS, AddressPolicy, AddressRefused
from assay.browser.observe.isolated import ActionFailed, DocumentLost
from assay.browser.observe.observer import PageObserver, look_options
from assay.browser.observe.snapshot import PageSnapshot, read_snapshot
from assay.browser.observe.traffic import NavigationTracker, TrafficRecorder
from assay.browser.observe.transport import PlaywrightTransport
from assay.schema.action import ActionCall

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog, Download, ViewportSize
    from playwright.async_api import Page as Tab

FETCH_CHARS: Final = 1_000_000
DIALOGS: Final = 20
"""Dialogs that a page may open in one step; with one more its tab is replaced."""
ANSWER_S: Final = 5.0
"""How long a page may take to answer a question about itself."""
HOPS: Final = 5
"""Redirects by script that are followed within one step."""
NOOP_S: Final = 0.5
"""How long an agent waits when it says that it waits."""


class PageLost(Exception):
    """The tab crashed, or does not answer any more; only a fresh one helps."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What an environment decides about its pages."""

    timeout_s: float = 15.0
    search_url: str = ""
    """The address of a search, with `{query}` for the words."""
    noop_s: float = NOOP_S
    allowed: AddressPolicy = field(default_factory=AddressPolicy)
    """Which addresses it reaches."""


def letters_and_digits(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


class BrowserPage:
    """A tab of a browser context; to be used on the browser's own event loop."""

    def __init__(
        self,
        tab: Tab,
        session: CDPSession,
        options: PageOptions,
        observer: PageObserver,
        *,
        old: BrowserPage | None = None,
    ) -> None:
        self.tab = tab
        """Playwright's own page, for what this class does not offer."""
        self._session = session
        self._options = options
        self._timeout_s = options.timeout_s
        self.traffic: TrafficRecorder = old.traffic if old else TrafficRecorder()
        self.observer = observer
        """What reads the page, and never touches it."""
        self.observer.next_ref = old.observer.next_ref if old else 1
        self._loading = NavigationTracker(tab, session, self.traffic, frame_id=observer.frame_id)
        self._answer_s = min(ANSWER_S, options.timeout_s)
        self._loss = ""
        self._dialogs = 0
        self._limit: asyncio.Timeout | None = None

    @classmethod
    async def open(
        cls, tab: Tab, options: PageOptions, *, old: BrowserPage | None = None
    ) -> BrowserPage:
        """A fresh tab, watched from its first request on, with the record of the `old` one."""
        session = await tab.context.new_cdp_session(tab)
        answer_s = min(ANSWER_S, options.timeout_s)
        transport = PlaywrightTransport(session, tab, timeout_s=answer_s)
        observer = await PageObserver.open(transport, answer_s=answer_s)
        page = cls(tab, session, options, observer, old=old)
        page._watch()
        return page

    def _watch(self) -> None:
        tab, traffic = self.tab, self.traffic
        tab.on("dialog", self._dismiss)
        tab.on("popup", self._refuse_window)
        tab.on("download", self._note_download)
        tab.on("console", lambda message: traffic.record_message(message.type, message.text))
        tab.on("pageerror", lambda error: traffic.record_message("uncaught", str(error)))
        tab.on("close", lambda _: self._lose("the page closed itself"))
        tab.on("crash", lambda _: self._lose("the page crashed"))
        self._session.on("Page.windowOpen", self._note_window)
        self._loading.watch(self.observer.scripts.forget)

    def _lose(self, why: str) -> None:
        """Mark the tab as lost, and end the action that waits for it."""
        self._loss = why
        if self._limit is not None and not self._limit.expired():
            # The action may have ended just now, and its time limit with it.
            with suppress(RuntimeError):
                self._limit.reschedule(0.0)

    def _note_download(self, item: Download) -> None:
        self.traffic.note(f"download refused: {item.suggested_filename}")

    def _note_window(self, event: dict[str, Any]) -> None:
        self.traffic.note(f"new window refused, use goto to read it: {event['url']}")

    async def _dismiss(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs > DIALOGS:
            # The script goes on as soon as its dialog is answered, and cannot be stopped before.
            self._lose("the page opened one dialog after the other")
            return
        # Leaving is what the agent wants; every other question is answered with no.
        unloading = dialog.type == "beforeunload"
        if not unloading:
            self.traffic.note(f"{dialog.type} dialog dismissed: {dialog.message}")
        with suppress(playwright_error()):
            await (dialog.accept() if unloading else dialog.dismiss())

    async def _refuse_window(self, window: Tab) -> None:
        with suppress(playwright_error()):
            await window.close()

    async def do(self, call: ActionCall) -> str:
        """Carry out a call; what it returned as text (only `fetch_json` returns any).

        Raises `ActionFailed`, `PageLost` or Playwright's own error.
        """
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
        await self._wait_for("begin")
        try:
            # A little more than Playwright's own limit, whose message says more.
            async with asyncio.timeout(self._timeout_s + 0.5) as self._limit:
                result = await verbs[call.name](*call.arguments)
                await self._settle()
        except TimeoutError:
            if self._loss:
                raise PageLost(self._loss) from None
            await self.stop_scripts()
            raise ActionFailed(
                f"Timeout {self._timeout_s * 1000:.0f}ms exceeded; the page was stopped"
            ) from None
        except TookTooLong:
            await self.stop_scripts()
            raise
        finally:
            self._limit = None
        return result or ""

    async def _settle(self) -> None:
        """Wait for a navigation that the action began, and for responses that the page awaits."""
        breathed = False
        for _ in range(HOPS):
            await self._wait_for("breathe")
            breathed = not self._loading.under_way
            if breathed:
                break
            await self._loading.arrive()
        await self.observer.settle(breathed=breathed)
        await self.observer.watch_failures()

    async def _wait_for(
        self,
        promise: Literal["begin", "breathe", "drawn"],
    ) -> None:
        """Let the page do what the action set off, by its own event loop rather than our clock."""
        # It ends early when the document does, and that is what it waits for.
        with suppress(playwright_error(), DocumentLost):
            await self._ask(promise, None, wait=True)

    async def stop_scripts(self) -> None:
        """Stop the page's scripts and its loading."""
        for method in ("Runtime.terminateExecution", "Page.stopLoading"):
            with suppress(playwright_error(), TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._session.send(method)
        self._loading.end()

    async def _goto(self, url: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") and url != "about:blank":
            raise ActionFailed(f"Cannot navigate to invalid URL: {url[:100]!r} is not http(s)")
        await self._check_allowed(url)
        try:
            await self.tab.goto(url, wait_until="domcontentloaded", timeout=self._timeout_s * 1000)
        except playwright_error() as error:
            if "is interrupted by another navigation" in str(error):
                return
            if "Download is starting" in str(error):
                raise ActionFailed("Navigation failed: there is a download, not a page") from None
            raise

    async def _check_allowed(self, url: str) -> None:
        """Raise `ActionFailed` in words if the address is refused; what it leads to is as well."""
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
        """Where a search for the words leads."""
        return self._options.search_url.replace("{query}", quote_plus(words, errors="replace"))

    async def _back(self) -> None:
        answer = await self.tab.go_back(
            wait_until="domcontentloaded", timeout=self._timeout_s * 1000
        )
        if answer is None and self.tab.url == "about:blank":
            raise ActionFailed("Navigation failed: there is no page to go back to")

    async def _scroll(self, direction: str) -> None:
        if direction not in ("up", "down"):
            raise ActionFailed(f"Element not found: scroll goes 'up' or 'down', not {direction!r}")
        sign = 1 if direction == "down" else -1
        await self.tab.mouse.wheel(0, sign * 0.9 * self._window()["height"])
        # A wheel turns the page when it is next drawn.
        await self._wait_for("drawn")

    async def _click(self, ref: str) -> None:
        x, y = await self._on_element(ref, "point")
        await self.tab.mouse.click(float(x), float(y))

    async def _fill(self, ref: str, text: str) -> None:
        kind = await self._on_element(ref, "prepareToType")
        if kind == "plain":
            await self._click(ref)
            await self._on_element(ref, "selectAll")
            if text:
                await self.tab.keyboard.insert_text(text)
            else:
                await self.tab.keyboard.press("Delete")
            await self._on_element(ref, "changed")
        else:
            await self._on_element(ref, "setValue", text)

    async def _select(self, ref: str, option: str) -> None:
        await self._on_element(ref, "choose", option)

    async def holds(self, ref: str, text: str) -> bool:
        """Whether the element holds the text; what a mask puts between its letters is no matter."""
        value = await self._on_element(ref, "value")
        present, typed = letters_and_digits(str(value)), letters_and_digits(text)
        # A mask may put something before or after it: a country's code, the cents, an ending.
        within = present.startswith(typed) or present.endswith(typed)
        return present == typed or (typed != "" and within)

    async def box(self, ref: str) -> tuple[float, float, float, float]:
        """Where the element is in the window as it is now: x, y, width, height."""
        x, y, width, height = await self._on_element(ref, "where")
        return float(x), float(y), float(width), float(height)

    async def _on_element(self, ref: str, verb: str, argument: str = "") -> Any:
        if not ref.isdecimal() or len(ref) > 9:
            raise ActionFailed(f"Element not found: {ref[:40]!r} is not the number of an element")
        result = await self._evaluate("act", {"id": int(ref), "verb": verb, "argument": argument})
        if "error" in result:
            raise ActionFailed(result["error"])
        return result["value"]

    async def focus(self) -> dict[str, Any] | None:
        """What a key press would act on: the focused element, and what Enter would send."""
        focus: dict[str, Any] | None = await self._evaluate("focus", None)
        return focus

    async def _fetch(self, url: str) -> str:
        """The first `FETCH_CHARS` characters at an address, read in a tab of its own."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise ActionFailed(f"Cannot navigate to invalid URL: {url[:100]!r} is not http(s)")
        await self._check_allowed(url)
        tab = await self.tab.context.new_page()
        try:
            answer = await tab.goto(
                url, wait_until="domcontentloaded", timeout=self._timeout_s * 1000
            )
            text: str = await tab.evaluate(
                f"document.documentElement.innerText.slice(0, {FETCH_CHARS}).toWellFormed()"
            )
        finally:
            with suppress(playwright_error()):
                await tab.close()
        status = None if answer is None else answer.status
        if status is not None and status >= 400:
            raise ActionFailed(f"Navigation failed: {url[:200]} answered with status {status}")
        return text

    async def snapshot(
        self, *, every_text: bool = False, selectors: Sequence[str] = (), patient: bool = True
    ) -> PageSnapshot:
        """The page as it is now, with the count and the first text of each of the `selectors`."""
        answer = await self._evaluate("look", look_options(every_text, selectors, None))
        snapshot = read_snapshot(answer, notes=())
        self.observer.next_ref = snapshot.next_ref
        if snapshot.suspects and patient:
            await self.observer.confirm()
            return await self.snapshot(every_text=every_text, selectors=selectors, patient=False)
        with suppress(TimeoutError):
            await self.observer.rest()
        return replace(snapshot, notes=self.traffic.take_notes())

    async def screenshot(self, kind: Literal["jpeg", "png"] = "jpeg") -> bytes:
        """A picture of the window."""
        quality = 60 if kind == "jpeg" else None
        return await self.tab.screenshot(type=kind, quality=quality, timeout=self._answer_s * 1000)

    async def thumbnail(self, *, width: int, height: int) -> str:
        """A picture of the window of about this size, as a PNG in base64."""
        size = self._window()
        scale = min(width / size["width"], height / size["height"])
        clip = {"x": 0, "y": 0, **size, "scale": scale}
        async with asyncio.timeout(self._answer_s):
            answer = await self._session.send(
                "Page.captureScreenshot", {"format": "png", "clip": clip, "optimizeForSpeed": True}
            )
        return str(answer["data"])

    def _window(self) -> ViewportSize:
        return self.tab.viewport_size or {"width": 1280, "height": 720}

    async def _evaluate(self, function: str, argument: object) -> Any:
        """Call one of our functions; again when the page changed under it.

        A busy page has its scripts stopped once; when it is busy again, `PageLost` is raised.
        """
        scripts_stopped = False
        for _ in range(HOPS):
            try:
                return await self._ask(function, argument)
            except TimeoutError:
                if scripts_stopped:
                    break
                scripts_stopped = True
                self.traffic.note("the page did not respond; its script was stopped")
                await self.stop_scripts()
            except DocumentLost:
                await self._arrive()
        raise PageLost(self._loss or "the page does not respond")

    async def _ask(self, function: str, argument: object, *, wait: bool = False) -> Any:
        if self._loss:
            raise PageLost(self._loss)
        async with asyncio.timeout(self._answer_s):
            return await self.observer.ask(function, argument, wait=wait)

    async def _arrive(self) -> None:
        """Wait for the document that is being loaded; stop its loading at the deadline."""
        self.observer.scripts.forget()
        try:
            async with asyncio.timeout(self._answer_s):
                await self._loading.arrive()
        except TimeoutError:
            await self.stop_scripts()
