"""The worst effect that a browser action can have, by the words on its element and around it."""

from assay.envs.browser.risk.effects import (
    READS,
    asks_for_login,
    effect_of,
    effect_seen,
    is_bin,
    is_question,
    names_deed,
    promises_look,
)

__all__ = [
    "READS",
    "asks_for_login",
    "effect_of",
    "effect_seen",
    "is_bin",
    "is_question",
    "names_deed",
    "promises_look",
]
