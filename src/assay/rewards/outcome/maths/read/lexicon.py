"""Words and commands without a value of their own: letters, signs, layout and environments.

Functions, constants and operators are rows of `compute.notations`.
"""

from __future__ import annotations

from typing import Final

GREEK: Final = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi "
    "Sigma Upsilon Phi Psi Omega".split()
)

GREEK_WORDS: Final = frozenset(
    "alpha beta gamma delta epsilon zeta theta kappa lambda sigma omega phi psi rho tau mu".split()
)
"""Greek letters that are recognised when spelt out without a backslash."""

RELATIONS: Final = {
    spelling: sign
    for sign, spellings in {
        "=": "= == equiv to rightarrow ->",
        "!=": "!= =/= <> ne neq",
        "<": "< lt",
        ">": "> gt",
        "<=": "<= =< le leq leqslant leqq",
        ">=": ">= => ge geq geqslant geqq",
        "~": "~= approx simeq approxeq",
        "in": "in",
    }.items()
    for spelling in spellings.split()
}
"""Signs and commands to the relation that they write."""

PARTS_OF_LINE: Final = {
    "^+": ">0", "_>0": ">0", "^*_+": ">0", "_+^*": ">0", "_>=0": ">=0", "^-": "<0",
    "_-": "<0", "_<0": "<0", "_<=0": "<=0", "^*": "!=0",
}  # fmt: skip
"""Marks at the sign of the reals, as the tokens spell them, to the part that they leave."""

SPACES: Final = frozenset(
    "quad qquad displaystyle textstyle scriptstyle limits nolimits left right big Big bigg Bigg "
    "bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle bigm hfill noindent nobreak thinspace "
    "enspace medspace negthinspace mathop centering".split()
)
"""Commands that only lay out."""

DECORATIONS: Final = frozenset(
    "vec bar hat tilde overline overrightarrow mathcal mathbb dot ddot widehat "
    "overleftrightarrow mathfrak widetilde".split()
)
"""Signs over a letter, and alphabets, that make it another name."""

FONTS: Final = frozenset("mathbf boldsymbol bm underline mathsf mathit ensuremath".split())
"""Commands that print the same in another style."""

FRACTIONS: Final = frozenset({"frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"})
TIMES: Final = frozenset({"times", "cdot", "ast", "bullet", "cdotp", "star"})
MATRICES: Final = frozenset(
    {"matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "smallmatrix", "array"}
)
SYSTEMS: Final = frozenset({"cases", "aligned", "align", "alignedat", "gathered", "split"})
TEXT_COMMANDS: Final = "|".join(
    "text textbf textrm textit textnormal textsf texttt mbox hbox mathrm operatorname rm mathit "
    "emph".split()
)

SEPARATOR_WORDS: Final = frozenset({"and", "or", "&", "as well as", ", and", ", or", "and/or"})

MULTIPLIERS: Final = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
"""Words after a number that multiply it."""

SMALL_NUMBERS: Final = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split(),
        range(20),
        strict=True,
    )
)
TENS: Final = dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)
BASES: Final = {
    **{word: value for word, value in {**SMALL_NUMBERS, **TENS}.items() if 2 <= value <= 20},
    "binary": 2, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16,
}  # fmt: skip
"""Words for the base of a numeral."""

ORDINAL_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th"})


def is_ordinal(digits: str, suffix: str) -> bool:
    """Whether the suffix makes an ordinal of the digits: 1st, 2nd, 3rd, 11th, 22nd."""
    teens = digits[-2:-1] == "1"
    fitting = "th" if teens else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1:], "th")
    return digits.isdigit() and suffix == fitting
