"""Cleaning of an answer's text: plain TeX or ASCII, without delimiters around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final

from assay.lazy import package_table
from assay.rewards.outcome.maths.limits import MAX_CHARS, TooLarge
from assay.rewards.outcome.maths.read.lexicon import BASES, read_patterns
from assay.text.word_tables import phrases

_PATTERNS: Final = read_patterns("clean")
_CLAUSES: Final = read_patterns("clauses")
_LONGEST_CLAUSED: Final = 400
"""The longest text that is searched for a clause, in characters."""
_COMBINATIONS: Final = [
    pattern for name, pattern in _PATTERNS.items() if name.startswith("combination_")
]
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix")
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓ", "0123456789+-=()nx")
_SIGN_TABLE: Final = package_table(__package__, "signs")
_COMMANDS: Final = (row.partition(" ") for row in phrases(_SIGN_TABLE["commands"]))
_SIGNS: Final[dict[str, str]] = {
    **{sign: f"\\{name} " for name, _, signs in _COMMANDS for sign in signs},
    **{sign: text for text, signs in _SIGN_TABLE["others"].items() for sign in signs},
}
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"))
_PERIODS: Final = (1, 3, 2)
"""Lengths of a period after other digits; of those that start at one place the first counts."""
_MOST_VECTORS: Final = 4
_WRAPPERS: Final = (
    ("$$", "$$"),
    ("$", "$"),
    (r"\(", r"\)"),
    (r"\[", r"\]"),
    ("```", "```"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
)


def clean(text: str) -> str:
    """Rewrite the answer in plain ASCII or TeX; raise TooLarge if it is too long."""
    if len(text) > MAX_CHARS:
        raise TooLarge(f"{len(text):,} characters, limit {MAX_CHARS:,}")
    if not text.isascii():
        text = to_ascii(text)
    text = unwrap(text)
    if "\\" in text:
        text = _PATTERNS["unseen"].sub(" ", text)
    if "\\\\" in text:
        text = _undouble(text)
    if "\\" in text:
        text = _plain_styles(text)
    if "10^" in text:
        text = _PATTERNS["times_ten"].sub(r"\1\\times 10^", text)
    if "\\right" in text and "\\begin" in text:
        text = _spell_system(text)
    if "\\left" in text:
        text = _PATTERNS["sized_bracket"].sub("", text)
    text = _spell_out(text)
    return _drop_dollars(text) if "$" in text else text


def _spell_system(text: str) -> str:
    """Rewrite a system of equations after one large brace as a `cases` environment."""
    opening, closing = (
        _PATTERNS["system_opens"].search(text),
        _PATTERNS["system_closes"].search(text),
    )
    if opening is None or closing is None or closing.start() < opening.end():
        return text
    inside = text[opening.end() : closing.start()]
    if "array" in opening[0] and "array" in closing[0]:
        inside = rf"\begin{{cases}}{inside}\end{{cases}}"
    return f"{text[: opening.start()]}{inside}{text[closing.end() :]}"


def _plain_styles(text: str) -> str:
    """Remove words before the answer, and TeX styles of units and digits."""
    if "rm" in text:
        text = _PATTERNS["bare_style"].sub("d", _PATTERNS["styled_group"].sub(r"\\text{\1}", text))
    if "^" in text:
        text = _PATTERNS["unit_product"].sub(_spell_unit, text)
    lead = _PATTERNS["lead"].match(text)
    if lead is not None:
        text = (lead["open"] if not lead["close"] else "") + text[lead.end() :]
    every = _PATTERNS["all_that"].match(text)
    text = text if every is None else text[every.end() :]
    mapping = _PATTERNS["mapping"].match(text) if "mapsto" in text else None
    if mapping is not None:
        return f"{mapping[1] or 'f'}({mapping[2]})={text[mapping.end() :]}"
    return text


def _spell_unit(match: re.Match[str]) -> str:
    r"""Rewrite a unit such as `\mathrm{m\,s^{-2}}` as `\text{m s^-2}`."""
    if "^" not in match[1]:
        return match[0]
    inside = _PATTERNS["unit_layout"].sub(" ", match[1]).replace("{", "").replace("}", "")
    return f"\\text{{{inside.replace('^ ', '^')}}}"


def _spell_out(text: str) -> str:
    """Shorthand in its TeX form."""
    for sign, rule in _SHORTHAND:
        if sign in text:
            text = rule(text)
    unending = _PATTERNS["unending"].fullmatch(text) if "." in text else None
    if unending is not None:
        return unending[1] + _with_period(unending[2])
    return text


def _without_clause(text: str) -> str:
    r"""The formula without `for all real x`, or with `k \in \mathbb{Z}` for `k is an integer`."""
    if len(text) > _LONGEST_CLAUSED:
        return text
    excepted = _CLAUSES["except"].fullmatch(text)
    if excepted is not None:
        return rf"\mathbb{{R}} \setminus \{{{excepted[1]}\}}"
    domain = _CLAUSES["domain"].fullmatch(text)
    if domain is not None:
        return rf"{domain[1]}, {domain[2]} \in \mathbb{{Z}}"
    counting = _CLAUSES["counting"].fullmatch(text) if "=" in text else None
    if counting is not None:
        return counting[1]
    match = _CLAUSES["clause"].fullmatch(text)
    if match is None or len(match["clause"]) > 80:
        return text
    clause = " ".join(_CLAUSES["markup"].sub(" ", match["clause"]).split()).strip(" .,;)")
    integer = _CLAUSES["integer"].fullmatch(clause)
    if integer is not None:
        return rf"{match['answer']}, {integer[integer.lastindex or 1]} \in \mathbb{{Z}}"
    index = _CLAUSES["from"].fullmatch(clause)
    free = index is not None and re.search(rf"(?<![A-Za-z\\]){index[1]}", match["answer"])
    if free or _CLAUSES["free"].fullmatch(clause):
        return match["answer"]
    return text


def _spell_labels(text: str) -> str:
    """Rewrite `(1)(3)` as a list, and the repeating decimal `0.(3)` with a bar."""
    labels = _PATTERNS["labels"].fullmatch(text)
    if labels is not None:
        return labels[1].replace(")", "),").rstrip(" ,")
    return (
        _PATTERNS["bracketed_period"].sub(r"\1\\overline{\2}", text) if text[-1:] == ")" else text
    )


def _spell_combination(match: re.Match[str]) -> str:
    """Rewrite a combination of two numbers, such as `10C3`, as `\\binom{10}{3}`."""
    groups = [group for group in match.groups() if group]
    kind = next(group for group in groups if not group.isdigit())
    first, second = (int(group) for group in groups if group.isdigit())
    raised_first = match.re is _PATTERNS["combination_index_raised_first"]
    n, k = (second, first) if raised_first else (first, second)
    if not 0 <= k < n:
        return match[0]
    if kind in "PA":
        return f"\\frac{{{n}!}}{{{n - k}!}}"
    return f"\\binom{{{n}}}{{{k}}}"


def _spell_base(match: re.Match[str]) -> str:
    """Rewrite `(1011)_2` and `1011 base two` as `1011_{2}`."""
    opening, digits, closing, *words = match.groups()
    word = next(word for word in words if word)
    base = int(word) if word.isdigit() else BASES.get(word, 0)
    if not 2 <= base <= 36 or (opening is None) != (closing is None):
        return match[0]
    return f"{digits}_{{{base}}}"


def _spell_prefixed(match: re.Match[str]) -> str:
    """Rewrite `0b1101` and `0x2A` as numerals with a base."""
    binary, sixteen, octal = match.groups()
    base = 2 if binary else 16 if sixteen else 8
    return f"{(binary or sixteen or octal).upper()}_{{{base}}}"


def _with_period(digits: str) -> str:
    """Mark the repeating part of the digits of a decimal, if there is one."""
    at_once = _PATTERNS["period_at_once"].fullmatch(digits)
    if at_once is not None:
        return f"\\overline{{{at_once[1]}}}"
    starts = [(_period_start(digits, length), order) for order, length in enumerate(_PERIODS)]
    start, order = min(starts)
    if start == len(digits):
        return digits
    return f"{digits[:start]}\\overline{{{digits[start : start + _PERIODS[order]]}}}"


def _period_start(digits: str, length: int) -> int:
    """The index from which digits repeat with the given period to the end."""
    start = len(digits) - length
    while start > 0 and digits[start - 1] == digits[start - 1 + length]:
        start -= 1
    repeats = (len(digits) - start) // length
    if start < 0 or repeats < (2 if length == 1 else 3):
        return len(digits)
    return len(digits) - repeats * length


def to_ascii(text: str) -> str:
    """Rewrite Unicode signs, digits and letters in ASCII or TeX."""
    text = text.translate(_INVISIBLE)
    text = _PATTERNS["area"].sub(r"\1\\text{ \2}\3", text)
    text = _PATTERNS["superscript_run"].sub(
        lambda run: "^{" + run[0].translate(_SUPERSCRIPTS) + "}", text
    )
    text = _PATTERNS["subscript_run"].sub(
        lambda run: "_{" + run[0].translate(_SUBSCRIPTS) + "}", text
    )
    text = _PATTERNS["vulgar"].sub(_spell_vulgar, text)
    return "".join(c if c.isascii() else _ascii_character(c) for c in text)


def unwrap(text: str) -> str:
    """Remove delimiters, quotes and the final full stop around the text."""
    for _ in range(8):
        before = text
        text = text.strip()
        text = text.removeprefix("**").removesuffix("**").strip()
        if text.endswith((".", ",", ";")) and not text.endswith(("\\,", "\\;", "...", "\\right.")):
            text = text[:-1]
        for opening, closing in _WRAPPERS:
            inner = text[len(opening) : -len(closing)]
            if (
                len(text) > len(opening) + len(closing)
                and text.startswith(opening)
                and text.endswith(closing)
                and opening not in inner
                and closing not in inner
            ):
                text = inner
                break
        if text == before:
            break
    return text


def _ascii_character(character: str) -> str:
    sign = _SIGNS.get(character)
    if sign is not None:
        return sign
    if "\u2460" <= character <= "\u2473":
        return f"({ord(character) - 0x245F})"
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character.isspace():
        return " "
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 and folded.isascii() and folded.isprintable() else character


def _spell_vulgar(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match[2]).split("⁄")
    return f"{match[1]}\\frac{{{top}}}{{{bottom}}}"


def _undouble(text: str) -> str:
    """Replace doubled backslashes before commands by single backslashes."""
    if "\\begin" in text and "\\\\begin" not in text:
        return text
    if "\\\\begin" in text:
        return text.replace("\\\\", "\\")
    return _PATTERNS["row_break_before_command"].sub(lambda _: "\\", text)


def _drop_dollars(text: str) -> str:
    """Remove the dollar signs around formulas; one dollar sign before a digit is a currency."""
    bare = text.replace("\\$", "")
    if bare.count("$") == 1:
        at = bare.index("$")
        if bare[at + 1 : at + 2].isdigit() or bare[at + 1 : at + 2] == ".":
            return re.sub(r"(?<!\\)\$", lambda _: "\\$", text)
    return re.sub(r"(?<!\\)\$", " ", text)


def _spell_line(text: str) -> str:
    """Rewrite a line such as `(1,2)+t(3,4)` as the point `(1+t(3), 2+t(4))`."""
    name, equals, body = text.rpartition("=")
    first = _PATTERNS["vector"].match(body)
    if first is None:
        return text
    components = [[part] for part in first[1].split(",")]
    at, letters = first.end(), False
    for _ in range(_MOST_VECTORS):
        factor = _PATTERNS["factor"].match(body, at)
        vector = None if factor is None else _PATTERNS["vector"].match(body, factor.end())
        if factor is None or vector is None:
            break
        parts = vector[1].split(",")
        if len(parts) != len(components):
            return text
        for component, part in zip(components, parts, strict=True):
            times = f"{factor[2].strip()} \\cdot" if factor[2].strip() else ""
            component.append(f"{factor[1]} {times} ({part})")
        letters |= re.search("[A-Za-z]", factor[2]) is not None
        at = vector.end()
    if not letters or at != len(body):
        return text
    return f"{name}{equals}({', '.join(' '.join(parts) for parts in components)})"


_RULES: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("except|other than|for|wh|with|\\in", _without_clause),
    # `<1, 2>` as a vector
    (">", partial(_PATTERNS["angled"].sub, r"\1\\langle \2\\rangle")),
    *(("C|P|A|choose", partial(form.sub, _spell_combination)) for form in _COMBINATIONS),
    ("0b|0x|0o", partial(_PATTERNS["prefixed_numeral"].sub, _spell_prefixed)),
    # `1'024` as in Switzerland
    ("'", partial(_PATTERNS["apostrophes"].sub, lambda match: match[0].replace("'", ""))),
    # `3 to 4` as `3:4`
    (" to", partial(_PATTERNS["proportion"].sub, lambda m: _PATTERNS["to"].sub(":", m[0]))),
    # `\mathbb{Z}/6\mathbb{Z}` as `\mathbb{Z}_{6}`
    ("mathbb", partial(_PATTERNS["residues"].sub, r"\\mathbb{Z}_{\1\2\3}")),
    # `dy/dx` as a fraction
    ("/d", partial(_PATTERNS["slashed_derivative"].sub, r"\\frac{d\1}{d\3}")),
    # the digits of `\text{1A}_{16}` in plain style
    ("_", partial(_PATTERNS["numeral"].sub, r"\1")),
    (",", _spell_line),
    ("_", partial(_PATTERNS["styled_digits"].sub, r"\1")),
    ("_", partial(_PATTERNS["barred_numeral"].sub, r"\1")),
    ("_|binary|octal|decimal|base", partial(_PATTERNS["numeral_base"].sub, _spell_base)),
    ("^", partial(_PATTERNS["raised_ordinal"].sub, r"\\text{\1}")),
    (")", _spell_labels),
    ("'", partial(_PATTERNS["primed_label"].sub, r"\\text{\g<0>}")),
    ("angle", partial(_PATTERNS["measure"].sub, "")),
    ("mod", partial(_PATTERNS["modulus"].sub, r"\\pmod{\1}")),
)
_SHORTHAND: Final = [(sign, rule) for signs, rule in _RULES for sign in signs.split("|")]
"""A sign that shorthand has, and what rewrites it."""
