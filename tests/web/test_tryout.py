"""A reward is tried in a process of its own, which is stopped at its time."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.errors import BadParameter
from assay.isolation.processes import list_family
from assay.registry import REWARDS, find_reward
from assay.viewer.audits import Audits
from assay.viewer.pages.records import PageRecord
from assay.viewer.pages.rewards import reward_page
from assay.web.tryout import RewardTryout

TRIED = """
import os, re, subprocess, sys
from assay.registry import reward
from assay.schema.score import Scored

@reward
def tried_well(final_response, answer, *, bonus=0.0):
    print("noise")
    return Scored(float(final_response == answer) + bonus, "as it is", {"n": 2}, {"o": "\\ud800"})

@reward
def tried_loop(final_response, answer):
    while True:
        pass

@reward
def tried_regex(final_response, answer):
    return bool(re.match("(a+)+$", "a" * 60 + "b"))

@reward
def tried_family(final_response, answer):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    while True:
        pass

@reward
def tried_memory(final_response, answer):
    return len(bytearray(10**10))

@reward
def tried_exit(final_response, answer):
    sys.stderr.write("the reward left")
    os._exit(3)

@reward
def tried_objects(final_response, answer):
    return Scored(1.0, notes={"object": object})

@reward
def tried_error(final_response, answer):
    return 1 / 0
"""


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., PageRecord]]:
    """The page of a reward of the module above, after it was tried."""
    monkeypatch.setattr(REWARDS, "_objects", dict(REWARDS._objects))
    (tmp_path / "tried_rewards.py").write_text(TRIED)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("tried_rewards")

    def page(name: str, limit_s: float = 60.0, **form: str) -> PageRecord:
        fields = {"do": "score", "c.final_response": "a", "c.answer": "a"}
        fields |= {key.replace("_", ".", 1): value for key, value in form.items()}
        tryout = RewardTryout(tmp_path, limit_s=limit_s)
        return reward_page(name, fields, tryout=tryout, audits=Audits(tmp_path))

    yield page
    del sys.modules["tried_rewards"]


@pytest.mark.parametrize("name", ["tried_loop", "tried_regex", "tried_family"])
def test_a_reward_that_never_ends_leaves_no_thread_and_no_process(
    tried: Callable[..., PageRecord], name: str
) -> None:
    threads = threading.active_count()
    before = {process.pid for process in list_family(root=os.getpid())}
    page = tried(name, 0.3)
    assert page["problem"] == "no result within 0.3 s"
    assert page["score"] is None
    assert threading.active_count() == threads
    assert {process.pid for process in list_family(root=os.getpid())} == before


def test_a_score_comes_back_whole(tried: Callable[..., PageRecord]) -> None:
    score = tried("tried_well", o_bonus="0.5")["score"]
    assert score is not None
    assert (score["scorer"], score["value"], score["because"].text) == (
        "tried_well@1",
        1.5,
        "as it is",
    )
    assert (score["parts"], score["params"]) == ([("n", 2)], '{"bonus": 0.5}')


def test_a_probe_comes_back_whole(tried: Callable[..., PageRecord]) -> None:
    page = tried("tried_well", c_answer="42", do="probe")
    assert page["probed"] is not None
    assert (page["probed"].reward, page["probed"].full) == ("tried_well@1", 1.0)
    assert page["sentence"] == page["probed"].sentence != ""
    wrongly = {*page["probed"].losing, *page["probed"].gaining}
    assert set(page["rows"][: len(wrongly)]) == wrongly, "what is scored wrongly comes first"
    assert len(page["rows"]) == len(page["probed"].rows)


def test_a_note_that_is_no_text_is_shown_as_text(tried: Callable[..., PageRecord]) -> None:
    score = tried("tried_objects")["score"]
    assert score is not None
    assert [(name, note.text) for name, note in score["notes"]] == [("object", "<class 'object'>")]


@pytest.mark.parametrize(
    ("name", "because"),
    [("tried_error", "ZeroDivisionError"), ("tried_memory", "MemoryError")],
)
def test_what_a_reward_raises_is_an_abstention(
    tried: Callable[..., PageRecord], name: str, because: str
) -> None:
    score = tried(name)["score"]
    assert score is not None
    assert score["abstained"] == "grader_error"
    assert because in score["because"].text


def test_a_reward_that_ends_its_process_is_reported(tried: Callable[..., PageRecord]) -> None:
    assert tried("tried_exit")["problem"] == "the process ended without an answer: the reward left"


def test_an_option_that_the_reward_does_not_have_is_reported(
    tried: Callable[..., PageRecord],
) -> None:
    assert "nonsense" in tried("tried_well", o_nonsense="1")["problem"]


def test_more_rewards_than_places_wait_and_are_refused_in_the_end(
    tried: Callable[..., PageRecord], tmp_path: Path
) -> None:
    tryout = RewardTryout(tmp_path, places=1, limit_s=1.0)
    row = {"final_response": "a", "answer": "a"}

    def attempt(name: str) -> str:
        try:
            return str(tryout.score(name, [row], {})["scores"][0]["value"])
        except BadParameter as error:
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(attempt, ["tried_loop"] * 3))
    assert set(outcomes) == {
        "no result within 1 s",
        "other rewards are being tried; try again in a moment",
    }
    assert attempt("tried_well") == "1.0"


def test_a_reward_of_the_main_script_says_that_it_must_be_in_a_module(
    tried: Callable[..., PageRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_reward("tried_well").function, "__module__", "no_such_module")
    assert "'no_such_module', which cannot be imported" in tried("tried_well")["problem"]
