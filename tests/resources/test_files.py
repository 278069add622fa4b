"""A file is there complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.resources.files import atomic_write


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_file_is_replaced_when_the_block_ends(elsewhere: bool, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    path = tmp_path / ("a" * 240)
    path.write_text("before")
    with atomic_write(path, drafts if elsewhere else None) as draft:
        draft.write_text("after")
        assert draft.parent == (drafts if elsewhere else tmp_path)
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert sorted(tmp_path.rglob("*")) == sorted([drafts, path])


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_write(tmp_path / "file") as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_the_name_is_on_the_disk_and_not_only_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    with atomic_write(tmp_path / "file") as draft:
        draft.write_text("whole")
    assert synced == [draft, tmp_path]
