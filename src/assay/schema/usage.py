"""The tokens and the money that calls of a model cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of tokens and calls, and their cost; two usages can be added."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    """`None` where no price is known, which is not the same as free."""
    calls: int = 0

    def __post_init__(self) -> None:
        if self.cost_usd is not None and not isfinite(self.cost_usd):
            raise ValueError(
                f"cost_usd={self.cost_usd!r}; the price must be a finite number or None"
            )

    def __add__(self, other: Usage) -> Usage:
        """Add two usages; the cost is `None` if one of the costs is unknown."""
        if Usage() in (self, other):
            return other if self == Usage() else self
        one, two = self.cost_usd, other.cost_usd
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=None if one is None or two is None else one + two,
            calls=self.calls + other.calls,
        )
