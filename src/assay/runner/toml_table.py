"""Reads a table of a benchmark file, and checks its types and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import BadParameter, did_you_mean


class TomlTable:
    """A table of a benchmark file; an unknown key is an error."""

    def __init__(self, values: Mapping[str, Any], where: str, path: str) -> None:
        self._values = dict(values)
        self._where = where
        self._path = path
        self._keys: list[str] = []

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.problem(key, value, "a text")
        return value

    def table(self, key: str, default: Mapping[str, Any] | None = None) -> TomlTable:
        value = self._take(key, default)
        if not isinstance(value, Mapping):
            raise self.problem(key, value, f"a table, [{key}]")
        return TomlTable(
            value, self._where, f"[{key}] " if not self._path else f"{self._path}{key}."
        )

    def texts(self, key: str, default: list[str] | None = None) -> tuple[str, ...]:
        value = self._take(key, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise self.problem(key, value, "a list of texts")
        return tuple(value)

    def number(self, key: str, default: float | None, *, whole: bool, least: int = 1) -> Any:
        """Return a number > 0, or a whole number >= `least`; `None` only as the default."""
        value = self._take(key, default)
        if value is None and default is None:
            return None
        kinds = (int,) if whole else (int, float)
        # TOML's true is Python's True, which is an int too.
        in_range = isinstance(value, kinds) and (
            value >= least if whole else 0 < value < float("inf")
        )
        if isinstance(value, bool) or not in_range:
            expected = f"a whole number from {least} up" if whole else "a number > 0"
            raise self.problem(key, value, expected)
        return value if whole else float(value)

    def optional_table(self, key: str) -> TomlTable | None:
        if self._values.get(key) is not None:
            return self.table(key)
        self._take(key, None)
        return None

    def rest(self) -> dict[str, Any]:
        """Return the keys that are not read yet, with their values, and mark them as read."""
        rest, self._values = self._values, {}
        return rest

    def finish(self) -> None:
        for key in self._values:
            hint = did_you_mean(key, self._keys) or f"it has {', '.join(self._keys)}"
            raise BadParameter(f"{self._where}: {self._path}there is no key {key!r}; {hint}")

    def problem(self, key: str, value: Any, expected: str) -> BadParameter:
        actual = "missing" if value is None else repr(value)[:200]
        return BadParameter(f"{self._where}: {self._path}{key} is {actual}; it must be {expected}")

    def _take(self, key: str, default: Any) -> Any:
        self._keys.append(key)
        value = self._values.pop(key, None)
        return default if value is None else value
