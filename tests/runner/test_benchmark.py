"""A benchmark file that is wrong is one sentence with the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import BadParameter, UnknownName
from assay.runner.benchmark import find_benchmark
from tests.runner.corridor import BENCHMARK


def read(folder: Path, text: str, settings: dict[str, object] | None = None) -> object:
    path = folder / "mine.toml"
    path.write_text(text)
    return find_benchmark(path, settings)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "corridor"\n[tasks]', "[tasks]", r"mine.toml: name is missing; it must be a text"),
        ('source = "corridor"', "", r"\[tasks\] source is missing"),
        ("steps = 5", 'steps = "five"', r"\[limits\] steps is 'five'; it must be a whole number"),
        ("steps = 5", "steps = 0", r"\[limits\] steps is 0"),
        ("steps = 5", "steps = true", r"\[limits\] steps is True"),
        ("step_s = 5", "step_s = -1", r"\[limits\] step_s is -1; it must be a number > 0"),
        ("step_s = 5", "step_s = inf", r"\[limits\] step_s is inf"),
        ("step_s = 5", "steps_s = 5", r"\[limits\] there is no key 'steps_s'; did you mean"),
        ("[limits]", "[limit]", r"mine.toml: there is no key 'limit'; did you mean 'limits'"),
        ("names = [", "name = [", r"\[rewards\] names is missing; it must be a list of texts"),
        ('"environment_reward", ', '"qa_f1_reward", ', r"a list of different rewards"),
        ("[environment]", "[[environment]]", r"environment is \[\{.*it must be a table"),
        (
            "[limits]",
            "[rewards.options.qa_f2]\na = 1\n[limits]",
            r"options.there is no key 'qa_f2'",
        ),
        ("steps = 5", "steps = ", r"mine.toml is not TOML"),
        ("steps = 5", "steps = 5\n[service]\nport = 1", r"\[service\] name is missing"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in BENCHMARK
    with pytest.raises(BadParameter, match=words):
        read(tmp_path, BENCHMARK.replace(old, new))


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(UnknownName, match="did you mean 'townsquare'"):
        find_benchmark("townsqare")
    with pytest.raises(UnknownName, match=r"cannot read the benchmark 'absent\.toml'"):
        find_benchmark("absent.toml")


def test_settings_change_one_key_and_leave_the_file_alone(tmp_path: Path) -> None:
    changed = read(tmp_path, BENCHMARK, {"limits.steps": 9, "rewards.options.qa_f1_reward.mode": 1})
    assert changed.limits.steps == 9  # type: ignore[attr-defined]
    assert changed.rewards[1].options == {"mode": 1}  # type: ignore[attr-defined]
    assert find_benchmark(tmp_path / "mine.toml").limits.steps == 5


@pytest.mark.parametrize("key", ["limits", "limit.steps", "name.x"])
def test_a_setting_without_a_section_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(BadParameter, match=r"write SECTION\.KEY"):
        read(tmp_path, BENCHMARK, {key: 1})


def test_a_relative_path_starts_at_the_file(tmp_path: Path) -> None:
    text = BENCHMARK.replace('source = "corridor"', 'source = "jsonl"\npath = "tasks.jsonl"')
    benchmark = read(tmp_path, text)
    assert benchmark.tasks.options == {"path": str(tmp_path / "tasks.jsonl")}  # type: ignore[attr-defined]
