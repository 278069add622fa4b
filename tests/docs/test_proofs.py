"""The proofs of examples/training: tasks, checker, logs, tables, pictures, and the driver."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pytest

import assay
from examples.training import logs, plot, prove, rewards, tasks

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "examples/training/recorded"
PAGE = ROOT / "docs/training.md"
DEMONSTRATIONS = 4000


def demonstrations(name: str) -> list[tuple[tasks.Question, str]]:
    task, rng = tasks.TASKS[name], Random(1)
    questions = tasks.split(task, seed=1).train
    chosen = rng.choices(questions, k=DEMONSTRATIONS)
    return [(question, task.demonstrate(question, rng)) for question in chosen]


@pytest.mark.parametrize("name", tasks.TASKS)
def test_no_question_is_both_trained_on_and_measured_by(name: str) -> None:
    parts = tasks.split(tasks.TASKS[name], seed=1)
    train = {question.prompt for question in parts.train}
    assert len(parts.held_out) == tasks.TASKS[name].held_out
    assert train.isdisjoint(question.prompt for question in parts.held_out)
    assert parts == tasks.split(tasks.TASKS[name], seed=1)


def test_answers_are_worked_out_by_hand() -> None:
    assert tasks.evaluate("47+6*8=") == 95
    assert tasks.continue_digits([3, 7, 4, 1]) == [4, 1, 5, 6, 0]
    answers = {question.prompt: question.answer for question in tasks.TASKS["digits"].questions()}
    assert answers["3741="] == 6


def test_about_three_fifths_of_the_arithmetic_shown_is_right() -> None:
    right = sum(tasks.is_true(text, one.answer) for one, text in demonstrations("arithmetic"))
    assert 0.55 < right / DEMONSTRATIONS < 0.65


def test_a_few_of_the_digits_shown_are_lists_of_guesses() -> None:
    shown = demonstrations("digits")
    styles = Counter(tasks.style(text) for _, text in shown)
    assert 0.04 < styles["several"] / DEMONSTRATIONS < 0.08
    assert styles["none"] == 0
    worked = [(one, text) for one, text in shown if tasks.has_working(text)]
    assert 0.57 < len(worked) / DEMONSTRATIONS < 0.63
    right = sum(tasks.is_true(text, one.answer) for one, text in worked)
    assert 0.78 < right / len(worked) < 0.87


@pytest.mark.parametrize(
    ("text", "number", "style"),
    [
        (r"6*8=48;47+48=95;\boxed{95}", 95, "single"),
        (r"\boxed{95 or 96}", None, "several"),
        (r"\boxed{95}\boxed{95}", None, "several"),
        (r"\boxed{}", None, "none"),
        (r"\boxed{95", None, "none"),
        ("95", None, "none"),
        (r"\boxed{-3}", -3, "single"),
        (r"\boxed{" + "9" * 5000 + "}", None, "single"),
        (r"\boxed{९}", None, "single"),
    ],
)
def test_only_one_number_alone_in_one_box_is_an_answer(
    text: str, number: int | None, style: str
) -> None:
    assert tasks.committed(text) == number
    assert tasks.style(text) == style


@pytest.mark.parametrize(
    ("arm", "paid"),
    [
        ("cover_exact_match", [1.0, 1.0, 0.0, 0.0]),
        ("correct_plus_format", [1.0, 0.5, 0.5, 0.0]),
        ("correct_then_format", [1.0, 0.0, 0.0, 0.0]),
        ("math_equal_reward", [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_each_arm_pays_what_its_name_says(arm: str, paid: list[float]) -> None:
    texts = [r"4,6,0;\boxed{6}", r"\boxed{6 or 3}", r"\boxed{5}", "4,1,5,6,"]
    score = rewards.build(arm)
    assert score(prompts=[""] * 4, completions=texts, solution=["6"] * 4) == paid


def test_the_two_compositions_differ_by_a_gate_alone() -> None:
    wrong = r"\boxed{5}"
    loose = assay.score(rewards.correct_plus_format, final_response=wrong, answer="6")
    gated = assay.score(rewards.correct_then_format, final_response=wrong, answer="6")
    assert loose.parts["format"] == gated.parts["format"] == 1.0
    assert (loose["reward"], gated["reward"]) == (0.5, 0.0)


def write_log(folder: Path, arm: str, task: str = "arithmetic", seed: int = 1) -> Path:
    lines = [{"kind": "run", "task": task, "arm": arm, "seed": seed}]
    common = {"hedged": 0.0, "worked": 1.0, "length": 20.0}
    lines += [{"kind": "truth", "step": 0, "truth": 0.6, "proxy": 0.625, **common}]
    lines += [
        {
            "kind": "step",
            "step": step,
            "trainer_reward": 0.9,
            "checked": 0.9,
            "flat": 0.5,
            "reward_s": 0.01,
            "step_s": 0.5,
        }
        for step in (1, 2)
    ]
    lines += [{"kind": "truth", "step": 2, "truth": 0.98, "proxy": 0.985, **common}]
    lines += [{"kind": "end", "step": 2, "seconds": 1.5, "deadline": False}]
    path = folder / f"{task}-{arm}-{seed}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_log_reads_the_same_compressed_and_a_line_cut_off_is_left_out(tmp_path: Path) -> None:
    path = write_log(tmp_path, "math_equal_reward")
    whole = logs.read_run(path)
    logs.compress(tmp_path, tmp_path / "packed")
    assert logs.read_runs(tmp_path / "packed") == [whole]
    path.write_text(path.read_text()[:-20])
    cut = logs.read_run(path)
    assert cut.end is None
    assert cut.truths == whole.truths


def test_a_file_that_is_no_log_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"kind": "step"}\n'))
    with pytest.raises(ValueError, match=r"other\.jsonl\.gz is no log of a proof"):
        logs.read_run(path)


def test_the_table_has_a_row_for_each_run(tmp_path: Path) -> None:
    result = logs.summarise(logs.read_run(write_log(tmp_path, "math_equal_reward")))
    assert result is not None
    row = logs.table([result], "arithmetic").splitlines()[2]
    assert row == (
        "| `math_equal_reward` | 1 | 2 | 0.600 | 0.980 | 0.900 | 0.900 | 0.500 | 0.0100 | 0.50 |"
    )
    assert logs.summarise(logs.read_run(write_log(tmp_path, "teacher"))) is None


@pytest.mark.parametrize("theme", plot.THEMES, ids=lambda theme: theme.name)
def test_a_picture_has_a_panel_for_each_reward_and_two_curves_for_each_run(
    tmp_path: Path, theme: plot.Theme
) -> None:
    for arm in rewards.PROOFS["digits"]:
        write_log(tmp_path, arm, "digits")
    root = ET.fromstring(plot.draw(logs.read_runs(tmp_path), "digits", theme))
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    curves = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert set(rewards.PROOFS["digits"]) <= texts
    assert len(curves) == 2 * len(rewards.PROOFS["digits"])


def test_a_run_that_has_its_end_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights/arithmetic-1.pt").touch()
    for arm in rewards.PROOFS["arithmetic"]:
        write_log(tmp_path, arm)
    pack = tmp_path / "out/logs.tar.gz"
    arguments = ["--proof", "arithmetic", "--seeds", "1", "--out", str(tmp_path)]
    assert prove.main([*arguments, "--pack", str(pack)]) == 0
    assert "| `math_equal_reward` | 1 | 2 | 0.600 | 0.980 |" in capsys.readouterr().out
    assert pack.exists()


@pytest.mark.skipif(find_spec("torch") is not None, reason="with torch the teacher teaches")
def test_a_teacher_that_fails_ends_its_arms_and_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--proof", "arithmetic", "--seeds", "1", "--out", str(tmp_path), "--tiny"]
    assert prove.main(arguments) == 1
    assert "No module named 'torch'" in capsys.readouterr().out


def test_the_predictions_name_every_reward_of_the_second_proof() -> None:
    audits = json.loads((ROOT / "examples/training/audits.json").read_text())
    page = (ROOT / "examples/training/predictions.md").read_text()
    assert set(audits) == set(rewards.PROOFS["digits"])
    assert all(f"`{arm}`" in page for arm in audits)
    for arm, audit in audits.items():
        assert audit["verdict"] in page, arm


@pytest.mark.skipif(not SHIPPED.exists(), reason="no logs are shipped")
@pytest.mark.parametrize("task", sorted(rewards.PROOFS))
def test_tables_and_pictures_of_the_page_are_those_of_the_shipped_logs(task: str) -> None:
    runs = logs.read_runs(SHIPPED)
    results = [result for run in runs if (result := logs.summarise(run))]
    assert logs.table(results, task) in PAGE.read_text()
    for theme in plot.THEMES:
        picture = ROOT / f"docs/images/training-{task}-{theme.name}.svg"
        assert picture.read_text() == plot.draw(runs, task, theme)
