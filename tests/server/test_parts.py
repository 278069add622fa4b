"""The parts of the server that can be tested without one: reading, writing, the queue."""

import asyncio
import json
import math
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from assay.errors import BadRecord, UnknownName, UsageError
from assay.registry import REWARDS, reward
from assay.schema.values import OversizedInteger
from assay.server.catalogue import load_catalogue
from assay.server.refusal import Refusal
from assay.server.requests import read_lines
from assay.server.scoring import AdmissionQueue
from assay.server.settings import ServerSettings
from assay.web.strict_json import read_json, write_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None))
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
)


@settings(max_examples=50, deadline=None)
@given(values)
def test_any_json_value_is_written_and_read_back(value: Any) -> None:
    assert read_json(write_json(value)) == value


@settings(max_examples=50, deadline=None)
@given(values)
def test_what_others_write_is_read(value: Any) -> None:
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(json.dumps({"k": [value]}, indent=1).encode()) == {"k": [value]}


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_bad_record(body: bytes) -> None:
    with suppress(BadRecord):
        read_json(body)


def test_what_is_not_quite_json_is_a_value_that_no_reward_reads() -> None:
    assert read_json(b'{"a": [%s, -%s, 1]}' % (b"9" * 5000, b"9" * 4301)) == {
        "a": [OversizedInteger(5000), OversizedInteger(4301), 1]
    }
    assert read_json(b"9" * 4300) == int("9" * 4300)
    nan, *infinite = read_json(b"[NaN, Infinity, -Infinity, 1e999]")
    assert math.isnan(nan)
    assert all(map(math.isinf, infinite))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"1" * 25, "alone"),
        (b"-" + b"1" * 25, "alone and negative"),
        (b"[" + b"1" * 25 + b"]", "in a list"),
        (b'{"a": -' + b"1" * 25 + b" }", "in an object"),
        (b'["' + b"1" * 25 + b'",' + b"1" * 25 + b"]", "after a text that looks like one"),
        (b"[" + b'"1111111111111111111",' * 2000 + b"1" * 25 + b"]", "after many such texts"),
        (b"18446744073709551616", "the first beyond 64 bits"),
    ],
)
def test_a_long_integer_is_read_to_its_last_digit(body: bytes, why: str) -> None:
    assert read_json(body) == json.loads(body), why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (json.dumps({"rows": [{"said": "[{," * 250_000}]}), "a policy that says only commas"),
        (json.dumps({"rows": ['\\"', ",{[" * 200_000 + '"', "\\"]}), "quotes that end nothing"),
    ],
)
def test_what_is_in_a_text_is_not_a_value(body: str, why: str) -> None:
    assert read_json(body.encode()) == json.loads(body), why


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"{}," * 300_000 + b"{}]",
        b'["' + b'\\",' * 600_000,
        b'["' + b'\\",' * 600_000 + b"\\",
        b'"",' * 600_000,
    ],
    ids=["too many values", "a text without an end", "one that ends in a backslash", "texts"],
)
def test_a_body_beyond_reason_is_refused_in_one_pass(body: bytes) -> None:
    with pytest.raises(BadRecord):
        read_json(body)


def test_a_request_without_rows_says_nothing_about_the_pace() -> None:
    queue = AdmissionQueue(10)
    assert queue.try_enter(10)
    assert queue.try_enter(0)
    queue.leave(0)
    assert queue.retry_after_s() == 1


def test_the_queue_tells_when_to_come_again_from_its_pace() -> None:
    now = 0.0
    queue = AdmissionQueue(1000, clock=lambda: now)
    assert queue.retry_after_s() == 1
    assert queue.try_enter(1000)
    assert not queue.try_enter(1)
    for _ in range(10):
        now += 1.0
        queue.leave(10)
    # 100 rows in 9 s, and 900 that wait: half of those take some 40 s.
    assert queue.retry_after_s() == 41
    now += 100.0
    assert queue.retry_after_s() == 1
    assert queue.try_enter(100)


def test_who_waits_for_room_gets_it_when_there_is_some() -> None:
    async def wait() -> None:
        queue = AdmissionQueue(10)
        assert queue.try_enter(8)
        waiting = asyncio.create_task(queue.enter(4))
        await asyncio.sleep(0)
        assert not waiting.done()
        queue.leave(1)
        await asyncio.sleep(0)
        assert not waiting.done()
        queue.leave(1)
        await waiting
        assert (queue.rows, queue.full) == (10, True)

    asyncio.run(wait())


@pytest.mark.parametrize(
    "wrong",
    [{"workers": 0}, {"max_rows": 0}, {"deadline_s": 0.0}, {"deadline_s": math.nan}],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ServerSettings(**wrong)


def _lines_of(pieces: list[bytes], max_bytes: int) -> list[tuple[int, Any]]:
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def read() -> list[tuple[int, Any]]:
        request = Request({"type": "http", "headers": []}, receive)
        lines = read_lines(request, max_bytes=max_bytes, stall_s=60)
        return [line async for lines_read in lines for line in lines_read]

    return asyncio.run(read())


@settings(deadline=None)
@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_a_stream_has_the_same_lines_in_whatever_pieces_it_comes(
    body: bytes, cuts: list[int]
) -> None:
    places = [0, *sorted(cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(places)]
    assert _lines_of(pieces, 100) == _lines_of([body], 100)


def test_a_line_in_many_pieces_is_gone_through_once() -> None:
    began = time.process_time()
    ((number, line),) = _lines_of([b"a" * 400] * 10_000, 8_000_000)
    assert (number, len(line)) == (1, 4_000_000)
    assert time.process_time() - began < 2.0


def test_a_sender_that_falls_silent_is_refused() -> None:
    pieces = [{"type": "http.request", "body": b"{}\n[1", "more_body": True}]

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()

    async def read() -> None:
        request = Request({"type": "http"}, receive)
        lines = read_lines(request, max_bytes=100, stall_s=0.01)
        assert await anext(lines) == [(1, b"{}")]
        with pytest.raises(Refusal, match="nothing was sent for") as caught:
            await anext(lines)
        assert (caught.value.status, caught.value.code) == (408, "slow_body")

    asyncio.run(read())


@pytest.fixture
def _two_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reward `twofold`, of which there are two."""

    def first(final_response: str) -> float:
        return 1.0

    def second(final_response: str) -> float:
        return 2.0

    monkeypatch.setattr(REWARDS, "_objects", dict(REWARDS._objects))
    reward(name="twofold", version=1)(first)
    reward(name="twofold", version=2)(second)


@pytest.mark.usefixtures("_two_versions")
@pytest.mark.parametrize(
    ("served", "named", "expected", "why"),
    [
        ("twofold", "twofold", "twofold", "the newest"),
        ("twofold", "twofold@1", "twofold@1", "an older one"),
        ("twofold@1", "twofold", "twofold@1", "the one that the server was set to serve"),
        ("twofold@1", "twofold@1", "twofold@1", "the same, in full"),
        ("twofold@1", "twofold@2", None, "not served, though it is installed"),
        ("twofold", "twofold@3", None, "not installed"),
    ],
)
def test_a_version_that_was_chosen_is_the_one_that_is_served(
    served: str, named: str, expected: str | None, why: str
) -> None:
    catalogue = load_catalogue(ServerSettings(rewards=(served,), workers=1))
    if expected is None:
        with pytest.raises(UnknownName):
            catalogue.scorers([named], {})
        with pytest.raises(UsageError, match="default"):
            load_catalogue(ServerSettings(rewards=(served,), default_reward=named, workers=1))
    else:
        assert [scorer.reward for scorer in catalogue.scorers([named], {})] == [expected], why


@pytest.mark.usefixtures("_two_versions")
def test_two_versions_of_one_reward_cannot_both_be_served() -> None:
    with pytest.raises(UsageError, match="twofold@1 and twofold@2"):
        load_catalogue(ServerSettings(rewards=("twofold@1", "twofold@2"), workers=1))
