"""Answers made to take a grader's time, memory or nerve, or to be executed; none is right.

Most are of a kind that stopped a training run somewhere: a tower of powers that a computer algebra
system tried to evaluate, brackets deeper than the recursion limit, spaces that make a regular
expression backtrack, numbers that take minutes to print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from assay.audit.isolation import MARKER
from assay.schema.audit import Kind

MILLION: Final = 1_000_000

HostileText: TypeAlias = tuple[str, Callable[[], str]]
"""What it is, and a function that makes it: some are long."""


def hostile_texts(kind: Kind) -> tuple[HostileText, ...]:
    """The hostile answers for a reward of that kind."""
    texts = (*_TEXTS, *_UNCLOSED)
    return (*texts, *_MATHS) if kind in ("maths", "agent") else texts


def payloads() -> Iterator[tuple[str, str]]:
    """Answers that leave a file behind if any part of them is executed: the file, the answer."""
    for number, template in enumerate(_PAYLOADS):
        name = f"{MARKER}_{number:02d}"
        yield name, template.replace("@@", name).replace("@", name)


def _matrix(side: int) -> str:
    row = " & ".join(str(number) for number in range(side))
    body = r" \\ ".join(row for _ in range(side))
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _entities() -> str:
    lines = [f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9)]
    return f'<!DOCTYPE x [<!ENTITY a0 "x">{"".join(lines)}]><x>&a9;</x>'


def _aliases() -> str:
    return "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])


_TEXTS: Final[tuple[HostileText, ...]] = (
    ("a million digits", lambda: "7" * MILLION),
    ("a million letters", lambda: "word " * (MILLION // 5)),
    ("five million letters", lambda: "word " * MILLION),
    ("spaces before the end", lambda: " " * 50_000 + "x"),
    ("line breaks", lambda: "\n" * 100_000 + "x"),
    ("tabs and spaces", lambda: "\t " * 30_000 + "!"),
    ("the same letter, then a mark", lambda: "a" * 50_000 + "!"),
    ("words and commas", lambda: "a, " * 30_000 + "!"),
    ("digits and commas", lambda: "1," * 50_000 + "x"),
    ("signs", lambda: "-" * 50_000 + "1"),
    ("open brackets", lambda: "(" * 200_000),
    ("open braces", lambda: "{" * 200_000),
    ("nested brackets", lambda: "(" * 5_000 + "1" + ")" * 5_000),
    ("nested braces", lambda: "{" * 5_000 + "1" + "}" * 5_000),
    ("open boxes", lambda: r"\boxed{" * 5_000),
    ("nested boxes", lambda: r"\boxed{" * 3_000 + "1" + "}" * 3_000),
    ("open answer tags", lambda: "<answer>" * 10_000),
    ("open thoughts", lambda: "<think>" * 10_000),
    ("answer tags, closed first", lambda: "</answer>" * 10_000 + "<answer>"),
    ("dollar signs", lambda: "$" * 20_001),
    ("backslashes", lambda: "\\" * 50_001),
    ("quotes", lambda: "'\"" * 20_000),
    ("stars", lambda: "*" * 50_000 + "a"),
    ("underscores", lambda: "_" * 50_000 + "a"),
    ("back ticks", lambda: "`" * 50_000 + "a"),
    ("equality signs", lambda: "= " * 30_000),
    ("phrases", lambda: "the answer is " * 10_000),
    ("marks on one letter", lambda: "a" + "\u0301" * 100_000),
    ("nulls", lambda: "\0" * 50_000),
    ("lone surrogates", lambda: "\ud800" * 10_000),
    ("joined emoji", lambda: "\U0001f468\u200d" * 20_000),
    ("right to left", lambda: "\u202e" * 20_000 + "x"),
    ("digits of another script", lambda: "\u0667" * 20_000),
    ("nested list", lambda: "[" * 50_000 + "]" * 50_000),
    ("nested object", lambda: '{"a":' * 20_000 + "1" + "}" * 20_000),
    ("long list", lambda: "[" + "1," * 100_000 + "1]"),
    ("an integer in JSON", lambda: '{"a": ' + "9" * 20_000 + "}"),
    ("an exponent in JSON", lambda: '{"a": 1e999999999}'),
    ("nested tags", lambda: "<b>" * 20_000 + "x" + "</b>" * 20_000),
    ("entities within entities", _entities),
    ("aliases within aliases", _aliases),
    ("a date far away", lambda: "9" * 5_000 + "-12-31"),
    ("format fields", lambda: "{:>999999999}" + "%999999999d" + "{0.__class__}"),
)

_OPENINGS: Final = (
    "<think>",
    "<think></think>\n<answer>",
    "<answer>",
    r"\boxed{",
    "```json\n",
    "Answer: ",
    "#### ",
    '{"answer": "',
    "[",
    "$",
)
"""Where frames begin; what follows them is what a regular expression has to give up on."""
_FILLINGS: Final = (("letters", "a"), ("spaces", " "), ("words", "a b "), ("lines", "a\n"))
_FILLED: Final = 20_000


def _unclosed(opening: str, filling: tuple[str, str]) -> HostileText:
    name, text = filling
    title = f"{opening.strip()} and {name} without an end"
    return title, lambda: opening + text * (_FILLED // len(text))


_UNCLOSED: Final[tuple[HostileText, ...]] = tuple(
    _unclosed(opening, filling) for opening in _OPENINGS for filling in _FILLINGS
)

_MATHS: Final[tuple[HostileText, ...]] = (
    ("power tower", lambda: "9**9**9"),
    ("power tower in TeX", lambda: r"9^{9^{9^{9}}}"),
    ("ten to the ten to the ten", lambda: r"10^{10^{10}}"),
    ("large exponent", lambda: "1e1000000"),
    ("tiny exponent", lambda: "1e-1000000"),
    ("two to a billion", lambda: "2^{1000000000}"),
    ("factorial", lambda: "1000000!"),
    ("factorial of a factorial", lambda: "((100!)!)!"),
    ("binomial", lambda: r"\binom{1000000000}{500000000}"),
    ("long sum", lambda: r"\sum_{k=1}^{1000000000000} \frac{1}{k}"),
    ("long product", lambda: r"\prod_{k=1}^{1000000000} k"),
    ("polynomial power", lambda: "(x+1)^{100000}"),
    ("many variables", lambda: "(a+b+c+d+e+f+g+h)^{60}"),
    ("power of a power", lambda: "((((x+1)^{30}+1)^{30}+1)^{30}+1)^{30}"),
    ("many symbols", lambda: "+".join(f"x_{{{n}}}" for n in range(5_000))),
    ("nested fractions", lambda: r"\frac{1}{1+" * 1_000 + "1" + "}" * 1_000),
    ("nested roots", lambda: r"\sqrt{2+" * 1_000 + "1" + "}" * 1_000),
    ("nested sines", lambda: r"\sin(" * 500 + "1" + ")" * 500),
    ("nested logarithms", lambda: r"\log(" * 500 + "9" + ")" * 500),
    ("large fraction", lambda: r"\frac{" + "7" * 50_000 + "}{" + "9" * 50_000 + "}"),
    ("many decimals", lambda: "0." + "3" * 200_000),
    ("large root", lambda: r"\sqrt{" + "7" * 20_000 + "}"),
    ("large matrix", lambda: _matrix(150)),
    ("large set", lambda: r"\{" + ",".join(map(str, range(20_000))) + r"\}"),
    ("many intervals", lambda: r"\cup".join(f"({n},{n + 1})" for n in range(0, 10_000, 2))),
    ("chain of equations", lambda: "1" + "=1" * 20_000 + "=2"),
    ("integral", lambda: r"\int_0^{1000000} e^{x^{x^{x}}} \sin(x^{100}) dx"),
    ("large modulus", lambda: r"7^{7^{7^{7}}} \mod{1000000007}"),
    ("greatest common divisor", lambda: rf"\gcd({'7' * 20_000},{'9' * 20_000})"),
    ("large prime to factor", lambda: r"\phi(" + "7" * 200 + ")"),
    ("repeated roots", lambda: "+".join(rf"\sqrt{{{n}}}" for n in range(2, 60))),
)

_PAYLOADS: Final = (
    "open('@','w').close()",
    "__import__('os').system('touch @')",
    "__import__('pathlib').Path('@').touch()",
    "exec(\"open('@','w').close()\")",
    "eval(\"open('@','w').close()\")",
    "[open('@','w') for _ in (1,)]",
    "(lambda: open('@','w').close())()",
    "1 if open('@','w') else 2",
    "1 + (open('@','w') and 0)",
    "0*len([open('@','w')])+4",
    "str(open('@','w'))",
    "getattr(__import__('os'), 'system')('touch @')",
    "__builtins__['open']('@','w')",
    "().__class__.__base__.__subclasses__() and open('@','w')",
    "Symbol('x').__class__.__init__.__globals__['__builtins__']['open']('@','w')",
    "sympify(\"open('@','w')\")",
    r"\frac{open('@','w')}{1}",
    r"x^{__import__('os').system('touch @')}",
    "x=open('@','w')",
    "lambda x: open('@','w')",
    "import os; os.system('touch @')",
    "```python\nopen('@','w').close()\n```",
    "<code>open('@','w').close()</code>",
    "{{ cycler.__init__.__globals__.os.popen('touch @').read() }}",
    "{% import os %}{{ os.system('touch @') }}",
    "${__import__('os').system('touch @')}",
    "<% open('@','w').close() %>",
    "f\"{open('@','w')}\"",
    "$(touch @)",
    "`touch @`",
    "'; touch @; '",
    '"; touch @; "',
    "| touch @",
    "&& touch @",
    r"\immediate\write18{touch @}",
    '\\input{|"touch @"}',
    '!!python/object/apply:os.system ["touch @"]',
    '{"py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["touch @"]}]}',
    "cos\nsystem\n(S'touch @'\ntR.",
    '{"__class__": "os.system", "args": ["touch @"]}',
    "@@(4)",
    "@ + 4",
)
"""`@` is the name of the file, which says which payload was executed."""
