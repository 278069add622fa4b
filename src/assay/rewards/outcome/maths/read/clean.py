"""Plain TeX or ASCII from whatever a person or a model typed, with its wrappers taken off."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final

from assay.rewards.outcome.maths.limits import MAX_CHARS, TooLarge
from assay.rewards.outcome.maths.read import shorthand
from assay.rewards.outcome.maths.read.clauses import without_clause
from assay.rewards.outcome.maths.read.lexicon import BASES

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix")
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓ", "0123456789+-=()nx")
_SUPERSCRIPT_RUN: Final = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ]+")
_AREA: Final = re.compile("(\\d ?)([mck]?m|ft|in)([²³])(?!\\w)")
_SUBSCRIPT_RUN: Final = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓ]+")
_VULGAR: Final = re.compile("(\\d?)([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒])")
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΦΨΩϕ",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
        "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega phi".split(),
        strict=True,
    )
)
_SIGNS: Final = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-",
    "×": r"\times ", "✕": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
    "•": r"\cdot ", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "√": r"\sqrt ", "∛": r"\cbrt ",
    "π": r"\pi ", "∞": r"\infty ",
    "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
    "≅": r"\approx ", "≡": r"\equiv ",
    "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "º": r"^\circ ", "∘": r"^\circ ",
    "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}",
    "∖": r"\setminus ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "∠": r"\angle ", "△": r"\triangle ", "′": "'", "’": "'",
    "‘": "'", "“": '"', "”": '"', "…": r"\ldots ", "⋯": r"\cdots ", "µ": r"\mu ", "％": r"\%",
    "，": ",", "、": ",", "；": ";", "：": ":", "（": "(", "）": ")", "。": ".", "∑": r"\sum ",
    "∫": r"\int ", "∏": r"\prod ", "ℓ": r"\ell ", "⇒": r"\Rightarrow ", "→": r"\to ", "∨": r"\vee ",
    "∧": r"\wedge ", "¢": r"\cents ", "€": r"\euro ", "£": r"\pounds ", "¥": r"\yen ",
    "∎": " ", "■": " ", "✓": " ", "✔": " ",
}  # fmt: skip
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"))
_ROW_BREAK_BEFORE_COMMAND: Final = re.compile(r"\\\\(?=[A-Za-z{}])")
_TIMES_TEN: Final = re.compile(r"(\d) ?[xX] ?10\^")
_SIZED_BRACKET: Final = re.compile(r"\\(?:left|right)\s*(?=[()\[\]])")
_UNSEEN: Final = re.compile(
    r"\\(?:[hv]?phantom|[hv]space\*?|color|textcolor|mathcolor|colorbox)\s*\{[^{}]*\}"
)
"""What takes up room or sets a colour, and prints nothing itself."""
_MODULUS: Final = re.compile(
    r"\(\s*\\?(?:text|mathrm|operatorname)?\{?\\?b?mod(?:\s*\}\s*|\s+)([^()]{1,40})\)"
)
_UNENDING: Final = re.compile(r"(-?\d*\.)(\d+)(?:\.{3}|\\[lc]?dots)\s*")
_PERIOD_AT_ONCE: Final = re.compile(r"(\d{1,12}?)\1+")
_BRACKETED_PERIOD: Final = re.compile(r"(?<!\d)(-?\d{0,400}\.)\((\d{1,40})\)")
_PERIODS: Final = (1, 3, 2)
"""Lengths of a period after other digits; of those that start at one place the first counts."""
_ANGLED: Final = re.compile(r"(\A|=)\s*<([^<>=]*)>\s*\Z")
_BASE_WORD: Final = r"\s*\(?([a-z]{2,12}|\d{1,2})\)?\s*"
_TEXT: Final = r"\\(?:text|mathrm|rm)\s*\{"
_NUMERAL_BASE: Final = re.compile(
    r"(?<![0-9A-F])(\()?(\d[0-9A-F]{0,400}|[A-F]{2,40}[0-9A-F]{0,40})(\))?(?:"
    rf"\s*_\s*(?:\{{\s*{_TEXT}\s*(?:base\s*)?\}}?{_BASE_WORD}\}}?\s*\}}|\{{{_BASE_WORD}\}}|{_TEXT}{_BASE_WORD}\}}|(\d))"
    rf"|(?:\\[ ,;]|[ ~])*(?:{_TEXT}\s*\(?(?:in\s)?\s*base\s*\}}\s*(\d{{1,2}})|"
    rf"{_TEXT}\s*\(?(?:in\s)?\s*base[\s-]{_BASE_WORD}\}}"
    rf"|{_TEXT}\s*\(?(?:in\s)?\s*(binary|octal|decimal|hexadecimal)\)?\s*\}}"
    rf"|\(?(?:in\s)?\s*\bbase[\s-]{_BASE_WORD}))"
)
"""A numeral in brackets or not, with its base below it or in words after it."""
_RAISED_ORDINAL: Final = re.compile(
    r"(?<=\d)\s*\^\s*\{?\s*(?:\\(?:text|mathrm|rm|textrm)\s*\{?)?\s*(st|nd|rd|th)\s*\}{0,2}"
)
_LABELS: Final = re.compile(r"(?:\\text\s*\{)?\s*((?:\(\d{1,2}\)\s*){2,12})\}?")
"""Numbers of statements side by side, as in `(1)(3)`: a list, not a product."""
_PRIMED_LABEL: Final = re.compile(r"(?=[A-Z]*')(?:[A-Z]'{0,3}){2,4}")
_MEASURE: Final = re.compile(r"(?<![A-Za-z\\])m\s*(?=\\(?:angle|measuredangle))")
_LETTER: Final = r"(?:\\(?:mathrm|text|rm|operatorname)\s*\{?\s*)?"
_INDEX: Final = r"\s*(?:\{\s*(\d{1,4})\s*\}|(\d))\s*"
_COMBINATIONS: Final = (
    re.compile(rf"(?:\{{\}})?(?:_|\^){_INDEX}{_LETTER}([CP])\}}?\s*_{_INDEX}"),
    re.compile(rf"(?<![A-Za-z\\]){_LETTER}([CPA])\}}?\s*_{_INDEX}\^{_INDEX}"),
    re.compile(rf"(?<![A-Za-z\\]){_LETTER}([CPA])\}}?\s*\^{_INDEX}_{_INDEX}"),
    re.compile(r"(?<![\w.}\\])(\d{1,4})\s?(C)\s?(\d{1,4})(?![\w.])"),
    re.compile(r"(?<![A-Za-z\\])(C)\((\d{1,4}),\s*(\d{1,4})\)"),
    re.compile(r"(?<![\w.])(\d{1,4})\s*(?:\\text\s*\{)?\s*(choose)\s*\}?\s*(\d{1,4})(?![\w.])"),
)
"""Schools' notations for combinations and permutations, of two numbers: `{}_{10}C_3`, `C_{10}^3`,
`10C3`, `C(10,3)`, `10 choose 3`."""
_LEAD: Final = re.compile(
    r"(?P<open>\\(?:text|textbf|textrm|mathrm|mbox)\s*\{)\s*(?:(?:so|thus|hence|therefore|yes),?\s+)?"
    r"(?:(?:the|our|my)\s+)?(?:final\s+|correct\s+)?(?:"
    r"(?:answer|result|value|total|sum|solution|minimum|maximum)(?:\s+value)?\s*(?:is|equals|=|:)"
    r"|exactly|precisely|only|just|a\s+total\s+of|total\s+of|in\s+total|equal\s+to|equals|is|yes,"
    r"|there\s+are|we\s+get|we\s+have|it\s+is|namely|i\.e\.,?)\s*:?\s*(?:exactly\s+)?"
    r"(?P<close>\}\s*(?=[-+\d\\(\[{$A-Za-z])|(?=[-+]?\d[\d.,/]*\s*\}))",
    re.IGNORECASE,
)
"""Words before an answer that leave it as it is; a text command ends with them, or holds it."""
_ALL_THAT: Final = re.compile(
    r"\\text\s*\{\s*(?:for\s+)?(?:all|any|every)(?:\s+(?:real|integers?))?\s*\}\s*"
    r"(?=[a-z]\s*(?:[<>]|\\(?:ge|le|ne|gt|lt|in)))"
)
_MAPPING: Final = re.compile(r"(?:([A-Za-z])\s*(?::|\\colon\b)\s*)?([a-z])\s*\\mapsto\s*(?=\S)")
_STYLED_GROUP: Final = re.compile(r"\{\s*\\rm(?:\s+|(?=\{))([^{}\\]*)\}")
_BARE_STYLE: Final = re.compile(r"\\mathrm\s*d(?=\s*[a-z](?![A-Za-z]))")
_UNIT_PRODUCT: Final = re.compile(
    r"\\(?:mathrm|text|rm)\s*\{((?:[A-Za-z~ ./]|\\[,;: !]|\\cdot(?![A-Za-z])\s*"
    r"|\^\s*\{?\s*-?\d\s*\}?){2,60})\}"
)
_UNIT_LAYOUT: Final = re.compile(r"\\[,;: !]|\\cdot|~")
_PREFIXED_NUMERAL: Final = re.compile(
    r"(?:\\text\s*\{\s*)?0(?:b([01]{1,200})|x([0-9A-Fa-f]{1,40})|o([0-7]{1,60}))\}?"
)
_STYLED_DIGITS: Final = re.compile(
    r"(?<=[0-9A-F])\\(?:mathrm|text)\s*\{([0-9A-F]+)\}(?=[0-9A-F]*\s*_)"
)
_BARRED_NUMERAL: Final = re.compile(r"\\overline\s*\{(\d{1,40})\}(?=\s*_)")
_SYSTEM_OPENS: Final = re.compile(
    r"\\left\s*\\(?:\{|lbrace)\s*(?=\\begin\s*\{)(?:\\begin\s*\{array\}\s*\{\s*[lcr|\s]*\})?"
)
_SYSTEM_CLOSES: Final = re.compile(r"(?:\\end\s*\{array\})?\s*\\right\s*\.")
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
    """The answer in ASCII TeX or plain notation, unwrapped; raises TooLarge beyond the limit."""
    if len(text) > MAX_CHARS:
        raise TooLarge(f"{len(text):,} characters, limit {MAX_CHARS:,}")
    if not text.isascii():
        text = to_ascii(text)
    text = unwrap(text)
    if "\\" in text:
        text = _UNSEEN.sub(" ", text)
    if "\\\\" in text:
        text = _undouble(text)
    if "\\" in text:
        text = _plain_styles(text)
    if "10^" in text:
        text = _TIMES_TEN.sub(r"\1\\times 10^", text)
    if "\\right" in text and "\\begin" in text:
        text = _spell_system(text)
    if "\\left" in text:
        text = _SIZED_BRACKET.sub("", text)
    text = _spell_out(text)
    return _drop_dollars(text) if "$" in text else text


def _spell_system(text: str) -> str:
    """A system behind one large brace as `cases`; other environments lose the brace alone."""
    opening, closing = _SYSTEM_OPENS.search(text), _SYSTEM_CLOSES.search(text)
    if opening is None or closing is None or closing.start() < opening.end():
        return text
    inside = text[opening.end() : closing.start()]
    if "array" in opening[0] and "array" in closing[0]:
        inside = rf"\begin{{cases}}{inside}\end{{cases}}"
    return f"{text[: opening.start()]}{inside}{text[closing.end() :]}"


def _plain_styles(text: str) -> str:
    """Words that lead to the answer taken off, and units and digits without styles inside."""
    if "rm" in text:
        text = _BARE_STYLE.sub("d", _STYLED_GROUP.sub(r"\\text{\1}", text))
    if "^" in text:
        text = _UNIT_PRODUCT.sub(_spell_unit, text)
    lead = _LEAD.match(text)
    if lead is not None:
        text = (lead["open"] if not lead["close"] else "") + text[lead.end() :]
    every = _ALL_THAT.match(text)
    text = text if every is None else text[every.end() :]
    mapping = _MAPPING.match(text) if "mapsto" in text else None
    if mapping is not None:
        return f"{mapping[1] or 'f'}({mapping[2]})={text[mapping.end() :]}"
    return text


def _spell_unit(match: re.Match[str]) -> str:
    r"""`\mathrm{m\,s^{-2}}` as `\text{m s^-2}`; unchanged without a power inside."""
    if "^" not in match[1]:
        return match[0]
    inside = _UNIT_LAYOUT.sub(" ", match[1]).replace("{", "").replace("}", "")
    return f"\\text{{{inside.replace('^ ', '^')}}}"


def _spell_out(text: str) -> str:
    """Shorthand in its TeX form: `0.33...`, `<1, 2>`, `(mod 7)`, `2 to 3`."""
    for sign, rule in _SHORTHAND:
        if sign in text:
            text = rule(text)
    unending = _UNENDING.fullmatch(text) if "." in text else None
    if unending is not None:
        return unending[1] + _with_period(unending[2])
    return text


def _spell_labels(text: str) -> str:
    """`(1)(3)` as a list of statements, and `0.(3)` with its period marked."""
    labels = _LABELS.fullmatch(text)
    if labels is not None:
        return labels[1].replace(")", "),").rstrip(" ,")
    return _BRACKETED_PERIOD.sub(r"\1\\overline{\2}", text) if text[-1:] == ")" else text


def _spell_combinations(text: str) -> str:
    for pattern in _COMBINATIONS:
        text = pattern.sub(_spell_combination, text)
    return text


def _spell_combination(match: re.Match[str]) -> str:
    """`\\binom{n}{k}` of the two numbers; unchanged if they cannot be n and k in any order."""
    groups = [group for group in match.groups() if group]
    kind = next(group for group in groups if not group.isdigit())
    first, second = (int(group) for group in groups if group.isdigit())
    raised_first = match.re is _COMBINATIONS[2]
    n, k = (second, first) if raised_first else (first, second)
    if not 0 <= k < n:
        return match[0]
    if kind in "PA":
        return f"\\frac{{{n}!}}{{{n - k}!}}"
    return f"\\binom{{{n}}}{{{k}}}"


def _spell_primed(text: str) -> str:
    return f"\\text{{{text}}}" if _PRIMED_LABEL.fullmatch(text) else text


def _spell_base(match: re.Match[str]) -> str:
    """`(1011)_2`, `1011_{\text{two}}` and `1011 base two` as `1011_{2}`."""
    opening, digits, closing, *words = match.groups()
    word = next(word for word in words if word)
    base = int(word) if word.isdigit() else BASES.get(word, 0)
    if not 2 <= base <= 36 or (opening is None) != (closing is None):
        return match[0]
    return f"{digits}_{{{base}}}"


def _spell_prefixed(match: re.Match[str]) -> str:
    """`0b1101` and `0x2A`, as programs write them, with their base below."""
    binary, sixteen, octal = match.groups()
    base = 2 if binary else 16 if sixteen else 8
    return f"{(binary or sixteen or octal).upper()}_{{{base}}}"


def _plain_numerals(text: str) -> str:
    return _BARRED_NUMERAL.sub(r"\1", _STYLED_DIGITS.sub(r"\1", text))


def _with_period(digits: str) -> str:
    """The digits with the part that repeats marked; unchanged if none is seen to."""
    at_once = _PERIOD_AT_ONCE.fullmatch(digits)
    if at_once is not None:
        return f"\\overline{{{at_once[1]}}}"
    starts = [(_period_start(digits, length), order) for order, length in enumerate(_PERIODS)]
    start, order = min(starts)
    if start == len(digits):
        return digits
    return f"{digits[:start]}\\overline{{{digits[start : start + _PERIODS[order]]}}}"


def _period_start(digits: str, length: int) -> int:
    """Where the digits start to repeat with this length, often enough, up to the end."""
    start = len(digits) - length
    while start > 0 and digits[start - 1] == digits[start - 1 + length]:
        start -= 1
    repeats = (len(digits) - start) // length
    if start < 0 or repeats < (2 if length == 1 else 3):
        return len(digits)
    return len(digits) - repeats * length


def to_ascii(text: str) -> str:
    """Signs, digits and letters of other scripts in TeX; what has no TeX name is left alone."""
    text = text.translate(_INVISIBLE)
    text = _AREA.sub(r"\1\\text{ \2}\3", text)
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^{" + run[0].translate(_SUPERSCRIPTS) + "}", text)
    text = _SUBSCRIPT_RUN.sub(lambda run: "_{" + run[0].translate(_SUBSCRIPTS) + "}", text)
    text = _VULGAR.sub(_spell_vulgar, text)
    return "".join(c if c.isascii() else _ascii_character(c) for c in text)


def unwrap(text: str) -> str:
    """The text without the delimiters, boxes and final stop that surround all of it."""
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
    if character in _GREEK:
        return f"\\{_GREEK[character]} "
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character.isspace():
        return " "
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 and folded.isascii() and folded.isprintable() else character


def _spell_angled(match: re.Match[str]) -> str:
    """`<1, 2>` as a vector; without a comma it is left alone."""
    return f"{match[1]}\\langle {match[2]}\\rangle" if "," in match[2] else match[0]


def _spell_vulgar(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match[2]).split("⁄")
    return f"{match[1]}\\frac{{{top}}}{{{bottom}}}"


def _undouble(text: str) -> str:
    """Commands with one backslash, where a doubled one cannot be a row break."""
    if "\\begin" in text and "\\\\begin" not in text:
        return text
    if "\\\\begin" in text:
        return text.replace("\\\\", "\\")
    return _ROW_BREAK_BEFORE_COMMAND.sub(lambda _: "\\", text)


def _drop_dollars(text: str) -> str:
    """Text without math delimiters; a lone dollar before a digit is money."""
    bare = text.replace("\\$", "")
    if bare.count("$") == 1:
        at = bare.index("$")
        if bare[at + 1 : at + 2].isdigit() or bare[at + 1 : at + 2] == ".":
            return re.sub(r"(?<!\\)\$", lambda _: "\\$", text)
    return re.sub(r"(?<!\\)\$", " ", text)


_SHORTHAND: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("except", without_clause),
    ("other than", without_clause),
    ("for", without_clause),
    ("wh", without_clause),
    ("with", without_clause),
    ("\\in", without_clause),
    (">", partial(_ANGLED.sub, _spell_angled)),
    ("C", _spell_combinations),
    ("P", _spell_combinations),
    ("A", _spell_combinations),
    ("choose", _spell_combinations),
    ("0b", partial(_PREFIXED_NUMERAL.sub, _spell_prefixed)),
    ("0x", partial(_PREFIXED_NUMERAL.sub, _spell_prefixed)),
    ("0o", partial(_PREFIXED_NUMERAL.sub, _spell_prefixed)),
    ("'", shorthand.join_digits),
    (" to", shorthand.spell_proportion),
    ("mathbb", shorthand.spell_residues),
    ("/d", shorthand.spell_derivative),
    ("_", shorthand.spell_numeral),
    (",", shorthand.spell_line),
    ("_", _plain_numerals),
    ("_", partial(_NUMERAL_BASE.sub, _spell_base)),
    ("binary", partial(_NUMERAL_BASE.sub, _spell_base)),
    ("octal", partial(_NUMERAL_BASE.sub, _spell_base)),
    ("decimal", partial(_NUMERAL_BASE.sub, _spell_base)),
    ("base", partial(_NUMERAL_BASE.sub, _spell_base)),
    ("^", partial(_RAISED_ORDINAL.sub, r"\\text{\1}")),
    (")", _spell_labels),
    ("'", _spell_primed),
    ("angle", partial(_MEASURE.sub, "")),
    ("mod", partial(_MODULUS.sub, r"\\pmod{\1}")),
)
"""A sign that shorthand has, and what rewrites it."""
