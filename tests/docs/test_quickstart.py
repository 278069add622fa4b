"""The quickstart as a new user types it, in a copy of the examples."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import playwright
import pytest

from assay.cli.main import main
from assay.ledger.run import Run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "quickstart.md"
EXAMPLES = ROOT / "examples"
NODE = Path(playwright.__file__).parent / "driver" / "node"
CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
MEAN = re.compile(r"^mean reward +(\d\.\d{4} of \d+)", re.MULTILINE)


@pytest.fixture
def copy_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in EXAMPLES.glob("my_*"):
        shutil.copy(file, tmp_path)
    # The folder of each test has files of the same names.
    for module in ("my_agent", "my_reward"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.chdir(tmp_path)


def commands() -> list[tuple[str, str]]:
    """Each command of the page, and what the page shows of its output."""
    blocks = "".join(CONSOLE.findall(PAGE.read_text()))
    typed = re.split(r"^\$ assay ", blocks, flags=re.MULTILINE)[1:]
    return [(line, shown) for line, _, shown in (block.partition("\n") for block in typed)]


@pytest.mark.usefixtures("copy_of_the_examples")
def test_every_command_of_the_quickstart_prints_what_the_page_shows(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert len(commands()) == 8
    for line, shown in commands():
        code: Any = main(shlex.split(line))
        printed = capfd.readouterr()
        assert code == 0, printed.err
        assert MEAN.findall(printed.out)[:1] == MEAN.findall(shown)[:1], line
        for word in ("no answer", "agent.options.halves: False → True", "improved"):
            assert (word in shown) == (word in printed.out), (line, word)


def test_the_page_shows_the_agent_as_it_is() -> None:
    (code,) = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert (EXAMPLES / "my_agent.py").read_text().endswith(code)


@pytest.mark.usefixtures("copy_of_the_examples")
def test_the_agent_in_javascript_scores_as_the_one_in_python(
    capfd: pytest.CaptureFixture[str],
) -> None:
    reward = ["--reward", "math_equal_reward"]
    agent = ["--agent", f"stdio:{NODE} my_agent.js"]
    assert main(["run", "my_questions.jsonl", *agent, *reward]) == 0
    assert MEAN.findall(capfd.readouterr().out) == ["0.6000 of 5"]


def test_a_benchmark_finds_its_reward_beside_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = tomllib.loads((EXAMPLES / "my_benchmark.toml").read_text())["rewards"]["names"]
    assert names[1] == "my_reward.py:short_and_right"
    for module in ("my_agent", "my_reward"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    agent = f"{EXAMPLES / 'my_agent.py'}:answer"
    assert main(["run", str(EXAMPLES / "my_benchmark.toml"), "--agent", agent]) == 0
    assert "0.6000 of 5" in capfd.readouterr().out
    (folder,) = Path("runs").glob("*-*")
    (first, *_) = Run(folder).final()
    assert [score.scorer for score in first.scores][1] == "short_and_right@1"
