"""The parts of the server that can be asked without one: reading, writing, the queue."""

import asyncio
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadRecord, UsageError
from assay.server.admission import Admission
from assay.server.reading import read_json, write_json
from assay.server.settings import Settings

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
    try:
        value = read_json(body)
    except BadRecord:
        return
    assert not (isinstance(value, float) and not math.isfinite(value))


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


def test_the_queue_tells_when_to_come_again_from_its_pace() -> None:
    now = 0.0
    queue = Admission(1000, clock=lambda: now)
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
        queue = Admission(10)
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
        Settings(**wrong)
