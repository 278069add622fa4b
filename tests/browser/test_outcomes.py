"""From tool reports to codes: the error channel alone, and the structure of a page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.outcome.blocks import BLOCK_SELECTORS, PASSWORD_SELECTOR, detect_block
from assay.browser.outcome.classify import classify_error, classify_mcp_result
from assay.browser.outcome.effect import RetryElements
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageFacts, StepEvents
from assay.schema.outcome import ErrorCode, ToolOutcome

MESSAGES: list[tuple[str, str]] = [
    ("Locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for #x", "timeout"),
    ("TimeoutError: page.waitForSelector: Timeout 5000ms exceeded.", "timeout"),
    ("playwright._impl._errors.TimeoutError: Page.goto: Timeout 30000ms exceeded.", "timeout"),
    ("Navigation timeout of 30000 ms exceeded", "timeout"),
    ("Waiting for selector `#a` failed: Waiting failed: 30000ms exceeded", "timeout"),
    ("MCP error -32001: Request timed out", "timeout"),
    ("Error: Ref e12 not found in the current page snapshot. Try a new one.", "stale_ref"),
    ("### Result\nError: Ref e12 not found in the current page snapshot.", "stale_ref"),
    ("elementHandle.click: Element is not attached to the DOM", "stale_ref"),
    ("Error: Node is detached from document", "stale_ref"),
    ("Message: stale element reference: element is not attached", "stale_ref"),
    ("Protocol error (DOM.describeNode): Cannot find context with specified id", "protocol"),
    ("page.evaluate: Execution context was destroyed, most likely by navigation", "protocol"),
    ("Protocol error (DOM.resolveNode): No node with given id found", "stale_ref"),
    ("Error: No node found for selector: #buy", "not_found"),
    ("Error: strict mode violation: locator('a') resolved to 2 elements", "not_found"),
    ('no such element: Unable to locate element: {"method":"css"}', "not_found"),
    ("Element not found", "not_found"),
    ("Error: element is not visible", "not_interactive"),
    ("element click intercepted: Element <a> is not clickable", "not_interactive"),
    ("Node is either not clickable or not an HTMLElement", "not_interactive"),
    ("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://x.test/", "nav_error"),
    ("page.goto: NS_ERROR_UNKNOWN_HOST", "nav_error"),
    ("Protocol error (Page.navigate): Cannot navigate to invalid URL", "nav_error"),
    ("Error: locator.click: Target page, context or browser has been closed", "target_closed"),
    ("Protocol error (Runtime.callFunctionOn): Target closed.", "target_closed"),
    ("Navigation failed because page crashed!", "target_closed"),
    ("Protocol error (Page.captureScreenshot): Unable to capture screenshot", "protocol"),
    ("ProtocolError: Protocol error (Input.dispatch): nope", "protocol"),
    ("no results", "empty_result"),
    ('### Error\nError: Tool "browser_click" does not handle the modal state.', "not_interactive"),
    ("### Error\nError: browserBackend.callTool: net::ERR_UNSAFE_PORT at http://a/", "nav_error"),
    ("Error: Element with uid 1_7 no longer exists on the page.", "stale_ref"),
    ('Error: Element uid "99_1" not found on page 1.', "stale_ref"),
    ("Error: No snapshot found for page 1. Use take_snapshot to capture one.", "stale_ref"),
    ("Error: Timed out after waiting 500ms", "timeout"),
    ("Input validation error: Invalid arguments for tool click: pageId: Invalid", "bad_call"),
    ("Element index 5 not available - page may have changed. Try again.", "stale_ref"),
    ("Failed to click element 5: Node with given id does not belong to it", "not_interactive"),
    ("Failed to click element 5: net::ERR_ABORTED", "nav_error"),
    ("Error executing action click: Timeout 5000ms exceeded.", "timeout"),
    ("Error executing action click: something else", "other"),
    ("Action click timed out after 60s. The browser may be unresponsive", "timeout"),
    ("Navigation to http://a.test blocked by security policy", "nav_error"),
    ("Message: unexpected alert open: {Alert text : Sure?}", "not_interactive"),
    ("no such node", "stale_ref"),
    ("Clicking the checkbox did not change its state", "silent_click"),
    ("Element is not a <select> element", "wrong_element"),
    ('Unknown key: "Entr"', "bad_call"),
    ("", "other"),
    ("Could not save: the page says 'Element not found'", "other"),
    ("Clicked 'session timeout in nginx'", "other"),
    ("Forbidden City tickets", "other"),
    ("The button 'Timeout 30ms exceeded' was pressed twice", "other"),
    ("\n\n\n", "other"),
]


@pytest.mark.parametrize(("message", "code"), MESSAGES, ids=[row[0][:40] for row in MESSAGES])
def test_an_error_is_known_by_how_its_message_begins(message: str, code: str) -> None:
    assert classify_error(message) == code


@given(st.text(max_size=200) | st.sampled_from([row[0] for row in MESSAGES]), st.text(max_size=50))
def test_every_message_has_a_code_and_what_follows_the_first_line_does_not_matter(
    message: str, more: str
) -> None:
    code = classify_error(message)
    assert code in get_args(ErrorCode)
    if message.strip() and not message.strip().startswith("#"):
        assert classify_error(f"{message.strip()}\n{more}") == classify_error(message.strip())


@pytest.mark.parametrize("piece", ["a", "Error: ", "error:", "waiting for selector ", "\n#"])
def test_a_huge_message_is_looked_at_only_at_its_beginning(piece: str) -> None:
    assert classify_error(piece * 1_000_000) in get_args(ErrorCode)


MCP: list[tuple[str, dict[str, Any], str | None]] = [
    ("no error", {"content": [{"type": "text", "text": "Timeout 5ms exceeded"}]}, None),
    ("false", {"isError": False, "content": [{"type": "text", "text": "not found"}]}, None),
    ("error", {"isError": True, "content": [{"text": "Timeout 5ms exceeded"}]}, "timeout"),
    ("picture first", {"isError": True, "content": [{"type": "image"}, {"text": "x"}]}, "other"),
    ("nothing said", {"isError": True}, "other"),
    ("odd", {"isError": True, "content": "text"}, "other"),
]


@pytest.mark.parametrize(("why", "result", "code"), MCP, ids=[row[0] for row in MCP])
def test_only_a_result_marked_as_an_error_is_read(
    why: str, result: dict[str, Any], code: str | None
) -> None:
    assert classify_mcp_result(result) == code


CAPTCHA = ".g-recaptcha"
FULL = {"*": 900}
BARE = {"*": 20}
BLOCKS: list[tuple[str, PageFacts, str | None, str | None]] = [
    ("a page", PageFacts(status=200, title="Shop", counts=FULL), None, None),
    ("nothing known", PageFacts(), None, None),
    ("too many requests", PageFacts(status=429, counts=FULL), None, "rate_limited"),
    ("forbidden", PageFacts(status=403, counts=FULL), None, "access_denied"),
    ("unauthorised", PageFacts(status=401), None, "auth_redirect"),
    ("a CAPTCHA and nothing else", PageFacts(counts={**BARE, CAPTCHA: 1}), None, "captcha"),
    ("refused with a CAPTCHA", PageFacts(status=403, counts={CAPTCHA: 1}), None, "captcha"),
    ("a CAPTCHA on a full page", PageFacts(counts={**FULL, CAPTCHA: 1}), None, None),
    ("page size unknown", PageFacts(counts={CAPTCHA: 1}), None, None),
    (
        "a CAPTCHA in a login form",
        PageFacts(counts={**BARE, CAPTCHA: 1, PASSWORD_SELECTOR: 1}),
        None,
        None,
    ),
    ("challenge", PageFacts(status=503, counts={"#challenge-form": 1}), None, "bot_check"),
    ("title", PageFacts(title="Just a moment...", counts=BARE), None, "bot_check"),
    ("title of a full page", PageFacts(title="Access Denied", counts=FULL), None, None),
    ("title that goes on", PageFacts(title="Forbidden City", counts=BARE), None, None),
    ("no script", PageFacts(text=" ", counts={**BARE, "noscript": 1}), None, "js_required"),
    ("no script tag on a page", PageFacts(text="a", counts={**BARE, "noscript": 1}), None, None),
    (
        "sent to a login",
        PageFacts(url="https://id.test/login?next=/a", counts=FULL),
        "https://x.test/a",
        "auth_redirect",
    ),
    ("asked for it", PageFacts(url="https://x.test/login"), "https://x.test/signin", None),
    ("clicked on it", PageFacts(url="https://x.test/login"), None, None),
    ("a word in a path", PageFacts(url="https://x.test/blogin/a"), "https://x.test/", None),
    ("not an address", PageFacts(url="http://[/login"), "https://x.test/", None),
]


@pytest.mark.parametrize(("why", "facts", "requested", "code"), BLOCKS, ids=[r[0] for r in BLOCKS])
def test_a_block_is_known_by_structure_and_status(
    why: str, facts: PageFacts, requested: str | None, code: str | None
) -> None:
    assert detect_block(facts, requested=requested) == code


@given(
    st.builds(
        PageFacts,
        url=st.none() | st.text(max_size=40),
        title=st.none() | st.text(max_size=40),
        text=st.text(max_size=200),
        status=st.none() | st.just(200),
        counts=st.just({"*": 500, PASSWORD_SELECTOR: 1, CAPTCHA: 1, "noscript": 1}),
    )
)
def test_no_text_makes_a_full_page_look_blocked(facts: PageFacts) -> None:
    assert detect_block(facts) is None


@given(
    st.dictionaries(st.sampled_from(BLOCK_SELECTORS), st.integers(0, 300)), st.integers(100, 599)
)
def test_every_page_is_blocked_by_a_known_code_or_not_at_all(
    counts: dict[str, int], status: int
) -> None:
    code = detect_block(PageFacts(counts=counts, status=status), requested="https://x.test")
    assert code is None or code in get_args(BlockCode)


@pytest.mark.parametrize(
    ("before", "goal"),
    [((("button", "Load"),), "load"), (None, None), ((("button", "Retry"),), None)],
)
def test_only_what_came_with_a_failure_is_a_second_try(
    before: tuple[tuple[str, str], ...] | None, goal: str | None
) -> None:
    def page(refs: tuple[tuple[str, str], ...]) -> Any:
        return SimpleNamespace(steady_refs=refs)

    retries = RetryElements()
    failed = StepEvents(failed_writes=1)
    outcome = ToolOutcome("click", "c", "load", ok=True)
    after = page((("button", "Load"), ("button", "Retry")))
    retries.note(outcome, failed, None if before is None else page(before), after)
    assert retries.goal("button", "Retry") == goal
