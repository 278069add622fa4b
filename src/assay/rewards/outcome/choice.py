"""The reward of multiple choice: whether the response chooses the right option."""

from __future__ import annotations

import string
from collections.abc import Sequence

from assay.registry import reward
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, read_references
from assay.text.options import LAYOUT, LetteredOption, read_option, same_words, to_options

PARTS = ("acc",)


@reward(name="choice_reward", version=1, parts=PARTS, kind="choice")
def choice_reward(
    final_response: str | None, answer: object, choices: object = None
) -> Scored | Abstained:
    """1.0 if the response chooses the reference option and no other, else 0.0.

    `answer` is the letter of the option (`B`, `(b)`), its number in `choices` from 0 on, as data
    sets keep it, or its text; several references are alternatives. `choices`, if the row has them,
    are the options' texts in order, or a mapping from letters to texts: then an answer may give the
    text, and one whose letter and text disagree is wrong.
    """
    options = to_options(choices)
    if isinstance(options, Unreadable):
        return Abstained("bad_reference", f"'choices' {options.because}", PARTS)
    references = read_references(answer)
    if isinstance(references, Unreadable):
        return Abstained("bad_reference", f"'answer' {references.because}", PARTS)
    if not references:
        return Abstained("missing_reference", f"the reference is {answer!r:.80}", PARTS)
    letters = [_reference_letter(reference, options) for reference in references]
    if "" in letters:
        because = f"the reference {answer!r:.80} is the letter, number or text of no option"
        return Abstained("unparseable_reference", because, PARTS)
    chosen = read_option(final_response or "", options)
    if chosen.text is None:
        return Scored(0.0, chosen.because, {"acc": 0.0})
    value = float(bool(chosen.letter) and chosen.letter in letters)
    because = f"{chosen.because}; the reference is {' or '.join(letters)}"
    return Scored(value, because, {"acc": value})


def _reference_letter(reference: object, options: Sequence[LetteredOption]) -> str:
    """The letter of the reference option; empty if the reference names no option."""
    if isinstance(reference, int) and not isinstance(reference, bool):
        return options[reference].letter if 0 <= reference < len(options) else ""
    text = str(reference)
    by_text = [option.letter for option in options if same_words(option.text, text)]
    bare = text.strip(LAYOUT).upper()
    letters = [option.letter for option in options] or list(string.ascii_uppercase)
    if bare in letters:
        return bare
    return by_text[0] if len(by_text) == 1 else ""
