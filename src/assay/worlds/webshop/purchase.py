"""Scores a purchase against a goal, as WebShop does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from assay.lazy import package_table
from assay.worlds.webshop.catalogue import Product
from assay.worlds.webshop.goals import ShoppingGoal

# The original rounds the ratio half to even and asks for more than 85.
_CLOSE = 85.5
_NO_NOUNS_TITLE_SCORE = 0.2
# The original's matcher drops these before it compares; what lies above them stays.
_DROPPED = dict.fromkeys(range(128, 256))

COLOURS: list[str] = package_table(__package__, "words")["colours"].split()
"""The words to which an option that contains one is reduced, the first in this order."""


@dataclass(frozen=True, slots=True)
class ProductWithNouns:
    """A product with the nouns of its title."""

    product: Product
    nouns: Sequence[str]


@dataclass(frozen=True, slots=True)
class PurchaseReceipt:
    """The result of comparing a purchase with a goal."""

    price: float
    price_limit: float
    attributes: int
    attributes_matched: int
    options: int
    options_matched: int
    query_match: bool
    category_match: bool
    title_score: float

    @property
    def price_ok(self) -> bool:
        return self.price <= self.price_limit

    @property
    def r_type(self) -> float:
        """How well the product's type matches the goal: 1, 0.5, 0.1 or 0.

        A title without a common noun is worth nothing, whatever else matches.
        """
        if self.title_score == 0.0:
            return 0.0
        if self.title_score < 0.1:
            return 0.1
        return 1.0 if self.query_match or self.category_match or self.title_score > 0.2 else 0.5

    @property
    def score(self) -> float:
        """WebShop's score, in [0, 1]."""
        matches = self.attributes_matched + self.options_matched + self.price_ok
        return matches / (self.attributes + self.options + 1) * self.r_type


def write_receipt(
    bought: ProductWithNouns,
    target: ProductWithNouns,
    goal: ShoppingGoal,
    *,
    price: float,
    chosen: Mapping[str, str],
) -> PurchaseReceipt:
    """Compare a product, its price and the chosen options with a goal."""
    return PurchaseReceipt(
        price=price,
        price_limit=goal.price_limit,
        attributes=len(goal.attributes),
        attributes_matched=_matched_attributes(bought.product, goal.attributes),
        options=len(goal.options),
        options_matched=_matched_options(chosen.values(), goal.options),
        query_match=bought.product.query == target.product.query,
        category_match=len(_categories(bought.product) & _categories(target.product)) >= 2,
        title_score=_title_score(bought.nouns, target.nouns),
    )


def normalize_option(option: str | tuple[str, str]) -> str:
    """Return the text of an option for comparison: its colour word, if it contains one.

    The (name, value) pair of a synthetic goal is a colour only when one of the two *is* a colour
    word, and otherwise its Python representation, name included; so does the original.
    """
    for colour in COLOURS:
        if colour in option:
            return colour
    return str(option)


def _matched_attributes(product: Product, target: Iterable[str]) -> int:
    own = [_plain(attribute) for attribute in product.attributes]
    texts = [
        text.lower() for text in (product.title, " ".join(product.bullets), product.description)
    ]
    return sum(
        _is_close(_plain(attribute), own) or any(attribute in text for text in texts)
        for attribute in target
    )


def _matched_options(chosen: Iterable[str], target: Iterable[str | tuple[str, str]]) -> int:
    own = [_plain(normalize_option(option)) for option in chosen]
    return sum(_is_close(_plain(normalize_option(option)), own) for option in target)


def _is_close(text: str, candidates: Iterable[str]) -> bool:
    return any(token_set_ratio(one, text, score_cutoff=_CLOSE) > 0 for one in candidates)


def _plain(text: str) -> str:
    return default_process(text.translate(_DROPPED))


def _categories(product: Product) -> set[str]:
    return {part.strip() for part in product.category_path.split("›")}


def _title_score(bought: Sequence[str], target: Sequence[str]) -> float:
    """Return the share of the target title's nouns that are in the bought product's title."""
    if not target:
        return _NO_NOUNS_TITLE_SCORE
    return len(set(bought) & set(target)) / len(target)
