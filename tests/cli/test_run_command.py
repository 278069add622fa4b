"""`assay run` and what reads its runs: data on stdout, progress on stderr, errors in a sentence."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console

import assay
from assay.agents.scripted import ScriptedAgent
from assay.cli.main import main
from assay.cli.options import key_text, options_of
from assay.cli.run import command, describe
from assay.ledger.run import Run
from assay.registry import AGENTS
from assay.runner.agents import choose_agent
from assay.runner.benchmark import with_settings
from assay.runner.options import HELP, RunOptions
from assay.runner.progress import RunProgress
from tests.formats.browsergym_folders import summary_info, write_folder
from tests.runner.corridor import BENCHMARK, Corridor

WALK = 'actions=["north", "north", "north"]'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corridor.toml").write_text(BENCHMARK)
    monkeypatch.chdir(tmp_path)
    Corridor.deaths.clear()


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code: Any = main(list(arguments))
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def walked(capfd: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    arguments = ["run", "corridor.toml", "--agent", "scripted", "--set", WALK, "--json", *more]
    code, out, _ = run(capfd, *arguments)
    assert code == 0
    record: dict[str, Any] = json.loads(out)
    return record


def test_a_run_prints_its_summary_and_tells_its_progress_elsewhere(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capfd, "run", "corridor.toml", "--agent", "scripted", "--set", WALK)
    assert code == 0
    for words in ("mean reward", "1.0000 of 3", "perfect (≥ 0.99)", "3 of 3", "error rate", "0.0%"):
        assert words in out
    assert "3 of 3  mean 1.000  0 errors  0:00 left" in err
    assert "left" not in out


def test_every_option_of_a_run_is_one_of_the_command_with_its_default_and_its_help() -> None:
    values = command.make_context("run", []).params
    defaults = {each.name: each.default for each in fields(RunOptions)}
    assert defaults.keys() - values.keys() == {"environment", "progress"}
    for name in defaults.keys() & values.keys():
        value = str(values[name]) if isinstance(values[name], Path) else values[name]
        assert (value or None) == (defaults[name] or None), name
    texts = {each.name: str(each.help) for each in command.params if isinstance(each, click.Option)}
    # These are options of several commands.
    for name in (defaults.keys() & texts.keys()) - {"engine", "address", "runs_dir"}:
        assert texts[name].startswith(HELP[name])


@pytest.mark.parametrize("function", [assay.run, assay.run_async])
def test_a_run_takes_the_fields_of_its_options(function: Callable[..., object]) -> None:
    parameters = inspect.signature(function).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        each.name: each.default for each in fields(RunOptions)
    }
    keywords = [each.name for each in parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert keywords == list(parameters)[1:]
    assert all(f"{name}: " in str(function.__doc__) for name in parameters)
    with pytest.raises(TypeError, match="agnet"):
        function("corridor.toml", agnet="scripted")


def test_a_terminal_gets_a_bar(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100)
    monkeypatch.setattr("assay.cli.run.progress_output", lambda: console)
    walked(capfd)
    assert "3/3" in shown.getvalue()
    assert "mean 1.000" in shown.getvalue()


def test_json_is_the_whole_summary(capfd: pytest.CaptureFixture[str]) -> None:
    record = walked(capfd, "--tasks", "a,b", "--repeats", "2", "--expect", "up:a", "--focus", "x")
    assert (record["counts"]["n"], record["counts"]["mean"]) == (4, 1.0)
    manifest = json.loads((Path(record["path"]) / "manifest.json").read_text())
    assert manifest["config"]["expect"] == {"up": ["a"]}
    assert manifest["focus"] == "x"


def test_resume_needs_nothing_but_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    record = walked(capfd)
    code, out, _ = run(capfd, "run", "--resume", record["run_id"], "--json")
    assert code == 0
    assert json.loads(out)["attempts"] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["corridor.toml", "--agent", "nobody"], "no agent named 'nobody'"),
        (["corridor", "--agent", "scripted"], "no benchmark named 'corridor'"),
        (["corridor.toml"], "the agent is missing"),
        (["corridor.toml", "--agent", "scripted", "--set", "actions"], "is not KEY=VALUE"),
        (["corridor.toml", "--agent", "scripted", "--expect", "a"], "is not up:ID"),
        (["corridor.toml", "--agent", "scripted", "--set", "limits.steps=no"], "[limits] steps"),
        (["--resume", "2020"], "no run '2020'"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_sentence(
    capfd: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = run(capfd, "run", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_runs_are_listed_with_their_focus(capfd: pytest.CaptureFixture[str]) -> None:
    record = walked(capfd, "--focus", "to walk")
    code, out, _ = run(capfd, "list", "runs")
    assert code == 0
    assert record["run_id"] in out
    assert "3/3" in out
    _, out, _ = run(capfd, "list", "runs", "--json")
    (row,) = json.loads(out)
    assert (row["mean"], row["focus"]) == (1.0, "to walk")


def test_no_runs_are_an_empty_list(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "list", "runs", "--json")
    assert (code, json.loads(out)) == (0, [])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("benchmarks", "townsquare"),
        ("agents", "rules"),
        ("environments", "alfworld"),
        ("models", "rules"),
        ("task-sources", "jsonl"),
        ("services", "townsquare"),
    ],
)
def test_what_there_is_is_listed(capfd: pytest.CaptureFixture[str], kind: str, name: str) -> None:
    code, out, _ = run(capfd, "list", kind)
    assert code == 0
    assert name in out
    _, out, _ = run(capfd, "list", kind, "--json")
    assert name in [record["name"] for record in json.loads(out)]


def test_a_run_is_scored_again_into_a_child(capfd: pytest.CaptureFixture[str]) -> None:
    record = walked(capfd)
    code, out, _ = run(capfd, "score", record["run_id"], "--reward", "qa_f1_reward", "--json")
    child = json.loads(out)
    assert code == 0
    assert (child["parent"], child["scorer"]) == (record["run_id"], "qa_f1_reward@1")
    assert child["counts"]["scored"] == 3
    code, _, err = run(capfd, "score", record["path"], "--reward", "qa_f1_reward", "--out", "x")
    assert code == 2
    assert "child run" in err


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_run_is_exported_and_never_over_something(
    capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    record = walked(capfd)
    code, out, _ = run(capfd, "export", record["run_id"], "--format", kind)
    assert code == 0
    assert Path(out.strip()).stat().st_size > 100
    code, _, err = run(capfd, "export", record["run_id"], "--format", kind)
    assert (code, "exists" in err) == (2, True)


def test_the_scores_of_a_run_are_exported_as_events(capfd: pytest.CaptureFixture[str]) -> None:
    record = walked(capfd)
    code, out, err = run(capfd, "export", record["run_id"], "--format", "otel")
    assert (code, "6 scores" in err) == (0, True)
    lines = Path(out.strip()).read_text().splitlines()
    events = [
        json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for line in lines
    ]
    assert len(events) == 6
    assert {event["eventName"] for event in events} == {"gen_ai.evaluation.result"}


def test_the_attempts_of_a_run_are_exported_as_trajectories(
    capfd: pytest.CaptureFixture[str],
) -> None:
    record = walked(capfd)
    code, out, _ = run(capfd, "export", record["run_id"], "--format", "atif")
    files = sorted(Path(out.strip()).iterdir())
    assert (code, len(files)) == (0, 3)
    trajectory = json.loads(files[0].read_text())
    assert [step["source"] for step in trajectory["steps"]][:3] == ["user", "user", "agent"]
    assert trajectory["steps"][1]["message"] == "You are in a corridor."
    assert trajectory["steps"][2]["tool_calls"]
    code, out, _ = run(capfd, "export", record["run_id"], "--format", "atif", "--out", "a.jsonl")
    assert code == 0
    assert [json.loads(line) for line in Path(out.strip()).read_text().splitlines()] == [
        json.loads(Path(f"{record['run_id']}.atif", file.name).read_text()) for file in files
    ]


def test_results_of_browsergym_are_imported(capfd: pytest.CaptureFixture[str]) -> None:
    name = "2026-03-29_12-21-35_A_on_miniwob.click-test_3"
    write_folder(Path("study"), name, summary_info(), ('click("1")',))
    code, out, _ = run(capfd, "import", "study", "--json")
    assert code == 0
    assert json.loads(out)["counts"]["n"] == 1


def test_a_log_is_imported_by_its_contents_or_its_format(
    capfd: pytest.CaptureFixture[str],
) -> None:
    log = str(Path(__file__).parents[1] / "data" / "inspect" / "sums.json")
    code, out, _ = run(capfd, "import", log, "--json")
    assert (code, json.loads(out)["counts"]["mean"]) == (0, 1.0)
    code, out, _ = run(capfd, "import", log, "--from", "inspect", "--json")
    assert (code, json.loads(out)["counts"]["mean"]) == (0, 1.0)
    code, _, err = run(capfd, "import", log, "--from", "inspect", "--unpickle")
    assert (code, "inspect has no option 'unpickle'" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("observation_chars=4000", ("observation_chars", 4000)),
        ("bare_answer=false", ("bare_answer", False)),
        ("timezone=Europe/Paris", ("timezone", "Europe/Paris")),  # not JSON: the text itself
        ('actions=["a"]', ("actions", ["a"])),
        ("model_options.url=http://x/?a=b", ("model_options.url", "http://x/?a=b")),
        ("workflow=", ("workflow", "")),
    ],
)
def test_a_setting_is_json_where_it_can_be(text: str, setting: tuple[str, Any]) -> None:
    assert options_of([text], "--set") == dict([setting])


class Guesser(ScriptedAgent):
    """Answers with its guess, which is a text."""

    def __init__(self, *, guess: str, times: int = 1) -> None:
        super().__init__(actions=[f'answer("{guess.strip() * times}")'])


@pytest.mark.parametrize("guess", ["43", "043", "true", "4e2", "null"])
def test_an_option_that_is_a_text_stays_one(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, guess: str
) -> None:
    monkeypatch.setitem(AGENTS._objects, "guesser", {1: Guesser})
    arguments = ["--agent", "guesser", "--set", f"guess={guess}", "--set", "times=2", "--json"]
    code, out, err = run(capfd, "run", "corridor.toml", *arguments)
    assert code == 0, err
    episodes = list(Run(json.loads(out)["path"]).final())
    assert {episode.final_response for episode in episodes} == {2 * guess}


def test_options_of_models_and_task_sources_are_read_by_their_types() -> None:
    settings = ("model_options.model=4", "model_options.base_url=http://x")
    choice = choose_agent("web_research", dict(key_text(each, "--set") for each in settings))
    assert choice.options["model_options"] == {"model": "4", "base_url": "http://x"}
    document = {"tasks": {"source": "jsonl"}}
    assert with_settings(document, dict([key_text("tasks.path=2024", "--set")]), "x") == {
        "tasks": {"source": "jsonl", "path": "2024"}
    }


def test_progress_in_words() -> None:
    assert describe(RunProgress(0, 9, None, 0, 0.0, None)) == "mean —  0 errors"
    assert describe(RunProgress(4, 9, 0.5, 1, 60.0, 75.4)) == "mean 0.500  1 error  1:15 left"
