"""The reward server for coding agents, driven by the official SDK's client."""

import asyncio
import hashlib
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import TextContent

import assay
from assay.cli.main import main
from assay.ledger.steps import StepsWriter
from assay.schema.episode import Step

TOOLS = ("score", "diagnose", "steps", "audit")
MINE = """
import assay

print("loaded")

@assay.reward(name="mine", version=1)
def mine(final_response: str, answer: str) -> float:
    print("called")
    return float(final_response == answer)
"""
ROW = {"final_response": "1/2", "answer": "0.5"}


def talk(
    folder: Path, *calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()
) -> tuple[list[Any], list[Any]]:
    """The tools that the server lists, and the result of each call."""

    async def converse() -> tuple[list[Any], list[Any]]:
        arguments = ["-m", "assay.cli.main", "serve", "--mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=folder)
        with (folder.parent / "stderr").open("w") as stderr:
            async with (
                stdio_client(server, errlog=stderr) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                listed = await session.list_tools()
                return listed.tools, [await session.call_tool(*call) for call in calls]

    return asyncio.run(converse())


def text_of(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def content_of(folder: Path) -> dict[str, str]:
    """Every file below the folder, with the hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project: a reward of its own, a recorded run, a steps file, and a database beside it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("mine.py").write_text(MINE)
    Path("questions.jsonl").write_text('{"id": "a", "question": "1+1?", "answer": "2"}\n')
    assay.run("questions.jsonl", agent=lambda question: "It is two", rewards=["qa_f1_reward"])
    with StepsWriter(Path("steps.jsonl")) as steps:
        steps.write(Step(index=0, action=""))
        failed = {"tool": "click", "ok": False, "error": "not_visible"}
        steps.write(Step(index=1, action='click("a1")', outcome=failed))
    with closing(sqlite3.connect(tmp_path / "outside.db")) as database, database:
        database.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    return project


def test_an_agent_scores_diagnoses_and_audits_and_nothing_is_written(folder: Path) -> None:
    before = content_of(folder)
    tools, results = talk(
        folder,
        ("score", {"reward": "math_equal_reward", "rows": [ROW, {**ROW, "answer": None}]}),
        ("diagnose", {}),
        ("steps", {"trace": "steps.jsonl"}),
        ("audit", {"reward": "format_reward", "kind": "format"}),
        (
            "score",
            {"reward": "math_equal_reward@2", "rows": [ROW], "params": {"tolerance": "exact"}},
        ),
    )
    assert tuple(tool.name for tool in tools) == TOOLS
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)
    assert [text_of(result) for result in results if result.is_error] == []
    scored, diagnosis, steps, audit, exact = (result.structured_content for result in results)
    assert scored["mean"] == exact["mean"] == 1.0
    assert scored["abstained"] == 1
    assert [score["value"] for score in scored["scores"]] == [1.0, None]
    assert "equals '0.5'" in scored["scores"][0]["because"]
    assert [finding["task_id"] for finding in diagnosis["findings"]] == ["a"]
    assert [step["score"] is None for step in steps["steps"]] == [True, False]
    assert audit["checks"] > 5
    assert content_of(folder) == before


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("score", {"reward": "mine.py:mine", "rows": [ROW]}, "does not load"),
    ("audit", {"reward": "mine.py:mine"}, "start the server with `assay serve --mcp --run-code`"),
    ("audit", {"reward": "http://127.0.0.1:1/v1/score#x"}, "this read-only server"),
    ("audit", {"reward": "qa_f1_reward", "kind": "poetry"}, "Input should be 'maths', 'qa'"),
    ("score", {"reward": "nobody", "rows": [ROW]}, "no reward named 'nobody'"),
    ("score", {"reward": "math_equal_reward@1", "rows": [ROW]}, "math_equal_reward"),
    ("score", {"reward": "math_equal_reward", "rows": [ROW] * 257}, "257 rows are too many"),
    ("score", {"reward": "qa_f1_reward", "rows": [ROW], "params": {"x": 1}}, "no option 'x'"),
    ("score", {"reward": "qa_f1_reward", "rows": [{"answer": "x"}]}, "needs 'final_response'"),
    (
        "score",
        {"reward": "code_reward", "rows": [ROW], "params": {"isolation": "process"}},
        "a request cannot set",
    ),
    ("steps", {"trace": "../outside.db"}, "there is no file"),
    ("steps", {"trace": "steps.jsonl", "first": -1}, "first=-1; 0 or more"),
    ("steps", {"trace": "mine.py"}, "mine.py"),
    ("diagnose", {"run": "../elsewhere"}, "give the id of a run"),
    ("diagnose", {"run": "nothing"}, "nothing"),
]


def test_what_is_refused_says_why_and_the_server_goes_on(folder: Path) -> None:
    before = content_of(folder)
    query = "SELECT x FROM t"
    outside = {"final_response": query, "answer": query, "database": "../outside.db"}
    _, results = talk(
        folder,
        *((tool, arguments) for tool, arguments, _ in REFUSED),
        ("score", {"reward": "sql_reward", "rows": [outside]}),
        ("score", {"reward": "sql_reward", "rows": [outside], "params": {"root": ".."}}),
    )
    for (_, _, expected), result in zip(REFUSED, results, strict=False):
        assert result.is_error, expected
        assert expected in text_of(result)
        assert "Traceback" not in text_of(result)
    for result in results[-2:]:
        (score,) = result.structured_content["scores"]
        assert score["abstained"] == "bad_database"
        assert "outside of the folder of files" in score["because"]
    assert content_of(folder) == before


def test_code_of_the_folder_is_run_when_that_is_allowed(folder: Path) -> None:
    row = {"final_response": "4", "answer": "4"}
    _, results = talk(
        folder,
        ("score", {"reward": "mine.py:mine", "rows": [row]}),
        options=("--run-code",),
    )
    assert results[0].structured_content["mean"] == 1.0


def test_a_reward_that_the_person_imports_is_scored_and_audited_by_name(folder: Path) -> None:
    row = {"final_response": "4", "answer": "4"}
    _, results = talk(
        folder,
        ("score", {"reward": "mine", "rows": [row]}),
        ("audit", {"reward": "mine", "kind": "qa"}),
        options=("--import", "mine"),
    )
    assert [text_of(result) for result in results if result.is_error] == []
    assert results[0].structured_content["mean"] == 1.0
    assert results[1].structured_content["findings"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--mcp --port 1", "--port has no meaning with --mcp; leave it out"),
        ("--run-code", "--run-code goes with --mcp; leave it out"),
        ("--mcp --import nowhere", "--import nowhere"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words.split()]) == 2
    assert message in capsys.readouterr().err
