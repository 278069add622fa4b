"""Find the files that data rows name, such as databases, and restrict their folder.

A caller from Python chose the rows. A server did not: its worker processes confine
themselves to a folder before the first request, for good.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_FOLDERS: Final[list[Path]] = []
"""The folders out of which no row of this process may lead; each was set for good."""


class FileOutsideFolder(ValueError):
    """A data row names a file outside the allowed folder."""


def confine_row_files(folder: str | Path) -> None:
    """Allow data rows of this process to name only files in this folder."""
    _FOLDERS.append(Path(folder).resolve())


def is_confined() -> bool:
    """Whether rows of this process may name the files of one folder alone."""
    return bool(_FOLDERS)


def row_file(name: str | Path, root: str | None = None) -> Path:
    """The path of the file that a row names, with links resolved.

    A relative name begins at `root`, which it may not leave, or else at the folder of
    `confine_row_files`, or else here. Raises `FileOutsideFolder`, and `OSError` or `RuntimeError`
    for links that lead nowhere.
    """
    bounds = list(_FOLDERS)
    start = bounds[-1] if bounds else Path()
    if root is not None:
        start = (start / root).resolve()
        bounds.append(start)
    path = (start / name).resolve()
    for folder in bounds:
        if not path.is_relative_to(folder):
            shown = (
                f"the root {root!r:.200}"
                if folder == start and root is not None
                else ("the folder of files that requests may name (`assay serve --root`)")
            )
            raise FileOutsideFolder(f"it is outside of {shown}")
    return path
