"""Load objects by their address: `module:name`, or `file.py:name` for a file."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import (
    AssayError,
    UnknownName,
    UsageError,
    cause_of,
    did_you_mean,
    nearest_file,
)

OWN = "FILE.py:NAME or MODULE:NAME"
"""How something of one's own is named where a registered name could stand."""


def is_address(text: str) -> bool:
    """Whether the text is an address, which contains a colon."""
    return ":" in text


def load_address(address: str, what: str) -> Any:
    """Load the object at an address; error messages call the object `what`.

    Raises `UnknownName` when there is no such file, module or name, and `UsageError` when the
    module itself raises.
    """
    place, _, name = address.rpartition(":")
    if not place or not all(part.isidentifier() for part in name.split(".")):
        raise UnknownName(f"{what} {address!r} is not an address; write {OWN}")
    item: Any = load_module(place, f"{what} {address!r}")
    for part in name.split("."):
        try:
            item = getattr(item, part)
        except AttributeError:
            public = [each for each in vars(item) if not each.startswith("_")]
            hint = did_you_mean(part, public) or f"it has: {', '.join(public[:10]) or 'nothing'}"
            raise UnknownName(f"{what} {address!r}: {place} has no {part!r}; {hint}") from None
    return item


def names_in(file: Path) -> list[str]:
    """The public functions and classes of a file, found without running the file."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [each.name for each in body if isinstance(each, kinds) and each.name[:1] != "_"]


def load_module(place: str, what: str) -> ModuleType:
    """Import a module by its name or by its file."""
    file = Path(place)
    is_file = file.suffix == ".py"
    if is_file and not file.is_file():
        hint = f"; {nearest_file(file)}".rstrip("; ")
        looked = f"looked in {str(Path.cwd())!r}"
        raise UnknownName(f"{what}: there is no file {place!r} ({looked}){hint}")
    folder = str((file.parent if is_file else Path()).absolute())
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    try:
        module = import_module(file.stem if is_file else place)
    except ImportError as error:
        raise UnknownName(f"{what}: {error}") from error
    except AssayError:
        raise
    except Exception as error:  # the user's module: whatever it raises is theirs to mend
        raise UsageError(f"{what}: {cause_of(error)}") from error
    origin = Path(str(getattr(module, "__file__", "")))
    if is_file and origin.resolve() != file.resolve():
        raise UsageError(
            f"{what}: another module has the name {file.stem!r} ({origin}); rename the file"
        )
    return module
