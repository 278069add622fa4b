"""The phrases of each language that announce, deny, doubt or take back an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from assay.text.word_tables import read_table

CODES = ("en", "zh", "es", "fr", "de", "pt", "ja", "ko", "ru", "ar")
"""The languages that are read, in the order in which they are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagePhrases:
    """The phrases of one language, from one TOML file in this folder.

    Phrases are in lower case. Those of `denying`, `possible`, `one_of`, `reporting`, `examples` and
    `labels` stand right before the answer, with nothing but `fillers` in between; of `doubting`,
    anywhere before it in its sentence, up to a word of `turning`; of `retracting`, `failing` and
    `giving_up`, and of fields that end in `_after`, behind it.
    """

    code: str
    spaced: bool = True
    """Whether words have spaces on both sides."""
    suffixed: bool = False
    """Whether endings grow onto words, so that a phrase may go on without a space."""
    markers: tuple[str, ...]
    """Words, or the range of characters, by which a text of the language is known."""

    nouns: tuple[str, ...]
    """What an answer is called where it is announced."""
    links: tuple[str, ...]
    """What stands between that noun, or any subject, and the answer."""
    choosing: tuple[str, ...] = ()
    """Phrases that announce an answer by themselves, without a link."""
    copulas: tuple[str, ...] = ()
    """What may follow an answer to end its sentence."""
    fillers: tuple[str, ...]
    """Words that may stand between a phrase and the answer that it is about."""
    turning: tuple[str, ...]
    """But, so, therefore: words after which a denial or a doubt no longer holds."""

    contrasting: tuple[str, ...]
    """What turns from a denied value to the answer: not 41 but 42."""

    denying: tuple[str, ...]
    denying_after: tuple[str, ...] = ()
    doubting: tuple[str, ...]
    doubting_after: tuple[str, ...] = ()
    affirming: tuple[str, ...] = ()
    """Phrases that only look like a denial or a doubt."""
    possible: tuple[str, ...]
    """Maybe, could be."""
    asking_after: tuple[str, ...] = ()
    """What makes a question without a question mark."""
    alternatives: tuple[str, ...]
    """Between two values."""
    one_of: tuple[str, ...]
    one_of_after: tuple[str, ...] = ()
    supposing: tuple[str, ...]
    """What opens a condition."""
    unreal: tuple[str, ...]
    """Verb forms of what is not so; with a condition in the sentence there is no answer."""
    reporting: tuple[str, ...]
    """Verbs of saying."""
    own_voice: tuple[str, ...] = ()
    """Subjects of such verbs that are the author, or the task."""
    examples: tuple[str, ...]
    """For example, in the form."""
    examples_after: tuple[str, ...] = ()
    retracting: tuple[str, ...]
    refusing: tuple[str, ...]
    """Right after, as a remark of its own: (wrong), — false!"""
    relatives: tuple[str, ...]
    """What may stand between the answer and such a remark: which is."""
    failing: tuple[str, ...]
    """Does not satisfy, is not a solution."""
    subjects: tuple[str, ...]
    """What stands for the answer in such a sentence: this, it, the result."""
    others: tuple[str, ...]
    """Words by which such a sentence speaks of other values."""
    cases: tuple[str, ...]
    """What opens a case; two cases with different values leave the answer open."""
    concluding: tuple[str, ...]
    """Words before a case after which it is the one that counts."""
    undecided: tuple[str, ...]
    """Next to different boxes: depending on, not told which."""
    correcting: tuple[str, ...] = ()
    """At the start of a later clause that gives another value: actually, I mean."""
    giving_up: tuple[str, ...]
    """For an answer that is not marked as one, anywhere near."""
    asides: tuple[str, ...]
    """What follows an answer and is no part of it: though, because, and not."""
    labels: tuple[str, ...]
    """Before a number that is a name: page, theorem, exercise."""
    labels_after: tuple[str, ...] = ()
    grading: tuple[str, ...]
    """Words to a grader."""
    operations: tuple[str, ...]
    """Words that make another value of the number next to them."""
    counted: tuple[str, ...]
    """What is counted: words after a number that leave its value as it is."""
    trailing: tuple[str, ...]
    """Words that no sentence ends with."""

    def phrases(self, field: str) -> tuple[str, ...]:
        phrases: tuple[str, ...] = getattr(self, field)
        return tuple(sorted(phrases, key=len, reverse=True))


@cache
def languages() -> tuple[LanguagePhrases, ...]:
    """The phrases of every supported language, English first."""
    return tuple(read_table(LanguagePhrases, __name__, f"{code}.toml") for code in CODES)
