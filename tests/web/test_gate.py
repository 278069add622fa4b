"""Whatever takes input from strangers is sent everything that a stranger must not do.

The doors are read from the tables of the applications themselves, so that a new route, page or tool
is tried without a word here.
"""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi.routing import APIRoute

from assay.server.app import build_app
from assay.server.settings import ServerSettings
from assay.viewer.app import _pages
from assay.viewer.runs_reader import RunsReader
from tests.server.running import running
from tests.server.test_mcp_tools import talk
from tests.viewer.conftest import serving

SECRET = "canary-7d1f20"
LONG = "@long@"
"""Stands for an integer of more digits than Python reads."""
PROGRAM = "```python\nopen({path!r}, 'w').write('here')\ndef f():\n    return 1\n```"
QUERY = "SELECT secret FROM t"


class Forbidden(NamedTuple):
    """What a stranger asks for, and must not get."""

    name: str
    reward: str
    row: dict[str, Any]
    params: Mapping[str, Any] = MappingProxyType({})
    columns: Mapping[str, str] = MappingProxyType({})


class Trap(NamedTuple):
    """Files that show it when a door was open."""

    folder: Path
    """Outside of the folder of files that requests may name."""
    forbidden: tuple[Forbidden, ...]

    def check_response(self, response: httpx.Response, path: str, one: Forbidden) -> None:
        self.check(response.text, f"{response.request.method} {path}", one)
        assert response.status_code != 500, (path, one.name, response.text)

    def check(self, answer: str, door: str, one: Forbidden) -> None:
        door = f"{door}: {one.name}"
        assert SECRET not in answer, door
        assert not (self.folder / "written").exists(), door
        assert not (self.folder / "imported").exists(), door
        if one.reward in ("code_reward", "sql_reward"):
            assert 1.0 not in numbers(answer), f"{door}: {answer[:500]}"


def numbers(answer: str) -> Iterator[float]:
    """The rewards in an answer, under whatever name a route gives them."""
    try:
        waiting: list[Any] = [json.loads(answer)]
    except ValueError:
        return
    whole = waiting[0] if isinstance(waiting[0], list) else waiting
    yield from (float(each) for each in whole if isinstance(each, (int, float)))
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            for key in ("value", "reward", "rewards", "score", "scores", "mean"):
                given = item.get(key)
                given = given if isinstance(given, list) else [given]
                yield from (float(each) for each in given if isinstance(each, (int, float)))
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    folder = tmp_path_factory.mktemp("outside")
    with closing(sqlite3.connect(folder / "outside.db")) as database, database:
        database.executescript(f"CREATE TABLE t (secret); INSERT INTO t VALUES ('{SECRET}')")
    (folder / "evil.py").write_text(
        f"open({str(folder / 'imported')!r}, 'w').close()\n"
        "def evil(final_response):\n    return 1\n"
    )
    program = PROGRAM.format(path=str(folder / "written"))
    outside = str(folder / "outside.db")
    query = {"final_response": QUERY, "answer": f"{QUERY} WHERE 1", "database": outside}
    tests = {"tests": {"fn": "f", "calls": [{"args": [], "returns": 1}]}}
    globals_of = "answer.__init__.__globals__.os.environ.CANARY"
    deep: Any = "1"
    for _ in range(500):
        deep = [deep]
    return Trap(
        folder,
        (
            Forbidden(
                "a program outside of the sandbox",
                "code_reward",
                {"final_response": program, "answer": "1", **tests},
                {"isolation": "process"},
            ),
            Forbidden("a file outside", "sql_reward", query),
            Forbidden("a file outside of no root", "sql_reward", query, {"root": "/"}),
            Forbidden(
                "a file by dots", "sql_reward", {**query, "database": "../../" * 9 + outside}
            ),
            Forbidden("code by its address", f"{folder}/evil.py:evil", {"final_response": "x"}),
            Forbidden("code of a module", "os:system", {"final_response": "x"}),
            Forbidden("an address", "http://127.0.0.1:9/v1/score", {"final_response": "x"}),
            Forbidden(
                "Python behind a number",
                "qa_f1_reward",
                {"final_response": SECRET[:6], "answer": LONG},
                columns={"answer": globals_of},
            ),
            Forbidden(
                "Python behind a text",
                "qa_f1_reward",
                {"final_response": "str", "answer": "x"},
                columns={"answer": "answer.__class__.__name__"},
            ),
            Forbidden(
                "a name that begins with _",
                "qa_f1_reward",
                {"final_response": "str", "answer": {"_hidden": "str"}},
                columns={"answer": "answer._hidden"},
            ),
            Forbidden("levels", "qa_f1_reward", {"final_response": "1", "answer": deep}),
            Forbidden(
                "values", "qa_f1_reward", {"final_response": "zero", "answer": ["x"] * 600_000}
            ),
        ),
    )


def as_json(value: Any) -> bytes:
    """The value as JSON, with the long integer in its place."""
    return json.dumps(value).replace(json.dumps(LONG), "9" * 5000).encode()


def bodies_of(example: Any, one: Forbidden) -> Iterator[Any]:
    """The example of a route with what is forbidden at its top, or in all records below it."""
    options = {"params": dict(one.params), "columns": dict(one.columns)}
    named = {"reward": one.reward, **options}
    below = _below(copy.deepcopy(example), one.row, 0)
    yield {**named, "rows": [one.row]}
    yield {**example, **one.row}
    yield {**example, **named, **one.row}
    yield below
    yield {**below, **named}


def _below(value: Any, fields: Mapping[str, Any], depth: int) -> Any:
    if isinstance(value, list):
        return [_below(each, fields, depth + 1) for each in value]
    if isinstance(value, dict):
        inner = {key: _below(each, fields, depth + 1) for key, each in value.items()}
        return {**inner, **fields} if depth else inner
    return value


def test_no_route_of_the_server_does_what_is_forbidden(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    document = build_app(ServerSettings(root=str(tmp_path))).openapi()
    routes = [(path, method) for path, ways in document["paths"].items() for method in ways]
    tried = 0
    with running(tmp_path, "--workers", "1", "--root", str(tmp_path)) as server:
        for path, method in routes:
            operation = document["paths"][path][method]
            content = operation.get("requestBody", {}).get("content", {})
            place = content.get("application/json", {}).get("schema", {}).get("$ref", "")
            schema = document["components"]["schemas"].get(place.rpartition("/")[2], {})
            examples = schema.get("examples", [{}])
            for one in trap.forbidden:
                query = {
                    "reward": one.reward,
                    "params": json.dumps(dict(one.params)),
                    "columns": json.dumps(dict(one.columns)),
                }
                bodies = [body for example in examples for body in bodies_of(example, one)]
                sent = [(as_json(body), "application/json") for body in bodies]
                if "application/x-ndjson" in content:
                    sent.append((as_json(one.row) + b"\n", "application/x-ndjson"))
                for body, kind in sent if method == "post" else [(b"", "text/plain")]:
                    answer = server.http.request(
                        method, path, params=query, content=body, headers={"content-type": kind}
                    )
                    tried += 1
                    trap.check_response(answer, path, one)
        right = {"reward": "qa_f1_reward", "row": {"final_response": "x", "answer": "x"}}
        assert 1.0 in numbers(server.post("/v1/score", right).text), "the server still scores"
    assert tried > 200, tried
    print(f"{len(routes)} routes, {tried} requests")


def test_no_page_of_the_viewer_does_what_is_forbidden(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    app = _pages(RunsReader(tmp_path / "runs"), tmp_path)
    routes = [route for route in app.routes if isinstance(route, APIRoute)]  # type: ignore[attr-defined]
    tried = 0
    with serving(tmp_path / "runs") as url, httpx.Client(base_url=url, timeout=60) as client:
        token = client.get("/rewards/qa_f1_reward.json").json()["form_token"]
        for route in routes:
            for one in trap.forbidden:
                form = {f"c.{key}": str(value)[:15_000] for key, value in one.row.items()}
                form = {key: "9" * 5000 if value == LONG else value for key, value in form.items()}
                form |= {f"o.{key}": str(value) for key, value in one.params.items()}
                form |= {f"c.{key}": value for key, value in one.columns.items()}
                path = route.path.replace("{name}", one.reward.replace("/", "%2F"))
                for name in route.param_convertors:
                    path = path.replace(f"{{{name}}}", "..%2F..%2Foutside.db")
                for do in ("score", "probe"):
                    fields = {**form, "do": do, "form_token": token}
                    for method in (route.methods or set()) - {"HEAD"}:
                        body = {"data": fields} if method == "POST" else {"params": fields}
                        answer = client.request(method, f"{path}.json", **body)  # type: ignore[arg-type]
                        tried += 1
                        trap.check_response(answer, path, one)
                        if method == "GET" and path.startswith("/rewards/"):
                            assert answer.status_code in (404, 414, 431) or (
                                answer.json().get("trial") is None
                            ), "a GET runs no reward"
    assert tried > 200, tried
    print(f"{len(routes)} pages, {tried} requests")


def test_no_tool_for_agents_does_what_is_forbidden(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    project = tmp_path / "project"
    project.mkdir()
    tools, _ = talk(project)
    calls: list[tuple[str, dict[str, Any]]] = []
    asked = []
    for tool in tools:
        taken = tool.input_schema["properties"]
        for one in trap.forbidden:
            given: dict[str, Any] = {
                "reward": one.reward,
                "rows": [one.row],
                "params": dict(one.params),
            }
            given |= {"run": one.reward, "trace": str(trap.folder / "outside.db"), "task": one.name}
            if (tool.name == "audit" and ":" not in one.reward) or one.name == "levels":
                continue  # a registered reward may be audited; the client sends no such levels
            calls.append((tool.name, {key: given[key] for key in taken if key in given}))
            asked.append((tool.name, one))
    _, results = talk(project, *calls)
    for (tool_name, one), result in zip(asked, results, strict=True):
        trap.check(result.content[0].text, tool_name, one)
        trap.check(json.dumps(result.structured_content), tool_name, one)
    assert len(results) > 30
    print(f"{len(tools)} tools, {len(results)} calls")
