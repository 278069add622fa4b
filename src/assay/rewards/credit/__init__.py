"""Credit: what each turn of a finished episode contributed to its outcome.

`Turns` holds the turns of many episodes as columns, `turns_of` reads them from recorded episodes,
`assign` gives each turn its reward, return and advantage, and `token_values` lays them on the
tokens that a trainer reads. Pure functions of numbers.
"""

from assay.rewards.credit.assign import BASELINES, METHODS, Credit, assign
from assay.rewards.credit.tokens import TurnSpans, token_values
from assay.rewards.credit.turns import EpisodeTurns, Turns, progress_of, state_of, turns_of

__all__ = [
    "BASELINES",
    "METHODS",
    "Credit",
    "EpisodeTurns",
    "TurnSpans",
    "Turns",
    "assign",
    "progress_of",
    "state_of",
    "token_values",
    "turns_of",
]
