"""The loops of docs/training.md are the files that `make trainers` runs, and short."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 40


@pytest.mark.parametrize("name", ["gymnasium", "openenv", "trl", "verifiers"])
def test_a_loop_of_the_page_is_the_file_that_is_run(name: str) -> None:
    text = (ROOT / f"examples/trainers/{name}_loop.py").read_text()
    loop = text.removeprefix("# ruff: noqa: T201\n")
    assert f"```python no-run\n{loop}```\n" in (ROOT / "docs/training.md").read_text()
    assert len(loop.splitlines()) < MOST_LINES


def test_the_module_that_verifiers_finds_is_the_one_of_the_page() -> None:
    text = (ROOT / "examples/trainers/household.py").read_text()
    assert f"```python no-run\n{text}```\n" in (ROOT / "docs/training.md").read_text()
