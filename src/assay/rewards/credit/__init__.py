"""Credit: how much each turn of a finished episode contributed to its outcome.

`Turns` holds the turns of many episodes as columns, `turns_of` reads them from recorded episodes,
`assign` gives each turn its reward, return and advantage, `token_values` lays them on the tokens of
an episode, and `trl_fields` and its like give the fields that a trainer reads. Pure functions of
numbers.
"""

from assay.rewards.credit.assign import (
    BASELINES,
    METHODS,
    Credit,
    EpisodeTurns,
    Turns,
    assign,
    progress_of,
    state_of,
    turns_of,
)
from assay.rewards.credit.fields import (
    EpisodeTokens,
    TurnSpans,
    areal_fields,
    skyrl_fields,
    token_values,
    trl_fields,
    verifiers_fields,
    verl_fields,
)

__all__ = [
    "BASELINES", "METHODS", "Credit", "EpisodeTokens", "EpisodeTurns", "TurnSpans", "Turns",
    "areal_fields", "assign", "progress_of", "skyrl_fields", "state_of", "token_values",
    "trl_fields", "turns_of", "verifiers_fields", "verl_fields",
]  # fmt: skip
