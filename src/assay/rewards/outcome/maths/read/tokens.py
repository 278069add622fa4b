"""The scanner, which splits cleaned text into tokens, and the cursor that reads the tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.rewards.outcome.maths.compute import notations
from assay.rewards.outcome.maths.limits import MAX_DEPTH, MAX_TOKENS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Node
from assay.rewards.outcome.maths.read import lexicon, nouns, units

Kind = Literal[
    "number", "grouped", "name", "function", "constant", "op", "open", "close", "rel", "sep",
    "text", "unit", "command", "operator", "end",
]  # fmt: skip


class Token(NamedTuple):
    """A token of mathematical text."""

    kind: Kind
    text: str
    gap: bool = False
    """Whitespace stood before it."""


_SCAN: Final = re.compile(
    r"""
    (?P<space>[\s~]+|\\[,;:!>\ ]|\\(?=\s|$)|\{\}|(?<=[a-z])\{\s\})
  | (?P<grouped>\d{1,3}(?:(?:,|\ ?\{,\ ?\}|,?\\[!,;]\ ?|,\ ?\\!\ ?|\ |~)\d{3})+(?![\d])(?:\.\d+)?)
  | (?P<numeral>(?:[0-9][0-9A-F]{1,40}|[A-F]{2,20}[0-9A-F]{0,20})(?=_\{1[1-6]\}))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9}(?![\w.]))?)
  | (?P<text>\\(?:TEXT)\s*\{(?P<content>[^{}$\\]{0,200}(?:\\[ ,;%$][^{}$\\]{0,40}){0,3})\})
  | (?P<lone>\\[{}|%$&\#_\\]|%)
  | (?P<command>\\[A-Za-z]+\*?)
  | (?P<letters>[A-Za-z]+)
  | (?P<sign>\*\*|<=|>=|=/=|!=|==|<>|~=|=<|=>|->|[-+*/^_!'=<>:|&])
  | (?P<open>[(\[{]) | (?P<close>[)\]}])
  | (?P<sep>[,;])
    """.replace("TEXT", lexicon.TEXT_COMMANDS),
    re.VERBOSE,
)
_KNOWN: Final[dict[str, tuple[Kind, str]]] = {
    **{name: ("command", name) for name in lexicon.GREEK_WORDS},
    **{word: ("function", function) for word, function in notations.WORDS.items()},
    "pi": ("constant", "pi"),
}
"""Names that are recognised in a run of letters, with their tokens."""
_KNOWN_RUN: Final = re.compile("|".join(sorted(_KNOWN, key=len, reverse=True)))
_LETTER_LIST: Final = re.compile(r"\(?[A-Za-z]\)?(?:\s*(?:,|and|,\s*and)\s*\(?[A-Za-z]\)?)*")
_JOINED_NAME: Final = re.compile("(or|and)([A-Za-z])")
_NUMERAL: Final = re.compile(r"[-+]?[\d.,]*\d[\d.,]*(?:\s*[/:]\s*\d+)?%?")
_NUMBER_LIST: Final = re.compile(
    r"-?[\d.]{1,20}(?:\s*(?:,|and|or|,\s*and|,\s*or)\s*-?[\d.]{1,20}){1,9}"
)
_AMOUNT: Final = re.compile(r"([-+]?\d[\d.,]*(?:/\d+)?)\s+([A-Za-z][A-Za-z .'-]*)")
_ENDS_UNIT: Final = re.compile(r"\s*(?:\Z|[,;)/]|and\b|\d+ s)")
"""The end of a unit whose name is also that of a function, such as min or sec."""
_BRACKETS: Final = {
    "brace": ("\\{", "\\}"), "brack": ("[", "]"), "paren": ("(", ")"), "angle": ("<", ">"),
    "vert": ("|", "|"), "Vert": ("||", "||"),
    **{bracket: (bracket, bracket) for bracket in notations.AROUND if bracket.isalpha()},
}  # fmt: skip


_FIRST: Final = {function: command for command, function in reversed(notations.BRACED.items())}
"""The first command of each function with arguments in braces."""
_COMMANDS: Final[dict[str, tuple[Kind, str]]] = {
    **dict.fromkeys(lexicon.FRACTIONS, ("command", "frac")),
    **{name: ("operator", name) for name in lexicon.OPERATOR_NAMES},
    **{command: ("command", _FIRST[name]) for command, name in notations.BRACED.items()},
    **lexicon.COMMANDS,
    **{f"l{name}": ("open", opening) for name, (opening, _) in _BRACKETS.items()},
    **{f"r{name}": ("close", closing) for name, (_, closing) in _BRACKETS.items()},
    **dict.fromkeys(lexicon.TIMES, ("op", "*")),
    **{name: ("constant", constant) for name, constant in notations.CONSTANT_WORDS.items()},
    **{name: ("function", function) for name, function in notations.SPELLINGS.items()},
    **{name: ("rel", relation) for name, relation in lexicon.RELATIONS.items()},
}  # fmt: skip
"""Commands that are another token than `command`."""


def scan(text: str) -> list[Token]:
    """Split a cleaned text into tokens; the last token is `end`."""
    tokens: list[Token] = []
    position, gap, side = 0, False, ""
    for match in _SCAN.finditer(text):
        if match.start() != position:
            raise UnreadableAnswer(f"character {text[position]!r}")
        position = match.end()
        group = match.lastgroup
        if group == "space":
            gap = True
            continue
        word = match[0]
        if group == "command" and word[1:].rstrip("*") in lexicon.SPACES:
            side = word if word in ("\\left", "\\right") else side
            gap = True
            continue
        before = len(tokens)
        if side and (word in ("|", ".", "\\|")):
            tokens.append(Token("open" if side == "\\left" else "close", "|", gap))
        elif group in _PLAIN:
            tokens.append(Token(_PLAIN[group], word, gap))
        else:
            _READERS[group or ""](tokens, match, gap)
        gap, side = len(tokens) == before, ""
        if len(tokens) > MAX_TOKENS:
            raise TooLarge(f"more than {MAX_TOKENS:,} tokens")
    if position != len(text):
        raise UnreadableAnswer(f"character {text[position]!r}")
    tokens.append(Token("end", ""))
    return tokens


def _read_text(tokens: list[Token], match: re.Match[str], gap: bool) -> None:
    content = re.sub(r"\\[ ,;]|~", " ", match["content"]).strip()
    content = content.replace("\\%", "%").replace("\\$", "$")
    if content:
        gap = gap or match["content"][:1] in " ~"
        if _is_ordinal(tokens, content):
            tokens.append(Token("unit", "ordinal", gap))
        elif _is_operator(match, content):
            tokens.append(Token("operator", content, gap))
        else:
            tokens.extend(classify_phrase(content, gap, counted=_follows_value(tokens)))


def _is_operator(match: re.Match[str], content: str) -> bool:
    """Whether a word in a text command is the name of a function."""
    if content in notations.SPELLINGS or not content.isalpha() or len(content) < 2:
        return False
    if match[0].startswith("\\operatorname"):
        return True
    after = match.string[match.end() : match.end() + 6].lstrip()
    return content in lexicon.OPERATOR_NAMES and after.startswith(("(", "_", "\\left", "{"))


def classify_phrase(content: str, gap: bool, *, counted: bool) -> list[Token]:
    """Split a phrase in a text command into tokens."""
    lowered = content.lower().strip(" ,")
    if lowered in lexicon.SEPARATOR_WORDS:
        return [Token("sep", lowered, gap)]
    if not counted and _LABEL.fullmatch(content):
        return [Token("name", content, gap)]
    measures = _measures(content, gap) if counted else []
    if measures:
        return measures
    if len(content) == 1 and content.isalpha():
        return [letter_token(content, gap)]
    if content in notations.SPELLINGS:
        return [Token("function", notations.SPELLINGS[content], gap)]
    if any(pattern.fullmatch(content) for pattern in (_LETTER_LIST, _NUMERAL, _NUMBER_LIST)):
        return scan(content)[:-1]
    amount = _AMOUNT.fullmatch(content)
    if amount is not None and _is_noun(amount[2]):
        return scan(amount[1])[:-1] + classify_phrase(amount[2], gap=True, counted=True)
    if units.read_phrase(content) is not None:
        return [Token("unit", content, gap)]
    if lowered in ("%", "percent"):
        return [Token("unit", "percent", gap)]
    return [Token("text", content, gap)]


def _measures(content: str, gap: bool) -> list[Token]:
    """The tokens of a multiplier or a unit after a value; empty for other phrases."""
    if content != "e" and units.read_phrase(content) is not None:
        return [Token("unit", content, gap)]
    first, _, rest = content.partition(" ")
    if first.lower() not in lexicon.MULTIPLIERS:
        return []
    after = classify_phrase(rest, gap=True, counted=True) if rest else []
    return [Token("unit", first, gap), *after]


def _is_noun(phrase: str) -> bool:
    try:
        return units.read_phrase(phrase) is not None or bool(nouns.counted_noun(phrase))
    except UnreadableAnswer:
        return False


def _follows_value(tokens: list[Token]) -> bool:
    if len(tokens) > 1 and tokens[-1].text in ("/", "*"):
        return tokens[-2].kind == "unit" or tokens[-1].text == "/"
    return bool(tokens) and tokens[-1].kind in _VALUE_ENDS


_VALUE_ENDS: Final = frozenset({"number", "grouped", "close", "unit", "constant", "name"})


def _read_lone(tokens: list[Token], match: re.Match[str], gap: bool) -> None:
    if match[0] not in lexicon.LONE_SIGNS:
        raise UnreadableAnswer(f"sign {match[0]!r}")
    kind, text = lexicon.LONE_SIGNS[match[0]]
    tokens.append(Token(kind, text, gap))


def _read_command(tokens: list[Token], match: re.Match[str], gap: bool) -> None:
    name = match[0][1:].rstrip("*")
    kind, text = _COMMANDS.get(name, ("command", name))
    tokens.append(Token(kind, text, gap))


def _read_letters(tokens: list[Token], match: re.Match[str], gap: bool) -> None:
    run = match[0]
    if len(run) == 1:
        tokens.append(letter_token(run, gap))
        return
    joined = _JOINED_NAME.fullmatch(run)
    if joined is not None and tokens and tokens[-1].kind in ("number", "close"):
        tokens.extend((Token("sep", joined[1]), Token("name", joined[2])))
        return
    lowered = run.lower()
    if not gap and _is_ordinal(tokens, run):
        tokens.append(Token("unit", "ordinal", gap))
    elif run == "in" and tokens and tokens[-1].kind == "name":
        tokens.append(Token("rel", "in", gap))
    elif lowered in lexicon.SEPARATOR_WORDS:
        tokens.append(Token("sep", lowered, gap))
    elif lowered in lexicon.MULTIPLIERS or _is_unit_word(match, tokens, gap):
        tokens.append(Token("unit", run, gap))
    elif gap and len(run) > 2 and _is_counted_noun(run, tokens):
        tokens.append(Token("text", run, gap))
    elif _is_label(match, tokens):
        tokens.append(Token("name", run, gap))
    else:
        _split_run(tokens, run, gap)


def _is_ordinal(tokens: list[Token], suffix: str) -> bool:
    """Whether a suffix such as `th` stands after a number that it fits."""
    follows = bool(tokens) and tokens[-1].kind == "number"
    return follows and lexicon.is_ordinal(tokens[-1].text, suffix)


def _is_unit_word(match: re.Match[str], tokens: list[Token], gap: bool) -> bool:
    """Whether a word after a value is a unit."""
    run = match[0]
    if not tokens:
        return False
    if run in notations.SPELLINGS and not _ENDS_UNIT.match(match.string, match.end()):
        return False
    if not gap:
        return run in units.ATTACHED and tokens[-1].kind in ("number", "grouped")
    is_unit = run in units.SPELLINGS or run.lower() in units.SPELLINGS
    is_unit = is_unit or run in units.POWER_WORDS or run == "per"
    return is_unit and tokens[-1].kind in _VALUE_ENDS


def _is_label(match: re.Match[str], tokens: list[Token]) -> bool:
    """Whether a run of two to four capital letters is a label and not a product."""
    if _LABEL.match(match.string, match.start()) is None:
        return False
    return not tokens or tokens[-1].kind not in _VALUE_ENDS


_LABEL: Final = re.compile(r"[A-Z]{2,4}(?![A-Za-z0-9]|\s*[\^_'(!]|\s+(?!and\b|or\b)[A-Za-z0-9])")


def _is_counted_noun(run: str, tokens: list[Token]) -> bool:
    """Whether a word after a number is a noun and not a product of letters."""
    if not tokens or tokens[-1].kind not in ("number", "grouped", "text", "unit"):
        return False
    return _KNOWN_RUN.match(run) is None and run not in notations.CONSTANT_WORDS


def _split_run(tokens: list[Token], run: str, gap: bool) -> None:
    """Split a run of letters into functions, Greek letters and single letters."""
    if run in notations.CONSTANT_WORDS:
        tokens.append(Token("constant", notations.CONSTANT_WORDS[run], gap))
        return
    if run in _KNOWN:
        tokens.append(Token(*_KNOWN[run], gap))
        return
    if run.lower() in units.SPELLINGS and len(run) > 2 and tokens and tokens[-1].kind != "op":
        tokens.append(Token("unit", run, gap))
        return
    pieces: list[Token] = []
    position, plain = 0, 0
    while position < len(run):
        name = _KNOWN_RUN.match(run, position)
        if name is not None:
            pieces.append(Token(*_KNOWN[name[0]], gap))
            position = name.end()
        else:
            pieces.append(letter_token(run[position], gap))
            position += 1
            plain += 1
        gap = False
    if plain > 3 and (pieces[0].gap or not _follows_value(tokens)):
        tokens.append(Token("text", run, pieces[0].gap))
    else:
        tokens.extend(pieces)


def letter_token(letter: str, gap: bool) -> Token:
    return Token("constant", "e", gap) if letter == "e" else Token("name", letter, gap)


def _read_sign(tokens: list[Token], match: re.Match[str], gap: bool) -> None:
    sign = match[0]
    if sign == "!=" and tokens and tokens[-1].kind in ("number", "grouped"):
        tokens.append(Token("op", "!", gap))
        tokens.append(Token("rel", "="))
    elif sign in lexicon.RELATIONS:
        tokens.append(Token("rel", lexicon.RELATIONS[sign], gap))
    else:
        tokens.append(Token("op", "^" if sign == "**" else sign, gap))


_PLAIN: Final[dict[str, Kind]] = {
    "number": "number", "numeral": "number", "grouped": "grouped", "open": "open",
    "close": "close", "sep": "sep",
}  # fmt: skip
"""Groups of the scan that are one token as they stand."""

_READERS: Final = {
    "text": _read_text,
    "content": _read_text,
    "lone": _read_lone,
    "command": _read_command,
    "letters": _read_letters,
    "sign": _read_sign,
}


Rule: TypeAlias = "Callable[[Cursor], Node]"


@dataclass(slots=True)
class Cursor:
    """A position in a list of tokens, with a limit on nesting."""

    tokens: list[Token]
    atoms: Mapping[Kind, Rule]
    at: int = 0
    depth: int = 0
    bars: int = 0
    """Plain bars that are open, so that the next one closes."""
    builder: bool = False
    """Whether a bar or a colon would start the conditions of a set."""

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, offset: int = 1) -> Token:
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, kind: Kind, text: str) -> bool:
        token = self.tokens[self.at]
        if token.kind == kind and token.text == text:
            self.at += 1
            return True
        return False

    def accept_run(self, *texts: str) -> bool:
        """Read the tokens with the given texts if they come next."""
        if all(self.peek(offset).text == text for offset, text in enumerate(texts)):
            self.at += len(texts)
            return True
        return False

    def expect(self, kind: Kind, text: str) -> None:
        if not self.accept(kind, text):
            raise UnreadableAnswer(f"{text!r} is missing before {self.token.text or 'the end'!r}")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"nesting deeper than {MAX_DEPTH}")

    def leave(self) -> None:
        self.depth -= 1

    def read_atom(self) -> Node:
        """Parse a value by the rule for the kind of its first token."""
        token = self.tokens[self.at]
        rule = self.atoms.get(token.kind)
        if rule is None:
            raise UnreadableAnswer(f"{token.text or 'the end'!r} stands in the place of a value")
        return rule(self)

    def read_group(self) -> Node:
        """Parse the content of a bracket up to the closing bracket."""
        return self.atoms["open"](self)
