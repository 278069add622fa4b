"""Waits before a request is sent again."""

import random

import pytest

from assay.resources.backoff import Backoff, retry_after_s


class Jitter(random.Random):
    """Always the same number."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self._number = number

    def random(self) -> float:
        return self._number


@pytest.mark.parametrize(
    ("sent", "jitter", "wait_s", "why"),
    [
        (1, 1.0, 0.5, "the base"),
        (1, 0.0, 0.25, "at least half of it"),
        (2, 1.0, 1.0, "doubled"),
        (4, 0.5, 3.0, "doubled three times, three quarters of it"),
        (7, 1.0, 30.0, "the cap"),
        (7, 0.0, 15.0, "half of the cap"),
        (5000, 1.0, 30.0, "no overflow"),
    ],
)
def test_waits_double_up_to_a_cap(sent: int, jitter: float, wait_s: float, why: str) -> None:
    assert Backoff().wait_s(sent, Jitter(jitter)) == wait_s, why


def test_waits_are_those_of_the_generator() -> None:
    policy = Backoff(base_s=0.25)
    waits = [policy.wait_s(sent, random.Random(1)) for sent in (1, 1, 2)]
    assert waits[0] == waits[1]
    assert 0.125 <= waits[0] <= 0.25
    assert waits[2] == 2 * waits[0]


NOW = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds", "why"),
    [
        ({"retry-after": "12"}, 12.0, "seconds"),
        ({"retry-after": " 0.5 "}, 0.5, "part of one"),
        ({"retry-after": "0"}, 0.0, "at once"),
        ({"date": NOW, "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0, "a date"),
        ({"date": NOW, "retry-after": "Wed, 21 Oct 2015 07:00:00 GMT"}, 0.0, "a date gone by"),
        ({"retry-after": NOW}, None, "a date, and the server's clock is not known"),
        ({"date": "Wed, 21 Oct 2015 07:28:00", "retry-after": NOW}, None, "clocks of two kinds"),
        ({}, None, "no header"),
        ({"retry-after": ""}, None, "an empty one"),
        ({"retry-after": "soon"}, None, "no number"),
        ({"retry-after": "-1"}, None, "before now"),
        ({"retry-after": "nan"}, None, "not a number"),
        ({"retry-after": "inf"}, None, "never"),
        ({"retry-after": "9" * 400}, None, "never, in digits"),
    ],
)
def test_retry_after_is_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None, why: str
) -> None:
    assert retry_after_s(headers) == seconds, why
