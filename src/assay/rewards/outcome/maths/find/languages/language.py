"""The shape of a language's table: how its texts announce, deny, doubt and take back an answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Phrases of one language, each field one text with `|` between phrases.

    Phrases are in lower case. "Before" and "after" are places relative to the answer. Fields that
    say "beside" are looked for right beside the answer, with nothing but `fillers` in between;
    the others anywhere in its sentence on that side, up to a word of `turning`.
    """

    name: str
    code: str
    spaced: bool = True
    """Whether words have spaces on both sides."""
    suffixed: bool = False
    """Whether endings grow onto words, so that a phrase may go on without a space."""
    markers: str
    """Words, or the range of characters, by which a text of the language is known."""

    nouns: str
    """What an answer is called where it is announced."""
    links: str
    """What stands between that noun, or any subject, and the answer."""
    choosing: str = ""
    """Phrases that announce an answer by themselves, without a link."""
    copulas: str = ""
    """What may follow an answer to end its sentence."""
    fillers: str
    """Words that may stand between a phrase and the answer that it is about."""
    turning: str
    """But, so, therefore: words after which a denial or a doubt no longer holds."""

    contrasting: str
    """What turns from a denied value to the answer: not 41 but 42."""

    denying: str
    """Beside, before."""
    denying_after: str = ""
    doubting: str
    """Before, anywhere in the sentence."""
    doubting_after: str = ""
    affirming: str = ""
    """Phrases that only look like a denial or a doubt."""
    possible: str
    """Beside, before: maybe, could be."""
    asking_after: str = ""
    """What makes a question without a question mark."""
    alternatives: str
    """Between two values."""
    one_of: str
    """Beside, before several values."""
    one_of_after: str = ""
    supposing: str
    """What opens a condition."""
    unreal: str
    """Verb forms of what is not so; with a condition in the sentence there is no answer."""
    reporting: str
    """Beside, before: verbs of saying."""
    own_voice: str = ""
    """Subjects of such verbs that are the author, or the task."""
    examples: str
    """Beside, before: for example, in the form."""
    examples_after: str = ""
    retracting: str
    """After."""
    refusing: str
    """Right after, as a remark of its own: (wrong), — false!"""
    relatives: str
    """What may stand between the answer and such a remark: which is."""
    failing: str
    """After: does not satisfy, is not a solution."""
    subjects: str
    """What stands for the answer in such a sentence: this, it, the result."""
    others: str
    """Words by which such a sentence speaks of other values."""
    cases: str
    """What opens a case; two cases with different values leave the answer open."""
    concluding: str
    """Words before a case after which it is the one that counts."""
    undecided: str
    """Beside different boxes: depending on, not told which."""
    correcting: str = ""
    """At the start of a later clause that gives another value: actually, I mean."""
    giving_up: str
    """After; for an answer that is not marked as one, anywhere near."""
    asides: str
    """What follows an answer and is no part of it: though, because, and not."""
    labels: str
    """Beside, before a number that is a name: page, theorem, exercise."""
    labels_after: str = ""
    grading: str
    """Words to a grader."""
    operations: str
    """Words that make another value of the number beside them."""
    counted: str
    """What is counted: words after a number that leave its value as it is."""
    trailing: str
    """Words that no sentence ends with."""

    def phrases(self, field: str) -> tuple[str, ...]:
        """The phrases of a field, longest first."""
        text: str = getattr(self, field)
        return tuple(sorted(filter(None, text.split("|")), key=len, reverse=True))
