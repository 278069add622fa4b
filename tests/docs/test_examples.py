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

import assay

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
BLOCK = re.compile(
    r"^```python(?P<flags>[^\n]*)\n(?P<code>.*?)^```\n(?:\n?```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
IMPORT = re.compile(r"^\s*(?:from|import) (assay[\w.]*)", re.MULTILINE)


def run_page(page: Path) -> list[tuple[str, str]]:
    """For each block that promises output: what it promised, and what it printed."""
    namespace: dict[str, Any] = {"__name__": "__doc_example__"}
    outputs: list[tuple[str, str]] = []
    for block in BLOCK.finditer(page.read_text()):
        code = compile(block["code"], f"{page.name}: {block['code'][:40]!r}", "exec")
        if "no-run" in block["flags"]:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block["output"] is not None:
            outputs.append((block["output"], printed.getvalue()))
    return outputs


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


def is_public(module: str) -> bool:
    """Whether a module is `assay`, one of its rooms, an adapter, or a package within a room."""
    _, *rooms = module.split(".")
    folder = Path(assay.__file__).parent.joinpath(*rooms)
    return len(rooms) <= 1 or (len(rooms) == 2 and (rooms[0] == "adapters" or folder.is_dir()))


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES], ids=lambda page: page.name)
def test_examples_import_from_the_front_door_or_a_room(page: Path) -> None:
    text = page.read_text()
    blocks = [block["code"] for block in BLOCK.finditer(text)] if page.suffix == ".md" else [text]
    modules = [name for block in blocks for name in IMPORT.findall(block)]
    assert [name for name in modules if not is_public(name)] == []
