"""Record and score every step of a Selenium driver.

from selenium import webdriver
from selenium.webdriver.support.events import EventFiringWebDriver
from assay.browser.connect.selenium import step_listener

chrome = webdriver.Chrome()
listener = step_listener(chrome, steps="steps.jsonl")
driver = EventFiringWebDriver(chrome, listener)      # use this one from here on
...
listener.close()
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from assay.browser.connect.devtools import BrowserWatch, watch_browser
from assay.browser.steps import Contract
from assay.errors import BadParameter, MissingExtra


def debugging_address(driver: Any) -> str:
    """The DevTools address of the driver's browser; raises `BadParameter` if it has none."""
    for name in ("goog:chromeOptions", "ms:edgeOptions"):
        options = driver.capabilities.get(name) or {}
        if address := options.get("debuggerAddress"):
            return f"http://{address}"
    kind = driver.capabilities.get("browserName", "the browser")
    raise BadParameter(f"{kind} has no debugging address; use Chrome, Chromium or Edge")


class StepScoringListener:
    """The methods of a Selenium listener that scores steps; `step_listener` adds the base class."""

    def __init__(self, watch: BrowserWatch) -> None:
        self.watch = watch
        """The scores so far: `watch.score`, `watch.status`."""
        self._step: Any = None
        self._looked_for: dict[str, Any] | None = None

    def _begin(self, tool: str, **arguments: Any) -> None:
        self._end(None)
        self._looked_for = None
        self._step = self.watch.step(tool, **arguments)
        self._step.__enter__()

    def _end(self, error: BaseException | None) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, error, None)

    def before_navigate_to(self, url: str, _driver: Any) -> None:
        self._begin("goto", url=url)

    def before_navigate_back(self, _driver: Any) -> None:
        self._begin("back")

    def before_navigate_forward(self, _driver: Any) -> None:
        self._begin("forward")

    def before_click(self, element: Any, _driver: Any) -> None:
        self._begin("click", element=_number(element))

    def before_change_value_of(self, element: Any, _driver: Any) -> None:
        self._begin("fill", element=_number(element))

    def before_execute_script(self, script: str, _driver: Any) -> None:
        self._begin("execute_script", script=script[:200])

    def before_find(self, by: str, value: str, _driver: Any) -> None:
        self._looked_for = {"by": by, "selector": value}

    def after_find(self, _by: str, _value: str, _driver: Any) -> None:
        self._looked_for = None

    def before_close(self, _driver: Any) -> None:
        self._end(None)

    def before_quit(self, _driver: Any) -> None:
        self.close()

    def _done(self, *_: Any) -> None:
        self._end(None)

    after_navigate_to = after_navigate_back = after_navigate_forward = _done
    after_click = after_change_value_of = after_execute_script = _done

    def on_exception(self, exception: BaseException, _driver: Any) -> None:
        """End the step with its error; a search that finds no element is a step, too."""
        if self._step is None and self._looked_for is not None:
            self._begin("find", **self._looked_for)
        self._end(exception)

    def close(self) -> None:
        """Score the last step, and stop watching the browser."""
        self._end(None)
        self.watch.close()


def _number(element: Any) -> str:
    """The end of chromedriver's element id, which identifies the element on its page."""
    return str(element.id).rpartition(".")[2]


def step_listener(
    driver: Any, *, steps: str | Path | None = None, contract: Contract | None = None
) -> Any:
    """Make a listener for `EventFiringWebDriver` that scores the steps of a Chromium driver."""
    try:
        events = import_module("selenium.webdriver.support.abstract_event_listener")
    except ImportError as error:
        raise MissingExtra.of("step_listener", "selenium") from error
    listener = type("StepListener", (StepScoringListener, events.AbstractEventListener), {})
    return listener(watch_browser(debugging_address(driver), contract=contract, steps=steps))
