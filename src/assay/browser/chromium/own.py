"""A Chromium process for one episode, which another program drives over the DevTools protocol."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from assay.browser.chromium.shared import find_chromium, launch_flags, playwright_error
from assay.errors import DeadResource, MissingExtra
from assay.isolation.processes import kill_at_close, kill_family
from assay.resources.scratch import scratch_prefix

START_S: Final = 30.0
OWN_FLAGS: Final = (
    "--remote-debugging-port=0 --disable-back-forward-cache "
    "--disable-background-timer-throttling --disable-backgrounding-occluded-windows "
    "--disable-dev-shm-usage --disable-popup-blocking --disable-renderer-backgrounding "
    "--disable-search-engine-choice-screen --force-color-profile=srgb "
    "--no-default-browser-check --no-service-autorun --password-store=basic --window-size=1280,720"
).split()


class OwnChromium:
    """A Chromium process with its own profile; it ends by `close`, or when this process ends."""

    def __init__(
        self, executable: str, flags: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        self.address = ""
        """Where it speaks the DevTools protocol: `http://127.0.0.1:PORT`."""
        self._profile = Path(tempfile.mkdtemp(prefix=scratch_prefix("chromium")))
        self._log = self._profile / "stderr.txt"
        life, self._life = os.pipe()
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [executable, f"--user-data-dir={self._profile}", *flags, "about:blank"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    pass_fds=(life,),
                    start_new_session=True,
                    # Downloads and crash reports go with the profile.
                    env={**os.environ, "HOME": str(self._profile), **environment},
                )
            kill_at_close(life, -self._process.pid)
        except OSError as error:
            os.close(self._life)
            shutil.rmtree(self._profile, ignore_errors=True)
            raise DeadResource(f"Chromium did not start: {error}") from error
        finally:
            os.close(life)

    @property
    def alive(self) -> bool:
        return self._life >= 0 and self._process.poll() is None

    async def ready(self) -> None:
        """Wait until Chromium accepts connections; raise `DeadResource` if it does not start."""
        by = time.monotonic() + START_S
        file = self._profile / "DevToolsActivePort"
        while not self.address:
            lines = file.read_text("utf-8").splitlines() if file.is_file() else []
            if len(lines) >= 2 and lines[0].isdigit():
                self.address = f"http://127.0.0.1:{lines[0]}"
            elif not self.alive or time.monotonic() > by:
                problem = self._last_words()
                self.close()
                raise DeadResource(f"Chromium did not start: {problem}")
            else:
                await asyncio.sleep(0.02)

    def _last_words(self) -> str:
        lines: list[str] = []
        with suppress(OSError):
            text = self._log.read_text("utf-8", "replace")
            lines = [line for line in text.splitlines() if not re.match(r"\[[\d:/.]+:WARN", line)]
        return " ".join(lines[-3:])[:500] or "it said nothing"

    def close(self) -> None:
        """Kill Chromium's processes and remove its profile; a second call does nothing."""
        if self._life < 0:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        kill_family(self._process.pid)
        self._process.wait()
        os.close(self._life)
        self._life = -1
        # A process of it may write for another moment; then the rest is removed by the next one.
        shutil.rmtree(self._profile, ignore_errors=True)


async def start_chromium(
    *, proxy: str, locale: str, timezone: str | None, headless: bool
) -> OwnChromium:
    """Start a Chromium that connects only by `proxy`; raise `MissingExtra` or `DeadResource`."""
    # Without the list, what is on this machine would be reached past the proxy.
    places = (f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>")
    flags = [*launch_flags(), *OWN_FLAGS, *places, f"--lang={locale}", f"--accept-lang={locale}"]
    if headless:
        flags += ["--headless", "--hide-scrollbars"]
    environment = {"LANGUAGE": locale.replace("-", "_"), **({"TZ": timezone} if timezone else {})}
    chromium = OwnChromium(await find_executable(), tuple(flags), environment)
    await chromium.ready()
    return chromium


async def find_executable() -> str:
    """The path of the system's Chromium or of Playwright's; raises `MissingExtra` without one."""
    try:
        return find_chromium()
    except MissingExtra:
        if os.environ.get("ASSAY_CHROMIUM"):
            raise
        playwright_error()
        from playwright.async_api import async_playwright

        async with async_playwright() as driver:
            path = driver.chromium.executable_path
        if not Path(path).is_file():
            raise
        return path
