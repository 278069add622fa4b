"""The tables of phrases by which a text announces, denies, doubts or takes back its answer."""

from assay.rewards.outcome.maths.find.languages.ar import ARABIC
from assay.rewards.outcome.maths.find.languages.de import GERMAN
from assay.rewards.outcome.maths.find.languages.en import ENGLISH
from assay.rewards.outcome.maths.find.languages.es import SPANISH
from assay.rewards.outcome.maths.find.languages.fr import FRENCH
from assay.rewards.outcome.maths.find.languages.ja import JAPANESE
from assay.rewards.outcome.maths.find.languages.ko import KOREAN
from assay.rewards.outcome.maths.find.languages.language import Language
from assay.rewards.outcome.maths.find.languages.pt import PORTUGUESE
from assay.rewards.outcome.maths.find.languages.ru import RUSSIAN
from assay.rewards.outcome.maths.find.languages.zh import CHINESE

LANGUAGES: tuple[Language, ...] = (
    ENGLISH, CHINESE, SPANISH, FRENCH, GERMAN, PORTUGUESE, JAPANESE, KOREAN, RUSSIAN, ARABIC,
)  # fmt: skip
"""Every language that is read, each with its table."""

__all__ = ["LANGUAGES", "Language"]
