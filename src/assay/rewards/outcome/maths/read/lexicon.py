"""Words and commands without a value of their own: letters, signs, layout and environments.

Functions, constants and operators are rows of `compute.notations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from assay.text.word_tables import read_table

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
        "subset": "subset subseteq subsetneq",
        "superset": "supset supseteq supsetneq",
        "sim": "sim",
        "cong": "cong",
        "parallel": "parallel",
        "perp": "perp",
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
    "enspace medspace negthinspace mathop centering strut mathstrut large Large LARGE huge Huge "
    "small normalsize footnotesize bf bfseries it itshape tt ttfamily sf sffamily rm rmfamily "
    "qed blacksquare therefore because".split()
)
"""Commands that only lay out."""

DECORATIONS: Final = frozenset(
    "vec bar hat tilde overline overrightarrow mathcal mathbb dot ddot widehat "
    "overleftrightarrow mathfrak widetilde".split()
)
"""Signs over a letter, and alphabets, that make it another name."""

FONTS: Final = frozenset("mathbf boldsymbol bm underline mathsf mathit ensuremath".split())
"""Commands that print the same in another style."""

OPERATOR_NAMES: Final = frozenset(
    "erf erfc Li Si Ci Ei li Re Im rank tr Tr dim ker Var Cov Pr ord adj vol Vol card span nullity "
    "Gal Aut Hom End Arg proj Res lc cl conv diag supp Ai Bi Cl sinc".split()
)
"""Names of functions that are not computed; they are equal at equal arguments."""

FIGURES: Final = {
    **dict.fromkeys(("angle", "measuredangle", "sphericalangle"), "angle"),
    "triangle": "triangle", "square": "square", "odot": "circle", "parallelogram": "parallelogram",
}  # fmt: skip
"""Commands before the letters that name a figure's points."""

UNREAD: Final = frozenset(
    "circ otimes oplus ominus ltimes rtimes wr bowtie triangleleft triangleright mapsto leftarrow "
    "leftrightarrow Leftrightarrow Leftarrow longrightarrow prec succ ll gg propto notin nmid ni "
    "nsubseteq vdash models sqcup amalg dagger ddagger not".split()
)
"""Commands between two things that may not change places; an answer with one is not read."""

FRACTIONS: Final = frozenset({"frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"})
TIMES: Final = frozenset({"times", "cdot", "ast", "bullet", "cdotp", "star"})
MATRICES: Final = frozenset(
    {"matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "smallmatrix", "array"}
)
SYSTEMS: Final = frozenset(
    "cases aligned align alignedat gathered gather split equation displaymath multline".split()
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymTable:
    """The phrases of `synonyms.toml`."""

    synonyms: dict[str, tuple[str, ...]]
    """By a phrase, those that say the same, in lower case and without an article."""


@cache
def synonyms() -> dict[str, str]:
    """Phrases to the one of their row that stands for them all."""
    table = read_table(SynonymTable, "assay.rewards.outcome.maths.read", "synonyms.toml")
    return {phrase: meaning for meaning, row in table.synonyms.items() for phrase in row}
