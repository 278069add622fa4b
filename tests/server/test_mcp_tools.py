"""The reward server for coding agents, driven by the official SDK's client."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import TextContent

TOOLS = ("score", "diagnose", "steps", "audit")
MINE = "def mine(final_response, answer):\n    return float(final_response == answer)\n"


def talk(
    folder: Path, *calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()
) -> tuple[list[Any], list[Any]]:
    """The tools that the server lists, and the result of each call."""

    async def main() -> tuple[list[Any], list[Any]]:
        arguments = ["-m", "assay.cli.main", "serve", "--mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=folder)
        with (folder / "stderr").open("w") as stderr:
            async with (
                stdio_client(server, errlog=stderr) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                listed = await session.list_tools()
                return listed.tools, [await session.call_tool(*call) for call in calls]

    return asyncio.run(main())


def text_of(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def test_an_agent_scores_and_audits_and_nothing_is_written_or_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    row = {"final_response": "1/2", "answer": "0.5"}
    before = {path.name for path in tmp_path.iterdir()}
    tools, results = talk(
        tmp_path,
        ("score", {"reward": "math_equal_reward", "rows": [row, {**row, "answer": None}]}),
        ("score", {"reward": "mine.py:mine", "rows": [row]}),
        ("score", {"reward": "nobody", "rows": [row]}),
        ("score", {"reward": "math_equal_reward", "rows": [row] * 257}),
        ("steps", {"trace": "../../etc/passwd"}),
        ("diagnose", {"run": "../elsewhere"}),
        ("audit", {"reward": "mine.py:mine"}),
    )
    assert tuple(tool.name for tool in tools) == TOOLS
    assert all(tool.annotations.read_only_hint for tool in tools)
    scored = results[0].structured_content
    assert scored["mean"] == 1.0
    assert scored["abstained"] == 1
    assert [score["value"] for score in scored["scores"]] == [1.0, None]
    assert "equals '0.5'" in scored["scores"][0]["because"]
    assert [result.is_error for result in results] == [False, *[True] * 6]
    said = [text_of(result) for result in results]
    assert "following it runs the code there" in said[1]
    assert "no reward named 'nobody'" in said[2]
    assert "257 rows; at most 256" in said[3]
    assert "there is no file" in said[4]
    assert "give the id of a run" in said[5]
    assert "start it with `assay serve --mcp --run-code`" in said[6]
    assert {path.name for path in tmp_path.iterdir()} == before | {"stderr"}


def test_code_of_the_folder_is_run_when_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    row = {"final_response": "4", "answer": "4"}
    _, (result,) = talk(
        tmp_path, ("score", {"reward": "mine.py:mine", "rows": [row]}), options=("--run-code",)
    )
    assert result.structured_content["mean"] == 1.0
