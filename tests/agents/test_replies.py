"""Reading a model's reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.research.actions import ACTIONS, Decision, UnreadableReply, read_reply
from assay.schema.action import ActionCall


@pytest.mark.parametrize(
    ("reply", "call"),
    [
        ('ACTION: click\nPARAMS: {"id": "12"}', ActionCall("click", ("12",))),
        ('I see.\n\n**ACTION:** click\n**PARAMS:** {"id": 12}', ActionCall("click", ("12",))),
        (
            'ACTION: fill\nPARAMS: ```json\n{"text": "x", "id": "5"}\n```',
            ActionCall("fill", ("5", "x")),
        ),
        ('ACTION: fill\nPARAMS: ["5", "x"]', ActionCall("fill", ("5", "x"))),
        ("ACTION: back", ActionCall("back")),
        ("ACTION: back\nPARAMS: {}", ActionCall("back")),
        ('ACTION: click\nPARAMS: {"id": "1"}\nThen it opens.', ActionCall("click", ("1",))),
        ('ACTION: click\nPARAMS: {"id": "1"}\nNo:\nACTION: back', ActionCall("back")),
        ('ACTION: answer\nPARAMS: {"text": 14.2}', ActionCall("answer", ("14.2",))),
        ('ACTION: answer\nPARAMS: {"text": ["a", "b"]}', ActionCall("answer", ('["a", "b"]',))),
        ('Let us go.\nclick("12")', ActionCall("click", ("12",))),
        ('```\ngoto("http://a.b/")\n```', ActionCall("goto", ("http://a.b/",))),
        ('`click("12")`.', ActionCall("click", ("12",))),
        ('answer("one\ntwo")', ActionCall("answer", ("one\ntwo",))),
        ('answer("say\nclick(1)\nnow")', ActionCall("answer", ("say\nclick(1)\nnow",))),
    ],
)
def test_an_action_is_found_however_the_model_writes_it(reply: str, call: ActionCall) -> None:
    decision = read_reply(reply)
    assert isinstance(decision, Decision)
    assert decision.call == call


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("", "names no action"),
        ("I would click on 12.", "names no action"),
        ("ACTION: fly\nPARAMS: {}", "no action 'fly'; the actions are click"),
        ("ACTION: click", 'PARAMS: {"id": "12"}'),
        ("ACTION: click\nPARAMS: {id: 12}", "not valid JSON"),
        ("ACTION: click\nPARAMS: " + "[" * 200_000, "not valid JSON"),
        ('ACTION: click\nPARAMS: {"bid": "12"}', "look like"),
        ('ACTION: fill\nPARAMS: {"id": "12"}', "look like"),
        ('click("12", "13")', "takes id"),
        ('back("12")', "takes no parameters"),
        ('click("12")\nand then I read', "not the last thing"),
        ('answer("never closed', "incomplete"),
    ],
)
def test_a_reply_without_an_action_says_what_is_wrong(reply: str, says: str) -> None:
    read = read_reply(reply)
    assert isinstance(read, UnreadableReply)
    assert says in read.because


def test_what_comes_before_the_action_is_the_thought() -> None:
    decision = read_reply('The table is cut.\n\nACTION: click\nPARAMS: {"id": "3"}')
    assert isinstance(decision, Decision)
    assert decision.think == "The table is cut."


@given(st.text(), st.sampled_from(sorted(ACTIONS)))
def test_reading_never_raises(text: str, name: str) -> None:
    for reply in (text, f"ACTION: {name}\nPARAMS: {text}", f"{name}({text}", f"{name}({text})"):
        read_reply(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "click(\n" * 150_000,
        'answer("' * 150_000,
        "ACTION: click\n" * 70_000,
        "ACTION: click\nPARAMS:" + " " * 1_000_000,
        " " * 1_000_000 + "ACTION",
        "PARAMS: " * 130_000,
    ],
)
def test_a_megabyte_of_nonsense_is_read_in_one_go(reply: str) -> None:
    assert isinstance(read_reply(reply), UnreadableReply)
