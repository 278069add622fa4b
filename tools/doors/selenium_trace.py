"""Selenium on pages of the town, every step scored by its events.

    .venv-peers/selenium/bin/python -m tools.doors.selenium_trace [--write]

In the environment of Selenium (requirements/peer-selenium.txt), with a chromedriver on the path.
`--write` keeps the file of steps in tests/data/doors/selenium, where the tests score it again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from assay.adapters.binding import import_library
from assay.browser.chromium.shared import find_chromium
from assay.browser.connect.selenium import step_listener
from assay.browser.step_records import rescore
from assay.ledger.steps import read_steps
from townsquare.server import Town

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "doors" / "selenium"
EXPECTED = ["progress", "progress", "progress", "progress", "failure", "progress", "repeat"]
FLAGS = ("--headless", "--no-sandbox", "--proxy-server=direct://", "--window-size=1280,720")


def main() -> int:
    """Do it all; 0 if everything was as expected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the records for the tests")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Town() as town:
        path = Path(folder) / "steps.jsonl"
        walk(town, path)
        rows = list(rescore(read_steps(path)))
        for row in rows:
            if row.score is not None:
                print(f"{row.step.action:40} {row.score.score:+.3f} {row.score.classification}")
        classes = [row.score.classification for row in rows if row.score is not None]
        good = classes == EXPECTED and not any(row.differs for row in rows)
        if arguments.write:
            DATA.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, DATA / "steps.jsonl")
            versions = {name: version(name) for name in ("selenium", "websockets")}
            (DATA / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
    print("as expected" if good else f"PROBLEM: not {EXPECTED}")
    return 0 if good else 1


def walk(town: Town, path: Path) -> None:
    """A search, a link that there is not, a result, and back."""
    webdriver = import_library("selenium.webdriver", package="selenium")
    by = import_library("selenium.webdriver.common.by", package="selenium").By
    events = import_library("selenium.webdriver.support.events", package="selenium")
    problems = import_library("selenium.common.exceptions", package="selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = find_chromium()
    for flag in FLAGS:
        options.add_argument(flag)
    chromedriver = shutil.which("chromedriver")
    service = import_library("selenium.webdriver.chrome.service", package="selenium").Service
    chrome = webdriver.Chrome(options=options, service=service(chromedriver))
    listener = step_listener(chrome, steps=path)
    driver = events.EventFiringWebDriver(chrome, listener)
    try:
        driver.get(town.base_url)
        driver.find_element(by.LINK_TEXT, "Harbour office").click()
        driver.find_element(by.NAME, "month").send_keys("2024-11")
        driver.find_element(by.TAG_NAME, "button").click()
        try:
            driver.find_element(by.LINK_TEXT, "Tomorrow")
        except problems.NoSuchElementException:
            driver.get(town.url("museum"))
        driver.back()
    finally:
        driver.quit()


if __name__ == "__main__":
    sys.exit(main())
