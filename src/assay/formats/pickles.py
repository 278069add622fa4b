"""Read the data in a pickle file without running any code of the file.

A pickle is a program: loading one in the usual way may do anything at all. Here every name that
it mentions is an inert stand-in, nothing is imported and nothing is called, so what comes back is
plain values and stand-ins that hold the attributes of the objects. Time and memory are still the
file's to spend, up to the size limit: read pickles of people you trust.
"""

from __future__ import annotations

import gzip
import io
import pickle
import zlib
from pathlib import Path
from typing import Any

from assay.errors import BadRecord
from assay.formats.foreign import DAMAGE

PICKLE_BYTES = 256 * 2**20
"""The largest pickle that is read, unpacked."""


class UnpickledObject:
    """A substitute for a pickled object, with the attributes that the pickle set."""

    def __init__(self, *_arguments: Any, **_keywords: Any) -> None:
        """Accept any arguments, and ignore them."""

    def __setstate__(self, state: Any) -> None:
        # Objects with slots bring a pair: the dictionary, and the slots.
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.__dict__.update({str(key): value for key, value in part.items()})

    def __setitem__(self, key: Any, value: Any) -> None:
        """Keep an item with a text key as an attribute of this object."""
        if isinstance(key, str):
            self.__dict__[key] = value

    def append(self, item: Any) -> None:
        """Ignore the items of an unknown list class."""

    extend = append


class _Inert(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ARG002 - that is the point
        return UnpickledObject


def read_pickle(path: Path) -> Any:
    """Read the values of a pickle file; every object becomes an `UnpickledObject`."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            data = stream.read(PICKLE_BYTES + 1)
        if len(data) > PICKLE_BYTES:
            raise BadRecord(f"{str(path)!r} is larger than the limit of {PICKLE_BYTES} bytes")
        return _Inert(io.BytesIO(data)).load()
    except _DAMAGE as error:
        raise BadRecord(f"{str(path)!r} cannot be read: {type(error).__name__} {error}") from error


def attribute(value: Any, *names: str) -> Any:
    """The value at a path of attributes or keys, or `None` if it is missing."""
    for name in names:
        value = (
            value.get(name) if isinstance(value, dict) else getattr(value, "__dict__", {}).get(name)
        )
    return value


def plain(value: Any, depth: int = 8) -> Any:
    """Convert `UnpickledObject`s to dictionaries and tuples to lists, up to a depth."""
    if depth == 0:
        return None
    if isinstance(value, UnpickledObject):
        value = vars(value)
    if isinstance(value, dict):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth - 1) for item in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else None


# What a damaged or hostile pickle makes the unpickler raise.
_DAMAGE = (*DAMAGE, pickle.UnpicklingError, OSError, EOFError, zlib.error, ImportError, MemoryError)
