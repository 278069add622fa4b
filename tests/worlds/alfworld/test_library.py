"""Games are found by id, in the package or in an official data folder, and nowhere else."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from assay.errors import BadParameter, BadRecord
from assay.worlds import GameLoader
from assay.worlds.alfworld.tasks import FOLDER_VARIABLE, GAME_FILE

AGENTFLY_DEFAULT = "trial_T20190909_013611_626994"


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)


def test_the_evaluation_splits_have_the_official_mix_of_tasks() -> None:
    tasks = GameLoader().tasks("valid_unseen")
    assert Counter(task.metadata["task_type"] for task in tasks) == {
        "pick_and_place_simple": 24,
        "look_at_obj_in_light": 18,
        "pick_clean_then_place_in_recep": 31,
        "pick_heat_then_place_in_recep": 23,
        "pick_cool_then_place_in_recep": 21,
        "pick_two_obj_and_place": 17,
    }
    assert {task.metadata["split"] for task in tasks} == {"valid_unseen"}
    assert len({task.id for task in tasks}) == 134
    assert all(task.goal.endswith(".") for task in tasks)


def test_a_trial_alone_names_its_game() -> None:
    library = GameLoader()
    task = library.tasks("valid_seen")[0]
    assert library.load(task.id.partition("/")[2]) == library.load(task.id)


def test_a_data_folder_adds_its_splits(official: Path) -> None:
    library = GameLoader(official)
    assert library.splits() == ("train", "valid_seen", "valid_unseen")
    train = library.tasks("train")
    assert len(train) == 13
    for task in train:
        assert library.load(task.id).goal == task.goal
    assert len(library.tasks("valid_seen")) == 140


def test_the_folder_above_json_2_1_1_will_do_and_may_come_from_the_environment(
    official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(official.parent))
    assert len(GameLoader().tasks("train")) == 13
    assert GameLoader().load(AGENTFLY_DEFAULT).walkthrough


UNKNOWN = [
    ("", "nothing"),
    ("trial_T1", "no such trial"),
    ("../../../../etc/passwd", "a path"),
    ("..", "the folder above"),
    ("*", "a pattern"),
    ("*/*", "a pattern of two"),
    ("train/x/y", "too many parts"),
    ("a" * 100_000, "far too long"),
    ("\x00/\n", "control characters"),
]


@pytest.mark.parametrize("task_id", [pytest.param(task_id, id=why) for task_id, why in UNKNOWN])
def test_an_unknown_id_is_refused(task_id: str, official: Path) -> None:
    with pytest.raises(BadParameter, match="no ALFWorld game") as refusal:
        GameLoader(official).load(task_id)
    assert len(str(refusal.value)) < 1000


def test_a_near_miss_is_answered_with_the_id_that_was_meant() -> None:
    task = GameLoader().tasks("valid_seen")[0]
    with pytest.raises(BadParameter, match=f"did you mean '{task.id}'"):
        GameLoader().load(task.id[:-1])


def test_a_trial_of_two_tasks_is_ambiguous(tmp_path: Path) -> None:
    for task in ("one", "two"):
        (tmp_path / "train" / task / "trial_T1").mkdir(parents=True)
        (tmp_path / "train" / task / "trial_T1" / "game.tw-pddl").write_text("{}")
    with pytest.raises(BadParameter, match="ambiguous"):
        GameLoader(tmp_path).load("trial_T1")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train" / "one" / "trial_T1" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    for content in (b"{}", b"\xff\xfe", b"x" * 2_000_000):
        path.write_bytes(content)
        with pytest.raises(BadRecord, match=r"game\.tw-pddl"):
            GameLoader(tmp_path).load("one/trial_T1")


def test_an_unknown_split_names_those_there_are() -> None:
    with pytest.raises(BadParameter, match="there are valid_seen, valid_unseen"):
        GameLoader().tasks("train")


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="does not exist"):
        GameLoader(tmp_path / "nowhere")


def test_a_house_seen_before_is_the_same_object() -> None:
    task = GameLoader().tasks("valid_seen")[0]
    house = GameLoader().house(task.id)
    assert GameLoader().house(task.id) is house
    assert GameLoader().house(task.id.partition("/")[2]) is house


def test_a_house_of_a_folder_is_kept_until_its_file_changes(official: Path, tmp_path: Path) -> None:
    data = tmp_path / "json_2.1.1"
    shutil.copytree(official / "train", data / "train")
    library = GameLoader(data)
    first, second = library.tasks("train")[:2]
    house = library.house(first.id)
    assert library.house(first.id) is house
    files = [data / "train" / task.id / GAME_FILE for task in (first, second)]
    shutil.copy(files[1], files[0])
    assert library.house(first.id).task == library.house(second.id).task
    files[0].unlink()
    with pytest.raises(BadParameter, match="no ALFWorld game"):
        library.house(first.id)


def test_an_unknown_id_has_no_house(official: Path) -> None:
    for task_id, _ in UNKNOWN:
        with pytest.raises(BadParameter, match="no ALFWorld game"):
            GameLoader(official).house(task_id)


def test_the_walkthrough_of_a_game_is_there_by_its_id() -> None:
    task = GameLoader().tasks("valid_seen")[0]
    assert GameLoader().walkthrough(task.id) == GameLoader().load(task.id).walkthrough
    with pytest.raises(BadParameter, match="no ALFWorld game"):
        GameLoader().walkthrough("trial_T1")
