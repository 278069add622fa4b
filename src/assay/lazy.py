"""Import a package's names, and read its TOML tables, only when they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], *, rooms: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package that imports names lazily.

    `homes` has, by module, the names that live there; `rooms` are the package's own modules that
    are attributes without being imported first. Both separate names by spaces. Type checkers see
    the same names as imports under `TYPE_CHECKING`; a test compares the two.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}
    modules = rooms.split()

    def getattribute(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(home_of[name]), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted([*home_of, *modules])

    return getattribute, names, sorted(home_of)


def read_toml(package: str, name: str) -> dict[str, Any]:
    """The content of the TOML file `name.toml` in the package."""
    # Imported here, as most that import this module read no table; `get_data` is ten times as fast
    # as `importlib.resources`, and reads from a zip archive too.
    import tomllib
    from pkgutil import get_data

    return tomllib.loads((get_data(package, f"{name}.toml") or b"").decode())


package_table = cache(read_toml)
"""The same, read once: for tables that are asked for often."""
