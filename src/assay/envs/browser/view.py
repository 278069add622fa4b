"""What one look gives to whom: text to the agent, digests to the scorer, facts to a contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from assay.envs.browser.digest import page_evidence
from assay.envs.browser.look import Look
from assay.envs.browser.traffic import Traffic
from assay.schema.evidence import PageEvidence, PageFacts
from assay.schema.outcome import BlockCode, ToolOutcome

_NUMBER: Final = re.compile(r"\[\d+\] ")


def evidence_of(look: Look | None, *, sent: Mapping[str, int], shot: int | None) -> PageEvidence:
    """Digests of what was seen; without a look, of the requests alone.

    The numbers of elements are left out: they say when an element was first seen, not what it is.
    What was typed is part of the text.
    """
    if look is None:
        return page_evidence(sent=sent)
    # Written so that the digest does not take it for a running number, which it masks.
    rest = f"\ntyped-{look.forms:x} omitted-{look.omitted.bit_length()}"
    return page_evidence(
        url=look.url,
        text=_NUMBER.sub("", look.text) + rest,
        counts={},
        landmarks=look.skeleton,
        sent=sent,
        refs=[(role, name) for _, role, name in look.refs],
        shot=shot,
        dialog=False,
    )


def informed(outcome: ToolOutcome, evidence: PageEvidence) -> ToolOutcome:
    """The outcome with what the agent was shown; a failed call returned nothing but its error."""
    if outcome.info is not None or not outcome.ok:
        return outcome
    return outcome._replace(info=evidence.text)


def facts_of(look: Look, traffic: Traffic, *, step: int, shot: int | None) -> PageFacts:
    """What an outcome contract can ask about; dialogs are dismissed, so none is open."""
    cut = set(traffic.cut)
    if look.omitted or look.short:
        cut.add("text")
    return PageFacts(
        step=step,
        url=look.url,
        title=look.title,
        status=traffic.status,
        text=look.plain,
        texts=look.texts,
        counts=look.counts,
        network=tuple(traffic.requests),
        console=tuple(traffic.messages),
        dialog=False,
        shot=shot,
        cut=frozenset(cut),
    )


def render(look: Look, told: str, block: BlockCode | None, *, chars: int) -> str:
    """The page as text, in lines, with at most `chars` characters of it."""
    position, height, window = look.scroll
    lines = [f"url: {look.url}", f"title: {look.title}"]
    if height > window + 10:
        lines.append(f"scrolled to {position} of {height - window} pixels")
    lines += [f"note: {note}" for note in look.notes]
    if block is not None:
        lines.append(f"note: the page is blocked ({block})")
    if told:
        lines.append(told)
    shown = look.text
    if len(shown) > chars:
        shown = shown[: max(shown.rfind("\n", 0, chars + 1), 0)] or shown[:chars]
    lines += ["", shown]
    omitted = look.omitted + len(look.text) - len(shown)
    if omitted:
        lines.append(f"… {omitted:,} characters not shown; scroll or narrow down")
    if look.short:
        lines.append("… the page is too large to be read to its end")
    return "\n".join(lines)


def render_payload(url: str, payload: str, *, chars: int) -> str:
    """What an address answered, in at most `chars` characters."""
    cut = len(payload) - chars
    mark = f"\n… {cut:,} characters not shown; ask for less" if cut > 0 else ""
    return f"result of fetch_json {url[:300]}:\n{payload[:chars]}{mark}"
