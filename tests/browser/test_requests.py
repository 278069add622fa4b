"""The requests of a step, from the events of the protocol alone."""

from __future__ import annotations

import pytest

from assay.browser.observe import requests
from assay.browser.observe.patience import Patience
from assay.browser.observe.requests import RequestLog


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(requests, "monotonic", clock)
    return clock


def log_with(
    *, method: str, status: int | None, kind: str = "application/json", path: str = "/api/prefs"
) -> RequestLog:
    """A step with one request of a script, whose body has not come."""
    log = RequestLog(frame_id="main")
    log.begin(1)
    sent = {"url": f"http://shop.test{path}", "method": method}
    where = {"type": "Fetch", "frameId": "main", "documentURL": "http://shop.test/book?day=2"}
    log.on_sent({"requestId": "1", "request": sent, **where})
    if status is not None:
        log.on_response({"requestId": "1", "response": {"status": status, "mimeType": kind}})
    return log


def test_an_answer_that_the_page_goes_by_without_reading_it_has_failed(clock: Clock) -> None:
    assert log_with(method="PATCH", status=500).own().failed_writes == 1
    assert log_with(method="GET", status=404).own().failed_reads == 1
    log = log_with(method="GET", status=402)
    barred = log.own()
    assert (barred.failed_reads, log.refused, barred.pending) == (1, 402, 0)


def test_an_answer_that_the_page_goes_by_without_reading_it_is_well(clock: Clock) -> None:
    log = log_with(method="POST", status=204)
    assert log.own().answered == 1
    assert log.wrote


def test_the_rest_of_an_answer_is_waited_for_as_long_as_it_comes(clock: Clock) -> None:
    log = log_with(method="GET", status=200)
    for _ in range(5):
        assert log.waiting
        clock.now += 0.4
        log.on_data({"requestId": "1"})
    assert log.waiting
    clock.now += Patience().reads_s
    assert not log.waiting


def test_what_a_navigation_breaks_off_has_not_failed(clock: Clock) -> None:
    log = log_with(method="GET", status=None)
    log.on_ended({"requestId": "1", "canceled": True})
    assert log.own() == requests.StepRequestCounts()


def test_what_was_refused_before_it_is_broken_off_stays_refused(clock: Clock) -> None:
    log = log_with(method="PATCH", status=500)
    log.on_ended({"requestId": "1", "canceled": True})
    assert log.own().failed_writes == 1


def test_the_first_part_of_an_answer_in_parts_is_waited_for(clock: Clock) -> None:
    log = log_with(method="POST", status=200, kind="text/event-stream")
    clock.now += 2
    assert log.waiting
    log.on_data({"requestId": "1"})
    clock.now += Patience().reads_s
    assert not log.waiting


def test_what_nobody_read_is_not_waited_for_by_later_steps(clock: Clock) -> None:
    log = log_with(method="PATCH", status=200)
    log.begin(2)
    assert log.own(earlier=True).pending == 0


@pytest.mark.parametrize("path", ["/api/graphql", "/wp-admin/admin-ajax.php", "/book", "/api/"])
def test_an_address_for_all_purposes_says_nothing_of_what_was_meant(path: str) -> None:
    log = log_with(method="POST", status=409, path=path)
    assert log.own().failed_writes == 1
    assert log.kinds_written(failed=True) == []
    hold = log_with(method="POST", status=409, path="/api/hold?t=0930")
    assert hold.kinds_written(failed=True) == ["POST shop.test/api/hold"]
