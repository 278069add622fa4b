"""What stood in the way of a step, from the page before and after it and from its requests."""

from __future__ import annotations

from dataclasses import replace

from assay.envs.browser.outcomes import detect_block, detect_wall
from assay.envs.browser.requests import RequestLog
from assay.envs.browser.risk import asks_for_login
from assay.envs.browser.snapshot import PageSnapshot
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageFacts


def find_block(
    facts: PageFacts,
    snapshot: PageSnapshot,
    before: PageSnapshot | None,
    requests: RequestLog,
    *,
    requested: str | None,
    target: str,
    blocked: bool,
) -> BlockCode | None:
    """The code of what blocks the agent; `None` when nothing does.

    `requested` is the address that the agent navigated to, `target` the name of what it clicked,
    and `blocked` whether it had been blocked before. What was on the page before the call, and did
    not block, has not stopped the call.
    """
    document = requests.document
    fresh = document is not None or before is None
    chain = document.redirects if document is not None else ()
    if not fresh and not blocked:
        assert before is not None
        counts = {
            name: n if name in ("*", "noscript") else max(0, n - before.counts.get(name, 0))
            for name, n in facts.counts.items()
        }
        facts = replace(facts, counts=counts, status=None)
    sent_from = requested if requested is not None else chain[0] if chain else None
    block = detect_block(facts, requested=sent_from)
    if block is not None:
        return block
    words = target if requested is None else requested.replace("/", " ").replace("-", " ")
    return detect_wall(
        snapshot.wall,
        before="" if before is None or blocked else before.wall,
        fresh=fresh,
        asks_for_login=bool(words) and asks_for_login(words),
        refused=requests.own().refused,
    )


def submitted(requests: RequestLog) -> bool:
    """Whether the document that the step loaded is the answer to a form."""
    return requests.document is not None and requests.document.method == "POST"


def came_back(snapshot: PageSnapshot, before: PageSnapshot | None, requests: RequestLog) -> int:
    """How many forms that were sent are there again with what was typed, to be corrected.

    One with a password is never shown again to somebody who got in.
    """
    if before is None or not submitted(requests):
        return 0
    sent = {fields for fields, _, _ in before.sendable}
    return sum(fields in sent and (secret or typed) for fields, secret, typed in snapshot.sendable)
