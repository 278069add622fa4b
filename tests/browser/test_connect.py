"""What other tools recorded through our doors, scored again; and the doors without those tools."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.browser.connect.browser_use import StepReporter, call_of, error_of
from assay.browser.connect.selenium import StepScoringListener, debugging_address
from assay.browser.step_records import rescore
from assay.cli.main import main
from assay.errors import BadParameter
from assay.ledger.run import Run
from assay.ledger.steps import read_steps
from assay.report.comparison import compare
from assay.report.diagnosis import diagnose

DATA = Path(__file__).resolve().parents[1] / "data" / "doors"
TRACES = sorted(DATA.rglob("*.jsonl"))


@pytest.mark.parametrize(
    "path",
    [path for path in TRACES if path.name != "episodes.jsonl"],
    ids=lambda path: str(path.relative_to(DATA)),
)
def test_a_recorded_trace_scores_again_to_the_same_bytes(path: Path) -> None:
    rows = list(rescore(read_steps(path)))
    assert any(row.score is not None for row in rows)
    assert [row.step.index for row in rows if row.differs] == []


def test_the_runs_of_browser_use_are_read_compared_and_diagnosed() -> None:
    careful, hasty = (Run(DATA / "browser_use" / name) for name in ("careful", "hasty"))
    episodes = list(careful.final())
    assert len(episodes) == 5
    assert {episode.stop_reason for episode in episodes} == {"answered"}
    assert compare(careful.path, hasty.path) is not None
    assert diagnose(hasty.path) is not None


def test_a_run_of_browser_use_is_viewed_as_any_other(tmp_path: Path) -> None:
    run = Run(DATA / "browser_use" / "careful")
    runs = tmp_path / "runs"
    shutil.copytree(run.path, runs / run.manifest.run_id)
    file = tmp_path / "run.html"
    assert main(["export", run.manifest.run_id, "--runs", str(runs), "--html", str(file)]) == 0
    assert "link Town museum" in file.read_text("utf-8")


def test_each_door_names_the_versions_that_wrote_its_traces() -> None:
    for folder in ("browser_use", "selenium"):
        versions = json.loads((DATA / folder / "versions.json").read_text())
        assert versions[folder.replace("_", "-")]


class Reports:
    """Notes what is reported instead of reading a browser."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, tool: str, **arguments: Any) -> Any:
        return ReportedLine(self.lines, f"{tool} {json.dumps(arguments)}")


class ReportedLine:
    def __init__(self, lines: list[str], text: str) -> None:
        self._lines = lines
        self._text = text

    async def begin(self) -> None:
        self._lines.append(f"begin {self._text}")

    async def end(self, error: Any = None) -> None:
        self._lines.append(f"end {error}")

    def __enter__(self) -> None:
        self._lines.append(f"begin {self._text}")

    def __exit__(self, _: object, error: object, __: object) -> None:
        self._lines.append(f"end {error}")


class Stub:
    """An object with these attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


CALLS = {"index": 4, "calls": [["fill", {"index": 3, "value": "tea"}], ["click", {"index": 4}]]}


def test_browser_uses_callbacks_begin_and_end_a_step() -> None:
    reports = Reports()
    reporter = StepReporter(reports)
    agent = Stub(state=Stub(last_result=[Stub(error=None, extracted_content="Clicked")]))
    failed = Stub(state=Stub(last_result=[Stub(error="Timeout", extracted_content=None)]))

    async def play() -> None:
        output = Stub(action=[{"input": {"index": 3, "text": "tea"}}, {"click": {"index": 4}}])
        await reporter.on_new_step(None, output, 1)
        await reporter.on_step_end(agent)
        await reporter.on_new_step(None, Stub(action=[{"navigate": {"url": "http://a/"}}]), 2)
        await reporter.on_step_end(failed)
        await reporter.on_new_step(None, Stub(action=[{"done": {"text": "42"}}]), 3)
        await reporter.on_step_end(agent)

    asyncio.run(play())
    assert reports.lines == [
        f"begin click {json.dumps(CALLS)}",
        "end None",
        'begin goto {"url": "http://a/"}',
        "end Timeout",
    ]


def test_an_element_that_browser_use_lost_is_an_error_though_it_is_told_as_content() -> None:
    gone = "Element index 9 not available - page may have changed. Try refreshing browser state."
    assert error_of(Stub(error=None, extracted_content=gone)) == gone
    assert error_of(Stub(error=None, extracted_content="Clicked 'Element index'")) is None
    assert call_of({"go_back": {}}) == ("back", {})
    assert call_of({}) == ("none", {})


def test_selenium_events_begin_and_end_a_step_and_a_search_in_vain_is_one() -> None:
    reports = Reports()
    listener = StepScoringListener(reports)  # type: ignore[arg-type]  # a stand-in for a watch
    element = Stub(id="f.0.d.1.e.7")
    listener.before_find("name", "q", None)
    listener.after_find("name", "q", None)
    listener.before_click(element, None)
    listener.after_click(element, None)
    listener.before_find("name", "nothing", None)
    listener.on_exception(LookupError("no such element"), None)
    assert reports.lines == [
        'begin click {"element": "7"}',
        "end None",
        'begin find {"by": "name", "selector": "nothing"}',
        "end no such element",
    ]


def test_a_browser_without_a_debugging_address_is_refused_in_words() -> None:
    chrome = Stub(capabilities={"goog:chromeOptions": {"debuggerAddress": "localhost:9"}})
    assert debugging_address(chrome) == "http://localhost:9"
    with pytest.raises(BadParameter, match="firefox"):
        debugging_address(Stub(capabilities={"browserName": "firefox"}))
