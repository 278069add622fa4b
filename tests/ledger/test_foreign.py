"""Runs that somebody else made: nothing in them leads out of their folder, or out of `--out`."""

import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.errors import BadRecord
from assay.ledger.index import LedgerIndex
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.viewer.share import export_html
from tests.ledger.example import MANIFEST, episode

OUTSIDE = ["../../outside", "/tmp/outside", "a/b", "..", "C:\\outside", ""]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    with RunWriter.create(folder, MANIFEST) as writer:
        writer.append(episode("good"))
        writer.append(episode("other"))
    return folder


def change(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(json.dumps(old), json.dumps(new)))


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("attempt", OUTSIDE)
@pytest.mark.parametrize("form", ["atif", "jsonl"])
def test_an_attempt_with_the_id_of_a_place_elsewhere_is_not_exported(
    runs: Path, tmp_path: Path, attempt: str, form: str
) -> None:
    folder = runs / MANIFEST.run_id
    change(folder / "episodes.jsonl", "other", attempt)
    out = tmp_path / "deep" / "out"
    out.parent.mkdir()
    before = files(tmp_path)
    status = main(["export", str(folder), "--format", form, "--out", str(out), "--runs", str(runs)])
    assert status != 0
    assert {path for path in files(tmp_path) - before if not path.is_relative_to(out)} == set()
    lenient = Run(folder, strict=False)
    assert [e.attempt for e in lenient.episodes()] == ["good"]
    assert list(lenient.attempts().attempts) == ["good"]


@pytest.mark.parametrize("attempt", OUTSIDE)
def test_the_page_of_a_foreign_run_is_the_one_file_that_is_written(
    runs: Path, tmp_path: Path, attempt: str
) -> None:
    change(runs / MANIFEST.run_id / "episodes.jsonl", "other", attempt)
    target = tmp_path / "page.html"
    before = files(tmp_path)
    export_html(runs / MANIFEST.run_id, target)
    assert files(tmp_path) - before <= {target, runs / "index.sqlite"}
    assert LedgerIndex(runs).runs()[0].damaged == 1


@pytest.mark.parametrize("run_id", OUTSIDE)
def test_a_manifest_with_the_id_of_a_place_elsewhere_is_not_a_run(runs: Path, run_id: str) -> None:
    folder = runs / MANIFEST.run_id
    change(folder / "manifest.json", MANIFEST.run_id, run_id)
    with pytest.raises(BadRecord, match="not safe as a file name"):
        Run(folder)
    (row,) = LedgerIndex(runs).runs()
    assert row.focus.startswith("unreadable")


def test_a_file_in_place_of_steps_makes_no_attempt_of_an_odd_name(runs: Path) -> None:
    folder = runs / MANIFEST.run_id
    for name in ("..jsonl", "a b.jsonl", ".hidden.jsonl", "x.jsonl"):
        (folder / "steps" / name).touch()
    assert Run(folder).unfinished() == ("x",)
