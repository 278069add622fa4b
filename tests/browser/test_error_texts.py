"""The table of error texts, and the script that counts how much of the tools' own it covers."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from assay.browser.outcome.classify import BrowserTool, classify_error, error_rows
from assay.schema.outcome import ErrorCode
from tools.error_texts import SAMPLE, SOURCES, ErrorText, collect, report

TOOL_NAMES = {
    "Playwright": "playwright",
    "Playwright MCP": "playwright-mcp",
    "Puppeteer": "puppeteer",
    "Selenium": "selenium",
    "BiDi": "bidi",
}


def test_every_row_names_its_tools_and_every_collected_tool_has_rows() -> None:
    named = {tool for row in error_rows() for tool in row.tools}
    assert named <= set(get_args(BrowserTool))
    assert {TOOL_NAMES.get(source.tool, source.tool) for source in SOURCES} <= named
    assert all(row.beginnings and row.code in get_args(ErrorCode) for row in error_rows())


@pytest.mark.parametrize("piece", ["Element ", "Failed to click: ", "x ", "no such ", '"a" ', "("])
def test_no_message_makes_the_table_slow(piece: str) -> None:
    start = time.process_time()
    for _ in range(20):
        classify_error(piece * 10_000)
    assert time.process_time() - start < 2


JAVASCRIPT = r"""
// packages/playwright-core/src/tools/backend/tab.ts
function f(ref) {
  throw new Error(`Ref ${ref.at({a: `${1}`})} not found in the current page snapshot.`);
}
// packages/playwright-core/src/tools/backend/tracing.ts
throw new Error('Tracing is not about an action');
// packages/playwright-core/src/server/dom.ts
throw new NonRecoverableDOMError('Node is not an \'element\'');
throw new Error(message);
"""
PYTHON = """
raise BrowserError(f'Element index {index} not available - page may have changed')
ActionResult(error='Failed to click element: ' + str(e))
ActionResult(extracted_content='Clicked it well')
"""


def test_messages_are_collected_from_sources_of_both_languages(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("packages")
    (folder / "playwright-core").mkdir()
    (folder / "playwright-core" / "coreBundle.js").write_text(JAVASCRIPT)
    (folder / "browser-use" / "browser_use" / "tools").mkdir(parents=True)
    (folder / "browser-use" / "browser_use" / "tools" / "service.py").write_text(PYTHON)
    assert collect(folder) == [
        ErrorText("Playwright", "Node is not an 'element'"),
        ErrorText("Playwright MCP", f"Ref {SAMPLE} not found in the current page snapshot."),
        ErrorText("browser-use", f"Element index {SAMPLE} not available - page may have changed"),
        ErrorText("browser-use", "Failed to click element: "),
    ]


def test_the_report_fails_below_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = ErrorText("BiDi", "no such node"), ErrorText("BiDi", "the moon is full")
    assert report([good], left=True) == 0
    assert report([good, bad], left=True) == 3
    assert "BiDi: the moon is full" in capsys.readouterr().out
