"""The pages as files, as tasks, and as an observation reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.browser.drive.miniwob.pages import PAGES, find_pages, read_page
from assay.browser.drive.miniwob.pages import tasks as miniwob
from assay.errors import BadParameter, BadRecord, MissingExtra
from tests.browser.miniwob.oracle import POLICIES, read_view

TEXT = """goal: Enter "a" and "b".
url: http://miniwob.localhost/miniwob/x.html
title: X

[1] clickable "say \\"hi\\" [9] button" [2] button "OK"
[3] textbox "" value="one [two"
table
  row Last name | Reynolds
  row Year | [4] textbox ""
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that has what the pages' folder has, and a secret beside it."""
    root = tmp_path / "html"
    for name in ("core/core.js", "miniwob/click-test.html"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (tmp_path / "secret").write_text("no")
    return root.resolve()


def test_the_folder_given_comes_before_the_variable(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_MINIWOB", "/nowhere")
    assert find_pages(str(site)) == site
    with pytest.raises(MissingExtra, match="'/nowhere' does not hold"):
        find_pages()
    monkeypatch.setenv("ASSAY_MINIWOB", str(site))
    assert find_pages() == site


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/miniwob/click-test.html", b"miniwob/click-test.html"),
        ("core/core.js", b"core/core.js"),
        ("/missing.html", None),
        ("/core", None),
        ("/../secret", None),
        ("/core/../../secret", None),
        ("//etc/passwd", None),
    ],
)
def test_a_path_reads_a_file_of_the_site_and_no_other(
    site: Path, path: str, body: bytes | None
) -> None:
    file = read_page(site, path)
    assert (None if file is None else file.body) == body


def test_there_is_a_task_for_each_page_and_seed() -> None:
    listed = miniwob(seed=4, episodes=2)
    assert len(listed) == 2 * len(PAGES) == 250
    assert [task.id for task in listed[:2]] == ["ascending-numbers/4", "ascending-numbers/5"]
    assert len({task.id for task in listed}) == len(listed)
    assert set(POLICIES) <= set(PAGES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pages": ["click-lnk"]}, "did you mean 'click-link'"),
        ({"pages": [7]}, "no page 7"),
        ({"seed": -1}, "seed must be >= 0"),
        ({"seed": True}, "seed must be >= 0"),
        ({"episodes": 0}, "episodes >= 1"),
    ],
)
def test_tasks_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        miniwob(**options)  # type: ignore[arg-type]  # as configuration would pass them


def test_an_observation_is_read_back() -> None:
    view = read_view(TEXT)
    assert (view.goal, view.quoted()) == ('Enter "a" and "b".', ["a", "b"])
    assert [(e.ref, e.role, e.name) for e in view.elements] == [
        ("1", "clickable", 'say "hi" [9] button'),
        ("2", "button", "OK"),
        ("3", "textbox", ""),
        ("4", "textbox", ""),
    ]
    assert view.elements[2].value == "one [two"
    assert view.rows() == {"Last name": "Reynolds", "Year": '[4] textbox ""'}
    assert view.named("OK", "link") is None


def test_an_observation_of_another_world_is_not_read() -> None:
    with pytest.raises(BadRecord, match="names no goal"):
        read_view("You are in a room.\n\nIt is dark.")
