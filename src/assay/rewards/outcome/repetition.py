"""`repetition_reward`: how much of a response is said for the first time.

It pays variety alone, so it is a part to compose with: behind a gate on the outcome, or as a
factor.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, TypeAlias, get_args

from assay.errors import BadParameter
from assay.registry import reward
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, read_response
from assay.text.tags import is_blank

Unit: TypeAlias = Literal["words", "chars"]
Scale: TypeAlias = Literal["share", "penalty"]

PARTS = ("repeated", "ngrams")
MAX_ITEMS = 100_000
"""Words or characters that are looked at; what follows them is not."""
MAX_NGRAM = 64
_ITEMS = {"words": re.compile(r"\S+"), "chars": re.compile(r"\S")}


@reward(name="repetition_reward", version=1, parts=PARTS, kind="format")
def repetition_reward(
    final_response: str | None,
    *,
    ngram: int = 4,
    unit: Unit = "words",
    scale: Scale = "share",
) -> Scored | Abstained:
    """The share of the response's n-grams that are different: 1.0 when nothing is said twice.

    An n-gram is `ngram` words in a row, in lower case, or as many characters (`unit="chars"`, for
    languages that write no spaces). A response of fewer of them repeats nothing. An empty one earns
    0.0. `scale="penalty"` gives the share less one, from 0.0 down to -1.0, with 0.0 for an empty
    response: the penalty of Yeo et al. and of Open-R1.

    The first 100,000 words are looked at. Parts: `repeated`, the share that is said again, and
    `ngrams`, how many there are.
    """
    if not 1 <= ngram <= MAX_NGRAM:
        raise BadParameter(f"ngram is {ngram!r}; it is from 1 to {MAX_NGRAM}")
    if unit not in get_args(Unit) or scale not in get_args(Scale):
        raise BadParameter(
            f"unit is {unit!r} and scale {scale!r}; choose unit 'words' or 'chars', "
            "scale 'share' or 'penalty'"
        )
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    is_penalty = scale == "penalty"
    if response is None or is_blank(response):
        return Scored(0.0, "there is no response", {"repeated": 0.0, "ngrams": 0.0})
    different, total = _count(response, ngram, unit)
    share = different / total if total else 1.0
    parts = {"repeated": 1.0 - share, "ngrams": float(total)}
    because = f"{different:,} of {total:,} {ngram}-grams are different"
    return Scored(share - 1.0 if is_penalty else share, because, parts)


def _count(text: str, ngram: int, unit: Unit) -> tuple[int, int]:
    """How many n-grams are different, and how many there are."""
    matches = islice(_ITEMS[unit].finditer(text), MAX_ITEMS)
    items = [match.group().lower() for match in matches]
    total = len(items) - ngram + 1
    if total < 1:
        return 0, 0
    return len({tuple(items[at : at + ngram]) for at in range(total)}), total
