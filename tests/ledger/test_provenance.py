"""Where a run came from: ids, hashes, the state of a repository."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay.ledger.provenance import (
    RepositoryState,
    canonical_hash,
    installed_versions,
    new_run_id,
    repository_state,
    resolved_config,
    task_set_hash,
    utc_now,
)
from assay.schema.task import Task
from tests.ledger.example import PRICES, WEATHER

NOON = datetime(2026, 3, 29, 12, 21, 35, tzinfo=UTC)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "agent.py").write_text("BUDGET = 8000\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def test_run_ids_sort_by_time_wherever_the_clock_stands() -> None:
    east = NOON.astimezone(timezone(timedelta(hours=9)))
    assert new_run_id(east, "9f6c65") == "20260329-122135-9f6c65"
    assert new_run_id(NOON, "zzz") < new_run_id(NOON + timedelta(seconds=1), "aaa")
    assert new_run_id(NOON) != new_run_id(NOON)
    assert utc_now(east) == "2026-03-29T12:21:35.000Z"


def test_a_task_set_is_its_tasks_whatever_their_order() -> None:
    other = WEATHER.model_copy(update={"answer": "14.3"})
    assert task_set_hash([WEATHER, PRICES]) == task_set_hash([PRICES, WEATHER])
    assert task_set_hash([WEATHER, PRICES]) != task_set_hash([other, PRICES])
    assert task_set_hash([WEATHER]) != task_set_hash([WEATHER, WEATHER])
    assert task_set_hash([Task(id="\ud800")]) != task_set_hash([Task(id="?")])


def test_equal_values_have_equal_hashes() -> None:
    assert canonical_hash({"a": (1, 2), "b": None}) == canonical_hash({"b": None, "a": [1, 2]})
    assert canonical_hash({"a": 1}) != canonical_hash({"a": 1, "b": None})


def test_a_resolved_configuration_keeps_its_nulls() -> None:
    config = {"budget": None, "domains": ("zillow.com",), "data": Path("x")}
    assert resolved_config(config) == {"budget": None, "domains": ["zillow.com"], "data": "x"}


def test_versions_name_what_is_installed_only() -> None:
    versions = installed_versions(["pydantic", "no-such-package"])
    assert {"python", "platform", "assay", "pydantic"} == versions.keys()


def test_a_clean_repository_is_its_commit(repository: Path) -> None:
    state = repository_state(repository)
    assert state == RepositoryState(git(repository, "rev-parse", "HEAD"), "")
    (repository / "sub").mkdir()
    assert repository_state(repository / "sub") == state


def test_every_uncommitted_change_has_its_own_hash(repository: Path) -> None:
    seen = [repository_state(repository).dirty]
    (repository / "agent.py").write_text("BUDGET = 24000\n")
    seen.append(repository_state(repository).dirty)
    git(repository, "add", ".")
    assert repository_state(repository).dirty == seen[-1], "staging changes nothing"
    (repository / "prompt.txt").write_text("bare answers")
    seen.append(repository_state(repository).dirty)
    (repository / "prompt.txt").write_text("verbose answers")
    seen.append(repository_state(repository / ".").dirty)
    (repository / "link").symlink_to("prompt.txt")
    seen.append(repository_state(repository).dirty)
    assert len(set(seen)) == len(seen)
    assert seen[0] == ""


def test_the_runs_themselves_do_not_make_a_repository_dirty(repository: Path) -> None:
    runs = repository / "runs"
    runs.mkdir()
    (runs / "episodes.jsonl").write_text("{}\n")
    assert repository_state(repository).dirty
    assert not repository_state(repository, exclude=[runs]).dirty
    (repository / ".gitignore").write_text("runs/\n")
    git(repository, "add", ".gitignore")
    git(repository, "commit", "-q", "-m", "two")
    assert not repository_state(repository).dirty


def test_a_repository_without_a_commit_is_all_difference(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "agent.py").write_text("x\n")
    state = repository_state(tmp_path)
    assert state.commit == ""
    assert len(state.dirty) == 64


def test_a_folder_outside_a_repository_has_no_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert repository_state(tmp_path) == RepositoryState()
    assert repository_state(tmp_path / "nowhere") == RepositoryState()
    monkeypatch.setenv("PATH", "")
    assert repository_state(tmp_path) == RepositoryState()


def test_a_program_that_the_repository_configures_is_not_run(repository: Path) -> None:
    witness = repository.parent / "witness"
    script = repository.parent / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch '{witness}'\n")
    script.chmod(0o755)
    git(repository, "config", "diff.external", str(script))
    git(repository, "config", "core.fsmonitor", str(script))
    (repository / "agent.py").write_text("changed\n")
    assert repository_state(repository).dirty
    assert not witness.exists()


def test_git_that_takes_too_long_leaves_the_difference_unknown(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subprocess.run

    def slow(command: list[str], **options: object) -> object:
        if "diff" in command:
            raise subprocess.TimeoutExpired(command, 10)
        return run(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", slow)
    assert repository_state(repository).dirty == "unknown"
