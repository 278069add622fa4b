"""Packed games come back as they were, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadRecord
from assay.worlds.alfworld.reader import GameFile, read_game
from assay.worlds.alfworld.tasks import AlfWorldArchive, shipped
from tools.pack_alfworld import write_archive


def official_games(official: Path) -> list[tuple[str, str, GameFile]]:
    return [
        (path.parts[-4], "/".join(path.parts[-3:-1]), read_game(path.read_text(), source="raw"))
        for path in sorted(official.glob("*/*/*/game.tw-pddl"))
    ]


def test_what_is_packed_is_read_back(official: Path, tmp_path: Path) -> None:
    games = official_games(official)
    write_archive(games, tmp_path)
    index = (tmp_path / "index.json").read_text()
    archive = AlfWorldArchive(index, (tmp_path / "games.bin").read_bytes(), source="packed")
    assert [(entry.split, entry.id) for entry in archive.entries] == [g[:2] for g in games]
    for entry, (_, _, game) in zip(archive.entries, games, strict=True):
        packed = archive.load(entry)
        assert (packed.goal, packed.walkthrough) == (game.goal, game.walkthrough)
        assert packed.problem.facts == game.problem.facts
        assert packed.problem.objects == game.problem.objects
        assert packed.problem.goal == game.problem.goal


def test_the_shipped_splits_are_the_official_ones() -> None:
    counts = {split: len(entries) for split, entries in shipped().splits.items()}
    assert counts == {"valid_seen": 140, "valid_unseen": 134}


@pytest.mark.parametrize(
    ("index", "why"),
    [
        ("", "no index"),
        ("[]", "a list"),
        ('{"games": []}', "no dictionary"),
        ('{"dictionary_size": 3, "games": []}', "a dictionary cut short"),
        ('{"dictionary_size": 0, "games": [{"id": "x"}]}', "an entry without its place"),
    ],
)
def test_a_damaged_index_is_refused(index: str, why: str) -> None:
    with pytest.raises(BadRecord, match="packed: not an archive"):
        AlfWorldArchive(index, b"x\x9cabc", source="packed")


@settings(max_examples=60, deadline=None)
@given(position=st.integers(0, 1500), value=st.integers(0, 255))
def test_a_damaged_stream_is_refused_or_still_a_game(position: int, value: int) -> None:
    whole = shipped()
    entry = whole.entries[0]
    data = bytearray(whole.data)
    data[entry.offset + position % entry.size] = value
    damaged = AlfWorldArchive(whole.index, bytes(data), source="damaged")
    try:
        game = damaged.load(entry)
    except BadRecord as refusal:
        message = str(refusal)
    else:
        message = f"damaged: {entry.id}: " if game.problem.facts else ""
    assert message.startswith(f"damaged: {entry.id}: ")
