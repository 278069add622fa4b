"""Finds the nouns of product titles, which WebShop's score compares.

The original uses spaCy's small English model at every purchase. The nouns of the 1000 shipped
products are stored (model 3.6.0); another catalogue can bring `title_nouns.json`. Without, spaCy is
used if it is installed; else every word that is no stop word counts as a noun, which gives the same
`r_type` for about 92 of 100 first-page results of the shipped goals.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.errors import BadRecord, MissingExtra
from assay.worlds.webshop.analyzer import STOP_WORDS, tokens
from assay.worlds.webshop.catalogue import Product

NounSource: TypeAlias = Literal["auto", "listed", "spacy", "words"]
"""Where nouns come from; `auto` takes the first of the others that is there."""

SPACY_MODEL = "en_core_web_sm"


@dataclass(frozen=True, slots=True)
class TitleNouns:
    """A source of the nouns of product titles."""

    source: str
    of: Callable[[Product], Sequence[str]]


def title_nouns(
    asins: Iterable[str],
    listed: Mapping[str, Sequence[str]] | None,
    *,
    listed_source: str,
    use: NounSource = "auto",
) -> TitleNouns:
    """Return the best available source of nouns, or the source named by `use`."""
    if use == "listed" or (use == "auto" and listed is not None):
        if listed is None:
            raise MissingExtra("this catalogue has no title_nouns.json; use 'spacy' or 'words'")
        missing = [asin for asin in asins if asin not in listed]
        if missing:
            raise BadRecord(f"title_nouns.json lacks {len(missing)} products, such as {missing[0]}")
        return TitleNouns(listed_source, lambda product: listed[product.asin])
    if use != "words":
        tagger = _spacy_nouns()
        if tagger is not None:
            return tagger
        if use == "spacy":
            raise MissingExtra(f"spaCy or its model {SPACY_MODEL} is not installed; use 'words'")
    return TitleNouns("words", _words)


def _words(product: Product) -> tuple[str, ...]:
    return tuple(word for word in tokens(product.title.lower()) if word not in STOP_WORDS)


def _spacy_nouns() -> TitleNouns | None:
    # spaCy is optional and not a dependency, hence `Any`.
    try:
        spacy: Any = importlib.import_module("spacy")
        tagger: Any = spacy.load(SPACY_MODEL)
    except (ImportError, OSError):
        return None

    def nouns(product: Product) -> tuple[str, ...]:
        return tuple(
            str(token.text).lower()
            for token in tagger(product.title)
            if token.pos_ in ("NOUN", "PROPN")
        )

    return TitleNouns(f"{SPACY_MODEL}-{tagger.meta['version']}", nouns)
