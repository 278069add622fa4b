"""Labels over HTTP: written by the viewer's own pages alone, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from assay.cli.main import main
from assay.ledger.labels import read_labels
from assay.viewer.links import ServerLinks
from assay.viewer.pages.episode import EpisodeQuery, episode_page
from assay.viewer.rendering import Templates
from assay.viewer.runs_reader import RunsReader
from tests.viewer.conftest import serving
from tests.viewer.ledgers import HOSTILE, SCRIPT, write_hostile, write_marked

ATTEMPT = "marked.r0.a1"
AT = "/runs/marked/labels"
EPISODE = f"/runs/marked/episodes/{ATTEMPT}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs_dir = tmp_path_factory.mktemp("runs")
    write_marked(runs_dir)
    write_hostile(runs_dir)
    return runs_dir


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(folder) as url, httpx.Client(base_url=url) as open_client:
        yield open_client


@pytest.fixture(autouse=True)
def _without_labels(folder: Path) -> Iterator[None]:
    yield
    (folder / "marked" / "labels.jsonl").unlink(missing_ok=True)


def test_a_label_is_kept_and_leads_back_to_its_page(client: httpx.Client, folder: Path) -> None:
    form = {"attempt": ATTEMPT, "value": "wrong", "note": HOSTILE[:-2], "here": "3"}
    answer = client.post(AT, data=form)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"{EPISODE}?step=3"
    (label,) = read_labels(folder / "marked").labels
    assert (label.value, label.step, bool(label.at)) == ("wrong", None, True)
    assert label.note.startswith(SCRIPT)
    page = client.get(EPISODE).text
    assert "✗ wrong" in page
    assert SCRIPT not in page
    assert client.get(f"{EPISODE}.json").json()["labels"][0]["value"] == "wrong"
    assert client.post(AT, data={**form, "step": "2"}).headers["location"].endswith("step=2")
    assert read_labels(folder / "marked").of(ATTEMPT, 2)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"attempt": ATTEMPT, "value": "good"}, 400),
        ({"attempt": ATTEMPT}, 400),
        ({"attempt": ATTEMPT, "value": "right", "step": "x"}, 400),
        ({"attempt": ATTEMPT, "value": "right", "author": "somebody else"}, 400),
        ({"attempt": ATTEMPT, "value": "right", "note": "x" * 4_001}, 400),
        ({"attempt": ATTEMPT, "value": "right", "step": "99"}, 404),
        ({"attempt": "nobody", "value": "right"}, 404),
        ({"attempt": "../hostile", "value": "right"}, 400),
        ({"attempt": ATTEMPT, "value": "right", "note": "x" * 70_000}, 400),
        ({"attempt": ATTEMPT, "value": "right", "note": "x" * 1_100_000}, 413),
    ],
)
def test_what_is_no_label_is_refused(
    client: httpx.Client, folder: Path, form: dict[str, str], status: int
) -> None:
    assert client.post(AT, data=form).status_code == status
    assert not (folder / "marked" / "labels.jsonl").exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 421),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 400),
        ({"content-type": "application/json"}, 400),
    ],
)
def test_no_other_site_can_write_through_a_visitors_browser(
    client: httpx.Client, folder: Path, headers: dict[str, str], status: int
) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    body = f"attempt={ATTEMPT}&value=right"
    answer = client.post(AT, content=body, headers={**kind, **headers})
    assert answer.status_code == status
    assert not (folder / "marked" / "labels.jsonl").exists()


def test_only_a_post_writes(client: httpx.Client, folder: Path) -> None:
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
        address = f"{AT}?attempt={ATTEMPT}&value=right"
        assert client.request(method, address).status_code in (404, 405)
    assert client.post("/runs/nowhere/labels", data={"attempt": "a", "value": "right"}).is_error
    assert client.post("/runs/..%2fmarked/labels", data={"attempt": "a", "value": "right"}).is_error
    assert not (folder / "marked" / "labels.jsonl").exists()


def test_who_does_not_know_the_token_writes_nothing(folder: Path) -> None:
    form = {"attempt": ATTEMPT, "value": "right"}
    token = "a-long-enough-token"
    with serving(folder, "--token", token) as url, httpx.Client(base_url=url) as stranger:
        assert stranger.post(AT, data=form).status_code == 401
        assert stranger.post(f"{AT}?token={token}", data=form).status_code == 401
        knows = {"authorization": f"Bearer {token}"}
        assert stranger.post(AT, data=form, headers=knows).status_code == 303
    assert len(read_labels(folder / "marked").labels) == 1


def test_a_read_only_ledger_says_so_and_offers_no_form(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.ledger.labels.os.access", lambda *_: False)
    page = episode_page(RunsReader(folder), "marked", ATTEMPT, EpisodeQuery(step=1))
    html = Templates().render("episode.html", page, ServerLinks(), twin="", poll="")
    assert "This folder cannot be written" in html
    assert "<form" not in html


def test_an_exported_file_shows_labels_and_has_no_form(client: httpx.Client, folder: Path) -> None:
    client.post(AT, data={"attempt": ATTEMPT, "value": "wrong", "note": "kept"})
    client.post(AT, data={"attempt": ATTEMPT, "value": "right", "step": "2"})
    file = folder.parent / "one.html"
    assert main(["export", "marked", "--html", str(file), "--runs", str(folder)]) == 0
    text = file.read_text()
    assert "✗ wrong: kept" in text
    assert "✓ right" in text
    assert "<form" not in text
    assert "<button" not in text


def test_the_page_of_agreement_shows_hostile_notes_as_text(client: httpx.Client) -> None:
    page = client.get("/agreement?run=hostile")
    assert page.status_code == 200
    assert SCRIPT not in page.text
    assert "kappa" in page.text
    record = client.get("/agreement.json?run=hostile").json()
    assert {row["of"] for row in record["rewards"]} == {"attempt", "step"}
    assert record["rewards"][0]["right_unpaid"] == 1
    assert client.get("/agreement").status_code == 200
    assert client.get("/agreement?run=nowhere").status_code == 404
    assert client.get("/agreement?at=nan").status_code == 422
