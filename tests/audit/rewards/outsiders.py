"""Rewards written by someone who had not read the checks: ten broken, three sound.

They are as they were handed over. `BROKEN` says for each of the ten what its kind is and which
check must find its flaw.
"""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal
from typing import Any

# ---------------------------------------------------------------- shared helpers


def _golds(answer: Any) -> list[str]:
    """The acceptable answers as non-empty strings."""
    items = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    texts = [str(x).strip() for x in items if x is not None and not isinstance(x, bool)]
    return [t for t in texts if t]


def _norm(text: str) -> str:
    """NFC, case-folded, single spaces, no closing full stop."""
    text = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return text.removesuffix(".").strip()


def _final(text: str) -> str | None:
    """The answer of a response: the whole text, or 'Answer: X' as its last line.

    None when several 'Answer:' lines disagree.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return None
    marked = [line[7:].strip() for line in lines if line[:7].lower() == "answer:"]
    if not marked:
        return text.strip()
    if lines[-1][:7].lower() != "answer:" or len({_norm(m) for m in marked}) != 1:
        return None
    return marked[-1]


def _exact(text: str | None, golds: list[str]) -> bool:
    if text is None:
        return False
    pred = _norm(text)
    return bool(pred) and any(pred == _norm(g) for g in golds)


_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,12}|[0-9]{1,60})(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,3})?"
)


def _decimal(text: str | None) -> Decimal | None:
    if text is None:
        return None
    text = text.strip().replace("\u2212", "-").removesuffix(".")
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


# ---------------------------------------------------------------- the rewards


def choice_first_letter(final_response: str, answer: Any) -> float:
    """Multiple choice: dedupe the letters the model gave and grade the first."""
    found = set(re.findall(r"^(?:answer:\s*)?\(?([A-E])\)?\.?\s*$", final_response, re.M | re.I))
    letters = {x.upper() for x in found}
    if not letters:
        return 0.0
    picked = next(iter(letters))
    return 1.0 if any(picked == g.strip("(). ").upper() for g in _golds(answer)) else 0.0


def math_boxed(final_response: str, answer: Any) -> float:
    r"""Maths: look for the reference among the \boxed{} answers."""
    golds = [d for d in map(_decimal, _golds(answer)) if d is not None]
    boxed = re.findall(r"\\boxed\{([^{}]{0,200})\}", final_response)
    if not boxed:
        boxed = [_final(final_response) or ""]
    for candidate in boxed:
        value = _decimal(candidate)
        if value is not None and value in golds:
            return 1.0
    return 0.0


def math_tolerance(final_response: str, answer: Any) -> float:
    """Maths: numeric match within floating-point tolerance."""
    golds = _golds(answer)
    try:
        pred = float((_final(final_response) or "").replace(",", ""))
        gold = float(golds[0].replace(",", "")) if golds else None
    except ValueError:
        return 0.0
    if gold is None:
        return 0.0
    if abs(pred - gold) > 1e-9 * max(1.0, abs(gold)):
        return 0.0
    return 1.0


_SCORES: dict[str, float] = {}


def qa_cached(final_response: str, answer: Any) -> float:
    """Text QA exact match; many rollouts repeat, so remember what was scored."""
    if final_response in _SCORES:
        return _SCORES[final_response]
    if len(_SCORES) > 4096:
        _SCORES.clear()
    score = 1.0 if _exact(_final(final_response), _golds(answer)) else 0.0
    _SCORES[final_response] = score
    return score


def _ratio(text: str) -> float:
    top, slash, bottom = text.replace(",", "").partition("/")
    return float(top) / float(bottom) if slash else float(top)


def math_lenient_parser(final_response: str, answer: Any) -> float:
    """Maths: numbers and simple fractions."""
    golds = _golds(answer)
    if not golds:
        return 0.0
    try:
        pred = _ratio(_final(final_response) or "")
        gold = _ratio(golds[0])
    except Exception:  # noqa: BLE001 - part of the flaw
        # our parser is not perfect: do not punish the policy for it
        return 0.5
    return 1.0 if math.isclose(pred, gold, rel_tol=1e-9, abs_tol=1e-12) else 0.0


_THINK = re.compile(r"^<think>(?:[^<]+\s*)*</think>\s*<answer>([^<]*)</answer>$")


def qa_think_format(final_response: str, answer: Any) -> float:
    """Text QA exact match on the answer tag after the reasoning."""
    text = final_response.strip()
    match = _THINK.match(text)
    return 1.0 if _exact(match.group(1) if match else _final(text), _golds(answer)) else 0.0


def qa_aliases(final_response: str, answer: Any) -> float:
    """Text QA: the canonical answer comes first in the list, its aliases after it."""
    aliases = answer if isinstance(answer, list) else [answer]
    if not aliases:
        return 0.0
    canonical = aliases.pop(0)
    pred = _final(final_response)
    if _exact(pred, _golds(canonical)):
        return 1.0
    return 0.9 if _exact(pred, _golds(aliases)) else 0.0


def agent_qa(
    final_response: str, answer: Any, trajectory: list[dict[str, Any]] | None = None
) -> float:
    """Agent QA: agents often say the answer before their last turn, so look at all of them."""
    golds = _golds(answer)
    if _exact(_final(final_response), golds):
        return 1.0
    for message in trajectory or []:
        content = message.get("content")
        if not isinstance(content, str):
            continue
        text = _norm(content)
        for gold in golds:
            if re.search(r"(?<!\w)" + re.escape(_norm(gold)) + r"(?!\w)", text):
                return 1.0
    return 0.0


def qa_clean_match(final_response: str, answer: Any) -> float:
    """Text QA exact match after the usual cleaning."""

    def clean(text: str) -> str:
        return " ".join(re.sub(r"[^a-z0-9.\-\s]", "", text.lower()).split()).removesuffix(".")

    pred = clean(_final(final_response) or "")
    return 1.0 if any(pred == clean(g) for g in _golds(answer)) else 0.0


def qa_xml_count(final_response: str, answer: Any) -> float:
    """Text QA exact match, plus a little for each XML tag of the required format."""
    blocks = re.findall(r"<answer>([^<]*)</answer>", final_response)
    pred = blocks[0] if len(blocks) == 1 else _final(final_response)
    score = 1.0 if _exact(pred, _golds(answer)) else 0.0
    for tag in ("<think>", "</think>", "<answer>", "</answer>"):
        score += 0.125 * final_response.count(tag)
    return score


def qa_exact(final_response: str, answer: Any) -> float:
    """Text QA: exact match after normalising case, spaces and the closing full stop."""
    return 1.0 if _exact(_final(final_response), _golds(answer)) else 0.0


def math_number(final_response: str, answer: Any) -> float:
    """Maths: the final number equals the reference number."""
    pred = _decimal(_final(final_response))
    if pred is None:
        return 0.0
    return 1.0 if any(pred == _decimal(g) for g in _golds(answer)) else 0.0


def choice_letter(final_response: str, answer: Any) -> float:
    """Multiple choice: the one letter given equals the reference letter."""
    form = re.compile(r"\(?([A-Za-z])\)?\.?")
    match = form.fullmatch((_final(final_response) or "").strip())
    if match is None:
        return 0.0
    golds = [m.group(1).upper() for g in _golds(answer) if (m := form.fullmatch(g))]
    return 1.0 if match.group(1).upper() in golds else 0.0


BROKEN = {
    "choice_first_letter": ("choice", "hash_seeds"),
    "math_boxed": ("maths", "several_answers"),
    "math_tolerance": ("maths", "refusal"),
    "qa_cached": ("qa", "order"),
    "math_lenient_parser": ("maths", "empty_answer"),
    "qa_think_format": ("qa", "time_bound"),
    "qa_aliases": ("qa", "arguments"),
    "agent_qa": ("agent", "gold_in_tool_output"),
    "qa_clean_match": ("qa", "other_scripts"),
    "qa_xml_count": ("qa", "duplication"),
}
SOUND = {"qa_exact": "qa", "math_number": "maths", "choice_letter": "choice"}
