"""The reference engine is the oracle: 489 recorded steps, and every game's own walkthrough."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.worlds import AlfWorldGame, HouseLayout
from assay.worlds.alfworld.reader import read_game
from assay.worlds.alfworld.tasks import shipped

TRANSCRIPTS = Path(__file__).parents[2] / "data" / "alfworld" / "reference_transcripts.jsonl.gz"


def transcripts() -> list[Any]:
    with gzip.open(TRANSCRIPTS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_the_oracle_is_complete() -> None:
    recorded = transcripts()
    assert len(recorded) == 50
    assert sum(len(transcript["steps"]) for transcript in recorded) == 489


@pytest.mark.parametrize(
    "transcript", [pytest.param(t, id=f"{t['kind']}-{t['game'][:60]}") for t in transcripts()]
)
def test_a_game_answers_as_the_reference_engine_did(transcript: Any, official: Path) -> None:
    path = official / transcript["game"]
    game = AlfWorldGame(
        HouseLayout.build(read_game(path.read_text(encoding="utf-8"), source=str(path)))
    )
    assert game.reset() == transcript["initial"]
    assert game.admissible_commands == transcript["admissible0"]
    for action, feedback, reward, done, admissible in transcript["steps"]:
        assert game.step(action) == (feedback, reward, done, admissible), action


def test_every_shipped_game_is_won_by_its_walkthrough_and_not_before() -> None:
    entries = shipped().entries
    assert len(entries) == 274
    for entry in entries:
        file = shipped().load(entry)
        game = AlfWorldGame(HouseLayout.build(file))
        rewards = [game.step(command).reward for command in file.walkthrough]
        assert rewards == [0] * (len(rewards) - 1) + [1], entry.id
        met, total = game.goal_conditions()
        assert met == total > 0, entry.id


def test_an_archived_game_is_the_official_file(official: Path) -> None:
    compared = 0
    for entry in shipped().entries:
        path = official / entry.split / entry.id / "game.tw-pddl"
        if path.exists():
            raw = read_game(path.read_text(encoding="utf-8"), source="raw")
            packed = shipped().load(entry)
            assert (packed.goal, packed.walkthrough) == (raw.goal, raw.walkthrough)
            assert packed.problem.objects == raw.problem.objects
            assert packed.problem.facts == raw.problem.facts
            assert packed.problem.goal == raw.problem.goal
            compared += 1
    assert compared == 12
