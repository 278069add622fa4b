"""What a text says about its own answer: negated, taken back, given up, or one of several.

Every test looks at a bounded window beside the candidate, with patterns that cannot backtrack far,
so the cost does not depend on the length of the response.
"""

from __future__ import annotations

import re

_WINDOW = 400

_NEGATED = re.compile(
    r"""(?:
        \b(?:not|never|neither|nor|cannot|can't|n't|isn't|aren't|wasn't|don't|doesn't)
        (?:\s+(?:be|equal|to|equals|necessarily|simply|exactly|actually|definitely|
            certainly|really|the|answer|value|an?))*
      | \b(?:rather\s+than|instead\s+of|as\s+opposed\s+to|other\s+than|except(?:\s+for)?|
            (?:any|every)thing\s+but|all\s+but)
      | \brul(?:e|es|ed|ing)\s+out
      | \bexclud(?:e|es|ed|ing)
      | \b(?:not\s+(?:the\s+case|true|correct|right)|false|wrong|incorrect|doubt(?:ful)?)
        \s+that\b[^.]{0,60}
      | \\neq? | \\not\s*= | ≠ | !=
    )\s*\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_OPENERS = re.compile(r"(?:[\s$*_\"'“‘(:]|\\[\[(]|\\(?:text|mathrm|mathbf)\s*\{|\\[,;!: ]|\{)+\Z")
_CLAUSE_BREAK = re.compile(r"[.!?]\s|\n\s*\n|[;:]\s")

_RETRACTED = re.compile(
    r"""\b(?:
        (?:wait|hmm|oops|sorry|actually|hold\ on)[,.!\s—-]+(?:actually[,\s]+)?
            (?:no\b|i\ (?:was|am)\ wrong|scratch|(?:that|it|this)(?:'s|\ is|\ was)
               \ (?:wrong|incorrect|not\ (?:right|correct|true|it\b|the\ answer|[-+−]?\d)))
      | scratch\ that | strike\ that
      | (?:i|let\ me)\ take\ (?:that|it|this)\ back
      | on\ second\ thoughts?
      | i\ (?:was|am)\ (?:wrong|mistaken) | my\ mistake
      | (?:ignore|disregard|forget)\ (?:that|this|it|(?:the|my)\ (?:above|previous|last)|
            my\ answer)
      | (?:that|this|it|which|answer)(?:'s|\ is|\ was)\ (?:actually\ |clearly\ )?
            (?:wrong|incorrect|false|not\ (?:right|correct|true|(?:the|my)\ answer))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DENIED_AT_ONCE = re.compile(
    r"""\A(?:[\s$*_.,}\])"']|\\[\])])*
        (?:is|was|are|would\ be|seems|looks)(?:\ (?:clearly|definitely|actually|certainly))?
        \ (?:wrong|incorrect|false|(?:not|n't)\b|impossible)""",
    re.VERBOSE | re.IGNORECASE,
)
_GIVES_UP = re.compile(
    r"""\b(?:
        i\ (?:have\ to\ |must\ |will\ )?give\ up
      | (?:i\ )?(?:do\ not|don't|cannot|can't|could\ not|couldn't)\ (?:really\ )?
            (?:know|solve|determine|answer|figure|tell|find\ (?:the|an)\ answer)
      | i\ (?:have\ no|haven't\ any)\ idea | no\ idea
      | i(?:'m|\ am)\ (?:unable|not\ able)\ to
    )\b(?!\s+(?:if|whether|how|why|what)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_WRONG_INSIDE = re.compile(
    r"\b(?:is|was|are)?\s*(?:wrong|incorrect|not\s+(?:correct|right|the\s+answer))\b"
    r"|\A(?:[\s${(]|\\text)*(?:not|never)\b(?:[\s${}(]|\\text|\\[,;: ])*[-+−]?[\d\\]",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(
    r"(?<![A-Za-z\\])(?:or|oder|ou)(?![A-Za-z])|\\(?:lor|vee)\b", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"[,;&]|\\(?:pm|mp|cup|lor|vee|\{)|±|∓|(?<![A-Za-z\\])(?:or|and|oder|ou)(?![A-Za-z])",
    re.IGNORECASE,
)


_OR_AFTER = re.compile(
    r"[\s$)*]*or\s+(?:maybe\s+|perhaps\s+)?\$?([-+]?\d{1,20})(?![\d./%\\^])", re.IGNORECASE
)
_OR_BEFORE = re.compile(
    r"(?<![\d./^])([-+]?\d{1,20})\$?,?\s+or\s+(?:maybe\s+|perhaps\s+)?[\s$]*\Z", re.IGNORECASE
)


def is_negated_before(before: str) -> bool:
    """Whether the words just before a candidate deny it (`not \\boxed{42}`)."""
    window = before[-160:]
    if not window:
        return False
    breaks = [match.end() for match in _CLAUSE_BREAK.finditer(window)]
    clause = window[breaks[-1] :] if breaks else window
    trimmed = _OPENERS.sub("", clause)
    return bool(trimmed) and _NEGATED.search(trimmed.replace("’", "'")) is not None


def is_retracted_after(after: str) -> bool:
    """Whether the text after a candidate takes it back or gives up."""
    if not after or after.isspace():
        return False
    head = after[:_WINDOW].replace("’", "'")
    if _DENIED_AT_ONCE.match(head):
        return True
    windows = [head] if len(after) <= _WINDOW else [head, after[-_WINDOW:].replace("’", "'")]
    return any(_RETRACTED.search(text) or _GIVES_UP.search(text) for text in windows)


def has_other_value_beside(span: str, before: str, after: str) -> bool:
    """Whether "or" and a different whole number stand right beside a whole number.

    Other forms are left alone: `\\boxed{\\frac12}` "or 0.5" says one thing twice.
    """
    digits = span.lstrip("-+")
    if not digits.isdecimal():
        return False
    signs = span[: len(span) - len(digits)]
    value = int(digits[:40]) * (-1) ** signs.count("-")
    beside = (_OR_BEFORE.search(before[-40:]), _OR_AFTER.match(after[:40]))
    return any(match is not None and int(match[1]) != value for match in beside)


def is_struck_out(before: str, after: str) -> bool:
    """Whether Markdown strikes the candidate through."""
    return after.lstrip("$ ").startswith("~~") and before.rstrip("$ ").endswith("~~")


def gives_up(text: str) -> bool:
    """Whether the end of the text says that its author has no answer."""
    return _GIVES_UP.search(text[-_WINDOW:].replace("’", "'")) is not None


def denies_itself(span: str) -> bool:
    """Whether the slot itself says that what it holds is wrong (`42 \\text{ is wrong}`)."""
    return len(span) > 4 and _WRONG_INSIDE.search(span[:_WINDOW]) is not None


def offers_alternatives(span: str) -> bool:
    """Whether the span names several values joined by "or"."""
    return _ALTERNATIVES.search(span[:_WINDOW]) is not None


def names_several(reference: str) -> bool:
    """Whether a reference itself may have several values, so that "or" in an answer is no hedge."""
    return _SEVERAL.search(reference) is not None
