"""What the server answers to whom: headers, names, tokens, twins, artifacts."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from assay.cli.main import main
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Failure, Step
from assay.schema.task import Task
from assay.viewer.links import part
from tests.viewer.conftest import Viewer, serving
from tests.viewer.ledgers import SCRIPT, manifest, png, write_hostile, write_marked


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs_dir = tmp_path_factory.mktemp("runs")
    write_hostile(runs_dir)
    write_marked(runs_dir)
    return runs_dir


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(folder) as url, httpx.Client(base_url=url) as open_client:
        yield open_client


PAGES = (
    "/runs",
    "/runs/marked",
    "/runs/marked/diagnosis",
    "/runs/marked/episodes/marked.r0.a1?step=3",
    "/runs/hostile/episodes/hostile.r0.a1?step=1",
    "/agreement?run=hostile",
    "/compare?base=marked&cand=hostile",
    "/compare/pair?base=marked&cand=marked&task=marked",
    "/rewards",
    "/rewards/qa_f1_reward?c.final_response=Paris&c.answer=Paris",
)


@pytest.mark.parametrize("address", PAGES)
def test_every_page_has_a_twin_in_json_and_names_it(client: httpx.Client, address: str) -> None:
    path, _, query = address.partition("?")
    html = client.get(address)
    assert html.status_code == 200
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    twin = f"{path}.json" + (f"?{query}" if query else "")
    assert f'href="{twin.replace("&", "&amp;")}"' in html.text
    record = client.get(twin)
    assert record.headers["content-type"] == "application/json"
    assert record.content.isascii()
    assert isinstance(record.json(), dict)


@pytest.mark.parametrize("address", [*PAGES, "/runs/nowhere", "/nowhere", "/static/viewer.css"])
def test_every_answer_forbids_what_is_inline_or_from_elsewhere(
    client: httpx.Client, address: str
) -> None:
    answer = client.get(address)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    if answer.headers["content-type"].startswith("text/html"):
        assert " style=" not in answer.text
        assert SCRIPT not in answer.text


def test_the_twin_says_what_the_page_says(client: httpx.Client) -> None:
    record = client.get("/runs/marked/episodes/marked.r0.a1.json?step=2").json()
    assert record["steps"][0]["index"] == 2
    assert record["steps"][0]["scores"][0]["classification"] == "failure"
    assert [cell["mark"] for cell in record["cells"][:4]] == ["reset", "", "failure", "recovered"]
    assert record["next_failure"] == 4


def test_an_artifact_is_never_more_than_a_picture_or_plain_text(
    client: httpx.Client, folder: Path
) -> None:
    hostile, marked = Run(folder / "hostile"), Run(folder / "marked")
    page = hostile.steps("hostile.r0.a1")[1].observation
    answer = client.get(f"/artifacts/hostile/{page}")
    assert SCRIPT in answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    shot = marked.steps("marked.r0.a1")[1].screenshot
    picture = client.get(f"/artifacts/marked/{shot}")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content == png()


@pytest.mark.parametrize(
    "path",
    [
        "/artifacts/marked/manifest.json",
        "/artifacts/marked/..%2f..%2fmanifest",
        f"/artifacts/marked/{'0' * 64}",
        f"/artifacts/..%2fmarked/{'0' * 64}",
        "/artifacts/%2e%2e/x",
        "/runs/..%2f..%2fetc",
        "/runs/%2e%2e/episodes/x",
        "/runs/marked/episodes/..%2f..%2fmanifest",
        "/runs/marked/episodes/nobody",
        "/runs/marked/episodes/marked.r0.a1/record?step=99",
        "/static/..%2fapp.py",
        "/static/../app.py",
        "/rewards/nothing",
        "/compare?base=marked&cand=nowhere",
        "/compare/pair?base=marked&cand=marked&task=nothing",
        "/%00",
        "/runs/%00",
        "/runs/%ff%fe",
    ],
)
def test_what_is_not_there_is_not_found_as_a_page_and_as_json(
    client: httpx.Client, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "name", [b"dots.json", b"latin-\xff", b"a b?c#d%20&e", b"<img src=x onerror=1>", b"new\nline"]
)
def test_a_run_in_a_folder_of_any_name_has_its_pages_and_their_twins(
    client: httpx.Client, folder: Path, name: bytes
) -> None:
    copy = folder / os.fsdecode(name)
    shutil.copytree(folder / "marked", copy)
    address = f"/runs/{part(copy.name)}"
    try:
        assert f'href="{address}"' in client.get("/runs").text
        assert f'href="{address}.json"' in client.get(address).text
        assert client.get(f"{address}.json").json()["run"]["run_id"] == copy.name
        episode = client.get(f"{address}/episodes/marked.r0.a1.json?step=2").json()
        assert episode["steps"][0]["index"] == 2
    finally:
        shutil.rmtree(copy)


def form_of(client: httpx.Client, address: str, **fields: str) -> dict[str, str]:
    """The fields of a reward's form, with the token of its page."""
    token = client.get(f"{address}.json").json()["form_token"]
    return {"form_token": token, "do": "score", **fields}


def test_a_reward_is_tried_by_a_post_with_the_token_of_its_page(client: httpx.Client) -> None:
    address = "/rewards/qa_f1_reward"
    fields = {"c.final_response": "Paris", "c.answer": "Paris"}
    form = form_of(client, address, **fields)
    assert client.post(f"{address}.json", data=form).json()["score"]["value"] == 1.0
    for wrong in ({}, {"form_token": "another"}, {"form_token": "ä"}):
        refused = client.post(address, data={"do": "score", **fields, **wrong})
        assert (refused.status_code, "no valid token" in refused.text) == (400, True)
    asked = client.get(f"{address}.json", params={"do": "score", **fields}).json()
    assert (asked["trial"], asked["score"]) == (None, None)
    assert asked["columns"][0]["value"] == "Paris"


def test_as_much_text_as_the_form_takes_can_be_sent(client: httpx.Client) -> None:
    form = form_of(client, "/rewards/qa_f1_reward", **{"c.final_response": "{" * 20_000})
    assert client.post("/rewards/qa_f1_reward", data=form).status_code == 200


def test_files_that_have_their_version_in_their_name_are_asked_for_once(
    client: httpx.Client,
) -> None:
    caching = client.get("/static/vendor/htmx-2.0.11.min.js").headers["cache-control"]
    assert "immutable" in caching
    assert client.get("/static/viewer.css").headers["cache-control"] == "no-cache"


def test_what_broke_is_a_record_in_the_twin(client: httpx.Client, folder: Path) -> None:
    failure = Failure(kind="agent_error", message="it fell", traceback="line 1")
    with RunWriter.create(folder, manifest("broken")) as writer:
        task = Task(id="broken")
        writer.append(Episode(attempt="broken.r0.a1", task=task, failure=failure))
    ending = client.get("/runs/broken/episodes/broken.r0.a1.json").json()["ending"]
    assert ending["failure"] == {"kind": "agent_error", "message": "it fell", "traceback": "line 1"}


def test_an_error_of_a_twin_is_json(client: httpx.Client) -> None:
    answer = client.get("/runs/nowhere.json")
    assert answer.status_code == 404
    assert "no run 'nowhere'" in answer.json()["error"]["message"]
    wrong = client.get("/runs.json?sort=<script>")
    assert wrong.status_code == 422
    assert wrong.json()["error"]["code"] == "the_address_makes_no_sense"


def test_the_recorded_lines_are_given_as_they_were_written(
    client: httpx.Client, folder: Path
) -> None:
    lines = (folder / "marked" / "steps" / "marked.r0.a1.jsonl").read_bytes().splitlines()
    answer = client.get("/runs/marked/episodes/marked.r0.a1/record?step=3")
    assert answer.content.rstrip() == lines[3]
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    whole = client.get("/runs/marked/episodes/marked.r0.a1/record")
    assert json.loads(whole.content)["attempt"] == "marked.r0.a1"


def test_a_damaged_step_is_told_of_and_hides_no_other(client: httpx.Client, folder: Path) -> None:
    run = write_marked(folder, 5, run_id="damaged")
    path = run.path / "steps" / "marked.r0.a1.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"schema_id": "assay.run/1", "index": "two"}\n'
    path.write_bytes(b"".join(lines))
    at = "/runs/damaged/episodes/marked.r0.a1.json?step="
    for step in (1, 3):
        assert client.get(f"{at}{step}").json()["steps"][0]["index"] == step
    damaged = client.get(f"{at}2")
    assert damaged.status_code == 200
    assert "index" in damaged.json()["problem"]
    lines[2] = b"not JSON\n"
    path.write_bytes(b"".join(lines))
    assert "line 3" in client.get(f"{at}1").json()["problem"]
    assert client.get("/runs/damaged").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({}, 200),
    ],
)
def test_other_sites_cannot_ask_through_a_visitors_browser(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    assert client.get("/runs.json", headers=headers).status_code == status


def test_a_live_page_asks_again_and_is_sent_only_what_is_new(
    client: httpx.Client, folder: Path
) -> None:
    def again(path: str) -> str:
        match = re.search(r'hx-get="([^"]*seen=[^"]*)"', client.get(path).text)
        assert match is not None
        return unescape(match[1])

    episode = "/runs/live/episodes/live.r0.a1"
    with RunWriter.create(folder, manifest("live")) as writer:
        steps = writer.steps("live.r0.a1")
        steps.write(Step(index=0, action=""))
        for path in ("/runs", "/runs/live", episode):
            assert client.get(again(path)).status_code == 204
        seen = again(episode)
        steps.write(Step(index=1, action="x"))
        assert client.get(seen).status_code == 200
    assert "seen=" not in client.get("/runs/live").text


def test_with_a_token_nothing_is_shown_to_those_who_do_not_know_it(folder: Path) -> None:
    token = "a-long-enough-token"
    with serving(folder, "--token", token) as url, httpx.Client(base_url=url) as stranger:
        assert stranger.get("/runs").status_code == 401
        assert stranger.get("/static/viewer.css").status_code == 401
        brought = stranger.get("/runs?sort=mean&token=" + token)
        assert brought.status_code == 303
        assert brought.headers["location"] == "/runs?sort=mean"
        assert "HttpOnly" in brought.headers["set-cookie"]
        assert stranger.get("/runs?sort=mean").status_code == 200


def test_the_folder_of_one_run_opens_the_viewer_at_that_run(folder: Path) -> None:
    with serving(folder / "marked") as url:
        assert url.endswith("/runs/marked")
        assert httpx.get(f"{url}.json").json()["run"]["run_id"] == "marked"


def test_a_bind_that_others_can_reach_needs_a_token(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(folder), "--host", "0.0.0.0"]) == 2
    assert "a token is needed" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_to_be(
    folder: Path, client: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(folder), "--port", str(client.base_url.port)]) == 2
    assert f"port {client.base_url.port} of 127.0.0.1 is taken" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(tmp_path / "nowhere")]) == 2
    assert "`assay run` makes one" in capsys.readouterr().err


def test_the_real_run_has_the_same_numbers_in_the_twin_as_in_the_ledger(viewer: Viewer) -> None:
    run = Run(viewer.ledger.folder / viewer.ledger.cut)
    record = httpx.get(viewer.at(f"/runs/{viewer.ledger.cut}.json")).json()
    rewards = {item["attempt"]: item["reward"] for item in record["episodes"]}
    assert rewards == {episode.attempt: float(episode.scores[0]) for episode in run.final()}


@pytest.mark.parametrize("length", [256, 300, 5_000])
def test_a_name_that_no_file_can_have_is_not_found(client: httpx.Client, length: int) -> None:
    name = "x" * length
    for path in (f"/runs/{name}", f"/runs/{name}/episodes/a", f"/artifacts/{name}/{'0' * 64}"):
        assert client.get(path).status_code == 404, path
