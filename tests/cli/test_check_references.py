"""`assay check references`: what a reward cannot judge, before a run is spent on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import main

LINES = (
    json.dumps({"solution": r"\frac12"}),
    r'{"solution": "\frac{1}{2}"}',
    json.dumps({"solution": "The sequence is bounded but it does not converge."}),
    json.dumps({"solution": None}),
    "not JSON",
    json.dumps({"solution": {"a": 1}}),
    json.dumps({"solution": "0"}),
)


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(LINES))
    return str(path)


def check(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", "references", *arguments])
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def test_every_reference_that_cannot_be_judged_is_named_by_its_line(
    data: str, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = (data, "--reward", "math_equal_reward", "--column", "answer=solution")
    code, out, _ = check(capfd, *arguments, "--json")
    report = json.loads(out)
    assert code == 1
    assert report["rows"] == len(LINES)
    assert {(problem["line"], problem["reason"]) for problem in report["problems"]} == {
        (3, "unparseable_reference"),
        (4, "missing_reference"),
        (5, "bad_row"),
        (6, "bad_reference"),
    }
    code, out, _ = check(capfd, *arguments)
    assert "3 of 7 references can be judged, 4 cannot" in out


def test_references_that_can_be_judged_are_exit_code_0(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "good.jsonl"
    path.write_text(LINES[0].replace("solution", "answer"))
    assert check(capfd, str(path), "--reward", "math_equal_reward_tool")[0] == 0


def test_a_reward_of_an_environment_is_refused(
    data: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = check(capfd, data, "--reward", "webshop_reward")
    assert code == 2
    assert "scores an episode in an environment" in err
