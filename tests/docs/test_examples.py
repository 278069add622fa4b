"""Every Python example in the documentation runs, and prints what the page says it prints.

The blocks of a page share one namespace, top to bottom. A `text` block right after a `python`
block is what that block prints. A block marked `python no-run` is only compiled.
"""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"^```python(?P<flags>[^\n]*)\n(?P<code>.*?)^```\n(?:\n?```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def run_page(page: Path) -> list[tuple[str, str]]:
    """For each block that promises output: what it promised, and what it printed."""
    namespace: dict[str, Any] = {"__name__": "__doc_example__"}
    told: list[tuple[str, str]] = []
    for block in BLOCK.finditer(page.read_text()):
        code = compile(block["code"], f"{page.name}: {block['code'][:40]!r}", "exec")
        if "no-run" in block["flags"]:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block["output"] is not None:
            told.append((block["output"], printed.getvalue()))
    return told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_and_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for promised, printed in run_page(page):
        assert printed == promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
