"""Notations that are spelled out before an answer is read: one function each, linear in the text.

What does not have the whole form of a notation is left as it is.
"""

from __future__ import annotations

import re
from typing import Final

_APOSTROPHES: Final = re.compile(r"(?<![\d'.,\w])\d{1,3}(?:'\d{3})+(?![\d'])")
_AMOUNT: Final = r"\d+(?:\.\d+)?"
_TO: Final = r"\s*(?:\\text\s*\{\s*to\s*\}|(?<=\s)to(?=\s))\s*"
_PROPORTION: Final = re.compile(rf"\s*{_AMOUNT}(?:{_TO}{_AMOUNT}){{1,3}}\s*")
_BETWEEN_TERMS: Final = re.compile(_TO)
_WHOLE: Final = r"\\mathbb\s*(?:\{\s*Z\s*\}|Z)"
_RESIDUES: Final = re.compile(
    rf"{_WHOLE}\s*/\s*(?:\(\s*(\d{{1,6}}|[a-z])\s*{_WHOLE}\s*\)|(\d{{1,6}}|[a-z])\s*{_WHOLE})"
    rf"|\\[dt]?frac\s*\{{\s*{_WHOLE}\s*\}}\s*\{{\s*(\d{{1,6}}|[a-z])\s*{_WHOLE}\s*\}}"
)
_NUMERAL: Final = re.compile(r"\\(?:mathrm|text)\s*\{(\d[0-9A-F]*|[A-F]+\d[0-9A-F]*)\}(?=\s*_)")
_VECTOR: Final = re.compile(
    r"\s*(?:\(|\\langle\b)([^()=<>]{1,200},[^()=<>]{1,200}?)(?:\)|\\rangle\b)\s*"
)
_FACTOR: Final = re.compile(
    r"\s*([+-])\s*((?:\d+(?:\.\d+)?|\\frac\{\w+\}\{\w+\}|\\[a-z]{2,10}(?![a-z])|[A-Za-z]|\\,|\s)*)"
    r"(?:\\cdot\b|\*)?"
)
_SLASHED_DERIVATIVE: Final = re.compile(
    r"(?<![A-Za-z\\])d([A-Za-z]|\^(\d)[a-z])?\s*/\s*d([a-z](?:\^\d)?)(?![A-Za-z])"
)
_LETTER: Final = re.compile(r"[A-Za-z]")
_MOST_VECTORS: Final = 4


def join_digits(text: str) -> str:
    """`1'024` without the apostrophes that group its digits, as in Switzerland."""
    return _APOSTROPHES.sub(lambda match: match[0].replace("'", ""), text)


def spell_proportion(text: str) -> str:
    """`3 to 4` as `3:4`."""
    return _BETWEEN_TERMS.sub(":", text) if _PROPORTION.fullmatch(text) else text


def spell_residues(text: str) -> str:
    r"""`\mathbb{Z}/6\mathbb{Z}` as `\mathbb{Z}_{6}`."""
    return _RESIDUES.sub(lambda match: rf"\mathbb{{Z}}_{{{match[match.lastindex or 1]}}}", text)


def spell_numeral(text: str) -> str:
    r"""The digits of `\text{1A}_{16}` in plain style."""
    return _NUMERAL.sub(r"\1", text)


def spell_line(text: str) -> str:
    """`(1,2)+t(3,4)` as the point `(1+t(3), 2+t(4))`: vectors of one length, and a letter."""
    name, equals, body = text.rpartition("=")
    first = _VECTOR.match(body)
    if first is None:
        return text
    components = [[part] for part in first[1].split(",")]
    at, letters = first.end(), False
    for _ in range(_MOST_VECTORS):
        factor = _FACTOR.match(body, at)
        vector = None if factor is None else _VECTOR.match(body, factor.end())
        if factor is None or vector is None:
            break
        parts = vector[1].split(",")
        if len(parts) != len(components):
            return text
        for component, part in zip(components, parts, strict=True):
            component.append(_term(factor[1], factor[2].strip(), part))
        letters |= _LETTER.search(factor[2]) is not None
        at = vector.end()
    if not letters or at != len(body):
        return text
    return f"{name}{equals}({', '.join(' '.join(parts) for parts in components)})"


def spell_derivative(text: str) -> str:
    """`dy/dx` as a fraction."""
    return _SLASHED_DERIVATIVE.sub(
        lambda match: rf"\frac{{d{match[1] or ''}}}{{d{match[3]}}}", text
    )


def _term(sign: str, factor: str, part: str) -> str:
    return rf"{sign} {factor} \cdot ({part})" if factor else f"{sign} ({part})"
