"""A step: what the agent was shown of it, and what text environments say of theirs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.ledger.writer import RunWriter
from assay.report.diagnosis import diagnose
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.message import Message
from assay.schema.task import Task
from assay.viewer.links import ServerLinks
from assay.viewer.pages.conversation import diff_view, message_views
from assay.viewer.pages.episode import EpisodeQuery, episode_page, window_page
from assay.viewer.pages.records import PageRecord
from assay.viewer.rendering import Templates
from assay.viewer.runs_reader import RunsReader
from assay.viewer.words import code_sentence, event_sentences
from tests.report.ledgers import write_run
from tests.viewer.ledgers import CUT_AT, PAGE_LINES, manifest, write_marked, write_talked


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> RunsReader:
    folder = tmp_path_factory.mktemp("runs")
    write_talked(folder)
    write_marked(folder)
    return RunsReader(folder)


def page(reader: RunsReader, attempt: str, step: int) -> PageRecord:
    run = "marked" if attempt.startswith("marked") else "talked"
    return episode_page(reader, run, attempt, EpisodeQuery(step=step))


def talk(reader: RunsReader, step: int) -> PageRecord:
    result = page(reader, "pages.r0.a1", step)["steps"][0]["talk"]
    assert isinstance(result, dict)
    return result


def test_a_step_has_what_was_shown_what_was_replied_and_what_came_back(reader: RunsReader) -> None:
    first = talk(reader, 1)
    assert [message["role"] for message in first["shown"]] == ["system", "user"]
    (reply,) = first["replies"]
    assert [(piece.kind, piece.text.text) for piece in reply["pieces"]] == [
        ("text", "I scroll."),
        ("code", "scroll()"),
    ]
    assert [(call["id"], call["name"]) for call in reply["calls"]] == [("c1", "scroll")]
    (result,) = first["result"]
    assert (result["role"], result["name"], result["call_id"]) == ("tool", "scroll", "c1")
    last = talk(reader, 2)
    assert last["result"] == []
    assert last["n_before"] == 3
    assert talk(reader, 0)["shown"] == []
    assert [message["role"] for message in talk(reader, 0)["result"]] == ["user"]


def test_what_was_cut_is_marked_with_what_is_missing_there(reader: RunsReader) -> None:
    for message in (talk(reader, 1)["result"][0], talk(reader, 2)["shown"][0]):
        shown, gap = message["pieces"]
        assert shown.text.text.endswith(PAGE_LINES[CUT_AT - 1])
        assert gap.kind == "cut"
        assert "characters not shown" in gap.about
        assert gap.text.text == "\n".join(PAGE_LINES[CUT_AT:])


def test_a_payload_that_was_cut_in_the_middle_is_filled_in_there() -> None:
    whole = "head of it\n" + "abcdefghij" * 50 + "\n\nthe page goes on"
    shown = "head of it\n" + "abcdefghij" * 20 + "\n… 300 characters not shown; ask for less"
    message = Message(role="user", content=shown + "\n\nthe page goes on")
    (view,) = message_views([message], most=10_000, whole=lambda: whole)
    assert [piece.kind for piece in view["pieces"]] == ["text", "cut", "text"]
    assert len(view["pieces"][1].text.text) >= 300
    (other,) = message_views([message], most=10_000, whole=lambda: "another text")
    assert other["pieces"][1].text.text == ""


def test_what_was_shown_is_compared_with_the_step_before(reader: RunsReader) -> None:
    diff = talk(reader, 2)["diff"]
    assert diff is not None
    assert (diff["removed"], diff["lines"][0]["text"]) == (1, "old")
    assert diff["added"] == CUT_AT - 1 + 1
    assert talk(reader, 1)["diff"] is None


def test_comparing_is_bounded_however_alike_the_lines_are() -> None:
    started = time.process_time()
    assert diff_view("a\nb\n" * 200, "b\na\n" * 200) is not None
    assert diff_view("a\n" * 500, "b\n" * 500) is None
    assert time.process_time() - started < 2.0


def test_json_is_folded_with_what_it_holds() -> None:
    (view,) = message_views([Message(role="tool", content='{"a": [1, 2], "b": {}}')], most=1_000)
    (piece,) = view["pieces"]
    assert (piece.kind, piece.about) == ("json", "an object with 2 members: a, b")
    assert piece.text.text.startswith('{\n  "a": [')
    (broken,) = message_views([Message(role="tool", content='{"a": ')], most=1_000)
    assert broken["pieces"][0].kind == "text"
    (deep,) = message_views([Message(role="tool", content="[" * 50_000)], most=100)
    assert deep["pieces"][0].text.left_out == 49_900


def test_events_are_said_in_words_the_bad_ones_marked(reader: RunsReader) -> None:
    events = dict(page(reader, "pages.r0.a1", 1)["steps"][0]["events"])
    assert events == {
        "the site answered 404: there is no such page": True,
        "a redirect on the way to the page": False,
        "2 requests had no answer yet when the page was read": True,
        "the field does not hold what was put into it": True,
    }
    assert event_sentences(None) == event_sentences({"status": "x", "tabs": True}) == ()
    assert code_sentence("error", "stale_ref") == "the element reference was stale"
    assert code_sentence("anything") == ""


def test_a_text_environment_speaks_its_own_language(reader: RunsReader) -> None:
    shown = page(reader, "shop.r0.a1", 2)
    world = shown["steps"][0]["world"]
    assert world is not None
    assert world["nothing"]
    assert world["actions"][:2] == ("back to search", "b01")
    assert [cell.mark for cell in shown["cells"]] == ["reset", "", "nothing", ""]
    assert shown["cells"][2].label == "step 2, no score, nothing happened"
    assert shown["world"] is not None
    assert shown["world"]["points"] == [(3, 0.5)]
    assert page(reader, "shop.r0.a1", 1)["next_failure"] == 2
    last = page(reader, "shop.r0.a1", 3)["steps"][0]["world"]
    assert last is not None
    assert not last["nothing"]
    assert ("attributes that fit", "a") in last["facts"]
    assert page(reader, "marked.r0.a1", 2)["world"] is None


def test_advice_is_that_of_the_kind_of_world(reader: RunsReader) -> None:
    finding = page(reader, "shop.r0.a1", 1)["finding"]
    assert finding is not None
    assert finding.cause == "goal_not_reached"
    assert finding.evidence[0].text == (
        "the product differs from the goal: 1 of 2 attributes fit, the price is too high"
    )
    assert "before buying" in finding.suggestion
    (row,) = [each for each in diagnose(reader.runs_dir / "talked").causes if each.attempts == 1][
        :1
    ]
    assert row.suggestion


def test_a_file_tells_what_came_back_once(reader: RunsReader) -> None:
    steps = window_page(reader, "talked", "pages.r0.a1")["steps"]
    assert [bool(step["talk"] and step["talk"]["shown"]) for step in steps] == [False, True, True]
    assert [bool(step["talk"] and step["talk"]["result"]) for step in steps] == [
        False,
        False,
        False,
    ]


def test_a_conversation_that_does_not_fit_the_steps_is_not_guessed_at(tmp_path: Path) -> None:
    write_marked(tmp_path)
    shown = episode_page(RunsReader(tmp_path), "marked", "marked.r0.a1", EpisodeQuery(step=1))
    assert shown["steps"][0]["talk"] is None


def test_an_address_without_a_step_opens_where_the_cause_shows(reader: RunsReader) -> None:
    lost = episode_page(reader, "talked", "shop.r0.a1", EpisodeQuery())
    assert lost["finding"] is not None
    assert lost["step"] == lost["finding"].evidence[0].step
    assert lost["step"] != 1
    assert episode_page(reader, "marked", "marked.r0.a1", EpisodeQuery())["step"] == 1


def test_a_refused_reply_is_named_beside_what_was_done_instead(tmp_path: Path) -> None:
    refused = "I look there.\nreply refused (1 of 3 in a row): example.org does not work here"
    steps = (Step(index=0, action=""), Step(index=1, action="noop()", think=refused))
    with RunWriter.create(tmp_path, manifest("run")) as writer:
        task = Task(id="t", answer="x")
        trajectory = Trajectory(steps=steps)
        writer.append(Episode(attempt="t.r0.a1", task=task, trajectory=trajectory))
    shown = episode_page(RunsReader(tmp_path), "run", "t.r0.a1", EpisodeQuery(step=1))
    assert shown["steps"][0]["refused"] == "example.org does not work here"


def test_an_attempt_leads_to_the_run_before_and_to_the_next_that_lost(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", {"a": 1.0, "b": 0.5, "gone": 1.0})
    write_run(tmp_path, "run-2", {"a": 0.0, "new": 1.0, "b": 0.25})
    reader = RunsReader(tmp_path)
    first, new, last = (row.attempt for row in reader.attempts("run-2"))
    around = [
        episode_page(reader, "run-2", attempt, EpisodeQuery())["around"]
        for attempt in (first, new, last)
    ]
    assert [
        (each["before"], each["before_reward"], each["next_task"]) for each in around if each
    ] == [
        ("run-1", 1.0, "b"),
        (None, None, "b"),
        ("run-1", 0.5, ""),
    ]
    page = episode_page(reader, "run-2", first, EpisodeQuery())
    html = Templates().render("episode.html", page, ServerLinks(), twin="", poll="")
    assert "/compare/pair?base=run-1&amp;cand=run-2&amp;task=a" in html
    assert window_page(reader, "run-2", first)["around"] is None
