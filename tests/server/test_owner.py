"""What a request may not choose: files outside of the server's folder, and a lower guard."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.resources import row_files
from assay.resources.row_files import FileOutsideFolder, confine_row_files, row_file
from assay.server.settings import ServerSettings
from tests.server.running import Running, running

QUERY = {"final_response": "SELECT a FROM t", "answer": "SELECT a FROM t"}


def make_database(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")
    connection.close()
    return path


@pytest.fixture(scope="module")
def rooted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    """A server whose rows may name the files of one folder."""
    folder = tmp_path_factory.mktemp("rooted")
    root = folder / "databases"
    root.mkdir()
    make_database(root / "inside.db")
    make_database(folder / "outside.db")
    (root / "link.db").symlink_to(folder / "outside.db")
    served = ["--rewards", "sql_reward,code_reward"]
    with running(folder, "--workers", "1", "--root", str(root), *served) as started:
        yield started, root


def test_a_row_reads_a_database_of_the_folder(rooted: tuple[Running, Path]) -> None:
    server, root = rooted
    names = ["inside.db", str(root / "inside.db")]
    scores = server.score("sql_reward", [{**QUERY, "database": name} for name in names])
    assert [score["value"] for score in scores] == [1.0, 1.0]


@pytest.mark.parametrize("name", ["../outside.db", "link.db", "{root}/../outside.db"])
def test_a_row_reads_no_database_of_another_folder(rooted: tuple[Running, Path], name: str) -> None:
    server, root = rooted
    rows = [{**QUERY, "database": name.format(root=root)}]
    for params in ({}, {"root": "/"}, {"root": str(root.parent)}, {"root": ".."}):
        (score,) = server.score("sql_reward", rows, params=params)
        assert (score["value"], score["abstained"]) == (None, "bad_database")
        assert "outside of" in score["because"]
        assert "--root" in score["because"] or params


def test_by_default_the_folder_is_where_the_server_was_started(
    server: Running, tmp_path: Path
) -> None:
    database = make_database(tmp_path / "some.db")
    (score,) = server.score("sql_reward", [{**QUERY, "database": str(database)}])
    assert (score["value"], score["abstained"]) == (None, "bad_database")
    assert "assay serve --root" in score["because"]


def test_a_request_cannot_ask_for_less_isolation(rooted: tuple[Running, Path]) -> None:
    server, _ = rooted
    row = {"final_response": "def f(): return 1", "tests": {"fn": "f", "calls": []}}
    body = {"reward": "code_reward", "row": row, "params": {"isolation": "process"}}
    for answer in (
        server.post("/v1/score", body),
        server.http.post(
            "/v1/score",
            params={"reward": "code_reward", "params": '{"isolation": "process"}'},
            content=b"{}\n",
            headers={"content-type": "application/x-ndjson"},
        ),
    ):
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["code"] == "bad_parameter"
        assert "a request cannot set 'isolation'" in answer.json()["error"]["message"]
    assert server.post("/v1/score", {**body, "params": {"isolation": "full"}}).status_code == 200


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this folder does not exist"):
        ServerSettings(root=str(tmp_path / "nowhere"))


def test_a_process_that_is_confined_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_files, "_FOLDERS", [])
    inner = tmp_path / "inner"
    inner.mkdir()
    assert row_file(tmp_path / "any") == tmp_path / "any"
    confine_row_files(inner)
    confine_row_files(tmp_path)
    assert row_file(inner / "some") == inner / "some"
    for name in ("other", tmp_path / "other", inner / ".." / "other"):
        with pytest.raises(FileOutsideFolder, match="--root"):
            row_file(name)
    with pytest.raises(FileOutsideFolder):
        row_file("some", root="/")
    with pytest.raises(FileOutsideFolder, match="the root"):
        row_file(inner / "some", root=str(inner / "deeper"))
