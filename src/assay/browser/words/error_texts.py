"""How the error messages of browser tools begin, with the code of each and the tools that write it.

The first row that fits counts, and its pattern is matched at the beginning of a message, without
regard to case. `tools/error_texts.py` collects the messages from the tools' own sources, and says
how many of them have a row. Patterns are bounded: a message may be hostile.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from assay.schema.outcome import ErrorCode

BrowserTool: TypeAlias = Literal[
    "playwright",
    "playwright-mcp",
    "chrome-devtools-mcp",
    "browser-use",
    "selenium",
    "puppeteer",
    "bidi",
    "cdp",
    "assay",
]


class ErrorRow(NamedTuple):
    """The beginnings of messages that mean the same."""

    code: ErrorCode
    tools: tuple[BrowserTool, ...]
    beginnings: tuple[str, ...]
    """Regular expressions."""


_Q: Final = r"[\"'`]?"
_V: Final = r"[^\n]{1,120}?"
"""A value in a message: a number, a selector, an address."""

ERROR_ROWS: Final[tuple[ErrorRow, ...]] = (
    # The number or handle of an element that is gone.
    ErrorRow(
        "stale_ref",
        ("playwright-mcp",),
        (
            r"ref \S{1,60} not found in the current page snapshot",
            r"ref \S{1,60} is (?:stale|no longer available)",
        ),
    ),
    ErrorRow(
        "stale_ref",
        ("chrome-devtools-mcp",),
        (
            rf"element (?:with )?uid {_V} (?:not found on page|no longer exists|was detached)",
            r"no snapshot found for page",
            rf"(?:this uid is|the provided uid) {_V}",
            r"stashed element at index",
            r"failed to resolve backend node",
        ),
    ),
    ErrorRow(
        "stale_ref",
        ("browser-use",),
        (
            r"element (?:with )?index \d{1,9} (?:not available|not found in browser state)",
            r"element (?:with )?index \d{1,9} (?:does not exist|is no longer)",
            r"element with given id not found",
            r"element has no remote object id",
            r"failed to find dom element based on backendnodeid",
            r"failed to resolve (?:node|checkbox)",
            r"could not get object[ _]id",
            r"node with index \d{1,9} not found",
        ),
    ),
    ErrorRow(
        "stale_ref",
        ("playwright", "puppeteer", "cdp"),
        (
            r"element is not (?:attached to|connected)",
            r"element was detached from the dom",
            r"node is detached from document",
            r"no node with given id found",
            r"could not find node with given id",
            r"could not resolve \S{1,80} to dom element",
            r"can't get remote object for nodeid",
            r"jshandles? (?:is disposed|can be evaluated only)",
            r"trying to evaluate jshandle from different",
        ),
    ),
    ErrorRow(
        "stale_ref",
        ("selenium", "bidi"),
        (
            r"stale element",
            r"the element with the reference",
            r"no such (?:node|handle|shadow root)",
            r"detached shadow root",
            r"sharedid \S{1,120} (?:belongs to different document|was not found)",
            r"(?:handle was|origin element \S{1,120} was) not found",
            r"channelhandle not found",
        ),
    ),
    # The call lost the page, mostly because the page navigated: what it did may well have worked.
    ErrorRow(
        "protocol",
        ("playwright", "puppeteer", "cdp"),
        (
            r"execution context was destroyed",
            r"execution context is not available",
            r"cannot find context with specified id",
            r"inspected target navigated or closed",
            r"navigation interrupted the evaluation",
            r"unable to retrieve content because the page is navigating",
            r"frame does not yet have",
            r"resulting promise was garbage collected",
        ),
    ),
    # The page or the browser is gone.
    ErrorRow(
        "target_closed",
        ("playwright", "puppeteer", "cdp"),
        (
            r"target (?:page, context or browser has been )?closed",
            r"(?:session|context|connection|browser) closed\b",
            r"session already detached",
            r"browser (?:has (?:been closed|disconnected)|was closed|target is not found)",
            r"(?:the )?page (?:has |has been |is )?(?:closed|crashed|not found)",
            r"navigation failed because (?:page|browser|frame)",
            r"(?:navigating )?frame (?:has been |was |got )?detached",
            r"attempted to use detached frame",
            r"(?:waiting failed|waitforfunction failed): frame (?:got )?detached",
            r"no target with given id",
            r"(?:missing )?target (?:not found )?for (?:devtools )?page",
            r"(?:window|browser context) not found",
            r"missing browser context",
            r"pipe has been closed",
            r"polling stopped",
            r"lifecyclewatcher (?:disposed|terminated)",
            r"(?:unknown cdp session|invalid session id)",
        ),
    ),
    ErrorRow(
        "target_closed",
        ("playwright-mcp", "chrome-devtools-mcp"),
        (
            r"no (?:open )?(?:pages?|tabs?) (?:available|found|selected|open)",
            r"no open (?:pages|tabs)",
            r"tab \d{1,9} not found",
            r"the selected page has been closed",
            r"mcppage \(id=\S{1,20}\) has already been disposed",
            r"failed to initialize puppeteer page",
        ),
    ),
    ErrorRow(
        "target_closed",
        ("browser-use",),
        (
            r"no (?:active|current) (?:page|target)",
            r"no page targets available",
            r"no targetid found",
            r"target \S{1,80} (?:has detached|not found)",
            r"frame with id \S{1,80} not found",
            r"no valid agent focus",
            rf"cannot {_V}: browser session is corrupted",
            r"cannot switch tabs",
            r"(?:the )?browser is not (?:running|connected)",
        ),
    ),
    ErrorRow(
        "target_closed",
        ("selenium", "bidi"),
        (
            r"no such (?:window|frame|user context|client window|session)",
            r"(?:tab crashed|chrome not reachable|disconnected|web view not found)",
            r"session not created",
            r"(?:the )?(?:context|realm) (?:\S{1,120} (?:was )?not found|does not exist)",
            r"no browsing context with id",
            r"execution contexts cleared",
        ),
    ),
    ErrorRow(
        "target_closed",
        ("assay",),
        (r"the page (?:closed itself|does not respond|opened one dialog after the other)",),
    ),
    # The navigation did not arrive.
    ErrorRow(
        "nav_error",
        ("playwright", "puppeteer", "cdp"),
        (
            r"net::err_[a-z_]+",
            r"ns_error_[a-z_]+",
            r"cannot navigate to",
            r"navigation (?:failed|to \S{1,300} (?:failed|is interrupted|is blocked|blocked))",
            r"invalid (?:data )?url\b",
            r"history entry to navigate to not found",
            r"frame is currently attempting a navigation",
            r"initial load failed",
            r"failed to load (?:script|resource|init page)",
            r"too many redirects",
        ),
    ),
    ErrorRow(
        "nav_error",
        ("playwright-mcp", "chrome-devtools-mcp"),
        (
            r"access to \S{1,40} protocol is blocked",
            r"navigating to \S{1,40} urls is not allowed",
            r"unable to navigate",
            r"blocked by blocklist",
            r"not allowed by allowlist",
        ),
    ),
    ErrorRow(
        "nav_error",
        ("browser-use",),
        (
            r"(?:failed to|cannot) (?:navigate|go (?:back|forward))",
            r"failed to search \S{1,40} for",
            r"site unavailable",
            r"unsafe url|url is not allowed|non-allowed url",
        ),
    ),
    ErrorRow(
        "nav_error",
        ("selenium", "bidi"),
        (
            r"insecure certificate",
            r"unknown error: net::",
            r"no (?:such )?history entry",
            r"navigation cancell?ed",
        ),
    ),
    # It took too long.
    ErrorRow(
        "timeout",
        ("playwright", "puppeteer", "selenium", "cdp"),
        (
            r"timeout (?:of )?\d+ ?ms exceeded",
            r"timeout exceeded",
            r"(?:navigation|script) timeout",
            r"timeout(?:$|[:.])",
            r"(?:(?:operation|request|call|script) )?timed out\b",
            r"timed out (?:after|receiving)",
            r"waiting failed(?:$|: \d+ ?ms exceeded)",
            r"waittask failed",
            r"waiting for (?:selector|function) .{1,250} failed",
        ),
    ),
    ErrorRow(
        "timeout",
        ("browser-use", "chrome-devtools-mcp"),
        (
            rf"(?:action|tool|download|event|page\.navigate\(\)|connect\(\)) ?{_V} ?timed out\b",
            r"(?:download|connect\(\)|page\.navigate\(\)) timed out\b",
            r"error executing action \S{1,60} due to timeout",
            rf"failed to {_V} due to timeout",
        ),
    ),
    # There is no such element.
    ErrorRow(
        "not_found",
        ("playwright", "puppeteer", "selenium"),
        (
            r"no node found for selector",
            r"no such (?:element|alert|cookie|script|intercept|request|network)",
            r"(?:unable to|cannot|can't|could not|failed to) (?:locate|find)\b",
            r"strict mode violation",
            r"element not found",
            r"no element (?:found|match(?:es|ing))",
            rf"selector {_V} does not match any element",
            r"invisible option with text",
            r"pinned script could not be found|no script with key",
            r"framelocator\(\) matched elements in multiple frames",
            r"target element must belong to the root",
        ),
    ),
    ErrorRow(
        "not_found",
        ("playwright-mcp", "chrome-devtools-mcp", "browser-use"),
        (
            r"no (?:open )?(?:dialog|file chooser) (?:visible|found|is showing)",
            r"the tool \S{1,60} can only be used when there is related modal state",
            r"request #?\d{1,9} not found",
            rf"text {_V} not found",
            r"text not found",
            r"no file upload element found",
            r"no options found in",
            rf"element {_V} not found",
            r"can't provide details for the msgid",
        ),
    ),
    # It is there, and cannot be acted on.
    ErrorRow(
        "not_interactive",
        ("playwright", "puppeteer", "selenium"),
        (
            r"element is not (?:visible|enabled|editable|stable|clickable|interactable)",
            r"element is outside of the viewport",
            r"element (?:click intercepted|not (?:interactable|selectable|visible))",
            r"node is (?:either )?not (?:clickable|visible)",
            r"element cannot be filled out",
            r"(?:java ?script dialog interrupted|open java ?script dialog prevents)",
            r"(?:unexpected alert open|move target out of bounds|invalid element state)",
            r"(?:invalid element coordinates|element is obscured)",
            r"(?:could not get bounding box|input element \S{1,120} is disabled)",
            r"you may not select a disabled option",
            r"(?:the page does not support tap|hastouch must be enabled)",
            r"cannot focus non-htmlelement",
            r"cannot uncheck radio button",
        ),
    ),
    ErrorRow(
        "not_interactive",
        ("playwright-mcp", "chrome-devtools-mcp"),
        (
            r"tool \S{1,60} does not handle the modal state",
            r"a dialog is open",
            r"action interrupted by a dialog",
            r"failed to interact with the element",
        ),
    ),
    ErrorRow(
        "not_interactive",
        ("browser-use",),
        (
            r"(?:source|target) element is not visible",
            r"failed to (?:click|hover|drag|scroll|execute scroll)",
            r"failed to (?:input|type|send|upload)",
            r"no active target for scrolling",
        ),
    ),
    ErrorRow(
        "silent_click",
        ("playwright", "browser-use"),
        (
            r"clicking the checkbox did not change its state",
            r"checkbox or radio button did not become checked",
        ),
    ),
    # It is of another kind than the call needs.
    ErrorRow(
        "wrong_element",
        ("playwright", "puppeteer", "selenium"),
        (
            r"element is not an? ",
            r"element is not a\(n\) ",
            r"input of type \S{1,60} cannot be filled",
            r"node is not (?:an? |queryable)",
            r"not an? (?:checkbox|select|input)",
            r"jshandle is not a dom node handle",
            rf"selector {_V} resolved to",
            r"expected a node but got",
            r"can only capture aria snapshot of element nodes",
            r"(?:input )?(?:element|node) \S{1,120} is not (?:an? |of )",
            r"select only works on <select>",
            r"to submit an element, it must be nested",
            r"you may only deselect",
            r"no options are selected",
            r"(?:non-multiple file input|file input does not support|\[webkitdirectory\] input)",
        ),
    ),
    ErrorRow(
        "wrong_element",
        ("browser-use", "chrome-devtools-mcp"),
        (
            r"cannot click (?:on|at) ",
            r"upload failed - element",
            rf"element with uid {_V} is not an element node",
            r"this dropdown requires exactly one option",
            r"failed to upload file\. the element",
            r"elements from different frames can't be evaluated together",
        ),
    ),
    ErrorRow(
        "value_refused",
        ("playwright", "browser-use", "chrome-devtools-mcp"),
        (
            r"malformed value",
            r"cannot type text into input",
            r"unable to set file input",
            r"selection was reverted by the page",
            r"failed to select dropdown option",
            r"checkboxes, radio boxes and toggles require",
            r"(?:option|value) \S{1,80} not found in dropdown",
        ),
    ),
    ErrorRow(
        "empty_result",
        ("browser-use", "chrome-devtools-mcp", "puppeteer", "playwright"),
        (
            r"(?:no results?|empty result)(?: |\.|$)",
            r"failed to get dropdown options",
            rf"{_V} (?:returned no result|- no data returned)",
            r"(?:could not extract|no tools found|failed to create accessibility snapshot)",
            r"could not retrieve matched styles",
            r"(?:could not load response body|response body (?:for|is))",
        ),
    ),
    # The tool refused what it was called with.
    ErrorRow(
        "bad_call",
        ("playwright-mcp", "chrome-devtools-mcp"),
        (
            r"input validation error",
            r"invalid arguments for tool",
            r"(?:tool|action) \S{1,80} not found",
            r"unknown tool",
            rf"{_V} is invalid\. valid keys are",
            r"key \S{1,80} (?:contains duplicate|could not be parsed)",
            r"(?:provide (?:either|only|an)|specify exactly one)",
            r"(?:either |at least one of|exactly one of)",
            r"(?:a url is|tab index is) required",
            r"file (?:access denied|\S{1,300} (?:does not exist|is empty))",
            r"(?:access denied|no recording in progress|recording is already)",
            r"fullpage cannot be used",
            r"unable to read script source",
        ),
    ),
    ErrorRow(
        "bad_call",
        ("browser-use",),
        (
            r"invalid (?:parameters|action result)",
            r"action \S{1,80} (?:requires|has|parameter|not registered)",
            r"\S{1,80}\(\) (?:missing required|does not accept)",
            r"java ?script (?:code|evaluation|execution)",
            r"failed to execute javascript",
            r"(?:find_elements|search_page)(?: failed)?:",
            r"could not parse arrow function",
            r"upload (?:failed - file|of \S{1,300} escapes)",
            r"use one key or a modifier chord",
            r"session id is required",
        ),
    ),
    ErrorRow(
        "bad_call",
        ("playwright", "puppeteer", "selenium", "bidi"),
        (
            r"unknown (?:key|button|modifier|selector|engine|attribute|expect|target|locator)",
            r"unknown (?:command|method)",
            r"malformed (?:selector|attribute|test id)",
            r"error while parsing",
            r"unexpected (?:token|end of selector|element state|symbol)",
            r"conflicting exactness",
            rf"{_Q}[\w-]{{1,40}}{_Q} (?:attribute (?:must|is)|engine (?:expects|is)|must be)",
            rf"{_Q}[\w-]{{1,40}}{_Q} (?:matcher requires|selector cannot|does not support)",
            rf"{_Q}\w{{1,40}}{_Q} in {_Q}clip{_Q}|{_Q}clip{_Q} and",
            r"\S{1,60}:? (?:expected (?:one of|page)|is (?:already|not) pressed)",
            r"(?:role must not be empty|only one of the selectors|selecting the nth frame)",
            r"(?:can not capture the selector|can't query n-th|selector \S{1,200} is too long)",
            r"(?:multiple deep combinators|compound class names|unexpected string partition)",
            r"(?:inner \S{1,20} locator|locators? must belong)",
            r"(?:frame locators are not|framelocator\(\))",
            r"(?:too many arguments|cannot evaluate a string|passed function is not)",
            r"(?:cannot send more than 1|click must occur)",
            r"(?:missing coordinates|must start a new touch)",
            r"(?:touch has already|cannot poll with)",
            r"(?:distance must|detector has to|element or locator)",
            r"(?:move_to requires|x and y or)",
            r"(?:tag_name can not|expected object of type|you may not set)",
            r"(?:file paths|cannot transfer files|expected text is not|expected \S{1,20} \()",
            r"(?:cannot take screenshot|screenshot clip|\S{1,20} screenshots do not)",
            r"(?:click_count|duration|steps|distance|signcount) must be",
            r"(?:cannot preserve button|function with name)",
            r"(?:partial matching|unable to generate locator)",
            r"(?:cannot serialize|custom object serial|unable to serializ|could not serialize)",
            r"(?:javascript error|evaluation failed|object reference chain)",
            r"(?:invalid web extension|underspecified storage|no such storage)",
            r"invalid [\w ]{1,40}",
            r"not valid selector|innertext locator cannot|start ?nodes? (?:must|in css)",
            r"unexpected (?:error in )?selector script|\S{1,20} origin is invalid",
            r"(?:non top-level|activation is only|traversing history is only|this context has no)",
            r"expected (?:input source|\S{1,20}, )|input source type|image format \S{1,80} is not",
            r"value \S{1,80} is not deserializable",
            r"user ?contexts? and context are|referencecontext",
            r"args cannot be used|unexpected non-string value",
            r"expect failed",
        ),
    ),
    ErrorRow(
        "protocol",
        ("playwright", "puppeteer", "browser-use", "selenium", "bidi", "cdp"),
        (
            r"protocol error",
            r"websocket (?:error|closed|is not open)",
            r"connection (?:closed|attempt was abandoned|refused)",
            r"browser connection error",
            r"cdp ?(?:client|session|module)",
            r"session ?(?:manager not initialized|\S{1,80} was not created)",
            r"(?:failed to establish cdp|could not connect|error connecting|can't get debugger)",
            r"failed to (?:get session|create (?:a |target))",
            r"(?:unknown error|unsupported operation|session is not)",
            r"this frame does not have a separate cdp session",
            r"(?:chrome failed to start|the browser is already running|devtools universe)",
            r"unexpected status \d{1,9} when connecting",
            r"(?:screenshot failed|unable to capture screen)",
            r"(?:unknown exception|cannot create channel)",
        ),
    ),
)  # fmt: skip
