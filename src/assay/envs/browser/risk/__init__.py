"""The worst effect that a browser action can have, by the words on its element and around it."""

from assay.envs.browser.risk.effects import effect_of

__all__ = ["effect_of"]
