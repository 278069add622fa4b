"""A registry of named and versioned objects of one kind, such as rewards.

A name finds an object in this order: registered in this process, built in (an address, imported
when first named), or offered by an installed package as an entry point. Two different objects
under one name and version are an error, never a silent replacement. An address, `module:name` or
`file.py:name`, is followed by `find` alone, for what a person typed: to follow one runs code, and a
name may come out of a record or a request.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Generic, TypeVar, cast

from assay.errors import BadParameter, NameCollision, UnknownName, did_you_mean, nearest_file
from assay.registry.addresses import OWN, is_address, load_address, names_in
from assay.registry.code import address_of, code_of

T = TypeVar("T")


class Registry(Generic[T]):
    """Stores and finds the named, versioned objects of one kind."""

    def __init__(
        self, kind: str, builtins: Mapping[str, str], *, renamed: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._builtins = dict(builtins)
        self._renamed = dict(renamed or {})
        self._objects: dict[str, dict[int, T]] = {}
        self._codes: dict[tuple[str, int], object] = {}
        """As it was when it was registered: defaults and closures may change afterwards."""
        self._lock = threading.RLock()

    def add(self, name: str, item: T, *, version: int = 1, replace: bool = False) -> None:
        """Register `item` under `name` and `name@version`.

        The same code again (a notebook cell run twice, a reloaded module, an unpickled copy) takes
        the place of the first. Other code raises `NameCollision`, unless `replace` is set.
        """
        check_name(self.kind, name)
        with self._lock:
            builtin = self._builtins.get(name)
            if builtin is not None and not _is_of(item, builtin):
                raise NameCollision(
                    f"{self.kind} {name!r} is built in ({builtin}); choose another name"
                )
            if name in self._renamed:
                raise NameCollision(
                    f"{self.kind} {name!r} is the earlier name of {self._renamed[name]!r}; "
                    "choose another name"
                )
            versions = self._objects.setdefault(name, {})
            code = code_of(item)
            if version in versions and not replace:
                self._check_same(name, version, item, code)
            versions[version] = item
            self._codes[name, version] = code

    def _check_same(self, name: str, version: int, item: T, code: object) -> None:
        id_, existing = f"{name}@{version}", self._objects[name][version]
        if existing is item:
            return
        if address_of(existing) != address_of(item):
            raise NameCollision(
                f"{self.kind} {id_!r} is already registered as {address_of(existing)}; "
                f"rename {address_of(item)}, or raise its version"
            )
        if self._codes.get((name, version), code_of(existing)) != code:
            where = " to `@assay.reward`" if self.kind == "reward" else ""
            raise NameCollision(
                f"{self.kind} {id_!r} is already registered with other code ({address_of(existing)}"
                f"); raise its version, or pass `replace=True`{where} while you develop it"
            )

    def get(self, name: str) -> T:
        """The object with this name or `name@version`; without a version, the newest."""
        plain, _, number = self.current_name(name).partition("@")
        versions = self._versions(plain)
        if not versions:
            raise UnknownName(self._unknown(plain))
        if not number:
            return versions[max(versions)]
        for version, item in versions.items():
            if str(version) == number:
                return item
        ids = ", ".join(f"{plain}@{version}" for version in sorted(versions))
        changes = _changes_since(number, versions.values())
        raise UnknownName(f"no {self.kind} {name!r:.200}; this installation has {ids}{changes}")

    def find(self, name: str) -> T:
        """Like `get`, but also load an address; only for names that a person typed."""
        if is_address(name):
            return cast(T, load_address(name, self.kind))
        try:
            return self.get(name)
        except UnknownName as error:
            if name.partition("@")[0] in self.names():
                raise
            if name.endswith(".py"):
                raise UnknownName(self._unnamed(Path(name))) from None
            raise UnknownName(f"{error}; for an object of your own, write {OWN}") from None

    def has(self, name: str) -> bool:
        """Whether the text is a known name or an address."""
        return is_address(name) or name in self.names()

    def current_name(self, name: str) -> str:
        """Replace the earlier name of an object by its current name."""
        plain, at, version = name.partition("@")
        return f"{self._renamed[plain]}{at}{version}" if plain in self._renamed else name

    def versions(self, name: str) -> list[int]:
        """The available versions of a name, oldest first."""
        return sorted(self._versions(self.current_name(name).partition("@")[0]))

    def names(self) -> list[str]:
        """All names that `get` finds, sorted, without earlier names."""
        with self._lock:
            return sorted({*self._objects, *self._builtins, *self._entry_points()})

    def built_in(self) -> list[str]:
        """The built-in names, in the order of the table."""
        return list(self._builtins)

    def registered(self) -> list[tuple[str, int, T]]:
        """The name, version and object of each entry that is not built in."""
        with self._lock:
            return [
                (name, version, item)
                for name, versions in self._objects.items()
                if name not in self._builtins
                for version, item in versions.items()
            ]

    def _versions(self, name: str) -> dict[int, T]:
        with self._lock:
            if name not in self._objects:
                address = self._builtins.get(name) or self._offered_address(name)
                if address is not None:
                    self._load(name, address)
            return self._objects.get(name, {})

    def _load(self, name: str, address: str) -> None:
        module, _, attribute = address.partition(":")
        try:
            item = cast(T, getattr(importlib.import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise UnknownName(
                f"{self.kind} {name!r} cannot be loaded from {address}: {error}"
            ) from error
        # Importing the module usually registers the object by its own decorator.
        if name not in self._objects:
            self._objects[name] = {1: item}

    def _offered_address(self, name: str) -> str | None:
        packages = self._entry_points().get(name, {})
        if len(packages) > 1:
            offers = " and ".join(f"{address} ({who})" for address, who in packages.items())
            raise NameCollision(
                f"{self.kind} {name!r} is offered by several installed packages: {offers}; "
                "uninstall one, or register yours under another name"
            )
        return next(iter(packages), None)

    def _entry_points(self) -> dict[str, dict[str, str]]:
        from importlib.metadata import entry_points

        offers: dict[str, dict[str, str]] = {}
        for point in entry_points(group=f"assay.{self.kind.replace(' ', '_')}s"):
            package = "unknown package" if point.dist is None else point.dist.name
            offers.setdefault(point.name, {}).setdefault(point.value, package)
        return offers

    def _unnamed(self, file: Path) -> str:
        """The error message for a Python file that was named without an object in it."""
        if not file.is_file():
            return f"{self.kind} {str(file)!r}: there is no such file; {nearest_file(file, OWN)}"
        names = names_in(file)[:10]
        there = f"it has: {', '.join(names)}" if names else "it defines no function or class"
        example = f"{file}:{names[0] if names else 'NAME'}"
        return f"{self.kind} {str(file)!r} is a file; say which name of it, as {example} ({there})"

    def _unknown(self, name: str) -> str:
        command = f"assay list {self.kind.replace(' ', '-')}s"
        hint = did_you_mean(name, self.names(), f"`{command}` shows all")
        return f"no {self.kind} named {name!r}; {hint}"


def _is_of(item: object, builtin: str) -> bool:
    """Whether an object is the built-in object of a name, or an earlier version of it."""
    module, _, function = builtin.partition(":")
    return address_of(item) == builtin or (
        address_of(item).partition(":")[0] == module
        and re.fullmatch(re.escape(function) + r"_\d+", getattr(item, "__name__", "")) is not None
    )


def _changes_since(number: str, items: Iterable[object]) -> str:
    """The changes since an old version of a reward, for an error message."""
    changes: dict[int, str] = {}
    for item in items:
        changes |= getattr(getattr(item, "__assay__", None), "changes", {})
    version = int(number) if number.isdecimal() and len(number) < 10 else 0
    later = [f"version {at}: {changes[at]}" for at in sorted(changes) if at > version > 0]
    return f"; {'; '.join(later)}" if later else ""


def check_name(kind: str, name: str) -> None:
    """Raise `BadParameter` if the name is empty or has characters that are not allowed."""
    if not name or not all(char.isalnum() or char in "_-." for char in name):
        raise BadParameter(f"{name!r} is an invalid {kind} name; use letters, digits and '_-.'")
