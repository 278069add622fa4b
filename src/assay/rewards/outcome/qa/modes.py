"""The six ways of comparing an answer with its references, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from assay.rewards.outcome.qa import drop, squad
from assay.rewards.outcome.qa.match import Match, Spans

ModeName: TypeAlias = Literal["squad1", "squad2", "hotpot", "musique", "drop", "inspect"]


@dataclass(frozen=True, slots=True)
class Mode:
    """How one published script reads an answer and a reference, and compares them.

    What `read` and `gold` return is private to the mode, hence `Any`.
    """

    read: Callable[[Any], Any]
    gold: Callable[[Any], Any]
    compare: Callable[[Any, Any], Match]
    drops_blank: bool = False
    """Whether blank references are left out as long as another one remains."""
    takes_spans: bool = False
    """Whether one answer may consist of several spans."""

    def best(self, answer: str | Spans, references: Sequence[str | Spans]) -> Match:
        """The best match over all references.

        F1 and exact match are each the greatest, as in the scripts. Precision, recall and the
        reason belong to the reference with the greatest F1, the first listed among equals.
        """
        said = self.read(answer)
        if len(references) == 1:
            return self.compare(said, self.gold(references[0]))
        golds = [self.gold(reference) for reference in references]
        if self.drops_blank:
            golds = [gold for gold in golds if not gold.blank] or golds
        matches = [self.compare(said, gold) for gold in golds]
        f1, _, precision, recall, because = max(matches, key=itemgetter(0))
        return f1, max(em for _, em, *_ in matches), precision, recall, because


MODES: dict[str, Mode] = {
    "squad1": Mode(squad.words, squad.sharing_gold, squad.compare),
    "squad2": Mode(squad.words, squad.agreeing_gold, squad.compare, drops_blank=True),
    "hotpot": Mode(squad.words, squad.sharing_gold, squad.compare_closed),
    "musique": Mode(squad.words, squad.agreeing_gold, squad.compare),
    "drop": Mode(
        drop.read_drop, drop.drop_gold, drop.compare_drop, drops_blank=True, takes_spans=True
    ),
    "inspect": Mode(drop.inspect_words, drop.inspect_gold, drop.compare_inspect),
}
