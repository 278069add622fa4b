"""Find Chromium, and share one browser among episodes, each with a fresh context."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from assay.errors import DeadResource, MissingExtra

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserType, Playwright
    from playwright.async_api import Page as Tab

T = TypeVar("T")

DISABLED: Final = (
    "AimEnabled,AvoidCorsURLLoaderRestartOnRedirect,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "DestroyProfileOnBrowserClose,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,LensOverlay,"
    "MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch,"
    "TcpPortRandomizationWin,ThirdPartyStoragePartitioning,WebUIOmniboxAimPopup,"
    "WebUIOmniboxFullPopup,WebUIOmniboxPopup"
)
"""What Playwright disables (a second list replaces its list), and popups that cost a process."""
FLAGS: Final = (
    *"--disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --mute-audio "
    "--webrtc-ip-handling-policy=disable_non_proxied_udp".split(),
    f"--disable-features={DISABLED}",
)
"""Chromium talks to nothing but the pages that the agent opens."""

SYSTEM_NAMES: Final = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge",
)  # fmt: skip

INSTALL: Final = (
    "no Chromium was found; install one with `python -m playwright install chromium` or your "
    "system's package manager (`apt-get install chromium`), or name it in ASSAY_CHROMIUM"
)
SPARES: Final = 2
"""How many kinds of tab have a spare one ready."""
READY_AFTER_S: Final = 0.25
"""How long the browser is unused before it makes a spare tab, which slows everything else."""
READY_BY_S: Final = 3.0
"""After this long a spare tab is made although the browser is in use."""
CLOSE_S: Final = 5.0


def launch_flags() -> list[str]:
    """The flags of every Chromium that Assay starts; as root, Chromium's own sandbox is off."""
    return [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else list(FLAGS)


def find_chromium() -> str:
    """Return the path of the Chromium in ASSAY_CHROMIUM, or else of the system's Chromium."""
    named = os.environ.get("ASSAY_CHROMIUM", "")
    if named and not Path(named).is_file():
        raise MissingExtra(f"ASSAY_CHROMIUM names {named!r}, which is not a file")
    path = named or next(filter(None, map(shutil.which, SYSTEM_NAMES)), None)
    if path is None:
        raise MissingExtra(INSTALL)
    return path


@cache
def playwright_error() -> type[Exception]:
    """Return Playwright's error class; raise `MissingExtra` if Playwright is not installed."""
    try:
        from playwright.async_api import Error
    except ImportError as error:
        raise MissingExtra.of("a browser", "playwright") from error
    return Error


class LocalServer(Protocol):
    """A local server that runs on the browser's event loop, such as the gateway."""

    port: int

    async def close(self) -> None:
        """End the server and its connections."""


class Browser:
    """A shared Chromium with its own thread; its methods may be called from any event loop.

    Playwright's objects belong to the event loop that made them: use `await browser.run(work())`.
    """

    def __init__(self, *, headless: bool = True) -> None:
        self._headless = headless
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="assay-browser", daemon=True)
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._ready: dict[str, asyncio.Task[Tab | None]] = {}
        self._servers: dict[Hashable, LocalServer] = {}
        self._used_at = self._loop.time()
        self._given_up = False
        self._closed = False
        self.launches = 0
        """How many Chromiums there have been; a tab of an earlier one is dead."""
        self._thread.start()
        atexit.register(self.end)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(_log_unless_driver_died)
        self._loop.run_forever()
        self._loop.close()

    @property
    def alive(self) -> bool:
        """Whether Chromium is running; this check is fast and never raises."""
        chromium = self._chromium
        return chromium is not None and not self._given_up and chromium.is_connected()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` on the browser's loop; it continues even if the caller is cancelled."""
        if self._closed:
            work.close()
            raise DeadResource("the browser was closed; ask for a new one")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the browser's loop; the work is cancelled with the caller."""
        self._used_at = self._loop.time()
        return await asyncio.wrap_future(self.submit(work))

    async def start(self) -> None:
        """Start Chromium if it is not running."""
        if not self.alive:
            await self.run(self._start())

    async def _start(self) -> None:
        async with self._starting:
            if not self.alive:
                await self._stop()
                await self._launch()

    async def _launch(self) -> None:
        failure = playwright_error()
        from playwright.async_api import async_playwright

        self._playwright = await async_playwright().start()
        self._given_up = False
        try:
            self._chromium = await self._launch_any(self._playwright.chromium)
            self.launches += 1
        except (failure, MissingExtra) as error:
            await self._stop()
            if isinstance(error, MissingExtra):
                raise
            raise DeadResource(f"Chromium did not start: {str(error)[:500]}") from error

    async def _launch_any(self, kind: BrowserType) -> Chromium:
        flags = launch_flags()
        if not os.environ.get("ASSAY_CHROMIUM"):
            try:
                # Playwright's own has a lighter build for working without a window.
                return await kind.launch(headless=self._headless, args=flags)
            except playwright_error() as error:
                if "Executable doesn't exist" not in str(error):
                    raise
        path = find_chromium()
        return await kind.launch(executable_path=path, headless=self._headless, args=flags)

    async def port_of(self, key: Hashable, start: Callable[[], Awaitable[LocalServer]]) -> int:
        """Start a local server if necessary and return its port; call this through `run`."""
        async with self._starting:
            if key not in self._servers:
                self._servers[key] = await start()
            return self._servers[key].port

    async def new_tab(self, **options: Any) -> Tab:
        """Open a tab in a fresh context, through `run`; prepare a spare tab for the next call."""
        key = repr(sorted(options.items()))
        ready = self._ready.get(key)
        tab: Tab | None = None
        if ready is None or ready.done():
            tab = None if ready is None else ready.result()
            if len(self._ready) < SPARES or key in self._ready:
                self._ready[key] = asyncio.create_task(self._make_ready(options))
        return tab if tab is not None and not tab.is_closed() else await self._make_tab(options)

    async def _make_tab(self, options: Mapping[str, Any]) -> Tab:
        if not self.alive:
            raise DeadResource("Chromium has ended")
        assert self._chromium is not None
        try:
            context = await self._chromium.new_context(
                **{"accept_downloads": False, "service_workers": "block", **options}
            )
            return await context.new_page()
        except playwright_error() as error:
            raise DeadResource(f"Chromium opened no tab: {str(error)[:500]}") from error

    async def _make_ready(self, options: Mapping[str, Any]) -> Tab | None:
        by = self._loop.time() + READY_BY_S
        while (now := self._loop.time()) < min(by, self._used_at + READY_AFTER_S):
            await asyncio.sleep(min(by, self._used_at + READY_AFTER_S) - now)
        with suppress(DeadResource):
            return await self._make_tab(options)
        return None

    def give_up(self) -> None:
        """Treat Chromium as dead, because it dies silently with its driver."""
        self._given_up = True

    async def _stop(self) -> None:
        servers, self._servers = self._servers, {}
        for server in servers.values():
            await server.close()
        ready, self._ready = self._ready, {}
        for task in ready.values():
            task.cancel()
        chromium, self._chromium = self._chromium, None
        driver, self._playwright = self._playwright, None
        # A browser or driver that ended by itself needs no closing.
        with suppress(playwright_error(), TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                if chromium is not None and chromium.is_connected():
                    await chromium.close()
        if driver is not None:
            with suppress(playwright_error(), TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await driver.stop()

    async def close(self) -> None:
        """End Chromium and its driver; a second call does nothing."""
        if stopping := self._begin_to_stop():
            await asyncio.shield(asyncio.wrap_future(stopping))
        self._end_thread()

    def end(self) -> None:
        """End Chromium at the end of the process, where no event loop runs."""
        if stopping := self._begin_to_stop():
            with suppress(TimeoutError):
                stopping.result(2 * CLOSE_S)
        self._end_thread()

    def _begin_to_stop(self) -> Future[None] | None:
        if self._closed:
            return None
        stopping = self.submit(self._stop())
        self._closed = True
        return stopping

    def _end_thread(self) -> None:
        atexit.unregister(self.end)
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_S)


def _log_unless_driver_died(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a background task's error, unless the driver died; every call reports that death."""
    if "reading from the driver" not in str(context.get("exception", "")):
        loop.default_exception_handler(context)


_SHARED: Final[dict[tuple[int, bool], Browser]] = {}
"""By process and kind: a forked process has the record of its parent's browser, but no thread."""
_SHARING: Final = threading.Lock()


async def shared_browser(*, headless: bool = True) -> Browser:
    """Return the running browser of this process; raise `MissingExtra` or `DeadResource`."""
    playwright_error()
    key = (os.getpid(), headless)
    with _SHARING:
        browser = _SHARED.get(key)
        if browser is None:
            browser = _SHARED[key] = Browser(headless=headless)
    await browser.start()
    return browser


async def close_shared_browsers() -> None:
    """Close every browser that this process shares."""
    with _SHARING:
        mine = [_SHARED.pop(key) for key in list(_SHARED) if key[0] == os.getpid()]
    for browser in mine:
        await browser.close()
