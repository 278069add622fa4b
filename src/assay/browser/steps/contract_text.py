"""Read outcome contracts from TOML or JSON; an error names the path of its key.

    id = "cart"                     # optional, as are critical and max_age_steps
    all = [
      { url = { glob = "https://shop.example/cart*" } },
      { dom_text = { selector = "#total", contains = "12.50" } },
      { dom_count = { selector = ".row", gte = 1 } },
      { network = { method = "POST", url = { contains = "/api/cart" }, status = [200, 201] } },
      { not = { dom_text = { contains = "out of stock", ignore_case = true } } },
      { any = [{ no_dialog = true }, { console = { level = "error", lte = 0 } }] },
    ]

Also: `screenshot = { hash = "9f…", max_distance = 8 }` and `data = { key = "cart.0.price",
equals = 12.5 }`. Texts are compared by `equals`, `contains`, `prefix`, `suffix` or `glob`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, Final, cast, get_args

from assay.browser.steps import checks
from assay.browser.steps.checks import Check, CountOp, CountTest, DataOp, TextOp, TextTest
from assay.browser.steps.contracts import Contract, ContractBranch, ContractLeaf, Node
from assay.errors import BadParameter, did_you_mean

SIZE_LIMIT: Final = 65_536
DEPTH_LIMIT: Final = 16
LEAF_LIMIT: Final = 200
STRING_LIMIT: Final = 4_096

_OPTIONS: Final = ("id", "critical", "max_age_steps")


def contract_from_toml(text: str) -> Contract:
    """Read a contract from a TOML document."""
    return _loaded(text, "TOML", tomllib.loads)


def contract_from_json(text: str) -> Contract:
    """Read a contract from a JSON document."""
    return _loaded(text, "JSON", json.loads)


def _loaded(text: str, language: str, loads: Callable[[str], Any]) -> Contract:
    if len(text) > SIZE_LIMIT:
        raise BadParameter(f"contract: {len(text)} characters; a contract has at most {SIZE_LIMIT}")
    try:
        data = loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BadParameter(f"contract: not valid {language}: {error!s:.200}") from error
    return parse_contract(data)


def parse_contract(data: object) -> Contract:
    """Read a contract from a table; raise `BadParameter` with the path of the first mistake."""
    table = _Table(data, "")
    name = table.text("id", default="")
    critical = table.boolean("critical", default=False)
    max_age = table.integer("max_age_steps", default=0)
    rest = {key: value for key, value in table.data.items() if key not in _OPTIONS}
    contract = Contract(_node(rest, "", negated=False, depth=0), name, critical, max_age)
    count = len(contract.leaves())
    if count > LEAF_LIMIT:
        raise BadParameter(f"contract: {count} checks; a contract has at most {LEAF_LIMIT}")
    return contract


def _error(path: str, problem: str) -> BadParameter:
    return BadParameter(f"contract: {path or 'top level'}: {problem}")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _node(data: object, path: str, *, negated: bool, depth: int) -> Node:
    if depth > DEPTH_LIMIT:
        raise _error(path, f"nested deeper than {DEPTH_LIMIT} levels")
    if not isinstance(data, Mapping):
        raise _error(path, f"expected a table with one check, got {data!r:.80}")
    choices = ("all", "any", "not", *_CHECKS)
    _reject_other_keys(data, path, choices)
    if len(data) != 1:
        keys = ", ".join(map(str, data)) or "nothing"
        raise _error(path, f"exactly one of {', '.join(choices)} is needed; found {keys}")
    [(key, value)] = data.items()
    here = _join(path, key)
    if key == "not":
        return _node(value, here, negated=not negated, depth=depth + 1)
    if key in ("all", "any"):
        if not isinstance(value, list) or not value:
            raise _error(here, f"expected a list of at least one check, got {value!r:.80}")
        parts = (
            _node(part, f"{here}[{n}]", negated=negated, depth=depth + 1)
            for n, part in enumerate(value)
        )
        return ContractBranch("all" if (key == "all") is not negated else "any", tuple(parts))
    return ContractLeaf(here, _check(key, value, here), negated)


def _reject_other_keys(data: Mapping[Any, Any], path: str, choices: tuple[str, ...]) -> None:
    for key in (str(key) for key in data if key not in choices):
        hint = did_you_mean(key, choices) or f"known here: {', '.join(choices)}"
        problem = f"unknown key {key[:100]!r}; {hint}"
        if key == "matches" and "contains" in choices:
            problem = "regular expressions are not offered, because page text is hostile; "
            problem += "use contains, prefix, suffix or glob"
        raise _error(_join(path, key), problem)


class _Table:
    """A table of a contract, whose errors name the path of the key."""

    def __init__(self, data: object, path: str, *keys: str) -> None:
        if not isinstance(data, Mapping):
            raise _error(path, f"expected a table, got {data!r:.80}")
        self.data: Mapping[str, Any] = data
        self.path = path
        if keys:
            _reject_other_keys(data, path, keys)

    def error(self, key: str, problem: str) -> BadParameter:
        return _error(_join(self.path, key), problem)

    def text(self, key: str, *, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if value is None:
            raise self.error(key, "is missing")
        if not isinstance(value, str) or len(value) > STRING_LIMIT:
            expected = f"expected a text of at most {STRING_LIMIT} characters"
            raise self.error(key, f"{expected}, got {value!r:.80}")
        return value

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if key in self.data else None

    def boolean(self, key: str, *, default: bool) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"expected true or false, got {value!r:.80}")
        return value

    def integer(self, key: str, *, default: int | None = None, most: int = 10**9) -> int:
        value = self.data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            expected = f"expected a whole number from 0 to {most}"
            raise self.error(key, f"{expected}, got {value!r:.80}")
        return value

    def one_of(self, choices: tuple[str, ...]) -> str:
        keys = [key for key in choices if key in self.data]
        if len(keys) != 1:
            names = " and ".join(keys) or "none"
            raise _error(self.path, f"exactly one of {', '.join(choices)} is needed; found {names}")
        return keys[0]

    def text_test(self) -> TextTest:
        # The name was looked up among the operators.
        op = cast(TextOp, self.one_of(_TEXT_OPS))
        value = self.text(op)
        if not value and op != "equals":
            raise self.error(op, "expected a text that is not empty")
        return TextTest(op, value, self.boolean("ignore_case", default=False))

    def count_test(self) -> CountTest:
        op = cast(CountOp, self.one_of(_COUNT_OPS))  # as above
        return CountTest(op, self.integer(op))


_TEXT_OPS: Final[tuple[str, ...]] = get_args(TextOp)
_COUNT_OPS: Final[tuple[str, ...]] = get_args(CountOp)
_DATA_OPS: Final[tuple[str, ...]] = get_args(DataOp)
_TEXT_KEYS: Final = (*_TEXT_OPS, "ignore_case")


def _network(table: _Table) -> Check:
    if not table.data:
        raise _error(table.path, "at least one of method, url, status is needed")
    url = None
    if "url" in table.data:
        url = _Table(table.data["url"], _join(table.path, "url"), *_TEXT_KEYS).text_test()
    status = table.data.get("status", [])
    if not isinstance(status, list) or not all(
        type(code) is int and 100 <= code <= 599 for code in status
    ):
        raise table.error("status", f"expected a list of HTTP statuses, got {status!r:.80}")
    since = table.text("since", default="start")
    if since not in ("start", "step"):
        raise table.error("since", f"expected 'start' or 'step', got {since!r:.80}")
    method = table.optional_text("method")
    upper = None if method is None else method.upper()
    return checks.NetworkCheck(url, upper, tuple(status), "step" if since == "step" else "start")


def _console(table: _Table) -> Check:
    text = table.text_test() if any(op in table.data for op in _TEXT_OPS) else None
    return checks.ConsoleCheck(table.count_test(), table.optional_text("level"), text)


def _screenshot(table: _Table) -> Check:
    digits = table.text("hash")
    if len(digits) != 16 or not all(digit in "0123456789abcdef" for digit in digits.lower()):
        raise table.error("hash", f"expected 16 hexadecimal digits, got {digits!r:.80}")
    return checks.ScreenshotCheck(int(digits, 16), table.integer("max_distance", most=64))


def _data(table: _Table) -> Check:
    op = cast(DataOp, table.one_of(_DATA_OPS))  # looked up among the operators
    value = table.data[op]
    if op == "exists":
        return checks.DataCheck(table.text("key"), op, table.boolean(op, default=True))
    if isinstance(value, str):
        value = table.text(op)
    elif not isinstance(value, (bool, int, float)):
        raise table.error(op, f"expected a text, number or boolean, got {value!r:.80}")
    if op in ("gte", "lte") and (isinstance(value, (bool, str)) or value != value):
        raise table.error(op, f"expected a number, got {value!r:.80}")
    return checks.DataCheck(table.text("key"), op, value)


def _check(kind: str, data: object, path: str) -> Check:
    """Read a check of this kind from its table; `no_dialog` takes only `true`."""
    if kind == "no_dialog":
        if data is not True:
            raise _error(path, f"expected true, got {data!r:.80}; use `not` to require a dialog")
        return checks.NoDialogCheck()
    keys, read = _CHECKS[kind]
    return read(_Table(data, path, *keys))


_CHECKS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[_Table], Check]]]] = {
    "url": (_TEXT_KEYS, lambda table: checks.UrlCheck(table.text_test())),
    "dom_text": (
        ("selector", *_TEXT_KEYS),
        lambda table: checks.DomTextCheck(table.text_test(), table.optional_text("selector")),
    ),
    "dom_count": (
        ("selector", *_COUNT_OPS),
        lambda table: checks.DomCountCheck(table.text("selector"), table.count_test()),
    ),
    "network": (("method", "url", "status", "since"), _network),
    "no_dialog": ((), lambda _: checks.NoDialogCheck()),
    "console": (("level", *_TEXT_KEYS, *_COUNT_OPS), _console),
    "screenshot": (("hash", "max_distance"), _screenshot),
    "data": (("key", *_DATA_OPS), _data),
}
"""The keys of each kind of check, and how it is read from their table."""
