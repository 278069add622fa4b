"""The exported files are the same pages, and need no server."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from assay.cli.main import main
from tests.viewer.conftest import Ledger, check_harmless


@pytest.fixture(scope="module")
def site(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("export") / "site"
    assert main(["view", str(ledger.folder), "--export", str(target)]) == 0
    return target


def check_links(site: Path, at_least: int) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) >= at_least
    for page in pages:
        for link in re.findall(r'(?:href|src)="([^"]*)"', page.read_text("utf-8")):
            parts = urlsplit(unescape(link))
            assert parts.scheme == "", (page, link)
            assert not parts.path.startswith("/"), (page, link)
            if parts.path:
                assert (page.parent / unquote(parts.path)).is_file(), (page, link)


def test_every_link_of_every_file_leads_to_a_file(site: Path) -> None:
    check_links(site, 31)


def test_every_page_has_its_record_beside_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        json.loads(page.with_suffix(".json").read_bytes())


def test_a_folder_that_holds_something_is_left_alone(
    site: Path, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(ledger.folder), "--export", str(site)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_the_files_are_read_from_the_disk_with_keys_and_chart(site: Path, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    urls: list[str] = []
    context.on("request", lambda request: urls.append(request.url))
    page.goto((site / "index.html").as_uri())
    expect(page.locator(".chart.done canvas")).to_be_visible()
    page.get_by_role("link", name="long", exact=True).click()
    page.locator(".attempts").get_by_role("link", name="marked", exact=True).click()
    expect(page.locator(".step")).to_have_count(200)
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator(".cell.here")).to_have_attribute("aria-label", re.compile("step [24],"))
    page.get_by_role("link", name="steps after").click()
    expect(page.locator("#step-200")).to_be_visible()
    page.goto((site / "rewards" / "qa_f1_reward.html").as_uri())
    expect(page.locator("main")).to_contain_text("needs the server")
    page.goto((site / "runs" / "marked" / "marked.r0.a1.html").as_uri())
    loaded = page.evaluate(
        "() => new Promise(done => { const picture = new Image();"
        " picture.onload = () => done(picture.naturalWidth); picture.onerror = () => done(0);"
        " picture.src = document.querySelector('.shot image').href.baseVal })"
    )
    assert loaded == 64
    context.close()
    assert {urlsplit(url).scheme for url in urls} == {"file"}


def test_hostile_content_does_nothing_in_files_either(
    site: Path, ledger: Ledger, browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context()
    urls: list[str] = []
    context.on("request", lambda request: urls.append(request.url))
    page = context.new_page()
    files = [path for path in site.rglob("*.html") if "hostile" in str(path.relative_to(site))]
    assert len(files) > 6
    for path in (site / "index.html", *files):
        page.goto(path.as_uri())
        check_harmless(page, path.name, "file:")
    target = tmp_path / "one.html"
    command = ["export", "hostile", "--html", str(target), "--runs", str(ledger.folder)]
    assert main(command) == 0
    page.goto(target.as_uri())
    check_harmless(page, "one file", "file:")
    context.close()
    assert {urlsplit(url).scheme for url in urls} <= {"file", "data"}
    assert urls


def test_a_run_that_is_named_is_written_alone(ledger: Ledger, tmp_path: Path) -> None:
    target = tmp_path / "one"
    assert main(["view", str(ledger.folder / "made-2"), "--export", str(target)]) == 0
    check_links(target, 10)
    others = {path.parent.name for path in ledger.folder.glob("*/manifest.json")} - {"made-2"}
    assert len(others) > 4
    for path in target.rglob("*"):
        if path.suffix in (".html", ".json") and path.is_file():
            text = path.read_text("utf-8")
            quoted = re.compile("|".join(rf"\b{re.escape(name)}[/\".<]" for name in others))
            assert not quoted.search(text), path
    assert {path.name for path in (target / "runs").iterdir()} == {
        "made-2", "made-2.html", "made-2.json",
    }  # fmt: skip
    assert not (target / "compare").exists()
    rewards = {path.stem for path in (target / "rewards").iterdir()}
    assert rewards == {"assistantbench_reward"}
    assert '"audit":null' in (target / "rewards.json").read_text().replace(" ", "")
