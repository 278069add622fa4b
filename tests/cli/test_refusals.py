"""What a newcomer gets wrong is one sentence, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from tests.runner.corridor import BENCHMARK

WALK = 'actions=["north", "north", "north"]'
MODULES = {
    "syntax.py": "def (",
    "raises.py": "x = 1\n1 / 0\n",
    "imports.py": "import no_such_module\n",
    "refuses.py": "from assay.errors import BadParameter\nraise BadParameter('say which')\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corridor.toml").write_text(BENCHMARK)
    Path("rows.jsonl").write_text('{"final_response": "a", "answer": "a"}\n')
    for name, source in MODULES.items():
        Path(name).write_text(source)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("syntax.py", "SyntaxError: invalid syntax ("),
        ("raises.py", "ZeroDivisionError: division by zero ("),
        ("imports.py", "No module named 'no_such_module'"),
        ("refuses.py", "say which"),
    ],
)
def test_a_module_that_cannot_be_imported(
    module: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "rows.jsonl", "--reward", "mine", "--import", module]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.startswith("assay: ")
    if "(" in sentence:
        assert f"{module}, line {1 + (module == 'raises.py')})" in err


def test_an_agent_that_does_not_take_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "corridor.toml", "--agent", "scripted", "--set", "actions=5"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("assay: agent 'scripted' cannot be made with the options actions: ")
    assert "TypeError" in err
    assert not Path("runs").exists()


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "corridor.toml", "--agent", "scripted", "--set", WALK]) == 0
    capsys.readouterr()
    assert main(["export", "latest", "--out", "no/x.jsonl"]) == 2
    assert "assay: there is no folder 'no" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["list", "runs"], ["history"], ["history", "--plot"]])
def test_without_runs_it_says_so(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("no runs in runs")


def test_an_explicit_default_compares_with_the_default_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By `--param`, by a TOML file, by `--set` and from Python alike."""

    def walk(*more: str) -> str:
        file = more[0] if more else "corridor.toml"
        arguments = ["run", file, "--agent", "scripted", "--set", WALK, "--json"]
        assert main([*arguments, *more[1:]]) == 0
        run: str = json.loads(capsys.readouterr().out)["run_id"]
        return run

    def rescored(run: str, *param: str) -> str:
        assert main(["score", run, "--reward", "qa_f1_reward", "--json", *param]) == 0
        child: str = json.loads(capsys.readouterr().out)["run_id"]
        return child

    def compared(base: str, cand: str) -> dict[str, Any]:
        main(["compare", base, cand, "--json"])
        record: dict[str, Any] = json.loads(capsys.readouterr().out)
        return record

    base = walk()
    names = 'names = ["environment_reward", "qa_f1_reward"]'
    qa_first = BENCHMARK.replace(names, 'names = ["qa_f1_reward"]')
    explicit = '\n[rewards.options.qa_f1_reward]\nmode = "squad2"\nextract = "none"\n'
    Path("plain.toml").write_text(qa_first)
    Path("explicit.toml").write_text(qa_first + explicit)
    Path("other.toml").write_text(qa_first + explicit.replace("squad2", "hotpot"))
    plain = walk("plain.toml")
    pairs = {
        "--param": (rescored(base), rescored(base, "--param", "mode=squad2")),
        "TOML": (plain, walk("explicit.toml")),
        "--set": (plain, walk("plain.toml", "--set", "limits.attempts=3")),
    }
    for how, (one, two) in pairs.items():
        record = compared(one, two)
        assert record["verdict"] != "not comparable", how
        assert record["changes"] == [], how
    assert compared(plain, walk("other.toml"))["verdict"] == "not comparable"
