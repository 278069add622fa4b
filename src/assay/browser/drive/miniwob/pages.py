"""The MiniWoB++ pages (MIT, Farama Foundation), read from the installed PyPI package."""

from __future__ import annotations

import importlib.util
import mimetypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assay.errors import BadParameter, MissingExtra, did_you_mean
from assay.schema.task import Task

VARIABLE: Final = "ASSAY_MINIWOB"
INSTALL: Final = (
    "the MiniWoB++ pages are not installed; `pip install --no-deps miniwob==1.1.0` is enough "
    f"(2 MB), or name a folder that holds miniwob/, core/ and common/ in {VARIABLE}"
)

PAGES: Final = tuple(Path(__file__).with_name("pages.txt").read_text("utf-8").split())
"""The 125 pages that BrowserGym registers too, in its order."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the MiniWoB++ pages, with its content type."""

    body: bytes
    content_type: str


def find_pages(folder: str = "") -> Path:
    """Find the folder of the pages: `folder`, ASSAY_MINIWOB, or the installed package."""
    named = folder or os.environ.get(VARIABLE, "")
    if named:
        root = Path(named).resolve()
    else:
        # Finding a package does not import it.
        spec = importlib.util.find_spec("miniwob")
        places = [] if spec is None else list(spec.submodule_search_locations or ())
        if not places:
            raise MissingExtra(INSTALL)
        root = Path(places[0], "html").resolve()
    if not (root / "core" / "core.js").is_file():
        raise MissingExtra(f"{str(root)!r} does not hold the MiniWoB++ pages; {INSTALL}")
    return root


def read_page(root: Path, path: str) -> PageFile | None:
    """Read a file of the site; `None` if it is missing or outside the folder."""
    file = (root / path.lstrip("/")).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        return None
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if kind.startswith("text/") or "javascript" in kind:
        kind += "; charset=utf-8"
    return PageFile(file.read_bytes(), kind)


GOAL: Final = "Do what the line `goal:` of the page says."


def tasks(*, pages: Sequence[str] = (), seed: int = 0, episodes: int = 1) -> list[Task]:
    """One task for each page and seed, such as `click-link/0`; the page itself sets the goal."""
    if type(seed) is not int or seed < 0 or type(episodes) is not int or episodes < 1:
        raise BadParameter(f"seed must be >= 0 and episodes >= 1, not {seed!r} and {episodes!r}")
    for page in pages:
        if page not in PAGES:
            hint = did_you_mean(str(page), PAGES) or f"it has {len(PAGES)}, such as {PAGES[0]!r}"
            raise BadParameter(f"MiniWoB++ has no page {page!r}; {hint}")
    return [
        Task(
            id=f"{page}/{number}",
            goal=GOAL,
            metadata={"page": page, "seed": number, "domain": page.partition("-")[0]},
        )
        for page in pages or PAGES
        for number in range(seed, seed + episodes)
    ]
