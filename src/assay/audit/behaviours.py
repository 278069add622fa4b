"""Ways of answering a question, and how often each is right: the policy that groups are drawn from.

The ways differ in what rewards beside the outcome look at: how much working is shown, whether the
form is kept, whether something is said twice, whether there is an answer at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Final, NamedTuple

from assay.audit.data import read_table
from assay.audit.frames import AnswerFrame

LEVELS: Final = (0.0, 0.3, 0.7, 0.9, 1.0, 1.0)
"""How often a prompt is answered rightly by one who does its work: some never are, some always."""
NEEDS: Final = (0, 1, 2, 3, 4, 5, 6, 8)
"""The sentences of working that a prompt takes; with less, right answers soon become rare."""
SLOPE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way of answering."""

    name: str
    start: float
    """Its share in the policy as it starts."""
    sentences: int = 0
    """Sentences of working before the answer."""
    distinct: int = 12
    """After how many the sentences are said again."""
    framed: bool = True
    answers: bool = True


class Prompt(NamedTuple):
    """How hard a question is."""

    level: float
    needs: int

    def success(self, behaviour: Behaviour) -> float:
        """How often this way of answering is right."""
        if not behaviour.answers:
            return 0.0
        return self.level / (1 + exp((self.needs - behaviour.sentences - 0.5) / SLOPE))


PROMPTS: Final = tuple(Prompt(level, needs) for level in LEVELS for needs in NEEDS)
BEHAVIOURS: Final = tuple(Behaviour(**row) for row in read_table("texts")["behaviours"])
WORKING: Final[tuple[str, ...]] = tuple(read_table("texts")["working"])


def response(behaviour: Behaviour, frame: AnswerFrame, answer: str) -> str:
    """The text of an answer that is given in this way."""
    working = [WORKING[at % behaviour.distinct] for at in range(behaviour.sentences)]
    if not behaviour.answers:
        return frame.put("") if behaviour.framed else ""
    end = frame.put(answer) if behaviour.framed else f"So it is {answer}"
    # A thought that the frame begins with is the place of the working.
    if working and end.startswith("<think>"):
        thought, closing, rest = end.partition("</think>")
        return f"{thought} {' '.join(working)}{closing}{rest}"
    return "\n".join(filter(None, (" ".join(working), end)))
