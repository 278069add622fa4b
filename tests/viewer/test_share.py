"""One run is one file, with everything of that run and nothing of any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.ledger.layout import archive
from assay.viewer.pages.compare import CompareQuery, compare_page
from assay.viewer.pages.run import RunQuery, run_page
from assay.viewer.runs_reader import RunsReader
from tests.report.ledgers import write_run
from tests.viewer.ledgers import write_hostile, write_marked

OTHERS = ("other-1", "another focus entirely", "other task", "other-2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("share") / "runs"
    write_run(runs, "other-1", {"other task": 0.5}, focus="another focus entirely")
    write_run(runs, "shared-3", {f"task {i}": i / 110 for i in range(110)}, focus="what is shared")
    write_run(runs, "other-2", {"other task": 0.5})
    write_hostile(runs)
    write_marked(runs)
    return runs


def share(folder: Path, run: str) -> str:
    target = folder.parent / f"{run}.html"
    command = ["export", run, "--html", str(target), "--runs", str(folder), "--overwrite"]
    assert main(command) == 0
    return target.read_text("utf-8")


def check_self_contained(text: str) -> None:
    """Everything that the file asks for is in it."""
    ids = set(re.findall(r'\sid="([^"]*)"', text))
    for link in re.findall(r'(?:href|src|action|srcset|poster|data)="([^"]*)"', text):
        assert link.startswith("data:") or link.removeprefix("#") in ids, link
    assert not re.search(r"<(script|iframe|object|embed|form|base|img)\b", text)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_the_file_has_every_attempt_of_the_run_and_nothing_of_another(folder: Path) -> None:
    text = share(folder, "shared-3")
    assert "what is shared" in text
    assert text.count('<section class="episode"') == 110
    for string in OTHERS:
        assert string not in text
    # Nothing that this run recorded is an address.
    assert "://" not in text
    check_self_contained(text)


def test_a_hostile_run_stays_text(folder: Path) -> None:
    text = share(folder, "hostile")
    check_self_contained(text)
    assert "\u202e" not in text


def test_steps_and_pictures_are_in_the_file(folder: Path) -> None:
    text = share(folder, "marked")
    check_self_contained(text)
    assert 'id="marked.r0.a1.step-1"' in text
    assert re.search(r'<image href="data:image/png;base64,[A-Za-z0-9+/=]+"', text)


def test_a_file_that_is_there_is_not_replaced_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    share(folder, "shared-3")
    target = folder.parent / "shared-3.html"
    before = target.read_bytes()
    command = ["export", "shared-3", "--html", str(target), "--runs", str(folder)]
    assert main(command) == 2
    assert "exists; give --overwrite, or another --html" in capsys.readouterr().err
    assert target.read_bytes() == before
    assert main([*command, "--overwrite"]) == 0


def test_a_run_that_scored_another_one_again_does_not_name_it(folder: Path) -> None:
    write_run(folder, "again-4", {"task 0": 1.0}, parent="other-1")
    assert "other-1" not in share(folder, "again-4")


def test_the_lists_of_the_viewer_leave_archived_runs_out(tmp_path: Path) -> None:
    for name in ("kept-1", "archived-2"):
        write_run(tmp_path, name, {"task": 1.0})
    archive(tmp_path / "archived-2")
    reader = RunsReader(tmp_path)
    assert [row.run_id for row in reader.listed_runs()] == ["kept-1"]
    choices = compare_page(reader, CompareQuery())["choices"]
    assert [choice["run_id"] for choice in choices] == ["kept-1"]
    # A link to it still leads there, and it can be shared by its name.
    assert run_page(reader, "archived-2", RunQuery())["run"]["run_id"] == "archived-2"
    assert "archived-2" in share(tmp_path, "archived-2")
