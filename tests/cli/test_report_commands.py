"""The commands that explain runs: what they print, and how they exit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import main
from tests.report.ledgers import Told, config, write_run, write_told

SEED = str(Path(__file__).parents[1] / "data/report/seed_report")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    write_run(tmp_path, "base-1", {f"task.{i}": 1.0 for i in range(8)})
    write_run(tmp_path, "worse-2", {f"task.{i}": 0.0 for i in range(8)}, commit="4c7640b")
    write_run(tmp_path, "other-3", {"task.0": 1.0}, config=config(steps=3))
    return str(tmp_path)


def test_a_regression_closes_the_gate(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "base-1", "worse-2", "--runs", runs]
    assert main(command) == 0
    assert main([*command, "--fail-on", "regression"]) == 3
    out = capsys.readouterr().out
    assert "regressed: the mean moved by -1.000 over 8 tasks, p = 0.00781" in out
    assert "8 lost, McNemar p = 0.00781" in out
    assert main(["compare", "worse-2", "base-1", "--runs", runs, "--fail-on", "regression"]) == 0


def test_what_cannot_be_compared_is_refused(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base-1", "other-3", "--runs", runs]) == 2
    out = capsys.readouterr().out
    assert "not comparable: the task sets differ: 8 tasks against 1; the step budgets" in out
    assert main(["compare", "base-1", "other-3", "--runs", runs, "--force"]) == 0
    assert "n=1, the best possible p is 1" in capsys.readouterr().out
    gate = ["compare", "base-1", "other-3", "--runs", runs, "--fail-on", "no-verdict"]
    assert main(gate) == 3


def test_an_unknown_run_is_one_sentence(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base-1", "nothing", "--runs", runs]) == 2
    assert "no run 'nothing'" in capsys.readouterr().err


def test_every_command_prints_json(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["compare", "base-1", "worse-2", "--runs", runs],
        ["diagnose", "worse-2", "--runs", runs],
        ["history", "--runs", runs],
        ["history", "--plot", "--runs", runs],
        ["history", "--plot", "tasks", "--runs", runs],
        ["audit", "qa_f1_reward", "--forms-of", "14.2"],
        ["compare", "--noise", "base-1", "base-1", "--runs", runs],
    ):
        assert main([*command, "--json"]) == 0, command
        json.loads(capsys.readouterr().out)


def test_a_diagnosis_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    write_told(tmp_path, Told("The answer is 14.2%, \x1b[31mreally", gold="14.2"))
    assert main(["diagnose", "run-1", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "format rejection" in out
    assert "≤ 1.000 had every answer been in its best form" in out
    assert "\x1b[31m" not in out
    assert main(["diagnose", "run-1", "--task", "task.1", "--runs", str(tmp_path)]) == 0
    assert "steps/task-1" in capsys.readouterr().out


def test_the_history_of_the_field_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "assistantbench", "--runs", SEED]) == 0
    out = capsys.readouterr().out
    assert "not comparable with the run before it: the task sets differ: 3 tasks against 10" in out
    assert "neither run records per-task rewards" in out


def test_an_empty_folder_has_no_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--runs", str(tmp_path)]) == 0
    assert "no runs in" in capsys.readouterr().out


def test_a_plot_of_another_kind_is_refused(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--plot", "episodes", "--runs", runs]) == 2
    assert "is not one of" in capsys.readouterr().err


def test_what_form_costs_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "assistantbench_reward", "--forms-of", "a b\\nc d"]) == 0
    out = capsys.readouterr().out
    assert "JSON list, reversed" in out
    assert "right forms lose points" in out
    assert main(["audit", "webshop_reward", "--forms-of", "1"]) == 2


def test_noise_is_read_from_runs_of_one_configuration(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--noise", "base-1", "base-1", "--runs", runs]) == 0
    out = capsys.readouterr().out
    assert "means of 2 runs of" in out
    assert "scored the same in all of 2 runs" in out
    for command, problem in (
        (["compare", "base-1"], "name at least two runs to compare"),
        (["compare", "--noise", "base-1"], "try `assay run --repeat-run 3`"),
        (["compare", "--noise", "base-1", "base-1", "--all"], "--noise accepts only runs"),
    ):
        assert main([*command, "--runs", runs]) == 2
        assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "new"),
    [
        (["noise", "townsquare", "--agent", "rules"], "assay run --repeat-run N"),
        (["noise", "--of", "latest"], "assay compare --noise RUN"),
        (["audit", "qa_f1_reward", "--gold", "solution"], "--reference"),
    ],
)
def test_an_earlier_spelling_names_the_one_in_use(
    call: list[str], new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(call) == 2
    assert new in capsys.readouterr().err


def test_three_tasks_that_fall_in_single_runs_can_close_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = {f"task.{i}": 1.0 for i in range(20)}
    write_run(tmp_path, "base-1", base)
    write_run(tmp_path, "cand-2", base | {f"task.{i}": 0.2 for i in range(3)})
    command = ["compare", "base-1", "cand-2", "--runs", str(tmp_path)]
    assert main([*command, "--fail-on", "regression"]) == 0
    assert main([*command, "--fail-on", "task-drop"]) == 3
    out = capsys.readouterr().out
    assert "3 fell, 0 rose, p = 0.125: task-drop" in out
    assert "; 3 tasks fell by 0.5 or more, none rose: task.0, task.1, task.2; with 20 tasks" in out
    assert "100% → 85%" in out
    assert "more tasks, or at least" in out
    assert main([*command, "--fail-on", "task-drop", "--drop", "0.9"]) == 0
    assert main([*command, "--drop", "2"]) == 2
    assert "drop is 2.0; give a number above 0 and at most 1" in capsys.readouterr().err


def test_two_models_are_compared_without_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i, name in enumerate(("small", "large"), 1):
        options = config(model="openai", model_options={"model": name})
        rewards = {f"task.{j}": float(i - 1) for j in range(8)}
        write_run(tmp_path, f"run-{i}", rewards, config=options)
    assert main(["compare", "@-2", "latest", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "improved: (the models differ: openai:small against openai:large) the mean moved" in out
    assert main(["history", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "+1.000" in out
    assert "run-2: set against run-1: the models differ: openai:small against" in out
    assert main(["history", "--model", "small", "--runs", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["run_id"], row["model"]) for row in rows] == [("run-1", "small")]


def test_history_is_of_one_benchmark_agent_or_model(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(Path(runs), "sums-4", {"a": 1.0}, benchmark="sums", agent="mine")
    for filters, expected in (
        (["sums"], ["sums-4"]),
        (["--agent", "mine"], ["sums-4"]),
        (["town", "--agent", "rules"], ["base-1", "worse-2", "other-3"]),
        (["town", "--agent", "mine"], []),
    ):
        assert main(["history", *filters, "--runs", runs, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert [row["run_id"] for row in rows] == expected
    assert main(["history", "tawn", "--runs", runs]) == 2
    assert "no runs of tawn in" in (err := capsys.readouterr().err)
    assert "did you mean 'town'? there are runs of sums, town" in err


def test_an_archived_run_is_out_of_lists_and_still_there(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(*command: str) -> list[str]:
        assert main([*command, "--runs", runs, "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        return [row["run_id"] for row in (record["rows"] if command[0] == "history" else record)]

    recorded = {p: p.read_bytes() for p in (Path(runs) / "worse-2").rglob("*") if p.is_file()}
    # Both names are read before the first run leaves the order.
    assert main(["history", "--archive", "latest", "--archive", "@-2", "--runs", runs]) == 0
    assert capsys.readouterr().out == "other-3: archived\nworse-2: archived\n"
    assert listed("history") == listed("list", "runs") == ["base-1"]
    assert listed("history", "--archived") == ["base-1", "worse-2", "other-3"]
    assert listed("list", "runs", "--archived") == ["base-1", "worse-2", "other-3"]
    assert main(["diagnose", "--runs", runs, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run_id"] == "base-1"
    assert main(["compare", "base-1", "wor", "--runs", runs]) == 0
    assert main(["history", "--archive", "worse-2", "--runs", runs]) == 0
    assert capsys.readouterr().out.endswith("worse-2: already archived\n")
    assert {p: p.read_bytes() for p in recorded} == recorded
    assert main(["history", "--unarchive", "wor", "--runs", runs]) == 0
    assert capsys.readouterr().out == "worse-2: no longer archived\n"
    assert listed("history") == ["base-1", "worse-2"]
    assert main(["history", "--archive", "nothing", "--runs", runs]) == 2
    assert main(["diagnose", "@-3", "--runs", runs]) == 2
