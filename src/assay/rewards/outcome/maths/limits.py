"""The limits of the comparison, each checked before any work above the limit.

The bounds are generous for answers people write and small enough that the worst input of any
length costs a few milliseconds and a few megabytes.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_CHARS = 16_384  # longest answer that is read at all
MAX_TOKENS = 3_500  # longest answer in tokens; a 40 x 40 matrix has about 3,200
MAX_DEPTH = 24  # deepest nesting; one level costs about ten interpreter frames
MAX_ITEMS = 400  # most members of a list, tuple or set, terms of a sum, and factors of a product
MAX_PARTS = 60  # most parts of a union of sets
MAX_CELLS = 2_500  # most entries of a matrix
MAX_DIGITS = 4_000  # most digits of one number literal; below Python's own conversion limit
MAX_BITS = 64_000  # largest exact integer, in bits; 2024^4046 has 45,000
MAX_EXPONENT = 36_000  # largest decimal exponent of scientific notation
MAX_FACTORIAL = 6_000  # largest argument of an exact factorial
MAX_TERMS = 300  # most terms of one expanded polynomial
MAX_STEPS = 4_000  # most steps of one comparison; a step is a few microseconds of arithmetic
MAX_BREAK_STEPS = 5 * MAX_STEPS  # most steps on places where expressions change their formulas
MAX_ROW_STEPS = 10 * MAX_STEPS  # most steps of one row, however many references it lists


@dataclass(slots=True)
class WorkBudget:
    """The remaining steps of one comparison, and the limit that it met."""

    remaining: int = MAX_STEPS
    limit: TooLarge | None = None

    def spend(self, steps: int = 1) -> None:
        """Subtract steps from the budget; raise TooLarge if the budget is used up."""
        self.remaining -= steps
        if self.remaining < 0:
            raise TooLarge(f"the comparison needs more than {MAX_STEPS:,} steps")


class UnreadableAnswer(Exception):
    """The text is not an answer in a known notation."""


class TooLarge(UnreadableAnswer):
    """The answer exceeds a limit, so it is not evaluated."""
