"""How many of the error texts of browser tools `classify_error` knows, from their own sources.

    python tools/error_texts.py                      # fetch the packages, and count
    python tools/error_texts.py --packages FOLDER    # in a folder that holds them unpacked
    python tools/error_texts.py --left               # list what is left, too

The packages come from their registries by npm and pip, into a temporary folder. Their sources are
searched for the messages of the errors that they raise; nothing is copied but those messages, and
nothing of them is kept. Exits with 3 if fewer than 95 % of the texts about a browser action have
a code of their own. A text that is left gets a beginning in `src/assay/browser/words/errors.toml`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.browser.outcome.classify import classify_error

TARGET = 0.95
SAMPLE = "30000"
"""What stands for a value in a message: a number is a word, an address and a time-out as well."""


class Source(NamedTuple):
    """One package, and which of its files are about what a browser does."""

    tool: str
    package: str
    registry: str
    files: str
    """A regular expression of paths in the package."""


SOURCES = (
    Source(
        "Playwright",
        "playwright-core",
        "npm",
        r"src/(?:server/(?:dom|frames|page|selectors|frameSelectors|input|javascript|screenshotter"
        r"|fileUploadUtils|dialog|progress|network|errors|helper|protocolError"
        r"|chromium/(?:crPage|crInput|crExecutionContext|crConnection|crProtocolHelper))"
        r"|client/(?:page|frame|locator|elementHandle|jsHandle|waiter|input|dialog|fileChooser)"
        r"|utils/isomorphic/(?:locatorParser|selectorParser|cssParser|aria)|.*njectedScript)",
    ),
    Source(
        "Playwright MCP",
        "playwright-core",
        "npm",
        r"playwright-core/src/tools/backend/(?!tracing|video|devtools|pdf|config|route|storage"
        r"|cookies|webstorage|verify|sessionLog|runCode|webmcp)",
    ),
    Source(
        "chrome-devtools-mcp",
        "chrome-devtools-mcp",
        "npm",
        r"build/src/(?:McpPage|McpContext|McpResponse|ToolHandler|TextSnapshot|BrowserManager|utils/"
        r"|tools/(?:input|pages|script|screenshot|snapshot|console|network|tools|ToolDefinition"
        r"|emulation))",
    ),
    Source(
        "Puppeteer",
        "puppeteer-core",
        "npm",
        r"lib/esm/puppeteer/(?:api|cdp|bidi|common|injected)/(?!.*(?:Extension|Tracing|Coverage"
        r"|Bluetooth|Screencast|Device|PDFOptions|FetcherOptions|Puppeteer\.js|BrowserConnector"
        r"|BrowserWebSocket|NodeWebSocket|Debug|WebMCP))",
    ),
    Source(
        "browser-use",
        "browser-use",
        "pypi",
        r"browser_use/(?:tools/(?:service|registry)|actor/(?:element|page|mouse)|browser/(?:session"
        r"|views|session_manager|events|watchdogs/(?:default_action|dom|security|crash|popups"
        r"|downloads)))",
    ),
    Source(
        "Selenium",
        "selenium",
        "pypi",
        r"selenium/(?:common/exceptions|webdriver/(?:remote/(?:errorhandler|webdriver|webelement"
        r"|switch_to|shadowroot|file_detector)|support/(?:select|wait|ui|relative_locator)"
        r"|common/(?:action_chains|alert|actions/)))",
    ),
    Source(
        "BiDi",
        "chromium-bidi",
        "npm",
        r"src/(?:protocol/ErrorResponse|bidiMapper/modules/(?:context|input|script)/)",
    ),
)
NOT_ABOUT_AN_ACTION = re.compile(
    "|".join(
        (
            # Setting up, launching and emulating.
            r"install|executable|license|api key|\bauth|credential|permission|proxy|certificate",
            r"profile|sandbox|config|environment variable|cloud|only supported on firefox|\bport\b",
            r"require chrome|package is required|no cdp_url|not initiali[sz]ed|capabilit",
            r"viewport|color|media|locale|timezone|user ?agent|geolocation|latitude|longitude",
            r"accuracy|devicepixel|orientation|cookie|storage|header|page range|clock|version",
            # Recording, routing and measuring.
            r"har\b|trac(?:e|ing)|coverage|video|screencast|pdf|heap|performance|telemetry|recorder",
            r"interception|intercept|route|wildcard|served from cache|extrainfo|overridden url",
            r"download state|enable downloads|starting new page download|byte size|unit \S+ in",
            # Programming: what is registered, serialised, deprecated or missing in the tool itself.
            r"not (?:yet )?(?:implemented|supported)|unsupported|deprecated|unreachable|assert",
            r"internal (?:parse )?error|worker|extension|virtual authenticator|fedcm|preload",
            r"handler|listener|expose|subscri|binding|registered|init script|customcssnames",
            r"engine (?:name|should)|infinite-looping|leaked|root session|shared between clients",
            r"localpaths|serializedargs|re-use|could not write|keyword-only|has no attribute",
            r"must have (?:an? |either an )(?:page|mcppage|error)|focuschanged|on new document",
            r"cannot (?:set|use|specify|emulate|mix|have both)|both .{1,60} and |please use",
            r"llm|openai|model|switch to webdriver bidi|sessionfactory|targetmanager",
            # Helpers of a compiler, help at a console, labels, and news that are no errors.
            r"\A(?:symbol\.|(?:object|function) (?:expected|not disposable)|usage: )",
            r"\Alocator\.\w+\Z",
            r"\A(?:cannot (?:add initializers|adopt dom|create default)|at least one query method)",
            r"\A(?:clicked |typed |found \d|successfully |downloaded |\W*opened )",
        )
    ),
    re.IGNORECASE,
)
"""Texts that nobody reads because an action failed."""
_JS_ERROR = re.compile(
    r"(?:throw\s+new|new|Promise\.reject\(new|throw)\s+[\w.]*(?:Error|Exception)\s*\(\s*"
    r"|\b(?:addError|throwError|createInvalidArgumentError)\(\s*"
)
_JS_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|(`)")
_PYTHON_ERROR = re.compile(r"(?:Error|Exception|ActionResult|TimeoutException)$")


class ErrorText(NamedTuple):
    """One message, with the tool that writes it."""

    tool: str
    text: str


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--packages", type=Path, help="a folder with the packages, unpacked")
    options.add_argument("--left", action="store_true", help="list the texts without a code")
    arguments = options.parse_args()
    if arguments.packages is not None:
        texts = collect(arguments.packages)
    else:
        with tempfile.TemporaryDirectory() as folder:
            fetch(Path(folder))
            texts = collect(Path(folder))
    return report(texts, left=arguments.left)


def fetch(folder: Path) -> None:
    """Every package is unpacked in the folder, under its own name."""
    for package, registry in {(source.package, source.registry) for source in SOURCES}:
        inside = folder / package
        inside.mkdir()
        if registry == "npm":
            run = subprocess.run(
                ["npm", "pack", "--silent", package], cwd=inside, check=True, stdout=subprocess.PIPE
            )
            with tarfile.open(inside / run.stdout.decode().strip().splitlines()[-1]) as archive:
                archive.extractall(inside, filter="data")
        else:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            subprocess.run([*pip, "--only-binary=:all:", package], cwd=inside, check=True)
            (wheel,) = inside.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive_of_wheel:
                archive_of_wheel.extractall(inside)


def collect(folder: Path) -> list[ErrorText]:
    """The messages of all errors that the packages raise, each once for a tool."""
    texts: dict[ErrorText, None] = {}
    for source in SOURCES:
        pattern = re.compile(source.files)
        for name, code in _files(folder / source.package):
            if pattern.search(name):
                read = _python_texts if name.endswith(".py") else _script_texts
                for text in read(code):
                    if _has_words(text):
                        texts[ErrorText(source.tool, text)] = None
    return list(texts)


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """The source files of a package; those that were bundled into one come apart again."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".js", ".mjs", ".py") or "node_modules" in path.parts:
            continue
        code = path.read_text(encoding="utf-8", errors="replace")
        pieces = re.split(r"^// (packages/\S+)$", code, flags=re.MULTILINE)
        name = path.relative_to(folder).as_posix()
        yield name, pieces[0]
        yield from zip(pieces[1::2], pieces[2::2], strict=True)


def _script_texts(code: str) -> Iterator[str]:
    for match in _JS_ERROR.finditer(code):
        literal = _JS_LITERAL.match(code, match.end())
        if literal is None:
            continue
        if literal[3]:
            yield _template(code, literal.end())
        else:
            yield _unescape(literal[1] or literal[2] or "")
    # BiDi's codes stand before the messages.
    yield from re.findall(r"super\(\"([a-z][a-z ]+)\" /\* ErrorCode", code)


def _template(code: str, start: int) -> str:
    """A template literal from behind its first backtick, with a sample for each value."""
    text, depth, at = "", 0, start
    while at < len(code) and at - start < 2_000:
        character = code[at]
        if depth == 0 and character == "`":
            break
        if code.startswith("${", at):
            text += SAMPLE if depth == 0 else ""
            depth, at = depth + 1, at + 1
        elif depth and character in "{}":
            depth += 1 if character == "{" else -1
        elif depth == 0:
            text += character
        at += 1
    return _unescape(text)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": " "}.get(match[1], match[1]), text)


def _python_texts(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and _PYTHON_ERROR.search(ast.unparse(node.func)):
            keywords = [
                one.value for one in node.keywords if one.arg in ("error", "message", "msg")
            ]
            for value in [*node.args[:1], *keywords]:
                yield from _string(value)
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and re.fullmatch(r"[A-Z_]{5,}", target.id)
            for target in node.targets
        ):
            # WebDriver's codes are constants, each with its number.
            values = node.value.elts if isinstance(node.value, ast.List) else [node.value]
            codes = (one for value in values for one in _string(value))
            yield from (one for one in codes if re.fullmatch(r"[a-z]+( [a-z]+)+", one))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id in ("msg", "error_msg") for t in targets):
                yield from _string(node.value)


def _string(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else SAMPLE
            for part in node.values
        )
    elif isinstance(node, ast.BinOp):
        left = "".join(_string(node.left))
        if left:
            yield left + "".join(_string(node.right))


def _has_words(text: str) -> bool:
    """Whether the message has words of its own at its beginning, and is no other one passed on."""
    words = re.findall(r"[A-Za-z]{2,}", text)
    return len(words) >= 2 and not re.match(rf"\W*{SAMPLE}\W*(?:\n|$)", text)


def report(texts: Sequence[ErrorText], *, left: bool) -> int:
    """Print the rate of each tool, and what is left; 3 if the target is missed."""
    about = [text for text in texts if not NOT_ABOUT_AN_ACTION.search(text.text)]
    rest = [text for text in about if classify_error(text.text) == "other"]
    counts, others = Counter(one.tool for one in about), Counter(one.tool for one in rest)
    for tool in counts:
        print(f"{tool:<20} {counts[tool] - others[tool]:>4} of {counts[tool]:>4}")
    share = 1 - len(rest) / max(len(about), 1)
    unknown = sum(classify_error(text.text) == "other" for text in texts)
    print(
        f"{len(about)} texts about a browser action, {len(about) - len(rest)} classified: "
        f"{share:.1%} (target {TARGET:.0%}); of all {len(texts)} texts in these files, "
        f"{1 - unknown / max(len(texts), 1):.1%}"
    )
    if left:
        _list(rest)
    return 0 if share >= TARGET else 3


def _list(rest: Iterable[ErrorText]) -> None:
    for one in sorted(rest):
        print(f"  {one.tool}: {' '.join(one.text.split())[:160]}")


if __name__ == "__main__":
    sys.exit(main())
