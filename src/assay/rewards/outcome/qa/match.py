"""What comparing one answer with one reference yields, in every mode."""

from __future__ import annotations

from typing import TypeAlias

Spans: TypeAlias = tuple[str, ...]
"""The parts of an answer that names several things, such as DROP's multi-span answers."""

MAX_SPANS = 64
"""Spans of one answer or reference; aligning them takes cubic time."""

LABEL_CHARS = 60
"""Characters of a reference that a reason quotes."""

ARTICLES = frozenset(("a", "an", "the"))


Match: TypeAlias = tuple[float, float, float, float, str]
"""How well one answer meets one reference: F1, exact match, precision, recall, and one clause
that says why. A bare tuple, unpacked where it is used: one is made for every score."""


def label(reference: str | Spans) -> str:
    """The reference as a reason quotes it."""
    text = reference if isinstance(reference, str) else " + ".join(reference[:4])
    return repr(text if len(text) <= LABEL_CHARS else text[:LABEL_CHARS] + "…")
