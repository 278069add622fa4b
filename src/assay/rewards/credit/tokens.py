"""Turn values laid on the tokens of an episode, as trainers read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from assay.errors import BadInput, BadParameter

TurnSpans: TypeAlias = Sequence[tuple[int, int]]
"""For each turn the first token that the policy wrote, and the one after its last."""
Place: TypeAlias = Literal["last", "all"]


def token_values(
    values: Sequence[float], spans: TurnSpans, length: int, *, place: Place = "last"
) -> list[float]:
    """One number for each of `length` tokens: the turn's value at its last token, or at all.

    "last" is for rewards, which a trainer adds up, "all" for advantages, which it multiplies with
    each token's gradient. Tokens that the policy did not write get 0.
    Raises `BadInput` for spans that do not fit the values or the length.
    """
    if place not in ("last", "all"):
        raise BadParameter(f"place is {place!r}; it is 'last' or 'all'")
    if len(values) != len(spans):
        raise BadInput(f"{len(values)} turns have values and {len(spans)} have tokens")
    tokens = [0.0] * length
    end = 0
    for number, (value, (first, after)) in enumerate(zip(values, spans, strict=True)):
        if not end <= first < after <= length:
            raise BadInput(
                f"turn {number} has the tokens {first} to {after} of {length}; turns follow each "
                "other, and each has a token"
            )
        end = after
        begin = after - 1 if place == "last" else first
        tokens[begin:after] = [float(value)] * (after - begin)
    return tokens
