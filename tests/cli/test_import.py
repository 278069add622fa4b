"""`assay import`, and logs where a run is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.cli.view import _find
from assay.ledger.layout import list_runs

DATA = Path(__file__).parents[1] / "data" / "foreign"
EVAL = DATA / "inspect-0.3.285" / "questions.eval"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capfd.readouterr()
    return code, out, err


def test_an_import_shows_the_means_of_the_tool_beside_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capfd, "import", str(EVAL))
    assert code == 0
    assert "0.7143 of 14 (match); not in it: 2 model_error" in out
    assert "inspect says match = 0.7143\n" in out
    assert "InternalServerError: Error code: 500 - the model is on fire" in out
    assert "imported before" not in out
    code, out, _ = run(capfd, "import", str(EVAL))
    assert (code, "imported before: nothing was written" in out) == (0, True)
    assert len(list_runs(Path("runs"))) == 1
    _, out, _ = run(capfd, "import", str(DATA / "verifiers-0.1.14"))
    assert "verifiers says reward = 0.8438: it counts the 2 that the model or the " in out


def test_several_logs_are_several_runs(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "import", str(EVAL.parent), "--json", "--focus", "both")
    records = json.loads(out)
    assert (code, [record["counts"]["n"] for record in records]) == (0, [16, 7])
    assert [record["skipped"] for record in records] == [0, 0]
    assert records[0]["reported"][0]["name"] == "match"


def test_what_was_skipped_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    Path("cut.eval").write_bytes(EVAL.read_bytes()[:30_000])
    code, out, _ = run(capfd, "import", "cut.eval")
    assert (code, "skipped: cut.eval: it was cut off" in out) == (0, True)


def test_an_unknown_file_says_what_was_looked_for(capfd: pytest.CaptureFixture[str]) -> None:
    Path("x.txt").write_text("hello")
    code, _, err = run(capfd, "import", "x.txt")
    assert code == 2
    for name in ("inspect", "lm-eval", "verifiers", "nemo-gym", "browsergym", "jsonl", "atif"):
        assert f"({name})" in err
    assert "--format NAME" in err


def test_columns_are_mapped(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.jsonl").write_text('{"q": "1 + 1?", "out": "2", "pt": 0.5}\n')
    arguments = ["--column", "question=q", "--column", "response=out", "--column", "score=pt"]
    code, out, _ = run(capfd, "import", "mine.jsonl", "--format", "jsonl", "--json", *arguments)
    assert (code, json.loads(out)["counts"]["mean"]) == (0, 0.5)


def test_a_log_is_compared_and_diagnosed_without_an_import(
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(EVAL, "log.eval")
    code, out, _ = run(capfd, "compare", "log.eval", str(EVAL), "--json")
    assert (code, json.loads(out)["reward"]["difference"]) == (0, 0.0)
    code, out, _ = run(capfd, "diagnose", "log.eval")
    assert (code, "mean 0.714 over 14 scored attempts" in out) == (0, True)
    assert list_runs(Path("runs")) == []
    code, _, err = run(capfd, "diagnose", "other.eval")
    assert (code, "no run 'other.eval'" in err) == (2, True)


def test_the_viewer_opens_at_a_log(tmp_path: Path) -> None:
    runs, name = _find(str(EVAL), Path("runs"))
    assert (runs, name in {run.name for run in list_runs(runs)}) == (
        tmp_path / "runs" / ".imported",
        True,
    )
    study = next((DATA / "agentlab-0.4.2").iterdir())
    assert _find(str(study), Path("runs"))[1] != name
    Path("empty").mkdir()
    assert _find("empty", Path("runs")) == (Path("empty"), None)
