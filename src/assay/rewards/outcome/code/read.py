"""Find the program in a response, and read a task's tests: calls, inputs or code."""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import check_choice
from assay.schema.values import Unreadable, is_missing, plain
from assay.text.blocks import code_blocks
from assay.text.channels import after_thoughts

CodeExtraction: TypeAlias = Literal["default", "fenced", "whole"]
"""`default`: the last fenced block, or the whole response where there is none; `fenced`: a block
or nothing; `whole`: the response as it is."""

TAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "python2"}),
    "c++": frozenset({"c++", "cpp", "cxx", "cc"}),
    "c": frozenset({"c"}),
    "node": frozenset({"node", "javascript", "js", "mjs"}),
    "bash": frozenset({"bash", "sh", "shell"}),
}
"""How a fence names each language."""
MOST_TESTS = 10_000
_GLOBALS = frozenset(dir(builtins)) | {"__name__", "__file__", "__builtins__"}


class CallTest(NamedTuple):
    """One test of a function: its arguments and the results that are accepted."""

    args: list[Any]
    kwargs: dict[str, Any]
    expected: list[Any]
    """Any of these is right."""


class CallTests(NamedTuple):
    """Tests that call one function of the program, and compare what it returns."""

    fn: str
    tests: tuple[CallTest, ...]
    checker: str = ""


class StdioTest(NamedTuple):
    """One test of a whole program: its input and its expected output."""

    input: str
    output: str


class StdioTests(NamedTuple):
    """Tests that run the whole program with inputs, and compare its outputs."""

    tests: tuple[StdioTest, ...]
    checker: str = ""


class AssertTests(NamedTuple):
    """Tests in Python code with `assert`, or with a function `check(candidate)`."""

    code: str
    entry_point: str


Tests: TypeAlias = CallTests | StdioTests | AssertTests


def read_tests(value: Any) -> Tests | Unreadable | None:
    """Read the tests of a row; `None` if the row has no tests."""
    tests = _plain(value)
    if is_missing(tests):
        return None
    if isinstance(tests, str):
        if not tests.strip():
            return None
        try:
            tests = json.loads(tests)
        except (ValueError, RecursionError):
            return Unreadable("is text, and no JSON")
    try:
        return _read(tests)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        return Unreadable(f"is no set of tests: {type(error).__name__}: {error!s:.100}")


def _plain(value: Any) -> Any:
    """Convert a value to Python's own containers; arrays inside of mappings too."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _read(tests: Any) -> Tests | Unreadable | None:
    if isinstance(tests, list):
        # LiveCodeBench: one object for each test.
        tests = {
            "inputs": [test["input"] for test in tests],
            "outputs": [test["output"] for test in tests],
            "fn_name": next((test["fn_name"] for test in tests if test.get("fn_name")), None),
        }
    if not isinstance(tests, Mapping):
        return Unreadable(f"is {type(tests).__name__}, not an object")
    if "code" in tests:
        return _code_tests(tests)
    if "inputs" in tests:
        return _paired(tests)
    checker = str(tests.get("checker") or "")
    if "calls" in tests:
        calls = tuple(_call(call) for call in _limited(tests["calls"]))
        return CallTests(_name(tests["fn"]), calls, checker) if calls else None
    if "stdio" in tests:
        pairs = ((case["input"], case["output"]) for case in _limited(tests["stdio"]))
        cases = tuple(StdioTest(_text(one), _text(other)) for one, other in pairs)
        return StdioTests(cases, checker) if cases else None
    names = ", ".join(map(str, tests))
    return Unreadable(f"has {names or 'nothing'}; it needs 'calls', 'stdio', 'code' or 'inputs'")


def _limited(tests: Any) -> Sequence[Any]:
    if not isinstance(tests, list) or len(tests) > MOST_TESTS:
        raise ValueError(f"give a list of at most {MOST_TESTS} tests")
    return tests


def _call(call: Mapping[str, Any]) -> CallTest:
    arguments, keywords = call["args"], call.get("kwargs") or {}
    if not isinstance(arguments, (list, tuple)) or not isinstance(keywords, Mapping):
        raise TypeError("args must be a list, and kwargs an object")
    return CallTest(list(arguments), dict(keywords), [call["expected"]])


def _name(name: Any) -> str:
    if isinstance(name, str) and name:
        return name
    raise TypeError("the name of a function must be text")


def _text(value: Any) -> str:
    """Return a text, or join a list of lines as APPS stores them."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if not isinstance(value, str):
        raise TypeError("an input or an output must be text")
    return value


def _paired(tests: Mapping[str, Any]) -> Tests | None:
    """Read tests in the format of APPS and LiveCodeBench: `inputs`, `outputs`, `fn_name`."""
    inputs, outputs = _limited(tests["inputs"]), _limited(tests["outputs"])
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs and {len(outputs)} outputs")
    if not inputs:
        return None
    if not tests.get("fn_name"):
        pairs = zip(inputs, outputs, strict=True)
        return StdioTests(tuple(StdioTest(_text(one), _text(other)) for one, other in pairs))
    calls = []
    for text, output in zip(inputs, outputs, strict=True):
        if isinstance(text, str):
            # LiveCodeBench: a JSON value on each line.
            arguments = [json.loads(line) for line in text.split("\n") if line.strip()]
            expected = [json.loads(output) if isinstance(output, str) else output]
        else:
            arguments, expected = list(text), [output]
            if isinstance(output, list) and len(output) == 1:
                expected.append(output[0])
        calls.append(CallTest(arguments, {}, expected))
    return CallTests(_name(tests["fn_name"]), tuple(calls))


def _code_tests(tests: Mapping[str, Any]) -> Tests | Unreadable | None:
    code, entry_point = tests["code"], _name(tests["entry_point"])
    if not isinstance(code, str):
        raise TypeError("code must be text")
    if not code.strip():
        return None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Unreadable(f"has code that is no Python: {error!s:.100}")
    unknown = _unknown_names(tree) - {entry_point.rpartition(".")[2], "candidate"}
    if not unknown:
        return AssertTests(code, entry_point)
    return Unreadable(
        f"uses {', '.join(sorted(unknown)[:5])}, which its code does not define; put what defines "
        "it (a prompt's helpers and imports) before the tests"
    )


def _unknown_names(tree: ast.Module) -> set[str]:
    """Return the names that the code reads and never defines."""
    loaded: set[str] = set()
    stored: set[str] = set(_GLOBALS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stored.add(node.name)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return set()
            stored.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            stored.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            stored.add(node.rest)
    return loaded - stored


class ProgramText(NamedTuple):
    """The text of a program, empty if none was found, and where it was found."""

    text: str
    because: str


def find_program(response: str, *, extraction: CodeExtraction, language: str) -> ProgramText:
    """Find the program in a response. Raises `BadParameter` for an unknown extraction policy."""
    check_choice("extraction", extraction, get_args(CodeExtraction))
    if extraction == "whole":
        return ProgramText(response, "the whole response")
    blocks = code_blocks(response).blocks
    tags = TAGS.get(language, frozenset({language.lower()}))
    for names in (tags, frozenset({""})):
        for block in reversed(blocks):
            if block.language in names and block.text.strip():
                return ProgramText(block.text, "the last fenced block")
    if blocks or extraction == "fenced":
        return ProgramText("", f"there is no fenced block of {language}")
    text = after_thoughts(response)
    return ProgramText(text if text.strip() else "", "the whole response, which has no fence")
