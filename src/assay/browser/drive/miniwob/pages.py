"""The MiniWoB++ pages (MIT, Farama Foundation), read from the PyPI wheel that holds them.

Only the files are used: the package itself, and the selenium and gymnasium that it asks for, are
never imported, so `pip install --no-deps miniwob` is enough.
"""

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

PAGES: Final = tuple(
    (
        "ascending-numbers bisect-angle book-flight book-flight-nodelay buy-ticket choose-date "
        "choose-date-easy choose-date-medium choose-date-nodelay choose-list circle-center "
        "click-button click-button-sequence click-checkboxes click-checkboxes-large "
        "click-checkboxes-soft click-checkboxes-transfer click-collapsible click-collapsible-2 "
        "click-collapsible-2-nodelay click-collapsible-nodelay click-color click-dialog "
        "click-dialog-2 click-link click-menu click-menu-2 click-option click-pie "
        "click-pie-nodelay click-scroll-list click-shades click-shape click-tab click-tab-2 "
        "click-tab-2-easy click-tab-2-hard click-tab-2-medium click-test click-test-2 "
        "click-test-transfer click-widget copy-paste copy-paste-2 count-shape count-sides "
        "daily-calendar drag-box drag-circle drag-cube drag-items drag-items-grid drag-shapes "
        "drag-shapes-2 drag-single-shape drag-sort-numbers draw-circle draw-line email-inbox "
        "email-inbox-delete email-inbox-forward email-inbox-forward-nl "
        "email-inbox-forward-nl-turk email-inbox-important email-inbox-nl-turk "
        "email-inbox-noscroll email-inbox-reply email-inbox-star-reply enter-date enter-password "
        "enter-text enter-text-2 enter-text-dynamic enter-time find-greatest find-midpoint "
        "find-word focus-text focus-text-2 form-sequence form-sequence-2 form-sequence-3 "
        "generate-number grid-coordinate guess-number highlight-text highlight-text-2 hot-cold "
        "identify-shape login-user login-user-popup multi-layouts multi-orderings navigate-tree "
        "number-checkboxes odd-or-even order-food phone-book read-table read-table-2 "
        "resize-textarea right-angle scroll-text scroll-text-2 search-engine sign-agreement "
        "simple-algebra simple-arithmetic social-media social-media-all social-media-some "
        "stock-market terminal text-editor text-transform tic-tac-toe unicode-test "
        "use-autocomplete use-autocomplete-nodelay use-colorwheel use-colorwheel-2 use-slider "
        "use-slider-2 use-spinner visual-addition"
    ).split()
)
"""The 125 pages that BrowserGym registers too, in its order."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the pages, as a web server would send it."""

    body: bytes
    content_type: str


def find_pages(folder: str = "") -> Path:
    """The folder with the pages: the one given, the one ASSAY_MINIWOB names, or the wheel's."""
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
    """The file at a path of the site; `None` where there is none, or outside of it."""
    file = (root / path.lstrip("/")).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        return None
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return PageFile(file.read_bytes(), kind)


GOAL: Final = "Do what the line `goal:` of the page says."


def tasks(*, pages: Sequence[str] = (), seed: int = 0, episodes: int = 1) -> list[Task]:
    """One task for each of MiniWoB++'s pages and each seed: `click-link/0`, seeds from `seed` up.

    A page draws its goal when it is reset, so it is in the observations and not in the task.
    """
    if type(seed) is not int or seed < 0 or type(episodes) is not int or episodes < 1:
        raise BadParameter(f"seed counts from 0 and episodes from 1, not {seed!r} and {episodes!r}")
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
