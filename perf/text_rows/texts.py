"""Texts that are built like answers: formulas, JSON, numbers, dates, lists, prose, templates."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

MOST_CHARS = 4_000
"""Longest text of the common kind, so that a million of them can be scored."""
LONG_CHARS = (8_000, 16_000, 64_000, 256_000)

REFERENCES = (
    "42", r"-\frac{3}{4}", "0.125", "1,234,567", r"2\sqrt{3}+1", "x^2+2x+1", "(1, 2)", "[0, 1)",
    r"\{1, 2, 3\}", r"(-\infty, 3) \cup (5, \infty)", r"\frac{\pi}{6}", "x = 5", "y > 3",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"50\%", r"12 \text{ cm}^2", r"\emptyset",
    r"1 \pm \sqrt{5}", "204_5", "3:4", "12:30", r"e^{i\pi}", r"\binom{10}{3}", "5!", "(A)",
    r"\sin^2 x", r"\log_2 8", "2024^{4046}", r"\text{Evelyn}", r"\sum_{k=1}^{10} k^2",
    r"\int_0^1 x^2 dx", r"\lim_{x \to 0} \frac{\sin x}{x}", r"1.5 \times 10^{-3}", "|x-2|",
    r"\lfloor 3.7 \rfloor", r"\$15,\!000", "no solution", r"90^\circ", "Paris", "the Beatles",
    "yes", "noanswer", "", "McDonald's", "C++", "São Paulo", "12 million", "3.5 km", "$4.99",
    "July 4, 1776", "2024-02-29", "04/07/2024", "Alice, Bob and Carol", "red; green; blue",
    "first line\nsecond line\nthird", '{"name": "Ann", "age": 3}', '[{"a": 1}, {"a": "2"}]',
    '["x", "y"]', '{"name": "Ann", "tags": ["a", "b"]}\n{"name": "Bo", "tags": []}', "-5", "1e10",
    "The answer is \\boxed{7}.", r"\boxed{1}, \boxed{2}", "東京", "٤٢", "½", "نعم",
)  # fmt: skip
ATOMS = (
    "1",
    "2",
    "0",
    "x",
    "y",
    "n",
    r"\pi",
    "e",
    "i",
    "10",
    "0.5",
    "99999",
    "7/3",
    "1e9",
    r"\infty",
)
FORMS = (
    "A+B", "A-B", "A B", "A*B", "A/B", r"\frac{A}{B}", "A^{B}", "A^B", r"\sqrt{A}", r"\sqrt[B]{A}",
    "(A)", r"\left(A\right)", "|A|", "A!", r"\sin(A)", r"\log_{B}(A)", r"\binom{A}{B}", "f(A)",
    r"\sum_{k=1}^{A} B", r"\prod_{k=1}^{A} B", r"\int_0^{A} B dx", r"\lim_{x \to A} B", "A:B",
    r"\{A, B\}", "(A, B]", "A = B", r"A \le B", r"A \pm B", r"\lfloor A \rfloor", r"A \bmod B",
    r"\begin{bmatrix}A & B\\B & A\end{bmatrix}", r"A\%", r"A \text{ cm}", "A_{B}", "e^{A}",
    r"\gcd(A, B)", r"A \cup B", r"A \cap B", r"A \setminus B", "A or B", "x < A < B", r"A \in B",
    r"\begin{cases}A & B\\B & A\end{cases}", r"\overline{A}", r"\mathbf{A} \times B", r"A \to B",
)  # fmt: skip
PIECES = (
    r"\(", r"\)", r"\[", r"\]", "{}", "--", r"\{", r"\}", "~~", "3", "-3", " = ", "5", "..", "?",
    r"\frac", "{", "}", "(", ")", "[", "]", r"\left", r"\right", "^", "_", r"\sqrt", "1", "0", "9",
    ".", ",", "-", "+", "/", "*", "!", "=", "<", ">", r"\le", r"\pm", r"\cup", r"\text{", "&",
    r"\begin{pmatrix}", r"\end{pmatrix}", "\\\\", "$", "%", r"\%", "|", "x", "y", "e", "i", r"\pi",
    r"\infty", r"\sum", r"\int", r"\lim", r"\binom", r"\boxed{", r"\boxed{}", r"\fbox", "<think>",
    "</think>", "the answer is ", " or ", " and ", "not ", r"\circ", r"\cdot", r"\times", "e9",
    "\u200b", "−", "²", "½", "\x00", "\ud800", "\udfff", "答案是", "####", "<answer>", "</answer>",
    "```", "**", "\n", " ", ":", ";", "'", '"', "\\", "mod", "log", "~", "<|im_end|>", "</s>",
    "<|im_start|>assistant\n", "[INST]", "<｜end▁of▁sentence｜>", "<tool_call>", "{{", "}}", "%s",
    '{"a": ', '": ', "null", "NaN", "-Infinity", "true", "\t", "\r\n", "\x1c", "\u2028", "\ufdfa",
    "a\u0301", "\u0301", "\u202e", "ﬁ", "İ", "ß", "１２", "٣", "Ⅻ", "🏳️‍🌈",
    "the ", "a ", "an ", "inf",
    "1,234", "1.234,5", "$3", "50%", "million", " km", "Jan 5, 2024", "2024-13-45", "12:61", "no ",
    "yes", "either ", "maybe ", "I don't know", "wait, ", "actually ", " instead of ", "- ", "1. ",
)  # fmt: skip
SIGNS = (
    "{", "}", "{}", "(", ")", "[", "]", "-", "+", ".", ",", "/", "^", "=", "<", "|", "$", "%", " ",
    "\\",
)  # fmt: skip
WORDS = (
    "the", "a", "of", "answer", "is", "Paris", "not", "because", "therefore", "value", "we", "get",
    "12", "3.5", "1,000", "x", "yes", "no", "or", "and", "naïve", "it's", "state-of-the-art", "nan",
    "infinity", "final", "Answer:", "So", "Thus,", "result.", "equals", "approximately", "I",
)  # fmt: skip
FRAMES = (
    "@", "@", "@", r"\boxed{@}", r"\boxed{@}", "The answer is @.", "So $@$.", "#### @", r"\[ @ \]",
    "<answer>@</answer>", "<answer>@", r"<think>@</think> \boxed{@}", "Let x be 3. **Answer**: @",
    r"\boxed{@} or \boxed{@}", r"not \boxed{@}", "Final answer: $@$ I hope it is correct.",
    "```\n@\n```", "**@**", '"@"', "@\n\n@", "[@]", '{"answer": "@"}', "My answer: @?", "答案是@。",
    "<|im_start|>assistant\n@<|im_end|>\n<|im_start|>user\n@", "[INST] q [/INST] @</s>",
    r"\boxed{@} or 5", r"3 or \boxed{@}", "~~@~~ @", "3 and @", "@, not 5",
    "<tool_call>@</tool_call><answer>@</answer>", "@ <answer>@</answer> @", "1. @\n2. @\n- @",
)  # fmt: skip


def generated_text(rng: random.Random, gold: str) -> str:
    """A text of one of the kinds, of at most a few thousand characters."""
    text = rng.choice(_MAKERS)(rng, gold)
    if rng.random() < 0.2:
        text = _mutated(rng, text[:200])
    return text[:MOST_CHARS]


def frame(rng: random.Random, text: str) -> str:
    """The text, stated as an answer in one of many ways."""
    return rng.choice(FRAMES).replace("@", text)


def long_text(rng: random.Random, gold: str) -> str:
    """A text of up to 256,000 characters, of few pieces."""
    length = rng.choice(LONG_CHARS)
    unit = "".join(rng.choices((*PIECES, gold), k=rng.choice((1, 1, 2, 3, 6)))) or "a"
    before, after = rng.choice((("", ""), *_OPENINGS))
    return before + unit * (length // len(unit)) + rng.choice((after, ""))


_OPENINGS = (
    ("<answer>", "</answer>"), (r"\boxed{", "}"), ("The answer is ", "."), ("<think>", "</think>7"),
    ("[", "]"), ('"', '"'), ("$", "$"), ("- ", "\n"), ('[{"a": "', '"}]'),
)  # fmt: skip
_NESTS = (
    ("(", ")"), ("{", "}"), ("[", "]"), (r"\sqrt{", "}"), (r"\frac{1}{", "}"), ("2^{", "}"),
    (r"\left(", r"\right)"), ("|", "|"), (r"\sin(", ")"), ("-", ""), (r"\text{", "}"), ("9^", ""),
    (r"\{", r"\}"), (r"\begin{pmatrix}", r"\end{pmatrix}"), (r"\boxed{", "}"), ("", "!"),
    ("f(", ")"), ('{"a": ', "}"), ('["', '"]'), ("**", "**"), ("<answer>", "</answer>"),
)  # fmt: skip
_HUGE = (
    "D", "0.D", "D/D", "1eD", "1e-D", "D!", "2^{D}", "D^{D}", r"\sqrt{D}", r"\binom{D}{7}", r"D\%",
    r"\sum_{k=1}^{D} k", "x^{D}", "(x+1)^{D}", "D_7", r"\frac{1}{D}", "D.D", "10^{-D}", r"\log(D)",
    "-D", "$D", "D million", "[D]", '{"a": D}', "D,D", "D km",
)  # fmt: skip


def _mutated(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randint(0, len(text)) for _ in range(2))
        edit = rng.randrange(6)
        if edit == 0:
            text = text[:at] + text[to:]
        elif edit == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif edit == 2:
            text = text[:at] + text[at:to] * rng.randint(2, 5) + text[to:]
        elif edit == 3:
            text = text[:at] + rng.choice(REFERENCES) + text[to:]
        elif edit == 4:
            text = text[:to]
        else:
            text = text[:at] + chr(rng.randrange(0x110000)) + text[at:]
    return text


def _formula(rng: random.Random, gold: str, depth: int = 0) -> str:
    if depth > 5 or rng.random() < 0.25:
        return rng.choice((*ATOMS, gold[:40]))
    form = rng.choice(FORMS)
    first = _formula(rng, gold, depth + 1)
    second = _formula(rng, gold, depth + 1) if "B" in form else ""
    return form.replace("A", first).replace("B", second)[:MOST_CHARS]


def _json(rng: random.Random, gold: str) -> str:
    value = _json_value(rng, gold, 0)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 2)))
    if rng.random() < 0.3:
        text = text.replace('"', "'")
    lines = rng.choice((1, 1, 1, 3))
    return "\n".join([text] * lines)[: rng.choice((MOST_CHARS, MOST_CHARS, 30))]


def _json_value(rng: random.Random, gold: str, depth: int) -> object:
    kind = rng.randrange(3 if depth < 3 else 1)
    if kind == 0:
        return rng.choice((gold, 1, -2.5, None, True, "", "1,000", "nan", 10**20, "a b", 1e308))
    size = rng.randint(0, 4)
    values = [_json_value(rng, gold, depth + 1) for _ in range(size)]
    return values if kind == 1 else dict(zip(rng.sample(WORDS, size), values, strict=True))


def _number(rng: random.Random, gold: str) -> str:
    digits = "".join(rng.choices("0123456789", k=rng.randint(1, 12)))
    shape = rng.choice(
        ("D", "-D", "+D", "D.D", "0.D", "D,DDD", "D e5", "De-7", "$D", "D%", "D/7", "D km", "−D",
         "D million", "D°", ".D", "D.", "00D", "D_8", "D:30", "D ± 2", "~D", "> D", "D-D", "#D")
    )  # fmt: skip
    text = shape.replace("D", digits)
    if rng.random() < 0.1:
        text = "".join(chr(0xFF10 + int(char)) if char.isdigit() else char for char in text)
    return rng.choice((text, f"{text} {gold}", f"{gold} {text}"))


def _date(rng: random.Random, _gold: str) -> str:
    day, month, year = (
        rng.randint(0, 33),
        rng.randint(0, 14),
        rng.choice((1, 24, 1776, 2024, 99999)),
    )
    name = rng.choice(("Jan", "february", "MÄRZ", "Sept.", "Dec"))
    return rng.choice(
        (f"{year}-{month:02}-{day:02}", f"{day}/{month}/{year}", f"{name} {day}, {year}",
         f"{day}th of {name} {year}", f"{name} {year}", f"{day}.{month}.{year}", f"{year}",
         f"{year}-{month}-{day}T25:61:00Z", f"{name} {day}-{day + 3}, {year}")
    )  # fmt: skip


def _listing(rng: random.Random, gold: str) -> str:
    items = [rng.choice((gold, *REFERENCES[:12], *WORDS[:8])) for _ in range(rng.randint(1, 12))]
    if rng.random() < 0.03:
        items *= 40
    separator = rng.choice(
        (", ", "; ", "\n", "\n- ", " and ", " or ", "|", " / ", "\n\n", ",\n", " & ")
    )
    return separator.join(items)


def _prose(rng: random.Random, gold: str) -> str:
    return " ".join(rng.choices((*WORDS, gold), k=rng.choice((3, 10, 40, 120))))


def _nested(rng: random.Random, gold: str) -> str:
    opening, closing = rng.choice(_NESTS)
    depth = rng.choice((1, 2, 2, 3, 5, 20, 30, 100, 400))
    inner = rng.choice((gold, gold, ""))
    return opening * depth + inner + closing * (depth - rng.choice((0, 0, 1)))


def _repeated(rng: random.Random, gold: str) -> str:
    return rng.choice((*PIECES, gold, f"{gold}+", f"{gold},")) * rng.choice((20, 60, 200, 600))


def _huge(rng: random.Random, _gold: str) -> str:
    digits = "".join(rng.choices("0123456789", k=rng.choice((20, 60, 400, 1_500))))
    return rng.choice(_HUGE).replace("D", digits)


def _code_points(rng: random.Random, gold: str) -> str:
    limit = rng.choice((0x80, 0x300, 0x3000, 0x110000))
    points = "".join(map(chr, rng.choices(range(limit), k=rng.choice((1, 5, 30)))))
    return rng.choice((points, points + gold, gold + points))


def _few_pieces(rng: random.Random, gold: str) -> str:
    """A few pieces, in any order and number: what a reader takes for granted goes missing."""
    pieces = [rng.choice(PIECES) for _ in range(rng.randint(1, 2))]
    pieces += [rng.choice(SIGNS), rng.choice((gold, "3", "x", "", "0"))]
    return "".join(rng.choices(pieces, k=rng.randint(1, 8)))


def _pieces(rng: random.Random, _gold: str) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(1, 40)))


_MAKERS: tuple[Callable[[random.Random, str], str], ...] = (
    _mutated, lambda _rng, gold: gold, _formula, _formula, _json, _number, _date,
    _listing, _prose, _nested, _repeated, _huge, _code_points, _pieces,
    _few_pieces, _few_pieces, _few_pieces,
)  # fmt: skip
