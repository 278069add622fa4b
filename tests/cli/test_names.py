"""What a user may call a command or a run, and what the help says."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import assay
from assay.agents.scripted import ScriptedAgent
from assay.cli.main import assay as commands
from assay.cli.main import main
from assay.cli.options import options_of
from assay.registry import AGENTS
from tests.report.ledgers import write_run
from tests.runner.corridor import BENCHMARK


def every_command(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from every_command(inner, (*path, name))


@pytest.mark.parametrize("path", list(every_command(commands)), ids=" ".join)
def test_the_help_shows_no_mark_of_its_own_making(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*path, "--help"]) == 0
    out = capsys.readouterr().out
    assert not re.search(r"\\[bf]\b|[\b\f\x1b]|\{[a-z_]+\}|@@", out), out
    assert "Usage: assay" in out


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs"
    # In the order of their start, which is not that of their names.
    for i, name in enumerate(("zebra-3", "lion-2", "ape-1")):
        write_run(folder, name, {"task.0": 1.0, "task.1": 0.5}, created_at=f"2026-03-0{i + 1}")
    return folder


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("latest", "ape-1"),
        ("@-1", "ape-1"),
        ("@-2", "lion-2"),
        ("@-3", "zebra-3"),
        ("li", "lion-2"),
    ],
)
def test_a_run_is_named_by_its_place_or_its_beginning(
    name: str, run: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run_id"] == run
    assert main(["compare", name, name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["base"] == run
    assert main(["export", name, "--out", "out.jsonl"]) == 0
    assert main(["view", name, "--export", "site"]) == 0
    assert (Path("site") / "runs" / f"{run}.html").is_file()


def test_a_replay_of_the_latest_run_is_of_the_one_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("questions.jsonl").write_text('{"id": "a", "question": "?", "answer": "one"}\n')
    first = assay.run("questions.jsonl", agent=lambda question: "one", rewards=["qa_f1_reward"])
    again = assay.run(
        "questions.jsonl",
        agent="replay",
        settings={"episodes": "latest"},
        rewards=["qa_f1_reward"],
    )
    assert again.manifest.config["agent"]["options"]["episodes"] == first.id
    assert [episode.final_response for episode in again] == ["one"]


def test_diagnose_takes_the_latest_run(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose"]) == 0
    assert capsys.readouterr().out.startswith("ape-1: ")


def test_a_run_that_is_called_latest_is_that_run(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "zebra-3").rename(runs / "latest")
    assert main(["diagnose", "latest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run_id"] == "zebra-3"


@pytest.mark.parametrize("name", ["@-4", "@-99", "@-0", "@1", "", "elephant"])
def test_a_run_that_is_not_there_is_one_sentence(
    name: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", name]) == 2
    assert f"no run {name!r} in 'runs'; `assay list runs` shows all" in capsys.readouterr().err


def test_without_any_run_the_sentence_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["diagnose"]) == 2
    assert "there is none yet; `assay run` makes one" in capsys.readouterr().err


def test_environments_are_listed_as_worlds_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "environments", "--json"]) == 0
    listed = capsys.readouterr().out
    assert main(["list", "worlds", "--json"]) == 0
    assert capsys.readouterr().out == listed


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["lst"], "did you mean 'list'?"),
        (["list", "rewads"], "did you mean 'rewards'?"),
        (["list", "worldz"], "`assay list -h` shows all"),
        (["check", "environment"], "`assay check -h` shows all"),
    ],
)
def test_an_unknown_command_names_the_nearest(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert f"no command {arguments[-1]!r}; {hint}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("-1.5e3", -1500.0),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", "18446744073709551616"),  # a record holds no more than 64 bits
        ("9" * 5000, "9" * 5000),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("1e999", "1e999"),
        ("[1, NaN]", "[1, NaN]"),
        ('{"a": [true, null]}', {"a": [True, None]}),
        ("[" * 100_000, "[" * 100_000),
        ('"4"', "4"),
        ("Europe/Paris", "Europe/Paris"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_value_is_json_that_a_record_can_hold_or_text(text: str, value: Any) -> None:
    assert options_of([f"key={text}"], "--set") == {"key": value}
    assert not (isinstance(value, float) and math.isnan(value))


def make(*, guess: str = "", limit: int = 3, either: str | int = 0, anything=None) -> None:  # type: ignore[no-untyped-def]
    """Something with options."""


def test_a_value_stays_text_where_the_option_is_one() -> None:
    texts = ["guess=43", "limit=43", "either=43", "anything=43", "unknown=43"]
    options = options_of(texts, "--set", make)
    assert options == {"guess": "43", "limit": 43, "either": 43, "anything": 43, "unknown": 43}
    for text in ("1.10", "true", "null", "01067", "1e3"):
        assert options_of([f"guess={text}"], "--set", make) == {"guess": text}
    assert options_of(["limit=many"], "--set", make) == {"limit": "many"}


def test_an_agents_own_text_is_read_as_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Guesser(ScriptedAgent):
        def __init__(self, *, guess: str) -> None:
            super().__init__(actions=[f"answer({guess.strip()!r})"])

    AGENTS.add("guesser_of_texts", Guesser)
    monkeypatch.chdir(tmp_path)
    Path("corridor.toml").write_text(BENCHMARK)
    arguments = ["run", "corridor.toml", "--agent", "guesser_of_texts", "--set", "guess=43"]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["answered"] == 3
