"""`assay audit`: what it prints, writes, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import main

GUEST = r"""
import re

def strict(final_response, answer):
    found = re.findall(r"\\boxed\{([^{}]*)\}", final_response)
    return float(found == [str(answer)] and final_response == f"\\boxed{{{answer}}}")

def refuses(final_response, answer):
    return 0.0

def generous(final_response, answer):
    return float(str(answer) in final_response)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "guest.py").write_text(GUEST)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def test_a_gate_closes_on_a_finding(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", "guest.py:generous", "--kind", "maths", "--family", "spray"]
    assert main([*command, "--html", "out.html"]) == 0
    out = capsys.readouterr().out
    assert "alternatives joined by" in out
    assert out.index("fooled: ") < out.index("root cause") < out.index("finding, an answer")
    assert "assay audit: " in out
    assert (here / "out.html").read_text().startswith("<!doctype html>")
    assert (here / "runs/audits/guest.py_generous.json").is_file()
    assert main([*command, "--fail-on", "high", "--no-save"]) == 3


def test_json_is_the_record_and_the_same_every_time(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["audit", "guest.py:strict", "--kind", "maths", "--family", "degenerate", "--json"]
    assert main([*command, "--no-save", "--fail-on", "medium"]) == 0
    first = capsys.readouterr().out
    record = json.loads(first)
    assert record["schema"] == "assay.audit/1"
    assert record["passes_at"] == "info"
    assert "timings" not in record
    assert not (here / "runs").exists()
    assert main([*command, "--no-save"]) == 0
    assert capsys.readouterr().out == first


def test_two_rewards_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", "--compare", "guest.py:strict", "guest.py:generous", "--kind", "maths"]
    assert main([*command, "--family", "spray", "--no-save"]) == 0
    out = capsys.readouterr().out
    assert "strict is harder to fool" in out
    assert "or_list" in out


def test_golds_come_from_the_users_data(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"problem": f"What is {n} squared?", "answer": str(n * n)} for n in range(3, 9)]
    (here / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["audit", "guest.py:strict", "--data", "rows.jsonl", "--kind", "maths", "--json"]
    assert main([*command, "--family", "correctness", "--no-save"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["data"], record["samples"]) == ("rows.jsonl", 6)


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["guest.py:strict", "guest.py:generous"], "give two targets with --compare"),
        (["guest.py:nothing"], "has no 'nothing'"),
        (["no_such_reward"], "no reward named"),
        (["guest.py:strict", "--accept", "or_list"], "give the reason"),
        (["guest.py:strict", "--python", "/no/such/python"], "cannot start '/no/such/python'"),
        (["guest.py:strict", "--python", "/bin/false"], "cannot load guest.py:strict"),
        (["guest.py:strict", "--data", "no.jsonl", "--kind", "qa"], "there is no file"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_sentence(
    arguments: list[str], because: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    assert because in capsys.readouterr().err


def test_no_check_that_ran_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", "guest.py:refuses", "--kind", "maths", "--family", "spray", "--no-save"]
    assert main(command) == 3
    assert "no check ran" in capsys.readouterr().out
    assert main(["audit", "guest.py:strict", "--kind", "maths", "--family", "agent"]) == 2
    assert "no check of agent applies" in capsys.readouterr().err
