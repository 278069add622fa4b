"""A measured number and the bound that it must keep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number; without a bound it is there to be read."""

    world: str
    measure: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def kept(self) -> bool:
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    def line(self) -> str:
        """The row of a markdown table."""
        target = "" if self.at_least is None else f"≥ {self.at_least:,g}"
        target = target if self.at_most is None else f"≤ {self.at_most:,g}"
        verdict = "" if not target else "yes" if self.kept else "**MISSED**"
        value = f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:.4g}"
        return f"| {self.world} | {self.measure} | {value} {self.unit} | {target} | {verdict} |"


HEADER = "| world | measure | measured | target | kept |\n|---|---|---|---|---|"
