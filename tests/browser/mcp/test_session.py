"""An MCP session through the proxy, by the SDK's own client: scored, recorded, advised."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from assay.browser.connect.devtools import FollowedBrowser
from assay.browser.connect.mcp import session as session_module
from assay.browser.connect.mcp.calls import watched_call
from assay.browser.connect.mcp.session import GAP, BrowserSession
from assay.browser.step_records import rescore
from assay.browser.steps import RecoveryRewardScorer
from assay.browser.steps.recovery_ranking import patterns_from_json
from assay.ledger.steps import StepsWriter, read_steps
from assay.schema.observation import Observation
from assay.schema.outcome import ToolOutcome
from assay.schema.step_score import step_score_to_record

HERE = Path(__file__).parent
SERVER = [sys.executable, str(HERE / "browser_server.py")]


def talk(work: Callable[[ClientSession], Awaitable[None]], folder: Path, *options: str) -> None:
    """The work, done by the SDK's client against the scripted server behind the proxy."""

    async def main() -> None:
        arguments = ["-m", "assay.cli.main", "mcp", *options, "--", *SERVER]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=folder)
        with (folder / "stderr").open("w") as stderr:
            async with (
                stdio_client(server, errlog=stderr) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                await session.list_tools()
                await work(session)

    asyncio.run(main())


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def classes(folder: Path) -> list[str]:
    return [
        row.score.classification
        for row in rescore(read_steps(folder / "steps.jsonl"))
        if row.score is not None
    ]


def ref_of(element: str, result: CallToolResult) -> str:
    (line,) = [line for line in text_of(result).splitlines() if f'"{element}"' in line]
    return line.partition("[ref=")[2].rstrip("]")


def test_a_session_is_scored_recorded_and_advised(tmp_path: Path) -> None:
    reports: dict[str, CallToolResult] = {}

    async def work(session: ClientSession) -> None:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names[-2:] == ["assay_steps", "assay_hint"]

        async def click(element: str, ref: str) -> CallToolResult:
            return await session.call_tool("browser_click", {"element": element, "ref": ref})

        shop = await session.call_tool("browser_navigate", {"url": "http://shop.test/"})
        link = ref_of("To B", shop)
        await session.call_tool("browser_snapshot", {})
        assert (await click("To B", link)).is_error
        reports["hint"] = await session.call_tool("assay_hint", {})
        shop = await session.call_tool("browser_snapshot", {})
        await click("To B", ref_of("To B", shop))
        reports["steps"] = await session.call_tool("assay_steps", {"last": 2})
        await session.call_tool("browser_navigate", {"url": "http://shop.test/gone"})
        shop = await session.call_tool("browser_navigate", {"url": "http://shop.test/"})
        await click("Delete account", ref_of("Delete account", shop))
        for _ in range(3):
            await click("Nothing", ref_of("Nothing", shop))
        reports["stuck"] = await session.call_tool("assay_steps", {})
        reports["bad"] = await session.call_tool("assay_steps", {"last": 0})

    talk(work, tmp_path, "--out", "steps.jsonl", "--patterns", "patterns.json")
    assert classes(tmp_path) == [
        "unknown",  # Nothing is known of the page before the first call.
        "no_progress",
        "failure",
        "repeat",  # New numbers, but the same elements.
        "recovered",
        "failure",
        "recovered",  # Back from a page that is not there.
        "destructive_ungated",
        *["no_progress", "repeat", "repeat"],
    ]
    assert "trouble: stale_ref" in text_of(reports["hint"])
    assert "look: browser_snapshot: read the page again" in text_of(reports["hint"])
    lines = text_of(reports["steps"]).splitlines()
    assert len(lines) == 3
    assert "recovered" in lines[1]
    assert lines[2] == "status: recovered since step 5: what had failed before was achieved"
    stuck = reports["stuck"].structured_content
    assert stuck is not None
    assert stuck["status"]["state"] == "stuck"
    assert reports["bad"].is_error
    (counts,) = [
        counts
        for (failure, _), counts in patterns_from_json(
            (tmp_path / "patterns.json").read_bytes()
        ).counts.items()
        if failure.fingerprint.startswith("stale_ref")
    ]
    assert counts == (1, 1)
    assert (tmp_path / "stderr").read_text() == ""


def test_a_recorded_session_scores_again_to_the_same_bytes(tmp_path: Path) -> None:
    async def work(session: ClientSession) -> None:
        for path in ("", "b", "gone", "b"):
            await session.call_tool("browser_navigate", {"url": f"http://shop.test/{path}"})
            await session.call_tool("browser_snapshot", {})
            await session.call_tool("browser_click", {"element": "Home", "ref": "e0"})

    talk(work, tmp_path, "--out", "steps.jsonl")
    rows = list(rescore(read_steps(tmp_path / "steps.jsonl")))
    assert len(rows) == 13
    for row in rows[1:]:
        stored = row.step.scores[0]
        assert row.score is not None
        fresh = step_score_to_record(row.score, scorer=RecoveryRewardScorer.id)
        assert {name: stored[name] for name in fresh} == fresh


def test_the_exit_code_of_the_server_is_that_of_the_proxy(tmp_path: Path) -> None:
    async def work(session: ClientSession) -> None:
        with pytest.raises(Exception, match=r"[Cc]losed"):
            await session.call_tool("stop", {"code": 3})

    talk(work, tmp_path, "--out", "steps/")
    assert "the server stops" in (tmp_path / "stderr").read_text()
    (path,) = (tmp_path / "steps").iterdir()
    assert [step.index for step in read_steps(path)] == [0]


def reply(text: str, *, error: bool = False) -> dict[str, Any]:
    return {"id": 1, "result": {"content": [{"type": "text", "text": text}], "isError": error}}


PAGE = "### Page\n- Page URL: http://a.test/{}\n### Snapshot\n```yaml\n- text: {} [ref=e1]\n```"


def test_a_call_that_was_not_looked_at_leaves_nothing_to_compare_with(tmp_path: Path) -> None:
    with StepsWriter(tmp_path / "steps.jsonl") as writer:
        session = BrowserSession(writer)
        call = session.describe("browser_navigate", {"url": "http://a.test/1"})
        session.end_call(call, reply(PAGE.format(1, "one")))
        session.skip()
        score = session.end_call(call, reply(PAGE.format(2, "two")))
    assert score is not None
    assert score.classification == "unknown"
    rows = list(rescore(read_steps(tmp_path / "steps.jsonl")))
    assert [row.step.action for row in rows][2] == GAP
    assert rows[-1].score == score
    assert not any(row.differs for row in rows)


def test_a_reply_that_cannot_be_written_changes_no_score(tmp_path: Path) -> None:
    """A full disk loses a step, and the scores of the others are those of the file."""

    class FullDisk(StepsWriter):
        full = False

        def write(self, step: Any) -> None:
            if self.full:
                raise OSError(28, "No space left on device")
            super().write(step)

    with FullDisk(tmp_path / "steps.jsonl") as writer:
        session = BrowserSession(writer)
        call = session.describe("browser_navigate", {"url": "http://a.test/1"})
        session.end_call(call, reply(PAGE.format(1, "one")))
        writer.full = True
        with pytest.raises(OSError, match="No space"):
            session.end_call(call, reply(PAGE.format(2, "two")))
        writer.full = False
        session.skip()
        session.end_call(call, reply(PAGE.format(2, "two")))
    assert not any(row.differs for row in rescore(read_steps(tmp_path / "steps.jsonl")))


def test_a_read_that_shows_no_page_leaves_the_one_before_to_compare_with() -> None:
    session = BrowserSession()
    go = session.describe("navigate_page", {"url": "http://a.test/"})
    snapshot = '## Latest page snapshot\nuid=1_0 RootWebArea "A" url="http://a.test/"'
    session.end_call(go, reply(snapshot))
    for tool, text in (
        ("list_console_messages", "## Console messages\n<no console messages found>"),
        ("list_pages", "## Pages\n1: A (http://a.test/) [selected]"),
        ("click", 'Error: Element uid "9_9" not found on page 1.'),
    ):
        call = session.describe(tool, {})
        session.end_call(call, reply(text, error=tool == "click"))
    score = session.end_call(session.describe("click", {"uid": "1_0"}), reply(snapshot))
    assert score is not None
    assert score.reasons[0].code == "unchanged"


def test_typed_text_and_secrets_are_not_in_the_file(tmp_path: Path) -> None:
    arguments = {
        "ref": "e1",
        "text": "hunter2",
        "password": "hunter2",
        "url": "http://a/?k=hunter2",
    }
    with StepsWriter(tmp_path / "steps.jsonl") as writer:
        session = BrowserSession(writer)
        session.end_call(session.describe("browser_type", arguments), reply(PAGE.format(1, "x")))
    assert "hunter2" not in (tmp_path / "steps.jsonl").read_text()


def test_an_element_keeps_its_identity_when_its_number_changes() -> None:
    session = BrowserSession()
    go = session.describe("browser_navigate", {"url": "http://a.test/"})
    page = (
        '### Page\n- Page URL: http://a.test/\n### Snapshot\n```yaml\n- button "Save" [ref={}]\n```'
    )
    session.end_call(go, reply(page.format("e1")))
    first = session.describe("browser_click", {"element": "Save button", "ref": "e1"})
    session.end_call(go, reply(page.format("e7")))
    second = session.describe("browser_click", {"element": "the button Save", "ref": "e7"})
    assert first.signature == second.signature
    assert first.target == second.target


class BrowserRecord(FollowedBrowser):
    """Keeps which steps were begun and ended, and follows no browser."""

    def __init__(self) -> None:  # no super(): there is no browser
        self.steps: list[str] = []
        self.changed = None

    @property
    def first(self) -> Observation:
        return Observation("")

    def begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        del arguments, url
        self.steps.append(f"begin {tool}")
        return True

    def end(self, error: str | None) -> Observation | None:
        del error
        self.steps.append("end")
        return Observation("")

    def close(self) -> None:
        self.steps.append("close")


def tool_call(number: int) -> dict[str, Any]:
    params = {"name": "browser_click", "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def tool_reply(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": []}}).encode()


def test_a_reply_that_was_lost_holds_up_no_later_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "IDLE_S", 60.0)
    browser = BrowserRecord()
    session = BrowserSession(browser=browser)
    for number in (1, 2):
        session.prepare(tool_call(number))
        session.request(tool_call(number), 0.0)
        session.lost()
    assert browser.steps == ["begin click", "begin click"]


def test_a_call_without_a_reply_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "IDLE_S", 0.01)
    browser = BrowserRecord()
    session = BrowserSession(browser=browser)
    for number in (1, 2):
        session.prepare(tool_call(number))
        session.request(tool_call(number), 0.0)
    # The first one's reply comes late: what is watched by now is the second.
    session.reply(tool_reply(1), 0.1)
    assert browser.steps == ["begin click", "begin click"]
    session.reply(tool_reply(2), 0.2)
    assert browser.steps[2:] == ["end"]


def test_an_element_that_a_selector_names_is_found_in_the_page() -> None:
    """A number of the server's snapshot means nothing to the page; a selector does."""
    for arguments, selector in (
        ({"target": "#chart"}, "#chart"),
        ({"selector": "button.save"}, "button.save"),
        ({"target": "e12"}, None),
        ({"target": "f1e3"}, None),
        ({"uid": "1_7"}, None),
    ):
        assert watched_call("browser_hover", arguments)[1].get("selector") == selector, arguments


def test_what_is_tried_again_is_known_from_the_page(tmp_path: Path) -> None:
    """The button "Try again" is another element than the one that failed, and has its aim."""
    session = BrowserSession(tmp_path / "steps.jsonl")
    call = session.describe("browser_click", {"element": "Try again"})
    outcome = ToolOutcome("click", target="what failed before", ok=True)
    session.end_call(call, reply(""), seen=Observation("", outcome=outcome))
    session.end_call(call, reply(""))
    session.finish()
    outcomes = [row.step.outcome for row in rescore(read_steps(tmp_path / "steps.jsonl"))]
    targets = [outcome["target"] for outcome in outcomes if outcome]
    assert targets == ["what failed before", call.target]
