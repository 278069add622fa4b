"""The small parts: text made visible, colours, pictures, cache, windows, liveness, the index."""

from __future__ import annotations

import hashlib
import os
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadRecord
from assay.ledger.index import LedgerIndex
from assay.ledger.lock import is_being_written
from assay.ledger.run import Run
from assay.ledger.steps import StepsWriter, read_summaries, read_window
from assay.ledger.writer import RunWriter
from assay.report.alignment import align
from assay.schema.episode import Episode, Step
from assay.schema.score import Scored
from assay.schema.task import Task
from assay.schema.usage import Usage
from assay.viewer.links import part
from assay.viewer.lru_cache import LruCache
from assay.viewer.pages.records import cut_text
from assay.viewer.pages.runs import RunsQuery, runs_page
from assay.viewer.pages.step import PictureSize, Rectangle, is_on, picture_kind, picture_size
from assay.viewer.rendering import brief, spaces, visible
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import RibbonSegment, bars, overview, reward_shade, shade, signed
from tests.viewer.ledgers import SCORER, manifest, png, write_marked

VENDOR = Path(__file__).parents[2] / "src" / "assay" / "viewer" / "static" / "vendor"


def test_what_is_vendored_is_what_its_projects_published() -> None:
    entries = tomllib.loads((VENDOR / "VENDORED.toml").read_text("utf-8"))["file"]
    for entry in entries:
        data = (VENDOR / entry["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"]
        assert entry["version"] in entry["file"]
        assert (VENDOR / entry["licence_file"]).is_file()
    files = {name for entry in entries for name in (entry["file"], entry["licence_file"])}
    assert {path.name for path in VENDOR.iterdir()} == files | {"VENDORED.toml"}


@pytest.mark.parametrize(
    ("text", "seen", "why"),
    [
        ("a\tb\nc", "a\tb\nc", "tabs and line breaks show as what they are"),
        ("a\r\nb", "a\nb", "the other line break is one too"),
        ("\x1b[31m", "␛[31m", "an escape sequence is text"),
        ("\x00\x7f", "␀␡", "controls have pictures"),
        ("\u202egpj", "⟨U+202E⟩gpj", "nothing reorders the text"),
        ("a\u200bb", "a⟨U+200B⟩b", "nothing hides in it"),
        ("\ud800", "⟨U+D800⟩", "half a character can be sent"),
        ("a\U000e0041", "a⟨U+E0041⟩", "no text is smuggled in tags"),
        ("a\ufe01\U000e0101", "a⟨U+FE01⟩⟨U+E0101⟩", "nor in selectors"),
        ("\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩", "a letter that is blank is no space"),
        ("❤\ufe0f", "❤\ufe0f", "a coloured sign stays"),
        ("é 漢 😀", "é 漢 😀", "every script stays"),
    ],
)
def test_text_is_made_visible(text: str, seen: str, why: str) -> None:
    assert visible(text) == seen, why


@given(st.text(st.characters()))
def test_visible_text_can_always_be_sent_and_stays_as_it_is(text: str) -> None:
    once = visible(text)
    once.encode("utf-8")
    assert visible(once) == once


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("20261115-050204-38fbd1", "20261115-050204-38fbd1"),
        ("a b?c#d/e", "a%20b%3Fc%23d%2Fe"),
        ("x.json", "x%2Ejson"),
        (os.fsdecode(b"latin-\xff"), "latin-%FF"),
    ],
)
def test_any_name_is_one_part_of_an_address(name: str, sent: str) -> None:
    assert part(name) == sent


def test_a_long_name_is_cut_and_says_how_long_it_is() -> None:
    assert brief("short") == "short"
    assert brief("x" * 3_000, 4) == "xxxx… (3,000 characters)"


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert cut_text("abcdef", 4).left_out == 2
    assert cut_text("abc", 4).left_out == 0


ORDER = ("n4", "n3", "n2", "n1", "z", "p1", "p2", "p3", "p4")


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_a_better_score_never_looks_worse(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert ORDER.index(shade(low)) <= ORDER.index(shade(high))


@given(st.floats(-1, 1))
def test_the_sign_of_a_score_is_the_side_of_its_colour(value: float) -> None:
    side = shade(value)[0]
    assert side == ("z" if abs(value) < 0.0005 else "p" if value > 0 else "n")
    assert shade(-value)[1:] == shade(value)[1:]


def test_no_score_has_no_colour_and_zero_has_no_sign() -> None:
    assert shade(None) == "none" == reward_shade(None)
    assert (signed(0.0), signed(-0.0001), signed(-0.5), signed(None)) == (
        "0.000", "0.000", "−0.500", "—",
    )  # fmt: skip


def test_a_bar_goes_up_for_a_gain_and_down_for_a_loss() -> None:
    parts = [
        RibbonSegment(0, 0, None, "none", 0),
        RibbonSegment(1, 1, 1.0, "p4", 0),
        RibbonSegment(2, 2, -0.5, "n3", 1),
    ]
    assert dict(bars(parts, 8, 11)) == {
        "none": "M0 10.0h7v1.0h-7z",
        "p4": "M8 0.0h7v11.0h-7z",
        "n3": "M16 11.0h7v6.0h-7z",
    }


@pytest.mark.parametrize(
    ("data", "kind", "size"),
    [
        (png(30, 20), "image/png", PictureSize(30, 20)),
        (png(30, 20)[:20], "image/png", None),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x10\x00\x20\x03", "image/jpeg", PictureSize(32, 16)),
        (b"\xff\xd8\xff\xe0\x00\x00", "image/jpeg", None),
        (b"\xff\xd8" + b"\xff\xe0\x00\x02" * 5_000, "image/jpeg", None),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", None),
        (b"<svg onload=alert(1)>", None, None),
        (b"<!doctype html>", None, None),
        (b"", None, None),
    ],
)
def test_a_picture_is_what_its_bytes_say(
    data: bytes, kind: str | None, size: PictureSize | None
) -> None:
    assert picture_kind(data) == kind
    assert picture_size(data) == size


@pytest.mark.parametrize(
    ("box", "seen"),
    [
        (Rectangle(10, 10, 20, 8), True),
        (Rectangle(-5, -5, 6, 6), True),
        (Rectangle(10, 900, 20, 8), False),
        (Rectangle(-30, 10, 20, 8), False),
    ],
)
def test_a_box_outside_of_the_picture_is_not_shown_on_it(box: Rectangle, seen: bool) -> None:
    assert is_on(box, PictureSize(64, 48)) is seen


def test_the_cache_is_bounded_by_weight_and_drops_the_oldest() -> None:
    cache: LruCache[str] = LruCache(10, len)
    for key, value in (("a", "xxxx"), ("b", "xxxx"), ("a", "yyyy"), ("c", "xxxx")):
        cache.put(key, value)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("yyyy", None, "xxxx")
    cache.put("huge", "x" * 11)
    assert cache.get("huge") is None


def test_what_two_ask_for_at_once_is_made_once() -> None:
    cache: LruCache[str] = LruCache(10)
    calls: list[str] = []

    def make() -> str:
        calls.append("x")
        return "value"

    with_it = [threading.Thread(target=cache.get_or_make, args=("key", make)) for _ in range(8)]
    for thread in with_it:
        thread.start()
    for thread in with_it:
        thread.join()
    assert calls == ["x"]


def test_a_window_reads_the_steps_that_it_is_asked_for(tmp_path: Path) -> None:
    run = write_marked(tmp_path, 30)
    path = run.path / "steps" / "marked.r0.a1.jsonl"
    gists = read_summaries(path)
    assert len(gists) == 30
    assert read_window(path, gists, 20, 23) == run.steps("marked.r0.a1")[20:23]
    assert read_summaries(path, gists[:11]) == gists
    assert [part.first for part in overview(gists, 4)] == [0, 8, 16, 24]
    assert gists[2].classification == "failure"
    assert read_summaries(tmp_path / "nowhere.jsonl") == ()


def test_a_damaged_step_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text('{"schema_id": "assay.run/1", "scores": 3}\n{"x": 1}\n')
    with pytest.raises(BadRecord, match="line 2"):
        read_summaries(path)


def test_a_summary_reads_what_only_the_slower_reader_can(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    with StepsWriter(path) as steps:
        steps.write(Step(index=0, action="\ud800", reward=0.5))
    assert read_summaries(path)[0].reward == 0.5


def test_a_steps_file_that_grows_is_read_on_and_one_that_was_replaced_anew(
    tmp_path: Path,
) -> None:
    run = write_marked(tmp_path, 6)
    path = run.path / "steps" / "marked.r0.a1.jsonl"
    reader = RunsReader(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    assert len(reader.step_summaries("marked", "marked.r0.a1")) == 3
    with path.open("ab") as stream:
        stream.write(b"".join(lines[3:]))
    assert len(reader.step_summaries("marked", "marked.r0.a1")) == 6
    path.write_bytes(b"".join(lines[:2]))
    assert len(reader.step_summaries("marked", "marked.r0.a1")) == 2


def test_a_run_is_live_while_its_writer_holds_it(tmp_path: Path) -> None:
    elsewhere = tmp_path / "no list of locks"
    with RunWriter.create(tmp_path, manifest("live")) as writer:
        assert is_being_written(writer.path)
        assert is_being_written(writer.path, locks=elsewhere), "the process that is named is alive"
    assert not is_being_written(writer.path)
    assert not is_being_written(tmp_path / "nowhere")
    (writer.path / "writer.lock").write_text("process 7 on another-machine\n")
    assert not is_being_written(writer.path, locks=elsewhere)


def finish(writer: RunWriter, task: str, reward: float, usage: Usage, repeat: int = 0) -> None:
    record = Task(id=task)
    writer.append(
        Episode(
            attempt=writer.new_attempt(record, repeat),
            task=record,
            repeat=repeat,
            scores=(Scored(reward, scorer=SCORER),),
            usage=usage,
            elapsed_s=2.0,
        )
    )


def test_the_index_adds_up_time_and_cost_and_makes_up_no_price(tmp_path: Path) -> None:
    head = {"commit": "d4b692e123", "dirty": "x"}
    with RunWriter.create(tmp_path, manifest("priced", **head)) as writer:
        finish(writer, "a", 1.0, Usage(1, 1, 0.25, 1))
        finish(writer, "a", 0.0, Usage(1, 1, 0.5, 1), repeat=1)
        finish(writer, "b", 1.0, Usage())
    with RunWriter.create(tmp_path, manifest("unpriced")) as writer:
        finish(writer, "a", 1.0, Usage(1, 1, 0.25, 1))
        finish(writer, "b", 1.0, Usage(1, 1, None, 1))
    with RunWriter.create(tmp_path, manifest("no-model")) as writer:
        finish(writer, "a", 1.0, Usage())
    index = LedgerIndex(tmp_path)
    rows = {row.run_id: row for row in index.runs()}
    assert rows["priced"].cost_usd == 0.75
    assert rows["priced"].elapsed_s == 6.0
    assert rows["priced"].commit == "d4b692e+"
    assert rows["unpriced"].cost_usd is None
    assert rows["no-model"].cost_usd is None
    assert [task.mean for task in index.tasks("priced")] == [0.5, 1.0]


def test_a_folder_that_cannot_be_written_is_shown_from_any_thread(tmp_path: Path) -> None:
    write_marked(tmp_path)
    reader = RunsReader(tmp_path)
    # A folder in the index's place stands for a file system that takes no files.
    (tmp_path / "index.sqlite").mkdir()
    totals: list[int] = []

    def ask() -> None:
        totals.append(runs_page(reader, RunsQuery(), reader.runs())["total"])

    for _ in range(2):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert totals == [1, 1]


def test_a_run_reads_one_attempt_without_its_steps(tmp_path: Path) -> None:
    run: Run = write_marked(tmp_path)
    stored = run.stored("marked.r0.a1")
    assert stored.steps.n == 12
    assert stored.episode.trajectory.steps == ()
    assert run.line("marked.r0.a1").startswith(b'{"schema_id"')
    with pytest.raises(BadRecord, match="no finished attempt"):
        run.stored("nobody")


def test_spaces_at_the_ends_of_a_form_are_seen() -> None:
    assert spaces(" 42  ") == "␣42␣␣"
    assert spaces("a b\n\t42\xa0") == "a b↵\n⇥42⟨U+00A0⟩"
    assert spaces("  ") == "␣␣"


def test_two_numbers_are_not_compared_by_their_tokens() -> None:
    (near,) = align("41.9", "42")
    assert near.numbers
    (words,) = align("the Rowers", "Rowers")
    assert not words.numbers
    (missing,) = align(None, "42")
    assert not missing.numbers
